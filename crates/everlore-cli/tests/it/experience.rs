//! `everlore experience` and `everlore feedback`: the shapes that programs rely on.

use serde_json::{Value, json};

use crate::home::TestHome;

const LINKER: &str =
    "error: linker `cc` not found\n  = note: No such file or directory (os error 2)";

fn add(home: &TestHome, new: &Value) -> String {
    let ran = home.run_with_input(&["experience", "add", "--json"], new.to_string().as_bytes());
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.json()["id"].as_str().unwrap().to_owned()
}

#[test]
fn an_experience_is_recorded_found_reported_and_removed() {
    let home = TestHome::new();
    let id = add(
        &home,
        &json!({ "pain": "链接失败", "solution": "apt install build-essential", "outcome": "好了", "error": LINKER, "tools": ["cargo"] }),
    );
    let found = home.run_with_input(
        &["experience", "find", "--error", "--json"],
        b"cargo can't find linker cc",
    );
    let hit = &found.json()["hits"][0];
    assert_eq!((hit["id"].as_str(), hit["pain"].as_str()), (Some(id.as_str()), Some("链接失败")));
    assert_eq!((hit["uses"].as_u64(), hit["same"].as_bool()), (Some(0), Some(true)));
    assert!(hit["score"].as_f64().unwrap() > 0.5 && hit["success"].as_f64().unwrap() > 0.5);
    let by_argument = home.json(&["experience", "find", "--error", LINKER]);
    assert_eq!(by_argument["hits"][0]["solution"], "apt install build-essential");
    let other = home.run(&["experience", "find", "--error", "npm ERR! code ERESOLVE", "--json"]);
    assert_eq!((other.code, other.json()), (1, json!({ "hits": [] })));
    let reported = home.json(&["experience", "failed", &id]);
    assert_eq!((reported["failed"].as_u64(), reported["uses"].as_u64()), (Some(1), Some(1)));
    home.json(&["experience", "update", &id, "--context", "Debian 13"]);
    assert_eq!(home.json(&["experience", "show", &id])["context"], "Debian 13");
    assert_eq!(home.json(&["experience", "list"])["experiences"][0]["worked"], 1);
    home.json(&["experience", "rm", &id]);
    assert_eq!(home.run(&["experience", "list"]).code, 1);
}

#[test]
fn what_is_no_experience_is_refused_in_plain_words() {
    let home = TestHome::new();
    for (input, word) in [("{}", "pain"), ("{", "JSON"), (r#"{"pain":"x","cure":"y"}"#, "cure")] {
        let ran = home.run_with_input(&["experience", "add"], input.as_bytes());
        assert!(ran.code == 2 && ran.err.contains(word), "{input}: {ran:?}");
    }
    let tea = home.remember("I drink green tea");
    let ran = home.run(&["experience", "show", &tea]);
    assert!(ran.code == 2 && ran.err.contains("not an experience"), "{ran:?}");
}

#[test]
fn feedback_moves_a_weight_and_can_be_undone() {
    let home = TestHome::new();
    let tea = home.remember("I drink green tea");
    let receipt = home.json(&["feedback", &tea, "bad", "--because", "I stopped"]);
    let weight = receipt["memories"][0]["weight"].as_f64().unwrap();
    assert!((weight - 0.5).abs() < 0.01, "{receipt}");
    let shown = home.json(&["memory", "show", &tea]);
    assert_eq!(shown["metadata"]["feedback"]["because"], "I stopped");
    let explained = home.run(&["recall", "green tea", "--explain"]);
    assert!(explained.out.contains("feedback 0 good, 1 bad"), "{explained:?}");
    home.run(&["memory", "undo"]);
    assert_eq!(home.json(&["memory", "show", &tea])["weight"], 1.0);
    let good = home.json(&["feedback", &tea, "good"]);
    assert!(good["memories"][0]["weight"].as_f64().unwrap() > 1.0);
}
