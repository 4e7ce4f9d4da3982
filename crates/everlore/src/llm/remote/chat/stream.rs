//! An answer that is still coming: bytes in, pieces out, and an error for every way in which it can stop short.

use std::{collections::VecDeque, future::Future, sync::Arc, time::Duration};

use async_trait::async_trait;
use hyper::header::CONTENT_TYPE;

use super::{
    adapter::{ChunkDecoder, StreamError},
    framing::{FrameDecoder, FrameTooLong, Framing},
    prompt_too_long,
};
use crate::{
    error::{Error, Result},
    llm::{
        chat::{ChatChunk, ChatStream},
        http_client::{HttpResponse, MAX_RESPONSE_BYTES},
        remote_error::{RemoteError, RequestInfo},
    },
};

/// An answer that is still coming. Dropping it ends the request.
pub(super) struct RemoteChatStream {
    response: HttpResponse,
    frames: FrameDecoder,
    decoder: Box<dyn ChunkDecoder>,
    chunks: VecDeque<ChatChunk>,
    ended: bool,
    /// How many bytes came so far.
    bytes: usize,
    request_info: Arc<RequestInfo>,
    /// How long the server may be silent.
    idle_timeout: Duration,
}

impl RemoteChatStream {
    /// An answer whose status was good.
    pub(super) fn new(
        reply: HttpResponse,
        framing: Framing,
        reader: Box<dyn ChunkDecoder>,
        asked: Arc<RequestInfo>,
        limit: Duration,
    ) -> Result<Self, RemoteError> {
        let kind = reply.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = kind.unwrap_or_default().to_ascii_lowercase();
        if kind.starts_with("text/html") {
            return Err(RemoteError::permanent(
                format!("{} answered with a web page", asked.host),
                "set base_url to the address for programs, which often ends with /v1",
            ));
        }
        let whole = framing == Framing::Events && kind.starts_with("application/json");
        let splitter = FrameDecoder::new(if whole { Framing::Whole } else { framing });
        let pieces = VecDeque::new();
        Ok(Self {
            response: reply,
            frames: splitter,
            decoder: reader,
            chunks: pieces,
            ended: false,
            bytes: 0,
            request_info: asked,
            idle_timeout: limit,
        })
    }

    /// Waits for the first piece.
    pub(super) async fn wait_for_first_chunk(&mut self) -> Result<(), RemoteError> {
        while self.chunks.is_empty() && !self.ended {
            self.read_more().await?;
        }
        Ok(())
    }

    /// Reads on, and keeps the pieces that are whole.
    async fn read_more(&mut self) -> Result<(), RemoteError> {
        let chunk =
            with_timeout(self.idle_timeout, &self.request_info.host, self.response.chunk()).await?;
        let Some(bytes) = chunk else {
            if let Some(last) = self.frames.finish() {
                self.decode_frame(&last, true)?;
            }
            return if self.ended { Ok(()) } else { self.finish_stream(false) };
        };
        let host = &self.request_info.host;
        let endless =
            |_| RemoteError::permanent(format!("the answer of {host} has no end"), PROTOCOL_HINT);
        self.bytes += bytes.len();
        if self.bytes > MAX_RESPONSE_BYTES {
            return Err(endless(FrameTooLong));
        }
        for data in self.frames.feed(&bytes).map_err(endless)? {
            if !self.ended {
                self.decode_frame(&data, false)?;
            }
        }
        Ok(())
    }

    fn decode_frame(&mut self, data: &str, last: bool) -> Result<(), RemoteError> {
        if data.trim() == "[DONE]" {
            return self.finish_stream(true);
        }
        let read = match serde_json::from_str(data) {
            Ok(value) => self.decoder.decode(&value),
            Err(_) if last => Err(StreamError::Truncated),
            Err(error) => Err(StreamError::Malformed(format!("is no JSON: {error}"))),
        };
        self.push_chunks(read)
    }

    fn finish_stream(&mut self, said: bool) -> Result<(), RemoteError> {
        let left = self.decoder.finish(said);
        self.push_chunks(left)
    }

    fn push_chunks(
        &mut self,
        read: Result<Vec<ChatChunk>, StreamError>,
    ) -> Result<(), RemoteError> {
        let pieces = read.map_err(|fault| self.to_remote_error(fault))?;
        self.ended |= pieces.iter().any(|piece| matches!(piece, ChatChunk::End { .. }));
        self.chunks.extend(pieces);
        Ok(())
    }

    fn to_remote_error(&self, fault: StreamError) -> RemoteError {
        let host = &self.request_info.host;
        match fault {
            StreamError::Provider(error) => {
                RemoteError::from_stream_error(&self.request_info, &error)
            }
            StreamError::Malformed(what) => {
                RemoteError::permanent(format!("the answer of {host} {what}"), PROTOCOL_HINT)
            }
            StreamError::Truncated => {
                RemoteError::transient(format!("the answer of {host} broke off"))
            }
        }
    }
}

const PROTOCOL_HINT: &str =
    "check provider, base_url and model: the server may not speak this protocol";

#[async_trait]
impl ChatStream for RemoteChatStream {
    async fn next_chunk(&mut self) -> Result<Option<ChatChunk>> {
        loop {
            if let Some(piece) = self.chunks.pop_front() {
                return Ok(Some(piece));
            }
            if self.ended {
                return Ok(None);
            }
            if let Err(trouble) = self.read_more().await {
                self.ended = true;
                return Err(mid_stream_error(trouble));
            }
        }
    }
}

/// What went wrong in the middle of an answer, of which the beginning is not the whole.
fn mid_stream_error(trouble: RemoteError) -> Error {
    match trouble {
        RemoteError::Transient { message, .. } => Error::Remote {
            message,
            hint: "ask again: what came so far is not the whole answer".to_owned(),
        },
        RemoteError::TooLarge { message } => prompt_too_long(message),
        RemoteError::Permanent { message, hint } => Error::Remote { message, hint },
    }
}

/// Waits for a server, but not for ever.
pub(super) async fn with_timeout<T>(
    limit: Duration,
    host: &str,
    waited: impl Future<Output = Result<T, RemoteError>>,
) -> Result<T, RemoteError> {
    tokio::time::timeout(limit, waited).await.unwrap_or_else(|_| {
        Err(RemoteError::permanent(
            format!("{host} was silent for {limit:?}"),
            "the model may be loading or thinking: ask again, or set timeout in the settings to more",
        ))
    })
}
