//! Moves of an agent to another database, while it is in use.
//!
//! 1. [`Engine::move_agent`] notes the move in the registry (`store/agent_stores/`) and copies every journal of the agent,
//!    line by line (`copy_journal.rs`); the target keeps how far that is (`positions.rs`). Rounds follow until few lines
//!    are left.
//! 2. It seals the agent in the source: no process can write there any more, and writers wait. It copies the last lines and
//!    compares both databases (`compare.rs`).
//! 3. It changes the registry in one step. Writers that waited, and all servers within a second, use the target. The source
//!    stays sealed and whole until the move is confirmed, and has positions of its own by then, so that the way back copies
//!    only what came since.
//!
//! After an interruption anywhere the same call goes on. If both databases differ, the source is unsealed and nothing was
//! switched. A process that dies while the agent is sealed loses the lease of its seal after some seconds: writers go on in
//! the source (`store/agent_stores/seal_lease.rs`).

mod compare;
mod copy_journal;
mod mover;
mod placement;
mod positions;

use serde::Serialize;
use uuid::Uuid;

pub use self::{compare::CopyProblem, placement::MisplacedAgent};
use self::{mover::AgentMover, positions::CopyPositions};
use super::Engine;
use crate::{
    config::StoreUrl,
    error::{Error, Result},
    store::{AgentDatabase, AgentMove, AgentStores, MovePhase, ScopeCounts, SealChange, Store},
    sync::boxed,
    types::Scope,
};

use std::sync::Arc;

/// Step of a move, as it is reported while it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MoveProgress {
    /// Changes are copied while the agent is in use: how many of how many.
    Copying {
        /// Changes copied so far.
        copied: u64,
        /// Changes of all users, as far as known.
        total: u64,
    },
    /// Writers wait for the last changes.
    Sealed,
    /// Both databases are compared.
    Comparing,
    /// The agent uses the new database.
    Switched,
}

/// Result of a move.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MoveReport {
    /// Agent.
    pub agent: String,
    /// Address of the database that it left, without its password.
    pub from: String,
    /// Address of the new database, without its password.
    pub to: String,
    /// Set if the agent uses the new database now.
    pub moved: bool,
    /// Users of the agent.
    pub users: usize,
    /// Memories of all users.
    pub memories: usize,
    /// Journal lines of all users.
    pub changes: usize,
    /// Milliseconds for which writers waited.
    pub sealed_ms: u64,
    /// Differences for which nothing was switched.
    pub problems: Vec<UserProblem>,
}

/// Difference between both databases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UserProblem {
    /// User.
    pub user: String,
    /// Difference.
    pub problem: CopyProblem,
}

impl MoveReport {
    /// Begins the report of a move.
    fn new(engine: &Engine, agent: &str, from: &StoreUrl, to: &StoreUrl) -> Self {
        Self {
            agent: agent.to_owned(),
            from: engine.shown_database(from),
            to: engine.shown_database(to),
            moved: false,
            users: 0,
            memories: 0,
            changes: 0,
            sealed_ms: 0,
            problems: Vec::new(),
        }
    }

    /// Adds the sizes of a user.
    fn count(&mut self, counts: &ScopeCounts) {
        self.users += 1;
        self.memories += counts.memories.iter().map(|(_, _, count)| count).sum::<usize>();
        self.changes += counts.changes;
    }
}

impl Engine {
    /// Returns the database of an agent and its move, if there is one. Fails for a caller that is not the owner.
    pub async fn agent_database(&self, agent: &str) -> Result<AgentDatabase> {
        self.check_owner(format!("the database of {agent}"))?;
        let stores = self.agent_stores()?;
        stores.refresh().await?;
        Ok(stores.database(agent))
    }

    /// Returns the agents that have databases of their own.
    pub fn agents_elsewhere(&self) -> Vec<String> {
        self.parts.agent_stores.as_ref().map(|stores| stores.agents_elsewhere()).unwrap_or_default()
    }

    /// Returns an address as it is shown, without its password; an empty one is the home's.
    pub fn shown_database(&self, url: &StoreUrl) -> String {
        if url.is_empty() { self.admin().store_info().url } else { url.to_string() }
    }

