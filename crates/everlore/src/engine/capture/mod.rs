//! Capture, from turns to memories: lease a session, read its turns, extract, judge, reconcile, commit, report.
//!
//! 1. A stored turn counts as unread in the same transaction (`store/capture_queue.rs`). The worker (`worker.rs`), the
//!    end of a session or a person leases a session: `CaptureQueue::claim`, one lease per scope.
//! 2. `extract_drafts` (`extract.rs`) extracts drafts from at most 40 unread turns: as they were said
//!    (`ingest/extract/statements/`, with the classifier of `llm/local/sentence_head.rs` where the engine has one), or by
//!    one call of a model, whose answer `ingest/extract/model_response.rs` takes whole or not at all.
//! 3. `ingest::plan_capture` decides the fate of each draft; later ones see the changes of earlier ones. The gate
//!    (`ingest/gate.rs`) gives a verdict with a reason, `ingest/neighbours.rs` finds memories near the draft by slot
//!    and by words, and `ingest/reconcile.rs` resolves it to add, update, supersede, withdraw or skip. Where the rules
//!    are unsure and a model extracted, `ingest/arbiter.rs` asks it.
//! 4. `commit` (`commit.rs`) stores the changes as a run, the quarantined drafts and the checkpoint in one write, which
//!    fails if another process holds the lease or moved the checkpoint. After a failure the session returns to the
//!    queue with the reason and the time of the retry.

mod copy_queue;
mod extract;
mod note;
mod commit;
mod overviews;
mod quarantine;
mod worker;

use std::{sync::Arc, time::Duration};

use jiff::SignedDuration;
use serde::Serialize;

use self::extract::{ExtractedDrafts, MAX_DECISIONS, MAX_SILENCES};
use super::Engine;
use crate::{
    error::{Error, Result},
    ingest::{self, CapturePlan, DraftOutcome},
    llm::ChatModel,
    store::{CaptureFailure, ClaimRequest, DuePolicy, PendingSession, SessionLease, UnreadTurns},
    sync::boxed,
    types::{MemoryId, QuarantinedDraft, Scope},
};

pub(in crate::engine) use overviews::{OVERVIEW_JOB, OVERVIEW_PASS_INTERVAL};
pub use worker::BackgroundWorker;

/// Most turns per extraction: a model still attends to each of them, and a failure repeats little work.
pub(crate) const MAX_TURNS: usize = 40;

/// Time by which a lease exceeds the model calls of an extraction, for judging and storing.
const LEASE_SLACK: Duration = Duration::from_secs(30);

/// Delay of the first retry; each further retry doubles it.
const FIRST_RETRY: SignedDuration = SignedDuration::from_secs(30);

/// Longest delay of a retry: a provider that recovered gets noticed within the hour.
const MAX_RETRY: SignedDuration = SignedDuration::from_hours(1);

/// Request for a manual extraction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExtractRequest {
    /// Session to extract from; `None` for all.
    pub session: Option<String>,
    /// Set to report without storing anything.
    pub dry_run: bool,
}

/// Report of one extraction from a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ExtractionReport {
    /// Session; `None` for turns outside of one.
    pub session: Option<String>,
    /// Number of turns read.
    pub turns: usize,
    /// Extractor: `rules`, or the name of a model.
    pub by: String,
    /// Run id, for undoing all of it; `None` if nothing changed.
    pub run: Option<String>,
    /// Outcome of each draft.
    pub drafts: Vec<DraftOutcome>,
    /// Tokens that the model spent.
    pub tokens: u64,
    /// Remark, such as why rules replaced the model.
    pub note: Option<String>,
    /// Reason of a failure; the turns stay in the queue for a retry.
    pub error: Option<String>,
}

