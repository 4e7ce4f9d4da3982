//! Request and report of upkeep: the jobs, their results, and the jobs that wait for confirmation.

use serde::Serialize;

use crate::types::MemoryId;

/// Options of upkeep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UpkeepRequest {
    /// Set to report without changing anything.
    pub dry_run: bool,
    /// Set to confirm jobs that touch more than a quarter of the memories.
    pub yes: bool,
}

/// Upkeep job; the variants are in the order of execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum UpkeepJob {
    /// Update weights from usage.
    Weigh,
    /// Archive memories whose validity ended.
    Expire,
    /// Archive memories of low weight.
    Archive,
    /// Merge duplicates.
    Merge,
    /// Prune old usage records, ledger entries and quarantined drafts.
    Prune,
    /// Embed memories that lack a vector.
    Embed,
    /// Compact the database and return its free space.
    Vacuum,
}

crate::types::variant_names! { pub UpkeepJob:
    Weigh = "weigh", Expire = "expire", Archive = "archive", Merge = "merge", Prune = "prune",
    Embed = "embed", Vacuum = "vacuum",
}

/// Memory that a job touches.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TouchedMemory {
    /// Memory id.
    pub id: MemoryId,
    /// Name, or the beginning of the content.
    pub name: String,
    /// Weight.
    pub weight: f64,
    /// Memory that supersedes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<MemoryId>,
}

/// Report of one job, done or planned.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UpkeepJobReport {
    /// The job.
    pub job: UpkeepJob,
    /// Run id, for undoing all of it; `None` if no memory changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Amount of work done: memories, records or bytes.
    pub done: u64,
    /// Memories that it touches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub memories: Vec<TouchedMemory>,
    /// Reason why it waits for confirmation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// Reason of a failure; the next upkeep tries again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

impl UpkeepJobReport {
    pub(super) fn new(job: UpkeepJob, done: u64) -> Self {
        Self { job, run: None, done, memories: Vec::new(), stopped: None, failed: None }
    }
}

/// Report of an upkeep, done or planned.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UpkeepReport {
    /// Set for a dry run.
    pub dry_run: bool,
    /// Jobs in order of execution.
    pub jobs: Vec<UpkeepJobReport>,
}

impl UpkeepReport {
    /// Returns the jobs that wait for confirmation.
    pub fn stopped(&self) -> impl Iterator<Item = &UpkeepJobReport> {
        self.jobs.iter().filter(|job| job.stopped.is_some())
    }
}
