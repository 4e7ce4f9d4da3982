//! How much of one statement another one says already, by the terms of both.

use std::collections::HashSet;

use crate::text::{language::is_cjk, terms::terms};

/// So many terms may one of them be new before a statement says something new: names and numbers are single terms.
const TERMS_PER_NEW_TERM: usize = 10;

/// Terms in a row that make up a shingle: fewer occur by chance, more are broken by a single changed word.
const SHINGLE_TERMS: usize = 3;

/// Words that turn a statement into its opposite.
#[rustfmt::skip]
const NEGATIONS: [&str; 12] =
    ["not", "no", "never", "n't", "without", "stopped", "不", "没", "別", "别", "无", "非"];

/// The terms of a text, to be compared with others; the text cannot be read from it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TextSketch {
    /// In 32 bits: among the few hundred terms of two texts, one that is taken for another is a matter of one in millions.
    terms: HashSet<u32>,
    shingles: HashSet<u64>,
    /// Terms of which none may be new by chance: numbers, and words in Latin letters within Chinese, which are names.
    distinctive: HashSet<u32>,
    is_negative: bool,
}

impl TextSketch {
    /// Takes a text apart.
    pub fn of(text: &str) -> Self {
        let terms = terms(text);
        let hash = |term: &String| xxhash_rust::xxh3::xxh3_64(term.as_bytes());
        let hashes: Vec<u64> = terms.iter().map(hash).collect();
        let is_chinese = text.chars().any(is_cjk);
        let is_telling = |term: &&String| {
            let is_number = term.contains(|c: char| c.is_ascii_digit());
            is_number || is_chinese && term.is_ascii()
        };
        let join = |row: &[u64]| {
            row.iter().fold(0_u64, |all, hash| all.rotate_left(21).wrapping_mul(31) ^ hash)
        };
        let lower = text.to_lowercase();
        let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric() && c != '\'').collect();
        let negates = |negation: &str| match negation.chars().next() {
            Some(first) if !first.is_ascii() => lower.contains(negation),
            _ => words
                .iter()
                .any(|word| *word == negation || negation == "n't" && word.ends_with("n't")),
        };
        Self {
            shingles: hashes.windows(SHINGLE_TERMS).map(join).collect(),
            distinctive: terms.iter().filter(is_telling).map(|term| hash(term) as u32).collect(),
            is_negative: NEGATIONS.iter().any(|negation| negates(negation)),
            terms: hashes.into_iter().map(|hash| hash as u32).collect(),
        }
    }

    /// Four bytes a term, to be kept: enough to tell later whether something says the same. What only
    /// the text that is compared needs is left out.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut terms: Vec<u32> = self.terms.iter().copied().collect();
        terms.sort_unstable();
        let terms = terms.into_iter().flat_map(u32::to_le_bytes);
        std::iter::once(u8::from(self.is_negative)).chain(terms).collect()
    }

    /// Reads what [`TextSketch::to_sketch`] wrote.
    pub fn from_bytes(sketch: &[u8]) -> Self {
        let (negative, terms) = sketch.split_first().unwrap_or((&0, &[]));
        let terms = terms.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes));
        Self { terms: terms.collect(), is_negative: *negative == 1, ..Self::default() }
    }

    /// How many different terms it has.
    pub fn len(&self) -> usize {
        self.terms.len()
    }

    /// Whether it has no terms at all.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Whether `other` says all that this says, or all but what chance allows.
    pub fn is_covered_by(&self, other: &Self) -> bool {
        let new = self.terms.difference(&other.terms).count();
        !self.is_empty()
            && self.is_negative == other.is_negative
            && self.distinctive.is_subset(&other.terms)
            && new <= self.terms.len() / TERMS_PER_NEW_TERM
    }

    /// How many terms both have, as a share of the one that has fewer, from 0 to 1.
    pub fn overlap(&self, other: &Self) -> f64 {
        let fewer = self.terms.len().min(other.terms.len());
        let shared = self.terms.intersection(&other.terms).count();
        if fewer == 0 { 0.0 } else { shared as f64 / fewer as f64 }
    }

    /// The share of its rows of terms that `other` has too, from 0 to 1.
    pub fn shingle_containment(&self, other: &Self) -> f64 {
        let shared = self.shingles.intersection(&other.shingles).count();
        if self.shingles.is_empty() { 0.0 } else { shared as f64 / self.shingles.len() as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sketch_tells_an_echo_as_the_text_does_in_both_languages() {
        let cases = [
            ("The user lives in Boston.", "The user lives in Boston", true),
            ("The user lives in Boston.", "The user does not live in Boston", false),
            ("The user lives in Boston.", "The user works in Denver", false),
            ("用户喜欢喝龙井茶。", "用户喜欢喝龙井茶", true),
            ("用户喜欢喝龙井茶。", "用户不喜欢喝龙井茶", false),
            ("用户喜欢喝龙井茶。", "用户住在杭州", false),
        ];
        for (told, said, echo) in cases {
            let kept = TextSketch::from_bytes(&TextSketch::of(told).to_bytes());
            assert_eq!(TextSketch::of(said).is_covered_by(&kept), echo, "{told} / {said}");
        }
    }

    #[test]
    fn a_sketch_takes_four_bytes_a_term_and_any_bytes_can_be_read() {
        let likeness = TextSketch::of("The user lives in Boston");
        assert_eq!(likeness.to_bytes().len(), 1 + 4 * likeness.len());
        assert!(TextSketch::from_bytes(&[]).is_empty());
        assert!(TextSketch::from_bytes(&[1, 2, 3]).is_empty());
    }

    #[test]
    fn another_number_or_name_is_news_however_long_the_statement_is() {
        let said = |new: &str, old: &str| TextSketch::of(new).is_covered_by(&TextSketch::of(old));
        assert!(!said("预发布服务器使用端口 9000。", "预发布服务器使用端口 8443。"));
        assert!(!said("支付模块的后端服务用 Rust 编写。", "支付模块的后端服务用 Java 编写。"));
        let long =
            "The staging server of the payments team in Lisbon listens behind the proxy on port";
        assert!(!said(&format!("{long} 9000."), &format!("{long} 8443.")));
        assert!(said("端口 8443", "预发布服务器使用端口 8443。"));
    }
}
