//! The memory proxy: the addresses of OpenAI and Anthropic, behind which a model remembers.
//!
//! A conversation goes through [`converse`]: `asked.rs` reads it, `identity.rs` finds whose it is, `memory.rs` asks memory,
//! the block is put into the bytes after the user's last words, the provider answers, and `pass.rs` hands its bytes on as
//! they come. When they have ended, `heard.rs` reads the copy and `capture.rs` keeps what was said. Whatever memory does,
//! the request goes on.

mod chat_api;
mod request;
mod response;
mod session;
mod inject;
mod cache_prefix;
mod capture;
mod stream;
mod models;
mod embeddings;
mod routes;
mod openapi;

use std::{
    collections::HashSet,
    pin::pin,
    sync::{Arc, Mutex, PoisonError},
};

use axum::{
    body::Bytes,
    extract::Request,
    http::{HeaderMap, HeaderValue, Method, StatusCode, header, request::Parts},
    response::Response,
};
use everlore::{
    Error,
    llm::remote::{ClientProtocol, Upstream, UpstreamResponse},
    prompt::PrefixDigest,
    types::Timestamp,
};
use serde_json::Value;
use tokio::{sync::Notify, task::JoinSet};

pub(crate) use openapi::complete_openapi;
pub(crate) use routes::{api_doc, as_anthropic, as_openai, is_openai, routes};

use self::{
    cache_prefix::CachePrefix,
    capture::Exchange,
    chat_api::ChatApi,
    inject::{InjectionOutcome, recall_for_request},
    models::CONFIGURED_MODEL,
    request::ProxiedRequest,
    response::parse_reply,
    session::ProxySession,
    stream::{ResponseCapture, client_response, provider_headers},
};
use crate::{
    app::App,
    auth::{Access, KeyRole},
    body::{check_content_type, read_body},
    fifo_cache::FifoCache,
    params::SCOPE_PARAMS,
    problem::Problem,
    trace::ClientPresence,
};

/// A client that goes away is told nothing; logs call it so.
const CLIENT_CLOSED_REQUEST: u16 = 499;

/// Who answers what is passed on.
#[derive(Debug, Clone, Default)]
pub struct Providers {
    /// Who is asked as OpenAI is.
    pub openai: Option<Arc<Upstream>>,
    /// Who is asked as Anthropic is.
    pub anthropic: Option<Arc<Upstream>>,
    /// Who makes vectors; the first one where this is none.
    pub embedding: Option<Arc<Upstream>>,
}

/// What requests have in common.
#[derive(Default)]
pub(crate) struct ProxyState {
    /// When conversations began.
    session_starts: FifoCache<Timestamp>,
    /// What conversations began with when they were last passed on.
    prefixes: FifoCache<PrefixDigest>,
    /// The conversations of answers, where the provider keeps what was said.
    reply_sessions: FifoCache<String>,
    /// What is being kept now.
    in_progress: Mutex<HashSet<String>>,
    /// Told whenever something is kept.
    finished: Notify,
    capture_tasks: Mutex<JoinSet<()>>,
}

impl ProxyState {
    /// Marks something as being kept, once nobody else keeps it: what comes after it must not be kept before.
    async fn begin_capture<'a>(&'a self, run: &'a str) -> CaptureGuard<'a> {
        loop {
            let mut kept = pin!(self.finished.notified());
            // From here on no end is missed.
            kept.as_mut().enable();
            match self.try_begin_capture(run) {
                Some(begun) => return begun,
                None => kept.await,
            }
        }
    }

    /// The same; none if it is being kept already.
    fn try_begin_capture<'a>(&'a self, run: &'a str) -> Option<CaptureGuard<'a>> {
        let mut under_way = self.in_progress.lock().unwrap_or_else(PoisonError::into_inner);
        // Made only if it is new: one that is dropped here would wait for the lock that is held here.
        under_way.insert(run.to_owned()).then(|| CaptureGuard { proxy: self, run })
    }

