//! Audit: finds what is wrong with memories, with evidence and a fix for each fault. No model is asked.
//!
//! An [`AuditScan`] reads every memory once, page by page, and keeps only what later steps compare: hashes and ids. Each
//! file beside this one finds one kind of fault. Precision counts more than finding all: a false accusation costs trust,
//! and a fault that is missed stays what it was.

mod fault;
mod score;
mod alike;
mod echoes;
mod secrets;
mod stale;
mod unused;
mod vague;
mod unattributed;
mod named_things;
mod scan;

pub use fault::{AuditFix, FaultKind};
pub(crate) use fault::{Fault, conflict_fault};
pub(crate) use named_things::{NamedThing, named_things};
pub(crate) use scan::{AlikeGroup, AuditContext, AuditScan};
pub(crate) use score::score;
pub use score::{AuditScore, ScorePart};
pub(crate) use secrets::masked;
pub(crate) use stale::{check_fault, missing_fault};
pub(crate) use unattributed::{UNATTRIBUTED_TAG, no_speaker_fault};
