//! `everlore agent`: agents and their overrides of settings.

use std::fs;

use serde_json::{Value, json};

use crate::home::{TestHome, write_file};

#[test]
fn settings_are_set_shown_and_removed_for_one_agent() {
    let home = TestHome::new();
    let set = home.run(&[
        "agent",
        "set",
        "助手",
        "memory.inject.limit=3",
        "memory.enabled=false",
        "general.language=zh",
        "upkeep.hours=2-5",
    ]);
    assert_eq!(set.code, 0, "{set:?}");
    assert_eq!(
        set.out,
        "助手 has 4 settings of its own\n  general.language = \"zh\"\n  memory.enabled = false\n  memory.inject.limit = 3\n  upkeep.hours = \"2-5\"\n"
    );
    assert!(!home.path().join("everlore.db").exists(), "no database is needed for it");
    let refused = home.run(&["--agent", "助手", "remember", "茶"]);
    assert!(refused.code == 2 && refused.err.contains("这个智能体的记忆已关闭"), "{refused:?}");
    home.remember("我喜欢喝龙井茶");
    let shown = home.run(&["agent", "settings", "助手"]);
    let row = |key: &str| shown.out.lines().find(|line| line.starts_with(key)).unwrap().to_owned();
    assert!(
        row("memory.inject.limit").contains('3') && row("memory.inject.limit").ends_with("agent")
    );
    assert!(row("recall.limit").ends_with("home"), "{}", shown.out);
    let output = home.json(&["agent", "unset", "助手", "memory", "upkeep.hours"]);
    assert_eq!(output["own"], json!({ "general": { "language": "zh" } }));
    assert!(output["path"].as_str().unwrap().ends_with("settings.toml"));
    home.json(&["--agent", "助手", "remember", "茶"]);
    assert_eq!(home.json(&["agent", "reset", "助手"])["own"], json!({}));
    home.assert_healthy();
}

#[test]
fn agents_are_listed_with_what_holds_for_them() {
    let home = TestHome::new();
    assert_eq!(home.run(&["agent", "list"]).code, 1);
    home.remember("tea");
    home.json(&["--agent", "助手", "remember", "茶"]);
    home.json(&["agent", "set", "助手", "memory.enabled=false"]);
    let agents = home.json(&["agent", "list"])["agents"].clone();
    let expected = json!([
        { "agent": "default", "users": 1, "memories": 1, "enabled": true, "own_settings": false },
        { "agent": "助手", "users": 1, "memories": 1, "enabled": false, "own_settings": true },
    ]);
    assert_eq!(agents, expected);
    let output = home.run(&["agent", "list"]).out;
    assert!(output.contains("its own") && output.contains("off"), "{output}");
}

#[test]
fn mistakes_are_told_and_nothing_is_written() {
    let home = TestHome::new();
    for (args, output) in [
        (&["agent", "set", "a", "memory.inject.limit=5000"][..], "must be from 0 to 1000"),
        (&["agent", "set", "a", "memory.inject.limti=5"], "did you mean `memory.inject.limit`?"),
        (&["agent", "set", "a", "memory.mask_secrets=false"], "cannot switch masking off"),
        (&["agent", "set", "a", "server.port=1"], "is shared by all agents"),
        (&["agent", "set", "a", "memory.enabled"], "sets nothing"),
        (&["agent", "set", "../a", "memory.enabled=false"], "slash"),
        (&["agent", "unset", "a", "memory.enabeld"], "does not exist"),
    ] {
        let ran = home.run(args);
        assert!(ran.code == 2 && ran.err.contains(output), "{args:?}: {ran:?}");
    }
    let left: Vec<_> =
        home.files().into_iter().filter(|(path, _)| path.ends_with("settings.toml")).collect();
    assert_eq!(left, []);
}

#[test]
fn a_file_that_is_broken_is_told_before_an_answer_and_by_the_doctor() {
    let home = TestHome::new();
    home.remember("tea");
    let file = home.path().join("agents/default/settings.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "[memory]\nmax_history = 3\nlimit = 4\n[recall]\nb = 9\n").unwrap();
    let ran = home.run(&["recall", "tea"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains("`recall.b` is 9, but must be from 0 to 1"), "{}", ran.err);
    assert!(ran.err.contains("there is no setting `memory.limit`"), "{}", ran.err);
    let doctor = home.run(&["--json", "doctor"]);
    let found: Vec<Value> = doctor.json()["checks"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|check| check["check"] == "agents")
        .cloned()
        .collect();
    assert_eq!((doctor.code, found.len()), (2, 2), "{found:?}");
    assert_eq!(home.run(&["agent", "settings"]).code, 2);
    home.json(&["agent", "set", "default", "recall.b=0.5"]);
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(text, "[memory]\nmax_history = 3\nlimit = 4\n[recall]\nb = 0.5\n");
}

#[test]
fn the_settings_give_an_agent_a_database_before_its_first_memory() {
    let home = TestHome::new();
    home.remember("the home has an agent already");
    let settings =
        "[store]\nagents = [\"anna=sqlite:own/anna.db\", \"default=sqlite:own/late.db\"]\n";
    write_file(&home.path().join("config.toml"), settings);
    for text in ["Anna drinks oolong tea", "安娜住在里斯本"] {
        let ran = home.run(&["--agent", "anna", "remember", text]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(
            ran.err.contains("store.agents names") && ran.err.contains("agent move default"),
            "{ran:?}"
        );
    }
    assert!(home.path().join("own/anna.db").exists() && !home.path().join("own/late.db").exists());
    let shown = home.json(&["agent", "show", "anna"]);
    assert!(shown.to_string().contains("own/anna.db"), "{shown}");
    let listed = home.json(&["--agent", "anna", "memory", "list"]);
    assert_eq!(listed["memories"].as_array().unwrap().len(), 2);

    // The registry knows it now, and the setting may go.
    write_file(&home.path().join("config.toml"), "");
    assert_eq!(home.json(&["--agent", "anna", "memory", "list"]), listed);

    let bad = home.run(&["--json", "memory", "list"]);
    assert_eq!(bad.code, 0);
    write_file(&home.path().join("config.toml"), "[store]\nagents = [\"postgres://h/d\"]\n");
    let bad = home.run(&["memory", "list"]);
    assert!(bad.code == 2 && bad.err.contains("NAME=ADDRESS"), "{bad:?}");
}

#[test]
fn an_agent_whose_own_database_is_away_is_told_which_one_and_others_go_on() {
    let home = TestHome::new();
    home.remember("the home has an agent already");
    // Nothing listens on port 1.
    let away = "postgres://u:hunter2@127.0.0.1:1/x";
    write_file(&home.path().join("config.toml"), format!("[store]\nagents = [\"anna={away}\"]\n"));
    let told = "check that this database runs";
    for args in [&["recall", "tea"] as &[&str], &["memory", "list"], &["memory", "stats"]] {
        let ran = home.run(&[&["--agent", "anna"], args].concat());
        assert!(ran.code == 2 && ran.err.contains(told), "{ran:?}");
        assert!(ran.err.contains("postgres://u:***@127.0.0.1:1/x"), "{ran:?}");
        assert!(!ran.err.contains("disk space") && !ran.err.contains("hunter2"), "{ran:?}");
    }
    let chinese = home.run(&["--agent", "anna", "--lang", "zh", "memory", "list"]);
    assert!(chinese.err.contains("请检查这个数据库是否在运行"), "{chinese:?}");
    let found = home.run(&["recall", "who has an agent already?"]);
    assert!(found.code == 0 && found.out.contains("the home has an agent"), "{found:?}");
}
