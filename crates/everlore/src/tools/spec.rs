//! Tool specifications: name, set, description, schemas and annotations.

use std::{fmt, str::FromStr};

use serde::Serialize;
use serde_json::Value;

use crate::error::{Error, Result};

/// Set of tools that belong together, so that a host can offer few.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolSet {
    /// Saving and recalling, which every agent needs.
    Core,
    /// Layered files: identity, user, notes, day.
    Layers,
    /// Memory tool that Claude models know from their training.
    Anthropic,
    /// Memory as a tree of files.
    Fs,
    /// Growth between conversations: experiences and reminders.
    Growth,
    /// Knowledge graph with the names of MCP's reference memory server; feature `compat-tools`.
    Graph,
    /// The pair of tools that ChatGPT connectors require; feature `compat-tools`.
    Search,
}

impl ToolSet {
    /// Compiled-in sets.
    #[cfg(feature = "compat-tools")]
    pub const ALL: [Self; 7] = [
        Self::Core,
        Self::Layers,
        Self::Anthropic,
        Self::Fs,
        Self::Growth,
        Self::Graph,
        Self::Search,
    ];

    /// Compiled-in sets.
    #[cfg(not(feature = "compat-tools"))]
    pub const ALL: [Self; 5] = [Self::Core, Self::Layers, Self::Anthropic, Self::Fs, Self::Growth];

    /// Returns the name of the set.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Layers => "layers",
            Self::Anthropic => "anthropic",
            Self::Fs => "fs",
            Self::Growth => "growth",
            Self::Graph => "graph",
            Self::Search => "search",
        }
    }
}

impl fmt::Display for ToolSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for ToolSet {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|set| set.as_str() == text).ok_or_else(|| {
            let names = Self::ALL.map(Self::as_str).join(", ");
            Error::invalid(format!("there is no tool set `{text}`"), format!("use one of {names}"))
        })
    }
}

/// Behaviour hints for a host, in the terms of MCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolAnnotations {
    /// Set when the tool changes nothing.
    pub read_only_hint: bool,
    /// Set when the tool may change or remove existing data.
    pub destructive_hint: bool,
    /// Set when repeating a call changes nothing more.
    pub idempotent_hint: bool,
    /// Set when the tool reaches beyond this memory; no tool here does.
    pub open_world_hint: bool,
}

impl ToolAnnotations {
    /// Reads only.
    pub const READS: Self = Self::new(true, false, true);

    /// Adds, and the same only once.
    pub const ADDS: Self = Self::new(false, false, true);

    /// Removes for good.
    pub const REMOVES: Self = Self::new(false, true, true);

    /// Adds, changes and removes.
    pub const CHANGES: Self = Self::new(false, true, false);

    const fn new(read_only_hint: bool, destructive_hint: bool, idempotent_hint: bool) -> Self {
        Self { read_only_hint, destructive_hint, idempotent_hint, open_world_hint: false }
    }
}

/// Tool as a host or a model sees it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolSpec {
    /// Name by which it is called.
    pub name: &'static str,
    /// Title for people.
    pub title: &'static str,
    /// Instructions for a model, when to use it and when not; under 2 KB, because hosts cut it there.
    pub description: &'static str,
    /// Set that it belongs to.
    pub set: ToolSet,
    /// JSON schema of the input: an object that lists every field.
    pub input_schema: Value,
    /// JSON schema of the structured result.
    pub output_schema: Value,
    /// Behaviour hints.
    pub annotations: ToolAnnotations,
    /// Accepted aliases of values: field, alias, value.
    #[serde(skip)]
    pub aliases: &'static [(&'static str, &'static str, &'static str)],
}

impl ToolSpec {
    /// Returns a tool that reads, without texts and schemas.
    pub(super) fn new(set: ToolSet, name: &'static str, title: &'static str) -> Self {
        Self {
            name,
            title,
            description: "",
            set,
            input_schema: Value::Null,
            output_schema: Value::Null,
            annotations: ToolAnnotations::READS,
            aliases: &[],
        }
    }
}
