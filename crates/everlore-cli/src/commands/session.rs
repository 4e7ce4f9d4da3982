//! `everlore session`: what a conversation leaves behind.

use clap::{Args, Subcommand};
use everlore::{
    Engine, Scope,
    engine::{ArchivedDay, ExtractRequest, ExtractionReport, SessionEnd, UpkeepReport},
};
use serde::Serialize;

use super::extract::summarize_extraction;
use crate::{
    cli_context::CliContext,
    error::{Exit, Result},
    input,
    output::Output,
    render::pluralize,
};

/// Close conversations, and say what was answered in them
#[derive(Debug, Subcommand)]
pub(crate) enum SessionCommand {
    Answered(SessionAnsweredArgs),
    End(SessionEndArgs),
}

/// Tell what was answered, so that memories that were of use weigh more
///
/// The answer is compared with what `everlore context --session` told last in the conversation; it is not stored.
#[derive(Debug, Args)]
pub(crate) struct SessionAnsweredArgs {
    /// The conversation, as given to `everlore context --session`
    session: String,
    /// The answer; without it, or with `-`, it is read from standard input
    answer: Vec<String>,
}

/// Write what a conversation was about into the daily log
///
/// A few sentences are chosen, word for word. Ending a conversation again changes nothing unless more was said. Days that
/// no longer reach the prompt are put away and stay searchable. Memories are drawn from the conversation, by the model of the
/// settings or by rules; what fails waits and is tried again.
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
    /// Compares and says what was used.
    async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let engine = cx.engine().await?;
        let answer = input::text_or_stdin(&self.answer, out)?;
        let answered = engine.record_answer(&cx.scope, &self.session, &answer).await?;
        if out.is_json() {
            out.json(&answered)?;
        } else if answered.told + answered.held_out == 0 {
            out.note("nothing was told in this conversation that is still to be answered");
        } else {
            let told = pluralize(answered.told, "memory", "memories");
            out.line(&format!("used: {} of {told}", answered.used.len()))?;
        }
        Ok(Exit::from_found(answered.told + answered.held_out > 0))
    }
}

impl SessionEndArgs {
    /// Writes the summary and puts old days away.
    async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let engine = cx.engine().await?;
        let ended = engine.end_session(&cx.scope, &self.session).await?;
        let archived = engine.archive_days(&cx.scope).await?;
        let read = extract_ended(&cx.capture_engine().await?, &cx.scope, &self.session).await?;
        // What needs a yes waits for `everlore upkeep`; a failure keeps nobody from ending a conversation.
        let upkeep = match engine.upkeep_if_due(&cx.scope).await {
            Ok(report) => report,
            Err(error) => {
                out.note(&format!("warning: upkeep failed: {error}"));
                None
            }
        };
        print_end(&SessionEndView { ended, archived, extractions: read, upkeep }, out)?;
        Ok(Exit::Done)
    }
}

/// Ends a conversation as the command does.
pub(super) async fn end_session(cx: &CliContext, session: &str, out: &mut Output) -> Result<Exit> {
    SessionEndArgs { session: session.to_owned() }.run(cx, out).await
}

/// What was done at the end of a conversation.
#[derive(Serialize)]
struct SessionEndView {
    ended: SessionEnd,
    archived: Vec<ArchivedDay>,
    extractions: Vec<ExtractionReport>,
    upkeep: Option<UpkeepReport>,
}

fn print_end(done: &SessionEndView, out: &mut Output) -> Result<()> {
    if out.is_json() {
        return out.json(done);
    }
    print_log(&done.ended, out)?;
    if !done.archived.is_empty() {
        out.line(&format!("put away: {}", pluralize(done.archived.len(), "day", "days")))?;
    }
    for extraction in &done.extractions {
        out.note(&summarize_extraction(extraction, false));
    }
    for job in done.upkeep.iter().flat_map(UpkeepReport::stopped) {
        let reason = job.stopped.as_deref().unwrap_or_default();
        out.note(&format!(
            "note: upkeep waits for a yes: {reason}; see `everlore upkeep --dry-run`"
        ));
    }
    Ok(())
}

fn print_log(ended: &SessionEnd, out: &mut Output) -> Result<()> {
    let turns = pluralize(ended.turns, "turn", "turns");
    match &ended.log {
        Some(log) if log.change.is_some() => {
            out.line(&format!("logged: {turns} in {}", log.layer.path.display()))?;
        }
        Some(_) => out.note("it is in the log already"),
        None => out.note(&format!(
            "nothing was logged: the log of {} is full, or the {turns} say nothing worth a line",
            ended.day
        )),
    }
    Ok(())
}

/// Draws memories from a conversation that is over.
pub(super) async fn extract_ended(
    engine: &Engine,
    scope: &Scope,
    session: &str,
) -> Result<Vec<ExtractionReport>> {
    let request = ExtractRequest { session: Some(session.to_owned()), dry_run: false };
    Ok(engine.extract(scope, &request).await?)
}
