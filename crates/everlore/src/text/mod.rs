//! Text analysis: terms for the index, token estimates, language, times, secrets, short forms.

pub(crate) mod fold;
pub(crate) mod traditional;
pub(crate) mod language;
pub(crate) mod stop_words;
mod latin_terms;
pub(crate) mod terms;
pub(crate) mod keywords;
pub(crate) mod sentences;
pub(crate) mod filler;
pub(crate) mod summary;
pub(crate) mod tokens;
pub(crate) mod tiers;
pub(crate) mod excerpt;
pub(crate) mod dates;
pub(crate) mod injected_blocks;
mod quote_headings;
pub(crate) mod quoted_text;
mod speaker_words;
pub(crate) mod dialogue;
pub(crate) mod side_requests;
pub(crate) mod sanitize;
pub(crate) mod suspect;
pub(crate) mod age;
pub(crate) mod assertions;
pub(crate) mod attribution;
pub(crate) mod check_note;
pub(crate) mod secrets;
