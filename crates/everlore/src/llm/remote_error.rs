//! What goes wrong with a server, told apart by what helps: waiting, asking for less, or a change by the user.

use std::time::Duration;

use hyper::{
    HeaderMap, StatusCode,
    header::{DATE, RETRY_AFTER},
};
use serde_json::Value;

use crate::{config::SecretString, error::Error};

/// Of what a server says about a failure so much is passed on.
const MAX_QUOTED_CHARS: usize = 200;

/// Why a request did not bring what was asked for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum RemoteError {
    /// Trying again may help, at best after the time that the server named.
    Transient { message: String, after: Option<Duration> },
    /// The same in smaller pieces may help.
    TooLarge { message: String },
    /// Only a change by the user helps.
    Permanent { message: String, hint: String },
}

/// Who was asked for what, to say so when it fails.
#[derive(Debug, Clone)]
pub(crate) struct RequestInfo {
    /// The name or number of the server.
    pub(crate) host: String,
    /// The model as the server spells it.
    pub(crate) model: String,
    /// What was sent as the key; empty if nothing was.
    pub(crate) key: SecretString,
    /// Where the user put the key, or should put it.
    pub(crate) key_source: String,
    /// How the user gets a model that the server does not have.
    pub(crate) missing_model_hint: String,
}

impl RemoteError {
    /// Something that may pass by itself.
    pub(crate) fn transient(message: impl Into<String>) -> Self {
        Self::Transient { message: message.into(), after: None }
    }

    /// Something that the user must change.
    pub(crate) fn permanent(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Permanent { message: message.into(), hint: hint.into() }
    }

    fn no_credit(message: String) -> Self {
        Self::permanent(message, "the account has no credit left: check it with the provider")
    }

    /// What an error means that came in the middle of an answer, whose status was good.
    pub(crate) fn from_stream_error(asked: &RequestInfo, error: &Value) -> Self {
        let status = StatusCode::from_u16(status_of(error)).unwrap_or(StatusCode::BAD_GATEWAY);
        Self::from_response(asked, status, &HeaderMap::new(), error.to_string().as_bytes())
    }

    /// What the status of an answer that is not a success means.
    pub(crate) fn from_response(
        asked: &RequestInfo,
        status: StatusCode,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Self {
        let said = asked.quote_server_message(body);
        let host = &asked.host;
        let message = format!("{host} answered with status {}{said}", status.as_u16());
        match status.as_u16() {
            401 => asked.key_error(&said),
            400 if said.contains("API key not valid") => asked.key_error(&said),
            402 => Self::no_credit(message),
            400 | 403 if said.to_lowercase().contains("credit balance") => Self::no_credit(message),
            403 => Self::permanent(
                message,
                format!("check that {} may use model `{}`", asked.key_source, asked.model),
            ),
            404 => Self::permanent(
                format!(
                    "{host} does not know the model `{}` or the address (404){said}",
                    asked.model
                ),
                asked.missing_model_hint.clone(),
            ),
            413 => Self::TooLarge { message },
            400 | 422 if is_too_long(&said) => Self::TooLarge { message },
            429 | 503 if retry_delay(body).is_some() => {
                Self::Transient { message, after: retry_delay(body) }
            }
            429 if said.contains("insufficient_quota")
                || said.contains("exceeded your current quota") =>
            {
                Self::no_credit(message)
            }
            429 | 503 | 529 => Self::Transient { message, after: retry_after(headers) },
            408 | 425 | 500..=599 => Self::transient(message),
            300..=399 => {
                Self::permanent(message, "set base_url to the address that the server really has")
            }
            _ => Self::permanent(message, "check base_url and model in the settings"),
        }
    }
}

impl From<RemoteError> for Error {
    fn from(trouble: RemoteError) -> Self {
        let (message, hint) = match trouble {
            RemoteError::Transient { message, .. } => (
                message,
                "check that the server runs and can be reached, then try again".to_owned(),
            ),
            RemoteError::TooLarge { message } => {
                (message, "set batch and batch_chars in the settings to less".to_owned())
            }
            RemoteError::Permanent { message, hint } => (message, hint),
        };
        Self::Remote { message, hint }
    }
}

impl RequestInfo {
    fn key_error(&self, said: &str) -> RemoteError {
        let Self { host, key_source: key_place, .. } = self;
        if self.key.reveal().is_empty() {
            return RemoteError::permanent(
                format!("{host} asks for a key, and there is none (401){said}"),
                format!("put the key into {key_place}"),
            );
        }
        RemoteError::permanent(
            format!("the key in {key_place} was refused by {host} (401){said}"),
            "check that it is complete, belongs to this server and was not revoked",
        )
    }

    /// What the server says about the failure, without the key should it repeat it.
    fn quote_server_message(&self, body: &[u8]) -> String {
        let json: Value = serde_json::from_slice(body).unwrap_or_default();
        let json = if json.is_array() { &json[0] } else { &json };
        let said = [&json["error"]["message"], &json["error"], &json["message"], &json["detail"]]
            .into_iter()
            .find_map(Value::as_str)
            .unwrap_or_default();
        let key = self.key.reveal();
        let said = if key.is_empty() { said.to_owned() } else { said.replace(key, "[hidden]") };
        let said: String = said.split_whitespace().collect::<Vec<_>>().join(" ");
        if said.is_empty() {
            said
        } else {
            format!(": {}", said.chars().take(MAX_QUOTED_CHARS).collect::<String>())
        }
    }
}

/// Whether a server complains about the length of what it got.
fn is_too_long(said: &str) -> bool {
    let said = said.to_lowercase();
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
    .any(|sign| said.contains(sign))
}

/// The status that an error would have had if it had come before the answer: as a number, or by its name.
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

/// The pause that Gemini asks for, in the details of its error.
fn retry_delay(body: &[u8]) -> Option<Duration> {
    let json: Value = serde_json::from_slice(body).ok()?;
    let json = if json.is_array() { &json[0] } else { &json };
    let details = json["error"]["details"].as_array()?;
    let delay = details.iter().find_map(|detail| detail["retryDelay"].as_str())?;
    Duration::try_from_secs_f64(delay.strip_suffix('s')?.parse().ok()?).ok()
}

/// When the server wants to be asked again: in seconds, or as a date, which is told by its own clock.
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
