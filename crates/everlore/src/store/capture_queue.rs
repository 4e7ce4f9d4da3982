//! What waits to be drawn from conversations: sessions with turns that were not read yet, told by the turns themselves.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use async_trait::async_trait;
use serde::Serialize;

use crate::{
    error::{Error, Result},
    types::{Memory, MemoryId, QuarantinedDraft, Role, Scope, Timestamp},
};

/// Knows how far each session was read, who reads it now, and what was not remembered of it.
///
/// A turn waits from the transaction that stores it until the one that stores what was drawn from it
/// ([`crate::types::Extracted`]), so none is left out and none is read twice, whatever ends when.
#[async_trait]
pub trait CaptureQueue: Send + Sync {
    /// Leases the session that waits longest among those that are due; none if none is. While a session is leased, no other
    /// of its scope is: two that are read at once could not know of each other's memories.
    async fn claim(&self, claim: &ClaimRequest) -> Result<Option<SessionLease>>;

    /// Ends a lease before its time, with what went wrong if something did. Whoever lost the lease changes nothing.
    async fn release(&self, claimed: &SessionLease, failure: Option<&CaptureFailure>)
    -> Result<()>;

    /// The first turns of a session that were not read yet, and some before them.
    async fn unread_turns(
        &self,
        scope: &Scope,
        session: Option<&str>,
        limit: usize,
    ) -> Result<UnreadTurns>;

    /// Notes that a session is over, so that its turns need not wait for more; false if there is no such session.
    async fn mark_ended(&self, scope: &Scope, session: &str, now: Timestamp) -> Result<bool>;

    /// Every session with turns that wait, of this scope or of all, those that wait longest first.
    async fn pending(&self, scope: Option<&Scope>) -> Result<Vec<PendingSession>>;

    /// Drafts that were not remembered, newest first.
    async fn quarantined(&self, scope: &Scope) -> Result<Vec<QuarantinedDraft>>;

    /// Removes such drafts and returns how many there were. One that is stored as a memory is removed by that.
    async fn drop_quarantined(&self, scope: &Scope, ids: &[MemoryId]) -> Result<usize>;
}

/// How many turns before the unread ones are returned with them: an answer needs its question.
pub(super) const CONTEXT_TURNS: usize = 4;

/// Who wants to read, and what.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimRequest {
    /// Only this scope.
    pub scope: Option<Scope>,
    /// Only this session; `Some(None)` for turns outside of one.
    pub session: Option<Option<String>>,
    /// Who asks: a name that no other process has.
    pub owner: String,
    /// The time.
    pub now: Timestamp,
    /// How long the lease is.
    pub lease_duration: Duration,
    /// When a session is due; none if everything that waits is, as when a person asks.
    pub due: Option<DuePolicy>,
}

/// When a session is due by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DuePolicy {
    /// When so many exchanges wait.
    pub min_exchanges: usize,
    /// When nothing was said for so long.
    pub idle_after: Duration,
    /// But, unless it has ended, only when the last reading of its scope is so long ago.
    pub min_interval: Duration,
    /// Agents with other exchanges and silences than these; none for one whose sessions are not read by themselves.
    pub agent_overrides: BTreeMap<String, Option<(usize, Duration)>>,
}

/// A session that was leased.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionLease {
    /// Whose it is.
    pub scope: Scope,
    /// The session; none for turns outside of one.
    pub session: Option<String>,
    /// Who holds the lease.
    pub owner: String,
    /// How often reading it failed in a row.
    pub failures: u32,
    /// How often in a row the answer of a model could not be used.
    pub invalid: u32,
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaptureFailure {
    /// In words, without anything that was said.
    pub error: String,
    /// Whether a model answered what could not be used.
    pub is_invalid: bool,
    /// When to try again.
    pub retry_at: Timestamp,
}

/// Turns that were not read yet.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UnreadTurns {
    /// Turns before them, in order.
    pub context: Vec<Memory>,
    /// The turns, in order.
    pub turns: Vec<Memory>,
    /// The position of the first one.
    pub from: u32,
    /// The position after the last one.
    pub to: u32,
}

/// A session with turns that wait.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PendingSession {
    /// Whose it is.
    #[serde(skip)]
    pub scope: Scope,
    /// The session; none for turns outside of one.
    pub session: Option<String>,
    /// How many turns wait.
    pub turns: usize,
    /// Of these, how many begin an exchange.
    pub exchanges: usize,
    /// When the last of them was stored.
    pub last_at: Timestamp,
    /// When the end of the session was announced.
    pub ended_at: Option<Timestamp>,
    /// Until when somebody reads it.
    pub leased_until: Option<Timestamp>,
    /// How often reading it failed in a row.
    pub failures: u32,
    /// How often in a row the answer of a model could not be used.
    pub invalid: u32,
    /// Not before then is it tried again.
    pub retry_at: Option<Timestamp>,
    /// What went wrong the last time.
    pub error: Option<String>,
    /// When the scope was last read.
    #[serde(skip)]
    pub last_run_at: Option<Timestamp>,
}

impl PendingSession {
    fn is_leased(&self, now: Timestamp) -> bool {
        self.leased_until.is_some_and(|until| until > now)
    }

    fn is_due(&self, due: Option<&DuePolicy>, now: Timestamp) -> bool {
        let Some(due) = due else { return true };
        let long_since = |at: Timestamp, wait: Duration| {
            now.duration_since(at).as_millis()
                >= i128::try_from(wait.as_millis()).unwrap_or(i128::MAX)
        };
        let usual = Some((due.min_exchanges, due.idle_after));
        let own = due.agent_overrides.get(self.scope.agent()).copied();
        let Some((exchanges, quiet)) = own.unwrap_or(usual) else { return false };
        let is_apart = self.last_run_at.is_none_or(|at| long_since(at, due.min_interval));
        let enough = self.exchanges >= exchanges || long_since(self.last_at, quiet);
        self.retry_at.is_none_or(|at| at <= now) && (self.ended_at.is_some() || enough && is_apart)
    }
}

/// Which of the waiting sessions a claim gets: the first one that is due and whose scope nobody reads.
pub(super) fn pick_due(waiting: &[PendingSession], claim: &ClaimRequest) -> Option<usize> {
    let busy: BTreeSet<&Scope> =
        waiting.iter().filter(|it| it.is_leased(claim.now)).map(|it| &it.scope).collect();
    waiting.iter().position(|it| {
        let is_wanted = claim.scope.as_ref().is_none_or(|scope| *scope == it.scope)
            && claim.session.as_ref().is_none_or(|session| *session == it.session);
        is_wanted && !busy.contains(&it.scope) && it.is_due(claim.due.as_ref(), claim.now)
    })
}

/// Whether a turn begins an exchange: what the user says, and what nobody claims.
pub(super) fn starts_exchange(turn: &Memory) -> bool {
    matches!(turn.source.role, None | Some(Role::User))
}

/// The answer to storing what was drawn from turns that somebody else read meanwhile.
pub(super) fn lease_lost(session: Option<&str>) -> Error {
    Error::Conflict { what: format!("the session `{}`", session.unwrap_or("(none)")) }
}
