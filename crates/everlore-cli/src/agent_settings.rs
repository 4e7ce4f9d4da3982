//! Overrides of single agents: the effective settings of the agent in use, and problems in any override file.

use std::sync::Arc;

use everlore::{
    Config, Engine, internal::files::agent_settings::AgentSettingsFile, store::RamStore,
};

use crate::{CliContext, times};

impl CliContext {
    /// Returns an engine on the files of the home, without its database.
    pub(crate) fn files_only_engine(&self) -> Engine {
        Engine::builder(Arc::new(RamStore::default()))
            .config(self.settings.config.clone())
            .home(&self.home)
            .zone(times::local_zone())
            .build()
    }

    /// Returns the settings of the agent: those of the home with the agent's overrides.
    pub(crate) fn agent_config(&self) -> Arc<Config> {
        self.files_only_engine().settings(self.scope.agent())
    }
}

/// Returns warnings about the override file of the agent in use.
pub(crate) fn agent_notes(cx: &CliContext) -> Vec<String> {
    let problems = settings_problems(cx, &AgentSettingsFile::for_agent(&cx.home, cx.scope.agent()));
    problems.into_iter().map(|(_, message)| format!("warning: {message}")).collect()
}

/// Returns the number of override files and their problems, each with `true` if it makes the file unusable.
pub(crate) fn findings(cx: &CliContext) -> (usize, Vec<(bool, String)>) {
    let files = AgentSettingsFile::all(&cx.home);
    (files.len(), files.iter().flat_map(|file| settings_problems(cx, file)).collect())
}

fn settings_problems(cx: &CliContext, file: &AgentSettingsFile) -> Vec<(bool, String)> {
    let path = file.path().display();
    let text = match file.read() {
        Ok(None) => return Vec::new(),
        Ok(Some(text)) => text,
        Err(error) => return vec![(true, error.to_string())],
    };
    match cx.settings.config.for_agent(&text) {
        Err(error) => vec![(true, format!("{path}: {error}"))],
        Ok(overrides) => {
            let errors = overrides.errors.iter().map(|error| (true, format!("{path}: {error}")));
            let warnings = overrides.warnings.iter().map(|it| (false, format!("{path}: {it}")));
            errors.chain(warnings).collect()
        }
    }
}
