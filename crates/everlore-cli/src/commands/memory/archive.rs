//! `everlore memory archive`, `restore` and `delete`.

use clap::Args;
use everlore::Memory;
use serde_json::json;

use super::list::render_memories;
use crate::{
    cli_context::CliContext,
    error::{Exit, Result},
    ids,
    output::Output,
};

/// Archive memories: they stay stored, but recall leaves them out
#[derive(Debug, Args)]
pub(crate) struct MemoryArchiveArgs {
    /// The memories
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
}

/// Bring back memories that were archived or superseded
#[derive(Debug, Args)]
pub(crate) struct MemoryRestoreArgs {
    /// The memories
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
}

/// Delete memories; the journal keeps them, so that this can be undone
#[derive(Debug, Args)]
pub(crate) struct MemoryDeleteArgs {
    /// The memories
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
}

impl MemoryArchiveArgs {
    /// Archives each memory.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let engine = cx.engine().await?;
        let mut archived = Vec::new();
        for id in ids::resolve_all(engine, &cx.scope, &self.ids).await? {
            archived.push(engine.archive(&cx.scope, id).await?);
        }
        print_memories(&archived, cx, out).await
    }
}

impl MemoryRestoreArgs {
    /// Makes each memory active again.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let engine = cx.engine().await?;
        let mut restored = Vec::new();
        for id in ids::resolve_all(engine, &cx.scope, &self.ids).await? {
            restored.push(engine.restore(&cx.scope, id).await?);
        }
        print_memories(&restored, cx, out).await
    }
}

impl MemoryDeleteArgs {
    /// Deletes each memory and prints how to undo it.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let engine = cx.engine().await?;
        let mut deleted = Vec::new();
        for id in ids::resolve_all(engine, &cx.scope, &self.ids).await? {
            deleted.push((id, engine.delete(&cx.scope, id).await?));
        }
        if out.is_json() {
            let deleted = deleted.iter().map(|(id, seq)| json!({ "id": id, "seq": seq }));
            out.json(&json!({ "deleted": deleted.collect::<Vec<_>>() }))?;
            return Ok(Exit::Done);
        }
        for (id, seq) in deleted {
            let id = out.bold(&id.to_string());
            out.line(&format!("deleted: {id} (undo with: everlore memory undo {seq})"))?;
        }
        Ok(Exit::Done)
    }
}

async fn print_memories(memories: &[Memory], cx: &CliContext, out: &mut Output) -> Result<Exit> {
    if out.is_json() {
        out.json(&json!({ "memories": memories }))?;
    } else {
        out.text(&render_memories(memories, cx).await?)?;
    }
    Ok(Exit::Done)
}
