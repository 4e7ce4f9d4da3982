//! Who asks, and for whose memory: the owner by the token, a program by its key.

use std::{fmt, path::Path, str::FromStr, time::Instant};

use axum::{
    extract::{FromRequestParts, Request, State},
    http::{HeaderMap, StatusCode, header, request::Parts},
    middleware::Next,
    response::{IntoResponse, Response},
};
use everlore::{
    Engine, Error, Scope,
    tools::Reach,
    types::{Actor, Author},
};
use serde::{Deserialize, Serialize};

use crate::{
    app::App,
    keys::{Key, Keys},
    params::{Params, SCOPE},
    problem::Problem,
    token::{self, Known, known, same},
};

/// The headers that choose the agent and the user, in the order of [`SCOPE`].
const HEADERS: [&str; 2] = ["x-everlore-agent", "x-everlore-user"];

/// The header for our token or key where `Authorization` holds the key of a provider.
#[cfg(feature = "remote")]
pub(crate) const OWN_KEY: &str = "x-everlore-key";

/// What a key is good for. Each may do what those before it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Looks: recall, lists, history, export.
    Read,
    /// Saves and changes what can be undone.
    Write,
    /// Does what cannot be undone, or touches everything: forget, import, upkeep.
    Admin,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Admin];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Role {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|role| role.as_str() == text);
        found.ok_or_else(|| {
            Error::invalid(format!("there is no role `{text}`"), "use read, write or admin")
        })
    }
}

/// What opens a home.
pub(crate) struct Credentials {
    token: Known,
    keys: Keys,
}

impl Credentials {
    /// Reads the token, or makes it.
    pub(crate) fn open(home: &Path) -> everlore::Result<Self> {
        Ok(Self { token: token::open(home)?, keys: Keys::new(home) })
    }

    /// Who has this secret.
    fn caller(&self, secret: &str) -> Result<Option<Caller>, Problem> {
        let known = known(secret);
        if same(&self.token, &known) {
            return Ok(Some(Caller { name: "token".to_owned(), role: Role::Admin, only: None }));
        }
        let key = self.keys.find(&known)?;
        Ok(key.map(|Key { name, scope, role, .. }| Caller {
            name: format!("key:{name}"),
            role,
            only: Some(scope),
        }))
    }
}

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caller {
    /// For logs.
    pub(crate) name: String,
    /// What they may do.
    pub(crate) role: Role,
    /// The one scope that is open to them; none for the owner, to whom all are.
    pub(crate) only: Option<Scope>,
}

/// Who asks for whose memory.
#[derive(Clone)]
pub(crate) struct Access {
    pub(crate) app: App,
    pub(crate) caller: Caller,
    pub(crate) scope: Scope,
}

impl Access {
    /// The engine, whose changes are journaled as the caller's.
    pub(crate) fn engine(&self) -> Engine {
        self.app.engine.on_behalf_of(self.author())
    }

    /// The owner is a person; a key is given to a program.
    pub(crate) fn author(&self) -> Author {
        match self.caller.only {
            None => Author::PERSON,
            Some(_) => Author { actor: Actor::Agent, ..Author::PERSON },
        }
    }

    /// The same for the memory of another agent or user, if it is open to the caller.
    pub(crate) fn of(&self, agent: Option<&str>, user: Option<&str>) -> Result<Self, Problem> {
        let (agent, user) =
            (agent.unwrap_or(self.scope.agent()), user.unwrap_or(self.scope.user()));
        let scope = within(&self.caller, Scope::new(agent, user)?)?;
        Ok(Self { scope, ..self.clone() })
    }

    /// Refuses those who may less.
    pub(crate) fn check(&self, needed: Role) -> Result<(), Problem> {
        if self.caller.role >= needed {
            return Ok(());
        }
        Err(Problem::new(
            StatusCode::FORBIDDEN,
            "role",
            format!("this key may {}, and this needs {needed}", self.caller.role),
            format!("use a key with the role {needed}"),
        ))
    }