/// State of the capture queue and the quarantine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CaptureStatus {
    /// Sessions with unread turns.
    pub waiting: Vec<PendingSession>,
    /// Total number of unread turns.
    pub turns: usize,
    /// Drafts in quarantine, rejected ones included.
    pub held: usize,
    /// Reason why rules replaced the model, until it extracts again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Engine {
    /// Returns this engine with a chat model that reads conversations, if the settings allow it.
    #[must_use]
    pub fn with_chat_model(self, model: Arc<dyn ChatModel>) -> Self {
        Self { chat: Some(model), ..self }
    }

    /// Returns this engine with another model that writes summaries and overviews.
    #[must_use]
    pub fn with_summary_model(self, model: Arc<dyn ChatModel>) -> Self {
        Self { summary: Some(model), ..self }
    }

    /// Returns the model that writes summaries and overviews, if it is another one than that of the conversation.
    pub(crate) fn summary_model(&self) -> Option<Arc<dyn ChatModel>> {
        self.summary.clone()
    }

    /// Captures all unread turns of a scope, or of one of its sessions: extracts drafts, judges and reconciles them, and
    /// commits the changes. Returns a report for each extraction. Failed sessions stay in the queue, and their report
    /// names the reason. Fails if memory is disabled for the agent or the store fails.
    #[boxed]
    pub async fn extract(
        &self,
        scope: &Scope,
        request: &ExtractRequest,
    ) -> Result<Vec<ExtractionReport>> {
        self.check_enabled(scope)?;
        let mut done = Vec::new();
        for pending in self.pending_sessions(scope, request.session.as_deref()).await? {
            if request.dry_run {
                done.push(self.preview_extraction(&pending).await?);
            } else {
                self.extract_session(scope, pending.session, &mut done).await?;
            }
        }
        Ok(done)
    }

    /// Extracts memories from the session of any scope that is due longest; returns `None` if none is due. Fails if
    /// the store fails; a failed extraction is in the report.
    pub async fn extract_due(&self) -> Result<Option<ExtractionReport>> {
        match self.claim_next().await? {
            Some(lease) => self.extract_claimed(&lease).await.map(Some),
            None => Ok(None),
        }
    }

    /// Leases the session that is due longest.
    pub(crate) async fn claim_next(&self) -> Result<Option<SessionLease>> {
        let due = self.due_rules().await?;
        self.store.queue().claim(&self.claim_request(None, None, Some(due))).await
    }

    /// Returns the pending sessions of a scope and the size of its quarantine.
    pub async fn capture_status(&self, scope: &Scope) -> Result<CaptureStatus> {
        let pending = self.store.queue().pending(Some(scope)).await?;
        let turns = pending.iter().map(|it| it.turns).sum();
        Ok(CaptureStatus {
            waiting: pending,
            turns,
            held: self.store.queue().quarantined(scope).await?.len(),
            note: self.capture_note().filter(|_| self.settings(scope.agent()).memory_agent.enabled),
        })
    }

    /// Marks a session as ended, so that the worker reads it without waiting for more turns. Returns `false` if there
    /// is no such session.
    pub async fn mark_session_ended(&self, scope: &Scope, session: &str) -> Result<bool> {
        let session = self.stored_session(scope, session);
        let marked = self.store.queue().mark_ended(scope, &session, self.now().timestamp()).await?;
        self.worker_wakeup.notify_one();
        Ok(marked)
    }

    /// Returns the drafts in quarantine, newest first.
    pub async fn quarantine(&self, scope: &Scope) -> Result<Vec<QuarantinedDraft>> {
        self.store.queue().quarantined(scope).await
    }

    async fn pending_sessions(
        &self,
        scope: &Scope,
        session: Option<&str>,
    ) -> Result<Vec<PendingSession>> {
        let mut pending = self.store.queue().pending(Some(scope)).await?;
        if let Some(name) = session {
            let name = self.stored_session(scope, name);
            pending.retain(|it| it.session.as_deref() == Some(&*name));
        }
        Ok(pending)
    }

    /// Extracts from a session until no turn is unread or an extraction fails.
    async fn extract_session(
        &self,
        scope: &Scope,
        session: Option<String>,
        done: &mut Vec<ExtractionReport>,
    ) -> Result<()> {
        loop {
            let sessions = self.pending_sessions(scope, None).await?;
            let Some(pending) = sessions.iter().find(|it| it.session == session) else {
                return Ok(());
            };
            let claim = self.claim_request(Some(scope), Some(pending), None);
            let Some(lease) = self.store.queue().claim(&claim).await? else {
                done.push(ExtractionReport::already_leased(pending));
                return Ok(());
            };
            let extraction = self.extract_claimed(&lease).await?;
            let failed = extraction.error.is_some();
            done.push(extraction);
            if failed {
                return Ok(());
            }
        }
    }

    fn claim_request(
        &self,
        scope: Option<&Scope>,
        pending: Option<&PendingSession>,
        due: Option<DuePolicy>,
    ) -> ClaimRequest {
        let now = self.now().timestamp();
        let model = self.chat.as_ref().filter(|_| self.config.memory_agent.enabled);
        let answer = model.map_or(Duration::ZERO, |_| self.config.memory_agent.timeout);
        ClaimRequest {
            scope: scope.cloned(),
            session: pending.map(|pending| pending.session.clone()),
            owner: MemoryId::new(now).to_string(),
            now,
            lease_duration: answer * (MAX_SILENCES + MAX_DECISIONS as u32) + LEASE_SLACK,
            due,
        }
    }

    /// Extracts from a leased session; after a failure, releases it to the queue for a retry.
    #[boxed]
    pub(crate) async fn extract_claimed(&self, lease: &SessionLease) -> Result<ExtractionReport> {
        let failed = match self.extract_and_commit(lease).await {
            Ok(extraction) => return Ok(extraction),
            Err(failed) => failed,
        };
        let failure = CaptureFailure {
            error: failed.error.to_string(),
            is_invalid: failed.is_invalid,
            retry_at: self.now().timestamp() + retry_after(lease.failures),
        };
        tracing::warn!(session = ?lease.session, "{}: extraction is retried later", failure.error);
        self.store.queue().release(lease, Some(&failure)).await?;
        Ok(ExtractionReport {
            session: lease.session.clone(),
            error: Some(failure.error),
            tokens: failed.tokens,
            ..ExtractionReport::default()
        })
    }

    #[boxed]
    async fn extract_and_commit(
        &self,
        lease: &SessionLease,
    ) -> Result<ExtractionReport, CaptureError> {
        let (scope, session) = (&lease.scope, lease.session.as_deref());
        let unread = self.store.queue().unread_turns(scope, session, MAX_TURNS).await?;
        let extracted = self.extract_drafts(scope, &unread, lease.invalid).await?;
        let arbiter = self.model_arbiter(scope, &extracted);
        let (plan, run) = self.commit(lease, &unread, &extracted, arbiter.as_ref()).await?;
        let decided = arbiter.map_or(0, |arbiter| arbiter.tokens());
        let extracted = ExtractedDrafts { tokens: extracted.tokens + decided, ..extracted };
        let changed = !plan.changes.is_empty() || !extracted.reports.is_empty();
        Ok(ExtractionReport {
            run: changed.then_some(run),
            ..extraction_report(session, &unread, extracted, plan)
        })
    }

    /// Reports what an extraction from a session's first unread turns would do.
    async fn preview_extraction(&self, pending: &PendingSession) -> Result<ExtractionReport> {
        let (scope, session) = (&pending.scope, pending.session.as_deref());
        let unread = self.store.queue().unread_turns(scope, session, MAX_TURNS).await?;
        let extracted = match self.extract_drafts(scope, &unread, pending.invalid).await {
            Ok(extracted) => extracted,
            Err(failed) => return Err(failed.error),
        };
        let now = self.now().timestamp();
        let context = self.capture_context(scope, session, "preview", now).await?;
        let arbiter = self.model_arbiter(scope, &extracted);
        let models = self.capture_models(arbiter.as_ref());
        let plan = ingest::plan_capture(&*self.store, &extracted.drafts, &context, models).await?;
        Ok(extraction_report(session, &unread, extracted, plan))
    }
}

