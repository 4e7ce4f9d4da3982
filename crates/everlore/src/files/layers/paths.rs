//! Paths of the files of an agent and a user.
//!
//! The agent and the user called `default` live in the home itself; others in `agents/NAME` and `users/NAME` below it.
//! SOUL.md is the agent's; everything else belongs to one agent and one user.

use std::{
    fs,
    path::{Path, PathBuf},
};

use jiff::civil::Date;

use super::Layer;
use crate::{
    files::home::{agent_folder, scope_folder},
    types::Scope,
};

/// Folders of a scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LayerPaths {
    /// Folder of the agent.
    pub(super) agent: PathBuf,
    /// Folder of the agent's memories of the user.
    pub(super) memories: PathBuf,
}

impl LayerPaths {
    pub(super) fn for_scope(home: &Path, scope: &Scope) -> Self {
        let (agent, user) = (agent_folder(home, scope.agent()), scope_folder(home, scope));
        Self { agent, memories: user.join("memories") }
    }

    /// Returns the file of a layer; of the daily log, that of `day`.
    pub(super) fn file(&self, layer: Layer, day: Date) -> PathBuf {
        match layer {
            Layer::Soul => self.agent.join("SOUL.md"),
            Layer::User => self.memories.join("USER.md"),
            Layer::Memory => self.memories.join("MEMORY.md"),
            Layer::Daily => self.daily_folder().join(format!("{day}.md")),
        }
    }

    /// Returns the history file of a layer, without its extension.
    pub(super) fn history_stem(&self, layer: Layer, day: Date) -> PathBuf {
        match layer {
            Layer::Soul => self.agent.join(".history").join("SOUL"),
            Layer::User => self.history_folder().join("USER"),
            Layer::Memory => self.history_folder().join("MEMORY"),
            Layer::Daily => self.history_folder().join(format!("daily-{day}")),
        }
    }

    /// Returns the folder of the user's histories.
    pub(super) fn history_folder(&self) -> PathBuf {
        self.memories.join(".history")
    }

    /// Returns the folder of the days that are still in the prompt.
    pub(super) fn daily_folder(&self) -> PathBuf {
        self.memories.join("daily")
    }

    /// Returns the folder of archived days.
    pub(super) fn archive_folder(&self) -> PathBuf {
        self.daily_folder().join("archive")
    }
}

/// Returns the folders of every agent and user below a home.
pub(super) fn all_in_home(home: &Path) -> Vec<LayerPaths> {
    let agents = std::iter::once(home.to_owned()).chain(subfolders(&home.join("agents")));
    let scopes_of = |agent: PathBuf| {
        let users = std::iter::once(agent.clone()).chain(subfolders(&agent.join("users")));
        let scope =
            |user: PathBuf| LayerPaths { agent: agent.clone(), memories: user.join("memories") };
        users.map(scope).collect::<Vec<_>>()
    };
    agents.flat_map(scopes_of).collect()
}

fn subfolders(below: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(below) else { return Vec::new() };
    let mut folders: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    folders.retain(|path| path.is_dir());
    folders.sort();
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_scope_has_its_own_files_and_only_the_soul_is_shared() {
        let file = |agent: &str, user: &str, layer| {
            let scope = Scope::new(agent, user).unwrap();
            let day = jiff::civil::date(2026, 3, 2);
            let path = LayerPaths::for_scope(Path::new("/h"), &scope).file(layer, day);
            path.to_str().unwrap().replace('\\', "/")
        };
        assert_eq!(file("default", "default", Layer::Soul), "/h/SOUL.md");
        assert_eq!(file("default", "default", Layer::Daily), "/h/memories/daily/2026-03-02.md");
        assert_eq!(file("default", "bob", Layer::User), "/h/users/bob/memories/USER.md");
        assert_eq!(file("anna", "bob", Layer::Soul), "/h/agents/anna/SOUL.md");
        assert_eq!(file("anna", "bob", Layer::User), "/h/agents/anna/users/bob/memories/USER.md");
    }
}
