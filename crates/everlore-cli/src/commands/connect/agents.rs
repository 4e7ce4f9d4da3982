//! Table of the coding agents that can be connected: their names and their settings files.

use std::path::{Path, PathBuf};

use crate::commands::hook::HookHost;

/// Coding agent that can be connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CodingAgent {
    ClaudeCode,
    Codex,
    Gemini,
    QwenCode,
    Opencode,
    Cursor,
    Cline,
    Continue,
    Aider,
    Vscode,
    Windsurf,
    Zed,
    ClaudeDesktop,
}

/// Folders in which agents keep their settings.
#[derive(Debug, Clone)]
pub(super) struct AgentPaths {
    /// The user's home folder.
    pub(super) user_home: PathBuf,
    /// Configuration folder of the system, such as `~/.config`.
    pub(super) config_folder: PathBuf,
    /// Folder in which desktop applications keep their settings.
    pub(super) app_folder: PathBuf,
    /// `CLAUDE_CONFIG_DIR`.
    pub(super) claude_folder: Option<PathBuf>,
    /// `CODEX_HOME`.
    pub(super) codex_folder: Option<PathBuf>,
    /// Project folder, if only the project is to be connected.
    pub(super) project: Option<PathBuf>,
}

everlore::types::variant_names! { pub(super) CodingAgent:
    ClaudeCode = "claude-code", Codex = "codex", Gemini = "gemini", QwenCode = "qwen-code",
    Opencode = "opencode", Cursor = "cursor", Cline = "cline", Continue = "continue",
    Aider = "aider", Vscode = "vscode", Windsurf = "windsurf", Zed = "zed",
    ClaudeDesktop = "claude-desktop",
}

/// Other names of agents: what people call them, their programs and their packages.
const OTHER_NAMES: [(&str, CodingAgent); 28] = [
    ("claude", CodingAgent::ClaudeCode),
    ("claudecode", CodingAgent::ClaudeCode),
    ("cc", CodingAgent::ClaudeCode),
    ("openai-codex", CodingAgent::Codex),
    ("codex-cli", CodingAgent::Codex),
    ("gemini-cli", CodingAgent::Gemini),
    ("google-gemini", CodingAgent::Gemini),
    ("qwen", CodingAgent::QwenCode),
    ("qwen-cli", CodingAgent::QwenCode),
    ("qwencode", CodingAgent::QwenCode),
    ("open-code", CodingAgent::Opencode),
    ("opencode-ai", CodingAgent::Opencode),
    ("cursor-cli", CodingAgent::Cursor),
    ("cline-cli", CodingAgent::Cline),
    ("cn", CodingAgent::Continue),
    ("continuedev", CodingAgent::Continue),
    ("continue-dev", CodingAgent::Continue),
    ("aider-chat", CodingAgent::Aider),
    ("vs", CodingAgent::Vscode),
    ("vs-code", CodingAgent::Vscode),
    ("code", CodingAgent::Vscode),
    ("copilot", CodingAgent::Vscode),
    ("github-copilot", CodingAgent::Vscode),
    ("通义", CodingAgent::QwenCode),
    ("通义千问", CodingAgent::QwenCode),
    ("visual-studio-code", CodingAgent::Vscode),
    ("zed-editor", CodingAgent::Zed),
    ("claude-app", CodingAgent::ClaudeDesktop),
];

