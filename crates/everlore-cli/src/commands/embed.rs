//! `everlore embed`: the vectors by which memories are found by meaning.

use clap::Subcommand;
use everlore::{Config, engine::EmbedStatus, store::VectorCacheStatus};
use serde_json::json;

use crate::{
    cli_context::CliContext,
    error::{Exit, Result},
    output::Output,
    render::pluralize,
};

/// Look after the vectors by which memories are found by meaning
#[derive(Debug, Subcommand)]
pub(crate) enum EmbedCommand {
    /// Show which model makes the vectors and how many are still to be made
    Status,
    /// Take the model of the settings into use and make all vectors anew
    Switch,
    /// Make the vectors that are missing, and have a local model read what it has not read yet; can be stopped and run
    /// again at any time
    Rebuild,
}

impl EmbedCommand {
    /// Shows, or makes what is missing.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let engine = cx.engine().await?;
        if let Self::Switch = self {
            engine.switch_embedding_model().await?;
        }
        let (made, read) = match self {
            Self::Status => (None, None),
            Self::Switch | Self::Rebuild => (
                Some(backfill_embeddings(cx, out).await?),
                Some(backfill_token_vectors(cx, out).await?),
            ),
        };
        let status = engine.embed_status().await?;
        if out.is_json() {
            let read = read.filter(|_| status.reranker.is_some());
            out.json(&json!({ "status": status, "made": made, "read": read }))?;
        } else {
            if let Some(made) = made {
                out.line(&format!("{} made", pluralize(made, "vector", "vectors")))?;
            }
            if let Some(read) = read.filter(|_| status.reranker.is_some()) {
                out.line(&format!("{} read word by word", pluralize(read, "text", "texts")))?;
            }
            out.text(&render_status(&status, &cx.settings.config))?;
        }
        Ok(Exit::Done)
    }
}

async fn backfill_embeddings(cx: &CliContext, out: &Output) -> Result<usize> {
    let engine = cx.engine().await?;
    let waiting = engine.embed_status().await?.waiting;
    let bar = out.progress("embedding", Some(waiting));
    let made = engine.backfill_embeddings(&mut |done| bar.set_position(done as u64)).await;
    bar.finish_and_clear();
    Ok(made?)
}

/// Has a local model read what it has not read yet.
async fn backfill_token_vectors(cx: &CliContext, out: &Output) -> Result<usize> {
    let engine = cx.engine().await?;
    let unread = engine.embed_status().await?.unread;
    if unread == 0 {
        return Ok(0);
    }
    let bar = out.progress("reading", Some(unread));
    let read = engine.backfill_token_vectors(&mut |done| bar.set_position(done as u64)).await;
    bar.finish_and_clear();
    Ok(read?)
}

fn render_status(status: &EmbedStatus, config: &Config) -> String {
    let name = |model: &Option<everlore::types::EmbeddingModelId>| {
        model.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string)
    };
    let mut lines = vec![
        format!("model in use: {}", name(&status.in_use)),
        format!("memories with a vector: {}, without: {}", status.embedded, status.waiting),
    ];
    if let Some(reranker) = &status.reranker {
        lines.push(format!("compared word by word: {reranker}"));
        lines.push(format!("texts it has read: {}, not yet: {}", status.read, status.unread));
    }
    if status.in_use.is_some() && status.model.is_some() && status.in_use != status.model {
        lines.push(format!(
            "the settings name another model, {}: run `everlore embed switch`",
            name(&status.model)
        ));
    } else if status.waiting > 0 && status.model.is_some() || status.unread > 0 {
        lines.push("make those that are missing with `everlore embed rebuild`".to_owned());
    }
    if status.model.is_none() && config.memory.long_term.vector_index {
        let config = &config.embedding;
        lines.push(format!(
            "the settings name {}/{}, which was not asked yet: run `everlore embed switch`",
            config.provider.as_str(),
            config.model
        ));
    }
    lines.extend(status.cache.map(render_cache));
    lines.join("\n") + "\n"
}

/// What is kept of a model on another server, and how well that works.
fn render_cache(cache: VectorCacheStatus) -> String {
    let VectorCacheStatus { entries, hits, misses } = cache;
    let share = 100.0 * hits as f64 / (hits + misses).max(1) as f64;
    format!(
        "kept vectors: {entries}; found {hits} times, not found {misses} times ({share:.1}% found)"
    )
}
