//! Long-term memory for LLM agents.
//!
//! The life of a turn: [`ingest`] stores what was said, word for word, and what is derived from it; [`store`] keeps
//! rows, index and journal in one transaction; [`recall`] finds what matters now and packs it into a token budget.
//! [`Engine`] is the way in.

pub mod error;
mod sync;
pub mod types;
pub mod config;
pub mod text;
pub mod llm;
pub mod files;
pub mod store;
mod embed;
pub mod ingest;
pub mod recall;
pub mod upkeep;
pub mod prompt;
pub mod engine;
pub mod tools;
pub mod chat;

pub use config::Config;
pub use engine::{Engine, EngineBuilder};
pub use error::{Error, Result};
pub use ingest::{Document, MemoryEdit, RememberRequest, Turn};
pub use recall::{Hit, MemoryBlock, Recall, RecallRequest};
pub use tools::{ToolContext, ToolRegistry, ToolResult};
pub use types::{Kind, Memory, MemoryId, Scope, Status};

/// Helpers that the server, the command line and the evaluation share with the engine; no part of the public API.
#[doc(hidden)]
pub mod internal {
    pub use crate::sync::{lock, run_blocking};
}

/// The example of the README, which is run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
