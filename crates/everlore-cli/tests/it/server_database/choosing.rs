//! Choice of a home's database, and what commands tell about it.

use serde_json::Value;

use super::{TestPostgres, write_config};
use crate::{
    home::TestHome,
    hooks::{drain_spool, hook, recorded_event, turns},
};

#[test]
fn memories_are_in_the_database_and_no_output_has_its_password() {
    let postgres = TestPostgres::start();
    let (home, other) = (postgres.home(), postgres.home());
    home.remember("我喜欢喝龙井茶");
    assert_eq!(other.recall("喝什么茶？"), ["我喜欢喝龙井茶"]);
    assert!(!home.path().join("everlore.db").exists());
    for args in [
        &["memory", "stats"] as &[&str],
        &["--json", "memory", "stats"],
        &["doctor"],
        &["--json", "doctor"],
        &["config", "show"],
        &["--json", "config", "show"],
        &["--json", "serve", "status"],
    ] {
        let ran = home.run(args);
        assert!(ran.out.contains(&postgres.shown()), "{args:?}: {ran:?}");
        postgres.assert_hidden(&ran);
    }
    postgres.assert_hidden(&home.run(&["-vvv", "recall", "tea"]));
    home.assert_healthy();
    let stats = home.json(&["memory", "stats"]);
    assert_eq!((&stats["total"], &stats["database_bytes"]), (&1.into(), &Value::Null));
}

#[test]
fn an_option_beats_a_variable_beats_the_settings() {
    let home = TestHome::new();
    write_config(&home, "[store]\nurl = \"sqlite:settings.db\"\n");
    let store = |args: &[&str], variable: Option<&str>| {
        let mut command = home.command(&[args, &["--json", "serve", "status"]].concat());
        if let Some(url) = variable {
            command.env("EVERLORE_STORE", url);
        }
        let printed = command.output().unwrap().stdout;
        let status: Value = serde_json::from_slice(&printed).unwrap();
        status["store"].as_str().unwrap().to_owned()
    };
    let sqlite = |path: std::path::PathBuf| format!("sqlite:{}", path.display());
    assert_eq!(store(&[], None), sqlite(home.path().join("settings.db")));
    assert_eq!(store(&[], Some("")), sqlite(home.path().join("settings.db")));
    assert_eq!(store(&[], Some("postgres://a:b@h/d")), "postgres://a:***@h/d");
    let option = &["--store", "sqlite:option.db"];
    assert_eq!(store(option, Some("postgres://a:b@h/d")), sqlite(home.sibling("option.db")));
    home.remember("tea");
    assert!(home.path().join("settings.db").exists());
    assert!(!home.path().join("everlore.db").exists());
    write_config(&home, "");
    assert_eq!(store(&[], None), sqlite(home.path().join("everlore.db")));
}

#[test]
fn an_address_that_cannot_be_used_is_refused_without_quoting_it() {
    let home = TestHome::new();
    for url in ["host=h password=hunter2", "postgress://ann:hunter2@h/d", "hunter2"] {
        for args in [&["recall", "tea"] as &[&str], &["--json", "recall", "tea"]] {
            let ran = home.run(&[&["--store", url], args].concat());
            assert_eq!(ran.code, 2, "{ran:?}");
            let told = ran.out + &ran.err;
            assert!(told.contains("store.url") && !told.contains("hunter2"), "{told}");
        }
    }
    assert!(!home.path().exists());
}

#[test]
fn hooks_store_and_recall_in_the_database() {
    let postgres = TestPostgres::start();
    let (home, other) = (postgres.home(), postgres.home());
    home.remember("The billing service deploys on Thursdays.");
    let event = recorded_event(&home, "claude-code", "UserPromptSubmit");
    let answer = hook(&home, "claude-code", "UserPromptSubmit", &event);
    drop(answer);
    drain_spool(&home);
    assert!(!turns(&other).is_empty());
    assert!(!home.path().join("everlore.db").exists());
}
