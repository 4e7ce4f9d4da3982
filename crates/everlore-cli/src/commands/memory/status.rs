//! `everlore memory archive`, `restore` and `delete`: putting memories away and bringing them back.

use clap::Args;
use everlore::Memory;
use serde_json::json;

use super::list::listed;
use crate::{
    context::Context,
    failure::{Exit, Result},
    ids,
    output::Output,
};

/// Put memories away: they are kept, but left out of recall
#[derive(Debug, Args)]
pub(crate) struct ArchiveArgs {
    /// The memories
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
}

/// Bring back memories that were archived or superseded
#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// The memories
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
}

/// Remove memories; the journal keeps them, so that this can be undone
#[derive(Debug, Args)]
pub(crate) struct DeleteArgs {
    /// The memories
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
}

impl ArchiveArgs {
    /// Archives each memory.
    pub(super) async fn run(self, cx: &Context, out: &mut Output) -> Result<Exit> {
        let engine = cx.engine().await?;
        let mut archived = Vec::new();
        for id in ids::resolve_all(engine, &cx.scope, &self.ids).await? {
            archived.push(engine.archive(&cx.scope, id).await?);
        }
        tell(&archived, cx, out).await
    }
}

impl RestoreArgs {
    /// Makes each memory active again.
    pub(super) async fn run(self, cx: &Context, out: &mut Output) -> Result<Exit> {
        let engine = cx.engine().await?;
        let mut restored = Vec::new();
        for id in ids::resolve_all(engine, &cx.scope, &self.ids).await? {
            restored.push(engine.restore(&cx.scope, id).await?);
        }
        tell(&restored, cx, out).await
    }
}

impl DeleteArgs {
    /// Deletes each memory and says how to undo it.
    pub(super) async fn run(self, cx: &Context, out: &mut Output) -> Result<Exit> {
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
            let id = out.strong(&id.to_string());
            out.line(&format!("deleted: {id} (undo with: everlore memory undo {seq})"))?;
        }
        Ok(Exit::Done)
    }
}

async fn tell(memories: &[Memory], cx: &Context, out: &mut Output) -> Result<Exit> {
    if out.is_json() {
        out.json(&json!({ "memories": memories }))?;
    } else {
        out.text(&listed(memories, cx).await?)?;
    }
    Ok(Exit::Done)
}
