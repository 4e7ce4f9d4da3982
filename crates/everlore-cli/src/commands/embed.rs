//! `everlore embed`: the embeddings of memories.

use clap::Subcommand;
use everlore::{Config, engine::EmbedStatus, store::VectorCacheStatus};
use serde_json::json;

use crate::{
    CliContext, Exit, Output, Result, input,
    messages::translate,
    render::{new_table, pluralize, render_table},
};

/// Manage embeddings, the vectors by which recall finds memories by meaning
#[derive(Debug, Subcommand)]
pub(crate) enum EmbedCommand {
    /// Show the embedding model and how many vectors are missing
    Status,
    /// Switch to the embedding model of the settings and compute all vectors again
    Switch,
    /// Compute missing vectors, of memories and of a local reranker; can be stopped and run again at any time
    Rebuild,
    /// Print the vector of a text, as memories are embedded; nothing is stored
    Text {
        /// The text; without it, or with `-`, it is read from standard input
        text: Vec<String>,
    },
    /// List the providers of vectors that the settings can name, and the one in use
    Providers,
}

impl EmbedCommand {
    /// Switches the model or computes missing vectors, and prints the status.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        match &self {
            Self::Text { text } => return print_vector(text, cx, out).await,
            Self::Providers => return print_providers(cx, out).await,
            Self::Status | Self::Switch | Self::Rebuild => {}
        }
        let engine = cx.engine().await?;
        if let Self::Switch = self {
            engine.admin().switch_embedding_model().await?;
        }
        let (embedded, reranked) = match self {
            Self::Switch | Self::Rebuild => (
                Some(backfill_embeddings(cx, out).await?),
                Some(backfill_token_vectors(cx, out).await?),
            ),
            _ => (None, None),
        };
        let status = engine.admin().embed_status().await?;
        if out.is_json() {
            let reranked = reranked.filter(|_| status.reranker.is_some());
            out.json(&json!({ "status": status, "made": embedded, "read": reranked }))?;
        } else {
            if let Some(count) = embedded {
                out.say(&format!("computed {}", pluralize(count, "vector", "vectors")))?;
            }
            if let Some(count) = reranked.filter(|_| status.reranker.is_some()) {
                let texts = pluralize(count, "text", "texts");
                out.say(&format!("computed token vectors of {texts}"))?;
            }
            out.say_text(&render_status(&status, &cx.settings.config))?;
        }
        Ok(Exit::Done)
    }
}

/// Prints model and vector of a text.
async fn print_vector(text: &[String], cx: &CliContext, out: &mut Output) -> Result<Exit> {
    let text = input::text_or_stdin(text, out)?;
    let embedded = cx.engine().await?.embed_text(&text).await?;
    if out.is_json() {
        out.json(&embedded)?;
        return Ok(Exit::Done);
    }
    out.say(&format!("{}, {} dimensions", embedded.model, embedded.dimensions))?;
    let numbers: Vec<String> = embedded.vector.iter().map(|it| format!("{it:.4}")).collect();
    out.line(&numbers.join(" "))?;
    Ok(Exit::Done)
}

async fn print_providers(cx: &CliContext, out: &mut Output) -> Result<Exit> {
    let providers = cx.engine().await?.embedding_providers();
    if out.is_json() {
        out.json(&json!({ "providers": providers }))?;
        return Ok(Exit::Done);
    }
    let mut rows = new_table(&["provider", "runs in", "model in use"]);
    for provider in &providers {
        rows.add_row([
            &provider.name,
            &*translate(provider.runs),
            provider.model.as_deref().unwrap_or(""),
        ]);
    }
    out.text(&render_table(rows))?;
    Ok(Exit::Done)
}

async fn backfill_embeddings(cx: &CliContext, out: &Output) -> Result<usize> {
    let engine = cx.engine().await?;
    let waiting = engine.admin().embed_status().await?.waiting;
    let bar = out.progress("embedding", Some(waiting));
    let embedded =
        engine.admin().backfill_embeddings(&mut |done| bar.set_position(done as u64)).await;
    bar.finish_and_clear();
    Ok(embedded?)
}

/// Computes the missing token vectors of a local reranker.
async fn backfill_token_vectors(cx: &CliContext, out: &Output) -> Result<usize> {
    let engine = cx.engine().await?;
    let unread = engine.admin().embed_status().await?.unread;
    if unread == 0 {
        return Ok(0);
    }
    let bar = out.progress("computing token vectors", Some(unread));
    let reranked =
        engine.admin().backfill_token_vectors(&mut |done| bar.set_position(done as u64)).await;
    bar.finish_and_clear();
    Ok(reranked?)
}

fn render_status(status: &EmbedStatus, config: &Config) -> String {
    let name = |model: &Option<everlore::types::EmbeddingModelId>| {
        model.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string)
    };
    let mut lines = vec![
        format!("embedding model: {}", name(&status.in_use)),
        format!("memories with a vector: {}, without: {}", status.embedded, status.waiting),
    ];
    if let Some(reranker) = &status.reranker {
        lines.push(format!("reranker: {reranker}"));
        lines
            .push(format!("texts with token vectors: {}, without: {}", status.read, status.unread));
    }
    if status.is_outdated {
        lines.push("an earlier version of the built-in model made these; they are renewed once the database can be written to".to_owned());
    } else if status.in_use.is_some() && status.model.is_some() && status.in_use != status.model {
        lines.push(format!(
            "the settings name another model, {}: run `everlore embed switch`",
            name(&status.model)
        ));
    } else if status.waiting > 0 && status.model.is_some() || status.unread > 0 {
        lines.push("compute the missing ones with `everlore embed rebuild`".to_owned());
    }
    if status.model.is_none() && config.memory.long_term.vector_index {
        let config = &config.embedding;
        lines.push(format!(
            "the settings name {}/{}, which was never used: run `everlore embed switch`",
            config.provider.as_str(),
            config.model
        ));
    }
    lines.extend(status.cache.map(render_cache));
    lines.join("\n") + "\n"
}

/// Renders the vector cache of a remote model with its hit rate.
fn render_cache(cache: VectorCacheStatus) -> String {
    let VectorCacheStatus { entries, hits, misses } = cache;
    let share = 100.0 * hits as f64 / (hits + misses).max(1) as f64;
    format!("cached query vectors: {entries}; {hits} hits, {misses} misses ({share:.1}% hits)")
}
