//! The memory proxy: the addresses of OpenAI and Anthropic, behind which a model remembers.
//!
//! A conversation goes through [`converse`]: `asked.rs` reads it, `identity.rs` finds whose it is, `memory.rs` asks memory,
//! the block is put into the bytes after the user's last words, the provider answers, and `pass.rs` hands its bytes on as
//! they come. When they have ended, `heard.rs` reads the copy and `capture.rs` keeps what was said. Whatever memory does,
//! the request goes on.

mod wire;
mod asked;
mod heard;
mod identity;
mod memory;
mod prefix;
mod capture;
mod pass;
mod models;
mod embeddings;
mod routes;
mod described;

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
    llm::remote::{Relay, Relayed, Tongue},
    prompt::Mark,
    types::Timestamp,
};
use serde_json::Value;
use tokio::{sync::Notify, task::JoinSet};

pub(crate) use described::complete;
pub(crate) use routes::{as_anthropic, as_openai, description, is_openai, routes};

use self::{
    asked::Asked,
    capture::Exchange,
    heard::heard,
    identity::Identity,
    memory::{Added, recollect},
    models::CHOSEN,
    pass::{Kept, to_client, to_provider},
    prefix::Prefix,
    wire::Wire,
};
use crate::{
    app::App,
    auth::{Access, Role},
    body::{check_type, whole},
    params::SCOPE,
    problem::Problem,
    recent::Recent,
    trace::Waiting,
};

/// A client that goes away is told nothing; logs call it so.
const GONE: u16 = 499;

/// Who answers what is passed on.
#[derive(Debug, Clone, Default)]
pub struct Providers {
    /// Who is asked as OpenAI is.
    pub openai: Option<Arc<Relay>>,
    /// Who is asked as Anthropic is.
    pub anthropic: Option<Arc<Relay>>,
    /// Who makes vectors; the first one where this is none.
    pub embedding: Option<Arc<Relay>>,
}

/// What requests have in common.
#[derive(Default)]
pub(crate) struct Proxy {
    /// When conversations began.
    beginnings: Recent<Timestamp>,
    /// What conversations began with when they were last passed on.
    prefixes: Recent<Mark>,
    /// The conversations of answers, where the provider keeps what was said.
    answers: Recent<String>,
    /// What is being kept now.
    under_way: Mutex<HashSet<String>>,
    /// Told whenever something is kept.
    kept: Notify,
    captures: Mutex<JoinSet<()>>,
}

impl Proxy {
    /// Marks something as being kept, once nobody else keeps it: what comes after it must not be kept before.
    async fn begin<'a>(&'a self, run: &'a str) -> Begun<'a> {
        loop {
            let mut kept = pin!(self.kept.notified());
            // From here on no end is missed.
            kept.as_mut().enable();
            match self.try_begin(run) {
                Some(begun) => return begun,
                None => kept.await,
            }
        }
    }

    /// The same; none if it is being kept already.
    fn try_begin<'a>(&'a self, run: &'a str) -> Option<Begun<'a>> {
        let mut under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        // Made only if it is new: one that is dropped here would wait for the lock that is held here.
        under_way.insert(run.to_owned()).then(|| Begun { proxy: self, run })
    }

    /// Does something while nobody waits for it.
    fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut captures = self.captures.lock().unwrap_or_else(PoisonError::into_inner);
        while captures.try_join_next().is_some() {}
        // A body may be dropped when the runtime is gone; then there is nobody to do it.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            captures.spawn_on(work, &runtime);
        }
    }

    /// Waits until everything is kept.
    pub(crate) async fn settle(&self) {
        let mut left =
            std::mem::take(&mut *self.captures.lock().unwrap_or_else(PoisonError::into_inner));
        while left.join_next().await.is_some() {}
    }
}

/// Something that is being kept.
struct Begun<'a> {
    proxy: &'a Proxy,
    run: &'a str,
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        let mut under_way = self.proxy.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        under_way.remove(self.run);
        drop(under_way);
        self.proxy.kept.notify_waiters();
    }
}

/// Passes a conversation on to its provider, with what memory knows, and keeps what is said.
async fn converse(wire: Wire, access: Access, request: Request) -> Result<Response, Problem> {
    let relay = provider(&access.app, wire.tongue())?;
    let (parts, body) = received(&access, request).await?;
    check_spending(&access, &parts)?;
    let asked = std::str::from_utf8(&body).ok().and_then(|text| Asked::read(wire, text));
    let identity = Identity::of(&access, &parts.headers, asked.as_ref())?;
    let at = access.app.engine.now().timestamp();
    let added = recollect(&identity, asked.as_ref()).await;
    let prefix = asked.as_ref().and_then(|asked| Prefix::note(asked, &identity, &added, &body));
    let sent = asked.as_ref().map(|asked| edited(wire, asked, &added, &relay, &body));
    let path = with_query(wire.path(), parts.uri.query());
    let reply = handed(&relay, &parts, &path, sent.unwrap_or(body)).await?;
    let kept = asked
        .filter(|_| reply.status.is_success())
        .map(|asked| keeping(wire, &reply, Exchange { identity: identity.clone(), asked, at }));
    let mut response = to_client(reply, kept);
    tell(&added, &identity.session, response.headers_mut());
    if let Some(prefix) = prefix {
        prefix.tell(response.headers_mut());
    }
    response.extensions_mut().insert(identity.access);
    Ok(response)
}

