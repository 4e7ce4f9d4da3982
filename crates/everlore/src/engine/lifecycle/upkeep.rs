//! Upkeep: the work between turns, on request or when due.

use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};

use super::upkeep_report::{
    TouchedMemory, UpkeepJob, UpkeepJobReport, UpkeepReport, UpkeepRequest,
};
use crate::{
    engine::{Engine, SCAN_PAGE},
    error::{Error, Result},
    store::{InjectedTier, UsageRecord, UsageSelection},
    sync::boxed,
    types::{
        Actor, Change, Kind, Memory, MemoryFeedback, MemoryId, QuarantinedDraft, Scope, Status,
        Timestamp, WriteBatch,
    },
    upkeep::{apply_usage, archived, find_merges, is_expired, merge_key, needs_confirmation},
};
use jiff::{SignedDuration, ToSpan};

/// Attempts of a job when concurrent changes conflict; then the next upkeep takes over.
const MAX_ATTEMPTS: usize = 3;

/// Changes that a job plans.
#[derive(Default)]
struct UpkeepPlan {
    after: Vec<Memory>,
    /// Usage records that the job consumes.
    usage_lines: Vec<u64>,
}

impl Engine {
    /// Runs all upkeep jobs and returns a report; with `dry_run`, only plans them. Calls `progress` as each job
    /// begins. A job that touches too many memories waits for confirmation by `yes`. Fails if memory is disabled for
    /// the agent or the store fails; an unreachable embedder fails only its own job.
    #[boxed]
    pub async fn upkeep(
        &self,
        scope: &Scope,
        request: &UpkeepRequest,
        progress: &mut (dyn FnMut(UpkeepJob) + Send),
    ) -> Result<UpkeepReport> {
        self.check_enabled(scope)?;
        self.usage_tasks.flush().await;
        if !request.dry_run {
            let now = self.now().timestamp();
            self.store.ledger().try_begin_job(scope, UPKEEP_JOB, now, Duration::ZERO).await?;
        }
        let mut jobs = Vec::new();
        for job in [UpkeepJob::Weigh, UpkeepJob::Expire, UpkeepJob::Archive, UpkeepJob::Merge] {
            progress(job);
            jobs.push(self.run_memory_job(scope, job, request).await?);
        }
        for job in [UpkeepJob::Prune, UpkeepJob::Embed, UpkeepJob::Vacuum] {
            progress(job);
            jobs.push(self.run_maintenance_job(scope, job, request.dry_run).await?);
        }
        Ok(UpkeepReport { dry_run: request.dry_run, jobs })
    }

    /// Runs upkeep if the settings enable it, it is due and no other process runs it; returns `None` otherwise. Leaves
    /// jobs that need confirmation. Call it between turns or at the end of a session, never while a user waits.
    pub async fn upkeep_if_due(&self, scope: &Scope) -> Result<Option<UpkeepReport>> {
        let (settings, now) = (self.settings(scope.agent()), self.now());
        let config = &settings.upkeep;
        let may = config.enabled && settings.memory.enabled && config.may_run_at(now.hour());
        if !may {
            return Ok(None);
        }
        let at = now.timestamp();
        if !self.store.ledger().try_begin_job(scope, UPKEEP_JOB, at, config.every).await? {
            return Ok(None);
        }
        self.upkeep(scope, &UpkeepRequest::default(), &mut |_| {}).await.map(Some)
    }

    /// Returns the start of the last upkeep, if any.
    pub async fn last_upkeep(&self, scope: &Scope) -> Result<Option<Timestamp>> {
        self.store.ledger().job_begun_at(scope, UPKEEP_JOB).await
    }

