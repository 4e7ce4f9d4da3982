//! The agents that can be connected: where their settings are, and what has to stand in them.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{
    json::Put,
    toml_section::{TomlSection, TomlSetting},
};
use crate::{
    commands::hook::{CODEX_MAX_TOKENS, HookHost},
    render::shell_quote,
};

/// The name under which agents know us.
const SERVER_NAME: &str = "everlore";

/// The variable from which agents take the token of a server: it stands in none of their files.
pub(super) const TOKEN_VARIABLE: &str = "EVERLORE_TOKEN";

/// Seconds that an agent waits for a hook: more than one ever takes.
const HOOK_TIMEOUT_SECONDS: u64 = 10;

/// An agent.
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

/// The folders of a user and of a project.
#[derive(Debug, Clone)]
pub(super) struct AgentPaths {
    /// The user's own folder.
    pub(super) user_home: PathBuf,
    /// Where programs keep settings, by the rules of the system.
    pub(super) config_folder: PathBuf,
    /// Where programs with windows keep theirs.
    pub(super) app_folder: PathBuf,
    /// Where Claude Code was told to keep its settings.
    pub(super) claude_folder: Option<PathBuf>,
    /// Where Codex was told to.
    pub(super) codex_folder: Option<PathBuf>,
    /// The project, if only that is to be connected.
    pub(super) project: Option<PathBuf>,
}

/// How an agent reaches the memory.
#[derive(Debug, Clone)]
pub(super) struct ConnectionSpec {
    /// The program with the options that choose the home and whose memory it is.
    pub(super) command: Vec<String>,
    /// The address of a server, if it is asked instead.
    pub(super) url: Option<String>,
    pub(super) tools: bool,
    pub(super) hooks: bool,
}

/// What should stand in one file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FileEdit {
    pub(super) path: PathBuf,
    pub(super) content: EditContent,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum EditContent {
    Json(Vec<Put>),
    Toml(TomlSection),
}

