//! `everlore memory import`: imports JSON Lines, after checking all of them.

use std::{
    fs::{self, File},
    io::{self, BufReader, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use clap::Args;
use everlore::engine::{ImportOptions, ImportReport, RejectedLine};
use serde_json::json;

use crate::{
    CliContext, CliError, Exit, Output, Result,
    render::{pluralize, sanitize},
};
use everlore::internal::files::{pending_text::is_rescue_file, regular_file};

/// Most damaged lines that are listed; more would bury the hint.
const MAX_LISTED_REJECTS: usize = 10;

/// Read memories from JSON Lines, from a file or from standard input
///
/// Reads the output of `everlore memory export`, and lines {"content":…} or {"text":…} as `remember` and `observe` take
/// them. All lines are checked before anything is stored. Importing the same again changes nothing, so an interrupted
/// import is resumed by repeating it.
#[derive(Debug, Args)]
pub(crate) struct MemoryImportArgs {
    /// The file; standard input if left out or `-`
    file: Option<PathBuf>,
    /// Leave damaged lines out and import the rest
    #[arg(long)]
    keep_going: bool,
    /// Report what would happen, and change nothing
    #[arg(long)]
    dry_run: bool,
}

impl MemoryImportArgs {
    /// Checks every line, then imports and reports.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let mut file = self.open_input()?;
        let check = ImportOptions { keep_going: true, dry_run: true, keep_secrets: false };
        let (checked, lines) = import_file(&mut file, check, "checking", None, cx, out).await?;
        if checked.rejected > 0 && !self.keep_going {
            return Err(damaged_lines(&checked));
        }
        let report = if self.dry_run {
            checked
        } else {
            let options =
                ImportOptions { keep_going: self.keep_going, dry_run: false, keep_secrets: false };
            let size = file_len(&file)?;
            let imported =
                import_file(&mut file, options, "importing", Some(lines), cx, out).await?;
            self.remove_rescue_file(size, &imported.0, out);
            imported.0
        };
        self.print_report(&report, out)?;
        Ok(Exit::from_success(report.rejected == 0 || self.keep_going))
    }

    /// Opens the file, or copies a stream, which can be read only once.
    fn open_input(&self) -> Result<File> {
        let Some(path) = self.file.as_deref().filter(|path| *path != Path::new("-")) else {
            return copy_to_temp_file(io::stdin().lock(), "standard input");
        };
        let name = path.display().to_string();
        regular_file::open(path).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidInput => CliError::invalid(
                format!("{name} cannot be imported: {error}"),
                "give a file, or pipe the lines into `everlore memory import -`",
            ),
            _ => CliError::io(format!("reading {name}"), error),
        })
    }

    /// Removes a rescue log that is now imported, unless it has grown meanwhile.
    fn remove_rescue_file(&self, size: u64, report: &ImportReport, out: &mut Output) {
        let Some(path) = self.file.as_deref().filter(|path| is_rescue_file(path)) else {
            return;
        };
        let unchanged = fs::metadata(path).is_ok_and(|data| data.len() == size);
        if report.rejected == 0 && unchanged && fs::remove_file(path).is_ok() {
            out.note(&format!("all of {} is saved now, so it was removed", path.display()));
        }
    }

    fn print_report(&self, report: &ImportReport, out: &mut Output) -> Result<()> {
        let changed = report.added + report.updated > 0 && !self.dry_run;
        if out.is_json() {
            let mut answer = json!(report);
            answer["dry_run"] = self.dry_run.into();
            return out.json(&answer);
        }
        let would = if self.dry_run { "would be " } else { "" };
        out.say(&format!(
            "{would}added {}, updated {}, unchanged {}, erased before {}, rejected {}",
            report.added, report.updated, report.unchanged, report.erased, report.rejected
        ))?;
        if report.masked > 0 {
            out.say(&format!("masked {}", pluralize(report.masked, "secret", "secrets")))?;
        }
        for rejected in report.rejections.iter().take(MAX_LISTED_REJECTS) {
            out.say(&rejected_line(rejected))?;
        }
        for older in &report.superseded {
            out.say(&format!("superseded: {} {}", older.id, sanitize(&older.content)))?;
        }
        if changed {
            out.say(&format!("undo with: everlore memory undo --run {}", report.run))?;
        }
        Ok(())
    }
}

/// Reads the file from its beginning; returns the report and the number of lines.
async fn import_file(
    file: &mut File,
    options: ImportOptions,
    message: &str,
    lines: Option<usize>,
    cx: &CliContext,
    out: &Output,
) -> Result<(ImportReport, usize)> {
    let failed = |error| CliError::io("reading the import", error);
    file.seek(SeekFrom::Start(0)).map_err(failed)?;
    let bar = out.progress(message, lines);
    let mut done = 0;
    let mut progress = |lines: usize| {
        done = lines;
        bar.set_position(lines as u64);
    };
    let engine = cx.engine().await?;
    let report = engine.import(&cx.scope, BufReader::new(file), options, &mut progress).await;
    bar.finish_and_clear();
    Ok((report?, done))
}

fn copy_to_temp_file(mut stream: impl io::Read, name: &str) -> Result<File> {
    let failed = |error| CliError::io(format!("reading {name}"), error);
    let mut copy = tempfile::tempfile().map_err(failed)?;
    io::copy(&mut stream, &mut copy).map_err(failed)?;
    Ok(copy)
}

fn damaged_lines(report: &ImportReport) -> CliError {
    let mut lines: Vec<String> =
        report.rejections.iter().take(MAX_LISTED_REJECTS).map(rejected_line).collect();
    if report.rejected > lines.len() {
        lines.push(format!("and {} more", report.rejected - lines.len()));
    }
    CliError::invalid(
        format!(
            "{} cannot be imported, so nothing was imported:\n  {}",
            pluralize(report.rejected, "line", "lines"),
            lines.join("\n  ")
        ),
        "fix them, or import the rest with --keep-going",
    )
    .with_details(json!({ "rejections": report.rejections }))
}

fn rejected_line(rejected: &RejectedLine) -> String {
    format!("line {}: {}", rejected.line, rejected.reason)
}

fn file_len(file: &File) -> Result<u64> {
    let length = file.metadata().map(|data| data.len());
    length.map_err(|error| CliError::io("reading the import", error))
}
