//! Authentication and authorization: the owner by the token, a program by its key, a browser by its cookie, and the scope of a
//! request.

use std::{str::FromStr, sync::Arc, time::Instant};

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
    App, Problem, QueryParams, caller_permits::CallerPermit, params::SCOPE_PARAMS,
    token::SecretDigest,
};

/// Headers that select agent and user, in the order of [`SCOPE_PARAMS`].
const SCOPE_HEADERS: [&str; 2] = ["x-everlore-agent", "x-everlore-user"];

/// Header for our token or key where `Authorization` holds a provider's key.
pub(crate) const KEY_HEADER: &str = "x-everlore-key";

/// Role of a key; each includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyRole {
    /// Reads: recall, lists, history, export.
    Read,
    /// Writes that can be undone.
    Write,
    /// Actions that cannot be undone or touch everything: forget, import, upkeep.
    Admin,
}

everlore::types::variant_names! { pub KeyRole: Read = "read", Write = "write", Admin = "admin" }

impl FromStr for KeyRole {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let role = Self::ALL.into_iter().find(|role| role.as_str() == text);
        role.ok_or_else(|| {
            Error::invalid(format!("there is no role `{text}`"), "use read, write or admin")
        })
    }
}

/// Authenticated caller.
#[derive(Clone)]
pub(crate) struct Caller {
    /// Name in logs: `token`, or `key:` and the name of the key.
    pub(crate) name: String,
    /// Permission.
    pub(crate) role: KeyRole,
    /// The only scope of a key; `None` for the owner, who may use all.
    pub(crate) bound_scope: Option<Scope>,
    /// Digest of the token or key.
    pub(crate) secret: SecretDigest,
    /// Id of the signed-in browser; `None` for a program, which sends the token or key itself.
    pub(crate) browser: Option<String>,
    /// Slot of the request among those of its key; the owner needs none.
    pub(crate) permit: Option<Arc<CallerPermit>>,
}

/// Caller and scope of a request.
#[derive(Clone)]
pub(crate) struct Access {
    pub(crate) app: App,
    pub(crate) caller: Caller,
    pub(crate) scope: Scope,
}

impl Access {
    /// Returns the engine that journals changes as the caller's and has the caller's rights; `app.engine` would have the
    /// owner's.
    pub(crate) fn engine(&self) -> Engine {
        self.engine_for(self.author())
    }

    /// Returns the engine with the caller's rights that journals changes as this author's.
    pub(crate) fn engine_for(&self, author: ChangeAuthor) -> Engine {
        let engine = self.app.engine.on_behalf_of(author);
        if self.caller.bound_scope.is_some() { engine.without_owner_rights() } else { engine }
    }

    /// Returns the author of changes: a person for the owner, an agent for a key.
    pub(crate) fn author(&self) -> ChangeAuthor {
        match self.caller.bound_scope {
            None => ChangeAuthor::PERSON,
            Some(_) => ChangeAuthor { actor: Actor::Agent, ..ChangeAuthor::PERSON },
        }
    }

    /// Switches to another agent or user, if the caller may.
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

    /// Refuses keys with a lower role. The owner has all roles.
    pub(crate) fn require_role(&self, needed: KeyRole) -> Result<(), Problem> {
        if self.caller.role >= needed {
            return Ok(());
        }
        Err(Problem::new(
            StatusCode::FORBIDDEN,
            "role",
            format!("this key has the role {}, and this needs {needed}", self.caller.role),
            format!("use a key with the role {needed}"),
        ))
    }

    /// Returns the checks that the caller may set: only the owner may probe this machine.
    pub(crate) fn allowed_checks(&self) -> CheckPermission {
        if self.caller.bound_scope.is_none() {
            CheckPermission::Files
        } else {
            CheckPermission::Dates
        }
    }

    /// Refuses every key, whatever its role. The code is `role` too: to a client both mean that its key may not.
    pub(crate) fn require_owner(&self) -> Result<(), Problem> {
        if self.caller.bound_scope.is_none() {
            return Ok(());
        }
        let detail = "use the owner's token from server.token in the home";
        Err(Problem::new(StatusCode::FORBIDDEN, "role", "this is for the owner only", detail))
    }
}

