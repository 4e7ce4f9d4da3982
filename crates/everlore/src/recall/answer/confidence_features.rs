//! Confidence features: inputs of the confidence model, taken from numbers that ranking has computed anyway.

use serde::Serialize;

use super::{confidence::ConfidenceCoefficients, need_form::need_log_odds};
use crate::{
    recall::{
        FactQuestion, Hit, HitSignals, MemoryNeed, MessageForm, QueryKind, QueryTerm,
        rank::{DocRef, Fusion},
    },
    text::language::is_cjk,
};

/// Median margin of the best hit's similarity over the scope's mean, among the questions of the training sets. It
/// centres the feature at 0, which is also its value without vectors: neither for nor against.
const USUAL_SEMANTIC_MARGIN: f64 = 0.35;

/// Maximum count of unknown names: two are clear enough, and a list of foreign names says no more.
const MAX_UNKNOWN_NAMES: usize = 2;

/// Number of memories from which a scope is not small: with 60 memories, the coefficients of large scopes are right as
/// often as any others.
const SMALL_SCOPE_LIMIT: f64 = 60.0;

/// Number of memories below which each question of a message is judged on its own: in a larger scope, some question of
/// a long message is always covered by accident, so only the whole counts.
const MAX_DOCS_FOR_PARTS: usize = 300;

/// Median of the highest cosine and of the highest token match by the built-in encoder, over messages that need memory.
const USUAL_COSINE: f64 = 0.45;
const USUAL_MAX_SIM: f64 = 0.45;

/// The same for the highest cosine to what the message seeks.
const USUAL_SOUGHT: f64 = 0.45;

/// Best hits whose languages are compared: as many as a prompt is told, and some more.
const MAX_COMPETING: usize = 8;

/// Returns the smallness of a scope with so many memories: 1 for one memory, 0 from [`SMALL_SCOPE_LIMIT`] on.
fn smallness(count: usize) -> f64 {
    (1.0 - (count.max(1) as f64).ln() / SMALL_SCOPE_LIMIT.ln()).max(0.0)
}

/// Features of a query and its best hit.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct ConfidenceFeatures {
    /// Share of the query's terms that the best hit covers, weighted by rarity.
    pub coverage: f64,
    /// Amount that the best hit covers: ln(1 + sum of the rarities). One common word is little, even if it is all.
    pub matched: f64,
    /// Highest BM25F of any hit, relative to the sum of the query terms' idf.
    pub strength: f64,
    /// Share of the query's terms that occur in the scope.
    pub known: f64,
    /// Margin of the best hit's similarity over the scope's mean; 0 if it is usual, or without vectors.
    pub meaning: f64,
    /// `true` if the query names a speaker of the scope.
    pub speaker: bool,
    /// Number of the query's names that the scope lacks, at most two.
    #[serde(rename = "strangers")]
    pub unknown_names: usize,
    /// Number of the query's names that occur in the scope.
    #[serde(rename = "acquaintances")]
    pub known_names: usize,
    /// `true` if the best hit is of the time that the query names.
    pub date: bool,
    /// Smallness of the scope: 1 with a single memory, 0 from sixty on.
    pub small: f64,
    /// `true` if general knowledge answers the message, by the rules of its form.
    pub general: bool,
    /// `true` if the message is code, configuration or an error.
    pub code: bool,
    /// `true` if the encoder compared hits with the query.
    pub compared: bool,
    /// Log odds that the message calls for memory, by the message model, or else by its form.
    pub need: f64,
    /// `true` if the message asks for one fact, which other memories cannot replace, and similarity must show that a hit
    /// states it.
    pub asks_fact: bool,
    /// Highest cosine of a hit by the reranking model, less the usual one; 0 if none was compared.
    pub cosine: f64,
    /// Highest match of the query's tokens in a hit, less the usual one; 0 if none was compared.
    pub max_sim: f64,
    /// Highest cosine of a hit and of what the message seeks, less the usual one; `None` if none was compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sought: Option<f64>,
}

/// Sums over the query's terms.
#[derive(Default)]
struct TermSums {
    /// Coverage weights of all terms.
    total: f64,
    /// Coverage weights of the terms that the document contains.
    covered: f64,
    /// Idf of the terms in the scope alone.
    idf: f64,
    /// Weights of all terms.
    count: f64,
    /// Weights of the terms that occur in the scope.
    known: f64,
}

/// Returns the highest value of a signal among the hits; `None` if no hit has it.
fn highest(hits: &[Hit], signal: impl Fn(&HitSignals) -> Option<f64>) -> Option<f64> {
    hits.iter().filter_map(|hit| signal(&hit.signals)).reduce(f64::max)
}

/// Returns `true` if a question for a fact needs a hit that states it. A question about the speaker alone is told what is
/// nearest; where memories in both languages compete, something in the other language is always near.
fn needs_evidence(form: &MessageForm, hits: &[Hit]) -> bool {
    match form.fact {
        FactQuestion::None => false,
        FactQuestion::AboutOthers => true,
        FactQuestion::AboutSpeaker => {
            let is_other = |hit: &Hit| hit.memory.content.contains(is_cjk) != form.is_chinese;
            hits.iter().take(MAX_COMPETING).any(is_other)
        }
    }
}