impl CodingAgent {
    /// Finds an agent by its name or another name for it, in any case and with blanks or underscores for hyphens.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        let name = name.trim().to_lowercase().replace([' ', '_'], "-");
        let known = Self::ALL.into_iter().find(|agent| agent.as_str() == name);
        let other = || OTHER_NAMES.into_iter().find(|(other, _)| *other == name);
        known.or_else(|| other().map(|(_, agent)| agent))
    }

    /// Returns the agent as a host of hooks, if it calls any.
    pub(super) fn host(self) -> Option<HookHost> {
        HookHost::from_name(self.as_str())
    }

    /// Returns `true` if the agent can be reached by the memory proxy through its settings.
    pub(super) fn has_proxy(self) -> bool {
        matches!(self, Self::Continue | Self::Aider)
    }

    /// Returns `true` if the agent has settings on this machine.
    pub(super) fn is_installed(self, paths: &AgentPaths) -> bool {
        self.install_folder(paths).is_dir()
            || (self == Self::Aider && paths.user_home.join(".aider.conf.yml").is_file())
    }

    /// Returns the settings folder, whose existence means that the agent is installed.
    pub(super) fn install_folder(self, paths: &AgentPaths) -> PathBuf {
        let AgentPaths { user_home: home, config_folder, app_folder, .. } = paths;
        match self {
            Self::ClaudeCode => paths.claude_folder.clone().unwrap_or_else(|| home.join(".claude")),
            Self::Codex => paths.codex_folder.clone().unwrap_or_else(|| home.join(".codex")),
            Self::Gemini => home.join(".gemini"),
            Self::QwenCode => home.join(".qwen"),
            Self::Cursor => home.join(".cursor"),
            Self::Cline => home.join(".cline"),
            Self::Continue => home.join(".continue"),
            Self::Aider => home.join(".aider"),
            Self::Vscode => app_folder.join("Code").join("User"),
            Self::Windsurf => home.join(".codeium").join("windsurf"),
            Self::Zed => config_folder.join("zed"),
            Self::Opencode => config_folder.join("opencode"),
            Self::ClaudeDesktop => app_folder.join("Claude"),
        }
    }

    /// Returns the file that lists MCP servers; `None` if the agent, or a project, cannot have one.
    pub(super) fn tools_file(self, paths: &AgentPaths) -> Option<PathBuf> {
        match &paths.project {
            Some(project) => self.project_tools_file().map(|file| project.join(file)),
            None => self.user_tools_file(paths),
        }
    }

    fn project_tools_file(self) -> Option<&'static str> {
        Some(match self {
            Self::ClaudeCode => ".mcp.json",
            Self::Codex => ".codex/config.toml",
            Self::Gemini => ".gemini/settings.json",
            Self::QwenCode => ".qwen/settings.json",
            Self::Cursor => ".cursor/mcp.json",
            Self::Vscode => ".vscode/mcp.json",
            Self::Zed => ".zed/settings.json",
            Self::Opencode => "opencode.json",
            Self::Continue => ".continue/mcpServers/everlore.yaml",
            Self::Windsurf | Self::ClaudeDesktop | Self::Cline | Self::Aider => return None,
        })
    }

    fn user_tools_file(self, paths: &AgentPaths) -> Option<PathBuf> {
        let folder = self.install_folder(paths);
        Some(match self {
            // Beside the settings folder, unless CLAUDE_CONFIG_DIR moves that.
            Self::ClaudeCode => match &paths.claude_folder {
                Some(moved) => moved.join(".claude.json"),
                None => paths.user_home.join(".claude.json"),
            },
            Self::Codex => folder.join("config.toml"),
            Self::Gemini | Self::QwenCode | Self::Zed => folder.join("settings.json"),
            Self::Cursor | Self::Vscode => folder.join("mcp.json"),
            Self::Windsurf => folder.join("mcp_config.json"),
            Self::Opencode => folder.join("opencode.json"),
            Self::Cline => folder.join("data").join("settings").join("cline_mcp_settings.json"),
            Self::Continue => folder.join("config.yaml"),
            Self::ClaudeDesktop => folder.join("claude_desktop_config.json"),
            Self::Aider => return None,
        })
    }

    /// Returns the file that lists hooks, or that is a plugin which calls them.
    pub(super) fn hooks_file(host: HookHost, paths: &AgentPaths, folder: &Path) -> PathBuf {
        let project = |name: &str| paths.project.as_ref().map(|project| project.join(name));
        let folder = match host {
            HookHost::ClaudeCode => project(".claude"),
            HookHost::Codex => project(".codex"),
            HookHost::Gemini => project(".gemini"),
            HookHost::Cursor => project(".cursor"),
            HookHost::QwenCode => project(".qwen"),
            HookHost::Opencode => project(".opencode"),
        }
        .unwrap_or_else(|| folder.to_owned());
        match host {
            HookHost::ClaudeCode | HookHost::Gemini | HookHost::QwenCode => {
                folder.join("settings.json")
            }
            HookHost::Codex | HookHost::Cursor => folder.join("hooks.json"),
            HookHost::Opencode => folder.join("plugin").join("everlore.js"),
        }
    }

    /// Returns the file in which the agent reads where its model is; `None` if memory is not put there.
    pub(super) fn proxy_file(self, paths: &AgentPaths) -> Option<PathBuf> {
        let folder = paths.project.as_ref().unwrap_or(&paths.user_home);
        match self {
            Self::Aider => Some(folder.join(".aider.conf.yml")),
            Self::Continue if paths.project.is_none() => self.user_tools_file(paths),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_known_by_what_people_call_them() {
        for (name, agent) in [
            ("claude", CodingAgent::ClaudeCode),
            ("Claude Code", CodingAgent::ClaudeCode),
            ("QWEN", CodingAgent::QwenCode),
            ("gemini_cli", CodingAgent::Gemini),
            ("cn", CodingAgent::Continue),
        ] {
            assert_eq!(CodingAgent::from_name(name), Some(agent), "{name}");
        }
        assert_eq!(CodingAgent::from_name("claud"), None);
    }

    #[test]
    fn another_name_is_no_name_of_another_agent() {
        for (other, _) in OTHER_NAMES {
            assert!(CodingAgent::ALL.iter().all(|agent| agent.as_str() != other), "{other}");
        }
    }
}
