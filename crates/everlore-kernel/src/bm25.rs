//! BM25F over the documents of a scope: the frequency of a term in turns and their neighbours, and the sums over all
//! terms of a query.

use crate::{SimdTask, run_widest};

/// Number of fields in which the terms of a document are counted.
const FIELDS: usize = 5;

/// Occurrence of a term in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Posting {
    /// Document, as an index into its segment.
    pub doc: u32,
    /// Number of occurrences by field, the text first; counts end at 255.
    pub counts: [u8; FIELDS],
}

/// Neighbours of the turns of a segment, a byte for each turn: the number of turns right before it in the low four bits
/// and of those right after it in the high ones, or [`IRREGULAR_TURNS`].
pub type TurnRuns = [u8];

/// Mark of a turn whose neighbours are not the documents right before and after it.
pub const IRREGULAR_TURNS: u8 = u8::MAX;

/// Returns the byte of a turn in [`TurnRuns`]; both numbers are below 15.
pub fn turn_run(before: usize, after: usize) -> u8 {
    (before | after << 4) as u8
}

/// Worth of a term in a document and in its neighbours.
pub struct PostingWeights<'a> {
    /// Share that a match of this spelling of the term counts.
    pub share: f32,
    /// Weight of each field.
    pub fields: [f32; FIELDS],
    /// Share of a word in an earlier turn, by distance in turns.
    pub earlier: &'a [f32],
    /// Share of a word in a later turn, by distance in turns.
    pub later: &'a [f32],
}

impl PostingWeights<'_> {
    /// Returns the weighted frequency in the document itself.
    #[inline]
    fn own(&self, posting: &Posting) -> f32 {
        let fields = posting.counts.iter().zip(self.fields);
        self.share * fields.map(|(&count, weight)| f32::from(count) * weight).sum::<f32>()
    }
}

/// Frequencies of one term.
#[derive(Default)]
pub struct TermFrequencies {
    /// Frequency by ordinal.
    pub tf: Vec<f32>,
    /// Ordinals of the documents with a frequency, each once.
    pub matched: Vec<u32>,
}

impl TermFrequencies {
    /// Adds to the frequency of a document.
    #[inline]
    pub fn add(&mut self, ordinal: usize, tf: f32) {
        let sum = &mut self.tf[ordinal];
        if *sum == 0.0 && tf > 0.0 {
            self.matched.push(ordinal as u32);
        }
        *sum += tf;
    }

    /// Adds the postings of a segment to its documents and their neighbours. Stops before a document that is irregular
    /// or linked with another segment, and returns the number of postings that it added. `first` is the ordinal of the
    /// segment's first document.
    pub fn add_postings(
        &mut self,
        postings: &[Posting],
        weights: &PostingWeights<'_>,
        (runs, is_linked): (&TurnRuns, &[bool]),
        first: usize,
    ) -> usize {
        for (added, posting) in postings.iter().enumerate() {
            let (index, run) = (posting.doc as usize, runs[posting.doc as usize]);
            if run == IRREGULAR_TURNS || is_linked[index] {
                return added;
            }
            let ordinal = first + index;
            self.add(ordinal, weights.own(posting));
            let content = weights.share * f32::from(posting.counts[0]);
            if content > 0.0 {
                for distance in 1..=usize::from(run & 15) {
                    self.add(ordinal - distance, weights.later[distance] * content);
                }
                for distance in 1..=usize::from(run >> 4) {
                    self.add(ordinal + distance, weights.earlier[distance] * content);
                }
            }
        }
        postings.len()
    }
}

/// Sums over the terms of a query.
#[derive(Default)]
pub struct Bm25Sums {
    /// BM25F by ordinal; 0 for documents without a match.
    pub bm25: Vec<f32>,
    /// Sum of the coverage weights of the matched terms, by ordinal.
    pub covered: Vec<f32>,
    /// Ordinals of the documents in which any term matches, each once.
    pub matched: Vec<u32>,
}

/// Worth of a term of the query.
pub struct TermWorth {
    /// Weight of the term times its idf.
    pub bm25: f32,
    /// Weight of the term for coverage.
    pub coverage: f32,
    /// Constant k1 of BM25.
    pub k1: f32,
}

impl Bm25Sums {
    /// Adds a term, and clears its frequencies for the next one. `norms` are those of [`length_norms`], by ordinal.
    pub fn add_term(&mut self, term: &mut TermFrequencies, norms: &[f32], worth: &TermWorth) {
        for ordinal in term.matched.drain(..) {
            let index = ordinal as usize;
            let tf = std::mem::take(&mut term.tf[index]);
            let bm25 = &mut self.bm25[index];
            if *bm25 == 0.0 {
                self.matched.push(ordinal);
            }
            *bm25 += worth.bm25 * (tf * (worth.k1 + 1.0) / (tf + norms[index]));
            self.covered[index] += worth.coverage;
        }
    }

