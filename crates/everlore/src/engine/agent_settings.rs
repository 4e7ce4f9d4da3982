//! Agent settings: the settings of the home with the agent's overrides applied.

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
    text::secrets::secret_name,
    types::Scope,
};

/// Cache of the settings files of agents that have one.
#[derive(Default)]
pub(super) struct AgentSettingsCache(RwLock<HashMap<String, CachedAgentSettings>>);

/// Settings file as last read.
#[derive(Clone)]
struct CachedAgentSettings {
    /// File stamp, or the error of reading it.
    stamp: Result<FileStamp, String>,
    /// Settings in force for the agent.
    config: Arc<Config>,
    /// Set until the file has been readable once: until then the agent remembers nothing, because the file may forbid
    /// it.
    never_loaded: bool,
    /// Reason why the file's current content is not in force.
    problem: Option<Arc<str>>,
}

/// Settings of an agent, for display and editing.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgentSettings {
    /// Agent name.
    pub agent: String,
    /// Settings in force, by section: everything that an agent may override.
    pub settings: Map<String, Value>,
    /// The agent's overrides.
    pub own: Map<String, Value>,
    /// Warnings about ignored entries of its file.
    pub warnings: Vec<String>,
    /// Reason why its file is not in force.
    pub problem: Option<String>,
    /// Path of the file, which need not exist.
    #[serde(skip)]
    pub path: PathBuf,
    /// Text of the file.
    #[serde(skip)]
    pub text: String,
}

impl Engine {
    /// Returns the settings in force for an agent. Checks the agent's file and reads it only if it changed; while the
    /// file is unusable, its previous content stays in force.
    pub fn settings(&self, agent: &str) -> Arc<Config> {
        self.cached_settings(agent).map_or_else(|| Arc::clone(&self.config), |known| known.config)
    }

    /// Returns `true` if the agent has a settings file of its own.
    pub fn has_own_settings(&self, agent: &str) -> bool {
        self.cached_settings(agent).is_some()
    }

    /// Fails if the settings disable memory for the agent of a scope.
    pub(super) fn check_enabled(&self, scope: &Scope) -> Result<()> {
        let agent = scope.agent();
        let Some(known) = self.cached_settings(agent) else {
            return check_memory_enabled(&self.config, None);
        };
        match known.problem.filter(|_| known.never_loaded) {
            Some(what) => Err(Error::invalid(
                format!("the settings of this agent are invalid: {what}"),
                format!("fix them, or remove them with `everlore agent reset {agent}`"),
            )),
            None => check_memory_enabled(&known.config, Some(agent)),
        }
    }

    /// Checks that memory is enabled and that no name of the scope is a secret: names stand in uris, paths and logs, where
    /// nothing masks them.
    pub(super) fn check_writable(&self, scope: &Scope) -> Result<()> {
        self.check_enabled(scope)?;
        let names = [("agent", scope.agent()), ("user", scope.user())];
        let secret = names.into_iter().find_map(|(part, name)| Some((part, secret_name(name)?)));
        match secret.filter(|_| self.masks_secrets(scope)) {
            Some((part, kind)) => Err(Error::invalid(
                format!("the {part} name looks like a secret ({kind})"),
                format!("use a plain name, for example --{part} alice"),
            )),
            None => Ok(()),
        }
    }

    /// Returns an agent's settings, its overrides, and the problems of its file. Fails if the agent's name is invalid
    /// or the engine has no home.
    pub async fn agent_settings(&self, agent: &str) -> Result<AgentSettings> {
        let (engine, agent) = (self.clone(), agent.to_owned());
        run_blocking(move || {
            let text = engine.settings_file(&agent)?.read();
            engine.describe_settings(&agent, text)
        })
        .await
    }

    /// Patches an agent's overrides and returns its settings; they take effect at the next use. Fails with
    /// [`Error::Conflict`] if `is_expected` rejects the current settings, or if the patch is invalid.
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

