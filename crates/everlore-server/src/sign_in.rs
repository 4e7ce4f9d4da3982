//! Sign-in of browsers: `serve` prints a link with a one-time code, which the web page exchanges for a cookie.

use std::{
    sync::Mutex,
    time::{Duration, Instant},
};

use axum::{
    Router,
    extract::State,
    http::{HeaderMap, HeaderName, StatusCode, header},
    routing::post,
};
use everlore::{Error, types::Timestamp};
use serde::{Deserialize, Serialize};
#[cfg(test)]
use utoipa::ToSchema;

use crate::{
    App, JsonBody, JsonResponse, Problem,
    auth::authenticate_secret,
    lock,
    token::{SecretDigest, constant_time_eq, digest_secret, generate_secret},
};

/// Time in which a link must be opened: long enough to find the terminal, short enough for its scrollback.
const LINK_LIFETIME: Duration = Duration::from_secs(15 * 60);

/// Codes that were not used yet. They live in memory only: a restart makes them worthless.
#[derive(Default)]
pub(crate) struct SignInCodes(Mutex<Vec<(SecretDigest, Instant)>>);

impl SignInCodes {
    /// Creates a code.
    pub(crate) fn issue(&self, now: Instant) -> everlore::Result<String> {
        let code = generate_secret()?;
        lock(&self.0).push((digest_secret(&code), now + LINK_LIFETIME));
        Ok(code)
    }

    /// Returns `true` if the code is valid, and removes it.
    fn redeem(&self, code: &str, now: Instant) -> bool {
        let digest = digest_secret(code);
        let mut codes = lock(&self.0);
        codes.retain(|(_, expires_at)| *expires_at > now);
        let before = codes.len();
        codes.retain(|(known, _)| !constant_time_eq(known, &digest));
        codes.len() < before
    }
}

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/v1/sign-in", post(sign_in))
}

/// Proof of who signs in: the code of a link, or a token or key.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ToSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct SignInBody {
    /// Part of the link after `#sign-in=`.
    #[serde(default)]
    code: Option<String>,
    /// Or the owner's token or a key.
    #[serde(default)]
    secret: Option<String>,
}

/// Browser that is signed in; its cookie is in the header `Set-Cookie`.
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
pub(crate) struct SignedIn {
    /// Id in the list of browsers.
    browser: String,
    /// Time at which the sign-in ends.
    #[cfg_attr(test, schema(value_type = String))]
    expires_at: Timestamp,
}

/// Sign a browser in: exchange the code of the link that `serve` printed, or a token or key, for a cookie
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/sign-in", tag = "sign_in", request_body = SignInBody, security(()),
    responses((status = 200, description = "The browser, and its cookie in Set-Cookie", body = SignedIn)),
))]
pub(crate) async fn sign_in(
    State(app): State<App>,
    headers: HeaderMap,
    JsonBody(body, _): JsonBody<SignInBody>,
) -> Result<WithCookie<SignedIn>, Problem> {
    let credential = match (body.code, body.secret) {
        (Some(code), None) => redeem_code(&app, &code)?,
        (None, Some(secret)) => authenticate_secret(&app, Some(secret.trim()))?.secret,
        _ => {
            let message = "there is no code and no secret, or both";
            return Err(Error::invalid(message, "send one of them").into());
        }
    };
    let program = headers.get(header::USER_AGENT).and_then(|program| program.to_str().ok());
    let (browser, secret) =
        app.credentials.browsers.add(&credential, program.unwrap_or_default(), Timestamp::now())?;
    let signed_in = SignedIn { browser: browser.id, expires_at: browser.expires_at };
    Ok(with_cookie(app.page_cookie.sign_in(&secret), signed_in))
}

/// Uses a code up and returns the digest of the owner's token.
fn redeem_code(app: &App, code: &str) -> Result<SecretDigest, Problem> {
    let now = Instant::now();
    if app.sign_in_codes.redeem(code, now) {
        return Ok(app.credentials.token());
    }
    // Guessing shares the small bucket of failed attempts.
    app.rate_limits.take_unauthenticated(now)?;
    Err(used_link())
}

/// Response that sets a cookie.
pub(crate) type WithCookie<T> = ([(HeaderName, String); 1], JsonResponse<T>);

/// Returns a response that sets this cookie.
pub(crate) fn with_cookie<T>(cookie: String, value: T) -> WithCookie<T> {
    ([(header::SET_COOKIE, cookie)], JsonResponse::ok(value))
}

fn used_link() -> Problem {
    Problem::new(
        StatusCode::GONE,
        "used_link",
        "this link was used already, or it is too old",
        "start the server again for a new link, or use the token from server.token in the home",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_works_once_and_not_after_its_time() {
        let (codes, now) = (SignInCodes::default(), Instant::now());
        let (first, second) = (codes.issue(now).unwrap(), codes.issue(now).unwrap());
        assert!(!codes.redeem("evl_guess", now));
        assert!(codes.redeem(&first, now));
        assert!(!codes.redeem(&first, now));
        assert!(!codes.redeem(&second, now + LINK_LIFETIME));
    }
}
