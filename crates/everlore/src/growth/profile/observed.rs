//! Signals counted over the user's own messages: language, active hours, recent topics.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{ProfileSignal, ProfileSources, SignalBasis, SignalEffect};
use crate::{
    text::{
        keywords::KeywordExtractor,
        language::{Language, detect_language},
    },
    types::{Memory, Timestamp},
};

/// Fewest messages that tell a language.
const MIN_MESSAGES: usize = 5;

/// Fewest messages, and days with messages, that tell active hours: one long evening is no habit.
const MIN_TIMED_MESSAGES: usize = 20;
const MIN_DAYS: usize = 3;

/// Share of the messages that the active hours must hold.
const ACTIVE_SHARE: f64 = 0.8;

/// Longest span of hours that still tells something.
const MAX_ACTIVE_HOURS: usize = 14;

/// Days that count as recent for topics.
const TOPIC_DAYS: i64 = 30;

/// Keywords of a message that may be topics.
const KEYWORDS: usize = 5;

/// Fewest sessions that a topic came up in, and most topics.
const MIN_TOPIC_SESSIONS: usize = 2;
const MAX_TOPICS: usize = 8;

/// Evidence of a count: the newest messages.
const SHOWN: usize = 3;

/// Returns the signals of the user's messages.
pub(super) fn signals(sources: &ProfileSources<'_>) -> Vec<ProfileSignal> {
    let mut signals = topics(sources);
    signals.extend(language(sources.turns));
    signals.extend(active_hours(sources));
    signals
}

fn observed(
    name: &'static str,
    value: String,
    confidence: f64,
    turns: &[&Memory],
) -> ProfileSignal {
    let since = turns.iter().map(|turn| turn.at).min().unwrap_or(Timestamp::UNIX_EPOCH);
    let mut newest: Vec<&&Memory> = turns.iter().collect();
    newest.sort_by_key(|turn| std::cmp::Reverse(turn.id));
    ProfileSignal {
        name,
        set_name: None,
        value,
        confidence,
        since,
        until: None,
        evidence: newest.into_iter().take(SHOWN).map(|turn| turn.id).collect(),
        basis: SignalBasis::Observed,
        effect: SignalEffect::Holds,
    }
}

/// Returns the language of most messages, with its share as confidence.
fn language(turns: &[Memory]) -> Option<ProfileSignal> {
    let mut by_language: HashMap<Language, Vec<&Memory>> = HashMap::new();
    for turn in turns {
        by_language.entry(detect_language(&turn.content)).or_default().push(turn);
    }
    by_language.remove(&Language::Other);
    let total: usize = by_language.values().map(Vec::len).sum();
    let (language, turns) = by_language.into_iter().max_by_key(|(_, turns)| turns.len())?;
    (total >= MIN_MESSAGES).then(|| {
        let share = turns.len() as f64 / total as f64;
        observed("language", format!("{language:?}"), share, &turns)
    })
}

/// Returns the shortest span of hours that holds most messages.
fn active_hours(sources: &ProfileSources<'_>) -> Option<ProfileSignal> {
    let mut hours = [0usize; 24];
    let mut days = BTreeSet::new();
    for turn in sources.turns {
        let local = turn.at.to_zoned(sources.zone.clone());
        hours[local.hour() as usize % 24] += 1;
        days.insert(local.date());
    }
    let total: usize = hours.iter().sum();
    if total < MIN_TIMED_MESSAGES || days.len() < MIN_DAYS {
        return None;
    }
    let held = |from: usize, length: usize| -> usize {
        (from..from + length).map(|hour| hours[hour % 24]).sum()
    };
    let is_enough = |count: usize| count as f64 >= ACTIVE_SHARE * total as f64;
    let (from, length) = (1..=MAX_ACTIVE_HOURS).find_map(|length| {
        let best = (0..24).max_by_key(|from| (held(*from, length), std::cmp::Reverse(*from)))?;
        is_enough(held(best, length)).then_some((best, length))
    })?;
    let value = format!("{from:02}:00–{:02}:00", (from + length) % 24);
    let share = held(from, length) as f64 / total as f64;
    Some(observed("active_hours", value, share, &sources.turns.iter().collect::<Vec<_>>()))
}

/// Returns the words that came up in several recent sessions.
fn topics(sources: &ProfileSources<'_>) -> Vec<ProfileSignal> {
    let from = sources.now.as_second() - TOPIC_DAYS * 86_400;
    let recent = || sources.turns.iter().filter(|turn| turn.at.as_second() >= from);
    let extractor = KeywordExtractor::from_parts(recent().map(|turn| turn.content.as_str()));
    let mut by_word: BTreeMap<String, Vec<&Memory>> = BTreeMap::new();
    for turn in recent() {
        for word in extractor.keywords(&turn.content, KEYWORDS) {
            by_word.entry(word).or_default().push(turn);
        }
    }
    let sessions = |turns: &[&Memory]| {
        turns.iter().map(|turn| turn.source.session.as_deref()).collect::<BTreeSet<_>>().len()
    };
    let mut topics: Vec<_> =
        by_word.into_iter().map(|(word, turns)| (sessions(&turns), word, turns)).collect();
    topics.retain(|(count, ..)| *count >= MIN_TOPIC_SESSIONS);
    topics.sort_by_key(|(count, _, turns)| std::cmp::Reverse((*count, turns.len())));
    topics.truncate(MAX_TOPICS);
    let all = recent().map(|turn| turn.source.session.as_deref()).collect::<BTreeSet<_>>().len();
    let topic = |(count, word, turns): (usize, String, Vec<&Memory>)| {
        observed("topics", word, count as f64 / all.max(1) as f64, &turns)
    };
    topics.into_iter().map(topic).collect()
}
