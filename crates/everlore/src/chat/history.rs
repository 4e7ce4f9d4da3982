//! What was said so far, in exchanges: a question with everything that answered it. Only whole exchanges are left out, so
//! that a tool's answer never stands without its call.

use crate::{
    llm::ChatMessage,
    text::tokens::estimate_tokens,
    types::{Memory, Role, Timestamp},
};

/// What a provider wraps around a message.
const MESSAGE_OVERHEAD_TOKENS: usize = 4;

/// A question and what answered it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Exchange {
    /// Its number in the conversation.
    pub(super) number: usize,
    /// When the question was asked.
    pub(super) asked_at: Timestamp,
    /// The question first.
    pub(super) messages: Vec<ChatMessage>,
}

/// The exchanges that a model still sees.
#[derive(Debug, Default)]
pub(super) struct ChatHistory {
    exchanges: Vec<Exchange>,
    /// The number of the next exchange.
    next_number: usize,
}

impl Exchange {
    fn tokens(&self) -> usize {
        self.messages.iter().map(tokens).sum()
    }

    /// What the user said.
    pub(super) fn question(&self) -> &str {
        self.messages.iter().find_map(ChatMessage::user_text).unwrap_or_default()
    }

    /// What the model said, its parts between tool calls joined.
    pub(super) fn answer(&self) -> String {
        let said = self.messages.iter().filter_map(ChatMessage::assistant_text);
        said.collect::<Vec<_>>().join("\n\n")
    }
}

impl ChatMessage {
    fn user_text(&self) -> Option<&str> {
        if let Self::User { text } = self { Some(text) } else { None }
    }

    fn assistant_text(&self) -> Option<&str> {
        match self {
            Self::Assistant { text, .. } if !text.trim().is_empty() => Some(text),
            _ => None,
        }
    }
}

impl ChatHistory {
    /// The exchanges of a conversation that is taken up again.
    pub(super) fn from_turns(turns: &[Memory]) -> Self {
        let mut history = Self::default();
        for turn in turns {
            let text = turn.content.clone();
            match turn.source.role {
                Some(Role::User) => history.begin_exchange(turn.at, text),
                Some(Role::Assistant) if !history.exchanges.is_empty() => {
                    history.push(ChatMessage::Assistant { text, calls: Vec::new() });
                }
                _ => {}
            }
        }
        // A question that nobody answered is not asked again unasked.
        history.exchanges.retain(|exchange| exchange.messages.len() > 1);
        history
    }

    /// Begins an exchange.
    pub(super) fn begin_exchange(&mut self, at: Timestamp, text: String) {
        let messages = vec![ChatMessage::User { text }];
        self.exchanges.push(Exchange { number: self.next_number, asked_at: at, messages });
        self.next_number += 1;
    }

    /// Adds to the exchange that goes on.
    pub(super) fn push(&mut self, message: ChatMessage) {
        if let Some(exchange) = self.exchanges.last_mut() {
            exchange.messages.push(message);
        }
    }

    /// Takes the exchange back that goes on.
    pub(super) fn discard_last(&mut self) {
        self.exchanges.pop();
    }

    /// The exchange that goes on, or the last one.
    pub(super) fn last(&self) -> Option<&Exchange> {
        self.exchanges.last()
    }

    /// All of them, the oldest first.
    pub(super) fn exchanges(&self) -> &[Exchange] {
        &self.exchanges
    }

    /// How many messages there are.
    pub(super) fn message_count(&self) -> usize {
        self.exchanges.iter().map(|exchange| exchange.messages.len()).sum()
    }

    /// The most tokens that a model counts for all of them.
    pub(super) fn tokens(&self) -> usize {
        self.exchanges.iter().map(Exchange::tokens).sum()
    }

    /// Leaves out the oldest exchanges until at most so many messages are left before the one that goes on.
    pub(super) fn limit_messages(&mut self, max_messages: usize) {
        self.drop_oldest(|exchange| exchange.messages.len(), max_messages);
    }

    /// Takes the oldest exchanges out, so that those that stay have at most so many tokens. The last one stays anyhow.
    pub(super) fn take_older(&mut self, max_tokens: usize) -> Vec<Exchange> {
        self.drop_oldest(Exchange::tokens, max_tokens)
    }

    /// Forgets what was said; numbers go on.
    pub(super) fn clear(&mut self) {
        self.exchanges.clear();
    }

    fn drop_oldest(&mut self, size: impl Fn(&Exchange) -> usize, most: usize) -> Vec<Exchange> {
        let mut used = 0;
        let fits = |exchange: &&Exchange| {
            used += size(exchange);
            used <= most
        };
        let last = usize::from(!self.exchanges.is_empty());
        let before = &self.exchanges[..self.exchanges.len() - last];
        let kept = before.iter().rev().take_while(fits).count();
        self.exchanges.drain(..before.len() - kept).collect()
    }
}

fn tokens(message: &ChatMessage) -> usize {
    let inside = match message {
        ChatMessage::User { text } => estimate_tokens(text),
        ChatMessage::Assistant { text, calls } => {
            let call = |call: &crate::llm::ToolCall| {
                estimate_tokens(&call.name)
                    + estimate_tokens(&call.arguments.to_string())
                    + MESSAGE_OVERHEAD_TOKENS
            };
            estimate_tokens(text) + calls.iter().map(call).sum::<usize>()
        }
        ChatMessage::Tool { name, text, .. } => estimate_tokens(name) + estimate_tokens(text),
    };
    inside + MESSAGE_OVERHEAD_TOKENS
}
