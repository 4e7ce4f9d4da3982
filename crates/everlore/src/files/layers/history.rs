//! History of a layer file: a JSON line for every change, with its author and reason.
//!
//! A line is written before the file is replaced. If the process dies in between, or a person edits the file by hand,
//! the file no longer equals the last line; the next change records the difference first. So the lines are never wrong
//! about the contents of the file, and nothing that was ever noticed is lost before its time.

use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::layer_file;
use crate::{
    error::{Error, Result},
    types::{Actor, Timestamp},
};

/// Most revisions of a file: months of a busy agent.
const MAX_CHANGES: usize = 500;

/// Most bytes of the history of a file that a person made far longer than its budget.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// Revision of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayerRevision {
    /// Sequence number; numbers only rise.
    pub number: u64,
    /// Time at which it was made, or noticed.
    pub at: Timestamp,
    /// Author.
    pub actor: Actor,
    /// Reason.
    pub cause: String,
    /// Text after the change; `None` if there was no file.
    pub text: Option<String>,
}

/// Reason recorded when the file again has the text from before the last change.
const INTERRUPTED_CAUSE: &str = "the write was interrupted, or reverted by hand";

/// Bytes of a first read from the end: some lines of a layer within its budget; longer ones take more reads.
const TAIL_BYTES: u64 = 32 * 1024;

pub(super) struct LayerHistory {
    path: PathBuf,
}

/// End of a history.
#[derive(Default)]
struct HistoryTail {
    /// End of the last complete line of the file.
    complete_len: u64,
    /// Complete lines.
    bytes: Vec<u8>,
}

impl LayerHistory {
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.with_extension("jsonl") }
    }

    /// Returns all revisions, the oldest first.
    pub(super) fn all(&self) -> Result<Vec<LayerRevision>> {
        let bytes = match fs::read(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            bytes => bytes.map_err(|error| self.io_error(error))?,
        };
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let lines = bytes[..whole].split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        // A line that a power cut damaged is skipped.
        Ok(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
    }

    /// Records an edit of the file by another program, if there was one. Returns the number of the last revision.
    pub(super) fn record_external_edit(&self, text: Option<&str>, now: Timestamp) -> Result<u64> {
        let (last, before) = self.last_two()?;
        let number = last.as_ref().map_or(0, |last| last.number);
        if last.as_ref().and_then(|last| last.text.as_deref()) == text {
            return Ok(number);
        }
        let before = before.and_then(|before| before.text);
        let cause = match &last {
            None => "existed before",
            Some(_) if before.as_deref() == text => INTERRUPTED_CAUSE,
            Some(_) => "changed outside of everlore",
        };
        let revision = LayerRevision {
            number: number + 1,
            at: now,
            actor: Actor::Person,
            cause: cause.to_owned(),
            text: text.map(str::to_owned),
        };
        self.append(&revision)?;
        Ok(number + 1)
    }

    /// Appends a revision; if there are too many, the oldest are dropped.
    pub(super) fn append(&self, revision: &LayerRevision) -> Result<()> {
        let tail = self.tail(1)?;
        let line = json_line(revision)?;
        let many = revision.number.is_multiple_of(MAX_CHANGES as u64);
        if !many && tail.complete_len + (line.len() as u64) < 2 * MAX_BYTES as u64 {
            return layer_file::append(&self.path, line.as_bytes(), tail.complete_len);
        }
        let mut kept = self.all()?;
        kept.push(revision.clone());
        self.rewrite(&drop_oldest(kept)?)
    }

    /// Replaces all revisions.
    pub(super) fn rewrite(&self, all: &[LayerRevision]) -> Result<()> {
        let lines: Vec<String> = all.iter().map(json_line).collect::<Result<_>>()?;
        layer_file::write(&self.path, &lines.concat())
    }

    pub(super) fn remove(&self) -> Result<()> {
        layer_file::remove(&self.path)
    }

    /// Returns the last revision and the one before it.
    fn last_two(&self) -> Result<(Option<LayerRevision>, Option<LayerRevision>)> {
        let tail = self.tail(2)?;
        let lines = tail.bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let lines: Option<Vec<LayerRevision>> =
            lines.map(|line| serde_json::from_slice(line).ok()).collect();
        let mut lines = match lines {
            Some(lines) => lines,
            None => self.all()?,
        };
        Ok((lines.pop(), lines.pop()))
    }

    /// Returns the end of the file with at least so many complete lines, if it has as many; the rest is not read.
    fn tail(&self, lines: usize) -> Result<HistoryTail> {
        let mut file = match File::open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(HistoryTail::default());
            }
            file => file.map_err(|error| self.io_error(error))?,
        };
        let length = file.metadata().map_err(|error| self.io_error(error))?.len();
        let mut size = TAIL_BYTES;
        loop {
            let start = length.saturating_sub(size);
            let mut bytes = Vec::new();
            let read = file.seek(SeekFrom::Start(start)).and_then(|_| file.read_to_end(&mut bytes));
            read.map_err(|error| self.io_error(error))?;
            let breaks: Vec<usize> =
                (0..bytes.len()).rev().filter(|at| bytes[*at] == b'\n').take(lines + 1).collect();
            if start > 0 && breaks.len() <= lines {
                size *= 4;
                continue;
            }
            let whole = breaks.first().map_or(0, |last| last + 1);
            let first = breaks.get(lines).map_or(0, |before| before + 1);
            return Ok(HistoryTail {
                complete_len: start + whole as u64,
                bytes: bytes[first..whole].to_vec(),
            });
        }
    }

    fn io_error(&self, error: io::Error) -> Error {
        Error::io(self.path.display().to_string(), error)
    }
}

fn json_line(revision: &LayerRevision) -> Result<String> {
    let json =
        serde_json::to_string(revision).map_err(|error| Error::damaged(error.to_string()))?;
    Ok(json + "\n")
}

/// Returns the newest revisions within the limits; the last one always stays.
fn drop_oldest(all: Vec<LayerRevision>) -> Result<Vec<LayerRevision>> {
    let mut kept = Vec::new();
    let mut bytes = 0;
    for revision in all.into_iter().rev().take(MAX_CHANGES) {
        bytes += json_line(&revision)?.len();
        if bytes > MAX_BYTES && !kept.is_empty() {
            break;
        }
        kept.push(revision);
    }
    kept.reverse();
    Ok(kept)
}
