//! `everlore connect` and `disconnect`: settings of agents are edited in place and restored to the byte.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::home::{CommandOutput, TestHome};

const ZED_SETTINGS: &str = "// Zed settings\n{\n  // my favourite\n  \"theme\": \"dark\", // 暗色\n  \"context_servers\": {\n    // none yet\n  },\n}\n";

const VSCODE_SERVERS: &str = "{\n\t\"inputs\": [], /* none */\n\t\"servers\": {\n\t\t\"other\": { \"command\": \"x\" }\n\t}\n}\n";

const CONTINUE_SETTINGS: &str = "name: mine # 我的\nversion: 1.0.0\nschema: v1\nmodels:\n  - name: good\n    provider: openai\n    model: gpt-5-mini\n\n# rules\nrules:\n  - Be brief.\n";

pub(crate) const AGENTS: [&str; 13] = [
    "claude-code",
    "codex",
    "gemini",
    "qwen-code",
    "opencode",
    "cursor",
    "cline",
    "continue",
    "aider",
    "vscode",
    "windsurf",
    "zed",
    "claude-desktop",
];

/// User with settings of agents, in a home folder whose name has a blank and Chinese characters.
pub(crate) struct AgentUser {
    pub(crate) home: TestHome,
    pub(crate) folder: PathBuf,
}

impl AgentUser {
    pub(crate) fn new() -> Self {
        let home = TestHome::new();
        let folder = home.sibling("用户 user");
        fs::create_dir_all(&folder).unwrap();
        Self { home, folder }
    }

    pub(crate) fn run(&self, args: &[&str]) -> CommandOutput {
        let mut command = self.home.command(args);
        command.env("HOME", &self.folder).env("USERPROFILE", &self.folder);
        CommandOutput::from(command.output().unwrap())
    }

    pub(crate) fn run_ok(&self, args: &[&str]) -> CommandOutput {
        let ran = self.run(args);
        assert_eq!(ran.code, 0, "{args:?}: {ran:?}");
        ran
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.join(name)).unwrap()
    }

    /// Returns every file below the user's folder.
    pub(crate) fn files(&self) -> Vec<(PathBuf, String)> {
        let mut files = files_below(&self.folder);
        files.sort();
        files
    }
}

fn files_below(folder: &Path) -> Vec<(PathBuf, String)> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths
        .flat_map(|path| {
            if path.is_dir() {
                files_below(&path)
            } else {
                vec![(path.clone(), fs::read_to_string(&path).unwrap())]
            }
        })
        .collect()
}

/// Settings as people have them: other servers, other hooks, odd layouts, comments.
pub(crate) fn user_with_settings() -> AgentUser {
    let user = AgentUser::new();
    user.write(".claude.json", "{\n  \"numStartups\": 7,\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\"}\n  },\n  \"projects\": {}\n}");
    user.write(".claude/settings.json", "{\n\t\"model\": \"opus\",\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{ \"hooks\": [{ \"type\": \"command\", \"command\": \"say 好了\" }] }\n\t\t]\n\t}\n}\n");
    user.write(".codex/config.toml", "# mine\nmodel = \"gpt-5.3-codex\" # the good one\n\n[mcp_servers.other]\ncommand = \"x\"\n\n[tui]\ntheme = \"dark\"\n");
    user.write(
        ".gemini/settings.json",
        "{\"security\": {\"auth\": {\"selectedType\": \"oauth\"}}}\n",
    );
    user.write(".cursor/mcp.json", "{}\n");
    user.write(".cursor/hooks.json", "{\n  \"version\": 1,\n  \"hooks\": {}\n}\n");
    user.write(".config/opencode/opencode.json", "{\r\n  \"theme\": \"dark\"\r\n}\r\n");
    user.write(".qwen/settings.json", "{\n  \"general\": {\"enableAutoUpdate\": false}\n}\n");
    user.write(".config/opencode/plugin/other.js", "export const Other = async () => ({})\n");
    user.write(".cline/data/settings/cline_mcp_settings.json", "{\"mcpServers\":{}}");
    user.write(".continue/config.yaml", CONTINUE_SETTINGS);
    user.write(".aider.conf.yml", "# 我的\ndark-mode: true");
    user.write(".config/zed/settings.json", ZED_SETTINGS);
    user.write(".config/Code/User/mcp.json", VSCODE_SERVERS);
    user
}

