//! Report of a sync.

use everlore::engine::{SyncAction, SyncReport, SyncRequest, SyncStep};
use serde_json::json;

use crate::{
    Exit, Output, Result,
    messages::translate,
    render::{pad_width, pluralize, sanitize},
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
            "done": report.done, "unchanged": report.unchanged, "superseded": report.superseded,
        }))?;
        return Ok(Exit::Done);
    }
    for step in &report.done {
        out.line(&step_line(step))?;
    }
    for id in &report.superseded {
        out.say(&format!("superseded by a file: {id}"))?;
    }
    out.say(&summary_line(report, request.dry_run))?;
    Ok(Exit::Done)
}

/// Formats one step of a sync.
pub(super) fn step_line(step: &SyncStep) -> String {
    let action = match step.what {
        SyncAction::Stored => "file → memory, new",
        SyncAction::Updated => "file → memory",
        SyncAction::Deleted => "file gone → memory deleted",
        SyncAction::Written => "memory → file",
        SyncAction::Removed => "memory gone → file removed",
        SyncAction::Renamed => "file renamed",
        SyncAction::Conflict => "conflict, both kept",
        SyncAction::Skipped => "skipped",
    };
    let note = step.note.as_ref().map(|note| format!(": {}", translate(note)));
    let action = pad_width(&translate(action), ACTION_CELLS);
    sanitize(&format!("{action} {}{}", step.file, note.unwrap_or_default())).into_owned()
}

/// Width of an action before its file.
const ACTION_CELLS: usize = 27;

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
