//! The settings of each agent: those of the home, with the agent's own laid over them.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, PoisonError, RwLock},
};

use serde::Serialize;
use serde_json::{Map, Value};

use super::Engine;
use crate::{
    config::{AgentConfig, AgentConfigPatch, Config},
    error::{Error, Result},
    files::agent_settings::{AgentSettingsFile, FileStamp},
    sync::run_blocking,
    types::Scope,
};

/// What is known of the files of agents that have one.
#[derive(Default)]
pub(super) struct AgentSettingsCache(RwLock<HashMap<String, CachedAgentSettings>>);

/// A file as it was last looked at.
#[derive(Clone)]
struct CachedAgentSettings {
    /// Its state, or why it could not be looked at.
    stamp: Result<FileStamp, String>,
    /// What holds for the agent.
    config: Arc<Config>,
    /// Whether nothing that could be read was seen yet: then the agent remembers nothing, because it may have been told not
    /// to.
    never_loaded: bool,
    /// Why what the file says now does not hold.
    problem: Option<Arc<str>>,
}

/// The settings of an agent, for those who look at them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgentSettings {
    /// The agent.
    pub agent: String,
    /// What holds for it, by sections: everything that an agent may have for itself.
    pub settings: Map<String, Value>,
    /// What of it is its own.
    pub own: Map<String, Value>,
    /// What its file says and is ignored.
    pub warnings: Vec<String>,
    /// Why what its file says does not hold.
    pub problem: Option<String>,
    /// The file, whether it exists or not.
    #[serde(skip)]
    pub path: PathBuf,
    /// What the file says.
    #[serde(skip)]
    pub text: String,
}

impl Engine {
    /// What holds for an agent now. Its file is looked at, and read only if it was changed; while it cannot be used, what
    /// it said before holds.
    pub fn settings(&self, agent: &str) -> Arc<Config> {
        self.cached_settings(agent).map_or_else(|| Arc::clone(&self.config), |known| known.config)
    }

    /// Whether an agent has settings of its own.
    pub fn has_own_settings(&self, agent: &str) -> bool {
        self.cached_settings(agent).is_some()
    }

    /// Refuses to remember where the settings say so.
    pub(super) fn check_enabled(&self, scope: &Scope) -> Result<()> {
        let agent = scope.agent();
        let Some(known) = self.cached_settings(agent) else {
            return check_memory_enabled(&self.config, None);
        };
        match known.problem.filter(|_| known.never_loaded) {
            Some(what) => Err(Error::invalid(
                format!("the agent's own settings cannot be used: {what}"),
                format!("mend them, or remove them with `everlore agent reset {agent}`"),
            )),
            None => check_memory_enabled(&known.config, Some(agent)),
        }
    }

    /// The settings of an agent and where they come from.
    pub async fn agent_settings(&self, agent: &str) -> Result<AgentSettings> {
        let (engine, agent) = (self.clone(), agent.to_owned());
        run_blocking(move || {
            let text = engine.settings_file(&agent)?.read();
            engine.describe_settings(&agent, text)
        })
        .await
    }

    /// Changes an agent's own settings, if they are still what the caller expects. They hold from the next use on.
    pub async fn change_agent_settings(
        &self,
        agent: &str,
        change: AgentConfigPatch,
        is_expected: impl Fn(&AgentSettings) -> bool + Send + 'static,
    ) -> Result<AgentSettings> {
        let config = Arc::clone(&self.config);
        let make = move |text: &str| config.patch_agent_config(text, &change).map(Some);
        self.write_settings(agent, make, is_expected).await
    }

    /// Removes all of an agent's own settings, so that those of the home hold.
    pub async fn reset_agent_settings(
        &self,
        agent: &str,
        is_expected: impl Fn(&AgentSettings) -> bool + Send + 'static,
    ) -> Result<AgentSettings> {
        self.write_settings(agent, |_| Ok(None), is_expected).await
    }

    async fn write_settings(
        &self,
        agent: &str,
        make: impl FnOnce(&str) -> Result<Option<String>> + Send + 'static,
        is_expected: impl Fn(&AgentSettings) -> bool + Send + 'static,
    ) -> Result<AgentSettings> {
        let (engine, agent) = (self.clone(), agent.to_owned());
        run_blocking(move || {
            let file = engine.settings_file(&agent)?;
            file.update(|before| {
                let seen = engine.describe_settings(&agent, Ok(before.map(str::to_owned)))?;
                match is_expected(&seen) {
                    true => make(&seen.text),
                    false => Err(Error::Conflict { what: format!("the settings of {agent}") }),
                }
            })?;
            engine.settings_cache.forget(&agent);
            engine.describe_settings(&agent, file.read())
        })
        .await
    }

    fn settings_file(&self, agent: &str) -> Result<AgentSettingsFile> {
        let scope = Scope::new(agent, Scope::default().user())?;
        let home = self.home.as_ref().ok_or_else(|| {
            Error::invalid("there is no home folder", "open the engine with `Engine::with_home`")
        })?;
        Ok(AgentSettingsFile::for_agent(home, scope.agent()))
    }

