//! Text analysis: terms for the index, token estimates, language, times, secrets, short forms.

pub mod fold;
pub mod traditional;
pub mod language;
pub(crate) mod stop_words;
mod latin_terms;
pub mod terms;
pub mod keywords;
pub mod sentences;
pub mod summary;
pub mod tokens;
pub mod tiers;
pub mod dates;
pub mod injected_blocks;
pub(crate) mod sanitize;
pub mod age;
pub mod check_note;
pub mod secrets;
