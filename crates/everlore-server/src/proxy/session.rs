//! Scope, session and memory mode of a proxied request: from headers, then from the body, then from its messages.

use axum::http::HeaderMap;
use everlore::Scope;
use sha2::{Digest, Sha256};

use super::{
    capture::reply_key,
    conversation::{NamedSession, session_by_content},
    request::ProxiedRequest,
};
use crate::{
    auth::{Access, KeyRole},
    problem::Problem,
    token::hex,
};

pub(super) const USER_HEADERS: [&str; 2] = ["x-memory-user", "x-sm-user-id"];
/// A project counts as an agent.
pub(super) const AGENT_HEADERS: [&str; 2] = ["x-memory-agent", "x-memory-project"];
pub(super) const SESSION_HEADERS: [&str; 2] = ["x-memory-session", "x-sm-conversation-id"];
pub(super) const MODE_HEADER: &str = "x-memory-mode";

/// Headers in which hosts name their conversation: Claude Code, Qwen Code, opencode, Codex, and what others use.
const HOST_SESSION_HEADERS: [&str; 12] = [
    "x-claude-code-session-id",
    "x-qwen-code-session-id",
    "x-opencode-session",
    "x-session-affinity",
    "session_id",
    "session-id",
    "conversation_id",
    "conversation-id",
    "x-codex-session-id",
    "x-session-id",
    "x-conversation-id",
    "x-thread-id",
];

/// Headers of requests by subagents and other helpers of a host: what stands there as the user's message is the words of
/// another model. Sources: Claude Code on the wire; Codex, codex-rs/core/src/client.rs.
const SUBAGENT_HEADERS: [&str; 3] =
    ["x-claude-code-agent-id", "x-openai-subagent", "x-openai-memgen-request"];

/// Longest session name; a longer one is replaced by its digest.
const MAX_SESSION_CHARS: usize = 100;

/// Use of memory in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MemoryMode {
    /// No memory.
    Off,
    /// Recall only.
    Read,
    /// Recall and capture.
    Full,
}

/// Session of a proxied request.
#[derive(Clone)]
pub(super) struct ProxySession {
    /// Caller and scope.
    pub(super) access: Access,
    /// Name of the session.
    pub(super) session: String,
    /// Part of the runs of its turns, beside their messages.
    pub(super) run_salt: String,
    /// Set for a request that the host or its subagent makes on its own account: it is only relayed.
    pub(super) is_side_request: bool,
    /// Use of memory.
    pub(super) mode: MemoryMode,
}

impl ProxySession {
    /// Identifies the session of a request.
    pub(super) async fn identify(
        access: &Access,
        headers: &HeaderMap,
        request: Option<&ProxiedRequest>,
    ) -> Result<Self, Problem> {
        let agent = first_header(headers, &AGENT_HEADERS)?;
        // A key stands for its user, whatever the client tells its provider about them.
        let user_in_body = request.filter(|_| access.caller.bound_scope.is_none());
        let user_in_body =
            user_in_body.and_then(|request| request.user.as_deref()).map(as_user_name);
        let user = first_header(headers, &USER_HEADERS)?.or(user_in_body);
        let access = access.with_scope(agent.as_deref(), user.as_deref())?;
        let is_from_subagent = SUBAGENT_HEADERS.iter().any(|name| headers.contains_key(*name));
        let is_side_request =
            is_from_subagent || request.is_some_and(|request| request.is_side_request);
        let named = match session_by_id(&access, headers, request)? {
            Some(id) => {
                let name = bounded_session_name(id);
                NamedSession { run_salt: name.clone(), name }
            }
            None => match request.filter(|_| !is_side_request) {
                Some(request) => session_from_messages(&access, request).await,
                None => NamedSession { name: "chat".to_owned(), run_salt: String::new() },
            },
        };
        let NamedSession { name: session, run_salt } = named;
        let mode = memory_mode(headers, &access)?;
        Ok(Self { access, session, run_salt, is_side_request, mode })
    }
}

