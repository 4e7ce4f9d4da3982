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
    types::{Author, Entry},
};
use uuid::Uuid;

use super::{Listed, filter::Filter, item::View};
use crate::{
    app::App,
    auth::{Access, Role, bearer, caller},
    problem::Problem,
    recent::Recent,
};

/// One who asks in the way of mem0.
#[derive(Clone)]
pub(super) struct Asked {
    access: Access,
    /// The one scope that it came down to, for the audit log.
    meant: Arc<OnceLock<Scope>>,
}

/// Changes that belong together: one run of the journal.
pub(super) struct Event {
    pub(super) id: String,
    pub(super) engine: Engine,
    pub(super) author: Author,
}

/// Lets only those through who have a token or a key.
pub(super) async fn known(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let caller = match caller(&app, secret(request.headers())) {
        Ok(caller) => caller,
        Err(problem) => return problem.into_response(),
    };
    let scope = caller.only.clone().unwrap_or_else(|| app.options.scope.clone());
    let asked = Asked { access: Access { app, caller, scope }, meant: Arc::default() };
    request.extensions_mut().insert(asked.clone());
    let mut response = next.run(request).await;
    let scope = asked.meant.get().cloned().unwrap_or(asked.access.scope);
    response.extensions_mut().insert(Access { scope, ..asked.access });
    response
}

/// `Authorization: Token KEY` or `Bearer KEY`, or `X-API-Key: KEY`; one of them, once.
fn secret(headers: &HeaderMap) -> Option<&str> {
    let mut keys = headers.get_all("x-api-key").iter();
    match (headers.contains_key(header::AUTHORIZATION), keys.next(), keys.next()) {
        (false, Some(key), None) => key.to_str().ok(),
        (true, None, None) => bearer(headers, &["token", "bearer"]),
        _ => None,
    }
}

impl<S: Sync> FromRequestParts<S> for Asked {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let asked = parts.extensions.get::<Self>().cloned();
        asked.ok_or_else(|| Problem::internal(&"a route of mem0 has no caller"))
    }
}

impl Asked {
    /// Refuses those who may less.
    pub(super) fn check(&self, needed: Role) -> Result<(), Problem> {
        self.access.check(needed)
    }

    /// The names that stand for no name: those of the settings.
    pub(super) fn home(&self) -> &Scope {
        &self.access.app.options.scope
    }

    /// The engine, whose changes are journaled as the caller's.
    /// What is kept of lists.
    pub(super) fn lists(&self) -> &Recent<Listed> {
        &self.access.app.lists
    }

    pub(super) fn engine(&self) -> Engine {
        self.access.engine()
    }

    /// The engine for changes that belong together.
    pub(super) fn event(&self, what: &str) -> Event {
        let id = Uuid::now_v7().to_string();
        let (cause, run) = (Some(format!("mem0 {what}")), Some(run_of(&id)));
        let author = Author { cause, run, ..self.access.author() };
        Event { id, engine: self.access.app.engine.on_behalf_of(author.clone()), author }
    }

    /// Only what a filter lets through, today.
    pub(super) fn view(&self, filter: Filter) -> View {
        let today = self.access.app.engine.now().date();
        let home = self.home().clone();
        View { filter, home, show_expired: false, show_replaced: false, today }
    }

    /// The scope that ids name, where something is to be stored.
    pub(super) fn scope(&self, agent: Option<&str>, user: Option<&str>) -> Result<Scope, Problem> {
        let home = &self.access.scope;
        let agent = agent.unwrap_or_else(|| home.agent());
        let scope = Scope::new(agent, user.unwrap_or_else(|| home.user()))?;
        match &self.access.caller.only {
            Some(only) if *only != scope => Err(foreign()),
            _ => Ok(self.remembering(scope)),
        }
    }

    fn remembering(&self, scope: Scope) -> Scope {
        // A request that comes down to several is told by the scope it came with.
        let _ = self.meant.set(scope.clone());
        scope
    }

    /// Scopes that are open to the caller: one for a key, all for the owner.
    pub(super) async fn open(&self) -> Result<Vec<Scope>, Problem> {
        match &self.access.caller.only {
            Some(only) => Ok(vec![only.clone()]),
            None => Ok(self.engine().store().scopes().await?),
        }
    }

    /// Scopes that are open to the caller and that a filter may mean.
    pub(super) async fn meant(&self, filter: &Filter) -> Result<Vec<Scope>, Problem> {
        let may = |scope: &Scope| filter.of_scope(scope, self.home()) != Some(false);
        let mut open = self.open().await?;
        open.retain(may);
        if open.is_empty() && self.access.caller.only.is_some() {
            return Err(foreign());
        }
        if let [one] = &open[..] {
            self.remembering(one.clone());
        }
        Ok(open)
    }

    /// A memory, wherever it is among what is open to the caller.
    pub(super) async fn memory(&self, name: &str) -> Result<Memory, Problem> {
        let id: MemoryId = name.parse().map_err(|_| not_found(name))?;
        for scope in self.open().await? {
            if let Some(memory) = self.engine().store().get(&scope, &[id]).await?.pop().flatten() {
                self.remembering(scope);
                return Ok(memory);
            }
        }
        Err(not_found(name))
    }

    /// The first lines of the journals open to the caller that fit, of one scope.
    pub(super) async fn journal(
        &self,
        query: &JournalQuery,
    ) -> Result<Option<(Scope, Vec<Entry>)>, Problem> {
        for scope in self.open().await? {
            let lines = self.engine().history(&scope, query).await?;
            if !lines.is_empty() {
                return Ok(Some((self.remembering(scope), lines)));
            }
        }
        Ok(None)
    }
}

/// The run of the journal that an event is.
pub(super) fn run_of(event: &str) -> String {
    format!("mem0-{event}")
}

/// There is nothing of that name for this caller.
pub(super) fn not_found(name: &str) -> Problem {
    Problem::new(
        StatusCode::NOT_FOUND,
        "not_found",
        format!("memory `{}` not found", super::reading::short(name)),
        "list what there is with get_all",
    )
}

fn foreign() -> Problem {
    Problem::new(
        StatusCode::FORBIDDEN,
        "scope",
        "this key opens the memory of another agent or user",
        "name the agent and the user that the key was made for, or leave them out",
    )
}
