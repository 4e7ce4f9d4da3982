//! Changes that only fit what the caller has seen: `ETag` in answers, `If-Match` in requests.

use axum::{
    extract::FromRequestParts,
    http::{HeaderValue, StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};
use everlore::{Error, Memory};
use sha2::{Digest, Sha256};

use crate::{problem::Problem, response::ApiResult, token::hex};

/// Which states of a thing a change is meant for; any if the request does not say.
#[derive(Debug, Clone, Default)]
pub(crate) struct IfMatch(Vec<String>);

impl<S: Sync> FromRequestParts<S> for IfMatch {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
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

/// What cannot be read is the tag of nothing.
fn invalid_if_match() -> Problem {
    Problem::new(
        StatusCode::PRECONDITION_FAILED,
        "changed",
        "If-Match cannot be read",
        "send the ETag of the last answer as it is, quotes included",
    )
}

impl IfMatch {
    /// Whether this state is meant.
    pub(crate) fn allows(&self, tag: &str) -> bool {
        self.0.is_empty() || self.0.iter().any(|known| known == tag)
    }

    /// The versions of a memory that are meant; one that cannot be if the tags are those of something else.
    pub(crate) fn versions(&self) -> Vec<u32> {
        let version = |tag: &String| tag.trim_matches('"').parse().unwrap_or(0);
        self.0.iter().map(version).collect()
    }

    /// The problem of a change that came too late.
    pub(crate) fn to_problem(&self, error: Error) -> Problem {
        match error {
            Error::Conflict { what } if !self.0.is_empty() => precondition_failed(&what),
            error => error.into(),
        }
    }
}

/// The thing is not any more what the caller has seen.
pub(crate) fn precondition_failed(what: &str) -> Problem {
    Problem::new(
        StatusCode::PRECONDITION_FAILED,
        "changed",
        format!("{what} was changed since"),
        "read it again, look at what changed, and send the change with the new ETag in If-Match",
    )
}

/// The tag of a memory: the count of its changes.
pub(crate) fn memory_etag(memory: &Memory) -> String {
    format!("\"{}\"", memory.version)
}

/// The tag of a text.
pub(crate) fn text_etag(text: &str) -> String {
    format!("\"{}\"", hex(&Sha256::digest(text.as_bytes())[..16]))
}

/// An answer with the tag of what it holds.
pub(crate) fn with_etag<T: serde::Serialize>(tag: &str, answer: ApiResult<T>) -> Response {
    let mut response = answer.into_response();
    if let Ok(tag) = HeaderValue::from_str(tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}
