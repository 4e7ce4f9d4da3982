//! Text sketches: estimate how much of one statement another one covers, by their terms.

use std::collections::HashSet;

use super::{language::is_cjk, terms::terms};

/// Terms of a statement per term that may be new without making it news: names and numbers are single terms.
const TERMS_PER_NEW_TERM: usize = 10;

/// Consecutive terms of a shingle: fewer occur by chance, more are broken by a single changed word.
const SHINGLE_TERMS: usize = 3;

/// Words that negate a statement.
#[rustfmt::skip]
const NEGATIONS: [&str; 12] =
    ["not", "no", "never", "n't", "without", "stopped", "不", "没", "別", "别", "无", "非"];

/// Hashed terms of a text for comparison; the text cannot be read from it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TextSketch {
    /// Terms in 32 bits: among the few hundred terms of two texts, a collision is a matter of one in millions.
    terms: HashSet<u32>,
    shingles: HashSet<u64>,
    /// Terms that must not differ: numbers, and Latin words within Chinese, which are names.
    distinctive: HashSet<u32>,
    is_negative: bool,
}

impl TextSketch {
    /// Computes the sketch of a text.
    pub fn of(text: &str) -> Self {
        let terms = terms(text);
        let hash = |term: &String| xxhash_rust::xxh3::xxh3_64(term.as_bytes());
        let hashes: Vec<u64> = terms.iter().map(hash).collect();
        let is_chinese = text.chars().any(is_cjk);
        let is_distinctive = |term: &&String| {
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
            distinctive: terms
                .iter()
                .filter(is_distinctive)
                .map(|term| hash(term) as u32)
                .collect(),
            is_negative: NEGATIONS.iter().any(|negation| negates(negation)),
            terms: hashes.into_iter().map(|hash| hash as u32).collect(),
        }
    }

    /// Serializes the sketch in four bytes per term: enough to test later whether a text is covered by it. Parts needed
    /// only on the other side of the comparison are left out.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut terms: Vec<u32> = self.terms.iter().copied().collect();
        terms.sort_unstable();
        let terms = terms.into_iter().flat_map(u32::to_le_bytes);
        std::iter::once(u8::from(self.is_negative)).chain(terms).collect()
    }

    /// Reads a sketch written by [`TextSketch::to_bytes`].
    pub fn from_bytes(sketch: &[u8]) -> Self {
        let (negative, terms) = sketch.split_first().unwrap_or((&0, &[]));
        let terms = terms.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes));
        Self { terms: terms.collect(), is_negative: *negative == 1, ..Self::default() }
    }

    /// Returns the number of distinct terms.
    pub fn len(&self) -> usize {
        self.terms.len()
    }

    /// Returns `true` if there are no terms.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Returns `true` if `other` contains all terms of this one, or all but what chance allows.
    pub fn is_covered_by(&self, other: &Self) -> bool {
        let new = self.terms.difference(&other.terms).count();
        !self.is_empty()
            && self.is_negative == other.is_negative
            && self.distinctive.is_subset(&other.terms)
            && new <= self.terms.len() / TERMS_PER_NEW_TERM
    }

    /// Returns the overlap coefficient: shared terms as a share of the smaller set, from 0 to 1.
    pub fn overlap(&self, other: &Self) -> f64 {
        let fewer = self.terms.len().min(other.terms.len());
        let shared = self.terms.intersection(&other.terms).count();
        if fewer == 0 { 0.0 } else { shared as f64 / fewer as f64 }
    }

    /// Returns the share of its shingles that `other` contains, from 0 to 1.
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
        for (injected, text, echo) in cases {
            let stored = TextSketch::from_bytes(&TextSketch::of(injected).to_bytes());
            assert_eq!(TextSketch::of(text).is_covered_by(&stored), echo, "{injected} / {text}");
        }
    }

    #[test]
    fn a_sketch_takes_four_bytes_a_term_and_any_bytes_can_be_read() {
        let sketch = TextSketch::of("The user lives in Boston");
        assert_eq!(sketch.to_bytes().len(), 1 + 4 * sketch.len());
        assert!(TextSketch::from_bytes(&[]).is_empty());
        assert!(TextSketch::from_bytes(&[1, 2, 3]).is_empty());
    }

    #[test]
    fn another_number_or_name_is_news_however_long_the_statement_is() {
        let is_covered =
            |new: &str, old: &str| TextSketch::of(new).is_covered_by(&TextSketch::of(old));
        assert!(!is_covered("预发布服务器使用端口 9000。", "预发布服务器使用端口 8443。"));
        assert!(!is_covered(
            "支付模块的后端服务用 Rust 编写。",
            "支付模块的后端服务用 Java 编写。"
        ));
        let long =
            "The staging server of the payments team in Lisbon listens behind the proxy on port";
        assert!(!is_covered(&format!("{long} 9000."), &format!("{long} 8443.")));
        assert!(is_covered("端口 8443", "预发布服务器使用端口 8443。"));
    }
}
