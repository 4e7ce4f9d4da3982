//! Request bodies: JSON objects within a size and a time limit, and path parameters.

use std::error::Error;

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

use crate::{App, BoxFuture, Problem, ServerOptions};

/// Value parsed from a JSON body, with the bytes of the body.
pub(crate) struct JsonBody<T>(pub(crate) T, pub(crate) Bytes);

impl<T: DeserializeOwned> FromRequest<App> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let bytes = read_json_object(request, &app.options).await?;
        let value = serde_json::from_slice(&bytes).map_err(|error| unreadable_body(&error))?;
        Ok(Self(value, bytes))
    }
}

/// Value parsed from a JSON body that may be left out: a request without a body gives the default.
pub(crate) struct OptionalJsonBody<T>(pub(crate) T);

impl<T: DeserializeOwned + Default> FromRequest<App> for OptionalJsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        if request.headers().contains_key(header::CONTENT_TYPE) {
            let JsonBody(value, _) = JsonBody::from_request(request, app).await?;
            return Ok(Self(value));
        }
        let (parts, body) = request.into_parts();
        let bytes = read_body(body, &app.options).await?;
        if !bytes.is_empty() {
            check_content_type(&parts.headers, JSON)?;
        }
        Ok(Self(T::default()))
    }
}

/// Reads the bytes of a JSON object. Boxed, so that [`JsonBody`] adds only the parser for each type.
fn read_json_object(
    request: Request,
    options: &ServerOptions,
) -> BoxFuture<'_, Result<Bytes, Problem>> {
    Box::pin(async move {
        check_content_type(request.headers(), JSON)?;
        let bytes = read_body(request.into_body(), options).await?;
        check_object(&bytes)?;
        Ok(bytes)
    })
}

const JSON: &str = "application/json";

/// Media type of a JSON merge patch (RFC 7396), accepted wherever JSON is.
const MERGE_PATCH: &str = "application/merge-patch+json";

/// Refuses other media types. Browsers send a preflight before JSON goes to another site, so no web page can post it
/// behind a user's back.
pub(crate) fn check_content_type(headers: &HeaderMap, wanted: &str) -> Result<(), Problem> {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = given.and_then(|given| given.split(';').next()).unwrap_or_default().trim();
    let is_type = |media_type: &str| essence.eq_ignore_ascii_case(media_type);
    if is_type(wanted) || (wanted == JSON && is_type(MERGE_PATCH)) {
        return Ok(());
    }
    Err(Problem::new(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "unsupported_type",
        "the media type of the body is not supported",
        format!("send it with Content-Type: {wanted}"),
    ))
}

/// Refuses everything but an object: serde would read an array as the fields in their order.
fn check_object(bytes: &[u8]) -> Result<(), Problem> {
    match bytes.trim_ascii_start().first() {
        Some(b'{') => Ok(()),
        _ => Err(Problem::invalid("the body is not a JSON object", "send {\"field\": value, …}")),
    }
}

/// Reads a whole body within the limits of size and time.
pub(crate) async fn read_body(body: Body, options: &ServerOptions) -> Result<Bytes, Problem> {
    let limit = options.max_body_bytes;
    let read = tokio::time::timeout(options.timeouts.body, Limited::new(body, limit).collect());
    match read.await {
        Err(_) => Err(body_too_slow()),
        Ok(Err(error)) => Err(body_error(&*error, limit)),
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
    }
}

/// Returns the problem of a body that exceeded its time limit.
pub(crate) fn body_too_slow() -> Problem {
    Problem::new(
        StatusCode::REQUEST_TIMEOUT,
        "too_slow",
        "the body did not arrive in time",
        "send it faster, or in parts",
    )
}

/// Returns the problem of a body that is too long or broke off.
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

/// Returns the problem of a body that does not parse, with the parser's message. That may quote a field name or a value
/// of the caller, so it goes to the caller only: logs have the code.
fn unreadable_body(error: &serde_json::Error) -> Problem {
    let fault = if error.is_data() { "does not fit" } else { "is not JSON" };
    Problem::invalid(format!("the body {fault}: {error}"), "see /docs for the fields of this route")
}

/// Deserializes a whole number, also one that a program writes as 5.0.
pub(crate) fn whole_number<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: TryFrom<u64>,
{
    let Some(number) = Option::<serde_json::Number>::deserialize(deserializer)? else {
        return Ok(None);
    };
    let integral =
        number.as_f64().filter(|float| float.fract() == 0.0 && (0.0..1e15).contains(float));
    let whole = number.as_u64().or(integral.map(|float| float as u64));
    let value = whole.and_then(|whole| T::try_from(whole).ok());
    value.map(Some).ok_or_else(|| D::Error::custom("not a whole number, or too large"))
}

/// Last parameter of the path, decoded.
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
    fn json_and_merge_patches_are_read_and_form_types_are_not() {
        let is_accepted = |kind: &'static str| {
            let headers =
                HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static(kind))]);
            check_content_type(&headers, JSON).is_ok()
        };
        for kind in [JSON, "Application/JSON; charset=utf-8", MERGE_PATCH] {
            assert!(is_accepted(kind), "{kind}");
        }
        for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""] {
            assert!(!is_accepted(kind), "{kind}");
        }
    }
}
