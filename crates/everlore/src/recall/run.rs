//! What the records of one segment say of its documents: their neighbours and lengths, worked out once.

use std::sync::Arc;

use crate::{
    config::RecallConfig,
    store::{Docs, FIELDS, Field, Place},
    types::{Kind, Status, Timestamp},
};

/// The length of documents that the scope no longer has.
const GONE: f32 = -1.0;

/// How fields count, and what a word of an earlier and of a later turn is worth, by distance.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reach {
    pub(super) weights: [f32; FIELDS],
    pub(super) earlier: Vec<f32>,
    pub(super) later: Vec<f32>,
    pub(super) span: usize,
}

/// What a segment's records say, worked out once and kept with them.
pub(super) struct Run {
    reach: Reach,
    gone: Vec<u32>,
    pub(super) places: Vec<Place>,
    pub(super) marks: Vec<Mark>,
    /// When the first and the last of them were said.
    pub(super) between: (Timestamp, Timestamp),
    /// Own fields by weight and the content of neighbours in the segment by share; [`GONE`] for those gone.
    pub(super) lengths: Vec<f32>,
    pub(super) total: f64,
    pub(super) count: usize,
    sessions: Vec<Stretch>,
}

/// What every candidate is asked for, side by side: the records themselves lie too far apart to be asked one by one.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    pub(super) kind: Kind,
    pub(super) status: Status,
    pub(super) names_time: bool,
}

/// The documents of one session in a segment.
#[derive(Clone, Copy)]
pub(super) struct Stretch {
    session: u32,
    pub(super) first: u32,
    pub(super) end: u32,
}

/// What two neighbouring turns have of each other's words.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share {
    /// What a word of the turn is worth in its neighbour.
    pub(super) given: f32,
    /// What a word of the neighbour is worth in the turn.
    pub(super) taken: f32,
}

impl Run {
    /// What is kept with the records, if it still holds; made anew otherwise.
    pub(super) fn of(docs: &Docs, reach: &Reach) -> Arc<Self> {
        docs.derived(|run: &Self| run.holds(docs, reach), || Self::new(docs, reach))
    }

    /// Whether it was worked out before.
    pub(super) fn is_known(docs: &Docs, reach: &Reach) -> bool {
        docs.has_derived(|run: &Self| run.holds(docs, reach))
    }

    fn holds(&self, docs: &Docs, reach: &Reach) -> bool {
        self.reach == *reach && self.gone == docs.gone()
    }

    fn new(docs: &Docs, reach: &Reach) -> Self {
        let places: Vec<_> = (0..docs.len()).map(|doc| docs.place(doc)).collect();
        let mark = |doc| Mark {
            kind: docs.kind(doc),
            status: docs.status(doc),
            names_time: docs.names_time(doc),
        };
        let mut run = Self {
            reach: reach.clone(),
            gone: docs.gone().to_vec(),
            sessions: stretches(&places),
            lengths: vec![0.0; places.len()],
            count: 0,
            marks: (0..docs.len()).map(mark).collect(),
            between: docs.between(),
            places,
            total: 0.0,
        };
        for gone in docs.gone() {
            if let Some(length) = run.lengths.get_mut(*gone as usize) {
                *length = GONE;
            }
        }
        run.measure(docs, reach);
        run
    }

    #[inline]
    pub(super) fn is_living(&self, index: usize) -> bool {
        self.lengths[index] != GONE
    }

    /// Measures every document: its own fields by weight, and its neighbours' content by share.
    fn measure(&mut self, docs: &Docs, reach: &Reach) {
        let mut lengths = self.lengths.clone();
        for index in (0..self.places.len()).filter(|index| self.is_living(*index)) {
            let own = docs.lengths(index).map(|length| length as f32);
            lengths[index] = own.iter().zip(reach.weights).map(|(own, weight)| own * weight).sum();
        }
        let content = |index: usize| docs.lengths(index)[Field::Content as usize] as f32;
        for index in (0..self.places.len()).filter(|index| self.is_living(*index)) {
            self.for_each_after(index, reach, |near, distance| {
                lengths[index] += reach.later[distance] * content(near);
                lengths[near] += reach.earlier[distance] * content(index);
            });
        }
        self.lengths = lengths;
        let living = || self.lengths.iter().filter(|length| **length != GONE);
        (self.count, self.total) = (living().count(), living().map(|l| f64::from(*l)).sum());
    }

