//! From turns to memories: claim a session, read its turns, extract, judge, reconcile, commit, report.

mod extract;
mod commit;
mod overviews;
mod quarantine;
mod worker;

use std::{sync::Arc, time::Duration};

use jiff::SignedDuration;
use serde::Serialize;

use self::extract::{ExtractedDrafts, MAX_DECISIONS};
use super::Engine;
use crate::{
    error::{Error, Result},
    ingest::{self, Arbiter, CapturePlan, DraftOutcome},
    llm::ChatModel,
    store::{CaptureFailure, ClaimRequest, DuePolicy, PendingSession, SessionLease, UnreadTurns},
    types::{MemoryId, QuarantinedDraft, Scope, Timestamp},
};

pub use worker::BackgroundWorker;

/// Turns that are read at once: a model still sees each of them, and little is read again if it fails.
pub(crate) const MAX_TURNS: usize = 40;

/// A lease is longer than all answers of a model may take by this: judging and storing take a part of it.
const LEASE_SLACK: Duration = Duration::from_secs(30);

/// How long the first retry waits; each further one twice as long.
const FIRST_RETRY: SignedDuration = SignedDuration::from_secs(30);

/// No retry waits longer: a provider that is back should be noticed within the hour.
const MAX_RETRY: SignedDuration = SignedDuration::from_hours(1);

/// What to draw from, by hand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExtractRequest {
    /// Only this session.
    pub session: Option<String>,
    /// Only say what would be done.
    pub dry_run: bool,
}

/// What was drawn from some turns of a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ExtractionReport {
    /// The session; none for turns outside of one.
    pub session: Option<String>,
    /// How many turns were read.
    pub turns: usize,
    /// Who read them: `rules`, or the name of a model.
    pub by: String,
    /// The run, by which all of it can be undone; none where nothing was changed.
    pub run: Option<String>,
    /// What became of each draft.
    pub drafts: Vec<DraftOutcome>,
    /// The tokens that a model spent on it.
    pub tokens: u64,
    /// What should be known about how it went.
    pub note: Option<String>,
    /// Why nothing was drawn; the turns wait and are read again.
    pub error: Option<String>,
}

/// What waits, and what is held.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CaptureStatus {
    /// Sessions with turns that were not read yet.
    pub waiting: Vec<PendingSession>,
    /// All turns that wait.
    pub turns: usize,
    /// Drafts in quarantine, those that were rejected included.
    pub held: usize,
}

impl Engine {
    /// Returns the engine with a model that reads conversations, if the settings let it.
    #[must_use]
    pub fn with_chat_model(self, model: Arc<dyn ChatModel>) -> Self {
        Self { chat: Some(model), ..self }
    }

    /// Draws memories from everything that waits in a scope, or in one of its sessions. What fails waits further.
    pub async fn extract(
        &self,
        scope: &Scope,
        request: &ExtractRequest,
    ) -> Result<Vec<ExtractionReport>> {
        self.check_enabled(scope)?;
        let mut done = Vec::new();
        for waiting in self.pending_sessions(scope, request.session.as_deref()).await? {
            if request.dry_run {
                done.push(self.preview_extraction(&waiting).await?);
            } else {
                self.extract_session(scope, waiting.session, &mut done).await?;
            }
        }
        Ok(done)
    }

    /// Draws memories from one session that is due, of any scope; none if none is.
    pub async fn extract_due(&self) -> Result<Option<ExtractionReport>> {
        match self.claim_next().await? {
            Some(claimed) => self.extract_claimed(&claimed).await.map(Some),
            None => Ok(None),
        }
    }

    /// Leases the session that is due longest.
    pub(crate) async fn claim_next(&self) -> Result<Option<SessionLease>> {
        let due = self.due_rules().await?;
        self.store.queue().claim(&self.claim_request(None, None, Some(due))).await
    }

    /// What waits in a scope, and what is held.
    pub async fn capture_status(&self, scope: &Scope) -> Result<CaptureStatus> {
        let waiting = self.store.queue().pending(Some(scope)).await?;
        let turns = waiting.iter().map(|it| it.turns).sum();
        Ok(CaptureStatus {
            waiting,
            turns,
            held: self.store.queue().quarantined(scope).await?.len(),
        })
    }

    /// Notes that a session is over, so that it is read without waiting for more.
    pub async fn mark_session_ended(&self, scope: &Scope, session: &str) -> Result<bool> {
        let announced =
            self.store.queue().mark_ended(scope, session, self.now().timestamp()).await?;
        self.worker_wakeup.notify_one();
        Ok(announced)
    }

    /// Drafts that were not remembered, newest first.
    pub async fn quarantine(&self, scope: &Scope) -> Result<Vec<QuarantinedDraft>> {
        self.store.queue().quarantined(scope).await
    }

    async fn pending_sessions(
        &self,
        scope: &Scope,
        session: Option<&str>,
    ) -> Result<Vec<PendingSession>> {
        let mut waiting = self.store.queue().pending(Some(scope)).await?;
        if let Some(name) = session {
            waiting.retain(|it| it.session.as_deref() == Some(name));
        }
        Ok(waiting)
    }

