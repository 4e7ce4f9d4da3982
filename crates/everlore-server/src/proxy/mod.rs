//! Memory proxy: the APIs of OpenAI and Anthropic with memory behind them. Whatever memory does, the request goes on.
//!
//! One chat request:
//!
//! 1. `routes.rs` authenticates the client (`auth::authenticate_client`) and calls `relay_chat`.
//!    `ProxiedRequest::parse` (`request.rs`) reads the conversation from the bytes of the body and finds the position
//!    after the user's last message; `ProxySession::identify` (`session.rs`) finds scope, session and memory mode: the
//!    session by an id of the host, else by its messages (`conversation.rs`). What a host asks on its own account
//!    (`text/side_requests.rs` of the engine) is only relayed.
//! 2. `recall_for_request` (`inject.rs`) calls `Engine::inject` (`Engine::context` in mode `read`), within two seconds.
//! 3. `edit_body` inserts the block into the bytes at that position, and the configured model's name where the client
//!    leaves the choice to the settings. Every other byte stays, and with it the provider's prompt cache.
//! 4. `send_to_provider` sends it through `Upstream`, with our key or the client's own, and gives up when the client
//!    disconnects (`ClientPresence`). `client_response` (`stream.rs`) relays the answer as it arrives and keeps a copy.
//! 5. At the end of the answer, however it ended, `parse_reply` (`response.rs`) reads the copy and `Exchange::store_exchange`
//!    (`capture.rs`) stores question and answer by `Engine::observe`, each once: a digest of the texts up to it is its
//!    run in the journal. With the answer that ends a tool loop go the calls that the request brought (`tool_calls.rs`). `Engine::record_answer` records which memories a finished answer used.

mod chat_api;
mod raw_content;
mod request;
mod tool_calls;
mod response;
mod conversation;
mod session;
mod inject;
mod cache_prefix;
mod capture;
mod stream;
mod models;
mod embeddings;
mod routes;
#[cfg(test)]
mod openapi;

use std::{
    collections::HashSet,
    pin::pin,
    sync::{Arc, Mutex},
};

use axum::{
    body::Bytes,
    extract::Request,
    http::{HeaderMap, HeaderValue, Method, StatusCode, header, request::Parts},
    response::Response,
};
use everlore::{
    Error,
    internal::{
        llm::{ClientProtocol, Upstream, UpstreamResponse},
        prompt::PrefixDigest,
    },
};
use serde_json::Value;
use tokio::{sync::Notify, task::JoinSet};

pub(crate) use routes::{as_anthropic, as_openai, is_openai, routes};
#[cfg(test)]
pub(crate) use {openapi::complete_openapi, routes::api_doc};

use self::{
    cache_prefix::CachePrefix,
    capture::Exchange,
    chat_api::ChatApi,
    conversation::ConversationIndex,
    inject::{InjectionOutcome, recall_for_request},
    models::CONFIGURED_MODEL,
    request::ProxiedRequest,
    response::parse_reply,
    session::ProxySession,
    stream::{ResponseCapture, client_response, provider_headers},
};
use crate::{
    BoxFuture,
    app::App,
    auth::{Access, KeyRole},
    body::{check_content_type, read_body},
    fifo_cache::FifoCache,
    lock,
    params::SCOPE_PARAMS,
    problem::Problem,
    trace::ClientPresence,
};

/// Logged status when the client disconnects (nginx's 499).
const CLIENT_CLOSED_REQUEST: u16 = 499;

/// Model providers that requests are relayed to.
#[derive(Debug, Clone, Default)]
pub struct Providers {
    /// Provider for OpenAI's API.
    pub openai: Option<Arc<Upstream>>,
    /// Provider for Anthropic's API.
    pub anthropic: Option<Arc<Upstream>>,
    /// Provider for embeddings; `openai` if there is none.
    pub embedding: Option<Arc<Upstream>>,
}

/// State that the proxy keeps between requests.
#[derive(Default)]
pub(crate) struct ProxyState {
    /// Conversations by their messages.
    conversations: ConversationIndex,
    /// Prefix of each session's last request.
    prefixes: FifoCache<PrefixDigest>,
    /// Sessions by response id, where the provider stores the conversation.
    reply_sessions: FifoCache<String>,
    /// Captures in progress.
    in_progress: Mutex<HashSet<String>>,
    /// Notified whenever a capture ends.
    finished: Notify,
    capture_tasks: Mutex<JoinSet<()>>,
}

impl ProxyState {
    /// Begins a capture once no other task has it in progress: a later turn must not be stored before an earlier one.
    async fn begin_capture<'a>(&'a self, run: &'a str) -> CaptureGuard<'a> {
        loop {
            let mut finished = pin!(self.finished.notified());
            // From here on no notification is missed.
            finished.as_mut().enable();
            match self.try_begin_capture(run) {
                Some(begun) => return begun,
                None => finished.await,
            }
        }
    }

