//! Stored values: scopes, memories, turns, changes and the journal. Plain values, no I/O.

mod variant_names;
mod scope;
mod kind;
mod memory;
mod tier;
mod weight;
pub(crate) mod slot;
mod trust;
mod vector;
pub(crate) mod clock;
mod change;
mod check;
mod new_check;
mod experience;
mod feedback;
mod recorded_step;
mod skill;
mod capture;

#[doc(hidden)]
pub use crate::__variant_names as variant_names;
pub use capture::{CaptureCheckpoint, GateOutcome, QuarantineLimits, QuarantinedDraft};
pub(crate) use change::{APPROVAL_CAUSE, AUDIT_CAUSE, EXACT_UNDO_CAUSES, run_name};
pub use change::{
    Actor, AppliedChange, Change, ChangeAuthor, ChangeOp, ErasureReceipt, HOOK_CAUSE, JournalEntry,
    SINGLE_WRITE_RUN, WriteBatch,
};
pub use check::{
    CHECK_KEY, Check, CheckReason, CheckResult, CheckStatus, CheckedFileStat, StoredCheck,
};
pub(crate) use clock::{Clock, system_now, to_millisecond, within_calendar};
pub(crate) use experience::error_keys;
pub use experience::{EXPERIENCE_KEY, Experience};
pub use feedback::{FEEDBACK_KEY, MemoryFeedback};
pub use kind::Kind;
pub use memory::{
    Fingerprint, MAX_CONTENT_BYTES, MAX_NAME_CHARS, Memory, MemoryId, MemorySource, OVERVIEW_KEY,
    Origin, QUOTED_KEY, Role, Status,
};
pub(crate) use memory::{MAY_REPLACE_KEY, SCHEDULE_KEY, VALID_UNTIL_KEY};
pub use new_check::NewCheck;
pub use recorded_step::{
    ANSWER_KEY, AnswerEnd, CALL_KEY, RecordedAnswer, RecordedCall, StepTokens,
};
pub(crate) use recorded_step::{CALL_RESULT_KEY, CALL_SESSION_KEY};
pub use scope::Scope;
pub(crate) use skill::SKILL_EFFECT_KEY;
pub use slot::SLOT_KEY;
pub(crate) use slot::{Attribute, Slot, USER_SUBJECT};
pub use tier::Tier;
pub use trust::{TRUST_KEY, Trust};
pub(crate) use vector::dot;
pub use vector::{ChangeVectors, EmbeddingModelId, Vector};
pub use weight::PINNED_KEY;
pub(crate) use weight::decay_factor;

/// Point in time, kept to the millisecond so that every backend returns what it was given.
pub use jiff::Timestamp;
