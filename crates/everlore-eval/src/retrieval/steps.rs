//! What each step of a recall takes: understanding the query, embedding it, reading the index, reading rows, and the
//! rest, which is ranking. The steps are run by themselves beside the whole.

use anyhow::Result;
use serde::Serialize;

use super::{
    data::DataSet,
    engine::{Everlore, Local, Question},
};
use crate::timing::Spread;

/// As many hits as a recall returns by default.
const LIMIT: usize = 10;

/// Milliseconds of each step.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Step {
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
pub(crate) struct Steps {
    pub(crate) analysis: Spread,
    pub(crate) embedding: Spread,
    pub(crate) index: Spread,
    pub(crate) asking: Spread,
    pub(crate) ranking: Spread,
    pub(crate) rows: Spread,
    pub(crate) whole: Spread,
}

impl Step {
    fn rest(&self) -> f64 {
        self.whole - self.analysis - self.embedding - self.index - self.asking - self.rows
    }
}

impl Steps {
    /// The steps with their names, in the order in which they happen.
    pub(crate) fn named(&self) -> [(&'static str, Spread); 7] {
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
pub(crate) fn measure(set: &DataSet, local: Local) -> Result<Steps> {
    let everlore = Everlore::holding_with(set, local)?;
    let mut taken = Vec::with_capacity(set.queries.len());
    for query in &set.queries {
        let (scope, text, time) = (&query.scope, &query.text, query.time.as_deref());
        let question = Question { scope, text, time, limit: LIMIT, whole_period: false };
        taken.push(everlore.steps(&question)?);
    }
    let spread = |of: fn(&Step) -> f64| Spread::of(taken.iter().map(of).collect());
    Ok(Steps {
        analysis: spread(|step| step.analysis),
        embedding: spread(|step| step.embedding),
        index: spread(|step| step.index),
        asking: spread(|step| step.asking),
        // The parts are timed apart, so that a fast whole may fall short of their sum.
        ranking: spread(|step| step.rest().max(0.0)),
        rows: spread(|step| step.rows),
        whole: spread(|step| step.whole),
    })
}
