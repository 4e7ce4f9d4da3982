//! What speaks for the best hit answering the query: numbers that ranking has at hand anyway.

use serde::Serialize;

use super::{
    ConfidenceCoefficients, Hit,
    corpus::DocRef,
    fuse::{BACKGROUND_DOCS, Fusion},
    lexical::bm25_idf,
};
use crate::text::terms::is_function_pair;

/// How much nearer than the scope's average a text in between is: half of the questions of the sets that were fitted lie
/// above. Where no vectors are asked, meaning says neither yes nor no.
const USUAL_SEMANTIC_MARGIN: f64 = 0.35;

/// A second unknown name says it clearly enough; a list of foreign names says no more.
const MAX_UNKNOWN_NAMES: usize = 2;

/// A scope of so many memories is no longer small: in homes of 60 the weights of large ones are right as often as any others.
const SMALL_SCOPE_LIMIT: f64 = 60.0;

/// In a larger scope, some question of a long message is always covered by accident, so that only the whole counts.
const MAX_DOCS_FOR_PARTS: usize = 300;

/// How small a scope of so many memories is.
fn smallness(count: usize) -> f64 {
    (1.0 - (count.max(1) as f64).ln() / SMALL_SCOPE_LIMIT.ln()).max(0.0)
}

/// What speaks for the best hit answering the query.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct ConfidenceFeatures {
    /// The share of the query's worth that the best hit covers, rare words counting more.
    pub coverage: f64,
    /// How much it covers: ln(1 + the sum of the rarities). One common word is little, however complete.
    pub matched: f64,
    /// The best score of any hit, over what all terms together could make.
    pub strength: f64,
    /// The share of the query's terms that the scope knows.
    pub known: f64,
    /// How much nearer in meaning it is than the scope's average; 0 is what is usual, or not known.
    pub meaning: f64,
    /// Whether the query names somebody who speaks in the scope.
    pub speaker: bool,
    /// How many names of the query the scope does not know, two at most.
    pub strangers: usize,
    /// How many it knows.
    pub acquaintances: usize,
    /// Whether the best hit is of the time that the query names.
    pub date: bool,
    /// How small the scope is: 1 with a single memory, 0 from sixty on.
    pub small: f64,
}

/// Sums over the query's terms.
#[derive(Default)]
struct TermSums {
    /// How rare the terms are, beside a background of other texts.
    worth: f64,
    covered: f64,
    /// How rare they are in the scope alone.
    idf: f64,
    count: f64,
    known: f64,
}

impl Fusion<'_> {
    /// Weighs the hits, best first: for the whole query, and for each question in it, of which the best answered counts. What
    /// is said around a question need not be known.
    pub(super) fn confidence_features(
        &self,
        hits: &[Hit],
        weights: &ConfidenceCoefficients,
    ) -> ConfidenceFeatures {
        let whole = self.features_for(hits, None);
        let asked: &[_] =
            if self.corpus.num_docs() < MAX_DOCS_FOR_PARTS { &self.intent.questions } else { &[] };
        let parts = asked.iter().map(|part| self.features_for(hits, Some(part)));
        let odds = |evidence: &ConfidenceFeatures| weights.log_odds(&evidence.features());
        parts.fold(whole, |best, part| if odds(&part) > odds(&best) { part } else { best })
    }

    /// Weighs the hits for the whole query, or for these terms of it.
    fn features_for(&self, hits: &[Hit], part: Option<&Vec<String>>) -> ConfidenceFeatures {
        let best = hits.first().and_then(|hit| Some((hit, self.corpus.find(hit.address)?)));
        let Some((hit, doc)) = best else { return ConfidenceFeatures::default() };
        let sums = self.term_sums(doc, part);
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let strongest = hits.iter().map(|hit| hit.signals.bm25).fold(0.0, f64::max);
        let (strangers, acquaintances) = self.name_counts();
        ConfidenceFeatures {
            coverage: share(sums.covered, sums.worth),
            matched: sums.covered.ln_1p(),
            strength: share(strongest, sums.idf),
            known: share(sums.known, sums.count),
            meaning: self.semantic_margin(doc).unwrap_or_default(),
            speaker: hits.iter().any(|hit| hit.signals.speaker > 0.0),
            strangers: strangers.min(MAX_UNKNOWN_NAMES),
            acquaintances,
            date: hit.signals.date > 0.0,
            small: smallness(self.corpus.num_docs()),
        }
    }

    /// Adds up the terms. Those that name a time are left out: what was said then need not repeat them. Of a task only what
    /// it takes from memory counts; the rest says what is to be made.
    fn term_sums(&self, doc: DocRef, part: Option<&Vec<String>>) -> TermSums {
        let around = self.corpus.neighbours(doc);
        let mut sums = TermSums::default();
        let terms = self
            .intent
            .terms
            .iter()
            .zip(&self.gathered.term_variants)
            .zip(&self.scores.doc_frequencies);
        for ((term, variants), &known) in terms {
            let says_nothing = known == 0 && is_function_pair(&term.text);
            let taken = &self.intent.task_possessions;
            let is_made = !taken.is_empty() && !taken.contains(&term.text);
            let elsewhere = part.is_some_and(|part| !part.contains(&term.text));
            if says_nothing || is_made || elsewhere || self.intent.time_terms.contains(&term.text) {
                continue;
            }
            let worth =
                term.weight * f64::from(bm25_idf(self.corpus.num_docs() + BACKGROUND_DOCS, known));
            sums.worth += worth;
            sums.idf += term.weight * f64::from(self.corpus.idf(known));
            sums.count += term.weight;
            if known > 0 {
                sums.known += term.weight;
            }
            if self.corpus.term_frequency(doc, &around, variants) > 0.0 {
                sums.covered += worth;
            }
        }
        sums
    }

    /// How many names of the query are unknown here, and how many known.
    fn name_counts(&self) -> (usize, usize) {
        let is_known = |name: &Vec<String>| {
            let mut terms = self.intent.terms.iter().zip(&self.scores.doc_frequencies);
            terms.any(|(term, known)| *known > 0 && name.contains(&term.text))
        };
        let known = self.intent.names.iter().filter(|name| is_known(name)).count();
        (self.intent.names.len() - known, known)
    }

    /// How much more similar a document is than the scope's usual one. The mean of a few memories says nothing of what is
    /// usual: of a single one it is that memory itself.
    fn semantic_margin(&self, doc: DocRef) -> Option<f64> {
        let similar = self.similarities.as_ref()?;
        let small = smallness(self.corpus.num_docs());
        let usual = small * similar.unrelated + (1.0 - small) * similar.mean;
        Some(
            f64::from(similar.similarity(self.corpus.ordinal(doc))?)
                - usual
                - USUAL_SEMANTIC_MARGIN,
        )
    }
}
