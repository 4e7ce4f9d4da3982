//! Time order: sorts and samples the memories of a period, which is shown from its first to its last memory.

use super::fuse::RecallCandidate;
use crate::recall::{Hit, RecallRequest};

/// Sorts the hits of a period by time.
pub(super) fn sort_by_time(hits: &mut [Hit]) {
    hits.sort_by_key(|hit| (hit.memory.at, hit.address));
}

/// Reduces the candidates of a period to the limit of the request, spread evenly over time.
pub(super) fn sample_evenly(candidates: &mut Vec<RecallCandidate>, request: &RecallRequest) {
    if request.whole_period {
        return;
    }
    candidates.sort_by_key(|candidate| (candidate.at, candidate.address));
    let sampled = evenly_spaced(candidates.len(), request.limit);
    let mut index = 0..;
    candidates.retain(|_| index.next().is_some_and(|index| sampled.binary_search(&index).is_ok()));
}

/// Returns at most `limit` of `count` indexes, spread evenly from the first to the last: of a long conversation, all
/// topics matter more than the greetings at its start.
fn evenly_spaced(count: usize, limit: usize) -> Vec<usize> {
    match limit {
        0 => vec![],
        1 => (0..count.min(1)).collect(),
        _ if count <= limit => (0..count).collect(),
        _ => (0..limit).map(|index| index * (count - 1) / (limit - 1)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_period_is_thinned_evenly() {
        assert_eq!(evenly_spaced(5, 10), [0, 1, 2, 3, 4]);
        assert_eq!(evenly_spaced(9, 3), [0, 4, 8]);
        assert_eq!(evenly_spaced(9, 1), [0]);
        assert_eq!((evenly_spaced(9, 0), evenly_spaced(0, 1)), (vec![], vec![]));
    }
}
