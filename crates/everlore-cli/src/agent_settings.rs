//! The settings that agents have of their own: what holds for the agent in use, and what is wrong with any.

use std::sync::Arc;

use everlore::{Config, Engine, files::agent_settings::AgentSettingsFile, store::RamStore};

use crate::{cli_context::CliContext, times};

impl CliContext {
    /// An engine on the files of the home, without its database.
    pub(crate) fn files_only_engine(&self) -> Engine {
        Engine::builder(Arc::new(RamStore::default()))
            .config(self.settings.config.clone())
            .home(&self.home)
            .zone(times::local_zone())
            .build()
    }

    /// The settings of the agent: those of the home, with its own laid over them.
    pub(crate) fn agent_config(&self) -> Arc<Config> {
        self.files_only_engine().settings(self.scope.agent())
    }
}

/// What the user should know of the file of the agent in use.
pub(crate) fn agent_notes(cx: &CliContext) -> Vec<String> {
    let found = settings_problems(cx, &AgentSettingsFile::for_agent(&cx.home, cx.scope.agent()));
    found.into_iter().map(|(_, message)| format!("warning: {message}")).collect()
}

/// How many agents have a file, and what is wrong with any, each with whether it keeps the file from being used.
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
        Ok(laid) => {
            let faults = laid.errors.iter().map(|fault| (true, format!("{path}: {fault}")));
            let warnings = laid.warnings.iter().map(|it| (false, format!("{path}: {it}")));
            faults.chain(warnings).collect()
        }
    }
}
