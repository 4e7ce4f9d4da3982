//! What memory adds to a question: within a limit of time, and never at the price of the answer.

use std::time::Duration;

use everlore::{
    Block, RecallRequest,
    recall::Seen,
    store::{Filter, Order, Page},
    types::{Fingerprint, Kind, Timestamp},
};

use super::{
    asked::Asked,
    identity::{Identity, Mode},
};

/// Somebody waits for the answer: what is not found by then is left out. A model on another server that makes the vector of
/// the question has 0.3 seconds by default.
const MAX_TIME: Duration = Duration::from_secs(2);

/// Of a longer question its end is looked up, where people ask after what they pasted.
const MAX_QUERY_CHARS: usize = 4_000;

/// What came of asking memory.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Added {
    /// This is to be told.
    Block(Block),
    /// It was asked, and knows nothing of worth.
    Nothing,
    /// It was not asked, because it is switched off, for this request or by the settings.
    Off,
    /// It was not asked, because the model is at work with its tools.
    ToolLoop,
    /// It was not asked, because the request could not be read.
    Unread,
    /// It failed, or was too slow.
    Failed,
}

impl Added {
    /// The word for it in a header.
    pub(super) fn as_str(&self) -> &'static str {
        match self {
            Self::Block(_) => "added",
            Self::Nothing => "nothing",
            Self::Off => "off",
            Self::ToolLoop => "tool-loop",
            Self::Unread => "unread",
            Self::Failed => "failed",
        }
    }
}

/// Asks memory about the question of a request.
pub(super) async fn recollect(identity: &Identity, asked: Option<&Asked>) -> Added {
    let Some(asked) = asked else { return Added::Unread };
    if identity.mode == Mode::Off {
        return Added::Off;
    }
    if asked.in_tool_loop {
        return Added::ToolLoop;
    }
    match tokio::time::timeout(MAX_TIME, found(identity, asked)).await {
        Ok(Ok(block)) if block.text.is_empty() => Added::Nothing,
        Ok(Ok(block)) => Added::Block(block),
        Ok(Err(error)) => {
            tracing::warn!(%error, "memory failed; the request goes on without");
            Added::Failed
        }
        Err(_) => {
            tracing::warn!("memory was too slow; the request goes on without");
            Added::Failed
        }
    }
}

async fn found(identity: &Identity, asked: &Asked) -> everlore::Result<Block> {
    let (engine, scope) = (identity.access.engine(), &identity.access.scope);
    let budget = engine.settings(scope.agent()).memory.inject.token_budget;
    // What the conversation still holds need not be told.
    let goes_on = asked.messages > 1 || asked.follows.is_some();
    let turns_until = if goes_on { began(identity).await? } else { None };
    let filter = Filter { turns_until, ..Filter::default() };
    let request = engine.context_request(scope, end_of(&asked.question));
    let texts = asked.said.iter().map(|text| Fingerprint::of(text)).collect();
    let seen = turns_until.map(|since| Seen {
        session: identity.session.clone(),
        since,
        texts: Some(texts),
    });
    let request = RecallRequest { filter, seen, ..request };
    match identity.mode {
        Mode::Full => engine.inject(&request, budget, &identity.session).await,
        Mode::Read | Mode::Off => engine.context(&request, budget).await,
    }
}

/// When the first turn of the conversation was said.
async fn began(identity: &Identity) -> everlore::Result<Option<Timestamp>> {
    let (access, session) = (&identity.access, &identity.session);
    let known = &access.app.proxy.beginnings;
    let key = format!("{}\n{session}", access.scope);
    if let Some(at) = known.get(&key) {
        return Ok(Some(at));
    }
    let filter =
        Filter { kinds: vec![Kind::Turn], session: Some(session.clone()), ..Filter::default() };
    let page = Page { filter, after: None, order: Order::OldestFirst, limit: 1 };
    let first = access.app.engine.list(&access.scope, &page).await?;
    let at = first.first().map(|turn| turn.at);
    if let Some(at) = at {
        known.put(key, at);
    }
    Ok(at)
}

fn end_of(question: &str) -> &str {
    let skipped = question.chars().count().saturating_sub(MAX_QUERY_CHARS);
    let start = question.char_indices().nth(skipped).map_or(0, |(start, _)| start);
    &question[start..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_text_the_end_is_looked_up() {
        assert_eq!(end_of("茶？"), "茶？");
        assert_eq!(end_of(""), "");
        let long = "茶".repeat(MAX_QUERY_CHARS) + "吗？";
        assert_eq!(end_of(&long).chars().count(), MAX_QUERY_CHARS);
        assert!(end_of(&long).ends_with("吗？"));
    }
}
