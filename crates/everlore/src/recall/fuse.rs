//! Bringing the signals together: each is measured against the whole scope, then they are added.

use std::collections::HashMap;

use serde::Serialize;

use super::{
    Intent,
    gather::Gathered,
    identity::Identity,
    lexical::{Corpus, Doc, Scores},
};
use crate::{
    config::RecallConfig,
    store::{Docs, Field, Place, Posting},
    text::dates::SessionOrdinal,
    types::Kind,
};

/// Added to what is known of the user when the query asks for it: as much as naming the speaker, and then some, since
/// nothing else speaks for such a memory.
const IDENTITY_BOOST: f64 = 3.0;

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
    pub(super) place: Place,
    pub(super) kind: Kind,
    pub(super) signals: Signals,
}

/// Ranks everything the index offered, best first, and explains the first `explained`.
pub(super) fn fuse(
    gathered: &Gathered,
    intent: &Intent,
    config: &RecallConfig,
    explained: usize,
) -> Vec<Candidate> {
    let corpus = Corpus::new(&gathered.segments, config);
    let weights: Vec<_> = intent.terms.iter().map(|term| term.weight).collect();
    let scores = corpus.score(&gathered.lists, &weights);
    let mut offered = offers(gathered, intent, &scores);
    add_lexical(&mut offered, &scores, corpus.count);
    add_boosts(&mut offered, gathered, intent, config);
    add_identity(&mut offered, gathered, intent);
    add_session(&mut offered, gathered, config);
    let mut ranked: Vec<_> = offered
        .into_iter()
        .filter(|((segment, doc), _)| gathered.lets_through(*segment, *doc))
        .collect();
    ranked.sort_by(|(a, x), (b, y)| {
        let places = || place(gathered, *a).cmp(&place(gathered, *b));
        y.fused.total_cmp(&x.fused).then_with(places)
    });
    // Only what can be returned is worth explaining.
    for (doc, signals) in ranked.iter_mut().take(explained) {
        explain(*doc, signals, &corpus, &scores, gathered, intent);
    }
    let candidate = |(doc, signals): (Doc, Signals)| Candidate {
        place: place(gathered, doc),
        kind: gathered.segments[doc.0].docs.kind(doc.1),
        signals,
    };
    ranked.into_iter().map(candidate).collect()
}