    /// Returns the sums of BM25F and of its squares, in the order of the matches.
    pub fn totals(&self) -> (f64, f64) {
        self.matched.iter().fold((0.0, 0.0), |(sum, squares), ordinal| {
            let bm25 = f64::from(self.bm25[*ordinal as usize]);
            (sum + bm25, squares + bm25 * bm25)
        })
    }
}

/// Constants of the length normalization of BM25.
#[derive(Clone, Copy)]
pub struct LengthNorm {
    /// Constant k1.
    pub k1: f32,
    /// Constant b.
    pub b: f32,
    /// Average length of a document; 0 counts all lengths as average.
    pub average: f32,
}

impl LengthNorm {
    /// Returns the share of a document's length in the saturation of BM25.
    #[inline(always)]
    pub fn of(self, length: f32) -> f32 {
        let relative = if self.average > 0.0 { length / self.average } else { 1.0 };
        self.k1 * (1.0 - self.b + self.b * relative)
    }
}

/// Writes the [`LengthNorm::of`] each length.
pub fn length_norms(lengths: &[f32], norm: LengthNorm, out: &mut [f32]) {
    run_widest(LengthNormTask { lengths, norm, out });
}

struct LengthNormTask<'a> {
    lengths: &'a [f32],
    norm: LengthNorm,
    out: &'a mut [f32],
}

impl SimdTask for LengthNormTask<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { lengths, norm, out } = self;
        out.iter_mut().zip(lengths).for_each(|(out, length)| *out = norm.of(*length));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEIGHTS: PostingWeights<'_> = PostingWeights {
        share: 0.5,
        fields: [1.0, 3.0, 0.0, 0.0, 2.0],
        earlier: &[0.0, 0.5, 0.25],
        later: &[0.0, 0.75, 0.5],
    };

    fn posting(doc: u32, counts: [u8; FIELDS]) -> Posting {
        Posting { doc, counts }
    }

    #[test]
    fn a_word_of_a_turn_counts_for_its_neighbours_and_a_name_does_not() {
        let mut term = TermFrequencies { tf: vec![0.0; 6], matched: Vec::new() };
        let runs = [turn_run(0, 2), turn_run(1, 1), turn_run(2, 0), 0, 0];
        let postings = [posting(1, [2, 0, 0, 0, 0]), posting(3, [0, 1, 0, 0, 1])];
        let added = term.add_postings(&postings, &WEIGHTS, (&runs, &[false; 5]), 1);
        assert_eq!((added, term.matched), (2, vec![2, 1, 3, 4]));
        assert_eq!(term.tf, [0.0, 0.75, 1.0, 0.5, 2.5, 0.0]);
    }

    #[test]
    fn irregular_and_linked_documents_are_left_to_the_caller() {
        let mut term = TermFrequencies { tf: vec![0.0; 3], matched: Vec::new() };
        let postings = [0, 1, 2].map(|doc| posting(doc, [1, 0, 0, 0, 0]));
        let runs = [0, IRREGULAR_TURNS, 0];
        assert_eq!(term.add_postings(&postings, &WEIGHTS, (&runs, &[false; 3]), 0), 1);
        let is_linked = [false, false, true];
        assert_eq!(term.add_postings(&postings[2..], &WEIGHTS, (&runs, &is_linked), 0), 0);
        assert_eq!(term.tf, [0.5, 0.0, 0.0]);
    }

    #[test]
    fn terms_add_up_and_leave_nothing_for_the_next() {
        let mut sums = Bm25Sums { bm25: vec![0.0; 2], covered: vec![0.0; 2], matched: Vec::new() };
        let mut term = TermFrequencies { tf: vec![0.0; 2], matched: Vec::new() };
        let mut norms = [0.0; 2];
        length_norms(&[1.0, 3.0], LengthNorm { k1: 1.0, b: 0.5, average: 2.0 }, &mut norms);
        assert_eq!(norms, [0.75, 1.25]);
        for _ in 0..2 {
            term.add(1, 0.75);
            sums.add_term(&mut term, &norms, &TermWorth { bm25: 4.0, coverage: 1.5, k1: 1.0 });
        }
        assert_eq!((&sums.matched[..], &term.tf[..]), (&[1][..], &[0.0; 2][..]));
        assert_eq!((&sums.bm25[..], &sums.covered[..]), (&[0.0, 6.0][..], &[0.0, 3.0][..]));
        assert_eq!(sums.totals(), (6.0, 36.0));
    }
}
