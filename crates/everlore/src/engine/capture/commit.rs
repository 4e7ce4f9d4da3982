//! Committing what a session taught: plan against what is known, write, and verify.

use jiff::SignedDuration;

use super::{
    extract::{ExtractedDrafts, ModelArbiter},
    run_id,
};
use crate::{
    engine::Engine,
    error::{Error, Result},
    ingest::{self, Arbiter, CaptureContext, CapturePlan, GateContext, TextSketch},
    store::{SessionLease, UnreadTurns},
    sync::run_blocking,
    types::{Actor, CaptureCheckpoint, MemoryId, QuarantineLimits, Scope, Timestamp, WriteBatch},
};

/// Plans made for one session when someone else changes a memory meanwhile.
const MAX_ATTEMPTS: usize = 5;

impl Engine {
    /// Stores memories, quarantined drafts and the checkpoint of a session in one write.
    pub(super) async fn commit(
        &self,
        claimed: &SessionLease,
        unread: &UnreadTurns,
        drawn: &ExtractedDrafts,
        arbiter: Option<&ModelArbiter<'_>>,
    ) -> Result<(CapturePlan, String)> {
        let (scope, session) = (&claimed.scope, claimed.session.as_deref());
        let mut attempt = 1;
        loop {
            let now = self.now().timestamp();
            let run = run_id(now);
            let judging = self.capture_context(scope, session, &run, now).await?;
            let deciding = arbiter.map(|arbiter| arbiter as &dyn Arbiter);
            let planned =
                ingest::plan_capture(&*self.store, &drawn.drafts, &judging, deciding).await?;
            let tokens = drawn.tokens + arbiter.map_or(0, ModelArbiter::tokens);
            let write = self.extraction_write(claimed, unread, (&planned, tokens), &run, now);
            match self.store.apply(write).await {
                // Someone changed a memory that this would change, or took the uri: judge again by what is known now.
                Err(Error::Conflict { .. }) if attempt < MAX_ATTEMPTS => attempt += 1,
                Err(error) => return Err(error),
                Ok(applied) => {
                    let ids: Vec<_> = applied.iter().map(|applied| applied.id).collect();
                    self.verify_stored(scope, &ids).await?;
                    return Ok((planned, run));
                }
            }
        }
    }

    fn extraction_write(
        &self,
        claimed: &SessionLease,
        unread: &UnreadTurns,
        (planned, tokens): (&CapturePlan, u64),
        run: &str,
        now: Timestamp,
    ) -> WriteBatch {
        let extract = &self.settings(claimed.scope.agent()).memory_agent.extract;
        let days = i64::try_from(extract.held_days).unwrap_or(i64::MAX);
        let since = now - SignedDuration::from_hours(days.saturating_mul(24));
        let extracted = CaptureCheckpoint {
            session: claimed.session.clone(),
            owner: claimed.owner.clone(),
            from: unread.from,
            to: unread.to,
            quarantined: planned.quarantined.clone(),
            limits: QuarantineLimits { max_drafts: extract.max_held, keep_since: since },
        };
        let cause = match &claimed.session {
            Some(session) => format!("extract from session {session}"),
            None => "extract".to_owned(),
        };
        let changes = planned.changes.clone();
        WriteBatch {
            run: Some(run.to_owned()),
            // Each line of the journal bears its part.
            cost: tokens.div_ceil(changes.len().max(1) as u64),
            checkpoint: Some(extracted),
            ..WriteBatch::new(&claimed.scope, Actor::Engine, cause, now, changes)
        }
    }

    async fn verify_stored(&self, scope: &Scope, ids: &[MemoryId]) -> Result<()> {
        let verified = self.store.memories().verify(scope, ids).await?;
        match ids.iter().zip(verified).find(|(_, verified)| !verified) {
            Some((id, _)) => {
                Err(Error::damaged(format!("memory `{id}` was stored but cannot be read back")))
            }
            None => Ok(()),
        }
    }

    pub(super) async fn capture_context<'a>(
        &self,
        scope: &'a Scope,
        session: Option<&'a str>,
        run: &'a str,
        now: Timestamp,
    ) -> Result<CaptureContext<'a>> {
        let extract = &self.settings(scope.agent()).memory_agent.extract;
        let gate = GateContext {
            min_confidence: extract.min_confidence,
            injected: self.session_injection_sketches(scope, session).await?,
            system_prompt: self.soul_sketch(scope).await,
            known: Vec::new(),
        };
        Ok(CaptureContext { scope, session, run, gate, max_accepted: extract.max_facts, now })
    }

    /// What was put into the prompts of a session, so that an echo is told from news even after the memory is gone.
    async fn session_injection_sketches(
        &self,
        scope: &Scope,
        session: Option<&str>,
    ) -> Result<Vec<TextSketch>> {
        let Some(session) = session else { return Ok(Vec::new()) };
        let told = self.injected_sketches(scope, session).await?;
        Ok(told.into_iter().map(|(_, likeness)| likeness).collect())
    }

    /// The words that the agent was given for itself.
    async fn soul_sketch(&self, scope: &Scope) -> TextSketch {
        let (Ok(layers), today) = (self.layers(scope), self.now().date()) else {
            return TextSketch::default();
        };
        match run_blocking(move || layers.snapshot(today)).await {
            Ok(snapshot) => TextSketch::of(&snapshot.soul.text),
            Err(error) => {
                tracing::warn!("{error}: what repeats SOUL.md is not told apart");
                TextSketch::default()
            }
        }
    }
}