    /// What holds for an agent whose file says this.
    fn describe_settings(
        &self,
        agent: &str,
        text: Result<Option<String>>,
    ) -> Result<AgentSettings> {
        let path = self.settings_file(agent)?.path().to_owned();
        let known = self.cached_settings(agent);
        let (text, problem) = match text {
            Ok(text) => (text.unwrap_or_default(), None),
            Err(error) => (String::new(), Some(reason(&error))),
        };
        let laid = self.config.for_agent(&text);
        let (own, warnings) = laid.as_ref().map_or_else(
            |_| Default::default(),
            |laid| (laid.overrides(), laid.warnings.iter().map(ToString::to_string).collect()),
        );
        let fault = match &laid {
            Ok(laid) => laid.errors.first().map(ToString::to_string),
            Err(error) => Some(reason(error)),
        };
        let problem = problem.or(fault);
        let settings = match (&problem, known, laid) {
            (None, _, Ok(laid)) => laid.config.overridable_values(),
            (_, Some(known), _) => known.config.overridable_values(),
            _ => self.config.overridable_values(),
        };
        Ok(AgentSettings { agent: agent.to_owned(), settings, own, warnings, problem, path, text })
    }

    /// What is known of an agent's file; none if it has none.
    fn cached_settings(&self, agent: &str) -> Option<CachedAgentSettings> {
        let file = AgentSettingsFile::for_agent(self.home.as_ref()?, agent);
        let stamp = match file.stamp() {
            Ok(None) => {
                self.settings_cache.forget(agent);
                return None;
            }
            Ok(Some(stamp)) => Ok(stamp),
            Err(error) => Err(error.to_string()),
        };
        let before = self.settings_cache.get(agent);
        match before {
            Some(known) if known.stamp == stamp => Some(known),
            before => Some(self.load_settings(agent, &file, stamp, before)),
        }
    }

    /// Reads a file that was changed, and says once what is wrong with it.
    fn load_settings(
        &self,
        agent: &str,
        file: &AgentSettingsFile,
        stamp: Result<FileStamp, String>,
        before: Option<CachedAgentSettings>,
    ) -> CachedAgentSettings {
        let path = file.path().display();
        let read = file.read().and_then(|text| self.config.for_agent(&text.unwrap_or_default()));
        for warning in read.iter().flat_map(|laid| &laid.warnings) {
            tracing::warn!(agent, "{path}: {warning}");
        }
        let known = resolve_settings(&self.config, read, stamp, before);
        match &known.problem {
            Some(what) if known.never_loaded => {
                tracing::warn!(agent, "{path}: {what}: nothing is remembered for this agent");
            }
            Some(what) => tracing::warn!(agent, "{path}: {what}: what can be used holds"),
            None => {}
        }
        self.settings_cache.put(agent, known.clone());
        known
    }
}

/// What holds, by what the file says and by what it said before.
fn resolve_settings(
    home: &Config,
    read: Result<AgentConfig>,
    stamp: Result<FileStamp, String>,
    before: Option<CachedAgentSettings>,
) -> CachedAgentSettings {
    let before = before.filter(|known| !known.never_loaded).map(|known| known.config);
    let is_blind = read.is_err() && before.is_none();
    let trouble = match &read {
        Ok(laid) => laid.errors.first().map(|fault| fault.to_string().into()),
        Err(error) => Some(reason(error).into()),
    };
    let config = match (read, before) {
        (Ok(laid), _) if laid.errors.is_empty() => Arc::new(laid.config),
        (_, Some(before)) => before,
        (Ok(laid), None) => Arc::new(laid.config),
        (Err(_), None) => Arc::new(with_memory_disabled(home)),
    };
    CachedAgentSettings { stamp, config, never_loaded: is_blind, problem: trouble }
}

impl AgentSettingsCache {
    fn get(&self, agent: &str) -> Option<CachedAgentSettings> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(agent).cloned()
    }

    fn put(&self, agent: &str, known: CachedAgentSettings) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(agent.to_owned(), known);
    }

    /// Most agents have no file: nobody waits for a lock that is not needed.
    fn forget(&self, agent: &str) {
        if self.get(agent).is_some() {
            self.0.write().unwrap_or_else(PoisonError::into_inner).remove(agent);
        }
    }
}

/// The settings of a home, with nothing remembered and nothing told.
fn with_memory_disabled(config: &Config) -> Config {
    let mut config = config.clone();
    config.memory.enabled = false;
    config
}

fn check_memory_enabled(config: &Config, agent: Option<&str>) -> Result<()> {
    if config.memory.enabled {
        return Ok(());
    }
    Err(match agent {
        Some(agent) => Error::invalid(
            "memory is switched off for this agent",
            format!("switch it on: everlore agent set {agent} memory.enabled=true"),
        ),
        None => Error::invalid(
            "memory is switched off",
            "set enabled = true in the section [memory] of the settings",
        ),
    })
}

/// What went wrong, without where: that is the owner's business.
fn reason(error: &Error) -> String {
    match error {
        Error::Io { source, .. } => format!("the file cannot be read: {source}"),
        error => error.to_string(),
    }
}
