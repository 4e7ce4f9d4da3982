//! One-time codes of sign-in links: `serve` prints a link with one, and the web page exchanges it for the owner's token.

use std::{
    sync::Mutex,
    time::{Duration, Instant},
};

use axum::{Router, extract::State, http::StatusCode, routing::post};
use everlore::{
    Error, Result,
    internal::files::regular_file::{self, MAX_SETTINGS_BYTES},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    ApiResult, App, JsonBody, JsonResponse, Problem,
    sync::lock,
    token::{SecretDigest, constant_time_eq, digest_secret, generate_secret, token_path},
};

/// Time in which a link must be opened: long enough to find the terminal, short enough for its scrollback.
const LINK_LIFETIME: Duration = Duration::from_secs(15 * 60);

/// Codes that were not used yet. They live in memory only: a restart makes them worthless.
#[derive(Default)]
pub(crate) struct SignInCodes(Mutex<Vec<(SecretDigest, Instant)>>);

impl SignInCodes {
    /// Creates a code.
    pub(crate) fn issue(&self, now: Instant) -> Result<String> {
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

/// Code of a sign-in link.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SignInBody {
    /// Part of the link after `#sign-in=`.
    code: String,
}

/// Credentials for the web page.
#[derive(Serialize, ToSchema)]
pub(crate) struct SignedIn {
    /// Owner's token, for the header `Authorization: Bearer`.
    token: String,
}

/// Exchange the code of the link that `serve` printed for the owner's token; a code works once
#[utoipa::path(
    post, path = "/v1/sign-in", tag = "sign_in", request_body = SignInBody, security(()),
    responses((status = 200, description = "Owner's token", body = SignedIn)),
)]
pub(crate) async fn sign_in(
    State(app): State<App>,
    JsonBody(body, _): JsonBody<SignInBody>,
) -> ApiResult<SignedIn> {
    let now = Instant::now();
    if !app.sign_in_codes.redeem(&body.code, now) {
        // Guessing shares the small bucket of failed attempts.
        app.rate_limits.take_unauthenticated(now)?;
        return Err(used_link());
    }
    let path = token_path(&app.options.home);
    let token = regular_file::read_to_string(&path, MAX_SETTINGS_BYTES)
        .map_err(|error| Error::io(path.display().to_string(), error))?;
    Ok(JsonResponse::ok(SignedIn { token: token.trim().to_owned() }))
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
