//! Document statistics of one segment: addresses, flags, lengths and session spans, computed once per segment and
//! cached with its records.

use std::sync::Arc;

use everlore_kernel::{IRREGULAR_TURNS, turn_run};

use crate::{
    config::RecallConfig,
    store::{DocAddress, Docs, FIELD_COUNT, IndexField},
    types::{Kind, Status, Timestamp},
};

/// Length that marks a deleted document.
const DELETED: f32 = -1.0;

/// BM25F weights of the fields, and the shares of words in neighbouring turns by distance.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NeighbourWeights {
    pub(super) field_weights: [f32; FIELD_COUNT],
    /// Share of a word in an earlier turn, by distance in turns.
    pub(super) earlier: Vec<f32>,
    /// Share of a word in a later turn, by distance in turns.
    pub(super) later: Vec<f32>,
    /// Largest distance between neighbours.
    pub(super) span: usize,
}

/// Statistics of a segment's documents.
pub(super) struct DocStats {
    neighbour_weights: NeighbourWeights,
    deleted: Vec<u32>,
    pub(super) addresses: Vec<DocAddress>,
    pub(super) flags: Vec<DocFlags>,
    /// Times of the first and the last document.
    pub(super) time_range: (Timestamp, Timestamp),
    /// Weighted length of the own fields plus the shares of neighbours in the segment; [`DELETED`] for deleted
    /// documents.
    pub(super) lengths: Vec<f32>,
    pub(super) total_length: f64,
    /// Number of live documents.
    pub(super) count: usize,
    /// Set if a live document was superseded.
    pub(super) has_superseded: bool,
    /// Neighbours of each document in the segment, as the kernel takes them.
    pub(super) turn_runs: Vec<u8>,
    sessions: Vec<SessionSpan>,
}

/// Properties that every candidate is asked for, in one dense array: the records themselves lie too far apart in
/// memory.
#[derive(Clone, Copy)]
pub(super) struct DocFlags {
    pub(super) kind: Kind,
    pub(super) status: Status,
    pub(super) names_time: bool,
}

/// Range of the documents of one session in a segment.
#[derive(Clone, Copy)]
pub(super) struct SessionSpan {
    session: u32,
    pub(super) first: u32,
    pub(super) end: u32,
}

/// Shares that two neighbouring turns have in each other's words.
#[derive(Debug, Clone, Copy)]
pub(super) struct NeighbourShare {
    /// Share of the turn's words that counts for its neighbour.
    pub(super) to_neighbour: f32,
    /// Share of the neighbour's words that counts for the turn.
    pub(super) from_neighbour: f32,
}

impl DocStats {
    /// Returns the statistics cached with the records, or computes them if they are missing or stale.
    pub(super) fn for_docs(docs: &Docs, weights: &NeighbourWeights) -> Arc<Self> {
        docs.memo(|stats: &Self| stats.is_current(docs, weights), || Self::new(docs, weights))
    }

    /// Returns `true` if current statistics are cached.
    pub(super) fn is_memoized(docs: &Docs, weights: &NeighbourWeights) -> bool {
        docs.has_memo(|stats: &Self| stats.is_current(docs, weights))
    }

    fn is_current(&self, docs: &Docs, weights: &NeighbourWeights) -> bool {
        self.neighbour_weights == *weights && self.deleted == docs.deleted()
    }

    fn new(docs: &Docs, weights: &NeighbourWeights) -> Self {
        let addresses: Vec<_> = (0..docs.len()).map(|doc| docs.address(doc)).collect();
        let flags = |doc| DocFlags {
            kind: docs.kind(doc),
            status: docs.status(doc),
            names_time: docs.mentions_time(doc),
        };
        let mut stats = Self {
            neighbour_weights: weights.clone(),
            deleted: docs.deleted().to_vec(),
            sessions: session_spans(&addresses),
            lengths: vec![0.0; addresses.len()],
            count: 0,
            flags: (0..docs.len()).map(flags).collect(),
            time_range: docs.time_span(),
            addresses,
            total_length: 0.0,
            has_superseded: false,
            turn_runs: Vec::new(),
        };
        for deleted in docs.deleted() {
            if let Some(length) = stats.lengths.get_mut(*deleted as usize) {
                *length = DELETED;
            }
        }
        stats.compute_lengths(docs, weights);
        stats.turn_runs =
            (0..stats.addresses.len()).map(|index| stats.turn_run(index, weights)).collect();
        stats.has_superseded = (0..stats.addresses.len())
            .any(|index| stats.is_live(index) && stats.flags[index].status == Status::Superseded);
        stats
    }

    /// Returns the neighbours of a document in a byte, if they lie right before and after it without a gap.
    fn turn_run(&self, index: usize, weights: &NeighbourWeights) -> u8 {
        let (mut before, mut after, mut is_regular) = (0, 0, true);
        self.for_each_before(index, weights, |near, distance| {
            before += 1;
            is_regular &= distance == before && index - near == before;
        });
        self.for_each_after(index, weights, |near, distance| {
            after += 1;
            is_regular &= distance == after && near - index == after;
        });
        if is_regular { turn_run(before, after) } else { IRREGULAR_TURNS }
    }

    #[inline]
    pub(super) fn is_live(&self, index: usize) -> bool {
        self.lengths[index] != DELETED
    }

