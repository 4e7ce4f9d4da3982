//! Context that a hook injects: the layers at the start of a session, relevant memories for a prompt or a failed tool.

use std::time::Duration;

use everlore::{
    RecallRequest,
    engine::{PromptPart, PromptPartName, PromptRequest, VisibleContext, render_reminders},
    types::Timestamp,
};

use super::{
    call::HookCall,
    classify::is_long_enough,
    event::shorten_query,
    host::MAX_CONTEXT_CHARS,
    spool::{InjectionRecord, digest},
};
use crate::{
    error::Result,
    server_client::{self, FetchContextRequest},
};

/// Characters of a message that are recalled for: its question is at the beginning or at the end.
const MAX_QUERY_CHARS: usize = 800;

/// Time for the database to tell which layers changed: a hook must answer within two seconds.
const MAX_REFRESH_TIME: Duration = Duration::from_millis(800);

/// Separator between two parts of a prompt.
const PART_SEPARATOR: &str = "\n\n";

/// Parts by importance: the first one is left out last if not all fit.
const PART_PRIORITY: [PromptPartName; 7] = [
    PromptPartName::User,
    PromptPartName::Notes,
    PromptPartName::Identity,
    PromptPartName::Activity,
    PromptPartName::Skills,
    PromptPartName::Guide,
    PromptPartName::Index,
];

/// Returns the layers, guide, index and skills, unless this conversation has them already, and the reminders that are due; `None`
/// if all of it is empty.
pub(super) async fn for_session_start(call: &HookCall<'_>) -> Result<Option<String>> {
    let cx = call.cx;
    if call.spool.has_pending() && !call.spool.is_draining() {
        // A process that was killed left entries behind.
        super::drain::spawn_drain(cx, call.event.host, &[])?;
    }
    if cx.store.is_server() {
        // It copies layers that changed. Without the database the copies of an earlier time are better than nothing.
        let _ = tokio::time::timeout(MAX_REFRESH_TIME, cx.engine()).await;
    }
    // Layers are files: rendering them opens no database.
    let engine = cx.files_only_engine();
    let prompt = engine.preview_prompt(&cx.scope, &PromptRequest::default()).await?;
    let head = fit_parts(&prompt.parts, call.event.host.max_context_tokens());
    let reminders = due_reminders(call).await;
    if !call.event.is_resumed() {
        // If that fails, a block is injected twice at worst.
        let _ = call.update_conversation(|state| {
            state.start_visible_context(cx.now().timestamp());
            Ok(())
        });
    }
    let head = unless_repeated(call, head);
    Ok(match (head, reminders.is_empty()) {
        (head, true) => head,
        (None, false) => Some(reminders),
        (Some(head), false) => Some(format!("{head}{PART_SEPARATOR}{reminders}")),
    })
}

/// Takes the reminders that are due, to tell them in this session. A session begins without them if the database does not
/// answer in time; then they are told at the next chance.
async fn due_reminders(call: &HookCall<'_>) -> String {
    let cx = call.cx;
    if cx.store.is_missing() {
        return String::new();
    }
    let Ok(Ok(engine)) = tokio::time::timeout(MAX_REFRESH_TIME, cx.engine()).await else {
        return String::new();
    };
    // No time limit from here on: what is taken must be told.
    match engine.due_reminders(&cx.scope).await {
        Ok(due) => render_reminders(&due, cx.language()),
        Err(error) => {
            tracing::warn!("{error}: reminders were not looked up");
            String::new()
        }
    }
}

/// Returns the memories that are relevant for a user message.
pub(super) async fn for_prompt(call: &HookCall<'_>, message: &str) -> Result<Option<String>> {
    if is_long_enough(message) && !is_first_prompt_kept_empty(call) {
        recall_block(call, &RecallCause::Message(shorten_query(message, MAX_QUERY_CHARS))).await
    } else {
        Ok(None)
    }
}

/// Returns `true` if the settings keep the first message of a conversation free of memories, and this is it.
fn is_first_prompt_kept_empty(call: &HookCall<'_>) -> bool {
    // The message is counted before its memories are recalled. On a read-only disk none is.
    let prompts = || call.update_conversation(|state| Ok(state.prompts)).unwrap_or(0);
    call.cx.agent_config().memory.inject.first_round_empty && prompts() <= 1
}

/// Returns the cures of the error of a tool, and those of near failures.
pub(super) async fn for_tool_error(call: &HookCall<'_>, error: &str) -> Result<Option<String>> {
    recall_block(call, &RecallCause::ToolError(error.to_owned())).await
}

/// Text that a hook recalls for.
enum RecallCause {
    Message(String),
    ToolError(String),
}

impl RecallCause {
    fn text(&self) -> &str {
        match self {
            Self::Message(text) | Self::ToolError(text) => text,
        }
    }
}

