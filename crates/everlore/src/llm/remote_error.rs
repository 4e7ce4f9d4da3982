//! Errors of remote model servers, classified by the remedy: retry, send less, or change the settings.

use std::time::Duration;

use hyper::{
    HeaderMap, StatusCode,
    header::{DATE, RETRY_AFTER},
};
use serde_json::Value;

use crate::{config::SecretString, error::Error};

/// Characters of a server's error message that are quoted.
const MAX_QUOTED_CHARS: usize = 200;

/// Failure of a request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum RemoteError {
    /// May pass by itself; `after` is the delay that the server asks for.
    Transient { message: String, after: Option<Duration> },
    /// The request is too large; a smaller one may succeed.
    TooLarge { message: String },
    /// The server was silent for too long.
    Silent { message: String, hint: String },
    /// The model cannot call tools; the same request without them may succeed.
    NoTools { message: String },
    /// The user must change something.
    Permanent { message: String, hint: String },
}

/// Target of a request, quoted in error messages.
#[derive(Debug, Clone)]
pub(crate) struct RequestInfo {
    /// Host name or address of the server.
    pub(crate) host: String,
    /// Model as the server spells it.
    pub(crate) model: String,
    /// Key sent with the request; empty if none.
    pub(crate) key: SecretString,
    /// Setting or variable that holds the key, or should.
    pub(crate) key_source: String,
    /// Advice for a model that the server does not have.
    pub(crate) missing_model_hint: String,
}

impl RemoteError {
    /// Creates an error that a retry may clear.
    pub(crate) fn transient(message: impl Into<String>) -> Self {
        Self::Transient { message: message.into(), after: None }
    }

    /// Creates an error that only the user can clear.
    pub(crate) fn permanent(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Permanent { message: message.into(), hint: hint.into() }
    }

    fn no_credit(message: String) -> Self {
        Self::permanent(message, "the account has no credit left: check it with the provider")
    }

    /// Converts an error event inside a stream whose HTTP status was a success.
    pub(crate) fn from_stream_error(request: &RequestInfo, error: &Value) -> Self {
        let status = StatusCode::from_u16(status_of(error)).unwrap_or(StatusCode::BAD_GATEWAY);
        Self::from_response(request, status, &HeaderMap::new(), error.to_string().as_bytes())
    }

    /// Classifies a response whose status is not a success.
    pub(crate) fn from_response(
        request: &RequestInfo,
        status: StatusCode,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Self {
        let detail = request.quote_server_message(body);
        let host = &request.host;
        let message = format!("{host} answered with status {}{detail}", status.as_u16());
        match status.as_u16() {
            401 => request.key_error(&detail),
            400 if detail.contains("API key not valid") => request.key_error(&detail),
            402 => Self::no_credit(message),
            400 | 403 if detail.to_lowercase().contains("credit balance") => {
                Self::no_credit(message)
            }
            403 => Self::permanent(
                message,
                format!("check that {} may use model `{}`", request.key_source, request.model),
            ),
            404 => Self::permanent(
                format!(
                    "{host} does not know the model `{}` or the address (404){detail}",
                    request.model
                ),
                request.missing_model_hint.clone(),
            ),
            413 => Self::TooLarge { message },
            400 | 422 if is_too_long(&detail) => Self::TooLarge { message },
            429 | 503 if retry_delay(body).is_some() => {
                Self::Transient { message, after: retry_delay(body) }
            }
            429 if detail.contains("insufficient_quota")
                || detail.contains("exceeded your current quota") =>
            {
                Self::no_credit(message)
            }
            429 | 503 | 529 => Self::Transient { message, after: retry_after(headers) },
            408 | 425 | 500..=599 => Self::transient(message),
            300..=399 => Self::permanent(
                message,
                "set base_url to the address to which the server redirects",
            ),
            _ => Self::permanent(message, "check base_url and model in the settings"),
        }
    }
}

impl From<RemoteError> for Error {
    fn from(error: RemoteError) -> Self {
        let (message, hint) = match error {
            RemoteError::Transient { message, .. } => (
                message,
                "check that the server runs and can be reached, then try again".to_owned(),
            ),
            RemoteError::TooLarge { message } => {
                (message, "lower batch and batch_chars in the settings".to_owned())
            }
            RemoteError::Silent { message, hint } => return Self::ModelSilent { message, hint },
            RemoteError::NoTools { message } => return tools_unsupported(message),
            RemoteError::Permanent { message, hint } => (message, hint),
        };
        Self::Remote { message, hint }
    }
}

/// Returns the error for a model that cannot call tools.
pub(crate) fn tools_unsupported(message: String) -> Error {
    let hint = "ask without tools, or choose a model that can call them".to_owned();
    Error::ToolsUnsupported { message, hint }
}

/// Returns `true` if a server refuses a request because of its tools. Sources: Ollama (`does not support tools`), vLLM
/// (`"auto" tool choice requires --enable-auto-tool-choice`), llama.cpp (`tools param requires --jinja flag`),
/// OpenRouter (`No endpoints found that support tool use`), Gemini (`Function calling is not enabled`), Groq and OpenAI
/// (`tool calling` or `tools` `is not supported with this model`), Chinese gateways (该模型不支持工具调用).
pub(crate) fn refuses_tools(status: StatusCode, body: &[u8]) -> bool {
    let text = readable_body(body).to_lowercase();
    let subjects = [
        "tools",
        "tool use",
        "tool call",
        "tool_call",
        "tool choice",
        "tool_choice",
        "function call",
        "function_call",
        "工具",
        "函数调用",
        "函數調用",
    ];
    let complaints = [
        "not support",
        "unsupported",
        "not enabled",
        "requires --",
        "no endpoints",
        "unrecognized",
        "不支持",
        "不支援",
        "未启用",
        "没有启用",
        "未开启",
        "无法使用",
    ];
    matches!(status.as_u16(), 400 | 404 | 422 | 500 | 501)
        && subjects.iter().any(|word| text.contains(word))
        && complaints.iter().any(|word| text.contains(word))
}

/// Returns a body as text, with the characters that JSON may escape.
fn readable_body(body: &[u8]) -> String {
    let json = serde_json::from_slice::<Value>(body).map(|json| json.to_string());
    json.unwrap_or_else(|_| String::from_utf8_lossy(body).into_owned())
}

impl RequestInfo {
    fn key_error(&self, detail: &str) -> RemoteError {
        let Self { host, key_source, .. } = self;
        if self.key.reveal().is_empty() {
            return RemoteError::permanent(
                format!("{host} asks for a key, and there is none (401){detail}"),
                format!("put the key into {key_source}"),
            );
        }
        RemoteError::permanent(
            format!("the key in {key_source} was refused by {host} (401){detail}"),
            "check that it is complete, belongs to this server and was not revoked",
        )
    }

