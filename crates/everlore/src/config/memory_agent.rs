//! Settings of `[memory_agent]`: the language model that captures memories from conversations.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize, Serializer};

use super::{
    chat::validate_provider,
    validate::{InvalidSetting, settings},
};

/// Stand-in for a secret wherever settings are shown.
const REDACTED: &str = "[hidden]";

settings! {
    /// Language model that reads conversations and proposes memories. Without one, rules do.
    pub struct MemoryAgentConfig in "memory_agent" {
        /// `true` uses a language model. With `false` no model is ever called.
        pub enabled: bool = false;
        /// Provider of the model: "openai", "anthropic", "gemini", "ollama", "deepseek", "qwen", "moonshot", "zhipu",
        /// "openrouter", "mistral", "vllm", "lmstudio" or "other" (with `base_url` every server with OpenAI's protocol).
        pub provider: String = "openai".into();
        /// Model name as its provider spells it.
        pub model: String = String::new();
        /// Key for the provider. Better in the provider's variable, such as OPENAI_API_KEY, or in
        /// EVERLORE_MEMORY_AGENT__API_KEY than here. It is never shown.
        pub api_key: SecretString = SecretString::default();
        /// Command that prints the key, such as "pass show openai". It is run if no key is set.
        pub key_command: String = String::new();
        /// Address of the provider; empty for the provider's own.
        pub base_url: String = String::new();
        /// Longest silence of the model, before its answer and within it, such as "30s" or "2m". A model that
        /// is silent for longer is left out, and rules extract from those turns. From 1 second to 1 hour.
        #[serde(with = "jiff::fmt::serde::unsigned_duration::friendly::compact::required")]
        // A model on this machine reads a long conversation for most of a minute before its first word.
        pub timeout: Duration = Duration::from_secs(60);
        /// Extraction of memories from a conversation.
        pub extract: ExtractConfig = ExtractConfig::default();
        /// Summaries of long conversations.
        pub summarize: SummarizeConfig = SummarizeConfig::default();
        /// Cost limits of background work.
        pub budget: BudgetConfig = BudgetConfig::default();
    }
}

settings! {
    /// Extraction of memories from a conversation.
    pub struct ExtractConfig in "memory_agent.extract" {
        /// Exchanges after which memories are extracted from them. From 1 to 100.
        pub batch_size: usize = 5, in 1..=100;
        /// Most memories from one batch. From 1 to 1000.
        pub max_facts: usize = 10, in 1..=1_000;
        /// Least confidence of the model at which a memory is stored. From 0 to 1.
        pub min_confidence: f64 = 0.6, in 0.0..=1.0;
        /// `true` lets the model tag memories.
        pub auto_tag: bool = true;
        /// Silence after which a conversation is captured even if it is shorter than a batch, such as "10m". From 1 second
        /// to 1 week.
        #[serde(with = "jiff::fmt::serde::unsigned_duration::friendly::compact::required")]
        // Longer than a pause for thought, shorter than a break.
        pub quiet: Duration = Duration::from_secs(600);
        /// Most drafts in quarantine for each agent and user. From 1 to 100000.
        pub max_held: usize = 500, in 1..=100_000;
        /// Days after which drafts leave the quarantine. From 1 to 3650.
        pub held_days: usize = 90, in 1..=3_650;
    }
}

settings! {
    /// Summaries of long conversations.
    pub struct SummarizeConfig in "memory_agent.summarize" {
        /// `true` summarizes long conversations.
        pub enabled: bool = true;
        /// Tokens from which a conversation is summarized. From 100 to 10000000.
        pub trigger_tokens: usize = 8_000, in 100..=10_000_000;
        /// Model that writes summaries of conversations and overviews of long memories, as its provider spells it. Empty for
        /// the model of the conversation and, for overviews, that of [memory_agent].
        pub model: String = String::new();
        /// Provider of that model; empty for the provider of [memory_agent], with its key and address. Another provider's key
        /// is taken from its variable, such as OPENAI_API_KEY, or from `everlore onboard`.
        pub provider: String = String::new();
        /// Address of that provider; empty for the provider's own.
        pub base_url: String = String::new();
    }
}

