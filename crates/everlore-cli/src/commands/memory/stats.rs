//! `everlore memory stats`: counts of memories, changes and usage.

use clap::Args;
use everlore::{
    engine::{HoldoutFinding, UsageStats},
    store::ScopeCounts,
};
use serde_json::json;

use crate::{
    CliContext, Exit, Output, Result,
    messages::translate,
    render::{format_bytes, new_table, pluralize, render_table},
    times::format_age,
};

/// Count memories by kind and status, changes in the journal, and how many injected memories were used
#[derive(Debug, Args)]
pub(crate) struct MemoryStatsArgs {}

impl MemoryStatsArgs {
    /// Prints the counts.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let engine = cx.engine().await?;
        let counts = engine.count(&cx.scope).await?;
        let usage = engine.usage_stats(&cx.scope).await?;
        let last_upkeep = engine.last_upkeep(&cx.scope).await?;
        let bytes = cx.store.bytes();
        let total: usize = counts.memories.iter().map(|(_, _, count)| count).sum();
        if out.is_json() {
            let memories = counts.memories.iter().map(
                |(kind, status, count)| json!({ "kind": kind, "status": status, "count": count }),
            );
            out.json(&json!({
                "agent": cx.scope.agent(),
                "user": cx.scope.user(),
                "memories": memories.collect::<Vec<_>>(),
                "total": total,
                "changes": counts.changes,
                "tombstones": counts.tombstones,
                "store": cx.store.to_string(),
                "database_bytes": bytes,
                "usage": usage,
                "last_upkeep": last_upkeep,
            }))?;
        } else {
            out.text(&render_counts(&counts, total))?;
            out.say(&format!("journal     {}", pluralize(counts.changes, "change", "changes")))?;
            out.say(&format!("erased      {}", pluralize(counts.tombstones, "text", "texts")))?;
            let database = bytes.map_or_else(|| cx.store.to_string(), format_bytes);
            out.say(&format!("database    {database} for all agents and users"))?;
            out.say_text(&render_usage(&usage))?;
            let age = last_upkeep.map_or("never".to_owned(), |at| format_age(at, &cx.now()));
            out.say(&format!("upkeep      {age}"))?;
        }
        Ok(Exit::Done)
    }
}

/// Renders the share of injected memories that answers used.
fn render_usage(usage: &UsageStats) -> String {
    let UsageStats { counts, comparison } = usage;
    if counts.injected + counts.held_out == 0 {
        return "injected    nothing yet, or in no named conversation\n".to_owned();
    }
    let share = |used: u64, of: u64| match of {
        0 => "no answers yet".to_owned(),
        of => format!("{used} of {of} used ({:.0}%)", 100.0 * used as f64 / of as f64),
    };
    let mut text = format!(
        "injected    {} into prompts; of those with an answer {}\n",
        pluralize(counts.memories as usize, "memory", "memories"),
        share(counts.used, counts.answered)
    );
    if let Some(holdout) = comparison {
        text += &format!(
            "held out    {}; difference {:+.1}% ± {:.1}%: {}\n",
            share(counts.held_out_used, counts.held_out),
            100.0 * holdout.difference,
            100.0 * holdout.standard_error,
            finding_label(holdout.finding)
        );
    }
    text
}

fn finding_label(finding: HoldoutFinding) -> &'static str {
    match finding {
        HoldoutFinding::TooLittle => "too few answers to tell",
        HoldoutFinding::NoDifference => "it may be chance",
        HoldoutFinding::Useful => "injected memories are used more",
        HoldoutFinding::Harmful => "held-out memories are used more",
    }
}

fn render_counts(counts: &ScopeCounts, total: usize) -> String {
    let mut rows = new_table(&["kind", "status", "memories"]);
    for (kind, status, count) in &counts.memories {
        rows.add_row([kind.as_str(), &translate(status.as_str()), &count.to_string()]);
    }
    rows.add_row([&*translate("all"), "", &total.to_string()]);
    render_table(rows) + "\n"
}
