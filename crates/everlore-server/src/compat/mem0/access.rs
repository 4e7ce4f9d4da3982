//! Authentication and scopes of mem0's clients: their ids as our agents, users and sessions.

use std::sync::{Arc, OnceLock};

use axum::{
    extract::{FromRequestParts, Request, State},
    http::{HeaderMap, StatusCode, header, request::Parts},
    middleware::Next,
    response::{IntoResponse, Response},
};
use everlore::{
    Engine, Memory, MemoryId, Scope,
    store::JournalQuery,
    types::{ChangeAuthor, JournalEntry},
};
use uuid::Uuid;

use super::{CachedList, filter::Mem0Filter, memory_json::MemoryVisibility};
use crate::{
    Access, App, KeyRole, Problem,
    auth::{authenticate_secret, authorization_value},
    fifo_cache::FifoCache,
};

/// Access of a mem0 client.
#[derive(Clone)]
pub(super) struct Mem0Access {
    access: Access,
    /// The single scope that a request turned out to use, for the audit log.
    audited_scope: Arc<OnceLock<Scope>>,
}

/// Event of mem0: changes that are one run of the journal.
pub(super) struct Mem0Event {
    pub(super) id: String,
    pub(super) engine: Engine,
}

/// Middleware that authenticates mem0's clients.
pub(super) async fn authenticate(
    State(app): State<App>,
    mut request: Request,
    next: Next,
) -> Response {
    let caller = match authenticate_secret(&app, client_secret(request.headers())) {
        Ok(caller) => caller,
        Err(problem) => return problem.into_response(),
    };
    let scope = caller.bound_scope.clone().unwrap_or_else(|| app.options.scope.clone());
    let mem0 = Mem0Access { access: Access { app, caller, scope }, audited_scope: Arc::default() };
    request.extensions_mut().insert(mem0.clone());
    let mut response = next.run(request).await;
    let scope = mem0.audited_scope.get().cloned().unwrap_or(mem0.access.scope);
    response.extensions_mut().insert(Access { scope, ..mem0.access });
    response
}

/// Finds the secret: `Authorization: Token KEY` or `Bearer KEY`, or `X-API-Key: KEY`; exactly one of them.
fn client_secret(headers: &HeaderMap) -> Option<&str> {
    let mut keys = headers.get_all("x-api-key").iter();
    match (headers.contains_key(header::AUTHORIZATION), keys.next(), keys.next()) {
        (false, Some(key), None) => key.to_str().ok(),
        (true, None, None) => authorization_value(headers, &["token", "bearer"]),
        _ => None,
    }
}

impl FromRequestParts<App> for Mem0Access {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        let access = parts.extensions.get::<Self>().cloned();
        access.ok_or_else(|| Problem::internal(&"a route of mem0 has no caller"))
    }
}

impl Mem0Access {
    /// Refuses callers with a lower role.
    pub(super) fn require_role(&self, needed: KeyRole) -> Result<(), Problem> {
        self.access.require_role(needed)
    }

    /// Returns the scope whose names count as no name: that of the settings.
    pub(super) fn default_scope(&self) -> &Scope {
        &self.access.app.options.scope
    }

    /// Returns the cache of lists.
    pub(super) fn list_cache(&self) -> &FifoCache<CachedList> {
        &self.access.app.compat.mem0_lists
    }

    /// Returns the engine that journals changes as the caller's.
    pub(super) fn engine(&self) -> Engine {
        self.access.engine()
    }

    /// Begins an event: an engine whose changes are one run of the journal.
    pub(super) fn begin_event(&self, operation: &str) -> Mem0Event {
        let id = Uuid::now_v7().to_string();
        let (reason, run) = (Some(format!("mem0 {operation}")), Some(event_run(&id)));
        let author = ChangeAuthor { reason, run, ..self.access.author() };
        Mem0Event { id, engine: self.access.engine_for(author) }
    }

    /// Returns the memories that a filter matches today.
    pub(super) fn view(&self, filter: Mem0Filter) -> MemoryVisibility {
        let today = self.access.app.engine.now().date();
        let default_scope = self.default_scope().clone();
        MemoryVisibility {
            filter,
            default_scope,
            show_expired: false,
            show_superseded: false,
            today,
        }
    }

    /// Returns the scope that ids name, for a write.
    pub(super) fn scope_for_ids(
        &self,
        agent: Option<&str>,
        user: Option<&str>,
    ) -> Result<Scope, Problem> {
        let base = &self.access.scope;
        let agent = agent.unwrap_or_else(|| base.agent());
        let scope = Scope::new(agent, user.unwrap_or_else(|| base.user()))?;
        match &self.access.caller.bound_scope {
            Some(bound) if *bound != scope => Err(scope_forbidden()),
            _ => Ok(self.audit_scope(scope)),
        }
    }

    fn audit_scope(&self, scope: Scope) -> Scope {
        // A request that uses several scopes is audited by the scope it came with.
        let _ = self.audited_scope.set(scope.clone());
        scope
    }

    /// Returns the scopes that the caller may use: one for a key, all for the owner.
    pub(super) async fn open_scopes(&self) -> Result<Vec<Scope>, Problem> {
        match &self.access.caller.bound_scope {
            Some(bound) => Ok(vec![bound.clone()]),
            None => Ok(self.engine().admin().scopes().await?),
        }
    }

    /// Returns the caller's scopes that a filter may match.
    pub(super) async fn scopes_for(&self, filter: &Mem0Filter) -> Result<Vec<Scope>, Problem> {
        let may_match =
            |scope: &Scope| filter.matches_scope(scope, self.default_scope()) != Some(false);
        let mut open = self.open_scopes().await?;
        open.retain(may_match);
        if open.is_empty() && self.access.caller.bound_scope.is_some() {
            return Err(scope_forbidden());
        }
        if let [one] = &open[..] {
            self.audit_scope(one.clone());
        }
        Ok(open)
    }

    /// Returns a memory from any of the caller's scopes.
    pub(super) async fn find_memory(&self, name: &str) -> Result<Memory, Problem> {
        let id: MemoryId = name.parse().map_err(|_| not_found(name))?;
        for scope in self.open_scopes().await? {
            if let Some(memory) = self.engine().get_many(&scope, &[id]).await?.pop() {
                self.audit_scope(scope);
                return Ok(memory);
            }
        }
        Err(not_found(name))
    }

    /// Returns the entries that match, from the first of the caller's scopes that has any.
    pub(super) async fn journal(
        &self,
        query: &JournalQuery,
    ) -> Result<Option<(Scope, Vec<JournalEntry>)>, Problem> {
        for scope in self.open_scopes().await? {
            let entries = self.engine().history(&scope, query).await?;
            if !entries.is_empty() {
                return Ok(Some((self.audit_scope(scope), entries)));
            }
        }
        Ok(None)
    }
}

/// Returns the journal run of an event.
pub(super) fn event_run(event: &str) -> String {
    format!("mem0-{event}")
}

/// Returns the error for a memory that the caller's scopes do not have.
pub(super) fn not_found(name: &str) -> Problem {
    Problem::new(
        StatusCode::NOT_FOUND,
        "not_found",
        format!("memory `{}` not found", super::filter_parser::truncate_name(name)),
        "list memories with get_all",
    )
}

fn scope_forbidden() -> Problem {
    Problem::new(
        StatusCode::FORBIDDEN,
        "scope",
        "this key is for another agent or user",
        "name the agent and user of the key, or leave them out",
    )
}
