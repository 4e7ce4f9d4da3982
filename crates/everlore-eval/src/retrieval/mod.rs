//! Retrieval quality on data sets with known answers.
//!
//! [`data`] reads a data set, [`run`] loads it into each retriever and runs every query, [`metrics`] scores the
//! results.

pub(crate) mod data;
pub(crate) mod metrics;
pub(crate) mod compare;
pub(crate) mod run;
mod bm25;
pub(crate) mod baselines;
pub(crate) mod engine;

use anyhow::Result;

use data::{BenchQuery, CorpusRow};

/// Retrieval system under test. A query must never return rows of another scope.
pub(crate) trait Retriever {
    /// Adds rows, in the order in which they were written, scope by scope.
    fn load(&mut self, rows: &[CorpusRow]) -> Result<()>;
    /// Returns the ids of at most `limit` rows of the query's scope, best first.
    fn search(&mut self, query: &BenchQuery, limit: usize) -> Result<Vec<String>>;
}

/// Retriever's name and the constructor of an empty one.
pub(crate) struct RetrieverSpec {
    pub(crate) name: &'static str,
    pub(crate) make: fn() -> Result<Box<dyn Retriever>>,
}
