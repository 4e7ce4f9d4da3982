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
    tools::CheckPermission,
    types::{Actor, ChangeAuthor},
};
use serde::{Deserialize, Serialize};

use crate::{
    app::App,
    keys::{ApiKey, ApiKeys},
    params::{QueryParams, SCOPE_PARAMS},
    problem::Problem,
    token::{self, SecretDigest, constant_time_eq, digest_secret},
};

/// The headers that choose the agent and the user, in the order of [`SCOPE`].
const SCOPE_HEADERS: [&str; 2] = ["x-everlore-agent", "x-everlore-user"];

/// The header for our token or key where `Authorization` holds the key of a provider.
#[cfg(feature = "remote")]
pub(crate) const KEY_HEADER: &str = "x-everlore-key";

/// What a key is good for. Each may do what those before it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyRole {
    /// Looks: recall, lists, history, export.
    Read,
    /// Saves and changes what can be undone.
    Write,
    /// Does what cannot be undone, or touches everything: forget, import, upkeep.
    Admin,
}

impl KeyRole {
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

impl fmt::Display for KeyRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for KeyRole {
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
    token: SecretDigest,
    keys: ApiKeys,
}

impl Credentials {
    /// Reads the token, or makes it.
    pub(crate) fn open(home: &Path) -> everlore::Result<Self> {
        Ok(Self { token: token::load_or_create(home)?, keys: ApiKeys::new(home) })
    }