/// Recalls a block and spools the injection record; `None` if nothing new is relevant.
async fn recall_block(call: &HookCall<'_>, cause: &RecallCause) -> Result<Option<String>> {
    let configured = call.cx.agent_config().memory.inject.token_budget;
    let mut budget = configured.min(call.event.host.max_context_tokens());
    let (mut block, mut record) = build_block(call, cause, budget).await?;
    if block.chars().count() > MAX_CONTEXT_CHARS {
        // Tokens are estimated high, so the ratio of the whole also holds for a part.
        budget = budget * (MAX_CONTEXT_CHARS * 9 / 10) / block.chars().count();
        (block, record) = build_block(call, cause, budget).await?;
    }
    let fits = block.chars().count() <= MAX_CONTEXT_CHARS;
    // If all memories are held out, the block is empty and the record is still needed.
    let is_held_out = block.is_empty();
    let context = unless_repeated(call, if fits { block } else { String::new() });
    if let Some(record) = record.filter(|_| context.is_some() || is_held_out) {
        spool_injection(call, cause.text(), &record);
    }
    Ok(context)
}

/// Spools an injection record. If that fails, nothing is learned from this prompt.
fn spool_injection(call: &HookCall<'_>, query: &str, record: &InjectionRecord) {
    let run = format!("hook-{}", digest(&[&call.session, query, &record.injection.at.to_string()]));
    if let Err(error) = call.spool.put_injection(&run, record) {
        tracing::warn!("{error}: an injection was not recorded");
    }
}

/// Builds the block, on the running server of the home or from its files. The server records the injection itself.
async fn build_block(
    call: &HookCall<'_>,
    cause: &RecallCause,
    budget: usize,
) -> Result<(String, Option<InjectionRecord>)> {
    let cx = call.cx;
    let (query, is_failure) = (cause.text(), matches!(cause, RecallCause::ToolError(_)));
    if cx.store.is_missing() {
        return Ok((String::new(), None));
    }
    // On a read-only disk, all turns of the session count as visible.
    let since = call
        .update_conversation(|state| Ok(state.visible_since()))
        .unwrap_or(Timestamp::UNIX_EPOCH);
    let fetch =
        FetchContextRequest { budget, session: &call.session, visible_since: since, is_failure };
    // A server cannot know of earlier messages that are still in the spool.
    let counts_rounds = cx.agent_config().memory.inject.first_round_empty;
    if !counts_rounds && let Some(block) = server_client::fetch_context(cx, query, &fetch) {
        return Ok((block, None));
    }
    // A hook may end at any moment and would leave a check command running.
    let engine = cx.engine().await?.clone().without_commands();
    let visible = Some(VisibleContext::Session { session: call.session.clone(), since });
    let request = engine.context_request(&cx.scope, query);
    let request =
        RecallRequest { visible, is_later_round: true, only_cures: is_failure, ..request };
    let (block, injection) = engine.inject_deferred(&request, budget, &call.session).await?;
    let record = InjectionRecord { scope: cx.scope.clone(), injection };
    Ok((block.text, Some(record).filter(|record| !record.injection.memories.is_empty())))
}

/// Returns the text, unless it is empty or the model sees it in this conversation already.
fn unless_repeated(call: &HookCall<'_>, text: String) -> Option<String> {
    if text.trim().is_empty() {
        return None;
    }
    // If the state cannot be written, repeating a block is better than omitting it.
    let is_new = call.update_conversation(|state| Ok(state.record_if_new(&text))).unwrap_or(true);
    is_new.then_some(text)
}

/// Chooses the parts that fit, by importance, and joins them in the order of a prompt.
fn fit_parts(parts: &[PromptPart], max_tokens: usize) -> String {
    let mut chosen: Vec<&PromptPart> = Vec::new();
    let (mut chars, mut tokens) = (0, 0);
    for part in PART_PRIORITY.iter().filter_map(|name| parts.iter().find(|part| part.name == *name))
    {
        let (all_chars, all_tokens) =
            (chars + part.chars + PART_SEPARATOR.len(), tokens + part.tokens);
        if all_chars <= MAX_CONTEXT_CHARS && all_tokens <= max_tokens {
            (chars, tokens) = (all_chars, all_tokens);
            chosen.push(part);
        }
    }
    let texts = parts.iter().filter(|part| chosen.iter().any(|other| other.name == part.name));
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

    #[test]
    fn every_part_of_a_prompt_but_the_callers_own_has_a_place() {
        let names = PromptPartName::ALL.iter().filter(|name| **name != PromptPartName::Base);
        for name in names {
            assert!(fit_parts(&[part(*name, 40)], usize::MAX).contains(name.as_str()), "{name}");
        }
    }
}
