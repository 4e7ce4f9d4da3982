//! Near cures: memories that say how to solve a failure, whatever their kind.

use std::sync::LazyLock;

use regex::Regex;

use super::{
    experience::match_error,
    solved_words::{ERROR_WORD, told_cure},
};
use crate::{
    text::error_signature::ErrorSignature,
    types::{Experience, Kind, Memory},
};

/// Returns how alike a failure and the one that a memory cures are, from 0 to 1; `None` if the memory says nothing about
/// solving it.
pub(crate) fn near_cure(error: &ErrorSignature, memory: &Memory) -> Option<f64> {
    let plain = || Experience { pain: memory.content.clone(), ..Experience::default() };
    let is_advice = match memory.kind {
        Kind::Experience => true,
        // A failure that is only told has no cure.
        Kind::Turn => told_cure(&memory.content).is_some(),
        _ => names_failure(&memory.content),
    };
    let experience = Experience::of_memory(memory).unwrap_or_else(plain);
    match_error(error, &experience).filter(|_| is_advice).map(|found| found.similarity)
}

/// Returns `true` if a text speaks of a failure or of the case that something happens: there may be no space left in a
/// suitcase too.
fn names_failure(text: &str) -> bool {
    ERROR_WORD.is_match(text) || CASE.is_match(text)
}

/// Words that name the case in which advice holds.
static CASE: LazyLock<Regex> = LazyLock::new(|| {
    // 小说 is no case: what a program says stands in quotation marks or in Latin letters.
    Regex::new(
        r#"(?i)\b(?:if|when|whenever|in case|once|says|reports|complains)\b|如果|要是|一旦|的话|时[，,、]|[报说]\s*["'`“「A-Za-z]"#,
    )
    .expect("the pattern is valid")
});
