//! The living documents of one scope: where they are, who neighbours whom, and how long they are.

use std::{collections::HashMap, sync::Arc};

use super::{
    doc_stats::{
        DocFlags, DocStats, NeighbourShare, NeighbourWeights, SessionSpan, shared_sessions,
    },
    parallel::for_each,
};
use crate::{
    config::RecallConfig,
    store::{DocAddress, Docs, IndexField, Posting, Segment},
    types::Timestamp,
};

/// A document: its segment and its number there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct DocRef {
    segment: u32,
    index: u32,
}

/// The living documents of a scope, segment by segment, with their lengths.
pub(super) struct Corpus<'a> {
    segments: &'a [Segment],
    stats: Vec<Arc<DocStats>>,
    /// The number of each segment's first document among those of all segments.
    first_ordinals: Vec<usize>,
    /// How many numbers there are, those of documents that are gone included.
    max_doc: usize,
    num_docs: usize,
    average_length: f32,
    neighbour_weights: NeighbourWeights,
    /// The constants k1 and b of BM25.
    bm25_params: (f32, f32),
    /// Documents whose session goes on in another segment, with what they have from there.
    cross_segment: HashMap<DocRef, CrossSegmentNeighbours>,
    /// Whether a document is among them, by number.
    has_cross_segment: Vec<bool>,
}

/// The neighbours of a document in other segments.
#[derive(Default)]
struct CrossSegmentNeighbours {
    /// With how many turns later each was said.
    neighbours: Vec<(DocRef, i64)>,
    length: f32,
}

impl<'a> Corpus<'a> {
    pub(super) fn new(segments: &'a [Segment], config: &RecallConfig) -> Self {
        let reach = NeighbourWeights::new(config);
        let runs = segment_stats(segments, &reach);
        let mut slots = 0;
        let firsts = runs.iter().map(|run| {
            slots += run.addresses.len();
            slots - run.addresses.len()
        });
        let firsts = firsts.collect();
        let count = runs.iter().map(|run| run.count).sum();
        let mut corpus = Self {
            segments,
            stats: runs,
            first_ordinals: firsts,
            max_doc: slots,
            num_docs: count,
            average_length: 0.0,
            neighbour_weights: reach,
            bm25_params: (config.k1 as f32, config.b as f32),
            cross_segment: HashMap::new(),
            has_cross_segment: vec![false; slots],
        };
        corpus.link_segments();
        corpus.compute_average_length();
        corpus
    }

    /// How many documents there are.
    pub(super) fn num_docs(&self) -> usize {
        self.num_docs
    }

    /// How many numbers documents have; some are of documents that are gone.
    pub(super) fn max_doc(&self) -> usize {
        self.max_doc
    }

    /// The number of a document among those of all segments.
    #[inline]
    pub(super) fn ordinal(&self, doc: DocRef) -> usize {
        self.first_ordinals[doc.segment as usize] + doc.index as usize
    }

    /// Where a document stands.
    #[inline]
    pub(super) fn address(&self, doc: DocRef) -> DocAddress {
        self.stats[doc.segment as usize].addresses[doc.index as usize]
    }

    /// The document of a segment.
    #[inline]
    pub(super) fn doc(&self, segment: usize, index: usize) -> DocRef {
        DocRef { segment: segment as u32, index: index as u32 }
    }

    /// Whether the scope still has it.
    #[inline]
    pub(super) fn is_live(&self, doc: DocRef) -> bool {
        self.stats[doc.segment as usize].is_live(doc.index as usize)
    }

    /// The document at a place.
    pub(super) fn find(&self, place: DocAddress) -> Option<DocRef> {
        let at = |(segment, run): (usize, &Arc<DocStats>)| {
            let index = run.addresses.binary_search(&place).ok()?;
            run.is_live(index).then_some(DocRef { segment: segment as u32, index: index as u32 })
        };
        self.stats.iter().enumerate().find_map(at)
    }

    /// The number of the last session that has a document.
    pub(super) fn last_session(&self) -> u32 {
        let lasts = self.stats.iter().filter_map(|run| run.addresses.last());
        lasts.map(|place| place.session()).max().unwrap_or(0)
    }

    /// What sort of statement a document is, and whether it takes part.
    #[inline]
    pub(super) fn flags(&self, doc: DocRef) -> DocFlags {
        self.stats[doc.segment as usize].flags[doc.index as usize]
    }

    /// When the first and the last document of each segment were said.
    pub(super) fn time_ranges(&self) -> impl Iterator<Item = (Timestamp, Timestamp)> {
        self.stats.iter().map(|run| run.time_range)
    }

