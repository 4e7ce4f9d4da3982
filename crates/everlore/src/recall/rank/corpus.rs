//! Corpus: the live documents of one scope across all segments, with their lengths and neighbouring turns.

use std::{collections::HashMap, sync::Arc};

use everlore_kernel::{LengthNorm, PostingWeights, TermFrequencies, length_norms};

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

/// Reference to a document: its segment and its index there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct DocRef {
    segment: u32,
    index: u32,
}

/// Live documents of a scope, segment by segment.
pub(crate) struct Corpus<'a> {
    segments: &'a [Segment],
    stats: Vec<Arc<DocStats>>,
    /// Ordinal of each segment's first document among the documents of all segments.
    first_ordinals: Vec<usize>,
    /// Number of ordinals, deleted documents included.
    max_doc: usize,
    /// Number of live documents.
    num_docs: usize,
    average_length: f32,
    neighbour_weights: NeighbourWeights,
    /// Constants k1 and b of BM25.
    bm25_params: (f32, f32),
    /// Neighbours of the documents whose session continues in another segment.
    cross_segment: HashMap<DocRef, CrossSegmentNeighbours>,
    /// `true` for the documents of `cross_segment`, by ordinal.
    has_cross_segment: Vec<bool>,
}

/// Neighbours of a document in other segments.
#[derive(Default)]
struct CrossSegmentNeighbours {
    /// Each neighbour with its distance in turns; positive if it comes later.
    neighbours: Vec<(DocRef, i64)>,
    /// Sum of the neighbours' shares in the document's length.
    length: f32,
}

impl<'a> Corpus<'a> {
    pub(super) fn new(segments: &'a [Segment], config: &RecallConfig) -> Self {
        let neighbour_weights = NeighbourWeights::new(config);
        let stats = segment_stats(segments, &neighbour_weights);
        let mut max_doc = 0;
        let first_ordinals = stats.iter().map(|stats| {
            max_doc += stats.addresses.len();
            max_doc - stats.addresses.len()
        });
        let first_ordinals = first_ordinals.collect();
        let mut corpus = Self {
            segments,
            first_ordinals,
            max_doc,
            num_docs: stats.iter().map(|stats| stats.count).sum(),
            stats,
            average_length: 0.0,
            neighbour_weights,
            bm25_params: (config.k1 as f32, config.b as f32),
            cross_segment: HashMap::new(),
            has_cross_segment: vec![false; max_doc],
        };
        corpus.link_segments();
        corpus.compute_average_length();
        corpus
    }

    /// Returns the number of live documents.
    pub(crate) fn num_docs(&self) -> usize {
        self.num_docs
    }

    /// Returns the number of ordinals, deleted documents included.
    pub(super) fn max_doc(&self) -> usize {
        self.max_doc
    }

    /// Returns the ordinal of a document among the documents of all segments.
    #[inline]
    pub(crate) fn ordinal(&self, doc: DocRef) -> usize {
        self.first_ordinals[doc.segment as usize] + doc.index as usize
    }

    /// Returns the document with an ordinal.
    #[inline]
    pub(super) fn doc_at(&self, ordinal: usize) -> DocRef {
        let segment = self.first_ordinals.partition_point(|first| *first <= ordinal) - 1;
        self.doc(segment, ordinal - self.first_ordinals[segment])
    }

    /// Returns `true` if a live document was superseded.
    pub(super) fn has_superseded(&self) -> bool {
        self.stats.iter().any(|stats| stats.has_superseded)
    }

    /// Returns the address of a document.
    #[inline]
    pub(super) fn address(&self, doc: DocRef) -> DocAddress {
        self.stats[doc.segment as usize].addresses[doc.index as usize]
    }

    /// Returns the document at an index of a segment.
    #[inline]
    pub(super) fn doc(&self, segment: usize, index: usize) -> DocRef {
        DocRef { segment: segment as u32, index: index as u32 }
    }

    /// Returns `true` if the document is not deleted.
    #[inline]
    pub(super) fn is_live(&self, doc: DocRef) -> bool {
        self.stats[doc.segment as usize].is_live(doc.index as usize)
    }

