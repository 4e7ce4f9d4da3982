//! Audit log: caller, scope, route and outcome of every request, never its content.

use std::{
    borrow::Cow,
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Mutex,
};

use everlore::{
    Error, Result,
    internal::{files::atomic_file::private_open_options, text::secrets::secret_name},
};
use jiff::Timestamp;
use serde::Serialize;

use crate::lock;

/// Size at which the log is rotated: some 300,000 lines.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Audit log of a home: the current file, and the previous one.
pub(crate) struct AuditLog {
    path: PathBuf,
    file: Mutex<(File, u64)>,
}

/// Line of the audit log.
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

    /// Returns the path of the current file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a line. A failure is logged and does not fail the request, which is already answered.
    pub(crate) fn write(&self, record: &AuditRecord<'_>) {
        if let Err(error) = self.try_write(record) {
            tracing::error!(%error, "the audit log could not be written");
        }
    }

    fn try_write(&self, record: &AuditRecord<'_>) -> io::Result<()> {
        let (agent, user) = (record.agent.map(mask_name), record.user.map(mask_name));
        let record = AuditRecord { agent: agent.as_deref(), user: user.as_deref(), ..*record };
        let mut line = serde_json::to_vec(&record)?;
        line.push(b'\n');
        let mut file = lock(&self.file);
        if file.1 > MAX_BYTES {
            fs::rename(&self.path, self.path.with_extension("old.jsonl"))?;
            *file = open_log(&self.path)?;
        }
        file.0.write_all(&line)?;
        file.1 += line.len() as u64;
        Ok(())
    }
}

/// Masks a secret that a caller gave as a name.
fn mask_name(name: &str) -> Cow<'_, str> {
    match secret_name(name) {
        Some(kind) => Cow::Owned(format!("[secret: {kind}]")),
        None => Cow::Borrowed(name),
    }
}

fn open_log(path: &Path) -> io::Result<(File, u64)> {
    let file = private_open_options().append(true).create(true).open(path)?;
    let length = file.metadata()?.len();
    Ok((file, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_given_as_a_name_is_not_logged() {
        let home = std::env::temp_dir().join(format!("everlore-audit-{}", std::process::id()));
        fs::create_dir_all(&home).unwrap();
        let log = AuditLog::open(&home).unwrap();
        let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
        for user in [token.as_str(), "王小明", "4111111111111111"] {
            log.write(&AuditRecord {
                at: Timestamp::UNIX_EPOCH,
                request: "r",
                caller: None,
                agent: Some("default"),
                user: Some(user),
                method: "POST",
                route: "/v1/memories",
                status: 400,
                code: None,
            });
        }
        let text = fs::read_to_string(home.join("server-audit.jsonl")).unwrap();
        assert!(!text.contains(&token) && text.contains(r#""user":"[secret: token]""#), "{text}");
        assert!(text.contains("王小明") && text.contains("4111111111111111"), "{text}");
        fs::remove_dir_all(&home).unwrap();
    }
}
