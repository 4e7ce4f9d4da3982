//! Corrections: sentences that change or withdraw an earlier statement, and which statement they mean.

use std::{collections::HashSet, sync::LazyLock};

use regex::Regex;
use serde::Serialize;

use super::{
    fragments,
    judge::{MIN_CORRECTION, correction_probability, kind_probabilities},
    withdrawal::{MAX_BARE_WORDS, beside, count_words, find_withdrawal},
};
use crate::{
    llm::{SentenceKind, SentenceScores},
    text::{language::is_cjk, terms::terms},
    types::Slot,
};

/// Log odds above which an earlier statement is the one that a correction means. On the training dialogues, by authors
/// outside the fit, this honours nine in ten of the corrections that are recognized, and ends one fact in seventy by
/// mistake.
const MEANT_LOG_ODDS: f64 = -1.0;

/// Log odds above which the statement directly before "scratch that" is the one that is meant.
pub(super) const DIRECT_LOG_ODDS: f64 = -4.0;

/// Similarity that stands for an unknown one: the mean of two statements of one conversation.
const USUAL_COSINE: f64 = 0.25;

/// Probability of a correction by its words alone, where there is no classifier.
const CUE_PROBABILITY: f32 = 0.5;

/// Least probability of a correction that counts: the classifier is never surer than this.
const MIN_PROBABILITY: f32 = 1e-4;

/// Probability that a correction and a statement of another category are about the same, without a classifier.
const OTHER_KIND_PROBABILITY: f32 = 0.1;

/// Most shared terms that count: a third one adds nothing.
const MAX_SHARED: usize = 3;

/// Correction that a draft makes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Correction {
    /// Set if it ends the earlier statement and puts nothing in its place.
    pub is_withdrawal: bool,
    /// Set if it means the statement directly before it, as "scratch that" does.
    pub is_direct: bool,
    /// Set if it is worth keeping only where it changes an earlier statement.
    pub is_tentative: bool,
    /// Set if it says nothing without what it corrects: "it's the 16th".
    #[serde(skip)]
    pub(crate) lacks_subject: bool,
    /// Set if its words tell that it is one.
    #[serde(skip)]
    pub(super) has_cue: bool,
    /// Set if only a value that it denies tells what it means: "not the violin, the viola".
    #[serde(skip)]
    pub(super) only_denies: bool,
    /// Set if the classifier takes it for one.
    #[serde(skip)]
    pub(super) is_judged: bool,
    /// Probability that it corrects something.
    #[serde(skip)]
    pub(super) probability: f32,
    /// Probability of each kind of statement; `None` without a classifier.
    #[serde(skip)]
    pub(super) kinds: Option<[f32; SentenceKind::ALL.len()]>,
}

impl Correction {
    /// Returns the correction that a sentence with these signs makes.
    pub(super) fn new(cue: CorrectionCue, scores: Option<&SentenceScores>) -> Self {
        let judged = scores.map_or(CUE_PROBABILITY, correction_probability);
        Self {
            is_withdrawal: false,
            is_direct: cue.is_direct || cue.is_fragment() && !cue.only_denies,
            is_tentative: false,
            lacks_subject: cue.lacks_subject,
            has_cue: cue.has_words && !cue.only_denies,
            only_denies: cue.only_denies,
            is_judged: judged >= MIN_CORRECTION,
            probability: match cue {
                _ if cue.withdraws => 1.0,
                // "I meant 16" is a correction, whatever it looks like.
                _ if cue.is_direct => judged.max(CUE_PROBABILITY),
                _ => judged,
            },
            kinds: scores.map(kind_probabilities),
        }
    }

    /// Returns `true` if it is an open one that asserts something whole, which is too dear to be lost.
    pub(in crate::ingest) fn is_open_statement(&self) -> bool {
        self.is_direct && self.has_cue && !self.lacks_subject && !self.is_withdrawal
    }

