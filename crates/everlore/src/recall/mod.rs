//! The read path.

pub mod intent;
mod identity;
mod small_talk;
mod synonyms;
mod phrases;
