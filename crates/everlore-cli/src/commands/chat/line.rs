//! Reading lines from a terminal: editing, history, several lines, completion of commands.
//!
//! The editor waits on a thread of its own, so that what runs in the background goes on meanwhile.

use std::{
    fs, io,
    io::Write,
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
};

use everlore::text::secrets::mask;
use rustyline::{
    CompletionType, Config, Context, Editor, Helper, Result as LineResult,
    completion::Completer,
    error::ReadlineError,
    highlight::Highlighter,
    hint::Hinter,
    history::{History, MemHistory},
    validate::{ValidationContext, ValidationResult, Validator},
};
use tokio::sync::oneshot;

use crate::{
    context::private_file,
    failure::{Failure, Result},
};

/// Lines that are kept between conversations: enough to find last week's question.
const MAX_LINES: usize = 1_000;

/// What was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Read {
    /// A message, which may have several lines.
    Line(String),
    /// Ctrl+C.
    Interrupted,
    /// Ctrl+D, or the end of the input.
    End,
}

/// Where a line is asked for.
pub(crate) struct LineEditor {
    ask: mpsc::Sender<Request>,
}

struct Request {
    prompt: String,
    initial: String,
    answer: oneshot::Sender<Result<Read>>,
}

/// The file in a home that keeps what was typed.
const HISTORY: &str = "chat_history.jsonl";

/// Where lines are kept.
pub(crate) struct HistoryFile {
    /// The file; only the user may read it.
    path: PathBuf,
    /// Whether secrets are masked in it.
    masks: bool,
}

impl LineEditor {
    /// An editor that completes these words at the beginning of a line and keeps what is typed in a file.
    pub(crate) fn new(words: &'static [&'static str], history: Option<HistoryFile>) -> Self {
        let (ask, requests) = mpsc::channel();
        thread::spawn(move || serve(&requests, words, history.as_ref()));
        Self { ask }
    }

    /// Asks for a line.
    pub(crate) async fn read(&self, prompt: &str) -> Result<Read> {
        self.read_with(prompt, "").await
    }

    /// Asks for a line that begins with something to be changed.
    pub(crate) async fn read_with(&self, prompt: &str, initial: &str) -> Result<Read> {
        let (answer, read) = oneshot::channel();
        let (prompt, initial) = (prompt.to_owned(), initial.to_owned());
        let gone = || Failure::told("io", "the terminal cannot be read", "start again");
        self.ask.send(Request { prompt, initial, answer }).map_err(|_| gone())?;
        read.await.map_err(|_| gone())?
    }
}

fn serve(
    requests: &mpsc::Receiver<Request>,
    words: &'static [&'static str],
    history: Option<&HistoryFile>,
) {
    let config = Config::builder().completion_type(CompletionType::List).auto_add_history(false);
    let config = match config.max_history_size(MAX_LINES) {
        Ok(config) => config.build(),
        Err(_) => Config::default(),
    };
    let known = history.map(HistoryFile::lines).unwrap_or_default();
    let mut lines = MemHistory::with_config(&config);
    for line in &known {
        // A line that cannot be kept is one that cannot be found again, no more.
        let _ = lines.add(line);
    }
    let mut editor = Editor::with_history(config, lines);
    if let Ok(editor) = &mut editor {
        editor.set_helper(Some(Words(words)));
    }
    while let Ok(Request { prompt, initial, answer }) = requests.recv() {
        let read = match &mut editor {
            Ok(editor) => read_line(editor, &prompt, &initial, history),
            Err(error) => Err(Failure::io("the terminal", io::Error::other(error.to_string()))),
        };
        if answer.send(read).is_err() {
            return;
        }
    }
}

