//! The heartbeat: one process at a time runs the jobs that are due.

use std::time::{Duration, Instant};

use jiff::SignedDuration;
use serde::Serialize;

use super::DueReminder;
use crate::{
    engine::{Engine, capture::OVERVIEW_PASS_INTERVAL},
    error::{Error, Result},
    growth::heartbeat::{HeartbeatJob, HeartbeatRun, HeartbeatState, JobTurn, job_turn},
    sync::boxed,
    types::{MemoryId, Scope, Timestamp},
};

/// Name of the document that holds the shared state.
const STATE: &str = "heartbeat";

/// Attempts to change the state when other processes change it as well; each conflict means that one succeeded.
const MAX_ATTEMPTS: usize = 100;

/// Length of a lease. It is renewed before each job; a process that died holds it no longer than this.
const LEASE_SECONDS: i64 = 300;

/// Interval of the daily digest.
const DAY: Duration = Duration::from_secs(86_400);

/// Interval of reflection: what is proposed more often than a person looks is not looked at.
const WEEK: Duration = Duration::from_secs(7 * 86_400);

/// Outcome of one heartbeat.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct HeartbeatReport {
    /// Jobs that ran, in order; those with nothing to do are left out.
    pub runs: Vec<HeartbeatRun>,
    /// Reminders to tell now, by the scope of the caller's list that they belong to.
    #[serde(skip)]
    pub reminders: Vec<(Scope, DueReminder)>,
    /// Set in a quiet hour, in which nothing runs.
    pub quiet: bool,
    /// Set if another process runs the jobs.
    pub busy: bool,
}

/// State of the heartbeat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct HeartbeatStatus {
    /// Set if the settings run jobs by themselves.
    pub enabled: bool,
    /// Set in a quiet hour.
    pub quiet: bool,
    /// Set while a process runs jobs.
    pub running: bool,
    /// Jobs.
    pub jobs: Vec<HeartbeatJobStatus>,
}

/// State of one job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct HeartbeatJobStatus {
    /// Job.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub job: HeartbeatJob,
    /// Set if it may run.
    pub on: bool,
    /// Its last run.
    #[cfg_attr(feature = "schema", schema(value_type = Option<Object>))]
    pub last: Option<HeartbeatRun>,
}

impl Engine {
    /// Runs all jobs that are due, unless it is a quiet hour, and returns what they did. Reminders are taken for
    /// `listeners` alone, whom the caller tells them. Of several processes one runs the other jobs. Fails if the store
    /// fails; a job that fails does not stop the others.
    #[boxed]
    pub async fn heartbeat(&self, listeners: &[Scope]) -> Result<HeartbeatReport> {
        let mut report = HeartbeatReport::default();
        let config = &self.config.heartbeat;
        report.quiet = config.is_quiet_at(self.now().hour());
        if !config.enabled || report.quiet {
            return Ok(report);
        }
        report.runs.extend(self.take_reminders(listeners, &mut report.reminders).await);
        let owner = MemoryId::new(self.now().timestamp()).to_string();
        if !self.take_heartbeat(&owner).await? {
            report.busy = true;
            self.record_runs(&owner, &report.runs).await?;
            return Ok(report);
        }
        let runs = self.run_jobs(&owner).await;
        report.runs.extend(runs);
        self.record_runs(&owner, &report.runs).await?;
        Ok(report)
    }

    /// Takes the reminders that are due for `listeners`, unless it is a quiet hour, and records that. Fails if the store
    /// fails.
    pub async fn tell_reminders(&self, listeners: &[Scope]) -> Result<Vec<(Scope, DueReminder)>> {
        let config = &self.config.heartbeat;
        let mut told = Vec::new();
        if config.enabled && !config.is_quiet_at(self.now().hour()) {
            let run = self.take_reminders(listeners, &mut told).await;
            self.record_runs("", run.as_slice()).await?;
        }
        Ok(told)
    }

    /// Returns which jobs are on, and their last runs.
    pub async fn heartbeat_status(&self) -> Result<HeartbeatStatus> {
        let (state, now) = (self.heartbeat_state().await?.0, self.now());
        let job = |job: HeartbeatJob| HeartbeatJobStatus {
            job,
            on: !state.off.contains(&job),
            last: state.history.iter().find(|run| run.job == job).cloned(),
        };
        Ok(HeartbeatStatus {
            enabled: self.config.heartbeat.enabled,
            quiet: self.config.heartbeat.is_quiet_at(now.hour()),
            running: state.lease.as_ref().is_some_and(|lease| lease.until > now.timestamp()),
            jobs: HeartbeatJob::ALL.map(job).to_vec(),
        })
    }

