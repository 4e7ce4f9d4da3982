//! HTTP responses: whole or streamed, held back or cut off.

use std::{
    io::{self, Write},
    thread,
    time::Duration,
};

use serde_json::Value;

/// Step of sending a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BodyStep {
    /// Sends bytes.
    Send(Vec<u8>),
    /// Waits for [`MockServer::release`](crate::MockServer::release).
    Hold,
    /// Pauses, for demonstrations.
    Wait(Duration),
    /// Ends the connection in the middle of the body.
    Disconnect,
}

/// HTTP response.
#[derive(Debug, Clone)]
pub struct HttpResponse {
    status: u16,
    headers: Vec<(String, String)>,
    /// Set for chunked transfer encoding; otherwise the response has a content length.
    streamed: bool,
    steps: Vec<BodyStep>,
}

impl HttpResponse {
    /// Creates a JSON response.
    pub fn json(status: u16, body: &Value) -> Self {
        Self::bytes(status, "application/json", body.to_string().into_bytes())
    }

    /// Creates an error response in OpenAI's format.
    pub fn error(status: u16, message: &str) -> Self {
        Self::json(
            status,
            &serde_json::json!({ "error": { "message": message, "type": "scripted" } }),
        )
    }

    /// Creates a response with any body.
    pub fn bytes(status: u16, kind: &str, body: Vec<u8>) -> Self {
        let headers = vec![("content-type".to_owned(), kind.to_owned())];
        Self { status, headers, streamed: false, steps: vec![BodyStep::Send(body)] }
    }

    /// Creates a streamed response, such as server-sent events.
    pub fn stream(kind: &str, steps: Vec<BodyStep>) -> Self {
        let headers = vec![("content-type".to_owned(), kind.to_owned())];
        Self { status: 200, headers, streamed: true, steps }
    }

    /// Adds a header.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Holds the response back before the first byte of the body.
    #[must_use]
    pub fn held(mut self) -> Self {
        self.steps.insert(0, BodyStep::Hold);
        self
    }

    /// Cuts the connection after this many bytes of the body.
    #[must_use]
    pub fn disconnect_after(mut self, bytes: usize) -> Self {
        let Some(BodyStep::Send(body)) = self.steps.pop() else { return self };
        let length = body.len();
        self.steps.push(BodyStep::Send(body[..bytes.min(length)].to_vec()));
        self.steps.push(BodyStep::Disconnect);
        // The content length stays that of the whole body.
        self.with_header("content-length", &length.to_string())
    }

    /// Writes the response; returns `true` if the connection can be reused.
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
