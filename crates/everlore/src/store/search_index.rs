//! The index facet: postings, records and similarities for recall, and the care of the index itself.

use async_trait::async_trait;

use super::Segment;
use crate::{
    error::Result,
    text::terms::TermHash,
    types::{EmbeddingModelId, Scope, Vector},
};

/// Serves the search index of a scope. It returns candidates and never ranks.
#[async_trait]
pub trait SearchIndex: Send + Sync {
    /// Returns the segments of the scope: records of all memories, the postings of `terms` in the order of `terms`, and
    /// the vectors of `model` where a segment has them.
    async fn postings(
        &self,
        scope: &Scope,
        terms: &[TermHash],
        model: Option<&EmbeddingModelId>,
    ) -> Result<Vec<Segment>>;

    /// Scores the vectors of segments that are [`SegmentVectors::Unloaded`] under these block ids against a query, in the
    /// order of each segment's documents; `None` if a block was merged into another since it was read, or is of another
    /// scope. A store that loads all vectors has no such segments and answers `None`.
    ///
    /// [`SegmentVectors::Unloaded`]: super::SegmentVectors::Unloaded
    async fn similarities(
        &self,
        scope: &Scope,
        blocks: &[i64],
        query: &Vector,
    ) -> Result<Option<Vec<Vec<f32>>>>;

    /// Compares rows, index and journal of the scope and returns a line for each disagreement.
    async fn inconsistencies(&self, scope: &Scope) -> Result<Vec<String>>;

    /// Rebuilds the index of the scope from its rows and returns how many memories it holds.
    async fn reindex(&self, scope: &Scope) -> Result<usize>;

    /// Returns the scopes whose index was built by another version of the text analysis and waits to be rebuilt.
    async fn stale_scopes(&self) -> Result<Vec<Scope>>;
}
