//! Bringing the signals together: each is measured against the whole scope, then they are added.

use std::collections::HashSet;

use super::{
    Intent,
    corpus::{Corpus, Doc},
    gather::Gathered,
    identity::Identity,
    lexical::{Scores, rarity},
    period::Period,
    semantic::Similarities,
    share::share,
    signals::{Signals, TermSignal},
};
use crate::{
    config::RecallConfig,
    store::{Field, Filter, Place, Posting},
    text::terms::is_loose_pair,
    types::{Kind, Timestamp},
};

/// Added to what is known of the user when the query asks for it: as much as naming the speaker, and then some, since
/// nothing else speaks for such a memory.
const IDENTITY_BOOST: f64 = 3.0;

/// Fewer memories about the user than this are completed with the newest of any kind.
const ENOUGH_ABOUT_USER: usize = 3;

/// How many of the newest complete them.
const BROAD_LIMIT: usize = 10;

/// Texts that a word's worth for coverage is judged among beside those of the scope: in a scope of three memories any
/// word is common, which says nothing of the word.
pub(super) const BACKGROUND: usize = 1_000;

/// Documents that a thread makes offers of at a time.
const PIECE: usize = 4_096;

/// How many comparisons of vectors take as long as an offer.
const OFFER_WORK: usize = 3;

/// A memory offered for the answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Candidate {
    pub(super) place: Place,
    pub(super) kind: Kind,
    pub(super) at: Timestamp,
    pub(super) signals: Signals,
}

/// A document that is offered, and what all signals make of it. Many are offered and few are told, so no more is kept.
#[derive(Clone, Copy)]
struct Offer {
    doc: Doc,
    fused: f64,
}

/// What a document has by itself, before its session lifts it.
struct Own {
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
    pub(super) gathered: &'a Gathered,
    pub(super) intent: &'a Intent,
    config: &'a RecallConfig,
    pub(super) corpus: Corpus<'a>,
    pub(super) scores: Scores,
    pub(super) similar: Option<Similarities>,
    /// What lets documents through, by segment.
    filters: Vec<Filter>,
    period: Option<Period<'a>>,
    /// The list of the one speaker whom the query names.
    speaker: Option<usize>,
    /// The mean of all scores by terms, and their deviation.
    usual: (f64, f64),
    offers: Vec<Offer>,
    /// What each session lifts its documents by.
    lifts: Vec<f64>,
}

impl<'a> Fusion<'a> {
    /// Measures everything the index offered.
    pub(super) fn new(
        gathered: &'a Gathered,
        intent: &'a Intent,
        config: &'a RecallConfig,
    ) -> Self {
        let corpus = Corpus::new(&gathered.segments, config);
        let weights: Vec<_> = intent.terms.iter().map(|term| term.weight).collect();
        let score = || corpus.score(&gathered.lists, &weights);
        let (similar, scores) = match &gathered.meaning {
            Some(meaning) => {
                let (similar, scores) = Similarities::new(meaning, gathered, &corpus, score);
                (Some(similar), scores)
            }
            None => (None, score()),
        };
        let mut fusion = Self {
            gathered,
            intent,
            config,
            similar,
            filters: gathered.filters(&corpus),
            period: period(&corpus, intent),
            speaker: named_speaker(gathered, &corpus),
            usual: usual(&corpus, &scores),
            offers: Vec::new(),
            lifts: Vec::new(),
            corpus,
            scores,
        };
        fusion.offers = fusion.offered();
        fusion.lift();
        fusion
    }

    /// How many memories are offered.
    pub(super) fn count(&self) -> usize {
        self.offers.len()
    }

    /// The best `limit`, best first; equal ones in the order of their places.
    pub(super) fn best(&mut self, limit: usize) -> Vec<Candidate> {
        let corpus = &self.corpus;
        let order = |a: &Offer, b: &Offer| {
            b.fused.total_cmp(&a.fused).then_with(|| corpus.place(a.doc).cmp(&corpus.place(b.doc)))
        };
        if limit < self.offers.len() {
            self.offers.select_nth_unstable_by(limit, order);
        }
        let limit = limit.min(self.offers.len());
        let best = &mut self.offers[..limit];
        best.sort_unstable_by(order);
        self.offers[..limit].iter().map(|offer| self.candidate(offer.doc)).collect()
    }

