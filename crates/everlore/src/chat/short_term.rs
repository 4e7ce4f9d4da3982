//! Short-term memory: an item for each exchange, the latest of them kept, long ones in a compressed form (C7).
//!
//! An exchange that the model still sees needs no item; the items of those that it no longer sees are put into the prompt.

use std::collections::VecDeque;

use tokio::task::JoinHandle;

use super::{
    history::Exchange,
    summary::{Speakers, condensed},
};
use crate::{
    config::ShortTermConfig,
    llm::Tokens,
    text::{language::language_of, tokens::estimate},
};

/// One exchange, short.
#[derive(Debug)]
pub(super) struct Item {
    /// The number of its exchange.
    pub(super) number: usize,
    /// What was said, or what is left of it.
    pub(super) text: String,
    /// All that was said, if the text is shorter and a model could do better.
    pub(super) whole: Option<String>,
    /// The model that is at it.
    pub(super) better: Option<JoinHandle<(Option<String>, Tokens)>>,
}

/// The latest exchanges of a conversation.
#[derive(Debug)]
pub(super) struct ShortTerm {
    items: VecDeque<Item>,
    config: ShortTermConfig,
}

impl ShortTerm {
    pub(super) fn new(config: &ShortTermConfig) -> Self {
        Self { items: VecDeque::new(), config: config.clone() }
    }

    /// Keeps an exchange; the oldest item goes if there are too many.
    pub(super) fn keep(&mut self, exchange: &Exchange) {
        let whole = told(exchange);
        let is_long = estimate(&whole) > self.config.compression_threshold;
        let text = match is_long {
            true => condensed(exchange, self.config.compression_threshold),
            false => whole.clone(),
        };
        let whole = is_long.then_some(whole);
        self.items.push_back(Item { number: exchange.number, text, whole, better: None });
        while self.items.len() > self.config.max_items {
            self.items.pop_front();
        }
    }

    /// The latest items of exchanges before `first`, the oldest first.
    pub(super) fn before(&mut self, first: usize, count: usize) -> Vec<&mut Item> {
        let older = self.items.iter_mut().rev().filter(|item| item.number < first);
        let mut chosen: Vec<_> = older.take(count).collect();
        chosen.reverse();
        chosen
    }

    /// The most tokens of an item.
    pub(super) fn threshold(&self) -> usize {
        self.config.compression_threshold
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.items.clear();
    }
}

impl Item {
    /// Takes over what a model made of it, if it is done, and says what that took.
    pub(super) async fn settle(&mut self) -> Tokens {
        let Some(better) = self.better.take_if(|better| better.is_finished()) else {
            return Tokens::default();
        };
        let (text, tokens) = better.await.unwrap_or_default();
        self.text = text.unwrap_or_else(|| std::mem::take(&mut self.text));
        tokens
    }
}

fn told(exchange: &Exchange) -> String {
    let (question, answer) = (exchange.question(), exchange.answer());
    let by = Speakers::of(language_of(question));
    match answer.is_empty() {
        true => format!("{}: {question}", by.user),
        false => format!("{}: {question}\n{}: {answer}", by.user, by.assistant),
    }
}
