//! Preferences that the user states again and again, or corrects: counted over conversations.

use std::{
    collections::{BTreeSet, HashMap},
    sync::LazyLock,
};

use regex::Regex;

use super::{
    topic::Topic,
    wish_words::{CORRECTION, WISH, is_rule, plain_wish, rule_rank},
};
use crate::types::{Kind, MemoryId};

/// Occasions after which a wish about the agent's behaviour, or a preference that was insisted on, is proposed.
const MIN_CORRECTIONS: usize = 2;

/// Occasions after which a preference that was only repeated is proposed: a habit shows three times.
const MIN_REPETITIONS: usize = 3;

/// Most ids of evidence that a proposal keeps.
const MAX_EVIDENCE: usize = 8;

/// Most preferences that are compared with the turns: the newest.
const MAX_PREFERENCES: usize = 5_000;

/// Most characters of a turn that is a wish and nothing else.
const MAX_WISH_CHARS: usize = 80;

/// Most wishes of turns that are compared: the first ones that came up.
const MAX_WISHES: usize = 2_000;

/// Matters of an agent's behaviour: a wish about one is meant for all conversations, another may be a task.
static BEHAVIOUR: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(?:call me|tabs?|spaces|indent\w*|code first|answers?|repl(?:y|ies)|respon(?:d|se|ses)|explain\w*|explanations?|apologi[sz]\w*|sorry|emojis?|short(?:er)?|brief\w*|concise|formal\w*|celsius|fahrenheit|metric|imperial|bullets?|bullet points|summary first|spelling|commits?|push|tests|comments?|tables?|headings?|jargon|english|chinese|german|french|spanish|units|dates?)\b|结论|道歉|抱歉|回答|回复|称呼|叫我|简短|简洁|短一点|长一点|啰嗦|废话|表情|摄氏|华氏|公制|中文|英文|英语|注释|列表|格式|解释|语气|口吻|推到|提交|测试|单位|基础",
    )
    .expect("valid")
});

/// Beginnings of a statement about oneself.
static OWN_FACT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)^\W*(?:(?:and|so|by the way|btw|also|well|as i said)[,: ]+)*(?:I|I['’]m|I['’]ve|my|we|our)\b|^\W*(?:对了|另外|顺便说一下|其实)?[，,]?(?:我|我们|本人)").expect("valid")
});

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
    /// Wording that is best as a rule, of all the occasions.
    pub rule: String,
}

/// Preferences, compared with every turn of the user.
#[derive(Debug)]
pub(crate) struct PreferenceScan {
    preferences: Vec<(StatedPreference, Topic, Occasions)>,
    /// Preferences by the rarest words of their topic, of which a turn that says it again has one.
    by_word: HashMap<u32, Vec<usize>>,
    /// Wishes of turns about the agent's behaviour, which capture may not have kept.
    wishes: Vec<(StatedPreference, Topic, Occasions)>,
}

/// Occasions on which a preference came up.
#[derive(Debug, Default)]
struct Occasions {
    sessions: BTreeSet<String>,
    turns: Vec<MemoryId>,
    corrections: usize,
    /// Wording that is best as a rule.
    rule: String,
}

impl Occasions {
    fn add(&mut self, id: MemoryId, session: &str, text: &str) {
        self.sessions.insert(session.to_owned());
        self.turns.push(id);
        self.corrections += usize::from(CORRECTION.is_match(text));
        if self.rule.is_empty() || rule_rank(text) > rule_rank(&self.rule) {
            text.clone_into(&mut self.rule);
        }
    }
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
        Self { preferences, by_word, wishes: Vec::new() }
    }

    /// Reads a turn of the user.
    pub(crate) fn read(&mut self, id: MemoryId, session: &str, text: &str) {
        let is_wish = WISH.is_match(text) || CORRECTION.is_match(text);
        let is_fact = OWN_FACT.is_match(text);
        if text.trim_end().ends_with(['?', '？']) || !is_wish && !is_fact {
            return;
        }
        let topic = Topic::of(text);
        if is_wish {
            self.read_wish(id, session, text, &topic);
        }
        let near: BTreeSet<usize> =
            topic.words().filter_map(|word| self.by_word.get(&word)).flatten().copied().collect();
        for index in near {
            let (stated, own, occasions) = &mut self.preferences[index];
            // Without a word of a wish, only the fact itself, said again, counts.
            let is_again = || stated.kind == Kind::User && topic.is_within(own);
            if own.is_within(&topic) && (is_wish || is_again()) {
                occasions.add(id, session, text);
            }
        }
    }

    /// Reads a short turn that is a wish about the agent's behaviour and nothing else.
    fn read_wish(&mut self, id: MemoryId, session: &str, text: &str, topic: &Topic) {
        let is_short = text.chars().count() <= MAX_WISH_CHARS && !text.trim().contains('\n');
        if !is_short || topic.is_empty() || !BEHAVIOUR.is_match(text) {
            return;
        }
        let known = self.wishes.iter_mut().find(|(_, own, _)| own.is_same(topic));
        if let Some((_, _, occasions)) = known {
            return occasions.add(id, session, text);
        }
        if is_rule(&plain_wish(text)) && self.wishes.len() < MAX_WISHES {
            let content = text.trim().to_owned();
            let (corrected, saves) = (Vec::new(), 0);
            let stated = StatedPreference { id, kind: Kind::Feedback, content, corrected, saves };
            let mut occasions = Occasions::default();
            occasions.add(id, session, text);
            self.wishes.push((stated, topic.clone(), occasions));
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
        let mut found: Vec<RepeatedPreference> =
            found.filter(|(index, _)| is_undisputed(*index)).map(|(_, found)| found).collect();
        for (stated, topic, said) in self.wishes {
            // What capture kept is told by the memory, and what a newer statement disputes is not told.
            let is_known = topics.iter().any(|other| other.is_near(&topic));
            let is_insisted = said.corrections > 0 || is_negative(&said.rule);
            if !is_known && is_insisted {
                found.extend(repeated(stated, &said));
            }
        }
        found
    }
}

