//! Lines of a summary that a model wrote, held against what was said: a model that invents leaves nothing in the log.

use std::{
    collections::{BTreeSet, HashSet},
    sync::LazyLock,
};

use regex::Regex;

use super::{
    assertions::figures::{digits_in, figures_in},
    language::is_cjk,
    summary::Utterance,
    terms::{is_single_cjk, terms},
};

/// Least share of a line's terms that were said: a summary says much in other words, an invention nearly everything.
const MIN_SHARE: f64 = 0.5;

/// The same for pairs of Chinese characters, of which other words break more.
const MIN_CHINESE_SHARE: f64 = 0.4;

/// A line that tells what the assistant did or said.
static ABOUT_ASSISTANT: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)\b(?:assistant|agent)\b|助手|助理").expect("valid"));

/// A line that tells something of the user, lets the user say it, or says it to the user.
static ABOUT_USER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:users?|i|my|me|we|our|you|your)\b|用户|我|你|您").expect("valid")
});

/// Words of a summary for those who talk.
static PARTIES: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:the )?(?:users?|assistant|agent)\b|用户|助手|助理").expect("valid")
});

/// Returns the lines of a summary that the conversation supports: every figure was named, and enough of the terms were
/// said; those of a line about the user by the user.
pub(crate) fn supported_lines(summary: &str, utterances: &[Utterance<'_>]) -> String {
    let said = SaidWords::of(utterances.iter().map(|it| it.text));
    let said_by_user = SaidWords::of(utterances.iter().filter(|it| it.is_user).map(|it| it.text));
    let is_kept = |line: &&str| {
        let is_users = ABOUT_USER.is_match(line) && !ABOUT_ASSISTANT.is_match(line);
        if is_users { said_by_user.support(line) } else { said.support(line) }
    };
    summary.lines().filter(is_kept).collect::<Vec<_>>().join("\n")
}

/// Words and figures of a conversation.
struct SaidWords {
    terms: HashSet<String>,
    figures: BTreeSet<u64>,
}

impl SaidWords {
    fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let text = texts.collect::<Vec<_>>().join("\n");
        Self { terms: line_terms(&text), figures: figures_in(&text) }
    }

    fn support(&self, line: &str) -> bool {
        let line = PARTIES.replace_all(line, " ");
        let wanted = line_terms(&line);
        let shared = wanted.intersection(&self.terms).count();
        let least = if line.chars().any(is_cjk) { MIN_CHINESE_SHARE } else { MIN_SHARE };
        let is_named = |readings: &Vec<u64>| readings.iter().any(|it| self.figures.contains(it));
        shared > 0
            && shared as f64 >= least * wanted.len() as f64
            && digits_in(&line).iter().all(is_named)
    }
}

/// Returns the words of a text, and its pairs of Chinese characters.
fn line_terms(text: &str) -> HashSet<String> {
    terms(text).into_iter().filter(|term| !is_single_cjk(term)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept<'a>(lines: &[&'a str], said: &[(&str, bool)]) -> Vec<&'a str> {
        let utterances: Vec<_> = said
            .iter()
            .map(|(text, is_user)| Utterance { speaker: "", text, is_user: *is_user })
            .collect();
        let rest = supported_lines(&lines.join("\n"), &utterances);
        lines.iter().copied().filter(|line| rest.lines().any(|kept| kept == *line)).collect()
    }

    #[test]
    fn what_nobody_said_is_dropped() {
        let said = [
            ("I ran the Leeds half marathon in 2:05, and I want to be faster next year.", true),
            ("Intervals on the track twice a week help most people.", false),
        ];
        let told = "- User ran the Leeds half marathon in 2:05 and wants to be faster.";
        let advice = "- Assistant suggested intervals on the track twice a week.";
        let lines = [
            told,
            advice,
            "- I ran 10 marathons last year.",
            "- The user ran the Leeds half marathon in 1:45.",
            "- We talked about love and politics.",
            "- User does intervals on the track twice a week.",
            "- You do intervals on the track twice a week.",
            "- You're training on the track with most people.",
            "- ass",
        ];
        assert_eq!(kept(&lines, &said), [told, advice]);
    }

    #[test]
    fn the_same_holds_in_chinese() {
        let said = [
            ("我下个月搬到杭州，房租每月四千五百，想找个离地铁近的健身房。", true),
            ("可以先看看地铁口附近的小馆子，月卡比年卡划算。", false),
        ];
        let (told, advice) = ("- 用户下个月搬到杭州，房租4500", "- 助手建议月卡比年卡划算");
        let lines = [
            told,
            advice,
            "- 用户下个月搬到杭州，房租6000",
            "- 我猜我们的生命中是一位画家",
            "- 用户觉得月卡比年卡划算",
            "- 你觉得月卡比年卡划算",
            "- 同",
        ];
        assert_eq!(kept(&lines, &said), [told, advice]);
    }
}
