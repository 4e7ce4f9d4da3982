//! Whose conversation it is, which one, and what memory may do in it: by headers, then by what the body says.

use axum::http::HeaderMap;
use everlore::Scope;
use sha2::{Digest, Sha256};

use super::{asked::Asked, capture::key};
use crate::{
    auth::{Access, Role},
    problem::Problem,
    token::hex,
};

pub(super) const USER: [&str; 2] = ["x-memory-user", "x-sm-user-id"];
/// A project is kept apart like an agent until it has a layer of its own.
pub(super) const AGENT: [&str; 2] = ["x-memory-agent", "x-memory-project"];
pub(super) const SESSION: [&str; 2] = ["x-memory-session", "x-sm-conversation-id"];
pub(super) const MODE: &str = "x-memory-mode";

/// A longer name of a conversation is used by its digest.
const MAX_SESSION_CHARS: usize = 100;

/// What memory does in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mode {
    /// Nothing.
    Off,
    /// Tells what it knows.
    Read,
    /// And keeps what is said.
    Full,
}

/// A conversation.
#[derive(Clone)]
pub(super) struct Identity {
    /// Whose memory.
    pub(super) access: Access,
    /// Its name.
    pub(super) session: String,
    /// What memory does.
    pub(super) mode: Mode,
}

impl Identity {
    /// Who speaks in which conversation.
    pub(super) fn of(
        access: &Access,
        headers: &HeaderMap,
        asked: Option<&Asked>,
    ) -> Result<Self, Problem> {
        let agent = one_of(headers, &AGENT)?;
        // A key stands for its user, whatever a program tells its provider about them.
        let told = asked.filter(|_| access.caller.only.is_none());
        let told = told.and_then(|asked| asked.user.as_deref()).map(usable);
        let user = one_of(headers, &USER)?.or(told);
        let access = access.of(agent.as_deref(), user.as_deref())?;
        let session = one_of(headers, &SESSION)?
            .or_else(|| asked.and_then(|asked| asked.session.clone()))
            .or_else(|| followed(&access, asked?.follows.as_deref()?))
            .unwrap_or_else(|| begun_with(asked.map_or("", |asked| &asked.first)));
        Ok(Self { mode: mode(headers, &access)?, access, session: named(session) })
    }
}

/// What a body calls its user, as a name of a memory: ids may hold what no name can, and stay apart by their digest.
fn usable(user: &str) -> String {
    match Scope::new("default", user) {
        Ok(_) => user.to_owned(),
        Err(_) => format!("user-{}", digest(&[user])),
    }
}

/// The conversation of the answer that a request follows.
fn followed(access: &Access, answer: &str) -> Option<String> {
    access.app.proxy.answers.get(&key(&access.scope, answer))
}

fn mode(headers: &HeaderMap, access: &Access) -> Result<Mode, Problem> {
    let asked = match one_of(headers, &[MODE])?.as_deref() {
        None | Some("full") => Mode::Full,
        Some("read") => Mode::Read,
        Some("off") => Mode::Off,
        Some(_) => {
            return Err(Problem::invalid(
                format!("{MODE} has no such value"),
                "use off, read or full",
            ));
        }
    };
    let allowed = if access.caller.role >= Role::Write { Mode::Full } else { Mode::Read };
    let on = access.app.engine.settings(access.scope.agent()).memory.enabled;
    Ok(if on { asked.min(allowed) } else { Mode::Off })
}

/// The first of these headers that is there.
fn one_of(headers: &HeaderMap, names: &[&str]) -> Result<Option<String>, Problem> {
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
fn begun_with(first: &str) -> String {
    format!("chat-{}", digest(&[first]))
}

fn named(session: String) -> String {
    let fits =
        session.chars().count() <= MAX_SESSION_CHARS && !session.chars().any(char::is_control);
    if fits { session } else { begun_with(&session) }
}

/// A short digest of texts.
pub(super) fn digest(parts: &[&str]) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    }
    hex(&digest.finalize()[..8])
}
