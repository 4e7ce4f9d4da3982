//! `everlore embed`, and recall by meaning.

use crate::home::TestHome;

#[test]
fn a_question_in_other_words_finds_the_memory() {
    let home = TestHome::new();
    for text in [
        "My puppy learned to swim",
        "The physician prescribed antibiotics",
        "The staging port is 9443",
        "我喜欢龙井茶",
    ] {
        home.json(&["remember", text]);
    }
    let found = home.json(&["recall", "what medicine did the doctor give"]);
    assert_eq!(found["hits"][0]["content"], "The physician prescribed antibiotics", "{found}");
    let status = home.json(&["embed", "status"]);
    assert_eq!(
        (&status["status"]["embedded"], &status["status"]["waiting"]),
        (&4.into(), &0.into())
    );
    assert_eq!(status["status"]["in_use"], status["status"]["model"]);
}

#[test]
fn vectors_that_are_missing_are_made_later() {
    let home = TestHome::new();
    for number in 0..10 {
        let mut command =
            home.command(&["remember", &format!("note number {number} about rivers")]);
        command.env("EVERLORE_MEMORY__LONG_TERM__VECTOR_INDEX", "false");
        assert!(command.output().unwrap().status.success());
    }
    home.json(&["remember", "The physician prescribed antibiotics"]);
    let waiting = |home: &TestHome| home.json(&["embed", "status"])["status"]["waiting"].clone();
    assert_eq!(waiting(&home), 10);
    let output = home.run(&["embed", "status"]).out;
    assert!(
        output.contains("memories with a vector: 1, without: 10")
            && output.contains("everlore embed rebuild"),
        "{output}"
    );
    assert_eq!(home.json(&["embed", "rebuild"])["made"], 10);
    assert_eq!(waiting(&home), 0);
    assert_eq!(home.json(&["embed", "rebuild"])["made"], 0, "there is nothing more to do");
    assert_eq!(home.json(&["embed", "switch"])["made"], 0, "it is the model in use already");
}
