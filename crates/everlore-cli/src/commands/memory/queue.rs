//! `everlore memory status`: what waits to be drawn from conversations.

use clap::Args;
use everlore::store::Waiting;

use crate::{
    context::Context,
    failure::{Exit, Result},
    output::Output,
    times::age,
    words::{count, rendered, table, visible},
};

/// Tell which conversations wait to be read, what failed, and how much is in quarantine
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {}

impl StatusArgs {
    /// Prints the queue.
    pub(super) async fn run(self, cx: &Context, out: &mut Output) -> Result<Exit> {
        let engine = cx.engine().await?;
        let status = engine.capture_status(&cx.scope).await?;
        if out.is_json() {
            out.json(&status)?;
            return Ok(Exit::Done);
        }
        let turns = count(status.turns, "turn waits", "turns wait");
        out.line(&format!("{turns} to be read; {} held in quarantine", status.held))?;
        if status.waiting.is_empty() {
            return Ok(Exit::Done);
        }
        let mut rows = table(&["session", "turns", "last", "state"]);
        for waiting in &status.waiting {
            let session = waiting.session.as_deref().unwrap_or("(none)");
            let last = age(waiting.last_at, &cx.now());
            rows.add_row([
                visible(session).into(),
                waiting.turns.to_string(),
                last,
                state(waiting, cx),
            ]);
        }
        out.text(&rendered(rows))?;
        Ok(Exit::Done)
    }
}

fn state(waiting: &Waiting, cx: &Context) -> String {
    let now = cx.now().timestamp();
    match (&waiting.error, waiting.leased_until, waiting.ended_at) {
        (_, Some(until), _) if until > now => "being read".to_owned(),
        (Some(error), ..) => {
            let times = count(waiting.failures as usize, "failure", "failures");
            let zone = cx.now().time_zone().clone();
            let next = waiting.retry_at.map(|at| at.to_zoned(zone).strftime("%H:%M").to_string());
            format!("{times}, next try {}: {error}", next.unwrap_or_else(|| "now".to_owned()))
        }
        (None, _, Some(_)) => "ended".to_owned(),
        _ => "going on".to_owned(),
    }
}
