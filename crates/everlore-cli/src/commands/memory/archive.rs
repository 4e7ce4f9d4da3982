//! `everlore memory archive`, `restore` and `delete`.

use std::collections::HashMap;

use clap::Args;
use everlore::{
    Engine, Memory,
    engine::{DeleteReceipt, DeletedMemory, RemovalMode},
    types::{ChangeAuthor, MemoryId},
};
use serde_json::{Value, json};

use super::{
    everything::{OwnerArgs, preview, remaining_turn_note},
    forget::superseded_note,
    list::render_memories,
};
use crate::{CliContext, Exit, Output, Result, ids};

/// Memories to change.
#[derive(Debug, Args)]
pub(crate) struct MemoryIdsArgs {
    /// The memories
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
}

/// Memories to delete, or their owner.
#[derive(Debug, Args)]
pub(crate) struct MemoryDeleteArgs {
    /// The memories
    #[arg(required_unless_present_any = ["all_of_user", "all_of_agent"], value_name = "ID")]
    ids: Vec<String>,
    #[command(flatten)]
    owner: OwnerArgs,
    /// Do not ask for confirmation of --all-of-user and --all-of-agent
    #[arg(short, long)]
    yes: bool,
}

impl MemoryIdsArgs {
    /// Archives each memory.
    pub(super) async fn archive(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let engine = &one_step(cx, "archive", self.ids.len()).await?;
        let mut archived = Vec::new();
        for id in ids::resolve_all(engine, &cx.scope, &self.ids).await? {
            archived.push(engine.archive(&cx.scope, id).await?);
        }
        print_memories(&archived, cx, out).await
    }

    /// Makes each memory active again.
    pub(super) async fn restore(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let engine = &one_step(cx, "restore", self.ids.len()).await?;
        let mut restored = Vec::new();
        for id in ids::resolve_all(engine, &cx.scope, &self.ids).await? {
            restored.push(engine.restore(&cx.scope, id).await?);
        }
        print_memories(&restored, cx, out).await
    }
}

impl MemoryDeleteArgs {
    /// Deletes each memory, or everything of an owner, and prints how to undo it.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        if self.owner.is_named() {
            return self.owner.remove(RemovalMode::Delete, self.yes, cx, out).await;
        }
        let engine = &one_step(cx, "delete", self.ids.len()).await?;
        if self.owner.dry_run {
            let ids = ids::resolve_all(engine, &cx.scope, &self.ids).await?;
            return preview(RemovalMode::Delete, &ids, cx, out).await;
        }
        let ids = ids::resolve_all(engine, &cx.scope, &self.ids).await?;
        let superseded = engine.superseded_by(&cx.scope, &ids).await?;
        let receipt = engine.delete_many(&cx.scope, &ids).await?;
        if out.is_json() {
            out.json(&deletion_json(&receipt, &superseded))?;
        } else {
            print_deletion(&receipt, &superseded, out)?;
        }
        Ok(Exit::Done)
    }
}

/// Returns what is told of deleted memories: their numbers to undo, what they had superseded, and their turns.
fn deletion_json(receipt: &DeleteReceipt, superseded: &HashMap<MemoryId, Vec<MemoryId>>) -> Value {
    let mut told = json!(receipt);
    for (place, memory) in receipt.deleted.iter().enumerate() {
        if let Some(superseded) = superseded.get(&memory.id) {
            told["deleted"][place]["superseded"] = json!(superseded);
        }
    }
    told
}

fn print_deletion(
    receipt: &DeleteReceipt,
    superseded: &HashMap<MemoryId, Vec<MemoryId>>,
    out: &mut Output,
) -> Result<()> {
    for DeletedMemory { id, seq } in &receipt.deleted {
        let bold = out.bold(&id.to_string());
        out.say(&format!("deleted: {bold} (undo with: everlore memory undo {seq})"))?;
        let older = superseded.get(id).map_or(&[][..], Vec::as_slice);
        superseded_note(*id, older).iter().for_each(|note| out.note(note));
    }
    for turn in &receipt.turns {
        out.note(&format!("the turn {turn} went with it, since nothing else comes from that turn"));
    }
    for turn in &receipt.remaining_turns {
        out.note(&remaining_turn_note(*turn, RemovalMode::Delete));
    }
    Ok(())
}

/// Returns the engine whose changes are one step to undo, however many memories a command names.
async fn one_step(cx: &CliContext, command: &str, memories: usize) -> Result<Engine> {
    let engine = cx.engine().await?;
    let now = engine.now().timestamp().as_millisecond();
    let run =
        (memories > 1).then(|| format!("{command}-{now}-{:04x}", std::process::id() & 0xffff));
    Ok(engine.on_behalf_of(ChangeAuthor { run, ..ChangeAuthor::PERSON }))
}

async fn print_memories(memories: &[Memory], cx: &CliContext, out: &mut Output) -> Result<Exit> {
    out.answer_text(&json!({ "memories": memories }), &render_memories(memories, cx).await?)
}