    /// Returns the correction that only ends what it means.
    pub(super) fn into_withdrawal(self) -> Self {
        Self { is_withdrawal: true, probability: 1.0, ..self }
    }

    /// Returns the probability that it is about a statement of a category.
    fn kind_probability(&self, own: Option<&str>, other: Option<&str>) -> f32 {
        let kind = SentenceKind::ALL.iter().position(|kind| Some(kind.as_str()) == other);
        match (self.kinds, kind) {
            (Some(kinds), Some(kind)) => kinds[kind],
            _ if own.is_some() && own == other => 1.0,
            _ => OTHER_KIND_PROBABILITY,
        }
    }
}

/// Signs of a correction in a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CorrectionCue {
    /// Asks to forget something.
    pub(super) withdraws: bool,
    /// Means what was said directly before.
    pub(super) is_direct: bool,
    /// Has few words beside the cue.
    pub(super) is_bare: bool,
    /// Has words of a correction; otherwise only the classifier takes it for one.
    pub(super) has_words: bool,
    /// Says nothing without what it corrects.
    pub(super) lacks_subject: bool,
    /// Asks to forget something and states nothing beside it.
    pub(super) only_withdraws: bool,
    /// States something of its speaker behind the cue, however short.
    pub(super) states_whole: bool,
    /// Only puts a value in the place of another: "not the violin, the viola".
    pub(super) only_denies: bool,
}

static DIRECT: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"\b(?:(?:scratch|strike|scrap|cancel|undo) that|no,? wait|wait,? no|oh wait|hang on,? no|actually,? no|no,? actually|i (?:actually )?meant|my (?:mistake|bad)|i misspoke|i (?:mis)?typed (?:it )?wrong|that was a typo|(?:the )?other way a?round|i (?:got|said|had|mixed) (?:it|that|them|those) (?:wrong|backwards|up|the wrong way round)|i(?: have to| must|'ll| should)? correct (?:myself|that)|i take (?:that|it) back|make that (?:\d+|an?|the|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|(?:mon|tues|wednes|thurs|fri|satur|sun)day))\b|^(?:correction|typo)\b|^(?:(?:oops|sorry|no)[, ]+)+(?:that's |that was )?wrong[:;,—–-]+ ?\w|^(?:just|only) (?:kidding|joking)[,:;!.—–-]+ ?(?:i|my|we)\b|^(?:(?:oh|no|sorry|wait|well|oops)[, ]+)*i mean (?:on |at |in |the )?(?:\d|(?-i:[A-Z])[a-z]+[.!]?$)|(?:说|讲|打|写|记|搞|弄|看|算|睇|講|記)[错錯]字?了?|(?:说|讲|打|写|记|搞|弄|記)反了|[记記搞弄](?:岔|混)了|^(?:开玩笑|逗你|骗你)的[，,。！! ]+我|^(?:[啊哎呀诶呃哦噢嗯额喔唉][，, ]*)*不对|[，, ]不对[，, ]|^等等|^等一?下?[，, ]不是|更正|纠正一下|口误|收回",
    )
});

static CHANGES: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"\b(?:changed my mind|change of plans?|plans? (?:have |has )?changed|(?:we|they|i)(?:'ve| have)? changed (?:it|that|the)|no longer|not any ?more|any ?more\b|got (?:bumped|moved|pushed|cancelled|canceled)|(?:has|have|been|was|were|is|'s|we) (?:now )?(?:moved|pushed|postponed|rescheduled|bumped|brought forward|cancelled|canceled)|called off|turns out|after all|instead of|rather than)\b|^(?:update|small update|plot twist)\b|^(?:oh |well |but )?actually,? (?:it|that|he|she|they)(?:'s|'re| is| are| was| were)\b|改了|改到|改成|改为|改成了|换成|换了|挪到|推迟|延期|提前到|取消了?|改主意|变卦|翻案|不.{0,6}了$|其实是",
    )
});