    /// Formats the server's own error message, with the key masked in case it is repeated.
    fn quote_server_message(&self, body: &[u8]) -> String {
        let json: Value = serde_json::from_slice(body).unwrap_or_default();
        let json = if json.is_array() { &json[0] } else { &json };
        let quoted = [&json["error"]["message"], &json["error"], &json["message"], &json["detail"]]
            .into_iter()
            .find_map(Value::as_str)
            .unwrap_or_default();
        let key = self.key.reveal();
        let quoted =
            if key.is_empty() { quoted.to_owned() } else { quoted.replace(key, "[hidden]") };
        let quoted: String = quoted.split_whitespace().collect::<Vec<_>>().join(" ");
        if quoted.is_empty() {
            quoted
        } else {
            format!(": {}", quoted.chars().take(MAX_QUOTED_CHARS).collect::<String>())
        }
    }
}

/// Returns `true` if the server rejects the length of the request.
fn is_too_long(message: &str) -> bool {
    let message = message.to_lowercase();
    [
        "context length",
        "maximum context",
        "max_tokens",
        "maximum input",
        "too long",
        "too large",
        "too many",
        "exceeds",
    ]
    .iter()
    .any(|phrase| message.contains(phrase))
}

/// Returns the HTTP status that an error inside a stream corresponds to, by its code or its type name.
fn status_of(error: &Value) -> u16 {
    let error = if error["error"].is_object() { &error["error"] } else { error };
    let code = error["code"].as_u64().or_else(|| error["code"].as_str()?.parse().ok());
    if let Some(code) = code.and_then(|code| u16::try_from(code).ok()).filter(|code| *code >= 400) {
        return code;
    }
    match error["type"].as_str().or(error["status"].as_str()).unwrap_or_default() {
        "authentication_error" => 401,
        "permission_error" => 403,
        "not_found_error" => 404,
        "request_too_large" => 413,
        "invalid_request_error" | "INVALID_ARGUMENT" | "BadRequestError" => 400,
        "rate_limit_error" | "RESOURCE_EXHAUSTED" => 429,
        "overloaded_error" => 529,
        _ => 500,
    }
}

/// Reads the retry delay in the details of a Gemini error.
fn retry_delay(body: &[u8]) -> Option<Duration> {
    let json: Value = serde_json::from_slice(body).ok()?;
    let json = if json.is_array() { &json[0] } else { &json };
    let details = json["error"]["details"].as_array()?;
    let delay = details.iter().find_map(|detail| detail["retryDelay"].as_str())?;
    Duration::try_from_secs_f64(delay.strip_suffix('s')?.parse().ok()?).ok()
}

/// Reads `Retry-After` in seconds or as a date, which is relative to the server's own clock.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name)?.to_str().ok().map(str::trim);
    let date = |text| jiff::fmt::rfc2822::parse(text).ok().map(|date| date.timestamp());
    let after = text(RETRY_AFTER)?;
    if let Ok(seconds) = after.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let left = date(after)?.duration_since(date(text(DATE)?)?);
    Some(Duration::try_from(left).unwrap_or_default())
}

#[cfg(test)]
#[path = "remote_error_tests.rs"]
mod tests;
