//! The settings that agents have of their own: what holds for the agent in use, and what is wrong with any.

use std::sync::Arc;

use everlore::{Config, Engine, files::agent_settings::SettingsFile, store::RamStore};

use crate::{context::Context, times};

impl Context {
    /// An engine on the files of the home, without its database.
    pub(crate) fn on_files(&self) -> Engine {
        Engine::new(Arc::new(RamStore::default()))
            .with_config(self.settings.config.clone())
            .with_home(&self.home)
            .with_zone(times::zone())
    }

    /// The settings of the agent: those of the home, with its own laid over them.
    pub(crate) fn agent_config(&self) -> Arc<Config> {
        self.on_files().settings(self.scope.agent())
    }
}

/// What the user should know of the file of the agent in use.
pub(crate) fn notes(cx: &Context) -> Vec<String> {
    let found = told(cx, &SettingsFile::of(&cx.home, cx.scope.agent()));
    found.into_iter().map(|(_, message)| format!("warning: {message}")).collect()
}

/// How many agents have a file, and what is wrong with any, each with whether it keeps the file from being used.
pub(crate) fn findings(cx: &Context) -> (usize, Vec<(bool, String)>) {
    let files = SettingsFile::all(&cx.home);
    (files.len(), files.iter().flat_map(|file| told(cx, file)).collect())
}

fn told(cx: &Context, file: &SettingsFile) -> Vec<(bool, String)> {
    let path = file.path().display();
    let text = match file.read() {
        Ok(None) => return Vec::new(),
        Ok(Some(text)) => text,
        Err(error) => return vec![(true, error.to_string())],
    };
    match cx.settings.config.for_agent(&text) {
        Err(error) => vec![(true, format!("{path}: {error}"))],
        Ok(laid) => {
            let faults = laid.faults.iter().map(|fault| (true, format!("{path}: {fault}")));
            let warnings = laid.warnings.iter().map(|it| (false, format!("{path}: {it}")));
            faults.chain(warnings).collect()
        }
    }
}
