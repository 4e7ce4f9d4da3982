//! Domain vocabularies: named in the settings or on the command line, and reported when they are invalid.

use std::fs;

use crate::home::TestHome;

const LIST: &str = "name = \"heart\"\n\n[[term]]\nterm = \"atrial fibrillation\"\nsynonyms = [\"AFib\", \"房颤\"]\nweight = 2.0\n";

/// Returns a home with two memories that only the vocabulary connects with the question.
fn home() -> TestHome {
    let home = TestHome::new();
    home.remember("AFib since May");
    home.remember("房颤要长期服药");
    fs::write(home.sibling("heart.toml"), LIST).unwrap();
    home
}

/// Returns the contents of the hits, sorted.
fn hits(home: &TestHome, args: &[&str]) -> Vec<String> {
    let ran = home.run(&[&["--json", "recall", "atrial fibrillation"], args].concat());
    let hits = ran.json()["hits"].as_array().unwrap().clone();
    let mut texts: Vec<_> =
        hits.iter().map(|hit| hit["content"].as_str().unwrap().to_owned()).collect();
    texts.sort();
    texts
}

#[test]
fn a_list_given_once_finds_what_no_common_word_would() {
    let home = home();
    let without = home.run(&["recall", "atrial fibrillation", "--explain"]);
    assert!(!without.out.contains("heart:"), "{without:?}");
    assert_eq!(hits(&home, &["--domain", "heart.toml"]), ["AFib since May", "房颤要长期服药"]);
    let output = home.run(&["recall", "我的房颤", "--domain", "heart.toml", "--explain"]);
    assert!(output.out.contains("heart: atrial fibrillation × 2"), "{output:?}");
}

#[test]
fn a_list_named_in_the_settings_or_the_environment_is_always_used() {
    let home = home();
    fs::copy(home.sibling("heart.toml"), home.path().join("heart.toml")).unwrap();
    let mut command = home.command(&["--json", "recall", "atrial fibrillation"]);
    let output = command.env("EVERLORE_RECALL__DOMAINS", "heart.toml").output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains("AFib since May"));
    fs::write(home.path().join("config.toml"), "[recall]\ndomains = [\"heart.toml\"]\n").unwrap();
    assert_eq!(hits(&home, &[]), ["AFib since May", "房颤要长期服药"]);
}

#[test]
fn a_list_that_cannot_be_used_is_told_with_its_file_and_line() {
    let home = home();
    fs::write(home.sibling("bad.toml"), "[[term]]\nterm = \"tea\"\n\n[[term]]\nterm = 3\n")
        .unwrap();
    for (args, expected) in [
        (["recall", "tea", "--domain", "bad.toml"], "bad.toml: line 5"),
        (["recall", "tea", "--domain", "none.toml"], "none.toml: the list cannot be read"),
    ] {
        let ran = home.run(&args);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.err.contains(expected) && ran.err.contains("hint: "), "{ran:?}");
    }
    fs::write(home.path().join("config.toml"), "[recall]\ndomains = [\"gone.toml\"]\n").unwrap();
    let ran = home.run(&["recall", "tea"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("gone.toml: the list cannot be read"), "{ran:?}");
}