    /// Moves the memories of an agent, of all its users, to the database at `to` (empty: that of the home) while it is in
    /// use, and calls `progress`. Repeated after an interruption, it goes on. The database that the agent leaves stays as
    /// it is until [`Engine::confirm_agent_move`] or [`Engine::move_agent_back`]. A report with problems means that
    /// nothing was switched. Fails if another move of the agent is under way or not confirmed, if the target has memories
    /// of the agent already, or if a database fails.
    #[boxed]
    pub async fn move_agent(
        &self,
        agent: &str,
        to: &StoreUrl,
        progress: &mut (dyn FnMut(MoveProgress) + Send),
    ) -> Result<MoveReport> {
        self.check_owner(format!("the database of {agent}"))?;
        Scope::new(agent, Scope::default().user())?;
        let stores = self.agent_stores()?;
        stores.refresh().await?;
        let before = stores.database(agent);
        if before.url == *to && before.moving.is_none() && before.kept.is_some() {
            // Interrupted after the switch.
            return self.finished_report(agent, &before).await;
        }
        begin(before.clone(), agent, to)?;
        let (source, target) = (stores.open_url(&before.url).await?, stores.open_url(to).await?);
        self.prepare_target(agent, &before, to, &*source, &*target).await?;
        let database = stores.update(agent, |current| begin(current, agent, to)).await?;
        let mover = AgentMover {
            engine: self,
            stores,
            agent,
            to,
            kept: database.url.clone(),
            holder: Uuid::now_v7().to_string(),
            source: self.on_store(source),
            target: self.on_store(target),
        };
        mover.run(progress).await
    }

    /// Moves an agent back to the database that its last move left, with what came since. Otherwise like
    /// [`Engine::move_agent`].
    pub async fn move_agent_back(
        &self,
        agent: &str,
        progress: &mut (dyn FnMut(MoveProgress) + Send),
    ) -> Result<MoveReport> {
        let database = self.agent_database(agent).await?;
        let to = database.kept.ok_or_else(|| nothing_kept(agent))?;
        self.move_agent(agent, &to, progress).await
    }

    /// Erases the memories of an agent in the database that its last move left, and returns its address without its
    /// password.
    pub async fn confirm_agent_move(&self, agent: &str) -> Result<String> {
        let database = self.agent_database(agent).await?;
        let kept = database.kept.clone().ok_or_else(|| nothing_kept(agent))?;
        if database.moving.is_some() {
            return Err(Error::invalid(
                format!("`{agent}` is moving again"),
                "finish that move, or end it with --cancel",
            ));
        }
        let stores = self.agent_stores()?;
        let left = stores.open_url(&kept).await?;
        // Sealed before, unless an erasure was interrupted: nobody may write there.
        left.admin().change_seal(agent, SealChange::SEAL_FOR_GOOD).await?;
        left.admin().erase_agent(agent).await?;
        CopyPositions::remove(&*left, agent).await?;
        stores.update(agent, |current| Ok(AgentDatabase { kept: None, ..current })).await?;
        Ok(self.shown_database(&kept))
    }

    /// Ends a move that was not finished: the agent stays where it is, and the copy is erased. Returns the address of the
    /// copy without its password.
    pub async fn cancel_agent_move(&self, agent: &str) -> Result<String> {
        let database = self.agent_database(agent).await?;
        let Some(moving) = database.moving.clone() else {
            return Err(Error::invalid(
                format!("no move of `{agent}` is under way"),
                "nothing to do",
            ));
        };
        let stores = self.agent_stores()?;
        let (source, target) =
            (stores.open_url(&database.url).await?, stores.open_url(&moving.to).await?);
        if database.kept.as_ref() == Some(&moving.to) {
            target.admin().change_seal(agent, SealChange::SEAL_FOR_GOOD).await?;
        } else {
            target.admin().erase_agent(agent).await?;
            CopyPositions::remove(&*target, agent).await?;
        }
        stores.update(agent, |current| Ok(AgentDatabase { moving: None, ..current })).await?;
        source.admin().change_seal(agent, SealChange::End).await?;
        Ok(self.shown_database(&moving.to))
    }

