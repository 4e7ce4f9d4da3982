//! Hook spool: turns and injection records that short-lived hook processes write to files and `drain.rs` stores later.
//!
//! A hook must be quick and may be killed, so it only writes each turn durably to a file of its own, named after the
//! event. A separate process drains the spool and can be started again at any time. Injection records wait there too:
//! opening the database for writing would take longer than recall does in a small home.
//!
//! Files of `HOME/hooks/`, whose names stay for compatibility:
//!
//! | file | meaning |
//! |---|---|
//! | `waiting/RUN.json` | pending turn |
//! | `waiting/RUN.told` | pending injection record; its field `prompted` is the injection |
//! | `waiting/RUN.refused` | turn that can never be stored, set aside for a person |
//! | `storing.lock` | drain lock, held by the process that drains |
//! | `DIGEST.json`, `lock` | state of a conversation; lock of all states (`conversation.rs`) |

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
};

use everlore::{
    Scope, Turn,
    internal::files::{
        atomic_file::{TempFile, WriteOptions, create_private_folder, lock, remove_if_exists},
        pending_text::{PendingFiles, spool_folder},
    },
    store::Injection,
    types::{Fingerprint, Timestamp},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// Extension of spooled turns.
const TURN_EXTENSION: &str = "json";

/// Extension of injection records.
const INJECTION_EXTENSION: &str = "told";

/// Spool in the folder `hooks/` of a home.
#[derive(Debug, Clone)]
pub(super) struct Spool {
    folder: PathBuf,
}

/// Turn that waits to be stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct SpooledTurn {
    pub(super) scope: Scope,
    /// Name of the host that reported it.
    pub(super) host: String,
    pub(super) turn: Turn,
}

/// Memories that a prompt was given, waiting to be recorded for usage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct InjectionRecord {
    pub(super) scope: Scope,
    #[serde(rename = "prompted")]
    pub(super) injection: Injection,
}

/// One file of the spool.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum SpoolEntry {
    Turn(Box<SpooledTurn>),
    Injection(InjectionRecord),
}

impl SpoolEntry {
    /// Decodes a file by its extension; `None` if it is incomplete.
    fn decode(extension: &str, bytes: &[u8]) -> Option<Self> {
        match extension {
            TURN_EXTENSION => serde_json::from_slice(bytes).ok().map(Self::Turn),
            _ => serde_json::from_slice(bytes).ok().map(Self::Injection),
        }
    }

    fn extension(&self) -> &'static str {
        match self {
            Self::Turn(_) => TURN_EXTENSION,
            Self::Injection(_) => INJECTION_EXTENSION,
        }
    }

    fn timestamp(&self) -> Option<Timestamp> {
        match self {
            Self::Turn(spooled) => spooled.turn.time,
            Self::Injection(record) => Some(record.injection.at),
        }
    }
}

/// Turns in the spool that were not stored in time.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct SpoolBacklog {
    /// Turns that have waited for longer than a minute.
    pub(crate) overdue: usize,
    /// Turns that the store rejected.
    pub(crate) refused: usize,
    /// Folder that holds them.
    pub(crate) folder: PathBuf,
}

impl SpoolBacklog {
    /// Counts the backlog of a home.
    pub(crate) fn scan(home: &Path) -> Self {
        let PendingFiles { overdue, refused, .. } = PendingFiles::scan(home);
        Self { overdue, refused, folder: spool_folder(home) }
    }
}

impl Spool {
    /// Returns the spool of a home.
    pub(super) fn in_home(home: &Path) -> Self {
        Self { folder: home.join("hooks") }
    }

    /// Writes a turn durably; the same run again changes nothing.
    pub(super) fn put_turn(&self, run: &str, spooled: &SpooledTurn, mask: bool) -> io::Result<()> {
        self.put(run, spooled, mask, true)
    }

    /// Writes a tool call of a trajectory, without waiting for the disk: losing one costs a step of the record.
    pub(super) fn put_call(&self, run: &str, spooled: &SpooledTurn, mask: bool) -> io::Result<()> {
        self.put(run, spooled, mask, false)
    }

    fn put(&self, run: &str, spooled: &SpooledTurn, mask: bool, durable: bool) -> io::Result<()> {
        let path = self.pending_folder().join(format!("{run}.{TURN_EXTENSION}"));
        if path.exists() {
            return Ok(());
        }
        create_private_folder(&self.pending_folder())?;
        let mut spooled = spooled.clone();
        if mask {
            spooled.turn.mask_secrets();
        }
        write_json(&path, &spooled, durable)
    }

    /// Writes an injection record, without waiting for the disk: losing one costs only a little learning.
    pub(super) fn put_injection(&self, run: &str, record: &InjectionRecord) -> io::Result<()> {
        create_private_folder(&self.pending_folder())?;
        let path = self.pending_folder().join(format!("{run}.{INJECTION_EXTENSION}"));
        write_json(&path, record, false)
    }

    /// Returns all pending entries with their runs, oldest first. Sets aside files that a crash of the machine left
    /// incomplete.
    pub(super) fn entries(&self) -> Vec<(String, SpoolEntry)> {
        let mut entries = Vec::new();
        for (run, extension) in self.pending_files() {
            let path = self.pending_folder().join(format!("{run}.{extension}"));
            let Ok(bytes) = fs::read(path) else { continue };
            match SpoolEntry::decode(extension, &bytes) {
                Some(entry) => entries.push((run, entry)),
                // If that fails, the next drain tries again.
                None => drop(self.set_aside(&run, extension)),
            }
        }
        entries.sort_by_key(|(run, entry)| (entry.timestamp(), run.clone()));
        entries
    }

