//! One answer of a scripted model: what it says and calls, and what goes wrong on the way.

use std::time::Duration;

use serde_json::Value;

use crate::{BodyStep, HttpResponse};

/// Text comes so many characters at a time, as short as the pieces of real models.
const TEXT_DELTA_CHARS: usize = 3;

/// Arguments of calls come so many characters at a time: never where a value ends.
const ARGUMENTS_DELTA_CHARS: usize = 5;

/// An answer, in the words of no protocol.
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

/// Why it ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum FinishReason {
    #[default]
    Done,
    Length,
    Refused,
}

/// What it costs.
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

/// A status in place of an answer.
#[derive(Debug, Clone)]
pub(super) struct HttpFailure {
    pub(super) status: u16,
    pub(super) message: String,
    pub(super) headers: Vec<(String, String)>,
}

/// What happens in the middle.
#[derive(Debug, Clone)]
enum StreamFault {
    /// Nothing comes until the server is told to go on.
    Hold,
    /// The connection ends.
    Disconnect,
    /// The body ends as if it were whole.
    EarlyEnd,
    /// An error in the stream, as the protocol has it.
    Error { kind: String, message: String },
}

/// An event of a protocol as it goes over the wire.
pub(super) struct WireEvent {
    pub(super) bytes: Vec<u8>,
    /// Whether it holds a piece of the answer.
    pub(super) is_content: bool,
}

impl ModelResponse {
    /// Says something.
    pub fn text(text: &str) -> Self {
        Self::default().and_text(text)
    }

    /// Calls a tool.
    pub fn call(name: &str, arguments: Value) -> Self {
        Self::default().and_call(name, arguments)
    }

    /// Answers with this status instead, in the words of the protocol.
    pub fn fail(status: u16) -> Self {
        Self::fail_with(status, default_message(status))
    }

    /// The same with a message.
    pub fn fail_with(status: u16, message: &str) -> Self {
        let failure = HttpFailure { status, message: message.to_owned(), headers: Vec::new() };
        Self { failure: Some(failure), ..Self::default() }
    }

    /// Says more.
    #[must_use]
    pub fn and_text(mut self, text: &str) -> Self {
        self.parts.push(ResponsePart::Text(text.to_owned()));
        self
    }

    /// Calls one more tool.
    #[must_use]
    pub fn and_call(mut self, name: &str, arguments: Value) -> Self {
        self.parts.push(ResponsePart::Call { name: name.to_owned(), arguments });
        self
    }

    /// Thinks before it goes on, where the protocol has room for it.
    #[must_use]
    pub fn thinking(mut self, thought: &str) -> Self {
        self.parts.insert(0, ResponsePart::Thought(thought.to_owned()));
        self
    }

    /// Costs so many tokens: read, of these from a cache, and written.
    #[must_use]
    pub fn with_usage(mut self, read: u64, cached: u64, written: u64) -> Self {
        self.tokens = TokenCounts { read, cached, written };
        self
    }

    /// Ends because it is long enough.
    #[must_use]
    pub fn length_limited(mut self) -> Self {
        self.stop = FinishReason::Length;
        self
    }

    /// Ends because its provider does not let it say more.
    #[must_use]
    pub fn refused(mut self) -> Self {
        self.stop = FinishReason::Refused;
        self
    }

    /// A failure with a header more, such as `retry-after`.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        if let Some(failure) = &mut self.failure {
            failure.headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    /// Is held back after so many pieces, until the server releases it.
    #[must_use]
    pub fn held_after(self, pieces: usize) -> Self {
        Self { fault: Some((pieces, StreamFault::Hold)), ..self }
    }

    /// Is cut off after so many pieces.
    #[must_use]
    pub fn disconnect_after(self, pieces: usize) -> Self {
        Self { fault: Some((pieces, StreamFault::Disconnect)), ..self }
    }

    /// Just ends after so many pieces, without what the protocol ends with.
    #[must_use]
    pub fn end_early_after(self, pieces: usize) -> Self {
        Self { fault: Some((pieces, StreamFault::EarlyEnd)), ..self }
    }

    /// Breaks off with an error of the protocol after so many pieces.
    #[must_use]
    pub fn error_after(self, pieces: usize, kind: &str, message: &str) -> Self {
        let (kind, message) = (kind.to_owned(), message.to_owned());
        Self { fault: Some((pieces, StreamFault::Error { kind, message })), ..self }
    }

    /// Goes over the wire in chunks of so many bytes, wherever characters end.
    #[must_use]
    pub fn in_chunks_of(mut self, bytes: usize) -> Self {
        self.chunk_bytes = Some(bytes.max(1));
        self
    }

    /// Waits before every piece, for people who watch.
    #[must_use]
    pub fn with_pause(mut self, pause: Duration) -> Self {
        self.pause = pause;
        self
    }

    /// The events as the body of a reply. `error` writes an error as the protocol has it in a stream.
    pub(super) fn to_http(
        &self,
        kind: &str,
        events: Vec<WireEvent>,
        error: impl Fn(&str, &str) -> Vec<u8>,
    ) -> HttpResponse {
        let mut steps = Vec::new();
        let mut pieces = 0;
        let at = self.fault.as_ref().map(|(at, _)| *at);
        for event in events {
            if event.is_content {
                if at == Some(pieces) && self.apply_fault(&mut steps, &error) {
                    return HttpResponse::stream(kind, self.rechunk(steps));
                }
                pieces += 1;
                steps.push(BodyStep::Wait(self.pause));
            }
            steps.push(BodyStep::Send(event.bytes));
        }
        if at.is_some_and(|at| at >= pieces) {
            // What was to happen after the last piece happens before the end of the last event.
            let end = steps.pop();
            if !self.apply_fault(&mut steps, &error) {
                steps.extend(end);
            }
        }
        HttpResponse::stream(kind, self.rechunk(steps))
    }

    /// Adds what goes wrong; true if nothing comes after it.
    fn apply_fault(
        &self,
        steps: &mut Vec<BodyStep>,
        error: &impl Fn(&str, &str) -> Vec<u8>,
    ) -> bool {
        match self.fault.as_ref().map(|(_, hitch)| hitch) {
            Some(StreamFault::Hold) => steps.push(BodyStep::Hold),
            Some(StreamFault::Disconnect) => steps.push(BodyStep::Disconnect),
            Some(StreamFault::Error { kind, message }) => {
                steps.push(BodyStep::Send(error(kind, message)))
            }
            Some(StreamFault::EarlyEnd) | None => {}
        }
        !matches!(self.fault, Some((_, StreamFault::Hold)) | None)
    }

    /// The same bytes, cut anew.
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

/// Bytes that follow each other as one step, so that chunks reach over events.
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

/// A text in pieces as a model gives it out.
pub(super) fn text_deltas(text: &str) -> Vec<String> {
    split_chars(text, TEXT_DELTA_CHARS)
}

/// The arguments of a call in pieces.
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
