//! `everlore upkeep`: runs the work between turns now.

use std::io::{self, IsTerminal};

use clap::Args;
use everlore::{
    Engine,
    engine::{UpkeepJob, UpkeepJobReport, UpkeepReport, UpkeepRequest},
};

use crate::{
    CliContext, CliError, Exit, Output, Result,
    messages::translate,
    render::{
        TITLE_CELLS, format_bytes, new_table, pad_width, pluralize, render_list, sanitize,
        truncate_width,
    },
};

/// Most memories of a job that are listed; `--json` has all of them.
const MAX_LISTED: usize = 20;

/// Run upkeep: update weights, archive, merge duplicates, clean up
///
/// Updates weights by usage, archives memories that have expired or weigh too little, and merges duplicates. Then
/// prunes old statistics, computes missing vectors and compacts the database. Each job is a run that `everlore memory
/// undo --run` undoes. A job that would change more than a quarter of the memories asks first.
#[derive(Debug, Args)]
pub(crate) struct UpkeepArgs {
    /// Report what would be done, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask, even if more than a quarter of the memories is changed
    #[arg(short, long)]
    yes: bool,
}

impl UpkeepArgs {
    /// Runs all jobs and prints their results.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let engine = cx.engine().await?;
        let mut yes = self.yes;
        if !self.dry_run && !yes {
            let planned =
                run_upkeep(engine, cx, out, &UpkeepRequest { dry_run: true, yes }).await?;
            let reasons: Vec<_> = planned.stopped().filter_map(|job| job.stopped.clone()).collect();
            yes = !reasons.is_empty();
            if yes && !confirm_large_jobs(&reasons, out)? {
                out.note("nothing was done");
                return Ok(Exit::Failed);
            }
        }
        let request = UpkeepRequest { dry_run: self.dry_run, yes };
        let report = run_upkeep(engine, cx, out, &request).await?;
        if out.is_json() {
            out.json(&report)?;
            return Ok(Exit::Done);
        }
        for job in &report.jobs {
            print_job(job, report.dry_run, cx, out).await?;
        }
        Ok(Exit::Done)
    }
}

async fn run_upkeep(
    engine: &Engine,
    cx: &CliContext,
    out: &Output,
    request: &UpkeepRequest,
) -> Result<UpkeepReport> {
    let bar = out.progress("upkeep", None);
    let mut progress = |job: UpkeepJob| {
        bar.set_message(format!("upkeep: {}", job.as_str()));
        bar.tick();
    };
    let report = engine.upkeep(&cx.scope, request, &mut progress).await;
    bar.finish_and_clear();
    Ok(report?)
}

fn confirm_large_jobs(reasons: &[String], out: &mut Output) -> Result<bool> {
    let reasons = reasons.join("; ");
    if !io::stdin().is_terminal() {
        return Err(CliError::invalid(
            format!("{reasons}, which needs a confirmation, for which there is no terminal"),
            "check it with --dry-run, then repeat the command with --yes",
        ));
    }
    out.confirm(&format!("{reasons}. Continue?"))
}

async fn print_job(
    job: &UpkeepJobReport,
    dry_run: bool,
    cx: &CliContext,
    out: &mut Output,
) -> Result<()> {
    let number = if dry_run { job.memories.len() } else { job.done as usize };
    let memories = || pluralize(number, "memory", "memories");
    let done = match job.job {
        UpkeepJob::Weigh => format!("{} weighed by usage", memories()),
        UpkeepJob::Expire => format!("{} expired and archived", memories()),
        UpkeepJob::Archive => format!("{} of low weight archived", memories()),
        UpkeepJob::Merge => {
            let merged = job.memories.iter().filter(|memory| memory.superseded_by.is_some());
            format!("{} merged", pluralize(merged.count(), "duplicate", "duplicates"))
        }
        UpkeepJob::Prune => {
            format!("{} removed", pluralize(number, "old statistic", "old statistics"))
        }
        UpkeepJob::Embed => {
            format!("{} computed", pluralize(number, "missing vector", "missing vectors"))
        }
        UpkeepJob::Vacuum => format!("{} freed", format_bytes(job.done)),
    };
    let run = job.run.as_ref().map(|run| translate(&format!(" (run {run})")).into_owned());
    let would = if dry_run { translate("would be: ") } else { "".into() };
    let (name, done) = (pad_width(&translate(job.job.as_str()), 8), translate(&done));
    out.line(&format!("{name} {would}{done}{}", run.unwrap_or_default()))?;
    if let Some(stopped) = &job.stopped {
        out.say(&format!("         needs a confirmation: {stopped}"))?;
    }
    if let Some(failed) = &job.failed {
        out.say(&format!("         failed, retried next time: {failed}"))?;
    }
    out.text(&render_changed(job, cx).await?)
}

async fn render_changed(job: &UpkeepJobReport, cx: &CliContext) -> Result<String> {
    let shown = &job.memories[..job.memories.len().min(MAX_LISTED)];
    if shown.is_empty() {
        return Ok(String::new());
    }
    let all: Vec<_> = shown.iter().map(|memory| memory.id).collect();
    let short = cx.engine().await?.shorten_ids(&cx.scope, &all).await?;
    let mut rows = new_table(&[]);
    for (memory, id) in shown.iter().zip(short) {
        let name = truncate_width(&sanitize(&memory.name.replace('\n', " ")), TITLE_CELLS);
        rows.add_row(["        ".to_owned(), id, name, format!("weight {:.2}", memory.weight)]);
    }
    let more = job.memories.len() - shown.len();
    let more = if more > 0 { format!("         and {more} more\n") } else { String::new() };
    Ok(render_list(rows) + &more)
}
