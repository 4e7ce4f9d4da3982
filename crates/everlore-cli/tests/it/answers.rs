//! Answers of every command, for programs and for people, in English and in Chinese.

use insta::assert_snapshot;
use serde_json::Value;

use crate::{home::TestHome, transcript::CommandTranscript};

#[test]
fn programs_get_one_line_of_json_from_saving_and_recalling() {
    let home = TestHome::new();
    let mut transcript = CommandTranscript::new(&home);
    transcript
        .run(&["--json", "remember", "I drink green tea in the morning", "--tag", "drinks", "--session", "s1"])
        .run(&["--json", "remember", "I drink green tea in the morning"])
        .run(&["--json", "remember", "我喜欢喝龙井茶", "--kind", "preference", "--name", "茶", "--importance", "0.9"])
        .run(&["--json", "remember", "I drink black tea now", "--replaces", "@1"])
        .run_with_input(
            &["--json", "observe", "--session", "trip"],
            "{\"speaker\":\"Wang\",\"role\":\"user\",\"text\":\"下周三去杭州出差\",\"time\":\"2023-05-08T13:56:00\"}\n\
             plain words\n{\"speaker\":\"broken\n\n{\"text\":\" \"}\n",
        )
        .run(&["--json", "recall", "龙井"])
        .run(&["--json", "recall", "green tea", "--status", "superseded"])
        .run(&["--json", "recall", "杭州", "--session", "trip", "--kind", "turn"])
        .run(&["--json", "recall", "quantum chromodynamics"])
        .run(&["--json", "recall", "green tea", "--why-not", "@1"])
        .run(&["--json", "recall", "green tea", "--why-not", "@2"])
        .run(&["--json", "recall", "龙井茶", "--why-not", "@2"]);
    assert_snapshot!(transcript.redacted());
}