#[test]
fn connecting_keeps_everything_and_disconnecting_gives_it_back_to_the_byte() {
    for user in [user_with_settings(), AgentUser::new()] {
        let before = user.files();
        let connect = [&["connect"], &AGENTS[..]].concat();
        user.run_ok(&connect);
        let connected = user.files();
        assert!(connected.len() >= 17, "{connected:?}");
        for (path, text) in &before {
            let now = &connected.iter().find(|(other, _)| other == path).unwrap().1;
            // No line is lost; the last one of a block may have got a comma.
            for line in text.lines().map(str::trim).filter(|line| line.len() > 2) {
                assert!(
                    now.contains(line.trim_end_matches(',').trim_end_matches('}')),
                    "{line}\n{now}"
                );
            }
        }
        let again = user.run_ok(&connect);
        assert!(!again.out.contains("connected:"), "{}", again.out);
        assert_eq!(user.files(), connected);
        user.run_ok(&[&["disconnect"], &AGENTS[..]].concat());
        assert_eq!(user.files(), before);
    }
}

#[test]
fn what_was_changed_meanwhile_stays() {
    let user = user_with_settings();
    user.run_ok(&["connect", "claude-code", "codex", "cursor"]);
    let settings = user.read(".claude/settings.json").replace("\"opus\"", "\"sonnet\"");
    user.write(".claude/settings.json", &settings);
    let config = user.read(".codex/config.toml").replace("dark", "light");
    user.write(".codex/config.toml", &config);
    user.run_ok(&["disconnect", "claude-code", "codex", "cursor"]);
    assert_eq!(
        user.read(".claude/settings.json"),
        user_with_settings().read(".claude/settings.json").replace("\"opus\"", "\"sonnet\"")
    );
    assert_eq!(
        user.read(".codex/config.toml"),
        user_with_settings().read(".codex/config.toml").replace("dark", "light")
    );
    assert_eq!(user.files().len(), user_with_settings().files().len());
}

#[test]
fn the_hooks_that_are_written_can_be_called_as_they_are_written() {
    let user = user_with_settings();
    user.run_ok(&["connect", "claude-code", "codex", "gemini", "cursor"]);
    let json = |name: &str| serde_json::from_str::<Value>(&user.read(name)).unwrap();
    let claude = json(".claude/settings.json")["hooks"]["UserPromptSubmit"][0]["hooks"][0].clone();
    let words: Vec<String> =
        [vec![claude["command"].clone()], claude["args"].as_array().unwrap().clone()]
            .concat()
            .iter()
            .map(|word| word.as_str().unwrap().to_owned())
            .collect();
    assert_eq!(words[words.len() - 3..], ["hook", "claude-code", "UserPromptSubmit"]);
    user.home.remember("The billing service listens on port 5433.");
    let input = user.home.sibling("event.json");
    let event = r#"{"session_id":"s1","prompt":"On which port does the billing service listen?","text":"x","conversation_id":"c"}"#;
    fs::write(&input, event).unwrap();
    let output = std::process::Command::new(&words[0])
        .args(&words[1..])
        .stdin(fs::File::open(&input).unwrap())
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("5433"), "{output:?}");
    #[cfg(unix)]
    for (file, pointer) in [
        (".codex/hooks.json", "/hooks/UserPromptSubmit/0/hooks/0/command"),
        (".gemini/settings.json", "/hooks/BeforeAgent/0/hooks/0/command"),
        (".cursor/hooks.json", "/hooks/beforeSubmitPrompt/0/command"),
    ] {
        let line = json(file).pointer(pointer).unwrap().as_str().unwrap().to_owned();
        let output = std::process::Command::new("sh")
            .args(["-c", &line])
            .stdin(fs::File::open(&input).unwrap())
            .output()
            .unwrap();
        assert!(String::from_utf8_lossy(&output.stdout).contains("5433"), "{line}: {output:?}");
    }
}

