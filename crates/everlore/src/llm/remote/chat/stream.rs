//! Streamed chat response: bytes in, chunks out, and an error for every way in which the stream can stop short.

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

/// Response that is still being received. Dropping it cancels the request.
pub(super) struct RemoteChatStream {
    response: HttpResponse,
    frames: FrameDecoder,
    decoder: Box<dyn ChunkDecoder>,
    chunks: VecDeque<ChatChunk>,
    ended: bool,
    /// Bytes received so far.
    bytes: usize,
    request_info: Arc<RequestInfo>,
    /// Longest silence of the server.
    idle_timeout: Duration,
}

impl RemoteChatStream {
    /// Creates a stream from a response whose status is a success.
    pub(super) fn new(
        response: HttpResponse,
        framing: Framing,
        decoder: Box<dyn ChunkDecoder>,
        request_info: Arc<RequestInfo>,
        idle_timeout: Duration,
    ) -> Result<Self, RemoteError> {
        let kind = response.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = kind.unwrap_or_default().to_ascii_lowercase();
        if kind.starts_with("text/html") {
            return Err(RemoteError::permanent(
                format!("{} answered with a web page", request_info.host),
                "set base_url to the address of the API, which often ends with /v1",
            ));
        }
        let whole = framing == Framing::Events && kind.starts_with("application/json");
        let frames = FrameDecoder::new(if whole { Framing::Whole } else { framing });
        Ok(Self {
            response,
            frames,
            decoder,
            chunks: VecDeque::new(),
            ended: false,
            bytes: 0,
            request_info,
            idle_timeout,
        })
    }

    /// Waits for the first chunk.
    pub(super) async fn wait_for_first_chunk(&mut self) -> Result<(), RemoteError> {
        while self.chunks.is_empty() && !self.ended {
            self.read_more().await?;
        }
        Ok(())
    }

    /// Reads more bytes and queues the chunks that they complete.
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
            |_| RemoteError::permanent(format!("the answer of {host} is too long"), PROTOCOL_HINT);
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
        let decoded = match serde_json::from_str(data) {
            Ok(value) => self.decoder.decode(&value),
            Err(_) if last => Err(StreamError::Truncated),
            Err(error) => Err(StreamError::Malformed(format!("is not JSON: {error}"))),
        };
        self.push_chunks(decoded)
    }

    fn finish_stream(&mut self, announced: bool) -> Result<(), RemoteError> {
        let rest = self.decoder.finish(announced);
        self.push_chunks(rest)
    }

    fn push_chunks(
        &mut self,
        decoded: Result<Vec<ChatChunk>, StreamError>,
    ) -> Result<(), RemoteError> {
        let chunks = decoded.map_err(|error| self.to_remote_error(error))?;
        self.ended |= chunks.iter().any(|chunk| matches!(chunk, ChatChunk::End { .. }));
        self.chunks.extend(chunks);
        Ok(())
    }

    fn to_remote_error(&self, error: StreamError) -> RemoteError {
        let host = &self.request_info.host;
        match error {
            StreamError::Provider(error) => {
                RemoteError::from_stream_error(&self.request_info, &error)
            }
            StreamError::Malformed(problem) => {
                RemoteError::permanent(format!("the answer of {host} {problem}"), PROTOCOL_HINT)
            }
            StreamError::Truncated => {
                RemoteError::transient(format!("the answer of {host} was cut off"))
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
            if let Some(chunk) = self.chunks.pop_front() {
                return Ok(Some(chunk));
            }
            if self.ended {
                return Ok(None);
            }
            if let Err(error) = self.read_more().await {
                self.ended = true;
                return Err(mid_stream_error(error));
            }
        }
    }
}

/// Converts a failure after the first chunk; the part received so far is not the whole answer.
fn mid_stream_error(error: RemoteError) -> Error {
    match error {
        RemoteError::Transient { message, .. } => {
            Error::Remote { message, hint: "try again: the answer so far is incomplete".to_owned() }
        }
        RemoteError::TooLarge { message } => prompt_too_long(message),
        error => error.into(),
    }
}

/// Awaits a response of the server for at most `limit`.
pub(super) async fn with_timeout<T>(
    limit: Duration,
    host: &str,
    response: impl Future<Output = Result<T, RemoteError>>,
) -> Result<T, RemoteError> {
    tokio::time::timeout(limit, response).await.unwrap_or_else(|_| {
        let hint =
            "the model may be loading or thinking: ask again, or raise timeout in the settings";
        let message = format!("{host} was silent for {limit:?}");
        Err(RemoteError::Silent { message, hint: hint.to_owned() })
    })
}
