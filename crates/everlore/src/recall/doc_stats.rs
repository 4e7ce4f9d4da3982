//! What the records of one segment say of its documents: their neighbours and lengths, worked out once.

use std::sync::Arc;

use crate::{
    config::RecallConfig,
    store::{DocAddress, Docs, FIELD_COUNT, IndexField},
    types::{Kind, Status, Timestamp},
};

/// The length of documents that the scope no longer has.
const DELETED: f32 = -1.0;

/// How fields count, and what a word of an earlier and of a later turn is worth, by distance.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NeighbourWeights {
    pub(super) field_weights: [f32; FIELD_COUNT],
    pub(super) earlier: Vec<f32>,
    pub(super) later: Vec<f32>,
    pub(super) span: usize,
}

/// What a segment's records say, worked out once and kept with them.
pub(super) struct DocStats {
    neighbour_weights: NeighbourWeights,
    deleted: Vec<u32>,
    pub(super) addresses: Vec<DocAddress>,
    pub(super) flags: Vec<DocFlags>,
    /// When the first and the last of them were said.
    pub(super) time_range: (Timestamp, Timestamp),
    /// Own fields by weight and the content of neighbours in the segment by share; [`GONE`] for those gone.
    pub(super) lengths: Vec<f32>,
    pub(super) total_length: f64,
    pub(super) count: usize,
    sessions: Vec<SessionSpan>,
}

/// What every candidate is asked for, side by side: the records themselves lie too far apart to be asked one by one.
#[derive(Clone, Copy)]
pub(super) struct DocFlags {
    pub(super) kind: Kind,
    pub(super) status: Status,
    pub(super) names_time: bool,
}

/// The documents of one session in a segment.
#[derive(Clone, Copy)]
pub(super) struct SessionSpan {
    session: u32,
    pub(super) first: u32,
    pub(super) end: u32,
}

/// What two neighbouring turns have of each other's words.
#[derive(Debug, Clone, Copy)]
pub(super) struct NeighbourShare {
    /// What a word of the turn is worth in its neighbour.
    pub(super) to_neighbour: f32,
    /// What a word of the neighbour is worth in the turn.
    pub(super) from_neighbour: f32,
}

impl DocStats {
    /// What is kept with the records, if it still holds; made anew otherwise.
    pub(super) fn for_docs(docs: &Docs, reach: &NeighbourWeights) -> Arc<Self> {
        docs.memo(|run: &Self| run.is_current(docs, reach), || Self::new(docs, reach))
    }

    /// Whether it was worked out before.
    pub(super) fn is_memoized(docs: &Docs, reach: &NeighbourWeights) -> bool {
        docs.has_memo(|run: &Self| run.is_current(docs, reach))
    }

    fn is_current(&self, docs: &Docs, reach: &NeighbourWeights) -> bool {
        self.neighbour_weights == *reach && self.deleted == docs.deleted()
    }

    fn new(docs: &Docs, reach: &NeighbourWeights) -> Self {
        let places: Vec<_> = (0..docs.len()).map(|doc| docs.address(doc)).collect();
        let mark = |doc| DocFlags {
            kind: docs.kind(doc),
            status: docs.status(doc),
            names_time: docs.mentions_time(doc),
        };
        let mut run = Self {
            neighbour_weights: reach.clone(),
            deleted: docs.deleted().to_vec(),
            sessions: session_spans(&places),
            lengths: vec![0.0; places.len()],
            count: 0,
            flags: (0..docs.len()).map(mark).collect(),
            time_range: docs.time_span(),
            addresses: places,
            total_length: 0.0,
        };
        for gone in docs.deleted() {
            if let Some(length) = run.lengths.get_mut(*gone as usize) {
                *length = DELETED;
            }
        }
        run.compute_lengths(docs, reach);
        run
    }

    #[inline]
    pub(super) fn is_live(&self, index: usize) -> bool {
        self.lengths[index] != DELETED
    }

