//! Signal fusion: expresses BM25F and cosine similarity as z-scores over the scope and adds them up with the boosts.

use std::{collections::HashSet, sync::Arc};

use super::{
    best_items::BestItems,
    corpus::{Corpus, DocRef},
    gather::{GatheredPostings, is_by_speaker},
    lexical::Bm25Matches,
    parallel::for_each,
    query_models::QueryReadings,
    rerank,
    semantic::DocSimilarities,
    signals::{HitSignals, TermSignal},
};
use crate::{
    config::RecallConfig,
    recall::{IdentityQuestion, Intent, QueryTerm, RecallDeps, RecallRequest, query::QueryPeriod},
    store::{DocAddress, MemoryFilter},
    text::terms::is_function_pair,
    types::{Kind, Timestamp},
};

/// Boost of memories about the user if the query asks about the user: more than the boost for a named speaker, since no
/// other signal supports such a memory.
pub(crate) const IDENTITY_BOOST: f64 = 3.0;

/// Coverage from which a match of terms counts in full beside similarity in meaning. A single shared word or, in the
/// other language, a chance pair of characters has a huge z-score where nothing else matches.
const FULL_TERM_COVERAGE: f64 = 0.5;

/// Least share of a match of terms that counts: one rare word of a long list is a match, too.
const MIN_TERM_SHARE: f64 = 0.3;

/// Highest z-score of a match of some terms beside similarity in meaning. The only match among 150 memories has a z-score
/// of 12, whatever its words; that of a good match among several is 3 to 5.
const MAX_TERM_SIGNAL: f64 = 5.0;

/// Coverage from which a match has nearly all terms and its z-score has no bound: a name or a code that is asked for
/// stands before all that looks like it.
const WHOLE_COVERAGE: f64 = 0.9;

/// Documents per unit of parallel work.
const CHUNK_DOCS: usize = 4_096;

/// Cost of fusing one document, in comparisons of vectors.
const FUSION_COST: usize = 3;

/// Candidate for the answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RecallCandidate {
    pub(super) address: DocAddress,
    pub(super) kind: Kind,
    pub(super) at: Timestamp,
    pub(super) signals: HitSignals,
}

/// Document with the sum of its signals. There are many of these and few become candidates, so it holds no more.
#[derive(Clone, Copy)]
struct FusedDoc {
    doc: DocRef,
    fused: f64,
}

/// Signals of a document by itself, before the boost of its session.
struct DocSignals {
    bm25: f64,
    lexical: f64,
    semantic: f64,
    speaker: f64,
    when: f64,
    date: f64,
    identity: f64,
}

/// Signals of all documents for a query, ready to be ranked and explained.
pub(crate) struct Fusion<'a> {
    pub(crate) gathered: &'a GatheredPostings,
    pub(crate) intent: &'a Intent,
    /// Readings of the query by the models, empty until the candidates are loaded.
    pub(crate) readings: Arc<QueryReadings>,
    pub(super) config: RecallConfig,
    pub(crate) corpus: Corpus<'a>,
    lexical: Bm25Matches,
    pub(crate) similarities: Option<DocSimilarities>,
    /// Filter of each segment.
    filters: Vec<MemoryFilter>,
    period: Option<QueryPeriod<'a>>,
    /// Posting list of the speaker, if the query names exactly one.
    speaker_list: Option<usize>,
    /// Mean and standard deviation of BM25F over the scope.
    bm25_stats: (f64, f64),
    /// Sum of the coverage weights of all query terms.
    total_coverage: f64,
    fused_docs: Vec<FusedDoc>,
    /// Boost of the documents of each session.
    session_boosts: Vec<f64>,
}

