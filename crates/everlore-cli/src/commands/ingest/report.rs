//! What became of the files, for people and for programs.

use everlore::ingest::IngestReport;
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    error::{CliError, Exit, Result},
    output::Output,
    render::{pluralize, sanitize},
};

/// Files left out that are told one by one; more would bury the rest.
const MAX_LISTED_SKIPS: usize = 20;

/// What became of one file.
#[derive(Debug)]
pub(super) enum IngestOutcome {
    /// It was ingested, or taken out.
    Ingested(Box<IngestReport>),
    /// It is not for us.
    Skipped(String),
    /// It should have been ingested and could not.
    Failed(CliError),
}

/// What became of all files.
pub(super) struct IngestSummary {
    run: String,
    dry_run: bool,
    files: Vec<(String, IngestOutcome)>,
}

/// The sums over all files.
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
    /// A report without files.
    pub(super) fn new(run: String, dry_run: bool) -> Self {
        Self { run, dry_run, files: Vec::new() }
    }

    /// Adds a file by the name it is told by.
    pub(super) fn push(&mut self, shown: String, outcome: IngestOutcome) {
        self.files.push((shown, outcome));
    }

    /// Prints it and says how the command ended.
    pub(super) fn print(&self, out: &mut Output) -> Result<Exit> {
        let sums = self.totals();
        if out.is_json() {
            out.json(&self.to_json(&sums))?;
        } else {
            self.print_text(&sums, out)?;
        }
        Ok(match sums {
            IngestTotals { failed: 1.., .. } => Exit::Failed,
            IngestTotals { ingested: 0, .. } => Exit::NothingFound,
            _ => Exit::Done,
        })
    }

    fn totals(&self) -> IngestTotals {
        let mut sums = IngestTotals::default();
        for (_, outcome) in &self.files {
            match outcome {
                IngestOutcome::Skipped(_) => sums.skipped += 1,
                IngestOutcome::Failed(_) => sums.failed += 1,
                IngestOutcome::Ingested(report) => {
                    sums.ingested += 1;
                    sums.chunks += report.chunks;
                    sums.added += report.added;
                    sums.unchanged += report.unchanged;
                    sums.removed += report.removed;
                    sums.left_out += report.left_out;
                }
            }
        }
        sums
    }

    /// The run, if there is anything to undo.
    fn undoable_run(&self) -> Option<&str> {
        let changed = |(_, outcome): &(String, IngestOutcome)| matches!(outcome, IngestOutcome::Ingested(report) if report.changes > 0);
        (!self.dry_run && self.files.iter().any(changed)).then_some(self.run.as_str())
    }

    fn to_json(&self, sums: &IngestTotals) -> Value {
        let file = |(path, outcome): &(String, IngestOutcome)| match outcome {
            IngestOutcome::Skipped(reason) => json!({ "path": path, "skipped": reason }),
            IngestOutcome::Failed(CliError::Reported(told)) => {
                json!({ "path": path, "error": told })
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
        let mut answer = json!(sums);
        answer["files"] = self.files.iter().map(file).collect();
        answer["dry_run"] = self.dry_run.into();
        answer["run"] = json!(self.undoable_run());
        answer
    }

    fn print_text(&self, sums: &IngestTotals, out: &mut Output) -> Result<()> {
        let mut skipped = 0;
        for (path, outcome) in &self.files {
            let path = sanitize(path);
            match outcome {
                IngestOutcome::Ingested(report) => {
                    if let Some(told) = describe_changes(report) {
                        out.line(&format!("{path}: {told}"))?;
                    }
                }
                IngestOutcome::Failed(CliError::Reported(failure)) => {
                    out.line(&format!("{path}: failed, {}; {}", failure.message, failure.hint))?;
                }
                IngestOutcome::Failed(CliError::BrokenPipe) => {
                    out.line(&format!("{path}: failed"))?
                }
                IngestOutcome::Skipped(reason) => {
                    skipped += 1;
                    if skipped <= MAX_LISTED_SKIPS {
                        out.line(&format!("{path}: skipped, {reason}"))?;
                    }
                }
            }
        }
        if skipped > MAX_LISTED_SKIPS {
            out.line(&format!("and {} more skipped", skipped - MAX_LISTED_SKIPS))?;
        }
        out.line(&self.summary_line(sums))?;
        if let Some(run) = self.undoable_run() {
            out.line(&format!("undo with: everlore memory undo --run {run}"))?;
        }
        Ok(())
    }

    fn summary_line(&self, sums: &IngestTotals) -> String {
        let would = if self.dry_run { "would be " } else { "" };
        let mut line = format!(
            "{would}ingested {}: added {}, unchanged {}, removed {}",
            pluralize(sums.ingested, "file", "files"),
            pluralize(sums.added, "chunk", "chunks"),
            sums.unchanged,
            sums.removed
        );
        for (number, what) in [
            (sums.left_out, "forgotten before"),
            (sums.skipped, "files skipped"),
            (sums.failed, "files failed"),
        ] {
            if number > 0 {
                line += &format!(", {what} {number}");
            }
        }
        line
    }
}

/// What there is to tell about a file; nothing if it did not change.
fn describe_changes(report: &IngestReport) -> Option<String> {
    let numbers = [
        (report.added, "added"),
        (report.removed, "removed"),
        (report.left_out, "forgotten before"),
    ];
    let changes = numbers.iter().filter(|(number, _)| *number > 0);
    let mut parts: Vec<String> = changes.map(|(number, what)| format!("{number} {what}")).collect();
    let nothing = report.added + report.removed == 0 && report.note.is_none();
    if nothing {
        return None;
    }
    parts.insert(
        0,
        format!("{}, {}", report.format.as_str(), pluralize(report.chunks, "chunk", "chunks")),
    );
    parts.extend(report.note.clone());
    Some(parts.join(", "))
}