    /// Describes the last move of an agent, which is where it was to go.
    async fn finished_report(&self, agent: &str, database: &AgentDatabase) -> Result<MoveReport> {
        let kept = database.kept.clone().unwrap_or_default();
        let mut report = MoveReport::new(self, agent, &kept, &database.url);
        let scopes = self.admin().scopes().await?;
        for scope in scopes.iter().filter(|scope| scope.agent() == agent) {
            report.count(&self.count(scope).await?);
        }
        Ok(MoveReport { moved: true, ..report })
    }

    fn agent_stores(&self) -> Result<&Arc<AgentStores>> {
        self.parts.agent_stores.as_ref().ok_or_else(|| {
            Error::invalid("this engine has one store", "build it with `Engine::with_agent_stores`")
        })
    }

    /// Returns an engine like this one on one database, without models on other servers and without reranker: both
    /// databases are compared by what they store.
    fn on_store(&self, store: Arc<dyn Store>) -> Self {
        self.rebuild().on_one_store(store).build()
    }

    /// Makes the target ready for a copy; refuses one that has memories of the agent which are not from here.
    async fn prepare_target(
        &self,
        agent: &str,
        database: &AgentDatabase,
        to: &StoreUrl,
        source: &dyn Store,
        target: &dyn Store,
    ) -> Result<()> {
        let from = source.admin().info().url;
        if target.admin().info().url == from {
            return Err(already_there(agent, &from));
        }
        let is_failed = database.moving.as_ref().is_some_and(|it| it.phase == MovePhase::Failed);
        if is_failed && database.kept.as_ref() == Some(to) {
            return Err(Error::invalid(
                format!("the database that `{agent}` left has other memories by now"),
                "erase them with --confirm after --cancel, and move there again",
            ));
        }
        if is_failed {
            target.admin().erase_agent(agent).await?;
            CopyPositions::remove(target, agent).await?;
        }
        let mut positions = CopyPositions::read(target, agent).await?;
        if !positions.is_from(&from) {
            let scopes = target.admin().scopes().await?;
            if scopes.iter().any(|scope| scope.agent() == agent) {
                return Err(Error::invalid(
                    format!("{} has memories of `{agent}` already", target.admin().info().url),
                    "choose another database",
                ));
            }
            positions.restart(&from);
            positions.save(target, agent).await?;
        }
        target.admin().change_seal(agent, SealChange::End).await
    }
}

/// Returns the entry of an agent whose move begins or goes on.
fn begin(current: AgentDatabase, agent: &str, to: &StoreUrl) -> Result<AgentDatabase> {
    match (&current.moving, &current.kept) {
        (Some(moving), _) if moving.to == *to && moving.phase != MovePhase::Failed => Ok(current),
        (Some(moving), _) if moving.to != *to => Err(Error::invalid(
            format!("`{agent}` is moving to {} already", name_of(&moving.to)),
            "repeat that command to finish the move, or end it with --cancel",
        )),
        (None, _) if current.url == *to => Err(already_there(agent, &name_of(to))),
        (None, Some(kept)) if kept != to => Err(Error::invalid(
            format!("{} still has the memories of `{agent}`", name_of(kept)),
            "erase them with --confirm, or go back with --back",
        )),
        _ => {
            let moving = Some(AgentMove { to: to.clone(), phase: MovePhase::Copying, lease: None });
            Ok(AgentDatabase { moving, ..current })
        }
    }
}

fn name_of(url: &StoreUrl) -> String {
    if url.is_empty() { "the database of the home".to_owned() } else { url.to_string() }
}

fn already_there(agent: &str, shown: &str) -> Error {
    Error::invalid(format!("`{agent}` is in {shown} already"), "name another database with --to")
}

fn nothing_kept(agent: &str) -> Error {
    Error::invalid(
        format!("no move of `{agent}` waits to be confirmed"),
        "move it with `everlore agent move NAME --to URL`",
    )
}
