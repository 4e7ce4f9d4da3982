//! Long-term memory for LLM agents.
//!
//! The life of a turn: [`Engine::observe`] stores what was said, word for word, and a background worker extracts what is
//! derived from it; [`store`] keeps rows, index and journal in one transaction; [`Engine::recall`] finds what matters
//! now, and [`Engine::context`] packs it into a token budget.
//!
//! [`engine`] holds every request and response, [`types`] the data that stores keep, [`config`] the settings, [`llm`]
//! the interfaces of models, [`tools`] what an agent calls by itself, and [`chat`] a whole conversation.

mod error;
mod sync;
pub mod types;
pub mod config;
mod text;
pub mod llm;
mod files;
pub mod store;
mod embed;
mod ingest;
mod recall;
mod upkeep;
mod growth;
mod prompt;
pub mod engine;
pub mod tools;
pub mod chat;
#[doc(hidden)]
pub mod internal;

pub use config::Config;
pub use engine::{
    Document, Engine, EngineBuilder, Hit, MemoryBlock, MemoryEdit, Recall, RecallRequest,
    RememberRequest, Turn,
};
pub use error::{BoxError, Error, Result};
pub use tools::{ToolContext, ToolRegistry, ToolResult};
pub use types::{Kind, Memory, MemoryId, Scope, Status};

/// The example of the README, which is run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
