//! The body of a request: JSON, not too large, and not too slow.

use std::{error::Error, time::Duration};

use axum::{
    body::{Body, Bytes},
    extract::{FromRequest, FromRequestParts, Path, Request},
    http::{HeaderMap, StatusCode, header, request::Parts},
};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, Error as _},
};

use crate::{app::App, problem::Problem};

/// The longest that a client may take to send a body: a few megabytes over a poor line.
pub(crate) const MAX_BODY_TIME: Duration = Duration::from_secs(30);

/// A value read from JSON, with a digest of its bytes.
pub(crate) struct JsonBody<T>(pub(crate) T, pub(crate) Bytes);

impl<T: DeserializeOwned> FromRequest<App> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        check_content_type(request.headers(), JSON)?;
        let bytes = read_body(request.into_body(), app.options.max_body_bytes).await?;
        check_object(&bytes)?;
        let value = serde_json::from_slice(&bytes).map_err(|error| unreadable_body(&error))?;
        Ok(Self(value, bytes))
    }
}

const JSON: &str = "application/json";

/// What clients that know of RFC 7396 call a change in JSON.
const MERGE_PATCH: &str = "application/merge-patch+json";

/// Browsers ask before they send such a type to another site, so no page can do it behind a user's back.
pub(crate) fn check_content_type(headers: &HeaderMap, wanted: &str) -> Result<(), Problem> {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = given.and_then(|given| given.split(';').next()).unwrap_or_default().trim();
    let is = |kind: &str| essence.eq_ignore_ascii_case(kind);
    if is(wanted) || (wanted == JSON && is(MERGE_PATCH)) {
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

/// All of a body, if it is not too long and not too slow.
pub(crate) async fn read_body(body: Body, limit: usize) -> Result<Bytes, Problem> {
    let read = tokio::time::timeout(MAX_BODY_TIME, Limited::new(body, limit).collect());
    match read.await {
        Err(_) => Err(body_too_slow()),
        Ok(Err(error)) => Err(body_error(&*error, limit)),
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
    }
}

/// The body did not come in time.
pub(crate) fn body_too_slow() -> Problem {
    Problem::new(
        StatusCode::REQUEST_TIMEOUT,
        "too_slow",
        "the body did not come in time",
        "send it faster, or in parts",
    )
}

/// The body is too long, or the client went away.
pub(crate) fn body_error(error: &(dyn Error + Send + Sync + 'static), limit: usize) -> Problem {
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
fn unreadable_body(error: &serde_json::Error) -> Problem {
    let what = if error.is_data() { "does not fit" } else { "is not JSON" };
    Problem::invalid(format!("the body {what}: {error}"), "see /docs for what this route takes")
}

/// A whole number, also where a program writes it as 5.0.
pub(crate) fn whole_number<'de, D, T>(from: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: TryFrom<u64>,
{
    let Some(number) = Option::<serde_json::Number>::deserialize(from)? else { return Ok(None) };
    let plain = number.as_f64().filter(|float| float.fract() == 0.0 && (0.0..1e15).contains(float));
    let whole = number.as_u64().or(plain.map(|float| float as u64));
    let fits = whole.and_then(|whole| T::try_from(whole).ok());
    fits.map(Some).ok_or_else(|| D::Error::custom("it is no whole number, or too large"))
}

/// The last part of the path, decoded.
pub(crate) struct PathParam(pub(crate) String);

impl FromRequestParts<App> for PathParam {
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

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn json_and_changes_in_json_are_read_and_what_pages_can_send_is_not() {
        let read = |kind: &'static str| {
            let headers =
                HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static(kind))]);
            check_content_type(&headers, JSON).is_ok()
        };
        for kind in [JSON, "Application/JSON; charset=utf-8", MERGE_PATCH] {
            assert!(read(kind), "{kind}");
        }
        for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""] {
            assert!(!read(kind), "{kind}");
        }
    }
}
