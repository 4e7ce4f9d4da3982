//! Sync state of a vault: the last agreed version of each file and its memory, stored in the vault's hidden folder.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use crate::{
    error::{Error, Result},
    files::vault::{FileStat, META_FOLDER, ensure_meta_folder, remove_if_exists, replace_file},
    types::{JournalEntry, Kind, Memory, MemoryId, Scope, Timestamp},
};

/// State file in the hidden folder.
const STATE_FILE: &str = "sync.jsonl";

/// File that lists the files being created.
const IN_PROGRESS_FILE: &str = "making";

/// Format version, raised when older programs could not read the file correctly.
const STATE_VERSION: u32 = 1;

/// Sync state of a vault.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SyncState {
    pub(super) header: SyncHeader,
    pub(super) files: BTreeMap<String, MergeBase>,
}

/// Part of the state that holds for all files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct SyncHeader {
    everlore_vault: u32,
    /// Scope of the vault's memories.
    pub(super) scope: Scope,
    /// Kinds that get files.
    pub(super) kinds: Vec<Kind>,
    /// Last change of the database that the vault has seen.
    pub(super) checkpoint: Option<JournalCheckpoint>,
    /// Time of the last scan, by the clock of the file system.
    pub(super) looked_at: i64,
    /// Set when an operation failed, so that all memories have to be compared again.
    #[serde(default)]
    pub(super) incomplete: bool,
}

/// Journal line by which a database is recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct JournalCheckpoint {
    pub(super) seq: u64,
    pub(super) id: MemoryId,
    pub(super) at: Timestamp,
}

impl JournalCheckpoint {
    pub(super) fn from_entry(entry: &JournalEntry) -> Self {
        Self { seq: entry.seq, id: entry.id, at: entry.at }
    }
}

/// Last state on which a file and its memory agreed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MergeBase {
    pub(super) id: MemoryId,
    /// Digest of the memory's fields.
    pub(super) said: ContentDigest,
    /// Digest of the file's bytes.
    pub(super) hash: ContentDigest,
    /// Digest of the text alone.
    pub(super) text: ContentDigest,
    pub(super) stat: FileStat,
    /// Set when the record was written before the memory was stored: it counts only if the memory exists.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) pending: bool,
}

/// Digest in the form that the state file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ContentDigest(u128);

impl ContentDigest {
    /// Computes the digest of the bytes of a file.
    pub(super) fn of_bytes(bytes: &[u8]) -> Self {
        Self(xxh3_128(bytes))
    }

    /// Computes the digest of every field of a memory that a file can hold.
    pub(super) fn of_memory(memory: &Memory) -> Self {
        let mut digest = Xxh3::new();
        let tags = memory.tags.join("\u{1f}");
        let parts =
            [memory.kind.as_str(), &memory.name, &memory.description, &tags, memory.content.trim()];
        for part in parts {
            digest.update(&(part.len() as u64).to_le_bytes());
            digest.update(part.as_bytes());
        }
        digest.update(&memory.importance.to_le_bytes());
        Self(digest.digest128())
    }

    /// Computes the digest of a text without the blanks around it.
    pub(super) fn of_text(content: &str) -> Self {
        Self::of_bytes(content.trim().as_bytes())
    }
}

impl Serialize for ContentDigest {
    fn serialize<S: serde::Serializer>(
        &self,
        serializer: S,
    ) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:032x}", self.0))
    }
}

impl<'de> Deserialize<'de> for ContentDigest {
    fn deserialize<D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> std::result::Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        u128::from_str_radix(&text, 16).map(Self).map_err(serde::de::Error::custom)
    }
}

#[derive(Serialize, Deserialize)]
struct SyncStateLine<B> {
    file: String,
    #[serde(flatten)]
    base: B,
}

