//! Importers: files of other memory systems, read as plain values.
//!
//! `source_tree` reads the files and reports those that cannot be read; every format is a function from their bytes to
//! drafts and never fails: what it cannot import is skipped with its location and a reason.

mod source_tree;
mod markdown_notes;
mod openclaw;
mod hermes;
mod claude;
mod basic_memory;
mod mcp_graph;
mod mem0;
mod detect;
#[cfg(test)]
mod tests;

use std::{path::Path, str::FromStr};

use serde::{Deserialize, Serialize};

use super::layers::Layer;
use crate::{
    error::{Error, Result},
    types::{Kind, Role, Timestamp},
};
pub(crate) use source_tree::{SourceFile, SourceTree};

/// External memory system with an importer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExternalFormat {
    /// Workspace of an OpenClaw agent.
    #[serde(rename = "openclaw")]
    OpenClaw,
    /// Memories of Hermes: entries separated by `§`.
    Hermes,
    /// Claude Code: memory folders and `CLAUDE.md`.
    Claude,
    /// Knowledge graph of the MCP reference server, as JSON Lines.
    McpGraph,
    /// Export of mem0, as JSON or JSON Lines.
    Mem0,
    /// Project of basic-memory: notes with observations and relations.
    BasicMemory,
}

/// Contents of a source.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct ParsedImport {
    /// Drafts of memories, in the order of the source.
    pub drafts: Vec<ExternalDraft>,
    /// Skipped items.
    pub skipped: Vec<SkippedImport>,
}

/// Skipped item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkippedImport {
    /// File, with the line or the part of it.
    #[serde(rename = "where")]
    pub location: String,
    /// Reason in words.
    pub reason: String,
}

/// Memory of an external system.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct ExternalDraft {
    /// Location for people: a file, with the line or the part of it.
    pub location: String,
    /// Scope in which its key is unique: usually the file.
    pub source: String,
    /// Key by which a later import recognises it, whatever its text is then; `None` if only the text identifies it.
    pub key: Option<String>,
    /// Kind of statement; decided by the text if `None`.
    pub kind: Option<Kind>,
    /// Title.
    pub name: Option<String>,
    /// Line by which a reader decides whether it matters.
    pub description: String,
    /// Text.
    pub content: String,
    /// Keywords.
    pub tags: Vec<String>,
    /// Time at which it was said.
    pub at: Option<Timestamp>,
    /// Time until which it holds.
    pub expires_at: Option<Timestamp>,
    /// Name of who said it, if the source tells.
    pub speaker: Option<String>,
    /// Role of who said it, if the source tells.
    pub role: Option<Role>,
    /// Other data of the external system.
    pub metadata: serde_json::Map<String, serde_json::Value>,
    /// User that it belongs to, if the source has several.
    pub user: Option<String>,
    /// Layer that it is a part of, and its text there.
    pub layer: Option<(Layer, String)>,
}

crate::types::variant_names! { pub ExternalFormat:
    OpenClaw = "openclaw", Hermes = "hermes", Claude = "claude", McpGraph = "mcp-graph",
    Mem0 = "mem0", BasicMemory = "basic-memory",
}

