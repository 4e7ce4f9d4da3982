//! Everlore itself as a [`Retriever`](super::Retriever).

use super::Candidate;

/// The engine's retrievers, the one that users get first. Empty until the engine can recall.
pub(crate) const CANDIDATES: &[Candidate] = &[];
