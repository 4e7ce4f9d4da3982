//! Settings of `[memory_agent]`: the language model that captures memories from conversations.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize, Serializer};

use super::{
    chat::validate_provider,
    validate::{InvalidSetting, check_range},
};

/// Stand-in for a secret wherever settings are shown.
const REDACTED: &str = "[hidden]";

/// Language model that reads conversations and proposes memories. Without one, rules do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryAgentConfig {
    /// `true` uses a language model. With `false` no model is ever called.
    pub enabled: bool,
    /// Provider of the model: "openai" (with `base_url` every server with its protocol), "anthropic", "gemini",
    /// "ollama", "deepseek", "qwen", "moonshot", "zhipu", "openrouter", "mistral", "vllm" or "lmstudio".
    pub provider: String,
    /// Model name as its provider spells it.
    pub model: String,
    /// Key for the provider. Better in the provider's variable, such as OPENAI_API_KEY, or in
    /// EVERLORE_MEMORY_AGENT__API_KEY than here. It is never shown.
    pub api_key: SecretString,
    /// Command that prints the key, such as "pass show openai". It is run if no key is set.
    pub key_command: String,
    /// Address of the provider; empty for the provider's own.
    pub base_url: String,
    /// Longest silence of the model, before its answer and within it, such as "30s" or "2m". A model that
    /// is silent for longer is left out, and rules extract from those turns. From 1 second to 1 hour.
    #[serde(with = "jiff::fmt::serde::unsigned_duration::friendly::compact::required")]
    pub timeout: Duration,
    /// Extraction of memories from a conversation.
    pub extract: ExtractConfig,
    /// Summaries of long conversations.
    pub summarize: SummarizeConfig,
    /// Cost limits of background work.
    pub budget: BudgetConfig,
}

/// Extraction of memories from a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExtractConfig {
    /// Exchanges after which memories are extracted from them. From 1 to 100.
    pub batch_size: usize,
    /// Most memories from one batch. From 1 to 1000.
    pub max_facts: usize,
    /// Least confidence of the model at which a memory is stored. From 0 to 1.
    pub min_confidence: f64,
    /// `true` lets the model tag memories.
    pub auto_tag: bool,
    /// Silence after which a conversation is captured even if it is shorter than a batch, such as "10m". From 1 second
    /// to 1 week.
    #[serde(with = "jiff::fmt::serde::unsigned_duration::friendly::compact::required")]
    pub quiet: Duration,
    /// Most drafts in quarantine for each agent and user. From 1 to 100000.
    pub max_held: usize,
    /// Days after which drafts leave the quarantine. From 1 to 3650.
    pub held_days: usize,
}

/// Summaries of long conversations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SummarizeConfig {
    /// `true` summarizes long conversations.
    pub enabled: bool,
    /// Tokens from which a conversation is summarized. From 100 to 10000000.
    pub trigger_tokens: usize,
}

/// Cost limits of background work. Above a cap it goes on by rules, without a model, until the next day.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BudgetConfig {
    /// Most tokens a day, read and written, for all agents and users together; 0 for no cap.
    pub daily_tokens: u64,
    /// Highest cost of a day, in the currency of the prices; 0 for no cap.
    pub daily_cost: f64,
    /// Price of a million tokens that the model reads.
    pub price_read: f64,
    /// Price of a million tokens that the model writes.
    pub price_written: f64,
}

impl BudgetConfig {
    /// Returns the cost of these tokens.
    pub(crate) fn cost(&self, read: u64, written: u64) -> f64 {
        (read as f64 * self.price_read + written as f64 * self.price_written) / 1e6
    }

    fn validate(&self) -> Vec<InvalidSetting> {
        let amount = |key, value: f64| check_range(key, value, 0.0..=1e9);
        let priced = self.daily_cost == 0.0 || self.price_read + self.price_written > 0.0;
        let prices = (!priced).then(|| {
            InvalidSetting::new(
                "memory_agent.budget.daily_cost",
                "needs `price_read` and `price_written`",
            )
        });
        let checks = [
            amount("memory_agent.budget.daily_cost", self.daily_cost),
            amount("memory_agent.budget.price_read", self.price_read),
            amount("memory_agent.budget.price_written", self.price_written),
            prices,
        ];
        checks.into_iter().flatten().collect()
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
            self.validate_timeout(),
            check_range("memory_agent.extract.batch_size", extract.batch_size, 1..=100),
            check_range("memory_agent.extract.max_facts", extract.max_facts, 1..=1_000),
            check_range("memory_agent.extract.max_held", extract.max_held, 1..=100_000),
            check_range("memory_agent.extract.held_days", extract.held_days, 1..=3_650),
            self.validate_quiet(),
            check_range("memory_agent.extract.min_confidence", extract.min_confidence, 0.0..=1.0),
            check_range(
                "memory_agent.summarize.trigger_tokens",
                summarize.trigger_tokens,
                100..=10_000_000,
            ),
        ];
        checks.into_iter().flatten().chain(self.budget.validate()).collect()
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

impl Default for MemoryAgentConfig {
    fn default() -> Self {
        Self {
            enabled: false,
            provider: "openai".into(),
            model: String::new(),
            api_key: SecretString::default(),
            key_command: String::new(),
            base_url: String::new(),
            // A model on this machine reads a long conversation for most of a minute before its first word.
            timeout: Duration::from_secs(60),
            extract: ExtractConfig::default(),
            summarize: SummarizeConfig::default(),
            budget: BudgetConfig::default(),
        }
    }
}

impl Default for ExtractConfig {
    fn default() -> Self {
        Self {
            batch_size: 5,
            max_facts: 10,
            min_confidence: 0.6,
            auto_tag: true,
            // Longer than a pause for thought, shorter than a break.
            quiet: Duration::from_secs(600),
            max_held: 500,
            held_days: 90,
        }
    }
}

impl Default for SummarizeConfig {
    fn default() -> Self {
        Self { enabled: true, trigger_tokens: 8_000 }
    }
}
