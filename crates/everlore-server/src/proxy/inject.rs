//! What memory adds to a question: within a limit of time, and never at the price of the answer.

use std::time::Duration;

use everlore::{
    MemoryBlock, RecallRequest,
    recall::VisibleContext,
    store::{ListOrder, ListQuery, MemoryFilter},
    types::{Fingerprint, Kind, Timestamp},
};

use super::{
    request::ProxiedRequest,
    session::{MemoryMode, ProxySession},
};

/// Somebody waits for the answer: what is not found by then is left out. A model on another server that makes the vector of
/// the question has 0.3 seconds by default.
const MAX_RECALL_TIME: Duration = Duration::from_secs(2);

/// Of a longer question its end is looked up, where people ask after what they pasted.
const MAX_QUERY_CHARS: usize = 4_000;

/// What came of asking memory.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum InjectionOutcome {
    /// This is to be told.
    Block(MemoryBlock),
    /// It was asked, and knows nothing of worth.
    Nothing,
    /// It was not asked, because it is switched off, for this request or by the settings.
    Off,
    /// It was not asked, because the model is at work with its tools.
    ToolLoop,
    /// It was not asked, because the request could not be read.
    Unparsed,
    /// It failed, or was too slow.
    Failed,
}

impl InjectionOutcome {
    /// The word for it in a header.
    pub(super) fn as_str(&self) -> &'static str {
        match self {
            Self::Block(_) => "added",
            Self::Nothing => "nothing",
            Self::Off => "off",
            Self::ToolLoop => "tool-loop",
            Self::Unparsed => "unread",
            Self::Failed => "failed",
        }
    }
}

/// Asks memory about the question of a request.
pub(super) async fn recall_for_request(
    identity: &ProxySession,
    asked: Option<&ProxiedRequest>,
) -> InjectionOutcome {
    let Some(asked) = asked else { return InjectionOutcome::Unparsed };
    if identity.mode == MemoryMode::Off {
        return InjectionOutcome::Off;
    }
    if asked.in_tool_loop {
        return InjectionOutcome::ToolLoop;
    }
    match tokio::time::timeout(MAX_RECALL_TIME, recall_block(identity, asked)).await {
        Ok(Ok(block)) if block.text.is_empty() => InjectionOutcome::Nothing,
        Ok(Ok(block)) => InjectionOutcome::Block(block),
        Ok(Err(error)) => {
            tracing::warn!(%error, "memory failed; the request goes on without");
            InjectionOutcome::Failed
        }
        Err(_) => {
            tracing::warn!("memory was too slow; the request goes on without");
            InjectionOutcome::Failed
        }
    }
}

async fn recall_block(
    identity: &ProxySession,
    asked: &ProxiedRequest,
) -> everlore::Result<MemoryBlock> {
    let (engine, scope) = (identity.access.engine(), &identity.access.scope);
    let budget = engine.settings(scope.agent()).memory.inject.token_budget;
    // What the conversation still holds need not be told.
    let goes_on = asked.message_count > 1 || asked.previous_response.is_some();
    let turns_until = if goes_on { session_start(identity).await? } else { None };
    let filter = MemoryFilter { turns_until, ..MemoryFilter::default() };
    let request = engine.context_request(scope, query_tail(&asked.question));
    let texts = asked.transcript.iter().map(|text| Fingerprint::of(text)).collect();
    let seen = turns_until.map(|since| VisibleContext {
        session: identity.session.clone(),
        since,
        texts: Some(texts),
    });
    let request = RecallRequest { filter, visible: seen, ..request };
    match identity.mode {
        MemoryMode::Full => engine.inject(&request, budget, &identity.session).await,
        MemoryMode::Read | MemoryMode::Off => engine.context(&request, budget).await,
    }
}

/// When the first turn of the conversation was said.
async fn session_start(identity: &ProxySession) -> everlore::Result<Option<Timestamp>> {
    let (access, session) = (&identity.access, &identity.session);
    let known = &access.app.proxy.session_starts;
    let key = format!("{}\n{session}", access.scope);
    if let Some(at) = known.get(&key) {
        return Ok(Some(at));
    }
    let filter = MemoryFilter {
        kinds: vec![Kind::Turn],
        session: Some(session.clone()),
        ..MemoryFilter::default()
    };
    let page = ListQuery { filter, after: None, order: ListOrder::OldestFirst, limit: 1 };
    let first = access.app.engine.list(&access.scope, &page).await?;
    let at = first.first().map(|turn| turn.at);
    if let Some(at) = at {
        known.put(key, at);
    }
    Ok(at)
}

fn query_tail(question: &str) -> &str {
    let skipped = question.chars().count().saturating_sub(MAX_QUERY_CHARS);
    let start = question.char_indices().nth(skipped).map_or(0, |(start, _)| start);
    &question[start..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_text_the_end_is_looked_up() {
        assert_eq!(query_tail("茶？"), "茶？");
        assert_eq!(query_tail(""), "");
        let long = "茶".repeat(MAX_QUERY_CHARS) + "吗？";
        assert_eq!(query_tail(&long).chars().count(), MAX_QUERY_CHARS);
        assert!(query_tail(&long).ends_with("吗？"));
    }
}
