//! Extractive summary: the few sentences of a conversation that say most of its subject, word for word, without a
//! model.
//!
//! A sentence is worth the words it shares with the rest of the conversation; once it is chosen, its words are worth
//! less, so that the next one says something else.

use std::collections::{HashMap, HashSet};

use super::{
    keywords::content_words,
    sentences::{parts_at_marks, sentences},
};

/// Text of one speaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Utterance<'a> {
    /// Speaker as written in the summary; empty for none.
    pub speaker: &'a str,
    /// Text.
    pub text: &'a str,
    /// Set if the user said it: most of what is worth remembering comes from them.
    pub is_user: bool,
}

/// Fewest words of a sentence; one with fewer says nothing by itself.
const MIN_WORDS: usize = 2;

/// Most characters of a sentence; a longer one is a paste.
const MAX_SENTENCE_CHARS: usize = 240;

/// Factors for a sentence of the user against one of the agent, a statement against a question, and a sentence with
/// numbers or dates against one without. Chosen by reading summaries of conversations in both languages.
const USER_BOOST: f64 = 1.5;
const QUESTION_BOOST: f64 = 0.5;
const NUMBER_BOOST: f64 = 1.2;

/// Most lines of a summary, and the least worth of a line as a share of the best one's.
const MAX_LINES: usize = 5;
const MIN_SCORE_SHARE: f64 = 0.35;

struct SummarySentence<'a> {
    position: usize,
    utterance: Utterance<'a>,
    text: &'a str,
    words: HashSet<String>,
    boost: f64,
}

/// Returns lines of at most `max_chars` characters together, in the order in which they were said; empty if nothing is
/// worth a line.
pub(crate) fn summarize(utterances: &[Utterance<'_>], max_chars: usize) -> String {
    let mut candidates = quotable_candidates(utterances);
    let mut weights = word_weights(&candidates);
    let (mut chosen, mut used, mut min_score) = (Vec::new(), 0, 0.0);
    while let Some((best, score)) = best_sentence(&candidates, &weights)
        && score >= min_score
        && chosen.len() < MAX_LINES
    {
        min_score = min_score.max(score * MIN_SCORE_SHARE);
        let sentence = candidates.swap_remove(best);
        let line = render_line(&sentence);
        let length = line.chars().count() + usize::from(used > 0);
        if used + length > max_chars {
            continue;
        }
        used += length;
        // A word that a chosen sentence has counts less for the next ones.
        for word in &sentence.words {
            weights.entry(word.clone()).and_modify(|weight| *weight *= *weight);
        }
        chosen.push((sentence.position, line));
    }
    chosen.sort_unstable();
    chosen.into_iter().map(|(_, line)| line).collect::<Vec<_>>().join("\n")
}

/// Returns the first lines of a text that fit into so many characters.
pub(crate) fn truncate_lines(text: &str, max_chars: usize) -> String {
    let mut used = 0;
    let fits = |line: &&str| {
        used += line.chars().count() + usize::from(used > 0);
        used <= max_chars
    };
    text.lines().take_while(fits).collect::<Vec<_>>().join("\n")
}

/// Iterates over the sentences of a text as a summary would quote them, and as one of 0.1.0 did.
pub(crate) fn quotable_sentences(text: &str) -> impl Iterator<Item = String> {
    let all = sentences(text).chain(parts_at_marks(text));
    let fitting = all.map(str::trim).filter(|text| has_quotable_length(text));
    fitting.filter(|text| content_words(text).len() >= MIN_WORDS).map(to_single_line)
}

fn has_quotable_length(sentence: &str) -> bool {
    sentence.chars().count() <= MAX_SENTENCE_CHARS
}

fn quotable_candidates<'a>(utterances: &[Utterance<'a>]) -> Vec<SummarySentence<'a>> {
    let mut seen = HashSet::new();
    let all = utterances
        .iter()
        .flat_map(|utterance| sentences(utterance.text).map(|text| (*utterance, text.trim())));
    let fitting = all.filter(|(_, text)| has_quotable_length(text));
    let sentences = fitting.enumerate().map(|(position, (utterance, text))| {
        let words: HashSet<String> = content_words(text).into_iter().collect();
        SummarySentence {
            position,
            utterance,
            text,
            words,
            boost: sentence_boost(&utterance, text),
        }
    });
    sentences.filter(|one| one.words.len() >= MIN_WORDS && seen.insert(one.text)).collect()
}

fn sentence_boost(utterance: &Utterance<'_>, text: &str) -> f64 {
    let is_question = text.ends_with(['?', '？', '吗', '呢']);
    let has_numbers = text.contains(|c: char| c.is_ascii_digit());
    [(utterance.is_user, USER_BOOST), (is_question, QUESTION_BOOST), (has_numbers, NUMBER_BOOST)]
        .into_iter()
        .filter(|(holds, _)| *holds)
        .map(|(_, factor)| factor)
        .product()
}

