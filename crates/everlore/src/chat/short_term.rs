//! Short-term memory: an item for each exchange, the latest of them kept, long ones in a compressed form (C7).
//!
//! An exchange that the model still sees needs no item; the items of those that it no longer sees are put into the prompt.

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

/// One exchange, short.
#[derive(Debug)]
pub(super) struct ShortTermItem {
    /// The number of its exchange.
    pub(super) number: usize,
    /// What was said, or what is left of it.
    pub(super) text: String,
    /// All that was said, if the text is shorter and a model could do better.
    pub(super) full_text: Option<String>,
    /// The model that is at it.
    pub(super) rewrite: Option<JoinHandle<(Option<String>, TokenUsage)>>,
}

/// The latest exchanges of a conversation.
#[derive(Debug)]
pub(super) struct ShortTermMemory {
    items: VecDeque<ShortTermItem>,
    config: ShortTermConfig,
}

impl ShortTermMemory {
    pub(super) fn new(config: &ShortTermConfig) -> Self {
        Self { items: VecDeque::new(), config: config.clone() }
    }

    /// Keeps an exchange; the oldest item goes if there are too many.
    pub(super) fn push(&mut self, exchange: &Exchange) {
        let whole = render_exchange(exchange);
        let is_long = estimate_tokens(&whole) > self.config.compression_threshold;
        let text = match is_long {
            true => condense(exchange, self.config.compression_threshold),
            false => whole.clone(),
        };
        let whole = is_long.then_some(whole);
        self.items.push_back(ShortTermItem {
            number: exchange.number,
            text,
            full_text: whole,
            rewrite: None,
        });
        while self.items.len() > self.config.max_items {
            self.items.pop_front();
        }
    }

    /// The latest items of exchanges before `first`, the oldest first.
    pub(super) fn latest_before(&mut self, first: usize, count: usize) -> Vec<&mut ShortTermItem> {
        let older = self.items.iter_mut().rev().filter(|item| item.number < first);
        let mut chosen: Vec<_> = older.take(count).collect();
        chosen.reverse();
        chosen
    }

    /// The most tokens of an item.
    pub(super) fn max_item_tokens(&self) -> usize {
        self.config.compression_threshold
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.items.clear();
    }
}

impl ShortTermItem {
    /// Takes over what a model made of it, if it is done, and says what that took.
    pub(super) async fn apply_rewrite(&mut self) -> TokenUsage {
        let Some(better) = self.rewrite.take_if(|better| better.is_finished()) else {
            return TokenUsage::default();
        };
        let (text, tokens) = better.await.unwrap_or_default();
        self.text = text.unwrap_or_else(|| std::mem::take(&mut self.text));
        tokens
    }
}

fn render_exchange(exchange: &Exchange) -> String {
    let (question, answer) = (exchange.question(), exchange.answer());
    let by = SpeakerLabels::for_language(detect_language(question));
    match answer.is_empty() {
        true => format!("{}: {question}", by.user),
        false => format!("{}: {question}\n{}: {answer}", by.user, by.assistant),
    }
}
