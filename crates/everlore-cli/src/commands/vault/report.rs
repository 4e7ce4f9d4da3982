//! Telling what a sync did, or would do.

use everlore::store::directory::{SyncAction, SyncReport, SyncRequest, SyncStep};
use serde_json::json;

use crate::{
    error::{Exit, Result},
    output::Output,
    render::{pluralize, sanitize},
};

/// Prints the report as one answer.
pub(super) fn print_report(
    out: &mut Output,
    request: &SyncRequest,
    report: &SyncReport,
) -> Result<Exit> {
    if out.is_json() {
        out.json(&json!({
            "folder": request.folder.display().to_string(), "dry_run": request.dry_run, "run": report.run,
            "done": report.done, "unchanged": report.unchanged,
        }))?;
        return Ok(Exit::Done);
    }
    for done in &report.done {
        out.line(&step_line(done, request.dry_run))?;
    }
    out.line(&summary_line(report, request.dry_run))?;
    Ok(Exit::Done)
}

/// One thing that was done.
pub(super) fn step_line(done: &SyncStep, dry_run: bool) -> String {
    let what = match (done.what, dry_run) {
        (SyncAction::Stored, _) => "file → memory, new",
        (SyncAction::Updated, _) => "file → memory",
        (SyncAction::Deleted, _) => "file gone → memory deleted",
        (SyncAction::Written, _) => "memory → file",
        (SyncAction::Removed, _) => "memory gone → file removed",
        (SyncAction::Renamed, _) => "file renamed",
        (SyncAction::Conflict, _) => "conflict, both kept",
        (SyncAction::Skipped, _) => "skipped",
    };
    let note = done.note.as_ref().map(|note| format!(": {note}")).unwrap_or_default();
    sanitize(&format!("{what:<27} {}{note}", done.file)).into_owned()
}

fn summary_line(report: &SyncReport, dry_run: bool) -> String {
    let skipped = report.count(SyncAction::Skipped);
    let changes = pluralize(report.done.len() - skipped, "change", "changes");
    let would = if dry_run { " to make" } else { "" };
    let undo =
        report.run.as_ref().map(|run| format!("; undo with: everlore memory undo --run {run}"));
    format!(
        "{changes}{would}, {} unchanged, {skipped} skipped{}",
        report.unchanged,
        undo.unwrap_or_default()
    )
}