fn read_line(
    editor: &mut Editor<Words, MemHistory>,
    prompt: &str,
    initial: &str,
    history: Option<&HistoryFile>,
) -> Result<Read> {
    let read = match initial {
        "" => editor.readline(prompt),
        initial => editor.readline_with_initial(prompt, (initial, "")),
    };
    match read {
        Ok(line) => {
            let line = line.replace("\\\n", "\n");
            if let Some(history) = history.filter(|_| !line.trim().is_empty()) {
                let _ = editor.add_history_entry(&line);
                if let Err(error) = history.keep(&line) {
                    tracing::warn!(%error, "a line could not be kept");
                }
            }
            Ok(Read::Line(line))
        }
        Err(ReadlineError::Interrupted) => Ok(Read::Interrupted),
        Err(ReadlineError::Eof) => Ok(Read::End),
        Err(ReadlineError::Io(error)) => Err(Failure::io("reading the terminal", error)),
        Err(error) => Err(Failure::io("reading the terminal", io::Error::other(error.to_string()))),
    }
}

impl HistoryFile {
    /// That of a home.
    pub(crate) fn of(home: &Path, masks: bool) -> Self {
        Self { path: home.join(HISTORY), masks }
    }

    /// The lines that were kept, the oldest first.
    fn lines(&self) -> Vec<String> {
        let text = fs::read_to_string(&self.path).unwrap_or_default();
        let mut lines: Vec<String> =
            text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        if lines.len() > MAX_LINES * 2 {
            lines.drain(..lines.len() - MAX_LINES);
            if let Err(error) = replace(&self.path, &lines) {
                tracing::warn!(%error, "the file of lines could not be shortened");
            }
        }
        lines
    }

    /// Removes the lines that said what was forgotten.
    pub(crate) fn forget(&self, said: &[String]) -> Result<()> {
        let mut lines = self.lines();
        let before = lines.len();
        lines.retain(|line| !said.iter().any(|said| said.trim() == line.trim()));
        match lines.len() == before {
            true => Ok(()),
            false => replace(&self.path, &lines)
                .map_err(|error| Failure::io(self.path.display().to_string(), error)),
        }
    }

    /// Adds a line, without the secrets in it.
    fn keep(&self, line: &str) -> io::Result<()> {
        let masked = if self.masks { mask(line).0 } else { line.into() };
        let mut file = private_file().append(true).create(true).open(&self.path)?;
        writeln!(file, "{}", serde_json::Value::from(&*masked))
    }
}

fn replace(path: &Path, lines: &[String]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    for line in lines {
        writeln!(file, "{}", serde_json::Value::from(line.as_str()))?;
    }
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// The words that are completed; a line that ends with a backslash goes on.
struct Words(&'static [&'static str]);

impl Helper for Words {}
impl Hinter for Words {
    type Hint = String;
}
impl Highlighter for Words {}

impl Validator for Words {
    fn validate(&self, typed: &mut ValidationContext<'_>) -> LineResult<ValidationResult> {
        Ok(match typed.input().ends_with('\\') {
            true => ValidationResult::Incomplete,
            false => ValidationResult::Valid(None),
        })
    }
}

impl Completer for Words {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &Context<'_>,
    ) -> LineResult<(usize, Vec<Self::Candidate>)> {
        let fits = |word: &&&str| !line.is_empty() && word.starts_with(&line[..at]);
        Ok((0, self.0.iter().filter(fits).map(ToString::to_string).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_lines_come_back_without_their_secrets() {
        let folder = tempfile::tempdir().unwrap();
        let file = HistoryFile { path: folder.path().join("lines"), masks: true };
        file.keep("two\nlines").unwrap();
        file.keep("我的密码是 hunter2-Xk92!").unwrap();
        let lines = file.lines();
        assert_eq!(lines[0], "two\nlines");
        assert!(!lines[1].contains("hunter2"), "{lines:?}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(&file.path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn a_long_history_is_shortened_to_its_latest_lines() {
        let folder = tempfile::tempdir().unwrap();
        let file = HistoryFile { path: folder.path().join("lines"), masks: true };
        let many: Vec<String> = (0..MAX_LINES * 2 + 5).map(|n| format!("line {n}")).collect();
        replace(&file.path, &many).unwrap();
        assert_eq!(file.lines().len(), MAX_LINES);
        assert_eq!(file.lines().last(), many.last());
        assert_eq!(fs::read_to_string(&file.path).unwrap().lines().count(), MAX_LINES);
    }
}
