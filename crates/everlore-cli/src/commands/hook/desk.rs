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
    files::disk::{Manner, Temporary, lock, make_private_folder, remove},
    store::Prompted,
    types::{Fingerprint, Timestamp},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::conversation::Conversation;

/// A turn is stored in much less: its process starts with the hook.
const STORED_WITHIN: Duration = Duration::from_secs(60);

/// Days after which what is known of a conversation is removed.
const KEPT_DAYS: u64 = 30;

/// How the names of files with turns end.
const TURN: &str = "json";

/// How the names of files end that say what was told.
const TOLD: &str = "told";

/// The folder of hooks in a home.
#[derive(Debug, Clone)]
pub(super) struct Desk {
    folder: PathBuf,
}

/// A turn that waits to be stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Waiting {
    /// Whose memory it is for.
    pub(super) scope: Scope,
    /// The host that told it.
    pub(super) host: String,
    pub(super) turn: Turn,
}

/// What a prompt was given and is not written down yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Given {
    /// Whose memories they are.
    pub(super) scope: Scope,
    pub(super) prompted: Prompted,
}

/// Something that waits.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Note {
    Turn(Waiting),
    Given(Given),
}

impl Note {
    /// What a file says that ends like this, if it can be read.
    fn of(end: &str, bytes: &[u8]) -> Option<Self> {
        match end {
            TURN => serde_json::from_slice(bytes).ok().map(Self::Turn),
            _ => serde_json::from_slice(bytes).ok().map(Self::Given),
        }
    }

    fn end(&self) -> &'static str {
        match self {
            Self::Turn(_) => TURN,
            Self::Given(_) => TOLD,
        }
    }

    fn at(&self) -> Option<Timestamp> {
        match self {
            Self::Turn(waiting) => waiting.turn.time,
            Self::Given(given) => Some(given.prompted.at),
        }
    }
}

/// What hooks put down and nobody stored.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Left {
    /// Turns that wait for longer than storing them takes.
    pub(crate) waiting: usize,
    /// Turns that the memory would not take.
    pub(crate) refused: usize,
    /// Where they are.
    pub(crate) folder: PathBuf,
}

impl Left {
    /// What there is in a home.
    pub(crate) fn of(home: &Path) -> Self {
        let folder = Desk::of(home).waiting();
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let mut left = Self { folder, ..Self::default() };
        for entry in entries {
            match entry.path().extension().and_then(|end| end.to_str()) {
                Some(TURN) if is_late(&entry) => left.waiting += 1,
                Some("refused") => left.refused += 1,
                _ => {}
            }
        }
        left
    }
}

/// Whether a process that stores would have taken it by now.
fn is_late(entry: &fs::DirEntry) -> bool {
    let age = entry.metadata().and_then(|data| data.modified()).map(|at| at.elapsed());
    // A time that is still to come says nothing.
    age.is_ok_and(|age| age.is_ok_and(|age| age > STORED_WITHIN))
}

impl Desk {
    /// The one of a home.
    pub(super) fn of(home: &Path) -> Self {
        Self { folder: home.join("hooks") }
    }

    /// Looks at a conversation and changes what is known of it, one process at a time.
    pub(super) fn change<T>(
        &self,
        key: &str,
        change: impl FnOnce(&mut Conversation) -> io::Result<T>,
    ) -> io::Result<T> {
        make_private_folder(&self.folder)?;
        let _alone = lock(&self.folder.join("lock"))?;
        let path = self.folder.join(format!("{}.json", digest(&[key])));
        let mut known: Conversation = read(&path).unwrap_or_default();
        let before = known.clone();
        let done = change(&mut known)?;
        if known != before {
            write(&path, &known, false)?;
        }
        Ok(done)
    }

    /// Puts a turn down so that it survives whatever happens; the same one again changes nothing.
    pub(super) fn put(&self, run: &str, waiting: &Waiting, masks: bool) -> io::Result<()> {
        let path = self.waiting().join(format!("{run}.{TURN}"));
        if path.exists() {
            return Ok(());
        }
        make_private_folder(&self.waiting())?;
        let mut waiting = waiting.clone();
        if masks {
            waiting.turn.mask_secrets();
        }
        write(&path, &waiting, true)
    }

    /// Puts down what a prompt was given. It is learned from, and no more: nobody waits until the disk has it.
    pub(super) fn put_given(&self, run: &str, given: &Given) -> io::Result<()> {
        make_private_folder(&self.waiting())?;
        write(&self.waiting().join(format!("{run}.{TOLD}")), given, false)
    }

    /// What waits, in the order in which it was said and told, with the runs. What a crash of the machine left half
    /// written is put aside.
    pub(super) fn notes(&self) -> Vec<(String, Note)> {
        let mut notes = Vec::new();
        for (run, end) in self.names() {
            let Ok(bytes) = fs::read(self.waiting().join(format!("{run}.{end}"))) else { continue };
            match Note::of(end, &bytes) {
                Some(note) => notes.push((run, note)),
                // What cannot be put aside now is met again.
                None => drop(self.put_aside(&run, end)),
            }
        }
        notes.sort_by_key(|(run, note)| (note.at(), run.clone()));
        notes
    }

    /// Whether something waits; what was put aside does not.
    pub(super) fn has_waiting(&self) -> bool {
        self.names().next().is_some()
    }

