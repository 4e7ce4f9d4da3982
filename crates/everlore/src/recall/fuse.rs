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
    signals::{Signals, TermSignal},
};
use crate::{
    config::RecallConfig,
    store::{Field, Place, Posting},
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

/// A memory offered for the answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Candidate {
    pub(super) place: Place,
    pub(super) kind: Kind,
    pub(super) at: Timestamp,
    pub(super) signals: Signals,
}

/// A document with its signals so far. Many are offered and few are told, so it is kept small.
struct Offer {
    doc: Doc,
    bm25: f64,
    lexical: f64,
    semantic: f64,
    speaker: f64,
    when: f64,
    date: f64,
    identity: f64,
    session: f64,
}

/// All signals of a query, ready to be ranked and explained.
pub(super) struct Fusion<'a> {
    pub(super) gathered: &'a Gathered,
    pub(super) intent: &'a Intent,
    pub(super) corpus: Corpus<'a>,
    pub(super) scores: Scores,
    pub(super) similar: Option<Similarities>,
    offers: Vec<Offer>,
}

impl<'a> Fusion<'a> {
    /// Measures everything the index offered.
    pub(super) fn new(gathered: &'a Gathered, intent: &'a Intent, config: &RecallConfig) -> Self {
        let corpus = Corpus::new(&gathered.segments, config);
        let weights: Vec<_> = intent.terms.iter().map(|term| term.weight).collect();
        let scores = corpus.score(&gathered.lists, &weights);
        let period = period(&corpus, intent);
        let similar = gathered.meaning.as_ref().map(|meaning| Similarities::new(meaning, &corpus));
        let mut offers =
            offers(gathered, &corpus, intent, &scores, period.as_ref(), similar.as_ref());
        if let Some(similar) = &similar {
            add_semantic(&mut offers, &corpus, similar, config);
        }
        add_lexical(&mut offers, &corpus, &scores);
        add_boosts(&mut offers, gathered, &corpus, intent, period.as_ref(), config);
        add_session(&mut offers, &corpus, config);
        Self { gathered, intent, corpus, scores, similar, offers }
    }

    /// How many memories are offered.
    pub(super) fn count(&self) -> usize {
        self.offers.len()
    }

