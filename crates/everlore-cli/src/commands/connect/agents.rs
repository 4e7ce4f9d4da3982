//! Table of the coding agents that can be connected: their settings files and the entries that go into them.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{
    json_entries::JsonEntry,
    toml_section::{TomlSection, TomlSetting},
};
use crate::{
    commands::hook::{CODEX_MAX_TOKENS, HookHost},
    render::shell_quote,
};

/// Name of our MCP server in the settings of agents.
const SERVER_NAME: &str = "everlore";

/// Environment variable from which agents read the server's token; no settings file contains the token.
pub(super) const TOKEN_VARIABLE: &str = "EVERLORE_TOKEN";

/// Timeout that an agent gives a hook; no hook takes that long.
const HOOK_TIMEOUT_SECONDS: u64 = 10;

/// Coding agent that can be connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CodingAgent {
    ClaudeCode,
    Codex,
    Gemini,
    Cursor,
    Vscode,
    Windsurf,
    Zed,
    Opencode,
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

/// Connection between an agent and the memory.
#[derive(Debug, Clone)]
pub(super) struct ConnectionSpec {
    /// Program with the options that select the home and the scope.
    pub(super) command: Vec<String>,
    /// MCP address of a server; `None` makes the agent start the program.
    pub(super) url: Option<String>,
    pub(super) tools: bool,
    pub(super) hooks: bool,
}

/// Entries for one settings file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FileEdit {
    pub(super) path: PathBuf,
    pub(super) content: EditContent,
}

/// Entries by the format of the file.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum EditContent {
    Json(Vec<JsonEntry>),
    Toml(TomlSection),
}

everlore::types::variant_names! { pub(super) CodingAgent:
    ClaudeCode = "claude-code", Codex = "codex", Gemini = "gemini", Cursor = "cursor",
    Vscode = "vscode", Windsurf = "windsurf", Zed = "zed", Opencode = "opencode",
    ClaudeDesktop = "claude-desktop",
}

