//! State of one conversation between two hook calls: the last prompt, and the visible context, which is the blocks and
//! turns that the model still sees.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use everlore::{
    internal::files::atomic_file::{create_private_folder, lock, remove_if_exists},
    types::Timestamp,
};
use serde::{Deserialize, Serialize};

use super::spool::{digest, read_json, write_json};

/// Time after which the state of a conversation is removed.
const CONVERSATION_RETENTION: Duration = Duration::from_secs(30 * 86_400);

/// Most digests of injected blocks; a longer conversation was compacted meanwhile.
const MAX_BLOCK_DIGESTS: usize = 200;

/// Most failed calls that wait for their cure; older ones were given up.
const MAX_FAILED_CALLS: usize = 8;

/// State of one conversation, stored as JSON in the home.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ConversationState {
    /// Session name in the store.
    #[serde(rename = "name")]
    pub(super) session: String,
    /// Number of user messages so far.
    pub(super) prompts: u64,
    /// Digest of the last user message.
    #[serde(rename = "last")]
    last_prompt: String,
    /// `true` until the last user message is answered.
    #[serde(rename = "open")]
    awaits_answer: bool,
    /// Digests of the injected blocks that the model still sees.
    #[serde(rename = "told")]
    injected: Vec<String>,
    /// Start of the visible context, set when the conversation starts anew or is compacted: the model sees all turns
    /// since then. `None` shows all turns.
    #[serde(rename = "seen_since")]
    visible_since: Option<Timestamp>,
    /// Digests of tool calls that failed and did not succeed since.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failed_calls: Vec<String>,
}

impl ConversationState {
    /// Counts a user message and returns its number. The same text again before an answer is the same message.
    pub(super) fn record_prompt(&mut self, text: &str) -> u64 {
        let text = digest(&[text]);
        if !self.awaits_answer || self.last_prompt != text {
            self.prompts += 1;
            (self.last_prompt, self.awaits_answer) = (text, true);
        }
        self.prompts
    }

    /// Records an answer and returns the number of the message it answers.
    pub(super) fn record_answer(&mut self) -> u64 {
        self.awaits_answer = false;
        self.prompts
    }

    /// Records a block as injected; returns `false` if the model sees it already.
    pub(super) fn record_if_new(&mut self, block: &str) -> bool {
        let block = digest(&[block]);
        let is_new = !self.injected.contains(&block);
        if is_new {
            self.injected.push(block);
            let excess = self.injected.len().saturating_sub(MAX_BLOCK_DIGESTS);
            self.injected.drain(..excess);
        }
        is_new
    }

    /// Records a failed tool call, so that what follows is recorded until it succeeds.
    pub(super) fn record_failure(&mut self, call: &str) {
        let call = digest(&[call]);
        self.failed_calls.retain(|other| *other != call);
        self.failed_calls.push(call);
        let excess = self.failed_calls.len().saturating_sub(MAX_FAILED_CALLS);
        self.failed_calls.drain(..excess);
    }

    /// Records a tool call that succeeded; returns `true` if an earlier failure waits for its cure.
    pub(super) fn record_success(&mut self, call: &str) -> bool {
        let waits = !self.failed_calls.is_empty();
        let call = digest(&[call]);
        self.failed_calls.retain(|other| *other != call);
        waits
    }

    /// Starts a visible context without earlier blocks and turns: the conversation is compacted, or starts anew.
    pub(super) fn start_visible_context(&mut self, now: Timestamp) {
        self.injected.clear();
        self.visible_since = Some(now);
    }

    /// Returns the time since which the model sees all turns.
    pub(super) fn visible_since(&self) -> Timestamp {
        self.visible_since.unwrap_or(Timestamp::UNIX_EPOCH)
    }
}

/// States of all conversations, one file each in the folder `hooks/` of a home.
#[derive(Debug)]
pub(super) struct ConversationStates {
    folder: PathBuf,
}

impl ConversationStates {
    /// Returns the states of a home.
    pub(super) fn in_home(home: &Path) -> Self {
        Self { folder: home.join("hooks") }
    }

    /// Reads the state of a conversation and writes it back if `change` changed it, one process at a time.
    pub(super) fn update<T>(
        &self,
        key: &str,
        change: impl FnOnce(&mut ConversationState) -> io::Result<T>,
    ) -> io::Result<T> {
        create_private_folder(&self.folder)?;
        let _lock = lock(&self.folder.join("lock"))?;
        let path = self.folder.join(format!("{}.json", digest(&[key])));
        let mut state: ConversationState = read_json(&path).unwrap_or_default();
        let before = state.clone();
        let result = change(&mut state)?;
        if state != before {
            write_json(&path, &state, false)?;
        }
        Ok(result)
    }

    /// Removes the state of conversations that ended long ago.
    pub(super) fn remove_stale(&self) {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let is_state = path.extension().is_some_and(|extension| extension == "json");
            if is_state && is_older_than(&entry, CONVERSATION_RETENTION) {
                // If that fails, the next drain tries again.
                let _ = remove_if_exists(&path);
            }
        }
    }
}

/// Returns `true` if a file was last written longer ago than this; a time in the future says nothing.
fn is_older_than(entry: &fs::DirEntry, limit: Duration) -> bool {
    let age = entry.metadata().and_then(|data| data.modified()).map(|at| at.elapsed());
    age.is_ok_and(|age| age.is_ok_and(|age| age > limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_comes_twice_is_one_and_one_said_again_is_another() {
        let mut state = ConversationState::default();
        assert_eq!((state.record_prompt("好的，继续"), state.record_prompt("好的，继续")), (1, 1));
        assert_eq!((state.record_answer(), state.record_answer()), (1, 1));
        assert_eq!(
            (state.record_prompt("好的，继续"), state.record_prompt("stop"), state.record_answer()),
            (2, 3, 3)
        );
    }

    #[test]
    fn successes_matter_while_a_call_has_failed() {
        let mut state = ConversationState::default();
        assert!(!state.record_success("make"));
        state.record_failure("make");
        assert!(state.record_success("./configure") && state.record_success("make"));
        assert!(!state.record_success("make"));
    }

    #[test]
    fn a_block_is_injected_once_until_the_conversation_is_compacted() {
        let mut state = ConversationState::default();
        assert!(
            state.record_if_new("tea") && !state.record_if_new("tea") && state.record_if_new("茶")
        );
        state.start_visible_context(Timestamp::UNIX_EPOCH);
        assert!(state.record_if_new("tea"));
    }
}
