//! `everlore observe`: a turn as an argument, and a long-running process with prompt answers and speed with many turns.

use std::io::{BufRead, BufReader, Write};

use crate::home::{TestHome, turn_lines};

#[test]
fn each_turn_is_answered_before_the_next_is_said() {
    let home = TestHome::new();
    let mut child = home.start(&["observe", "--session", "talk"]);
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    for number in 0..20 {
        writeln!(stdin, "turn number {number}").unwrap();
        let answer = answers.next().unwrap().unwrap();
        let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
        // Another process finds it as soon as it is acknowledged.
        let id = answer["id"].as_str().unwrap();
        if number % 5 == 0 {
            assert_eq!(
                home.json(&["memory", "show", id])["content"],
                format!("turn number {number}")
            );
        }
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_turn_may_be_an_argument() {
    let home = TestHome::new();
    for text in ["My dog is called Rex.", "我住在杭州。", r#"{"text":"no JSON here"}"#] {
        let stored = home.json(&["observe", "--session", "talk", "--role", "user", text]);
        let shown = home.json(&["memory", "show", stored["id"].as_str().unwrap()]);
        assert_eq!(
            (&shown["content"], &shown["source"]["session"]),
            (&text.into(), &"talk".into())
        );
    }
    let empty = home.run(&["observe", " "]);
    assert!(empty.code == 2 && empty.err.contains("write what was said"), "{empty:?}");
    assert_ne!(home.run(&["observe", "--end", "My cat is called Ida.", "and more"]).code, 0);
}

#[test]
fn answers_stand_in_the_order_of_the_turns() {
    let home = TestHome::new();
    let texts: Vec<String> = (0..2_000).map(|number| format!("turn {number}")).collect();
    let ran =
        home.run_with_input(&["observe"], turn_lines(texts.iter().map(String::as_str)).as_bytes());
    assert_eq!(ran.code, 0);
    let answers = ran.lines();
    assert_eq!(answers.len(), 2_000);
    let stored = home.run(&["memory", "export"]).lines();
    let contents: std::collections::HashMap<_, _> = stored[1..]
        .iter()
        .map(|line| (line["memory"]["id"].clone().to_string(), line["memory"]["content"].clone()))
        .collect();
    for (answer, text) in answers.iter().zip(&texts) {
        assert_eq!(contents[&answer["id"].to_string()], text.as_str());
    }
}
