//! Long-term memory for LLM agents.
//!
//! The life of a turn: [`ingest`] stores what was said, word for word, and what is derived from it; [`store`] keeps
//! rows, index and journal in one transaction; [`recall`] finds what matters now and packs it into a token budget.
//! [`Engine`] is the way in.

pub mod error;
pub mod types;
pub mod text;
pub mod store;
pub mod recall;
pub mod config;

pub use error::{Error, Result};
