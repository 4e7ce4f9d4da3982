//! The living documents of one scope: where they are, who neighbours whom, and how long they are.

use std::{collections::HashMap, sync::Arc};

use super::{
    run::{Mark, Reach, Run, Share, Stretch, common},
    share::share,
};
use crate::{
    config::RecallConfig,
    store::{Docs, Field, Place, Posting, Segment},
    types::Timestamp,
};

/// A document: its segment and its number there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Doc {
    segment: u32,
    index: u32,
}

/// The living documents of a scope, segment by segment, with their lengths.
pub(super) struct Corpus<'a> {
    segments: &'a [Segment],
    runs: Vec<Arc<Run>>,
    /// The number of each segment's first document among those of all segments.
    firsts: Vec<usize>,
    /// How many numbers there are, those of documents that are gone included.
    slots: usize,
    count: usize,
    average_length: f32,
    reach: Reach,
    /// The constants k1 and b of BM25.
    saturation: (f32, f32),
    /// Documents whose session goes on in another segment, with what they have from there.
    crossing: HashMap<Doc, Crossing>,
    /// Whether a document is among them, by number.
    crosses: Vec<bool>,
}

/// The neighbours of a document in other segments.
#[derive(Default)]
struct Crossing {
    /// With how many turns later each was said.
    near: Vec<(Doc, i64)>,
    length: f32,
}

impl<'a> Corpus<'a> {
    pub(super) fn new(segments: &'a [Segment], config: &RecallConfig) -> Self {
        let reach = Reach::new(config);
        let runs = runs(segments, &reach);
        let mut slots = 0;
        let firsts = runs.iter().map(|run| {
            slots += run.places.len();
            slots - run.places.len()
        });
        let firsts = firsts.collect();
        let count = runs.iter().map(|run| run.count).sum();
        let mut corpus = Self {
            segments,
            runs,
            firsts,
            slots,
            count,
            average_length: 0.0,
            reach,
            saturation: (config.k1 as f32, config.b as f32),
            crossing: HashMap::new(),
            crosses: vec![false; slots],
        };
        corpus.cross();
        corpus.measure();
        corpus
    }

    /// How many documents there are.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// How many numbers documents have; some are of documents that are gone.
    pub(super) fn slots(&self) -> usize {
        self.slots
    }

    /// The number of a document among those of all segments.
    #[inline]
    pub(super) fn number(&self, doc: Doc) -> usize {
        self.firsts[doc.segment as usize] + doc.index as usize
    }

    /// Where a document stands.
    #[inline]
    pub(super) fn place(&self, doc: Doc) -> Place {
        self.runs[doc.segment as usize].places[doc.index as usize]
    }

    /// The document of a segment.
    #[inline]
    pub(super) fn doc(&self, segment: usize, index: usize) -> Doc {
        Doc { segment: segment as u32, index: index as u32 }
    }

    /// Whether the scope still has it.
    #[inline]
    pub(super) fn is_living(&self, doc: Doc) -> bool {
        self.runs[doc.segment as usize].is_living(doc.index as usize)
    }

    /// The document at a place.
    pub(super) fn find(&self, place: Place) -> Option<Doc> {
        let at = |(segment, run): (usize, &Arc<Run>)| {
            let index = run.places.binary_search(&place).ok()?;
            run.is_living(index).then_some(Doc { segment: segment as u32, index: index as u32 })
        };
        self.runs.iter().enumerate().find_map(at)
    }

    /// The number of the last session that has a document.
    pub(super) fn last_session(&self) -> u32 {
        let lasts = self.runs.iter().filter_map(|run| run.places.last());
        lasts.map(|place| place.session()).max().unwrap_or(0)
    }

    /// What sort of statement a document is, and whether it takes part.
    #[inline]
    pub(super) fn mark(&self, doc: Doc) -> Mark {
        self.runs[doc.segment as usize].marks[doc.index as usize]
    }

    /// When the first and the last document of each segment were said.
    pub(super) fn between(&self) -> impl Iterator<Item = (Timestamp, Timestamp)> {
        self.runs.iter().map(|run| run.between)
    }

    /// The segment of a document.
    #[inline]
    pub(super) fn segment(&self, doc: Doc) -> usize {
        doc.segment as usize
    }

    /// When it was said.
    pub(super) fn at(&self, doc: Doc) -> Timestamp {
        let (docs, index) = self.record(doc);
        docs.at(index)
    }

    /// The records among which a document's is, and which it is.
    #[inline]
    fn record(&self, doc: Doc) -> (&'a Docs, usize) {
        (&self.segments[doc.segment as usize].docs, doc.index as usize)
    }