impl ExternalFormat {
    /// Returns what to name as its path, for error messages.
    pub fn path_hint(self) -> &'static str {
        match self {
            Self::OpenClaw => {
                "name a workspace with SOUL.md, USER.md, IDENTITY.md, MEMORY.md or memory/*.md"
            }
            Self::Hermes => "name a folder with MEMORY.md or USER.md, or one of these files",
            Self::Claude => {
                "name a memory folder with MEMORY.md, a project with CLAUDE.md, ~/.claude, or one such file"
            }
            Self::McpGraph => "name the server's file of JSON lines, usually memory.jsonl",
            Self::Mem0 => "name a file of JSON or JSON lines, or a folder of such files",
            Self::BasicMemory => {
                "name the folder of a project, usually ~/basic-memory, or one note"
            }
        }
    }

    /// Detects the format at a path, if it is clear.
    pub fn detect(path: &Path) -> Result<Self> {
        detect::detect(path)
    }

    /// Reads a path.
    pub(crate) fn read(self, path: &Path) -> Result<ParsedImport> {
        let tree = SourceTree::read(path, self)?;
        if tree.files.is_empty() && tree.skipped.is_empty() {
            return Err(Error::invalid(
                format!("there are no {self} files in {}", path.display()),
                self.path_hint(),
            ));
        }
        Ok(self.parse(tree))
    }

    /// Parses the files that were read.
    pub(crate) fn parse(self, tree: SourceTree) -> ParsedImport {
        let mut import = ParsedImport { drafts: Vec::new(), skipped: tree.skipped };
        // Beside an index, or named alone, any page is a memory; in a project, notes are about other things.
        let all_pages = tree.files.len() == 1 || tree.files.iter().any(|f| f.path == "MEMORY.md");
        for file in &tree.files {
            let source = format!("{}/{}", tree.root, file.path);
            match self {
                Self::OpenClaw => openclaw::parse(file, &source, &mut import),
                Self::Hermes => hermes::parse(file, &source, &mut import),
                Self::Claude => claude::parse(file, &source, all_pages, &mut import),
                Self::McpGraph => mcp_graph::parse(file, &source, &mut import),
                Self::Mem0 => mem0::parse(file, &mut import),
                Self::BasicMemory => basic_memory::parse(file, &tree.root, &mut import),
            }
        }
        import
    }

    /// Classifies a file below the named folder.
    fn classify_file(self, path: &str) -> ImportDecision {
        match self {
            Self::OpenClaw => openclaw::classify_file(path),
            Self::Hermes => hermes::classify_file(path),
            Self::Claude => claude::classify_file(path),
            Self::McpGraph => classify_data_file(path, &["memory.json", "memory.jsonl"]),
            Self::Mem0 => classify_data_file(path, &[]),
            Self::BasicMemory => basic_memory::classify_file(path),
        }
    }

    /// Returns `true` if a folder below the named one may hold something to import.
    fn descends_into(self, path: &str) -> bool {
        match self {
            Self::OpenClaw => path == "memory",
            Self::Hermes => path == "memories",
            Self::Claude => claude::descends_into(path),
            Self::McpGraph | Self::Mem0 => false,
            Self::BasicMemory => basic_memory::descends_into(path),
        }
    }
}

impl FromStr for ExternalFormat {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|format| format.as_str() == text).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|format| format.as_str()).collect();
            Error::invalid(
                format!("unknown format `{text}`"),
                format!("use one of {}, or auto", names.join(", ")),
            )
        })
    }
}

/// Decision on a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ImportDecision {
    /// Read it.
    Import,
    /// Not a file of this format.
    Ignore,
    /// File of the other system that is no memory, with the reason.
    Reject(&'static str),
}

impl ParsedImport {
    fn skip(&mut self, location: impl Into<String>, reason: impl Into<String>) {
        self.skipped.push(SkippedImport { location: location.into(), reason: reason.into() });
    }
}

fn classify_data_file(path: &str, names: &[&str]) -> ImportDecision {
    let is_data = path.ends_with(".json") || path.ends_with(".jsonl");
    let is_named = names.is_empty() || names.contains(&path);
    if is_data && is_named { ImportDecision::Import } else { ImportDecision::Ignore }
}

/// Parses a time as other systems write it: with or without a zone, a day alone, or seconds since 1970.
fn parse_time(value: &serde_json::Value) -> Option<Timestamp> {
    use jiff::{civil, tz::TimeZone};
    if let Some(seconds) = value.as_f64() {
        return Timestamp::from_millisecond((seconds * 1_000.0) as i64).ok();
    }
    let text = value.as_str()?.trim();
    let in_utc = |moment: civil::DateTime| Some(moment.to_zoned(TimeZone::UTC).ok()?.timestamp());
    text.parse()
        .ok()
        .or_else(|| in_utc(text.parse().ok()?))
        .or_else(|| in_utc(text.parse::<civil::Date>().ok()?.at(0, 0, 0, 0)))
}
