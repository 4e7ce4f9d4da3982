//! The body of a request: JSON, not too large, and not too slow.

use std::{error::Error, time::Duration};

use axum::{
    body::{Body, Bytes},
    extract::{FromRequest, FromRequestParts, Path, Request},
    http::{HeaderMap, StatusCode, header, request::Parts},
};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::DeserializeOwned;

use crate::{app::App, problem::Problem};

/// The longest that a client may take to send a body: a few megabytes over a poor line.
pub(crate) const MAX_BODY_TIME: Duration = Duration::from_secs(30);

/// A value read from JSON, with a digest of its bytes.
pub(crate) struct Json<T>(pub(crate) T, pub(crate) Bytes);

impl<T: DeserializeOwned> FromRequest<App> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        check_type(request.headers(), "application/json")?;
        let bytes = whole(request.into_body(), app.options.max_body_bytes).await?;
        check_object(&bytes)?;
        let value = serde_json::from_slice(&bytes).map_err(|error| unreadable(&error))?;
        Ok(Self(value, bytes))
    }
}

/// Browsers ask before they send such a type to another site, so no page can do it behind a user's back.
pub(crate) fn check_type(headers: &HeaderMap, wanted: &str) -> Result<(), Problem> {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = given.and_then(|given| given.split(';').next()).unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case(wanted) {
        return Ok(());
    }
    Err(Problem::new(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "unsupported_type",
        "the body has no type that is read here",
        format!("send it with Content-Type: {wanted}"),
    ))
}

/// An array would be read as the fields in their order.
fn check_object(bytes: &[u8]) -> Result<(), Problem> {
    match bytes.trim_ascii_start().first() {
        Some(b'{') => Ok(()),
        _ => Err(Problem::invalid("the body is no JSON object", "send {\"field\": value, …}")),
    }
}

/// All bytes of a body.
pub(crate) async fn whole(body: Body, limit: usize) -> Result<Bytes, Problem> {
    let read = tokio::time::timeout(MAX_BODY_TIME, Limited::new(body, limit).collect());
    match read.await {
        Err(_) => Err(too_slow()),
        Ok(Err(error)) => Err(broken(&*error, limit)),
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
    }
}

/// The body did not come in time.
pub(crate) fn too_slow() -> Problem {
    Problem::new(
        StatusCode::REQUEST_TIMEOUT,
        "too_slow",
        "the body did not come in time",
        "send it faster, or in parts",
    )
}

/// The body is too long, or the client went away.
pub(crate) fn broken(error: &(dyn Error + Send + Sync + 'static), limit: usize) -> Problem {
    if error.is::<LengthLimitError>() {
        return Problem::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "too_large",
            format!("the body is longer than {limit} bytes"),
            "send it in parts",
        );
    }
    Problem::invalid("the body could not be read", "send the request again")
}

/// The line and column help; what stands there is the caller's own and may be a memory, so it is not repeated.
fn unreadable(error: &serde_json::Error) -> Problem {
    let what = if error.is_data() { "does not fit" } else { "is not JSON" };
    Problem::invalid(format!("the body {what}: {error}"), "see /docs for what this route takes")
}

/// The last part of the path, decoded.
pub(crate) struct Named(pub(crate) String);

impl FromRequestParts<App> for Named {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let path = Path::<String>::from_request_parts(parts, app).await;
        path.map(|Path(name)| Self(name)).map_err(|error| {
            Problem::invalid(
                format!("the path cannot be read: {error}"),
                "encode it as UTF-8 with % signs",
            )
        })
    }
}