/// "Don't" and 别 ask for a change of what the agent does.
fn is_negative(wish: &str) -> bool {
    let lower = wish.to_lowercase();
    ["don't", "don’t", "do not", "never", "stop", "no ", "别", "不要", "不许"]
        .iter()
        .any(|word| lower.contains(word))
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
        match found.iter_mut().find(|(_, other)| other.is_same(&topic)) {
            Some((newer, _)) => {
                if rule_rank(&preference.rule) > rule_rank(&newer.rule) {
                    newer.rule = preference.rule;
                }
                // A wish about the agent stays one, however it was said the last time.
                if preference.stated.kind == Kind::Feedback {
                    newer.stated.kind = Kind::Feedback;
                }
            }
            None => found.push((preference, topic)),
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
    let is_better = rule_rank(&said.rule) > rule_rank(&stated.content) && !said.rule.is_empty();
    let is_wish = stated.kind == Kind::Feedback && is_better && is_rule(&plain_wish(&said.rule));
    let rule = if is_wish { said.rule.clone() } else { stated.content.clone() };
    let preference = RepeatedPreference { stated, occasions, is_corrected, evidence, rule };
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
    fn a_fact_said_in_three_conversations_is_proposed_and_a_mention_is_none() {
        let days = ["mon", "tue", "wed"];
        for fact in
            ["I live in Lisbon.", "I'm allergic to peanuts.", "我住在里斯本。", "我是素食者。"]
        {
            let said: Vec<_> = days.iter().map(|day| (*day, fact)).collect();
            assert_eq!(found(Kind::User, fact, &said), 1, "{fact}");
            assert_eq!(found(Kind::User, fact, &said[..2]), 0, "{fact}");
        }
        for mention in [
            "My flight to Lisbon leaves from Porto at nine.",
            "Lisbon is lovely in May.",
            "Do I live in Lisbon?",
        ] {
            let said = [("mon", "I live in Lisbon."), ("tue", mention), ("wed", mention)];
            assert_eq!(found(Kind::User, "I live in Lisbon.", &said), 0, "{mention}");
        }
    }

    #[test]
    fn a_wish_about_behaviour_that_capture_did_not_keep_is_proposed_when_insisted_on() {
        let rules = |said: &[(&str, &str)]| -> Vec<String> {
            let mut scan = PreferenceScan::new(Vec::new());
            for (session, text) in said {
                scan.read(MemoryId::new(Timestamp::UNIX_EPOCH), session, text);
            }
            scan.finish().into_iter().map(|found| found.rule).collect()
        };
        for (first, second) in [
            (
                "Show the code first, then explain.",
                "Code first please, I told you to show the code first.",
            ),
            ("Call me Sam.", "It's Sam, please call me Sam."),
            ("Use tabs, not spaces.", "I said tabs, not spaces."),
            ("不要道歉。", "别道歉了。"),
            ("先给结论，再解释。", "又没先给结论。"),
            ("回答短一点。", "太长了，回答短一点。"),
            ("温度用摄氏度。", "我说过用摄氏度，不要华氏度。"),
        ] {
            assert_eq!(rules(&[("mon", first), ("tue", second)]), [first], "{first}");
            assert_eq!(rules(&[("mon", first), ("mon", second)]), [""; 0], "one conversation");
        }
        for (first, second) in [
            ("Write a poem about the sea.", "Write a poem about the sea again."),
            ("Translate this into English.", "Translate this into English."),
            ("How short can an answer be?", "Is the answer short?"),
            ("今天天气怎么样", "今天天气又怎么样"),
        ] {
            assert_eq!(rules(&[("mon", first), ("tue", second)]), [""; 0], "{first}");
        }
    }

    #[test]
    fn of_a_rule_and_a_complaint_the_rule_is_proposed() {
        for (rule, complaint) in [
            (
                "Always run the tests before you commit.",
                "You committed without running the tests again.",
            ),
            ("别讲基础知识，我都懂。", "又在讲基础知识了，别讲"),
        ] {
            let both = vec![stated(Kind::Feedback, rule), stated(Kind::Feedback, complaint)];
            let mut scan = PreferenceScan::new(both);
            scan.read(MemoryId::new(Timestamp::UNIX_EPOCH), "mon", rule);
            scan.read(MemoryId::new(Timestamp::UNIX_EPOCH), "tue", complaint);
            let found = newest_of_each_topic(scan.finish());
            let rules: Vec<&str> = found.iter().map(|found| found.rule.as_str()).collect();
            assert_eq!(rules, [rule]);
        }
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