    /// Begins a capture; `None` if it is in progress already.
    fn try_begin_capture<'a>(&'a self, run: &'a str) -> Option<CaptureGuard<'a>> {
        let mut in_progress = lock(&self.in_progress);
        // Created only if new: dropping a guard here would wait for the lock that is held here.
        in_progress.insert(run.to_owned()).then(|| CaptureGuard { proxy: self, run })
    }

    /// Spawns work that no request waits for.
    fn spawn(&self, work: BoxFuture<'static, ()>) {
        let mut captures = lock(&self.capture_tasks);
        while captures.try_join_next().is_some() {}
        // A body may be dropped after the end of the runtime; then nothing is left to run it.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            captures.spawn_on(work, &runtime);
        }
    }

    /// Waits for all captures.
    pub(crate) async fn flush(&self) {
        let mut left = std::mem::take(&mut *lock(&self.capture_tasks));
        while left.join_next().await.is_some() {}
    }
}

/// Capture in progress.
struct CaptureGuard<'a> {
    proxy: &'a ProxyState,
    run: &'a str,
}

impl Drop for CaptureGuard<'_> {
    fn drop(&mut self) {
        let mut in_progress = lock(&self.proxy.in_progress);
        in_progress.remove(self.run);
        drop(in_progress);
        self.proxy.finished.notify_waiters();
    }
}

/// Relays a chat request to its provider with recalled memories, and captures the exchange.
fn relay_chat(
    api: ChatApi,
    access: Access,
    request: Request,
) -> BoxFuture<'static, Result<Response, Problem>> {
    Box::pin(relay_chat_once(api, access, request))
}

async fn relay_chat_once(
    api: ChatApi,
    access: Access,
    request: Request,
) -> Result<Response, Problem> {
    let upstream = upstream_for(&access.app, api.protocol())?;
    let (parts, body) = read_request(&access, request).await?;
    check_spending(&access, &parts)?;
    let proxied = std::str::from_utf8(&body).ok().and_then(|text| ProxiedRequest::parse(api, text));
    let session = ProxySession::identify(&access, &parts.headers, proxied.as_ref()).await?;
    let at = access.app.engine.now().timestamp();
    let injection = recall_for_request(&session, proxied.as_ref()).await;
    let prefix = proxied
        .as_ref()
        .filter(|_| !session.is_side_request)
        .and_then(|proxied| CachePrefix::record(proxied, &session, &injection, &body));
    let sent =
        proxied.as_ref().map(|proxied| edit_body(api, proxied, &injection, &upstream, &body));
    let path = with_query(api.path(), parts.uri.query());
    let reply = send_to_provider(&upstream, &parts, &path, sent.unwrap_or(body)).await?;
    let is_captured = reply.status.is_success() && !session.is_side_request;
    let capture = proxied.filter(|_| is_captured).map(|proxied| {
        capture_response(api, &reply, Exchange { session: session.clone(), request: proxied, at })
    });
    let mut response = client_response(reply, capture);
    write_memory_headers(&injection, &session.session, response.headers_mut());
    if let Some(prefix) = prefix {
        prefix.write_headers(response.headers_mut());
    }
    response.extensions_mut().insert(session.access);
    Ok(response)
}

/// Relays any other request.
async fn relay_request(
    upstream: &Upstream,
    path: &str,
    parts: &Parts,
    body: Bytes,
) -> Result<UpstreamResponse, Problem> {
    send_to_provider(upstream, parts, &with_query(path, parts.uri.query()), body).await
}

/// Reads the whole body of a request.
async fn read_request(access: &Access, request: Request) -> Result<(Parts, Bytes), Problem> {
    let (parts, body) = request.into_parts();
    if parts.method != Method::GET {
        check_content_type(&parts.headers, "application/json")?;
    }
    let body = read_body(body, &access.app.options).await?;
    Ok((parts, body))
}

/// Requires the role write, unless the client brings its own provider key: a reader must not spend the owner's money.
fn check_spending(access: &Access, parts: &Parts) -> Result<(), Problem> {
    let (_, has_own_key) = provider_headers(&parts.headers);
    if has_own_key { Ok(()) } else { access.require_role(KeyRole::Write) }
}

/// Sends a request to the provider, for as long as the client stays connected.
async fn send_to_provider(
    upstream: &Upstream,
    parts: &Parts,
    path: &str,
    body: Bytes,
) -> Result<UpstreamResponse, Problem> {
    let (headers, own_key) = provider_headers(&parts.headers);
    let sent = upstream.send(parts.method.clone(), path, headers, own_key, body);
    let Some(mut presence) = parts.extensions.get::<ClientPresence>().cloned() else {
        return Ok(sent.await?);
    };
    tokio::select! {
        reply = sent => Ok(reply.map_err(provider_unreachable)?),
        () = presence.disconnected() => Err(client_closed()),
    }
}

