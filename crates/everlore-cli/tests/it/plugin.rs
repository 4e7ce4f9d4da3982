//! The Claude Code plugin in `integrations/`: its files, and that its hooks are those of `everlore connect`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::home::TestHome;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../integrations/claude-code")
}

fn json(name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(folder().join(name)).unwrap()).unwrap()
}

#[test]
fn the_plugin_and_its_marketplace_name_each_other() {
    let (plugin, market) =
        (json(".claude-plugin/plugin.json"), json(".claude-plugin/marketplace.json"));
    assert_eq!(plugin["name"], "everlore");
    assert_eq!(plugin["version"], env!("CARGO_PKG_VERSION"));
    assert!(market["owner"]["name"].is_string() && market["name"].is_string());
    assert_eq!(
        (&market["plugins"][0]["name"], &market["plugins"][0]["source"]),
        (&plugin["name"], &"./".into())
    );
    for key in plugin.as_object().unwrap().keys() {
        let hosts = [
            "name",
            "version",
            "description",
            "author",
            "homepage",
            "repository",
            "license",
            "keywords",
        ];
        assert!(hosts.contains(&key.as_str()), "{key}");
    }
}

#[test]
fn the_plugin_calls_what_connect_would_write() {
    let home = TestHome::new();
    let folder = home.sibling("p");
    let mut command = home.command(&["--json", "connect", "claude-code", "--print", "--project"]);
    // The default home, so that no option is needed for it.
    let output =
        command.arg(&folder).env("EVERLORE_HOME", home.sibling(".everlore")).output().unwrap();
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    let paste = |index: usize| -> Value {
        serde_json::from_str(printed["files"][index]["paste"].as_str().unwrap()).unwrap()
    };
    assert_eq!(json(".mcp.json"), paste(0));
    assert_eq!(json("hooks/hooks.json"), paste(1));
}

#[test]
fn commands_and_skills_say_what_they_are_for_and_name_commands_that_exist() {
    let home = TestHome::new();
    let files = ["commands/remember.md", "commands/recall.md", "skills/long-term-memory/SKILL.md"];
    for name in files {
        let text = fs::read_to_string(folder().join(name)).unwrap();
        let (head, body) = text.strip_prefix("---\n").unwrap().split_once("\n---\n").unwrap();
        assert!(head.lines().any(|line| line.starts_with("description: ")), "{name}");
        for call in body.split("`everlore ").skip(1) {
            let call = call.split(['`', '"']).next().unwrap();
            let words: Vec<&str> = call
                .split_whitespace()
                .filter(|word| word.chars().all(|c| c.is_lowercase()))
                .collect();
            let ran = home.run(&[&words[..], &["--help"]].concat());
            assert_eq!(ran.code, 0, "{name}: {call}");
        }
    }
}
