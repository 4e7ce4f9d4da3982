//! Excerpt: the passage of a long text that answers a question, in whole sentences, with … where text was left out.

use super::{sentences::sentences, tiers::bounded_prefix, tokens::estimate_tokens};

/// Tokens of the two marks around an excerpt.
const MARK_TOKENS: usize = 4;

/// Share of the best sentence's worth that another one needs: a sentence with one common word of the question is not
/// worth its tokens beside one that has them all.
const MIN_SHARE: f64 = 0.5;

/// Characters of a token that are tried: of a text without end, only its beginning is counted for each piece.
const MAX_TOKEN_CHARS: usize = 8;

/// Piece of a text with its worth for the question.
struct Passage<'a> {
    text: &'a str,
    tokens: usize,
    worth: f64,
}

/// Returns the sentences of a text that are worth most, at most `max_tokens`, with the neighbours of the best one; in
/// their order, with … for what is left out. `None` if no sentence is worth anything.
pub(crate) fn excerpt(
    content: &str,
    worth: impl Fn(&str) -> f64,
    max_tokens: usize,
) -> Option<String> {
    let room = max_tokens.checked_sub(MARK_TOKENS)?;
    let content = bounded_prefix(content.trim());
    let passages: Vec<Passage<'_>> = sentences(content)
        .flat_map(|sentence| split_to_fit(sentence, room))
        .map(|text| Passage { text, tokens: estimate_tokens(text), worth: worth(text) })
        .collect();
    let ranked = rank_passages(&passages)?;
    let mut chosen: Vec<usize> = Vec::new();
    for index in ranked {
        let mut wider = chosen.clone();
        wider.push(index);
        wider.sort_unstable();
        if estimate_tokens(&join_passages(&passages, &wider)) <= max_tokens {
            chosen = wider;
        }
    }
    (!chosen.is_empty()).then(|| join_passages(&passages, &chosen))
}

/// Returns the passages in the order in which they are chosen: the best one, the others that are worth nearly as much,
/// then what stands after and before the best one, since "it is 1450" follows the sentence with the words.
fn rank_passages(passages: &[Passage<'_>]) -> Option<Vec<usize>> {
    let worthwhile = |worth: f64, index: usize| passages[index].worth >= worth;
    let mut ranked: Vec<usize> = (0..passages.len()).collect();
    // Of equals the shorter says it with less.
    ranked.sort_by(|a, b| {
        let (a, b) = (&passages[*a], &passages[*b]);
        b.worth.total_cmp(&a.worth).then(a.tokens.cmp(&b.tokens))
    });
    let best = *ranked.first().filter(|best| passages[**best].worth > 0.0)?;
    ranked.retain(|index| worthwhile(passages[best].worth * MIN_SHARE, *index));
    let neighbours = [best + 1, best.wrapping_sub(1)];
    let neighbours = neighbours.into_iter().filter(|index| *index < passages.len());
    let extra: Vec<usize> = neighbours.filter(|index| !ranked.contains(index)).collect();
    Some(ranked.into_iter().chain(extra).collect())
}

/// Joins passages in their order; `indexes` are sorted.
fn join_passages(passages: &[Passage<'_>], indexes: &[usize]) -> String {
    let mut text = String::new();
    let mut next = 0;
    for index in indexes {
        if *index != next {
            text.truncate(text.trim_end().len());
            text.push_str(if text.is_empty() { "… " } else { " … " });
        }
        text.push_str(passages[*index].text);
        next = index + 1;
    }
    text.truncate(text.trim_end().len());
    if next < passages.len() {
        text.push_str(" …");
    }
    text
}

/// Splits a sentence that is longer than `max_tokens` at words, or inside of one that has no end.
fn split_to_fit(sentence: &str, max_tokens: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = sentence;
    while !rest.is_empty() {
        let end = fitting_end(rest, max_tokens.max(1));
        let (piece, after) = rest.split_at(end);
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// Returns the end of the longest beginning that fits: all of it, up to a blank or a comma, or any character.
fn fitting_end(text: &str, max_tokens: usize) -> usize {
    let ends: Vec<usize> = text
        .char_indices()
        .map(|(at, c)| at + c.len_utf8())
        .take(max_tokens * MAX_TOKEN_CHARS)
        .collect();
    let is_whole = ends.last().is_none_or(|end| *end == text.len());
    // A token has at least a byte, so most sentences need not be counted.
    if text.len() <= max_tokens || is_whole && estimate_tokens(text) <= max_tokens {
        return text.len();
    }
    // Estimates grow with the text.
    let count = ends.partition_point(|end| estimate_tokens(&text[..*end]) <= max_tokens).max(1);
    let end = ends[count - 1];
    let is_break = |c: char| c.is_whitespace() || matches!(c, '，' | '；' | '、' | ',' | ';');
    let at_break = text[..end].char_indices().rev().find(|(_, c)| is_break(*c));
    let at_break = at_break.map(|(at, c)| at + c.len_utf8());
    at_break.filter(|at| *at > end / 2).unwrap_or(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has<'a>(words: &'a [&'a str]) -> impl Fn(&str) -> f64 + 'a {
        move |text| words.iter().filter(|word| text.contains(**word)).count() as f64
    }

    #[test]
    fn the_sentence_that_answers_comes_with_its_neighbours_and_marks() {
        let text = "One is here. Two is there. My rent is high. It is 1450. Five came. Six went.";
        let two = "… My rent is high. It is 1450. …";
        assert_eq!(excerpt(text, has(&["rent"]), estimate_tokens(two)).unwrap(), two);
        let shown = excerpt(text, has(&["rent"]), 40).unwrap();
        assert_eq!(shown, "… Two is there. My rent is high. It is 1450. …");
        let text = "花园很大。大门是蓝色的。房租不低。每月1450欧元。邻居很安静。街上有树。";
        let two = "… 房租不低。每月1450欧元。 …";
        assert_eq!(excerpt(text, has(&["房租"]), estimate_tokens(two)).unwrap(), two);
    }

    #[test]
    fn passages_far_apart_keep_their_order_and_a_text_without_a_match_has_none() {
        let text = "The rent is due. A. B. C. D. E. F. G. H. The rent is 1450. I. J.";
        let shown = excerpt(text, has(&["rent", "1450"]), 24).unwrap();
        assert!(shown.starts_with("The rent is due. … ") && shown.contains("1450"), "{shown}");
        assert_eq!(excerpt(text, has(&["tea"]), 24), None);
        assert_eq!(excerpt("", has(&["tea"]), 24), None);
    }

    #[test]
    fn a_sentence_without_end_is_cut_around_the_match_within_the_budget() {
        for (word, unit) in [("needle", "straw hay grass "), ("针", "干草稻草")] {
            let text = format!("{}{word} {}", unit.repeat(300), unit.repeat(300));
            for budget in [8, 30, 120] {
                let shown = excerpt(&text, has(&[word]), budget).unwrap();
                assert!(shown.contains(word) && estimate_tokens(&shown) <= budget, "{shown}");
            }
        }
    }

    #[test]
    fn no_budget_gives_nothing_or_less_than_it() {
        let text = "My rent is 1450 euros a month and due on the fifth.";
        for budget in 0..40 {
            let shown = excerpt(text, has(&["rent"]), budget);
            assert!(shown.is_none_or(|shown| estimate_tokens(&shown) <= budget));
        }
    }
}