    /// Returns the last runs of all processes, newest first.
    pub async fn heartbeat_history(&self) -> Result<Vec<HeartbeatRun>> {
        Ok(self.heartbeat_state().await?.0.history)
    }

    /// Switches a job on or off for all processes of the store.
    pub async fn switch_job(&self, job: HeartbeatJob, on: bool) -> Result<()> {
        self.check_owner("the heartbeat")?;
        self.change_state(|state| {
            state.switch(job, on);
            true
        })
        .await
        .map(drop)
    }

    /// Returns `true` if nobody switched the job off.
    pub(in crate::engine) async fn is_job_on(&self, job: HeartbeatJob) -> Result<bool> {
        Ok(!self.heartbeat_state().await?.0.off.contains(&job))
    }

    async fn take_reminders(
        &self,
        listeners: &[Scope],
        told: &mut Vec<(Scope, DueReminder)>,
    ) -> Option<HeartbeatRun> {
        let mut run = new_run(HeartbeatJob::Reminders, self.now().timestamp());
        let begun = Instant::now();
        for scope in listeners.iter().filter(|scope| self.check_enabled(scope).is_ok()) {
            match self.due_reminders(scope).await {
                Ok(due) => {
                    run.scopes += usize::from(!due.is_empty());
                    run.done += due.len() as u64;
                    told.extend(due.into_iter().map(|reminder| (scope.clone(), reminder)));
                }
                Err(error) => note_failure(&mut run, &error),
            }
        }
        run.millis = millis_since(begun);
        (run.done > 0 || run.failed.is_some()).then_some(run)
    }

    async fn run_jobs(&self, owner: &str) -> Vec<HeartbeatRun> {
        let mut runs = Vec::new();
        for job in HeartbeatJob::ALL.into_iter().filter(|job| *job != HeartbeatJob::Reminders) {
            let mut run = new_run(job, self.now().timestamp());
            let begun = Instant::now();
            if let Err(error) = self.run_everywhere(job, owner, &mut run).await {
                note_failure(&mut run, &error);
            }
            run.millis = millis_since(begun);
            if run.scopes + run.skipped > 0 || run.failed.is_some() {
                runs.push(run);
            }
        }
        runs
    }

    /// Runs a job in each scope in which it is due, as long as this process holds the lease.
    async fn run_everywhere(
        &self,
        job: HeartbeatJob,
        owner: &str,
        run: &mut HeartbeatRun,
    ) -> Result<()> {
        if !self.is_job_on(job).await? {
            return Ok(());
        }
        for scope in self.store.admin().scopes().await? {
            if self.check_enabled(&scope).is_err() || !self.may_run(job, &scope) {
                continue;
            }
            match self.take_turn(job, &scope).await? {
                JobTurn::Wait => continue,
                JobTurn::Skip => run.skipped += 1,
                JobTurn::Run if !self.take_heartbeat(owner).await? => return Ok(()),
                JobTurn::Run => {
                    run.scopes += 1;
                    match self.run_job(job, &scope).await {
                        Ok(done) => run.done += done,
                        Err(error) => note_failure(run, &error),
                    }
                }
            }
        }
        Ok(())
    }

    /// Decides about a job in a scope and claims the run: of several processes one gets [`JobTurn::Run`].
    async fn take_turn(&self, job: HeartbeatJob, scope: &Scope) -> Result<JobTurn> {
        let (now, every) = (self.now().timestamp(), self.job_interval(job, scope));
        let name = job_name(job);
        let last = self.store.ledger().job_begun_at(scope, name).await?;
        let turn = job_turn(last, every, self.config.heartbeat.missed, now);
        if turn == JobTurn::Wait {
            return Ok(turn);
        }
        let claimed = self.store.ledger().try_begin_job(scope, name, now, every).await?;
        Ok(if claimed { turn } else { JobTurn::Wait })
    }

    fn job_interval(&self, job: HeartbeatJob, scope: &Scope) -> Duration {
        match job {
            HeartbeatJob::Upkeep => self.settings(scope.agent()).upkeep.every,
            HeartbeatJob::Overviews => OVERVIEW_PASS_INTERVAL,
            HeartbeatJob::Reflection => WEEK,
            HeartbeatJob::Digest | HeartbeatJob::Reminders => DAY,
        }
    }