fn provider_unreachable(error: Error) -> Problem {
    let problem = Problem::from(error);
    Problem { code: "provider_unreachable", ..problem }
}

fn client_closed() -> Problem {
    let status = StatusCode::from_u16(CLIENT_CLOSED_REQUEST).unwrap_or(StatusCode::BAD_REQUEST);
    Problem::new(status, "gone", "the client disconnected", "send the request again")
}

/// Returns the provider for a protocol.
fn upstream_for(app: &App, protocol: ClientProtocol) -> Result<Arc<Upstream>, Problem> {
    let providers = &app.options.providers;
    let (upstream, detail) = match protocol {
        ClientProtocol::Openai => (
            &providers.openai,
            "set provider, model and key in section [chat] of the settings, or run `everlore onboard`, then restart the server",
        ),
        ClientProtocol::Anthropic => (
            &providers.anthropic,
            "set provider = \"anthropic\", model and key in section [chat] of the settings, then restart the server",
        ),
    };
    upstream.clone().ok_or_else(|| {
        let title = "no model provider is configured for this protocol";
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "no_provider", title, detail)
    })
}

/// Inserts the memory block into the body, and the configured model where the client leaves the choice to the settings.
fn edit_body(
    api: ChatApi,
    request: &ProxiedRequest,
    injection: &InjectionOutcome,
    upstream: &Upstream,
    body: &Bytes,
) -> Bytes {
    let Ok(mut text) = std::str::from_utf8(body).map(str::to_owned) else { return body.clone() };
    let configured = request
        .model
        .as_ref()
        .filter(|(name, _)| name == CONFIGURED_MODEL && !upstream.model().is_empty());
    let block = match injection {
        InjectionOutcome::Block(block) => request.insert_text(api, &text, &block.text),
        _ => None,
    };
    let shift = |range: &std::ops::Range<usize>, grown: usize| {
        let by = if request.is_after_insertion(range) { grown } else { 0 };
        range.start + by..range.end + by
    };
    let grown = block.as_ref().map_or(0, |block| block.len() - text.len());
    text = block.unwrap_or(text);
    if let Some((_, range)) = configured {
        text.replace_range(shift(range, grown), &Value::from(upstream.model()).to_string());
    }
    Bytes::from(text)
}

/// Appends the client's query to a path, without the scope parameters.
fn with_query(path: &str, query: Option<&str>) -> String {
    let ours = |pair: &&str| !SCOPE_PARAMS.iter().any(|name| pair.split('=').next() == Some(name));
    let params: Vec<&str> = query.unwrap_or_default().split('&').filter(ours).collect();
    match params.join("&") {
        empty if empty.is_empty() => path.to_owned(),
        query => format!("{path}?{query}"),
    }
}

/// Returns the capture that stores the exchange at the end of the response.
fn capture_response(api: ChatApi, reply: &UpstreamResponse, exchange: Exchange) -> ResponseCapture {
    let kind = reply.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let is_stream = kind.is_some_and(|kind| kind.starts_with("text/event-stream"));
    let app = exchange.session.access.app.clone();
    ResponseCapture::new(move |bytes| {
        let store =
            async move { exchange.store_exchange(parse_reply(api, is_stream, &bytes)).await };
        app.proxy.spawn(Box::pin(store));
    })
}

/// Reports the injected memories in response headers.
fn write_memory_headers(injection: &InjectionOutcome, session: &str, headers: &mut HeaderMap) {
    let mut set = |name: &'static str, value: &str| {
        // Names may be in any script; a header takes their bytes.
        if let Ok(value) = HeaderValue::from_bytes(value.as_bytes()) {
            headers.insert(name, value);
        }
    };
    set("x-everlore-memory", injection.as_str());
    set("x-everlore-session", session);
    if let InjectionOutcome::Block(block) = injection {
        let ids: Vec<String> = block.entries.iter().map(|entry| entry.id.to_string()).collect();
        set("x-everlore-memory-count", &ids.len().to_string());
        set("x-everlore-memory-tokens", &block.tokens.to_string());
        set("x-everlore-memory-ids", &ids.join(","));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn a_capture_in_progress_is_not_begun_again_until_it_ends() {
        let proxy = ProxyState::default();
        let begun = proxy.begin_capture("one").await;
        assert!(
            proxy.try_begin_capture("one").is_none() && proxy.try_begin_capture("two").is_some()
        );
        let mut again = pin!(proxy.begin_capture("one"));
        assert!(tokio::time::timeout(Duration::ZERO, &mut again).await.is_err());
        drop(begun);
        again.await;
        assert!(proxy.try_begin_capture("one").is_some());
    }

    #[test]
    fn a_query_is_relayed_without_the_scope() {
        assert_eq!(with_query("/p", None), "/p");
        assert_eq!(with_query("/p", Some("agent=a&user=b")), "/p");
        assert_eq!(with_query("/p", Some("beta=true&user=b&x=%20")), "/p?beta=true&x=%20");
    }
}