impl Fusion<'_> {
    /// Computes the features of the hits, best first, for the whole query and for each question in it, and returns
    /// those with the highest log odds: the text around a question need not be known.
    pub(super) fn confidence_features(
        &self,
        hits: &[Hit],
        coefficients: &ConfidenceCoefficients,
    ) -> ConfidenceFeatures {
        let whole = self.features_for(hits, None);
        let questions: &[_] =
            if self.corpus.num_docs() < MAX_DOCS_FOR_PARTS { &self.intent.questions } else { &[] };
        let parts = questions.iter().map(|question| self.features_for(hits, Some(question)));
        let log_odds = |features: &ConfidenceFeatures| coefficients.log_odds(features);
        parts.fold(whole, |best, part| if log_odds(&part) > log_odds(&best) { part } else { best })
    }

    /// Computes the features for the whole query, or for the terms of one of its questions.
    fn features_for(&self, hits: &[Hit], question: Option<&Vec<String>>) -> ConfidenceFeatures {
        let best = hits.first().and_then(|hit| Some((hit, self.corpus.find(hit.address)?)));
        let Some((hit, doc)) = best else { return ConfidenceFeatures::default() };
        let sums = self.term_sums(doc, question);
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let strongest = hits.iter().map(|hit| hit.signals.bm25).fold(0.0, f64::max);
        let (unknown_names, known_names) = self.name_counts();
        ConfidenceFeatures {
            coverage: share(sums.covered, sums.total),
            matched: sums.covered.ln_1p(),
            strength: share(strongest, sums.idf),
            known: share(sums.known, sums.count),
            meaning: self.semantic_margin(doc).unwrap_or_default(),
            speaker: hits.iter().any(|hit| hit.signals.speaker > 0.0),
            unknown_names: unknown_names.min(MAX_UNKNOWN_NAMES),
            known_names,
            date: hit.signals.date > 0.0,
            small: smallness(self.corpus.num_docs()),
            general: self.intent.need == MemoryNeed::General,
            code: self.intent.kind == QueryKind::Code,
            compared: hits.iter().any(|hit| hit.signals.rerank_cosine.is_some()),
            need: self.need(),
            asks_fact: needs_evidence(&self.intent.form, hits),
            cosine: highest(hits, |signals| signals.rerank_cosine)
                .map_or(0.0, |cosine| cosine - USUAL_COSINE),
            max_sim: highest(hits, |signals| signals.max_sim)
                .map_or(0.0, |max_sim| max_sim - USUAL_MAX_SIM),
            sought: highest(hits, |signals| signals.sought_cosine)
                .map(|sought| sought - USUAL_SOUGHT),
        }
    }

    /// Returns the log odds that the message calls for memory. What a failed program printed may have been cured before,
    /// which the model, who knows what people write, cannot tell; so it is even.
    fn need(&self) -> f64 {
        let reading = self.readings.message.as_ref();
        let by_model =
            need_log_odds(&self.intent.form, reading.map(|reading| reading.need_log_odds));
        if self.intent.reports_failure { by_model.max(0.0) } else { by_model }
    }

    /// Adds up the terms of the query that count.
    fn term_sums(&self, doc: DocRef, question: Option<&Vec<String>>) -> TermSums {
        let neighbours = self.corpus.neighbours(doc);
        let mut sums = TermSums::default();
        let terms = self.known_terms().filter(|(term, ..)| self.counts_for(term, question));
        for (term, variants, df) in terms {
            let weight = self.coverage_weight(term, df);
            sums.total += weight;
            sums.idf += term.weight * f64::from(self.corpus.idf(df));
            sums.count += term.weight;
            if df > 0 {
                sums.known += term.weight;
            }
            if self.corpus.term_frequency(doc, &neighbours, variants) > 0.0 {
                sums.covered += weight;
            }
        }
        sums
    }

    /// Returns `true` if a term counts for the features. Terms that name a time do not: memories of that time need not
    /// repeat them. Of a task, only the possessions it mentions count; the rest describes what to create.
    fn counts_for(&self, term: &QueryTerm, question: Option<&Vec<String>>) -> bool {
        let possessions = &self.intent.task_possessions;
        (possessions.is_empty() || possessions.contains(&term.text))
            && question.is_none_or(|question| question.contains(&term.text))
            && !self.intent.time_terms.contains(&term.text)
    }

    /// Returns the number of names in the query that the scope lacks, and of those it contains.
    fn name_counts(&self) -> (usize, usize) {
        let is_known = |name: &Vec<String>| {
            self.doc_frequencies().any(|(term, df)| df > 0 && name.contains(&term.text))
        };
        let known = self.intent.names.iter().filter(|name| is_known(name)).count();
        (self.intent.names.len() - known, known)
    }

    /// Returns the margin of a document's similarity over the usual one. The mean of a few memories is no measure of
    /// that: for a single memory it is the memory itself.
    fn semantic_margin(&self, doc: DocRef) -> Option<f64> {
        let similarities = self.similarities.as_ref()?;
        let small = smallness(self.corpus.num_docs());
        let usual = small * similarities.unrelated + (1.0 - small) * similarities.mean;
        let similarity = f64::from(similarities.similarity(self.corpus.ordinal(doc))?);
        Some(similarity - usual - USUAL_SEMANTIC_MARGIN)
    }
}
