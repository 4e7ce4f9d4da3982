//! The pure core of a write: [`plan`] turns a batch of changes and the rows it touches into the effects on every table.
//!
//! A backend loads what [`WriteNeeds`] names, plans, and executes the [`Effects`], all in one transaction that holds
//! the scope's write lock. Addresses, journal lines, capture counters and erasures are decided here, once for all
//! databases.

mod planner;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use self::planner::Planner;
use super::{DocAddress, check_scope, index::IndexEntry, row::MemoryRow};
use crate::{
    error::{Error, Result},
    types::{
        AppliedChange, CaptureCheckpoint, Change, ChangeOp, Fingerprint, Memory, MemoryId,
        Timestamp, WriteBatch,
    },
};

/// Keys of the rows that a batch must see before it can be planned.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct WriteNeeds {
    /// Memories that must be there: their rows, and their deletions if they have none.
    pub(crate) changed: BTreeSet<MemoryId>,
    /// New memories: their deletions, because a memory that returns gets its old address.
    pub(crate) added: BTreeSet<MemoryId>,
    /// Memories to erase: all their journal lines.
    pub(crate) erased: BTreeSet<MemoryId>,
    /// Sessions of new memories.
    pub(crate) sessions: BTreeSet<String>,
}

impl WriteNeeds {
    /// Collects the keys of a batch.
    pub(crate) fn of(write: &WriteBatch) -> Self {
        let mut needs = Self::default();
        for change in &write.changes {
            match change {
                Change::Add(memory) => {
                    needs.added.insert(memory.id);
                    needs.sessions.extend(memory.source.session.clone());
                }
                Change::Update(_) | Change::Delete(_) => drop(needs.changed.insert(change.id())),
                Change::Erase(id) => {
                    needs.changed.insert(*id);
                    needs.erased.insert(*id);
                }
            }
        }
        needs
    }
}

/// Rows that a backend read for a batch, as they were under the scope's write lock.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    pub(crate) counters: ScopeCounters,
    pub(crate) rows: HashMap<MemoryId, MemoryRow>,
    pub(crate) deletions: HashMap<MemoryId, Deletion>,
    pub(crate) sessions: HashMap<String, SessionCounter>,
    /// Checkpoint of each session: the first position that capture has not read yet; 0 where there is no row.
    pub(crate) capture_checkpoints: HashMap<u32, u32>,
    /// Set when the journal has a line with the run and the reason of a batch that must be written once
    /// ([`WriteBatch::single_run`]).
    pub(crate) is_repeated: bool,
    /// Journal lines of the memories to erase, in any order.
    pub(crate) journal: HashMap<MemoryId, Vec<JournalImage>>,
}

impl Loaded {
    /// Returns the numbers of all sessions that the batch can touch; 0 stands for no session.
    pub(crate) fn session_numbers(&self) -> BTreeSet<u32> {
        let named = self.sessions.values().map(|session| session.number);
        let rows = self.rows.values().map(|row| row.address.session());
        let deleted = self.deletions.values().map(|deletion| deletion.address.session());
        named.chain(rows).chain(deleted).chain([0]).collect()
    }
}

/// Numbers that a scope has given out so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ScopeCounters {
    /// Journal lines.
    pub(crate) changes: i64,
    /// Sessions.
    pub(crate) sessions: u32,
    /// Addresses outside sessions.
    pub(crate) positions: u32,
}

/// A session's number and how many addresses it has given out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SessionCounter {
    pub(crate) number: u32,
    pub(crate) positions: u32,
}

/// The address of a memory that was deleted, and its newest journal line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Deletion {
    pub(crate) address: DocAddress,
    pub(crate) seq: i64,
}

/// The before-image of a journal line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct JournalImage {
    pub(crate) seq: i64,
    pub(crate) before: Option<Memory>,
}

