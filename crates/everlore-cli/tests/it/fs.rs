//! `everlore fs`: memory as a tree of files.

use crate::home::{TestHome, write_file};

#[test]
fn people_add_list_read_find_and_remove_in_both_languages() {
    let home = TestHome::new();
    for (folder, text, query) in [
        ("user/food", "I like green tea in the morning", "what do I drink in the morning"),
        ("user/饮食", "我早上喝龙井茶", "我早上喝什么"),
    ] {
        let added = home.run(&["fs", "add", folder, text]);
        assert_eq!(added.code, 0, "{added:?}");
        let uri = added.out.trim().strip_prefix("added: ").unwrap();
        assert!(uri.starts_with(&format!("agent://default/{folder}/")), "{uri}");
        let listed = home.run(&["fs", "ls", folder]);
        assert!(listed.out.contains(text), "{listed:?}");
        for level in ["l0", "l1", "l2"] {
            let read = home.run(&["fs", "read", uri, "--level", level]);
            assert_eq!(read.out, format!("{text}\n"), "{level}");
        }
        let found = home.json(&["fs", "find", query, "--in", "user"]);
        assert_eq!(found["found"][0]["uri"], uri);
        let lines = home.run(&["fs", "grep", text, "user"]);
        assert_eq!(lines.out, format!("{uri}:1:{text}\n"));
        let stat = home.json(&["fs", "stat", uri]);
        assert_eq!((&stat["folder"], &stat["kind"]), (&false.into(), &"user".into()));
    }
    let tree = home.run(&["fs", "tree"]);
    assert!(tree.out.starts_with("agent://default/\n"), "{tree:?}");
    for name in
        ["  user/\n    food/\n", "    饮食/\n", "  layers/\n", "    SOUL.md\n", "  resources/\n"]
    {
        assert!(tree.out.contains(name), "{name:?} in {}", tree.out);
    }
    let refused = home.run(&["fs", "rm", "user/food"]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("--recursive"), "{refused:?}");
    let removed = home.json(&["fs", "rm", "user", "-r"]);
    assert_eq!(removed["memories"], 2);
    assert_eq!(home.run(&["fs", "ls", "user"]).code, 1);
    home.json(&["memory", "undo", "--run", removed["runs"][0].as_str().unwrap()]);
    assert_eq!(home.json(&["fs", "ls", "user"])["items"].as_array().unwrap().len(), 2);
    home.assert_healthy();
}

#[test]
fn a_file_becomes_a_document_and_goes_with_its_folder() {
    let home = TestHome::new();
    let path = write_file(
        &home.sibling("部署.md"),
        "# 部署\n\n先备份数据库。\n\n## Roll back\n\nPress the blue button.\n",
    );
    let added = home.json(&["fs", "add", "resources/ops/", "--file", &path]);
    assert_eq!(added["uri"], "agent://default/resources/ops/部署.md");
    let read = home.run(&["fs", "read", "viking://resources/ops/部署.md"]);
    assert!(read.out.contains("先备份数据库。") && read.out.contains("blue button"), "{read:?}");
    let overview = home.run(&["fs", "read", "resources/ops", "--level", "l1"]);
    assert!(overview.out.starts_with("- 部署.md: "), "{overview:?}");
    home.json(&["ingest", &path]);
    let root = home.run(&["fs", "tree", "resources", "-L", "9"]);
    assert!(root.out.contains("  ~root/\n"), "{root:?}");
    let dry = home.json(&["fs", "rm", "resources/ops", "-r", "--dry-run"]);
    assert!(dry["memories"].as_u64().unwrap() > 0);
    home.json(&["fs", "rm", "resources/ops", "-r"]);
    assert_eq!(home.run(&["fs", "ls", "resources/ops"]).code, 2);
    home.assert_healthy();
}

#[test]
fn what_is_wrong_is_told_with_what_to_do() {
    let home = TestHome::new();
    home.json(&["fs", "add", "user/food", "I like tea"]);
    for (args, word) in [
        (vec!["fs", "read", "user/fodo"], "did you mean agent://default/user/food/"),
        (vec!["fs", "ls", "user/../../etc"], "are not supported in uris"),
        (vec!["fs", "ls", "user/%2e%2e"], "are not supported in uris"),
        (vec!["fs", "ls", "agent://other/user"], "another agent"),
        (vec!["fs", "ls", "file:///etc/passwd"], "agent://"),
        (vec!["fs", "read", "user/food"], "is a folder"),
        (vec!["fs", "read", "user", "--level", "l9"], "l0"),
        (vec!["fs", "add", "layers/USER.md", "x"], "everlore layer"),
        (vec!["fs", "rm", "layers", "-r"], "cannot be changed here"),
        (vec!["fs", "add", "user/a/b/c", "x"], "no deeper"),
        (vec!["fs", "grep", "(", "-E"], "regular expression"),
        (vec!["fs", "ls", "--limit", "0"], "1 to 1000"),
    ] {
        let ran = home.run(&args);
        assert_eq!(ran.code, 2, "{args:?}: {ran:?}");
        assert!(ran.err.contains(word), "{args:?}: {ran:?}");
    }
    let output = home.run(&["--json", "fs", "read", "user/fodo"]);
    assert_eq!(output.json()["error"]["code"], "not_found");
}

#[test]
fn secrets_are_masked_before_the_short_forms_are_made() {
    let home = TestHome::new();
    let secret = "sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGhIjKl-AbCdEfGA";
    let text = format!(
        "The key of the service is {secret} and it is used every day. {}",
        "The service is slow in the morning and fast at night. ".repeat(12)
    );
    home.json(&["fs", "add", "reference/keys", &text]);
    for (path, bytes) in home.files() {
        let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
        assert!(!found, "{}", path.display());
    }
}

#[test]
fn a_folder_is_told_in_a_prompt_counted_and_given_data() {
    let home = TestHome::new();
    for (folder, other, text, query) in [
        ("user/food", "project", "I like green tea in the morning", "which tea do I like"),
        ("user/饮食", "project", "我早上喝龙井茶", "我早上喝什么茶"),
    ] {
        let added = ["fs", "add", folder, text, "--metadata", r#"{"from":"测试"}"#];
        let id = home.json(&added)["memory"]["id"].as_str().unwrap().to_owned();
        assert_eq!(home.json(&["memory", "show", &id])["metadata"]["from"], "测试");
        let output = home.run(&["fs", "inject", query, "--in", folder]);
        assert_eq!(output.code, 0, "{output:?}");
        assert!(
            output.out.starts_with("<memory-context>") && output.out.contains(text),
            "{output:?}"
        );
        home.run(&["fs", "add", other, "The release leaves on Tuesday"]);
        let nothing = home.run(&["fs", "inject", query, "--in", other]);
        assert_eq!((nothing.code, nothing.out.as_str()), (1, ""));
    }
    let status = home.json(&["fs", "status"]);
    assert_eq!(
        (&status["memories"]["user"], &status["memories"]["project"]),
        (&2.into(), &1.into())
    );
    let output = home.run(&["fs", "status"]).out;
    assert!(output.contains("user         2\n") && output.contains("documents    0\n"), "{output}");
    let refused = home.run(&["fs", "add", "user", "x", "--metadata", "[1]"]);
    assert_eq!(refused.code, 2, "{refused:?}");
}