/// Measures every document of the scope and adds up its signals.
pub(crate) fn fuse<'a>(
    deps: RecallDeps<'_>,
    request: &RecallRequest,
    gathered: &'a GatheredPostings,
    intent: &'a Intent,
) -> Fusion<'a> {
    let config = rerank::first_stage_config(deps, request);
    let corpus = Corpus::new(&gathered.segments, &config);
    let (lexical, similarities) = compare(gathered, intent, &corpus);
    let mut fusion = Fusion {
        gathered,
        intent,
        readings: Arc::default(),
        config,
        filters: gathered.segment_filters(&corpus),
        period: period(&corpus, intent),
        speaker_list: named_speaker(gathered, &corpus),
        bm25_stats: bm25_stats(&corpus, &lexical),
        total_coverage: 0.0,
        fused_docs: Vec::new(),
        session_boosts: Vec::new(),
        corpus,
        lexical,
        similarities,
    };
    fusion.total_coverage =
        fusion.known_terms().map(|(term, _, df)| fusion.coverage_weight(term, df)).sum();
    fusion.fuse_docs();
    fusion.boost_sessions();
    fusion
}

/// Compares all documents with the query, by words and, if the query has an embedding, by meaning at the same time.
fn compare(
    gathered: &GatheredPostings,
    intent: &Intent,
    corpus: &Corpus<'_>,
) -> (Bm25Matches, Option<DocSimilarities>) {
    let weights: Vec<_> = intent.terms.iter().map(|term| term.weight).collect();
    let bm25 = || corpus.bm25(&gathered.term_variants, &weights);
    let Some(embedding) = &gathered.query_embedding else { return (bm25(), None) };
    let (similarities, lexical) = DocSimilarities::new(embedding, gathered, corpus, bm25);
    (lexical, Some(similarities))
}

