//! Conditional writes: `ETag` in responses, `If-Match` in requests.

use axum::{
    extract::FromRequestParts,
    http::{HeaderValue, StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};
use everlore::{Error, Memory};
use sha2::{Digest, Sha256};

use crate::{App, Problem, token::hex};

/// ETags for which a write is meant; empty allows any version.
#[derive(Debug, Clone, Default)]
pub(crate) struct IfMatch(Vec<String>);

impl FromRequestParts<App> for IfMatch {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        let mut tags = Vec::new();
        for value in parts.headers.get_all(header::IF_MATCH) {
            let value = value.to_str().map_err(|_| invalid_if_match())?;
            tags.extend(value.split(',').map(|tag| tag.trim().to_owned()));
        }
        let is_plain = |tag: &String| tag.len() > 1 && tag.starts_with('"') && tag.ends_with('"');
        match &tags[..] {
            [any] if any == "*" => Ok(Self::default()),
            tags if tags.iter().all(is_plain) => Ok(Self(tags.to_vec())),
            _ => Err(invalid_if_match()),
        }
    }
}

/// Refuses an unreadable header as one that matches nothing.
fn invalid_if_match() -> Problem {
    Problem::new(
        StatusCode::PRECONDITION_FAILED,
        "changed",
        "If-Match cannot be read",
        "send the ETag of the last response as it is, quotes included",
    )
}

impl IfMatch {
    /// Returns `true` if the write is meant for this version.
    pub(crate) fn allows(&self, tag: &str) -> bool {
        self.0.is_empty() || self.0.iter().any(|allowed| allowed == tag)
    }

    /// Returns the versions of a memory that match; 0, which no memory has, for tags of something else.
    pub(crate) fn versions(&self) -> Vec<u32> {
        let version = |tag: &String| tag.trim_matches('"').parse().unwrap_or(0);
        self.0.iter().map(version).collect()
    }

    /// Turns a conflict into 412 where the request has an `If-Match`.
    pub(crate) fn to_problem(&self, error: Error) -> Problem {
        match error {
            Error::Conflict { what } if !self.0.is_empty() => precondition_failed(&what),
            error => error.into(),
        }
    }
}

/// Returns the 412 of a write whose target has changed.
pub(crate) fn precondition_failed(subject: &str) -> Problem {
    Problem::new(
        StatusCode::PRECONDITION_FAILED,
        "changed",
        format!("{subject} has changed since"),
        "read it again, compare, and send the write with the new ETag in If-Match",
    )
}

/// Returns the ETag of a memory: its version.
pub(crate) fn memory_etag(memory: &Memory) -> String {
    format!("\"{}\"", memory.version)
}

/// Returns the ETag of a text: a digest.
pub(crate) fn text_etag(text: &str) -> String {
    format!("\"{}\"", hex(&Sha256::digest(text.as_bytes())[..16]))
}

/// Adds an ETag to a response.
pub(crate) fn with_etag(tag: &str, response: impl IntoResponse) -> Response {
    set_etag(tag, response.into_response())
}

fn set_etag(tag: &str, mut response: Response) -> Response {
    if let Ok(tag) = HeaderValue::from_str(tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}
