//! `everlore prompt show`: the exact prompt of a model.

use crate::home::TestHome;

#[test]
fn the_prompt_is_printed_as_a_model_gets_it_with_figures_beside() {
    let home = TestHome::new();
    home.run(&["layer", "add", "user", "Job", "The user is a nurse in Lyon."]);
    home.run(&["remember", "My dog is called Rex and is afraid of thunder"]);
    let shown = home.run(&["prompt", "show", "--base", "Be brief.", "What is my dog called?"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    let positions: Vec<_> =
        ["<agent-identity>", "nurse in Lyon", "<memory-guide>", "Be brief.", "Rex"]
            .iter()
            .map(|part| shown.out.find(part).unwrap_or_else(|| panic!("{part} in {shown:?}")))
            .collect();
    assert!(positions.is_sorted(), "{shown:?}");
    assert!(shown.out.trim_end().ends_with("</memory-context>"), "{shown:?}");
    for part in ["identity", "user", "guide", "base", "recalled", "all"] {
        assert!(shown.err.lines().any(|line| line.starts_with(part)), "{part} in {shown:?}");
    }
    let json = home.json(&["prompt", "show", "--base", "Be brief.", "What is my dog called?"]);
    assert_eq!(json["text"].as_str().unwrap().trim_end(), shown.out.trim_end());
    let bytes = |key: &str| json[key].as_u64().unwrap() as usize;
    assert_eq!(bytes("stable_bytes") + bytes("turn_bytes"), json["text"].as_str().unwrap().len());
}

#[test]
fn a_greeting_adds_nothing_and_a_missing_file_is_named() {
    let home = TestHome::new();
    home.run(&["remember", "我的狗叫雷克斯"]);
    let greeted = home.json(&["prompt", "show", "你好"]);
    assert_eq!(greeted["turn_bytes"], 0, "{greeted}");
    let prompt = home.json(&["prompt", "show", "我的狗叫什么名字？"]);
    assert!(prompt["text"].as_str().unwrap().contains("雷克斯"), "{prompt}");
    let lost = home.run(&["prompt", "show", "--base-file", "nowhere.md"]);
    assert!(lost.code == 2 && lost.err.contains("nowhere.md"), "{lost:?}");
}
