//! Response of a scripted model: texts, tool calls, and the faults of its stream.

use std::time::Duration;

use serde_json::Value;

use crate::{BodyStep, HttpResponse};

/// Characters of a text delta, as few as real models send.
const TEXT_DELTA_CHARS: usize = 3;

/// Characters of an argument delta: few enough that values are split.
const ARGUMENTS_DELTA_CHARS: usize = 5;

/// Response, independent of the API.
#[derive(Debug, Clone, Default)]
pub struct ModelResponse {
    pub(super) parts: Vec<ResponsePart>,
    pub(super) stop: FinishReason,
    pub(super) tokens: TokenCounts,
    pub(super) failure: Option<HttpFailure>,
    fault: Option<(usize, StreamFault)>,
    chunk_bytes: Option<usize>,
    pause: Duration,
}

#[derive(Debug, Clone)]
pub(super) enum ResponsePart {
    Text(String),
    Thought(String),
    Call { name: String, arguments: Value },
}

/// Reason for the end of a response.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum FinishReason {
    #[default]
    Done,
    Length,
    Refused,
}

/// Token usage of a response.
#[derive(Debug, Clone, Copy)]
pub(super) struct TokenCounts {
    pub(super) read: u64,
    pub(super) cached: u64,
    pub(super) written: u64,
}

impl Default for TokenCounts {
    fn default() -> Self {
        Self { read: 20, cached: 0, written: 7 }
    }
}

/// HTTP error in place of a response.
#[derive(Debug, Clone)]
pub(super) struct HttpFailure {
    pub(super) status: u16,
    pub(super) message: String,
    pub(super) headers: Vec<(String, String)>,
}

/// Fault in the middle of a stream.
#[derive(Debug, Clone)]
enum StreamFault {
    /// Holds the stream back until the server releases it.
    Hold,
    /// Ends the connection.
    Disconnect,
    /// Ends the body as if it were complete.
    EarlyEnd,
    /// Sends an error event of the API.
    Error { kind: String, message: String },
}

/// Encoded event of a stream.
pub(super) struct WireEvent {
    pub(super) bytes: Vec<u8>,
    /// Set if the event carries a delta of the response.
    pub(super) is_content: bool,
}

impl ModelResponse {
    /// Creates a response with a text.
    pub fn text(text: &str) -> Self {
        Self::default().and_text(text)
    }

    /// Creates a response with a tool call.
    pub fn call(name: &str, arguments: Value) -> Self {
        Self::default().and_call(name, arguments)
    }

    /// Creates an HTTP error with the API's usual message.
    pub fn fail(status: u16) -> Self {
        Self::fail_with(status, default_message(status))
    }

    /// Creates an HTTP error with a message.
    pub fn fail_with(status: u16, message: &str) -> Self {
        let failure = HttpFailure { status, message: message.to_owned(), headers: Vec::new() };
        Self { failure: Some(failure), ..Self::default() }
    }

    /// Adds a text.
    #[must_use]
    pub fn and_text(mut self, text: &str) -> Self {
        self.parts.push(ResponsePart::Text(text.to_owned()));
        self
    }

    /// Adds a tool call.
    #[must_use]
    pub fn and_call(mut self, name: &str, arguments: Value) -> Self {
        self.parts.push(ResponsePart::Call { name: name.to_owned(), arguments });
        self
    }

    /// Puts reasoning before the rest, where the API has a place for it.
    #[must_use]
    pub fn thinking(mut self, thought: &str) -> Self {
        self.parts.insert(0, ResponsePart::Thought(thought.to_owned()));
        self
    }

    /// Sets the token usage: read, of these from a cache, and written.
    #[must_use]
    pub fn with_usage(mut self, read: u64, cached: u64, written: u64) -> Self {
        self.tokens = TokenCounts { read, cached, written };
        self
    }

    /// Ends the response at the length limit.
    #[must_use]
    pub fn length_limited(mut self) -> Self {
        self.stop = FinishReason::Length;
        self
    }

    /// Ends the response by the provider's content filter.
    #[must_use]
    pub fn refused(mut self) -> Self {
        self.stop = FinishReason::Refused;
        self
    }

    /// Adds a header to an HTTP error, such as `retry-after`.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        if let Some(failure) = &mut self.failure {
            failure.headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    /// Holds the stream back after this many deltas, until the server releases it.
    #[must_use]
    pub fn held_after(self, deltas: usize) -> Self {
        Self { fault: Some((deltas, StreamFault::Hold)), ..self }
    }

    /// Ends the connection after this many deltas.
    #[must_use]
    pub fn disconnect_after(self, deltas: usize) -> Self {
        Self { fault: Some((deltas, StreamFault::Disconnect)), ..self }
    }

