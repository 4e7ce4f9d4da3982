//! Line editor for a terminal: history, multi-line input, completion of commands.
//!
//! The editor runs on a thread of its own, so that background work goes on meanwhile.

use std::{
    borrow::Cow,
    fs, io,
    io::Write,
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
};

use everlore::internal::{files::pending_text::TYPED_LINES_FILE, text::secrets::mask};
use rustyline::{
    ColorMode, CompletionType, Config, Context, Editor, Helper, Result as LineResult,
    completion::Completer,
    config::Configurer,
    error::ReadlineError,
    highlight::{CmdKind, Highlighter},
    hint::Hinter,
    history::{History, MemHistory},
    validate::{ValidationContext, ValidationResult, Validator},
};
use tokio::sync::oneshot;
use unicode_width::UnicodeWidthStr;

use crate::{CliError, Result, cli_context::private_file};

/// Lines in the history file: enough to find last week's question.
const MAX_HISTORY_LINES: usize = 1_000;

/// Input of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LineInput {
    /// A message, which may have several lines.
    Line(String),
    /// Ctrl+C.
    Interrupted,
    /// Ctrl+D, or the end of the input.
    End,
}

/// Handle of the editor thread.
pub(crate) struct LineEditor {
    requests: mpsc::Sender<LineRequest>,
}

struct LineRequest {
    prompt: String,
    initial: String,
    /// Set for a line that is not shown while it is typed.
    is_secret: bool,
    reply: oneshot::Sender<Result<LineInput>>,
}

/// History file of typed lines.
pub(crate) struct HistoryFile {
    /// Path; only the user may read the file.
    path: PathBuf,
    /// `true` to mask secrets.
    mask_secrets: bool,
}

impl LineEditor {
    /// Starts an editor that completes these words at the beginning of a line and appends lines to a history file.
    pub(crate) fn new(words: &'static [&'static str], history: Option<HistoryFile>) -> Self {
        let (requests, pending) = mpsc::channel();
        thread::spawn(move || serve_requests(&pending, words, history.as_ref()));
        Self { requests }
    }

    /// Reads a line.
    pub(crate) async fn read_line(&self, prompt: &str) -> Result<LineInput> {
        self.read_line_with(prompt, "").await
    }

    /// Reads a line that starts with an editable text.
    pub(crate) async fn read_line_with(&self, prompt: &str, initial: &str) -> Result<LineInput> {
        self.request(prompt, initial, false).await
    }

    /// Reads a line that is shown as stars and kept in no history.
    pub(crate) async fn read_secret(&self, prompt: &str) -> Result<LineInput> {
        self.request(prompt, "", true).await
    }

    async fn request(&self, prompt: &str, initial: &str, is_secret: bool) -> Result<LineInput> {
        let (reply, input) = oneshot::channel();
        let (prompt, initial) = (prompt.to_owned(), initial.to_owned());
        let closed = || CliError::new("io", "the terminal cannot be read", "start again");
        let request = LineRequest { prompt, initial, is_secret, reply };
        self.requests.send(request).map_err(|_| closed())?;
        input.await.map_err(|_| closed())?
    }
}

fn serve_requests(
    requests: &mpsc::Receiver<LineRequest>,
    words: &'static [&'static str],
    history: Option<&HistoryFile>,
) {
    let config = Config::builder().completion_type(CompletionType::List).auto_add_history(false);
    let config = match config.max_history_size(MAX_HISTORY_LINES) {
        Ok(config) => config.build(),
        Err(_) => Config::default(),
    };
    let earlier = history.map(HistoryFile::read_lines).unwrap_or_default();
    let mut lines = MemHistory::with_config(&config);
    for line in &earlier {
        // A line that cannot be added is only missing from the history.
        let _ = lines.add(line);
    }
    let mut editor = Editor::with_history(config, lines);
    if let Ok(editor) = &mut editor {
        editor.set_helper(Some(CommandCompleter { words, is_masking: false }));
    }
    while let Ok(LineRequest { prompt, initial, is_secret, reply }) = requests.recv() {
        let input = match &mut editor {
            Ok(editor) => {
                mask_input(editor, is_secret);
                edit_line(editor, &prompt, &initial, history.filter(|_| !is_secret))
            }
            Err(error) => Err(CliError::io("the terminal", io::Error::other(error.to_string()))),
        };
        if reply.send(input).is_err() {
            return;
        }
    }
}