/// Extractors that require a role.
macro_rules! role_extractors {
    ($($(#[$doc:meta])* $name:ident: $role:expr;)*) => {$(
        $(#[$doc])*
        pub(crate) struct $name(pub(crate) Access);

        impl FromRequestParts<App> for $name {
            type Rejection = Problem;

            async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
                access_with_role(parts, $role).map(Self)
            }
        }
    )*};
}

role_extractors! {
    /// Access with the role read.
    Reader: KeyRole::Read;
    /// Access with the role write.
    Writer: KeyRole::Write;
    /// Access with the role admin.
    Admin: KeyRole::Admin;
}

fn access_with_role(parts: &Parts, role: KeyRole) -> Result<Access, Problem> {
    let access = parts.extensions.get::<Access>().cloned();
    // Only a route without the middleware has no access; without a secret, `authenticate_secret` has refused already.
    let access = access.ok_or_else(|| unauthorized("no credentials were given"))?;
    access.require_role(role)?;
    Ok(access)
}

/// Finds the secret in the headers of a request.
type SecretExtractor = fn(&HeaderMap) -> Option<&str>;

/// Middleware that authenticates, applies the rate limit, and determines the scope.
pub(crate) async fn authenticate(State(app): State<App>, request: Request, next: Next) -> Response {
    authenticate_with(&app, bearer_token, request, next).await
}

/// Authenticates clients of other protocols, which put the secret where their provider expects it.
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
    // A handler may have switched to another scope.
    response.extensions_mut().get_or_insert_with(|| access);
    response
}

fn identify(
    app: &App,
    secret: SecretExtractor,
    headers: &HeaderMap,
    query: Option<&str>,
) -> Result<Access, Problem> {
    // What a program sends in a header counts before the cookie that its browser adds.
    let caller = match (secret(headers), app.page_cookie.secret(headers)) {
        (None, Some(cookie)) => authenticate_cookie(app, cookie)?,
        (secret, _) => authenticate_secret(app, secret)?,
    };
    let scope = requested_scope(&caller, headers, query, &app.options.scope)?;
    Ok(Access { app: app.clone(), caller, scope })
}

/// Returns the caller with this secret, within the rate limit. No secret gets the same answer as an unknown one.
pub(crate) fn authenticate_secret(app: &App, secret: Option<&str>) -> Result<Caller, Problem> {
    admit(app, secret.map_or(Ok(None), |secret| app.credentials.find_caller(secret)))
}

/// Returns the caller whose browser sent this cookie, within the rate limit.
fn authenticate_cookie(app: &App, secret: &str) -> Result<Caller, Problem> {
    admit(app, app.credentials.find_by_cookie(secret))
}

fn admit(app: &App, caller: Result<Option<Caller>, Problem>) -> Result<Caller, Problem> {
    let now = Instant::now();
    let Ok(Some(mut caller)) = caller else {
        // Failed attempts share one small bucket of their own, also while the keys cannot be read.
        app.rate_limits.take_unauthenticated(now)?;
        return Err(caller.err().unwrap_or_else(|| unauthorized("unknown token or key")));
    };
    app.rate_limits.take(&caller.name, now)?;
    if caller.bound_scope.is_some() {
        caller.permit = Some(app.caller_permits.take(&caller.name)?);
    }
    Ok(caller)
}

/// Finds the secret wherever a client puts it. Where it has a header of its own, the others are for a provider.
#[cfg(feature = "remote")]
fn client_secret(headers: &HeaderMap) -> Option<&str> {
    candidate_secrets(headers, &["bearer"]).next()
}

/// Returns all secrets of a request, in the headers where clients put them: that of Everlore first, then `Authorization`
/// with one of these schemes.
pub(crate) fn candidate_secrets<'a>(
    headers: &'a HeaderMap,
    schemes: &[&str],
) -> impl Iterator<Item = &'a str> {
    let plain = |name| headers.get(name)?.to_str().ok().map(str::trim);
    let authorization = authorization_value(headers, schemes);
    [plain(KEY_HEADER), authorization, plain("x-api-key")].into_iter().flatten()
}

fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    authorization_value(headers, &["bearer"])
}

/// Returns the value of the single `Authorization` header, if it uses one of these schemes.
pub(crate) fn authorization_value<'a>(headers: &'a HeaderMap, schemes: &[&str]) -> Option<&'a str> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (one, None) = (values.next()?.to_str().ok()?, values.next()) else { return None };
    let (scheme, secret) = one.split_once(' ')?;
    schemes.iter().any(|known| scheme.eq_ignore_ascii_case(known)).then(|| secret.trim())
}