    /// The segment of a document.
    #[inline]
    pub(super) fn segment(&self, doc: DocRef) -> usize {
        doc.segment as usize
    }

    /// When it was said.
    pub(super) fn at(&self, doc: DocRef) -> Timestamp {
        let (docs, index) = self.record(doc);
        docs.at(index)
    }

    /// The records among which a document's is, and which it is.
    #[inline]
    fn record(&self, doc: DocRef) -> (&'a Docs, usize) {
        (&self.segments[doc.segment as usize].docs, doc.index as usize)
    }

    /// Every document, segment by segment.
    pub(super) fn docs(&self) -> impl Iterator<Item = DocRef> + Clone {
        self.stats.iter().enumerate().flat_map(|(number, run)| {
            let living = (0..run.addresses.len()).filter(|index| run.is_live(*index));
            living.map(move |index| DocRef { segment: number as u32, index: index as u32 })
        })
    }

    /// Every segment with how many numbers its documents have, in the order of numbers.
    pub(super) fn segments(&self) -> impl Iterator<Item = (&'a Segment, usize)> {
        self.segments.iter().zip(self.stats.iter().map(|run| run.addresses.len()))
    }

    /// The documents of a list with their postings.
    pub(super) fn postings(&self, list: usize) -> impl Iterator<Item = (DocRef, &'a Posting)> {
        self.segments.iter().enumerate().flat_map(move |(segment, Segment { postings, .. })| {
            let doc =
                move |posting: &Posting| DocRef { segment: segment as u32, index: posting.doc };
            postings[list].iter().map(move |posting| (doc(posting), posting))
        })
    }

    /// That a document is in a list.
    pub(super) fn posting(&self, doc: DocRef, list: usize) -> Option<&'a Posting> {
        let list = &self.segments[doc.segment as usize].postings[list];
        let index = list.binary_search_by_key(&doc.index, |posting| posting.doc).ok()?;
        Some(&list[index])
    }

    /// The length of a document in average ones.
    #[inline]
    pub(super) fn length(&self, doc: DocRef) -> f32 {
        let own = self.stats[doc.segment as usize].lengths[doc.index as usize];
        let length = if self.has_cross_segment[self.ordinal(doc)] {
            own + self.cross_segment[&doc].length
        } else {
            own
        };
        if self.average_length > 0.0 { length / self.average_length } else { 1.0 }
    }

    /// The constants k1 and b of BM25.
    #[inline]
    pub(super) fn bm25_params(&self) -> (f32, f32) {
        self.bm25_params
    }

    /// How often a document has a term by itself, by the weights of its fields.
    #[inline]
    pub(super) fn weighted_frequency(&self, posting: &Posting) -> f32 {
        let weighed = posting.counts.iter().zip(self.neighbour_weights.field_weights);
        weighed.map(|(&count, weight)| f32::from(count) * weight).sum()
    }

    /// The turns around a turn, with their shares.
    pub(super) fn neighbours(&self, doc: DocRef) -> Vec<(DocRef, f32)> {
        let mut around = Vec::new();
        self.for_each_neighbour(doc, |neighbour, share| {
            around.push((neighbour, share.from_neighbour))
        });
        around
    }

    /// Calls `each` with the turns around a turn and what the two share.
    #[inline]
    pub(super) fn for_each_neighbour(
        &self,
        doc: DocRef,
        mut each: impl FnMut(DocRef, NeighbourShare),
    ) {
        let NeighbourWeights { earlier, later, .. } = &self.neighbour_weights;
        let run = &self.stats[doc.segment as usize];
        run.for_each_before(doc.index as usize, &self.neighbour_weights, |index, distance| {
            let near = DocRef { index: index as u32, ..doc };
            each(
                near,
                NeighbourShare { to_neighbour: later[distance], from_neighbour: earlier[distance] },
            );
        });
        run.for_each_after(doc.index as usize, &self.neighbour_weights, |index, distance| {
            let near = DocRef { index: index as u32, ..doc };
            each(
                near,
                NeighbourShare { to_neighbour: earlier[distance], from_neighbour: later[distance] },
            );
        });
        if self.has_cross_segment[self.ordinal(doc)] {
            for (near, distance) in &self.cross_segment[&doc].neighbours {
                each(*near, self.neighbour_weights.share_at(*distance));
            }
        }
    }

    /// Finds the sessions that go on in another segment, which few do: segments are runs of time.
    fn link_segments(&mut self) {
        for first in 0..self.stats.len() {
            for second in first + 1..self.stats.len() {
                for (a, b) in shared_sessions(&self.stats[first], &self.stats[second]) {
                    self.link_session((first, a), (second, b));
                }
            }
        }
    }

    /// Joins what one session has in two segments.
    fn link_session(&mut self, (one, a): (usize, SessionSpan), (other, b): (usize, SessionSpan)) {
        let (left, right) = (self.stats[one].clone(), self.stats[other].clone());
        let span = self.neighbour_weights.span as u64;
        let mut from = b.first;
        for index in (a.first..a.end).filter(|index| left.is_live(*index as usize)) {
            let place = left.addresses[index as usize].to_bits();
            while from < b.end && right.addresses[from as usize].to_bits() + span < place {
                from += 1;
            }
            let within = |near: &u32| right.addresses[*near as usize].to_bits() <= place + span;
            for near in (from..b.end).take_while(within) {
                let distance = right.addresses[near as usize].to_bits() as i64 - place as i64;
                if distance == 0 || !right.is_live(near as usize) {
                    continue;
                }
                let doc = DocRef { segment: one as u32, index };
                let near = DocRef { segment: other as u32, index: near };
                self.link_neighbours(doc, near, distance);
                self.link_neighbours(near, doc, -distance);
            }
        }
    }

    fn link_neighbours(&mut self, doc: DocRef, near: DocRef, distance: i64) {
        let number = self.ordinal(doc);
        self.has_cross_segment[number] = true;
        let (docs, index) = self.record(near);
        let content = docs.lengths(index)[IndexField::Content as usize] as f32;
        let crossing = self.cross_segment.entry(doc).or_default();
        crossing.length += self.neighbour_weights.share_at(distance).from_neighbour * content;
        crossing.neighbours.push((near, distance));
    }

    fn compute_average_length(&mut self) {
        let crossing: f64 =
            self.cross_segment.values().map(|crossing| f64::from(crossing.length)).sum();
        let total = self.stats.iter().map(|run| run.total_length).sum::<f64>() + crossing;
        self.average_length = (total / self.num_docs.max(1) as f64) as f32;
    }
}

