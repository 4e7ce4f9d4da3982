//! Statements of one frame: the same words with another value and a word that says that it is the one of now, such as
//! "we meet on Zoom" and "we meet on Teams now".

use super::{
    change_patterns::DATED, chinese_frames, statement::StatementClash, words::normalized_words,
};
use crate::text::language::is_cjk;

/// Phrases that say that a value is the one of now.
const NOW_PHRASES: &[&str] =
    &["from now on", "these days", "now", "nowadays", "currently", "instead", "going forward"];

/// Verbs with a preposition before what one has one of: one meets, trains and banks in one place.
#[rustfmt::skip]
const ONE_PLACE: &[&str] = &[
    "meet on", "meet in", "meet at", "train at", "train with", "bank with", "bank at", "work out at", "swim at", "go to the gym at", "sit in", "sit at", "sit on",
    "work from", "commute by", "sleep in", "park in", "park at", "am insured with", "study at", "go to school at", "wake me at", "wake me up at",
    "call me at", "answer me in", "answer in", "reply in", "reply to me in", "write to me in", "talk to me in", "speak to me in",
];

/// Verbs of what one may do, like and have beside others.
#[rustfmt::skip]
const MANY: &[&str] = &[
    "like", "love", "hate", "know", "speak", "prefer", "want", "met", "read", "visit", "visited", "allergic", "also", "need", "think", "watch", "bought", "buy",
];

/// Words that belong to the frame of a statement and to no value.
#[rustfmt::skip]
const NO_VALUE: &[&str] = &[
    "not", "no", "never", "i", "my", "we", "and", "or", "but", "if", "when", "on", "in", "at", "for", "with", "to", "from",
];

/// Verbs of answers, of which the language is a value; "in bullet points" holds beside it.
const ANSWERS: &[&str] = &["answer", "reply", "write", "talk", "speak"];

#[rustfmt::skip]
const LANGUAGES: &[&str] = &[
    "english", "german", "french", "spanish", "chinese", "mandarin", "cantonese", "japanese", "korean", "italian", "portuguese", "dutch", "russian", "polish",
    "arabic", "hindi", "turkish", "swedish", "danish", "norwegian", "finnish", "greek", "czech", "thai", "vietnamese", "ukrainian", "hebrew", "catalan",
];

/// Most words of a value.
const MAX_VALUE: usize = 4;

/// Compares a new statement that says how it is now with one of the same frame; `None` if they have none.
pub(super) fn clash_of_frames(new: &str, old: &str) -> Option<StatementClash> {
    match (new.contains(is_cjk), old.contains(is_cjk)) {
        (true, true) => chinese_frames::clash_of_frames(new, old),
        (false, false) => english_clash(new, old),
        _ => None,
    }
}

fn english_clash(new: &str, old: &str) -> Option<StatementClash> {
    let new = without_now(&normalized_words(new).join(" "))?;
    let new: Vec<&str> = new.split_whitespace().collect();
    let old = normalized_words(old).join(" ");
    let old: Vec<&str> = old.split_whitespace().collect();
    let frame = WordFrame::of(&new, &old)?;
    frame.clash()
}

/// Returns a statement without its words of now; `None` if it has none.
fn without_now(text: &str) -> Option<String> {
    let text = format!(" {text} ");
    let phrase = NOW_PHRASES.iter().find(|phrase| text.contains(&format!(" {phrase} ")))?;
    Some(text.replace(&format!(" {phrase} "), " "))
}

/// Words that two statements share, around another value in each.
struct WordFrame<'w> {
    before: Vec<&'w str>,
    after: Vec<&'w str>,
}

impl<'w> WordFrame<'w> {
    fn of(new: &[&'w str], old: &[&'w str]) -> Option<Self> {
        let before = new.iter().zip(old).take_while(|(a, b)| a == b).count();
        let (new_rest, old_rest) = (&new[before..], &old[before..]);
        let pairs = new_rest.iter().rev().zip(old_rest.iter().rev());
        let after = pairs.take_while(|(a, b)| a == b).count();
        let new_value = &new_rest[..new_rest.len() - after];
        let old_value = &old_rest[..old_rest.len() - after];
        let fits = |value: &[&str]| {
            (1..=MAX_VALUE).contains(&value.len()) && value.iter().all(|word| is_value_word(word))
        };
        let is_dated = |value: &[&str]| DATED.is_match(&value.join(" "));
        let is_language = |value: &[&str]| LANGUAGES.contains(&value.join(" ").as_str());
        let asks = new[..before].iter().any(|word| ANSWERS.contains(word));
        let is_alike = is_dated(new_value) == is_dated(old_value)
            && (!asks || is_language(new_value) && is_language(old_value));
        (fits(new_value) && fits(old_value) && is_alike).then(|| Self {
            before: new[..before].to_vec(),
            after: new_rest[new_rest.len() - after..].to_vec(),
        })
    }

    /// Returns the clash of two values in this frame: a place of which one has one, or a use for one purpose.
    fn clash(&self) -> Option<StatementClash> {
        let before = self.before.join(" ");
        let has_many = self.before.iter().any(|word| MANY.contains(word));
        let is_place = ONE_PLACE
            .iter()
            .any(|place| before == *place || before.ends_with(&format!(" {place}")));
        let is_purpose = self.after.first() == Some(&"for") && self.after.len() > 1;
        let has_verb = self.before.len() >= 2 && matches!(self.before[0], "i" | "we");
        match () {
            () if has_many => None,
            () if is_place => Some(StatementClash::Certain),
            () if is_purpose && has_verb && before.ends_with(" use") => {
                Some(StatementClash::Certain)
            }
            () if is_purpose && has_verb => Some(StatementClash::Possible),
            () => None,
        }
    }
}

/// Returns `true` unless a word belongs to the frame of a statement: its subject, a denial, a time.
fn is_value_word(word: &str) -> bool {
    !NO_VALUE.contains(&word)
}