    /// Reads a session to its end, or until something goes wrong.
    async fn extract_session(
        &self,
        scope: &Scope,
        session: Option<String>,
        done: &mut Vec<ExtractionReport>,
    ) -> Result<()> {
        loop {
            let waits = self.pending_sessions(scope, None).await?;
            let Some(waiting) = waits.iter().find(|it| it.session == session) else {
                return Ok(());
            };
            let claim = self.claim_request(Some(scope), Some(waiting), None);
            let Some(claimed) = self.store.queue().claim(&claim).await? else {
                done.push(ExtractionReport::already_leased(waiting));
                return Ok(());
            };
            let extraction = self.extract_claimed(&claimed).await?;
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
        waiting: Option<&PendingSession>,
        due: Option<DuePolicy>,
    ) -> ClaimRequest {
        let now = self.now().timestamp();
        let model = self.chat.as_ref().filter(|_| self.config.memory_agent.enabled);
        let answer = model.map_or(Duration::ZERO, |_| self.config.memory_agent.timeout);
        ClaimRequest {
            scope: scope.cloned(),
            session: waiting.map(|waiting| waiting.session.clone()),
            owner: MemoryId::new(now).to_string(),
            now,
            lease_duration: answer * (1 + MAX_DECISIONS as u32) + LEASE_SLACK,
            due,
        }
    }

    /// Draws memories from a session that is leased; if that fails, it goes back to the queue.
    pub(crate) async fn extract_claimed(&self, claimed: &SessionLease) -> Result<ExtractionReport> {
        let trouble = match self.extract_and_commit(claimed).await {
            Ok(extraction) => return Ok(extraction),
            Err(trouble) => trouble,
        };
        let failure = CaptureFailure {
            error: trouble.error.to_string(),
            is_invalid: trouble.is_invalid,
            retry_at: self.now().timestamp() + retry_after(claimed.failures),
        };
        tracing::warn!(session = ?claimed.session, "{}: the turns wait", failure.error);
        self.store.queue().release(claimed, Some(&failure)).await?;
        Ok(ExtractionReport {
            session: claimed.session.clone(),
            error: Some(failure.error),
            tokens: trouble.tokens,
            ..ExtractionReport::default()
        })
    }

    async fn extract_and_commit(
        &self,
        claimed: &SessionLease,
    ) -> Result<ExtractionReport, CaptureError> {
        let (scope, session) = (&claimed.scope, claimed.session.as_deref());
        let unread = self.store.queue().unread_turns(scope, session, MAX_TURNS).await?;
        let drawn = self.extract_drafts(scope, &unread, claimed.invalid).await?;
        let arbiter = self.model_arbiter(scope, &drawn);
        let (planned, run) = self.commit(claimed, &unread, &drawn, arbiter.as_ref()).await?;
        let decided = arbiter.map_or(0, |arbiter| arbiter.tokens());
        let drawn = ExtractedDrafts { tokens: drawn.tokens + decided, ..drawn };
        let changed = !planned.changes.is_empty();
        Ok(ExtractionReport {
            run: changed.then_some(run),
            ..extraction_report(session, &unread, drawn, planned)
        })
    }

    /// Says what would be drawn from a session's first unread turns.
    async fn preview_extraction(&self, waiting: &PendingSession) -> Result<ExtractionReport> {
        let (scope, session) = (&waiting.scope, waiting.session.as_deref());
        let unread = self.store.queue().unread_turns(scope, session, MAX_TURNS).await?;
        let drawn = match self.extract_drafts(scope, &unread, waiting.invalid).await {
            Ok(drawn) => drawn,
            Err(trouble) => return Err(trouble.error),
        };
        let now = self.now().timestamp();
        let judging = self.capture_context(scope, session, "preview", now).await?;
        let arbiter = self.model_arbiter(scope, &drawn);
        let deciding = arbiter.as_ref().map(|arbiter| arbiter as &dyn Arbiter);
        let planned = ingest::plan_capture(&*self.store, &drawn.drafts, &judging, deciding).await?;
        Ok(extraction_report(session, &unread, drawn, planned))
    }
}

/// Why a session could not be read.
pub(crate) struct CaptureError {
    pub(crate) error: Error,
    /// Whether a model answered what could not be used.
    pub(crate) is_invalid: bool,
    pub(crate) tokens: u64,
}

impl From<Error> for CaptureError {
    fn from(error: Error) -> Self {
        Self { error, is_invalid: false, tokens: 0 }
    }
}

impl ExtractionReport {
    fn already_leased(waiting: &PendingSession) -> Self {
        let until = waiting.leased_until.map(|until| until.strftime("%H:%M:%S UTC").to_string());
        let until = until.map_or_else(String::new, |until| format!(" until {until} at the latest"));
        let error = format!("memories of this user are being drawn by another process{until}");
        Self { session: waiting.session.clone(), error: Some(error), ..Self::default() }
    }
}

fn extraction_report(
    session: Option<&str>,
    unread: &UnreadTurns,
    drawn: ExtractedDrafts,
    planned: CapturePlan,
) -> ExtractionReport {
    ExtractionReport {
        session: session.map(str::to_owned),
        turns: unread.turns.len(),
        by: drawn.extractor,
        run: None,
        drafts: planned.outcomes,
        tokens: drawn.tokens,
        note: drawn.note,
        error: None,
    }
}

fn retry_after(failures: u32) -> SignedDuration {
    let doubled = FIRST_RETRY.as_secs().saturating_mul(1 << failures.min(20));
    SignedDuration::from_secs(doubled).min(MAX_RETRY)
}

/// A name for a run: when it was, and a few digits in case two are at once.
fn run_id(now: Timestamp) -> String {
    let id = MemoryId::new(now).to_string();
    format!("extract-{}-{}", now.as_millisecond(), &id[id.len() - 4..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_retry_waits_twice_as_long_up_to_an_hour() {
        let waits: Vec<_> = (0..9).map(|failures| retry_after(failures).as_secs()).collect();
        assert_eq!(waits, [30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600]);
        assert_eq!(retry_after(u32::MAX).as_secs(), 3_600);
    }
}
