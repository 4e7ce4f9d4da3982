//! What a text is made of: terms to find it by, tokens to pay for it, its language, the times it names.

pub mod fold;
pub mod han;
pub mod language;
pub(crate) mod stop_words;
mod words;
pub mod terms;
pub mod keywords;
pub mod sentences;
pub mod summary;
pub mod tokens;
pub mod tiers;
pub mod dates;
pub mod blocks;
pub(crate) mod escape;
pub mod age;
pub mod verdict;
pub mod secrets;
