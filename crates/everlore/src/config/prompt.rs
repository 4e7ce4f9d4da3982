//! Settings of `[prompt]`: what stands in a prompt beside the layers.

use serde::{Deserialize, Serialize};

/// What a prompt holds beside the layers. What stands in it is set when a conversation begins and stays so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PromptConfig {
    /// Whether the agent is told how to use its memory. `prompts/guide.md` in the home replaces the text that comes with
    /// Everlore; `guide_en.md` and `guide_zh.md` replace it for one language.
    pub guide: bool,
    /// Whether the agent sees the index of its vault, 200 lines of it at most.
    pub index: bool,
}

impl Default for PromptConfig {
    fn default() -> Self {
        Self { guide: true, index: true }
    }
}
