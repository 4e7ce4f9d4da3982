//! What a tool is: its name, what it is for, and what goes in and out.

use std::{fmt, str::FromStr};

use serde::Serialize;
use serde_json::Value;

use crate::error::{Error, Result};

/// Which tools belong together, so that a host can offer few.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolSet {
    /// What every agent needs: saving and recalling.
    Core,
    /// The layered files: identity, user, notes, day.
    Layers,
    /// The tool that Claude models know from their training.
    Anthropic,
    /// Memory as a tree of files.
    Fs,
    /// The names of the reference memory server of MCP: entities, observations and relations.
    Graph,
    /// The pair that ChatGPT's connectors ask for.
    Search,
}

impl ToolSet {
    /// Every set.
    pub const ALL: [Self; 6] =
        [Self::Core, Self::Layers, Self::Anthropic, Self::Fs, Self::Graph, Self::Search];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Layers => "layers",
            Self::Anthropic => "anthropic",
            Self::Fs => "fs",
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

/// What a host may assume of a call, in the terms of MCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolAnnotations {
    /// It changes nothing.
    pub read_only_hint: bool,
    /// It may change or remove what is there.
    pub destructive_hint: bool,
    /// The same call again changes nothing more.
    pub idempotent_hint: bool,
    /// It reaches beyond this memory. None of ours does.
    pub open_world_hint: bool,
}

impl ToolAnnotations {
    /// Only looks.
    pub const READS: Self = Self {
        read_only_hint: true,
        destructive_hint: false,
        idempotent_hint: true,
        open_world_hint: false,
    };

    /// Only adds, and the same only once.
    pub const ADDS: Self = Self {
        read_only_hint: false,
        destructive_hint: false,
        idempotent_hint: true,
        open_world_hint: false,
    };

    /// Takes something away; what is gone stays gone.
    pub const REMOVES: Self = Self {
        read_only_hint: false,
        destructive_hint: true,
        idempotent_hint: true,
        open_world_hint: false,
    };

    /// Adds, changes and removes.
    pub const CHANGES: Self = Self {
        read_only_hint: false,
        destructive_hint: true,
        idempotent_hint: false,
        open_world_hint: false,
    };
}

/// A tool as a host or a model sees it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolSpec {
    /// What it is called by.
    pub name: &'static str,
    /// What it is called for people.
    pub title: &'static str,
    /// When to use it and when not, for a model; under 2 KB, because hosts cut it there.
    pub description: &'static str,
    /// Which others it belongs to.
    pub set: ToolSet,
    /// The JSON schema of its input: an object that lists every field.
    pub input_schema: Value,
    /// The JSON schema of its structured answer.
    pub output_schema: Value,
    /// What a host may assume.
    pub annotations: ToolAnnotations,
    /// Values that are read as others: field, what is given, what is meant.
    #[serde(skip)]
    pub aliases: &'static [(&'static str, &'static str, &'static str)],
}
