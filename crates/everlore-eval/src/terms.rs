//! Terms of the BM25 baseline: lower-case words, and pairs of characters of Chinese, Japanese and Korean text.
//!
//! Separate from `everlore::internal::text::terms`, so that a change of the engine's analysis does not move the baseline.

use xxhash_rust::xxh3::xxh3_64;

/// Hash of a term.
pub(crate) type BaselineTerm = u64;

/// Token of a text, bounded by blanks, punctuation and changes of script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TextToken {
    /// Lower-case word or number.
    Word(String),
    /// Characters of a script written without blanks.
    Run(Vec<char>),
}

/// Splits a text into words and runs.
pub(crate) fn tokenize(text: &str) -> Vec<TextToken> {
    let mut tokens: Vec<TextToken> = Vec::new();
    let mut joined = false;
    for character in text.chars() {
        let wide = is_cjk(character);
        let part = wide || character.is_alphanumeric() || character == '_';
        match tokens.last_mut() {
            Some(TextToken::Run(run)) if joined && wide => run.push(character),
            Some(TextToken::Word(word)) if joined && part && !wide => {
                word.extend(character.to_lowercase());
            }
            _ if wide => tokens.push(TextToken::Run(vec![character])),
            _ if part => tokens.push(TextToken::Word(character.to_lowercase().collect())),
            _ => {}
        }
        joined = part;
    }
    tokens
}

/// Returns the words and character pairs of a text, stop words included, as plain BM25 takes them.
pub(crate) fn bm25_terms(text: &str) -> Vec<BaselineTerm> {
    let token_terms = |token| match token {
        TextToken::Word(word) => vec![hash(&word)],
        TextToken::Run(run) if run.len() == 1 => vec![hash_characters(&run)],
        TextToken::Run(run) => run.windows(2).map(hash_characters).collect(),
    };
    tokenize(text).into_iter().flat_map(token_terms).collect()
}

/// Returns `true` for characters of a script written without blanks.
pub(crate) fn is_cjk(character: char) -> bool {
    matches!(character as u32,
        0x3040..=0x30ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xac00..=0xd7af | 0xf900..=0xfaff | 0x2_0000..=0x3_ffff)
}

fn hash(word: &str) -> BaselineTerm {
    xxh3_64(word.as_bytes())
}

fn hash_characters(characters: &[char]) -> BaselineTerm {
    hash(&characters.iter().collect::<String>())
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
    fn chinese_gives_pairs_and_a_single_character_stands_for_itself() {
        assert_eq!(bm25_terms("我的车"), [hash("我的"), hash("的车")]);
        assert_eq!(bm25_terms("车"), [hash("车")]);
    }

    #[test]
    fn every_word_counts_and_case_does_not() {
        assert_eq!(bm25_terms("The Invoice"), bm25_terms("the invoice"));
        assert_eq!(bm25_terms("The Invoice").len(), 2);
    }
}
