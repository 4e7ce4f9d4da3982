//! Doing what a plan says to the folder: files, the index, and the record of what both sides say now.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fs, io,
    path::Path,
};

use super::{
    plan::{FileWork, IndexWork, base_of},
    state::{Base, Digest},
    sync::{Done, Stop, What},
};
use crate::{
    error::{Error, Result},
    files::vault::{
        INDEX, Index, Page, create, escaped, file_name, read_small, remove, remove_leftovers,
        replace, summary,
    },
    types::Memory,
};

/// With more files than this, each is not brought to the disk on its own: the memories are in the database, and a file
/// that a power cut tears is told as one that cannot be read.
const MAX_DURABLE: usize = 1_000;

/// Changes a folder.
pub(super) struct Hands<'a> {
    folder: &'a Path,
    stop: &'a Stop,
    durable: bool,
    /// Names in use, in lower case.
    taken: HashSet<String>,
    pub(super) files: BTreeMap<String, Base>,
    pub(super) done: Vec<Done>,
    pub(super) unchanged: usize,
    /// Whether something could not be done.
    pub(super) failed: bool,
}

impl<'a> Hands<'a> {
    /// Begins with what is recorded of the files.
    pub(super) fn new(
        folder: &'a Path,
        files: BTreeMap<String, Base>,
        work: &[FileWork],
        stop: &'a Stop,
    ) -> Result<Self> {
        let durable = work.len() <= MAX_DURABLE;
        let mut taken = HashSet::new();
        if !work.is_empty() {
            remove_leftovers(folder);
            let failed = |error| Error::io(folder.display().to_string(), error);
            for found in fs::read_dir(folder).map_err(failed)? {
                taken.insert(found.map_err(failed)?.file_name().to_string_lossy().to_lowercase());
            }
        }
        Ok(Self {
            folder,
            stop,
            durable,
            taken,
            files,
            done: Vec::new(),
            unchanged: 0,
            failed: false,
        })
    }

    /// Gives each file that is to be made a name of its own, and returns the names.
    pub(super) fn name(&mut self, work: &mut [FileWork]) -> Vec<String> {
        let mut names = Vec::new();
        for work in work {
            let FileWork::Make { memory, name, .. } = work else { continue };
            let free = name.take().filter(|name| !self.taken.contains(&name.to_lowercase()));
            let file = free.unwrap_or_else(|| {
                file_name(memory.kind, &memory.name, |name| self.taken.contains(name))
            });
            self.taken.insert(file.to_lowercase());
            names.push(file.clone());
            *name = Some(file);
        }
        names
    }

    /// Changes files one after the other; one that cannot be changed is told and left for the next time.
    pub(super) fn work(&mut self, work: Vec<FileWork>, index: &mut Vec<IndexWork>) -> Result<()> {
        for work in work {
            self.stop.step()?;
            let (file, id) = match &work {
                FileWork::Write { file, memory, .. } => (file.clone(), memory.id),
                FileWork::Make { memory, name, .. } => {
                    (name.clone().unwrap_or_else(|| memory.name.clone()), memory.id)
                }
                FileWork::Remove { file, id, .. } => (file.clone(), *id),
            };
            let outcome = match work {
                FileWork::Write { file, memory, expected } => {
                    self.write(file, memory, expected, index)
                }
                FileWork::Make { memory, name, note } => self.make(memory, name, note, index),
                FileWork::Remove { file, expected, .. } => self.remove(file, id, expected, index),
            };
            if let Err(reason) = outcome {
                self.failed = true;
                self.done.push(Done {
                    what: What::Skipped,
                    file,
                    id: Some(id),
                    note: Some(reason),
                });
            }
        }
        Ok(())
    }

    fn write(
        &mut self,
        file: String,
        memory: Box<Memory>,
        expected: Digest,
        index: &mut Vec<IndexWork>,
    ) -> Result<(), String> {
        let path = self.folder.join(&file);
        let (bytes, stat) = self.unchanged(&file, expected)?;
        let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
        let revised = Page::revise(&text, &memory).map_err(|error| error.to_string())?;
        if revised == text {
            self.unchanged += 1;
            self.files.insert(file, base_of(&memory, expected, stat));
            return Ok(());
        }
        let stat = replace(&path, revised.as_bytes(), self.durable).map_err(told)?;
        self.files.insert(file.clone(), base_of(&memory, Digest::of(revised.as_bytes()), stat));
        self.tell(What::Written, &file, &memory, None);
        index.push(IndexWork::Set { file, memory });
        Ok(())
    }