    fn candidate(&self, doc: Doc) -> Candidate {
        let (own, session) = (self.own(doc), self.lifts[self.session(doc)]);
        let signals = Signals {
            bm25: own.bm25,
            lexical: own.lexical,
            semantic: own.semantic,
            speaker: own.speaker,
            when: own.when,
            date: own.date,
            identity: own.identity,
            session,
            fused: own.sum() + session,
            ..Signals::default()
        };
        let (kind, at) = (self.corpus.mark(doc).kind, self.corpus.at(doc));
        Candidate { place: self.corpus.place(doc), kind, at, signals }
    }

    /// Fills in which terms made up the signals of a candidate.
    pub(super) fn explain(&self, place: Place, signals: &mut Signals) {
        let Some(doc) = self.corpus.find(place) else { return };
        let mut total = 0.0;
        let around = self.corpus.neighbours(doc);
        for ((term, variants), known) in
            self.intent.terms.iter().zip(&self.gathered.lists).zip(&self.scores.known)
        {
            if *known == 0 && is_loose_pair(&term.text) {
                continue;
            }
            let frequency = self.corpus.frequency(doc, &around, variants);
            let worth = term.weight * f64::from(rarity(self.corpus.count() + BACKGROUND, *known));
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
    fn offered(&self) -> Vec<Offer> {
        let Self { intent, corpus, scores, .. } = self;
        let is_matched = |doc: &Doc| scores.bm25[corpus.number(*doc)] != 0.0;
        let best = self.similar.iter().flat_map(|similar| &similar.best);
        let mut others: Vec<Doc> = best.copied().filter(|doc| !is_matched(doc)).collect();
        if self.period.is_some() || intent.identity != Identity::None {
            let known: HashSet<_> = others.iter().copied().collect();
            others.extend(self.unmatched().into_iter().filter(|doc| !known.contains(doc)));
        }
        let is_offered =
            |doc: &Doc| (!intent.asks_period || self.is_in_period(*doc)) && self.passes(*doc);
        let offer = |doc: Doc| Offer { doc, fused: self.own(doc).sum() };
        let docs: Vec<&[Doc]> = scores.matched.chunks(PIECE).chain([&others[..]]).collect();
        let mut offers = Vec::new();
        offers.resize_with(docs.len(), Vec::new);
        let work = docs.into_iter().zip(&mut offers).collect();
        share(scores.matched.len() * OFFER_WORK, work, |(docs, offers)| {
            offers.extend(docs.iter().copied().filter(is_offered).map(offer));
        });
        offers.concat()
    }

    /// Whether the filter lets a document through.
    fn passes(&self, doc: Doc) -> bool {
        let filter = &self.filters[self.corpus.segment(doc)];
        self.gathered.lets_through(filter, &self.corpus, doc)
    }

    /// What no term matches, but the time that the query names, or that it asks about the user.
    fn unmatched(&self) -> Vec<Doc> {
        let (corpus, asks_user) = (&self.corpus, self.intent.identity != Identity::None);
        let broad = if asks_user { self.broad() } else { Vec::new() };
        let is_offered = |doc: &Doc| {
            asks_user && corpus.mark(*doc).kind == Kind::User
                || self.is_in_period(*doc)
                || broad.contains(doc)
        };
        let unmatched = |doc: &Doc| self.scores.bm25[corpus.number(*doc)] == 0.0;
        corpus.docs().filter(unmatched).filter(is_offered).collect()
    }

    /// The newest documents of any kind, when too little is known about the user.
    fn broad(&self) -> Vec<Doc> {
        let corpus = &self.corpus;
        let mut all: Vec<Doc> = corpus.docs().filter(|doc| self.passes(*doc)).collect();
        let kind = |doc: &Doc| corpus.mark(*doc).kind;
        if all.iter().filter(|doc| kind(doc) == Kind::User).count() >= ENOUGH_ABOUT_USER {
            return Vec::new();
        }
        all.sort_by_key(|doc| {
            (kind(doc) == Kind::Turn, std::cmp::Reverse(corpus.at(*doc)), corpus.place(*doc))
        });
        all.truncate(BROAD_LIMIT);
        all
    }

    /// The signals of a document by itself.
    fn own(&self, doc: Doc) -> Own {
        let (corpus, config, intent) = (&self.corpus, self.config, self.intent);
        let (number, mark) = (corpus.number(doc), corpus.mark(doc));
        let bm25 = f64::from(self.scores.bm25[number]);
        let standard = self.similar.as_ref().map_or(0.0, |similar| similar.standard(number));
        let boost = |is_due: bool, boost: f64| if is_due { boost } else { 0.0 };
        let says = |list| corpus.posting(doc, list).is_some_and(speaks);
        Own {
            bm25,
            lexical: standardized(bm25, self.usual),
            semantic: config.semantic * f64::from(standard),
            speaker: boost(self.speaker.is_some_and(says), config.speaker_boost),
            when: boost(intent.asks_when && mark.names_time, config.when_boost),
            date: boost(self.is_in_period(doc), config.date_boost),
            identity: boost(mark.kind == Kind::User, identity_boost(intent.identity)),
        }
    }

    /// A good hit lifts its whole session a little.
    fn lift(&mut self) {
        let mut best = vec![0.0f64; self.corpus.last_session() as usize + 1];
        for offer in &self.offers {
            let best = &mut best[self.session(offer.doc)];
            *best = best.max(offer.fused);
        }
        // Memories outside a session share nothing.
        best[0] = 0.0;
        self.lifts = best.into_iter().map(|best| self.config.session_prior * best).collect();
        let (corpus, lifts) = (&self.corpus, &self.lifts);
        for offer in &mut self.offers {
            offer.fused += lifts[corpus.place(offer.doc).session() as usize];
        }
    }

    fn session(&self, doc: Doc) -> usize {
        self.corpus.place(doc).session() as usize
    }

    fn is_in_period(&self, doc: Doc) -> bool {
        let (place, at) = (self.corpus.place(doc), || self.corpus.at(doc));
        self.period.as_ref().is_some_and(|period| period.holds(place, at()))
    }
}

impl Own {
    fn sum(&self) -> f64 {
        self.lexical + self.semantic + self.speaker + self.when + self.date + self.identity
    }
}

/// The mean and the deviation of scores over the whole scope, in which what does not match counts as zero.
fn usual(corpus: &Corpus<'_>, scores: &Scores) -> (f64, f64) {
    let count = corpus.count().max(1) as f64;
    let all = || scores.matched.iter().map(|doc| f64::from(scores.bm25[corpus.number(*doc)]));
    let mean = all().sum::<f64>() / count;
    let variance = all().map(|score| score * score).sum::<f64>() / count - mean * mean;
    (mean, variance.max(0.0).sqrt())
}

/// In a scope where everything matches alike, the score itself is as good as any standard.
fn standardized(score: f64, (mean, deviation): (f64, f64)) -> f64 {
    if deviation > 1e-6 { (score - mean) / deviation } else { score }
}

fn identity_boost(asked: Identity) -> f64 {
    match asked {
        Identity::None => 0.0,
        // A passing mention of oneself speaks half as loudly as the question who one is.
        Identity::Weak => IDENTITY_BOOST / 2.0,
        Identity::Strong => IDENTITY_BOOST,
    }
}

/// The list of the one speaker whom the query names; none if it names none or more than one.
fn named_speaker(gathered: &Gathered, corpus: &Corpus<'_>) -> Option<usize> {
    let spoken = |list: usize| {
        corpus.listed(list).filter(|(_, posting)| speaks(posting)).map(|(doc, _)| doc)
    };
    let mut named = gathered.lists.iter().filter_map(|variants| Some(variants.first()?.0));
    let first = named.by_ref().find(|list| spoken(*list).next().is_some())?;
    // The first and the last name of one person speak the same turns.
    named
        .all(|other| spoken(other).next().is_none() || spoken(other).eq(spoken(first)))
        .then_some(first)
}

fn speaks(posting: &Posting) -> bool {
    posting.counts[Field::Speaker as usize] > 0
}

/// The period that the query names in this scope.
fn period<'a>(corpus: &Corpus<'_>, intent: &'a Intent) -> Option<Period<'a>> {
    Period::new(intent, corpus.docs().map(|doc| (corpus.place(doc), corpus.at(doc))))
}
