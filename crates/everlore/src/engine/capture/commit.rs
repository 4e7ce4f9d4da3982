//! Commit step of capture: plans drafts against known memories, writes the plan, and verifies the write.

use jiff::SignedDuration;

use super::extract::{ExtractedDrafts, ModelArbiter};
use crate::{
    engine::Engine,
    error::{Error, Result},
    ingest::{self, CaptureContext, CapturePlan, GateContext, TextSketch},
    store::{SessionLease, UnreadTurns, confirm_readable},
    sync::run_blocking,
    types::{
        Actor, CaptureCheckpoint, Change, QuarantineLimits, Scope, Timestamp, WriteBatch, run_name,
    },
};

/// Most plans for one session when concurrent changes to a memory conflict.
const MAX_ATTEMPTS: usize = 5;

impl Engine {
    /// Stores memories, quarantined drafts and the checkpoint of a session in one write. Returns the plan and the run
    /// id. Plans again after a conflict, at most [`MAX_ATTEMPTS`] times in all.
    pub(super) async fn commit(
        &self,
        lease: &SessionLease,
        unread: &UnreadTurns,
        extracted: &ExtractedDrafts,
        arbiter: Option<&ModelArbiter<'_>>,
    ) -> Result<(CapturePlan, String)> {
        let (scope, session) = (&lease.scope, lease.session.as_deref());
        let mut attempt = 1;
        loop {
            let now = self.now().timestamp();
            let run = run_name("extract", now);
            let context = self.capture_context(scope, session, &run, now).await?;
            let models = self.capture_models(arbiter);
            let plan =
                ingest::plan_capture(&*self.store, &extracted.drafts, &context, models).await?;
            let mut write = self.extraction_write(lease, unread, extracted, &plan, &run, now);
            let changed: Vec<_> = plan.changes.iter().map(Change::id).collect();
            let mut reports = extracted.reports.clone();
            reports.retain(|report| !changed.contains(&report.id));
            write.changes.extend(self.report_changes(scope, &reports, now).await?);
            let tokens = extracted.tokens + arbiter.map_or(0, ModelArbiter::tokens);
            // Each journal entry bears its share.
            write.cost = tokens.div_ceil(write.changes.len().max(1) as u64);
            match self.store.apply(write).await {
                // A concurrent write changed a memory of this plan or took its URI: plan again against the current
                // state.
                Err(Error::Conflict { .. }) if attempt < MAX_ATTEMPTS => attempt += 1,
                Err(error) => return Err(error),
                Ok(applied) => {
                    let ids: Vec<_> = applied.iter().map(|applied| applied.id).collect();
                    confirm_readable(&*self.store, scope, &ids).await?;
                    return Ok((plan, run));
                }
            }
        }
    }

    fn extraction_write(
        &self,
        lease: &SessionLease,
        unread: &UnreadTurns,
        extracted: &ExtractedDrafts,
        plan: &CapturePlan,
        run: &str,
        now: Timestamp,
    ) -> WriteBatch {
        let extract = &self.settings(lease.scope.agent()).memory_agent.extract;
        let days = i64::try_from(extract.held_days).unwrap_or(i64::MAX);
        let since = now - SignedDuration::from_hours(days.saturating_mul(24));
        let checkpoint = CaptureCheckpoint {
            session: lease.session.clone(),
            owner: lease.owner.clone(),
            from: unread.from,
            to: unread.to,
            quarantined: plan.quarantined.clone(),
            limits: QuarantineLimits { max_drafts: extract.max_held, keep_since: since },
        };
        let mut cause = match &lease.session {
            Some(session) => format!("extract from session {session}"),
            None => "extract".to_owned(),
        };
        if let Some(note) = &extracted.note {
            cause += &format!(" ({note})");
        }
        let changes = plan.changes.clone();
        WriteBatch {
            run: Some(run.to_owned()),
            checkpoint: Some(checkpoint),
            ..WriteBatch::new(&lease.scope, Actor::Engine, cause, now, changes)
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

    /// Returns sketches of the memories injected into a session's prompts, so that the gate detects an echo even after
    /// the memory is deleted.
    async fn session_injection_sketches(
        &self,
        scope: &Scope,
        session: Option<&str>,
    ) -> Result<Vec<TextSketch>> {
        let Some(session) = session else { return Ok(Vec::new()) };
        let sketches = self.injected_sketches(scope, session).await?;
        Ok(sketches.into_iter().map(|(_, sketch)| sketch).collect())
    }

    /// Returns the sketch of SOUL.md, the agent's own persona text.
    async fn soul_sketch(&self, scope: &Scope) -> TextSketch {
        let (Ok(layers), today) = (self.layers(scope), self.now().date()) else {
            return TextSketch::default();
        };
        match run_blocking(move || layers.snapshot(today)).await {
            Ok(snapshot) => TextSketch::of(&snapshot.soul.text),
            Err(error) => {
                tracing::warn!("{error}: statements that repeat SOUL.md are not recognized");
                TextSketch::default()
            }
        }
    }
}
