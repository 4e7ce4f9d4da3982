//! Bringing the signals together: each is measured against the whole scope, then they are added.

use serde::Serialize;

use super::{
    Intent,
    gather::Gathered,
    identity::Identity,
    lexical::{Corpus, Doc, Scores},
};
use crate::{
    config::RecallConfig,
    store::{Docs, Field, Place, Posting, Segment},
    text::dates::SessionOrdinal,
    types::Kind,
};

/// Added to what is known of the user when the query asks for it: as much as naming the speaker, and then some, since
/// nothing else speaks for such a memory.
const IDENTITY_BOOST: f32 = 3.0;

/// Fewer memories about the user than this are completed with the newest of any kind.
const ENOUGH_ABOUT_USER: usize = 3;

/// How many of the newest complete them.
const BROAD_LIMIT: usize = 10;

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
    /// The sum of all but `bm25`.
    pub fused: f64,
    /// The share of the query's worth that its terms cover.
    pub coverage: f64,
    /// The terms that made up `bm25`.
    pub terms: Vec<TermSignal>,
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
    pub(super) doc: Doc,
    pub(super) place: Place,
    pub(super) kind: Kind,
    pub(super) signals: Signals,
}

/// A document with its signals so far. Many are offered and few are told, so it is kept small.
struct Offer {
    doc: Doc,
    bm25: f32,
    lexical: f32,
    speaker: f32,
    when: f32,
    date: f32,
    identity: f32,
    session: f32,
}

/// All signals of a query, ready to be ranked and explained.
pub(super) struct Fusion<'a> {
    gathered: &'a Gathered,
    intent: &'a Intent,
    corpus: Corpus<'a>,
    scores: Scores,
    offers: Vec<Offer>,
}

impl<'a> Fusion<'a> {
    /// Measures everything the index offered.
    pub(super) fn new(gathered: &'a Gathered, intent: &'a Intent, config: &RecallConfig) -> Self {
        let corpus = Corpus::new(&gathered.segments, config);
        let weights: Vec<_> = intent.terms.iter().map(|term| term.weight).collect();
        let scores = corpus.score(&gathered.lists, &weights);
        let mut offers = offers(gathered, intent, &scores);
        add_lexical(&mut offers, &scores, corpus.count);
        add_boosts(&mut offers, gathered, intent, config);
        add_session(&mut offers, gathered, config);
        Self { gathered, intent, corpus, scores, offers }
    }

    /// How many memories are offered.
    pub(super) fn count(&self) -> usize {
        self.offers.len()
    }

    /// The best `limit`, best first.
    pub(super) fn best(&mut self, limit: usize) -> Vec<Candidate> {
        let best = best(std::mem::take(&mut self.offers), self.gathered, limit);
        best.iter().map(|offer| offer.candidate(self.gathered)).collect()
    }