    /// Ends the body after this many deltas, without the API's final event.
    #[must_use]
    pub fn end_early_after(self, deltas: usize) -> Self {
        Self { fault: Some((deltas, StreamFault::EarlyEnd)), ..self }
    }

    /// Ends the stream with an error event after this many deltas.
    #[must_use]
    pub fn error_after(self, deltas: usize, kind: &str, message: &str) -> Self {
        let (kind, message) = (kind.to_owned(), message.to_owned());
        Self { fault: Some((deltas, StreamFault::Error { kind, message })), ..self }
    }

    /// Sends chunks of this many bytes, across the borders of characters and events.
    #[must_use]
    pub fn in_chunks_of(mut self, bytes: usize) -> Self {
        self.chunk_bytes = Some(bytes.max(1));
        self
    }

    /// Pauses before every delta, for demonstrations.
    #[must_use]
    pub fn with_pause(mut self, pause: Duration) -> Self {
        self.pause = pause;
        self
    }

    /// Renders the events as a streamed response with this response's fault. `error` encodes an error event of the API.
    pub(super) fn to_http(
        &self,
        kind: &str,
        events: Vec<WireEvent>,
        error: impl Fn(&str, &str) -> Vec<u8>,
    ) -> HttpResponse {
        let mut steps = Vec::new();
        let mut deltas = 0;
        let at = self.fault.as_ref().map(|(at, _)| *at);
        for event in events {
            if event.is_content {
                if at == Some(deltas) && self.apply_fault(&mut steps, &error) {
                    return HttpResponse::stream(kind, self.rechunk(steps));
                }
                deltas += 1;
                steps.push(BodyStep::Wait(self.pause));
            }
            steps.push(BodyStep::Send(event.bytes));
        }
        if at.is_some_and(|at| at >= deltas) {
            // A fault after the last delta comes before the last event.
            let end = steps.pop();
            if !self.apply_fault(&mut steps, &error) {
                steps.extend(end);
            }
        }
        HttpResponse::stream(kind, self.rechunk(steps))
    }

    /// Adds the fault; returns `true` if nothing comes after it.
    fn apply_fault(
        &self,
        steps: &mut Vec<BodyStep>,
        error: &impl Fn(&str, &str) -> Vec<u8>,
    ) -> bool {
        match self.fault.as_ref().map(|(_, fault)| fault) {
            Some(StreamFault::Hold) => steps.push(BodyStep::Hold),
            Some(StreamFault::Disconnect) => steps.push(BodyStep::Disconnect),
            Some(StreamFault::Error { kind, message }) => {
                steps.push(BodyStep::Send(error(kind, message)))
            }
            Some(StreamFault::EarlyEnd) | None => {}
        }
        !matches!(self.fault, Some((_, StreamFault::Hold)) | None)
    }

    /// Splits the same bytes into chunks of the requested size.
    fn rechunk(&self, steps: Vec<BodyStep>) -> Vec<BodyStep> {
        let Some(size) = self.chunk_bytes else { return steps };
        let cut = |step| match step {
            BodyStep::Send(bytes) => {
                bytes.chunks(size).map(|chunk| BodyStep::Send(chunk.to_vec())).collect()
            }
            other => vec![other],
        };
        merge_sends(steps).into_iter().flat_map(cut).collect()
    }
}

/// Merges adjacent bytes into one step, so that chunks can span events.
fn merge_sends(steps: Vec<BodyStep>) -> Vec<BodyStep> {
    let mut all: Vec<BodyStep> = Vec::new();
    for step in steps {
        match (all.last_mut(), step) {
            (_, BodyStep::Wait(pause)) if pause.is_zero() => {}
            (Some(BodyStep::Send(before)), BodyStep::Send(bytes)) => before.extend(bytes),
            (_, step) => all.push(step),
        }
    }
    all
}

/// Splits a text into deltas.
pub(super) fn text_deltas(text: &str) -> Vec<String> {
    split_chars(text, TEXT_DELTA_CHARS)
}

/// Splits the arguments of a tool call into deltas.
pub(super) fn argument_deltas(arguments: &Value) -> Vec<String> {
    split_chars(&arguments.to_string(), ARGUMENTS_DELTA_CHARS)
}

fn split_chars(text: &str, size: usize) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    letters.chunks(size).map(|piece| piece.iter().collect()).collect()
}

fn default_message(status: u16) -> &'static str {
    match status {
        401 => "invalid key",
        403 => "this key may not use this model",
        404 => "model not found",
        429 => "Rate limit reached",
        503 | 529 => "Overloaded",
        _ => "The server had an error while processing your request",
    }
}
