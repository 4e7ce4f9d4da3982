//! `everlore memory show`: one memory with all its fields.

use clap::Args;
use everlore::{Memory, types::CheckResult};
use jiff::Zoned;

use crate::{
    CliContext, Exit, Output, Result,
    commands::check_args::{CheckedMemoryView, check_status_line},
    messages::translate,
    render::{new_table, render_table, sanitize},
    times::{format_age, format_minute},
};

/// Show one memory in full
#[derive(Debug, Args)]
pub(crate) struct MemoryShowArgs {
    /// The memory
    id: String,
}

impl MemoryShowArgs {
    /// Prints the memory.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let engine = cx.engine().await?;
        let id = engine.resolve(&cx.scope, &self.id).await?;
        let memory = engine.get(&cx.scope, id).await?;
        let check = engine.verify_memory(&memory).await;
        out.answer_text(
            &CheckedMemoryView { memory: &memory, check: check.as_ref() },
            &render_memory(&memory, check.as_ref(), &cx.now()),
        )
    }
}

/// Renders the fields of a memory as a table, then its text.
fn render_memory(memory: &Memory, check: Option<&CheckResult>, now: &Zoned) -> String {
    let source = &memory.source;
    let role = source.role.map(|role| format!("{role:?}").to_lowercase());
    let when = |at| format!("{} ({})", format_minute(at, now), format_age(at, now));
    let fields = [
        ("id", memory.id.to_string()),
        ("uri", memory.uri.clone()),
        ("kind", memory.kind.to_string()),
        ("name", memory.name.clone()),
        ("description", memory.description.clone()),
        ("status", translate(memory.status.as_str()).into_owned()),
        ("replaced by", memory.superseded_by.map(|id| id.to_string()).unwrap_or_default()),
        ("tags", memory.tags.join(", ")),
        ("session", source.session.clone().unwrap_or_default()),
        ("speaker", source.speaker.clone().unwrap_or_default()),
        ("role", role.unwrap_or_default()),
        ("said", when(memory.at)),
        ("stored", when(memory.created_at)),
        ("changed", if memory.version > 1 { when(memory.updated_at) } else { String::new() }),
        ("last used", memory.last_used_at.map(when).unwrap_or_default()),
        ("importance", memory.importance.to_string()),
        ("weight", memory.weight.to_string()),
        ("version", memory.version.to_string()),
        ("metadata", render_metadata(memory)),
        ("check", check.map(check_status_line).unwrap_or_default()),
    ];
    let mut rows = new_table(&[]);
    for (name, value) in fields.iter().filter(|(_, value)| !value.is_empty()) {
        rows.add_row([translate(name), sanitize(value)]);
    }
    format!("{}\n{}\n", render_table(rows), sanitize(memory.content.trim_end()))
}

fn render_metadata(memory: &Memory) -> String {
    if memory.metadata.is_empty() {
        return String::new();
    }
    // A map of JSON values can always be written as JSON.
    serde_json::to_string(&memory.metadata).unwrap_or_default()
}
