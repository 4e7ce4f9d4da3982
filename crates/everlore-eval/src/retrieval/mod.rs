//! Quality of retrieval on data sets with known answers.
//!
//! A data set is read ([`data`]), each retriever is filled with it and asked every question ([`run`]), and the answers are
//! judged ([`metrics`]).

pub(crate) mod data;
pub(crate) mod official;
pub(crate) mod metrics;
pub(crate) mod compare;
pub(crate) mod run;
pub(crate) mod baselines;
pub(crate) mod engine;
pub(crate) mod steps;
pub(crate) mod tune;
pub(crate) mod folds;

use anyhow::Result;

use data::{BenchQuery, CorpusRow};

/// Something that can be filled with rows and asked. Rows of one scope must never be found from another.
pub(crate) trait Retriever {
    /// Adds rows; they come in the order in which they were written, scope by scope.
    fn load(&mut self, rows: &[CorpusRow]) -> Result<()>;
    /// The ids of at most `limit` rows of the query's scope, best first.
    fn search(&mut self, query: &BenchQuery, limit: usize) -> Result<Vec<String>>;
}

/// A retriever's name, and how to make an empty one.
pub(crate) struct RetrieverSpec {
    pub(crate) name: &'static str,
    pub(crate) make: fn() -> Result<Box<dyn Retriever>>,
}
