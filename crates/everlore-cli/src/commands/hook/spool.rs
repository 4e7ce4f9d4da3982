//! What hooks leave behind in a home: what was said and told and is not stored yet, and what each conversation was told.
//!
//! A hook must be quick and may be killed, so it only puts a turn down here, durably, each in a file of its own whose name
//! follows from the event; storing is left to a process of its own (`store.rs`), which anyone may start again. What was told
//! waits beside it: a database that is open for writing would cost more than finding what to tell does in a small home.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use everlore::{
    Scope, Turn,
    files::atomic_file::{TempFile, WriteOptions, create_private_folder, lock, remove_if_exists},
    store::Injection,
    types::{Fingerprint, Timestamp},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::conversation::ConversationState;

/// A turn is stored in much less: its process starts with the hook.
const DRAIN_DEADLINE: Duration = Duration::from_secs(60);

/// Days after which what is known of a conversation is removed.
const CONVERSATION_RETENTION_DAYS: u64 = 30;

/// How the names of files with turns end.
const TURN_EXTENSION: &str = "json";

/// How the names of files end that say what was told.
const INJECTION_EXTENSION: &str = "told";

/// The folder of hooks in a home.
#[derive(Debug, Clone)]
pub(super) struct Spool {
    folder: PathBuf,
}

/// A turn that waits to be stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct SpooledTurn {
    /// Whose memory it is for.
    pub(super) scope: Scope,
    /// The host that told it.
    pub(super) host: String,
    pub(super) turn: Turn,
}

/// What a prompt was given and is not written down yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct InjectionRecord {
    /// Whose memories they are.
    pub(super) scope: Scope,
    pub(super) prompted: Injection,
}

/// Something that waits.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum SpoolEntry {
    Turn(SpooledTurn),
    Injection(InjectionRecord),
}

impl SpoolEntry {
    /// What a file says that ends like this, if it can be read.
    fn decode(end: &str, bytes: &[u8]) -> Option<Self> {
        match end {
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
            Self::Turn(waiting) => waiting.turn.time,
            Self::Injection(given) => Some(given.prompted.at),
        }
    }
}

/// What hooks put down and nobody stored.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct SpoolBacklog {
    /// Turns that wait for longer than storing them takes.
    pub(crate) overdue: usize,
    /// Turns that the memory would not take.
    pub(crate) refused: usize,
    /// Where they are.
    pub(crate) folder: PathBuf,
}

impl SpoolBacklog {
    /// What there is in a home.
    pub(crate) fn scan(home: &Path) -> Self {
        let folder = Spool::in_home(home).pending_folder();
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let mut left = Self { folder, ..Self::default() };
        for entry in entries {
            match entry.path().extension().and_then(|end| end.to_str()) {
                Some(TURN_EXTENSION) if is_overdue(&entry) => left.overdue += 1,
                Some("refused") => left.refused += 1,
                _ => {}
            }
        }
        left
    }
}

/// Whether a process that stores would have taken it by now.
fn is_overdue(entry: &fs::DirEntry) -> bool {
    let age = entry.metadata().and_then(|data| data.modified()).map(|at| at.elapsed());
    // A time that is still to come says nothing.
    age.is_ok_and(|age| age.is_ok_and(|age| age > DRAIN_DEADLINE))
}

impl Spool {
    /// The one of a home.
    pub(super) fn in_home(home: &Path) -> Self {
        Self { folder: home.join("hooks") }
    }

    /// Looks at a conversation and changes what is known of it, one process at a time.
    pub(super) fn update_conversation<T>(
        &self,
        key: &str,
        change: impl FnOnce(&mut ConversationState) -> io::Result<T>,
    ) -> io::Result<T> {
        create_private_folder(&self.folder)?;
        let _alone = lock(&self.folder.join("lock"))?;
        let path = self.folder.join(format!("{}.json", digest(&[key])));
        let mut known: ConversationState = read_json(&path).unwrap_or_default();
        let before = known.clone();
        let done = change(&mut known)?;
        if known != before {
            write_json(&path, &known, false)?;
        }
        Ok(done)
    }