settings! {
    /// Cost limits of background work. Above a cap it goes on by rules, without a model, until the next day.
    pub struct BudgetConfig in "memory_agent.budget" {
        /// Most tokens a day, read and written, for all agents and users together; 0 for no cap.
        pub daily_tokens: u64 = 0;
        /// Highest cost of a day, in the currency of the prices; 0 for no cap.
        pub daily_cost: f64 = 0.0, in 0.0..=1e9;
        /// Price of a million tokens that the model reads.
        pub price_read: f64 = 0.0, in 0.0..=1e9;
        /// Price of a million tokens that the model writes.
        pub price_written: f64 = 0.0, in 0.0..=1e9;
    }
}

impl SummarizeConfig {
    fn validate_provider(&self) -> Option<InvalidSetting> {
        let provider = self.provider.trim();
        let is_given = !provider.is_empty() && !self.model.trim().is_empty();
        is_given.then(|| validate_provider("memory_agent.summarize.provider", provider)).flatten()
    }
}

impl BudgetConfig {
    /// Returns the cost of these tokens.
    pub(crate) fn cost(&self, read: u64, written: u64) -> f64 {
        (read as f64 * self.price_read + written as f64 * self.price_written) / 1e6
    }

    fn validate(&self) -> Vec<InvalidSetting> {
        let priced = self.daily_cost == 0.0 || self.price_read + self.price_written > 0.0;
        let prices = (!priced).then(|| {
            InvalidSetting::new(
                "memory_agent.budget.daily_cost",
                "needs `price_read` and `price_written`",
            )
        });
        self.out_of_range().into_iter().chain(prices).collect()
    }
}

/// Text that is never shown: `Debug` and serialization give a stand-in.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct SecretString(String);

impl SecretString {
    /// Wraps `text` so that it is not shown.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text, for the request that must send it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Refuses the stand-in, which settings that were shown and read back carry: no provider would accept it.
    pub(super) fn validate(&self, key: &'static str) -> Option<InvalidSetting> {
        let stand_in = self.reveal() == REDACTED;
        stand_in.then(|| {
            InvalidSetting::new(key, "is the placeholder of a hidden key; set the key itself")
        })
    }

    fn redacted(&self) -> &'static str {
        if self.0.is_empty() { "" } else { REDACTED }
    }
}

impl fmt::Debug for SecretString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.redacted())
    }
}

impl Serialize for SecretString {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.redacted())
    }
}

impl MemoryAgentConfig {
    pub(super) fn validate(&self) -> Vec<InvalidSetting> {
        let Self { extract, summarize, .. } = self;
        let checks = [
            self.validate_model(),
            self.enabled
                .then(|| validate_provider("memory_agent.provider", &self.provider))
                .flatten(),
            self.api_key.validate("memory_agent.api_key"),
            summarize.validate_provider(),
            self.validate_timeout(),
            self.validate_quiet(),
        ];
        let ranges =
            [self.out_of_range(), extract.out_of_range(), summarize.out_of_range()].concat();
        let ranges = ranges.into_iter().chain(self.budget.validate());
        checks.into_iter().flatten().chain(ranges).collect()
    }

    fn validate_model(&self) -> Option<InvalidSetting> {
        let missing = self.enabled && (self.provider.is_empty() || self.model.is_empty());
        missing.then(|| {
            InvalidSetting::new(
                "memory_agent.model",
                "must be set, and `provider` too, when `enabled` is true",
            )
        })
    }

    fn validate_quiet(&self) -> Option<InvalidSetting> {
        let usable = (1..=604_800).contains(&self.extract.quiet.as_secs());
        let wrong =
            || InvalidSetting::new("memory_agent.extract.quiet", "must be from 1 second to 1 week");
        (!usable).then(wrong)
    }

    fn validate_timeout(&self) -> Option<InvalidSetting> {
        let usable = (1..=3_600).contains(&self.timeout.as_secs());
        (!usable)
            .then(|| InvalidSetting::new("memory_agent.timeout", "must be from 1 second to 1 hour"))
    }
}
