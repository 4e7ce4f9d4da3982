//! What a hook tells the model: the part of a prompt that stays the same, and what is worth knowing now.

use everlore::{
    RecallRequest,
    engine::PromptRequest,
    prompt::{PromptPart, PromptPartName},
    recall::VisibleContext,
    types::Timestamp,
};

use super::{
    HookCall,
    classify::is_long_enough,
    event::elide_middle,
    host::MAX_CONTEXT_CHARS,
    spool::{InjectionRecord, digest},
};
use crate::{
    error::Result,
    server_client::{self, ContextRequest},
};

/// Characters of a message that are recalled for: what it asks is said at its beginning or at its end.
const MAX_QUERY_CHARS: usize = 800;

/// What stands between two parts of a prompt.
const PART_SEPARATOR: &str = "\n\n";

/// What is left out last, if not all of it fits.
const PART_PRIORITY: [PromptPartName; 6] = [
    PromptPartName::User,
    PromptPartName::Notes,
    PromptPartName::Identity,
    PromptPartName::Activity,
    PromptPartName::Guide,
    PromptPartName::Index,
];

/// The part of the prompt that stays the same; none if it says nothing, or was told in this conversation before.
pub(super) async fn for_session_start(call: &HookCall<'_>) -> Result<Option<String>> {
    let cx = call.cx;
    if call.spool.has_pending() && !call.spool.is_draining() {
        // Left behind by a process that was killed.
        super::drain::spawn_drain(cx, call.event.host, &[])?;
    }
    // The layers are files: no database is opened for them.
    let engine = cx.files_only_engine();
    let prompt = engine.preview_prompt(&cx.scope, &PromptRequest::default()).await?;
    let head = fit_parts(&prompt.parts, call.event.host.max_context_tokens());
    if !call.event.is_resumed() {
        // Failing to write this down only means that something is told twice.
        let _ = call.update_conversation(|known| {
            known.forget_injected(cx.now().timestamp());
            Ok(())
        });
    }
    Ok(unless_repeated(call, head))
}

/// What is worth knowing for a message.
pub(super) async fn for_prompt(call: &HookCall<'_>, message: &str) -> Result<Option<String>> {
    match is_long_enough(message) {
        true => recall_block(call, &elide_middle(message, MAX_QUERY_CHARS)).await,
        false => Ok(None),
    }
}

/// What is known about the failure of a tool.
pub(super) async fn for_tool_error(call: &HookCall<'_>) -> Result<Option<String>> {
    match call.event.tool_error() {
        Some(failure) => recall_block(call, &failure).await,
        None => Ok(None),
    }
}

/// The block for a query, by the server of the home or from its files; none if there is nothing to tell that is new.
async fn recall_block(call: &HookCall<'_>, query: &str) -> Result<Option<String>> {
    let most = call.cx.agent_config().memory.inject.token_budget;
    let mut budget = most.min(call.event.host.max_context_tokens());
    let (mut block, mut given) = build_block(call, query, budget).await?;
    if block.chars().count() > MAX_CONTEXT_CHARS {
        // Tokens are counted high, so what holds for the whole holds for a part of it.
        budget = budget * (MAX_CONTEXT_CHARS * 9 / 10) / block.chars().count();
        (block, given) = self::build_block(call, query, budget).await?;
    }
    let fits = block.chars().count() <= MAX_CONTEXT_CHARS;
    // Where all of it is held out, there is nothing to tell, and something to write down.
    let is_held_out = block.is_empty();
    let told = unless_repeated(call, if fits { block } else { String::new() });
    if let Some(given) = given.filter(|_| told.is_some() || is_held_out) {
        spool_injection(call, query, &given);
    }
    Ok(told)
}

/// Puts down what a prompt was given. Where that cannot be done, it is only not learned from.
fn spool_injection(call: &HookCall<'_>, query: &str, given: &InjectionRecord) {
    let run = format!("hook-{}", digest(&[&call.session, query, &given.prompted.at.to_string()]));
    if let Err(error) = call.spool.put_injection(&run, given) {
        tracing::warn!("{error}: what a prompt was given is not written down");
    }
}

/// The block, with what it gives, unless a server has written that down.
async fn build_block(
    call: &HookCall<'_>,
    query: &str,
    budget: usize,
) -> Result<(String, Option<InjectionRecord>)> {
    let cx = call.cx;
    if !cx.database_path().exists() {
        return Ok((String::new(), None));
    }
    // Where nothing can be written, everything that was said counts as seen.
    let since = call
        .update_conversation(|known| Ok(known.visible_since()))
        .unwrap_or(Timestamp::UNIX_EPOCH);
    let told = ContextRequest { budget, session: &call.session, visible_since: since };
    if let Some(block) = server_client::fetch_context(cx, query, &told) {
        return Ok((block, None));
    }
    // A hook ends when its time is up, and would leave a command running.
    let engine = cx.engine().await?.clone().without_commands();
    let seen = Some(VisibleContext { session: call.session.clone(), since, texts: None });
    let request = RecallRequest { visible: seen, ..engine.context_request(&cx.scope, query) };
    let (block, prompted) = engine.inject_deferred(&request, budget, &call.session).await?;
    let given = InjectionRecord { scope: cx.scope.clone(), prompted };
    Ok((block.text, Some(given).filter(|given| !given.prompted.memories.is_empty())))
}

/// A text, unless it is empty or the model saw it in this conversation.
fn unless_repeated(call: &HookCall<'_>, text: String) -> Option<String> {
    if text.trim().is_empty() {
        return None;
    }
    // Where nothing can be written down, telling it again is better than not at all.
    let new = call.update_conversation(|known| Ok(known.record_if_new(&text))).unwrap_or(true);
    new.then_some(text)
}

/// Those parts that fit, the ones of most worth first, in the order of a prompt.
fn fit_parts(parts: &[PromptPart], max_tokens: usize) -> String {
    let mut kept: Vec<&PromptPart> = Vec::new();
    let (mut chars, mut tokens) = (0, 0);
    for part in PART_PRIORITY.iter().filter_map(|name| parts.iter().find(|part| part.name == *name))
    {
        let (more, dearer) = (part.chars + PART_SEPARATOR.len(), tokens + part.tokens);
        if chars + more <= MAX_CONTEXT_CHARS && dearer <= max_tokens {
            (chars, tokens) = (chars + more, dearer);
            kept.push(part);
        }
    }
    let texts = parts.iter().filter(|part| kept.iter().any(|kept| kept.name == part.name));
    texts.map(|part| part.text.as_str()).collect::<Vec<_>>().join(PART_SEPARATOR)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(name: PromptPartName, chars: usize) -> PromptPart {
        let text = name.as_str().chars().cycle().take(chars).collect();
        PromptPart { name, text, chars, tokens: chars / 4, cut_chars: 0 }
    }

    #[test]
    fn what_does_not_fit_is_left_out_as_a_whole_and_the_user_stays() {
        let parts = [
            part(PromptPartName::Identity, 4_000),
            part(PromptPartName::User, 5_000),
            part(PromptPartName::Notes, 4_500),
            part(PromptPartName::Guide, 300),
        ];
        let head = fit_parts(&parts, usize::MAX);
        assert!(head.starts_with("user") && head.chars().count() <= MAX_CONTEXT_CHARS);
        assert!(head.contains("notes") && head.contains("guide") && !head.contains("identity"));
        assert_eq!(fit_parts(&parts, 100), parts[3].text);
    }
}
