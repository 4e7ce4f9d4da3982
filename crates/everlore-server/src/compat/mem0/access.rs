//! Who asks, and whose memories a request means: the ids of mem0 as our agents, users and conversations.

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
    app::App,
    auth::{Access, KeyRole, authenticate_secret, authorization_value},
    fifo_cache::FifoCache,
    problem::Problem,
};

/// One who asks in the way of mem0.
#[derive(Clone)]
pub(super) struct Mem0Access {
    access: Access,
    /// The one scope that it came down to, for the audit log.
    audited_scope: Arc<OnceLock<Scope>>,
}

/// Changes that belong together: one run of the journal.
pub(super) struct Mem0Event {
    pub(super) id: String,
    pub(super) engine: Engine,
}

/// Lets only those through who have a token or a key.
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
    let asked = Mem0Access { access: Access { app, caller, scope }, audited_scope: Arc::default() };
    request.extensions_mut().insert(asked.clone());
    let mut response = next.run(request).await;
    let scope = asked.audited_scope.get().cloned().unwrap_or(asked.access.scope);
    response.extensions_mut().insert(Access { scope, ..asked.access });
    response
}

/// `Authorization: Token KEY` or `Bearer KEY`, or `X-API-Key: KEY`; one of them, once.
fn client_secret(headers: &HeaderMap) -> Option<&str> {
    let mut keys = headers.get_all("x-api-key").iter();
    match (headers.contains_key(header::AUTHORIZATION), keys.next(), keys.next()) {
        (false, Some(key), None) => key.to_str().ok(),
        (true, None, None) => authorization_value(headers, &["token", "bearer"]),
        _ => None,
    }
}

impl<S: Sync> FromRequestParts<S> for Mem0Access {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let asked = parts.extensions.get::<Self>().cloned();
        asked.ok_or_else(|| Problem::internal(&"a route of mem0 has no caller"))
    }
}

impl Mem0Access {
    /// Refuses those who may less.
    pub(super) fn require_role(&self, needed: KeyRole) -> Result<(), Problem> {
        self.access.require_role(needed)
    }

    /// The names that stand for no name: those of the settings.
    pub(super) fn default_scope(&self) -> &Scope {
        &self.access.app.options.scope
    }

    /// The engine, whose changes are journaled as the caller's.
    /// What is kept of lists.
    pub(super) fn list_cache(&self) -> &FifoCache<CachedList> {
        &self.access.app.compat.mem0_lists
    }

    pub(super) fn engine(&self) -> Engine {
        self.access.engine()
    }

    /// The engine for changes that belong together.
    pub(super) fn begin_event(&self, what: &str) -> Mem0Event {
        let id = Uuid::now_v7().to_string();
        let (cause, run) = (Some(format!("mem0 {what}")), Some(event_run(&id)));
        let author = ChangeAuthor { reason: cause, run, ..self.access.author() };
        Mem0Event { id, engine: self.access.app.engine.on_behalf_of(author) }
    }

    /// Only what a filter lets through, today.
    pub(super) fn view(&self, filter: Mem0Filter) -> MemoryVisibility {
        let today = self.access.app.engine.now().date();
        let home = self.default_scope().clone();
        MemoryVisibility {
            filter,
            default_scope: home,
            show_expired: false,
            show_superseded: false,
            today,
        }
    }

    /// The scope that ids name, where something is to be stored.
    pub(super) fn scope_for_ids(
        &self,
        agent: Option<&str>,
        user: Option<&str>,
    ) -> Result<Scope, Problem> {
        let home = &self.access.scope;
        let agent = agent.unwrap_or_else(|| home.agent());
        let scope = Scope::new(agent, user.unwrap_or_else(|| home.user()))?;
        match &self.access.caller.bound_scope {
            Some(only) if *only != scope => Err(scope_forbidden()),
            _ => Ok(self.audit_scope(scope)),
        }
    }

    fn audit_scope(&self, scope: Scope) -> Scope {
        // A request that comes down to several is told by the scope it came with.
        let _ = self.audited_scope.set(scope.clone());
        scope
    }

    /// Scopes that are open to the caller: one for a key, all for the owner.
    pub(super) async fn open_scopes(&self) -> Result<Vec<Scope>, Problem> {
        match &self.access.caller.bound_scope {
            Some(only) => Ok(vec![only.clone()]),
            None => Ok(self.engine().scopes().await?),
        }
    }

    /// Scopes that are open to the caller and that a filter may mean.
    pub(super) async fn scopes_for(&self, filter: &Mem0Filter) -> Result<Vec<Scope>, Problem> {
        let may = |scope: &Scope| filter.matches_scope(scope, self.default_scope()) != Some(false);
        let mut open = self.open_scopes().await?;
        open.retain(may);
        if open.is_empty() && self.access.caller.bound_scope.is_some() {
            return Err(scope_forbidden());
        }
        if let [one] = &open[..] {
            self.audit_scope(one.clone());
        }
        Ok(open)
    }

    /// A memory, wherever it is among what is open to the caller.
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

    /// The first lines of the journals open to the caller that fit, of one scope.
    pub(super) async fn journal(
        &self,
        query: &JournalQuery,
    ) -> Result<Option<(Scope, Vec<JournalEntry>)>, Problem> {
        for scope in self.open_scopes().await? {
            let lines = self.engine().history(&scope, query).await?;
            if !lines.is_empty() {
                return Ok(Some((self.audit_scope(scope), lines)));
            }
        }
        Ok(None)
    }
}

/// The run of the journal that an event is.
pub(super) fn event_run(event: &str) -> String {
    format!("mem0-{event}")
}

/// There is nothing of that name for this caller.
pub(super) fn not_found(name: &str) -> Problem {
    Problem::new(
        StatusCode::NOT_FOUND,
        "not_found",
        format!("memory `{}` not found", super::filter_parser::truncate_name(name)),
        "list what there is with get_all",
    )
}

fn scope_forbidden() -> Problem {
    Problem::new(
        StatusCode::FORBIDDEN,
        "scope",
        "this key opens the memory of another agent or user",
        "name the agent and the user that the key was made for, or leave them out",
    )
}
