//! Everlore itself as a [`Retriever`](super::Retriever).

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use anyhow::{Context, Result};
use everlore::{
    Config, Engine, Error, Memory, MemoryId, Scope, Turn,
    config::RecallConfig,
    engine::{Calibration, ExtractRequest},
    llm::{BuiltinEmbedder, Embedder, LocalModel, Reranker},
    recall::{Recall, RecallRequest, analyze},
    store::SqliteStore,
    text::terms::TermHash,
};
use jiff::{Timestamp, Zoned, civil::DateTime, tz::TimeZone};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::{
    Retriever, RetrieverSpec,
    data::{BenchQuery, CorpusRow, DataSet},
    steps::StepTimes,
};
use crate::timing::timed;

/// The engine's retrievers, the one that users get first.
pub(crate) const RETRIEVERS: &[RetrieverSpec] =
    &[RetrieverSpec { name: "everlore", make: || Ok(Box::new(EngineRetriever::new()?)) }];

/// The engine without one ingredient each: what that ingredient adds.
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
    let mut everlore = EngineRetriever::new()?;
    everlore.configure(change);
    Ok(Box::new(everlore))
}

/// When the first row of a set without times was said: the beginning of 2024.
const FIRST_SECOND: i64 = 1_704_067_200;

/// The engine on a database of its own.
pub(crate) struct EngineRetriever {
    engine: Engine,
    embedder: Arc<dyn Embedder>,
    local: LocalModelUse,
    runtime: Runtime,
    rows: HashMap<MemoryId, String>,
    /// The newest row of each scope: when a question without a time is asked.
    newest: HashMap<String, Timestamp>,
    _folder: TempDir,
}

/// What a local model is used for.
#[derive(Debug, Clone, Default)]
pub(crate) enum LocalModelUse {
    /// There is none.
    #[default]
    None,
    /// It compares the best candidates with the question word by word.
    Reranker(LocalModel),
    /// It makes one vector of each text, in place of the built-in model.
    Embedder(LocalModel),
}

impl LocalModelUse {
    fn embedder(&self) -> Arc<dyn Embedder> {
        match self {
            Self::Embedder(model) => Arc::new(model.clone()),
            Self::None | Self::Reranker(_) => Arc::new(BuiltinEmbedder::new()),
        }
    }
}

impl EngineRetriever {
    pub(super) fn new() -> Result<Self> {
        Self::with_local_model(LocalModelUse::None)
    }

    /// An engine with a local model.
    pub(crate) fn with_local_model(local: LocalModelUse) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        let folder = tempfile::tempdir()?;
        let store = runtime.block_on(SqliteStore::open(folder.path().join("everlore.db")))?;
        let (rows, newest) = (HashMap::new(), HashMap::new());
        let mut config = Config::default();
        // Questions that must not see later rows ask for all of them.
        config.memory.long_term.max_return = usize::MAX;
        let embedder = local.embedder();
        let engine =
            Engine::builder(Arc::new(store)).config(config).embedder(embedder.clone()).build();
        let engine = match &local {
            LocalModelUse::Reranker(model) => {
                engine.rebuild().reranker(Arc::new(model.clone())).build()
            }
            LocalModelUse::None | LocalModelUse::Embedder(_) => engine,
        };
        Ok(Self { engine, embedder, local, runtime, rows, newest, _folder: folder })
    }
}

/// A question as it is put to the engine.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct EngineQuestion<'a> {
    pub(crate) scope: &'a str,
    pub(crate) text: &'a str,
    /// When it is asked, in ISO form; without, when the newest row of the scope was said.
    pub(crate) time: Option<&'a str>,
    pub(crate) limit: usize,
    /// A question for a period gets all of it, whatever the limit.
    pub(crate) whole_period: bool,
}

/// What the engine answered.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EngineAnswer {
    /// The rows, best first.
    pub(crate) ids: Vec<String>,
    /// Whether the question was taken as one for a period.
    pub(crate) asks_period: bool,
    /// How sure the engine is that the best one answers the question.
    pub(crate) judgement: everlore::recall::ConfidenceEstimate,
}

impl EngineRetriever {
    /// An engine that holds all rows of a data set.
    pub(crate) fn loaded_with(set: &DataSet) -> Result<Self> {
        Self::loaded_with_model(set, LocalModelUse::None)
    }

    /// The same with a local model.
    pub(crate) fn loaded_with_model(set: &DataSet, local: LocalModelUse) -> Result<Self> {
        let mut everlore = Self::with_local_model(local)?;
        for (_, rows) in set.by_scope() {
            everlore.load(&rows)?;
        }
        Ok(everlore)
    }

    /// Draws memories from all that was loaded, by rules; returns how many statements were found.
    pub(crate) fn extract(&mut self) -> Result<usize> {
        let mut config = self.engine.config().clone();
        // A row a fact: a batch may be full of them.
        config.memory_agent.extract.max_facts = 1_000;
        self.engine = self.engine.clone().rebuild().config(config).build();
        let scopes = self.runtime.block_on(self.engine.store().admin().scopes())?;
        let mut drafts = 0;
        for scope in scopes {
            let done =
                self.runtime.block_on(self.engine.extract(&scope, &ExtractRequest::default()))?;
            drafts += done.iter().map(|extraction| extraction.drafts.len()).sum::<usize>();
        }
        Ok(drafts)
    }

