//! `everlore memory stats`: how much is stored.

use std::fs;

use clap::Args;
use everlore::store::Counts;
use serde_json::json;

use crate::{
    context::Context,
    failure::{Exit, Result},
    output::Output,
    words::{count, rendered, size, table},
};

/// Count memories by kind and status, and changes in the journal
#[derive(Debug, Args)]
pub(crate) struct StatsArgs {}

impl StatsArgs {
    /// Prints the counts.
    pub(super) async fn run(self, cx: &Context, out: &mut Output) -> Result<Exit> {
        let counts = cx.engine().await?.count(&cx.scope).await?;
        let bytes = fs::metadata(cx.database()).map_or(0, |data| data.len());
        let total: usize = counts.memories.iter().map(|(_, _, count)| count).sum();
        if out.is_json() {
            let counted = counts.memories.iter().map(
                |(kind, status, count)| json!({ "kind": kind, "status": status, "count": count }),
            );
            out.json(&json!({
                "agent": cx.scope.agent(),
                "user": cx.scope.user(),
                "memories": counted.collect::<Vec<_>>(),
                "total": total,
                "changes": counts.changes,
                "tombstones": counts.tombstones,
                "database_bytes": bytes,
            }))?;
        } else {
            out.text(&counted(&counts, total))?;
            out.line(&format!("journal     {}", count(counts.changes, "change", "changes")))?;
            out.line(&format!("erased      {}", count(counts.tombstones, "text", "texts")))?;
            out.line(&format!("database    {} for all agents and users", size(bytes)))?;
        }
        Ok(Exit::Done)
    }
}

fn counted(counts: &Counts, total: usize) -> String {
    let mut rows = table(&["kind", "status", "memories"]);
    for (kind, status, count) in &counts.memories {
        rows.add_row([kind.as_str(), status.as_str(), &count.to_string()]);
    }
    rows.add_row(["all", "", &total.to_string()]);
    rendered(rows) + "\n"
}
