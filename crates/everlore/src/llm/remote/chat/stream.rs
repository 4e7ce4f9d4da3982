//! An answer that is still coming: bytes in, pieces out, and an error for every way in which it can stop short.

use std::{collections::VecDeque, future::Future, sync::Arc, time::Duration};

use async_trait::async_trait;
use hyper::header::CONTENT_TYPE;

use super::{
    lines::{Endless, Framing, Splitter},
    too_long,
    wire::{Fault, Reader},
};
use crate::{
    error::{Error, Result},
    llm::{
        chat::{Answer, Piece},
        http::{MAX_ANSWER, Reply},
        trouble::{Asked, Trouble},
    },
};

/// An answer that is still coming. Dropping it ends the request.
pub(super) struct Streamed {
    reply: Reply,
    splitter: Splitter,
    reader: Box<dyn Reader>,
    pieces: VecDeque<Piece>,
    ended: bool,
    /// How many bytes came so far.
    bytes: usize,
    asked: Arc<Asked>,
    /// How long the server may be silent.
    limit: Duration,
}

impl Streamed {
    /// An answer whose status was good.
    pub(super) fn new(
        reply: Reply,
        framing: Framing,
        reader: Box<dyn Reader>,
        asked: Arc<Asked>,
        limit: Duration,
    ) -> Result<Self, Trouble> {
        let kind = reply.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = kind.unwrap_or_default().to_ascii_lowercase();
        if kind.starts_with("text/html") {
            return Err(Trouble::lasting(
                format!("{} answered with a web page", asked.host),
                "set base_url to the address for programs, which often ends with /v1",
            ));
        }
        let whole = framing == Framing::Events && kind.starts_with("application/json");
        let splitter = Splitter::new(if whole { Framing::Whole } else { framing });
        let pieces = VecDeque::new();
        Ok(Self { reply, splitter, reader, pieces, ended: false, bytes: 0, asked, limit })
    }

    /// Waits for the first piece.
    pub(super) async fn begin(&mut self) -> Result<(), Trouble> {
        while self.pieces.is_empty() && !self.ended {
            self.more().await?;
        }
        Ok(())
    }

    /// Reads on, and keeps the pieces that are whole.
    async fn more(&mut self) -> Result<(), Trouble> {
        let chunk = in_time(self.limit, &self.asked.host, self.reply.chunk()).await?;
        let Some(bytes) = chunk else {
            if let Some(last) = self.splitter.finish() {
                self.take(&last, true)?;
            }
            return if self.ended { Ok(()) } else { self.close(false) };
        };
        let host = &self.asked.host;
        let endless = |_| Trouble::lasting(format!("the answer of {host} has no end"), CHECK);
        self.bytes += bytes.len();
        if self.bytes > MAX_ANSWER {
            return Err(endless(Endless));
        }
        for data in self.splitter.feed(&bytes).map_err(endless)? {
            if !self.ended {
                self.take(&data, false)?;
            }
        }
        Ok(())
    }

    fn take(&mut self, data: &str, last: bool) -> Result<(), Trouble> {
        if data.trim() == "[DONE]" {
            return self.close(true);
        }
        let read = match serde_json::from_str(data) {
            Ok(value) => self.reader.read(&value),
            Err(_) if last => Err(Fault::Cut),
            Err(error) => Err(Fault::Odd(format!("is no JSON: {error}"))),
        };
        self.keep(read)
    }

    fn close(&mut self, said: bool) -> Result<(), Trouble> {
        let left = self.reader.end(said);
        self.keep(left)
    }

    fn keep(&mut self, read: Result<Vec<Piece>, Fault>) -> Result<(), Trouble> {
        let pieces = read.map_err(|fault| self.trouble(fault))?;
        self.ended |= pieces.iter().any(|piece| matches!(piece, Piece::End { .. }));
        self.pieces.extend(pieces);
        Ok(())
    }

    fn trouble(&self, fault: Fault) -> Trouble {
        let host = &self.asked.host;
        match fault {
            Fault::Told(error) => Trouble::told(&self.asked, &error),
            Fault::Odd(what) => Trouble::lasting(format!("the answer of {host} {what}"), CHECK),
            Fault::Cut => Trouble::passing(format!("the answer of {host} broke off")),
        }
    }
}

const CHECK: &str = "check provider, base_url and model: the server may not speak this protocol";

#[async_trait]
impl Answer for Streamed {
    async fn next(&mut self) -> Result<Option<Piece>> {
        loop {
            if let Some(piece) = self.pieces.pop_front() {
                return Ok(Some(piece));
            }
            if self.ended {
                return Ok(None);
            }
            if let Err(trouble) = self.more().await {
                self.ended = true;
                return Err(broken(trouble));
            }
        }
    }
}

/// What went wrong in the middle of an answer, of which the beginning is not the whole.
fn broken(trouble: Trouble) -> Error {
    match trouble {
        Trouble::Passing { message, .. } => Error::Remote {
            message,
            hint: "ask again: what came so far is not the whole answer".to_owned(),
        },
        Trouble::TooMuch { message } => too_long(message),
        Trouble::Lasting { message, hint } => Error::Remote { message, hint },
    }
}

/// Waits for a server, but not for ever.
pub(super) async fn in_time<T>(
    limit: Duration,
    host: &str,
    waited: impl Future<Output = Result<T, Trouble>>,
) -> Result<T, Trouble> {
    tokio::time::timeout(limit, waited).await.unwrap_or_else(|_| {
        Err(Trouble::lasting(
            format!("{host} was silent for {limit:?}"),
            "the model may be loading or thinking: ask again, or set timeout in the settings to more",
        ))
    })
}
