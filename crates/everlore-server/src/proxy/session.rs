//! Whose conversation it is, which one, and what memory may do in it: by headers, then by what the body says.

use axum::http::HeaderMap;
use everlore::Scope;
use sha2::{Digest, Sha256};

use super::{capture::reply_key, request::ProxiedRequest};
use crate::{
    auth::{Access, KeyRole},
    problem::Problem,
    token::hex,
};

pub(super) const USER_HEADERS: [&str; 2] = ["x-memory-user", "x-sm-user-id"];
/// A project is kept apart like an agent until it has a layer of its own.
pub(super) const AGENT_HEADERS: [&str; 2] = ["x-memory-agent", "x-memory-project"];
pub(super) const SESSION_HEADERS: [&str; 2] = ["x-memory-session", "x-sm-conversation-id"];
pub(super) const MODE_HEADER: &str = "x-memory-mode";

/// A longer name of a conversation is used by its digest.
const MAX_SESSION_CHARS: usize = 100;

/// What memory does in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MemoryMode {
    /// Nothing.
    Off,
    /// Tells what it knows.
    Read,
    /// And keeps what is said.
    Full,
}

/// A conversation.
#[derive(Clone)]
pub(super) struct ProxySession {
    /// Whose memory.
    pub(super) access: Access,
    /// Its name.
    pub(super) session: String,
    /// What memory does.
    pub(super) mode: MemoryMode,
}

impl ProxySession {
    /// Who speaks in which conversation.
    pub(super) fn identify(
        access: &Access,
        headers: &HeaderMap,
        asked: Option<&ProxiedRequest>,
    ) -> Result<Self, Problem> {
        let agent = first_header(headers, &AGENT_HEADERS)?;
        // A key stands for its user, whatever a program tells its provider about them.
        let told = asked.filter(|_| access.caller.bound_scope.is_none());
        let told = told.and_then(|asked| asked.user.as_deref()).map(as_user_name);
        let user = first_header(headers, &USER_HEADERS)?.or(told);
        let access = access.with_scope(agent.as_deref(), user.as_deref())?;
        let session = first_header(headers, &SESSION_HEADERS)?
            .or_else(|| asked.and_then(|asked| asked.session.clone()))
            .or_else(|| previous_session(&access, asked?.previous_response.as_deref()?))
            .unwrap_or_else(|| {
                session_from_first_message(asked.map_or("", |asked| &asked.first_message))
            });
        Ok(Self {
            mode: memory_mode(headers, &access)?,
            access,
            session: bounded_session_name(session),
        })
    }
}

/// What a body calls its user, as a name of a memory: ids may hold what no name can, and stay apart by their digest.
fn as_user_name(user: &str) -> String {
    match Scope::new("default", user) {
        Ok(_) => user.to_owned(),
        Err(_) => format!("user-{}", short_digest(&[user])),
    }
}

/// The conversation of the answer that a request follows.
fn previous_session(access: &Access, answer: &str) -> Option<String> {
    access.app.proxy.reply_sessions.get(&reply_key(&access.scope, answer))
}

fn memory_mode(headers: &HeaderMap, access: &Access) -> Result<MemoryMode, Problem> {
    let asked = match first_header(headers, &[MODE_HEADER])?.as_deref() {
        None | Some("full") => MemoryMode::Full,
        Some("read") => MemoryMode::Read,
        Some("off") => MemoryMode::Off,
        Some(_) => {
            return Err(Problem::invalid(
                format!("{MODE_HEADER} has no such value"),
                "use off, read or full",
            ));
        }
    };
    let allowed =
        if access.caller.role >= KeyRole::Write { MemoryMode::Full } else { MemoryMode::Read };
    let on = access.app.engine.settings(access.scope.agent()).memory.enabled;
    Ok(if on { asked.min(allowed) } else { MemoryMode::Off })
}

/// The first of these headers that is there.
fn first_header(headers: &HeaderMap, names: &[&str]) -> Result<Option<String>, Problem> {
    let Some((name, value)) = names.iter().find_map(|name| Some((name, headers.get(*name)?)))
    else {
        return Ok(None);
    };
    // Clients send names in other scripts as their plain bytes.
    let text = std::str::from_utf8(value.as_bytes()).map_err(|_| {
        Problem::invalid(format!("the header {name} is not UTF-8"), "send it as UTF-8")
    })?;
    Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty()))
}

/// The name of a conversation that has none: clients send all of it each time, so its beginning tells it.
fn session_from_first_message(first: &str) -> String {
    format!("chat-{}", short_digest(&[first]))
}

fn bounded_session_name(session: String) -> String {
    let fits =
        session.chars().count() <= MAX_SESSION_CHARS && !session.chars().any(char::is_control);
    if fits { session } else { session_from_first_message(&session) }
}

/// A short digest of texts.
pub(super) fn short_digest(parts: &[&str]) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    }
    hex(&digest.finalize()[..8])
}
