//! Compaction: what a conversation no longer holds is summed up, by the model or in its own sentences (C8).
//!
//! Whole exchanges leave, so that no tool's answer loses its call. Their turns stay stored, and what is to be remembered is
//! drawn from those and never from a summary.

use std::pin::pin;

use serde::Serialize;

use super::{
    Conversation, Event,
    answer::{Hear, Interrupt},
    summary,
};

/// The characters of the summary of what a conversation no longer holds: about 500 tokens in English.
const COMPACTED_CHARS: usize = 2_000;

/// After compaction the latest exchanges have at most this part of the tokens that trigger it, so that the next one is
/// some time off.
pub(super) const KEPT_SHARE: usize = 4;

/// What compaction did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Compacted {
    /// How many exchanges were summed up.
    pub exchanges: usize,
    /// The tokens of the conversation before.
    pub before: usize,
    /// And after.
    pub after: usize,
    /// Whether the model wrote the summary.
    pub by_model: bool,
    /// Why it did not, if it was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

impl Conversation {
    /// Sums the older part up if the conversation has grown too long (C8).
    pub(super) async fn make_room(&mut self, hear: Hear<'_>, interrupt: Interrupt<'_>) {
        let enabled = self.engine.settings(self.scope.agent()).memory_agent.summarize.enabled;
        if !enabled || self.history.tokens() <= self.trigger() {
            return;
        }
        let done = self.compact_by(self.trigger() / KEPT_SHARE, interrupt).await;
        if done.exchanges > 0 {
            hear(Event::Compacted(&done));
        }
    }

    /// Sums up everything but the question, for a model that cannot read so much; says whether that made room.
    pub(super) async fn make_all_room(&mut self, hear: Hear<'_>, interrupt: Interrupt<'_>) -> bool {
        let done = self.compact_by(0, interrupt).await;
        if done.exchanges > 0 {
            hear(Event::Compacted(&done));
        }
        done.exchanges > 0
    }

    /// Sums up all but the latest exchange now.
    pub async fn compact(&mut self, interrupt: impl Future<Output = ()> + Send) -> Compacted {
        self.compact_by(0, pin!(interrupt)).await
    }

    async fn compact_by(&mut self, kept_tokens: usize, interrupt: Interrupt<'_>) -> Compacted {
        let before = self.history.tokens();
        let older = self.history.take_older(kept_tokens);
        if older.is_empty() {
            let (exchanges, by_model) = (0, false);
            return Compacted { exchanges, before, after: before, by_model, failed: None };
        }
        let account = self.account();
        let by_model =
            summary::of_exchanges(Some(&account), &self.summary, &older, COMPACTED_CHARS);
        let summary = tokio::select! {
            biased;
            () = interrupt => None,
            summary = by_model => Some(summary),
        };
        let summary = match summary {
            Some(summary) => summary,
            None => summary::of_exchanges(None, &self.summary, &older, COMPACTED_CHARS).await,
        };
        self.summary = summary.text;
        self.cost.summaries += summary.tokens;
        Compacted {
            exchanges: older.len(),
            before,
            after: self.history.tokens(),
            by_model: summary.by_model,
            failed: summary.failed,
        }
    }

    /// Lets the model shorten what the next message will be told of exchanges that it no longer sees, meanwhile.
    pub(super) fn improve_items(&mut self) {
        let first = self.history.all().first().map_or(usize::MAX, |exchange| exchange.number);
        let count = self.engine.settings(self.scope.agent()).memory.inject.short_term_count;
        // A token is two characters or more in English and about one in Chinese: half of the limit keeps to it in both.
        let room = self.short_term.threshold() / 2;
        let account = self.account();
        for item in self.short_term.before(first, count) {
            if let Some(whole) = item.whole.take() {
                let account = account.clone();
                item.better = Some(tokio::spawn(async move {
                    let (text, told) = account.sum_up(&whole, room).await;
                    (text, told.tokens)
                }));
            }
        }
    }
}
