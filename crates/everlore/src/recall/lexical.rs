//! Exact BM25F over one scope: fields weighted, neighbouring turns counted, statistics of this scope alone.

use crate::{
    config::RecallConfig,
    store::{FIELDS, Field, Place, Posting, Segment},
};

/// A document: its segment and its number there.
pub(super) type Doc = (usize, usize);

/// The documents of a scope with their lengths.
pub(super) struct Corpus<'a> {
    segments: &'a [Segment],
    places: Vec<Vec<Place>>,
    lengths: Vec<Vec<f32>>,
    average_length: f32,
    pub(super) count: usize,
    weights: [f32; FIELDS],
    neighbour: f32,
    span: i32,
    k1: f32,
    b: f32,
}

/// What the terms of a query are worth to each document.
pub(super) struct Scores {
    /// BM25F by segment and document; 0 where nothing matches.
    pub(super) bm25: Vec<Vec<f32>>,
    /// Every document that any term or neighbour matches, once.
    pub(super) matched: Vec<Doc>,
    /// Inverse document frequency by term; terms the scope does not know have the highest.
    pub(super) idf: Vec<f32>,
}

/// The frequency of one term in the documents that have it or neighbour one that does.
struct Frequencies {
    tf: Vec<Vec<f32>>,
    touched: Vec<Doc>,
}

impl<'a> Corpus<'a> {
    pub(super) fn new(segments: &'a [Segment], config: &RecallConfig) -> Self {
        let places = segments
            .iter()
            .map(|segment| (0..segment.docs.len()).map(|doc| segment.docs.place(doc)).collect());
        let mut corpus = Self {
            segments,
            places: places.collect(),
            lengths: Vec::new(),
            average_length: 0.0,
            count: 0,
            weights: field_weights(config),
            neighbour: config.neighbour as f32,
            span: if config.neighbour > 0.0 { config.neighbour_span as i32 } else { 0 },
            k1: config.k1 as f32,
            b: config.b as f32,
        };
        corpus.measure();
        corpus
    }

    /// Scores all documents for the terms whose lists and weights are given.
    pub(super) fn score(&self, lists: &[Vec<(usize, f64)>], weights: &[f64]) -> Scores {
        let mut scores = Scores {
            bm25: self.zeros(),
            matched: Vec::new(),
            idf: Vec::with_capacity(lists.len()),
        };
        let mut frequencies = Frequencies { tf: self.zeros(), touched: Vec::new() };
        for (variants, weight) in lists.iter().zip(weights) {
            let known = self.count_term(variants, &mut frequencies);
            let idf = self.idf(known);
            scores.idf.push(idf);
            for (segment, doc) in frequencies.touched.drain(..) {
                let tf = std::mem::take(&mut frequencies.tf[segment][doc]);
                let score = &mut scores.bm25[segment][doc];
                if *score == 0.0 {
                    scores.matched.push((segment, doc));
                }
                *score += *weight as f32 * idf * self.saturate(tf, (segment, doc));
            }
        }
        scores
    }

    /// The turns around a turn, with their shares.
    pub(super) fn neighbours(&self, doc: Doc) -> Vec<(Doc, f32)> {
        let mut around = Vec::new();
        self.for_each_neighbour(doc, |neighbour, share| around.push((neighbour, share)));
        around
    }

    /// How often a document with these neighbours has a term, by the same measure as the score.
    pub(super) fn frequency(
        &self,
        doc: Doc,
        around: &[(Doc, f32)],
        variants: &[(usize, f64)],
    ) -> f32 {
        let found =
            |(segment, doc): Doc, list: usize| find(&self.segments[segment].postings[list], doc);
        let own = |list| found(doc, list).map_or(0.0, |posting| self.own(posting));
        let near = |list| {
            let shared =
                around.iter().map(|(doc, share)| share * found(*doc, list).map_or(0.0, content));
            shared.sum::<f32>()
        };
        variants.iter().map(|(list, worth)| *worth as f32 * (own(*list) + near(*list))).sum()
    }

    /// What a frequency is worth in a document, before the term's rarity: it rises ever less.
    pub(super) fn saturate(&self, tf: f32, (segment, doc): Doc) -> f32 {
        let length = if self.average_length > 0.0 {
            self.lengths[segment][doc] / self.average_length
        } else {
            1.0
        };
        tf * (self.k1 + 1.0) / (tf + self.k1 * (1.0 - self.b + self.b * length))
    }

