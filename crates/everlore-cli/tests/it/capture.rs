//! Capture by commands: from turns to memories.

use serde_json::Value;

use crate::home::TestHome;

fn observe(home: &TestHome, session: &str, end: bool, lines: &str) {
    let mut args = vec!["observe", "--role", "user", "--plain", "--session", session];
    args.extend(end.then_some("--end"));
    let ran = home.run_with_input(&args, lines.as_bytes());
    assert_eq!(ran.code, 0, "{ran:?}");
}

fn draft_outcomes(extraction: &Value) -> Vec<(&str, &str)> {
    let drafts = extraction["drafts"].as_array().unwrap().iter();
    drafts.map(|it| (it["became"].as_str().unwrap(), it["statement"].as_str().unwrap())).collect()
}

fn kept_contents(home: &TestHome) -> Vec<String> {
    let ran = home.run(&["--json", "memory", "list", "--kind", "user"]);
    let memories = ran.json()["memories"].as_array().unwrap().clone();
    memories.iter().map(|memory| memory["content"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_was_said_waits_until_it_is_read_and_a_reading_can_be_undone() {
    let home = TestHome::new();
    observe(
        &home,
        "monday",
        false,
        "I live in Boston.\nWhat is the weather like?\n我对花生过敏。\n",
    );
    let status = home.json(&["memory", "status"]);
    assert_eq!((&status["turns"], &status["waiting"][0]["session"]), (&3.into(), &"monday".into()));
    let preview = home.json(&["extract", "--dry-run"]);
    let expected = [("added", "I live in Boston."), ("added", "我对花生过敏。")];
    assert_eq!(draft_outcomes(&preview["extractions"][0]), expected);
    assert_eq!(kept_contents(&home), Vec::<String>::new(), "a preview changes nothing");
    let done = home.json(&["extract"]);
    assert_eq!(draft_outcomes(&done["extractions"][0]), expected);
    assert_eq!(kept_contents(&home), ["我对花生过敏。", "I live in Boston."]);
    assert_eq!(home.json(&["memory", "status"])["turns"], 0);
    let run = done["extractions"][0]["run"].as_str().unwrap();
    home.json(&["memory", "undo", "--run", run]);
    assert_eq!(kept_contents(&home), Vec::<String>::new());
    let again = home.run(&["extract"]);
    assert_eq!((again.code, again.err.trim()), (0, "nothing to extract: every turn was processed"));
    home.assert_healthy();
}

#[test]
fn the_end_of_a_conversation_extracts_memories() {
    let home = TestHome::new();
    observe(&home, "one", true, "我住在上海。\n");
    assert_eq!(kept_contents(&home), ["我住在上海。"]);
    observe(&home, "two", false, "I work at Nokia.\n");
    assert_eq!(kept_contents(&home).len(), 1);
    let ended = home.json(&["session", "end", "two"]);
    assert_eq!(draft_outcomes(&ended["extractions"][0]), [("added", "I work at Nokia.")]);
    assert!(home.recall("Where do I work?").contains(&"I work at Nokia.".to_owned()));
    // Another user's conversations are extracted only with --all.
    let ran =
        home.run_with_input(&["observe", "--user", "bob", "--role", "user"], b"I like tea.\n");
    assert_eq!(ran.code, 0);
    assert_eq!(home.json(&["extract"])["extractions"], Value::Array(vec![]));
    let all = home.json(&["extract", "--all"]);
    assert_eq!(all["extractions"][0]["user"], "bob");
    assert_eq!(kept_contents(&home).len(), 2);
}

#[test]
fn what_is_not_remembered_can_be_looked_at_remembered_all_the_same_and_dropped() {
    let home = TestHome::new();
    // Plain statements have a high confidence, so the threshold is raised above it.
    let strict = [("EVERLORE_MEMORY_AGENT__EXTRACT__MIN_CONFIDENCE", "1.0")];
    observe(&home, "monday", false, "I live in Boston. I like tea.\n我对花生过敏。\n");
    let output = home.command(&["extract"]).envs(strict).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.contains("quarantined: I like tea. (its confidence is 0."), "{printed}");
    assert_eq!(kept_contents(&home), Vec::<String>::new());
    let listed = home.json(&["quarantine", "list"]);
    let drafts = listed["drafts"].as_array().unwrap();
    let id = |text: &str| {
        let of = |draft: &&Value| draft["memory"]["content"].as_str().unwrap().contains(text);
        drafts.iter().find(of).unwrap()["memory"]["id"].as_str().unwrap().to_owned()
    };
    let shown = home.run(&["quarantine", "show", &id("tea")]);
    assert!(
        shown.out.contains("reason    its confidence is 0.") && shown.out.contains("at least 1.00")
    );
    let restored = home.json(&["quarantine", "restore", &id("tea")]);
    assert_eq!(restored["memories"][0]["metadata"]["trust"], "approved");
    assert_eq!(kept_contents(&home), ["I like tea."]);
    assert_eq!(home.json(&["quarantine", "drop", &id("Boston")])["dropped"], 1);
    let missing = home.run(&["quarantine", "show", &id("Boston")]);
    assert!(missing.code == 2 && missing.err.contains("everlore quarantine list"), "{missing:?}");
    assert_eq!(home.json(&["quarantine", "drop", "--all"])["dropped"], 1);
    assert_eq!(home.run(&["quarantine", "list"]).code, 1);
}

#[test]
fn a_forgotten_turn_names_the_memories_extracted_from_it() {
    let home = TestHome::new();
    let ran =
        home.run_with_input(&["observe", "--role", "user", "--end"], "我住在上海。\n".as_bytes());
    let turn = ran.lines()[0]["id"].as_str().unwrap().to_owned();
    let forgotten = home.run(&["memory", "forget", "--yes", &turn]);
    assert!(forgotten.err.contains("everlore memory forget "), "{forgotten:?}");
    let memory = forgotten.err.split_whitespace().last().unwrap().to_owned();
    home.json(&["memory", "forget", "--yes", &memory]);
    let holding = home
        .files()
        .into_iter()
        .find(|(_, bytes)| bytes.windows(6).any(|window| window == "上海".as_bytes()));
    assert_eq!(holding.map(|(path, _)| path), None);
}

#[test]
fn a_secret_that_was_said_is_nowhere_in_the_home() {
    let home = TestHome::new();
    let secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    observe(
        &home,
        "s",
        true,
        &format!("My token is {secret}.\nRemember that my token is {secret}\n"),
    );
    observe(&home, "t", true, &format!("我的令牌是 {secret}，我住在上海。\n"));
    home.json(&["extract"]);
    for (path, bytes) in home.files() {
        let holds = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
        assert!(!holds, "{} holds the secret", path.display());
    }
    assert!(
        kept_contents(&home).iter().any(|content| content.contains("我住在上海")),
        "{:?}",
        kept_contents(&home)
    );
}