/// Shows what is typed from now on as stars, or as it is. Stars are drawn as a highlight, so NO_COLOR must not switch it off.
fn mask_input(editor: &mut Editor<CommandCompleter, MemHistory>, is_masking: bool) {
    editor.set_color_mode(if is_masking { ColorMode::Forced } else { ColorMode::Enabled });
    if let Some(helper) = editor.helper_mut() {
        helper.is_masking = is_masking;
    }
}

fn edit_line(
    editor: &mut Editor<CommandCompleter, MemHistory>,
    prompt: &str,
    initial: &str,
    history: Option<&HistoryFile>,
) -> Result<LineInput> {
    let read = match initial {
        "" => editor.readline(prompt),
        initial => editor.readline_with_initial(prompt, (initial, "")),
    };
    match read {
        Ok(line) => {
            let line = line.replace("\\\n", "\n");
            if let Some(history) = history.filter(|_| !line.trim().is_empty()) {
                let _ = editor.add_history_entry(&line);
                if let Err(error) = history.append_line(&line) {
                    tracing::warn!(%error, "a line could not be added to the history file");
                }
            }
            Ok(LineInput::Line(line))
        }
        Err(ReadlineError::Interrupted) => Ok(LineInput::Interrupted),
        Err(ReadlineError::Eof) => Ok(LineInput::End),
        Err(ReadlineError::Io(error)) => Err(CliError::io("reading the terminal", error)),
        Err(error) => {
            Err(CliError::io("reading the terminal", io::Error::other(error.to_string())))
        }
    }
}

impl HistoryFile {
    /// Returns the history file of a home.
    pub(crate) fn in_home(home: &Path, mask_secrets: bool) -> Self {
        Self { path: home.join(TYPED_LINES_FILE), mask_secrets }
    }

    /// Reads all lines, oldest first.
    fn read_lines(&self) -> Vec<String> {
        let text = fs::read_to_string(&self.path).unwrap_or_default();
        let mut lines: Vec<String> =
            text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        if lines.len() > MAX_HISTORY_LINES * 2 {
            lines.drain(..lines.len() - MAX_HISTORY_LINES);
            if let Err(error) = rewrite_file(&self.path, &lines) {
                tracing::warn!(%error, "the history file could not be shortened");
            }
        }
        lines
    }

    /// Appends a line, with its secrets masked.
    fn append_line(&self, line: &str) -> io::Result<()> {
        let masked = if self.mask_secrets { mask(line).0 } else { line.into() };
        let mut file = private_file().append(true).create(true).open(&self.path)?;
        writeln!(file, "{}", serde_json::Value::from(&*masked))
    }
}

fn rewrite_file(path: &Path, lines: &[String]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    for line in lines {
        writeln!(file, "{}", serde_json::Value::from(line.as_str()))?;
    }
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// Completion of command names; a line that ends with a backslash continues.
struct CommandCompleter {
    words: &'static [&'static str],
    is_masking: bool,
}

impl Helper for CommandCompleter {}
impl Hinter for CommandCompleter {
    type Hint = String;
}

impl Highlighter for CommandCompleter {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        if self.is_masking { "*".repeat(line.width()).into() } else { line.into() }
    }

    fn highlight_char(&self, _: &str, _: usize, _: CmdKind) -> bool {
        self.is_masking
    }
}

impl Validator for CommandCompleter {
    fn validate(&self, typed: &mut ValidationContext<'_>) -> LineResult<ValidationResult> {
        Ok(if typed.input().ends_with('\\') {
            ValidationResult::Incomplete
        } else {
            ValidationResult::Valid(None)
        })
    }
}

impl Completer for CommandCompleter {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &Context<'_>,
    ) -> LineResult<(usize, Vec<Self::Candidate>)> {
        let matches = |word: &&&str| !line.is_empty() && word.starts_with(&line[..at]);
        Ok((0, self.words.iter().filter(matches).map(ToString::to_string).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_back_without_their_secrets() {
        let folder = tempfile::tempdir().unwrap();
        let file = HistoryFile { path: folder.path().join("lines"), mask_secrets: true };
        file.append_line("two\nlines").unwrap();
        file.append_line("我的密码是 hunter2-Xk92!").unwrap();
        let lines = file.read_lines();
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
        let file = HistoryFile { path: folder.path().join("lines"), mask_secrets: true };
        let many: Vec<String> =
            (0..MAX_HISTORY_LINES * 2 + 5).map(|n| format!("line {n}")).collect();
        rewrite_file(&file.path, &many).unwrap();
        assert_eq!(file.read_lines().len(), MAX_HISTORY_LINES);
        assert_eq!(file.read_lines().last(), many.last());
        assert_eq!(fs::read_to_string(&file.path).unwrap().lines().count(), MAX_HISTORY_LINES);
    }
}