#[test]
fn programs_get_one_line_of_json_from_looking_after_memories() {
    let home = TestHome::new();
    let mut transcript = CommandTranscript::new(&home);
    transcript
        .run(&["--json", "remember", "The staging port is 8443", "--metadata", r#"{"team":"ops"}"#])
        .run(&["--json", "remember", "生产环境端口是 443"])
        .run(&["--json", "memory", "list", "--limit", "1"])
        .run(&["--json", "memory", "list", "--after", "@2"])
        .run(&["--json", "memory", "show", "@1"])
        .run(&[
            "--json",
            "memory",
            "edit",
            "@1",
            "--content",
            "The staging port is 9443",
            "--weight",
            "0.05",
        ])
        .run(&["--json", "memory", "archive", "@2"])
        .run(&["--json", "memory", "restore", "@2"])
        .run(&["--json", "memory", "clean", "--dry-run"])
        .run(&["--json", "memory", "clean"])
        .run(&["--json", "memory", "delete", "@2"])
        .run(&["--json", "memory", "undo", "--last"])
        .run(&["--json", "memory", "history", "@1", "--limit", "2"])
        .run(&["--json", "memory", "forget", "@1", "--yes"])
        .run(&["--json", "memory", "stats"])
        .run(&["--json", "scopes"])
        .run(&["--json", "doctor"])
        .run(&["--json", "config", "path"])
        .run(&["--json", "config", "check"]);
    assert_snapshot!(transcript.redacted());
}

#[test]
fn people_get_plain_words() {
    let home = TestHome::new();
    let mut transcript = CommandTranscript::new(&home);
    transcript
        .run(&["remember", "I drink green tea in the morning", "--tag", "drinks"])
        .run(&["remember", "I drink green tea in the morning", "--tag", "drinks"])
        .run(&["remember", "我喜欢喝龙井茶。每天早上一杯。"])
        .run(&["remember", "I drink black tea now", "--replaces", "@1"])
        .run(&["recall", "龙井"])
        .run(&["recall", "black tea"])
        .run(&["recall", "quantum chromodynamics"])
        .run(&["recall", "tea", "--why-not", "@1"])
        .run(&["memory", "list", "--status", "any"])
        .run(&["memory", "show", "@2"])
        .run(&["memory", "edit", "@2", "--content", "我喜欢喝碧螺春茶。", "--name", "茶"])
        .run(&["memory", "history", "@2"])
        .run(&["memory", "archive", "@2"])
        .run(&["memory", "restore", "@2"])
        .run(&["memory", "clean"])
        .run(&["memory", "delete", "@3"])
        .run(&["memory", "undo", "--last"])
        .run(&["memory", "forget", "@3", "--yes"])
        .run(&["memory", "history", "@3"])
        .run(&["memory", "stats"])
        .run(&["scopes"])
        .run(&["doctor"])
        .run(&["config", "path"])
        .run(&["config", "check"]);
    assert_snapshot!(transcript.redacted());
}

#[test]
fn an_explanation_shows_every_number_and_they_add_up() {
    let home = TestHome::new();
    home.remember("The staging port is 8443");
    home.remember("Lunch is at noon");
    let found = home.json(&["recall", "staging port", "--explain"]);
    assert!(found["intent"]["terms"].is_array());
    let hit = &found["hits"][0];
    let (signals, factors) = (&hit["explain"]["signals"], &hit["explain"]["factors"]);
    let number = |value: &Value| value.as_f64().unwrap();
    let parts = [
        "lexical", "semantic", "speaker", "when", "date", "identity", "session", "bridge", "rerank",
    ];
    let sum: f64 = parts.iter().map(|part| number(&signals[part])).sum();
    assert!((sum - number(&signals["fused"])).abs() < 1e-9, "{signals}");
    let parts = ["relevance", "recency", "weight", "importance", "kind"];
    let product: f64 = parts.iter().map(|part| number(&factors[part])).product();
    assert!((product / (1.0 + product) - number(&hit["score"])).abs() < 1e-9, "{factors}");
    let output = home.run(&["recall", "staging port", "--explain"]).out;
    for word in ["idf", "frequency", "lexical", "fused", "relevance", "recency", "score"] {
        assert!(output.contains(word), "{output}");
    }
}

#[test]
fn a_context_block_is_printed_as_it_is_and_nothing_if_nothing_is_worth_telling() {
    let home = TestHome::new();
    home.remember("我喜欢喝龙井茶");
    let block = home.run(&["context", "我喜欢喝龙井茶"]);
    assert_eq!(block.code, 0, "{block:?}");
    assert!(block.out.starts_with("<memory-context>\n"), "{block:?}");
    assert!(block.out.ends_with("</memory-context>\n"), "{block:?}");
    assert!(block.out.contains("我喜欢喝龙井茶"), "{block:?}");
    let figures = home.json(&["context", "我喜欢喝龙井茶", "--budget", "400"]);
    assert_eq!(figures["budget"], 400);
    assert!(figures["tokens"].as_u64().unwrap() <= 400, "{figures}");
    assert_eq!(figures["entries"].as_array().unwrap().len(), 1, "{figures}");
    let nothing = home.run(&["context", "quantum chromodynamics"]);
    assert_eq!((nothing.code, nothing.out.as_str()), (1, ""), "{nothing:?}");
}

#[test]
fn recall_as_of_a_day_knows_only_what_was_known_then() {
    let home = TestHome::new();
    home.remember("the office is in Lisbon");
    let then = home.run(&["--json", "recall", "office", "--as-of", "2020-01-01"]);
    assert_eq!((then.code, then.json()["hits"].as_array().unwrap().len()), (1, 0));
    let now = home.json(&["recall", "office", "--as-of", "2999-01-01"]);
    assert_eq!(now["hits"].as_array().unwrap().len(), 1);
}

#[test]
fn ids_may_be_shortened_or_be_uris() {
    let home = TestHome::new();
    let saved = home.json(&["remember", "tea"]);
    let (id, uri) = (saved["id"].as_str().unwrap(), saved["uri"].as_str().unwrap());
    for name in [id, &id[..8], &id.replace('-', "")[..13], &id[24..], &id[24..32], &id[24..28], uri]
    {
        assert_eq!(home.json(&["memory", "show", name])["id"], id, "{name}");
        assert_eq!(home.json(&["show", name])["id"], id, "{name}");
    }
    let ran = home.run(&["--json", "memory", "show", "ffffffff"]);
    assert_eq!((ran.code, &ran.json()["error"]["code"]), (2, &"not_found".into()));
}

#[test]
fn scopes_are_kept_apart() {
    let home = TestHome::new();
    home.json(&["--agent", "a", "--user", "王", "remember", "the secret is 42"]);
    assert_eq!(home.run(&["recall", "secret"]).code, 1);
    assert_eq!(home.run(&["recall", "secret", "--agent", "a", "--user", "王"]).code, 0);
    let scopes = home.json(&["scopes"]);
    assert_eq!(scopes["scopes"][0]["user"], "王");
}

#[test]
fn a_long_message_may_come_from_standard_input() {
    let home = TestHome::new();
    home.remember("我喜欢喝龙井茶");
    let long = "龙井茶 ".repeat(50_000);
    for args in [&["recall"][..], &["recall", "-"], &["memory", "search", "-"]] {
        let ran = home.run_with_input(args, long.as_bytes());
        assert!(ran.code == 0 && ran.out.contains("我喜欢喝龙井茶"), "{args:?}: {ran:?}");
    }
    let block = home.run_with_input(&["context", "-"], "我喜欢喝什么龙井茶\n".as_bytes());
    assert!(block.out.starts_with("<memory-context>"), "{block:?}");
}

#[test]
fn looking_into_a_home_that_is_not_there_does_not_make_it() {
    let home = TestHome::new();
    for args in [&["recall", "tea"][..], &["context", "tea"], &["memory", "list"], &["scopes"]] {
        let ran = home.run(args);
        assert!(ran.code == 1 && ran.err.contains("nothing is stored in"), "{ran:?}");
    }
    assert_eq!(home.json(&["memory", "stats"])["total"], 0);
    home.assert_healthy();
    assert!(!home.path().exists());
}

#[test]
fn a_limit_above_the_maximum_is_reported() {
    let home = TestHome::new();
    home.remember("tea");
    let ran = home.run(&["--json", "recall", "tea", "--limit", "5000"]);
    assert!(ran.code == 0 && ran.err.contains("at most 100 are returned"), "{ran:?}");
}

#[test]
fn what_goes_on_is_said_only_when_asked() {
    let home = TestHome::new();
    assert_eq!(home.run(&["remember", "tea"]).err, "");
    assert!(home.run(&["-v", "recall", "tea"]).err.contains("opening"));
    assert!(home.run(&["--color", "always", "recall", "tea"]).out.contains("\x1b[1m"));
    assert!(!home.run(&["recall", "tea"]).out.contains('\x1b'));
}

#[test]
fn the_tour_ends_well_and_shows_both_languages() {
    let ran = TestHome::new().run(&["demo"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
    for part in
        ["龙井", "peanuts", "<memory-context>", "tombstones", "undone", "ok        integrity"]
    {
        assert!(ran.out.contains(part), "{part} is missing in:\n{}", ran.out);
    }
}

#[test]
fn shells_get_completions() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = TestHome::new().run(&["completions", shell]);
        assert!(ran.code == 0 && ran.out.contains("everlore"), "{ran:?}");
    }
}

#[test]
fn stored_text_cannot_steer_a_terminal() {
    let home = TestHome::new();
    home.run_with_input(&["remember"], b"tea \x1b[2J\x1b]0;gotcha\x07 time");
    for args in [&["recall", "tea"][..], &["memory", "list"], &["memory", "history"]] {
        let ran = home.run(args);
        assert!(!ran.out.contains('\x1b') && ran.out.contains("tea"), "{ran:?}");
    }
}

#[cfg(unix)]
#[test]
fn only_the_owner_may_look_into_a_home() {
    use std::os::unix::fs::PermissionsExt;
    let home = TestHome::new();
    home.remember("tea");
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&home.path()), 0o700);
    assert_eq!(mode(&home.path().join("everlore.db")), 0o600);
    std::fs::set_permissions(home.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let ran = home.run(&["--json", "doctor"]);
    assert_eq!((ran.code, &ran.json()["ok"]), (2, &Value::Bool(false)), "{ran:?}");
    assert_eq!(home.run(&["doctor", "--repair"]).code, 0);
    assert_eq!(mode(&home.path()), 0o700);
    home.assert_healthy();
}

#[test]
fn printed_ids_stay_unique_and_can_be_pasted_into_every_command() {
    let home = TestHome::new();
    let lines: String = (0..200).map(|n| format!("fact number {n} 第{n}条\n")).collect();
    home.run_with_input(&["observe", "--session", "s", "--role", "user"], lines.as_bytes());
    home.remember("I drink green tea");
    let listed = home.run(&["list", "--limit", "1000"]).out;
    let ids: Vec<&str> =
        listed.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(ids.len(), 201, "{listed}");
    assert!(ids.iter().all(|id| id.len() == 8), "{ids:?}");
    for id in [ids[0], ids[100], ids[200]] {
        let whole = home.json(&["show", id])["id"].as_str().unwrap().to_owned();
        assert_eq!(&whole[24..32], id);
        for args in [
            &["memory", "history", id][..],
            &["memory", "weight", id, "2"],
            &["memory", "archive", id],
            &["memory", "restore", id],
            &["recall", "fact", "--why-not", id],
            &["memory", "delete", id],
            &["undo"],
            &["forget", id, "--yes"],
        ] {
            let ran = home.run(args);
            assert!(ran.code < 2, "{args:?}: {ran:?}");
        }
    }
}

#[test]
fn the_short_ways_in_do_what_the_long_ones_do() {
    let home = TestHome::new();
    home.remember("I drink green tea in the morning");
    home.remember("我喜欢喝龙井茶");
    for (short, long) in [
        (&["list"][..], &["memory", "list"][..]),
        (&["search", "龙井茶"], &["memory", "search", "龙井茶"]),
        (&["search", "green tea", "--limit", "1"], &["recall", "green tea", "--limit", "1"]),
    ] {
        let (short, long) = (home.run(short), home.run(long));
        assert_eq!((short.code, &short.out), (0, &long.out), "{long:?}");
    }
    let undone = home.run(&["undo"]);
    assert_eq!((undone.code, undone.out.trim()), (0, "undone: change 2"));
    assert!(!home.run(&["search", "龙井茶"]).out.contains("龙井"));
    assert_eq!(home.run(&["redo"]).out.trim(), "redone: change 2");
    assert!(home.run(&["search", "龙井茶"]).out.contains("龙井"));
}

#[test]
fn undo_says_that_a_layer_was_changed_later() {
    let home = TestHome::new();
    home.remember("I like green tea");
    assert!(!home.run(&["undo"]).err.contains("layer"));
    home.remember("I like black tea");
    assert_eq!(home.run(&["layer", "add", "memory", "Notes", "tea is in the kitchen"]).code, 0);
    let undone = home.run(&["undo"]);
    assert!(undone.err.contains("`everlore layer undo memory`"), "{undone:?}");
    home.remember("I like white tea");
    let undone = home.run(&["--lang", "zh", "undo"]);
    assert!(!undone.err.contains("layer"), "{undone:?}");
}
