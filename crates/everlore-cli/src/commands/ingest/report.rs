//! Report of an ingestion, for people and for programs.

use everlore::engine::IngestReport;
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    CliError, Exit, Output, Result,
    messages::translate,
    render::{pluralize, sanitize},
};

/// Most skipped files that are listed; more would bury the rest.
const MAX_LISTED_SKIPS: usize = 20;

/// Outcome of one file.
#[derive(Debug)]
pub(super) enum IngestOutcome {
    /// Ingested, or removed by `--prune`.
    Ingested(Box<IngestReport>),
    /// Not a document, with the reason.
    Skipped(String),
    /// A document that could not be ingested.
    Failed(CliError),
}

/// Outcomes of all files.
pub(super) struct IngestSummary {
    run: String,
    dry_run: bool,
    files: Vec<(String, IngestOutcome)>,
}

/// Totals over all files.
#[derive(Debug, Default, Serialize)]
struct IngestTotals {
    ingested: usize,
    chunks: usize,
    added: usize,
    unchanged: usize,
    removed: usize,
    left_out: usize,
    skipped: usize,
    failed: usize,
}

impl IngestSummary {
    /// Returns a summary without files.
    pub(super) fn new(run: String, dry_run: bool) -> Self {
        Self { run, dry_run, files: Vec::new() }
    }

    /// Adds a file by its shown path.
    pub(super) fn push(&mut self, shown: String, outcome: IngestOutcome) {
        self.files.push((shown, outcome));
    }

    /// Prints the summary and returns the exit of the command.
    pub(super) fn print(&self, out: &mut Output) -> Result<Exit> {
        let totals = self.totals();
        if out.is_json() {
            out.json(&self.to_json(&totals))?;
        } else {
            self.print_text(&totals, out)?;
        }
        Ok(match totals {
            IngestTotals { failed: 1.., .. } => Exit::Failed,
            IngestTotals { ingested: 0, .. } => Exit::NothingFound,
            _ => Exit::Done,
        })
    }

    fn totals(&self) -> IngestTotals {
        let mut totals = IngestTotals::default();
        for (_, outcome) in &self.files {
            match outcome {
                IngestOutcome::Skipped(_) => totals.skipped += 1,
                IngestOutcome::Failed(_) => totals.failed += 1,
                IngestOutcome::Ingested(report) => {
                    totals.ingested += 1;
                    totals.chunks += report.chunks;
                    totals.added += report.added;
                    totals.unchanged += report.unchanged;
                    totals.removed += report.removed;
                    totals.left_out += report.left_out;
                }
            }
        }
        totals
    }

    /// Returns the run, if there is anything to undo.
    fn undoable_run(&self) -> Option<&str> {
        let changed = self.files.iter().any(
            |(_, outcome)| matches!(outcome, IngestOutcome::Ingested(report) if report.changes > 0),
        );
        (!self.dry_run && changed).then_some(self.run.as_str())
    }

    fn to_json(&self, totals: &IngestTotals) -> Value {
        let file = |(path, outcome): &(String, IngestOutcome)| match outcome {
            IngestOutcome::Skipped(reason) => json!({ "path": path, "skipped": reason }),
            IngestOutcome::Failed(CliError::Reported(error)) => {
                json!({ "path": path, "error": error })
            }
            IngestOutcome::Failed(CliError::BrokenPipe) => json!({ "path": path, "error": null }),
            IngestOutcome::Ingested(report) => {
                let mut file = json!(report);
                file["path"] = json!(path);
                if let Some(file) = file.as_object_mut() {
                    file.remove("run");
                    file.remove("changes");
                }
                file
            }
        };
        let mut answer = json!(totals);
        answer["files"] = self.files.iter().map(file).collect();
        answer["dry_run"] = self.dry_run.into();
        answer["run"] = json!(self.undoable_run());
        answer
    }

    fn print_text(&self, totals: &IngestTotals, out: &mut Output) -> Result<()> {
        let mut skipped = 0;
        for (path, outcome) in &self.files {
            let path = sanitize(path);
            match outcome {
                IngestOutcome::Ingested(report) => {
                    if let Some(changes) = describe_changes(report) {
                        out.line(&format!("{path}: {changes}"))?;
                    }
                }
                IngestOutcome::Failed(CliError::Reported(error)) => {
                    let failed = format!("failed, {}; {}", error.message, error.hint);
                    out.line(&format!("{path}: {}", translate(&failed)))?;
                }
                IngestOutcome::Failed(CliError::BrokenPipe) => {
                    out.line(&format!("{path}: {}", translate("failed")))?
                }
                IngestOutcome::Skipped(reason) => {
                    skipped += 1;
                    if skipped <= MAX_LISTED_SKIPS {
                        out.line(&format!("{path}: {}", translate(&format!("skipped, {reason}"))))?;
                    }
                }
            }
        }
        if skipped > MAX_LISTED_SKIPS {
            out.say(&format!("and {} more skipped", skipped - MAX_LISTED_SKIPS))?;
        }
        out.say(&self.summary_line(totals))?;
        if let Some(run) = self.undoable_run() {
            out.say(&format!("undo with: everlore memory undo --run {run}"))?;
        }
        Ok(())
    }

    fn summary_line(&self, totals: &IngestTotals) -> String {
        let would = if self.dry_run { "would be " } else { "" };
        let mut line = format!(
            "{would}ingested {}: added {}, unchanged {}, removed {}",
            pluralize(totals.ingested, "file", "files"),
            pluralize(totals.added, "chunk", "chunks"),
            totals.unchanged,
            totals.removed
        );
        for (number, label) in [
            (totals.left_out, "forgotten before"),
            (totals.skipped, "files skipped"),
            (totals.failed, "files failed"),
        ] {
            if number > 0 {
                line += &format!(", {label} {number}");
            }
        }
        line
    }
}

/// Describes the changes of a file; `None` if it did not change.
fn describe_changes(report: &IngestReport) -> Option<String> {
    let numbers = [
        (report.added, "added"),
        (report.removed, "removed"),
        (report.left_out, "forgotten before"),
    ];
    let changes = numbers.iter().filter(|(number, _)| *number > 0);
    let mut parts: Vec<String> = changes
        .map(|(number, label)| translate(&format!("{number} {label}")).into_owned())
        .collect();
    if report.added + report.removed == 0 && report.note.is_none() {
        return None;
    }
    parts.insert(
        0,
        format!(
            "{}, {}",
            report.format.as_str(),
            translate(&pluralize(report.chunks, "chunk", "chunks"))
        ),
    );
    parts.extend(report.note.as_deref().map(|note| translate(note).into_owned()));
    Some(parts.join(", "))
}
