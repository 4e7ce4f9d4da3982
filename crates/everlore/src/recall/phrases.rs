//! Plain text to hold fixed phrases against: lower case, no marks, no contractions.

use crate::text::traditional::simplify;

/// What is written together in English and means two words.
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
    ("favourite", "favorite"),
    ("favourites", "favorites"),
];

/// Lower case, simplified characters, one blank between English words, none between Chinese characters; marks are dropped, except inside a
/// word (`my-app`), so that a name is not taken for the words in it.
pub(super) fn normalize(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in words(&simplify(&text.to_lowercase().replace('’', "'"))) {
        let word =
            CONTRACTIONS.iter().find(|(short, _)| *short == word).map_or(word, |(_, long)| *long);
        let joins = out.ends_with(is_han) && word.starts_with(is_han);
        if !out.is_empty() && !joins {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// The words of a text: runs of letters, figures and inner marks, and runs of Chinese characters.
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

/// Whether `c` is a Chinese character.
pub(super) fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// A plain text that is asked for many phrases.
pub(super) struct PhraseMatcher<'a> {
    text: &'a str,
    /// A bit for the hash of every two bytes that follow each other: few phrases get past their first and last two.
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

    /// Whether the text has this phrase: at word borders in English, anywhere in Chinese.
    pub(super) fn contains(&self, phrase: &str) -> bool {
        let may = match phrase.as_bytes() {
            [first, second, .., before, last] => {
                self.may_contain_pair(*first, *second) && self.may_contain_pair(*before, *last)
            }
            [first, second, ..] => self.may_contain_pair(*first, *second),
            _ => true,
        };
        may && has(self.text, phrase)
    }

    fn may_contain_pair(&self, first: u8, second: u8) -> bool {
        let bit = pair_bit(first, second);
        self.pairs[bit / 64] & 1 << (bit % 64) != 0
    }
}

/// Letters differ in their lower five bits, and the bytes of Chinese characters in their lower six.
fn pair_bit(first: u8, second: u8) -> usize {
    usize::from(first.wrapping_mul(37) ^ second.wrapping_mul(11))
}

/// Whether plain text has this phrase: at word borders in English, anywhere in Chinese.
pub(super) fn has(plain: &str, phrase: &str) -> bool {
    if phrase.starts_with(is_han) {
        return plain.contains(phrase);
    }
    let border = |byte: Option<u8>| byte.is_none_or(|byte| byte == b' ' || !byte.is_ascii());
    plain.match_indices(phrase).any(|(at, _)| {
        let before = at.checked_sub(1).map(|at| plain.as_bytes()[at]);
        border(before) && border(plain.as_bytes().get(at + phrase.len()).copied())
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
