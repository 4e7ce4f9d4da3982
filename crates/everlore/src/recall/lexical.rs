//! Exact BM25F over one scope: fields weighted, neighbouring turns counted, statistics of this scope alone.

use crate::{
    config::RecallConfig,
    store::{Docs, FIELDS, Field, Place, Posting, Segment},
};

/// The number of documents that the scope no longer has.
const GONE: u32 = u32::MAX;

/// A document, by its number in the order of places, whatever segment has it.
pub(super) type Doc = usize;

/// The living documents of a scope in the order of their places, with their lengths.
pub(super) struct Corpus<'a> {
    segments: &'a [Segment],
    /// Where each document is: its segment and its number there.
    homes: Vec<(u32, u32)>,
    places: Vec<Place>,
    /// The number of each segment's documents here.
    numbers: Vec<Vec<u32>>,
    lengths: Vec<f32>,
    average_length: f32,
    weights: [f32; FIELDS],
    /// What a word of an earlier and of a later turn is worth, by distance.
    earlier: Vec<f32>,
    later: Vec<f32>,
    span: usize,
    k1: f32,
    b: f32,
}

/// What the terms of a query are worth to each document.
pub(super) struct Scores {
    /// BM25F by document; 0 where nothing matches.
    pub(super) bm25: Vec<f32>,
    /// Every document that any term or neighbour matches, once.
    pub(super) matched: Vec<Doc>,
    /// How many documents have each term.
    pub(super) known: Vec<usize>,
}

/// The frequency of one term in the documents that have it or neighbour one that does.
struct Frequencies {
    tf: Vec<f32>,
    touched: Vec<Doc>,
}

/// What two neighbouring turns have of each other's words.
#[derive(Debug, Clone, Copy)]
struct Share {
    /// What a word of the turn is worth in its neighbour.
    given: f32,
    /// What a word of the neighbour is worth in the turn.
    taken: f32,
}

impl<'a> Corpus<'a> {
    pub(super) fn new(segments: &'a [Segment], config: &RecallConfig) -> Self {
        let mut order: Vec<(Place, u32, u32)> = Vec::new();
        for (index, Segment { docs, .. }) in segments.iter().enumerate() {
            let living = (0..docs.len()).filter(|&doc| !docs.is_gone(doc));
            order.extend(living.map(|doc| (docs.place(doc), index as u32, doc as u32)));
        }
        // Segments are sorted runs, which the stable sort only has to merge.
        order.sort_by_key(|(place, _, _)| *place);
        let mut numbers: Vec<_> =
            segments.iter().map(|segment| vec![GONE; segment.docs.len()]).collect();
        for (number, (_, segment, doc)) in order.iter().enumerate() {
            numbers[*segment as usize][*doc as usize] = number as u32;
        }
        let mut corpus = Self {
            segments,
            homes: order.iter().map(|(_, segment, doc)| (*segment, *doc)).collect(),
            places: order.iter().map(|(place, _, _)| *place).collect(),
            numbers,
            lengths: Vec::new(),
            average_length: 0.0,
            weights: field_weights(config),
            earlier: by_distance(config.neighbour, config),
            later: by_distance(config.later_neighbour, config),
            span: span(config),
            k1: config.k1 as f32,
            b: config.b as f32,
        };
        corpus.measure();
        corpus
    }

    /// How many documents there are.
    pub(super) fn count(&self) -> usize {
        self.places.len()
    }

    /// Where a document stands.
    pub(super) fn place(&self, doc: Doc) -> Place {
        self.places[doc]
    }

    /// The document at a place.
    pub(super) fn find(&self, place: Place) -> Option<Doc> {
        self.places.binary_search(&place).ok()
    }

    /// The number of the last session that has a document.
    pub(super) fn last_session(&self) -> u32 {
        self.places.last().map_or(0, |place| place.session())
    }

    /// The segment of a document and its number there.
    pub(super) fn home(&self, doc: Doc) -> (usize, usize) {
        let (segment, doc) = self.homes[doc];
        (segment as usize, doc as usize)
    }