impl CorrectionCue {
    /// Returns `true` for a correction by its words that says nothing without what it corrects.
    pub(super) fn is_fragment(self) -> bool {
        self.has_words && self.lacks_subject && !self.only_withdraws
    }

    /// Returns `true` for an open correction that states something whole: "wait, I misspoke, I have four kids".
    pub(super) fn is_open_statement(self) -> bool {
        self.is_direct
            && !self.lacks_subject
            && !self.withdraws
            && (!self.is_bare || self.states_whole)
    }

    /// Returns the signs of a correction in a sentence; `None` if there are none.
    pub(super) fn of(sentence: &str, scores: Option<&SentenceScores>) -> Option<Self> {
        let withdrawal = find_withdrawal(sentence);
        let withdraws = withdrawal.is_some();
        let direct = DIRECT.find(sentence).or(withdrawal);
        let is_direct = DIRECT.is_match(sentence);
        let is_judged = scores.is_some_and(|it| correction_probability(it) >= MIN_CORRECTION);
        let is_contrast = fragments::is_contrast(sentence);
        let has_words = withdraws || is_direct || is_contrast || CHANGES.is_match(sentence);
        if !has_words && !is_judged {
            return None;
        }
        let rest = direct.map_or(sentence.to_owned(), |cue| {
            format!("{} {}", &sentence[..cue.start()], &sentence[cue.end()..])
        });
        let lacks_subject = fragments::lacks_subject(sentence);
        let is_short = direct.is_some() && count_words(&rest) <= MAX_BARE_WORDS;
        let states_value = lacks_subject && fragments::has_value(sentence);
        let is_bare = is_short && !states_value;
        Some(Self {
            withdraws,
            is_direct,
            is_bare,
            has_words,
            lacks_subject: lacks_subject && !is_bare,
            only_denies: is_contrast && !is_direct,
            states_whole: states_whole(sentence),
            only_withdraws: withdrawal.is_some_and(|it| {
                !states_value && count_words(&beside(sentence, it)) <= MAX_BARE_WORDS
            }),
        })
    }
}

/// Returns `true` if a correction says something of its speaker behind its cue: 我35了.
fn states_whole(sentence: &str) -> bool {
    let stated = fragments::stated(sentence);
    let words = stated.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let count = |word: &str| word.chars().filter(|c| is_cjk(*c)).count().max(1);
    FIRST_PERSON.is_match(stated) && words.map(count).sum::<usize>() > MAX_BARE_WORDS
}

/// Value that a correction denies: "2340 now, not 2180", 三月十六不是六号.
static DENIED: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"\b(?:not|instead of|rather than)(?: an?| the| on| at| in)? (?P<v>[\w.:/-]*\w)|(?:不是|而不是|不再是)(?P<zh>[一-鿿\w.]{1,6})",
    )
});

/// Words of a day, a date or a time of day.
static DATED: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun)[a-z]*\b|\d(?:st|nd|rd|th)\b|\d[:：]\d|[月号號日点點周週]|礼拜|禮拜|星期",
    )
});

/// Words for relatives.
static RELATIVE: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"\b(?:mum|mom|mother|dad|father|sister|brother|wife|husband|son|daughter|aunt|uncle|cousin|nephew|niece|grandma|grandpa|boss|dog|cat)\b|[爸妈哥姐弟妹]|儿子|女儿|老公|老婆|爷爷|奶奶|外公|外婆|老板|同事|[猫狗]",
    )
});

/// Beginnings of statements about their speaker.
static FIRST_PERSON: LazyLock<Regex> =
    LazyLock::new(|| compile(r"^(?:(?:i|i'm|i've|we|we're)\b|我(?:[^的爸妈哥姐弟妹老女儿家]|$))"));

/// Traits of a statement by which a correction finds it.
#[derive(Debug, Clone, Default)]
pub(crate) struct StatementTraits {
    text: String,
    terms: HashSet<String>,
    category: Option<String>,
    slot: Option<Slot>,
    /// Vector by the encoder; empty if there is none.
    vector: Vec<f32>,
}

