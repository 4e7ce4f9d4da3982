//! Content words of a statement, for comparing what two statements say whatever their case, script and fillers.

use std::{collections::BTreeSet, sync::LazyLock};

use super::{terms::terms, traditional::simplify};

/// Words with which extractors open or pad statements; they do not change the meaning.
const FILLERS: [&str; 7] = ["user", "person", "still", "also", "currently", "really", "very"];

/// The same in Chinese, which does not separate words.
const CHINESE_FILLERS: [&str; 6] = ["用户", "目前", "仍然", "一直", "现在", "非常"];

/// Least share of equal pairs of neighbouring words: "Ann likes Bob" is not "Bob likes Ann".
const MIN_ORDER_OVERLAP: f64 = 0.6;

/// Content words of a statement, in order.
pub(crate) struct StatementTerms {
    terms: Vec<String>,
    is_negative: bool,
}

impl StatementTerms {
    /// Analyses a statement.
    pub(crate) fn of(text: &str) -> Self {
        let lower = text.to_lowercase();
        let is_negative = ["not ", "n't ", " no ", "never", "不", "没", "無", "无", "别", "非"]
            .iter()
            .any(|word| lower.contains(word));
        let mut text = simplify(&lower).into_owned();
        for filler in CHINESE_FILLERS {
            text = text.replace(filler, "");
        }
        Self {
            terms: terms(&text).into_iter().filter(|term| !is_filler(term)).collect(),
            is_negative,
        }
    }

    /// Returns `true` if there are no content words.
    pub(crate) fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Returns a hash that is equal for texts with the same words in any order.
    pub(crate) fn key(&self) -> u64 {
        let set: BTreeSet<&str> = self.terms.iter().map(String::as_str).collect();
        let joined = set.into_iter().collect::<Vec<_>>().join("\0");
        xxhash_rust::xxh3::xxh3_64(joined.as_bytes()) ^ u64::from(self.is_negative)
    }

    /// Returns `true` if the words of both stand in nearly the same order.
    pub(crate) fn has_same_order(&self, other: &Self) -> bool {
        let pairs = |words: &Self| -> BTreeSet<(String, String)> {
            words.terms.windows(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect()
        };
        let (own, others) = (pairs(self), pairs(other));
        let shared = own.intersection(&others).count();
        self.terms == other.terms
            || shared as f64 >= MIN_ORDER_OVERLAP * own.len().max(others.len()) as f64 && shared > 0
    }
}

/// Returns `true` if a term is the stem of a filler.
fn is_filler(term: &str) -> bool {
    static STEMS: LazyLock<Vec<String>> =
        LazyLock::new(|| FILLERS.into_iter().flat_map(terms).collect());
    STEMS.iter().any(|stem| stem == term)
}