    /// The records among which a document's is, and which it is.
    pub(super) fn record(&self, doc: Doc) -> (&'a Docs, usize) {
        let (segment, doc) = self.home(doc);
        (&self.segments[segment].docs, doc)
    }

    /// Every document where it is stored, with its number here: reading segment by segment is faster than by place.
    pub(super) fn living(&self) -> impl Iterator<Item = (&'a Segment, usize, Doc)> {
        self.segments.iter().zip(&self.numbers).flat_map(|(segment, numbers)| {
            let there = numbers.iter().enumerate().filter(|(_, number)| **number != GONE);
            there.map(move |(doc, number)| (segment, doc, *number as Doc))
        })
    }

    /// The documents of a list with their postings.
    pub(super) fn listed(&self, list: usize) -> impl Iterator<Item = (Doc, &Posting)> {
        self.segments.iter().zip(&self.numbers).flat_map(move |(segment, numbers)| {
            segment.postings[list]
                .iter()
                .map(|posting| (numbers[posting.doc as usize] as Doc, posting))
        })
    }

    /// Scores all documents for the terms whose lists and weights are given.
    pub(super) fn score(&self, lists: &[Vec<(usize, f64)>], weights: &[f64]) -> Scores {
        let zeros = || vec![0.0; self.count()];
        let mut scores =
            Scores { bm25: zeros(), matched: Vec::new(), known: Vec::with_capacity(lists.len()) };
        let mut frequencies = Frequencies { tf: zeros(), touched: Vec::new() };
        for (variants, weight) in lists.iter().zip(weights) {
            let known = self.count_term(variants, &mut frequencies);
            let idf = self.idf(known);
            scores.known.push(known);
            for doc in frequencies.touched.drain(..) {
                let tf = std::mem::take(&mut frequencies.tf[doc]);
                let score = &mut scores.bm25[doc];
                if *score == 0.0 {
                    scores.matched.push(doc);
                }
                *score += *weight as f32 * idf * self.saturate(tf, doc);
            }
        }
        scores
    }

    /// The turns around a turn, with their shares.
    pub(super) fn neighbours(&self, doc: Doc) -> Vec<(Doc, f32)> {
        let mut around = Vec::new();
        self.for_each_neighbour(doc, |neighbour, share| around.push((neighbour, share.taken)));
        around
    }

    /// How often a document with these neighbours has a term, by the same measure as the score.
    pub(super) fn frequency(
        &self,
        doc: Doc,
        around: &[(Doc, f32)],
        variants: &[(usize, f64)],
    ) -> f32 {
        let own = |list| self.posting(doc, list).map_or(0.0, |posting| self.own(posting));
        let near = |list| {
            let shared = around
                .iter()
                .map(|(doc, share)| share * self.posting(*doc, list).map_or(0.0, content));
            shared.sum::<f32>()
        };
        variants.iter().map(|(list, worth)| *worth as f32 * (own(*list) + near(*list))).sum()
    }

