//! Bringing the signals together: each is measured against the whole scope, then they are added.

use serde::Serialize;

use super::{
    Intent,
    gather::Gathered,
    identity::Identity,
    lexical::{Corpus, Doc, Scores, rarity},
    period::Period,
    semantic::Similarities,
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

/// What the index said of a memory, number by number.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Signals {
    /// BM25F of the query's terms.
    pub bm25: f64,
    /// The same, as standard deviations above the mean of the scope.
    pub lexical: f64,
    /// Similarity in meaning, as standard deviations above the mean of the scope; 0 where no vectors are asked.
    pub semantic: f64,
    /// Added because the query names who said it.
    pub speaker: f64,
    /// Added because the query asks when and the text names a time.
    pub when: f64,
    /// Added because it was said in the time or session that the query names.
    pub date: f64,
    /// Added because the query asks who the user is.
    pub identity: f64,
    /// Added because its session has a good hit.
    pub session: f64,
    /// Added because it shares rare words with the best candidates.
    pub bridge: f64,
    /// Added by comparing query and text word by word, as standard deviations above the mean of the best candidates; 0
    /// where no model does so.
    #[serde(skip_serializing_if = "is_nothing")]
    pub rerank: f64,
    /// The sum of all but `bm25`.
    pub fused: f64,
    /// The share of the query's worth that its terms cover.
    pub coverage: f64,
    /// The terms that made up `bm25`.
    pub terms: Vec<TermSignal>,
}

fn is_nothing(number: &f64) -> bool {
    *number == 0.0
}

/// What one term of the query did for a memory.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TermSignal {
    /// The term.
    pub term: String,
    /// How rare it is in the scope.
    pub idf: f64,
    /// How often the memory has it, by field weight, synonyms and neighbouring turns included.
    pub frequency: f64,
    /// What it added to `bm25`.
    pub score: f64,
}

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
            add_semantic(&mut offers, similar, config);
        }
        add_lexical(&mut offers, &scores, corpus.count());
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
        let order =
            |a: &Offer, b: &Offer| b.fused().total_cmp(&a.fused()).then_with(|| a.doc.cmp(&b.doc));
        if limit < self.offers.len() {
            self.offers.select_nth_unstable_by(limit, order);
        }
        let limit = limit.min(self.offers.len());
        let best = &mut self.offers[..limit];
        best.sort_unstable_by(order);
        best.iter().map(|offer| offer.candidate(&self.corpus)).collect()
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
    let mut docs: Vec<Doc> = scores.matched.clone();
    docs.extend(similar.map(Similarities::best).unwrap_or_default());
    if period.is_some() || intent.identity != Identity::None {
        docs.extend(unmatched(gathered, corpus, intent, scores, period));
    }
    if intent.asks_period {
        docs.retain(|doc| is_in(period, corpus, *doc));
    }
    docs.sort_unstable();
    docs.dedup();
    docs.retain(|doc| gathered.lets_through(corpus.home(*doc)));
    docs.into_iter().map(|doc| Offer::new(doc, scores.bm25[doc].into())).collect()
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
        let (docs, index) = corpus.record(*doc);
        asks_user && docs.kind(index) == Kind::User
            || is_in(period, corpus, *doc)
            || broad.contains(doc)
    };
    (0..corpus.count()).filter(|doc| scores.bm25[*doc] == 0.0).filter(offered).collect()
}

/// The newest documents of any kind, when too little is known about the user.
fn broad(gathered: &Gathered, corpus: &Corpus<'_>) -> Vec<Doc> {
    let mut all: Vec<Doc> =
        (0..corpus.count()).filter(|doc| gathered.lets_through(corpus.home(*doc))).collect();
    let kind = |doc: &Doc| {
        let (docs, index) = corpus.record(*doc);
        docs.kind(index)
    };
    if all.iter().filter(|doc| kind(doc) == Kind::User).count() >= ENOUGH_ABOUT_USER {
        return Vec::new();
    }
    let age = |doc: &Doc| {
        let (docs, index) = corpus.record(*doc);
        docs.at(index)
    };
    all.sort_by_key(|doc| (kind(doc) == Kind::Turn, std::cmp::Reverse(age(doc))));
    all.truncate(BROAD_LIMIT);
    all
}

fn add_semantic(offers: &mut [Offer], similar: &Similarities, config: &RecallConfig) {
    for offer in offers {
        offer.semantic = config.semantic * f64::from(similar.standard[offer.doc]);
    }
}

/// Standard scores over the whole scope, in which what does not match counts as zero.
fn add_lexical(offers: &mut [Offer], scores: &Scores, count: usize) {
    let all = || scores.matched.iter().map(|doc| f64::from(scores.bm25[*doc]));
    let mean = all().sum::<f64>() / count.max(1) as f64;
    let variance =
        all().map(|score| score * score).sum::<f64>() / count.max(1) as f64 - mean * mean;
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
        let (docs, index) = corpus.record(offer.doc);
        if speaker.is_some_and(|list| corpus.posting(offer.doc, list).is_some_and(speaks)) {
            offer.speaker = config.speaker_boost;
        }
        if intent.asks_when && docs.names_time(index) {
            offer.when = config.when_boost;
        }
        if is_in(period, corpus, offer.doc) {
            offer.date = config.date_boost;
        }
        if docs.kind(index) == Kind::User {
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
    Period::new(intent, (0..corpus.count()).map(|doc| (corpus.place(doc), said_at(corpus, doc))))
}

fn said_at(corpus: &Corpus<'_>, doc: Doc) -> Timestamp {
    let (docs, index) = corpus.record(doc);
    docs.at(index)
}

fn is_in(period: Option<&Period<'_>>, corpus: &Corpus<'_>, doc: Doc) -> bool {
    period.is_some_and(|period| period.holds(corpus.place(doc), said_at(corpus, doc)))
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
        let (docs, index) = corpus.record(self.doc);
        let (kind, at) = (docs.kind(index), docs.at(index));
        Candidate { place: corpus.place(self.doc), kind, at, signals }
    }
}
