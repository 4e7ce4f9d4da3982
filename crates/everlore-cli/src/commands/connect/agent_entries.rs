//! Entries that connect an agent: for tools (MCP), for hooks, and for the memory proxy.

use serde_json::{Value, json};
use std::path::PathBuf;

use super::{
    agents::{AgentPaths, CodingAgent},
    json_entries::JsonEntry,
    toml_section::{TomlSection, TomlSetting},
    yaml_block::YamlBlock,
};
use crate::{
    commands::hook::{CODEX_MAX_TOKENS, HookEventKind, HookHost},
    render::shell_quote,
};

/// Name of our MCP server in the settings of agents.
const SERVER_NAME: &str = "everlore";

/// Environment variable from which agents read the server's token; no settings file contains the token.
pub(super) const TOKEN_VARIABLE: &str = "EVERLORE_TOKEN";

/// Timeout that an agent gives a hook; no hook takes that long.
const HOOK_TIMEOUT_SECONDS: u64 = 10;

/// Longest timeout that Codex gives a hook at the end of a session.
const CODEX_END_SECONDS: u64 = 3;

/// Plugin for OpenCode; its line with the command is replaced.
const OPENCODE_PLUGIN: &str = include_str!("opencode_plugin.js");

/// Line of the plugin that is replaced.
const PLUGIN_COMMAND: &str = "const COMMAND = [\"everlore\"]";

/// Keys that a configuration of Continue must have.
const CONTINUE_HEAD: [&str; 3] = ["name: Everlore", "version: 1.0.0", "schema: v1"];

/// Connection between an agent and the memory.
#[derive(Debug, Clone)]
pub(super) struct ConnectionSpec {
    /// Program with the options that select the home and the scope.
    pub(super) command: Vec<String>,
    /// MCP address of a server; `None` makes the agent start the program.
    pub(super) url: Option<String>,
    /// Address of the memory proxy for OpenAI's protocol, where the agent is to use it.
    pub(super) proxy: Option<String>,
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
    Yaml(Vec<YamlBlock>),
    /// Text of a file that is ours as a whole; its first line is its mark.
    Whole(String),
}

impl CodingAgent {
    /// Returns the edits that connect the agent, one for each file.
    pub(super) fn edits(self, paths: &AgentPaths, spec: &ConnectionSpec) -> Vec<FileEdit> {
        let tools = self.tools_file(paths).filter(|_| spec.tools);
        let tools = tools.and_then(|path| {
            let content = self.tools_entry(paths, spec)?;
            Some(FileEdit { path, content })
        });
        let hooks = self.host().filter(|_| spec.hooks).map(|host| FileEdit {
            path: Self::hooks_file(host, paths, &self.install_folder(paths)),
            content: hook_content(host, spec),
        });
        let proxy = self.proxy_file(paths).zip(spec.proxy.as_deref()).map(|(path, url)| FileEdit {
            path,
            content: EditContent::Yaml(vec![self.proxy_block(url)]),
        });
        merge_edits([tools, hooks, proxy].into_iter().flatten())
    }