    /// Changes how it ranks.
    pub(super) fn configure(&mut self, change: impl FnOnce(&mut RecallConfig)) {
        let mut config = self.engine.config().clone();
        change(&mut config.recall);
        self.engine = self.engine.clone().rebuild().config(config).build();
    }

    /// What a calibration on the rows of a scope finds; none if they are too few.
    pub(crate) fn calibrate(&self, name: &str) -> Result<Option<Calibration>> {
        let found = self.runtime.block_on(self.engine.calibrate(&scope(name)?));
        match found {
            Ok(found) => Ok(Some(found)),
            Err(Error::Invalid { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Changes what the comparison word by word is worth.
    pub(crate) fn set_rerank(&mut self, weight: f64) {
        let mut config = self.engine.config().clone();
        config.recall.rerank = weight;
        self.engine = self.engine.clone().rebuild().config(config).build();
    }

    /// Puts one question.
    pub(crate) fn answer(&self, question: &EngineQuestion<'_>) -> Result<EngineAnswer> {
        let found = self.recall(question)?;
        // A memory stands for the last turn that it was drawn from.
        let turn = |memory: &Memory| *memory.source.turns.last().unwrap_or(&memory.id);
        let mut seen = HashSet::new();
        let ids = found.hits.iter().filter_map(|hit| self.rows.get(&turn(&hit.memory)).cloned());
        let ids = ids.filter(|id| seen.insert(id.clone()));
        Ok(EngineAnswer {
            ids: ids.collect(),
            asks_period: found.intent.asks_period,
            judgement: found.judgement,
        })
    }

    /// Puts one question as a whole and step by step.
    pub(crate) fn time_steps(&self, question: &EngineQuestion<'_>) -> Result<StepTimes> {
        let (found, whole) = timed(|| self.recall(question))?;
        let (scope, now) = (scope(question.scope)?, self.asked_at(question)?);
        let config = &self.engine.config().recall;
        let (intent, analysis) = timed(|| Ok(analyze(question.text, config, &now)))?;
        let words = intent.terms.iter().flat_map(|term| {
            std::iter::once(&term.text).chain(term.synonyms.iter().map(|(text, _)| text))
        });
        let terms: Vec<TermHash> = words.map(|word| TermHash::of(word)).collect();
        let store = self.engine.store();
        let model = Some(self.embedder.model());
        let postings =
            || Ok(self.runtime.block_on(store.index().postings(&scope, &terms, model))?);
        let (_, index) = timed(postings)?;
        let embed = || Ok(self.runtime.block_on(self.embedder.embed(&[question.text]))?);
        let (_, embedding) = timed(embed)?;
        let places: Vec<_> = found.hits.iter().map(|hit| hit.address).collect();
        let (_, rows) =
            timed(|| Ok(self.runtime.block_on(store.memories().by_address(&scope, &places))?))?;
        let asking = match &self.local {
            LocalModelUse::Reranker(model) => {
                let words: Vec<_> =
                    question.text.split_whitespace().map(|word| (word, 1.0)).collect();
                timed(|| Ok(self.runtime.block_on(model.encode_query(&words))?))?.1
            }
            LocalModelUse::None | LocalModelUse::Embedder(_) => 0.0,
        };
        Ok(StepTimes { analysis, embedding, index, asking, rows, whole })
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

    /// When a question is asked.
    fn asked_at(&self, question: &EngineQuestion<'_>) -> Result<Zoned> {
        let asked = question.time.map(parse_time).transpose()?;
        let newest = self.newest.get(question.scope).copied();
        Ok(asked.or(newest).unwrap_or_default().to_zoned(TimeZone::UTC))
    }
}

impl Retriever for EngineRetriever {
    fn load(&mut self, rows: &[CorpusRow]) -> Result<()> {
        let Some(first) = rows.first() else { return Ok(()) };
        let turns = rows.iter().map(turn).collect::<Result<Vec<_>>>()?;
        let newest = turns.iter().filter_map(|turn| turn.time).max();
        self.newest.entry(first.scope.clone()).or_insert(newest.unwrap_or(Timestamp::UNIX_EPOCH));
        let saved = self.runtime.block_on(self.engine.observe(&scope(&first.scope)?, turns))?;
        self.runtime.block_on(self.engine.backfill_token_vectors(&mut |_| ()))?;
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
    })
}

/// Rows that have an order but no time were said a minute after each other.
fn time_from_seq(seq: u64) -> Option<Timestamp> {
    Timestamp::from_second(FIRST_SECOND.checked_add(i64::try_from(seq).ok()?.checked_mul(60)?)?)
        .ok()
}

/// A scope's name may hold what a user's name may not.
fn scope(name: &str) -> Result<Scope> {
    Ok(Scope::new("bench", &name.replace('/', ":"))?)
}

/// Times of data sets say no zone.
fn parse_time(text: &str) -> Result<Timestamp> {
    if let Ok(at) = text.parse() {
        return Ok(at);
    }
    let civil: DateTime = text.parse().with_context(|| format!("`{text}` is no time"))?;
    Ok(civil.to_zoned(TimeZone::UTC)?.timestamp())
}
