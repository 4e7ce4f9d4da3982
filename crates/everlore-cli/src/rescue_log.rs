//! Rescue log `unsaved*.jsonl`: input that the disk or the database refused. The next command that opens the database
//! saves it, and so does a server within a minute.

use std::{
    fs,
    io::{self, BufRead, Write},
    path::{Path, PathBuf},
};

use everlore::{
    Engine, Scope,
    engine::ImportOptions,
    internal::{
        files::pending_text::is_rescue_file,
        ingest::{ExportHeader, ExportLine},
    },
    types::Fingerprint,
};

use crate::{
    CliContext, CliError,
    cli_context::private_file,
    render::{pluralize, shell_quote},
};

/// Appends lines that could not be saved to the rescue log; returns the error with a hint about it.
pub(crate) fn rescue_lines(
    cx: &CliContext,
    mut lines: Vec<ExportLine>,
    error: CliError,
) -> CliError {
    let (home, scope) = (cx.home.as_path(), &cx.scope);
    if cx.agent_config().memory.mask_secrets {
        for line in &mut lines {
            line.mask_secrets();
        }
    }
    let path = home.join(file_name(scope));
    match append(&path, scope, &lines) {
        Ok(()) => error.with_hint(format!(
            "nothing is lost: your input is in {}; the next command saves it when the cause is fixed, or import it \
             with: {}",
            path.display(),
            import_command(home, scope, &path)
        )),
        Err(_) if !cx.home.is_dir() => error.with_hint(format!(
            "the folder {} cannot be made: name another one with --home or EVERLORE_HOME, and enter it again",
            cx.home.display()
        )),
        Err(rescue_error) => error.with_hint(format!(
            "it could not be saved in {} either ({rescue_error}), so enter it again when there is space; \
             `everlore doctor` checks the home",
            path.display()
        )),
    }
}

/// Returns the rescue logs of a home that hold input.
pub(crate) fn rescue_files(home: &Path) -> Vec<PathBuf> {
    let (_, filled) = scan_home(home);
    filled
}

/// Returns a note if the input of a failed save is lost.
pub(crate) fn lost_input_note(home: &Path) -> Option<String> {
    let (empty, _) = scan_home(home);
    for path in &empty {
        // Reported once; if the file cannot be removed, it is reported again.
        let _ = fs::remove_file(path);
    }
    (!empty.is_empty())
        .then(|| "note: an earlier save failed, and its input is lost; enter it again".to_owned())
}

/// Saves what earlier saves could not store, each file in its scope, and removes the files. Returns a note for each.
/// Another process that does the same goes first; a failure leaves the file for the next time.
pub(crate) async fn replay(engine: &Engine, home: &Path) -> Vec<String> {
    let files = rescue_files(home);
    if files.is_empty() || engine.admin().store_info().is_read_only {
        return Vec::new();
    }
    let Ok(lock) = open_lock(home) else { return Vec::new() };
    if lock.try_lock().is_err() {
        return Vec::new();
    }
    let mut notes = Vec::new();
    for path in files {
        notes.push(match replay_file(engine, &path).await {
            Ok(lines) => format!(
                "note: an earlier save failed; its input is saved now: {}",
                pluralize(lines, "line", "lines")
            ),
            Err(reason) => {
                let scope = rescued_scope(&path).unwrap_or_default();
                let command = import_command(home, &scope, &path);
                format!("note: an earlier save failed ({reason}); import its input with: {command}")
            }
        });
    }
    notes
}

/// Imports a rescue log and removes it; returns the number of its lines. Lines that are stored already stay as they
/// are, so that a kill in between loses nothing and doubles nothing.
async fn replay_file(engine: &Engine, path: &Path) -> Result<usize, String> {
    let scope = rescued_scope(path).ok_or("its scope cannot be read")?;
    let bytes = fs::read(path).map_err(|error| error.to_string())?;
    let options = ImportOptions { keep_going: true, ..ImportOptions::default() };
    let report = engine.import(&scope, &bytes[..], options, &mut |_| {}).await;
    let report = report.map_err(|error| error.to_string())?;
    if let Some(rejected) = report.rejections.first() {
        return Err(format!("line {}: {}", rejected.line, rejected.reason));
    }
    fs::remove_file(path).map_err(|error| error.to_string())?;
    Ok(report.added + report.updated + report.unchanged + report.erased)
}

/// Opens the lock of the rescue logs: they are appended to, or replayed and removed, by one process at a time.
fn open_lock(home: &Path) -> io::Result<fs::File> {
    private_file().append(true).create(true).open(home.join("unsaved.lock"))
}

/// Returns the empty rescue logs, which only say that input was lost, and the filled ones.
fn scan_home(home: &Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(home) else { return Default::default() };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| is_rescue_file(path));
    paths.sort();
    paths.into_iter().partition(|path| fs::metadata(path).is_ok_and(|data| data.len() == 0))
}

/// Returns the command that imports a rescue log into its scope.
pub(crate) fn import_command(home: &Path, scope: &Scope, path: &Path) -> String {
    let mut words = vec!["everlore".to_owned()];
    let mut option = |name: &str, value: &str| words.extend([name.to_owned(), shell_quote(value)]);
    option("--home", &home.display().to_string());
    if *scope != Scope::default() {
        option("--agent", scope.agent());
        option("--user", scope.user());
    }
    words.extend(["memory".into(), "import".into(), shell_quote(&path.display().to_string())]);
    words.join(" ")
}

/// Returns the scope of a rescue log.
pub(crate) fn rescued_scope(path: &Path) -> Option<Scope> {
    let mut first = String::new();
    io::BufReader::new(fs::File::open(path).ok()?).read_line(&mut first).ok()?;
    match ExportLine::parse(first.trim().as_bytes()) {
        Ok(ExportLine::Header(header)) => Some(header.scope),
        _ => None,
    }
}

/// Returns the name of a scope's rescue log. Lines do not name their scope, so each scope has its own file; a digest
/// stands for names, which may be too long.
fn file_name(scope: &Scope) -> String {
    if *scope == Scope::default() {
        return "unsaved.jsonl".to_owned();
    }
    let digest = Fingerprint::of(&scope.to_string());
    let digest: String = digest.as_bytes()[..4].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("unsaved-{digest}.jsonl")
}

fn append(path: &Path, scope: &Scope, lines: &[ExportLine]) -> io::Result<()> {
    // A full disk may refuse the lock; the input matters more.
    let lock = path.parent().and_then(|home| open_lock(home).ok());
    let _ = lock.as_ref().map(fs::File::lock);
    let mut file = private_file().append(true).create(true).open(path)?;
    let mut text = String::new();
    let header =
        ExportLine::Header(ExportHeader::new(scope, false, everlore::internal::system_now()));
    let length = file.metadata()?.len();
    let first = (length == 0).then_some(&header);
    for line in first.into_iter().chain(lines) {
        text += &line.to_json().map_err(io::Error::other)?;
        text.push('\n');
    }
    // One write, so that lines of two processes do not mix. After an error, a partial line is removed.
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).inspect_err(|_| {
        let _ = file.set_len(length);
    })
}