impl CodingAgent {
    pub(super) const ALL: [Self; 9] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::Gemini,
        Self::Cursor,
        Self::Vscode,
        Self::Windsurf,
        Self::Zed,
        Self::Opencode,
        Self::ClaudeDesktop,
    ];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Cursor => "cursor",
            Self::Vscode => "vscode",
            Self::Windsurf => "windsurf",
            Self::Zed => "zed",
            Self::Opencode => "opencode",
            Self::ClaudeDesktop => "claude-desktop",
        }
    }

    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|agent| agent.as_str().eq_ignore_ascii_case(name))
    }

    /// The agent as one that calls hooks.
    pub(super) fn host(self) -> Option<HookHost> {
        HookHost::from_name(self.as_str())
    }

    /// The folder by which it is known to be installed.
    pub(super) fn install_folder(self, places: &AgentPaths) -> PathBuf {
        let AgentPaths {
            user_home: own, config_folder: settings, app_folder: applications, ..
        } = places;
        match self {
            Self::ClaudeCode => places.claude_folder.clone().unwrap_or_else(|| own.join(".claude")),
            Self::Codex => places.codex_folder.clone().unwrap_or_else(|| own.join(".codex")),
            Self::Gemini => own.join(".gemini"),
            Self::Cursor => own.join(".cursor"),
            Self::Vscode => applications.join("Code").join("User"),
            Self::Windsurf => own.join(".codeium").join("windsurf"),
            Self::Zed => settings.join("zed"),
            Self::Opencode => settings.join("opencode"),
            Self::ClaudeDesktop => applications.join("Claude"),
        }
    }

    /// The file in which it looks for servers of tools; none if a project cannot have one.
    fn tools_file(self, places: &AgentPaths) -> Option<PathBuf> {
        let folder = self.install_folder(places);
        if let Some(project) = &places.project {
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
            // Beside its folder, unless that was moved.
            Self::ClaudeCode => match &places.claude_folder {
                Some(moved) => moved.join(".claude.json"),
                None => places.user_home.join(".claude.json"),
            },
            Self::Codex => folder.join("config.toml"),
            Self::Gemini | Self::Zed => folder.join("settings.json"),
            Self::Cursor | Self::Vscode => folder.join("mcp.json"),
            Self::Windsurf => folder.join("mcp_config.json"),
            Self::Opencode => folder.join("opencode.json"),
            Self::ClaudeDesktop => folder.join("claude_desktop_config.json"),
        })
    }

    /// The file in which it looks for hooks.
    fn hooks_file(host: HookHost, places: &AgentPaths, folder: &Path) -> PathBuf {
        let project = |name: &str| places.project.as_ref().map(|project| project.join(name));
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

    /// All edits that connect it, a file at a time.
    pub(super) fn edits(self, places: &AgentPaths, way: &ConnectionSpec) -> Vec<FileEdit> {
        let mut edits = Vec::new();
        if let Some(path) = self.tools_file(places).filter(|_| way.tools) {
            edits.extend(self.tools_entry(way).map(|what| FileEdit { path, content: what }));
        }
        if let Some(host) = self.host().filter(|_| way.hooks) {
            let path = Self::hooks_file(host, places, &self.install_folder(places));
            let puts = hook_entries(host, way);
            match edits.iter_mut().find(|edit| edit.path == path).map(|edit| &mut edit.content) {
                Some(EditContent::Json(before)) => before.extend(puts),
                _ => edits.push(FileEdit { path, content: EditContent::Json(puts) }),
            }
        }
        edits
    }

    /// The server of tools, as the agent's settings say it; none if it cannot be reached that way.
    fn tools_entry(self, way: &ConnectionSpec) -> Option<EditContent> {
        let (program, args) = way.command.split_first()?;
        let args: Vec<&str> = args.iter().map(String::as_str).chain(["mcp"]).collect();
        if self == Self::Codex {
            return Some(EditContent::Toml(codex_section(program, &args, way.url.as_deref())));
        }
        let value = match &way.url {
            Some(url) => self.http_entry(url)?,
            None => self.stdio_entry(program, &args),
        };
        let path = vec![self.servers_key().to_owned()];
        Some(EditContent::Json(vec![Put::Member { path, key: SERVER_NAME.to_owned(), value }]))
    }

    /// The member of its settings that has the servers of tools.
    fn servers_key(self) -> &'static str {
        match self {
            Self::Vscode => "servers",
            Self::Opencode => "mcp",
            Self::Zed => "context_servers",
            _ => "mcpServers",
        }
    }

    /// How it is told of a server that runs; none where it takes no token from the environment, because none is written into
    /// a file.
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

    /// How it is told to start a server of its own.
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

/// The hooks of a host.
fn hook_entries(host: HookHost, way: &ConnectionSpec) -> Vec<Put> {
    let version = Put::Needed { key: "version", value: json!(1) };
    let first = (host == HookHost::Cursor).then_some(version);
    let events = host.subscribed_events().map(|event| Put::Element {
        path: vec!["hooks".to_owned(), event.to_owned()],
        calls: format!("hook {} {event}", host.as_str()),
        value: hook_entry(host, event, way),
    });
    first.into_iter().chain(events).collect()
}

fn hook_entry(host: HookHost, event: &str, way: &ConnectionSpec) -> Value {
    let words: Vec<&str> =
        way.command.iter().map(String::as_str).chain(["hook", host.as_str(), event]).collect();
    let line = words.iter().map(|word| shell_quote(word)).collect::<Vec<_>>().join(" ");
    match host {
        // Without a shell, so nothing needs to be quoted.
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
                for FileEdit { path, content: what } in
                    agent.edits(&agent_paths(), &connection_spec(url))
                {
                    let text = super::super::file_edit::with_edit("", &what).unwrap();
                    shown += &format!("# {} → {}\n{text}\n", agent.as_str(), path.display());
                }
            }
        }
        insta::assert_snapshot!(shown);
    }

    #[test]
    fn a_project_has_files_of_its_own() {
        let places = AgentPaths { project: Some("/p".into()), ..agent_paths() };
        for agent in CodingAgent::ALL {
            for edit in agent.edits(&places, &connection_spec(None)) {
                assert!(edit.path.starts_with("/p"), "{edit:?}");
            }
        }
        assert!(CodingAgent::Windsurf.edits(&places, &connection_spec(None)).is_empty());
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
