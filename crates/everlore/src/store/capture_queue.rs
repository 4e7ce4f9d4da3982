//! The capture queue facet: sessions with turns that capture has not read yet; the stored turns themselves say which.

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

/// Tracks for each session the turns that capture has read, the current lease, and the drafts that it quarantined.
///
/// A turn is pending from the transaction that stores it until the one that stores the memories extracted from it
/// ([`crate::types::CaptureCheckpoint`]), so no turn is skipped and none is read twice, whenever a process ends.
#[async_trait]
pub trait CaptureQueue: Send + Sync {
    /// Leases the session that is pending for longest among those that are due; `None` if none is. While a session is
    /// leased, no other of its scope is: two sessions read at once could not know of each other's memories.
    async fn claim(&self, claim: &ClaimRequest) -> Result<Option<SessionLease>>;

    /// Ends a lease early, with the failure if there was one. A holder that lost the lease changes nothing.
    async fn release(&self, lease: &SessionLease, failure: Option<&CaptureFailure>) -> Result<()>;

    /// Returns the first unread turns of a session, and some turns before them.
    async fn unread_turns(
        &self,
        scope: &Scope,
        session: Option<&str>,
        limit: usize,
    ) -> Result<UnreadTurns>;

    /// Marks a session as ended, so that its turns need not wait for more; `false` if there is no such session.
    async fn mark_ended(&self, scope: &Scope, session: &str, now: Timestamp) -> Result<bool>;

    /// Returns every session with unread turns, of this scope or of all, those pending for longest first.
    async fn pending(&self, scope: Option<&Scope>) -> Result<Vec<PendingSession>>;

    /// Returns the quarantined drafts, newest first.
    async fn quarantined(&self, scope: &Scope) -> Result<Vec<QuarantinedDraft>>;

    /// Removes quarantined drafts and returns how many there were. A draft that is stored as a memory leaves the
    /// quarantine by that write.
    async fn drop_quarantined(&self, scope: &Scope, ids: &[MemoryId]) -> Result<usize>;

    /// Puts a draft back that was dropped or stored before; it takes the place of one with the same text.
    async fn put_back(&self, scope: &Scope, draft: &QuarantinedDraft) -> Result<()>;
}

/// Turns before the unread ones that are returned with them: an answer needs its question.
pub(super) const CONTEXT_TURNS: usize = 4;

/// Request for a lease: the reader and the sessions it accepts.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimRequest {
    /// Only this scope, if given.
    pub scope: Option<Scope>,
    /// Only this session, if given; `Some(None)` for turns outside of one.
    pub session: Option<Option<String>>,
    /// Name of the reader, which no other process has.
    pub owner: String,
    /// Current time.
    pub now: Timestamp,
    /// Length of the lease.
    pub lease_duration: Duration,
    /// Conditions under which a session is due; `None` if every pending one is, as when a person asks.
    pub due: Option<DuePolicy>,
}

impl ClaimRequest {
    /// Picks the pending session that this claim gets: the first one that is due and whose scope is not leased.
    /// Every store chooses by it.
    pub fn pick_due(&self, pending: &[PendingSession]) -> Option<usize> {
        let busy: BTreeSet<&Scope> =
            pending.iter().filter(|it| it.is_leased(self.now)).map(|it| &it.scope).collect();
        pending.iter().position(|it| {
            let is_wanted = self.scope.as_ref().is_none_or(|scope| *scope == it.scope)
                && self.session.as_ref().is_none_or(|session| *session == it.session);
            is_wanted && !busy.contains(&it.scope) && it.is_due(self.due.as_ref(), self.now)
        })
    }
}

/// Conditions under which a session is due without a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DuePolicy {
    /// Unread exchanges from which on a session is due.
    pub min_exchanges: usize,
    /// Silence after which a session is due.
    pub idle_after: Duration,
    /// Least time since the last reading of its scope; a session that has ended need not wait for it.
    pub min_interval: Duration,
    /// Agents with other values of `min_exchanges` and `idle_after`; `None` for an agent whose sessions are never due
    /// by themselves.
    pub agent_overrides: BTreeMap<String, Option<(usize, Duration)>>,
}

/// Lease on a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionLease {
    /// Scope of the session.
    pub scope: Scope,
    /// Name of the session; `None` for turns outside of one.
    pub session: Option<String>,
    /// Name of the reader that holds the lease.
    pub owner: String,
    /// Readings that failed in a row.
    pub failures: u32,
    /// Model answers in a row that were invalid.
    pub invalid: u32,
}

/// Failure of a reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaptureFailure {
    /// Message, without anything from the conversation.
    pub error: String,
    /// Set when the answer of a model was invalid.
    pub is_invalid: bool,
    /// Time of the next attempt.
    pub retry_at: Timestamp,
}

/// Turns that capture has not read yet.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UnreadTurns {
    /// Turns before them, in order.
    pub context: Vec<Memory>,
    /// Unread turns, in order.
    pub turns: Vec<Memory>,
    /// Position of the first unread turn.
    pub from: u32,
    /// Position after the last unread turn.
    pub to: u32,
}

/// Session with unread turns.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PendingSession {
    /// Scope of the session.
    #[serde(skip)]
    pub scope: Scope,
    /// Name of the session; `None` for turns outside of one.
    pub session: Option<String>,
    /// Unread turns.
    pub turns: usize,
    /// Unread turns that begin an exchange.
    pub exchanges: usize,
    /// Time at which the last unread turn was stored.
    pub last_at: Timestamp,
    /// Time at which the end of the session was announced.
    pub ended_at: Option<Timestamp>,
    /// End of the current lease.
    pub leased_until: Option<Timestamp>,
    /// Readings that failed in a row.
    pub failures: u32,
    /// Model answers in a row that were invalid.
    pub invalid: u32,
    /// Earliest time of the next attempt.
    pub retry_at: Option<Timestamp>,
    /// Message of the last failure.
    pub error: Option<String>,
    /// Time of the last reading of the scope.
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

/// Returns `true` if a turn begins an exchange: a turn of the user, or one without a role.
pub(super) fn starts_exchange(turn: &Memory) -> bool {
    matches!(turn.source.role, None | Some(Role::User))
}

/// Builds the error for storing extracted memories of turns that another reader has read in the meantime.
pub(super) fn lease_lost(session: Option<&str>) -> Error {
    Error::Conflict { what: format!("the session `{}`", session.unwrap_or("(none)")) }
}