    /// What checks may be set: those that look at this machine only by its owner.
    pub(crate) fn reach(&self) -> Reach {
        if self.caller.only.is_none() { Reach::Files } else { Reach::Dates }
    }

    /// Refuses everyone but the owner.
    pub(crate) fn check_owner(&self) -> Result<(), Problem> {
        if self.caller.only.is_none() {
            return Ok(());
        }
        let detail = "use the token of the owner: it is in server.token in the home";
        Err(Problem::new(StatusCode::FORBIDDEN, "role", "this is for the owner only", detail))
    }
}

/// Access with at least a role.
macro_rules! access {
    ($($(#[$doc:meta])* $name:ident: $role:expr;)*) => {$(
        $(#[$doc])*
        pub(crate) struct $name(pub(crate) Access);

        impl<S: Sync> FromRequestParts<S> for $name {
            type Rejection = Problem;

            async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
                let access = parts.extensions.get::<Access>().cloned();
                let access = access.ok_or_else(|| unauthorized("no credentials were given"))?;
                access.check($role)?;
                Ok(Self(access))
            }
        }
    )*};
}

access! {
    /// May look.
    Reader: Role::Read;
    /// May save and change.
    Writer: Role::Write;
    /// May do everything in the scope.
    Admin: Role::Admin;
}

/// Finds the secret among headers.
type Secret = fn(&HeaderMap) -> Option<&str>;

/// Lets only those through who have a token or a key, not too often, and for the memory that is theirs.
pub(crate) async fn authorized(State(app): State<App>, request: Request, next: Next) -> Response {
    admitted(&app, own_bearer, request, next).await
}

/// The same for clients of others' protocols, who put the secret where their provider wants it.
#[cfg(feature = "remote")]
pub(crate) async fn client_authorized(
    State(app): State<App>,
    request: Request,
    next: Next,
) -> Response {
    admitted(&app, secret, request, next).await
}

async fn admitted(app: &App, secret: Secret, mut request: Request, next: Next) -> Response {
    let access = match identified(app, secret, request.headers(), request.uri().query()) {
        Ok(access) => access,
        Err(problem) => return problem.into_response(),
    };
    request.extensions_mut().insert(access.clone());
    let mut response = next.run(request).await;
    // A handler may have found that another memory is meant.
    response.extensions_mut().get_or_insert_with(|| access);
    response
}

fn identified(
    app: &App,
    secret: Secret,
    headers: &HeaderMap,
    query: Option<&str>,
) -> Result<Access, Problem> {
    let caller = caller(app, secret(headers))?;
    let scope = scope(&caller, headers, query, &app.options.scope)?;
    Ok(Access { app: app.clone(), caller, scope })
}

/// Who has this secret, if they do not ask too often.
pub(crate) fn caller(app: &App, secret: Option<&str>) -> Result<Caller, Problem> {
    let now = Instant::now();
    let caller = match secret {
        Some(secret) => app.credentials.caller(secret)?,
        None => None,
    };
    let Some(caller) = caller else {
        // Guesses share one small allowance, which takes nothing from those who know.
        app.limits.take_guess(now)?;
        return Err(unauthorized("there is no such token or key"));
    };
    app.limits.take(&caller.name, now)?;
    Ok(caller)
}

/// The secret, wherever a client puts it. Where it has a header of its own, the others are for a provider.
#[cfg(feature = "remote")]
fn secret(headers: &HeaderMap) -> Option<&str> {
    let plain = |name| headers.get(name)?.to_str().ok().map(str::trim);
    plain(OWN_KEY).or_else(|| own_bearer(headers)).or_else(|| plain("x-api-key"))
}

fn own_bearer(headers: &HeaderMap) -> Option<&str> {
    bearer(headers, &["bearer"])
}

/// What the one `Authorization` says, by one of these schemes.
pub(crate) fn bearer<'a>(headers: &'a HeaderMap, schemes: &[&str]) -> Option<&'a str> {
    let mut all = headers.get_all(header::AUTHORIZATION).iter();
    let (one, None) = (all.next()?.to_str().ok()?, all.next()) else { return None };
    let (scheme, secret) = one.split_once(' ')?;
    schemes.iter().any(|known| scheme.eq_ignore_ascii_case(known)).then(|| secret.trim())
}

