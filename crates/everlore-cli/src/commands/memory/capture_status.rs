//! `everlore memory status`: what waits to be drawn from conversations.

use clap::Args;
use everlore::store::PendingSession;

use crate::{
    cli_context::CliContext,
    error::{Exit, Result},
    output::Output,
    render::{new_table, pluralize, render_table, sanitize},
    times::format_age,
};

/// Tell which conversations wait to be read, what failed, and how much is in quarantine
#[derive(Debug, Args)]
pub(crate) struct MemoryStatusArgs {}

impl MemoryStatusArgs {
    /// Prints the queue.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let engine = cx.engine().await?;
        let status = engine.capture_status(&cx.scope).await?;
        if out.is_json() {
            out.json(&status)?;
            return Ok(Exit::Done);
        }
        let turns = pluralize(status.turns, "turn waits", "turns wait");
        out.line(&format!("{turns} to be read; {} held in quarantine", status.held))?;
        if status.waiting.is_empty() {
            return Ok(Exit::Done);
        }
        let mut rows = new_table(&["session", "turns", "last", "state"]);
        for waiting in &status.waiting {
            let session = waiting.session.as_deref().unwrap_or("(none)");
            let last = format_age(waiting.last_at, &cx.now());
            rows.add_row([
                sanitize(session).into(),
                waiting.turns.to_string(),
                last,
                pending_state(waiting, cx),
            ]);
        }
        out.text(&render_table(rows))?;
        Ok(Exit::Done)
    }
}

fn pending_state(waiting: &PendingSession, cx: &CliContext) -> String {
    let now = cx.now().timestamp();
    match (&waiting.error, waiting.leased_until, waiting.ended_at) {
        (_, Some(until), _) if until > now => "being read".to_owned(),
        (Some(error), ..) => {
            let times = pluralize(waiting.failures as usize, "failure", "failures");
            let zone = cx.now().time_zone().clone();
            let next = waiting.retry_at.map(|at| at.to_zoned(zone).strftime("%H:%M").to_string());
            format!("{times}, next try {}: {error}", next.unwrap_or_else(|| "now".to_owned()))
        }
        (None, _, Some(_)) => "ended".to_owned(),
        _ => "going on".to_owned(),
    }
}