/// Returns the weight of each word: the share of sentences that have it.
fn word_weights(sentences: &[SummarySentence<'_>]) -> HashMap<String, f64> {
    let mut weights: HashMap<String, f64> = HashMap::new();
    let share = 1.0 / sentences.len().max(1) as f64;
    for word in sentences.iter().flat_map(|sentence| &sentence.words) {
        *weights.entry(word.clone()).or_default() += share;
    }
    weights
}

/// Returns the index and the worth of the best sentence; of equals the one that was said first.
fn best_sentence(
    sentences: &[SummarySentence<'_>],
    weights: &HashMap<String, f64>,
) -> Option<(usize, f64)> {
    let score = |sentence: &SummarySentence<'_>| {
        let sum: f64 = sentence.words.iter().filter_map(|word| weights.get(word)).sum();
        // The root lets a sentence gain by its words without winning by their number.
        sentence.boost * sum / (sentence.words.len() as f64).sqrt()
    };
    let better = |one: &(usize, f64, usize), other: &(usize, f64, usize)| {
        one.1.total_cmp(&other.1).then(other.2.cmp(&one.2))
    };
    let rated =
        sentences.iter().enumerate().map(|(at, one)| (at, round_score(score(one)), one.position));
    rated.max_by(better).map(|(at, score, _)| (at, score))
}

/// Rounds a score: sums over a set differ in their last digits, depending on its order.
fn round_score(score: f64) -> f64 {
    (score * 1e9).round()
}

/// Returns a sentence on one line, without a list marker of its own at the beginning.
fn to_single_line(sentence: &str) -> String {
    let text = sentence.split_whitespace().collect::<Vec<_>>().join(" ");
    text.trim_start_matches(['#', '-', '*', '>', '`', '~', ' ']).to_owned()
}

fn render_line(sentence: &SummarySentence<'_>) -> String {
    let text = to_single_line(sentence.text);
    if sentence.utterance.speaker.is_empty() {
        format!("- {text}")
    } else {
        format!("- {}: {text}", sentence.utterance.speaker)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utterances<'a>(turns: &[(&'a str, &'a str)]) -> Vec<Utterance<'a>> {
        turns
            .iter()
            .map(|(by, text)| Utterance { speaker: by, text, is_user: *by != "bot" })
            .collect()
    }

    #[test]
    fn an_english_summary_keeps_what_the_talk_was_about() {
        let turns = utterances(&[
            ("anna", "Hi there! How are you?"),
            ("bot", "Hello! I am fine, thanks."),
            ("anna", "I want to plan the move to Lisbon. The move is on March 14."),
            ("bot", "Great. Shall I look for movers for the Lisbon move?"),
            (
                "anna",
                "Yes, and the new flat in Lisbon has no kitchen, so we need a kitchen by April 1.",
            ),
            ("bot", "Noted. The weather is nice today."),
        ]);
        let summary = summarize(&turns, 200);
        assert!(summary.contains("anna: The move is on March 14."), "{summary}");
        assert!(summary.contains("kitchen by April 1"), "{summary}");
        assert!(!summary.contains("weather") && !summary.contains("How are you"), "{summary}");
        assert!(summary.chars().count() <= 200);
        assert!(summary.find("March 14") < summary.find("kitchen by"), "in the order it was said");
    }

    #[test]
    fn a_chinese_summary_stays_chinese() {
        let turns = utterances(&[
            ("小王", "你好！"),
            ("bot", "你好，有什么可以帮你？"),
            ("小王", "我们下个月搬家到杭州。新房子在西湖区，房租每月 6500 元。"),
            ("bot", "好的，已经记下。"),
            ("小王", "搬家公司定在 3 月 14 日，西湖区的停车位还没有找到。"),
            ("bot", "今天天气不错。"),
        ]);
        let summary = summarize(&turns, 60);
        assert!(summary.contains("西湖区"), "{summary}");
        assert!(summary.contains("搬家"), "{summary}");
        assert!(!summary.contains("天气"), "{summary}");
        assert!(summary.chars().count() <= 60);
    }

    #[test]
    fn whole_lines_are_kept_as_far_as_they_fit() {
        assert_eq!(truncate_lines("- tea\n- 茶叶\n- more", 10), "- tea\n- 茶叶");
        assert_eq!(truncate_lines("- tea", 4), "");
    }

    #[test]
    fn every_line_of_a_summary_ends_with_a_sentence_that_can_be_told_again() {
        let texts =
            ["## The   move is on March 14.\nIt rains!", "我们下个月搬家到杭州。房租每月 6500 元"];
        let quotes: Vec<String> = texts.into_iter().flat_map(quotable_sentences).collect();
        assert_eq!(quotes[0], "The move is on March 14.");
        for text in texts {
            let summary = summarize(&[Utterance { speaker: "anna", text, is_user: true }], 200);
            let quoted =
                |line: &str| quotes.iter().any(|quote| *line == format!("- anna: {quote}"));
            assert!(!summary.is_empty() && summary.lines().all(quoted), "{summary}");
        }
    }

    #[test]
    fn nothing_said_or_no_room_gives_nothing() {
        assert_eq!(summarize(&[], 100), "");
        assert_eq!(summarize(&utterances(&[("anna", "ok. thanks!"), ("bot", "好的。")]), 100), "");
        assert_eq!(summarize(&utterances(&[("anna", "The staging port is 8443")]), 10), "");
    }

    #[test]
    fn the_same_talk_always_gets_the_same_summary_and_no_line_can_be_a_heading() {
        let turns = utterances(&[
            ("", "## Release plan for the backend"),
            ("", "- the backend ships on Monday"),
        ]);
        let first = summarize(&turns, 100);
        assert_eq!(first, "- Release plan for the backend\n- the backend ships on Monday");
        assert!((0..20).all(|_| summarize(&turns, 100) == first));
    }
}
