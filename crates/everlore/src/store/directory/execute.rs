//! Execution of a plan on the folder: files, the index file, and the record of what both sides agree on.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fs, io,
    path::Path,
};

use super::{
    plan::{FileOp, IndexFileOp, merge_base},
    sync::CrashPoint,
    sync_report::{SyncAction, SyncStep},
    sync_state::{ContentDigest, MergeBase},
};
use crate::files::regular_file::{self, MAX_SETTINGS_BYTES};
use crate::{
    error::{Error, Result},
    files::vault::{
        INDEX_FILE, VaultIndex, VaultPage, create_file, escape_link_text, index_summary,
        read_limited, remove_if_exists, remove_temp_files, replace_file, unique_file_name,
    },
    types::Memory,
};

/// Number of files beyond which they are not synced to disk one by one: the memories are in the database, and a file
/// that a power cut tears is reported as unreadable.
const MAX_FSYNCED_FILES: usize = 1_000;

/// Executor of a plan on one folder.
pub(super) struct SyncExecutor<'a> {
    folder: &'a Path,
    stop: &'a CrashPoint,
    durable: bool,
    /// Names in use, in lower case.
    used_names: HashSet<String>,
    pub(super) files: BTreeMap<String, MergeBase>,
    pub(super) steps: Vec<SyncStep>,
    pub(super) unchanged: usize,
    /// Set when an operation failed.
    pub(super) failed: bool,
}

impl<'a> SyncExecutor<'a> {
    /// Creates an executor that begins with the recorded state of the files.
    pub(super) fn new(
        folder: &'a Path,
        files: BTreeMap<String, MergeBase>,
        work: &[FileOp],
        stop: &'a CrashPoint,
    ) -> Result<Self> {
        let durable = work.len() <= MAX_FSYNCED_FILES;
        let mut taken = HashSet::new();
        if !work.is_empty() {
            remove_temp_files(folder);
            let failed = |error| Error::io(folder.display().to_string(), error);
            for found in fs::read_dir(folder).map_err(failed)? {
                taken.insert(found.map_err(failed)?.file_name().to_string_lossy().to_lowercase());
            }
        }
        Ok(Self {
            folder,
            stop,
            durable,
            used_names: taken,
            files,
            steps: Vec::new(),
            unchanged: 0,
            failed: false,
        })
    }

    /// Assigns a unique name to each file to create, and returns the names.
    pub(super) fn assign_names(&mut self, work: &mut [FileOp]) -> Vec<String> {
        let mut names = Vec::new();
        for work in work {
            let FileOp::Create { memory, name, .. } = work else { continue };
            let free = name.take().filter(|name| !self.used_names.contains(&name.to_lowercase()));
            let file = free.unwrap_or_else(|| {
                unique_file_name(memory.kind, &memory.name, |name| self.used_names.contains(name))
            });
            self.used_names.insert(file.to_lowercase());
            names.push(file.clone());
            *name = Some(file);
        }
        names
    }

    /// Executes file operations one after the other; one that fails is reported and left for the next sync.
    pub(super) fn apply_file_ops(
        &mut self,
        work: Vec<FileOp>,
        index: &mut Vec<IndexFileOp>,
    ) -> Result<()> {
        for work in work {
            self.stop.step()?;
            let (file, id) = match &work {
                FileOp::Write { file, memory, .. } => (file.clone(), memory.id),
                FileOp::Create { memory, name, .. } => {
                    (name.clone().unwrap_or_else(|| memory.name.clone()), memory.id)
                }
                FileOp::Remove { file, id, .. } => (file.clone(), *id),
            };
            let outcome = match work {
                FileOp::Write { file, memory, expected } => {
                    self.write_file(file, memory, expected, index)
                }
                FileOp::Create { memory, name, note } => {
                    self.create_file(memory, name, note, index)
                }
                FileOp::Remove { file, expected, .. } => {
                    self.remove_file(file, id, expected, index)
                }
            };
            if let Err(reason) = outcome {
                self.failed = true;
                self.steps.push(SyncStep {
                    what: SyncAction::Skipped,
                    file,
                    id: Some(id),
                    note: Some(reason),
                });
            }
        }
        Ok(())
    }

    fn write_file(
        &mut self,
        file: String,
        memory: Box<Memory>,
        expected: ContentDigest,
        index: &mut Vec<IndexFileOp>,
    ) -> Result<(), String> {
        let path = self.folder.join(&file);
        let (bytes, stat) = self.read_unchanged(&file, expected)?;
        let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
        let revised = VaultPage::revise(&text, &memory).map_err(|error| error.to_string())?;
        if revised == text {
            self.unchanged += 1;
            self.files.insert(file, merge_base(&memory, expected, stat));
            return Ok(());
        }
        let stat = replace_file(&path, revised.as_bytes(), self.durable).map_err(error_text)?;
        self.files.insert(
            file.clone(),
            merge_base(&memory, ContentDigest::of_bytes(revised.as_bytes()), stat),
        );
        self.report(SyncAction::Written, &file, &memory, None);
        index.push(IndexFileOp::Set { file, memory });
        Ok(())
    }

