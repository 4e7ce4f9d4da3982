//! Growth: what an agent learns from its memories and does between conversations, all of it visible, journaled and
//! reversible.
//!
//! A reminder: `Engine::add_schedule` reads the phrase (`text/schedule/`) and stores a memory of kind `schedule` with the
//! rule and the next run (`growth/schedule_record.rs`). Whoever can tell it (chat, a hook, an event stream, the
//! command line) calls `Engine::due_reminders`: a versioned update moves the next run on, so of several processes one
//! tells it.
//!
//! The heartbeat: `Engine::heartbeat` takes the lease in the store, runs each job that is due in every scope, and
//! records the runs. To add a job, add a variant to `HeartbeatJob` and its arms in `heartbeat.rs`.
//!
//! A skill: `Engine::reflect` counts tool calls and pains (`growth/patterns/`) and proposes what came up often enough as a
//! file (`growth/skill/draft.rs`); `Engine::approve_proposal` stores it as a memory of kind `skill` and writes the file
//! (`skills/files.rs`), whose description reaches prompts (`growth/skill/index.rs`).
//!
//! A failure and its cure:
//!
//! 1. A hook or another host stores tool calls as turns (`text/tool_event.rs`). Capture calls `read_attempts`
//!    (`attempts.rs`): `growth/attempts.rs` finds failures, what was tried and what shows that it worked.
//! 2. A new cure becomes a draft, which the gate judges like any other; a known one gets a report, in the same write.
//! 3. `Engine::add_experience` (`experiences.rs`) records one by hand. Its error becomes a signature
//!    (`text/error_signature/`), whose keys the index holds as terms.
//! 4. `add_cures` (`cures.rs`) looks the keys of a message's error up, compares the candidates, and puts the cures of the
//!    same failure first in a prompt; `keep_cures` leaves only them for a failed tool. `Engine::find_experiences`
//!    answers a search.
//! 5. `Engine::give_feedback` (`feedback.rs`) moves a memory's weight by a verdict; `Engine::observe` hears verdicts in
//!    words about what the last answer used.
//!
//! A trajectory: `Engine::observe` stores messages as turns, and tool calls as records of their session
//! (`ingest/records.rs`). `Engine::trajectory` (`trajectories.rs`) puts both in order, judges the outcome, and compresses;
//! `growth/trajectory/` has the rules and the formats of exports. Nothing else is stored, so what is forgotten is gone from
//! trajectories.

mod records;
mod experiences;
mod cures;
mod attempts;
mod feedback;
mod audit;
mod profile;
mod reflection;
mod trajectories;
mod skills;
mod schedules;
mod reminders;
mod heartbeat;

pub(crate) use attempts::AttemptReport;
pub use audit::{AuditFinding, AuditReport, AuditRequest, AuditSource, FixedMemories};
pub use experiences::{ExperienceHit, ExperienceQuery, ExperienceView};
pub use feedback::{FeedbackEffect, FeedbackReceipt};
pub use heartbeat::{HeartbeatJobStatus, HeartbeatReport, HeartbeatStatus};
pub use profile::{ProfileDecision, ProfileReport};
pub use reflection::{ProposalView, ReflectRequest, ReflectionReport};
pub use reminders::{DueReminder, render_reminders};
pub use schedules::{NewSchedule, ScheduledTask};
pub use skills::{SkillState, SkillVersion, SkillView};
pub use trajectories::{TrajectoryPage, TrajectoryQuery};

pub use crate::{
    growth::heartbeat::{HeartbeatJob, HeartbeatRun},
    text::schedule::ScheduleAnswer,
};