#[test]
fn comments_stay_even_if_the_file_was_changed_meanwhile() {
    let user = user_with_settings();
    user.run_ok(&["connect", "zed", "vscode"]);
    let zed = user.read(".config/zed/settings.json");
    assert!(
        zed.starts_with("// Zed settings\n{\n  // my favourite\n  \"theme\": \"dark\", // 暗色\n"),
        "{zed}"
    );
    assert!(
        zed.contains("  \"context_servers\": {\n    // none yet\n    \"everlore\": {\n"),
        "{zed}"
    );
    let listed = user.run_ok(&["--json", "connect", "--list"]).json();
    let connected =
        listed["agents"].as_array().unwrap().iter().filter(|agent| agent["tools"] == true);
    assert_eq!(
        connected.map(|agent| agent["agent"].clone()).collect::<Vec<_>>(),
        ["vscode", "zed"]
    );
    let change = |text: &str| text.replace("favourite", "favorite");
    user.write(".config/zed/settings.json", &change(&zed));
    user.run_ok(&["disconnect", "zed", "vscode"]);
    assert_eq!(user.read(".config/zed/settings.json"), change(ZED_SETTINGS));
    assert_eq!(user.read(".config/Code/User/mcp.json"), VSCODE_SERVERS);
}

#[test]
fn a_broken_file_is_left_alone_and_what_to_paste_is_printed() {
    let user = AgentUser::new();
    let text = "{\n  // my favourite\n  \"theme\": \"dark\"\n";
    user.write(".config/zed/settings.json", text);
    let ran = user.run(&["connect", "zed"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(
        ran.err.contains("cannot be edited safely") && ran.out.contains("context_servers"),
        "{ran:?}"
    );
    assert_eq!(user.read(".config/zed/settings.json"), text);
    assert!(!ran.out.contains("next:"), "{ran:?}");
    // Nothing of ours is in it, so nothing is left to do.
    let ran = user.run(&["disconnect", "zed"]);
    assert_eq!((ran.code, user.read(".config/zed/settings.json").as_str()), (0, text));
}

#[test]
fn printing_and_listing_change_nothing() {
    let user = user_with_settings();
    let before = user.files();
    let printed = user.run_ok(&["connect", "claude-code", "codex", "--print"]).out;
    assert!(
        printed.contains(".claude.json") && printed.contains("[mcp_servers.everlore]"),
        "{printed}"
    );
    let listed = user.run_ok(&["--json", "connect", "--list"]).json();
    let claude = &listed["agents"][0];
    assert_eq!(
        (&claude["agent"], &claude["installed"], &claude["tools"]),
        (&"claude-code".into(), &true.into(), &false.into())
    );
    assert_eq!(user.files(), before);
    user.run_ok(&["connect", "--all", "--no-hooks"]);
    let listed = user.run_ok(&["--json", "connect", "--list"]).json();
    assert_eq!(
        (&listed["agents"][0]["tools"], &listed["agents"][0]["hooks"]),
        (&true.into(), &false.into())
    );
    user.run_ok(&["connect", "--all"]);
    let listed = user.run_ok(&["connect", "--list"]).out;
    assert!(listed.contains("claude-code"), "{listed}");
    user.run_ok(&["disconnect", "--all"]);
    assert_eq!(user.files(), before);
}

#[test]
fn a_project_is_connected_by_name_and_by_http_without_a_token() {
    let user = AgentUser::new();
    let project = user.home.sibling("项目 p");
    fs::create_dir_all(&project).unwrap();
    let folder = project.to_str().unwrap();
    user.run_ok(&["connect", "claude-code", "vscode", "--project", folder, "--http"]);
    let mcp = fs::read_to_string(project.join(".mcp.json")).unwrap();
    assert!(
        mcp.contains("http://127.0.0.1:6636/mcp") && mcp.contains("${EVERLORE_TOKEN}"),
        "{mcp}"
    );
    let settings = fs::read_to_string(project.join(".claude/settings.json")).unwrap();
    assert!(settings.contains("\"everlore\""), "{settings}");
    assert!(user.files().is_empty());
    user.run_ok(&["disconnect", "claude-code", "vscode", "--project", folder]);
    assert!(files_below(&project).is_empty());
}

#[test]
fn unknown_agents_are_told_which_ones_there_are() {
    let user = AgentUser::new();
    for args in [&["connect", "emacs"][..], &["connect"], &["disconnect"], &["connect", "--all"]] {
        let ran = user.run(args);
        assert_eq!(ran.code, 2, "{args:?}");
        assert!(ran.err.contains("claude-code"), "{args:?}: {}", ran.err);
    }
}

#[test]
fn onboarding_connects_too() {
    let user = user_with_settings();
    user.run_ok(&["onboard", "--yes", "--connect", "codex"]);
    assert!(user.read(".codex/config.toml").contains("[mcp_servers.everlore]"));
}

#[test]
fn agents_without_hooks_get_the_proxy_in_their_lists() {
    let user = user_with_settings();
    let ran = user.run_ok(&["connect", "continue", "aider", "--proxy"]);
    let settings = user.read(".continue/config.yaml");
    for line in [
        "\n  - name: good\n",
        "\n  - name: Everlore\n",
        "\n    apiBase: \"http://127.0.0.1:6636/v1\"\n",
        "\n    apiKey: ${{ secrets.EVERLORE_TOKEN }}\n",
        "\nmcpServers:\n  - name: everlore\n",
    ] {
        assert!(settings.contains(line), "{line}\n{settings}");
    }
    let aider = user.read(".aider.conf.yml");
    assert!(aider.contains("openai-api-base: \"http://127.0.0.1:6636/v1\""), "{aider}");
    assert!(ran.out.contains("export OPENAI_API_KEY=") && ran.out.contains("everlore serve"));
    let listed = user.run_ok(&["--json", "connect", "--list"]).json();
    let proxied =
        listed["agents"].as_array().unwrap().iter().filter(|agent| agent["proxy"] == true);
    let names: Vec<_> = proxied.map(|agent| agent["agent"].clone()).collect();
    assert_eq!(names, ["continue", "aider"]);
    // Another change in the meantime stays.
    user.write(".continue/config.yaml", &settings.replace("Be brief.", "Be short."));
    user.run_ok(&["disconnect", "continue", "aider"]);
    let changed = CONTINUE_SETTINGS.replace("Be brief.", "Be short.");
    assert_eq!(user.read(".continue/config.yaml"), changed);
    assert_eq!(user.read(".aider.conf.yml"), "# 我的\ndark-mode: true");
}

#[test]
fn a_setting_of_the_user_is_not_replaced_by_the_proxy() {
    let user = AgentUser::new();
    user.write(".aider.conf.yml", "model: sonnet\n");
    let ran = user.run(&["connect", "aider"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(
        ran.out.contains("openai-api-base:") && ran.err.contains("add this by hand"),
        "{ran:?}"
    );
    assert_eq!(user.read(".aider.conf.yml"), "model: sonnet\n");
}

#[test]
fn a_plugin_that_was_changed_is_removed_and_one_of_somebody_else_stays() {
    let user = AgentUser::new();
    user.run_ok(&["connect", "opencode"]);
    let plugin = user.read(".config/opencode/plugin/everlore.js");
    assert!(plugin.starts_with("// Everlore") && !plugin.contains("[\"everlore\"]"), "{plugin}");
    user.write(".config/opencode/plugin/everlore.js", &format!("{plugin}// mine\n"));
    user.run_ok(&["disconnect", "opencode"]);
    assert!(user.files().is_empty(), "{:?}", user.files());
    user.write(".config/opencode/plugin/everlore.js", "export const Mine = 1\n");
    assert_eq!(user.run(&["connect", "opencode"]).code, 2);
    user.run_ok(&["disconnect", "opencode"]);
    assert_eq!(user.read(".config/opencode/plugin/everlore.js"), "export const Mine = 1\n");
}

#[test]
fn what_to_do_next_is_said_in_both_languages() {
    let user = AgentUser::new();
    let english = user.run_ok(&["connect", "codex", "claude"]).out;
    assert!(english.contains("next:") && english.contains("codex: restart Codex and trust"));
    assert!(english.contains("claude-code: restart Claude Code"), "{english}");
    let chinese = user.run_ok(&["--lang", "zh", "connect", "codex"]).out;
    assert!(chinese.contains("接下来：") && chinese.contains("信任新的钩子"), "{chinese}");
    let json = user.run_ok(&["--json", "connect", "qwen"]).json();
    assert_eq!(json["next"][0]["agent"], "qwen-code");
    assert_eq!(json["files"][0]["agent"], "qwen-code");
}

#[test]
fn every_agent_is_in_the_table_of_the_documentation() {
    let page = include_str!("../../../../docs/connect.md");
    for agent in AGENTS {
        assert!(page.contains(&format!("| `{agent}` |")), "{agent}");
    }
}
