//! What a file said before: a line for every change, with who made it and why (H1).
//!
//! A line is written before the file is replaced. If the process dies in between, or someone edits the file by hand, the
//! file no longer says what the last line says; the next change writes that down first. So the lines are never wrong
//! about what the file said, and nothing that was ever noticed is lost before its time.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::disk;
use crate::{
    error::{Error, Result},
    types::{Actor, Timestamp},
};

/// Changes kept of a file: months of a busy agent.
const MAX_CHANGES: usize = 500;

/// The most bytes kept of a file that someone made far longer than its budget.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// One change of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Past {
    /// Its number; numbers only rise.
    pub number: u64,
    /// When it was made, or noticed.
    pub at: Timestamp,
    /// Who made it.
    pub actor: Actor,
    /// Why.
    pub cause: String,
    /// What the file said after it; none if there was no file.
    pub text: Option<String>,
}

pub(super) struct History {
    path: PathBuf,
}

impl History {
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.with_extension("jsonl") }
    }

    /// All changes that are kept, the oldest first.
    pub(super) fn all(&self) -> Result<Vec<Past>> {
        let (bytes, whole) = self.read()?;
        bytes[..whole]
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| self.parse(line))
            .collect()
    }

    /// Writes down what happened to the file without us, if anything did. Returns the number of the last change.
    pub(super) fn notice(&self, text: Option<&str>, now: Timestamp) -> Result<u64> {
        let (bytes, whole) = self.read()?;
        let (last, rest) = self.last(&bytes[..whole])?;
        let known = last.as_ref().and_then(|last| last.text.as_deref());
        let number = last.as_ref().map_or(0, |last| last.number);
        if known == text {
            return Ok(number);
        }
        let before = self.last(rest)?.0.and_then(|before| before.text);
        let cause = match &last {
            None => "was there before",
            Some(_) if before.as_deref() == text => {
                "the write was interrupted, or taken back by hand"
            }
            Some(_) => "changed outside of everlore",
        };
        let past = Past {
            number: number + 1,
            at: now,
            actor: Actor::Person,
            cause: cause.to_owned(),
            text: text.map(str::to_owned),
        };
        self.append(&past)?;
        Ok(number + 1)
    }

    /// Adds a change; when there are too many, the oldest go.
    pub(super) fn append(&self, past: &Past) -> Result<()> {
        let (bytes, whole) = self.read()?;
        let line = line(past)?;
        let count = bytes[..whole].iter().filter(|byte| **byte == b'\n').count();
        if count < 2 * MAX_CHANGES && whole + line.len() < 2 * MAX_BYTES {
            return disk::append(&self.path, line.as_bytes(), whole as u64);
        }
        let mut kept = self.all()?;
        kept.push(past.clone());
        self.rewrite(&bounded(kept)?)
    }

    /// Replaces all changes.
    pub(super) fn rewrite(&self, all: &[Past]) -> Result<()> {
        let lines: Vec<String> = all.iter().map(line).collect::<Result<_>>()?;
        disk::write(&self.path, &lines.concat())
    }

    pub(super) fn remove(&self) -> Result<()> {
        disk::remove(&self.path)
    }

    /// The bytes, and how many of them are whole lines.
    fn read(&self) -> Result<(Vec<u8>, usize)> {
        let bytes = match fs::read(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            bytes => bytes.map_err(|error| Error::io(self.path.display().to_string(), error))?,
        };
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        Ok((bytes, whole))
    }

    /// The last change, and the lines before it.
    fn last<'a>(&self, whole: &'a [u8]) -> Result<(Option<Past>, &'a [u8])> {
        let line = whole.strip_suffix(b"\n").unwrap_or(whole);
        let start = line.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let last = if line.is_empty() { None } else { Some(self.parse(&line[start..])?) };
        Ok((last, &whole[..start]))
    }

    fn parse(&self, line: &[u8]) -> Result<Past> {
        serde_json::from_slice(line).map_err(|error| {
            Error::invalid(
                format!("{} has a line that cannot be read: {error}", self.path.display()),
                "move the file away; the layer itself is not affected, only what it said before",
            )
        })
    }
}

fn line(past: &Past) -> Result<String> {
    let json = serde_json::to_string(past).map_err(|error| Error::damaged(error.to_string()))?;
    Ok(json + "\n")
}

/// The newest changes that are few and small enough together; the last one always stays.
fn bounded(all: Vec<Past>) -> Result<Vec<Past>> {
    let mut kept = Vec::new();
    let mut bytes = 0;
    for past in all.into_iter().rev().take(MAX_CHANGES) {
        bytes += line(&past)?.len();
        if bytes > MAX_BYTES && !kept.is_empty() {
            break;
        }
        kept.push(past);
    }
    kept.reverse();
    Ok(kept)
}
