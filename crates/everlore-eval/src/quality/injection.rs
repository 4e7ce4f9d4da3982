//! Contents of the prompt: the share of relevant memories in the block of each message, noise, silence and outdated
//! memories, beside rivals that always inject their five best.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use anyhow::{Context, Result};
use everlore::{
    Config, Engine, Kind, MemoryId, RememberRequest, Scope, Turn,
    engine::{MemoryBlock, Recall},
    llm::{BuiltinEmbedder, LocalModel},
    store::RamStore,
    types::Role,
};
use jiff::Timestamp;
use serde::Serialize;
use tokio::runtime::Runtime;

use crate::retrieval::{
    Retriever,
    baselines::{Bm25Retriever, DenseRetriever},
    data::{BenchQuery, CorpusRow, DataSet, parse_time},
};

/// Memories that a rival injects for every message: the default of most memory systems.
const RIVAL_LIMIT: usize = 5;

/// Depth of the measured rankings.
const RANK_DEPTH: usize = 10;

/// Hits of a recall for fitting.
const FEATURE_DEPTH: usize = 50;

/// Category of messages that need no memory.
const NO_MEMORY: &str = "none";

/// Marks of an outdated memory in a block, in both languages.
const OUTDATED_MARKS: [&str; 2] = ["a newer memory says otherwise", "已有更新的说法"];

/// Figures of one system.
#[derive(Debug, Serialize)]
pub(crate) struct InjectionReport {
    pub(crate) overall: InjectionFigures,
    pub(crate) by_category: BTreeMap<String, InjectionFigures>,
    /// Figures by the number of memories in the home.
    pub(crate) by_size: BTreeMap<usize, InjectionFigures>,
}

/// Means over messages. Shares are from 0 to 1; figures without a message to measure are `None`.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct InjectionFigures {
    /// Share of the relevant memories that are in the block.
    pub(crate) injected: Option<f64>,
    /// Share of the messages with at least one relevant memory in the block.
    pub(crate) injected_any: Option<f64>,
    /// Memories in a block that are neither relevant nor optional, per block that is not empty.
    pub(crate) noise: Option<f64>,
    /// Tokens of a block that is not empty.
    pub(crate) tokens: Option<f64>,
    /// Share of the messages without need of memory that get no block.
    pub(crate) silent: Option<f64>,
    /// Outdated memories without a mark, per block that is not empty.
    pub(crate) stale: Option<f64>,
    #[serde(rename = "r@1")]
    pub(crate) recall_1: Option<f64>,
    #[serde(rename = "r@5")]
    pub(crate) recall_5: Option<f64>,
    #[serde(rename = "r@10")]
    pub(crate) recall_10: Option<f64>,
    pub(crate) n: usize,
}

/// Outcome of one message.
#[derive(Debug, Clone)]
pub(crate) struct InjectionOutcome {
    pub(crate) query: BenchQuery,
    /// Memories in the query's home.
    pub(crate) home_size: usize,
    /// Rows in the block, in order, with `true` for those marked as outdated.
    pub(crate) injected: Vec<(String, bool)>,
    /// Tokens of the block; `None` if the system has no block.
    pub(crate) tokens: Option<usize>,
    /// Rows by rank.
    pub(crate) ranked: Vec<String>,
    /// Recall of the message without minimums, for fitting; `None` for rivals.
    pub(crate) recall: Option<Recall>,
}

/// Models that take part in recall.
#[derive(Debug, Clone, Copy)]
pub(crate) enum InjectionModels<'a> {
    /// The built-in table and the built-in encoder.
    Builtin,
    /// The built-in table alone.
    TableOnly,
    /// The built-in models and a local one that reranks.
    Local(&'a LocalModel),
}

/// Engine under measurement.
#[derive(Debug, Clone)]
pub(crate) struct InjectionSetup<'a> {
    pub(crate) models: InjectionModels<'a>,
    pub(crate) config: Config,
}

/// Puts every message to Everlore.
pub(crate) fn measure(set: &DataSet, setup: &InjectionSetup<'_>) -> Result<Vec<InjectionOutcome>> {
    let mut all = Vec::new();
    for (name, rows) in set.by_scope() {
        let home = EvalHome::load(name, &rows, setup)?;
        for query in set.queries.iter().filter(|query| query.scope == name) {
            all.push(home.ask(query)?);
        }
    }
    Ok(all)
}

