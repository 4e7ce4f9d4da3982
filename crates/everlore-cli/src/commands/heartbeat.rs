//! `everlore heartbeat`: runs jobs by itself, once or until it is stopped.

use std::time::Duration;

use clap::{
    Args, Subcommand,
    builder::{PossibleValuesParser, TypedValueParser},
};
use everlore::{
    Engine,
    engine::{HeartbeatJob, HeartbeatReport, HeartbeatRun, HeartbeatStatus},
};
use serde_json::json;

use crate::{
    CliContext, CliError, Exit, Output, Result,
    messages::translate,
    render::{new_table, render_table, sanitize},
    times::format_minute,
};

/// Interval between two heartbeats: a reminder is told within it.
const BEAT_INTERVAL: Duration = Duration::from_secs(15);

/// Run jobs by themselves: reminders, upkeep, overviews, reflection, the archive of the daily log
///
/// Runs until Ctrl+C, or one time with --once, and prints the reminders that are due. `everlore serve` does the same by
/// itself. Of several processes and servers on one database one runs the jobs. Quiet hours and what happens to missed
/// runs are in [heartbeat] of the settings.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct HeartbeatArgs {
    #[command(subcommand)]
    command: Option<HeartbeatCommand>,
    /// Run the jobs that are due now, and end
    #[arg(long)]
    once: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HeartbeatCommand {
    /// Print which jobs are on, and their last runs
    Status,
    /// Switch a job on
    On(HeartbeatJobArgs),
    /// Switch a job off, for all processes of the home
    Off(HeartbeatJobArgs),
    /// Print the last runs, the newest first
    History,
}

#[derive(Debug, Args)]
pub(crate) struct HeartbeatJobArgs {
    /// The job
    #[arg(value_parser = job_parser())]
    job: HeartbeatJob,
}

/// Parses the name of a job; help and errors list all of them.
fn job_parser() -> impl TypedValueParser<Value = HeartbeatJob> {
    PossibleValuesParser::new(HeartbeatJob::ALL.map(HeartbeatJob::as_str))
        .try_map(|name| name.parse::<HeartbeatJob>())
}

impl HeartbeatArgs {
    /// Runs the jobs, or shows and changes their state.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        match self.command {
            None if self.once => beat(&cx.capture_engine().await?, cx, out, true).await,
            None => beat_until_interrupted(cx, out).await,
            Some(HeartbeatCommand::Status) => {
                print_status(&cx.engine().await?.heartbeat_status().await?, cx, out)
            }
            Some(HeartbeatCommand::History) => {
                print_history(&cx.engine().await?.heartbeat_history().await?, cx, out)
            }
            Some(HeartbeatCommand::On(args)) => switch(args.job, true, cx, out).await,
            Some(HeartbeatCommand::Off(args)) => switch(args.job, false, cx, out).await,
        }
    }
}

async fn switch(job: HeartbeatJob, on: bool, cx: &CliContext, out: &mut Output) -> Result<Exit> {
    cx.engine().await?.switch_job(job, on).await?;
    let state = if on { "on" } else { "off" };
    out.answer_line(&json!({ "job": job, "on": on }), &format!("{job} is {state}"))
}

async fn beat_until_interrupted(cx: &CliContext, out: &mut Output) -> Result<Exit> {
    let engine = cx.capture_engine().await?;
    out.note("the heartbeat runs; Ctrl+C ends it");
    loop {
        beat(&engine, cx, out, false).await?;
        tokio::select! {
            () = tokio::time::sleep(BEAT_INTERVAL) => {}
            stopped = tokio::signal::ctrl_c() => {
                stopped.map_err(|error| CliError::io("listening for signals", error))?;
                return Ok(Exit::Done);
            }
        }
    }
}

/// Runs the jobs that are due and prints what they did; `tells_nothing` also if there was nothing to do.
async fn beat(
    engine: &Engine,
    cx: &CliContext,
    out: &mut Output,
    tells_nothing: bool,
) -> Result<Exit> {
    let report = engine.heartbeat(std::slice::from_ref(&cx.scope)).await?;
    let is_empty = report.runs.is_empty();
    if out.is_json() {
        if !is_empty || tells_nothing {
            out.json(&report_json(&report))?;
        }
    } else {
        print_report(&report, tells_nothing, cx, out)?;
    }
    out.flush()?;
    Ok(Exit::from_found(!is_empty))
}

fn report_json(report: &HeartbeatReport) -> serde_json::Value {
    let reminders: Vec<_> = report.reminders.iter().map(|(_, reminder)| reminder).collect();
    let HeartbeatReport { runs, quiet, busy, .. } = report;
    json!({ "runs": runs, "reminders": reminders, "quiet": quiet, "busy": busy })
}

fn print_report(
    report: &HeartbeatReport,
    tells_nothing: bool,
    cx: &CliContext,
    out: &mut Output,
) -> Result<()> {
    let is_chinese = cx.language() == everlore::engine::Language::Chinese;
    for (_, reminder) in &report.reminders {
        let line = reminder.line(is_chinese);
        out.line(&out.bold(&sanitize(&line)))?;
    }
    for run in report.runs.iter().filter(|run| run.job != HeartbeatJob::Reminders) {
        out.say(&sanitize(&run.to_string()))?;
    }
    if tells_nothing && report.runs.is_empty() {
        out.note(match (report.quiet, report.busy) {
            (true, _) => "these are quiet hours",
            (_, true) => "another process runs the jobs",
            _ => "nothing is due",
        });
    }
    Ok(())
}

fn print_status(status: &HeartbeatStatus, cx: &CliContext, out: &mut Output) -> Result<Exit> {
    if out.is_json() {
        out.json(status)?;
        return Ok(Exit::Done);
    }
    let state = match status {
        HeartbeatStatus { enabled: false, .. } => "off by the settings",
        HeartbeatStatus { running: true, .. } => "running now",
        HeartbeatStatus { quiet: true, .. } => "quiet hours",
        _ => "on",
    };
    out.say(&format!("heartbeat: {state}"))?;
    let mut rows = new_table(&["job", "state", "last run"]);
    for job in &status.jobs {
        let last = job.last.as_ref().map(|run| format_minute(run.at, &cx.now()));
        let state = if job.on { "on" } else { "off" };
        let last = translate(last.as_deref().unwrap_or("never"));
        rows.add_row([job.job.as_str(), &translate(state), &last]);
    }
    out.text(&render_table(rows))?;
    Ok(Exit::Done)
}

fn print_history(history: &[HeartbeatRun], cx: &CliContext, out: &mut Output) -> Result<Exit> {
    let found = Exit::from_found(!history.is_empty());
    if out.is_json() {
        out.json(&json!({ "history": history }))?;
        return Ok(found);
    }
    if history.is_empty() {
        out.note("no job has run yet");
    }
    for run in history {
        let at = format_minute(run.at, &cx.now());
        let told = run.to_string();
        out.line(&format!("{at}  {} ({} ms)", sanitize(&translate(&told)), run.millis))?;
    }
    Ok(found)
}