    /// Returns the live document at an address.
    pub(crate) fn find(&self, address: DocAddress) -> Option<DocRef> {
        let find_in = |(segment, stats): (usize, &Arc<DocStats>)| {
            let index = stats.addresses.binary_search(&address).ok()?;
            stats.is_live(index).then_some(DocRef { segment: segment as u32, index: index as u32 })
        };
        self.stats.iter().enumerate().find_map(find_in)
    }

    /// Returns the number of the last session that has a document.
    pub(super) fn last_session(&self) -> u32 {
        let lasts = self.stats.iter().filter_map(|stats| stats.addresses.last());
        lasts.map(|address| address.session()).max().unwrap_or(0)
    }

    /// Returns the kind, status and time flag of a document.
    #[inline]
    pub(super) fn flags(&self, doc: DocRef) -> DocFlags {
        self.stats[doc.segment as usize].flags[doc.index as usize]
    }

    /// Returns the times of the first and the last document of each segment.
    pub(super) fn time_ranges(&self) -> impl Iterator<Item = (Timestamp, Timestamp)> {
        self.stats.iter().map(|stats| stats.time_range)
    }

    /// Returns the segment index of a document.
    #[inline]
    pub(super) fn segment(&self, doc: DocRef) -> usize {
        doc.segment as usize
    }

    /// Returns the time of a document.
    pub(super) fn at(&self, doc: DocRef) -> Timestamp {
        let (docs, index) = self.record(doc);
        docs.at(index)
    }

    /// Returns the records of a document's segment, and its index among them.
    #[inline]
    fn record(&self, doc: DocRef) -> (&'a Docs, usize) {
        (&self.segments[doc.segment as usize].docs, doc.index as usize)
    }

    /// Returns every live document, segment by segment.
    pub(super) fn docs(&self) -> impl Iterator<Item = DocRef> + Clone {
        self.stats.iter().enumerate().flat_map(|(segment, stats)| {
            let live = (0..stats.addresses.len()).filter(|index| stats.is_live(*index));
            live.map(move |index| DocRef { segment: segment as u32, index: index as u32 })
        })
    }

    /// Returns every segment with the number of its ordinals, in ordinal order.
    pub(super) fn segments(&self) -> impl Iterator<Item = (&'a Segment, usize)> {
        self.segments.iter().zip(self.stats.iter().map(|stats| stats.addresses.len()))
    }

    /// Returns the documents of a posting list with their postings.
    pub(super) fn postings(&self, list: usize) -> impl Iterator<Item = (DocRef, &'a Posting)> {
        self.segments.iter().enumerate().flat_map(move |(segment, Segment { postings, .. })| {
            let doc =
                move |posting: &Posting| DocRef { segment: segment as u32, index: posting.doc };
            postings[list].iter().map(move |posting| (doc(posting), posting))
        })
    }