    /// The turns before a turn, nearest first, with how many turns earlier they were said. In the order of places, a
    /// neighbour at a distance is at most as many documents away.
    #[inline]
    pub(super) fn for_each_before(
        &self,
        index: usize,
        reach: &Reach,
        mut each: impl FnMut(usize, usize),
    ) {
        for near in (index.saturating_sub(reach.span)..index).rev() {
            let Some(distance) = reach.distance(self.places[near], self.places[index]) else {
                break;
            };
            if self.is_living(near) {
                each(near, distance);
            }
        }
    }

    /// The turns after it, in the same way.
    #[inline]
    pub(super) fn for_each_after(
        &self,
        index: usize,
        reach: &Reach,
        mut each: impl FnMut(usize, usize),
    ) {
        for near in index + 1..self.places.len().min(index + 1 + reach.span) {
            let Some(distance) = reach.distance(self.places[index], self.places[near]) else {
                break;
            };
            if self.is_living(near) {
                each(near, distance);
            }
        }
    }
}

impl Reach {
    pub(super) fn new(config: &RecallConfig) -> Self {
        let reaches = config.neighbour > 0.0 || config.later_neighbour > 0.0;
        Self {
            weights: field_weights(config),
            earlier: by_distance(config.neighbour, config),
            later: by_distance(config.later_neighbour, config),
            span: if reaches { config.neighbour_span } else { 0 },
        }
    }

    /// How many turns later the second was said in the session of the first, if it is within reach.
    #[inline]
    fn distance(&self, first: Place, second: Place) -> Option<usize> {
        let distance = second.to_bits() - first.to_bits();
        let is_near = distance <= self.span as u64
            && first.session() != 0
            && first.session() == second.session();
        is_near.then_some(distance as usize)
    }

    /// What a turn and one that was said so many turns later share.
    pub(super) fn share(&self, distance: i64) -> Share {
        let apart = distance.unsigned_abs() as usize;
        let (earlier, later) = (self.earlier[apart], self.later[apart]);
        match distance > 0 {
            true => Share { given: earlier, taken: later },
            false => Share { given: later, taken: earlier },
        }
    }
}

/// The sessions of a run, in order; memories outside a session neighbour nothing.
fn stretches(places: &[Place]) -> Vec<Stretch> {
    let mut first = 0;
    let stretch = |same: &[Place]| {
        let stretch = Stretch { session: same[0].session(), first, end: first + same.len() as u32 };
        first = stretch.end;
        stretch
    };
    let all = places.chunk_by(|a, b| a.session() == b.session()).map(stretch);
    all.filter(|stretch| stretch.session != 0).collect()
}

/// The sessions that two runs share: those of the run that has fewer between the ends of the other are looked up.
pub(super) fn common(one: &Run, other: &Run) -> Vec<(Stretch, Stretch)> {
    if one.sessions.len() > other.sessions.len() {
        return common(other, one).into_iter().map(|(b, a)| (a, b)).collect();
    }
    let (few, many) = (&one.sessions, &other.sessions);
    let (Some(first), Some(last)) = (many.first(), many.last()) else { return Vec::new() };
    let from = few.partition_point(|stretch| stretch.session < first.session);
    let end = few.partition_point(|stretch| stretch.session <= last.session);
    let same = |stretch: &Stretch| {
        let found = many.binary_search_by_key(&stretch.session, |other| other.session).ok()?;
        Some((*stretch, many[found]))
    };
    few[from..end].iter().filter_map(same).collect()
}

fn field_weights(config: &RecallConfig) -> [f32; FIELDS] {
    let mut weights = [0.0; FIELDS];
    weights[Field::Content as usize] = config.content as f32;
    weights[Field::Name as usize] = config.name as f32;
    weights[Field::Description as usize] = config.description as f32;
    weights[Field::Tags as usize] = config.tags as f32;
    weights[Field::Speaker as usize] = config.speaker as f32;
    weights
}

/// What a word is worth at each distance; the turn itself has none.
fn by_distance(worth: f64, config: &RecallConfig) -> Vec<f32> {
    let share = |distance| if distance == 0 { 0.0 } else { (worth / distance as f64) as f32 };
    (0..=config.neighbour_span).map(share).collect()
}
