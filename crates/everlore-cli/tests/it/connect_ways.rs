//! Ways to connect, one after the other: whatever they wrote, `disconnect` takes it all back.

use std::fs;

use crate::connect::{AGENTS, AgentUser, user_with_settings};

/// Options of the ways to connect.
const WAYS: [&[&str]; 5] = [&[], &["--no-hooks"], &["--no-tools"], &["--http"], &["--proxy"]];

/// Connects all agents in a way; some of them refuse some ways.
fn connect(user: &AgentUser, way: &[&str]) {
    user.run(&[&["connect"], &AGENTS[..], way].concat());
}

#[test]
fn after_any_two_ways_every_file_is_as_before() {
    let user = user_with_settings();
    let before = user.files();
    for first in WAYS {
        for second in WAYS {
            connect(&user, first);
            connect(&user, second);
            assert_ne!(user.files(), before, "{first:?} {second:?}");
            user.run_ok(&[&["disconnect"], &AGENTS[..]].concat());
            assert_eq!(user.files(), before, "{first:?} {second:?}");
        }
    }
}

#[test]
fn folders_that_were_created_are_removed_and_those_in_use_stay() {
    let user = AgentUser::new();
    for second in WAYS {
        connect(&user, &[]);
        connect(&user, second);
        user.run_ok(&[&["disconnect"], &AGENTS[..]].concat());
        let left: Vec<_> =
            fs::read_dir(&user.folder).unwrap().map(|it| it.unwrap().path()).collect();
        assert!(left.is_empty(), "{second:?}: {left:?}");
    }
    user.run_ok(&["connect", "claude-code"]);
    user.write(".claude/CLAUDE.md", "be brief");
    user.run_ok(&["disconnect", "claude-code"]);
    assert_eq!(user.files().len(), 1, "{:?}", user.files());
}

#[test]
fn an_agent_that_cannot_be_connected_this_way_is_a_failure() {
    let user = user_with_settings();
    let project = user.home.sibling("p");
    fs::create_dir_all(&project).unwrap();
    let project = project.to_str().unwrap();
    for args in [&["connect", "windsurf", "--project", project][..], &["connect", "zed", "--http"]]
    {
        let ran = user.run(args);
        assert!(ran.code == 2 && ran.err.contains("cannot be connected this way"), "{ran:?}");
    }
    // Of all that are installed, those that have no such way are left out.
    user.run_ok(&["connect", "--all", "--http"]);
}

#[test]
fn a_file_that_cannot_be_parsed_and_names_us_is_left_to_the_user() {
    let user = AgentUser::new();
    user.write(".config/zed/settings.json", "{ \"everlore\": ");
    for (language, words) in [("en", "remove what names everlore"), ("zh", "请手动删除")] {
        let ran = user.run(&["--lang", language, "disconnect", "zed"]);
        assert!(ran.code == 2 && ran.err.contains(words), "{ran:?}");
        assert!(!ran.err.contains("add this by hand") && ran.out.is_empty(), "{ran:?}");
    }
}

#[test]
fn empty_values_and_byte_order_marks_are_edited_too() {
    let user = AgentUser::new();
    let files = [
        (".continue/config.yaml", "name: mine\nmcpServers: [] # none\nmodels:\n  - name: a\n"),
        (".codex/hooks.json", "\u{feff}{\n  \"hooks\": {}\n}\n"),
        (".codeium/windsurf/mcp_config.json", "{\"mcpServers\": null}"),
    ];
    for (name, text) in files {
        user.write(name, text);
    }
    user.run_ok(&["connect", "continue", "codex", "windsurf"]);
    for (name, text) in files {
        let now = user.read(name);
        assert!(now.contains("everlore") && now != text, "{now}");
        assert_eq!(now.starts_with('\u{feff}'), text.starts_with('\u{feff}'), "{now}");
    }
    user.run_ok(&["disconnect", "continue", "codex", "windsurf"]);
    for (name, text) in files {
        assert_eq!(user.read(name), text);
    }
}

#[test]
fn what_to_paste_into_a_file_has_no_head_of_a_new_file() {
    let user = AgentUser::new();
    user.write(".continue/config.yaml", "name: mine\nmcpServers: [{name: a}]\n");
    let ran = user.run(&["connect", "continue"]);
    assert!(ran.code == 2 && ran.out.contains("- name: everlore"), "{ran:?}");
    assert!(!ran.out.contains("schema:") && !ran.out.contains("next:"), "{ran:?}");
}

#[test]
fn a_slip_in_the_name_of_an_agent_is_answered_with_the_same_command() {
    let user = AgentUser::new();
    for command in ["connect", "disconnect"] {
        let ran = user.run(&[command, "claud"]);
        assert!(ran.err.contains(&format!("`everlore {command} claude-code`")), "{ran:?}");
    }
    let other = user.run(&["connect", "chatgpt"]);
    assert!(other.err.contains("`everlore mcp`"), "{other:?}");
    user.run_ok(&["connect", "通义"]);
    assert!(user.read(".qwen/settings.json").contains("everlore"));
}
