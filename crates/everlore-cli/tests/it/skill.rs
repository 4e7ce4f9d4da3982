//! `everlore skill` and `everlore workflow`: from a suggestion to a folder, its versions, and copies for assistants.

use std::fs;

use serde_json::{Value, json};

use crate::{
    home::TestHome,
    hooks::{cures::tool, drain_spool},
};

const ERROR: &str = "ModuleNotFoundError: No module named 'yaml'";

/// Records a cure that worked three times, and approves the skill that reflection makes of it.
fn approved(home: &TestHome) -> String {
    let new = json!({ "pain": "导入脚本报错", "solution": "执行 pip install pyyaml", "outcome": "好了", "error": ERROR });
    let added = home.run_with_input(&["experience", "add", "--json"], new.to_string().as_bytes());
    let id = added.json()["id"].as_str().unwrap().to_owned();
    home.json(&["experience", "worked", &id]);
    home.json(&["experience", "worked", &id]);
    let report = home.json(&["reflect"]);
    let proposal = &report["proposals"][0];
    assert_eq!(
        (&proposal["reason"], &proposal["expected_use"]["times"]),
        (&json!("pain"), &json!(3))
    );
    let target = proposal["target"].as_str().unwrap();
    home.json(&["proposals", "approve", proposal["id"].as_str().unwrap()]);
    target.strip_prefix("skill ").unwrap().to_owned()
}

#[test]
fn a_skill_is_shown_versioned_measured_and_removed() {
    let home = TestHome::new();
    assert_eq!(home.run(&["skill", "list", "--json"]).code, 1);
    let name = approved(&home);
    let listed = home.json(&["skill", "list"]);
    assert_eq!(listed["skills"][0]["name"], json!(name));
    let folder = home.path().join("skills").join(&name);
    let text = fs::read_to_string(folder.join("SKILL.md")).unwrap();
    assert!(text.contains("pip install pyyaml"), "{text}");
    assert_eq!(home.json(&["skill", "show", &name])["text"], json!(text));
    assert!(home.run(&["skill", "show", &name]).out.contains("expected  3 times"));
    let valid = home.run(&["skill", "validate", folder.to_str().unwrap(), "--json"]);
    assert_eq!((valid.code, valid.json()), (0, json!({ "valid": true, "problems": [] })));
    let broken = home.sibling("Broken");
    fs::create_dir(&broken).unwrap();
    fs::write(broken.join("SKILL.md"), "---\nname: Broken\ndescription: x\n---\ny\n").unwrap();
    let ran = home.run(&["skill", "validate", broken.to_str().unwrap(), "--json"]);
    assert_eq!((ran.code, &ran.json()["problems"][0]["rule"]), (2, &json!("name")));
    let second = format!("{text}\nMore.\n");
    let updated =
        home.run_with_input(&["skill", "update", &name, "-", "--json"], second.as_bytes());
    assert_eq!(updated.json()["version"], 2);
    assert_eq!(fs::read_to_string(folder.join("SKILL.md")).unwrap(), second);
    assert_eq!(home.json(&["skill", "rollback", &name])["version"], 1);
    assert_eq!(fs::read_to_string(folder.join("SKILL.md")).unwrap(), text);
    let history = home.json(&["skill", "history", &name]);
    assert_eq!(history["versions"].as_array().unwrap().len(), 3, "{history}");
    for _ in 0..3 {
        home.json(&["skill", "failed", &name]);
    }
    assert!(!folder.exists(), "three failures in a row retire it");
    assert_eq!(home.json(&["skill", "list", "--retired"])["skills"][0]["state"], "retired");
    home.json(&["skill", "restore", &name]);
    assert_eq!(home.json(&["skill", "worked", &name])["effect"]["failed"], 3);
    assert!(home.run(&["prompt", "show"]).out.contains(&format!("- {name}: ")));
    home.json(&["skill", "rm", &name]);
    assert!(!folder.exists());
    home.run(&["memory", "undo"]);
    assert_eq!(fs::read_to_string(folder.join("SKILL.md")).unwrap(), text);
    let missing = home.run(&["skill", "show", "nothing"]);
    assert!(missing.code == 2 && missing.err.contains("not found"), "{missing:?}");
}

