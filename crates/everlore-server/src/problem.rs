//! Errors of the API: `application/problem+json` (RFC 9457) with a code, or the error shape of another protocol.

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use everlore::Error;
use serde::Serialize;
use serde_json::{Value, json};
#[cfg(test)]
use utoipa::ToSchema;

/// Error of a request, with advice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    /// HTTP status.
    pub(crate) status: StatusCode,
    /// Short, stable code for programs.
    pub(crate) code: &'static str,
    /// Error in one sentence.
    pub(crate) title: String,
    /// Advice for the caller.
    pub(crate) advice: String,
    /// Seconds to wait before a retry.
    pub(crate) retry_after: Option<u64>,
    /// Details for programs.
    pub(crate) details: Option<Box<serde_json::Value>>,
    /// Shape in which it is sent.
    pub(crate) error_format: ErrorFormat,
}

/// Shape of an error, by the protocol of the client.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ErrorFormat {
    /// RFC 9457.
    #[default]
    ProblemJson,
    /// `{"error": {…}}`, as OpenAI's clients read it.
    #[cfg(feature = "remote")]
    Openai,
    /// `{"type": "error", "error": {…}}`, as Anthropic's clients read it.
    #[cfg(feature = "remote")]
    Anthropic,
}

/// Error of a request (RFC 9457).
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
#[cfg_attr(test, schema(as = Problem))]
pub(crate) struct ProblemBody<'a> {
    /// Uri of the kind of problem: `urn:everlore:problem:` and the code.
    #[serde(rename = "type")]
    kind: String,
    /// HTTP status.
    status: u16,
    /// Short, stable code for programs.
    code: &'a str,
    /// Error in one sentence.
    title: &'a str,
    /// Advice for the caller.
    #[serde(rename = "detail")]
    advice: &'a str,
    /// Id of the request, as in the logs.
    instance: String,
    /// Seconds to wait before a retry.
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after: Option<u64>,
    /// Details for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "more")]
    #[cfg_attr(test, schema(value_type = Option<Object>))]
    details: Option<&'a serde_json::Value>,
}

/// Error as OpenAI's clients read it.
#[cfg(feature = "remote")]
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
pub(crate) struct OpenaiError<'a> {
    error: OpenaiErrorDetail<'a>,
}

#[cfg(feature = "remote")]
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
pub(crate) struct OpenaiErrorDetail<'a> {
    message: String,
    #[serde(rename = "type")]
    kind: Option<&'a str>,
    param: Option<&'a str>,
    code: Option<&'a str>,
}

/// Error as Anthropic's clients read it.
#[cfg(feature = "remote")]
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
pub(crate) struct AnthropicError<'a> {
    #[serde(rename = "type")]
    kind: AnthropicErrorTag,
    error: AnthropicErrorDetail,
    request_id: Option<&'a str>,
}

#[cfg(feature = "remote")]
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
pub(crate) struct AnthropicErrorDetail {
    #[serde(rename = "type")]
    kind: &'static str,
    message: String,
}

/// Constant `type` of an error.
#[cfg(feature = "remote")]
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum AnthropicErrorTag {
    Error,
}

impl Problem {
    pub(crate) fn new(
        status: StatusCode,
        code: &'static str,
        title: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        let (title, advice) = (title.into(), advice.into());
        let error_format = ErrorFormat::ProblemJson;
        Self { status, code, title, advice, retry_after: None, details: None, error_format }
    }

    /// Returns a 400 for a request that does not fit the API: its syntax, types, ranges and counts. What the engine
    /// refuses is a 422 with the same code.
    pub(crate) fn invalid(title: impl Into<String>, advice: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid", title, advice)
    }

    /// Returns a 500; the cause goes to the log only.
    pub(crate) fn internal(error: &dyn std::fmt::Display) -> Self {
        tracing::error!(%error, "a request failed");
        let advice =
            "try again; the server's log has the cause, and `everlore doctor` checks the home";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "the server failed", advice)
    }

    /// Renders the body of the response, with the id of the request.
    pub(crate) fn body(&self, request: &str) -> Body {
        let json = match self.error_format {
            ErrorFormat::ProblemJson => serde_json::to_vec(&self.as_problem_json(request)),
            #[cfg(feature = "remote")]
            ErrorFormat::Openai => serde_json::to_vec(&self.as_openai()),
            #[cfg(feature = "remote")]
            ErrorFormat::Anthropic => serde_json::to_vec(&self.as_anthropic(request)),
        };
        // Serializing strings and numbers cannot fail.
        Body::from(json.unwrap_or_default())
    }

    #[cfg(feature = "remote")]
    fn as_openai(&self) -> OpenaiError<'_> {
        let kind = match self.status.as_u16() {
            401 => "authentication_error",
            403 => "permission_error",
            429 => "rate_limit_error",
            400..=499 => "invalid_request_error",
            _ => "server_error",
        };
        let (message, code) = (self.message(), Some(self.code));
        OpenaiError { error: OpenaiErrorDetail { message, kind: Some(kind), param: None, code } }
    }

    #[cfg(feature = "remote")]
    fn as_anthropic<'a>(&self, request: &'a str) -> AnthropicError<'a> {
        let kind = match self.status.as_u16() {
            401 => "authentication_error",
            403 => "permission_error",
            404 => "not_found_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            400..=499 => "invalid_request_error",
            _ => "api_error",
        };
        let error = AnthropicErrorDetail { kind, message: self.message() };
        AnthropicError { kind: AnthropicErrorTag::Error, error, request_id: Some(request) }
    }

    #[cfg(feature = "remote")]
    fn message(&self) -> String {
        format!("everlore: {}; {}", self.title, self.advice)
    }

    fn as_problem_json(&self, request: &str) -> ProblemBody<'_> {
        ProblemBody {
            kind: format!("urn:everlore:problem:{}", self.code),
            status: self.status.as_u16(),
            code: self.code,
            title: &self.title,
            advice: &self.advice,
            instance: format!("urn:everlore:request:{request}"),
            retry_after: self.retry_after,
            details: self.details.as_deref(),
        }
    }
}

