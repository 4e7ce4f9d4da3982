//! Leases of seals: a move that is killed while writers wait stops them no longer than [`MAX_SILENCE`].
//!
//! The process that moves an agent counts its beats up in the registry. Every process watches them by its own clock; clocks
//! are never compared. Whoever has seen a lease stand still for too long takes the agent out of the sealed phase ([`MovePhase`]) by
//! compare-and-swap, and only then ends the seal of that holder. A holder that was merely slow can then no longer
//! switch, because that takes the same document in the same phase, so that no write is lost; the move is repeated.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use tokio::task::JoinHandle;

use super::{AgentDatabase, AgentMove, AgentStores, MovePhase, SealLease, registry::AgentRegistry};
use crate::{
    error::{Error, Result},
    store::SealChange,
    sync::lock,
};

/// Time without a beat after which a lease is abandoned: half of the time for which a write waits, so that it still
/// succeeds, and more than a busy or failing-over database takes.
pub(super) const MAX_SILENCE: Duration = Duration::from_secs(10);

/// Beats within [`MAX_SILENCE`].
const BEATS_WITHIN_SILENCE: u32 = 5;

/// Leases as this process saw them.
pub(super) struct LeaseWatch {
    max_silence: Duration,
    /// Last beat of each agent's lease, and when it was first seen.
    seen: Mutex<HashMap<String, (SealLease, Instant)>>,
}

impl LeaseWatch {
    pub(super) fn new(max_silence: Duration) -> Self {
        Self { max_silence, seen: Mutex::default() }
    }

    /// Notes the beats of a registry.
    pub(super) fn observe(&self, registry: &AgentRegistry) {
        let mut seen = lock(&self.seen);
        seen.retain(|agent, (lease, _)| {
            registry.agents.get(agent).and_then(AgentDatabase::lease) == Some(lease)
        });
        for (agent, database) in &registry.agents {
            if let Some(lease) = database.lease() {
                seen.entry(agent.clone()).or_insert_with(|| (lease.clone(), Instant::now()));
            }
        }
    }

    /// Returns `true` if a lease stood still for too long.
    fn is_abandoned(&self, agent: &str, lease: &SealLease) -> bool {
        let seen = lock(&self.seen);
        let of_agent = seen.get(agent).filter(|(last, _)| last == lease);
        of_agent.is_some_and(|(_, since)| since.elapsed() > self.max_silence)
    }
}

/// Task that says that the holder of a seal is alive, until it is dropped or another process took the lease.
pub(crate) struct SealHeartbeat(JoinHandle<()>);

impl SealHeartbeat {
    /// Begins to beat for a holder that has sealed an agent in the registry.
    pub(crate) fn start(stores: &Arc<AgentStores>, agent: &str, holder: &str) -> Self {
        let (stores, agent, holder) = (Arc::clone(stores), agent.to_owned(), holder.to_owned());
        let interval = stores.leases.max_silence / BEATS_WITHIN_SILENCE;
        Self(tokio::spawn(async move {
            loop {
                tokio::time::sleep(interval).await;
                match stores.beat(&agent, &holder).await {
                    Err(Error::Conflict { .. }) => return,
                    Err(error) => tracing::debug!("{error}: a move may be taken for dead"),
                    Ok(()) => {}
                }
            }
        }))
    }
}

impl Drop for SealHeartbeat {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl AgentStores {
    /// Counts a beat of the holder of a seal; fails with a conflict if it holds the seal no longer.
    async fn beat(&self, agent: &str, holder: &str) -> Result<()> {
        let beat = |mut current: AgentDatabase| {
            let is_ours = current.is_sealed_by(holder);
            let lease = current.moving.as_mut().and_then(|moving| moving.lease.as_mut());
            let (true, Some(lease)) = (is_ours, lease) else { return Err(lost_lease(agent)) };
            lease.beats += 1;
            Ok(current)
        };
        self.update(agent, beat).await.map(drop)
    }

    /// Ends the seals of moves whose process gave no sign of life for too long, or died before it could end its seal.
    pub(super) async fn end_abandoned_seals(&self) -> Result<()> {
        for (agent, database) in &self.registry().agents {
            let Some(lease) = database.lease() else { continue };
            if !database.is_sealed() || self.leases.is_abandoned(agent, lease) {
                self.end_seal(agent, lease).await?;
            }
        }
        Ok(())
    }

    /// Takes the lease from its holder, who cannot switch any more, and then ends its seal. Does nothing if the holder beat
    /// meanwhile.
    pub(crate) async fn end_seal(&self, agent: &str, lease: &SealLease) -> Result<()> {
        let take = |current: AgentDatabase| match current.lease() {
            Some(now) if now == lease => Ok(interrupted(current)),
            _ => Err(lost_lease(agent)),
        };
        let database = match self.update(agent, take).await {
            Err(Error::Conflict { .. }) => return Ok(()),
            taken => taken?,
        };
        let store = self.open_url(&database.url).await?;
        store.admin().change_seal(agent, SealChange::EndOf(&lease.holder)).await?;
        let forget = |current: AgentDatabase| {
            let is_ended = !current.is_sealed() && current.lease() == Some(lease);
            Ok(if is_ended { without_lease(current) } else { current })
        };
        self.update(agent, forget).await.map(drop)
    }
}

/// Returns the entry of a move whose process is gone: it goes on with copying when it is repeated.
fn interrupted(database: AgentDatabase) -> AgentDatabase {
    let interrupt = |moving: AgentMove| match moving.phase {
        MovePhase::Sealed => AgentMove { phase: MovePhase::Copying, ..moving },
        MovePhase::Copying | MovePhase::Failed => moving,
    };
    AgentDatabase { moving: database.moving.map(interrupt), ..database }
}

fn without_lease(database: AgentDatabase) -> AgentDatabase {
    let moving = database.moving.map(|moving| AgentMove { lease: None, ..moving });
    AgentDatabase { moving, ..database }
}

fn lost_lease(agent: &str) -> Error {
    Error::Conflict { what: format!("the database of `{agent}`") }
}