fn unauthorized(title: &str) -> Problem {
    Problem::new(
        StatusCode::UNAUTHORIZED,
        "unauthorized",
        title,
        "send Authorization: Bearer with the token from server.token in the home, or with a key of `everlore serve key add`",
    )
}

/// Returns the scope that a request names, if the caller may use it.
fn requested_scope(
    caller: &Caller,
    headers: &HeaderMap,
    query: Option<&str>,
    default: &Scope,
) -> Result<Scope, Problem> {
    let base = caller.bound_scope.as_ref().unwrap_or(default);
    let agent = requested_name(0, headers, query)?.unwrap_or_else(|| base.agent().to_owned());
    let user = requested_name(1, headers, query)?.unwrap_or_else(|| base.user().to_owned());
    check_scope(caller, Scope::new(&agent, &user)?)
}

/// Returns the scope if the caller may use it.
fn check_scope(caller: &Caller, scope: Scope) -> Result<Scope, Problem> {
    match &caller.bound_scope {
        Some(bound) if *bound != scope => Err(Problem::new(
            StatusCode::FORBIDDEN,
            "scope",
            "this key is for another agent or user",
            "leave out agent and user, or use a key made for them",
        )),
        _ => Ok(scope),
    }
}

/// Returns the agent (0) or the user (1) that the query or a header names.
fn requested_name(
    which: usize,
    headers: &HeaderMap,
    query: Option<&str>,
) -> Result<Option<String>, Problem> {
    let in_query: Option<String> = QueryParams::parse(query).optional(SCOPE_PARAMS[which])?;
    let mut given = headers.get_all(SCOPE_HEADERS[which]).iter().map(|value| {
        // Clients send names in other scripts as plain bytes.
        std::str::from_utf8(value.as_bytes()).map(str::to_owned).map_err(|_| {
            Problem::invalid(
                format!("the header {} is not UTF-8", SCOPE_HEADERS[which]),
                format!("send it as UTF-8, or use ?{}= in the query", SCOPE_PARAMS[which]),
            )
        })
    });
    let header = given.next().transpose()?;
    if given.next().is_some() || (in_query.is_some() && header.is_some() && in_query != header) {
        return Err(Problem::invalid(
            format!("the {} is given twice", SCOPE_PARAMS[which]),
            "give it once, in the query or in the header",
        ));
    }
    Ok(in_query.or(header))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn owner() -> Caller {
        Caller {
            name: "token".into(),
            role: KeyRole::Admin,
            bound_scope: None,
            secret: [0; 32],
            browser: None,
            permit: None,
        }
    }

    fn scope(agent: &str, user: &str) -> Scope {
        Scope::new(agent, user).unwrap()
    }

    #[test]
    fn names_come_from_the_query_or_a_header_in_any_language() {
        let mut headers = HeaderMap::new();
        headers.insert("x-everlore-user", HeaderValue::from_bytes("王".as_bytes()).unwrap());
        let query = Some("agent=%E5%8A%A9%E6%89%8B");
        assert_eq!(
            requested_scope(&owner(), &headers, query, &Scope::default()).unwrap(),
            scope("助手", "王")
        );
        let twice = requested_scope(&owner(), &headers, Some("user=li"), &Scope::default());
        assert_eq!(twice.unwrap_err().title, "the user is given twice");
    }

    #[test]
    fn a_key_opens_its_own_scope_and_no_other() {
        let caller = Caller {
            name: "key:a".into(),
            role: KeyRole::Admin,
            bound_scope: Some(scope("a", "u")),
            secret: [0; 32],
            browser: None,
            permit: None,
        };
        let scope_of =
            |query| requested_scope(&caller, &HeaderMap::new(), query, &Scope::default());
        assert_eq!(scope_of(None).unwrap(), scope("a", "u"));
        assert_eq!(scope_of(Some("agent=a&user=u")).unwrap(), scope("a", "u"));
        for query in ["agent=b", "user=default", "agent=a&user=U", "user=.."] {
            assert!(scope_of(Some(query)).is_err(), "{query}");
        }
    }

    #[test]
    fn roles_contain_those_below() {
        assert!(KeyRole::Read < KeyRole::Write && KeyRole::Write < KeyRole::Admin);
    }
}
