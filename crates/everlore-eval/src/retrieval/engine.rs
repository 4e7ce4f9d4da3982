//! The engine as a [`Retriever`].

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use anyhow::Result;
use everlore::{
    Config, Engine, Error, Memory, MemoryId, Recall, RecallRequest, Scope, Turn,
    config::RecallConfig,
    engine::Calibration,
    llm::{BuiltinEmbedder, Embedder, LocalModel},
    store,
};
use jiff::{Timestamp, Zoned, tz::TimeZone};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::{
    Retriever, RetrieverSpec,
    data::{BenchQuery, CorpusRow, DataSet, parse_time},
};

/// Engine as users get it.
pub(crate) const RETRIEVERS: &[RetrieverSpec] =
    &[RetrieverSpec { name: "everlore", make: || Ok(Box::new(EngineRetriever::new()?)) }];

/// Ablations: the engine without one signal each.
pub(crate) const ABLATIONS: &[RetrieverSpec] = &[
    RetrieverSpec { name: "without meaning", make: || ablated(|c| c.semantic = 0.0) },
    RetrieverSpec { name: "without neighbouring turns", make: without_neighbours },
    RetrieverSpec {
        name: "without the named speaker",
        make: || ablated(|c| c.speaker_boost = 0.0),
    },
    RetrieverSpec { name: "without times asked for", make: || ablated(|c| c.when_boost = 0.0) },
    RetrieverSpec { name: "without times named", make: || ablated(|c| c.date_boost = 0.0) },
    RetrieverSpec { name: "without the session", make: || ablated(|c| c.session_prior = 0.0) },
    RetrieverSpec { name: "without bridges", make: || ablated(|c| c.bridge = 0.0) },
    RetrieverSpec { name: "without synonyms", make: || ablated(|c| c.synonym = 0.0) },
];

fn without_neighbours() -> Result<Box<dyn Retriever>> {
    ablated(|c| (c.neighbour, c.later_neighbour) = (0.0, 0.0))
}

fn ablated(change: fn(&mut RecallConfig)) -> Result<Box<dyn Retriever>> {
    let mut retriever = EngineRetriever::new()?;
    retriever.configure(change);
    Ok(Box::new(retriever))
}

/// Time of the first row of a set without times: the beginning of 2024.
const FIRST_SECOND: i64 = 1_704_067_200;

/// Engine on its own database.
pub(crate) struct EngineRetriever {
    engine: Engine,
    runtime: Runtime,
    rows: HashMap<MemoryId, String>,
    /// Time of the newest row of each scope: the time of queries that have none.
    newest: HashMap<String, Timestamp>,
    _folder: TempDir,
}

/// Use of a local model.
#[derive(Debug, Clone, Default)]
pub(crate) enum LocalModelUse {
    /// The built-in models.
    #[default]
    None,
    /// The built-in table alone, without the encoder.
    TableOnly,
    /// Reranks the best candidates by late interaction.
    Reranker(LocalModel),
    /// Embeds texts in place of the built-in model.
    Embedder(LocalModel),
}

impl LocalModelUse {
    fn embedder(&self) -> Arc<dyn Embedder> {
        match self {
            Self::Embedder(model) => Arc::new(model.clone()),
            Self::None | Self::TableOnly | Self::Reranker(_) => Arc::new(BuiltinEmbedder::new()),
        }
    }
}

impl EngineRetriever {
    pub(super) fn new() -> Result<Self> {
        Self::with_local_model(&LocalModelUse::None)
    }

    /// Creates an empty engine with a local model.
    pub(crate) fn with_local_model(local: &LocalModelUse) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        let folder = tempfile::tempdir()?;
        let store = runtime.block_on(store::open(folder.path().join("everlore.db")))?;
        let (rows, newest) = (HashMap::new(), HashMap::new());
        let mut config = Config::default();
        // Queries that must not see later rows ask for all rows.
        config.memory.long_term.max_return = usize::MAX;
        let engine = Engine::builder(store).config(config).embedder(local.embedder()).build();
        let engine = match local {
            LocalModelUse::Reranker(model) => {
                engine.rebuild().reranker(Arc::new(model.clone())).builtin_encoder().build()
            }
            LocalModelUse::None => engine.rebuild().builtin_encoder().build(),
            LocalModelUse::TableOnly | LocalModelUse::Embedder(_) => engine,
        };
        Ok(Self { engine, runtime, rows, newest, _folder: folder })
    }
}

/// Query to the engine.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct EngineQuestion<'a> {
    pub(crate) scope: &'a str,
    pub(crate) text: &'a str,
    /// Time of the query, in ISO form; `None` for the time of the scope's newest row.
    pub(crate) time: Option<&'a str>,
    pub(crate) limit: usize,
    /// Set if a question for a period gets all of it, whatever the limit.
    pub(crate) whole_period: bool,
}

