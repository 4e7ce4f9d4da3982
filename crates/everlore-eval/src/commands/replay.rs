//! `replay`: hit rate of the vector cache when a day of texts is replayed.

use std::{path::Path, sync::Arc, time::Duration, time::Instant};

use anyhow::{Context as _, Result};
use everlore::{
    Engine, Scope, Turn,
    config::{EmbeddingConfig, EmbeddingProvider},
    engine::ExtractRequest,
    llm::{EmbeddingEndpoint, Proxies},
    store::{self, Store, VectorCacheStatus},
    types::Role,
};
use everlore_mock_llm::{MockEmbeddings, MockServer};
use serde_json::json;

use crate::{
    corpus::Corpus,
    table::{number, render},
};

/// Dimensions of the embeddings; the cache does not depend on them.
const DIMENSIONS: usize = 64;

/// Timeout above any response time of the mock server.
const EMBED_TIMEOUT: Duration = Duration::from_secs(60);

/// Exchanges of one conversation.
const EXCHANGES: u32 = 10;

/// Plain statements, from which rules extract memories that are embedded too.
const STATEMENTS: [&str; 4] =
    ["I live in Lisbon.", "我对花生过敏。", "I work at Nokia.", "我喜欢喝龙井茶。"];

/// Measure the vector cache: a day of turns and questions, then the same day again
#[derive(clap::Args)]
pub(crate) struct ReplayArgs {
    /// Exchanges of the day
    #[arg(long, default_value_t = 200)]
    exchanges: u32,
    /// Replays of the day
    #[arg(long, default_value_t = 1)]
    times: u32,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// Cache figures of one pass through the day.
struct ReplayPass {
    hits: u64,
    misses: u64,
    /// Texts that the server embedded, by its own count.
    asked: usize,
    seconds: f64,
}

impl ReplayPass {
    fn rate(&self) -> f64 {
        self.hits as f64 / (self.hits + self.misses).max(1) as f64
    }
}

/// Runs the command.
pub(crate) fn run(args: &ReplayArgs) -> Result<()> {
    let passes = measure(args)?;
    let replayed = passes.last().context("--times must be at least 1")?.rate();
    if args.json {
        let one = |pass: &ReplayPass| {
            json!({
                "hits": pass.hits, "misses": pass.misses, "asked": pass.asked,
                "rate": pass.rate(), "seconds": pass.seconds,
            })
        };
        let passes: Vec<_> = passes.iter().map(one).collect();
        println!("{:#}", json!({ "passes": passes, "replayed": replayed }));
        return Ok(());
    }
    let row = |(index, pass): (usize, &ReplayPass)| {
        let name = if index == 0 { "the day".to_owned() } else { format!("replay {index}") };
        let lookups = (pass.hits + pass.misses).to_string();
        let rate = format!("{:.1}%", 100.0 * pass.rate());
        vec![name, lookups, pass.asked.to_string(), rate, number(pass.seconds)]
    };
    let rows: Vec<_> = passes.iter().enumerate().map(row).collect();
    println!("{}", render(&["", "texts", "embedded by the server", "from the cache", "s"], &rows));
    Ok(())
}

/// Measures the day and its replays, each with a newly opened engine, as a new process would have.
fn measure(args: &ReplayArgs) -> Result<Vec<ReplayPass>> {
    let provider = MockEmbeddings { dimensions: DIMENSIONS, ..MockEmbeddings::default() };
    let (server, folder) = (MockServer::start(provider), tempfile::tempdir()?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut passes = Vec::new();
        for day in 0..=args.times {
            let (engine, store) = open(&folder.path().join("everlore.db"), &server).await?;
            let (before, requested, begun) =
                (cache_status(&engine).await?, requested_texts(&server), Instant::now());
            replay_day(&engine, args.exchanges, day).await?;
            let after = cache_status(&engine).await?;
            passes.push(ReplayPass {
                hits: after.hits - before.hits,
                misses: after.misses - before.misses,
                asked: requested_texts(&server) - requested,
                seconds: begun.elapsed().as_secs_f64(),
            });
            store.admin().close().await;
        }
        Ok(passes)
    })
}

async fn open(path: &Path, server: &MockServer) -> Result<(Engine, Arc<dyn Store>)> {
    let config = EmbeddingConfig {
        provider: EmbeddingProvider::Openai,
        model: MockEmbeddings::default().model,
        base_url: format!("{}/v1", server.url()),
        query_limit: EMBED_TIMEOUT,
        ..EmbeddingConfig::default()
    };
    let endpoint = EmbeddingEndpoint::new(&config, None, &Proxies::default())?;
    let store = store::open(path).await?;
    let engine = Engine::builder(Arc::clone(&store) as Arc<dyn Store>)
        .remote_embedder(
            Arc::new(endpoint.document_embedder(DIMENSIONS)),
            Arc::new(endpoint.query_embedder(DIMENSIONS)),
            config.cache_entries,
        )
        .build();
    Ok((engine, store))
}

/// Runs the exchanges of a day: inject, observe question and answer, and extract memories at the end.
async fn replay_day(engine: &Engine, exchanges: u32, day: u32) -> Result<()> {
    let (corpus, scope) = (Corpus::new(exchanges.max(1), 1), Scope::default());
    for number in 0..exchanges {
        let session = format!("day {day}, talk {}", number / EXCHANGES);
        let turn = |role, text: String| Turn {
            text,
            role: Some(role),
            session: Some(session.clone()),
            ..Turn::default()
        };
        let question = corpus.query(0, number);
        engine.inject(&engine.context_request(&scope, &question), 2_000, &session).await?;
        let statement = STATEMENTS[number as usize % STATEMENTS.len()];
        let answer = corpus.memory(number.into(), 0, number).text;
        let turns = vec![
            turn(Role::User, question),
            turn(Role::User, statement.to_owned()),
            turn(Role::Assistant, answer),
        ];
        engine.observe(&scope, turns).await?;
    }
    engine.extract(&scope, &ExtractRequest::default()).await?;
    engine.flush(EMBED_TIMEOUT).await;
    let waiting = engine.admin().embed_status().await?.waiting;
    anyhow::ensure!(waiting == 0, "{waiting} texts have no embedding: the mock server failed");
    Ok(())
}

async fn cache_status(engine: &Engine) -> Result<VectorCacheStatus> {
    engine.admin().embed_status().await?.cache.context("the engine has no cache")
}

/// Returns the number of texts that the server has embedded so far.
fn requested_texts(server: &MockServer) -> usize {
    let one = |request: &everlore_mock_llm::HttpRequest| {
        request.json()["input"].as_array().map_or(1, Vec::len)
    };
    server.requests().iter().map(one).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_that_comes_again_is_found_in_the_cache() {
        let passes = measure(&ReplayArgs { exchanges: 20, times: 2, json: true }).unwrap();
        // A text that comes twice at once counts as two misses and one request.
        assert!(passes[0].misses > 20 && passes[0].asked as u64 <= passes[0].misses);
        for replay in &passes[1..] {
            assert!(replay.hits > 60, "turns and questions are looked up");
            assert!(replay.rate() > 0.95, "{} of {}", replay.hits, replay.misses);
            assert!(replay.asked as u64 <= replay.misses);
        }
        run(&ReplayArgs { exchanges: 2, times: 1, json: false }).unwrap();
    }
}