/// Puts every message to the rivals: plain BM25, the cosine of the built-in model and that of a local one.
pub(crate) fn measure_rivals(
    set: &DataSet,
    model: Option<&LocalModel>,
) -> Result<Vec<(&'static str, Vec<InjectionOutcome>)>> {
    let mut rivals: Vec<(&str, Box<dyn Retriever>)> = vec![
        ("bm25 top 5", Box::<Bm25Retriever>::default()),
        ("cosine of the built-in model, top 5", Box::new(DenseRetriever::builtin())),
    ];
    if let Some(model) = model {
        rivals.push((
            "cosine of the local model, top 5",
            Box::new(DenseRetriever::local(model.clone())?),
        ));
    }
    let measured = rivals.into_iter().map(|(name, mut rival)| {
        let mut all = Vec::new();
        for (scope, rows) in set.by_scope() {
            rival.load(&rows)?;
            for query in set.queries.iter().filter(|query| query.scope == scope) {
                let ranked = rival.search(query, RANK_DEPTH)?;
                let top = ranked.iter().take(RIVAL_LIMIT);
                all.push(InjectionOutcome {
                    query: query.clone(),
                    home_size: rows.len(),
                    injected: top.map(|id| (id.clone(), false)).collect(),
                    tokens: None,
                    ranked,
                    recall: None,
                });
            }
        }
        Ok((name, all))
    });
    measured.collect()
}

/// Sums outcomes up, over all messages and by category and size of home.
pub(crate) fn report(outcomes: &[InjectionOutcome]) -> InjectionReport {
    let mut by_category: BTreeMap<String, Vec<&InjectionOutcome>> = BTreeMap::new();
    let mut by_size: BTreeMap<usize, Vec<&InjectionOutcome>> = BTreeMap::new();
    for outcome in outcomes {
        by_category.entry(outcome.query.category.clone()).or_default().push(outcome);
        by_size.entry(outcome.home_size).or_default().push(outcome);
    }
    InjectionReport {
        overall: figures(&outcomes.iter().collect::<Vec<_>>()),
        by_category: by_category.into_iter().map(|(name, all)| (name, figures(&all))).collect(),
        by_size: by_size.into_iter().map(|(size, all)| (size, figures(&all))).collect(),
    }
}

