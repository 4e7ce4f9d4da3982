//! Phrase matching: normalizes text to lower case without punctuation and contractions, and searches it for phrases.

use crate::text::traditional::simplify;

/// English contractions and spelling variants with their normalized forms.
const CONTRACTIONS: &[(&str, &str)] = &[
    ("what's", "what is"),
    ("whats", "what is"),
    ("who's", "who is"),
    ("where's", "where is"),
    ("how's", "how is"),
    ("that's", "that is"),
    ("it's", "it is"),
    ("let's", "let us"),
    ("i'm", "i am"),
    ("im", "i am"),
    ("i've", "i have"),
    ("i'll", "i will"),
    ("i'd", "i would"),
    ("you're", "you are"),
    ("you've", "you have"),
    ("don't", "do not"),
    ("dont", "do not"),
    ("didn't", "did not"),
    ("can't", "can not"),
    ("u", "you"),
    ("ur", "your"),
    ("bout", "about"),
    ("abt", "about"),
    ("doesn't", "does not"),
    ("you'd", "you would"),
    ("everything's", "everything is"),
    ("favourite", "favorite"),
    ("favourites", "favorites"),
];

/// Normalizes a text: lower case, simplified characters, one blank between English words, none between Chinese
/// characters. Punctuation is dropped, except inside a word (`my-app`), so that a name is not taken for the words in
/// it.
pub(super) fn normalize(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for word in words(&simplify(&text.to_lowercase().replace('’', "'"))) {
        let word =
            CONTRACTIONS.iter().find(|(short, _)| *short == word).map_or(word, |(_, long)| *long);
        let joins = plain.ends_with(is_han) && word.starts_with(is_han);
        if !plain.is_empty() && !joins {
            plain.push(' ');
        }
        plain.push_str(word);
    }
    plain
}

/// Splits a text into words: runs of letters, digits and inner punctuation, and runs of Chinese characters.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
        let first = rest.chars().next()?;
        let belongs = |c: char| if is_han(first) { is_han(c) } else { is_latin(c) };
        let (word, after) = rest.split_at(rest.find(|c| !belongs(c)).unwrap_or(rest.len()));
        rest = after;
        Some(word.trim_end_matches(['\'', '-', '_', '.', '/']))
    })
}

fn is_latin(c: char) -> bool {
    c.is_alphanumeric() && !is_han(c) || matches!(c, '\'' | '-' | '_' | '.' | '/')
}

/// Returns `true` if the text ends like a question: with a question mark, or with a Chinese question particle.
pub(crate) fn is_question(text: &str) -> bool {
    let text = text.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '!' | '！'));
    text.ends_with(['?', '？', '吗', '嗎', '呢'])
}

/// Returns `true` if `c` is a Chinese character.
pub(super) fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Normalized text that is searched for many phrases.
pub(super) struct PhraseMatcher<'a> {
    text: &'a str,
    /// Bloom filter of the byte pairs in the text: most phrases are ruled out by their first and last pair.
    pairs: [u64; 4],
}

impl<'a> PhraseMatcher<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let mut pairs = [0; 4];
        for pair in text.as_bytes().windows(2) {
            let bit = pair_bit(pair[0], pair[1]);
            pairs[bit / 64] |= 1 << (bit % 64);
        }
        Self { text, pairs }
    }

    /// Returns `true` if the text contains the phrase: at word borders in English, anywhere in Chinese.
    pub(super) fn contains(&self, phrase: &str) -> bool {
        let may_contain = match phrase.as_bytes() {
            [first, second, .., before, last] => {
                self.may_contain_pair(*first, *second) && self.may_contain_pair(*before, *last)
            }
            [first, second, ..] => self.may_contain_pair(*first, *second),
            _ => true,
        };
        may_contain && has(self.text, phrase)
    }

    fn may_contain_pair(&self, first: u8, second: u8) -> bool {
        let bit = pair_bit(first, second);
        self.pairs[bit / 64] & 1 << (bit % 64) != 0
    }
}

/// Hashes a byte pair to 8 bits. Letters differ in their lower five bits, bytes of Chinese characters in their lower
/// six.
fn pair_bit(first: u8, second: u8) -> usize {
    usize::from(first.wrapping_mul(37) ^ second.wrapping_mul(11))
}

/// Returns `true` if normalized text contains the phrase: at word borders in English, anywhere in Chinese.
pub(super) fn has(plain: &str, phrase: &str) -> bool {
    if phrase.starts_with(is_han) {
        return plain.contains(phrase);
    }
    let is_border = |byte: Option<u8>| byte.is_none_or(|byte| byte == b' ' || !byte.is_ascii());
    plain.match_indices(phrase).any(|(at, _)| {
        let before = at.checked_sub(1).map(|at| plain.as_bytes()[at]);
        is_border(before) && is_border(plain.as_bytes().get(at + phrase.len()).copied())
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_is_made_plain() {
        assert_eq!(normalize("  What’s my name?! "), "what is my name");
        assert_eq!(normalize("你好， 我 是 谁？"), "你好我是谁");
        assert_eq!(normalize("what is my-app's config"), "what is my-app's config");
        assert_eq!(normalize("我喜歡什麼"), "我喜欢什么");
        assert_eq!(normalize("用 Rust 写"), "用 rust 写");
        assert_eq!(normalize("😀 ... !!"), "");
    }

    #[test]
    fn english_phrases_end_where_words_end() {
        assert!(has("tell me about me", "about me"));
        assert!(!has("tell me about mexico", "about me"));
        assert!(has("我是谁啊", "我是谁"));
    }

    #[test]
    fn questions_are_told_by_their_end_in_both_languages() {
        let questions =
            ["What is my cat called?", "really?!", "我的猫叫什么？", "我有猫吗", "猫呢 "];
        assert!(questions.into_iter().all(is_question));
        let others = ["My cat is called Momo.", "我的猫叫墨墨。", "", "? no"];
        assert!(!others.into_iter().any(is_question));
    }

    proptest! {
        #[test]
        fn many_phrases_are_found_like_one(text in "[ab 茶我]{0,12}", phrase in "[ab 茶我]{1,4}") {
            prop_assert_eq!(PhraseMatcher::new(&text).contains(&phrase), has(&text, &phrase));
        }

        #[test]
        fn any_text_can_be_made_plain(text in "\\PC*") {
            let plain = normalize(&text);
            prop_assert!(!plain.contains("  "));
            has(&plain, "me");
        }
    }
}