/// Result of a query.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EngineAnswer {
    /// Ids of rows, best first.
    pub(crate) ids: Vec<String>,
    /// Confidence that the best hit answers the query.
    pub(crate) judgement: everlore::engine::ConfidenceEstimate,
}

impl EngineRetriever {
    /// Creates an engine with all rows of a data set.
    pub(crate) fn loaded_with(set: &DataSet) -> Result<Self> {
        let mut retriever = Self::new()?;
        for (_, rows) in set.by_scope() {
            retriever.load(&rows)?;
        }
        Ok(retriever)
    }

    /// Changes the ranking constants.
    fn configure(&mut self, change: impl FnOnce(&mut RecallConfig)) {
        let mut config = self.engine.config().clone();
        change(&mut config.recall);
        self.engine = self.engine.clone().rebuild().config(config).build();
    }

    /// Calibrates the gate on the rows of a scope; `None` if they are too few.
    pub(crate) fn calibrate(&self, name: &str) -> Result<Option<Calibration>> {
        match self.runtime.block_on(self.engine.calibrate(&scope(name)?)) {
            Ok(calibration) => Ok(Some(calibration)),
            Err(Error::Invalid { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Runs a query.
    pub(crate) fn answer(&self, question: &EngineQuestion<'_>) -> Result<EngineAnswer> {
        let recall = self.recall(question)?;
        // A memory stands for the last of its source turns.
        let turn = |memory: &Memory| *memory.source.turns.last().unwrap_or(&memory.id);
        let mut seen = HashSet::new();
        let ids = recall.hits.iter().filter_map(|hit| self.rows.get(&turn(&hit.memory)).cloned());
        let ids = ids.filter(|id| seen.insert(id.clone()));
        Ok(EngineAnswer { ids: ids.collect(), judgement: recall.judgement })
    }

    fn recall(&self, question: &EngineQuestion<'_>) -> Result<Recall> {
        let config = &self.engine.config().recall;
        let request = RecallRequest {
            limit: question.limit,
            whole_period: question.whole_period,
            ..RecallRequest::new(scope(question.scope)?, question.text, config)
        };
        let now = self.asked_at(question)?;
        Ok(self.runtime.block_on(self.engine.recall_at(&request, &now))?)
    }

    /// Returns the time of a query.
    fn asked_at(&self, question: &EngineQuestion<'_>) -> Result<Zoned> {
        let given = question.time.map(parse_time).transpose()?;
        let newest = self.newest.get(question.scope).copied();
        Ok(given.or(newest).unwrap_or_default().to_zoned(TimeZone::UTC))
    }
}

impl Retriever for EngineRetriever {
    fn load(&mut self, rows: &[CorpusRow]) -> Result<()> {
        let Some(first) = rows.first() else { return Ok(()) };
        let turns = rows.iter().map(turn).collect::<Result<Vec<_>>>()?;
        let newest = turns.iter().filter_map(|turn| turn.time).max();
        self.newest.entry(first.scope.clone()).or_insert(newest.unwrap_or(Timestamp::UNIX_EPOCH));
        let saved = self.runtime.block_on(self.engine.observe(&scope(&first.scope)?, turns))?;
        self.runtime.block_on(self.engine.admin().backfill_token_vectors(&mut |_| ()))?;
        self.rows.extend(saved.iter().zip(rows).map(|(saved, row)| (saved.id, row.id.clone())));
        Ok(())
    }

    fn search(&mut self, query: &BenchQuery, limit: usize) -> Result<Vec<String>> {
        let (scope, text, time) = (&query.scope, &query.text, query.time.as_deref());
        let question = EngineQuestion { scope, text, time, limit, whole_period: false };
        Ok(self.answer(&question)?.ids)
    }
}

fn turn(row: &CorpusRow) -> Result<Turn> {
    Ok(Turn {
        text: row.text.clone(),
        session: row.session.clone(),
        speaker: row.speaker.clone(),
        role: None,
        time: row
            .time
            .as_deref()
            .map(parse_time)
            .transpose()?
            .or_else(|| row.seq.and_then(time_from_seq)),
        ..Turn::default()
    })
}

/// Returns the time of a row that has an order but no time: rows are a minute apart.
fn time_from_seq(seq: u64) -> Option<Timestamp> {
    Timestamp::from_second(FIRST_SECOND.checked_add(i64::try_from(seq).ok()?.checked_mul(60)?)?)
        .ok()
}

/// Makes the name of a data set's scope a user name, which may not hold a slash.
fn scope(name: &str) -> Result<Scope> {
    Ok(Scope::new("bench", &name.replace('/', ":"))?)
}
