//! Settings of `[prompt]`: parts of a prompt beside the layers.

use super::validate::settings;

settings! {
    /// Parts of a prompt beside the layers. They are read when a conversation begins and stay the same until it ends.
    pub struct PromptConfig in "prompt" {
        /// `true` adds a guide for the agent to using its memory. `prompts/guide.md` in the home replaces the text that
        /// comes with Everlore; `guide_en.md` and `guide_zh.md` replace it for one language.
        pub guide: bool = true;
        /// `true` adds the index of the agent's vault, at most 200 lines of it.
        pub index: bool = true;
        /// The most tokens of the index of skills and workflows that you approved; 0 leaves it out.
        pub skills_tokens: usize = 400, in 0..=4_000;
    }
}
