//! Time of each step of a recall: analysing the query, embedding it, reading the index, reading rows, and the rest,
//! which is ranking. Each step also runs by itself, beside the whole.

use anyhow::Result;
use serde::Serialize;

use super::{
    data::DataSet,
    engine::{EngineQuestion, EngineRetriever, LocalModelUse},
};
use crate::timing::SampleStats;

/// Hits of a recall by default.
const LIMIT: usize = 10;

/// Milliseconds of each step.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct StepTimes {
    pub(crate) analysis: f64,
    pub(crate) embedding: f64,
    pub(crate) index: f64,
    /// Encoding the query for the reranker.
    pub(crate) asking: f64,
    pub(crate) rows: f64,
    pub(crate) whole: f64,
}

/// Times of the steps over all queries of a set.
#[derive(Debug, Serialize)]
pub(crate) struct StepStats {
    pub(crate) analysis: SampleStats,
    pub(crate) embedding: SampleStats,
    pub(crate) index: SampleStats,
    pub(crate) asking: SampleStats,
    pub(crate) ranking: SampleStats,
    pub(crate) rows: SampleStats,
    pub(crate) whole: SampleStats,
}

impl StepTimes {
    fn ranking_ms(&self) -> f64 {
        self.whole - self.analysis - self.embedding - self.index - self.asking - self.rows
    }
}

impl StepStats {
    /// Returns the steps with their names, in order.
    pub(crate) fn named(&self) -> [(&'static str, SampleStats); 7] {
        [
            ("analysis", self.analysis),
            ("embedding", self.embedding),
            ("index", self.index),
            ("asking", self.asking),
            ("ranking", self.ranking),
            ("rows", self.rows),
            ("whole", self.whole),
        ]
    }
}

/// Runs every query step by step.
pub(crate) fn measure(set: &DataSet, local: LocalModelUse) -> Result<StepStats> {
    let everlore = EngineRetriever::loaded_with_model(set, local)?;
    let mut times = Vec::with_capacity(set.queries.len());
    for query in &set.queries {
        let (scope, text, time) = (&query.scope, &query.text, query.time.as_deref());
        let question = EngineQuestion { scope, text, time, limit: LIMIT, whole_period: false };
        times.push(everlore.time_steps(&question)?);
    }
    let stats =
        |step: fn(&StepTimes) -> f64| SampleStats::from_samples(times.iter().map(step).collect());
    Ok(StepStats {
        analysis: stats(|step| step.analysis),
        embedding: stats(|step| step.embedding),
        index: stats(|step| step.index),
        asking: stats(|step| step.asking),
        // The steps are timed separately, so a fast whole may fall short of their sum.
        ranking: stats(|step| step.ranking_ms().max(0.0)),
        rows: stats(|step| step.rows),
        whole: stats(|step| step.whole),
    })
}