    /// Who has this secret.
    fn find_caller(&self, secret: &str) -> Result<Option<Caller>, Problem> {
        let known = digest_secret(secret);
        if constant_time_eq(&self.token, &known) {
            return Ok(Some(Caller {
                name: "token".to_owned(),
                role: KeyRole::Admin,
                bound_scope: None,
            }));
        }
        let key = self.keys.find(&known)?;
        Ok(key.map(|ApiKey { name, scope, role, .. }| Caller {
            name: format!("key:{name}"),
            role,
            bound_scope: Some(scope),
        }))
    }
}

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caller {
    /// For logs.
    pub(crate) name: String,
    /// What they may do.
    pub(crate) role: KeyRole,
    /// The one scope that is open to them; none for the owner, to whom all are.
    pub(crate) bound_scope: Option<Scope>,
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
    pub(crate) fn author(&self) -> ChangeAuthor {
        match self.caller.bound_scope {
            None => ChangeAuthor::PERSON,
            Some(_) => ChangeAuthor { actor: Actor::Agent, ..ChangeAuthor::PERSON },
        }
    }

    /// The same for the memory of another agent or user, if it is open to the caller.
    pub(crate) fn with_scope(
        &self,
        agent: Option<&str>,
        user: Option<&str>,
    ) -> Result<Self, Problem> {
        let (agent, user) =
            (agent.unwrap_or(self.scope.agent()), user.unwrap_or(self.scope.user()));
        let scope = check_scope(&self.caller, Scope::new(agent, user)?)?;
        Ok(Self { scope, ..self.clone() })
    }

    /// Refuses those who may less.
    pub(crate) fn require_role(&self, needed: KeyRole) -> Result<(), Problem> {
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
    pub(crate) fn allowed_checks(&self) -> CheckPermission {
        if self.caller.bound_scope.is_none() {
            CheckPermission::Files
        } else {
            CheckPermission::Dates
        }
    }

    /// Refuses everyone but the owner.
    pub(crate) fn require_owner(&self) -> Result<(), Problem> {
        if self.caller.bound_scope.is_none() {
            return Ok(());
        }
        let detail = "use the token of the owner: it is in server.token in the home";
        Err(Problem::new(StatusCode::FORBIDDEN, "role", "this is for the owner only", detail))
    }
}

/// Access with at least a role.
macro_rules! role_extractors {
    ($($(#[$doc:meta])* $name:ident: $role:expr;)*) => {$(
        $(#[$doc])*
        pub(crate) struct $name(pub(crate) Access);

        impl<S: Sync> FromRequestParts<S> for $name {
            type Rejection = Problem;

            async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
                let access = parts.extensions.get::<Access>().cloned();
                let access = access.ok_or_else(|| unauthorized("no credentials were given"))?;
                access.require_role($role)?;
                Ok(Self(access))
            }
        }
    )*};
}

role_extractors! {
    /// May look.
    Reader: KeyRole::Read;
    /// May save and change.
    Writer: KeyRole::Write;
    /// May do everything in the scope.
    Admin: KeyRole::Admin;
}

/// Finds the secret among headers.
type SecretExtractor = fn(&HeaderMap) -> Option<&str>;

/// Lets only those through who have a token or a key, not too often, and for the memory that is theirs.
pub(crate) async fn authenticate(State(app): State<App>, request: Request, next: Next) -> Response {
    authenticate_with(&app, bearer_token, request, next).await
}

/// The same for clients of others' protocols, who put the secret where their provider wants it.
#[cfg(feature = "remote")]
pub(crate) async fn authenticate_client(
    State(app): State<App>,
    request: Request,
    next: Next,
) -> Response {
    authenticate_with(&app, client_secret, request, next).await
}

async fn authenticate_with(
    app: &App,
    secret: SecretExtractor,
    mut request: Request,
    next: Next,
) -> Response {
    let access = match identify(app, secret, request.headers(), request.uri().query()) {
        Ok(access) => access,
        Err(problem) => return problem.into_response(),
    };
    request.extensions_mut().insert(access.clone());
    let mut response = next.run(request).await;
    // A handler may have found that another memory is meant.
    response.extensions_mut().get_or_insert_with(|| access);
    response
}

fn identify(
    app: &App,
    secret: SecretExtractor,
    headers: &HeaderMap,
    query: Option<&str>,
) -> Result<Access, Problem> {
    let caller = authenticate_secret(app, secret(headers))?;
    let scope = requested_scope(&caller, headers, query, &app.options.scope)?;
    Ok(Access { app: app.clone(), caller, scope })
}

/// Who has this secret, if they do not ask too often.
pub(crate) fn authenticate_secret(app: &App, secret: Option<&str>) -> Result<Caller, Problem> {
    let now = Instant::now();
    let caller = match secret {
        Some(secret) => app.credentials.find_caller(secret)?,
        None => None,
    };
    let Some(caller) = caller else {
        // Guesses share one small allowance, which takes nothing from those who know.
        app.rate_limits.take_unauthenticated(now)?;
        return Err(unauthorized("there is no such token or key"));
    };
    app.rate_limits.take(&caller.name, now)?;
    Ok(caller)
}

/// The secret, wherever a client puts it. Where it has a header of its own, the others are for a provider.
#[cfg(feature = "remote")]
fn client_secret(headers: &HeaderMap) -> Option<&str> {
    let plain = |name| headers.get(name)?.to_str().ok().map(str::trim);
    plain(KEY_HEADER).or_else(|| bearer_token(headers)).or_else(|| plain("x-api-key"))
}

fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    authorization_value(headers, &["bearer"])
}

/// What the one `Authorization` says, by one of these schemes.
pub(crate) fn authorization_value<'a>(headers: &'a HeaderMap, schemes: &[&str]) -> Option<&'a str> {
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
fn requested_scope(
    caller: &Caller,
    headers: &HeaderMap,
    query: Option<&str>,
    default: &Scope,
) -> Result<Scope, Problem> {
    let home = caller.bound_scope.as_ref().unwrap_or(default);
    let agent = requested_name(0, headers, query)?.unwrap_or_else(|| home.agent().to_owned());
    let user = requested_name(1, headers, query)?.unwrap_or_else(|| home.user().to_owned());
    check_scope(caller, Scope::new(&agent, &user)?)
}

/// The scope, if it is open to the caller.
fn check_scope(caller: &Caller, scope: Scope) -> Result<Scope, Problem> {
    match &caller.bound_scope {
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
fn requested_name(
    which: usize,
    headers: &HeaderMap,
    query: Option<&str>,
) -> Result<Option<String>, Problem> {
    let asked: Option<String> = QueryParams::parse(query).optional(SCOPE_PARAMS[which])?;
    let mut given = headers.get_all(SCOPE_HEADERS[which]).iter().map(|value| {
        // Clients send names in other scripts as their plain bytes.
        std::str::from_utf8(value.as_bytes()).map(str::to_owned).map_err(|_| {
            Problem::invalid(
                format!("the header {} is not UTF-8", SCOPE_HEADERS[which]),
                format!("send it as UTF-8, or use ?{}= in the query", SCOPE_PARAMS[which]),
            )
        })
    });
    let header = given.next().transpose()?;
    if given.next().is_some() || (asked.is_some() && header.is_some() && asked != header) {
        return Err(Problem::invalid(
            format!("the {} is given twice", SCOPE_PARAMS[which]),
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
        Caller { name: "token".into(), role: KeyRole::Admin, bound_scope: None }
    }

    fn of(agent: &str, user: &str) -> Scope {
        Scope::new(agent, user).unwrap()
    }

    #[test]
    fn names_come_from_the_query_or_a_header_in_any_language() {
        let mut headers = HeaderMap::new();
        headers.insert("x-everlore-user", HeaderValue::from_bytes("王".as_bytes()).unwrap());
        let query = Some("agent=%E5%8A%A9%E6%89%8B");
        assert_eq!(
            requested_scope(&owner(), &headers, query, &Scope::default()).unwrap(),
            of("助手", "王")
        );
        let twice = requested_scope(&owner(), &headers, Some("user=li"), &Scope::default());
        assert_eq!(twice.unwrap_err().title, "the user is given twice");
    }

    #[test]
    fn a_key_opens_its_own_scope_and_no_other() {
        let caller =
            Caller { name: "key:a".into(), role: KeyRole::Admin, bound_scope: Some(of("a", "u")) };
        let asked = |query| requested_scope(&caller, &HeaderMap::new(), query, &Scope::default());
        assert_eq!(asked(None).unwrap(), of("a", "u"));
        assert_eq!(asked(Some("agent=a&user=u")).unwrap(), of("a", "u"));
        for query in ["agent=b", "user=default", "agent=a&user=U", "user=.."] {
            assert!(asked(Some(query)).is_err(), "{query}");
        }
    }

    #[test]
    fn roles_contain_those_below() {
        assert!(KeyRole::Read < KeyRole::Write && KeyRole::Write < KeyRole::Admin);
    }
}