    /// The files that wait: their runs, and how their names end.
    fn names(&self) -> impl Iterator<Item = (String, &'static str)> {
        let entries = fs::read_dir(self.waiting()).into_iter().flatten().flatten();
        entries.filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let (run, end) = name.rsplit_once('.')?;
            let end = [TURN, TOLD].into_iter().find(|known| *known == end)?;
            Some((run.to_owned(), end))
        })
    }

    /// Takes away what is stored.
    pub(super) fn done(&self, run: &str, note: &Note) -> io::Result<()> {
        remove(&self.waiting().join(format!("{run}.{}", note.end())))
    }

    /// Puts aside what can never be stored, so that it is not tried for ever.
    pub(super) fn refuse(&self, run: &str, note: &Note) -> io::Result<()> {
        self.put_aside(run, note.end())
    }

    /// What was said is kept for a person to look at; what was told is only learned from.
    fn put_aside(&self, run: &str, end: &str) -> io::Result<()> {
        let path = self.waiting().join(format!("{run}.{end}"));
        match end {
            TURN => fs::rename(&path, path.with_extension("refused")),
            _ => remove(&path),
        }
    }

    /// The right to store what waits: one process at a time, so that nothing is stored twice.
    pub(super) fn storing(&self) -> io::Result<File> {
        make_private_folder(&self.folder)?;
        lock(&self.storing_lock())
    }

    /// Whether a process has it.
    pub(super) fn is_storing(&self) -> bool {
        let lock = File::open(self.storing_lock());
        lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    fn storing_lock(&self) -> PathBuf {
        self.folder.join("storing.lock")
    }

    /// Removes what is known of conversations that are long over.
    pub(super) fn tidy(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        for entry in entries.flatten() {
            let age = entry.metadata().and_then(|data| data.modified()).map(|at| at.elapsed());
            let old = age.is_ok_and(|age| age.is_ok_and(|age| age.as_secs() > KEPT_DAYS * 86_400));
            let path = entry.path();
            if old && path.extension().is_some_and(|end| end == "json") {
                // What cannot be removed now is removed another time.
                let _ = remove(&path);
            }
        }
    }

    fn waiting(&self) -> PathBuf {
        self.folder.join("waiting")
    }
}

/// A digest of some texts, which no other texts have.
pub(super) fn digest(parts: &[&str]) -> String {
    let joined: String = parts.iter().map(|part| format!("{}:{part}", part.len())).collect();
    let bytes = Fingerprint::of(&joined);
    bytes.as_bytes().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

fn write(path: &Path, value: &impl Serialize, durable: bool) -> io::Result<()> {
    let manner = Manner { durable, private: true, permissions: None };
    let beside = path.with_extension(format!("{}.new", std::process::id()));
    Temporary::written(beside, &serde_json::to_vec(value)?, manner)?.replace(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_comes_back_in_order_and_once() {
        let home = tempfile::tempdir().unwrap();
        let desk = Desk::of(home.path());
        let said = |text: &str, second: i64| Waiting {
            scope: Scope::default(),
            host: "codex".into(),
            turn: Turn {
                text: text.into(),
                time: everlore::types::Timestamp::from_second(second).ok(),
                ..Turn::default()
            },
        };
        let given = |second: i64| Given {
            scope: Scope::default(),
            prompted: Prompted {
                session: "s".into(),
                query: Fingerprint::of("茶"),
                at: Timestamp::from_second(second).unwrap(),
                memories: Vec::new(),
                joins: false,
                most: 9,
            },
        };
        desk.put("b", &said("later", 3), true).unwrap();
        desk.put_given("a", &given(2)).unwrap();
        desk.put("a", &said("先说的", 1), true).unwrap();
        desk.put("a", &said("again", 4), true).unwrap();
        let notes = desk.notes();
        let (first, second, third) = (said("先说的", 1), given(2), said("later", 3));
        let expected = [Note::Turn(first), Note::Given(second), Note::Turn(third)];
        assert_eq!(notes.iter().map(|(_, note)| note.clone()).collect::<Vec<_>>(), expected);
        desk.done("a", &notes[0].1).unwrap();
        desk.refuse("b", &notes[2].1).unwrap();
        assert_eq!(desk.notes(), [("a".to_owned(), expected[1].clone())]);
        desk.refuse("a", &notes[1].1).unwrap();
        assert!(desk.notes().is_empty() && !desk.has_waiting());
        let left = Left::of(home.path());
        assert_eq!((left.waiting, left.refused), (0, 1), "what was said is kept aside");
    }

    #[test]
    fn what_was_half_written_is_put_aside() {
        let home = tempfile::tempdir().unwrap();
        let desk = Desk::of(home.path());
        make_private_folder(&desk.waiting()).unwrap();
        for name in ["a.told", "b.json"] {
            fs::write(desk.waiting().join(name), "{\"scope\":").unwrap();
        }
        assert!(desk.has_waiting() && desk.notes().is_empty() && !desk.has_waiting());
        assert_eq!(Left::of(home.path()).refused, 1);
    }

    #[test]
    fn who_stores_is_seen_by_others() {
        let home = tempfile::tempdir().unwrap();
        let desk = Desk::of(home.path());
        assert!(!desk.is_storing());
        let storing = desk.storing().unwrap();
        assert!(desk.is_storing());
        drop(storing);
        assert!(!desk.is_storing());
    }
}
