//! Short-term memory: one item per exchange, the latest of them kept, long ones compressed.
//!
//! Items of exchanges that left the history are injected into the prompt; exchanges in the history need none.

use std::collections::VecDeque;

use tokio::task::JoinHandle;

use super::{
    history::Exchange,
    summary::{SpeakerLabels, condense},
};
use crate::{
    config::ShortTermConfig,
    llm::TokenUsage,
    text::{language::detect_language, tokens::estimate_tokens},
};

/// Condensed exchange.
#[derive(Debug)]
pub(super) struct ShortTermItem {
    /// Number of the exchange.
    pub(super) number: usize,
    /// Verbatim or condensed text.
    pub(super) text: String,
    /// Verbatim text, if the item is condensed and a model could do better.
    pub(super) full_text: Option<String>,
    /// Running model rewrite.
    pub(super) rewrite: Option<JoinHandle<(Option<String>, TokenUsage)>>,
}

/// Latest exchanges of a session.
#[derive(Debug)]
pub(super) struct ShortTermMemory {
    items: VecDeque<ShortTermItem>,
    config: ShortTermConfig,
}

impl ShortTermMemory {
    pub(super) fn new(config: &ShortTermConfig) -> Self {
        Self { items: VecDeque::new(), config: config.clone() }
    }

    /// Adds an exchange; the oldest item goes if there are too many.
    pub(super) fn push(&mut self, exchange: &Exchange) {
        let full_text = render_exchange(exchange);
        let is_long = estimate_tokens(&full_text) > self.config.compression_threshold;
        let text = if is_long {
            condense(exchange, self.config.compression_threshold)
        } else {
            full_text.clone()
        };
        let full_text = is_long.then_some(full_text);
        self.items.push_back(ShortTermItem {
            number: exchange.number,
            text,
            full_text,
            rewrite: None,
        });
        while self.items.len() > self.config.max_items {
            self.items.pop_front();
        }
    }

    /// Returns the latest items of exchanges before `first`, oldest first.
    pub(super) fn latest_before(&mut self, first: usize, count: usize) -> Vec<&mut ShortTermItem> {
        let older = self.items.iter_mut().rev().filter(|item| item.number < first);
        let mut chosen: Vec<_> = older.take(count).collect();
        chosen.reverse();
        chosen
    }

    /// Returns the token limit of an item.
    pub(super) fn max_item_tokens(&self) -> usize {
        self.config.compression_threshold
    }

    /// Removes all items.
    pub(super) fn clear(&mut self) {
        self.items.clear();
    }
}

impl ShortTermItem {
    /// Applies the model's rewrite if it is finished, and returns its token usage.
    pub(super) async fn apply_rewrite(&mut self) -> TokenUsage {
        let Some(rewrite) = self.rewrite.take_if(|rewrite| rewrite.is_finished()) else {
            return TokenUsage::default();
        };
        let (text, tokens) = rewrite.await.unwrap_or_default();
        self.text = text.unwrap_or_else(|| std::mem::take(&mut self.text));
        tokens
    }
}

fn render_exchange(exchange: &Exchange) -> String {
    let (question, answer) = (exchange.question(), exchange.answer());
    let labels = SpeakerLabels::for_language(detect_language(question));
    if answer.is_empty() {
        format!("{}: {question}", labels.user)
    } else {
        format!("{}: {question}\n{}: {answer}", labels.user, labels.assistant)
    }
}
