//! What each step of a recall takes: understanding the query, embedding it, reading the index, reading rows, and the
//! rest, which is ranking. The steps are run by themselves beside the whole.

use anyhow::Result;
use serde::Serialize;

use super::{
    data::DataSet,
    engine::{EngineQuestion, EngineRetriever, LocalModelUse},
};
use crate::timing::SampleStats;

/// As many hits as a recall returns by default.
const LIMIT: usize = 10;

/// Milliseconds of each step.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct StepTimes {
    pub(crate) analysis: f64,
    pub(crate) embedding: f64,
    pub(crate) index: f64,
    /// Reading the question for the comparison word by word.
    pub(crate) asking: f64,
    pub(crate) rows: f64,
    pub(crate) whole: f64,
}

/// How long the steps take over all queries of a set.
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
    /// The steps with their names, in the order in which they happen.
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

/// Asks every question step by step.
pub(crate) fn measure(set: &DataSet, local: LocalModelUse) -> Result<StepStats> {
    let everlore = EngineRetriever::loaded_with_model(set, local)?;
    let mut taken = Vec::with_capacity(set.queries.len());
    for query in &set.queries {
        let (scope, text, time) = (&query.scope, &query.text, query.time.as_deref());
        let question = EngineQuestion { scope, text, time, limit: LIMIT, whole_period: false };
        taken.push(everlore.time_steps(&question)?);
    }
    let spread =
        |of: fn(&StepTimes) -> f64| SampleStats::from_samples(taken.iter().map(of).collect());
    Ok(StepStats {
        analysis: spread(|step| step.analysis),
        embedding: spread(|step| step.embedding),
        index: spread(|step| step.index),
        asking: spread(|step| step.asking),
        // The parts are timed apart, so that a fast whole may fall short of their sum.
        ranking: spread(|step| step.ranking_ms().max(0.0)),
        rows: spread(|step| step.rows),
        whole: spread(|step| step.whole),
    })
}
