//! Patterns: recurring tool calls, and failures and complaints that come back. By counting with fixed thresholds; no model
//! decides anything.
//!
//! Text that a tool printed is never part of a pattern's words: a failure is told by its name in the table of known
//! failures, its codes and the identifier it is about.

mod tool_steps;
mod sequences;
mod pains;

use std::collections::BTreeSet;

use crate::types::{Experience, Memory, MemoryId, Timestamp};

pub(crate) use pains::{ComplaintScan, FailureScan, RepeatedPain, failure_label, failure_slug};
pub(crate) use sequences::{MadeCall, RecurringSequence, SequenceScan};
pub use tool_steps::WorkflowStep;
pub(crate) use tool_steps::{is_safe_step, steps_of_call};

/// Conversations in which a pattern shows before it is suggested: once is an accident, twice a coincidence.
pub(crate) const MIN_SESSIONS: usize = 3;

/// Most ids of evidence that a pattern keeps.
const MAX_EVIDENCE: usize = 8;

/// Conversations and times in which a pattern showed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PatternOccasions {
    /// Conversations.
    pub sessions: BTreeSet<String>,
    /// Number of times, several in one conversation included.
    pub times: usize,
    /// First and last time.
    pub span: Option<(Timestamp, Timestamp)>,
    /// Turns that show it, the oldest first.
    pub turns: Vec<MemoryId>,
    /// Set if reports that a solution worked were counted, not conversations.
    pub is_reported: bool,
}

impl PatternOccasions {
    /// Counts a time, with the turns that show it.
    fn add(&mut self, session: &str, at: Timestamp, turns: impl IntoIterator<Item = MemoryId>) {
        self.times += 1;
        self.span = Some(self.span.map_or((at, at), |(first, last)| (first.min(at), last.max(at))));
        if self.sessions.insert(session.to_owned()) {
            let room = MAX_EVIDENCE.saturating_sub(self.turns.len());
            self.turns.extend(turns.into_iter().take(room));
        }
    }

    /// Returns the occasions of an experience by the reports that its solution worked.
    pub(crate) fn of_reports(memory: &Memory, times: usize) -> Self {
        let last = Experience::of_memory(memory).and_then(|it| it.reported_at);
        Self {
            sessions: (1..=times).map(|number| number.to_string()).collect(),
            times,
            span: Some((memory.at, last.unwrap_or(memory.at).max(memory.at))),
            turns: memory.source.turns.iter().copied().take(MAX_EVIDENCE).collect(),
            is_reported: true,
        }
    }

    /// Returns `true` if it showed in enough conversations.
    pub(crate) fn is_frequent(&self) -> bool {
        self.sessions.len() >= MIN_SESSIONS
    }

    /// Returns the whole days from the first time to the last.
    pub(crate) fn days(&self) -> u32 {
        let seconds = self.span.map_or(0, |(first, last)| last.as_second() - first.as_second());
        u32::try_from(seconds / 86_400).unwrap_or(0)
    }
}