    /// Does something while nobody waits for it.
    fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut captures = self.capture_tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while captures.try_join_next().is_some() {}
        // A body may be dropped when the runtime is gone; then there is nobody to do it.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            captures.spawn_on(work, &runtime);
        }
    }

    /// Waits until everything is kept.
    pub(crate) async fn flush(&self) {
        let mut left =
            std::mem::take(&mut *self.capture_tasks.lock().unwrap_or_else(PoisonError::into_inner));
        while left.join_next().await.is_some() {}
    }
}

/// Something that is being kept.
struct CaptureGuard<'a> {
    proxy: &'a ProxyState,
    run: &'a str,
}

impl Drop for CaptureGuard<'_> {
    fn drop(&mut self) {
        let mut under_way = self.proxy.in_progress.lock().unwrap_or_else(PoisonError::into_inner);
        under_way.remove(self.run);
        drop(under_way);
        self.proxy.finished.notify_waiters();
    }
}

/// Passes a conversation on to its provider, with what memory knows, and keeps what is said.
async fn relay_chat(wire: ChatApi, access: Access, request: Request) -> Result<Response, Problem> {
    let relay = relay_for(&access.app, wire.protocol())?;
    let (parts, body) = read_request(&access, request).await?;
    check_spending(&access, &parts)?;
    let asked = std::str::from_utf8(&body).ok().and_then(|text| ProxiedRequest::parse(wire, text));
    let identity = ProxySession::identify(&access, &parts.headers, asked.as_ref())?;
    let at = access.app.engine.now().timestamp();
    let added = recall_for_request(&identity, asked.as_ref()).await;
    let prefix =
        asked.as_ref().and_then(|asked| CachePrefix::record(asked, &identity, &added, &body));
    let sent = asked.as_ref().map(|asked| edit_body(wire, asked, &added, &relay, &body));
    let path = with_query(wire.path(), parts.uri.query());
    let reply = send_to_provider(&relay, &parts, &path, sent.unwrap_or(body)).await?;
    let kept = asked.filter(|_| reply.status.is_success()).map(|asked| {
        capture_response(wire, &reply, Exchange { session: identity.clone(), request: asked, at })
    });
    let mut response = client_response(reply, kept);
    write_memory_headers(&added, &identity.session, response.headers_mut());
    if let Some(prefix) = prefix {
        prefix.write_headers(response.headers_mut());
    }
    response.extensions_mut().insert(identity.access);
    Ok(response)
}

/// Passes anything else on.
async fn relay_request(
    relay: &Upstream,
    path: &str,
    parts: &Parts,
    body: Bytes,
) -> Result<UpstreamResponse, Problem> {
    send_to_provider(relay, parts, &with_query(path, parts.uri.query()), body).await
}

/// The request's own body, whole.
async fn read_request(access: &Access, request: Request) -> Result<(Parts, Bytes), Problem> {
    let (parts, body) = request.into_parts();
    if parts.method != Method::GET {
        check_content_type(&parts.headers, "application/json")?;
    }
    let body = read_body(body, &access.app.options).await?;
    Ok((parts, body))
}

/// Who may only look does not spend the owner's money: they need a key of the provider.
fn check_spending(access: &Access, parts: &Parts) -> Result<(), Problem> {
    let (_, has_own_key) = provider_headers(&parts.headers);
    if has_own_key { Ok(()) } else { access.require_role(KeyRole::Write) }
}

/// Asks the provider, as long as the client waits.
async fn send_to_provider(
    relay: &Upstream,
    parts: &Parts,
    path: &str,
    body: Bytes,
) -> Result<UpstreamResponse, Problem> {
    let (headers, own_key) = provider_headers(&parts.headers);
    let sent = relay.send(parts.method.clone(), path, headers, own_key, body);
    let Some(mut waiting) = parts.extensions.get::<ClientPresence>().cloned() else {
        return Ok(sent.await?);
    };
    tokio::select! {
        reply = sent => Ok(reply.map_err(provider_unreachable)?),
        () = waiting.disconnected() => Err(client_closed()),
    }
}

fn provider_unreachable(error: Error) -> Problem {
    let problem = Problem::from(error);
    Problem { code: "provider_unreachable", ..problem }
}

fn client_closed() -> Problem {
    let status = StatusCode::from_u16(CLIENT_CLOSED_REQUEST).unwrap_or(StatusCode::BAD_REQUEST);
    Problem::new(status, "gone", "the client went away", "nobody reads this")
}