    /// Returns `true` if an entry is pending; entries that were set aside do not count.
    pub(super) fn has_pending(&self) -> bool {
        self.pending_files().next().is_some()
    }

    /// Returns run and extension of every pending file.
    fn pending_files(&self) -> impl Iterator<Item = (String, &'static str)> {
        let entries = fs::read_dir(self.pending_folder()).into_iter().flatten().flatten();
        entries.filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let (run, extension) = name.rsplit_once('.')?;
            let mut pending = [TURN_EXTENSION, INJECTION_EXTENSION].into_iter();
            Some((run.to_owned(), pending.find(|pending| *pending == extension)?))
        })
    }

    /// Removes an entry that is stored.
    pub(super) fn remove_entry(&self, run: &str, entry: &SpoolEntry) -> io::Result<()> {
        remove_if_exists(&self.pending_folder().join(format!("{run}.{}", entry.extension())))
    }

    /// Sets aside an entry that can never be stored, so that draining does not try it for ever.
    pub(super) fn refuse_entry(&self, run: &str, entry: &SpoolEntry) -> io::Result<()> {
        self.set_aside(run, entry.extension())
    }

    /// Renames a turn, for a person to look at; deletes an injection record.
    fn set_aside(&self, run: &str, extension: &str) -> io::Result<()> {
        let path = self.pending_folder().join(format!("{run}.{extension}"));
        match extension {
            TURN_EXTENSION => fs::rename(&path, path.with_extension("refused")),
            _ => remove_if_exists(&path),
        }
    }

    /// Locks the spool for draining: one process at a time, so that nothing is stored twice.
    pub(super) fn lock_drain(&self) -> io::Result<File> {
        create_private_folder(&self.folder)?;
        lock(&self.drain_lock_path())
    }

    /// Returns `true` if a process drains the spool now.
    pub(super) fn is_draining(&self) -> bool {
        let lock = File::open(self.drain_lock_path());
        lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    fn drain_lock_path(&self) -> PathBuf {
        self.folder.join("storing.lock")
    }

    fn pending_folder(&self) -> PathBuf {
        self.folder.join("waiting")
    }
}

/// Returns a digest of some texts; their boundaries count.
pub(super) fn digest(parts: &[&str]) -> String {
    let joined: String = parts.iter().map(|part| format!("{}:{part}", part.len())).collect();
    let bytes = Fingerprint::of(&joined);
    bytes.as_bytes().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// Reads a file of JSON; `None` if there is none or it is incomplete.
pub(super) fn read_json<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// Replaces a file by the JSON of a value.
pub(super) fn write_json(path: &Path, value: &impl Serialize, durable: bool) -> io::Result<()> {
    let options = WriteOptions { durable, private: true, permissions: None };
    let temporary = path.with_extension(format!("{}.new", std::process::id()));
    TempFile::write(temporary, &serde_json::to_vec(value)?, options)?.persist(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back_in_order_and_once() {
        let home = tempfile::tempdir().unwrap();
        let spool = Spool::in_home(home.path());
        let turn = |text: &str, second: i64| SpooledTurn {
            scope: Scope::default(),
            host: "codex".into(),
            turn: Turn {
                text: text.into(),
                time: everlore::types::Timestamp::from_second(second).ok(),
                ..Turn::default()
            },
        };
        let record = |second: i64| InjectionRecord {
            scope: Scope::default(),
            injection: Injection {
                session: "s".into(),
                query: Fingerprint::of("茶"),
                at: Timestamp::from_second(second).unwrap(),
                memories: Vec::new(),
                is_same_prompt: false,
                max_lines: 9,
            },
        };
        spool.put_turn("b", &turn("later", 3), true).unwrap();
        spool.put_injection("a", &record(2)).unwrap();
        spool.put_turn("a", &turn("先说的", 1), true).unwrap();
        spool.put_turn("a", &turn("again", 4), true).unwrap();
        let entries = spool.entries();
        let spooled = |text, second| SpoolEntry::Turn(Box::new(turn(text, second)));
        let expected =
            [spooled("先说的", 1), SpoolEntry::Injection(record(2)), spooled("later", 3)];
        assert_eq!(entries.iter().map(|(_, entry)| entry.clone()).collect::<Vec<_>>(), expected);
        spool.remove_entry("a", &entries[0].1).unwrap();
        spool.refuse_entry("b", &entries[2].1).unwrap();
        assert_eq!(spool.entries(), [("a".to_owned(), expected[1].clone())]);
        spool.refuse_entry("a", &entries[1].1).unwrap();
        assert!(spool.entries().is_empty() && !spool.has_pending());
        let backlog = SpoolBacklog::scan(home.path());
        assert_eq!((backlog.overdue, backlog.refused), (0, 1), "a rejected turn is set aside");
    }

    #[test]
    fn an_incomplete_file_is_set_aside() {
        let home = tempfile::tempdir().unwrap();
        let spool = Spool::in_home(home.path());
        create_private_folder(&spool.pending_folder()).unwrap();
        for name in ["a.told", "b.json"] {
            fs::write(spool.pending_folder().join(name), "{\"scope\":").unwrap();
        }
        assert!(spool.has_pending() && spool.entries().is_empty() && !spool.has_pending());
        assert_eq!(SpoolBacklog::scan(home.path()).refused, 1);
    }

    #[test]
    fn other_processes_see_who_drains() {
        let home = tempfile::tempdir().unwrap();
        let spool = Spool::in_home(home.path());
        assert!(!spool.is_draining());
        let draining = spool.lock_drain().unwrap();
        assert!(spool.is_draining());
        drop(draining);
        assert!(!spool.is_draining());
    }
}
