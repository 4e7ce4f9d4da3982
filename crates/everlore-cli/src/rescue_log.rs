//! Rescue log `unsaved*.jsonl`: input that the disk or the database refused. The next command reports it, and an import
//! brings it in.

use std::{
    fs,
    io::{self, BufRead, Write},
    path::{Path, PathBuf},
};

use everlore::{
    Scope,
    internal::ingest::{ExportHeader, ExportLine},
    types::Fingerprint,
};

use crate::{CliContext, CliError, cli_context::private_file, render::shell_quote};

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
            "nothing is lost: your input is in {}; when the cause is fixed, import it with: {}",
            path.display(),
            import_command(home, scope, &path)
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

/// Returns a note for each failed save, with the command that imports it.
pub(crate) fn rescue_notes(home: &Path) -> Vec<String> {
    let (empty, filled) = scan_home(home);
    let mut notes = Vec::new();
    if !empty.is_empty() {
        notes
            .push("note: an earlier save failed, and its input is lost; enter it again".to_owned());
    }
    for path in empty {
        // Reported once; if the file cannot be removed, it is reported again.
        let _ = fs::remove_file(path);
    }
    for path in filled {
        let scope = rescued_scope(&path).unwrap_or_default();
        let command = import_command(home, &scope, &path);
        notes.push(format!("note: an earlier save failed; import its input with: {command}"));
    }
    notes
}

/// Returns the empty rescue logs, which only say that input was lost, and the filled ones.
fn scan_home(home: &Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(home) else { return Default::default() };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| is_rescue_file(path));
    paths.sort();
    paths.into_iter().partition(|path| fs::metadata(path).is_ok_and(|data| data.len() == 0))
}

/// Returns `true` if a path is a rescue log by its name.
pub(crate) fn is_rescue_file(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name == "unsaved.jsonl" || name.starts_with("unsaved-") && name.ends_with(".jsonl")
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
