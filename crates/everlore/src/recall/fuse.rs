//! Bringing the signals together: each is measured against the whole scope, then they are added.

use std::collections::HashSet;

use super::{
    Intent,
    corpus::{Corpus, DocRef},
    gather::GatheredPostings,
    identity::IdentityQuestion,
    lexical::{Bm25Scores, bm25_idf},
    parallel::for_each,
    period::QueryPeriod,
    semantic::DocSimilarities,
    signals::{HitSignals, TermSignal},
};
use crate::{
    config::RecallConfig,
    store::{DocAddress, IndexField, MemoryFilter, Posting},
    text::terms::is_function_pair,
    types::{Kind, Timestamp},
};

/// Added to what is known of the user when the query asks for it: as much as naming the speaker, and then some, since
/// nothing else speaks for such a memory.
const IDENTITY_BOOST: f64 = 3.0;

/// Fewer memories about the user than this are completed with the newest of any kind.
const MIN_ABOUT_USER: usize = 3;

/// How many of the newest complete them.
const BROAD_LIMIT: usize = 10;

/// Texts that a word's worth for coverage is judged among beside those of the scope: in a scope of three memories any
/// word is common, which says nothing of the word.
pub(super) const BACKGROUND_DOCS: usize = 1_000;

/// Documents that a thread makes offers of at a time.
const CHUNK_DOCS: usize = 4_096;

/// How many comparisons of vectors take as long as an offer.
const SCORING_COST: usize = 3;

/// A memory offered for the answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RecallCandidate {
    pub(super) address: DocAddress,
    pub(super) kind: Kind,
    pub(super) at: Timestamp,
    pub(super) signals: HitSignals,
}

/// A document that is offered, and what all signals make of it. Many are offered and few are told, so no more is kept.
#[derive(Clone, Copy)]
struct ScoredDoc {
    doc: DocRef,
    fused: f64,
}

/// What a document has by itself, before its session lifts it.
struct DocSignals {
    bm25: f64,
    lexical: f64,
    semantic: f64,
    speaker: f64,
    when: f64,
    date: f64,
    identity: f64,
}

/// All signals of a query, ready to be ranked and explained.
pub(super) struct Fusion<'a> {
    pub(super) gathered: &'a GatheredPostings,
    pub(super) intent: &'a Intent,
    config: &'a RecallConfig,
    pub(super) corpus: Corpus<'a>,
    pub(super) scores: Bm25Scores,
    pub(super) similarities: Option<DocSimilarities>,
    /// What lets documents through, by segment.
    filters: Vec<MemoryFilter>,
    period: Option<QueryPeriod<'a>>,
    /// The list of the one speaker whom the query names.
    speaker: Option<usize>,
    /// The mean of all scores by terms, and their deviation.
    score_stats: (f64, f64),
    scored: Vec<ScoredDoc>,
    /// What each session lifts its documents by.
    session_boosts: Vec<f64>,
}

impl<'a> Fusion<'a> {
    /// Measures everything the index offered.
    pub(super) fn new(
        gathered: &'a GatheredPostings,
        intent: &'a Intent,
        config: &'a RecallConfig,
    ) -> Self {
        let corpus = Corpus::new(&gathered.segments, config);
        let weights: Vec<_> = intent.terms.iter().map(|term| term.weight).collect();
        let score = || corpus.score(&gathered.term_variants, &weights);
        let (similar, scores) = match &gathered.query_embedding {
            Some(meaning) => {
                let (similar, scores) = DocSimilarities::new(meaning, gathered, &corpus, score);
                (Some(similar), scores)
            }
            None => (None, score()),
        };
        let mut fusion = Self {
            gathered,
            intent,
            config,
            similarities: similar,
            filters: gathered.segment_filters(&corpus),
            period: period(&corpus, intent),
            speaker: named_speaker(gathered, &corpus),
            score_stats: score_stats(&corpus, &scores),
            scored: Vec::new(),
            session_boosts: Vec::new(),
            corpus,
            scores,
        };
        fusion.scored = fusion.score_docs();
        fusion.boost_sessions();
        fusion
    }

    /// How many memories are offered.
    pub(super) fn candidate_count(&self) -> usize {
        self.scored.len()
    }