impl CodingAgent {
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|agent| agent.as_str().eq_ignore_ascii_case(name))
    }

    /// Returns the agent as a host of hooks, if it calls any.
    pub(super) fn host(self) -> Option<HookHost> {
        HookHost::from_name(self.as_str())
    }

    /// Returns the settings folder, whose existence means that the agent is installed.
    pub(super) fn install_folder(self, paths: &AgentPaths) -> PathBuf {
        let AgentPaths { user_home: home, config_folder, app_folder, .. } = paths;
        match self {
            Self::ClaudeCode => paths.claude_folder.clone().unwrap_or_else(|| home.join(".claude")),
            Self::Codex => paths.codex_folder.clone().unwrap_or_else(|| home.join(".codex")),
            Self::Gemini => home.join(".gemini"),
            Self::Cursor => home.join(".cursor"),
            Self::Vscode => app_folder.join("Code").join("User"),
            Self::Windsurf => home.join(".codeium").join("windsurf"),
            Self::Zed => config_folder.join("zed"),
            Self::Opencode => config_folder.join("opencode"),
            Self::ClaudeDesktop => app_folder.join("Claude"),
        }
    }

    /// Returns the file that lists MCP servers; `None` if a project cannot have one.
    fn tools_file(self, paths: &AgentPaths) -> Option<PathBuf> {
        let folder = self.install_folder(paths);
        if let Some(project) = &paths.project {
            let file = match self {
                Self::ClaudeCode => ".mcp.json",
                Self::Codex => ".codex/config.toml",
                Self::Gemini => ".gemini/settings.json",
                Self::Cursor => ".cursor/mcp.json",
                Self::Vscode => ".vscode/mcp.json",
                Self::Zed => ".zed/settings.json",
                Self::Opencode => "opencode.json",
                Self::Windsurf | Self::ClaudeDesktop => return None,
            };
            return Some(project.join(file));
        }
        Some(match self {
            // Beside the settings folder, unless CLAUDE_CONFIG_DIR moves that.
            Self::ClaudeCode => match &paths.claude_folder {
                Some(moved) => moved.join(".claude.json"),
                None => paths.user_home.join(".claude.json"),
            },
            Self::Codex => folder.join("config.toml"),
            Self::Gemini | Self::Zed => folder.join("settings.json"),
            Self::Cursor | Self::Vscode => folder.join("mcp.json"),
            Self::Windsurf => folder.join("mcp_config.json"),
            Self::Opencode => folder.join("opencode.json"),
            Self::ClaudeDesktop => folder.join("claude_desktop_config.json"),
        })
    }

    /// Returns the file that lists hooks.
    fn hooks_file(host: HookHost, paths: &AgentPaths, folder: &Path) -> PathBuf {
        let project = |name: &str| paths.project.as_ref().map(|project| project.join(name));
        let folder = match host {
            HookHost::ClaudeCode => project(".claude"),
            HookHost::Codex => project(".codex"),
            HookHost::Gemini => project(".gemini"),
            HookHost::Cursor => project(".cursor"),
        }
        .unwrap_or_else(|| folder.to_owned());
        match host {
            HookHost::ClaudeCode | HookHost::Gemini => folder.join("settings.json"),
            HookHost::Codex | HookHost::Cursor => folder.join("hooks.json"),
        }
    }

    /// Returns the edits that connect the agent, one for each file.
    pub(super) fn edits(self, paths: &AgentPaths, spec: &ConnectionSpec) -> Vec<FileEdit> {
        let mut edits = Vec::new();
        if let Some(path) = self.tools_file(paths).filter(|_| spec.tools) {
            edits.extend(self.tools_entry(spec).map(|content| FileEdit { path, content }));
        }
        if let Some(host) = self.host().filter(|_| spec.hooks) {
            let path = Self::hooks_file(host, paths, &self.install_folder(paths));
            let hooks = hook_entries(host, spec);
            match edits.iter_mut().find(|edit| edit.path == path).map(|edit| &mut edit.content) {
                Some(EditContent::Json(entries)) => entries.extend(hooks),
                _ => edits.push(FileEdit { path, content: EditContent::Json(hooks) }),
            }
        }
        edits
    }

    /// Returns the entry for the MCP server; `None` if the agent cannot reach it this way.
    fn tools_entry(self, spec: &ConnectionSpec) -> Option<EditContent> {
        let (program, args) = spec.command.split_first()?;
        let args: Vec<&str> = args.iter().map(String::as_str).chain(["mcp"]).collect();
        if self == Self::Codex {
            return Some(EditContent::Toml(codex_section(program, &args, spec.url.as_deref())));
        }
        let value = match &spec.url {
            Some(url) => self.http_entry(url)?,
            None => self.stdio_entry(program, &args),
        };
        let path = vec![self.servers_key().to_owned()];
        Some(EditContent::Json(vec![JsonEntry::Member {
            path,
            key: SERVER_NAME.to_owned(),
            value,
        }]))
    }

    /// Returns the key of the object that lists MCP servers.
    fn servers_key(self) -> &'static str {
        match self {
            Self::Vscode => "servers",
            Self::Opencode => "mcp",
            Self::Zed => "context_servers",
            _ => "mcpServers",
        }
    }

    /// Returns the entry for a running server; `None` if the agent cannot read the token from the environment, since no
    /// file may contain it.
    fn http_entry(self, url: &str) -> Option<Value> {
        let bearer = |shape: &str| {
            let variable = shape.replace("NAME", TOKEN_VARIABLE);
            json!({ "Authorization": format!("Bearer {variable}") })
        };
        let env = || bearer("${env:NAME}");
        Some(match self {
            Self::ClaudeCode => json!({ "type": "http", "url": url, "headers": bearer("${NAME}") }),
            Self::Gemini => json!({ "httpUrl": url, "headers": bearer("${NAME}") }),
            Self::Cursor => json!({ "url": url, "headers": env() }),
            Self::Windsurf => json!({ "serverUrl": url, "headers": env() }),
            Self::Vscode => json!({ "type": "http", "url": url, "headers": env() }),
            Self::Opencode => {
                json!({ "type": "remote", "url": url, "enabled": true, "headers": bearer("{env:NAME}") })
            }
            Self::Codex | Self::Zed | Self::ClaudeDesktop => return None,
        })
    }

    /// Returns the entry that makes the agent start the program.
    fn stdio_entry(self, program: &str, args: &[&str]) -> Value {
        match self {
            Self::ClaudeCode | Self::Vscode => {
                json!({ "type": "stdio", "command": program, "args": args })
            }
            Self::Opencode => {
                let words: Vec<&str> = [program].into_iter().chain(args.iter().copied()).collect();
                json!({ "type": "local", "command": words, "enabled": true })
            }
            _ => json!({ "command": program, "args": args }),
        }
    }
}

