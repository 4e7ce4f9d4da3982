//! `everlore memory archive`, `restore` and `delete`.

use clap::Args;
use everlore::Memory;
use serde_json::json;

use super::list::render_memories;
use crate::{CliContext, Exit, Output, Result, ids};

/// Memories to change.
#[derive(Debug, Args)]
pub(crate) struct MemoryIdsArgs {
    /// The memories
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
}

impl MemoryIdsArgs {
    /// Archives each memory.
    pub(super) async fn archive(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let (engine, mut archived) = (cx.engine().await?, Vec::new());
        for id in ids::resolve_all(engine, &cx.scope, &self.ids).await? {
            archived.push(engine.archive(&cx.scope, id).await?);
        }
        print_memories(&archived, cx, out).await
    }

    /// Makes each memory active again.
    pub(super) async fn restore(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let (engine, mut restored) = (cx.engine().await?, Vec::new());
        for id in ids::resolve_all(engine, &cx.scope, &self.ids).await? {
            restored.push(engine.restore(&cx.scope, id).await?);
        }
        print_memories(&restored, cx, out).await
    }

    /// Deletes each memory and prints how to undo it.
    pub(super) async fn delete(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let (engine, mut deleted) = (cx.engine().await?, Vec::new());
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
    out.answer_text(&json!({ "memories": memories }), &render_memories(memories, cx).await?)
}
