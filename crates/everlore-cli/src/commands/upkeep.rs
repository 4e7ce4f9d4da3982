//! `everlore upkeep`: the work between turns, by hand.

use std::io::{self, IsTerminal};

use clap::Args;
use everlore::{
    Engine,
    engine::{UpkeepJob, UpkeepJobReport, UpkeepReport, UpkeepRequest},
};

use crate::{
    cli_context::CliContext,
    error::{CliError, Exit, Result},
    ids,
    output::Output,
    render::{
        TITLE_CELLS, format_bytes, new_table, pluralize, render_table, sanitize, truncate_width,
    },
};

/// The most memories of a job that are listed; `--json` has all of them.
const MAX_LISTED: usize = 20;

/// Look after memories: weigh by use, put away, put together, tidy up
///
/// Weights follow what answers used; what held until a time that is over, or weighs too little, is archived; what says the
/// same is put together. Then old figures go, missing vectors are made and space is given back. Each job is a run that
/// `everlore memory undo --run` takes back. A job that would touch more than a quarter of the memories asks first.
#[derive(Debug, Args)]
pub(crate) struct UpkeepArgs {
    /// Only show what would be done
    #[arg(long)]
    dry_run: bool,
    /// Do not ask, even if more than a quarter of the memories is touched
    #[arg(short, long)]
    yes: bool,
}

impl UpkeepArgs {
    /// Does the work and tells what was done.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let engine = cx.engine().await?;
        let mut yes = self.yes;
        if !self.dry_run && !yes {
            let planned =
                run_upkeep(engine, cx, out, &UpkeepRequest { dry_run: true, yes }).await?;
            let objections: Vec<_> =
                planned.stopped().filter_map(|job| job.stopped.clone()).collect();
            yes = !objections.is_empty();
            if yes && !confirm_objections(&objections, out)? {
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

fn confirm_objections(objections: &[String], out: &mut Output) -> Result<bool> {
    let told = objections.join("; ");
    if !io::stdin().is_terminal() {
        return Err(CliError::invalid(
            format!("{told}, and nobody can be asked here"),
            "look at it with --dry-run, then repeat the command with --yes",
        ));
    }
    out.confirm(&format!("{told}. Go on?"))
}

async fn print_job(
    job: &UpkeepJobReport,
    dry_run: bool,
    cx: &CliContext,
    out: &mut Output,
) -> Result<()> {
    let number = if dry_run { job.memories.len() } else { job.done as usize };
    let memories = || pluralize(number, "memory", "memories");
    let did = match job.job {
        UpkeepJob::Weigh => format!("{} weighed by use", memories()),
        UpkeepJob::Expire => format!("{} over and archived", memories()),
        UpkeepJob::Archive => format!("{} hardly worth anything and archived", memories()),
        UpkeepJob::Merge => {
            let gone = job.memories.iter().filter(|one| one.superseded_by.is_some()).count();
            format!(
                "{} said the same as another and gave way",
                pluralize(gone, "memory", "memories")
            )
        }
        UpkeepJob::Prune => format!("{} removed", pluralize(number, "old figure", "old figures")),
        UpkeepJob::Embed => {
            format!("{} made", pluralize(number, "missing vector", "missing vectors"))
        }
        UpkeepJob::Vacuum => format!("{} given back", format_bytes(job.done)),
    };
    let run = job.run.as_ref().map(|run| format!(" (run {run})")).unwrap_or_default();
    let would = if dry_run { "would be: " } else { "" };
    out.line(&format!("{:<8} {would}{did}{run}", job.job.as_str()))?;
    if let Some(stopped) = &job.stopped {
        out.line(&format!("         needs a yes: {stopped}"))?;
    }
    if let Some(failed) = &job.failed {
        out.line(&format!("         left for the next time: {failed}"))?;
    }
    out.text(&render_changed(job, cx).await?)
}

async fn render_changed(job: &UpkeepJobReport, cx: &CliContext) -> Result<String> {
    let shown = &job.memories[..job.memories.len().min(MAX_LISTED)];
    if shown.is_empty() {
        return Ok(String::new());
    }
    let all: Vec<_> = shown.iter().map(|one| one.id).collect();
    let short = ids::shorten_ids(cx.engine().await?, &cx.scope, &all).await?;
    let mut rows = new_table(&[]);
    for (one, id) in shown.iter().zip(short) {
        let name = truncate_width(&sanitize(&one.name.replace('\n', " ")), TITLE_CELLS);
        rows.add_row(["        ".to_owned(), id, name, format!("weight {:.2}", one.weight)]);
    }
    let more = job.memories.len() - shown.len();
    let more = if more > 0 { format!("         and {more} more\n") } else { String::new() };
    Ok(render_table(rows) + &more)
}
