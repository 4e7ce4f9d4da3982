//! Replies: whole or in pieces, held back or cut off.

use std::{
    io::{self, Write},
    thread,
    time::Duration,
};

use serde_json::Value;

/// A part of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BodyStep {
    /// These bytes.
    Send(Vec<u8>),
    /// Nothing until the server is told to go on.
    Hold,
    /// Nothing for this long, for people who watch.
    Wait(Duration),
    /// The end of the connection in the middle of the body.
    Disconnect,
}

/// An answer to a request.
#[derive(Debug, Clone)]
pub struct HttpResponse {
    status: u16,
    headers: Vec<(String, String)>,
    /// Whether the body is sent in chunks, so that its length need not be known.
    streamed: bool,
    steps: Vec<BodyStep>,
}

impl HttpResponse {
    /// JSON, whole.
    pub fn json(status: u16, body: &Value) -> Self {
        Self::bytes(status, "application/json", body.to_string().into_bytes())
    }

    /// An error as OpenAI and those who follow it tell it.
    pub fn error(status: u16, message: &str) -> Self {
        Self::json(
            status,
            &serde_json::json!({ "error": { "message": message, "type": "scripted" } }),
        )
    }

    /// Any bytes, whole.
    pub fn bytes(status: u16, kind: &str, body: Vec<u8>) -> Self {
        let headers = vec![("content-type".to_owned(), kind.to_owned())];
        Self { status, headers, streamed: false, steps: vec![BodyStep::Send(body)] }
    }

    /// A body in pieces, as server-sent events come.
    pub fn stream(kind: &str, steps: Vec<BodyStep>) -> Self {
        let headers = vec![("content-type".to_owned(), kind.to_owned())];
        Self { status: 200, headers, streamed: true, steps }
    }

    /// The same with another header.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same, held back before the first byte of the body.
    #[must_use]
    pub fn held(mut self) -> Self {
        self.steps.insert(0, BodyStep::Hold);
        self
    }

    /// The same, cut off after so many bytes of the body.
    #[must_use]
    pub fn disconnect_after(mut self, bytes: usize) -> Self {
        let Some(BodyStep::Send(body)) = self.steps.pop() else { return self };
        let length = body.len();
        self.steps.push(BodyStep::Send(body[..bytes.min(length)].to_vec()));
        self.steps.push(BodyStep::Disconnect);
        // The length that was promised stays.
        self.with_header("content-length", &length.to_string())
    }

    /// Writes it and tells whether the connection can go on.
    pub(crate) fn write(
        &self,
        out: &mut impl Write,
        hold: &mut dyn FnMut() -> bool,
    ) -> io::Result<bool> {
        out.write_all(self.head().as_bytes())?;
        for step in &self.steps {
            match step {
                BodyStep::Send(bytes) if self.streamed => {
                    write!(out, "{:x}\r\n", bytes.len())?;
                    out.write_all(bytes)?;
                    out.write_all(b"\r\n")?;
                }
                BodyStep::Send(bytes) => out.write_all(bytes)?,
                BodyStep::Hold => {
                    out.flush()?;
                    if !hold() {
                        return Ok(false);
                    }
                }
                BodyStep::Wait(pause) => thread::sleep(*pause),
                BodyStep::Disconnect => return Ok(false),
            }
            out.flush()?;
        }
        if self.streamed {
            out.write_all(b"0\r\n\r\n")?;
        }
        out.flush().map(|()| true)
    }

    fn head(&self) -> String {
        let mut head = format!("HTTP/1.1 {} Scripted\r\n", self.status);
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        let given = self.headers.iter().any(|(name, _)| name == "content-length");
        let length: usize = self.steps.iter().map(BodyStep::len).sum();
        match (self.streamed, given) {
            (true, _) => head += "transfer-encoding: chunked\r\n",
            (false, false) => head += &format!("content-length: {length}\r\n"),
            (false, true) => {}
        }
        head + "\r\n"
    }
}

impl BodyStep {
    fn len(&self) -> usize {
        match self {
            Self::Send(bytes) => bytes.len(),
            Self::Hold | Self::Wait(_) | Self::Disconnect => 0,
        }
    }
}
