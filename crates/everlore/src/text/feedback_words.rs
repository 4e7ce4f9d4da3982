//! Feedback in words: what a person says about what memory brought up ("that helped", 记错了).

use std::sync::LazyLock;

use regex::Regex;

use super::{language::is_cjk, sentences::sentences};

/// Sentences of a message that may judge the answer before it; what comes later is about something else.
const MAX_SENTENCES: usize = 2;

/// Most characters of such a sentence: a longer one tells something of its own.
const MAX_SENTENCE_CHARS: usize = 100;

/// Verdict on what memory brought up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SpokenFeedback {
    /// `true` if it helped.
    pub(crate) is_good: bool,
    /// Set if it must not be brought up again.
    pub(crate) never_again: bool,
}

/// Returns the verdict at the beginning of a message, if there is one.
pub(crate) fn spoken_feedback(message: &str) -> Option<SpokenFeedback> {
    let verdicts = sentences(message).take(MAX_SENTENCES).filter_map(judge_sentence);
    // A prohibition is more than the verdict before it.
    verdicts.reduce(|one, other| SpokenFeedback {
        is_good: one.is_good && other.is_good,
        never_again: one.never_again || other.never_again,
    })
}

fn judge_sentence(sentence: &str) -> Option<SpokenFeedback> {
    let is_question = sentence.contains(['?', '？', '吗']);
    if is_question || sentence.chars().nth(MAX_SENTENCE_CHARS).is_some() {
        return None;
    }
    let plain = sentence.replace('’', "'");
    let found =
        |patterns: &[Regex; 2]| patterns[usize::from(plain.contains(is_cjk))].is_match(&plain);
    let never_again = found(&NEVER_AGAIN);
    if never_again || found(&BAD) {
        return Some(SpokenFeedback { is_good: false, never_again });
    }
    found(&GOOD).then_some(SpokenFeedback { is_good: true, never_again: false })
}

/// Patterns in English and Chinese.
fn patterns(english: &str, chinese: &str) -> [Regex; 2] {
    [english, chinese].map(|text| Regex::new(text).expect("the pattern is valid"))
}

static GOOD: LazyLock<[Regex; 2]> = LazyLock::new(|| {
    patterns(
        r"(?i)^(?:yes,? |thanks,? |great,? |ok,? |wow,? )*(?:that|this|it) (?:really |actually )?(?:helped|was (?:really |very )?(?:helpful|useful)|is (?:really |very )?(?:helpful|useful))\b|\b(?:thanks|thank you|glad|good|great|nice)(?: that)?(?: for| you)? (?:remember(?:ed|ing)?)\b|\byou remembered (?:that |it )?(?:correctly|right|well)\b|\bexactly what i needed\b",
        r"^(?:嗯|对|谢谢|好|太好了)?[，,]?(?:这个|这条|这|刚才的|那个)(?:很|真|挺|太)?(?:有用|有帮助|帮了大忙)|帮到我了|记得没错|记对了|记得真(?:清楚|准|牢)|谢谢你还?记得|正是我要的",
    )
});

static BAD: LazyLock<[Regex; 2]> = LazyLock::new(|| {
    patterns(
        r"(?i)\b(?:that|this|it)(?:'s| is| was) (?:not (?:helpful|useful|relevant|right|true|correct)|wrong|irrelevant|useless|outdated|no help|no longer true)\b|\b(?:that|this|it) (?:didn't|did not|doesn't|does not) help\b|\byou (?:got|remembered|have) (?:that|this|it) wrong\b|\byou misremember\b",
        r"(?:这个|这条|这|那个|刚才的)(?:完全|根本)?(?:没用|没什么用|没有用|没帮助|没有帮助|不相关|帮不上忙|过时了|是错的|不对)|你?记错了|跟这个没关系|与此无关",
    )
});

static NEVER_AGAIN: LazyLock<[Regex; 2]> = LazyLock::new(|| {
    patterns(
        r"(?i)\b(?:don't|do not|never) (?:ever )?(?:bring|mention|raise|tell me) (?:that|this|it)(?: up)?(?: again| anymore| any more| ever)*\b|\bstop (?:bringing|mentioning|raising) (?:that|this|it)\b",
        r"(?:别|不要|不用|以后别|以后不要)再?提(?:这个|这件事|这事|它|了|起)|别再说(?:这个|这件事)",
    )
});

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(message: &str) -> Option<(bool, bool)> {
        spoken_feedback(message).map(|it| (it.is_good, it.never_again))
    }

    #[test]
    fn praise_is_heard_in_both_languages() {
        for message in [
            "that helped",
            "Thanks, that was really helpful!",
            "thanks for remembering",
            "exactly what I needed",
            "这个很有用，谢谢",
            "你记得真清楚",
            "谢谢你还记得",
        ] {
            assert_eq!(verdict(message), Some((true, false)), "{message}");
        }
    }

    #[test]
    fn blame_is_heard_and_a_prohibition_is_more() {
        for message in [
            "that's wrong",
            "That is not relevant.",
            "it didn't help",
            "这个没用",
            "你记错了",
            "这条过时了",
        ] {
            assert_eq!(verdict(message), Some((false, false)), "{message}");
        }
        for message in [
            "that's wrong, don't bring that up again",
            "Stop mentioning that.",
            "记错了。以后别再提这个了",
            "不要再提这件事",
        ] {
            assert_eq!(verdict(message), Some((false, true)), "{message}");
        }
    }

    #[test]
    fn other_messages_judge_nothing() {
        for message in [
            "is that wrong?",
            "that's not wrong",
            "I don't want to bring this up with my boss, how do I start",
            "what helped you most",
            "没用过这个库",
            "这个有用吗",
            "我把名字写错了",
            "",
        ] {
            assert_eq!(verdict(message), None, "{message}");
        }
    }
}