/// Passes anything else on.
async fn passed(relay: &Relay, path: &str, parts: &Parts, body: Bytes) -> Result<Relayed, Problem> {
    handed(relay, parts, &with_query(path, parts.uri.query()), body).await
}

/// The request's own body, whole.
async fn received(access: &Access, request: Request) -> Result<(Parts, Bytes), Problem> {
    let (parts, body) = request.into_parts();
    if parts.method != Method::GET {
        check_type(&parts.headers, "application/json")?;
    }
    let body = whole(body, access.app.options.max_body_bytes).await?;
    Ok((parts, body))
}

/// Who may only look does not spend the owner's money: they need a key of the provider.
fn check_spending(access: &Access, parts: &Parts) -> Result<(), Problem> {
    let (_, has_own_key) = to_provider(&parts.headers);
    if has_own_key { Ok(()) } else { access.check(Role::Write) }
}

/// Asks the provider, as long as the client waits.
async fn handed(relay: &Relay, parts: &Parts, path: &str, body: Bytes) -> Result<Relayed, Problem> {
    let (headers, own_key) = to_provider(&parts.headers);
    let sent = relay.send(parts.method.clone(), path, headers, own_key, body);
    let Some(mut waiting) = parts.extensions.get::<Waiting>().cloned() else {
        return Ok(sent.await?);
    };
    tokio::select! {
        reply = sent => Ok(reply.map_err(unreached)?),
        () = waiting.ended() => Err(gone()),
    }
}

fn unreached(error: Error) -> Problem {
    let problem = Problem::from(error);
    Problem { code: "provider_unreachable", ..problem }
}

fn gone() -> Problem {
    let status = StatusCode::from_u16(GONE).unwrap_or(StatusCode::BAD_REQUEST);
    Problem::new(status, "gone", "the client went away", "nobody reads this")
}

/// Who is asked in a tongue.
fn provider(app: &App, tongue: Tongue) -> Result<Arc<Relay>, Problem> {
    let providers = &app.options.providers;
    let (relay, detail) = match tongue {
        Tongue::Openai => (
            &providers.openai,
            "set provider, model and the key in the section [chat] of the settings, or run `everlore onboard`, then start the server again",
        ),
        Tongue::Anthropic => (
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
fn edited(wire: Wire, asked: &Asked, added: &Added, relay: &Relay, body: &Bytes) -> Bytes {
    let Ok(mut text) = std::str::from_utf8(body).map(str::to_owned) else { return body.clone() };
    let chosen =
        asked.model.as_ref().filter(|(name, _)| name == CHOSEN && !relay.model().is_empty());
    let block = match added {
        Added::Block(block) => asked.with_text(wire, &text, &block.text),
        _ => None,
    };
    let shift = |range: &std::ops::Range<usize>, grown: usize| match asked.is_after_place(range) {
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
    let ours = |pair: &&str| !SCOPE.iter().any(|name| pair.split('=').next() == Some(name));
    let kept: Vec<&str> = query.unwrap_or_default().split('&').filter(ours).collect();
    match kept.join("&") {
        empty if empty.is_empty() => path.to_owned(),
        query => format!("{path}?{query}"),
    }
}

/// What is done when the answer has gone by.
fn keeping(wire: Wire, reply: &Relayed, exchange: Exchange) -> Kept {
    let kind = reply.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let is_stream = kind.is_some_and(|kind| kind.starts_with("text/event-stream"));
    let app = exchange.identity.access.app.clone();
    Kept::new(move |bytes| {
        app.clone().proxy.spawn(async move { exchange.keep(heard(wire, is_stream, &bytes)).await });
    })
}

/// Says what was added, in figures and ids.
fn tell(added: &Added, session: &str, headers: &mut HeaderMap) {
    let mut say = |name: &'static str, value: &str| {
        // Names may be in any script; a header takes their bytes.
        if let Ok(value) = HeaderValue::from_bytes(value.as_bytes()) {
            headers.insert(name, value);
        }
    };
    say("x-everlore-memory", added.as_str());
    say("x-everlore-session", session);
    if let Added::Block(block) = added {
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
        let proxy = Proxy::default();
        let begun = proxy.begin("one").await;
        assert!(proxy.try_begin("one").is_none() && proxy.try_begin("two").is_some());
        let mut again = pin!(proxy.begin("one"));
        assert!(tokio::time::timeout(Duration::ZERO, &mut again).await.is_err());
        drop(begun);
        again.await;
        assert!(proxy.try_begin("one").is_some());
    }

    #[test]
    fn a_query_goes_on_without_whose_memory_is_meant() {
        assert_eq!(with_query("/p", None), "/p");
        assert_eq!(with_query("/p", Some("agent=a&user=b")), "/p");
        assert_eq!(with_query("/p", Some("beta=true&user=b&x=%20")), "/p?beta=true&x=%20");
    }
}
