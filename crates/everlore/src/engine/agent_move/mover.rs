//! One move from beginning to end.

use std::{sync::Arc, time::Instant};

use super::{
    MoveProgress, MoveReport, UserProblem,
    copy_journal::{copy_lines, copy_tombstones, next_page},
    positions::CopyPositions,
};
use crate::{
    config::StoreUrl,
    engine::Engine,
    error::{Error, Result},
    ingest::ReplaySource,
    store::{
        AgentDatabase, AgentMove, AgentStores, MovePhase, SealChange, SealHeartbeat, SealLease,
        Store,
    },
    sync::boxed,
    types::Scope,
};

/// Lines of a round from which on another one follows before writers have to wait: these are copied in about a second.
const MANY_LINES: u64 = 256;

/// Rounds after which writers have to wait all the same: they write faster than is copied.
const MAX_ROUNDS: usize = 10;

/// Move of an agent.
pub(super) struct AgentMover<'a> {
    pub(super) engine: &'a Engine,
    pub(super) stores: &'a Arc<AgentStores>,
    pub(super) agent: &'a str,
    pub(super) to: &'a StoreUrl,
    /// Address that the agent leaves.
    pub(super) kept: StoreUrl,
    /// Name of this mover in the seal, which no other has.
    pub(super) holder: String,
    pub(super) source: Engine,
    pub(super) target: Engine,
}

/// Copy of all users under way.
struct CopyRounds<'a> {
    mover: &'a AgentMover<'a>,
    positions: CopyPositions,
    /// Set until the first page of each user was repeated, which an interrupted copy may have written.
    is_resumed: bool,
    copied: u64,
    total: u64,
}

/// Caller that wants to know how far a move is.
type OnProgress<'a> = &'a mut (dyn FnMut(MoveProgress) + Send);

impl AgentMover<'_> {
    /// Copies, seals, compares and switches.
    pub(super) async fn run(&self, progress: OnProgress<'_>) -> Result<MoveReport> {
        let positions = CopyPositions::read(self.target_store(), self.agent).await?;
        let mut rounds =
            CopyRounds { mover: self, positions, is_resumed: true, copied: 0, total: 0 };
        for _ in 0..MAX_ROUNDS {
            if rounds.copy(progress).await? < MANY_LINES {
                break;
            }
        }
        self.copy_queues().await?;
        let finished = self.finish(&mut rounds, progress).await;
        if finished.is_err() {
            self.release_seal().await;
        }
        finished
    }

    /// Copies the rest while writers wait, compares and switches.
    async fn finish(
        &self,
        rounds: &mut CopyRounds<'_>,
        progress: OnProgress<'_>,
    ) -> Result<MoveReport> {
        let began = Instant::now();
        progress(MoveProgress::Sealed);
        let _heartbeat = self.seal().await?;
        rounds.copy(progress).await?;
        progress(MoveProgress::Comparing);
        let mut report = self.finish_copy().await?;
        if report.moved {
            self.switch().await?;
            progress(MoveProgress::Switched);
            self.copy_stragglers(rounds, progress).await?;
        } else {
            self.set_phase(MovePhase::Failed).await?;
            let end = SealChange::EndOf(&self.holder);
            self.source_store().admin().change_seal(self.agent, end).await?;
        }
        report.sealed_ms = began.elapsed().as_millis() as u64;
        Ok(report)
    }

    /// Stops writes for as long as the result lives and beats.
    async fn seal(&self) -> Result<SealHeartbeat> {
        self.set_phase(MovePhase::Sealed).await?;
        let heartbeat = SealHeartbeat::start(self.stores, self.agent, &self.holder);
        let seal = SealChange::Seal(&self.holder);
        self.source_store().admin().change_seal(self.agent, seal).await?;
        Ok(heartbeat)
    }

    /// Lets writers go on after a failure, if they still wait for this mover. Where that fails, too, its lease runs out.
    async fn release_seal(&self) {
        if let Err(error) = self.stores.refresh().await {
            tracing::debug!("{error}: the last beat may not be known");
        }
        let database = self.stores.database(self.agent);
        let lease = database.moving.as_ref().and_then(|moving| moving.lease.clone());
        let Some(lease) = lease.filter(|lease| lease.holder == self.holder) else { return };
        if let Err(error) = self.stores.end_seal(self.agent, &lease).await {
            tracing::warn!("{error}: writers of `{}` wait for some seconds", self.agent);
        }
    }

    /// Copies what is not in journals, and compares both databases.
    async fn finish_copy(&self) -> Result<MoveReport> {
        let now = self.engine.now().timestamp();
        let mut report = MoveReport::new(self.engine, self.agent, &self.kept, self.to);
        for scope in self.scopes(&self.source).await? {
            copy_tombstones(self.source_store(), self.target_store(), &scope, now).await?;
            report.count(&self.source.count(&scope).await?);
        }
        self.copy_queues().await?;
        report.problems = self.compare().await?;
        report.moved = report.problems.is_empty();
        Ok(report)
    }

    async fn compare(&self) -> Result<Vec<UserProblem>> {
        let mut scopes = self.scopes(&self.source).await?;
        scopes.extend(self.scopes(&self.target).await?);
        scopes.sort();
        scopes.dedup();
        let mut problems = Vec::new();
        for scope in scopes {
            for problem in self.source.compare_scope(&self.target, &scope).await? {
                problems.push(UserProblem { user: scope.user().to_owned(), problem });
            }
        }
        Ok(problems)
    }

    /// Notes in the source how far the target is, for the way back, and changes the registry.
    async fn switch(&self) -> Result<()> {
        let source = self.source_store();
        let mut back = CopyPositions::read(source, self.agent).await?;
        back.restart(&self.target_store().admin().info().url);
        for scope in self.scopes(&self.target).await? {
            let newest = self.target_store().journal().newest_seq(&scope).await?;
            back.users.insert(scope.user().to_owned(), newest);
        }
        back.save(source, self.agent).await?;
        let moved = |current: AgentDatabase| {
            self.check_ours(&current)?;
            if !current.is_sealed_by(&self.holder) {
                // Another process took this one for dead, and writers went on.
                return Err(self.conflict());
            }
            Ok(AgentDatabase { url: self.to.clone(), moving: None, kept: Some(self.kept.clone()) })
        };
        self.stores.update(self.agent, moved).await.map(drop)
    }

    /// Copies first writes of new users through a node of a cluster that did not know of the seal yet.
    async fn copy_stragglers(
        &self,
        rounds: &mut CopyRounds<'_>,
        progress: OnProgress<'_>,
    ) -> Result<()> {
        let seal = SealChange::SEAL_FOR_GOOD;
        self.source_store().admin().change_seal(self.agent, seal).await?;
        rounds.copy(progress).await?;
        CopyPositions::remove(self.target_store(), self.agent).await
    }

    #[boxed]
    async fn copy_queues(&self) -> Result<()> {
        for scope in self.scopes(&self.source).await? {
            self.source.copy_queue(&self.target, &scope).await?;
        }
        Ok(())
    }

    async fn set_phase(&self, phase: MovePhase) -> Result<()> {
        let change = |current: AgentDatabase| {
            self.check_ours(&current)?;
            let lease = Some(SealLease { holder: self.holder.clone(), beats: 0 });
            let moving = Some(AgentMove { to: self.to.clone(), phase, lease });
            Ok(AgentDatabase { moving, ..current })
        };
        self.stores.update(self.agent, change).await.map(drop)
    }

    /// Fails if another process ended or finished this move.
    fn check_ours(&self, current: &AgentDatabase) -> Result<()> {
        let is_ours = current.moving.as_ref().is_some_and(|moving| moving.to == *self.to);
        if is_ours && current.url == self.kept {
            return Ok(());
        }
        Err(self.conflict())
    }

    fn conflict(&self) -> Error {
        Error::Conflict { what: format!("the database of `{}`", self.agent) }
    }

    async fn scopes(&self, engine: &Engine) -> Result<Vec<Scope>> {
        let mut scopes = engine.admin().scopes().await?;
        scopes.retain(|scope| scope.agent() == self.agent);
        Ok(scopes)
    }

    fn source_store(&self) -> &dyn Store {
        &**self.source.store()
    }

    fn target_store(&self) -> &dyn Store {
        &**self.target.store()
    }
}

