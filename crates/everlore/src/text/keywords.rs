//! Keywords: the words that distinguish one part of a document from the others (tf-idf).

use std::collections::{HashMap, HashSet};

use super::{
    language::is_cjk,
    stop_words::{is_function_character, is_stop_word},
};

/// Most characters of a keyword; a longer word is an encoded value.
const MAX_WORD_CHARS: usize = 40;

/// Fewest characters of a Latin keyword; a shorter word says too little.
const MIN_WORD_CHARS: usize = 3;

/// Document frequencies of the words over the parts of a document.
#[derive(Debug, Default)]
pub(crate) struct KeywordExtractor {
    part_count: usize,
    part_counts: HashMap<String, usize>,
}

impl KeywordExtractor {
    /// Counts the words of all parts of a document.
    pub(crate) fn from_parts<'a>(parts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut rarity = Self::default();
        for part in parts {
            rarity.part_count += 1;
            let mut words = HashSet::new();
            for_each_content_word(part, &mut |word| words.extend([word]));
            for word in words {
                *rarity.part_counts.entry(word).or_default() += 1;
            }
        }
        rarity
    }

    /// Returns the keywords of one part, the most distinctive first, at most `limit`: words that are frequent in it and
    /// rare in the others, as written, in lower case; of Chinese, Japanese and Korean pairs of characters.
    pub(crate) fn keywords(&self, part: &str, limit: usize) -> Vec<String> {
        let mut counts: HashMap<String, (usize, usize)> = HashMap::new();
        let mut position = 0;
        for_each_content_word(part, &mut |word| {
            position += 1;
            counts.entry(word).or_insert((0, position)).0 += 1;
        });
        let mut words: Vec<_> = counts.into_iter().collect();
        // Words of equal worth in the order of the text, so that a text always gets the same.
        words.sort_by(|(word, (count, position)), (other, (others, other_position))| {
            let score = |word: &str, count: usize| count as f64 * self.inverse_frequency(word);
            score(other, *others).total_cmp(&score(word, *count)).then(position.cmp(other_position))
        });
        let mut chosen: Vec<String> = Vec::new();
        for (word, _) in words {
            if chosen.len() == limit {
                break;
            }
            if !chosen.iter().any(|other| may_share_word(other, &word)) {
                chosen.push(word);
            }
        }
        chosen
    }

    /// Returns the inverse frequency of a word: higher, the fewer parts have it.
    fn inverse_frequency(&self, word: &str) -> f64 {
        let parts = self.part_counts.get(word).copied().unwrap_or(1).max(1);
        (1.0 + self.part_count.max(1) as f64 / parts as f64).ln()
    }
}

/// Returns `true` if two pairs of characters may be cut from one word: 龙井 and 井茶.
fn may_share_word(one: &str, other: &str) -> bool {
    let ends = |text: &str| Some((text.chars().next()?, text.chars().next_back()?));
    let (Some(one), Some(other)) = (ends(one), ends(other)) else { return false };
    is_cjk(one.0) && is_cjk(other.0) && (one.1 == other.0 || other.1 == one.0)
}

/// Returns every word and pair of characters of a text that can be a keyword, in order.
pub(super) fn content_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for_each_content_word(text, &mut |word| words.push(word));
    words
}

/// Calls `each` with every word and pair of characters that can be a keyword.
fn for_each_content_word(text: &str, each: &mut dyn FnMut(String)) {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    for run in text.split(|c: char| !is_part(c)).filter(|run| !run.is_empty()) {
        let mut start = 0;
        let mut before = None;
        for (at, c) in run.char_indices() {
            if !is_cjk(c) {
                before = None;
                continue;
            }
            push_content_word(&run[start..at], each);
            start = at + c.len_utf8();
            let pair = before
                .replace(c)
                .filter(|first| !is_function_character(*first) && !is_function_character(c));
            if let Some(first) = pair {
                each([first, c].iter().collect());
            }
        }
        push_content_word(&run[start..], each);
    }
}

fn push_content_word(word: &str, each: &mut dyn FnMut(String)) {
    let word = word.trim_matches('_');
    let chars = word.chars().take(MAX_WORD_CHARS + 1).count();
    let is_word =
        (MIN_WORD_CHARS..=MAX_WORD_CHARS).contains(&chars) && word.contains(char::is_alphabetic);
    let lower = if is_word { word.to_lowercase() } else { return };
    if !is_stop_word(&lower) {
        each(lower);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_frequent_here_and_rare_elsewhere() {
        let parts = [
            "The staging server listens on a port. Staging is rebuilt nightly; the port never changes.",
            "The production server has its own port and a backup.",
            "龙井茶要用八十度的水，龙井不能用开水，水温很重要。",
        ];
        let rarity = KeywordExtractor::from_parts(parts);
        assert_eq!(rarity.keywords(parts[0], 2), ["staging", "port"]);
        assert_eq!(rarity.keywords(parts[2], 1), ["龙井"]);
        assert!(!rarity.keywords(parts[2], 8).contains(&"井茶".to_owned()));
        assert!(rarity.keywords(parts[2], 8).iter().all(|word| word.chars().count() == 2));
    }

    #[test]
    fn identifiers_stay_whole_and_noise_is_left_out() {
        let text = "read_config(path) 12345 a1 __init__ 配置read_config";
        assert_eq!(
            KeywordExtractor::from_parts([text]).keywords(text, 8),
            ["read_config", "path", "init", "配置"]
        );
        assert_eq!(
            KeywordExtractor::from_parts([""]).keywords("the of 的了", 8),
            Vec::<String>::new()
        );
    }
}