/// A new journal line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct JournalLine {
    pub(crate) seq: i64,
    pub(crate) id: MemoryId,
    pub(crate) op: ChangeOp,
    /// The line before of the same memory.
    pub(crate) prev: Option<i64>,
    pub(crate) before: Option<Memory>,
}

/// Change of the number of turns that wait for capture in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct CaptureDelta {
    pub(crate) turns: i64,
    pub(crate) exchanges: i64,
    /// Set when a turn came in: the session is open again and was last active then.
    pub(crate) last_at: Option<Timestamp>,
}

/// Traces of a memory that a backend removes beyond its row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Erasure {
    /// The position of its change in the batch.
    pub(crate) change: usize,
    pub(crate) id: MemoryId,
    pub(crate) address: DocAddress,
    /// Stored journal lines whose images are cleared.
    pub(crate) cleared_lines: Vec<i64>,
    /// Digests of every text it ever had, each of which gets a tombstone.
    pub(crate) texts: BTreeSet<Fingerprint>,
}

/// Everything that a batch does to the tables, to be executed in the order of the fields. Only the head of a journal line
/// (author, reason, run, cost) and the time come from the batch itself: they are the same for all lines.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    pub(crate) counters: ScopeCounters,
    pub(crate) sessions: Vec<(String, SessionCounter)>,
    pub(crate) removed: Vec<DocAddress>,
    pub(crate) updated: Vec<MemoryRow>,
    pub(crate) inserted: Vec<MemoryRow>,
    /// Deletions that end because the memory is back.
    pub(crate) restored: Vec<MemoryId>,
    pub(crate) deleted: Vec<(MemoryId, Deletion)>,
    pub(crate) journal: Vec<JournalLine>,
    pub(crate) captures: BTreeMap<u32, CaptureDelta>,
    /// Addresses whose token vectors are of a replaced text.
    pub(crate) stale_token_vectors: Vec<DocAddress>,
    /// Quarantined drafts that are memories now.
    pub(crate) accepted_drafts: Vec<MemoryId>,
    /// Addresses whose stored index entries no longer hold.
    pub(crate) unindexed: Vec<DocAddress>,
    pub(crate) indexed: Vec<IndexEntry>,
    pub(crate) erasures: Vec<Erasure>,
    /// Texts that were erased elsewhere; each gets a tombstone.
    pub(crate) erased_texts: Vec<Fingerprint>,
    /// Checkpoint of the session that the memories were extracted from. Executing it fails if the lease was lost.
    pub(crate) checkpoint: Option<CaptureCheckpoint>,
    /// The answer to the caller; a backend adds to erasure receipts what it removed.
    pub(crate) applied: Vec<AppliedChange>,
}

/// Plans a batch whose texts were analysed: `entries` has the index entry of each change that stores a memory.
pub(crate) fn plan(
    write: &WriteBatch,
    entries: Vec<Option<IndexEntry>>,
    loaded: Loaded,
) -> Result<Effects> {
    if loaded.is_repeated {
        return Err(Error::Repeated { run: write.run.clone().unwrap_or_default() });
    }
    write.check_plan(u64::try_from(loaded.counters.changes).unwrap_or(0))?;
    let mut planner = Planner::new(write, loaded);
    for (index, (change, entry)) in write.changes.iter().zip(entries).enumerate() {
        planner.change(index, change, entry)?;
    }
    Ok(planner.finish())
}

/// Checks that every memory of a batch belongs to its scope, and analyses the texts.
pub(crate) fn analyze_entries(write: &WriteBatch) -> Result<Vec<Option<IndexEntry>>> {
    let entry = |change: &Change| match change {
        Change::Add(memory) | Change::Update(memory) => {
            check_scope(write, memory)?;
            Ok(Some(IndexEntry::from_memory(memory, DocAddress::from_bits(0))))
        }
        Change::Delete(_) | Change::Erase(_) => Ok(None),
    };
    write.changes.iter().map(entry).collect()
}
