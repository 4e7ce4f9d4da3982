//! The lines of an export: JSON, one thing a line, written and read without holding the whole.

use serde::{Deserialize, Serialize};

use super::draft::{Remember, Turn};
use crate::{
    error::{Error, Result},
    types::{Entry, Fingerprint, Memory, Scope, Timestamp},
};

/// The form of export that this program writes. Older ones are read as well.
const FORMAT: u32 = 1;

/// A longer line is not one of ours: a memory has 4 MiB at most, which escapes can make six times as long.
pub(super) const MAX_LINE_BYTES: usize = 32 * 1024 * 1024;

/// One line of an export or of a hand-made file.
#[derive(Debug, Clone, PartialEq)]
pub enum Line {
    /// What the file is; the first line.
    Header(Header),
    /// A whole memory.
    Memory(Box<Memory>),
    /// A line of the journal.
    Change(Box<Entry>),
    /// A text that was erased.
    Tombstone(Fingerprint),
    /// Something to remember.
    Draft(Box<Remember>),
    /// Something that was said.
    Turn(Turn),
}

/// What an export says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The form of the lines that follow.
    pub everlore_export: u32,
    /// Whose memories they are.
    pub scope: Scope,
    /// When they were written.
    pub exported_at: Timestamp,
    /// Whether they are the journal, from which the memories follow.
    pub journal: bool,
}

impl Header {
    /// The header of an export made at `now`.
    pub fn new(scope: &Scope, journal: bool, now: Timestamp) -> Self {
        Self { everlore_export: FORMAT, scope: scope.clone(), exported_at: now, journal }
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum Written<'a> {
    Header(&'a Header),
    Memory { memory: &'a Memory },
    Change { change: &'a Entry },
    Tombstone { tombstone: String },
    Draft(&'a Remember),
    Turn(&'a Turn),
}

impl Line {
    /// The line as JSON, without a line break.
    pub fn to_json(&self) -> Result<String> {
        let written = match self {
            Self::Header(header) => Written::Header(header),
            Self::Memory(memory) => Written::Memory { memory },
            Self::Change(change) => Written::Change { change },
            Self::Tombstone(text) => Written::Tombstone { tombstone: hex(text.as_bytes()) },
            Self::Draft(draft) => Written::Draft(draft),
            Self::Turn(turn) => Written::Turn(turn),
        };
        serde_json::to_string(&written).map_err(Error::store)
    }

    /// Reads one line; what it is shows from its keys.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let text = std::str::from_utf8(bytes).map_err(|_| damaged("it is not UTF-8"))?;
        let value: serde_json::Value =
            serde_json::from_str(text).map_err(|error| damaged(error.to_string()))?;
        let has = |key: &str| value.get(key).is_some();
        if has("everlore_export") {
            from(value).map(Self::Header).and_then(known_format)
        } else if has("memory") {
            part(value, "memory").map(Self::Memory)
        } else if has("change") {
            part(value, "change").map(Self::Change)
        } else if has("tombstone") {
            part::<String>(value, "tombstone").and_then(|text| from_hex(&text)).map(Self::Tombstone)
        } else if has("content") {
            from(value).map(Self::Draft)
        } else if has("text") {
            from(value).map(Self::Turn)
        } else {
            Err(damaged("it has none of the keys memory, change, tombstone, content, text"))
        }
    }
}

fn known_format(line: Line) -> Result<Line> {
    match &line {
        Line::Header(header) if header.everlore_export > FORMAT => Err(Error::invalid(
            format!(
                "the export has form {}, this program reads forms up to {FORMAT}",
                header.everlore_export
            ),
            "update everlore to read it",
        )),
        _ => Ok(line),
    }
}

fn part<T: serde::de::DeserializeOwned>(mut value: serde_json::Value, key: &str) -> Result<T> {
    from(value[key].take())
}

fn from<T: serde::de::DeserializeOwned>(value: serde_json::Value) -> Result<T> {
    serde_json::from_value(value).map_err(|error| damaged(error.to_string()))
}

fn damaged(why: impl std::fmt::Display) -> Error {
    Error::invalid(
        format!("the line cannot be read: {why}"),
        "mend the line, or import the rest with --keep-going",
    )
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Result<Fingerprint> {
    let number = (text.len() == 32).then(|| u128::from_str_radix(text, 16).ok()).flatten();
    number
        .map(|number| Fingerprint::from_bytes(number.to_be_bytes()))
        .ok_or_else(|| damaged("a tombstone has 32 hexadecimal digits"))
}