impl StatementTraits {
    pub(crate) fn new(text: &str, category: Option<&str>, vector: Vec<f32>) -> Self {
        let plain = text.to_lowercase();
        Self {
            text: plain,
            terms: content_terms(text),
            category: category.map(str::to_owned),
            slot: None,
            vector,
        }
    }

    /// Adds the slot of the statement.
    pub(crate) fn with_slot(self, slot: Option<Slot>) -> Self {
        Self { slot, ..self }
    }

    /// Returns `true` unless a correction with these traits cannot mean a statement: it denies nothing that is there, is
    /// about another relative, or is unsure and shares nothing with it.
    pub(crate) fn may_mean(&self, correction: &Correction, statement: &Self) -> bool {
        if correction.only_denies && !correction.is_judged {
            return self.denies_value_of(statement);
        }
        let is_sure =
            correction.is_judged || !correction.is_tentative || !correction.is_open_statement();
        (correction.lacks_subject || !self.is_of_other_person(statement))
            && (is_sure || self.shares_matter_with(statement))
    }

    /// Returns `true` if a correction with these traits is to be put behind the statement that it means.
    pub(crate) fn stands_behind(&self, correction: &Correction, statement: &Self) -> bool {
        let denies = || self.denies_value_of(statement) || fragments::is_fragment(&self.text);
        correction.lacks_subject && (!correction.only_denies || denies())
    }

    /// Returns `true` if both name relatives, not the same ones, and share nothing else.
    fn is_of_other_person(&self, other: &Self) -> bool {
        let people = |text: &str| -> HashSet<String> {
            RELATIVE.find_iter(text).map(|found| found.as_str().to_owned()).collect()
        };
        let (own, theirs) = (people(&self.text), people(&other.text));
        !own.is_empty()
            && !theirs.is_empty()
            && own.is_disjoint(&theirs)
            && self.terms.is_disjoint(&other.terms)
    }

    /// Returns `true` if both have a term or a slot in common, or are about their speaker.
    fn shares_matter_with(&self, other: &Self) -> bool {
        let slots = self.slot.as_ref().zip(other.slot.as_ref());
        let is_first_person = |text: &str| FIRST_PERSON.is_match(fragments::stated(text));
        !self.terms.is_disjoint(&other.terms)
            || slots.is_some_and(|(own, other)| own.same_attribute(other))
            || is_first_person(&self.text) && is_first_person(&other.text)
    }

    /// Returns the log odds that a correction with these traits means a statement; `is_nearest` if no other is more like
    /// it by the encoder. The weights were fitted to the corrections of the training dialogues.
    pub(super) fn means_log_odds(
        &self,
        correction: &Correction,
        statement: &Self,
        is_nearest: bool,
    ) -> f64 {
        let flag = |is_set: bool| f64::from(u8::from(is_set));
        let shared = self.terms.intersection(&statement.terms).count().min(MAX_SHARED);
        let (own, other) = (self.category.as_deref(), statement.category.as_deref());
        let denies = self.denies_value_of(statement);
        // The value that a contrast denies tells what it means.
        let is_contrast = correction.only_denies && denies;
        let certain = if is_contrast { CUE_PROBABILITY } else { 0.0 };
        let probability = correction.probability.max(certain);
        let have_dates = DATED.is_match(&self.text) && DATED.is_match(&statement.text);
        self.cosine(statement)
            + 1.4 * shared as f64
            + 1.9 * f64::from(correction.kind_probability(own, other))
            + 0.8 * flag(denies)
            + f64::from(probability.max(MIN_PROBABILITY).ln())
            + 0.4 * flag(correction.has_cue || is_contrast)
            + 1.5 * flag(is_nearest)
            + flag(have_dates)
            - 3.2
    }

