//! Plugin for OpenCode as `everlore connect` writes it, called as OpenCode calls it.

use std::{fs, path::Path};

use serde_json::{Value, json};

use super::{clients, succeed};
use crate::{
    home::TestHome,
    hooks::{drain_spool, turns},
};

const QUESTION: &str = "On which port does the billing service listen?";

#[test]
fn the_plugin_recalls_before_and_stores_after_and_leaves_subagents_alone() {
    let Some(clients) = clients() else { return };
    let home = TestHome::new();
    home.remember("The billing service listens on port 5433.");
    home.remember("When linking fails with `cannot find -lssl`, install libssl-dev.");
    let user = home.sibling("用户 user");
    let mut connect = home.command(&["connect", "opencode", "--no-tools"]);
    connect.env("HOME", &user).env("USERPROFILE", &user);
    assert!(connect.output().unwrap().status.success());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/opencode_plugin.mjs");
    let project = home.sibling("project");
    fs::create_dir_all(&project).unwrap();
    let mut node = clients.node();
    let plugin = user.join(".config/opencode/plugin/everlore.js");
    node.arg(script).arg(plugin).arg(&project).arg(QUESTION);
    let printed: Value = serde_json::from_str(&succeed(node)).unwrap();
    let parts = printed["parts"].as_array().unwrap();
    assert_eq!((parts.len(), &parts[1]["synthetic"]), (2, &json!(true)), "{printed}");
    assert!(parts[1]["text"].as_str().unwrap().contains("5433"), "{printed}");
    assert!(printed["output"].as_str().unwrap().contains("libssl-dev"), "{printed}");
    assert_eq!(printed["child"].as_array().unwrap().len(), 1, "{printed}");
    drain_spool(&home);
    let mut said: Vec<Value> = turns(&home)
        .into_iter()
        .filter(|turn| turn[1] != "tool")
        .map(|turn| json!([turn[1], turn[2]]))
        .collect();
    said.sort_by_key(ToString::to_string);
    assert_eq!(said, [json!(["assistant", "It is port 5433."]), json!(["user", QUESTION])]);
}