    /// ln(1 + (N - n + 0.5) / (n + 0.5)) for a term that n of N documents have.
    fn idf(&self, known: usize) -> f32 {
        let (count, known) = (self.count as f32, known as f32);
        (1.0 + (count - known + 0.5) / (known + 0.5)).ln()
    }

    /// Fills in the frequencies of a term and its synonyms; returns how many documents have the term itself or, if
    /// none has, a synonym.
    fn count_term(&self, variants: &[(usize, f64)], into: &mut Frequencies) -> usize {
        let mut known = 0;
        for (list, worth) in variants {
            for (index, segment) in self.segments.iter().enumerate() {
                for posting in &segment.postings[*list] {
                    self.count_posting((index, posting.doc as usize), posting, *worth as f32, into);
                }
            }
            if known == 0 {
                known = into.touched.len();
            }
        }
        known
    }

    fn count_posting(&self, doc: Doc, posting: &Posting, worth: f32, into: &mut Frequencies) {
        into.add(doc, worth * self.own(posting));
        let content = worth * content(posting);
        if content > 0.0 {
            self.for_each_neighbour(doc, |neighbour, share| into.add(neighbour, share * content));
        }
    }

    fn own(&self, posting: &Posting) -> f32 {
        posting
            .counts
            .iter()
            .zip(self.weights)
            .map(|(&count, weight)| f32::from(count) * weight)
            .sum()
    }

    /// Calls `each` with the turns around a turn and their share: the neighbour weight divided by the distance.
    fn for_each_neighbour(&self, (segment, doc): Doc, mut each: impl FnMut(Doc, f32)) {
        let place = self.places[segment][doc];
        for distance in 1..=self.span {
            for step in [-distance, distance] {
                let Some(target) = place.neighbour(step) else { continue };
                if let Some(found) = self.find_near((segment, doc), target, step) {
                    each(found, self.neighbour / distance as f32);
                }
            }
        }
    }

    /// The living document at `target`, which is at most `step` places away: mostly just beside, else in another
    /// segment.
    fn find_near(&self, (segment, doc): Doc, target: Place, step: i32) -> Option<Doc> {
        let places = &self.places[segment];
        for offset in 1..=step.abs() {
            let Some(index) = doc.checked_add_signed((offset * step.signum()) as isize) else {
                break;
            };
            if places.get(index) == Some(&target) && !self.segments[segment].docs.is_gone(index) {
                return Some((segment, index));
            }
        }
        self.places.iter().enumerate().filter(|(other, _)| *other != segment).find_map(
            |(other, places)| {
                if places.first().is_none_or(|first| *first > target)
                    || places.last().is_none_or(|last| *last < target)
                {
                    return None;
                }
                let index = places.binary_search(&target).ok()?;
                (!self.segments[other].docs.is_gone(index)).then_some((other, index))
            },
        )
    }

    /// Measures every document: its own fields by weight, and its neighbours' content by share.
    fn measure(&mut self) {
        let mut lengths = self.zeros();
        let mut total = 0.0;
        for (index, segment) in self.segments.iter().enumerate() {
            for doc in (0..segment.docs.len()).filter(|&doc| !segment.docs.is_gone(doc)) {
                let mut length = self.own_length(segment, doc);
                self.for_each_neighbour((index, doc), |(segment, doc), share| {
                    length +=
                        share * self.segments[segment].docs.length(doc, Field::Content) as f32;
                });
                lengths[index][doc] = length;
                total += f64::from(length);
                self.count += 1;
            }
        }
        self.lengths = lengths;
        self.average_length = (total / self.count.max(1) as f64) as f32;
    }

    fn own_length(&self, segment: &Segment, doc: usize) -> f32 {
        let fields = [Field::Content, Field::Name, Field::Description, Field::Tags, Field::Speaker];
        fields
            .iter()
            .map(|&field| segment.docs.length(doc, field) as f32 * self.weights[field as usize])
            .sum()
    }

    fn zeros(&self) -> Vec<Vec<f32>> {
        self.places.iter().map(|places| vec![0.0; places.len()]).collect()
    }
}

impl Frequencies {
    fn add(&mut self, (segment, doc): Doc, tf: f32) {
        let sum = &mut self.tf[segment][doc];
        if *sum == 0.0 && tf > 0.0 {
            self.touched.push((segment, doc));
        }
        *sum += tf;
    }
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

fn content(posting: &Posting) -> f32 {
    posting.counts[Field::Content as usize].into()
}

fn find(list: &[Posting], doc: usize) -> Option<&Posting> {
    list.binary_search_by_key(&(doc as u32), |posting| posting.doc).ok().map(|index| &list[index])
}
