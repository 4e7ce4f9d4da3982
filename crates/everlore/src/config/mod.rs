//! All settings, their defaults and their limits, as one tree of structs.
//!
//! The comments here are user documentation: a test generates `config.example.toml` and
//! `docs/reference/configuration.md` from them. File < environment < flags: [`Config::parse`] reads the text of a file,
//! [`Config::with_env`] overlays variables, and the caller overlays its flags. Nothing in this module opens a file or
//! reads the environment.

mod memory;
mod memory_agent;
mod chat;
mod providers;
mod embedding;
mod recall;
mod layers;
mod prompt;
mod upkeep;
mod heartbeat;
mod trajectories;
mod checks;
mod server;
pub(crate) mod redact_url;
mod store;
mod validate;
mod overlay;
mod agent_overrides;
mod agent_patch;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod agent_overrides_tests;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::types::Scope;

pub use agent_overrides::AgentConfig;
pub use agent_patch::AgentConfigPatch;
pub use chat::{ChatConfig, ModelSettings};
pub use checks::ChecksConfig;
pub use embedding::{EmbeddingConfig, EmbeddingProvider, VectorEncoding};
pub use heartbeat::{HeartbeatConfig, MissedRuns};
pub use layers::LayersConfig;
pub use memory::{InjectConfig, InjectTrigger, LongTermConfig, MemoryConfig, ShortTermConfig};
pub use memory_agent::{
    BudgetConfig, ExtractConfig, MemoryAgentConfig, SecretString, SummarizeConfig,
};
pub use overlay::{ConfigError, ConfigLocation, ConfigWarning};
pub use prompt::PromptConfig;
pub use providers::{CHAT_PROVIDERS, ChatProtocol, ChatProvider, chat_provider};
pub use recall::RecallConfig;
pub use server::ServerConfig;
pub use store::{AgentStoreUrl, StoreConfig, StoreUrl};
pub use trajectories::TrajectoriesConfig;
pub use upkeep::UpkeepConfig;
pub use validate::InvalidSetting;

use overlay::ConfigOverlay;

/// All settings of Everlore.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Config {
    /// Default agent and user, and the language.
    pub general: GeneralConfig,
    /// Database that holds the memories.
    pub store: StoreConfig,
    /// Storage of memories, and how much of them reaches the prompt.
    pub memory: MemoryConfig,
    /// Layered files SOUL, USER, MEMORY and DAILY.
    pub layers: LayersConfig,
    /// Parts of a prompt beside the layers.
    pub prompt: PromptConfig,
    /// Ranking of recall.
    pub recall: RecallConfig,
    /// Embedding model for recall by meaning.
    pub embedding: EmbeddingConfig,
    /// Language model that captures conversations.
    pub memory_agent: MemoryAgentConfig,
    /// Language model of `everlore chat`.
    pub chat: ChatConfig,
    /// Work between turns.
    pub upkeep: UpkeepConfig,
    /// Jobs that run by themselves.
    pub heartbeat: HeartbeatConfig,
    /// Recording of the steps of an agent.
    pub trajectories: TrajectoriesConfig,
    /// Verification of memories during recall.
    pub checks: ChecksConfig,
    /// Memory over HTTP.
    pub server: ServerConfig,
}

/// Agent and user of a command that names none, and the language of the texts that Everlore writes into prompts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GeneralConfig {
    /// Agent whose memory is used.
    pub agent: String,
    /// User that the memory is about.
    pub user: String,
    /// Language of guides and notes in prompts: "auto" follows the conversation, "en" is English, "zh" is Chinese.
    pub language: LanguageChoice,
}

/// Language of the texts that Everlore writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LanguageChoice {
    /// Language of the conversation.
    #[default]
    Auto,
    /// English.
    En,
    /// Chinese.
    Zh,
}

impl Config {
    /// Parses the text of a TOML file over the defaults.
    ///
    /// A setting that does not exist is reported and ignored, so that a file written for another version still works. A
    /// value of the wrong type is an error that names the line.
    pub fn parse(text: &str) -> Result<(Self, Vec<ConfigWarning>)> {
        let mut reader = ConfigOverlay::new(&Self::default())?;
        reader.apply_file(text)?;
        reader.finish()
    }

    /// Overlays environment variables: `EVERLORE_MEMORY__INJECT__LIMIT=3` sets `memory.inject.limit`.
    ///
    /// An empty variable counts as not set. An `EVERLORE_` variable that names no setting is reported.
    pub fn with_env(
        &self,
        vars: impl IntoIterator<Item = (String, String)>,
    ) -> Result<(Self, Vec<ConfigWarning>)> {
        let mut reader = ConfigOverlay::new(self)?;
        reader.apply_env(vars);
        reader.finish()
    }

    /// Lists every value that is out of range or contradicts another one.
    pub fn validate(&self) -> Vec<InvalidSetting> {
        let sections = [
            self.general.validate(),
            self.store.validate(),
            self.memory.validate(),
            self.layers.out_of_range(),
            self.prompt.out_of_range(),
            self.recall.out_of_range(),
            self.embedding.validate(),
            self.memory_agent.validate(),
            self.chat.validate(),
            self.upkeep.validate(),
            self.heartbeat.validate(),
            self.trajectories.out_of_range(),
            self.checks.out_of_range(),
            self.server.validate(),
        ];
        sections.concat()
    }

    /// Returns all settings as TOML, with keys hidden.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("settings are sections of plain values")
    }
}

impl GeneralConfig {
    fn validate(&self) -> Vec<InvalidSetting> {
        let agent = Scope::new(&self.agent, "default")
            .err()
            .map(|cause| invalid_name("general.agent", &cause));
        let user = Scope::new("default", &self.user)
            .err()
            .map(|cause| invalid_name("general.user", &cause));
        agent.into_iter().chain(user).collect()
    }
}

fn invalid_name(key: &'static str, cause: &Error) -> InvalidSetting {
    InvalidSetting::new(key, format!("cannot be used: {cause}"))
}

impl Default for GeneralConfig {
    fn default() -> Self {
        Self { agent: "default".into(), user: "default".into(), language: LanguageChoice::Auto }
    }
}
