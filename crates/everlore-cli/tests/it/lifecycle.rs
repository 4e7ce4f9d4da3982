//! Life of memories: injected, used, weighed, archived, merged.

use crate::home::TestHome;

#[test]
fn a_conversation_leaves_weights_and_figures_behind() {
    for (memory, query, answer) in [
        (
            "The user's dog is called Rex",
            "What is my dog's name, the dog called what?",
            "Your dog is called Rex.",
        ),
        ("用户的狗叫小黑", "我的狗叫什么名字？", "你的狗叫小黑。"),
    ] {
        let home = TestHome::new();
        let id = home.remember(memory);
        let sure = ["--limit", "5", "--session", "s1"];
        let mut command = home.command(&[&["--json", "context", query], &sure[..]].concat());
        command.env("EVERLORE_RECALL__MIN_CONFIDENCE", "0");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let answered = home.json(&["session", "answered", "s1", answer]);
        assert_eq!((&answered["told"], &answered["used"][0]), (&1.into(), &id.as_str().into()));
        let again = home.run(&["session", "answered", "s1", answer]);
        assert_eq!(again.code, 1, "there is nothing left to answer: {again:?}");

        let stats = home.json(&["memory", "stats"]);
        assert_eq!((&stats["usage"]["used"], &stats["usage"]["answered"]), (&1.into(), &1.into()));
        let output = home.run(&["memory", "stats"]).out;
        assert!(
            output.contains(
                "injected    1 memory into prompts; of those with an answer 1 of 1 used (100%)"
            ),
            "{output}"
        );
        assert!(output.contains("upkeep      never"), "{output}");

        let done = home.json(&["upkeep"]);
        assert_eq!(
            (&done["jobs"][0]["job"], &done["jobs"][0]["done"]),
            (&"weigh".into(), &1.into())
        );
        let weight = home.json(&["memory", "show", &id])["weight"].as_f64().unwrap();
        assert!((weight - 1.2).abs() < 1e-3, "{weight}");
        assert!(home.run(&["memory", "stats"]).out.contains("upkeep      just now"));
        let run = done["jobs"][0]["run"].as_str().unwrap();
        home.json(&["memory", "undo", "--run", run]);
        assert_eq!(home.json(&["memory", "show", &id])["weight"], 1.0);
    }
}

#[test]
fn looking_leaves_no_trace() {
    let home = TestHome::new();
    home.remember("用户的狗叫小黑");
    home.run(&["context", "我的狗叫什么名字？"]);
    home.run(&["prompt", "show", "我的狗叫什么名字？"]);
    home.run(&["recall", "狗"]);
    assert_eq!(home.json(&["memory", "stats"])["usage"]["told"], 0);
    assert!(home.run(&["memory", "stats"]).out.contains("injected    nothing yet"));
}

#[test]
fn a_weight_is_set_and_let_go_by_hand() {
    let home = TestHome::new();
    let (tea, dog) = (home.remember("I like tea"), home.remember("用户的狗叫小黑"));
    let output = home.run(&["memory", "weight", &tea, "3"]).out;
    assert!(output.starts_with("weight 3 (pinned): "), "{output}");
    home.json(&["memory", "weight", &dog, "1.7"]);
    let core = home.json(&["memory", "list", "--core"]);
    let ids: Vec<_> = core["memories"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
    assert_eq!(ids, [&serde_json::Value::from(tea.as_str()), &dog.as_str().into()]);
    home.json(&["memory", "weight", &tea, "--reset"]);
    assert_eq!(home.json(&["memory", "list", "--core"])["memories"].as_array().unwrap().len(), 1);
    let wrong = home.run(&["memory", "weight", &tea, "11"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("weight goes from 0 to 10"), "{wrong:?}");
    assert_eq!(home.run(&["memory", "weight", &tea]).code, 2, "a number or --reset");
}

#[test]
fn upkeep_shows_asks_does_and_can_be_undone() {
    let home = TestHome::new();
    let ids: Vec<_> = ["I like tea", "用户住在上海", "Rex is a dog", "书在桌上"]
        .map(|text| home.remember(text))
        .into();
    for id in &ids[..2] {
        home.json(&["memory", "edit", id, "--weight", "0.01"]);
    }
    let shown = home.run(&["upkeep", "--dry-run"]);
    assert!(
        shown.out.contains("archive  would be: 2 memories of low weight archived"),
        "{shown:?}"
    );
    assert!(
        shown.out.contains(
            "needs a confirmation: archive would change 2 of 4 memories, more than a quarter"
        ),
        "{shown:?}"
    );
    let refused = home.run(&["upkeep"]);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.err.contains("more than a quarter, which needs a confirmation"), "{refused:?}");
    assert!(refused.err.contains("--yes"), "{refused:?}");
    assert_eq!(home.run(&["memory", "list", "--archived"]).code, 1, "nothing was done");

    let done = home.json(&["upkeep", "--yes"]);
    let archive = &done["jobs"][2];
    assert_eq!((&archive["job"], &archive["done"]), (&"archive".into(), &2.into()), "{done}");
    assert_eq!(
        home.json(&["memory", "list", "--archived"])["memories"].as_array().unwrap().len(),
        2
    );
    home.json(&["memory", "undo", "--run", archive["run"].as_str().unwrap()]);
    assert_eq!(home.run(&["memory", "list", "--archived"]).code, 1);
    home.assert_healthy();
}

#[test]
fn the_ledger_says_what_was_spent_and_what_is_left() {
    let home = TestHome::new();
    home.run_with_input(&["observe", "--session", "s"], "我喜欢喝茶\nI like tea\n".as_bytes());
    let output = home.run(&["ledger"]).out;
    assert!(output.starts_with("nothing was spent\ntoday    0 tokens and 0.0000 by all agents and users (no cap; no cap of cost)"), "{output}");
    assert!(output.contains("next     an extraction of 2 turns would read about 12"), "{output}");
    let mut capped = home.command(&["--json", "ledger", "--days", "7"]);
    capped.env("EVERLORE_MEMORY_AGENT__BUDGET__DAILY_TOKENS", "5000");
    let output = capped.output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&report["allowance"]["allowed"], &report["allowance"]["tokens_left"]),
        (&true.into(), &5_000.into())
    );
}

#[test]
fn the_end_of_a_conversation_does_upkeep_when_it_is_due() {
    let home = TestHome::new();
    home.run_with_input(&["observe", "--session", "s"], "我喜欢喝茶\n".as_bytes());
    assert!(home.json(&["session", "end", "s"])["upkeep"].is_object());
    assert!(home.json(&["session", "end", "s"])["upkeep"].is_null(), "a day has not passed");
}