fn figures(outcomes: &[&InjectionOutcome]) -> InjectionFigures {
    let needy = || outcomes.iter().filter(|outcome| !outcome.query.relevant.is_empty());
    let idle = outcomes.iter().filter(|outcome| outcome.query.category == NO_MEMORY);
    let blocks = || outcomes.iter().filter(|outcome| !outcome.injected.is_empty());
    InjectionFigures {
        injected: mean(needy().map(|outcome| outcome.injected_share())),
        injected_any: mean(needy().map(|outcome| f64::from(outcome.injected_share() > 0.0))),
        noise: mean(blocks().map(|outcome| outcome.noise() as f64)),
        tokens: mean(blocks().filter_map(|outcome| outcome.tokens).map(|tokens| tokens as f64)),
        silent: mean(idle.map(|outcome| f64::from(outcome.injected.is_empty()))),
        stale: mean(blocks().map(|outcome| outcome.unmarked_stale() as f64)),
        recall_1: mean(needy().map(|outcome| outcome.recall_at(1))),
        recall_5: mean(needy().map(|outcome| outcome.recall_at(5))),
        recall_10: mean(needy().map(|outcome| outcome.recall_at(10))),
        n: outcomes.len(),
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

impl InjectionOutcome {
    fn injected_share(&self) -> f64 {
        let is_in = |id: &&String| self.injected.iter().any(|(injected, _)| injected == *id);
        let found = self.query.relevant.iter().filter(is_in).count();
        found as f64 / self.query.relevant.len() as f64
    }

    fn noise(&self) -> usize {
        let query = &self.query;
        let is_wanted = |id: &String| {
            query.relevant.contains(id) || query.optional.contains(id) || query.stale.contains(id)
        };
        self.injected.iter().filter(|(id, _)| !is_wanted(id)).count()
    }

    fn unmarked_stale(&self) -> usize {
        let is_unmarked = |(id, marked): &&(String, bool)| !marked && self.query.stale.contains(id);
        self.injected.iter().filter(is_unmarked).count()
    }

    fn recall_at(&self, depth: usize) -> f64 {
        let top = &self.ranked[..depth.min(self.ranked.len())];
        let found = self.query.relevant.iter().filter(|id| top.contains(id)).count();
        found as f64 / self.query.relevant.len() as f64
    }
}

/// Home of one person, stored as its rows say: turns are observed, everything else is remembered.
struct EvalHome {
    engine: Engine,
    scope: Scope,
    runtime: Runtime,
    /// Rows by memory.
    rows: HashMap<MemoryId, String>,
    /// The engine's time, in seconds.
    now: Arc<AtomicI64>,
    newest: Timestamp,
}

impl EvalHome {
    fn load(name: &str, rows: &[CorpusRow], setup: &InjectionSetup<'_>) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let now = Arc::new(AtomicI64::new(0));
        let clock = Arc::clone(&now);
        let builder = Engine::builder(Arc::new(RamStore::default()))
            .config(setup.config.clone())
            .embedder(Arc::new(BuiltinEmbedder::new()))
            .clock(move || {
                Timestamp::from_second(clock.load(Ordering::Relaxed)).unwrap_or_default()
            });
        let engine = match setup.models {
            InjectionModels::Builtin => builder.builtin_encoder().build(),
            InjectionModels::TableOnly => builder.build(),
            InjectionModels::Local(model) => {
                builder.reranker(Arc::new(model.clone())).builtin_encoder().build()
            }
        };
        let scope = Scope::new("eval", &name.replace('/', ":"))?;
        let rows_by_memory = HashMap::new();
        let newest = Timestamp::UNIX_EPOCH;
        let mut home = Self { engine, scope, runtime, rows: rows_by_memory, now, newest };
        let mut ordered: Vec<(Timestamp, &CorpusRow)> =
            rows.iter().map(|row| Ok((row_time(row)?, row))).collect::<Result<_>>()?;
        ordered.sort_by_key(|(time, _)| *time);
        for (time, row) in ordered {
            home.store(row, time).with_context(|| format!("row {}", row.id))?;
        }
        home.runtime.block_on(home.engine.admin().backfill_token_vectors(&mut |_| ()))?;
        Ok(home)
    }

    fn store(&mut self, row: &CorpusRow, time: Timestamp) -> Result<()> {
        self.now.store(time.as_second(), Ordering::Relaxed);
        self.newest = self.newest.max(time);
        let kind = row.kind.as_deref().unwrap_or("turn");
        let id = if kind == "turn" {
            let turns = vec![turn(row, time)];
            self.runtime.block_on(self.engine.observe(&self.scope, turns))?[0].id
        } else {
            let request = RememberRequest {
                kind: Some(kind.parse::<Kind>()?),
                at: Some(time),
                ..RememberRequest::new(&row.text)
            };
            self.runtime.block_on(self.engine.remember(&self.scope, request))?.id
        };
        self.rows.insert(id, row.id.clone());
        Ok(())
    }

    fn ask(&self, query: &BenchQuery) -> Result<InjectionOutcome> {
        let given = query.time.as_deref().map(parse_time).transpose()?;
        self.now.store(given.unwrap_or(self.newest).as_second(), Ordering::Relaxed);
        let request = self.engine.context_request(&self.scope, &query.text);
        let budget = self.engine.config().memory.inject.token_budget;
        let block = self.runtime.block_on(self.engine.context(&request, budget))?;
        let mut request = self.engine.recall_request(&self.scope, &query.text);
        request.limit = FEATURE_DEPTH;
        let recall = self.runtime.block_on(self.engine.recall(&request))?;
        let ids = recall.hits.iter().filter_map(|hit| self.rows.get(&hit.memory.id).cloned());
        Ok(InjectionOutcome {
            query: query.clone(),
            home_size: self.rows.len(),
            injected: self.injected_rows(&block),
            tokens: Some(block.tokens),
            ranked: ids.collect(),
            recall: Some(recall),
        })
    }

    /// Returns the rows of a block, each with `true` if its heading says that it is outdated.
    fn injected_rows(&self, block: &MemoryBlock) -> Vec<(String, bool)> {
        // Texts of memories are indented, so a line that begins with a bracket is a heading.
        let headings = block.text.lines().filter(|line| line.starts_with('['));
        let is_marked = |line: &str| OUTDATED_MARKS.iter().any(|mark| line.contains(mark));
        let entries = block.entries.iter().zip(headings);
        let row = |id| self.rows.get(id).cloned().unwrap_or_default();
        entries.map(|(entry, line)| (row(&entry.id), is_marked(line))).collect()
    }
}

fn turn(row: &CorpusRow, time: Timestamp) -> Turn {
    let role = match row.speaker.as_deref() {
        Some("user") => Some(Role::User),
        Some("assistant") => Some(Role::Assistant),
        _ => None,
    };
    let speaker = row.speaker.clone().filter(|_| role.is_none());
    Turn {
        text: row.text.clone(),
        session: row.session.clone(),
        speaker,
        role,
        time: Some(time),
        ..Turn::default()
    }
}

fn row_time(row: &CorpusRow) -> Result<Timestamp> {
    row.time.as_deref().map_or(Ok(Timestamp::UNIX_EPOCH), parse_time)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(category: &str, relevant: &[&str], injected: &[(&str, bool)]) -> InjectionOutcome {
        let strings = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
        InjectionOutcome {
            query: BenchQuery {
                category: category.into(),
                relevant: strings(relevant),
                optional: strings(&["o"]),
                stale: strings(&["s"]),
                ..BenchQuery::default()
            },
            home_size: 2,
            injected: injected.iter().map(|(id, marked)| ((*id).to_owned(), *marked)).collect(),
            tokens: Some(100),
            ranked: injected.iter().map(|(id, _)| (*id).to_owned()).collect(),
            recall: None,
        }
    }

    #[test]
    fn figures_count_what_reached_the_prompt() {
        let outcomes = [
            outcome("direct", &["a", "b"], &[("a", false), ("o", false), ("x", false)]),
            outcome("update", &["c"], &[("s", false), ("s", true)]),
            outcome("none", &[], &[]),
            outcome("none", &[], &[("x", false)]),
        ];
        let overall = report(&outcomes).overall;
        assert_eq!(overall.injected, Some(0.25));
        assert_eq!(overall.injected_any, Some(0.5));
        assert_eq!(overall.noise, Some(2.0 / 3.0));
        assert_eq!(overall.silent, Some(0.5));
        assert_eq!(overall.stale, Some(1.0 / 3.0));
        assert_eq!((overall.recall_1, overall.recall_5), (Some(0.25), Some(0.25)));
        assert_eq!(report(&outcomes).by_category["none"].injected, None);
    }

    #[test]
    fn a_home_is_asked_at_the_time_of_the_message() {
        let row = |id: &str, kind: &str, text: &str| CorpusRow {
            id: id.into(),
            scope: "p".into(),
            kind: Some(kind.into()),
            time: Some("2026-01-05T10:00:00".into()),
            speaker: Some("user".into()),
            text: text.into(),
            ..CorpusRow::default()
        };
        let rows = vec![
            row("1", "user", "I'm allergic to peanuts"),
            row("2", "turn", "支付模块周三上线。"),
        ];
        let query = |id: &str, text: &str, relevant: &[&str]| BenchQuery {
            id: id.into(),
            scope: "p".into(),
            text: text.into(),
            category: if relevant.is_empty() { "none" } else { "direct" }.into(),
            relevant: relevant.iter().map(|id| (*id).to_owned()).collect(),
            time: Some("2026-01-06T09:00:00".into()),
            ..BenchQuery::default()
        };
        let queries = vec![
            query("q1", "am I allergic to peanuts?", &["1"]),
            query("q2", "支付模块什么时候上线？", &["2"]),
            query("q3", "thanks, that's all!", &[]),
        ];
        let set = DataSet { rows, queries, noise: vec![] };
        let setup = InjectionSetup { models: InjectionModels::Builtin, config: Config::default() };
        let overall = report(&measure(&set, &setup).unwrap()).overall;
        assert_eq!((overall.injected, overall.silent), (Some(1.0), Some(1.0)));
        let rivals = measure_rivals(&set, None).unwrap();
        assert_eq!(rivals.len(), 2);
        assert!(rivals.iter().all(|(_, all)| report(all).overall.injected == Some(1.0)));
    }
}