    fn create_file(
        &mut self,
        memory: Box<Memory>,
        name: Option<String>,
        note: Option<String>,
        index: &mut Vec<IndexFileOp>,
    ) -> Result<(), String> {
        let text = VaultPage::render(&memory);
        let file = name.unwrap_or_default();
        let stat = create_file(&self.folder.join(&file), text.as_bytes(), self.durable)
            .map_err(error_text)?;
        self.files.insert(
            file.clone(),
            merge_base(&memory, ContentDigest::of_bytes(text.as_bytes()), stat),
        );
        self.report(SyncAction::Written, &file, &memory, note);
        index.push(IndexFileOp::Set { file, memory });
        Ok(())
    }

    fn remove_file(
        &mut self,
        file: String,
        id: crate::types::MemoryId,
        expected: ContentDigest,
        index: &mut Vec<IndexFileOp>,
    ) -> Result<(), String> {
        self.read_unchanged(&file, expected)?;
        remove_if_exists(&self.folder.join(&file)).map_err(error_text)?;
        self.files.remove(&file);
        self.steps.push(SyncStep {
            what: SyncAction::Removed,
            file: file.clone(),
            id: Some(id),
            note: None,
        });
        index.push(IndexFileOp::Remove { file });
        Ok(())
    }

    /// Reads the bytes of a file, unless it changed since the scan.
    fn read_unchanged(
        &self,
        file: &str,
        expected: ContentDigest,
    ) -> Result<(Vec<u8>, crate::files::vault::FileStat), String> {
        let (bytes, stat) = read_limited(&self.folder.join(file)).map_err(error_text)?;
        if ContentDigest::of_bytes(&bytes) == expected {
            return Ok((bytes, stat));
        }
        Err("it is being edited; the next sync checks it again".to_owned())
    }

    /// Changes the index file, in one write; an unreadable one is left alone.
    pub(super) fn apply_index_file_ops(&mut self, work: Vec<IndexFileOp>) -> Result<()> {
        if work.is_empty() {
            return Ok(());
        }
        self.stop.step()?;
        if let Err(reason) = update_index_file(self.folder, work) {
            self.failed = true;
            self.steps.push(SyncStep {
                what: SyncAction::Skipped,
                file: INDEX_FILE.into(),
                id: None,
                note: Some(reason),
            });
        }
        Ok(())
    }

    fn report(&mut self, what: SyncAction, file: &str, memory: &Memory, note: Option<String>) {
        self.steps.push(SyncStep { what, file: file.to_owned(), id: Some(memory.id), note });
    }
}

fn update_index_file(folder: &Path, work: Vec<IndexFileOp>) -> Result<(), String> {
    let path = folder.join(INDEX_FILE);
    let text = match fs::symlink_metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Ok(data) if data.is_file() => {
            regular_file::read_to_string(&path, MAX_SETTINGS_BYTES).map_err(error_text)?
        }
        Ok(_) => return Err("it is not a plain file".to_owned()),
        Err(error) => return Err(error_text(error)),
    };
    let mut index = VaultIndex::parse(&text);
    let adds =
        |work: &IndexFileOp| matches!(work, IndexFileOp::Add { .. } | IndexFileOp::Set { .. });
    let mut dangling = if work.iter().any(adds) {
        index.dangling(|file| folder.join(file).exists())
    } else {
        HashMap::new()
    };
    for work in work {
        apply_index_file_op(work, &mut index, &mut dangling);
    }
    let changed = index.to_string();
    if changed != text {
        replace_file(&path, changed.as_bytes(), true).map_err(error_text)?;
    }
    Ok(())
}

fn apply_index_file_op(
    work: IndexFileOp,
    index: &mut VaultIndex,
    dangling: &mut HashMap<String, String>,
) {
    match work {
        IndexFileOp::Set { file, memory } => {
            adopt_dangling_line(&file, &memory, index, dangling);
            index.set(&file, &memory.name, &index_summary(&memory));
        }
        IndexFileOp::Add { file, memory } => {
            adopt_dangling_line(&file, &memory, index, dangling);
            if index.line_for(&file).is_none() {
                index.set(&file, &memory.name, &index_summary(&memory));
            }
        }
        IndexFileOp::UpdateIfUnedited { file, before, after } => index.update_unless_reworded(
            &file,
            (&before.name, &index_summary(&before)),
            (&after.name, &index_summary(&after)),
        ),
        IndexFileOp::Remove { file } => index.remove(&file),
        IndexFileOp::Rename { from, to } => index.rename(&from, &to),
    }
}

/// Takes over the line with this title that points to a missing file: it is the line of this file, under its old name.
fn adopt_dangling_line(
    file: &str,
    memory: &Memory,
    index: &mut VaultIndex,
    dangling: &mut HashMap<String, String>,
) {
    if index.line_for(file).is_none()
        && let Some(lost) = dangling.remove(&escape_link_text(&memory.name))
    {
        index.rename(&lost, file);
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it stands where an error is mapped")]
fn error_text(error: io::Error) -> String {
    error.to_string()
}