    /// The best `limit`, best first; equal ones in the order of their places.
    pub(super) fn best(&mut self, limit: usize) -> Vec<Candidate> {
        let corpus = &self.corpus;
        let order = |a: &Offer, b: &Offer| {
            b.fused()
                .total_cmp(&a.fused())
                .then_with(|| corpus.place(a.doc).cmp(&corpus.place(b.doc)))
        };
        if limit < self.offers.len() {
            self.offers.select_nth_unstable_by(limit, order);
        }
        let limit = limit.min(self.offers.len());
        let best = &mut self.offers[..limit];
        best.sort_unstable_by(order);
        best.iter().map(|offer| offer.candidate(corpus)).collect()
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
}

/// The documents that pass the filter and that any source offers: by terms, by time, or because the query asks about
/// the user.
fn offers(
    gathered: &Gathered,
    corpus: &Corpus<'_>,
    intent: &Intent,
    scores: &Scores,
    period: Option<&Period<'_>>,
    similar: Option<&Similarities>,
) -> Vec<Offer> {
    let is_matched = |doc: &Doc| scores.bm25[corpus.number(*doc)] != 0.0;
    let mut others = similar.map(|similar| similar.best(gathered, corpus)).unwrap_or_default();
    others.retain(|doc| !is_matched(doc));
    if period.is_some() || intent.identity != Identity::None {
        let known: HashSet<_> = others.iter().copied().collect();
        let unmatched = unmatched(gathered, corpus, intent, scores, period);
        others.extend(unmatched.into_iter().filter(|doc| !known.contains(doc)));
    }
    let offered = |doc: &Doc| {
        (!intent.asks_period || is_in(period, corpus, *doc)) && gathered.lets_through(corpus, *doc)
    };
    let docs = scores.matched.iter().copied().chain(others).filter(offered);
    docs.map(|doc| Offer::new(doc, scores.bm25[corpus.number(doc)].into())).collect()
}

/// What no term matches, but the time that the query names, or that it asks about the user.
fn unmatched(
    gathered: &Gathered,
    corpus: &Corpus<'_>,
    intent: &Intent,
    scores: &Scores,
    period: Option<&Period<'_>>,
) -> Vec<Doc> {
    let asks_user = intent.identity != Identity::None;
    let broad = if asks_user { broad(gathered, corpus) } else { Vec::new() };
    let offered = |doc: &Doc| {
        asks_user && corpus.mark(*doc).kind == Kind::User
            || is_in(period, corpus, *doc)
            || broad.contains(doc)
    };
    corpus.docs().filter(|doc| scores.bm25[corpus.number(*doc)] == 0.0).filter(offered).collect()
}

/// The newest documents of any kind, when too little is known about the user.
fn broad(gathered: &Gathered, corpus: &Corpus<'_>) -> Vec<Doc> {
    let mut all: Vec<Doc> =
        corpus.docs().filter(|doc| gathered.lets_through(corpus, *doc)).collect();
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

fn add_semantic(
    offers: &mut [Offer],
    corpus: &Corpus<'_>,
    similar: &Similarities,
    config: &RecallConfig,
) {
    for offer in offers {
        let standard = similar.standard(corpus.number(offer.doc));
        offer.semantic = config.semantic * f64::from(standard);
    }
}

/// Standard scores over the whole scope, in which what does not match counts as zero.
fn add_lexical(offers: &mut [Offer], corpus: &Corpus<'_>, scores: &Scores) {
    let count = corpus.count().max(1) as f64;
    let all = || scores.matched.iter().map(|doc| f64::from(scores.bm25[corpus.number(*doc)]));
    let mean = all().sum::<f64>() / count;
    let variance = all().map(|score| score * score).sum::<f64>() / count - mean * mean;
    let deviation = variance.max(0.0).sqrt();
    for offer in offers {
        // In a scope where everything matches alike, the score itself is as good as any standard.
        offer.lexical = if deviation > 1e-6 { (offer.bm25 - mean) / deviation } else { offer.bm25 };
    }
}

fn add_boosts(
    offers: &mut [Offer],
    gathered: &Gathered,
    corpus: &Corpus<'_>,
    intent: &Intent,
    period: Option<&Period<'_>>,
    config: &RecallConfig,
) {
    let speaker = named_speaker(gathered, corpus);
    let identity = match intent.identity {
        Identity::None => 0.0,
        // A passing mention of oneself speaks half as loudly as the question who one is.
        Identity::Weak => IDENTITY_BOOST / 2.0,
        Identity::Strong => IDENTITY_BOOST,
    };
    for offer in offers {
        let mark = corpus.mark(offer.doc);
        if speaker.is_some_and(|list| corpus.posting(offer.doc, list).is_some_and(speaks)) {
            offer.speaker = config.speaker_boost;
        }
        if intent.asks_when && mark.names_time {
            offer.when = config.when_boost;
        }
        if is_in(period, corpus, offer.doc) {
            offer.date = config.date_boost;
        }
        if mark.kind == Kind::User {
            offer.identity = identity;
        }
    }
}

/// A good hit lifts its whole session a little.
fn add_session(offers: &mut [Offer], corpus: &Corpus<'_>, config: &RecallConfig) {
    let session = |offer: &Offer| corpus.place(offer.doc).session() as usize;
    let mut best = vec![0.0f64; corpus.last_session() as usize + 1];
    for offer in &*offers {
        let best = &mut best[session(offer)];
        *best = best.max(offer.fused());
    }
    // Memories outside a session share nothing.
    best[0] = 0.0;
    for offer in offers {
        offer.session = config.session_prior * best[session(offer)];
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

fn is_in(period: Option<&Period<'_>>, corpus: &Corpus<'_>, doc: Doc) -> bool {
    period.is_some_and(|period| period.holds(corpus.place(doc), corpus.at(doc)))
}

impl Offer {
    fn new(doc: Doc, bm25: f64) -> Self {
        Self {
            doc,
            bm25,
            lexical: 0.0,
            semantic: 0.0,
            speaker: 0.0,
            when: 0.0,
            date: 0.0,
            identity: 0.0,
            session: 0.0,
        }
    }

    fn fused(&self) -> f64 {
        self.lexical
            + self.semantic
            + self.speaker
            + self.when
            + self.date
            + self.identity
            + self.session
    }

    fn candidate(&self, corpus: &Corpus<'_>) -> Candidate {
        let signals = Signals {
            bm25: self.bm25,
            lexical: self.lexical,
            semantic: self.semantic,
            speaker: self.speaker,
            when: self.when,
            date: self.date,
            identity: self.identity,
            session: self.session,
            fused: self.fused(),
            ..Signals::default()
        };
        let (kind, at) = (corpus.mark(self.doc).kind, corpus.at(self.doc));
        Candidate { place: corpus.place(self.doc), kind, at, signals }
    }
}