fn unauthorized(title: &str) -> Problem {
    Problem::new(
        StatusCode::UNAUTHORIZED,
        "unauthorized",
        title,
        "send Authorization: Bearer with the token in server.token in the home, or with a key of `everlore serve key add`",
    )
}

/// The scope that a request names, within what is open to the caller.
fn scope(
    caller: &Caller,
    headers: &HeaderMap,
    query: Option<&str>,
    default: &Scope,
) -> Result<Scope, Problem> {
    let home = caller.only.as_ref().unwrap_or(default);
    let agent = named(0, headers, query)?.unwrap_or_else(|| home.agent().to_owned());
    let user = named(1, headers, query)?.unwrap_or_else(|| home.user().to_owned());
    within(caller, Scope::new(&agent, &user)?)
}

/// The scope, if it is open to the caller.
fn within(caller: &Caller, scope: Scope) -> Result<Scope, Problem> {
    match &caller.only {
        Some(only) if *only != scope => Err(Problem::new(
            StatusCode::FORBIDDEN,
            "scope",
            "this key opens the memory of another agent or user",
            "leave agent and user out, or use a key that was made for them",
        )),
        _ => Ok(scope),
    }
}

/// What the query or a header calls the agent (0) or the user (1).
fn named(
    which: usize,
    headers: &HeaderMap,
    query: Option<&str>,
) -> Result<Option<String>, Problem> {
    let asked: Option<String> = Params::of(query).one(SCOPE[which])?;
    let mut given = headers.get_all(HEADERS[which]).iter().map(|value| {
        // Clients send names in other scripts as their plain bytes.
        std::str::from_utf8(value.as_bytes()).map(str::to_owned).map_err(|_| {
            Problem::invalid(
                format!("the header {} is not UTF-8", HEADERS[which]),
                format!("send it as UTF-8, or use ?{}= in the query", SCOPE[which]),
            )
        })
    });
    let header = given.next().transpose()?;
    if given.next().is_some() || (asked.is_some() && header.is_some() && asked != header) {
        return Err(Problem::invalid(
            format!("the {} is given twice", SCOPE[which]),
            "give it once, in the query or in the header",
        ));
    }
    Ok(asked.or(header))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn owner() -> Caller {
        Caller { name: "token".into(), role: Role::Admin, only: None }
    }

    fn of(agent: &str, user: &str) -> Scope {
        Scope::new(agent, user).unwrap()
    }

    #[test]
    fn names_come_from_the_query_or_a_header_in_any_language() {
        let mut headers = HeaderMap::new();
        headers.insert("x-everlore-user", HeaderValue::from_bytes("王".as_bytes()).unwrap());
        let query = Some("agent=%E5%8A%A9%E6%89%8B");
        assert_eq!(scope(&owner(), &headers, query, &Scope::default()).unwrap(), of("助手", "王"));
        let twice = scope(&owner(), &headers, Some("user=li"), &Scope::default());
        assert_eq!(twice.unwrap_err().title, "the user is given twice");
    }

    #[test]
    fn a_key_opens_its_own_scope_and_no_other() {
        let caller = Caller { name: "key:a".into(), role: Role::Admin, only: Some(of("a", "u")) };
        let asked = |query| scope(&caller, &HeaderMap::new(), query, &Scope::default());
        assert_eq!(asked(None).unwrap(), of("a", "u"));
        assert_eq!(asked(Some("agent=a&user=u")).unwrap(), of("a", "u"));
        for query in ["agent=b", "user=default", "agent=a&user=U", "user=.."] {
            assert!(asked(Some(query)).is_err(), "{query}");
        }
    }

    #[test]
    fn roles_contain_those_below() {
        assert!(Role::Read < Role::Write && Role::Write < Role::Admin);
    }
}