    /// Returns the statement that a correction with these traits most probably means; `None` if none is probable.
    pub(crate) fn likeliest<K>(
        &self,
        correction: &Correction,
        statements: Vec<(K, &Self)>,
    ) -> Option<K> {
        let cosines = statements.iter().map(|(_, statement)| self.cosine(statement));
        let nearest = cosines.fold(f64::NEG_INFINITY, f64::max);
        let odds = |(key, statement): (K, &Self)| {
            let is_nearest = !self.vector.is_empty() && self.cosine(statement) >= nearest;
            (self.means_log_odds(correction, statement, is_nearest), key)
        };
        let best = statements.into_iter().map(odds).max_by(|one, other| one.0.total_cmp(&other.0));
        best.filter(|(odds, _)| *odds > MEANT_LOG_ODDS).map(|(_, key)| key)
    }

    /// Returns `true` if a correction denies a value that a statement has.
    fn denies_value_of(&self, statement: &Self) -> bool {
        DENIED.captures_iter(&self.text).any(|found| {
            let value = found.name("v").or_else(|| found.name("zh"));
            value.is_some_and(|value| statement.text.contains(value.as_str()))
        })
    }

    fn cosine(&self, other: &Self) -> f64 {
        if self.vector.is_empty() || other.vector.is_empty() {
            return USUAL_COSINE;
        }
        f64::from(self.vector.iter().zip(&other.vector).map(|(a, b)| a * b).sum::<f32>())
    }
}

/// Returns the words of a text, and its pairs of Chinese characters: single ones are shared by chance.
fn content_terms(text: &str) -> HashSet<String> {
    terms(text).into_iter().filter(|term| term.is_ascii() || term.chars().count() > 1).collect()
}

fn compile(pattern: &str) -> Regex {
    Regex::new(&format!("(?i){}", pattern.replace('\'', "['’]"))).expect("valid")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cue(sentence: &str) -> Option<CorrectionCue> {
        CorrectionCue::of(sentence, None)
    }

    #[test]
    fn cues_tell_withdrawals_from_changes() {
        for sentence in ["Scratch that.", "no wait, scratch that", "说错了", "算了别记了"] {
            assert!(cue(sentence).unwrap().is_bare, "{sentence}");
        }
        for sentence in [
            "forget what I said about Berlin",
            "Forget that I live in Berlin.",
            "nah don't note that, i'm not cutting",
            "算了那个尾号别记了，想想不太安全，删了吧",
            "忘了我说的柏林那件事",
        ] {
            assert!(cue(sentence).unwrap().withdraws, "{sentence}");
        }
        for sentence in [
            "wait no, it's july 12, i flipped the digits",
            "I meant the Cambridge in Massachusetts",
            "说错了,是7.0.15,而且早切成cluster了",
            "不对，是周三",
        ] {
            let cue = cue(sentence).unwrap();
            assert!(cue.is_direct && !cue.withdraws && !cue.is_bare, "{sentence}");
        }
        for sentence in
            ["we changed it to Thursday", "op got bumped!! now 11 feb", "时间改到周日了"]
        {
            assert!(cue(sentence).is_some(), "{sentence}");
        }
        for sentence in
            ["Don't forget Bob hates olives", "别忘了带伞", "I live in Rome", "我住罗马"]
        {
            assert_eq!(cue(sentence), None, "{sentence}");
        }
    }

    #[test]
    fn a_correction_means_the_statement_that_is_most_like_it() {
        let traits = |text, category| StatementTraits::new(text, Some(category), Vec::new());
        let new = traits("the demo got moved to the 12th", "plan");
        let old = traits("demo day is on the 8th in the atrium", "plan");
        let other = traits("my sister is allergic to walnuts", "health");
        let correction = Correction::new(cue("the demo got moved to the 12th").unwrap(), None);
        assert_eq!(new.likeliest(&correction, vec![("other", &other), ("old", &old)]), Some("old"));
        assert_eq!(new.likeliest(&correction, vec![("other", &other)]), None);
    }
}
