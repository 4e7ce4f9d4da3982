//! What can go wrong, as `application/problem+json` (RFC 9457), told apart by a code.

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use everlore::Error;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

/// What went wrong, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The HTTP status.
    pub(crate) status: StatusCode,
    /// A short, stable word for programs.
    pub(crate) code: &'static str,
    /// What went wrong, in a sentence.
    pub(crate) title: String,
    /// What to do about it.
    pub(crate) detail: String,
    /// Seconds to wait before the next try.
    pub(crate) retry_after: Option<u64>,
    /// More for programs.
    pub(crate) more: Option<Box<serde_json::Value>>,
    /// In whose words it is told.
    pub(crate) error_format: ErrorFormat,
}

/// Whose clients are told of a problem: each reads its own shape.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ErrorFormat {
    /// RFC 9457.
    #[default]
    ProblemJson,
    /// `{"error": {…}}`, as OpenAI has it.
    #[cfg_attr(
        not(feature = "remote"),
        expect(dead_code, reason = "only the proxy has such clients")
    )]
    Openai,
    /// `{"type": "error", "error": {…}}`, as Anthropic has it.
    #[cfg_attr(
        not(feature = "remote"),
        expect(dead_code, reason = "only the proxy has such clients")
    )]
    Anthropic,
}

/// A problem as it is sent.
#[derive(Serialize, ToSchema)]
#[schema(as = Problem)]
pub(crate) struct ProblemBody<'a> {
    /// A uri that names the kind of problem: `urn:everlore:problem:` and the code.
    #[serde(rename = "type")]
    kind: String,
    /// The HTTP status.
    status: u16,
    /// A short, stable word for programs.
    code: &'a str,
    /// What went wrong, in a sentence.
    title: &'a str,
    /// What to do about it.
    detail: &'a str,
    /// The id of the request, as in the logs.
    instance: String,
    /// Seconds to wait before the next try.
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after: Option<u64>,
    /// More for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    more: Option<&'a serde_json::Value>,
}

impl Problem {
    pub(crate) fn new(
        status: StatusCode,
        code: &'static str,
        title: impl Into<String>,
        detail: impl Into<String>,
    ) -> Self {
        let (title, detail) = (title.into(), detail.into());
        let error_format = ErrorFormat::ProblemJson;
        Self { status, code, title, detail, retry_after: None, more: None, error_format }
    }

    /// The request cannot be understood as it is.
    pub(crate) fn invalid(title: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid", title, detail)
    }

    /// Something broke here. What broke is told to the log only.
    pub(crate) fn internal(error: &dyn std::fmt::Display) -> Self {
        tracing::error!(%error, "a request failed");
        let detail =
            "try again; the log of the server says more, and `everlore doctor` checks the home";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "the server failed", detail)
    }

    /// The answer's body, with the id of the request.
    pub(crate) fn body(&self, request: &str) -> Body {
        match self.error_format {
            ErrorFormat::ProblemJson => self.problem_json(request),
            ErrorFormat::Openai => Body::from(self.as_openai().to_string()),
            ErrorFormat::Anthropic => Body::from(self.as_anthropic(request).to_string()),
        }
    }

    fn as_openai(&self) -> Value {
        let kind = match self.status.as_u16() {
            401 => "authentication_error",
            403 => "permission_error",
            429 => "rate_limit_error",
            400..=499 => "invalid_request_error",
            _ => "server_error",
        };
        json!({ "error": { "message": self.message(), "type": kind, "param": null, "code": self.code } })
    }

    fn as_anthropic(&self, request: &str) -> Value {
        let kind = match self.status.as_u16() {
            401 => "authentication_error",
            403 => "permission_error",
            404 => "not_found_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            400..=499 => "invalid_request_error",
            _ => "api_error",
        };
        let error = json!({ "type": kind, "message": self.message() });
        json!({ "type": "error", "error": error, "request_id": request })
    }

    fn message(&self) -> String {
        format!("everlore: {}; {}", self.title, self.detail)
    }

    fn problem_json(&self, request: &str) -> Body {
        let told = ProblemBody {
            kind: format!("urn:everlore:problem:{}", self.code),
            status: self.status.as_u16(),
            code: self.code,
            title: &self.title,
            detail: &self.detail,
            instance: format!("urn:everlore:request:{request}"),
            retry_after: self.retry_after,
            more: self.more.as_deref(),
        };
        // A struct of strings and numbers can always be written as JSON.
        Body::from(serde_json::to_vec(&told).unwrap_or_default())
    }
}