    /// Fills in which terms made up the signals of a candidate.
    pub(super) fn explain(&self, doc: Doc, signals: &mut Signals) {
        let mut total = 0.0;
        let around = self.corpus.neighbours(doc);
        for ((term, variants), idf) in
            self.intent.terms.iter().zip(&self.gathered.lists).zip(&self.scores.idf)
        {
            let frequency = self.corpus.frequency(doc, &around, variants);
            let (idf, worth) = (f64::from(*idf), term.weight * f64::from(*idf));
            total += worth;
            if frequency > 0.0 {
                signals.coverage += worth;
                let score = worth * f64::from(self.corpus.saturate(frequency, doc));
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

/// The first `limit` offers in order; equal ones in the order of their places.
fn best(mut offers: Vec<Offer>, gathered: &Gathered, limit: usize) -> Vec<Offer> {
    let order = |a: &Offer, b: &Offer| {
        let places = || place(gathered, a.doc).cmp(&place(gathered, b.doc));
        b.fused().total_cmp(&a.fused()).then_with(places)
    };
    if limit < offers.len() {
        offers.select_nth_unstable_by(limit, order);
        offers.truncate(limit);
    }
    offers.sort_unstable_by(order);
    offers
}

/// The documents that pass the filter and that any source offers: by terms, by time, or because the query asks about
/// the user.
fn offers(gathered: &Gathered, intent: &Intent, scores: &Scores) -> Vec<Offer> {
    let mut docs: Vec<Doc> = scores.matched.clone();
    let timed = !intent.times.is_empty() || intent.session.is_some();
    if timed || intent.identity != Identity::None {
        docs.extend(unmatched(gathered, intent, scores, timed));
    }
    docs.retain(|(segment, doc)| gathered.lets_through(*segment, *doc));
    docs.into_iter().map(|doc| Offer::new(doc, scores.bm25[doc.0][doc.1])).collect()
}

/// What no term matches, but the time that the query names, or that it asks about the user.
fn unmatched(gathered: &Gathered, intent: &Intent, scores: &Scores, timed: bool) -> Vec<Doc> {
    let last_session = last_session(gathered);
    let asks_user = intent.identity != Identity::None;
    let broad = if asks_user { broad(gathered) } else { Vec::new() };
    let mut found = Vec::new();
    for (segment, docs) in docs(gathered) {
        for doc in (0..docs.len()).filter(|&doc| scores.bm25[segment][doc] == 0.0) {
            let offered = asks_user && docs.kind(doc) == Kind::User
                || timed && is_in_time(docs, doc, intent, last_session)
                || broad.contains(&(segment, doc));
            if offered {
                found.push((segment, doc));
            }
        }
    }
    found
}

/// The newest documents of any kind, when too little is known about the user.
fn broad(gathered: &Gathered) -> Vec<Doc> {
    let mut all: Vec<Doc> = docs(gathered)
        .flat_map(|(segment, docs)| (0..docs.len()).map(move |doc| (segment, doc)))
        .collect();
    all.retain(|(segment, doc)| gathered.lets_through(*segment, *doc));
    let kind = |(segment, doc): &Doc| gathered.segments[*segment].docs.kind(*doc);
    if all.iter().filter(|doc| kind(doc) == Kind::User).count() >= ENOUGH_ABOUT_USER {
        return Vec::new();
    }
    let age = |(segment, doc): &Doc| gathered.segments[*segment].docs.at(*doc);
    all.sort_by_key(|doc| (kind(doc) == Kind::Turn, std::cmp::Reverse(age(doc))));
    all.truncate(BROAD_LIMIT);
    all
}

/// Standard scores over the whole scope, in which what does not match counts as zero.
fn add_lexical(offers: &mut [Offer], scores: &Scores, count: usize) {
    let all = || scores.matched.iter().map(|(segment, doc)| f64::from(scores.bm25[*segment][*doc]));
    let mean = all().sum::<f64>() / count.max(1) as f64;
    let variance =
        all().map(|score| score * score).sum::<f64>() / count.max(1) as f64 - mean * mean;
    let (mean, deviation) = (mean as f32, variance.max(0.0).sqrt() as f32);
    for offer in offers {
        // In a scope where everything matches alike, the score itself is as good as any standard.
        offer.lexical = if deviation > 1e-6 { (offer.bm25 - mean) / deviation } else { offer.bm25 };
    }
}

fn add_boosts(offers: &mut [Offer], gathered: &Gathered, intent: &Intent, config: &RecallConfig) {
    let speaker = named_speaker(gathered);
    let last_session = last_session(gathered);
    let identity = match intent.identity {
        Identity::None => 0.0,
        // A passing mention of oneself speaks half as loudly as the question who one is.
        Identity::Weak => IDENTITY_BOOST / 2.0,
        Identity::Strong => IDENTITY_BOOST,
    };
    for offer in offers {
        let (segment, doc) = offer.doc;
        let docs = &gathered.segments[segment].docs;
        if speaker.is_some_and(|list| is_by(&gathered.segments[segment].postings[list], doc)) {
            offer.speaker = config.speaker_boost as f32;
        }
        if intent.asks_when && docs.names_time(doc) {
            offer.when = config.when_boost as f32;
        }
        if is_in_time(docs, doc, intent, last_session) {
            offer.date = config.date_boost as f32;
        }
        if docs.kind(doc) == Kind::User {
            offer.identity = identity;
        }
    }
}

/// A good hit lifts its whole session a little.
fn add_session(offers: &mut [Offer], gathered: &Gathered, config: &RecallConfig) {
    let session = |offer: &Offer| place(gathered, offer.doc).session() as usize;
    let mut best = vec![0.0f32; last_session(gathered) as usize + 1];
    for offer in &*offers {
        let best = &mut best[session(offer)];
        *best = best.max(offer.fused());
    }
    // Memories outside a session share nothing.
    best[0] = 0.0;
    for offer in offers {
        offer.session = config.session_prior as f32 * best[session(offer)];
    }
}

/// The list of the one speaker whom the query names; none if it names none or more than one.
fn named_speaker(gathered: &Gathered) -> Option<usize> {
    let spoken = |list: usize| {
        let of = move |(index, segment): (usize, &Segment)| {
            let spoken = segment.postings[list].iter().filter(|posting| speaks(posting));
            spoken.map(|posting| (index, posting.doc)).collect::<Vec<_>>()
        };
        gathered.segments.iter().enumerate().flat_map(of)
    };
    let mut named = gathered
        .lists
        .iter()
        .filter_map(|variants| Some(variants.first()?.0))
        .filter(|list| spoken(*list).next().is_some());
    let first = named.next()?;
    // The first and the last name of one person speak the same turns.
    named.all(|other| spoken(other).eq(spoken(first))).then_some(first)
}

fn is_by(list: &[Posting], doc: usize) -> bool {
    list.binary_search_by_key(&(doc as u32), |posting| posting.doc)
        .is_ok_and(|index| speaks(&list[index]))
}

fn speaks(posting: &Posting) -> bool {
    posting.counts[Field::Speaker as usize] > 0
}

fn is_in_time(docs: &Docs, doc: usize, intent: &Intent, last_session: u32) -> bool {
    let session = match intent.session {
        None => None,
        Some(SessionOrdinal::First(number)) => Some(number),
        Some(SessionOrdinal::Last(number)) => {
            Some(last_session.saturating_sub(number.saturating_sub(1)))
        }
    };
    let in_session =
        session.is_some_and(|session| session > 0 && docs.place(doc).session() == session);
    let at = docs.at(doc);
    in_session || intent.times.iter().any(|(start, end)| *start <= at && at < *end)
}

impl Offer {
    fn new(doc: Doc, bm25: f32) -> Self {
        Self {
            doc,
            bm25,
            lexical: 0.0,
            speaker: 0.0,
            when: 0.0,
            date: 0.0,
            identity: 0.0,
            session: 0.0,
        }
    }

    fn fused(&self) -> f32 {
        self.lexical + self.speaker + self.when + self.date + self.identity + self.session
    }

    fn candidate(&self, gathered: &Gathered) -> Candidate {
        let signals = Signals {
            bm25: self.bm25.into(),
            lexical: self.lexical.into(),
            speaker: self.speaker.into(),
            when: self.when.into(),
            date: self.date.into(),
            identity: self.identity.into(),
            session: self.session.into(),
            fused: self.fused().into(),
            ..Signals::default()
        };
        let (segment, doc) = self.doc;
        let kind = gathered.segments[segment].docs.kind(doc);
        Candidate { doc: self.doc, place: place(gathered, self.doc), kind, signals }
    }
}

fn docs(gathered: &Gathered) -> impl Iterator<Item = (usize, &Docs)> {
    gathered.segments.iter().enumerate().map(|(index, segment)| (index, &segment.docs))
}

fn last_session(gathered: &Gathered) -> u32 {
    let last = |docs: &Docs| docs.len().checked_sub(1).map(|doc| docs.place(doc).session());
    docs(gathered).filter_map(|(_, docs)| last(docs)).max().unwrap_or(0)
}

fn place(gathered: &Gathered, (segment, doc): Doc) -> Place {
    gathered.segments[segment].docs.place(doc)
}