    /// Puts a turn down so that it survives whatever happens; the same one again changes nothing.
    pub(super) fn put_turn(&self, run: &str, waiting: &SpooledTurn, masks: bool) -> io::Result<()> {
        let path = self.pending_folder().join(format!("{run}.{TURN_EXTENSION}"));
        if path.exists() {
            return Ok(());
        }
        create_private_folder(&self.pending_folder())?;
        let mut waiting = waiting.clone();
        if masks {
            waiting.turn.mask_secrets();
        }
        write_json(&path, &waiting, true)
    }

    /// Puts down what a prompt was given. It is learned from, and no more: nobody waits until the disk has it.
    pub(super) fn put_injection(&self, run: &str, given: &InjectionRecord) -> io::Result<()> {
        create_private_folder(&self.pending_folder())?;
        write_json(
            &self.pending_folder().join(format!("{run}.{INJECTION_EXTENSION}")),
            given,
            false,
        )
    }

    /// What waits, in the order in which it was said and told, with the runs. What a crash of the machine left half
    /// written is put aside.
    pub(super) fn entries(&self) -> Vec<(String, SpoolEntry)> {
        let mut notes = Vec::new();
        for (run, end) in self.pending_files() {
            let Ok(bytes) = fs::read(self.pending_folder().join(format!("{run}.{end}"))) else {
                continue;
            };
            match SpoolEntry::decode(end, &bytes) {
                Some(note) => notes.push((run, note)),
                // What cannot be put aside now is met again.
                None => drop(self.set_aside(&run, end)),
            }
        }
        notes.sort_by_key(|(run, note)| (note.timestamp(), run.clone()));
        notes
    }

    /// Whether something waits; what was put aside does not.
    pub(super) fn has_pending(&self) -> bool {
        self.pending_files().next().is_some()
    }

    /// The files that wait: their runs, and how their names end.
    fn pending_files(&self) -> impl Iterator<Item = (String, &'static str)> {
        let entries = fs::read_dir(self.pending_folder()).into_iter().flatten().flatten();
        entries.filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let (run, end) = name.rsplit_once('.')?;
            let end =
                [TURN_EXTENSION, INJECTION_EXTENSION].into_iter().find(|known| *known == end)?;
            Some((run.to_owned(), end))
        })
    }

    /// Takes away what is stored.
    pub(super) fn remove_entry(&self, run: &str, note: &SpoolEntry) -> io::Result<()> {
        remove_if_exists(&self.pending_folder().join(format!("{run}.{}", note.extension())))
    }

    /// Puts aside what can never be stored, so that it is not tried for ever.
    pub(super) fn refuse_entry(&self, run: &str, note: &SpoolEntry) -> io::Result<()> {
        self.set_aside(run, note.extension())
    }

    /// What was said is kept for a person to look at; what was told is only learned from.
    fn set_aside(&self, run: &str, end: &str) -> io::Result<()> {
        let path = self.pending_folder().join(format!("{run}.{end}"));
        match end {
            TURN_EXTENSION => fs::rename(&path, path.with_extension("refused")),
            _ => remove_if_exists(&path),
        }
    }

    /// The right to store what waits: one process at a time, so that nothing is stored twice.
    pub(super) fn lock_drain(&self) -> io::Result<File> {
        create_private_folder(&self.folder)?;
        lock(&self.drain_lock_path())
    }

    /// Whether a process has it.
    pub(super) fn is_draining(&self) -> bool {
        let lock = File::open(self.drain_lock_path());
        lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    fn drain_lock_path(&self) -> PathBuf {
        self.folder.join("storing.lock")
    }

    /// Removes what is known of conversations that are long over.
    pub(super) fn remove_stale(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        for entry in entries.flatten() {
            let age = entry.metadata().and_then(|data| data.modified()).map(|at| at.elapsed());
            let old = age.is_ok_and(|age| {
                age.is_ok_and(|age| age.as_secs() > CONVERSATION_RETENTION_DAYS * 86_400)
            });
            let path = entry.path();
            if old && path.extension().is_some_and(|end| end == "json") {
                // What cannot be removed now is removed another time.
                let _ = remove_if_exists(&path);
            }
        }
    }

    fn pending_folder(&self) -> PathBuf {
        self.folder.join("waiting")
    }
}