impl ErrorFormat {
    /// The type of a body in it.
    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Self::ProblemJson => "application/problem+json",
            Self::Openai | Self::Anthropic => "application/json",
        }
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let status = match &error {
            Error::NotFound { .. } | Error::NoSuchUri { .. } => StatusCode::NOT_FOUND,
            Error::AmbiguousId { .. } | Error::Conflict { .. } => StatusCode::CONFLICT,
            Error::Invalid { .. } | Error::InvalidConfig { .. } => StatusCode::UNPROCESSABLE_ENTITY,
            Error::ContextTooLong { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Error::Remote { .. } => StatusCode::BAD_GATEWAY,
            Error::Store(_) | Error::ReadOnly { .. } => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let more = match &error {
            Error::InvalidConfig { problems } => Some(Box::new(setting_errors(problems))),
            _ => None,
        };
        Self {
            more,
            ..Self::new(status, error.code(), public_title(&error), public_detail(&error))
        }
    }
}

/// Settings told one by one; more would be no mistakes of a person.
const MAX_SETTING_ERRORS: usize = 100;

/// Each setting that does not fit, for programs. Names are the caller's own and may be of any length.
fn setting_errors(problems: &[(String, String)]) -> Value {
    let told = |(key, message): &(String, String)| {
        let key: String = key.chars().take(100).collect();
        json!({ "key": key, "message": message })
    };
    json!({ "errors": problems.iter().take(MAX_SETTING_ERRORS).map(told).collect::<Vec<_>>() })
}

/// Causes below the engine may name files and say what is in them: they are for the log.
fn public_title(error: &Error) -> String {
    match error {
        Error::Store(_) | Error::Io { .. } | Error::Damaged { .. } | Error::ReadOnly { .. } => {
            tracing::error!(%error, "a request failed");
            match error {
                Error::Damaged { .. } => "stored data is damaged".to_owned(),
                Error::ReadOnly { .. } => "this memory can only be read".to_owned(),
                Error::Io { .. } => "a file could not be read or written".to_owned(),
                _ => "storage failed".to_owned(),
            }
        }
        Error::InvalidConfig { problems } => match problems.len() {
            1 => "a setting cannot be used".to_owned(),
            count => format!("{count} settings cannot be used"),
        },
        _ => error.to_string(),
    }
}

/// The hint, for a caller who has no command line.
fn public_detail(error: &Error) -> String {
    match error {
        Error::NotFound { .. } => {
            "only what belongs to this agent and user can be named; GET /v1/memories lists it"
                .to_owned()
        }
        Error::InvalidConfig { problems } => match problems.first() {
            Some((key, message)) => {
                let key: String = key.chars().take(100).collect();
                format!("`{key}`: {message}; nothing was changed, and `more` names them all")
            }
            None => error.hint().to_owned(),
        },
        _ => error.hint().to_owned(),
    }
}

impl IntoResponse for Problem {
    /// The body is written where the id of the request is known: in `trace`.
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static(self.error_format.content_type()),
        );
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response.extensions_mut().insert(self);
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_storage_says_stays_in_the_log() {
        let problem = Problem::from(Error::store("disk I/O error in /home/wang: 我的秘密"));
        assert_eq!((problem.status.as_u16(), problem.code), (503, "store"));
        assert!(!format!("{problem:?}").contains("秘密"));
    }

    #[test]
    fn errors_of_the_engine_keep_their_code_and_their_advice() {
        let problem = Problem::from(Error::invalid("the text is empty", "write something"));
        assert_eq!((problem.status.as_u16(), problem.code), (422, "invalid"));
        assert_eq!(
            (problem.title.as_str(), problem.detail.as_str()),
            ("the text is empty", "write something")
        );
    }
}