    /// Plans a job and applies it as one run, unless it touches too many memories.
    #[boxed]
    async fn run_memory_job(
        &self,
        scope: &Scope,
        job: UpkeepJob,
        request: &UpkeepRequest,
    ) -> Result<UpkeepJobReport> {
        let now = self.now().timestamp();
        let run = format!("{}-{}", job.as_str(), now.as_millisecond());
        for _ in 0..MAX_ATTEMPTS {
            let plan = self.plan_job(scope, job, now).await?;
            let stopped = match job {
                // Weights move within bounds, and only those of injected memories.
                UpkeepJob::Weigh => None,
                // Each of these names the day on which it ends: somebody has confirmed that already.
                UpkeepJob::Expire => None,
                _ if request.yes => None,
                _ => self.needs_confirmation(scope, job, &plan.after).await?,
            };
            let memories: Vec<_> = plan.after.iter().map(touched_memory).collect();
            let report = UpkeepJobReport {
                memories,
                stopped,
                ..UpkeepJobReport::new(job, plan.after.len() as u64)
            };
            if request.dry_run || report.stopped.is_some() {
                return Ok(UpkeepJobReport { done: 0, ..report });
            }
            match self.apply_plan(scope, job, plan, &run, now).await {
                Ok(()) => {
                    let run = (!report.memories.is_empty()).then_some(run);
                    return Ok(UpkeepJobReport { run, ..report });
                }
                Err(Error::Conflict { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let failed = Some("another process is changing its memories".to_owned());
        Ok(UpkeepJobReport { failed, ..UpkeepJobReport::new(job, 0) })
    }

    async fn plan_job(&self, scope: &Scope, job: UpkeepJob, now: Timestamp) -> Result<UpkeepPlan> {
        let settings = self.settings(scope.agent());
        let after = match job {
            UpkeepJob::Weigh => return self.plan_weights(scope).await,
            UpkeepJob::Expire => {
                let mut expired = Vec::new();
                let is_over = |memory: &Memory| is_expired(memory, now);
                self.for_each_active(scope, &STATEMENT_KINDS, |memory| {
                    expired.extend(is_over(&memory).then_some(memory))
                })
                .await?;
                expired.iter().map(|memory| archived(memory, now)).collect()
            }
            UpkeepJob::Archive => {
                let threshold = settings.memory.long_term.archive_threshold;
                let light = self.low_weight_memories(scope, threshold, now).await?;
                light.iter().map(|memory| archived(memory, now)).collect()
            }
            UpkeepJob::Merge if settings.upkeep.merge => self.plan_merges(scope, now).await?,
            _ => Vec::new(),
        };
        Ok(UpkeepPlan { after, usage_lines: Vec::new() })
    }

    /// Plans the weight updates from usage since the last upkeep.
    async fn plan_weights(&self, scope: &Scope) -> Result<UpkeepPlan> {
        let lines = self.store.usage().of_scope(scope, UsageSelection::AwaitingWeights).await?;
        let mut uses: BTreeMap<MemoryId, Vec<(Timestamp, bool)>> = BTreeMap::new();
        let was_injected = |line: &&UsageRecord| line.injected.shown != InjectedTier::HeldOut;
        for line in lines.iter().filter(was_injected) {
            uses.entry(line.injected.id).or_default().push((line.at, line.used == Some(true)));
        }
        let ids: Vec<_> = uses.keys().copied().collect();
        let memories = self.store.memories().get(scope, &ids).await?;
        let after = memories
            .iter()
            .flatten()
            .filter_map(|memory| apply_usage(memory, &earned_uses(memory, uses.get(&memory.id)?)?));
        Ok(UpkeepPlan {
            after: after.collect(),
            usage_lines: lines.iter().map(|line| line.seq).collect(),
        })
    }

    /// Plans the merging of duplicates. Scans memories one by one for their merge key and loads together only those
    /// with equal keys.
    async fn plan_merges(&self, scope: &Scope, now: Timestamp) -> Result<Vec<Memory>> {
        let mut by_key: HashMap<_, Vec<MemoryId>> = HashMap::new();
        self.for_each_active(scope, &STATEMENT_KINDS, |memory| {
            if let Some(key) = merge_key(&memory) {
                by_key.entry(key).or_default().push(memory.id);
            }
        })
        .await?;
        let ids: Vec<_> = by_key.into_values().filter(|ids| ids.len() > 1).flatten().collect();
        let memories: Vec<_> =
            self.store.memories().get(scope, &ids).await?.into_iter().flatten().collect();
        let both = |merge: crate::upkeep::DuplicateMerge| {
            merge.superseded.into_iter().chain([merge.survivor])
        };
        Ok(find_merges(&memories, now).into_iter().flat_map(both).collect())
    }

    /// Returns the reason why a job needs confirmation, if any. Counts turns apart: there are many, and they would
    /// hide the rest.
    async fn needs_confirmation(
        &self,
        scope: &Scope,
        job: UpkeepJob,
        after: &[Memory],
    ) -> Result<Option<String>> {
        let counts = self.store.memories().count(scope).await?;
        for turns in [false, true] {
            let is_meant = |kind: Kind| (kind == Kind::Turn) == turns;
            // The survivor of a merge loses nothing.
            let touched = after
                .iter()
                .filter(|memory| is_meant(memory.kind) && memory.status != Status::Active)
                .count();
            let active = counts
                .memories
                .iter()
                .filter(|(kind, status, _)| is_meant(*kind) && *status == Status::Active);
            let all: usize = active.map(|(_, _, count)| count).sum();
            if needs_confirmation(touched, all) {
                let what = if turns { "turns" } else { "memories" };
                return Ok(Some(format!(
                    "{} would change {touched} of {all} {what}, more than a quarter",
                    job.as_str()
                )));
            }
        }
        Ok(None)
    }

    async fn apply_plan(
        &self,
        scope: &Scope,
        job: UpkeepJob,
        plan: UpkeepPlan,
        run: &str,
        now: Timestamp,
    ) -> Result<()> {
        let cause = match job {
            UpkeepJob::Weigh => "usage".to_owned(),
            job => format!("upkeep: {}", job.as_str()),
        };
        for page in plan.after.chunks(SCAN_PAGE) {
            let changes = page.iter().map(|memory| Change::Update(Box::new(memory.clone())));
            let write =
                WriteBatch::new(scope, Actor::Engine, cause.clone(), now, changes.collect());
            self.store.apply(WriteBatch { run: Some(run.to_owned()), ..write }).await?;
        }
        if !plan.usage_lines.is_empty() {
            self.store.usage().mark_weights_updated(scope, plan.usage_lines).await?;
        }
        Ok(())
    }

    /// Runs a job that changes no memory.
    async fn run_maintenance_job(
        &self,
        scope: &Scope,
        job: UpkeepJob,
        dry_run: bool,
    ) -> Result<UpkeepJobReport> {
        let report = |done| UpkeepJobReport::new(job, done);
        match job {
            _ if dry_run => Ok(report(0)),
            UpkeepJob::Prune => Ok(report(self.prune(scope).await? as u64)),
            UpkeepJob::Embed => match self.backfill_scope(scope).await {
                Ok(embedded) => Ok(report(embedded as u64)),
                // An unreachable model does not stop the other jobs.
                Err(error @ Error::Remote { .. }) => {
                    Ok(UpkeepJobReport { failed: Some(error.to_string()), ..report(0) })
                }
                Err(error) => Err(error),
            },
            _ => Ok(report(self.store.admin().compact().await?)),
        }
    }

    async fn prune(&self, scope: &Scope) -> Result<usize> {
        let now = self.now();
        let usage_days = self.settings(scope.agent()).upkeep.usage_days;
        let age = SignedDuration::from_hours(24 * i64::from(usage_days));
        let before = now.timestamp().checked_sub(age).unwrap_or(Timestamp::MIN);
        let lines = self.store.usage().prune(scope, before).await?;
        let days = i64::from(self.config.upkeep.ledger_days).days();
        let before = now.date().checked_sub(days).unwrap_or(jiff::civil::Date::MIN);
        let charges = self.store.ledger().prune(before).await?;
        Ok(lines + charges + self.prune_quarantine(scope).await?)
    }

    /// Removes expired drafts from the quarantine.
    async fn prune_quarantine(&self, scope: &Scope) -> Result<usize> {
        let days = self.settings(scope.agent()).memory_agent.extract.held_days;
        let days = i64::try_from(days).unwrap_or(i64::MAX);
        let age = SignedDuration::from_hours(days.saturating_mul(24));
        let since = self.now().timestamp().checked_sub(age).unwrap_or(Timestamp::MIN);
        let drafts = self.store.queue().quarantined(scope).await?;
        let old: Vec<_> =
            drafts.iter().filter(|draft| draft.at < since).map(QuarantinedDraft::id).collect();
        if old.is_empty() { Ok(0) } else { self.store.queue().drop_quarantined(scope, &old).await }
    }

    async fn backfill_scope(&self, scope: &Scope) -> Result<usize> {
        let Some(backfill) = &self.backfill else { return Ok(0) };
        // A person decides which model is in use.
        if !backfill.ensure_model_in_use().await? {
            return Ok(0);
        }
        backfill.backfill(Some(scope), &mut |_| {}).await
    }
}

/// All kinds but turns, which neither expire nor duplicate others.
pub(in crate::engine) const STATEMENT_KINDS: [Kind; 7] = [
    Kind::User,
    Kind::Feedback,
    Kind::Project,
    Kind::Reference,
    Kind::Knowledge,
    Kind::Experience,
    Kind::Session,
];

/// Ledger job name, for the time of the last upkeep.
pub(in crate::engine) const UPKEEP_JOB: &str = "upkeep";

/// Returns the uses that speak for a memory: not those before a person blamed it, and none if they archived it for that.
fn earned_uses(memory: &Memory, uses: &[(Timestamp, bool)]) -> Option<Vec<(Timestamp, bool)>> {
    let Some(feedback) = MemoryFeedback::of_memory(memory).filter(|it| it.bad > 0) else {
        return Some(uses.to_vec());
    };
    let is_later = |at: Timestamp| feedback.at.is_none_or(|blamed| at > blamed);
    let earned = uses.iter().copied().filter(|(at, _)| is_later(*at)).collect();
    (!feedback.archived).then_some(earned)
}

fn touched_memory(memory: &Memory) -> TouchedMemory {
    let name = if memory.name.is_empty() { &memory.content } else { &memory.name };
    TouchedMemory {
        id: memory.id,
        name: name.chars().take(80).collect(),
        weight: memory.weight,
        superseded_by: memory.superseded_by,
    }
}
