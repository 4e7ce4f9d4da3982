//! `everlore memory status`: the capture queue.

use clap::Args;
use everlore::store::PendingSession;

use crate::{
    CliContext, Exit, Output, Result,
    messages::translate,
    render::{new_table, pluralize, render_table, sanitize},
    times::format_age,
};

/// Show which conversations wait for extraction, what failed, and how much is in quarantine
#[derive(Debug, Args)]
pub(crate) struct MemoryStatusArgs {}

impl MemoryStatusArgs {
    /// Prints the capture queue.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let engine = cx.engine().await?;
        let status = engine.capture_status(&cx.scope).await?;
        if out.is_json() {
            out.json(&status)?;
            return Ok(Exit::Done);
        }
        let turns = pluralize(status.turns, "turn waits", "turns wait");
        let quarantined = pluralize(status.held, "draft", "drafts");
        out.say(&format!("{turns} for extraction; {quarantined} in quarantine"))?;
        if let Some(note) = &status.note {
            out.note(&format!("note: {}", sanitize(note)));
        }
        if status.waiting.is_empty() {
            return Ok(Exit::Done);
        }
        let mut rows = new_table(&["session", "turns", "last", "state"]);
        for pending in &status.waiting {
            let session =
                pending.session.clone().unwrap_or_else(|| translate("(none)").into_owned());
            let last = format_age(pending.last_at, &cx.now());
            rows.add_row([
                sanitize(&session).into(),
                pending.turns.to_string(),
                last,
                translate(&pending_state(pending, cx)).into_owned(),
            ]);
        }
        out.text(&render_table(rows))?;
        Ok(Exit::Done)
    }
}

fn pending_state(pending: &PendingSession, cx: &CliContext) -> String {
    let now = cx.now().timestamp();
    match (&pending.error, pending.leased_until, pending.ended_at) {
        (_, Some(until), _) if until > now => "being extracted".to_owned(),
        (Some(error), ..) => {
            let times = pluralize(pending.failures as usize, "failure", "failures");
            let zone = cx.now().time_zone().clone();
            let next = pending.retry_at.map(|at| at.to_zoned(zone).strftime("%H:%M").to_string());
            format!("{times}, next try {}: {error}", next.unwrap_or_else(|| "now".to_owned()))
        }
        (None, _, Some(_)) => "ended".to_owned(),
        _ => "open".to_owned(),
    }
}
