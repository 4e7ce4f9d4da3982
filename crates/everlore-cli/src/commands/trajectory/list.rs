//! `everlore trajectory list`: conversations and how they ended.

use clap::Args;
use everlore::{engine::TrajectoryQuery, types::Timestamp};

use super::parse_since;
use crate::{
    CliContext, Exit, Output, Result,
    messages::translate,
    render::{new_table, render_table, sanitize, truncate_width},
    times::format_minute,
};

/// Width of the columns with session and outcome.
const TEXT_CELLS: usize = 44;

/// List conversations, the latest first, with their tool calls and how they ended
#[derive(Debug, Args)]
pub(crate) struct TrajectoryListArgs {
    /// Only those with a step at this time or later: a day, or a time
    #[arg(long, value_name = "TIME", value_parser = parse_since)]
    since: Option<Timestamp>,
    /// Most of them
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=200))]
    limit: u64,
    /// The session after which the page begins: `next` of the page before
    #[arg(long, value_name = "SESSION")]
    after: Option<String>,
}

impl TrajectoryListArgs {
    /// Prints a page.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let limit = Some(self.limit as usize);
        let is_bounded = self.since.is_some() || self.after.is_some();
        let query = TrajectoryQuery { since: self.since, after: self.after, limit };
        let page = cx.engine().await?.trajectories(&cx.scope, &query).await?;
        let found = Exit::from_found(!page.trajectories.is_empty());
        if out.is_json() {
            out.json(&page)?;
            return Ok(found);
        }
        if page.trajectories.is_empty() {
            out.note(if is_bounded {
                "no conversation is stored from then on"
            } else {
                "no conversation is stored yet"
            });
            return Ok(found);
        }
        let mut rows = new_table(&["session", "until", "messages", "calls", "failed", "outcome"]);
        for it in &page.trajectories {
            let kind = it.outcome.kind.to_string();
            let outcome = format!("{}: {}", translate(&kind), it.outcome.why);
            rows.add_row([
                truncate_width(&sanitize(&it.session), TEXT_CELLS),
                format_minute(it.ended_at, &cx.now()),
                it.messages.to_string(),
                it.calls.to_string(),
                it.failed_calls.to_string(),
                truncate_width(&sanitize(&outcome), TEXT_CELLS),
            ]);
        }
        out.text(&render_table(rows))?;
        if let Some(next) = &page.next {
            out.note(&format!("more: everlore trajectory list --after '{}'", sanitize(next)));
        }
        Ok(found)
    }
}