impl ErrorFormat {
    /// Returns the media type of the shape.
    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Self::ProblemJson => "application/problem+json",
            #[cfg(feature = "remote")]
            Self::Openai | Self::Anthropic => "application/json",
        }
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let status = match &error {
            Error::NotFound { .. } | Error::NoSuchUri { .. } => StatusCode::NOT_FOUND,
            Error::AmbiguousId { .. } | Error::Conflict { .. } => StatusCode::CONFLICT,
            Error::OwnerOnly { .. } => StatusCode::FORBIDDEN,
            Error::Invalid { .. } | Error::InvalidConfig { .. } => StatusCode::UNPROCESSABLE_ENTITY,
            Error::ContextTooLong { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Error::Remote { .. } | Error::ToolsUnsupported { .. } => StatusCode::BAD_GATEWAY,
            Error::ModelSilent { .. } => StatusCode::GATEWAY_TIMEOUT,
            Error::Store(_)
            | Error::ReadOnly { .. }
            | Error::SchemaTooNew { .. }
            | Error::Sealed { .. } => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let details = match &error {
            Error::InvalidConfig { problems } => Some(Box::new(setting_errors(problems))),
            _ => None,
        };
        Self {
            details,
            // A database that fails over is back within seconds, and so is an agent that moves.
            retry_after: matches!(error, Error::Store(_) | Error::Sealed { .. }).then_some(1),
            ..Self::new(status, error.code(), public_title(&error), public_advice(&error))
        }
    }
}

/// Invalid settings listed one by one; a person does not make more mistakes.
const MAX_SETTING_ERRORS: usize = 100;

/// Lists invalid settings for programs. Their names come from the caller and are cut, because they may have any length.
fn setting_errors(problems: &[(String, String)]) -> Value {
    let entry = |(key, message): &(String, String)| {
        let key: String = key.chars().take(100).collect();
        json!({ "key": key, "message": message })
    };
    json!({ "errors": problems.iter().take(MAX_SETTING_ERRORS).map(entry).collect::<Vec<_>>() })
}

/// Returns the sentence for the caller. Causes below the engine may quote files, so only the log gets them.
fn public_title(error: &Error) -> String {
    match error {
        Error::Store(_) | Error::Io { .. } | Error::Damaged { .. } | Error::ReadOnly { .. } => {
            tracing::error!(%error, "a request failed");
            match error {
                Error::Damaged { .. } => "stored data is damaged".to_owned(),
                Error::ReadOnly { .. } => "this memory is read-only".to_owned(),
                Error::Io { .. } => "a file could not be read or written".to_owned(),
                _ => "storage failed".to_owned(),
            }
        }
        Error::InvalidConfig { problems } => match problems.len() {
            1 => "a setting is invalid".to_owned(),
            count => format!("{count} settings are invalid"),
        },
        _ => error.to_string(),
    }
}

/// Returns the advice for a caller who has no command line.
fn public_advice(error: &Error) -> String {
    match error {
        Error::NotFound { .. } => {
            "a request reaches only memories of its agent and user; GET /v1/memories lists them"
                .to_owned()
        }
        Error::Store(_) => {
            "try again in a moment, a write with the same Idempotency-Key; the server's log has the cause"
                .to_owned()
        }
        Error::InvalidConfig { problems } => match problems.first() {
            Some((key, message)) => {
                let key: String = key.chars().take(100).collect();
                format!("`{key}`: {message}; nothing was changed; `more` lists all of them")
            }
            None => error.hint().to_owned(),
        },
        _ => error.hint().to_owned(),
    }
}

impl IntoResponse for Problem {
    /// Leaves the body empty: `trace` writes it, because it knows the id of the request.
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
    fn causes_of_storage_errors_stay_in_the_log() {
        let problem = Problem::from(Error::store("disk I/O error in /home/wang: 我的秘密"));
        assert_eq!((problem.status.as_u16(), problem.code), (503, "store"));
        assert!(!format!("{problem:?}").contains("秘密"));
    }

    #[test]
    fn errors_of_the_engine_keep_their_code_and_their_hint() {
        let problem = Problem::from(Error::invalid("the text is empty", "write something"));
        assert_eq!((problem.status.as_u16(), problem.code), (422, "invalid"));
        assert_eq!(
            (problem.title.as_str(), problem.advice.as_str()),
            ("the text is empty", "write something")
        );
    }
}