    /// Removes all overrides of an agent, so that the settings of the home apply, and returns its settings. Fails with
    /// [`Error::Conflict`] if `is_expected` rejects the current settings.
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
        self.check_owner(format!("the settings of {agent}"))?;
        let (engine, agent) = (self.clone(), agent.to_owned());
        let written = run_blocking(move || {
            let file = engine.settings_file(&agent)?;
            file.update(|before| {
                let current = engine.describe_settings(&agent, Ok(before.map(str::to_owned)))?;
                if is_expected(&current) {
                    make(&current.text)
                } else {
                    Err(Error::Conflict { what: format!("the settings of {agent}") })
                }
            })?;
            engine.settings_cache.forget(&agent);
            engine.describe_settings(&agent, file.read())
        });
        self.write_files(written).await
    }

    fn settings_file(&self, agent: &str) -> Result<AgentSettingsFile> {
        let scope = Scope::new(agent, Scope::default().user())?;
        let home = self.home.as_ref().ok_or_else(|| {
            Error::invalid("there is no home folder", "build the engine with `EngineBuilder::home`")
        })?;
        Ok(AgentSettingsFile::for_agent(home, scope.agent()))
    }

    /// Returns the settings of an agent whose file contains `text`.
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
        let overlay = self.config.for_agent(&text);
        let (own, warnings) = overlay.as_ref().map_or_else(
            |_| Default::default(),
            |overlay| {
                (overlay.overrides(), overlay.warnings.iter().map(ToString::to_string).collect())
            },
        );
        let fault = match &overlay {
            Ok(overlay) => overlay.errors.first().map(ToString::to_string),
            Err(error) => Some(reason(error)),
        };
        let problem = problem.or(fault);
        let settings = match (&problem, known, overlay) {
            (None, _, Ok(overlay)) => overlay.config.overridable_values(),
            (_, Some(known), _) => known.config.overridable_values(),
            _ => self.config.overridable_values(),
        };
        Ok(AgentSettings { agent: agent.to_owned(), settings, own, warnings, problem, path, text })
    }

    /// Returns the cached settings of an agent, reloaded if its file changed; `None` if it has no file.
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

    /// Reads a changed file and logs its problems once.
    fn load_settings(
        &self,
        agent: &str,
        file: &AgentSettingsFile,
        stamp: Result<FileStamp, String>,
        before: Option<CachedAgentSettings>,
    ) -> CachedAgentSettings {
        let path = file.path().display();
        let read = file.read().and_then(|text| self.config.for_agent(&text.unwrap_or_default()));
        for warning in read.iter().flat_map(|overlay| &overlay.warnings) {
            tracing::warn!(agent, "{path}: {warning}");
        }
        let known = resolve_settings(&self.config, read, stamp, before);
        match &known.problem {
            Some(what) if known.never_loaded => {
                tracing::warn!(
                    agent,
                    "{path}: {what}: memory is off for this agent until the file is fixed"
                );
            }
            Some(what) => tracing::warn!(agent, "{path}: {what}: invalid settings are not applied"),
            None => {}
        }
        self.settings_cache.put(agent, known.clone());
        known
    }
}

/// Returns the settings in force, given the file's content now and before.
fn resolve_settings(
    home: &Config,
    read: Result<AgentConfig>,
    stamp: Result<FileStamp, String>,
    before: Option<CachedAgentSettings>,
) -> CachedAgentSettings {
    let before = before.filter(|known| !known.never_loaded).map(|known| known.config);
    let never_loaded = read.is_err() && before.is_none();
    let problem = match &read {
        Ok(overlay) => overlay.errors.first().map(|fault| fault.to_string().into()),
        Err(error) => Some(reason(error).into()),
    };
    let config = match (read, before) {
        (Ok(overlay), _) if overlay.errors.is_empty() => Arc::new(overlay.config),
        (_, Some(before)) => before,
        (Ok(overlay), None) => Arc::new(overlay.config),
        (Err(_), None) => Arc::new(with_memory_disabled(home)),
    };
    CachedAgentSettings { stamp, config, never_loaded, problem }
}

impl AgentSettingsCache {
    fn get(&self, agent: &str) -> Option<CachedAgentSettings> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(agent).cloned()
    }

    fn put(&self, agent: &str, known: CachedAgentSettings) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(agent.to_owned(), known);
    }

    /// Removes an agent. Most agents have no file, so the write lock is taken only if there is an entry.
    fn forget(&self, agent: &str) {
        if self.get(agent).is_some() {
            self.0.write().unwrap_or_else(PoisonError::into_inner).remove(agent);
        }
    }
}

/// Returns the settings with memory disabled.
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

/// Returns the error without the path, which only the owner should see.
fn reason(error: &Error) -> String {
    match error {
        Error::Io { source, .. } => format!("the file cannot be read: {source}"),
        error => error.to_string(),
    }
}
