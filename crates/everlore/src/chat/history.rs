//! Chat history in exchanges: a question with everything that answered it. Only whole exchanges are dropped, so that a
//! tool result never stands without its call.

use crate::{
    llm::ChatMessage,
    text::tokens::estimate_tokens,
    types::{Memory, Role, Timestamp},
};

/// Tokens that a provider adds to each message.
const MESSAGE_OVERHEAD_TOKENS: usize = 4;

/// User message and everything that answered it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Exchange {
    /// Sequence number in the session.
    pub(super) number: usize,
    /// Time of the question.
    pub(super) asked_at: Timestamp,
    /// Messages, the question first.
    pub(super) messages: Vec<ChatMessage>,
}

/// Exchanges that the model still sees.
#[derive(Debug, Default)]
pub(super) struct ChatHistory {
    exchanges: Vec<Exchange>,
    /// Number of the next exchange.
    next_number: usize,
}

impl Exchange {
    fn tokens(&self) -> usize {
        self.messages.iter().map(message_tokens).sum()
    }

    /// Returns the user's text.
    pub(super) fn question(&self) -> &str {
        self.messages.iter().find_map(ChatMessage::user_text).unwrap_or_default()
    }

    /// Returns the model's text, its parts between tool calls joined.
    pub(super) fn answer(&self) -> String {
        let texts = self.messages.iter().filter_map(ChatMessage::assistant_text);
        texts.collect::<Vec<_>>().join("\n\n")
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
    /// Rebuilds the exchanges of a resumed session.
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
        // An unanswered question is not sent again.
        history.exchanges.retain(|exchange| exchange.messages.len() > 1);
        history
    }

    /// Begins an exchange.
    pub(super) fn begin_exchange(&mut self, at: Timestamp, text: String) {
        let messages = vec![ChatMessage::User { text }];
        self.exchanges.push(Exchange { number: self.next_number, asked_at: at, messages });
        self.next_number += 1;
    }

    /// Adds a message to the current exchange.
    pub(super) fn push(&mut self, message: ChatMessage) {
        if let Some(exchange) = self.exchanges.last_mut() {
            exchange.messages.push(message);
        }
    }

    /// Removes the current exchange.
    pub(super) fn discard_last(&mut self) {
        self.exchanges.pop();
    }

    /// Returns the current or last exchange.
    pub(super) fn last(&self) -> Option<&Exchange> {
        self.exchanges.last()
    }

    /// Returns all exchanges, oldest first.
    pub(super) fn exchanges(&self) -> &[Exchange] {
        &self.exchanges
    }

    /// Returns the number of messages.
    pub(super) fn message_count(&self) -> usize {
        self.exchanges.iter().map(|exchange| exchange.messages.len()).sum()
    }

    /// Returns an upper estimate of the tokens of all messages.
    pub(super) fn tokens(&self) -> usize {
        self.exchanges.iter().map(Exchange::tokens).sum()
    }

    /// Drops the oldest exchanges until at most `max_messages` messages precede the current one.
    pub(super) fn limit_messages(&mut self, max_messages: usize) {
        self.drop_oldest(|exchange| exchange.messages.len(), max_messages);
    }

    /// Removes and returns the oldest exchanges so that the rest has at most `max_tokens`. The last one always stays.
    pub(super) fn take_older(&mut self, max_tokens: usize) -> Vec<Exchange> {
        self.drop_oldest(Exchange::tokens, max_tokens)
    }

    /// Removes all exchanges; numbering continues.
    pub(super) fn clear(&mut self) {
        self.exchanges.clear();
    }

    fn drop_oldest(&mut self, size: impl Fn(&Exchange) -> usize, max: usize) -> Vec<Exchange> {
        let mut used = 0;
        let fits = |exchange: &&Exchange| {
            used += size(exchange);
            used <= max
        };
        let last = usize::from(!self.exchanges.is_empty());
        let before = &self.exchanges[..self.exchanges.len() - last];
        let kept_count = before.iter().rev().take_while(fits).count();
        self.exchanges.drain(..before.len() - kept_count).collect()
    }
}

/// Returns an upper estimate of the tokens of a message.
pub(super) fn message_tokens(message: &ChatMessage) -> usize {
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