    /// Returns `true` if the agent's settings allow a job now.
    fn may_run(&self, job: HeartbeatJob, scope: &Scope) -> bool {
        let settings = self.settings(scope.agent());
        match job {
            HeartbeatJob::Upkeep => {
                settings.upkeep.enabled && settings.upkeep.may_run_at(self.now().hour())
            }
            HeartbeatJob::Overviews => self.capture_model(scope).is_some(),
            HeartbeatJob::Digest | HeartbeatJob::Reflection => self.home.is_some(),
            HeartbeatJob::Reminders => true,
        }
    }

    /// Runs a job in one scope and returns how much it changed.
    async fn run_job(&self, job: HeartbeatJob, scope: &Scope) -> Result<u64> {
        match job {
            HeartbeatJob::Upkeep => {
                let report = self.upkeep(scope, &Default::default(), &mut |_| {}).await?;
                Ok(report.jobs.iter().map(|job| job.memories.len() as u64).sum())
            }
            HeartbeatJob::Overviews => Ok(self.improve_overviews(scope).await? as u64),
            HeartbeatJob::Digest => Ok(self.archive_days(scope).await?.len() as u64),
            HeartbeatJob::Reflection => {
                let report = self.reflect(scope, &Default::default(), &mut |_| {}).await?;
                Ok(report.proposals.len() as u64)
            }
            HeartbeatJob::Reminders => Ok(0),
        }
    }
}

impl Engine {
    async fn take_heartbeat(&self, owner: &str) -> Result<bool> {
        let now = self.now().timestamp();
        let until = now.saturating_add(SignedDuration::from_secs(LEASE_SECONDS));
        let until = until.unwrap_or(Timestamp::MAX);
        self.change_state(|state| state.take_lease(owner, now, until)).await
    }

    async fn record_runs(&self, owner: &str, runs: &[HeartbeatRun]) -> Result<()> {
        let held =
            |state: &HeartbeatState| state.lease.as_ref().is_some_and(|it| it.owner == owner);
        self.change_state(|state| {
            let changes = held(state) || !runs.is_empty();
            state.finish(owner, runs);
            changes
        })
        .await
        .map(drop)
    }

    async fn heartbeat_state(&self) -> Result<(HeartbeatState, u64)> {
        let Some(found) = self.store.documents().get(STATE).await? else {
            return Ok((HeartbeatState::default(), 0));
        };
        // The state of a newer program, with jobs that this one does not know, is begun anew.
        Ok((serde_json::from_str(&found.text).unwrap_or_default(), found.version))
    }

    /// Changes the shared state, again after a conflict; `change` returns `false` to leave it as it is.
    async fn change_state(&self, change: impl Fn(&mut HeartbeatState) -> bool) -> Result<bool> {
        for _ in 0..MAX_ATTEMPTS {
            let (mut state, version) = self.heartbeat_state().await?;
            if !change(&mut state) {
                return Ok(false);
            }
            let text = serde_json::to_string(&state).map_err(Error::store)?;
            if self.store.documents().put(STATE, version, &text).await?.is_some() {
                return Ok(true);
            }
        }
        Err(Error::Conflict { what: "the state of the heartbeat".to_owned() })
    }
}

/// Returns the name under which the ledger keeps the last run of a job. Upkeep shares it with the end of a session.
fn job_name(job: HeartbeatJob) -> &'static str {
    match job {
        HeartbeatJob::Reminders => "reminders",
        HeartbeatJob::Digest => "digest",
        HeartbeatJob::Upkeep => crate::engine::lifecycle::UPKEEP_JOB,
        HeartbeatJob::Overviews => crate::engine::capture::OVERVIEW_JOB,
        HeartbeatJob::Reflection => "reflection",
    }
}

fn new_run(job: HeartbeatJob, at: Timestamp) -> HeartbeatRun {
    HeartbeatRun { job, at, millis: 0, scopes: 0, skipped: 0, done: 0, failed: None }
}

fn note_failure(run: &mut HeartbeatRun, error: &Error) {
    tracing::warn!(job = %run.job, %error, "a job of the heartbeat failed");
    run.failed.get_or_insert_with(|| error.to_string());
}

fn millis_since(begun: Instant) -> u64 {
    u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX)
}