    /// The best `limit`, best first; equal ones in the order of their places.
    pub(super) fn best(&mut self, limit: usize) -> Vec<RecallCandidate> {
        let corpus = &self.corpus;
        let order = |a: &ScoredDoc, b: &ScoredDoc| {
            b.fused
                .total_cmp(&a.fused)
                .then_with(|| corpus.address(a.doc).cmp(&corpus.address(b.doc)))
        };
        if limit < self.scored.len() {
            self.scored.select_nth_unstable_by(limit, order);
        }
        let limit = limit.min(self.scored.len());
        let best = &mut self.scored[..limit];
        best.sort_unstable_by(order);
        self.scored[..limit].iter().map(|offer| self.candidate(offer.doc)).collect()
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
            fused: own.sum() + session,
            ..HitSignals::default()
        };
        let (kind, at) = (self.corpus.flags(doc).kind, self.corpus.at(doc));
        RecallCandidate { address: self.corpus.address(doc), kind, at, signals }
    }

    /// Fills in which terms made up the signals of a candidate.
    pub(super) fn explain(&self, place: DocAddress, signals: &mut HitSignals) {
        let Some(doc) = self.corpus.find(place) else { return };
        let mut total = 0.0;
        let around = self.corpus.neighbours(doc);
        for ((term, variants), known) in self
            .intent
            .terms
            .iter()
            .zip(&self.gathered.term_variants)
            .zip(&self.scores.doc_frequencies)
        {
            if *known == 0 && is_function_pair(&term.text) {
                continue;
            }
            let frequency = self.corpus.term_frequency(doc, &around, variants);
            let worth =
                term.weight * f64::from(bm25_idf(self.corpus.num_docs() + BACKGROUND_DOCS, *known));
            total += worth;
            if frequency > 0.0 {
                signals.coverage += worth;
                let idf = f64::from(self.corpus.idf(*known));
                let score = term.weight * idf * f64::from(self.corpus.saturate(frequency, doc));
                signals.terms.push(TermSignal {
                    term: term.text.clone(),
                    idf,
                    frequency: frequency.into(),
                    score,
                });
            }
        }
        signals.coverage /= if total > 0.0 { total } else { 1.0 };
    }

    /// The documents that pass the filter and that any source offers: by terms, by time, or because the query asks about
    /// the user.
    fn score_docs(&self) -> Vec<ScoredDoc> {
        let Self { intent, corpus, scores, .. } = self;
        let is_matched = |doc: &DocRef| scores.bm25[corpus.ordinal(*doc)] != 0.0;
        let best = self.similarities.iter().flat_map(|similar| &similar.best);
        let mut others: Vec<DocRef> = best.copied().filter(|doc| !is_matched(doc)).collect();
        if self.period.is_some() || intent.identity != IdentityQuestion::None {
            let known: HashSet<_> = others.iter().copied().collect();
            others.extend(self.unmatched_docs().into_iter().filter(|doc| !known.contains(doc)));
        }
        let is_offered = |doc: &DocRef| {
            (!intent.asks_period || self.is_in_period(*doc)) && self.passes_filter(*doc)
        };
        let offer = |doc: DocRef| ScoredDoc { doc, fused: self.doc_signals(doc).sum() };
        let docs: Vec<&[DocRef]> = scores.matched.chunks(CHUNK_DOCS).chain([&others[..]]).collect();
        let mut offers = Vec::new();
        offers.resize_with(docs.len(), Vec::new);
        let work = docs.into_iter().zip(&mut offers).collect();
        for_each(scores.matched.len() * SCORING_COST, work, |(docs, offers)| {
            offers.extend(docs.iter().copied().filter(is_offered).map(offer));
        });
        offers.concat()
    }

    /// Whether the filter lets a document through.
    fn passes_filter(&self, doc: DocRef) -> bool {
        let filter = &self.filters[self.corpus.segment(doc)];
        self.gathered.passes_filter(filter, &self.corpus, doc)
    }

    /// What no term matches, but the time that the query names, or that it asks about the user.
    fn unmatched_docs(&self) -> Vec<DocRef> {
        let (corpus, asks_user) = (&self.corpus, self.intent.identity != IdentityQuestion::None);
        let broad = if asks_user { self.newest_docs() } else { Vec::new() };
        let is_offered = |doc: &DocRef| {
            asks_user && corpus.flags(*doc).kind == Kind::User
                || self.is_in_period(*doc)
                || broad.contains(doc)
        };
        let unmatched = |doc: &DocRef| self.scores.bm25[corpus.ordinal(*doc)] == 0.0;
        corpus.docs().filter(unmatched).filter(is_offered).collect()
    }

    /// The newest documents of any kind, when too little is known about the user.
    fn newest_docs(&self) -> Vec<DocRef> {
        let corpus = &self.corpus;
        let mut all: Vec<DocRef> = corpus.docs().filter(|doc| self.passes_filter(*doc)).collect();
        let kind = |doc: &DocRef| corpus.flags(*doc).kind;
        if all.iter().filter(|doc| kind(doc) == Kind::User).count() >= MIN_ABOUT_USER {
            return Vec::new();
        }
        all.sort_by_key(|doc| {
            (kind(doc) == Kind::Turn, std::cmp::Reverse(corpus.at(*doc)), corpus.address(*doc))
        });
        all.truncate(BROAD_LIMIT);
        all
    }

    /// The signals of a document by itself.
    fn doc_signals(&self, doc: DocRef) -> DocSignals {
        let (corpus, config, intent) = (&self.corpus, self.config, self.intent);
        let (number, mark) = (corpus.ordinal(doc), corpus.flags(doc));
        let bm25 = f64::from(self.scores.bm25[number]);
        let standard = self.similarities.as_ref().map_or(0.0, |similar| similar.z_score(number));
        let boost = |is_due: bool, boost: f64| if is_due { boost } else { 0.0 };
        let says = |list| corpus.posting(doc, list).is_some_and(is_by_speaker);
        DocSignals {
            bm25,
            lexical: z_score(bm25, self.score_stats),
            semantic: config.semantic * f64::from(standard),
            speaker: boost(self.speaker.is_some_and(says), config.speaker_boost),
            when: boost(intent.asks_when && mark.names_time, config.when_boost),
            date: boost(self.is_in_period(doc), config.date_boost),
            identity: boost(mark.kind == Kind::User, identity_boost(intent.identity)),
        }
    }

    /// A good hit lifts its whole session a little.
    fn boost_sessions(&mut self) {
        let mut best = vec![0.0f64; self.corpus.last_session() as usize + 1];
        for offer in &self.scored {
            let best = &mut best[self.session(offer.doc)];
            *best = best.max(offer.fused);
        }
        // Memories outside a session share nothing.
        best[0] = 0.0;
        self.session_boosts =
            best.into_iter().map(|best| self.config.session_prior * best).collect();
        let (corpus, lifts) = (&self.corpus, &self.session_boosts);
        for offer in &mut self.scored {
            offer.fused += lifts[corpus.address(offer.doc).session() as usize];
        }
    }

    fn session(&self, doc: DocRef) -> usize {
        self.corpus.address(doc).session() as usize
    }

    fn is_in_period(&self, doc: DocRef) -> bool {
        let (place, at) = (self.corpus.address(doc), || self.corpus.at(doc));
        self.period.as_ref().is_some_and(|period| period.contains(place, at()))
    }
}

