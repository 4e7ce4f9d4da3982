//! Rules of the heartbeat: jobs, when each is due, quiet hours, and the state that processes share.

use std::{fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{
    config::MissedRuns,
    error::{Error, Result},
    types::Timestamp,
};

/// Runs of the history that are kept: some weeks of a home with few users.
const MAX_HISTORY: usize = 200;

/// Job of the heartbeat; the variants are in the order of execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HeartbeatJob {
    /// Tells reminders that are due.
    Reminders,
    /// Archives old days of the daily log.
    Digest,
    /// Runs the work between turns.
    Upkeep,
    /// Lets a model write short forms of long memories.
    Overviews,
    /// Proposes changes of identity files and memories for a person to decide on.
    Reflection,
}

crate::types::variant_names! { pub HeartbeatJob:
    Reminders = "reminders", Digest = "digest", Upkeep = "upkeep", Overviews = "overviews",
    Reflection = "reflection",
}

impl FromStr for HeartbeatJob {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|job| job.as_str() == text).ok_or_else(|| {
            let names = Self::ALL.map(Self::as_str).join(", ");
            Error::invalid(format!("there is no job `{text}`"), format!("use one of {names}"))
        })
    }
}

/// Outcome of one job in all scopes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeartbeatRun {
    /// Job.
    pub job: HeartbeatJob,
    /// Time of its start.
    pub at: Timestamp,
    /// Duration in milliseconds.
    pub millis: u64,
    /// Scopes in which it ran.
    pub scopes: usize,
    /// Scopes in which it was skipped because its time had passed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub skipped: usize,
    /// Things that it changed or told.
    pub done: u64,
    /// First error, if any; it is tried again at the next time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl fmt::Display for HeartbeatRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (done, scopes) = (self.done, self.scopes);
        let changes = if done == 1 { "change" } else { "changes" };
        let users = if scopes == 1 { "user" } else { "users" };
        write!(f, "{}: {done} {changes} for {scopes} {users}", self.job)?;
        if self.skipped > 0 {
            write!(f, ", {} skipped", self.skipped)?;
        }
        match &self.failed {
            Some(error) => write!(f, ", failed: {error}"),
            None => Ok(()),
        }
    }
}

/// State of the heartbeat that all processes of a store share. It names no agent and no user.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct HeartbeatState {
    /// Jobs that a person switched off.
    #[serde(default)]
    pub(crate) off: Vec<HeartbeatJob>,
    /// Process that runs jobs now.
    #[serde(default)]
    pub(crate) lease: Option<HeartbeatLease>,
    /// Last runs, newest first.
    #[serde(default)]
    pub(crate) history: Vec<HeartbeatRun>,
}

/// Right to run jobs, until a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HeartbeatLease {
    /// Name of the holder, which no other process has.
    pub(crate) owner: String,
    /// End of the lease.
    pub(crate) until: Timestamp,
}

impl HeartbeatState {
    /// Gives the lease to `owner` until a time; `false` if another process holds it.
    pub(crate) fn take_lease(&mut self, owner: &str, now: Timestamp, until: Timestamp) -> bool {
        let is_free = self.lease.as_ref().is_none_or(|it| it.until <= now || it.owner == owner);
        if is_free {
            self.lease = Some(HeartbeatLease { owner: owner.to_owned(), until });
        }
        is_free
    }

    /// Ends the lease of `owner` and records its runs.
    pub(crate) fn finish(&mut self, owner: &str, runs: &[HeartbeatRun]) {
        self.lease.take_if(|lease| lease.owner == owner);
        for run in runs {
            self.history.insert(0, run.clone());
        }
        self.history.truncate(MAX_HISTORY);
    }

    /// Switches a job on or off.
    pub(crate) fn switch(&mut self, job: HeartbeatJob, on: bool) {
        self.off.retain(|other| *other != job);
        self.off.extend((!on).then_some(job));
    }
}

/// Decision about a job in one scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JobTurn {
    /// Its time has not come.
    Wait,
    /// It runs now.
    Run,
    /// Its time has passed while nothing ran; it runs at the next one.
    Skip,
}

/// Decides about a job that last began at `last` and runs every so often.
pub(crate) fn job_turn(
    last: Option<Timestamp>,
    every: Duration,
    missed: MissedRuns,
    now: Timestamp,
) -> JobTurn {
    let Some(last) = last else { return JobTurn::Run };
    let passed = Duration::try_from(now.duration_since(last)).unwrap_or_default();
    match missed {
        _ if passed < every => JobTurn::Wait,
        // A second time has passed as well: nothing ran meanwhile.
        MissedRuns::Skip if passed >= every.saturating_mul(2) => JobTurn::Skip,
        _ => JobTurn::Run,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(hour: i64) -> Timestamp {
        Timestamp::from_second(hour * 3_600).unwrap()
    }

    const HOUR: Duration = Duration::from_secs(3_600);

    #[test]
    fn a_missed_run_is_made_up_once_or_skipped() {
        let turn = |last, missed, now| job_turn(last, HOUR, missed, at(now));
        assert_eq!(turn(None, MissedRuns::Skip, 9), JobTurn::Run);
        assert_eq!(turn(Some(at(9)), MissedRuns::Once, 9), JobTurn::Wait);
        assert_eq!(turn(Some(at(8)), MissedRuns::Skip, 9), JobTurn::Run);
        assert_eq!(turn(Some(at(2)), MissedRuns::Once, 9), JobTurn::Run);
        assert_eq!(turn(Some(at(2)), MissedRuns::Skip, 9), JobTurn::Skip);
    }

    #[test]
    fn one_process_at_a_time_holds_the_lease_and_a_dead_one_loses_it() {
        let mut state = HeartbeatState::default();
        assert!(state.take_lease("one", at(1), at(2)));
        assert!(!state.take_lease("two", at(1), at(2)));
        assert!(state.take_lease("one", at(1), at(3)));
        assert!(state.take_lease("two", at(3), at(4)));
        state.finish("one", &[]);
        assert!(state.lease.is_some(), "the lease of another process stays");
        state.finish("two", &[]);
        assert_eq!(state.lease, None);
    }

    #[test]
    fn the_history_keeps_the_newest_runs() {
        let run = |hour| HeartbeatRun {
            job: HeartbeatJob::Upkeep,
            at: at(hour),
            millis: 1,
            scopes: 1,
            skipped: 0,
            done: 0,
            failed: None,
        };
        let mut state = HeartbeatState::default();
        let runs: Vec<_> = (0..300).map(run).collect();
        state.finish("one", &runs);
        assert_eq!(state.history.len(), MAX_HISTORY);
        assert_eq!(state.history[0].at, at(299));
    }

    #[test]
    fn a_job_is_switched_by_its_name() {
        let mut state = HeartbeatState::default();
        state.switch("upkeep".parse().unwrap(), false);
        state.switch(HeartbeatJob::Upkeep, false);
        assert_eq!(state.off, [HeartbeatJob::Upkeep]);
        state.switch(HeartbeatJob::Upkeep, true);
        assert!(state.off.is_empty());
        assert!("sleep".parse::<HeartbeatJob>().unwrap_err().hint().contains("reminders"));
    }
}