impl Fusion<'_> {
    /// Returns the number of documents that can become candidates.
    pub(crate) fn candidate_count(&self) -> usize {
        self.fused_docs.len()
    }

    /// Returns the best `limit` candidates, best first; ties are broken by address.
    pub(super) fn best(&self, limit: usize) -> Vec<RecallCandidate> {
        let corpus = &self.corpus;
        let mut best = BestItems::new(limit, |a: &FusedDoc, b: &FusedDoc| {
            b.fused
                .total_cmp(&a.fused)
                .then_with(|| corpus.address(a.doc).cmp(&corpus.address(b.doc)))
        });
        self.fused_docs.iter().for_each(|fused| best.push(*fused));
        best.into_sorted().iter().map(|fused| self.candidate(fused.doc)).collect()
    }

    /// Fills in the coverage of the query and the terms that made up BM25F.
    pub(crate) fn explain(&self, address: DocAddress, signals: &mut HitSignals) {
        let Some(doc) = self.corpus.find(address) else { return };
        let mut total = 0.0;
        let neighbours = self.corpus.neighbours(doc);
        for (term, variants, df) in self.known_terms() {
            let frequency = self.corpus.term_frequency(doc, &neighbours, variants);
            let weight = self.coverage_weight(term, df);
            total += weight;
            if frequency > 0.0 {
                signals.coverage += weight;
                let idf = f64::from(self.corpus.idf(df));
                signals.terms.push(TermSignal {
                    term: term.text.clone(),
                    idf,
                    frequency: frequency.into(),
                    score: term.weight * idf * f64::from(self.corpus.saturate(frequency, doc)),
                });
            }
        }
        signals.coverage /= if total > 0.0 { total } else { 1.0 };
    }

    /// Returns each query term with its document frequency.
    pub(crate) fn doc_frequencies(&self) -> impl Iterator<Item = (&QueryTerm, usize)> {
        self.intent.terms.iter().zip(self.lexical.doc_frequencies.iter().copied())
    }

    /// Returns each query term with the posting lists of its variants and its document frequency. Leaves out pairs with
    /// a Chinese function character that no document contains: their absence says nothing.
    pub(crate) fn known_terms(&self) -> impl Iterator<Item = (&QueryTerm, &[(usize, f64)], usize)> {
        let variants = self.gathered.term_variants.iter().map(Vec::as_slice);
        let all = self.doc_frequencies().zip(variants);
        all.filter(|((term, df), _)| *df > 0 || !is_function_pair(&term.text))
            .map(|((term, df), variants)| (term, variants, df))
    }

    /// Returns the weight of a term for coverage.
    pub(crate) fn coverage_weight(&self, term: &QueryTerm, df: usize) -> f64 {
        term.weight * f64::from(self.corpus.background_idf(df))
    }

    fn candidate(&self, doc: DocRef) -> RecallCandidate {
        let (own, session) = (self.doc_signals(doc), self.session_boosts[self.session(doc)]);
        let signals = HitSignals {
            bm25: own.bm25,
            lexical: own.lexical,
            semantic: own.semantic,
            speaker: own.speaker,
            when: own.when,
            date: own.date,
            identity: own.identity,
            session,
            cosine: self.cosine(doc),
            fused: own.sum() + session,
            ..HitSignals::default()
        };
        let (kind, at) = (self.corpus.flags(doc).kind, self.corpus.at(doc));
        RecallCandidate { address: self.corpus.address(doc), kind, at, signals }
    }

    /// Adds up the signals of every document that passes the filter and that any source offers: terms, similarity or
    /// time.
    fn fuse_docs(&mut self) {
        let Self { intent, corpus, lexical, .. } = &*self;
        let is_unmatched = |ordinal: &u32| lexical.sums.bm25[*ordinal as usize] == 0.0;
        let similar = self.similarities.iter().flat_map(|similarities| &similarities.best);
        let similar = similar.map(|doc| corpus.ordinal(*doc) as u32);
        let mut others: Vec<u32> = similar.filter(is_unmatched).collect();
        if self.period.is_some() {
            let known: HashSet<_> = others.iter().copied().collect();
            others.extend(self.unmatched_docs().into_iter().filter(|doc| !known.contains(doc)));
        }
        let is_candidate = |doc: &DocRef| {
            (!intent.asks_period || self.is_in_period(*doc)) && self.passes_filter(*doc)
        };
        let fused = |doc: DocRef| FusedDoc { doc, fused: self.doc_signals(doc).sum() };
        let matched = &lexical.sums.matched;
        let chunks: Vec<&[u32]> = matched.chunks(CHUNK_DOCS).chain([&others[..]]).collect();
        let mut results = Vec::new();
        results.resize_with(chunks.len(), Vec::new);
        let work = chunks.into_iter().zip(&mut results).collect();
        for_each(
            matched.len() * FUSION_COST,
            work,
            |(ordinals, results): (&[u32], &mut Vec<_>)| {
                let docs = ordinals.iter().map(|ordinal| corpus.doc_at(*ordinal as usize));
                results.extend(docs.filter(is_candidate).map(fused));
            },
        );
        self.fused_docs = results.concat();
    }

    /// Returns `true` if a document passes the filter.
    pub(super) fn passes_filter(&self, doc: DocRef) -> bool {
        let filter = &self.filters[self.corpus.segment(doc)];
        self.gathered.passes_filter(filter, &self.corpus, doc)
    }

    /// Returns the ordinals of the documents that no term matches but the query's period selects.
    fn unmatched_docs(&self) -> Vec<u32> {
        let corpus = &self.corpus;
        let is_unmatched = |doc: &DocRef| self.lexical.sums.bm25[corpus.ordinal(*doc)] == 0.0;
        let unmatched = corpus.docs().filter(is_unmatched).filter(|doc| self.is_in_period(*doc));
        unmatched.map(|doc| corpus.ordinal(doc) as u32).collect()
    }

    /// Computes the signals of a document by itself.
    fn doc_signals(&self, doc: DocRef) -> DocSignals {
        let (corpus, config, intent) = (&self.corpus, &self.config, self.intent);
        let (ordinal, flags) = (corpus.ordinal(doc), corpus.flags(doc));
        let bm25 = f64::from(self.lexical.sums.bm25[ordinal]);
        let similarity = self.similarities.as_ref().map_or(0.0, |all| all.z_score(ordinal));
        let boost = |applies: bool, boost: f64| if applies { boost } else { 0.0 };
        let is_spoken = |list| corpus.posting(doc, list).is_some_and(is_by_speaker);
        DocSignals {
            bm25,
            lexical: self.lexical_signal(ordinal),
            semantic: config.semantic * f64::from(similarity),
            speaker: boost(self.speaker_list.is_some_and(is_spoken), config.speaker_boost),
            when: boost(intent.asks_when && flags.names_time, config.when_boost),
            date: boost(self.is_in_period(doc), config.date_boost),
            identity: boost(flags.kind == Kind::User, identity_boost(intent.identity)),
        }
    }

    /// Returns the z-score of BM25F; beside similarity in meaning, a match of few terms counts less.
    fn lexical_signal(&self, ordinal: usize) -> f64 {
        let signal = z_score(self.lexical.sums.bm25[ordinal].into(), self.bm25_stats);
        if signal <= 0.0 || self.similarities.is_none() {
            return signal;
        }
        let coverage =
            f64::from(self.lexical.sums.covered[ordinal]) / self.total_coverage.max(1e-9);
        let highest = if coverage < WHOLE_COVERAGE { MAX_TERM_SIGNAL } else { f64::MAX };
        signal.min(highest) * (coverage / FULL_TERM_COVERAGE).clamp(MIN_TERM_SHARE, 1.0)
    }

    /// Boosts every document by a share of the best one in its session.
    fn boost_sessions(&mut self) {
        let mut best = vec![0.0f64; self.corpus.last_session() as usize + 1];
        for fused in &self.fused_docs {
            let best = &mut best[self.session(fused.doc)];
            *best = best.max(fused.fused);
        }
        // Memories outside a session have nothing in common.
        best[0] = 0.0;
        self.session_boosts =
            best.into_iter().map(|best| self.config.session_prior * best).collect();
        let (corpus, boosts) = (&self.corpus, &self.session_boosts);
        for fused in &mut self.fused_docs {
            fused.fused += boosts[corpus.address(fused.doc).session() as usize];
        }
    }

    fn cosine(&self, doc: DocRef) -> Option<f64> {
        let similarities = self.similarities.as_ref()?;
        similarities.similarity(self.corpus.ordinal(doc)).map(f64::from)
    }

    fn session(&self, doc: DocRef) -> usize {
        self.corpus.address(doc).session() as usize
    }

    fn is_in_period(&self, doc: DocRef) -> bool {
        let (address, at) = (self.corpus.address(doc), || self.corpus.at(doc));
        self.period.as_ref().is_some_and(|period| period.contains(address, at()))
    }
}

