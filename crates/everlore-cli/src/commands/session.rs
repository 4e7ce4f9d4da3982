//! `everlore session`: ends conversations and records answers.

use clap::{Args, Subcommand};
use everlore::{
    Engine, Scope,
    engine::{ArchivedDay, ExtractRequest, ExtractionReport, SessionEnd, UpkeepReport},
};
use serde::Serialize;

use super::extract::summarize_extraction;
use crate::{CliContext, Exit, Output, Result, input, render::pluralize};

/// End conversations, and record answers for usage
#[derive(Debug, Subcommand)]
pub(crate) enum SessionCommand {
    Answered(SessionAnsweredArgs),
    End(SessionEndArgs),
}

/// Record an answer, so that the memories it used gain weight
///
/// The answer is compared with the last block of `everlore context --session` in the conversation; it is not stored.
#[derive(Debug, Args)]
pub(crate) struct SessionAnsweredArgs {
    /// The conversation, as given to `everlore context --session`
    session: String,
    /// The answer; without it, or with `-`, it is read from standard input
    answer: Vec<String>,
}

/// End a conversation: write a summary into the daily log and extract memories
///
/// The summary is a few of its sentences, word for word. Ending a conversation again changes nothing unless it has new
/// turns. Days that no longer go into the prompt are archived and stay searchable. The model of the settings, or rules,
/// extract memories; what fails is retried later.
#[derive(Debug, Args)]
pub(crate) struct SessionEndArgs {
    /// The conversation, as given to `everlore observe --session`
    session: String,
}

impl SessionCommand {
    /// Runs the command.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        match self {
            Self::Answered(args) => args.run(cx, out).await,
            Self::End(args) => args.run(cx, out).await,
        }
    }
}

impl SessionAnsweredArgs {
    /// Records the answer and prints how many memories it used.
    async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let engine = cx.engine().await?;
        let answer = input::text_or_stdin(&self.answer, out)?;
        let usage = engine.record_answer(&cx.scope, &self.session, &answer).await?;
        if out.is_json() {
            out.json(&usage)?;
        } else if usage.injected + usage.held_out == 0 {
            out.note("no injected memory of this conversation waits for an answer");
        } else {
            let injected = pluralize(usage.injected, "memory", "memories");
            out.say(&format!("used: {} of {injected}", usage.used.len()))?;
        }
        Ok(Exit::from_found(usage.injected + usage.held_out > 0))
    }
}

impl SessionEndArgs {
    /// Writes the summary, archives old days, extracts memories, and runs upkeep if it is due.
    async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let engine = cx.engine().await?;
        let ended = engine.end_session(&cx.scope, &self.session).await?;
        let archived = engine.archive_days(&cx.scope).await?;
        let extractions =
            extract_ended(&cx.capture_engine().await?, &cx.scope, &self.session).await?;
        // Jobs that need a confirmation wait for `everlore upkeep`; an error does not prevent ending the conversation.
        let upkeep = match engine.upkeep_if_due(&cx.scope).await {
            Ok(report) => report,
            Err(error) => {
                out.note(&format!("warning: upkeep failed: {error}"));
                None
            }
        };
        print_end(&SessionEndView { ended, archived, extractions, upkeep }, out)?;
        Ok(Exit::Done)
    }
}

/// Ends a conversation as `everlore session end` does.
pub(super) async fn end_session(cx: &CliContext, session: &str, out: &mut Output) -> Result<Exit> {
    SessionEndArgs { session: session.to_owned() }.run(cx, out).await
}

/// Answer of `everlore session end`.
#[derive(Serialize)]
struct SessionEndView {
    ended: SessionEnd,
    archived: Vec<ArchivedDay>,
    extractions: Vec<ExtractionReport>,
    upkeep: Option<UpkeepReport>,
}

fn print_end(end: &SessionEndView, out: &mut Output) -> Result<()> {
    if out.is_json() {
        return out.json(end);
    }
    print_log(&end.ended, out)?;
    if !end.archived.is_empty() {
        out.say(&format!("archived: {}", pluralize(end.archived.len(), "day", "days")))?;
    }
    for extraction in &end.extractions {
        out.note(&summarize_extraction(extraction, false));
    }
    for job in end.upkeep.iter().flat_map(UpkeepReport::stopped) {
        let reason = job.stopped.as_deref().unwrap_or_default();
        out.note(&format!(
            "note: upkeep waits for a confirmation: {reason}; see `everlore upkeep --dry-run`"
        ));
    }
    Ok(())
}

fn print_log(ended: &SessionEnd, out: &mut Output) -> Result<()> {
    let turns = pluralize(ended.turns, "turn", "turns");
    match &ended.log {
        Some(log) if log.change.is_some() => {
            out.say(&format!("logged: {turns} in {}", log.layer.path.display()))?;
        }
        Some(_) => out.note("it is in the log already"),
        None => out.note(&format!(
            "nothing was logged: the log of {} is full, or the {turns} say nothing worth a line",
            ended.day
        )),
    }
    Ok(())
}

/// Extracts memories from a conversation that has ended.
pub(super) async fn extract_ended(
    engine: &Engine,
    scope: &Scope,
    session: &str,
) -> Result<Vec<ExtractionReport>> {
    let request = ExtractRequest { session: Some(session.to_owned()), dry_run: false };
    Ok(engine.extract(scope, &request).await?)
}
