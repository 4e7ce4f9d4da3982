//! Corrections: sentences that change or withdraw an earlier statement, and which statement they mean.

use std::{collections::HashSet, sync::LazyLock};

use regex::Regex;
use serde::Serialize;

use super::{
    fragments,
    judge::{MIN_CORRECTION, correction_probability, kind_probabilities},
};
use crate::{
    llm::{SentenceKind, SentenceScores},
    text::{language::is_cjk, terms::terms},
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

/// Most words beside the cue of a correction that says nothing new, such as "no wait, scratch that".
const MAX_BARE_WORDS: usize = 2;

/// Words beside a cue that say nothing.
static BARE_FILLERS: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"\b(?:oh|ok|okay|no|nah|sorry|please|pls|actually|hmm|um|and|so|just|lol|wait|you can|scratch that)\b|算了|刚才|刚刚|上面|这个|那个|这条|那条|我|吧|了|啊|哦|哈|呀|先|就|别记",
    )
});

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
            is_direct: cue.is_direct || cue.is_fragment(),
            is_tentative: false,
            lacks_subject: cue.lacks_subject,
            has_cue: cue.has_words,
            probability: match cue {
                _ if cue.withdraws => 1.0,
                // "I meant 16" is a correction, whatever it looks like.
                _ if cue.is_direct && cue.lacks_subject => judged.max(CUE_PROBABILITY),
                _ => judged,
            },
            kinds: scores.map(kind_probabilities),
        }
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
}

static DIRECT: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"\b(?:(?:scratch|strike|scrap|cancel|undo) that|no,? wait|wait,? no|oh wait|hang on,? no|actually,? no|no,? actually|i (?:actually )?meant|my (?:mistake|bad)|i misspoke|i (?:mis)?typed (?:it )?wrong|that was a typo|i (?:got|said|had) (?:it|that) wrong|i(?: have to| must|'ll| should)? correct (?:myself|that)|i take (?:that|it) back|make that (?:\d+|an?|the|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|(?:mon|tues|wednes|thurs|fri|satur|sun)day))\b|^(?:correction|typo)\b|(?:说|讲|打|写|记|搞|弄|看|算|睇|講|記)[错錯]了?|[记記](?:岔|反|混)了|^不对|[，, ]不对[，, ]|^等等|^等一?下?[，, ]不是|更正|纠正一下|口误|收回",
    )
});

static WITHDRAWS: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"\bforget (?:(?:all |everything |about )?(?:what|that|the thing|the bit) i|i (?:ever )?(?:said|mentioned|told)|about (?:that|it|the)|that\b|it\b)|\b(?:ignore|disregard|delete|drop|erase|remove|bin) (?:(?:all |everything )?(?:what|that) i (?:said|told|wrote)|what i|that note|that warning|my earlier)|\b(?:don't|do not|dont|no need to|you don't (?:have|need) to) (?:note|remember|save|store|record|write (?:that|it) down|keep) (?:that|this|it|any of)|\b(?:scratch|strike|scrap|cancel) (?:that|what i said)|\bi take (?:that|it) back|别记|不用记|不要记|甭记|不必记|忘了(?:我|刚才|之前|那)|忘掉|当我没说|就当没说|收回(?:刚才|之前|这句|那句|前面)|删(?:了|掉)(?:吧|那|它|这|$)|撤回(?:刚才|上面|那)|作废",
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

    /// Returns the signs of a correction in a sentence; `None` if there are none.
    pub(super) fn of(sentence: &str, scores: Option<&SentenceScores>) -> Option<Self> {
        let withdrawal = find_withdrawal(sentence);
        let withdraws = withdrawal.is_some();
        let direct = DIRECT.find(sentence).or(withdrawal);
        let is_direct = DIRECT.is_match(sentence);
        let is_judged = scores.is_some_and(|it| correction_probability(it) >= MIN_CORRECTION);
        let has_words = withdraws || is_direct || CHANGES.is_match(sentence);
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
            only_withdraws: withdrawal.is_some_and(|it| {
                !states_value && count_words(&beside(sentence, it)) <= MAX_BARE_WORDS
            }),
        })
    }
}

/// Words before "forget" or 忘了 with which nobody asks to forget: "don't forget", "I always forget", 我忘了.
static NO_REQUEST: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?:n't|\b(?:not|dont|never|always|often|sometimes|to|i|we|he|she|they|people|will|'ll|might|may|could|would|did|i'd)) $|[别我他她们不没都快会常要又老差就]$",
    )
});

/// Returns the words with which a sentence asks to forget something.
fn find_withdrawal(sentence: &str) -> Option<regex::Match<'_>> {
    let is_request = |found: &regex::Match<'_>| {
        let forgets =
            found.as_str().to_lowercase().starts_with("forget") || found.as_str().starts_with('忘');
        !forgets || !NO_REQUEST.is_match(&sentence[..found.start()])
    };
    WITHDRAWS.find_iter(sentence).find(is_request)
}

/// Returns the clauses of a sentence beside the one with the match.
fn beside(sentence: &str, found: regex::Match<'_>) -> String {
    let marks = [',', '，', ';', '；', ':', '：', '—', '–'];
    let start = sentence[..found.start()].rfind(marks).unwrap_or(0);
    let end = sentence[found.end()..].find(marks).map_or(sentence.len(), |at| found.end() + at);
    format!("{} {}", &sentence[..start], &sentence[end..])
}

/// Counts the words of a text, and its Chinese characters, without those that say nothing.
fn count_words(text: &str) -> usize {
    let rest = BARE_FILLERS.replace_all(text, " ");
    let words = rest.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(|word| word.chars().filter(|c| is_cjk(*c)).count().max(1)).sum()
}

/// Value that a correction denies: "2340 now, not 2180", 三月十六不是六号.
static DENIED: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"\b(?:not|instead of|rather than)(?: an?| the| on| at| in)? (?P<v>[\w.:/-]+)|(?:不是|而不是|不再是)(?P<zh>[一-鿿\w.]{2,6})",
    )
});

/// Words of a day, a date or a time of day.
static DATED: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun)[a-z]*\b|\d(?:st|nd|rd|th)\b|\d[:：]\d|[月号號日点點周週]|礼拜|禮拜|星期",
    )
});

/// Traits of a statement by which a correction finds it.
#[derive(Debug, Clone, Default)]
pub(crate) struct StatementTraits {
    text: String,
    terms: HashSet<String>,
    category: Option<String>,
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
            vector,
        }
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
        let have_dates = DATED.is_match(&self.text) && DATED.is_match(&statement.text);
        self.cosine(statement)
            + 1.4 * shared as f64
            + 1.9 * f64::from(correction.kind_probability(own, other))
            + 0.8 * flag(self.denies_value_of(statement))
            + f64::from(correction.probability.max(MIN_PROBABILITY).ln())
            + 0.4 * flag(correction.has_cue)
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
