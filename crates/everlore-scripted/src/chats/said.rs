//! One answer of a scripted model: what it says and calls, and what goes wrong on the way.

use std::time::Duration;

use serde_json::Value;

use crate::{Reply, Step};

/// Text comes so many characters at a time, as short as the pieces of real models.
const TEXT_PIECE: usize = 3;

/// Arguments of calls come so many characters at a time: never where a value ends.
const ARGUMENTS_PIECE: usize = 5;

/// An answer, in the words of no protocol.
#[derive(Debug, Clone, Default)]
pub struct Said {
    pub(super) parts: Vec<Part>,
    pub(super) stop: Stop,
    pub(super) tokens: Counted,
    pub(super) failure: Option<Failure>,
    hitch: Option<(usize, Hitch)>,
    chunk: Option<usize>,
    pause: Duration,
}

#[derive(Debug, Clone)]
pub(super) enum Part {
    Text(String),
    Thought(String),
    Call { name: String, arguments: Value },
}

/// Why it ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Stop {
    #[default]
    Done,
    Length,
    Refused,
}

/// What it costs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counted {
    pub(super) read: u64,
    pub(super) cached: u64,
    pub(super) written: u64,
}

impl Default for Counted {
    fn default() -> Self {
        Self { read: 20, cached: 0, written: 7 }
    }
}

/// A status in place of an answer.
#[derive(Debug, Clone)]
pub(super) struct Failure {
    pub(super) status: u16,
    pub(super) message: String,
    pub(super) headers: Vec<(String, String)>,
}

/// What happens in the middle.
#[derive(Debug, Clone)]
enum Hitch {
    /// Nothing comes until the server is told to go on.
    Hold,
    /// The connection ends.
    Cut,
    /// The body ends as if it were whole.
    End,
    /// An error in the stream, as the protocol has it.
    Error { kind: String, message: String },
}

/// An event of a protocol as it goes over the wire.
pub(super) struct Event {
    pub(super) bytes: Vec<u8>,
    /// Whether it holds a piece of the answer.
    pub(super) is_piece: bool,
}

impl Said {
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
        let failure = Failure { status, message: message.to_owned(), headers: Vec::new() };
        Self { failure: Some(failure), ..Self::default() }
    }

    /// Says more.
    #[must_use]
    pub fn and_text(mut self, text: &str) -> Self {
        self.parts.push(Part::Text(text.to_owned()));
        self
    }

    /// Calls one more tool.
    #[must_use]
    pub fn and_call(mut self, name: &str, arguments: Value) -> Self {
        self.parts.push(Part::Call { name: name.to_owned(), arguments });
        self
    }

    /// Thinks before it goes on, where the protocol has room for it.
    #[must_use]
    pub fn thinking(mut self, thought: &str) -> Self {
        self.parts.insert(0, Part::Thought(thought.to_owned()));
        self
    }

    /// Costs so many tokens: read, of these from a cache, and written.
    #[must_use]
    pub fn costing(mut self, read: u64, cached: u64, written: u64) -> Self {
        self.tokens = Counted { read, cached, written };
        self
    }

    /// Ends because it is long enough.
    #[must_use]
    pub fn too_long(mut self) -> Self {
        self.stop = Stop::Length;
        self
    }

    /// Ends because its provider does not let it say more.
    #[must_use]
    pub fn refused(mut self) -> Self {
        self.stop = Stop::Refused;
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
        Self { hitch: Some((pieces, Hitch::Hold)), ..self }
    }

    /// Is cut off after so many pieces.
    #[must_use]
    pub fn cut_after(self, pieces: usize) -> Self {
        Self { hitch: Some((pieces, Hitch::Cut)), ..self }
    }

    /// Just ends after so many pieces, without what the protocol ends with.
    #[must_use]
    pub fn ended_after(self, pieces: usize) -> Self {
        Self { hitch: Some((pieces, Hitch::End)), ..self }
    }

    /// Breaks off with an error of the protocol after so many pieces.
    #[must_use]
    pub fn broken_after(self, pieces: usize, kind: &str, message: &str) -> Self {
        let (kind, message) = (kind.to_owned(), message.to_owned());
        Self { hitch: Some((pieces, Hitch::Error { kind, message })), ..self }
    }

    /// Goes over the wire in chunks of so many bytes, wherever characters end.
    #[must_use]
    pub fn in_chunks_of(mut self, bytes: usize) -> Self {
        self.chunk = Some(bytes.max(1));
        self
    }

    /// Waits before every piece, for people who watch.
    #[must_use]
    pub fn slowly(mut self, pause: Duration) -> Self {
        self.pause = pause;
        self
    }

    /// The events as the body of a reply. `error` writes an error as the protocol has it in a stream.
    pub(super) fn reply(
        &self,
        kind: &str,
        events: Vec<Event>,
        error: impl Fn(&str, &str) -> Vec<u8>,
    ) -> Reply {
        let mut steps = Vec::new();
        let mut pieces = 0;
        let at = self.hitch.as_ref().map(|(at, _)| *at);
        for event in events {
            if event.is_piece {
                if at == Some(pieces) && self.meets(&mut steps, &error) {
                    return Reply::stream(kind, self.chunked(steps));
                }
                pieces += 1;
                steps.push(Step::Wait(self.pause));
            }
            steps.push(Step::Send(event.bytes));
        }
        if at.is_some_and(|at| at >= pieces) {
            // What was to happen after the last piece happens before the end of the last event.
            let end = steps.pop();
            if !self.meets(&mut steps, &error) {
                steps.extend(end);
            }
        }
        Reply::stream(kind, self.chunked(steps))
    }

    /// Adds what goes wrong; true if nothing comes after it.
    fn meets(&self, steps: &mut Vec<Step>, error: &impl Fn(&str, &str) -> Vec<u8>) -> bool {
        match self.hitch.as_ref().map(|(_, hitch)| hitch) {
            Some(Hitch::Hold) => steps.push(Step::Hold),
            Some(Hitch::Cut) => steps.push(Step::Cut),
            Some(Hitch::Error { kind, message }) => steps.push(Step::Send(error(kind, message))),
            Some(Hitch::End) | None => {}
        }
        !matches!(self.hitch, Some((_, Hitch::Hold)) | None)
    }

    /// The same bytes, cut anew.
    fn chunked(&self, steps: Vec<Step>) -> Vec<Step> {
        let Some(size) = self.chunk else { return steps };
        let cut = |step| match step {
            Step::Send(bytes) => {
                bytes.chunks(size).map(|chunk| Step::Send(chunk.to_vec())).collect()
            }
            other => vec![other],
        };
        joined(steps).into_iter().flat_map(cut).collect()
    }
}

/// Bytes that follow each other as one step, so that chunks reach over events.
fn joined(steps: Vec<Step>) -> Vec<Step> {
    let mut all: Vec<Step> = Vec::new();
    for step in steps {
        match (all.last_mut(), step) {
            (_, Step::Wait(pause)) if pause.is_zero() => {}
            (Some(Step::Send(before)), Step::Send(bytes)) => before.extend(bytes),
            (_, step) => all.push(step),
        }
    }
    all
}

/// A text in pieces as a model gives it out.
pub(super) fn text_pieces(text: &str) -> Vec<String> {
    pieces(text, TEXT_PIECE)
}

/// The arguments of a call in pieces.
pub(super) fn argument_pieces(arguments: &Value) -> Vec<String> {
    pieces(&arguments.to_string(), ARGUMENTS_PIECE)
}

fn pieces(text: &str, size: usize) -> Vec<String> {
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
