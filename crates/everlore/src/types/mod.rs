//! Stored values: scopes, memories, turns, changes and the journal. Plain values, no I/O.

mod scope;
mod memory;
mod tier;
mod weight;
mod slot;
mod trust;
mod vector;
mod clock;
mod change;
mod check;
mod new_check;
mod capture;

pub use capture::{CaptureCheckpoint, GateOutcome, QuarantineLimits, QuarantinedDraft};
pub use change::{
    Actor, AppliedChange, Change, ChangeAuthor, ChangeOp, ErasureReceipt, JournalEntry, WriteBatch,
};
pub use check::{
    CHECK_KEY, Check, CheckReason, CheckResult, CheckStatus, CheckedFileStat, StoredCheck,
};
pub use clock::Clock;
pub use memory::{
    Fingerprint, Kind, MAX_CONTENT_BYTES, MAX_NAME_CHARS, Memory, MemoryId, MemorySource,
    OVERVIEW_KEY, Origin, Role, Status,
};
pub use new_check::NewCheck;
pub use scope::Scope;
pub use slot::{Attribute, SLOT_KEY, Slot, USER_SUBJECT};
pub use tier::Tier;
pub use trust::{TRUST_KEY, Trust};
pub use vector::{ChangeVectors, EmbeddingModelId, Vector};
pub use weight::{PINNED_KEY, decay_factor};

/// Point in time, kept to the millisecond so that every backend returns what it was given.
pub use jiff::Timestamp;

/// Truncates a time to the millisecond that backends keep.
pub fn to_millisecond(at: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(at.as_millisecond()).unwrap_or(at)
}