    fn make(
        &mut self,
        memory: Box<Memory>,
        name: Option<String>,
        note: Option<String>,
        index: &mut Vec<IndexWork>,
    ) -> Result<(), String> {
        let text = Page::render(&memory);
        let file = name.unwrap_or_default();
        let stat = create(&self.folder.join(&file), text.as_bytes(), self.durable).map_err(told)?;
        self.files.insert(file.clone(), base_of(&memory, Digest::of(text.as_bytes()), stat));
        self.tell(What::Written, &file, &memory, note);
        index.push(IndexWork::Set { file, memory });
        Ok(())
    }

    fn remove(
        &mut self,
        file: String,
        id: crate::types::MemoryId,
        expected: Digest,
        index: &mut Vec<IndexWork>,
    ) -> Result<(), String> {
        self.unchanged(&file, expected)?;
        remove(&self.folder.join(&file)).map_err(told)?;
        self.files.remove(&file);
        self.done.push(Done { what: What::Removed, file: file.clone(), id: Some(id), note: None });
        index.push(IndexWork::Remove { file });
        Ok(())
    }

    /// The bytes of a file that nobody changed since it was looked at.
    fn unchanged(
        &self,
        file: &str,
        expected: Digest,
    ) -> Result<(Vec<u8>, crate::files::vault::Stat), String> {
        let (bytes, stat) = read_small(&self.folder.join(file)).map_err(told)?;
        if Digest::of(&bytes) == expected {
            return Ok((bytes, stat));
        }
        Err("it is being changed; it is looked at again at the next sync".to_owned())
    }

    /// Changes the index, in one write; one that cannot be read is left alone.
    pub(super) fn work_on_index(&mut self, work: Vec<IndexWork>) -> Result<()> {
        if work.is_empty() {
            return Ok(());
        }
        self.stop.step()?;
        if let Err(reason) = change_index(self.folder, work) {
            self.failed = true;
            self.done.push(Done {
                what: What::Skipped,
                file: INDEX.into(),
                id: None,
                note: Some(reason),
            });
        }
        Ok(())
    }

    fn tell(&mut self, what: What, file: &str, memory: &Memory, note: Option<String>) {
        self.done.push(Done { what, file: file.to_owned(), id: Some(memory.id), note });
    }
}

fn change_index(folder: &Path, work: Vec<IndexWork>) -> Result<(), String> {
    let path = folder.join(INDEX);
    let text = match fs::symlink_metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Ok(data) if data.is_file() => fs::read_to_string(&path).map_err(told)?,
        Ok(_) => return Err("it is not a plain file".to_owned()),
        Err(error) => return Err(told(error)),
    };
    let mut index = Index::parse(&text);
    let adds = |work: &IndexWork| matches!(work, IndexWork::Add { .. } | IndexWork::Set { .. });
    let mut dangling = match work.iter().any(adds) {
        true => index.dangling(|file| folder.join(file).exists()),
        false => HashMap::new(),
    };
    for work in work {
        apply(work, &mut index, &mut dangling);
    }
    let changed = index.to_string();
    if changed != text {
        replace(&path, changed.as_bytes(), true).map_err(told)?;
    }
    Ok(())
}

fn apply(work: IndexWork, index: &mut Index, dangling: &mut HashMap<String, String>) {
    match work {
        IndexWork::Set { file, memory } => {
            adopt(&file, &memory, index, dangling);
            index.set(&file, &memory.name, &summary(&memory));
        }
        IndexWork::Add { file, memory } => {
            adopt(&file, &memory, index, dangling);
            if index.line(&file).is_none() {
                index.set(&file, &memory.name, &summary(&memory));
            }
        }
        IndexWork::Follow { file, before, after } => {
            index.follow(&file, (&before.name, &summary(&before)), (&after.name, &summary(&after)))
        }
        IndexWork::Remove { file } => index.remove(&file),
        IndexWork::Rename { from, to } => index.rename(&from, &to),
    }
}

/// A line with this title that points to a file which is not there is the line of this file, under its old name.
fn adopt(file: &str, memory: &Memory, index: &mut Index, dangling: &mut HashMap<String, String>) {
    if index.line(file).is_none()
        && let Some(lost) = dangling.remove(&escaped(&memory.name))
    {
        index.rename(&lost, file);
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it stands where an error is mapped")]
fn told(error: io::Error) -> String {
    error.to_string()
}
