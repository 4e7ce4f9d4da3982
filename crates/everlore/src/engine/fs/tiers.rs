//! Tiers of nodes: one line (L0), an overview (L1), the full text (L2).
//!
//! A memory stores its tiers (`text/tiers.rs`). Those of other nodes are made on demand.

use serde_json::Value;

use super::{FsListing, resolve::FsNode};
use crate::{
    engine::files::{is_chinese, summary_input},
    text::{
        summary::{summarize, truncate_lines},
        tiers::{one_line, overview},
    },
    types::{Kind, Memory, QUOTED_KEY, Role, Tier},
};

/// Most children in the overview of a folder.
pub(super) const MAX_OVERVIEW_CHILDREN: usize = 50;

/// Most characters of a line, of an overview, and of a session or document read whole: hosts cut answers above 25,000
/// tokens.
const LINE_CHARS: usize = 160;
const OVERVIEW_CHARS: usize = 1_000;
const MAX_CHARS: usize = 200_000;

/// Returns the text of a node other than a folder at a tier, and `true` if it was cut.
pub(super) fn render_node(node: &FsNode, level: Tier) -> (String, bool) {
    match node {
        FsNode::Folder => (String::new(), false),
        FsNode::Memory(memory) => (render_memory(memory, level), false),
        FsNode::Document(document, chunks) => match level {
            Tier::L0 => {
                (format!("{}: {}", document.path, document.manifest_memory.description), false)
            }
            Tier::L1 => join_within(chunks.iter().map(chunk_heading), "\n", OVERVIEW_CHARS),
            Tier::L2 => {
                join_within(chunks.iter().map(|chunk| chunk.content.clone()), "\n\n", MAX_CHARS)
            }
        },
        FsNode::Session(turns, more) => {
            let (text, cut) = render_session(turns, level);
            (text, cut || (*more && level == Tier::L2))
        }
        FsNode::File(text) => (render_file(text, level), false),
    }
}

/// Returns a memory in one line.
pub(super) fn memory_line(memory: &Memory) -> String {
    let line = one_line(memory);
    if line.is_empty() { memory.name.clone() } else { line }
}

fn render_memory(memory: &Memory, level: Tier) -> String {
    match level {
        Tier::L0 => memory_line(memory),
        Tier::L1 => overview(memory),
        Tier::L2 => full_text(memory),
    }
}

/// Returns the text of a memory, for a turn with what its message quoted.
fn full_text(memory: &Memory) -> String {
    match memory.metadata.get(QUOTED_KEY).and_then(Value::as_str) {
        Some(quoted) if memory.kind == Kind::Turn => {
            format!("{}\n\n[quoted]\n{quoted}", memory.content)
        }
        _ => memory.content.clone(),
    }
}

/// Returns the text of a folder, made from its entries.
pub(super) fn render_folder(listing: &FsListing, level: Tier) -> String {
    let more = if listing.next.is_some() { " and more" } else { "" };
    let names = || {
        let names = listing.items.iter().map(|item| item.name.clone());
        join_within(names, ", ", LINE_CHARS).0
    };
    match (listing.items.len(), level) {
        (0, _) => "An empty folder".to_owned(),
        (count, Tier::L0) => {
            let noun = if count == 1 { "entry" } else { "entries" };
            format!("{count} {noun}{more}: {}", names())
        }
        _ => {
            let slash = |folder: bool| if folder { "/" } else { "" };
            let line = |item: &super::FsEntry| {
                let what = if item.summary.is_empty() {
                    String::new()
                } else {
                    format!(": {}", item.summary)
                };
                format!("- {}{}{what}", item.name, slash(item.folder))
            };
            let lines: Vec<String> = listing.items.iter().map(line).collect();
            format!("{}{}", lines.join("\n"), if more.is_empty() { "" } else { "\n- …" })
        }
    }
}

/// Returns the heading of a chunk and the first sentence of its text.
fn chunk_heading(chunk: &Memory) -> String {
    let is_text = |line: &&str| !line.trim().is_empty() && !line.starts_with('#');
    let content = chunk.content.lines().filter(is_text).collect::<Vec<_>>().join("\n");
    let metadata = serde_json::Map::new();
    let text = Memory { description: String::new(), content, metadata, ..chunk.clone() };
    match one_line(&text) {
        line if line.is_empty() => format!("- {}", chunk.name),
        line => format!("- {}: {line}", chunk.name),
    }
}

fn render_session(turns: &[Memory], level: Tier) -> (String, bool) {
    let chinese = is_chinese(turns);
    let spoken = summary_input(turns, chinese);
    let first = || turns.first().map(memory_line).unwrap_or_default();
    let or_first = |text: String| if text.is_empty() { first() } else { text };
    match level {
        Tier::L0 => {
            let summary = or_first(summarize(&spoken, LINE_CHARS));
            (summary.lines().next().unwrap_or_default().to_owned(), false)
        }
        Tier::L1 => (or_first(summarize(&spoken, OVERVIEW_CHARS)), false),
        Tier::L2 => join_within(turns.iter().map(transcript_line), "\n", MAX_CHARS),
    }
}

fn transcript_line(turn: &Memory) -> String {
    let role = match turn.source.role {
        Some(Role::User) | None => "user",
        Some(Role::Assistant) => "assistant",
        Some(Role::System) => "system",
        Some(Role::Tool) => "tool",
    };
    format!("{}: {}", turn.source.speaker.as_deref().unwrap_or(role), turn.content)
}

/// Returns a Markdown file at a tier: its first line of text, its headings with theirs, or all of it.
fn render_file(text: &str, level: Tier) -> String {
    let is_text = |line: &&str| !line.trim().is_empty() && !line.starts_with('#');
    let first = |text: &str| text.lines().find(is_text).map(|line| line.trim().to_owned());
    match level {
        Tier::L0 => first(text).unwrap_or_else(|| "Nothing is written yet".to_owned()),
        Tier::L1 => truncate_lines(text, OVERVIEW_CHARS),
        Tier::L2 => text.to_owned(),
    }
}

/// Joins pieces as far as they fit whole; `true` if some did not.
fn join_within(pieces: impl Iterator<Item = String>, between: &str, max: usize) -> (String, bool) {
    let (mut text, mut used) = (String::new(), 0);
    for piece in pieces {
        used += piece.chars().count() + between.len();
        if used > max && !text.is_empty() {
            return (text + between + "…", true);
        }
        if !text.is_empty() {
            text.push_str(between);
        }
        text.push_str(&piece);
    }
    (text, false)
}