    /// That a document is in a list.
    pub(super) fn posting(&self, doc: Doc, list: usize) -> Option<&'a Posting> {
        let (segment, doc) = self.home(doc);
        let list = &self.segments[segment].postings[list];
        list.binary_search_by_key(&(doc as u32), |posting| posting.doc)
            .ok()
            .map(|index| &list[index])
    }

    /// What a frequency is worth in a document, before the term's rarity: it rises ever less.
    pub(super) fn saturate(&self, tf: f32, doc: Doc) -> f32 {
        let length =
            if self.average_length > 0.0 { self.lengths[doc] / self.average_length } else { 1.0 };
        tf * (self.k1 + 1.0) / (tf + self.k1 * (1.0 - self.b + self.b * length))
    }

    /// How rare a term is that this many documents have.
    pub(super) fn idf(&self, known: usize) -> f32 {
        rarity(self.count(), known)
    }

    /// Fills in the frequencies of a term and its synonyms; returns how many documents have the term itself or, if
    /// none has, a synonym.
    fn count_term(&self, variants: &[(usize, f64)], into: &mut Frequencies) -> usize {
        let mut known = 0;
        for (list, worth) in variants {
            let worth = *worth as f32;
            for (doc, posting) in self.listed(*list) {
                into.add(doc, worth * self.own(posting));
                let content = worth * content(posting);
                if content > 0.0 {
                    self.for_each_neighbour(doc, |neighbour, share| {
                        into.add(neighbour, share.given * content)
                    });
                }
            }
            if known == 0 {
                known = into.touched.len();
            }
        }
        known
    }

    fn own(&self, posting: &Posting) -> f32 {
        posting
            .counts
            .iter()
            .zip(self.weights)
            .map(|(&count, weight)| f32::from(count) * weight)
            .sum()
    }

    /// Calls `each` with the turns around a turn and what the two share. In the order of places, a neighbour at
    /// a distance is at most as many documents away.
    #[inline]
    fn for_each_neighbour(&self, doc: Doc, mut each: impl FnMut(Doc, Share)) {
        for near in (doc.saturating_sub(self.span)..doc).rev() {
            let Some(distance) = self.distance(near, doc) else { break };
            let (later, earlier) = (self.later[distance], self.earlier[distance]);
            each(near, Share { given: later, taken: earlier });
        }
        for near in doc + 1..self.count().min(doc + 1 + self.span) {
            let Some(distance) = self.distance(doc, near) else { break };
            let (later, earlier) = (self.later[distance], self.earlier[distance]);
            each(near, Share { given: earlier, taken: later });
        }
    }

    /// How many turns later the second document was said in the session of the first, if it is within reach.
    #[inline]
    fn distance(&self, first: Doc, second: Doc) -> Option<usize> {
        let (first, second) = (self.places[first], self.places[second]);
        let distance = second.to_bits() - first.to_bits();
        let is_near = distance <= self.span as u64
            && first.session() != 0
            && first.session() == second.session();
        is_near.then_some(distance as usize)
    }

    /// Measures every document: its own fields by weight, and its neighbours' content by share.
    fn measure(&mut self) {
        let (mut content, mut lengths) = (vec![0.0; self.count()], vec![0.0; self.count()]);
        for (segment, doc, number) in self.living() {
            let own = segment.docs.lengths(doc).map(|length| length as f32);
            content[number] = own[Field::Content as usize];
            lengths[number] = own.iter().zip(self.weights).map(|(own, weight)| own * weight).sum();
        }
        for doc in 0..self.count() {
            for near in doc + 1..self.count().min(doc + 1 + self.span) {
                let Some(distance) = self.distance(doc, near) else { break };
                lengths[doc] += self.later[distance] * content[near];
                lengths[near] += self.earlier[distance] * content[doc];
            }
        }
        let total: f64 = lengths.iter().map(|length| f64::from(*length)).sum();
        self.average_length = (total / self.count().max(1) as f64) as f32;
        self.lengths = lengths;
    }
}

impl Frequencies {
    fn add(&mut self, doc: Doc, tf: f32) {
        let sum = &mut self.tf[doc];
        if *sum == 0.0 && tf > 0.0 {
            self.touched.push(doc);
        }
        *sum += tf;
    }
}

/// ln(1 + (N - n + 0.5) / (n + 0.5)) for a term that n of N documents have.
pub(super) fn rarity(count: usize, known: usize) -> f32 {
    let (count, known) = (count as f32, known as f32);
    (1.0 + (count - known + 0.5) / (known + 0.5)).ln()
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

/// How far turns reach, if they reach at all.
fn span(config: &RecallConfig) -> usize {
    let reaches = config.neighbour > 0.0 || config.later_neighbour > 0.0;
    if reaches { config.neighbour_span } else { 0 }
}

fn content(posting: &Posting) -> f32 {
    posting.counts[Field::Content as usize].into()
}
