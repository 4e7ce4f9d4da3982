//! Preferences that the user states again and again, or corrects: counted over conversations.

use std::{
    collections::{BTreeSet, HashMap},
    sync::LazyLock,
};

use regex::Regex;

use super::topic::Topic;
use crate::types::{Kind, MemoryId};

/// Occasions after which a wish about the agent's behaviour, or a preference that was insisted on, is proposed.
const MIN_CORRECTIONS: usize = 2;

/// Occasions after which a preference that was only repeated is proposed: a habit shows three times.
const MIN_REPETITIONS: usize = 3;

/// Most ids of evidence that a proposal keeps.
const MAX_EVIDENCE: usize = 8;

/// Most preferences that are compared with the turns: the newest.
const MAX_PREFERENCES: usize = 5_000;

/// Words of a wish or a correction; other turns may mention the same thing for another reason.
static WISH: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(?:please|prefer|always|never|don'?t|don’t|do not|stop|keep|use|answer|write|reply|should|must|i like|i want|i need|remember)\b|请|以后|别|不要|要|用|喜欢|偏好|回答|记住|应该|务必",
    )
    .expect("valid")
});

/// Words of a correction.
static CORRECTION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(?:told you|i said|i asked|again|wrong|stop|not that|instead|no,|too (?:long|short|much|many|formal))|说过|告诉过|又|不是|不对|错了|别再|太长|太短|怎么还",
    )
    .expect("valid")
});

/// Words with which a wish is repeated, before the wish itself.
static REPEATING: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)^\W*(?:i (?:already )?told you(?: already| before)?|(?:like|as) i said|i said|again|once more|no|我(?:已经)?说过(?:了)?|我跟你说过|我告诉过你|又来了|再说一遍)\s*[:：,，!！.。]\s*",
    )
    .expect("valid")
});

/// Returns a wish without the words with which it was repeated.
pub(crate) fn plain_wish(wish: &str) -> String {
    let plain = REPEATING.replace(wish, "");
    let mut chars = plain.chars();
    let first = chars.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}", chars.as_str())
}

/// Preference as the user stated it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StatedPreference {
    /// Memory that states it.
    pub id: MemoryId,
    /// Kind of the memory.
    pub kind: Kind,
    /// Text.
    pub content: String,
    /// Earlier statements that it corrected, directly or through others.
    pub corrected: Vec<MemoryId>,
    /// Occasions on which it was saved by hand, at most.
    pub saves: usize,
}

/// Preference that came up often enough.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RepeatedPreference {
    /// Preference.
    pub stated: StatedPreference,
    /// Occasions on which the user said it.
    pub occasions: usize,
    /// Set if the user corrected it, not only said it again.
    pub is_corrected: bool,
    /// Memories and turns that say it, its own memory first.
    pub evidence: Vec<MemoryId>,
}

/// Preferences, compared with every turn of the user.
#[derive(Debug)]
pub(crate) struct PreferenceScan {
    preferences: Vec<(StatedPreference, Topic, Occasions)>,
    /// Preferences by the rarest words of their topic, of which a turn that says it again has one.
    by_word: HashMap<u32, Vec<usize>>,
}

/// Occasions on which a preference came up.
#[derive(Debug, Default)]
struct Occasions {
    sessions: BTreeSet<String>,
    turns: Vec<MemoryId>,
    corrections: usize,
}

