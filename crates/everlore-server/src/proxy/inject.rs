//! Recall for a proxied question: within a time limit, and never at the cost of the answer.

use std::time::Duration;

use everlore::{MemoryBlock, RecallRequest, engine::VisibleContext, types::Fingerprint};

use super::{
    request::ProxiedRequest,
    session::{MemoryMode, ProxySession},
};

/// Longest recall: the client waits, so a slower one is left out. A remote embedder of the query has 0.3 seconds by
/// default.
const MAX_RECALL_TIME: Duration = Duration::from_secs(2);

/// Longest query; of a longer question the end is used, where people ask about what they pasted.
const MAX_QUERY_CHARS: usize = 4_000;

/// Outcome of recall for a request.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum InjectionOutcome {
    /// A block to inject.
    Block(MemoryBlock),
    /// Nothing relevant.
    Nothing,
    /// Not recalled: memory is off, for this request or by the settings.
    Off,
    /// Not recalled: the host asks on its own account.
    SideRequest,
    /// Not recalled: the model is in a tool loop.
    ToolLoop,
    /// Not recalled: the request could not be parsed.
    Unparsed,
    /// Recall failed or was too slow.
    Failed,
}

impl InjectionOutcome {
    /// Returns the value of the response header.
    pub(super) fn as_str(&self) -> &'static str {
        match self {
            Self::Block(_) => "added",
            Self::Nothing => "nothing",
            Self::Off => "off",
            Self::SideRequest => "side-request",
            Self::ToolLoop => "tool-loop",
            Self::Unparsed => "unread",
            Self::Failed => "failed",
        }
    }
}

/// Recalls for the question of a request.
pub(super) async fn recall_for_request(
    session: &ProxySession,
    request: Option<&ProxiedRequest>,
) -> InjectionOutcome {
    let Some(request) = request else { return InjectionOutcome::Unparsed };
    if session.mode == MemoryMode::Off {
        return InjectionOutcome::Off;
    }
    if session.is_side_request {
        return InjectionOutcome::SideRequest;
    }
    if request.in_tool_loop {
        return InjectionOutcome::ToolLoop;
    }
    match tokio::time::timeout(MAX_RECALL_TIME, recall_block(session, request)).await {
        Ok(Ok(block)) if block.text.is_empty() => InjectionOutcome::Nothing,
        Ok(Ok(block)) => InjectionOutcome::Block(block),
        Ok(Err(error)) => {
            tracing::warn!(%error, "recall failed; the request goes on without memory");
            InjectionOutcome::Failed
        }
        Err(_) => {
            tracing::warn!("recall was too slow; the request goes on without memory");
            InjectionOutcome::Failed
        }
    }
}

async fn recall_block(
    session: &ProxySession,
    proxied: &ProxiedRequest,
) -> everlore::Result<MemoryBlock> {
    let (engine, scope) = (session.access.engine(), &session.access.scope);
    let budget = engine.settings(scope.agent()).memory.inject.token_budget;
    let has_history = proxied.message_count > 1 || proxied.previous_response.is_some();
    let request = engine.context_request(scope, query_tail(&proxied.question));
    // What the client sends anyway is not injected.
    let texts = proxied.transcript.iter().map(|text| Fingerprint::of(text)).collect();
    let visible = has_history.then_some(VisibleContext::Texts(texts));
    let request = RecallRequest { visible, is_later_round: has_history, ..request };
    match session.mode {
        MemoryMode::Full => engine.inject(&request, budget, &session.session).await,
        MemoryMode::Read | MemoryMode::Off if is_first_request_kept_empty(session, has_history) => {
            Ok(MemoryBlock::default())
        }
        MemoryMode::Read | MemoryMode::Off => engine.context(&request, budget).await,
    }
}

/// Returns `true` if the settings keep the first message of a conversation free of memories, and this is it. A request
/// that only reads has no session in the engine; its history tells.
fn is_first_request_kept_empty(session: &ProxySession, has_history: bool) -> bool {
    let settings = session.access.engine().settings(session.access.scope.agent());
    settings.memory.inject.first_round_empty && !has_history
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
    fn the_end_of_a_long_text_is_the_query() {
        assert_eq!(query_tail("茶？"), "茶？");
        assert_eq!(query_tail(""), "");
        let long = "茶".repeat(MAX_QUERY_CHARS) + "吗？";
        assert_eq!(query_tail(&long).chars().count(), MAX_QUERY_CHARS);
        assert!(query_tail(&long).ends_with("吗？"));
    }
}
