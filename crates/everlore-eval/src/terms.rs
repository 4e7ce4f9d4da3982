//! Terms for the prototypes: lower-case words, and single characters and pairs of Chinese, Japanese and Korean text.
//!
//! A stand-in for `everlore::text::terms` that the layouts and the plain baselines share, so that neither changes when the
//! engine's own terms do.

use std::{collections::HashSet, sync::LazyLock};

use xxhash_rust::xxh3::xxh3_64;

use crate::vocabulary::{CHINESE_STOPWORDS, ENGLISH_STOPWORDS};

/// Bits of a hashed term: SQLite stores 47 bits and a sign in six bytes instead of eight, and two of a million distinct
/// terms in one scope still meet with a chance of only 0.4%.
pub(crate) const TERM_BITS: u32 = 47;

/// A hashed term, from 0 and below 2^[`TERM_BITS`].
pub(crate) type BaselineTerm = i64;

/// A piece of text between blanks, punctuation and changes of script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TextToken {
    /// A lower-case word or number.
    Word(String),
    /// Characters of a script written without blanks.
    Run(Vec<char>),
}

/// Splits a text into words and runs.
pub(crate) fn tokenize(text: &str) -> Vec<TextToken> {
    let mut found: Vec<TextToken> = Vec::new();
    let mut joined = false;
    for character in text.chars() {
        let wide = is_cjk(character);
        let part = wide || character.is_alphanumeric() || character == '_';
        match found.last_mut() {
            Some(TextToken::Run(run)) if joined && wide => run.push(character),
            Some(TextToken::Word(word)) if joined && part && !wide => {
                word.extend(character.to_lowercase());
            }
            _ if wide => found.push(TextToken::Run(vec![character])),
            _ if part => found.push(TextToken::Word(character.to_lowercase().collect())),
            _ => {}
        }
        joined = part;
    }
    found
}

/// The hashed terms of a text, with repeats, words without meaning left out.
pub(crate) fn hashed_terms(text: &str) -> Vec<BaselineTerm> {
    let mut found = Vec::new();
    for piece in tokenize(text) {
        match piece {
            TextToken::Word(word) if !is_stopword(&word) => found.push(hash(&word)),
            TextToken::Word(_) => {}
            TextToken::Run(run) => found.extend(run_terms(&run)),
        }
    }
    found
}

/// Words and pairs as plain BM25 takes them: nothing left out.
pub(crate) fn bm25_terms(text: &str) -> Vec<BaselineTerm> {
    let of_piece = |piece| match piece {
        TextToken::Word(word) => vec![hash(&word)],
        TextToken::Run(run) if run.len() == 1 => vec![hash_characters(&run)],
        TextToken::Run(run) => run.windows(2).map(hash_characters).collect(),
    };
    tokenize(text).into_iter().flat_map(of_piece).collect()
}

/// Whether a character belongs to a script written without blanks.
pub(crate) fn is_cjk(character: char) -> bool {
    matches!(character as u32,
        0x3040..=0x30ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xac00..=0xd7af | 0xf900..=0xfaff | 0x2_0000..=0x3_ffff)
}

fn run_terms(run: &[char]) -> impl Iterator<Item = BaselineTerm> {
    let singles = run.chunks(1);
    let pairs = run.windows(2);
    singles.chain(pairs).filter(|piece| !is_stopword_run(piece)).map(hash_characters)
}

fn hash(word: &str) -> BaselineTerm {
    (xxh3_64(word.as_bytes()) >> (u64::BITS - TERM_BITS)) as BaselineTerm
}

fn hash_characters(characters: &[char]) -> BaselineTerm {
    hash(&characters.iter().collect::<String>())
}

fn is_stopword(word: &str) -> bool {
    static WORDS: LazyLock<HashSet<&str>> =
        LazyLock::new(|| ENGLISH_STOPWORDS.split_whitespace().collect());
    WORDS.contains(word)
}

fn is_stopword_run(run: &[char]) -> bool {
    static CHARACTERS: LazyLock<HashSet<char>> =
        LazyLock::new(|| CHINESE_STOPWORDS.chars().collect());
    run.iter().all(|character| CHARACTERS.contains(character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_splits_at_blanks_punctuation_and_changes_of_script() {
        let word = |text: &str| TextToken::Word(text.into());
        let run = |text: &str| TextToken::Run(text.chars().collect());
        assert_eq!(
            tokenize("Use load_config，用新配置 v2!"),
            [word("use"), word("load_config"), run("用新配置"), word("v2")]
        );
    }

    #[test]
    fn chinese_gives_characters_and_pairs_without_those_of_function_characters() {
        // 我的 has function characters only; 的车 keeps its pair because 车 carries meaning.
        assert_eq!(hashed_terms("我的车"), [hash("车"), hash("的车")]);
        assert_eq!(bm25_terms("我的车"), [hash("我的"), hash("的车")]);
    }

    #[test]
    fn words_without_meaning_are_left_out_and_case_does_not_count() {
        assert_eq!(hashed_terms("The Invoice"), hashed_terms("invoice"));
        assert_eq!(bm25_terms("The Invoice").len(), 2);
    }
}