impl SyncState {
    pub(super) fn new(scope: &Scope, kinds: &[Kind]) -> Self {
        let header = SyncHeader {
            everlore_vault: STATE_VERSION,
            scope: scope.clone(),
            kinds: kinds.to_vec(),
            checkpoint: None,
            looked_at: 0,
            incomplete: false,
        };
        Self { header, files: BTreeMap::new() }
    }

    /// Reads the state of a vault; `None` if it has no usable one, which only means more to compare.
    pub(super) fn load(folder: &Path) -> Result<Option<Self>> {
        let path = state_path(folder);
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            text => text.map_err(|error| Error::io(path.display().to_string(), error))?,
        };
        let mut lines = text.lines();
        let header: Option<SyncHeader> =
            lines.next().and_then(|line| serde_json::from_str(line).ok());
        let Some(header) = header else { return Ok(None) };
        if header.everlore_vault != STATE_VERSION {
            return Err(Error::invalid(
                format!("{} was written by another version of Everlore", path.display()),
                "update everlore, or delete the file: the vault is then compared anew",
            ));
        }
        // A crash may have torn the last line; then it had no effect yet.
        let files = lines.filter_map(|line| serde_json::from_str(line).ok());
        let files = files
            .map(|SyncStateLine { file, base }: SyncStateLine<MergeBase>| (file, base))
            .collect();
        Ok(Some(Self { header, files }))
    }

    /// Returns `true` if a vault has a state file, and so a known scope.
    pub(super) fn exists(folder: &Path) -> bool {
        state_path(folder).exists()
    }

    /// Writes the whole state atomically.
    pub(super) fn save(&self, folder: &Path) -> Result<()> {
        let mut text = json_line(&self.header)?;
        for (file, base) in &self.files {
            text.push_str(&json_line(&SyncStateLine { file: file.clone(), base })?);
        }
        let path = ensure_meta_folder(folder)?.join(STATE_FILE);
        replace_file(&path, text.as_bytes(), true)
            .map(|_| ())
            .map_err(|error| Error::io(path.display().to_string(), error))
    }

    /// Records which memories are about to be stored for which files, so that a crash does not lose the connection.
    pub(super) fn append_pending(
        &self,
        folder: &Path,
        pending: &[(String, MergeBase)],
    ) -> Result<()> {
        if pending.is_empty() {
            return Ok(());
        }
        let path = ensure_meta_folder(folder)?.join(STATE_FILE);
        if !path.exists() {
            self.save(folder)?;
        }
        let lines: Result<Vec<String>> = pending
            .iter()
            .map(|(file, base)| json_line(&SyncStateLine { file: file.clone(), base }))
            .collect();
        let append = |lines: String| {
            let mut file = fs::File::options().append(true).open(&path)?;
            file.write_all(lines.as_bytes())?;
            file.sync_data()
        };
        append(lines?.concat()).map_err(|error| Error::io(path.display().to_string(), error))
    }
}

/// Records which files are about to be created, so that after a crash their index lines can be recognised.
pub(super) fn record_in_progress(folder: &Path, names: &[String]) -> Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    let path = ensure_meta_folder(folder)?.join(IN_PROGRESS_FILE);
    fs::write(&path, names.join("\n")).map_err(|error| Error::io(path.display().to_string(), error))
}

/// Returns the files that an interrupted sync was about to create.
pub(super) fn load_in_progress(folder: &Path) -> Vec<String> {
    let text =
        fs::read_to_string(folder.join(META_FOLDER).join(IN_PROGRESS_FILE)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Clears the list of files being created.
pub(super) fn clear_in_progress(folder: &Path) -> Result<()> {
    let path = folder.join(META_FOLDER).join(IN_PROGRESS_FILE);
    remove_if_exists(&path).map_err(|error| Error::io(path.display().to_string(), error))
}

fn state_path(folder: &Path) -> PathBuf {
    folder.join(META_FOLDER).join(STATE_FILE)
}

fn json_line(value: &impl Serialize) -> Result<String> {
    let line = serde_json::to_string(value).map_err(Error::store)?;
    Ok(line + "\n")
}
