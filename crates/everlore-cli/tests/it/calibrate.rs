//! `everlore recall calibrate`: fitted, saved for one scope, shown, reset.

use crate::home::{TestHome, turn_lines};

/// Returns a home with enough notes to calibrate on.
fn home() -> TestHome {
    let home = TestHome::new();
    let things = ["kettle", "piano", "violin", "bicycle", "telescope", "passport", "lantern"];
    let note = |i: usize| {
        let (thing, other) = (things[i % 7], things[i / 7 % 7]);
        format!(
            "On day {i} the {thing} beside the {other} was repaired with bolt number {}",
            i * 37
        )
    };
    let notes: Vec<String> = (0..110).map(note).collect();
    let ran =
        home.run_with_input(&["observe"], turn_lines(notes.iter().map(String::as_str)).as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.err);
    home
}

#[test]
fn a_calibration_is_tried_kept_and_taken_back() {
    let home = home();
    let file = home.path().join("calibration.json");
    let tried = home.json(&["recall", "calibrate", "--dry-run"]);
    assert_eq!(tried["kept"], false);
    assert_eq!(tried["calibration"]["memories"], 110);
    assert!(!file.exists());
    let found = home.json(&["recall", "calibrate"]);
    assert_eq!(found["calibration"], tried["calibration"]);
    assert_eq!(found["kept"], found["calibration"]["improves"]);
    assert_eq!(file.exists(), found["kept"] == true);
    let output = home.run(&["recall", "calibrate"]).out;
    assert!(output.contains("before") && output.contains("after"), "{output}");
    assert_eq!(home.json(&["recall", "calibrate", "--reset"])["reset"], found["kept"]);
    assert_eq!(home.json(&["recall", "calibrate", "--reset"])["reset"], false);
}

#[test]
fn too_few_memories_are_said() {
    let home = TestHome::new();
    home.remember("I drink green tea");
    let ran = home.run(&["recall", "calibrate"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.err.contains("there are 1 memories") && ran.err.contains("at least 100"),
        "{}",
        ran.err
    );
}

#[test]
fn the_word_itself_can_be_looked_for() {
    let home = TestHome::new();
    home.remember("Calibrate the thermometer in ice water");
    for query in [&["recall", "--", "calibrate"][..], &["recall", "calibrate", "thermometer"]] {
        let ran = home.run(query);
        assert!(ran.out.contains("ice water"), "{query:?}: {} {}", ran.out, ran.err);
    }
    let ran = home.run(&["recall", "thermometer", "--reset"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("everlore recall calibrate"), "{}", ran.err);
}

#[test]
fn the_gate_says_why_in_plain_words() {
    let home = TestHome::new();
    let tea = home.remember("I drink green tea from Hangzhou every morning");
    let why = ["recall", "tea ceremony in Kyoto", "--min-confidence", "1", "--why-not", &tea];
    let output = home.run(&why).out;
    assert!(output.contains("likeness to what the message calls for is -"), "{output}");
    let output = home.run(&["context", "thanks for the tea!", "--why-not", &tea]).out;
    assert!(output.contains("confidence"), "{output}");
    let output = home.run(&["recall", "写一首关于 tea 的诗", "--explain"]).out;
    assert!(output.contains("the message needs no memory"), "{output}");
    let answer = home.json(&["recall", "green tea", "--explain"]);
    assert_eq!(answer["judgement"]["basis"], "call");
    assert_eq!(answer["judgement"]["parts"][1]["name"], "need");
    let answer = home.json(&["recall", "Which tea does Ann drink?", "--explain"]);
    assert_eq!(answer["judgement"]["basis"], "evidence");
    assert_eq!(answer["judgement"]["parts"][1]["name"], "coverage");
}
