//! The settings of one agent: some of those of the home, laid over them by a file of its own.

use serde_json::{Map, Value};

use super::{
    Config,
    overlay::{ConfigError, ConfigOverlay, ConfigWarning},
};
use crate::error::Result;

/// What an agent may have for itself. The rest is the home's: models, keys, prices and the server.
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

/// What agents share all the same: one index, lists that are read at the start, one ledger.
const SHARED_BY_AGENTS: [&str; 3] =
    ["memory.long_term.vector_index", "recall.domains", "upkeep.ledger_days"];

/// What holds for an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentConfig {
    /// All settings; where a value cannot be used, that of the home.
    pub config: Config,
    /// Those that are its own, such as `memory.inject.limit`.
    pub overridden: Vec<String>,
    /// What was given and is ignored.
    pub warnings: Vec<ConfigWarning>,
    /// Values that cannot be used.
    pub errors: Vec<ConfigError>,
}

/// Whether an agent may have a setting for itself.
pub fn is_overridable(path: &str) -> bool {
    let below = |section: &&str| {
        path.strip_prefix(*section).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    OVERRIDABLE.iter().any(below) && !SHARED_BY_AGENTS.contains(&path)
}

impl Config {
    /// Lays the text of an agent's own settings over these. An error if it is not TOML.
    pub fn for_agent(&self, text: &str) -> Result<AgentConfig> {
        let mut reader = ConfigOverlay::new(self)?.allowing_only(is_overridable);
        reader.apply_file(text)?;
        let config = reader.to_config()?;
        let (mut faults, own) = (reader.errors, reader.overridden);
        faults.extend(unsafe_overrides(&config, &own));
        let checked = config.validate();
        let is_its_own = |key: &str| own.iter().any(|own| own == key);
        faults.extend(checked.into_iter().filter(|problem| is_its_own(problem.key)).map(
            |problem| ConfigError {
                location: None,
                key: problem.key.to_owned(),
                message: problem.message,
            },
        ));
        let config =
            if faults.is_empty() { config } else { self.for_agent_skipping(text, &faults)? };
        Ok(AgentConfig { config, overridden: own, warnings: reader.warnings, errors: faults })
    }

    /// What a text says beside its faults.
    fn for_agent_skipping(&self, text: &str, faults: &[ConfigError]) -> Result<Self> {
        let faulty = faults.iter().map(|fault| fault.key.clone()).collect();
        let mut reader = ConfigOverlay::new(self)?.allowing_only(is_overridable).skipping(faulty);
        reader.apply_file(text)?;
        reader.to_config()
    }

    /// The settings that an agent may have for itself, by sections.
    pub fn overridable_values(&self) -> Map<String, Value> {
        self.select(&is_overridable)
    }

    /// Some settings, by sections.
    pub(super) fn select(&self, is_chosen: &dyn Fn(&str) -> bool) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(all)) => chosen(all, "", is_chosen),
            _ => Map::new(),
        }
    }
}

impl AgentConfig {
    /// Its own settings, by sections.
    pub fn overrides(&self) -> Map<String, Value> {
        self.config.select(&|path| self.overridden.iter().any(|own| own == path))
    }
}

/// What may only be changed to the safe side: an agent neither keeps secrets nor calls a model where others do not.
fn unsafe_overrides(config: &Config, own: &[String]) -> Vec<ConfigError> {
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
    let is_own = |key: &str| own.iter().any(|own| own == key);
    let broken = rules.into_iter().filter(|(key, is_safe, _)| !is_safe && is_own(key));
    let fault = |(key, _, why): (&str, _, &str)| ConfigError {
        location: None,
        key: key.into(),
        message: why.into(),
    };
    broken.map(fault).collect()
}

fn chosen(
    from: Map<String, Value>,
    above: &str,
    is_chosen: &dyn Fn(&str) -> bool,
) -> Map<String, Value> {
    let mut found = Map::new();
    for (key, value) in from {
        let path = if above.is_empty() { key.clone() } else { format!("{above}.{key}") };
        match value {
            Value::Object(inner) => {
                let inner = chosen(inner, &path, is_chosen);
                if !inner.is_empty() {
                    found.insert(key, Value::Object(inner));
                }
            }
            value if is_chosen(&path) => {
                found.insert(key, value);
            }
            _ => {}
        }
    }
    found
}
