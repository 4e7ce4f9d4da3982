//! Tools with the names and formats of other systems, for agents that were trained on or configured for these.

mod graph;
mod search;

use super::Tool;

/// Returns all of them, in the order of listing.
pub(super) fn tools() -> Vec<Box<dyn Tool>> {
    graph::tools().into_iter().chain(search::tools()).collect()
}