/// What the records of each segment say.
fn segment_stats(segments: &[Segment], reach: &NeighbourWeights) -> Vec<Arc<DocStats>> {
    let of = |segment: &Segment| DocStats::for_docs(&segment.docs, reach);
    let fresh: Vec<_> =
        segments.iter().filter(|segment| !DocStats::is_memoized(&segment.docs, reach)).collect();
    let docs = fresh.iter().map(|segment| segment.docs.len()).sum();
    for_each(docs, fresh, |segment| drop(of(segment)));
    segments.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        store::DocRecord,
        types::{Kind, Status},
    };

    fn segment(places: &[(u32, u32)], gone: &[(u32, u32)]) -> Segment {
        let mut packed = Vec::new();
        for (session, position) in places {
            let record = DocRecord {
                address: DocAddress::new(*session, *position),
                at: Timestamp::UNIX_EPOCH,
                lengths: [session * 7 + position, 2, 0, 1, 1],
                kind: Kind::Turn,
                status: Status::Active,
                mentions_time: false,
            };
            record.pack(&mut packed);
        }
        let mut docs = Docs::from_packed(packed);
        for place in gone {
            docs.mark_deleted(places.iter().position(|other| other == place).unwrap());
        }
        Segment { docs, ..Segment::default() }
    }

    /// A document: its place, its neighbours with what they share, its length.
    type DocSnapshot = (DocAddress, Vec<(DocAddress, f32, f32)>, f32);

    /// All documents, by place.
    fn snapshot_docs(segments: &[Segment]) -> Vec<DocSnapshot> {
        let corpus = Corpus::new(segments, &RecallConfig::default());
        let mut told: Vec<_> = corpus
            .docs()
            .map(|doc| {
                let mut near = Vec::new();
                corpus.for_each_neighbour(doc, |other, share| {
                    near.push((corpus.address(other), share.to_neighbour, share.from_neighbour));
                });
                near.sort_by_key(|(place, ..)| *place);
                assert_eq!(corpus.find(corpus.address(doc)), Some(doc));
                (corpus.address(doc), near, corpus.length(doc))
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
            let (apart, together) = (snapshot_docs(&apart), snapshot_docs(&[segment(&living, &[])]));
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
        assert_eq!(snapshot_docs(std::slice::from_ref(&kept)).len(), 3);
        kept.docs.mark_deleted(1);
        let told = snapshot_docs(&[kept]);
        assert_eq!(told.len(), 2);
        assert!(
            told.iter().all(|(_, near, _)| near.iter().all(|(place, ..)| place.position() != 1))
        );
    }
}
