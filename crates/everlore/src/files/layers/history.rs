//! What a file said before: a line for every change, with who made it and why (H1).
//!
//! A line is written before the file is replaced. If the process dies in between, or someone edits the file by hand, the
//! file no longer says what the last line says; the next change writes that down first. So the lines are never wrong
//! about what the file said, and nothing that was ever noticed is lost before its time.

use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom},
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

/// What is written down when the file says again what it said before the last change.
const INTERRUPTED: &str = "the write was interrupted, or taken back by hand";

/// Some lines of a layer within its budget; longer ones are read in more than one go.
const TAIL_BYTES: u64 = 32 * 1024;

pub(super) struct History {
    path: PathBuf,
}

/// The end of a history.
#[derive(Default)]
struct Tail {
    /// Where the last whole line of the file ends.
    whole: u64,
    /// Whole lines.
    bytes: Vec<u8>,
}

impl History {
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.with_extension("jsonl") }
    }

    /// All changes that are kept, the oldest first.
    pub(super) fn all(&self) -> Result<Vec<Past>> {
        let bytes = match fs::read(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            bytes => bytes.map_err(|error| self.failed(error))?,
        };
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let lines = bytes[..whole].split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        // A line that a power cut spoiled says nothing any more.
        Ok(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
    }

    /// Writes down what happened to the file without us, if anything did. Returns the number of the last change.
    pub(super) fn notice(&self, text: Option<&str>, now: Timestamp) -> Result<u64> {
        let (last, before) = self.last_two()?;
        let number = last.as_ref().map_or(0, |last| last.number);
        if last.as_ref().and_then(|last| last.text.as_deref()) == text {
            return Ok(number);
        }
        let before = before.and_then(|before| before.text);
        let cause = match &last {
            None => "was there before",
            Some(_) if before.as_deref() == text => INTERRUPTED,
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
        let tail = self.tail(1)?;
        let line = line(past)?;
        let many = past.number.is_multiple_of(MAX_CHANGES as u64);
        if !many && tail.whole + (line.len() as u64) < 2 * MAX_BYTES as u64 {
            return disk::append(&self.path, line.as_bytes(), tail.whole);
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

    /// The last change and the one before it.
    fn last_two(&self) -> Result<(Option<Past>, Option<Past>)> {
        let tail = self.tail(2)?;
        let lines = tail.bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let lines: Option<Vec<Past>> =
            lines.map(|line| serde_json::from_slice(line).ok()).collect();
        let mut lines = match lines {
            Some(lines) => lines,
            None => self.all()?,
        };
        Ok((lines.pop(), lines.pop()))
    }

    /// The end of the file with at least so many whole lines, if it has as many; the rest is not read.
    fn tail(&self, lines: usize) -> Result<Tail> {
        let mut file = match File::open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Tail::default()),
            file => file.map_err(|error| self.failed(error))?,
        };
        let length = file.metadata().map_err(|error| self.failed(error))?.len();
        let mut size = TAIL_BYTES;
        loop {
            let start = length.saturating_sub(size);
            let mut bytes = Vec::new();
            let read = file.seek(SeekFrom::Start(start)).and_then(|_| file.read_to_end(&mut bytes));
            read.map_err(|error| self.failed(error))?;
            let breaks: Vec<usize> =
                (0..bytes.len()).rev().filter(|at| bytes[*at] == b'\n').take(lines + 1).collect();
            if start > 0 && breaks.len() <= lines {
                size *= 4;
                continue;
            }
            let whole = breaks.first().map_or(0, |last| last + 1);
            let first = breaks.get(lines).map_or(0, |before| before + 1);
            return Ok(Tail { whole: start + whole as u64, bytes: bytes[first..whole].to_vec() });
        }
    }

    fn failed(&self, error: io::Error) -> Error {
        Error::io(self.path.display().to_string(), error)
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
