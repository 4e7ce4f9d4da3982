//! What a plan is made of.

use std::collections::BTreeMap;

use crate::{
    files::vault::FileStat,
    store::directory::{
        sync::SyncStep,
        sync_state::{ContentDigest, MergeBase},
    },
    types::{Change, Memory, MemoryId},
};

/// Everything that has to be done, in order: memories first, then files, then the index.
#[derive(Debug, Default)]
pub(in crate::store::directory) struct SyncPlan {
    /// What is changed in the database.
    pub(in crate::store::directory) changes: Vec<Change>,
    /// Which files the memories to be added belong to.
    pub(in crate::store::directory) pending: Vec<(String, MergeBase)>,
    /// What is changed in the folder.
    pub(in crate::store::directory) file_ops: Vec<FileOp>,
    /// What both say once the database is changed.
    pub(in crate::store::directory) bases: BTreeMap<String, MergeBase>,
    /// Files that are no longer kept track of.
    pub(in crate::store::directory) untracked: Vec<String>,
    /// What is changed in the index.
    pub(in crate::store::directory) index_ops: Vec<IndexFileOp>,
    /// What is told of it.
    pub(in crate::store::directory) steps: Vec<SyncStep>,
    /// Files and memories that say the same already.
    pub(in crate::store::directory) unchanged: usize,
    /// Whether something has to wait until a person did something.
    pub(in crate::store::directory) is_incomplete: bool,
}

/// A change to a file.
#[derive(Debug, Clone)]
pub(in crate::store::directory) enum FileOp {
    /// Bring a file to what the memory says, if it is still as it was.
    Write { file: String, memory: Box<Memory>, expected: ContentDigest },
    /// Make a file for a memory, under this name if it is free.
    Create { memory: Box<Memory>, name: Option<String>, note: Option<String> },
    /// Remove a file, if it is still as it was.
    Remove { file: String, id: MemoryId, expected: ContentDigest },
}

/// A change to the index.
#[derive(Debug, Clone)]
pub(in crate::store::directory) enum IndexFileOp {
    /// Write the line of a file.
    Set { file: String, memory: Box<Memory> },
    /// Write a line if the file has none.
    Add { file: String, memory: Box<Memory> },
    /// Change a line that says what the memory said before; one that somebody wrote otherwise stays.
    UpdateIfUnedited { file: String, before: Box<Memory>, after: Box<Memory> },
    /// Take a line out.
    Remove { file: String },
    /// Let a line point to another name.
    Rename { from: String, to: String },
}

/// What a file with these bytes and its memory both say.
pub(in crate::store::directory) fn merge_base(
    memory: &Memory,
    hash: ContentDigest,
    stat: FileStat,
) -> MergeBase {
    MergeBase {
        id: memory.id,
        said: ContentDigest::of_memory(memory),
        hash,
        text: ContentDigest::of_text(&memory.content),
        stat,
        pending: false,
    }
}
