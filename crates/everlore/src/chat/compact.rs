//! Compaction: exchanges that leave the history are summarized, by the model or extractively.
//!
//! Whole exchanges leave, so that no tool result loses its call. Their turns stay stored, and memories are extracted
//! from the turns, never from a summary.

use std::pin::pin;

use serde::Serialize;

use super::{
    ChatEvent, ChatSession,
    history::Exchange,
    reply::{EventSink, Interrupt},
    summary::{self, ExchangeSummary},
};
use crate::sync::BoxFuture;

/// Characters of the summary of the exchanges that left: about 500 tokens in English.
const COMPACTION_SUMMARY_CHARS: usize = 2_000;

/// Share of the trigger that the remaining exchanges may take after compaction, so that the next one is some time off.
pub(super) const KEEP_DIVISOR: usize = 4;

/// Result of a compaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CompactionReport {
    /// Number of summarized exchanges.
    pub exchanges: usize,
    /// Tokens of the history before.
    pub before: usize,
    /// Tokens of the history after.
    pub after: usize,
    /// Set when the model wrote the summary.
    pub by_model: bool,
    /// Reason why the model did not write it, if it was called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

impl ChatSession {
    /// Summarizes the older exchanges if the history exceeds its token limit.
    pub(super) async fn compact_if_needed(
        &mut self,
        on_event: EventSink<'_>,
        interrupt: Interrupt<'_>,
    ) {
        let enabled = self.engine.settings(self.scope.agent()).memory_agent.summarize.enabled;
        if !enabled || self.history.tokens() <= self.compaction_trigger() {
            return;
        }
        let report = self.compact_to(self.compaction_trigger() / KEEP_DIVISOR, interrupt).await;
        if report.exchanges > 0 {
            on_event(ChatEvent::Compacted(&report));
        }
    }

    /// Summarizes everything but the question, for a model whose context is too small. Returns `true` if that freed
    /// space.
    pub(super) async fn compact_all(
        &mut self,
        on_event: EventSink<'_>,
        interrupt: Interrupt<'_>,
    ) -> bool {
        let report = self.compact_to(0, interrupt).await;
        if report.exchanges > 0 {
            on_event(ChatEvent::Compacted(&report));
        }
        report.exchanges > 0
    }

    /// Summarizes all but the latest exchange now.
    pub async fn compact(
        &mut self,
        interrupt: impl Future<Output = ()> + Send,
    ) -> CompactionReport {
        self.compact_to(0, pin!(interrupt)).await
    }

    fn compact_to<'a>(
        &'a mut self,
        kept_tokens: usize,
        interrupt: Interrupt<'a>,
    ) -> BoxFuture<'a, CompactionReport> {
        Box::pin(async move {
            let before = self.history.tokens();
            let older = self.history.take_older(kept_tokens);
            if older.is_empty() {
                let (exchanges, by_model, failed) = (0, false, None);
                return CompactionReport { exchanges, before, after: before, by_model, failed };
            }
            let summary = self.summarize(&older, interrupt).await;
            self.earlier_summary = summary.text;
            self.cost.summaries += summary.tokens;
            CompactionReport {
                exchanges: older.len(),
                before,
                after: self.history.tokens(),
                by_model: summary.by_model,
                failed: summary.failure,
            }
        })
    }

    /// Summarizes exchanges by the model, or extractively if that is interrupted.
    async fn summarize(&self, older: &[Exchange], interrupt: Interrupt<'_>) -> ExchangeSummary {
        let (model, before) = (self.metered_model(), &self.earlier_summary);
        let summarize =
            |model| summary::summarize_exchanges(model, before, older, COMPACTION_SUMMARY_CHARS);
        tokio::select! {
            biased;
            () = interrupt => summarize(None).await,
            summary = summarize(Some(&model)) => summary,
        }
    }

    /// Starts model rewrites, in the background, of the short-term items that the next message will inject.
    pub(super) fn rewrite_items(&mut self) {
        let first = self.history.exchanges().first().map_or(usize::MAX, |exchange| exchange.number);
        let count = self.engine.settings(self.scope.agent()).memory.inject.short_term_count;
        // A token is two characters or more in English and about one in Chinese: half of the limit is safe in both.
        let room = self.short_term.max_item_tokens() / 2;
        let model = self.metered_model();
        for item in self.short_term.latest_before(first, count) {
            if let Some(full_text) = item.full_text.take() {
                let model = model.clone();
                item.rewrite = Some(tokio::spawn(async move {
                    let (text, summary) = model.summarize(&full_text, room).await;
                    (text, summary.tokens)
                }));
            }
        }
    }
}