impl PreferenceScan {
    /// Starts with the stated preferences, newest last.
    pub(crate) fn new(stated: Vec<StatedPreference>) -> Self {
        let skipped = stated.len().saturating_sub(MAX_PREFERENCES);
        let with_topic = |stated: StatedPreference| {
            let topic = Topic::of(&stated.content);
            (!topic.is_empty()).then(|| (stated, topic, Occasions::default()))
        };
        let preferences: Vec<_> = stated.into_iter().skip(skipped).filter_map(with_topic).collect();
        let mut counts: HashMap<u32, usize> = HashMap::new();
        for word in preferences.iter().flat_map(|(_, topic, _)| topic.words()) {
            *counts.entry(word).or_default() += 1;
        }
        let mut by_word: HashMap<u32, Vec<usize>> = HashMap::new();
        for (index, (_, topic, _)) in preferences.iter().enumerate() {
            let mut words: Vec<u32> = topic.words().collect();
            words.sort_by_key(|word| counts.get(word).copied());
            for word in words.into_iter().take(topic.max_missing() + 1) {
                by_word.entry(word).or_default().push(index);
            }
        }
        Self { preferences, by_word }
    }

    /// Reads a turn of the user.
    pub(crate) fn read(&mut self, id: MemoryId, session: &str, text: &str) {
        if text.trim_end().ends_with(['?', '？']) || !WISH.is_match(text) {
            return;
        }
        let topic = Topic::of(text);
        let near: BTreeSet<usize> =
            topic.words().filter_map(|word| self.by_word.get(&word)).flatten().copied().collect();
        for index in near {
            let (_, own, occasions) = &mut self.preferences[index];
            if own.is_within(&topic) {
                occasions.sessions.insert(session.to_owned());
                occasions.turns.push(id);
                occasions.corrections += usize::from(CORRECTION.is_match(text));
            }
        }
    }

    /// Returns the preferences that came up often enough and that no newer correction disputes, oldest first.
    pub(crate) fn finish(self) -> Vec<RepeatedPreference> {
        let corrections: Vec<(usize, Topic)> = { self.preferences.iter().enumerate() }
            .filter(|(_, (stated, ..))| CORRECTION.is_match(&stated.content))
            .map(|(index, (_, topic, _))| (index, topic.clone()))
            .collect();
        let topics: Vec<Topic> = self.preferences.iter().map(|(_, own, _)| own.clone()).collect();
        let is_undisputed = |index: usize| {
            let own = &topics[index];
            let mut newer = corrections.iter().filter(|(other, _)| *other > index);
            !newer.any(|(_, other)| own.is_near(other) && !own.is_within(other))
        };
        let all = self.preferences.into_iter().enumerate();
        let found =
            all.filter_map(|(index, (stated, _, said))| Some((index, repeated(stated, &said)?)));
        found.filter(|(index, _)| is_undisputed(*index)).map(|(_, found)| found).collect()
    }
}

impl RepeatedPreference {
    /// Returns it with another number of saves by hand; `None` if that is not often enough.
    pub(crate) fn with_saves(mut self, saves: usize) -> Option<Self> {
        let said = self.occasions.saturating_sub(self.stated.saves);
        self.stated.saves = saves;
        self.occasions = (said + saves).max(self.stated.corrected.len());
        (self.occasions >= self.wanted()).then_some(self)
    }

    fn wanted(&self) -> usize {
        if self.is_corrected { MIN_CORRECTIONS } else { MIN_REPETITIONS }
    }
}

/// Returns the newest preference of each topic.
pub(crate) fn newest_of_each_topic(all: Vec<RepeatedPreference>) -> Vec<RepeatedPreference> {
    let mut found: Vec<(RepeatedPreference, Topic)> = Vec::new();
    for preference in all.into_iter().rev() {
        let topic = Topic::of(&preference.stated.content);
        if !found.iter().any(|(_, other)| other.is_same(&topic)) {
            found.push((preference, topic));
        }
    }
    found.into_iter().rev().map(|(preference, _)| preference).collect()
}