/// Failure of an extraction.
pub(crate) struct CaptureError {
    pub(crate) error: Error,
    /// Set when a model gave an unusable answer.
    pub(crate) is_invalid: bool,
    pub(crate) tokens: u64,
}

impl From<Error> for CaptureError {
    fn from(error: Error) -> Self {
        Self { error, is_invalid: false, tokens: 0 }
    }
}

impl ExtractionReport {
    fn already_leased(pending: &PendingSession) -> Self {
        let until = pending.leased_until.map(|until| until.strftime("%H:%M:%S UTC").to_string());
        let until = until.map_or_else(String::new, |until| format!(" until {until} at the latest"));
        let error = format!("another process is extracting memories of this user{until}");
        Self { session: pending.session.clone(), error: Some(error), ..Self::default() }
    }
}

fn extraction_report(
    session: Option<&str>,
    unread: &UnreadTurns,
    extracted: ExtractedDrafts,
    plan: CapturePlan,
) -> ExtractionReport {
    ExtractionReport {
        session: session.map(str::to_owned),
        turns: unread.turns.len(),
        by: extracted.extractor,
        run: None,
        drafts: plan.outcomes,
        tokens: extracted.tokens,
        note: extracted.note,
        error: None,
    }
}

fn retry_after(failures: u32) -> SignedDuration {
    let doubled = FIRST_RETRY.as_secs().saturating_mul(1 << failures.min(20));
    SignedDuration::from_secs(doubled).min(MAX_RETRY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_retry_waits_twice_as_long_up_to_an_hour() {
        let delays: Vec<_> = (0..9).map(|failures| retry_after(failures).as_secs()).collect();
        assert_eq!(delays, [30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600]);
        assert_eq!(retry_after(u32::MAX).as_secs(), 3_600);
    }
}
