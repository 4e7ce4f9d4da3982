//! Conversations without an id: named by their content as it grows.
//!
//! A client without ids sends its whole history with each question. Each message has a digest of all up to it, a *link*;
//! a request belongs to the session that knows its longest beginning, unless that session has gone on differently: two
//! conversations that both begin with "hi" part where their messages do. Links are the runs of stored turns in the
//! journal, so that a conversation survives a restart of the server.

use everlore::{
    MemoryId,
    store::{JournalQuery, ListOrder, ListQuery, MemoryFilter},
    types::{Fingerprint, Kind, Role},
};

use super::{
    request::{MessageAuthor, ProxiedRequest},
    session::short_digest,
};
use crate::{auth::Access, fifo_cache::FifoCache};

/// Links that are looked up in the journal, the latest first: a client that goes on after a restart sends the question
/// before, and one that removed an exchange or two sends an earlier one.
const MAX_LOOKUPS: usize = 4;

/// Newest turns of a session among which its last question is.
const HEAD_TURNS: usize = 4;

/// Conversations of this process.
#[derive(Default)]
pub(super) struct ConversationIndex {
    /// Session by scope and link.
    sessions: FifoCache<String>,
    /// Link of the last question by scope and session.
    heads: FifoCache<String>,
}

/// Session that a request belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NamedSession {
    pub(super) name: String,
    /// Part of the runs of its turns that tells it from a conversation with the same messages; empty if the messages
    /// alone tell.
    pub(super) run_salt: String,
}

/// Returns the link of each message.
pub(super) fn chain_links<'a>(
    messages: impl IntoIterator<Item = (MessageAuthor, &'a str)>,
) -> Vec<String> {
    let mut links: Vec<String> = Vec::new();
    for (author, text) in messages {
        let author = if author == MessageAuthor::User { "user" } else { "assistant" };
        let before = links.last().map_or("", String::as_str);
        links.push(short_digest(&[before, author, text.trim()]));
    }
    links
}

/// Returns the run of a user's turn with this link.
pub(super) fn turn_run(access: &Access, salt: &str, role: Role, link: &str) -> String {
    let role = match role {
        Role::User => "user",
        Role::Tool => "tool",
        Role::Assistant | Role::System => "assistant",
    };
    let parts = [access.scope.agent(), access.scope.user(), salt, role, link];
    format!("proxy-{}", short_digest(&parts))
}

/// Finds the session of a request by its messages, and records that the session has come this far.
pub(super) async fn session_by_content(
    access: &Access,
    request: &ProxiedRequest,
) -> everlore::Result<NamedSession> {
    let index = &access.app.proxy.conversations;
    let Some(question) = request.chain.last() else {
        return Ok(NamedSession { name: "chat".to_owned(), run_salt: String::new() });
    };
    let known = find_known(access, &request.chain).await?;
    let session = match known {
        // The same question again: a retry, another answer, or a tool loop. A first message may begin a new talk.
        Some((at, session)) if at + 1 == request.chain.len() && at > 0 => session,
        Some((_, session)) if has_come_from(access, &session, request).await? => session,
        Some((at, _)) if at + 1 == request.chain.len() => {
            let now = access.app.engine.now().timestamp().as_nanosecond().to_string();
            let name = format!("chat-{}", short_digest(&[question, &now]));
            NamedSession { run_salt: name.clone(), name }
        }
        _ => NamedSession { name: format!("chat-{question}"), run_salt: String::new() },
    };
    index.sessions.put(scoped(access, question), session.name.clone());
    index.heads.put(scoped(access, &session.name), question.clone());
    Ok(session)
}

/// Returns the longest known beginning: the index of its link, and its session.
async fn find_known(
    access: &Access,
    chain: &[String],
) -> everlore::Result<Option<(usize, NamedSession)>> {
    let index = &access.app.proxy.conversations;
    let in_memory = chain.iter().enumerate().rev().find_map(|(at, link)| {
        let name = index.sessions.get(&scoped(access, link))?;
        Some((at, NamedSession { run_salt: salt_of(&name, chain), name }))
    });
    if in_memory.is_some() {
        return Ok(in_memory);
    }
    for (at, link) in chain.iter().enumerate().rev().take(2 * MAX_LOOKUPS) {
        let run = turn_run(access, "", Role::User, link);
        if let Some(name) = stored_session(access, run).await? {
            return Ok(Some((at, NamedSession { name, run_salt: String::new() })));
        }
    }
    Ok(None)
}

/// Returns the salt of a session's runs in its first exchange, if its name has one.
fn salt_of(name: &str, chain: &[String]) -> String {
    let is_first = chain.len() == 1;
    let is_plain = chain.iter().any(|link| name.strip_prefix("chat-") == Some(link));
    if is_first && !is_plain { name.to_owned() } else { String::new() }
}

/// Returns the session of the turn that a run stored.
async fn stored_session(access: &Access, run: String) -> everlore::Result<Option<String>> {
    let (engine, scope) = (&access.app.engine, &access.scope);
    let query = JournalQuery { run: Some(run), limit: Some(1), ..JournalQuery::default() };
    let Some(entry) = engine.history(scope, &query).await?.pop() else { return Ok(None) };
    let ids: [MemoryId; 1] = [entry.id];
    Ok(engine.get_many(scope, &ids).await?.pop().and_then(|turn| turn.source.session))
}

/// Returns `true` if the last question of a session is part of the request, so that the request goes on from there.
async fn has_come_from(
    access: &Access,
    session: &NamedSession,
    request: &ProxiedRequest,
) -> everlore::Result<bool> {
    let head = access.app.proxy.conversations.heads.get(&scoped(access, &session.name));
    if let Some(head) = head {
        return Ok(request.chain.contains(&head));
    }
    let filter = MemoryFilter {
        kinds: vec![Kind::Turn],
        session: Some(session.name.clone()),
        ..MemoryFilter::default()
    };
    let page = ListQuery { filter, after: None, order: ListOrder::NewestFirst, limit: HEAD_TURNS };
    let turns = access.app.engine.list(&access.scope, &page).await?;
    let last = turns.iter().find(|turn| turn.source.role == Some(Role::User));
    let shows = |text: &String| last.map(|turn| turn.fingerprint()) == Some(Fingerprint::of(text));
    Ok(request.transcript.iter().any(shows) || shows(&request.question))
}

fn scoped(access: &Access, key: &str) -> String {
    format!("{}\n{key}", access.scope)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_stands_for_all_messages_up_to_it() {
        let links =
            |texts: &[&str]| chain_links(texts.iter().map(|text| (MessageAuthor::User, *text)));
        let (one, other) = (links(&["hi", "a", "b"]), links(&["hi", "a", "c"]));
        assert_eq!(one[..2], other[..2]);
        assert_ne!(one[2], other[2]);
        assert_ne!(links(&["a", "hi"])[1], links(&["hi", "a"])[1]);
        assert_ne!(chain_links([(MessageAuthor::Model, "hi")]), links(&["hi"]));
    }
}