impl CopyRounds<'_> {
    /// Copies the new lines of all users and returns how many there were.
    async fn copy(&mut self, progress: OnProgress<'_>) -> Result<u64> {
        let mut waiting = Vec::new();
        for scope in self.mover.scopes(&self.mover.source).await? {
            let newest = self.mover.source_store().journal().newest_seq(&scope).await?;
            let done = self.positions.users.get(scope.user()).copied().unwrap_or(0);
            self.total += newest.saturating_sub(done);
            waiting.push((scope, done, newest));
        }
        let before = self.copied;
        progress(MoveProgress::Copying { copied: self.copied, total: self.total });
        for (scope, done, newest) in waiting {
            self.copy_scope(&scope, done, newest, progress).await?;
        }
        self.is_resumed = false;
        Ok(self.copied - before)
    }

    async fn copy_scope(
        &mut self,
        scope: &Scope,
        mut done: u64,
        newest: u64,
        progress: OnProgress<'_>,
    ) -> Result<()> {
        let (from, to) = (self.mover.source_store(), self.mover.target_store());
        let now = self.mover.engine.now().timestamp();
        let is_new = to.journal().newest_seq(scope).await? == 0;
        let mut source = if self.is_resumed && !is_new {
            ReplaySource::Resumed
        } else {
            ReplaySource::Continued
        };
        while done < newest {
            let entries = next_page(from, scope, done, newest).await?;
            let last = entries.last().map_or(newest, |entry| entry.seq);
            copy_lines(to, scope, entries, source, now).await?;
            source = ReplaySource::Continued;
            self.copied += last - done;
            done = last;
            self.positions.users.insert(scope.user().to_owned(), done);
            self.positions.save(to, self.mover.agent).await?;
            progress(MoveProgress::Copying { copied: self.copied, total: self.total });
        }
        Ok(())
    }
}
