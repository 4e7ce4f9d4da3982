//! Compaction: what a conversation no longer holds is summed up, by the model or in its own sentences (C8).
//!
//! Whole exchanges leave, so that no tool's answer loses its call. Their turns stay stored, and what is to be remembered is
//! drawn from those and never from a summary.

use std::pin::pin;

use serde::Serialize;

use super::{
    ChatEvent, ChatSession,
    reply::{EventSink, Interrupt},
    summary,
};

/// The characters of the summary of what a conversation no longer holds: about 500 tokens in English.
const COMPACTION_SUMMARY_CHARS: usize = 2_000;

/// After compaction the latest exchanges have at most this part of the tokens that trigger it, so that the next one is
/// some time off.
pub(super) const KEEP_DIVISOR: usize = 4;

/// What compaction did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CompactionReport {
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

impl ChatSession {
    /// Sums the older part up if the conversation has grown too long (C8).
    pub(super) async fn compact_if_needed(
        &mut self,
        hear: EventSink<'_>,
        interrupt: Interrupt<'_>,
    ) {
        let enabled = self.engine.settings(self.scope.agent()).memory_agent.summarize.enabled;
        if !enabled || self.history.tokens() <= self.compaction_trigger() {
            return;
        }
        let done = self.compact_to(self.compaction_trigger() / KEEP_DIVISOR, interrupt).await;
        if done.exchanges > 0 {
            hear(ChatEvent::Compacted(&done));
        }
    }

    /// Sums up everything but the question, for a model that cannot read so much; says whether that made room.
    pub(super) async fn compact_all(
        &mut self,
        hear: EventSink<'_>,
        interrupt: Interrupt<'_>,
    ) -> bool {
        let done = self.compact_to(0, interrupt).await;
        if done.exchanges > 0 {
            hear(ChatEvent::Compacted(&done));
        }
        done.exchanges > 0
    }

    /// Sums up all but the latest exchange now.
    pub async fn compact(
        &mut self,
        interrupt: impl Future<Output = ()> + Send,
    ) -> CompactionReport {
        self.compact_to(0, pin!(interrupt)).await
    }

    async fn compact_to(
        &mut self,
        kept_tokens: usize,
        interrupt: Interrupt<'_>,
    ) -> CompactionReport {
        let before = self.history.tokens();
        let older = self.history.take_older(kept_tokens);
        if older.is_empty() {
            let (exchanges, by_model) = (0, false);
            return CompactionReport { exchanges, before, after: before, by_model, failed: None };
        }
        let account = self.metered_model();
        let by_model = summary::summarize_exchanges(
            Some(&account),
            &self.earlier_summary,
            &older,
            COMPACTION_SUMMARY_CHARS,
        );
        let summary = tokio::select! {
            biased;
            () = interrupt => None,
            summary = by_model => Some(summary),
        };
        let summary = match summary {
            Some(summary) => summary,
            None => {
                summary::summarize_exchanges(
                    None,
                    &self.earlier_summary,
                    &older,
                    COMPACTION_SUMMARY_CHARS,
                )
                .await
            }
        };
        self.earlier_summary = summary.text;
        self.cost.summaries += summary.tokens;
        CompactionReport {
            exchanges: older.len(),
            before,
            after: self.history.tokens(),
            by_model: summary.by_model,
            failed: summary.failure,
        }
    }

    /// Lets the model shorten what the next message will be told of exchanges that it no longer sees, meanwhile.
    pub(super) fn rewrite_items(&mut self) {
        let first = self.history.exchanges().first().map_or(usize::MAX, |exchange| exchange.number);
        let count = self.engine.settings(self.scope.agent()).memory.inject.short_term_count;
        // A token is two characters or more in English and about one in Chinese: half of the limit keeps to it in both.
        let room = self.short_term.max_item_tokens() / 2;
        let account = self.metered_model();
        for item in self.short_term.latest_before(first, count) {
            if let Some(whole) = item.full_text.take() {
                let account = account.clone();
                item.rewrite = Some(tokio::spawn(async move {
                    let (text, told) = account.summarize(&whole, room).await;
                    (text, told.tokens)
                }));
            }
        }
    }
}
