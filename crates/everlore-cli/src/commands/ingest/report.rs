//! What became of the files, for people and for programs.

use everlore::ingest::IngestReport;
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    failure::{Exit, Failure, Result},
    output::Output,
    words::{count, visible},
};

/// Files left out that are told one by one; more would bury the rest.
const MAX_TOLD: usize = 20;

/// What became of one file.
#[derive(Debug)]
pub(super) enum Outcome {
    /// It was ingested, or taken out.
    Ingested(Box<IngestReport>),
    /// It is not for us.
    Skipped(String),
    /// It should have been ingested and could not.
    Failed(Failure),
}

/// What became of all files.
pub(super) struct Report {
    run: String,
    dry_run: bool,
    files: Vec<(String, Outcome)>,
}

/// The sums over all files.
#[derive(Debug, Default, Serialize)]
struct Sums {
    ingested: usize,
    chunks: usize,
    added: usize,
    unchanged: usize,
    removed: usize,
    left_out: usize,
    skipped: usize,
    failed: usize,
}

impl Report {
    /// A report without files.
    pub(super) fn new(run: String, dry_run: bool) -> Self {
        Self { run, dry_run, files: Vec::new() }
    }

    /// Adds a file by the name it is told by.
    pub(super) fn push(&mut self, shown: String, outcome: Outcome) {
        self.files.push((shown, outcome));
    }

    /// Prints it and says how the command ended.
    pub(super) fn tell(&self, out: &mut Output) -> Result<Exit> {
        let sums = self.sums();
        if out.is_json() {
            out.json(&self.as_json(&sums))?;
        } else {
            self.in_words(&sums, out)?;
        }
        Ok(match sums {
            Sums { failed: 1.., .. } => Exit::Failed,
            Sums { ingested: 0, .. } => Exit::Nothing,
            _ => Exit::Done,
        })
    }

    fn sums(&self) -> Sums {
        let mut sums = Sums::default();
        for (_, outcome) in &self.files {
            match outcome {
                Outcome::Skipped(_) => sums.skipped += 1,
                Outcome::Failed(_) => sums.failed += 1,
                Outcome::Ingested(report) => {
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
    fn undoable(&self) -> Option<&str> {
        let changed = |(_, outcome): &(String, Outcome)| matches!(outcome, Outcome::Ingested(report) if report.changes > 0);
        (!self.dry_run && self.files.iter().any(changed)).then_some(self.run.as_str())
    }

    fn as_json(&self, sums: &Sums) -> Value {
        let file = |(path, outcome): &(String, Outcome)| match outcome {
            Outcome::Skipped(reason) => json!({ "path": path, "skipped": reason }),
            Outcome::Failed(Failure::Told(told)) => json!({ "path": path, "error": told }),
            Outcome::Failed(Failure::BrokenPipe) => json!({ "path": path, "error": null }),
            Outcome::Ingested(report) => {
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
        answer["run"] = json!(self.undoable());
        answer
    }

    fn in_words(&self, sums: &Sums, out: &mut Output) -> Result<()> {
        let mut skipped = 0;
        for (path, outcome) in &self.files {
            let path = visible(path);
            match outcome {
                Outcome::Ingested(report) => {
                    if let Some(told) = told(report) {
                        out.line(&format!("{path}: {told}"))?;
                    }
                }
                Outcome::Failed(Failure::Told(failure)) => {
                    out.line(&format!("{path}: failed, {}; {}", failure.message, failure.hint))?;
                }
                Outcome::Failed(Failure::BrokenPipe) => out.line(&format!("{path}: failed"))?,
                Outcome::Skipped(reason) => {
                    skipped += 1;
                    if skipped <= MAX_TOLD {
                        out.line(&format!("{path}: skipped, {reason}"))?;
                    }
                }
            }
        }
        if skipped > MAX_TOLD {
            out.line(&format!("and {} more skipped", skipped - MAX_TOLD))?;
        }
        out.line(&self.summary(sums))?;
        if let Some(run) = self.undoable() {
            out.line(&format!("undo with: everlore memory undo --run {run}"))?;
        }
        Ok(())
    }

    fn summary(&self, sums: &Sums) -> String {
        let would = if self.dry_run { "would be " } else { "" };
        let mut line = format!(
            "{would}ingested {}: added {}, unchanged {}, removed {}",
            count(sums.ingested, "file", "files"),
            count(sums.added, "chunk", "chunks"),
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
fn told(report: &IngestReport) -> Option<String> {
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
        format!("{}, {}", report.format.as_str(), count(report.chunks, "chunk", "chunks")),
    );
    parts.extend(report.note.clone());
    Some(parts.join(", "))
}