    /// Every document, segment by segment.
    pub(super) fn docs(&self) -> impl Iterator<Item = Doc> + Clone {
        self.runs.iter().enumerate().flat_map(|(number, run)| {
            let living = (0..run.places.len()).filter(|index| run.is_living(*index));
            living.map(move |index| Doc { segment: number as u32, index: index as u32 })
        })
    }

    /// Every segment with how many numbers its documents have, in the order of numbers.
    pub(super) fn segments(&self) -> impl Iterator<Item = (&'a Segment, usize)> {
        self.segments.iter().zip(self.runs.iter().map(|run| run.places.len()))
    }

    /// The documents of a list with their postings.
    pub(super) fn listed(&self, list: usize) -> impl Iterator<Item = (Doc, &'a Posting)> {
        self.segments.iter().enumerate().flat_map(move |(segment, Segment { postings, .. })| {
            let doc = move |posting: &Posting| Doc { segment: segment as u32, index: posting.doc };
            postings[list].iter().map(move |posting| (doc(posting), posting))
        })
    }

    /// That a document is in a list.
    pub(super) fn posting(&self, doc: Doc, list: usize) -> Option<&'a Posting> {
        let list = &self.segments[doc.segment as usize].postings[list];
        let index = list.binary_search_by_key(&doc.index, |posting| posting.doc).ok()?;
        Some(&list[index])
    }

    /// The length of a document in average ones.
    #[inline]
    pub(super) fn length(&self, doc: Doc) -> f32 {
        let own = self.runs[doc.segment as usize].lengths[doc.index as usize];
        let length =
            if self.crosses[self.number(doc)] { own + self.crossing[&doc].length } else { own };
        if self.average_length > 0.0 { length / self.average_length } else { 1.0 }
    }

    /// The constants k1 and b of BM25.
    #[inline]
    pub(super) fn saturation(&self) -> (f32, f32) {
        self.saturation
    }

    /// How often a document has a term by itself, by the weights of its fields.
    #[inline]
    pub(super) fn own(&self, posting: &Posting) -> f32 {
        let weighed = posting.counts.iter().zip(self.reach.weights);
        weighed.map(|(&count, weight)| f32::from(count) * weight).sum()
    }

    /// The turns around a turn, with their shares.
    pub(super) fn neighbours(&self, doc: Doc) -> Vec<(Doc, f32)> {
        let mut around = Vec::new();
        self.for_each_neighbour(doc, |neighbour, share| around.push((neighbour, share.taken)));
        around
    }

    /// Calls `each` with the turns around a turn and what the two share.
    #[inline]
    pub(super) fn for_each_neighbour(&self, doc: Doc, mut each: impl FnMut(Doc, Share)) {
        let Reach { earlier, later, .. } = &self.reach;
        let run = &self.runs[doc.segment as usize];
        run.for_each_before(doc.index as usize, &self.reach, |index, distance| {
            let near = Doc { index: index as u32, ..doc };
            each(near, Share { given: later[distance], taken: earlier[distance] });
        });
        run.for_each_after(doc.index as usize, &self.reach, |index, distance| {
            let near = Doc { index: index as u32, ..doc };
            each(near, Share { given: earlier[distance], taken: later[distance] });
        });
        if self.crosses[self.number(doc)] {
            for (near, distance) in &self.crossing[&doc].near {
                each(*near, self.reach.share(*distance));
            }
        }
    }

    /// Finds the sessions that go on in another segment, which few do: segments are runs of time.
    fn cross(&mut self) {
        for first in 0..self.runs.len() {
            for second in first + 1..self.runs.len() {
                for (a, b) in common(&self.runs[first], &self.runs[second]) {
                    self.cross_session((first, a), (second, b));
                }
            }
        }
    }

    /// Joins what one session has in two segments.
    fn cross_session(&mut self, (one, a): (usize, Stretch), (other, b): (usize, Stretch)) {
        let (left, right) = (self.runs[one].clone(), self.runs[other].clone());
        let span = self.reach.span as u64;
        let mut from = b.first;
        for index in (a.first..a.end).filter(|index| left.is_living(*index as usize)) {
            let place = left.places[index as usize].to_bits();
            while from < b.end && right.places[from as usize].to_bits() + span < place {
                from += 1;
            }
            let within = |near: &u32| right.places[*near as usize].to_bits() <= place + span;
            for near in (from..b.end).take_while(within) {
                let distance = right.places[near as usize].to_bits() as i64 - place as i64;
                if distance == 0 || !right.is_living(near as usize) {
                    continue;
                }
                let doc = Doc { segment: one as u32, index };
                let near = Doc { segment: other as u32, index: near };
                self.join(doc, near, distance);
                self.join(near, doc, -distance);
            }
        }
    }

    fn join(&mut self, doc: Doc, near: Doc, distance: i64) {
        let number = self.number(doc);
        self.crosses[number] = true;
        let (docs, index) = self.record(near);
        let content = docs.lengths(index)[Field::Content as usize] as f32;
        let crossing = self.crossing.entry(doc).or_default();
        crossing.length += self.reach.share(distance).taken * content;
        crossing.near.push((near, distance));
    }

    fn measure(&mut self) {
        let crossing: f64 = self.crossing.values().map(|crossing| f64::from(crossing.length)).sum();
        let total = self.runs.iter().map(|run| run.total).sum::<f64>() + crossing;
        self.average_length = (total / self.count.max(1) as f64) as f32;
    }
}

