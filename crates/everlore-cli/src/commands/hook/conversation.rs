//! What is known of one conversation between two calls of a hook: what was said last, and what the model still sees.

use everlore::types::Timestamp;
use serde::{Deserialize, Serialize};

use super::spool::digest;

/// Blocks whose digests are kept: a conversation that is longer was shortened meanwhile.
const MAX_BLOCK_DIGESTS: usize = 200;

/// What is known of one conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ConversationState {
    /// Its name in the memory.
    pub(super) name: String,
    /// How many messages of the user there were.
    pub(super) prompts: u64,
    /// The digest of the last one.
    last: String,
    /// Whether it waits for an answer.
    open: bool,
    /// Digests of the blocks that were told and are still seen.
    told: Vec<String>,
    /// Since when the host still has what was said: since the beginning, or since it was last shortened.
    seen_since: Option<Timestamp>,
}

impl ConversationState {
    /// Hears a message and says what tells it from others. One that comes again before it was answered is the same.
    pub(super) fn record_prompt(&mut self, text: &str) -> u64 {
        let text = digest(&[text]);
        if !self.open || self.last != text {
            self.prompts += 1;
            (self.last, self.open) = (text, true);
        }
        self.prompts
    }

    /// Hears an answer and says to which message.
    pub(super) fn record_answer(&mut self) -> u64 {
        self.open = false;
        self.prompts
    }

    /// Whether a block is new to the model; if so, it was told now.
    pub(super) fn record_if_new(&mut self, block: &str) -> bool {
        let block = digest(&[block]);
        let news = !self.told.contains(&block);
        if news {
            self.told.push(block);
            let over = self.told.len().saturating_sub(MAX_BLOCK_DIGESTS);
            self.told.drain(..over);
        }
        news
    }

    /// The model no longer sees what it was told, and what was said.
    pub(super) fn forget_injected(&mut self, now: Timestamp) {
        self.told.clear();
        self.seen_since = Some(now);
    }

    /// Since when the model sees what was said in the conversation.
    pub(super) fn visible_since(&self) -> Timestamp {
        self.seen_since.unwrap_or(Timestamp::UNIX_EPOCH)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_comes_twice_is_one_and_one_said_again_is_another() {
        let mut known = ConversationState::default();
        assert_eq!((known.record_prompt("好的，继续"), known.record_prompt("好的，继续")), (1, 1));
        assert_eq!((known.record_answer(), known.record_answer()), (1, 1));
        assert_eq!(
            (known.record_prompt("好的，继续"), known.record_prompt("stop"), known.record_answer()),
            (2, 3, 3)
        );
    }

    #[test]
    fn a_block_is_told_once_until_the_conversation_is_shortened() {
        let mut known = ConversationState::default();
        assert!(
            known.record_if_new("tea") && !known.record_if_new("tea") && known.record_if_new("茶")
        );
        known.forget_injected(Timestamp::UNIX_EPOCH);
        assert!(known.record_if_new("tea"));
    }
}