fn repeated(stated: StatedPreference, said: &Occasions) -> Option<RepeatedPreference> {
    let occasions = (said.sessions.len() + stated.saves).max(stated.corrected.len());
    let is_corrected = stated.corrected.len() >= MIN_CORRECTIONS
        || said.corrections > 0
        || stated.kind == Kind::Feedback;
    let turns = said.turns.iter().rev().take(MAX_EVIDENCE).rev();
    let evidence = std::iter::once(&stated.id).chain(&stated.corrected).chain(turns);
    let evidence = evidence.copied().collect();
    let preference = RepeatedPreference { stated, occasions, is_corrected, evidence };
    (preference.occasions >= preference.wanted()).then_some(preference)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Timestamp;

    fn stated(kind: Kind, content: &str) -> StatedPreference {
        let id = MemoryId::new(Timestamp::UNIX_EPOCH);
        StatedPreference { id, kind, content: content.to_owned(), corrected: Vec::new(), saves: 0 }
    }

    fn found(kind: Kind, content: &str, said: &[(&str, &str)]) -> usize {
        let mut scan = PreferenceScan::new(vec![stated(kind, content)]);
        for (session, text) in said {
            scan.read(MemoryId::new(Timestamp::UNIX_EPOCH), session, text);
        }
        scan.finish().len()
    }

    #[test]
    fn a_wish_counts_once_a_conversation_and_questions_do_not_count() {
        let wish = "Please use metric units.";
        let first = ("mon", wish);
        assert_eq!(found(Kind::Feedback, wish, &[first]), 0);
        assert_eq!(found(Kind::Feedback, wish, &[first, ("mon", "Use metric units!")]), 0);
        assert_eq!(
            found(Kind::Feedback, wish, &[first, ("tue", "Which metric units are there?")]),
            0
        );
        assert_eq!(
            found(Kind::Feedback, wish, &[first, ("tue", "I said metric units, use them.")]),
            1
        );
        let wish = "以后请用公制单位。";
        assert_eq!(found(Kind::Feedback, wish, &[("mon", wish)]), 0);
        assert_eq!(found(Kind::Feedback, wish, &[("mon", wish), ("tue", "我说过要用公制单位")]), 1);
    }

    #[test]
    fn a_preference_is_proposed_after_a_correction_or_a_third_time() {
        let text = "I prefer oolong tea.";
        let said = [("mon", text), ("tue", "I prefer oolong tea, as I like it.")];
        assert_eq!(found(Kind::User, text, &said), 0);
        assert_eq!(found(Kind::User, text, &[said[0], said[1], ("wed", text)]), 1);
        assert_eq!(
            found(Kind::User, text, &[said[0], ("tue", "No, I told you I prefer oolong tea")]),
            1
        );
    }

    #[test]
    fn a_wish_is_proposed_without_the_words_that_repeat_it() {
        assert_eq!(plain_wish("I told you: use metric units."), "Use metric units.");
        assert_eq!(plain_wish("我说过，以后请用公制单位。"), "以后请用公制单位。");
        assert_eq!(plain_wish("Never mind the gap."), "Never mind the gap.");
    }

    #[test]
    fn a_wish_that_a_newer_one_disputes_is_not_proposed() {
        let (old, new) = ("Answer in long sentences.", "No, answer in short sentences.");
        let both = vec![stated(Kind::Feedback, old), stated(Kind::Feedback, new)];
        let mut scan = PreferenceScan::new(both);
        for (session, text) in [("mon", old), ("tue", old), ("wed", new)] {
            scan.read(MemoryId::new(Timestamp::UNIX_EPOCH), session, text);
        }
        assert_eq!(scan.finish(), []);
    }

    #[test]
    fn two_corrections_of_a_statement_are_enough_whatever_the_turns_say() {
        let ids = [MemoryId::new(Timestamp::UNIX_EPOCH); 2];
        let mut twice = stated(Kind::User, "I take the train at nine.");
        twice.corrected = ids.to_vec();
        let once = StatedPreference { corrected: vec![ids[0]], ..twice.clone() };
        assert_eq!(PreferenceScan::new(vec![twice]).finish().len(), 1);
        assert_eq!(PreferenceScan::new(vec![once]).finish().len(), 0);
    }
}