impl DocSignals {
    fn sum(&self) -> f64 {
        self.lexical + self.semantic + self.speaker + self.when + self.date + self.identity
    }
}

/// Returns the mean and the standard deviation of BM25F over the whole scope; documents without a match count as zero.
fn bm25_stats(corpus: &Corpus<'_>, lexical: &Bm25Matches) -> (f64, f64) {
    let (count, (sum, squares)) = (corpus.num_docs().max(1) as f64, lexical.sums.totals());
    let mean = sum / count;
    let variance = squares / count - mean * mean;
    (mean, variance.max(0.0).sqrt())
}

/// Returns the z-score of a value; the value itself if all documents of the scope match alike.
fn z_score(value: f64, (mean, deviation): (f64, f64)) -> f64 {
    if deviation > 1e-6 { (value - mean) / deviation } else { value }
}

fn identity_boost(identity: IdentityQuestion) -> f64 {
    match identity {
        IdentityQuestion::None => 0.0,
        // A passing mention of the user counts half as much as the question who the user is.
        IdentityQuestion::Weak => IDENTITY_BOOST / 2.0,
        IdentityQuestion::Strong => IDENTITY_BOOST,
    }
}

/// Returns the posting list of the speaker that the query names; `None` if it names none or more than one.
fn named_speaker(gathered: &GatheredPostings, corpus: &Corpus<'_>) -> Option<usize> {
    let spoken = |list: usize| {
        corpus.postings(list).filter(|(_, posting)| is_by_speaker(posting)).map(|(doc, _)| doc)
    };
    let mut lists = gathered.term_variants.iter().filter_map(|variants| Some(variants.first()?.0));
    let first = lists.by_ref().find(|list| gathered.names_speaker(*list))?;
    // The first and the last name of one person mark the same turns.
    lists
        .all(|other| !gathered.names_speaker(other) || spoken(other).eq(spoken(first)))
        .then_some(first)
}

/// Resolves the period that the query names in this scope.
fn period<'a>(corpus: &Corpus<'_>, intent: &'a Intent) -> Option<QueryPeriod<'a>> {
    QueryPeriod::new(intent, corpus.docs().map(|doc| (corpus.address(doc), corpus.at(doc))))
}
