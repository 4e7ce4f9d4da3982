//! Agents that a call selects: by name, or all that are installed.

use std::path::{Path, PathBuf};

use clap::Args;

use super::agents::{AgentPaths, CodingAgent};
use crate::{CliError, Result, near_words::nearest};

/// Shortest part of a name that is taken for it.
const MIN_NAME_PART: usize = 3;

#[derive(Debug, Args)]
pub(super) struct AgentSelectionArgs {
    /// Agents, such as claude-code
    #[arg(value_name = "AGENT")]
    pub(super) agents: Vec<String>,
    /// All agents that are installed
    #[arg(long, conflicts_with = "agents")]
    pub(super) all: bool,
    /// Only in this project; without DIR, in the current folder
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".")]
    pub(super) project: Option<PathBuf>,
}

impl AgentSelectionArgs {
    /// Returns the agents that are named, or those that are installed. `command` is the one to repeat after a slip.
    pub(super) fn selected_agents(
        &self,
        paths: &AgentPaths,
        command: &str,
    ) -> Result<Vec<CodingAgent>> {
        let installed = CodingAgent::ALL.into_iter().filter(|agent| agent.is_installed(paths));
        let known = CodingAgent::ALL.map(CodingAgent::as_str).join(", ");
        if self.all {
            let installed: Vec<_> = installed.collect();
            return if installed.is_empty() {
                let hint = format!("name one: {known}");
                Err(CliError::invalid("no agent was found on this machine", hint))
            } else {
                Ok(installed)
            };
        }
        if self.agents.is_empty() {
            let found: Vec<_> = installed.map(CodingAgent::as_str).collect();
            let found = if found.is_empty() { "none".to_owned() } else { found.join(", ") };
            return Err(CliError::invalid(
                "no agent is named",
                format!("name some of: {known}; or use --all for the installed ones: {found}"),
            ));
        }
        let named = |name: &String| {
            CodingAgent::from_name(name).ok_or_else(|| {
                let hint = match nearest_agent(name) {
                    Some(near) => format!("try `everlore {command} {near}`; agents: {known}"),
                    None => format!(
                        "choose one of: {known}; another agent that speaks MCP can start `everlore mcp`"
                    ),
                };
                CliError::invalid(format!("there is no agent `{name}`"), hint)
            })
        };
        self.agents.iter().map(named).collect()
    }

    /// Returns the folders of this machine and the project.
    pub(super) fn agent_paths(&self) -> Result<AgentPaths> {
        let user_home = std::env::home_dir().filter(|home| !home.as_os_str().is_empty());
        let user_home = user_home
            .ok_or_else(|| CliError::invalid("your home folder is not known", "set HOME"))?;
        let folder = |name: &str| {
            std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
        };
        let config_folder = folder("XDG_CONFIG_HOME").unwrap_or_else(|| user_home.join(".config"));
        let app_folder = match std::env::consts::OS {
            "macos" => user_home.join("Library").join("Application Support"),
            "windows" => {
                folder("APPDATA").unwrap_or_else(|| user_home.join("AppData").join("Roaming"))
            }
            _ => config_folder.clone(),
        };
        let project = self.project.as_deref().map(absolute).transpose()?;
        let (claude_folder, codex_folder) = (folder("CLAUDE_CONFIG_DIR"), folder("CODEX_HOME"));
        Ok(AgentPaths {
            user_home,
            config_folder,
            app_folder,
            claude_folder,
            codex_folder,
            project,
        })
    }
}

/// Returns the agent that a part of its name or a slip of the finger means.
fn nearest_agent(name: &str) -> Option<&'static str> {
    let (name, names) = (name.to_lowercase(), CodingAgent::ALL.map(CodingAgent::as_str));
    let begins = |known: &&str| name.len() >= MIN_NAME_PART && known.starts_with(&*name);
    names.into_iter().find(begins).or_else(|| nearest(&name, names))
}

/// Returns the agents that are installed on this machine.
pub(in crate::commands) fn installed_agents() -> Vec<&'static str> {
    let which = AgentSelectionArgs { agents: Vec::new(), all: true, project: None };
    let selected = which.agent_paths().and_then(|paths| which.selected_agents(&paths, "connect"));
    selected.unwrap_or_default().into_iter().map(CodingAgent::as_str).collect()
}

/// Returns the path from the root.
pub(super) fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).map_err(|error| CliError::io(path.display().to_string(), error))
}