/// The documents that any source offers: by terms, by time, or because the query asks about the user.
fn offers(gathered: &Gathered, intent: &Intent, scores: &Scores) -> HashMap<Doc, Signals> {
    let mut offered: HashMap<Doc, Signals> =
        scores.matched.iter().map(|doc| (*doc, Signals::default())).collect();
    let timed = !intent.times.is_empty() || intent.session.is_some();
    if !timed && intent.identity == Identity::None {
        return offered;
    }
    let last_session = last_session(gathered);
    for (segment, docs) in docs(gathered) {
        for doc in (0..docs.len()).filter(|doc| !docs.is_gone(*doc)) {
            let about_user = intent.identity != Identity::None && docs.kind(doc) == Kind::User;
            if about_user || timed && is_in_time(docs, doc, intent, last_session) {
                offered.entry((segment, doc)).or_default();
            }
        }
    }
    if intent.identity != Identity::None {
        for doc in broad(gathered) {
            offered.entry(doc).or_default();
        }
    }
    offered
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
fn add_lexical(offered: &mut HashMap<Doc, Signals>, scores: &Scores, count: usize) {
    let all = || scores.matched.iter().map(|(segment, doc)| f64::from(scores.bm25[*segment][*doc]));
    let mean = all().sum::<f64>() / count.max(1) as f64;
    let variance =
        all().map(|score| score * score).sum::<f64>() / count.max(1) as f64 - mean * mean;
    let deviation = variance.max(0.0).sqrt();
    for ((segment, doc), signals) in offered {
        signals.bm25 = f64::from(scores.bm25[*segment][*doc]);
        // In a scope where everything matches alike, the score itself is as good as any standard.
        signals.lexical =
            if deviation > 1e-9 { (signals.bm25 - mean) / deviation } else { signals.bm25 };
        signals.fused += signals.lexical;
    }
}

fn add_boosts(
    offered: &mut HashMap<Doc, Signals>,
    gathered: &Gathered,
    intent: &Intent,
    config: &RecallConfig,
) {
    let speaker = named_speaker(gathered);
    let last_session = last_session(gathered);
    for ((segment, doc), signals) in offered {
        let docs = &gathered.segments[*segment].docs;
        if speaker.is_some_and(|list| is_by(&gathered.segments[*segment].postings[list], *doc)) {
            signals.speaker = config.speaker_boost;
        }
        if intent.asks_when && docs.names_time(*doc) {
            signals.when = config.when_boost;
        }
        if is_in_time(docs, *doc, intent, last_session) {
            signals.date = config.date_boost;
        }
        signals.fused += signals.speaker + signals.when + signals.date;
    }
}

/// The list of the one speaker whom the query names; none if it names none or more than one.
fn named_speaker(gathered: &Gathered) -> Option<usize> {
    let by = |list: usize| -> Vec<Doc> {
        let of = |(index, segment): (usize, &crate::store::Segment)| -> Vec<Doc> {
            let spoken = segment.postings[list].iter().filter(|posting| speaks(posting));
            spoken.map(|posting| (index, posting.doc as usize)).collect()
        };
        gathered.segments.iter().enumerate().flat_map(of).collect()
    };
    let mut named = gathered.lists.iter().filter_map(|variants| {
        let list = variants.first()?.0;
        Some((list, by(list))).filter(|(_, docs)| !docs.is_empty())
    });
    let (list, docs) = named.next()?;
    // The first and the last name of one person speak the same turns.
    named.all(|(_, others)| others == docs).then_some(list)
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

fn add_identity(offered: &mut HashMap<Doc, Signals>, gathered: &Gathered, intent: &Intent) {
    let boost = match intent.identity {
        Identity::None => return,
        // A passing mention of oneself speaks half as loudly as the question who one is.
        Identity::Weak => IDENTITY_BOOST / 2.0,
        Identity::Strong => IDENTITY_BOOST,
    };
    for ((segment, doc), signals) in offered {
        if gathered.segments[*segment].docs.kind(*doc) == Kind::User {
            signals.identity = boost;
            signals.fused += boost;
        }
    }
}

/// A good hit lifts its whole session a little.
fn add_session(offered: &mut HashMap<Doc, Signals>, gathered: &Gathered, config: &RecallConfig) {
    let mut best: HashMap<u32, f64> = HashMap::new();
    for (doc, signals) in &*offered {
        let best = best.entry(place(gathered, *doc).session()).or_insert(0.0);
        *best = best.max(signals.fused);
    }
    for (doc, signals) in offered {
        let session = place(gathered, *doc).session();
        if session > 0 {
            signals.session = config.session_prior * best[&session];
            signals.fused += signals.session;
        }
    }
}

fn explain(
    doc: Doc,
    signals: &mut Signals,
    corpus: &Corpus<'_>,
    scores: &Scores,
    gathered: &Gathered,
    intent: &Intent,
) {
    let (mut covered, mut total) = (0.0, 0.0);
    for ((term, variants), idf) in intent.terms.iter().zip(&gathered.lists).zip(&scores.idf) {
        let frequency = corpus.frequency(doc, variants);
        let (idf, worth) = (f64::from(*idf), term.weight * f64::from(*idf));
        total += worth;
        if frequency > 0.0 {
            covered += worth;
            let score = worth * f64::from(corpus.saturate(frequency, doc));
            signals.terms.push(TermSignal {
                term: term.text.clone(),
                idf,
                frequency: frequency.into(),
                score,
            });
        }
    }
    signals.coverage = if total > 0.0 { covered / total } else { 0.0 };
}

fn docs(gathered: &Gathered) -> impl Iterator<Item = (usize, &Docs)> {
    gathered.segments.iter().enumerate().map(|(index, segment)| (index, &segment.docs))
}

fn last_session(gathered: &Gathered) -> u32 {
    let last = |docs: &Docs| {
        let doc = (0..docs.len()).rev().find(|doc| !docs.is_gone(*doc))?;
        Some(docs.place(doc).session())
    };
    docs(gathered).filter_map(|(_, docs)| last(docs)).max().unwrap_or(0)
}

fn place(gathered: &Gathered, (segment, doc): Doc) -> Place {
    gathered.segments[segment].docs.place(doc)
}