    /// Returns the posting of a document in a list, if it has one.
    pub(super) fn posting(&self, doc: DocRef, list: usize) -> Option<&'a Posting> {
        let list = &self.segments[doc.segment as usize].postings[list];
        let index = list.binary_search_by_key(&doc.index, |posting| posting.doc).ok()?;
        Some(&list[index])
    }

    /// Returns the length of a document with the shares of its neighbours.
    pub(super) fn length(&self, doc: DocRef) -> f32 {
        let own = self.stats[doc.segment as usize].lengths[doc.index as usize];
        if self.has_cross_segment[self.ordinal(doc)] {
            own + self.cross_segment[&doc].length
        } else {
            own
        }
    }

    /// Returns the share of each document's length in the saturation of BM25, by ordinal.
    pub(super) fn length_norms(&self) -> Vec<f32> {
        let (norm, mut norms) = (self.length_norm(), vec![0.0; self.max_doc]);
        for (stats, first) in self.stats.iter().zip(&self.first_ordinals) {
            length_norms(&stats.lengths, norm, &mut norms[*first..][..stats.lengths.len()]);
        }
        for doc in self.cross_segment.keys() {
            norms[self.ordinal(*doc)] = norm.of(self.length(*doc));
        }
        norms
    }

    /// Returns the constants of the length normalization of BM25.
    pub(super) fn length_norm(&self) -> LengthNorm {
        let (k1, b) = self.bm25_params;
        LengthNorm { k1, b, average: self.average_length }
    }

    /// Adds the postings of a list, each worth this share, to the documents and their neighbours.
    pub(super) fn add_postings(&self, list: usize, share: f32, into: &mut TermFrequencies) {
        let NeighbourWeights { field_weights: fields, earlier, later, .. } =
            &self.neighbour_weights;
        let weights = PostingWeights { share, fields: *fields, earlier, later };
        for (number, (segment, stats)) in self.segments.iter().zip(&self.stats).enumerate() {
            let (first, runs) = (self.first_ordinals[number], &stats.turn_runs);
            let is_linked = &self.has_cross_segment[first..][..runs.len()];
            let mut rest = &segment.postings[list][..];
            while !rest.is_empty() {
                let added = into.add_postings(rest, &weights, (runs, is_linked), first);
                rest = &rest[added..];
                if let Some((posting, after)) = rest.split_first() {
                    self.add_posting(number, posting, share, into);
                    rest = after;
                }
            }
        }
    }

    /// Adds a posting to its document and to neighbours wherever they are.
    fn add_posting(
        &self,
        segment: usize,
        posting: &Posting,
        share: f32,
        into: &mut TermFrequencies,
    ) {
        let doc = self.doc(segment, posting.doc as usize);
        into.add(self.ordinal(doc), share * self.weighted_frequency(posting));
        let content = share * f32::from(posting.counts[IndexField::Content as usize]);
        if content > 0.0 {
            self.for_each_neighbour(doc, |near, share| {
                into.add(self.ordinal(near), share.to_neighbour * content);
            });
        }
    }

    /// Returns the frequency of a term in the document itself, summed over the weighted fields.
    #[inline]
    pub(super) fn weighted_frequency(&self, posting: &Posting) -> f32 {
        let fields = posting.counts.iter().zip(self.neighbour_weights.field_weights);
        fields.map(|(&count, weight)| f32::from(count) * weight).sum()
    }

    /// Returns the neighbours of a turn with the shares of their words that count for it.
    pub(crate) fn neighbours(&self, doc: DocRef) -> Vec<(DocRef, f32)> {
        let mut neighbours = Vec::new();
        self.for_each_neighbour(doc, |neighbour, share| {
            neighbours.push((neighbour, share.from_neighbour))
        });
        neighbours
    }

    /// Calls `each` with the neighbours of a turn and their shares.
    #[inline]
    pub(super) fn for_each_neighbour(
        &self,
        doc: DocRef,
        mut each: impl FnMut(DocRef, NeighbourShare),
    ) {
        let NeighbourWeights { earlier, later, .. } = &self.neighbour_weights;
        let stats = &self.stats[doc.segment as usize];
        stats.for_each_before(doc.index as usize, &self.neighbour_weights, |index, distance| {
            let near = DocRef { index: index as u32, ..doc };
            each(
                near,
                NeighbourShare { to_neighbour: later[distance], from_neighbour: earlier[distance] },
            );
        });
        stats.for_each_after(doc.index as usize, &self.neighbour_weights, |index, distance| {
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

    /// Links the sessions that continue in another segment. Few do, since a segment covers a stretch of time.
    fn link_segments(&mut self) {
        for first in 0..self.stats.len() {
            for second in first + 1..self.stats.len() {
                for (a, b) in shared_sessions(&self.stats[first], &self.stats[second]) {
                    self.link_session((first, a), (second, b));
                }
            }
        }
    }

    /// Links the neighbours of one session across two segments.
    fn link_session(&mut self, (one, a): (usize, SessionSpan), (other, b): (usize, SessionSpan)) {
        let (left, right) = (self.stats[one].clone(), self.stats[other].clone());
        let span = self.neighbour_weights.span as u64;
        let mut from = b.first;
        for index in (a.first..a.end).filter(|index| left.is_live(*index as usize)) {
            let address = left.addresses[index as usize].to_bits();
            while from < b.end && right.addresses[from as usize].to_bits() + span < address {
                from += 1;
            }
            let within = |near: &u32| right.addresses[*near as usize].to_bits() <= address + span;
            for near in (from..b.end).take_while(within) {
                let distance = right.addresses[near as usize].to_bits() as i64 - address as i64;
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
        let ordinal = self.ordinal(doc);
        self.has_cross_segment[ordinal] = true;
        let (docs, index) = self.record(near);
        let content = docs.lengths(index)[IndexField::Content as usize] as f32;
        let linked = self.cross_segment.entry(doc).or_default();
        linked.length += self.neighbour_weights.share_at(distance).from_neighbour * content;
        linked.neighbours.push((near, distance));
    }

    fn compute_average_length(&mut self) {
        let linked: f64 = self.cross_segment.values().map(|linked| f64::from(linked.length)).sum();
        let total = self.stats.iter().map(|stats| stats.total_length).sum::<f64>() + linked;
        self.average_length = (total / self.num_docs.max(1) as f64) as f32;
    }
}

/// Returns the statistics of each segment; missing ones are computed in parallel.
fn segment_stats(segments: &[Segment], weights: &NeighbourWeights) -> Vec<Arc<DocStats>> {
    let stats = |segment: &Segment| DocStats::for_docs(&segment.docs, weights);
    let missing: Vec<_> =
        segments.iter().filter(|segment| !DocStats::is_memoized(&segment.docs, weights)).collect();
    let docs = missing.iter().map(|segment| segment.docs.len()).sum();
    for_each(docs, missing, |segment| drop(stats(segment)));
    segments.iter().map(stats).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        store::DocRecord,
        types::{Kind, Status},
    };

    fn segment(addresses: &[(u32, u32)], deleted: &[(u32, u32)]) -> Segment {
        let mut packed = Vec::new();
        for (session, position) in addresses {
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
        for address in deleted {
            docs.mark_deleted(addresses.iter().position(|other| other == address).unwrap());
        }
        Segment { docs, ..Segment::default() }
    }

    /// Document: its address, its neighbours with their shares, its length.
    type DocSnapshot = (DocAddress, Vec<(DocAddress, f32, f32)>, f32);

    /// Returns all documents, sorted by address.
    fn snapshot_docs(segments: &[Segment]) -> Vec<DocSnapshot> {
        let corpus = Corpus::new(segments, &RecallConfig::default());
        let mut snapshots: Vec<_> = corpus
            .docs()
            .map(|doc| {
                let mut near = Vec::new();
                corpus.for_each_neighbour(doc, |other, share| {
                    near.push((corpus.address(other), share.to_neighbour, share.from_neighbour));
                });
                near.sort_by_key(|(address, ..)| *address);
                assert_eq!(corpus.find(corpus.address(doc)), Some(doc));
                (corpus.address(doc), near, corpus.length(doc))
            })
            .collect();
        snapshots.sort_by_key(|(address, ..)| *address);
        snapshots
    }

    proptest! {
        /// Each address is in one of three segments, or deleted from a fourth.
        #[test]
        fn it_does_not_matter_which_segment_has_a_turn(
            homes in prop::collection::btree_map((0u32..4, 0u32..12), 0usize..4, 1..40)
        ) {
            let of = |home: usize| {
                let here = homes.iter().filter(|(_, segment)| **segment == home);
                here.map(|(address, _)| *address).collect::<Vec<_>>()
            };
            let apart = [
                segment(&of(0), &[]),
                segment(&of(1), &[]),
                segment(&of(2), &[]),
                segment(&of(3), &of(3)),
            ];
            let live: Vec<_> =
                homes.iter().filter(|(_, segment)| **segment < 3).map(|(a, _)| *a).collect();
            let (apart, together) = (snapshot_docs(&apart), snapshot_docs(&[segment(&live, &[])]));
            prop_assert_eq!(apart.len(), together.len());
            for (a, b) in apart.iter().zip(&together) {
                prop_assert_eq!((a.0, &a.1), (b.0, &b.1));
                prop_assert!((a.2 - b.2).abs() < 1e-4, "{} {}", a.2, b.2);
            }
        }
    }

    #[test]
    fn what_was_worked_out_is_made_anew_when_a_turn_is_gone() {
        let mut cached = segment(&[(1, 0), (1, 1), (1, 2)], &[]);
        assert_eq!(snapshot_docs(std::slice::from_ref(&cached)).len(), 3);
        cached.docs.mark_deleted(1);
        let docs = snapshot_docs(&[cached]);
        assert_eq!(docs.len(), 2);
        let mut neighbours = docs.iter().flat_map(|(_, near, _)| near);
        assert!(neighbours.all(|(address, ..)| address.position() != 1));
    }
}