impl DocSignals {
    fn sum(&self) -> f64 {
        self.lexical + self.semantic + self.speaker + self.when + self.date + self.identity
    }
}

/// The mean and the deviation of scores over the whole scope, in which what does not match counts as zero.
fn score_stats(corpus: &Corpus<'_>, scores: &Bm25Scores) -> (f64, f64) {
    let count = corpus.num_docs().max(1) as f64;
    let all = || scores.matched.iter().map(|doc| f64::from(scores.bm25[corpus.ordinal(*doc)]));
    let mean = all().sum::<f64>() / count;
    let variance = all().map(|score| score * score).sum::<f64>() / count - mean * mean;
    (mean, variance.max(0.0).sqrt())
}

/// In a scope where everything matches alike, the score itself is as good as any standard.
fn z_score(score: f64, (mean, deviation): (f64, f64)) -> f64 {
    if deviation > 1e-6 { (score - mean) / deviation } else { score }
}

fn identity_boost(asked: IdentityQuestion) -> f64 {
    match asked {
        IdentityQuestion::None => 0.0,
        // A passing mention of oneself speaks half as loudly as the question who one is.
        IdentityQuestion::Weak => IDENTITY_BOOST / 2.0,
        IdentityQuestion::Strong => IDENTITY_BOOST,
    }
}

/// The list of the one speaker whom the query names; none if it names none or more than one.
fn named_speaker(gathered: &GatheredPostings, corpus: &Corpus<'_>) -> Option<usize> {
    let spoken = |list: usize| {
        corpus.postings(list).filter(|(_, posting)| is_by_speaker(posting)).map(|(doc, _)| doc)
    };
    let mut named = gathered.term_variants.iter().filter_map(|variants| Some(variants.first()?.0));
    let first = named.by_ref().find(|list| spoken(*list).next().is_some())?;
    // The first and the last name of one person speak the same turns.
    named
        .all(|other| spoken(other).next().is_none() || spoken(other).eq(spoken(first)))
        .then_some(first)
}

fn is_by_speaker(posting: &Posting) -> bool {
    posting.counts[IndexField::Speaker as usize] > 0
}

/// The period that the query names in this scope.
fn period<'a>(corpus: &Corpus<'_>, intent: &'a Intent) -> Option<QueryPeriod<'a>> {
    QueryPeriod::new(intent, corpus.docs().map(|doc| (corpus.address(doc), corpus.at(doc))))
}
