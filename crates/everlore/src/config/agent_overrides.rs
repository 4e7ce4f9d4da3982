//! Overrides of one agent: a file of its own over some settings of the home.

use serde_json::{Map, Value};

use super::{
    Config,
    overlay::{ConfigError, ConfigOverlay, ConfigWarning},
};
use crate::error::Result;

/// Sections that an agent may override. The rest belongs to the home: models, keys, prices and the server.
const OVERRIDABLE: [&str; 9] = [
    "general.language",
    "memory",
    "layers",
    "prompt",
    "recall",
    "memory_agent.enabled",
    "memory_agent.extract",
    "memory_agent.summarize",
    "upkeep",
];

/// Settings in those sections that all agents share: one index, lists and models that are read at the start, one ledger.
const SHARED_BY_AGENTS: [&str; 6] = [
    "memory.long_term.vector_index",
    "memory_agent.summarize.model",
    "memory_agent.summarize.provider",
    "memory_agent.summarize.base_url",
    "recall.domains",
    "upkeep.ledger_days",
];

/// Settings of one agent.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentConfig {
    /// All settings; the home's value where the agent's is unusable.
    pub config: Config,
    /// Overridden settings, such as `memory.inject.limit`.
    pub overridden: Vec<String>,
    /// Settings that were given and are ignored.
    pub warnings: Vec<ConfigWarning>,
    /// Unusable values.
    pub errors: Vec<ConfigError>,
}

/// Returns `true` if an agent may override the setting.
pub(super) fn is_overridable(path: &str) -> bool {
    let below = |section: &&str| {
        path.strip_prefix(*section).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    OVERRIDABLE.iter().any(below) && !SHARED_BY_AGENTS.contains(&path)
}

impl Config {
    /// Overlays the text of an agent's own settings. An error if it is not TOML.
    pub fn for_agent(&self, text: &str) -> Result<AgentConfig> {
        let mut reader = ConfigOverlay::new(self)?.allowing_only(is_overridable);
        reader.apply_file(text)?;
        let config = reader.to_config()?;
        let (mut errors, overridden) = (reader.errors, reader.overridden);
        errors.extend(unsafe_overrides(&config, &overridden));
        let checked = config.validate();
        let is_overridden = |key: &str| overridden.iter().any(|path| path == key);
        errors.extend(checked.into_iter().filter(|problem| is_overridden(problem.key)).map(
            |problem| ConfigError {
                location: None,
                key: problem.key.to_owned(),
                message: problem.message,
            },
        ));
        let config =
            if errors.is_empty() { config } else { self.for_agent_skipping(text, &errors)? };
        Ok(AgentConfig { config, overridden, warnings: reader.warnings, errors })
    }

    /// Overlays a text without its faulty settings.
    fn for_agent_skipping(&self, text: &str, errors: &[ConfigError]) -> Result<Self> {
        let faulty = errors.iter().map(|error| error.key.clone()).collect();
        let mut reader = ConfigOverlay::new(self)?.allowing_only(is_overridable).skipping(faulty);
        reader.apply_file(text)?;
        reader.to_config()
    }

    /// Returns the settings that an agent may override, by sections.
    pub fn overridable_values(&self) -> Map<String, Value> {
        self.select(&is_overridable)
    }

    /// Returns some settings, by sections.
    pub(super) fn select(&self, is_selected: &dyn Fn(&str) -> bool) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(all)) => select_values(all, "", is_selected),
            _ => Map::new(),
        }
    }
}

impl AgentConfig {
    /// Returns the overridden settings, by sections.
    pub fn overrides(&self) -> Map<String, Value> {
        self.config.select(&|path| self.overridden.iter().any(|overridden| overridden == path))
    }
}

/// Lists overrides to the unsafe side: an agent must not store secrets or call a model where the home does not.
fn unsafe_overrides(config: &Config, overridden: &[String]) -> Vec<ConfigError> {
    let rules = [
        (
            "memory.mask_secrets",
            config.memory.mask_secrets,
            "may only be true for one agent: it cannot switch masking off",
        ),
        (
            "memory_agent.enabled",
            !config.memory_agent.enabled,
            "may only be false for one agent: a model is set for all in config.toml",
        ),
    ];
    let is_overridden = |key: &str| overridden.iter().any(|path| path == key);
    let broken = rules.into_iter().filter(|(key, is_safe, _)| !is_safe && is_overridden(key));
    let error = |(key, _, why): (&str, _, &str)| ConfigError {
        location: None,
        key: key.into(),
        message: why.into(),
    };
    broken.map(error).collect()
}

fn select_values(
    from: Map<String, Value>,
    above: &str,
    is_selected: &dyn Fn(&str) -> bool,
) -> Map<String, Value> {
    let mut selected = Map::new();
    for (key, value) in from {
        let path = if above.is_empty() { key.clone() } else { format!("{above}.{key}") };
        match value {
            Value::Object(inner) => {
                let inner = select_values(inner, &path, is_selected);
                if !inner.is_empty() {
                    selected.insert(key, Value::Object(inner));
                }
            }
            value if is_selected(&path) => {
                selected.insert(key, value);
            }
            _ => {}
        }
    }
    selected
}
