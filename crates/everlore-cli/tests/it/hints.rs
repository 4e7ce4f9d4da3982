//! Advice that fits the mistake, in both languages.

use crate::home::{CommandOutput, TestHome};

fn run_in(home: &TestHome, args: &[&str], language: &str) -> CommandOutput {
    home.run(&[&["--lang", language], args].concat())
}

#[test]
fn what_is_missing_decides_where_to_look() {
    let home = TestHome::new();
    home.remember("I like green tea");
    for (args, next) in [
        (&["memory", "undo", "99"][..], "`everlore memory history`"),
        (&["memory", "undo", "--run", "nope"], "`everlore memory history`"),
        (&["skill", "show", "nope"], "`everlore skill list`"),
        (&["workflow", "show", "nope"], "`everlore workflow list`"),
        (&["trajectory", "show", "nope"], "`everlore trajectory list`"),
        (&["show", "ffffffff"], "`everlore list`"),
    ] {
        for language in ["en", "zh"] {
            let ran = run_in(&home, args, language);
            assert!(ran.code == 2 && ran.err.contains(next), "{args:?}: {ran:?}");
            assert!(language == "en" || !ran.err.contains(" with "), "{args:?}: {ran:?}");
        }
    }
}

#[test]
fn a_command_without_words_names_what_to_type() {
    let home = TestHome::new();
    for (args, next) in [
        (&["search"][..], "`everlore recall WORDS`"),
        (&["recall"], "`everlore recall WORDS`"),
        (&["context"], "`everlore context WORDS`"),
        (&["import"], "`everlore import auto PATH`"),
    ] {
        for language in ["en", "zh"] {
            let ran = run_in(&home, args, language);
            assert!(ran.code == 2 && ran.err.contains(next), "{args:?}: {ran:?}");
        }
    }
}

#[test]
fn a_wrong_value_is_answered_with_what_is_right() {
    let home = TestHome::new();
    for (args, said) in [
        (&["onboard", "--yes", "--provider", "nope"][..], "no provider `nope`"),
        (&["onboard", "--yes", "--provider", "openai"], "--model"),
        (&["config", "set", "server.port", "99999"], "65535"),
        (&["config", "edit"], "`everlore config set KEY VALUE`"),
        (&["feedback", "01a1ddc0", "meh"], "`everlore feedback ID good`"),
    ] {
        let mut command = home.command(args);
        command.env_remove("EDITOR").env_remove("VISUAL");
        let ran = CommandOutput::from(command.output().unwrap());
        assert!(ran.code == 2 && ran.err.contains(said), "{args:?}: {ran:?}");
    }
    #[cfg(feature = "local-model")]
    {
        let ran = home.run(&["model", "add", "/nonexist"]);
        assert!(ran.code == 2 && ran.err.contains("/nonexist does not exist"), "{ran:?}");
    }
}

#[test]
fn a_verdict_may_come_first() {
    let home = TestHome::new();
    let tea = home.remember("I like green tea");
    assert_eq!(home.json(&["feedback", "good", &tea])["memories"][0]["good"], 1);
    assert_eq!(home.json(&["feedback", &tea, "good"])["memories"][0]["good"], 2);
}

#[test]
fn a_fresh_home_is_shown_as_it_is() {
    let home = TestHome::new();
    let ran = home.run(&["health"]);
    let path = home.path().join("everlore.db").display().to_string();
    assert!(ran.out.contains(&path) && ran.out.contains("not there yet"), "{ran:?}");
    let store = home.json(&["health"])["store"]["url"].clone();
    assert_eq!(store, format!("sqlite:{path}"));
    assert_eq!(home.run(&["layer", "list"]).code, 0);
}

#[test]
fn forgetting_can_be_tried_without_effect() {
    let home = TestHome::new();
    let tea = home.remember("I like green tea");
    for command in [&["forget"][..], &["memory", "delete"]] {
        let ran = home.run(&[command, &[&tea, "--dry-run"]].concat());
        assert!(ran.code == 0 && ran.out.contains("would "), "{ran:?}");
        assert!(ran.out.lines().all(|line| line.len() <= 80), "{ran:?}");
    }
    assert_eq!(home.recall("green tea").len(), 1);
}

#[test]
fn the_tour_for_programs_is_json_line_by_line() {
    let home = TestHome::new();
    let ran = home.run(&["--json", "demo"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let lines = ran.lines();
    assert_eq!(lines[0]["command"][0], "remember", "{lines:?}");
    assert!(lines.len() > 10 && lines[1]["id"].is_string(), "{lines:?}");
}

#[test]
fn a_copy_of_a_database_keeps_open_proposals() {
    let home = TestHome::new();
    home.remember("我住在上海");
    let turn = br#"{"role":"user","text":"I moved to Lisbon."}"#;
    assert_eq!(home.run_with_input(&["observe", "--session", "s", "--end"], turn).code, 0);
    home.json(&["reflect"]);
    let open = home.json(&["proposals", "list"]);
    assert!(!open["proposals"].as_array().unwrap().is_empty(), "{open}");
    let to = format!("sqlite:{}", home.sibling("copy.db").display());
    let copied = home.json(&["store", "copy", "--to", &to]);
    assert_eq!(copied["equal"], true, "{copied}");
    assert_eq!(home.json(&["--store", &to, "proposals", "list"]), open);
}