#[test]
fn a_copy_is_installed_on_request_and_never_over_another_file() {
    let home = TestHome::new();
    let name = approved(&home);
    let path = home.sibling(".claude/skills").join(&name).join("SKILL.md");
    assert!(!path.exists());
    let install = ["skill", "install", &name, "--host", "claude-code"];
    assert_eq!(home.json(&install)["path"], json!(path));
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(home.json(&["skill", "show", &name])["text"], json!(text));
    let second = format!("{text}\nMore.\n");
    let updated = home.run_with_input(&["skill", "update", &name, "-"], second.as_bytes());
    assert!(updated.err.contains("an assistant reads a copy"), "{updated:?}");
    home.json(&install);
    assert_eq!(fs::read_to_string(&path).unwrap(), second, "our own copy is renewed");
    fs::write(&path, "mine").unwrap();
    for command in ["install", "uninstall"] {
        let refused = home.run(&["skill", command, &name, "--host", "claude-code"]);
        assert!(
            refused.code == 2 && refused.err.contains("not installed by everlore"),
            "{refused:?}"
        );
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    let project = home.sibling("project");
    fs::create_dir_all(project.join(".agents/skills").join(&name)).unwrap();
    fs::write(project.join(".agents/skills").join(&name).join("notes.txt"), "x").unwrap();
    let project = project.to_str().unwrap();
    let refused = home.run(&["skill", "install", &name, "--host", "codex", "--project", project]);
    assert!(refused.code == 2, "a folder with other files is not ours: {refused:?}");
    let folder = home.sibling("elsewhere");
    fs::create_dir(&folder).unwrap();
    let folder = folder.to_str().unwrap();
    home.json(&["skill", "install", &name, "--host", folder]);
    assert!(home.sibling("elsewhere").join(&name).join("SKILL.md").exists());
    home.json(&["skill", "uninstall", &name, "--host", folder]);
    assert!(!home.sibling("elsewhere").join(&name).exists());
    let unknown = home.run(&["skill", "install", &name, "--host", "nobody"]);
    assert!(unknown.code == 2 && unknown.err.contains("claude-code"), "{unknown:?}");
}

#[test]
fn steps_that_hooks_report_become_a_workflow() {
    let home = TestHome::new();
    for session in ["a", "b", "c"] {
        // Hooks store successful calls after a failed one, until it succeeds.
        for (command, error) in [
            ("git push", Some("error: failed to push some refs")),
            ("cargo fmt --all", None),
            ("cargo test", None),
            ("git push", None),
        ] {
            tool(&home, session, command, error);
        }
    }
    drain_spool(&home);
    let report = home.json(&["reflect"]);
    let found: Vec<&Value> = report["proposals"].as_array().unwrap().iter().collect();
    assert_eq!(found.len(), 1, "{report}");
    assert_eq!(found[0]["target"], "workflow cargo-fmt-test-git-push");
    home.json(&["proposals", "approve", found[0]["id"].as_str().unwrap()]);
    let workflow = home.json(&["workflow", "show", "cargo-fmt-test-git-push"]);
    assert_eq!(workflow["steps"][2], json!({ "tool": "Bash", "call": "git push" }));
    assert!(home.path().join("workflows/cargo-fmt-test-git-push.md").exists());
    assert_eq!(home.json(&["workflow", "list"])["workflows"].as_array().unwrap().len(), 1);
    home.json(&["workflow", "rm", "cargo-fmt-test-git-push"]);
    assert_eq!(home.run(&["workflow", "list"]).code, 1);
    assert!(!home.path().join("workflows/cargo-fmt-test-git-push.md").exists());
}
