//! Request and report of upkeep: jobs, what each did, and what waits for confirmation.

use serde::Serialize;

use crate::types::MemoryId;

/// How upkeep is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UpkeepRequest {
    /// Only say what would be done.
    pub dry_run: bool,
    /// Also do what touches more than a quarter of the memories.
    pub yes: bool,
}

/// A job of upkeep, in the order they are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum UpkeepJob {
    /// Weights follow use.
    Weigh,
    /// What held until a time that is over is put away.
    Expire,
    /// What weighs too little is put away.
    Archive,
    /// What says the same is put together.
    Merge,
    /// Old lines of the usage log and the ledger go.
    Prune,
    /// Vectors that wait are made.
    Embed,
    /// Space is given back.
    Vacuum,
}

impl UpkeepJob {
    /// The name used in runs and answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Weigh => "weigh",
            Self::Expire => "expire",
            Self::Archive => "archive",
            Self::Merge => "merge",
            Self::Prune => "prune",
            Self::Embed => "embed",
            Self::Vacuum => "vacuum",
        }
    }
}

/// A memory that a job touches.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TouchedMemory {
    /// The memory.
    pub id: MemoryId,
    /// What it is called, or says.
    pub name: String,
    /// What it weighs.
    pub weight: f64,
    /// The memory that stays in its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<MemoryId>,
}

/// What a job did, or would do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UpkeepJobReport {
    /// The job.
    pub job: UpkeepJob,
    /// The run, to undo all of it; none if no memory was changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// How much was done: memories, lines or bytes.
    pub done: u64,
    /// The memories that it touches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub memories: Vec<TouchedMemory>,
    /// Why it waits for a yes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// Why it could not be done and is left for the next time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

impl UpkeepJobReport {
    pub(super) fn new(job: UpkeepJob, done: u64) -> Self {
        Self { job, run: None, done, memories: Vec::new(), stopped: None, failed: None }
    }
}

/// What upkeep did, or would do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UpkeepReport {
    /// Whether it was only tried.
    pub dry_run: bool,
    /// The jobs in their order.
    pub jobs: Vec<UpkeepJobReport>,
}

impl UpkeepReport {
    /// The jobs that wait for a yes.
    pub fn stopped(&self) -> impl Iterator<Item = &UpkeepJobReport> {
        self.jobs.iter().filter(|job| job.stopped.is_some())
    }
}