fn codex_section(program: &str, args: &[&str], url: Option<&str>) -> TomlSection {
    let text = |text: &str| TomlSetting::Text(text.to_owned());
    let values = match url {
        Some(url) => vec![("url", text(url)), ("bearer_token_env_var", text(TOKEN_VARIABLE))],
        None => {
            let args = args.iter().map(|arg| (*arg).to_owned()).collect();
            vec![("command", text(program)), ("args", TomlSetting::List(args))]
        }
    };
    TomlSection { parent: "mcp_servers", name: SERVER_NAME, values }
}

/// Returns one entry for each event that the host should call.
fn hook_entries(host: HookHost, spec: &ConnectionSpec) -> Vec<JsonEntry> {
    let version = JsonEntry::Required { key: "version", value: json!(1) };
    let version = (host == HookHost::Cursor).then_some(version);
    let events = host.subscribed_events().map(|event| JsonEntry::Element {
        path: vec!["hooks".to_owned(), event.to_owned()],
        calls: format!("hook {} {event}", host.as_str()),
        value: hook_entry(host, event, spec),
    });
    version.into_iter().chain(events).collect()
}

fn hook_entry(host: HookHost, event: &str, spec: &ConnectionSpec) -> Value {
    let words: Vec<&str> =
        spec.command.iter().map(String::as_str).chain(["hook", host.as_str(), event]).collect();
    let line = words.iter().map(|word| shell_quote(word)).collect::<Vec<_>>().join(" ");
    match host {
        // It starts the program without a shell, so nothing needs to be quoted.
        HookHost::ClaudeCode => json!({ "hooks": [{
            "type": "command", "command": words[0], "args": words[1..], "timeout": HOOK_TIMEOUT_SECONDS,
        }] }),
        HookHost::Codex => json!({ "hooks": [{
            "type": "command", "command": line, "timeout": HOOK_TIMEOUT_SECONDS, "additionalContextLimit": CODEX_MAX_TOKENS,
        }] }),
        // Its times are in milliseconds.
        HookHost::Gemini => json!({ "hooks": [{
            "type": "command", "name": SERVER_NAME, "command": line, "timeout": HOOK_TIMEOUT_SECONDS * 1_000,
        }] }),
        HookHost::Cursor => json!({ "command": line, "timeout": HOOK_TIMEOUT_SECONDS }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent_paths() -> AgentPaths {
        AgentPaths {
            user_home: "/u".into(),
            config_folder: "/u/.config".into(),
            app_folder: "/u/.config".into(),
            claude_folder: None,
            codex_folder: None,
            project: None,
        }
    }

    fn connection_spec(url: Option<&str>) -> ConnectionSpec {
        let command = vec!["/opt/我的 apps/everlore".to_owned(), "--home".into(), "/h h".into()];
        ConnectionSpec { command, url: url.map(str::to_owned), tools: true, hooks: true }
    }

    #[test]
    fn every_agent_has_its_files_and_entries() {
        let mut shown = String::new();
        for url in [None, Some("http://127.0.0.1:6636/mcp")] {
            for agent in CodingAgent::ALL {
                for FileEdit { path, content } in agent.edits(&agent_paths(), &connection_spec(url))
                {
                    let text = super::super::file_edit::with_edit("", &content).unwrap();
                    shown += &format!("# {} → {}\n{text}\n", agent.as_str(), path.display());
                }
            }
        }
        insta::assert_snapshot!(shown);
    }

    #[test]
    fn a_project_has_files_of_its_own() {
        let paths = AgentPaths { project: Some("/p".into()), ..agent_paths() };
        for agent in CodingAgent::ALL {
            for edit in agent.edits(&paths, &connection_spec(None)) {
                assert!(edit.path.starts_with("/p"), "{edit:?}");
            }
        }
        assert!(CodingAgent::Windsurf.edits(&paths, &connection_spec(None)).is_empty());
    }

    #[test]
    fn no_token_is_written_anywhere() {
        for agent in CodingAgent::ALL {
            for edit in
                agent.edits(&agent_paths(), &connection_spec(Some("http://127.0.0.1:6636/mcp")))
            {
                let text = super::super::file_edit::with_edit("", &edit.content).unwrap();
                let tools = text.contains("/mcp");
                assert!(!tools || text.contains(TOKEN_VARIABLE), "{text}");
            }
        }
    }
}
