//! What a hook tells the model: the part of a prompt that stays the same, and what is worth knowing now.

use everlore::{
    RecallRequest,
    engine::PromptRequest,
    prompt::{Part, PartName},
    recall::Seen,
    types::Timestamp,
};

use super::{
    Call,
    asks::asks_enough,
    desk::{Given, digest},
    event::ends,
    host::MAX_CONTEXT_CHARS,
};
use crate::{
    failure::Result,
    server::{self, Told},
};

/// Characters of a message that are recalled for: what it asks is said at its beginning or at its end.
const MAX_QUERY_CHARS: usize = 800;

/// What stands between two parts of a prompt.
const BETWEEN: &str = "\n\n";

/// What is left out last, if not all of it fits.
const WORTH: [PartName; 6] = [
    PartName::User,
    PartName::Notes,
    PartName::Identity,
    PartName::Activity,
    PartName::Guide,
    PartName::Index,
];

/// The part of the prompt that stays the same; none if it says nothing, or was told in this conversation before.
pub(super) async fn beginning(call: &Call<'_>) -> Result<Option<String>> {
    let cx = call.cx;
    if call.desk.has_waiting() && !call.desk.is_storing() {
        // Left behind by a process that was killed.
        super::store::detach(cx, call.event.host, &[])?;
    }
    // The layers are files: no database is opened for them.
    let engine = cx.on_files();
    let prompt = engine.preview_prompt(&cx.scope, &PromptRequest::default()).await?;
    let head = fitting(&prompt.parts, call.event.host.max_tokens());
    if !call.event.is_resumed() {
        // Failing to write this down only means that something is told twice.
        let _ = call.changed(|known| {
            known.forget_told(cx.now().timestamp());
            Ok(())
        });
    }
    Ok(news(call, head))
}

/// What is worth knowing for a message.
pub(super) async fn for_message(call: &Call<'_>, message: &str) -> Result<Option<String>> {
    match asks_enough(message) {
        true => recalled(call, &ends(message, MAX_QUERY_CHARS)).await,
        false => Ok(None),
    }
}

/// What is known about the failure of a tool.
pub(super) async fn for_failure(call: &Call<'_>) -> Result<Option<String>> {
    match call.event.failure() {
        Some(failure) => recalled(call, &failure).await,
        None => Ok(None),
    }
}

/// The block for a query, by the server of the home or from its files; none if there is nothing to tell that is new.
async fn recalled(call: &Call<'_>, query: &str) -> Result<Option<String>> {
    let most = call.cx.agent_config().memory.inject.token_budget;
    let mut budget = most.min(call.event.host.max_tokens());
    let (mut block, mut given) = block(call, query, budget).await?;
    if block.chars().count() > MAX_CONTEXT_CHARS {
        // Tokens are counted high, so what holds for the whole holds for a part of it.
        budget = budget * (MAX_CONTEXT_CHARS * 9 / 10) / block.chars().count();
        (block, given) = self::block(call, query, budget).await?;
    }
    let fits = block.chars().count() <= MAX_CONTEXT_CHARS;
    // Where all of it is held out, there is nothing to tell, and something to write down.
    let is_held_out = block.is_empty();
    let told = news(call, if fits { block } else { String::new() });
    if let Some(given) = given.filter(|_| told.is_some() || is_held_out) {
        note(call, query, &given);
    }
    Ok(told)
}

/// Puts down what a prompt was given. Where that cannot be done, it is only not learned from.
fn note(call: &Call<'_>, query: &str, given: &Given) {
    let run = format!("hook-{}", digest(&[&call.session, query, &given.prompted.at.to_string()]));
    if let Err(error) = call.desk.put_given(&run, given) {
        tracing::warn!("{error}: what a prompt was given is not written down");
    }
}

/// The block, with what it gives, unless a server has written that down.
async fn block(call: &Call<'_>, query: &str, budget: usize) -> Result<(String, Option<Given>)> {
    let cx = call.cx;
    if !cx.database().exists() {
        return Ok((String::new(), None));
    }
    // Where nothing can be written, everything that was said counts as seen.
    let since = call.changed(|known| Ok(known.seen_since())).unwrap_or(Timestamp::UNIX_EPOCH);
    let told = Told { budget, session: &call.session, since };
    if let Some(block) = server::context(cx, query, &told) {
        return Ok((block, None));
    }
    // A hook ends when its time is up, and would leave a command running.
    let engine = cx.engine().await?.clone().without_commands();
    let seen = Some(Seen { session: call.session.clone(), since, texts: None });
    let request = RecallRequest { seen, ..engine.context_request(&cx.scope, query) };
    let (block, prompted) = engine.inject_unnoted(&request, budget, &call.session).await?;
    let given = Given { scope: cx.scope.clone(), prompted };
    Ok((block.text, Some(given).filter(|given| !given.prompted.memories.is_empty())))
}

/// A text, unless it is empty or the model saw it in this conversation.
fn news(call: &Call<'_>, text: String) -> Option<String> {
    if text.trim().is_empty() {
        return None;
    }
    // Where nothing can be written down, telling it again is better than not at all.
    let new = call.changed(|known| Ok(known.is_news(&text))).unwrap_or(true);
    new.then_some(text)
}

/// Those parts that fit, the ones of most worth first, in the order of a prompt.
fn fitting(parts: &[Part], max_tokens: usize) -> String {
    let mut kept: Vec<&Part> = Vec::new();
    let (mut chars, mut tokens) = (0, 0);
    for part in WORTH.iter().filter_map(|name| parts.iter().find(|part| part.name == *name)) {
        let (more, dearer) = (part.chars + BETWEEN.len(), tokens + part.tokens);
        if chars + more <= MAX_CONTEXT_CHARS && dearer <= max_tokens {
            (chars, tokens) = (chars + more, dearer);
            kept.push(part);
        }
    }
    let texts = parts.iter().filter(|part| kept.iter().any(|kept| kept.name == part.name));
    texts.map(|part| part.text.as_str()).collect::<Vec<_>>().join(BETWEEN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(name: PartName, chars: usize) -> Part {
        let text = name.as_str().chars().cycle().take(chars).collect();
        Part { name, text, chars, tokens: chars / 4, cut_chars: 0 }
    }

    #[test]
    fn what_does_not_fit_is_left_out_as_a_whole_and_the_user_stays() {
        let parts = [
            part(PartName::Identity, 4_000),
            part(PartName::User, 5_000),
            part(PartName::Notes, 4_500),
            part(PartName::Guide, 300),
        ];
        let head = fitting(&parts, usize::MAX);
        assert!(head.starts_with("user") && head.chars().count() <= MAX_CONTEXT_CHARS);
        assert!(head.contains("notes") && head.contains("guide") && !head.contains("identity"));
        assert_eq!(fitting(&parts, 100), parts[3].text);
    }
}