/// Returns the id that the client, the host or the provider gives the conversation.
fn session_by_id(
    access: &Access,
    headers: &HeaderMap,
    request: Option<&ProxiedRequest>,
) -> Result<Option<String>, Problem> {
    let by_header = first_header(headers, &SESSION_HEADERS)?;
    let by_host = first_header(headers, &HOST_SESSION_HEADERS)?;
    let by_body = || request.and_then(|request| request.session.clone());
    let by_reply = || previous_session(access, request?.previous_response.as_deref()?);
    Ok(by_header.or_else(by_body).or(by_host).or_else(by_reply))
}

/// Finds the session by the messages. If the store fails, the messages alone name it: the request goes on.
async fn session_from_messages(access: &Access, request: &ProxiedRequest) -> NamedSession {
    session_by_content(access, request).await.unwrap_or_else(|error| {
        tracing::warn!(%error, "the conversation was not looked up");
        let link = request.chain.last().map_or("", String::as_str);
        NamedSession { name: format!("chat-{link}"), run_salt: String::new() }
    })
}

/// Turns the user of a body into a scope name; one that is no valid name is replaced by its digest.
fn as_user_name(user: &str) -> String {
    match Scope::new("default", user) {
        Ok(_) => user.to_owned(),
        Err(_) => format!("user-{}", short_digest(&[user])),
    }
}

/// Returns the session of the response that a request follows.
fn previous_session(access: &Access, response_id: &str) -> Option<String> {
    access.app.proxy.reply_sessions.get(&reply_key(&access.scope, response_id))
}

fn memory_mode(headers: &HeaderMap, access: &Access) -> Result<MemoryMode, Problem> {
    let requested = match first_header(headers, &[MODE_HEADER])?.as_deref() {
        None | Some("full") => MemoryMode::Full,
        Some("read") => MemoryMode::Read,
        Some("off") => MemoryMode::Off,
        Some(_) => {
            return Err(Problem::invalid(
                format!("unknown value of {MODE_HEADER}"),
                "use off, read or full",
            ));
        }
    };
    let allowed =
        if access.caller.role >= KeyRole::Write { MemoryMode::Full } else { MemoryMode::Read };
    let enabled = access.app.engine.settings(access.scope.agent()).memory.enabled;
    Ok(if enabled { requested.min(allowed) } else { MemoryMode::Off })
}

/// Returns the first of these headers that is present.
fn first_header(headers: &HeaderMap, names: &[&str]) -> Result<Option<String>, Problem> {
    let Some((name, value)) = names.iter().find_map(|name| Some((name, headers.get(*name)?)))
    else {
        return Ok(None);
    };
    // Clients send names in other scripts as plain bytes.
    let text = std::str::from_utf8(value.as_bytes()).map_err(|_| {
        Problem::invalid(format!("the header {name} is not UTF-8"), "send it as UTF-8")
    })?;
    Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty()))
}

fn bounded_session_name(session: String) -> String {
    let fits =
        session.chars().count() <= MAX_SESSION_CHARS && !session.chars().any(char::is_control);
    if fits { session } else { format!("chat-{}", short_digest(&[&session])) }
}

/// Returns a short digest of several texts.
pub(super) fn short_digest(parts: &[&str]) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    }
    hex(&digest.finalize()[..8])
}

/// Returns `true` for a cache key that names one conversation: Codex and opencode send its id, others a constant.
pub(super) fn is_session_id(key: &str) -> bool {
    let groups: Vec<&str> = key.split('-').collect();
    let is_hex = |group: &&str| group.chars().all(|c| c.is_ascii_hexdigit());
    let is_uuid = groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12]);
    is_uuid && groups.iter().all(is_hex)
        || ["ses_", "sess_", "conv_", "thread_"].iter().any(|prefix| key.starts_with(prefix))
}
