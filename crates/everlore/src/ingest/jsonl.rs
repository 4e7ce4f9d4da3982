//! JSONL lines of exports, written and read one at a time.

use serde::{Deserialize, Serialize};

use super::request::{RememberRequest, Turn};
use crate::{
    error::{Error, Result},
    types::{Fingerprint, JournalEntry, Memory, Scope, Timestamp},
};

/// Export format that this program writes. It also reads older ones.
const FORMAT_VERSION: u32 = 1;

/// Longest accepted line: a memory has 4 MiB at most, which escapes can make six times as long.
pub(super) const MAX_LINE_BYTES: usize = 32 * 1024 * 1024;

/// One line of an export or of a hand-made file.
#[derive(Debug, Clone, PartialEq)]
pub enum ExportLine {
    /// Header of the export; the first line.
    Header(ExportHeader),
    /// Complete memory.
    Memory(Box<Memory>),
    /// Journal entry.
    JournalEntry(Box<JournalEntry>),
    /// Fingerprint of an erased text.
    Tombstone(Fingerprint),
    /// Statement to remember.
    Remember(Box<RememberRequest>),
    /// Turn of a session.
    Turn(Box<Turn>),
}

/// Header of an export.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportHeader {
    /// Format of the following lines.
    pub everlore_export: u32,
    /// Owner of the memories.
    pub scope: Scope,
    /// Time of the export.
    pub exported_at: Timestamp,
    /// Set when the lines are the journal, from which the memories follow.
    pub journal: bool,
}

impl ExportHeader {
    /// Creates the header of an export at `now`.
    pub fn new(scope: &Scope, journal: bool, now: Timestamp) -> Self {
        Self { everlore_export: FORMAT_VERSION, scope: scope.clone(), exported_at: now, journal }
    }

    /// Refuses exports of newer programs, whose lines may mean something else.
    pub(super) fn check_version(&self) -> Result<()> {
        if self.everlore_export <= FORMAT_VERSION {
            return Ok(());
        }
        Err(Error::invalid(
            format!(
                "the export has format {}, this program reads formats up to {FORMAT_VERSION}",
                self.everlore_export
            ),
            "update everlore to read it",
        ))
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum ExportLineJson<'a> {
    Header(&'a ExportHeader),
    Memory { memory: &'a Memory },
    JournalEntry { change: &'a JournalEntry },
    Tombstone { tombstone: String },
    Remember(&'a RememberRequest),
    Turn(&'a Turn),
}

impl ExportLine {
    /// Serializes the line as JSON, without a line break.
    pub fn to_json(&self) -> Result<String> {
        let json = match self {
            Self::Header(header) => ExportLineJson::Header(header),
            Self::Memory(memory) => ExportLineJson::Memory { memory },
            Self::JournalEntry(change) => ExportLineJson::JournalEntry { change },
            Self::Tombstone(text) => ExportLineJson::Tombstone { tombstone: hex(text.as_bytes()) },
            Self::Remember(request) => ExportLineJson::Remember(request),
            Self::Turn(turn) => ExportLineJson::Turn(turn),
        };
        serde_json::to_string(&json).map_err(Error::store)
    }

    /// Parses one line; its keys determine its type.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let text = std::str::from_utf8(bytes).map_err(|_| unreadable_line("it is not UTF-8"))?;
        let value: serde_json::Value =
            serde_json::from_str(text).map_err(|error| unreadable_line(error.to_string()))?;
        let has = |key: &str| value.get(key).is_some();
        if has("everlore_export") {
            parse_value(value).map(Self::Header)
        } else if has("memory") {
            parse_field(value, "memory").map(Self::Memory)
        } else if has("change") {
            parse_field(value, "change").map(Self::JournalEntry)
        } else if has("tombstone") {
            parse_field::<String>(value, "tombstone")
                .and_then(|text| from_hex(&text))
                .map(Self::Tombstone)
        } else if has("content") {
            parse_value(value).map(Self::Remember)
        } else if has("text") {
            parse_value(value).map(Self::Turn)
        } else {
            Err(unreadable_line("it has none of the keys memory, change, tombstone, content, text"))
        }
    }
}

fn parse_field<T: serde::de::DeserializeOwned>(
    mut value: serde_json::Value,
    key: &str,
) -> Result<T> {
    parse_value(value[key].take())
}

fn parse_value<T: serde::de::DeserializeOwned>(value: serde_json::Value) -> Result<T> {
    serde_json::from_value(value).map_err(|error| unreadable_line(error.to_string()))
}

fn unreadable_line(why: impl std::fmt::Display) -> Error {
    Error::invalid(
        format!("the line cannot be read: {why}"),
        "correct the line, or import the rest with --keep-going",
    )
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Result<Fingerprint> {
    let number = (text.len() == 32).then(|| u128::from_str_radix(text, 16).ok()).flatten();
    number
        .map(|number| Fingerprint::from_bytes(number.to_be_bytes()))
        .ok_or_else(|| unreadable_line("a tombstone has 32 hexadecimal digits"))
}