/// A digest of some texts, which no other texts have.
pub(super) fn digest(parts: &[&str]) -> String {
    let joined: String = parts.iter().map(|part| format!("{}:{part}", part.len())).collect();
    let bytes = Fingerprint::of(&joined);
    bytes.as_bytes().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

fn write_json(path: &Path, value: &impl Serialize, durable: bool) -> io::Result<()> {
    let manner = WriteOptions { durable, private: true, permissions: None };
    let beside = path.with_extension(format!("{}.new", std::process::id()));
    TempFile::write(beside, &serde_json::to_vec(value)?, manner)?.persist(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_comes_back_in_order_and_once() {
        let home = tempfile::tempdir().unwrap();
        let desk = Spool::in_home(home.path());
        let said = |text: &str, second: i64| SpooledTurn {
            scope: Scope::default(),
            host: "codex".into(),
            turn: Turn {
                text: text.into(),
                time: everlore::types::Timestamp::from_second(second).ok(),
                ..Turn::default()
            },
        };
        let given = |second: i64| InjectionRecord {
            scope: Scope::default(),
            prompted: Injection {
                session: "s".into(),
                query: Fingerprint::of("茶"),
                at: Timestamp::from_second(second).unwrap(),
                memories: Vec::new(),
                joins: false,
                most: 9,
            },
        };
        desk.put_turn("b", &said("later", 3), true).unwrap();
        desk.put_injection("a", &given(2)).unwrap();
        desk.put_turn("a", &said("先说的", 1), true).unwrap();
        desk.put_turn("a", &said("again", 4), true).unwrap();
        let notes = desk.entries();
        let (first, second, third) = (said("先说的", 1), given(2), said("later", 3));
        let expected =
            [SpoolEntry::Turn(first), SpoolEntry::Injection(second), SpoolEntry::Turn(third)];
        assert_eq!(notes.iter().map(|(_, note)| note.clone()).collect::<Vec<_>>(), expected);
        desk.remove_entry("a", &notes[0].1).unwrap();
        desk.refuse_entry("b", &notes[2].1).unwrap();
        assert_eq!(desk.entries(), [("a".to_owned(), expected[1].clone())]);
        desk.refuse_entry("a", &notes[1].1).unwrap();
        assert!(desk.entries().is_empty() && !desk.has_pending());
        let left = SpoolBacklog::scan(home.path());
        assert_eq!((left.overdue, left.refused), (0, 1), "what was said is kept aside");
    }

    #[test]
    fn what_was_half_written_is_put_aside() {
        let home = tempfile::tempdir().unwrap();
        let desk = Spool::in_home(home.path());
        create_private_folder(&desk.pending_folder()).unwrap();
        for name in ["a.told", "b.json"] {
            fs::write(desk.pending_folder().join(name), "{\"scope\":").unwrap();
        }
        assert!(desk.has_pending() && desk.entries().is_empty() && !desk.has_pending());
        assert_eq!(SpoolBacklog::scan(home.path()).refused, 1);
    }

    #[test]
    fn who_stores_is_seen_by_others() {
        let home = tempfile::tempdir().unwrap();
        let desk = Spool::in_home(home.path());
        assert!(!desk.is_draining());
        let storing = desk.lock_drain().unwrap();
        assert!(desk.is_draining());
        drop(storing);
        assert!(!desk.is_draining());
    }
}
