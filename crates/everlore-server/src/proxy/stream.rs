//! Relaying bytes: the headers that travel, and a body that is relayed as it arrives while a copy is captured.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, HeaderName, HeaderValue, header},
    response::Response,
};
use everlore::internal::llm::UpstreamResponse;
use hyper::body::{Frame, Incoming, SizeHint};

use crate::auth::{KEY_HEADER, authorization_value};

/// Largest captured response; a longer one is relayed and not captured, because it is no conversation.
const MAX_CAPTURED_BYTES: usize = 16 << 20;

/// Headers that belong to one connection.
const HOP_BY_HOP_HEADERS: [HeaderName; 8] = [
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// Headers of a client that are meant for us, or that tell a provider more than it needs to know.
const STRIPPED_HEADERS: [HeaderName; 9] = [
    header::HOST,
    header::CONTENT_LENGTH,
    header::ACCEPT_ENCODING,
    header::AUTHORIZATION,
    header::COOKIE,
    header::ORIGIN,
    header::REFERER,
    header::EXPECT,
    HeaderName::from_static("x-api-key"),
];
const STRIPPED_PREFIXES: [&str; 6] =
    ["x-everlore-", "x-memory-", "x-sm-", "x-supermemory-", "x-forwarded-", "sec-"];

/// Returns the headers for the provider, and `true` if the client brings its own provider key.
pub(super) fn provider_headers(headers: &HeaderMap) -> (HeaderMap, bool) {
    let mut sent = HeaderMap::with_capacity(headers.len());
    for (name, value) in headers {
        let is_relayed = !HOP_BY_HOP_HEADERS.contains(name)
            && !STRIPPED_HEADERS.contains(name)
            && !STRIPPED_PREFIXES.iter().any(|prefix| name.as_str().starts_with(prefix));
        if is_relayed {
            sent.append(name, value.clone());
        }
    }
    // The response is parsed here, so it must not be compressed.
    sent.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    let client_keys = client_provider_keys(headers);
    let has_own = !client_keys.is_empty();
    sent.extend(client_keys.into_iter().map(|(name, value)| (Some(name), value)));
    (sent, has_own)
}

/// Returns the client's provider keys: present if our key has a header of its own.
fn client_provider_keys(headers: &HeaderMap) -> Vec<(HeaderName, HeaderValue)> {
    let Some(ours) = headers.get(KEY_HEADER) else { return Vec::new() };
    let is_ours = |secret: &[u8]| secret.trim_ascii() == ours.as_bytes().trim_ascii();
    let names = [header::AUTHORIZATION, HeaderName::from_static("x-api-key")];
    let given = names.into_iter().filter_map(|name| Some((headers.get(&name)?.clone(), name)));
    let theirs = given.filter(|(value, name)| {
        if *name == header::AUTHORIZATION {
            let token = authorization_value(headers, &["bearer"]);
            !token.is_some_and(|token| is_ours(token.as_bytes()))
        } else {
            !is_ours(value.as_bytes())
        }
    });
    theirs.map(|(value, name)| (name, value)).collect()
}

/// Relays the provider's response: status, headers and bytes as they arrive. `capture` gets a copy of the bytes at the
/// end.
pub(super) fn client_response(
    reply: UpstreamResponse,
    capture: Option<ResponseCapture>,
) -> Response {
    let mut response = Response::new(Body::new(TeeBody { body: reply.body, capture }));
    *response.status_mut() = reply.status;
    for (name, value) in &reply.headers {
        if !HOP_BY_HOP_HEADERS.contains(name) && *name != header::SET_COOKIE {
            response.headers_mut().append(name, value.clone());
        }
    }
    response
}

/// Capture of a response, which runs at its end.
pub(super) type ResponseCapture = CaptureBuffer<Box<dyn FnOnce(Vec<u8>) + Send>>;

/// Bytes received so far.
pub(super) struct CaptureBuffer<F> {
    bytes: Vec<Bytes>,
    size: usize,
    on_end: F,
}

impl ResponseCapture {
    pub(super) fn new(on_end: impl FnOnce(Vec<u8>) + Send + 'static) -> Self {
        Self { bytes: Vec::new(), size: 0, on_end: Box::new(on_end) }
    }

    fn add(&mut self, bytes: &Bytes) {
        self.size += bytes.len();
        if self.size <= MAX_CAPTURED_BYTES {
            self.bytes.push(bytes.clone());
        }
    }

    fn finish(self) {
        if self.size <= MAX_CAPTURED_BYTES {
            (self.on_end)(self.bytes.concat());
        }
    }
}

/// Body in transit. Dropping it, as when the client disconnects, ends the provider's request.
struct TeeBody {
    body: Incoming,
    capture: Option<ResponseCapture>,
}

impl hyper::body::Body for TeeBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        if let Poll::Ready(Some(Ok(frame))) = &polled
            && let (Some(bytes), Some(capture)) = (frame.data_ref(), &mut self.capture)
        {
            capture.add(bytes);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for TeeBody {
    fn drop(&mut self) {
        if let Some(capture) = self.capture.take() {
            capture.finish();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn headers_meant_for_us_do_not_reach_the_provider() {
        let (sent, own) = provider_headers(&headers(&[
            ("host", "localhost"),
            ("authorization", "Bearer el-secret"),
            ("x-api-key", "el-secret"),
            ("x-memory-user", "ann"),
            ("x-everlore-agent", "a"),
            ("x-sm-user-id", "ann"),
            ("cookie", "c"),
            ("accept-encoding", "gzip, br"),
            ("connection", "keep-alive"),
            ("content-type", "application/json"),
            ("anthropic-beta", "tools-1"),
            ("openai-organization", "org"),
        ]));
        let expected = headers(&[
            ("content-type", "application/json"),
            ("anthropic-beta", "tools-1"),
            ("openai-organization", "org"),
            ("accept-encoding", "identity"),
        ]);
        assert_eq!((sent, own), (expected, false));
    }

    #[test]
    fn a_client_may_bring_its_own_key_and_ours_is_never_relayed() {
        let given = [("x-everlore-key", "el-1"), ("authorization", "Bearer sk-theirs")];
        let (sent, own) = provider_headers(&headers(&given));
        assert!(
            own && sent["authorization"] == "Bearer sk-theirs"
                && !sent.contains_key("x-everlore-key")
        );
        let twice =
            [("x-everlore-key", "el-1"), ("authorization", "Bearer el-1"), ("x-api-key", "el-1")];
        let (sent, own) = provider_headers(&headers(&twice));
        assert!(!own && !sent.contains_key("authorization") && !sent.contains_key("x-api-key"));
    }
}