/// Who is asked in a tongue.
fn relay_for(app: &App, tongue: ClientProtocol) -> Result<Arc<Upstream>, Problem> {
    let providers = &app.options.providers;
    let (relay, detail) = match tongue {
        ClientProtocol::Openai => (
            &providers.openai,
            "set provider, model and the key in the section [chat] of the settings, or run `everlore onboard`, then start the server again",
        ),
        ClientProtocol::Anthropic => (
            &providers.anthropic,
            "set provider = \"anthropic\", model and the key in the section [chat] of the settings, then start the server again",
        ),
    };
    relay.clone().ok_or_else(|| {
        let title = "no provider of language models that can be asked in this way is set";
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "no_provider", title, detail)
    })
}

/// The body with what memory knows, and with the model of the settings where the client leaves it to them.
fn edit_body(
    wire: ChatApi,
    asked: &ProxiedRequest,
    added: &InjectionOutcome,
    relay: &Upstream,
    body: &Bytes,
) -> Bytes {
    let Ok(mut text) = std::str::from_utf8(body).map(str::to_owned) else { return body.clone() };
    let chosen = asked
        .model
        .as_ref()
        .filter(|(name, _)| name == CONFIGURED_MODEL && !relay.model().is_empty());
    let block = match added {
        InjectionOutcome::Block(block) => asked.insert_text(wire, &text, &block.text),
        _ => None,
    };
    let shift = |range: &std::ops::Range<usize>, grown: usize| match asked.is_after_insertion(range)
    {
        true => range.start + grown..range.end + grown,
        false => range.clone(),
    };
    let grown = block.as_ref().map_or(0, |block| block.len() - text.len());
    text = block.unwrap_or(text);
    if let Some((_, range)) = chosen {
        text.replace_range(shift(range, grown), &Value::from(relay.model()).to_string());
    }
    Bytes::from(text)
}

/// The path with the client's query, without what chose whose memory is meant.
fn with_query(path: &str, query: Option<&str>) -> String {
    let ours = |pair: &&str| !SCOPE_PARAMS.iter().any(|name| pair.split('=').next() == Some(name));
    let kept: Vec<&str> = query.unwrap_or_default().split('&').filter(ours).collect();
    match kept.join("&") {
        empty if empty.is_empty() => path.to_owned(),
        query => format!("{path}?{query}"),
    }
}

/// What is done when the answer has gone by.
fn capture_response(
    wire: ChatApi,
    reply: &UpstreamResponse,
    exchange: Exchange,
) -> ResponseCapture {
    let kind = reply.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let is_stream = kind.is_some_and(|kind| kind.starts_with("text/event-stream"));
    let app = exchange.session.access.app.clone();
    ResponseCapture::new(move |bytes| {
        app.clone()
            .proxy
            .spawn(async move { exchange.store(parse_reply(wire, is_stream, &bytes)).await });
    })
}

/// Says what was added, in figures and ids.
fn write_memory_headers(added: &InjectionOutcome, session: &str, headers: &mut HeaderMap) {
    let mut say = |name: &'static str, value: &str| {
        // Names may be in any script; a header takes their bytes.
        if let Ok(value) = HeaderValue::from_bytes(value.as_bytes()) {
            headers.insert(name, value);
        }
    };
    say("x-everlore-memory", added.as_str());
    say("x-everlore-session", session);
    if let InjectionOutcome::Block(block) = added {
        let ids: Vec<String> = block.entries.iter().map(|entry| entry.id.to_string()).collect();
        say("x-everlore-memory-count", &ids.len().to_string());
        say("x-everlore-memory-tokens", &block.tokens.to_string());
        say("x-everlore-memory-ids", &ids.join(","));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn what_is_being_kept_is_not_begun_again_until_it_is_done() {
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
    fn a_query_goes_on_without_whose_memory_is_meant() {
        assert_eq!(with_query("/p", None), "/p");
        assert_eq!(with_query("/p", Some("agent=a&user=b")), "/p");
        assert_eq!(with_query("/p", Some("beta=true&user=b&x=%20")), "/p?beta=true&x=%20");
    }
}
