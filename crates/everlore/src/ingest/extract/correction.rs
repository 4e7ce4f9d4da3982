//! Corrections: sentences that change or withdraw an earlier statement, and which statement they mean.

use std::{collections::HashSet, sync::LazyLock};

use regex::Regex;
use serde::Serialize;

use super::judge::{MIN_CORRECTION, correction_probability};
use crate::{
    llm::SentenceScores,
    text::{language::is_cjk, terms::terms},
};

/// Log odds above which an earlier statement of the same session is the one that a correction means. On the training
/// dialogues, this and the next threshold honour ten corrections more than half a point higher ones, and end seven
/// facts by mistake that those keep.
pub(super) const SAME_SESSION_LOG_ODDS: f64 = -1.5;

/// Log odds above which a stored statement is: there are more of them, so that one is like it by chance.
pub(crate) const STORED_LOG_ODDS: f64 = -1.25;

/// Log odds above which the statement directly before "scratch that" is the one that is meant.
pub(super) const DIRECT_LOG_ODDS: f64 = -4.0;

/// Similarity that stands for an unknown one: the mean of two statements of one conversation.
const USUAL_COSINE: f64 = 0.25;

/// Weight of a value that is denied, as much as that of the same category.
const DENIED_WEIGHT: f64 = 2.5;

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Correction {
    /// Set if it ends the earlier statement and puts nothing in its place.
    pub is_withdrawal: bool,
    /// Set if it means the statement directly before it, as "scratch that" does.
    pub is_direct: bool,
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
}

static DIRECT: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"\b(?:(?:scratch|strike|scrap|cancel|undo) that|no,? wait|wait,? no|oh wait|hang on,? no|actually,? no|no,? actually|i (?:actually )?meant|my (?:mistake|bad)|i misspoke|i (?:mis)?typed (?:it )?wrong|that was a typo|i (?:got|said|had) (?:it|that) wrong|i(?: have to| must|'ll| should)? correct (?:myself|that)|i take (?:that|it) back)\b|^(?:correction|typo)\b|(?:说|讲|打|写|记|搞|弄|看|算|睇|講|記)[错錯]了?|[记記](?:岔|反|混)了|^不对|[，, ]不对[，, ]|^等等|^等一?下?[，, ]不是|更正|纠正一下|口误|收回",
    )
});

static WITHDRAWS: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"\bforget (?:(?:all |everything |about )?(?:what|that|the thing|the bit) i|i (?:ever )?(?:said|mentioned|told)|about (?:that|it|the)|that\b|it\b)|\b(?:ignore|disregard|delete|drop|erase|remove|bin) (?:(?:all |everything )?(?:what|that) i (?:said|told|wrote)|what i|that note|that warning|my earlier)|\b(?:don't|do not|dont|no need to|you don't (?:have|need) to) (?:note|remember|save|store|record|write (?:that|it) down|keep) (?:that|this|it|any of)|\b(?:scratch|strike|scrap|cancel) (?:that|what i said)|\bi take (?:that|it) back|别记|不用记|不要记|甭记|不必记|忘了(?:我|刚才|之前|那)|忘掉|当我没说|就当没说|收回(?:刚才|之前|这句|那句|前面)|删(?:了|掉)(?:吧|那|它|这|$)|撤回(?:刚才|上面|那)|作废",
    )
});

static CHANGES: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"\b(?:changed my mind|change of plans?|plans? (?:have |has )?changed|(?:we|they|i)(?:'ve| have)? changed (?:it|that|the)|no longer|not any ?more|any ?more\b|got (?:bumped|moved|pushed|cancelled|canceled)|(?:has|have|been|was|were|is|'s|we) (?:now )?(?:moved|pushed|postponed|rescheduled|bumped|brought forward|cancelled|canceled)|called off|turns out|after all|instead of|rather than)\b|^(?:update|small update|plot twist)\b|改了|改到|改成|改为|改成了|换成|换了|挪到|推迟|延期|提前到|取消了?|改主意|变卦|翻案|不.{0,6}了$|其实是",
    )
});

impl CorrectionCue {
    /// Returns the signs of a correction in a sentence; `None` if there are none.
    pub(super) fn of(sentence: &str, scores: Option<&SentenceScores>) -> Option<Self> {
        let withdraws = WITHDRAWS.is_match(sentence);
        let direct = DIRECT.find(sentence).or_else(|| WITHDRAWS.find(sentence));
        let is_direct = DIRECT.is_match(sentence);
        let is_judged = scores.is_some_and(|it| correction_probability(it) >= MIN_CORRECTION);
        if !withdraws && !is_direct && !is_judged && !CHANGES.is_match(sentence) {
            return None;
        }
        let rest = direct.map_or(sentence.to_owned(), |cue| {
            format!("{} {}", &sentence[..cue.start()], &sentence[cue.end()..])
        });
        let is_bare = direct.is_some() && count_words(&rest) <= MAX_BARE_WORDS;
        Some(Self { withdraws, is_direct, is_bare })
    }
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

    /// Returns the log odds that a correction with these traits means a statement. The weights were fitted to the
    /// corrections of the training dialogues.
    pub(crate) fn means_log_odds(&self, statement: &Self) -> f64 {
        let shared = self.terms.intersection(&statement.terms).count();
        let fewest = self.terms.len().min(statement.terms.len()).max(1);
        let is_same_category = self.category.is_some() && self.category == statement.category;
        3.6 * self.cosine(statement)
            + shared as f64 / fewest as f64
            + 1.5 * shared.min(MAX_SHARED) as f64
            + 2.6 * f64::from(u8::from(is_same_category))
            + DENIED_WEIGHT * f64::from(u8::from(self.denies_value_of(statement)))
            - 4.0
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
        assert!(new.means_log_odds(&old) > STORED_LOG_ODDS);
        assert!(new.means_log_odds(&other) < SAME_SESSION_LOG_ODDS);
    }
}
