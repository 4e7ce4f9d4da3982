//! `--why-not`: the filter, the term, the score, the limit, the confidence, the budget or the settings.

use serde_json::Value;

use crate::home::TestHome;

/// Returns the reason that a command gives for leaving the memory out, and its sentence.
fn reason(home: &TestHome, id: &str, args: &[&str]) -> (String, String) {
    let answer = home.json(&[args, &["--why-not", id]].concat());
    assert_eq!(answer["id"], id);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (text(&answer["reason"]), text(&answer["message"]))
}

#[test]
fn every_way_of_being_left_out_has_its_sentence() {
    let home = TestHome::new();
    let tea = home.remember("I drink green tea from Hangzhou every morning before work");
    home.remember("green tea, green tea, green tea");
    let explain = |args: &[&str]| reason(&home, &tea, args);

    assert_eq!(explain(&["recall", "green tea"]).0, "returned");
    assert_eq!(
        explain(&["recall", "green tea", "--kind", "project"]),
        ("filter".to_owned(), "its kind is user, which --kind leaves out".to_owned())
    );
    assert_eq!(explain(&["recall", "green tea", "--until", "2020-01-01"]).0, "filter");
    assert!(explain(&["recall", "量子"]).1.contains("looked up by 量, 子, 量子"));
    assert_eq!(explain(&["recall", "green tea", "--min-score", "0.99"]).0, "score");
    let (reason, sentence) = explain(&["recall", "green tea", "--limit", "1"]);
    assert_eq!(reason, "rank");
    assert!(sentence.contains("number 2") && sentence.contains("--limit 2"), "{sentence}");
    let (reason, sentence) = explain(&["recall", "tea ceremony in Kyoto", "--min-confidence", "1"]);
    assert_eq!(reason, "gate");
    assert!(sentence.contains("1.00 is needed"), "{sentence}");
}

#[test]
fn a_block_leaves_out_by_its_budget_and_by_the_settings() {
    let home = TestHome::new();
    let tea = home.remember("I drink green tea from Hangzhou every morning");
    let command = ["context", "Hangzhou green tea morning"];
    let with = |more: &[&str]| reason(&home, &tea, &[&command, more].concat());
    assert_eq!(with(&[]).1, "it is in the block, in full");
    let (reason_given, sentence) = with(&["--budget", "10"]);
    assert_eq!(reason_given, "budget");
    assert!(sentence.contains("0 of 10 tokens"), "{sentence}");
    crate::home::write_file(
        &home.path().join("config.toml"),
        "[memory.inject]\nlong_term_trigger = \"never\"\n",
    );
    assert_eq!(with(&[]).0, "settings");
    let (reason_given, _) = reason(&home, &tea, &["context", "quantum chromodynamics"]);
    assert_eq!(reason_given, "no_term");
}

#[test]
fn an_explanation_says_how_the_query_was_understood() {
    let home = TestHome::new();
    home.remember("I drink green tea");
    let explain = home.run(&["recall", "who am I?", "--explain"]).out;
    assert!(explain.contains("about the user"), "{explain}");
}
