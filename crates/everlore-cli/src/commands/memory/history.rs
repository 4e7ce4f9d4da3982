//! `everlore memory history`: the journal, newest first.

use clap::Args;
use everlore::{
    Memory,
    store::JournalQuery,
    types::{ChangeOp, JournalEntry},
};
use jiff::Zoned;
use serde_json::json;

use super::diff::word_diff;
use crate::{
    CliContext, Exit, Output, Result, ids,
    messages::translate,
    render::{TITLE_CELLS, indent, memory_title, sanitize, truncate_width},
    times::format_minute,
};

/// Show what was changed, by whom, when and why, the newest first
#[derive(Debug, Args)]
pub(crate) struct MemoryHistoryArgs {
    /// Only changes of this memory; deleted ones too
    id: Option<String>,
    /// Only changes of this run, such as one import
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    /// The most changes to show
    #[arg(long, value_name = "NUMBER", default_value_t = 20)]
    limit: usize,
}

impl MemoryHistoryArgs {
    /// Prints the journal entries.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let engine = cx.engine().await?;
        let id = match &self.id {
            Some(name) => Some(ids::resolve_including_deleted(engine, &cx.scope, name).await?),
            None => None,
        };
        let query =
            JournalQuery { id, run: self.run, limit: Some(self.limit), ..JournalQuery::default() };
        let entries = engine.history(&cx.scope, &query).await?;
        if out.is_json() {
            out.json(&json!({ "changes": entries }))?;
        } else {
            let now = cx.now();
            for entry in &entries {
                out.line(&out.bold(&entry_heading(entry, &now)))?;
                out.text(&render_change(entry))?;
            }
            if entries.is_empty() {
                out.note("nothing found");
            }
        }
        Ok(Exit::from_found(!entries.is_empty()))
    }
}

/// Formats the heading of an entry: `#12 2026-03-02 10:15 person: edit (update 0199…)`.
fn entry_heading(entry: &JournalEntry, now: &Zoned) -> String {
    let actor = format!("{:?}", entry.actor).to_lowercase();
    let op = format!("{:?}", entry.op).to_lowercase();
    let (actor, op) = (translate(&actor), translate(&op));
    let run = entry.run.as_ref().map(|run| translate(&format!(", run {run}")).into_owned());
    let run = run.unwrap_or_default();
    let cause = translate(&sanitize(&entry.cause)).into_owned();
    format!(
        "#{} {} {actor}: {cause} ({op} {}{run})",
        entry.seq,
        format_minute(entry.at, now),
        entry.id
    )
}

/// Renders the differences that a change made.
fn render_change(entry: &JournalEntry) -> String {
    let text = match (&entry.before, &entry.after) {
        (Some(before), Some(after)) => render_differences(before, after),
        (None, Some(memory)) => {
            format!("+ [{}] {}", memory.kind, truncate_width(&memory_title(memory), TITLE_CELLS))
        }
        (Some(memory), None) => {
            format!("- [{}] {}", memory.kind, truncate_width(&memory_title(memory), TITLE_CELLS))
        }
        (None, None) if entry.op == ChangeOp::Erase => translate("erased for good").into_owned(),
        (None, None) => translate("its text was erased later").into_owned(),
    };
    indent(&text, 4) + "\n"
}

fn render_differences(before: &Memory, after: &Memory) -> String {
    let replaced_by =
        |memory: &Memory| memory.superseded_by.map(|id| id.to_string()).unwrap_or_default();
    let status = |memory: &Memory| translate(memory.status.as_str()).into_owned();
    let texts = [
        ("content", before.content.clone(), after.content.clone()),
        ("name", before.name.clone(), after.name.clone()),
        ("description", before.description.clone(), after.description.clone()),
    ];
    let values = [
        ("kind", before.kind.to_string(), after.kind.to_string()),
        ("status", status(before), status(after)),
        ("replaced by", replaced_by(before), replaced_by(after)),
        ("tags", before.tags.join(", "), after.tags.join(", ")),
        ("importance", before.importance.to_string(), after.importance.to_string()),
        ("weight", before.weight.to_string(), after.weight.to_string()),
        ("said", before.at.to_string(), after.at.to_string()),
    ];
    let texts = texts.iter().filter(|(_, old, new)| old != new);
    let texts =
        texts.map(|(name, old, new)| format!("{}: {}", translate(name), word_diff(old, new)));
    let values = values.iter().filter(|(_, old, new)| old != new);
    let values = values.map(|(name, old, new)| {
        format!("{}: {} → {}", translate(name), or_none(old), or_none(new))
    });
    let lines: Vec<String> = texts.chain(values).collect();
    if lines.is_empty() {
        translate("renewed, nothing else changed").into_owned()
    } else {
        lines.join("\n")
    }
}

fn or_none(text: &str) -> &str {
    if text.is_empty() { "none" } else { text }
}
