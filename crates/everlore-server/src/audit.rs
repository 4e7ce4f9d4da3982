//! The audit log: who asked for what in whose memory and how it ended, never what was said.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use everlore::{Error, Result, files::atomic_file::private_open_options};
use jiff::Timestamp;
use serde::Serialize;

/// The size at which a log becomes the old one: some 300,000 lines.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// The log of a home: one file, and the one before it.
pub(crate) struct AuditLog {
    path: PathBuf,
    file: Mutex<(File, u64)>,
}

/// One line of it.
#[derive(Serialize)]
pub(crate) struct AuditRecord<'a> {
    pub(crate) at: Timestamp,
    pub(crate) request: &'a str,
    pub(crate) caller: Option<&'a str>,
    pub(crate) agent: Option<&'a str>,
    pub(crate) user: Option<&'a str>,
    pub(crate) method: &'a str,
    pub(crate) route: &'a str,
    pub(crate) status: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) code: Option<&'a str>,
}

impl AuditLog {
    /// Opens the log, which only the owner may read.
    pub(crate) fn open(home: &Path) -> Result<Self> {
        let path = home.join("server-audit.jsonl");
        let file = open_log(&path).map_err(|error| Error::io(path.display().to_string(), error))?;
        Ok(Self { path, file: Mutex::new(file) })
    }

    /// Writes a line. A request that was answered is not failed for it.
    pub(crate) fn write(&self, record: &AuditRecord<'_>) {
        if let Err(error) = self.try_write(record) {
            tracing::error!(%error, "the audit log could not be written");
        }
    }

    fn try_write(&self, record: &AuditRecord<'_>) -> io::Result<()> {
        let mut line = serde_json::to_vec(record)?;
        line.push(b'\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if file.1 > MAX_BYTES {
            fs::rename(&self.path, self.path.with_extension("old.jsonl"))?;
            *file = open_log(&self.path)?;
        }
        file.0.write_all(&line)?;
        file.1 += line.len() as u64;
        Ok(())
    }
}

fn open_log(path: &Path) -> io::Result<(File, u64)> {
    let file = private_open_options().append(true).create(true).open(path)?;
    let length = file.metadata()?.len();
    Ok((file, length))
}
