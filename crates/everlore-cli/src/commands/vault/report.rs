//! Telling what a sync did, or would do.

use everlore::store::directory::{Done, SyncReport, SyncRequest, What};
use serde_json::json;

use crate::{
    failure::{Exit, Result},
    output::Output,
    words::{count, visible},
};

/// Prints the report as one answer.
pub(super) fn tell(out: &mut Output, request: &SyncRequest, report: &SyncReport) -> Result<Exit> {
    if out.is_json() {
        out.json(&json!({
            "folder": request.folder.display().to_string(), "dry_run": request.dry_run, "run": report.run,
            "done": report.done, "unchanged": report.unchanged,
        }))?;
        return Ok(Exit::Done);
    }
    for done in &report.done {
        out.line(&line(done, request.dry_run))?;
    }
    out.line(&sum(report, request.dry_run))?;
    Ok(Exit::Done)
}

/// One thing that was done.
pub(super) fn line(done: &Done, dry_run: bool) -> String {
    let what = match (done.what, dry_run) {
        (What::Stored, _) => "file → memory, new",
        (What::Updated, _) => "file → memory",
        (What::Deleted, _) => "file gone → memory deleted",
        (What::Written, _) => "memory → file",
        (What::Removed, _) => "memory gone → file removed",
        (What::Renamed, _) => "file renamed",
        (What::Conflict, _) => "conflict, both kept",
        (What::Skipped, _) => "skipped",
    };
    let note = done.note.as_ref().map(|note| format!(": {note}")).unwrap_or_default();
    visible(&format!("{what:<27} {}{note}", done.file)).into_owned()
}

fn sum(report: &SyncReport, dry_run: bool) -> String {
    let skipped = report.count(What::Skipped);
    let changes = count(report.done.len() - skipped, "change", "changes");
    let would = if dry_run { " to make" } else { "" };
    let undo =
        report.run.as_ref().map(|run| format!("; undo with: everlore memory undo --run {run}"));
    format!(
        "{changes}{would}, {} unchanged, {skipped} skipped{}",
        report.unchanged,
        undo.unwrap_or_default()
    )
}
