//! What could not be saved because the disk or the database failed: kept in a file beside it, said at the next start,
//! brought in by an import (H3).

use std::{
    fs,
    io::{self, BufRead, Write},
    path::{Path, PathBuf},
};

use everlore::{
    Scope,
    ingest::{ExportHeader, ExportLine},
    types::{Fingerprint, Timestamp},
};

use crate::{
    cli_context::{CliContext, private_file},
    error::CliError,
    render::shell_quote,
};

/// Keeps lines that could not be saved and says so in the failure.
pub(crate) fn rescue_lines(
    cx: &CliContext,
    mut lines: Vec<ExportLine>,
    failure: CliError,
) -> CliError {
    let (home, scope) = (cx.home.as_path(), &cx.scope);
    if cx.agent_config().memory.mask_secrets {
        for line in &mut lines {
            line.mask_secrets();
        }
    }
    let path = home.join(file_name(scope));
    match append(&path, scope, &lines) {
        Ok(()) => failure.with_hint(format!(
            "nothing is lost: what you gave is kept in {}; when the cause is mended, bring it in with: {}",
            path.display(),
            import_command(home, scope, &path)
        )),
        Err(error) => failure.with_hint(format!(
            "it could not be kept in {} either ({error}), so give it again when there is space; `everlore doctor` \
             checks the home",
            path.display()
        )),
    }
}

/// The files of a home that hold something unsaved.
pub(crate) fn rescue_files(home: &Path) -> Vec<PathBuf> {
    let (_, held) = scan_home(home);
    held
}

/// What was not saved, and how to bring it in.
pub(crate) fn rescue_notes(home: &Path) -> Vec<String> {
    let (empty, held) = scan_home(home);
    let mut notes = Vec::new();
    if !empty.is_empty() {
        notes.push(
            "note: an earlier save failed, and its text could not be kept; give it again"
                .to_owned(),
        );
    }
    for mark in empty {
        // Said once; if the mark cannot be removed, it is said again.
        let _ = fs::remove_file(mark);
    }
    for path in held {
        let scope = rescued_scope(&path).unwrap_or_default();
        let command = import_command(home, &scope, &path);
        notes.push(format!("note: an earlier save failed; bring it in with: {command}"));
    }
    notes
}

/// The files that are only a mark that something is lost, and those that hold it.
fn scan_home(home: &Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(home) else { return Default::default() };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| is_rescue_file(path));
    paths.sort();
    paths.into_iter().partition(|path| fs::metadata(path).is_ok_and(|data| data.len() == 0))
}

/// Whether a file is one of these.
pub(crate) fn is_rescue_file(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name == "unsaved.jsonl" || name.starts_with("unsaved-") && name.ends_with(".jsonl")
}

/// The command that imports a file into its scope.
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

/// Whose lines a file holds.
pub(crate) fn rescued_scope(path: &Path) -> Option<Scope> {
    let mut first = String::new();
    io::BufReader::new(fs::File::open(path).ok()?).read_line(&mut first).ok()?;
    match ExportLine::parse(first.trim().as_bytes()) {
        Ok(ExportLine::Header(header)) => Some(header.scope),
        _ => None,
    }
}

/// One file a scope, since lines do not say whose they are; names may be too long for a file, so a digest stands in.
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
    let header = ExportLine::Header(ExportHeader::new(scope, false, Timestamp::now()));
    let length = file.metadata()?.len();
    let first = (length == 0).then_some(&header);
    for line in first.into_iter().chain(lines) {
        text += &line.to_json().map_err(io::Error::other)?;
        text.push('\n');
    }
    // In one go, so that lines of two processes do not mix; half a line would only be in the way.
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).inspect_err(|_| {
        let _ = file.set_len(length);
    })
}