    /// Measures every document: its own fields by weight, and its neighbours' content by share.
    fn compute_lengths(&mut self, docs: &Docs, reach: &NeighbourWeights) {
        let mut lengths = self.lengths.clone();
        for index in (0..self.addresses.len()).filter(|index| self.is_live(*index)) {
            let own = docs.lengths(index).map(|length| length as f32);
            lengths[index] =
                own.iter().zip(reach.field_weights).map(|(own, weight)| own * weight).sum();
        }
        let content = |index: usize| docs.lengths(index)[IndexField::Content as usize] as f32;
        for index in (0..self.addresses.len()).filter(|index| self.is_live(*index)) {
            self.for_each_after(index, reach, |near, distance| {
                lengths[index] += reach.later[distance] * content(near);
                lengths[near] += reach.earlier[distance] * content(index);
            });
        }
        self.lengths = lengths;
        let living = || self.lengths.iter().filter(|length| **length != DELETED);
        (self.count, self.total_length) = (living().count(), living().map(|l| f64::from(*l)).sum());
    }

    /// The turns before a turn, nearest first, with how many turns earlier they were said. In the order of places, a
    /// neighbour at a distance is at most as many documents away.
    #[inline]
    pub(super) fn for_each_before(
        &self,
        index: usize,
        reach: &NeighbourWeights,
        mut each: impl FnMut(usize, usize),
    ) {
        for near in (index.saturating_sub(reach.span)..index).rev() {
            let Some(distance) = reach.distance(self.addresses[near], self.addresses[index]) else {
                break;
            };
            if self.is_live(near) {
                each(near, distance);
            }
        }
    }

    /// The turns after it, in the same way.
    #[inline]
    pub(super) fn for_each_after(
        &self,
        index: usize,
        reach: &NeighbourWeights,
        mut each: impl FnMut(usize, usize),
    ) {
        for near in index + 1..self.addresses.len().min(index + 1 + reach.span) {
            let Some(distance) = reach.distance(self.addresses[index], self.addresses[near]) else {
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
        let reaches = config.neighbour > 0.0 || config.later_neighbour > 0.0;
        Self {
            field_weights: field_weights(config),
            earlier: worth_by_distance(config.neighbour, config),
            later: worth_by_distance(config.later_neighbour, config),
            span: if reaches { config.neighbour_span } else { 0 },
        }
    }

    /// How many turns later the second was said in the session of the first, if it is within reach.
    #[inline]
    fn distance(&self, first: DocAddress, second: DocAddress) -> Option<usize> {
        let distance = second.to_bits() - first.to_bits();
        let is_near = distance <= self.span as u64
            && first.session() != 0
            && first.session() == second.session();
        is_near.then_some(distance as usize)
    }

    /// What a turn and one that was said so many turns later share.
    pub(super) fn share_at(&self, distance: i64) -> NeighbourShare {
        let apart = distance.unsigned_abs() as usize;
        let (earlier, later) = (self.earlier[apart], self.later[apart]);
        match distance > 0 {
            true => NeighbourShare { to_neighbour: earlier, from_neighbour: later },
            false => NeighbourShare { to_neighbour: later, from_neighbour: earlier },
        }
    }
}

/// The sessions of a run, in order; memories outside a session neighbour nothing.
fn session_spans(places: &[DocAddress]) -> Vec<SessionSpan> {
    let mut first = 0;
    let stretch = |same: &[DocAddress]| {
        let stretch =
            SessionSpan { session: same[0].session(), first, end: first + same.len() as u32 };
        first = stretch.end;
        stretch
    };
    let all = places.chunk_by(|a, b| a.session() == b.session()).map(stretch);
    all.filter(|stretch| stretch.session != 0).collect()
}

/// The sessions that two runs share: those of the run that has fewer between the ends of the other are looked up.
pub(super) fn shared_sessions(one: &DocStats, other: &DocStats) -> Vec<(SessionSpan, SessionSpan)> {
    if one.sessions.len() > other.sessions.len() {
        return shared_sessions(other, one).into_iter().map(|(b, a)| (a, b)).collect();
    }
    let (few, many) = (&one.sessions, &other.sessions);
    let (Some(first), Some(last)) = (many.first(), many.last()) else { return Vec::new() };
    let from = few.partition_point(|stretch| stretch.session < first.session);
    let end = few.partition_point(|stretch| stretch.session <= last.session);
    let same = |stretch: &SessionSpan| {
        let found = many.binary_search_by_key(&stretch.session, |other| other.session).ok()?;
        Some((*stretch, many[found]))
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

/// What a word is worth at each distance; the turn itself has none.
fn worth_by_distance(worth: f64, config: &RecallConfig) -> Vec<f32> {
    let share = |distance| if distance == 0 { 0.0 } else { (worth / distance as f64) as f32 };
    (0..=config.neighbour_span).map(share).collect()
}
