//! Data types of a sync plan.

use std::collections::BTreeMap;

use crate::{
    files::vault::FileStat,
    store::directory::{
        sync_report::SyncStep,
        sync_state::{ContentDigest, MergeBase},
    },
    types::{Change, Memory, MemoryId},
};

/// Operations of a sync, in the order of execution: memories first, then files, then the index file.
#[derive(Debug, Default)]
pub(in crate::store::directory) struct SyncPlan {
    /// Changes to the database.
    pub(in crate::store::directory) changes: Vec<Change>,
    /// Files of the memories to add.
    pub(in crate::store::directory) pending: Vec<(String, MergeBase)>,
    /// Changes to the folder.
    pub(in crate::store::directory) file_ops: Vec<FileOp>,
    /// Records that hold once the database is changed.
    pub(in crate::store::directory) bases: BTreeMap<String, MergeBase>,
    /// Files whose records are dropped.
    pub(in crate::store::directory) untracked: Vec<String>,
    /// Changes to the index file.
    pub(in crate::store::directory) index_ops: Vec<IndexFileOp>,
    /// Steps for the report.
    pub(in crate::store::directory) steps: Vec<SyncStep>,
    /// Number of files that equal their memories already.
    pub(in crate::store::directory) unchanged: usize,
    /// Set when an operation has to wait until a person did something.
    pub(in crate::store::directory) is_incomplete: bool,
}

/// Change to a file.
#[derive(Debug, Clone)]
pub(in crate::store::directory) enum FileOp {
    /// Rewrites a file from the memory, if the file is unchanged since the scan.
    Write { file: String, memory: Box<Memory>, expected: ContentDigest },
    /// Creates a file for a memory, under this name if it is free.
    Create { memory: Box<Memory>, name: Option<String>, note: Option<String> },
    /// Removes a file, if it is unchanged since the scan.
    Remove { file: String, id: MemoryId, expected: ContentDigest },
}

/// Change to the index file.
#[derive(Debug, Clone)]
pub(in crate::store::directory) enum IndexFileOp {
    /// Writes the line of a file.
    Set { file: String, memory: Box<Memory> },
    /// Writes a line if the file has none.
    Add { file: String, memory: Box<Memory> },
    /// Changes a line that was generated from the memory before; an edited line stays.
    UpdateIfUnedited { file: String, before: Box<Memory>, after: Box<Memory> },
    /// Removes a line.
    Remove { file: String },
    /// Points a line to another name.
    Rename { from: String, to: String },
}

/// Returns the record of a file with these bytes that agrees with its memory.
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