    /// Returns the entry for the MCP server; `None` if the agent cannot reach it this way.
    fn tools_entry(self, paths: &AgentPaths, spec: &ConnectionSpec) -> Option<EditContent> {
        let (program, args) = spec.command.split_first()?;
        let args: Vec<&str> = args.iter().map(String::as_str).chain(["mcp"]).collect();
        let url = spec.url.as_deref();
        if self == Self::Codex {
            return Some(EditContent::Toml(codex_section(program, &args, url)));
        }
        if self == Self::Continue {
            let block = continue_server(program, &args, url);
            return Some(if paths.project.is_some() {
                EditContent::Whole(block.whole_file(&CONTINUE_HEAD))
            } else {
                EditContent::Yaml(vec![block])
            });
        }
        let value = match url {
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
            Self::Gemini | Self::QwenCode => {
                json!({ "httpUrl": url, "headers": bearer("${NAME}") })
            }
            Self::Cursor => json!({ "url": url, "headers": env() }),
            Self::Windsurf => json!({ "serverUrl": url, "headers": env() }),
            Self::Vscode => json!({ "type": "http", "url": url, "headers": env() }),
            Self::Opencode => {
                json!({ "type": "remote", "url": url, "enabled": true, "headers": bearer("{env:NAME}") })
            }
            Self::Codex | Self::Zed | Self::ClaudeDesktop | Self::Cline => return None,
            Self::Continue | Self::Aider => return None,
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

    /// Returns the settings that send the agent's model requests through the memory proxy. The key comes from the
    /// environment.
    fn proxy_block(self, url: &str) -> YamlBlock {
        let text = |text: &str| Value::from(text).to_string();
        if self == Self::Continue {
            return YamlBlock::items(
                "models",
                &CONTINUE_HEAD,
                vec![
                    "- name: Everlore".to_owned(),
                    "  provider: openai".to_owned(),
                    "  model: everlore".to_owned(),
                    format!("  apiBase: {}", text(url)),
                    format!("  apiKey: ${{{{ secrets.{TOKEN_VARIABLE} }}}}"),
                ],
            );
        }
        YamlBlock::keys(vec![
            format!("openai-api-base: {}", text(url)),
            "model: openai/everlore".to_owned(),
        ])
    }
}

/// Merges edits of the same file.
fn merge_edits(edits: impl Iterator<Item = FileEdit>) -> Vec<FileEdit> {
    let mut merged: Vec<FileEdit> = Vec::new();
    for edit in edits {
        let same = merged.iter_mut().find(|known| known.path == edit.path);
        match (same.map(|known| &mut known.content), edit.content) {
            (Some(EditContent::Json(known)), EditContent::Json(more)) => known.extend(more),
            (Some(EditContent::Yaml(known)), EditContent::Yaml(more)) => known.extend(more),
            (_, content) => merged.push(FileEdit { path: edit.path, content }),
        }
    }
    merged
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

/// Returns the MCP server as Continue lists it. A JSON text is a YAML value.
fn continue_server(program: &str, args: &[&str], url: Option<&str>) -> YamlBlock {
    let mut lines = vec![format!("- name: {SERVER_NAME}")];
    match url {
        Some(url) => lines.extend([
            "  type: streamable-http".to_owned(),
            format!("  url: {}", json!(url)),
            "  requestOptions:".to_owned(),
            "    headers:".to_owned(),
            format!("      Authorization: Bearer ${{{{ secrets.{TOKEN_VARIABLE} }}}}"),
        ]),
        None => lines
            .extend([format!("  command: {}", json!(program)), format!("  args: {}", json!(args))]),
    }
    YamlBlock::items("mcpServers", &CONTINUE_HEAD, lines)
}

/// Returns the hooks of a host: entries for its settings, or a plugin.
fn hook_content(host: HookHost, spec: &ConnectionSpec) -> EditContent {
    if host == HookHost::Opencode {
        let command = format!("const COMMAND = {}", json!(spec.command));
        return EditContent::Whole(OPENCODE_PLUGIN.replacen(PLUGIN_COMMAND, &command, 1));
    }
    let version = JsonEntry::Required { key: "version", value: json!(1) };
    let version = (host == HookHost::Cursor).then_some(version);
    let events = host.events().iter().map(|(event, kind)| JsonEntry::Element {
        path: vec!["hooks".to_owned(), (*event).to_owned()],
        calls: format!("hook {} {event}", host.as_str()),
        value: hook_entry(host, (*event, *kind), spec),
    });
    EditContent::Json(version.into_iter().chain(events).collect())
}

fn hook_entry(
    host: HookHost,
    (event, kind): (&str, HookEventKind),
    spec: &ConnectionSpec,
) -> Value {
    let words: Vec<&str> =
        spec.command.iter().map(String::as_str).chain(["hook", host.as_str(), event]).collect();
    let line = words.iter().map(|word| shell_quote(word)).collect::<Vec<_>>().join(" ");
    match host {
        // It starts the program without a shell, so nothing needs to be quoted.
        HookHost::ClaudeCode => json!({ "hooks": [{
            "type": "command", "command": words[0], "args": words[1..], "timeout": HOOK_TIMEOUT_SECONDS,
        }] }),
        HookHost::Codex => json!({ "hooks": [codex_hook(&line, kind)] }),
        // Its times are in milliseconds.
        HookHost::Gemini => json!({ "hooks": [{
            "type": "command", "name": SERVER_NAME, "command": line, "timeout": HOOK_TIMEOUT_SECONDS * 1_000,
        }] }),
        HookHost::QwenCode => json!({ "hooks": [{
            "type": "command", "name": SERVER_NAME, "command": line, "timeout": HOOK_TIMEOUT_SECONDS,
        }] }),
        HookHost::Cursor | HookHost::Opencode => {
            json!({ "command": line, "timeout": HOOK_TIMEOUT_SECONDS })
        }
    }
}

/// Returns a hook of Codex, which warns of a limit for context where there is none, and of a long end.
fn codex_hook(line: &str, kind: HookEventKind) -> Value {
    let timeout = if kind == HookEventKind::End { CODEX_END_SECONDS } else { HOOK_TIMEOUT_SECONDS };
    let mut hook = json!({ "type": "command", "command": line, "timeout": timeout });
    if kind.injects() {
        hook["additionalContextLimit"] = json!(CODEX_MAX_TOKENS);
    }
    hook
}

#[cfg(test)]
mod tests {
    use super::super::file_edit::with_edit;
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
        let proxy = Some("http://127.0.0.1:6636/v1".to_owned());
        ConnectionSpec { command, url: url.map(str::to_owned), proxy, tools: true, hooks: true }
    }

    #[test]
    fn every_agent_has_its_files_and_entries() {
        let mut shown = String::new();
        for url in [None, Some("http://127.0.0.1:6636/mcp")] {
            for agent in CodingAgent::ALL {
                for FileEdit { path, content } in agent.edits(&agent_paths(), &connection_spec(url))
                {
                    let text = with_edit("", &content).unwrap();
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
                let text = with_edit("", &edit.content).unwrap();
                let tools = text.contains("/mcp");
                assert!(!tools || text.contains(TOKEN_VARIABLE), "{text}");
            }
        }
    }

    #[test]
    fn codex_gets_no_setting_that_it_warns_of() {
        for edit in CodingAgent::Codex.edits(&agent_paths(), &connection_spec(None)) {
            let text = with_edit("", &edit.content).unwrap();
            let Ok(hooks) = serde_json::from_str::<Value>(&text) else { continue };
            for event in ["Stop", "PreCompact", "SessionEnd"] {
                let hook = &hooks["hooks"][event][0]["hooks"][0];
                assert!(hook["additionalContextLimit"].is_null(), "{event}: {hook}");
            }
            assert_eq!(hooks["hooks"]["SessionEnd"][0]["hooks"][0]["timeout"], 3);
            let prompt = &hooks["hooks"]["UserPromptSubmit"][0]["hooks"][0];
            assert_eq!(prompt["additionalContextLimit"], 6_000, "{prompt}");
        }
    }

    #[test]
    fn the_plugin_starts_the_program_as_it_is_called() {
        let spec = connection_spec(None);
        let EditContent::Whole(plugin) = hook_content(HookHost::Opencode, &spec) else {
            panic!("OpenCode has a plugin")
        };
        let command = r#"const COMMAND = ["/opt/我的 apps/everlore","--home","/h h"]"#;
        assert!(plugin.contains(command) && !plugin.contains(PLUGIN_COMMAND), "{plugin}");
        for (event, _) in HookHost::Opencode.events() {
            assert!(plugin.contains(&format!("\"{event}\"")), "{event}");
        }
    }
}