/// What the records of each segment say.
fn runs(segments: &[Segment], reach: &Reach) -> Vec<Arc<Run>> {
    let of = |segment: &Segment| Run::of(&segment.docs, reach);
    let fresh: Vec<_> =
        segments.iter().filter(|segment| !Run::is_known(&segment.docs, reach)).collect();
    let docs = fresh.iter().map(|segment| segment.docs.len()).sum();
    share(docs, fresh, |segment| drop(of(segment)));
    segments.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        store::Record,
        types::{Kind, Status},
    };

    fn segment(places: &[(u32, u32)], gone: &[(u32, u32)]) -> Segment {
        let mut packed = Vec::new();
        for (session, position) in places {
            let record = Record {
                place: Place::new(*session, *position),
                at: Timestamp::UNIX_EPOCH,
                lengths: [session * 7 + position, 2, 0, 1, 1],
                kind: Kind::Turn,
                status: Status::Active,
                names_time: false,
            };
            record.pack(&mut packed);
        }
        let mut docs = Docs::from_packed(packed);
        for place in gone {
            docs.mark_gone(places.iter().position(|other| other == place).unwrap());
        }
        Segment { docs, ..Segment::default() }
    }

    /// A document: its place, its neighbours with what they share, its length.
    type Told = (Place, Vec<(Place, f32, f32)>, f32);

    /// All documents, by place.
    fn told(segments: &[Segment]) -> Vec<Told> {
        let corpus = Corpus::new(segments, &RecallConfig::default());
        let mut told: Vec<_> = corpus
            .docs()
            .map(|doc| {
                let mut near = Vec::new();
                corpus.for_each_neighbour(doc, |other, share| {
                    near.push((corpus.place(other), share.given, share.taken));
                });
                near.sort_by_key(|(place, ..)| *place);
                assert_eq!(corpus.find(corpus.place(doc)), Some(doc));
                (corpus.place(doc), near, corpus.length(doc))
            })
            .collect();
        told.sort_by_key(|(place, ..)| *place);
        told
    }

    proptest! {
        /// Each place is in one of three segments, or gone from a fourth.
        #[test]
        fn it_does_not_matter_which_segment_has_a_turn(
            homes in prop::collection::btree_map((0u32..4, 0u32..12), 0usize..4, 1..40)
        ) {
            let of = |home: usize| {
                let here = homes.iter().filter(|(_, at)| **at == home);
                here.map(|(place, _)| *place).collect::<Vec<_>>()
            };
            let apart = [
                segment(&of(0), &[]),
                segment(&of(1), &[]),
                segment(&of(2), &[]),
                segment(&of(3), &of(3)),
            ];
            let living: Vec<_> =
                homes.iter().filter(|(_, at)| **at < 3).map(|(place, _)| *place).collect();
            let (apart, together) = (told(&apart), told(&[segment(&living, &[])]));
            prop_assert_eq!(apart.len(), together.len());
            for (a, b) in apart.iter().zip(&together) {
                prop_assert_eq!((a.0, &a.1), (b.0, &b.1));
                prop_assert!((a.2 - b.2).abs() < 1e-4, "{} {}", a.2, b.2);
            }
        }
    }

    #[test]
    fn what_was_worked_out_is_made_anew_when_a_turn_is_gone() {
        let mut kept = segment(&[(1, 0), (1, 1), (1, 2)], &[]);
        assert_eq!(told(std::slice::from_ref(&kept)).len(), 3);
        kept.docs.mark_gone(1);
        let told = told(&[kept]);
        assert_eq!(told.len(), 2);
        assert!(
            told.iter().all(|(_, near, _)| near.iter().all(|(place, ..)| place.position() != 1))
        );
    }
}