    /// Computes the length of every live document: its own fields by weight, and its neighbours' content by share.
    fn compute_lengths(&mut self, docs: &Docs, weights: &NeighbourWeights) {
        let mut lengths = self.lengths.clone();
        for index in (0..self.addresses.len()).filter(|index| self.is_live(*index)) {
            let own = docs.lengths(index).map(|length| length as f32);
            lengths[index] =
                own.iter().zip(weights.field_weights).map(|(own, weight)| own * weight).sum();
        }
        let content = |index: usize| docs.lengths(index)[IndexField::Content as usize] as f32;
        for index in (0..self.addresses.len()).filter(|index| self.is_live(*index)) {
            self.for_each_after(index, weights, |near, distance| {
                lengths[index] += weights.later[distance] * content(near);
                lengths[near] += weights.earlier[distance] * content(index);
            });
        }
        self.lengths = lengths;
        let live = || self.lengths.iter().filter(|length| **length != DELETED);
        (self.count, self.total_length) = (live().count(), live().map(|l| f64::from(*l)).sum());
    }

    /// Calls `each` with the turns before a turn, nearest first, and their distance in turns. Documents are sorted by
    /// address, so a neighbour at a distance is at most as many documents away.
    #[inline]
    pub(super) fn for_each_before(
        &self,
        index: usize,
        weights: &NeighbourWeights,
        mut each: impl FnMut(usize, usize),
    ) {
        for near in (index.saturating_sub(weights.span)..index).rev() {
            let Some(distance) = weights.distance(self.addresses[near], self.addresses[index])
            else {
                break;
            };
            if self.is_live(near) {
                each(near, distance);
            }
        }
    }

    /// Calls `each` with the turns after a turn, nearest first, and their distance in turns.
    #[inline]
    pub(super) fn for_each_after(
        &self,
        index: usize,
        weights: &NeighbourWeights,
        mut each: impl FnMut(usize, usize),
    ) {
        for near in index + 1..self.addresses.len().min(index + 1 + weights.span) {
            let Some(distance) = weights.distance(self.addresses[index], self.addresses[near])
            else {
                break;
            };
            if self.is_live(near) {
                each(near, distance);
            }
        }
    }
}

impl NeighbourWeights {
    pub(super) fn new(config: &RecallConfig) -> Self {
        let has_neighbours = config.neighbour > 0.0 || config.later_neighbour > 0.0;
        Self {
            field_weights: field_weights(config),
            earlier: share_by_distance(config.neighbour, config),
            later: share_by_distance(config.later_neighbour, config),
            span: if has_neighbours { config.neighbour_span } else { 0 },
        }
    }

    /// Returns the number of turns from the first to the second, if both are neighbours in one session.
    #[inline]
    fn distance(&self, first: DocAddress, second: DocAddress) -> Option<usize> {
        let distance = second.to_bits() - first.to_bits();
        let is_near = distance <= self.span as u64
            && first.session() != 0
            && first.session() == second.session();
        is_near.then_some(distance as usize)
    }

    /// Returns the shares of a turn and a neighbour that comes `distance` turns later.
    pub(super) fn share_at(&self, distance: i64) -> NeighbourShare {
        let apart = distance.unsigned_abs() as usize;
        let (earlier, later) = (self.earlier[apart], self.later[apart]);
        if distance > 0 {
            NeighbourShare { to_neighbour: earlier, from_neighbour: later }
        } else {
            NeighbourShare { to_neighbour: later, from_neighbour: earlier }
        }
    }
}

/// Returns the sessions of a segment in order. Memories outside a session have no neighbours and no span.
fn session_spans(addresses: &[DocAddress]) -> Vec<SessionSpan> {
    let mut first = 0;
    let span = |same: &[DocAddress]| {
        let span =
            SessionSpan { session: same[0].session(), first, end: first + same.len() as u32 };
        first = span.end;
        span
    };
    let all = addresses.chunk_by(|a, b| a.session() == b.session()).map(span);
    all.filter(|span| span.session != 0).collect()
}

/// Returns the sessions that two segments share. The sessions of the segment with fewer of them are looked up in the
/// other, within its range.
pub(super) fn shared_sessions(one: &DocStats, other: &DocStats) -> Vec<(SessionSpan, SessionSpan)> {
    if one.sessions.len() > other.sessions.len() {
        return shared_sessions(other, one).into_iter().map(|(b, a)| (a, b)).collect();
    }
    let (few, many) = (&one.sessions, &other.sessions);
    let (Some(first), Some(last)) = (many.first(), many.last()) else { return Vec::new() };
    let from = few.partition_point(|span| span.session < first.session);
    let end = few.partition_point(|span| span.session <= last.session);
    let same = |span: &SessionSpan| {
        let index = many.binary_search_by_key(&span.session, |other| other.session).ok()?;
        Some((*span, many[index]))
    };
    few[from..end].iter().filter_map(same).collect()
}

fn field_weights(config: &RecallConfig) -> [f32; FIELD_COUNT] {
    let mut weights = [0.0; FIELD_COUNT];
    weights[IndexField::Content as usize] = config.content as f32;
    weights[IndexField::Name as usize] = config.name as f32;
    weights[IndexField::Description as usize] = config.description as f32;
    weights[IndexField::Tags as usize] = config.tags as f32;
    weights[IndexField::Speaker as usize] = config.speaker as f32;
    weights
}

/// Returns the share of a neighbour's words at each distance, falling with the distance; 0 at distance 0.
fn share_by_distance(share: f64, config: &RecallConfig) -> Vec<f32> {
    let at = |distance| if distance == 0 { 0.0 } else { (share / distance as f64) as f32 };
    (0..=config.neighbour_span).map(at).collect()
}
