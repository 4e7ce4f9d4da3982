//! Placeholders of messages: the kinds of values that they take.

use everlore::engine::HeartbeatJob;

/// Placeholder with the values that it takes.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) name: String,
    pub(super) takes: Takes,
}

/// Values that a placeholder takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    /// A number.
    Number,
    /// A job of the heartbeat.
    Job,
    /// A command line.
    Command,
    /// A message of the catalogue, or a few words.
    Message,
    /// An id, a path, a name, a list: anything but a sentence.
    Words,
    /// Any text.
    Anything,
}

/// Fewest English words in a row that make a sentence: no value but free text has as many.
const SENTENCE_WORDS: usize = 3;

impl Takes {
    /// Returns the values of a placeholder: by its mark, by quotes around it, and by its name.
    pub(super) fn of(name: &str, translated: bool, free: bool, quoted: bool) -> Self {
        match name {
            _ if free || quoted => Self::Anything,
            _ if translated => Self::Message,
            "count" | "number" => Self::Number,
            "job" => Self::Job,
            "command" => Self::Command,
            _ => Self::Words,
        }
    }

    /// Returns `true` if the value is of this kind. Messages are looked up later, once for each pattern that fits.
    pub(super) fn takes(self, value: &str) -> bool {
        !value.is_empty()
            && match self {
                Self::Number => is_number(value),
                Self::Job => HeartbeatJob::ALL.iter().any(|job| job.as_str() == value),
                Self::Command => value.starts_with("everlore ") || !is_sentence(value),
                Self::Words => value.trim() == value && !is_sentence(value),
                Self::Message | Self::Anything => true,
            }
    }
}

fn is_number(value: &str) -> bool {
    value.starts_with(|c: char| c.is_ascii_digit())
        && value.chars().all(|c| c.is_ascii_digit() || ",.".contains(c))
}

/// Returns `true` if English words follow each other as in a sentence. The items of a list do not.
pub(super) fn is_sentence(value: &str) -> bool {
    let is_list = value.contains(", ");
    let mut row = 0;
    for word in value.split_whitespace() {
        let letters = word.trim_matches(|c: char| c.is_ascii_punctuation());
        let is_word = !letters.is_empty() && letters.bytes().all(|byte| byte.is_ascii_alphabetic());
        row = if is_word { row + 1 } else { 0 };
        if row == SENTENCE_WORDS {
            return true;
        }
        if word.ends_with(',') || is_list && ["or", "and"].contains(&word) {
            row = 0;
        }
    }
    false
}
