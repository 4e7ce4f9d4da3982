//! Denials of a part of what is known, and statements that say the same in other words of time.

use std::collections::BTreeSet;

use super::{
    statement::StatementClash,
    words::{DENIALS, FILLERS, denied, is_denial},
};

/// Words of an ending: what they deny was so until now.
const ENDINGS: &[&str] = &["longer", "anymore", "stopped", "quit"];

/// Words that begin the time, place or purpose of what is told.
const ADJUNCTS: &[&str] =
    &["for", "because", "since", "every", "on", "at", "with", "when", "after", "before", "against"];

/// Fewest words of a denial that ends a longer statement: "I no longer work" names nothing.
const MIN_DENIED_WORDS: usize = 3;

/// Phrases with "now" that say of no change.
pub(super) const NO_CHANGE: &[&str] =
    &["from now on", "right now", "by now", "for now", "until now", "up to now", "now and then"];

/// Compares an ending with a statement that says more than what is over: "I no longer take ibuprofen" beside "I take
/// ibuprofen for my back". A plain denial may be one of another part, an ending is none.
pub(super) fn denies_part(new: &[String], old: &[String]) -> Option<StatementClash> {
    let ((rest, is_denied), (old_rest, was_denied)) = (denied(new), denied(old));
    if !is_denied || was_denied {
        return None;
    }
    if has_adjuncts_only(&rest, &old_rest) {
        let is_ending = new.iter().any(|word| ENDINGS.contains(&word.as_str()));
        return Some(if is_ending { StatementClash::Certain } else { StatementClash::Possible });
    }
    let names_one_of_two = old.iter().any(|word| word == "and")
        && rest.len() >= MIN_DENIED_WORDS
        && is_told_in(&rest, &old_rest);
    names_one_of_two.then_some(StatementClash::Possible)
}

/// Returns `true` if all words of a statement stand in another one in the same order.
fn is_told_in(part: &[String], whole: &[String]) -> bool {
    let mut whole = whole.iter();
    part.iter().all(|word| whole.any(|it| it == word))
}

/// Returns `true` if a statement says what a shorter one says, and behind it only when, where or what for.
fn has_adjuncts_only(part: &[String], whole: &[String]) -> bool {
    let Some(more) = whole.strip_prefix(part) else { return false };
    let begins = |word: &String| ADJUNCTS.contains(&word.as_str());
    part.len() >= MIN_DENIED_WORDS && more.first().is_some_and(begins)
}

/// Returns `true` if both say the same: "use metric units", "from now on use metric units".
pub(super) fn says_same(new: &[String], old: &[String]) -> bool {
    let content = content_of(new);
    !content.is_empty() && content == content_of(old) && is_denial(new) == is_denial(old)
}

/// Returns the words that tell something, in one form and in their order of the alphabet.
fn content_of(words: &[String]) -> BTreeSet<String> {
    let text = NO_CHANGE.iter().fold(format!(" {} ", words.join(" ")), |text, phrase| {
        text.replace(&format!(" {phrase} "), " ")
    });
    let is_content = |word: &&str| {
        let dropped = [FILLERS, DENIALS, &["please", "always", "i", "我", "请", "的", "了"]];
        !dropped.iter().any(|list| list.contains(word))
    };
    text.split_whitespace().filter(is_content).map(str::to_owned).collect()
}
