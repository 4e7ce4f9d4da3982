//! Everlore itself as a [`Retriever`](super::Retriever).

use std::{collections::HashMap, sync::Arc};

use anyhow::{Context, Result};
use everlore::{
    Config, Engine, MemoryId, Scope, Turn, llm::Builtin, recall::RecallRequest, store::SqliteStore,
};
use jiff::{Timestamp, civil::DateTime, tz::TimeZone};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::{
    Candidate, Retriever,
    data::{Query, Row},
};

/// The engine's retrievers, the one that users get first.
pub(crate) const CANDIDATES: &[Candidate] =
    &[Candidate { name: "everlore", make: || Ok(Box::new(Everlore::new()?)) }];

/// The engine on a database of its own.
struct Everlore {
    engine: Engine,
    runtime: Runtime,
    rows: HashMap<MemoryId, String>,
    /// The newest row of each scope: when a question without a time is asked.
    newest: HashMap<String, Timestamp>,
    _folder: TempDir,
}

impl Everlore {
    fn new() -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        let folder = tempfile::tempdir()?;
        let store = runtime.block_on(SqliteStore::open(folder.path().join("everlore.db")))?;
        let (rows, newest) = (HashMap::new(), HashMap::new());
        let mut config = Config::default();
        // Questions that must not see later rows ask for all of them.
        config.memory.long_term.max_return = usize::MAX;
        Ok(Self {
            engine: Engine::new(Arc::new(store))
                .with_config(config)
                .with_embedder(Arc::new(Builtin::new())),
            runtime,
            rows,
            newest,
            _folder: folder,
        })
    }
}

impl Retriever for Everlore {
    fn load(&mut self, rows: &[Row]) -> Result<()> {
        let Some(first) = rows.first() else { return Ok(()) };
        let turns = rows.iter().map(turn).collect::<Result<Vec<_>>>()?;
        let newest = turns.iter().filter_map(|turn| turn.time).max();
        self.newest.entry(first.scope.clone()).or_insert(newest.unwrap_or(Timestamp::UNIX_EPOCH));
        let saved = self.runtime.block_on(self.engine.observe(&scope(&first.scope)?, turns))?;
        self.rows.extend(saved.iter().zip(rows).map(|(saved, row)| (saved.id, row.id.clone())));
        Ok(())
    }

    fn search(&mut self, query: &Query, limit: usize) -> Result<Vec<String>> {
        let config = &self.engine.config().recall;
        let request = RecallRequest {
            limit,
            ..RecallRequest::new(scope(&query.scope)?, &query.text, config)
        };
        let asked = query.time.as_deref().map(time).transpose()?;
        let now = asked
            .or_else(|| self.newest.get(&query.scope).copied())
            .unwrap_or_default()
            .to_zoned(TimeZone::UTC);
        let found = self.runtime.block_on(self.engine.recall_at(&request, &now))?;
        Ok(found.hits.iter().filter_map(|hit| self.rows.get(&hit.memory.id).cloned()).collect())
    }
}

fn turn(row: &Row) -> Result<Turn> {
    Ok(Turn {
        text: row.text.clone(),
        session: row.session.clone(),
        speaker: row.speaker.clone(),
        role: None,
        time: row.time.as_deref().map(time).transpose()?,
    })
}

/// A scope's name may hold what a user's name may not.
fn scope(name: &str) -> Result<Scope> {
    Ok(Scope::new("bench", &name.replace('/', ":"))?)
}

/// Times of data sets say no zone.
fn time(text: &str) -> Result<Timestamp> {
    if let Ok(at) = text.parse() {
        return Ok(at);
    }
    let civil: DateTime = text.parse().with_context(|| format!("`{text}` is no time"))?;
    Ok(civil.to_zoned(TimeZone::UTC)?.timestamp())
}
