//! A remote embedding model: switching to it, working without it, and forgetting.

use std::fs;

use everlore_mock_llm::{HttpRequest, HttpResponse, MockEmbeddings, MockServer};
use serde_json::json;

use crate::home::{CommandOutput, TestHome};

const TEXTS: [&str; 3] =
    ["Adopted a puppy on Sunday", "我养了一只小狗叫豆豆", "staging runs on 9443"];

/// Returns a home whose settings name a remote model. Timeouts are long, so that a busy machine fails no test.
fn home(base_url: &str, provider: &str) -> TestHome {
    let home = TestHome::new();
    fs::create_dir_all(home.path()).unwrap();
    let settings = format!(
        "[embedding]\nprovider = \"{provider}\"\nmodel = \"scripted-embed\"\nbase_url = \"{base_url}\"\n\
         api_key_env = \"TEST_KEY\"\nquery_limit = \"30s\"\nlinger = \"30s\"\nretries = 0\n"
    );
    fs::write(home.path().join("config.toml"), settings).unwrap();
    home.run(&["doctor", "--repair"]);
    home
}

fn with_key(home: &TestHome, key: &str, args: &[&str]) -> CommandOutput {
    home.command(args).env("TEST_KEY", key).output().unwrap().into()
}

#[test]
fn a_model_of_the_settings_is_switched_to_and_used() {
    let server = MockServer::start(MockEmbeddings {
        key: Some("sk-ok".into()),
        ..MockEmbeddings::default()
    });
    let home = home(&format!("{}/v1", server.url()), "openai");
    for text in TEXTS {
        home.json(&["remember", text]);
    }
    assert_eq!(server.requests().len(), 0, "it is asked only when it is switched to");
    let output = home.run(&["embed", "status"]).out;
    assert!(
        output.contains("openai/scripted-embed, which was never used: run `everlore embed switch`"),
        "{output}"
    );

    let refused = with_key(&home, "sk-wrong", &["embed", "switch"]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("the key in TEST_KEY was refused by 127.0.0.1"), "{refused:?}");
    assert!(!refused.err.contains("sk-wrong"), "{refused:?}");

    let switched = with_key(&home, "sk-ok", &["--json", "embed", "switch"]).json();
    assert_eq!(switched["made"], 3, "{switched}");
    assert_eq!(switched["status"]["in_use"]["name"], "openai/scripted-embed/16");
    for query in ["any animal at home?", "家里的宠物"] {
        let found = with_key(&home, "sk-ok", &["--json", "recall", query]).json();
        assert_eq!(found["hits"].as_array().unwrap().len(), 2, "{found}");
    }
    let saved = with_key(&home, "sk-ok", &["--json", "remember", "a second dog"]);
    assert_eq!(saved.code, 0, "{saved:?}");
    let status = home.json(&["embed", "status"])["status"].clone();
    assert_eq!((&status["embedded"], &status["waiting"]), (&json!(4), &json!(0)), "{status}");
    assert_eq!(status["cache"]["entries"], 6, "{status}");
    let output = home.run(&["embed", "status"]).out;
    assert!(output.contains("cached query vectors: 6; 0 hits, 6 misses"), "{output}");
    home.assert_healthy();
}

#[test]
fn without_its_server_everything_works_by_words_and_vectors_come_later() {
    let server = MockServer::start(MockEmbeddings::default());
    let home = home(&server.url(), "ollama");
    home.json(&["embed", "switch"]);
    home.json(&["remember", TEXTS[0]]);
    server.enqueue(HttpResponse::error(500, "down"));
    home.json(&["remember", TEXTS[1]]);
    assert_eq!(home.json(&["embed", "status"])["status"]["waiting"], 1);
    drop(server);

    home.json(&["remember", TEXTS[2]]);
    let found = home.json(&["recall", "豆豆是什么"]);
    assert_eq!(found["hits"][0]["content"], TEXTS[1]);
    assert!(found["without_meaning"].as_str().unwrap().contains("cannot be reached"), "{found}");
    let explained = home.run(&["recall", "--explain", "Sunday puppy"]).out;
    assert!(explained.contains("by words only: 127.0.0.1"), "{explained}");
    let failed = home.run(&["embed", "rebuild"]);
    assert!(failed.code == 2 && failed.err.contains("check that the server runs"), "{failed:?}");

    let server = MockServer::start(MockEmbeddings::default());
    let settings = fs::read_to_string(home.path().join("config.toml")).unwrap();
    let base = settings.lines().find(|line| line.starts_with("base_url")).unwrap();
    let moved = settings.replace(base, &format!("base_url = \"{}\"", server.url()));
    fs::write(home.path().join("config.toml"), moved).unwrap();
    assert_eq!(home.json(&["embed", "rebuild"])["made"], 2);
    assert_eq!(home.json(&["recall", "any animal at home?"])["hits"].as_array().unwrap().len(), 2);
}

#[test]
fn a_server_that_never_answers_holds_up_no_save() {
    let server = MockServer::start(MockEmbeddings::default());
    let home = home(&server.url(), "ollama");
    home.json(&["embed", "switch"]);
    let settings = fs::read_to_string(home.path().join("config.toml")).unwrap();
    let hasty = settings.replace("\"30s\"", "\"1ms\"");
    fs::write(home.path().join("config.toml"), hasty).unwrap();
    let silent = MockServer::start(|_: &HttpRequest| HttpResponse::json(200, &json!({})).held());
    let mut command = home.command(&["--json", "remember", TEXTS[0]]);
    // This would hang if the save waited for the model.
    let saved: CommandOutput =
        command.env("EVERLORE_EMBEDDING__BASE_URL", silent.url()).output().unwrap().into();
    assert_eq!(saved.code, 0, "{saved:?}");
    assert_eq!(home.json(&["embed", "status"])["status"]["waiting"], 1);
}

#[test]
fn an_answer_is_printed_before_its_vectors_are_made() {
    use std::io::{BufRead, BufReader};
    let server = MockServer::start(MockEmbeddings::default());
    let home = home(&server.url(), "ollama");
    home.json(&["embed", "switch"]);
    server.enqueue(HttpResponse::error(500, "never mind").held());
    let mut child = home.start(&["--json", "remember", TEXTS[1]]);
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("\"id\""), "{line}");
    server.await_held();
    server.release();
    assert!(child.wait().unwrap().success());
}

#[test]
fn settings_that_cannot_work_are_told_before_anything_is_done() {
    for (setting, what) in [
        ("base_url = \"127.0.0.1:11434\"", "base_url `127.0.0.1:11434`"),
        ("model = \"\"", "`embedding.model` must be set"),
        ("provider = \"cohere\"", "`embedding.provider`"),
        ("batch = 0", "`embedding.batch` is 0, but must be from 1 to 2048"),
        ("timeout = \"0s\"", "`embedding.timeout` is 0"),
    ] {
        let home = home("http://127.0.0.1:1", "ollama");
        let path = home.path().join("config.toml");
        let name = setting.split(' ').next().unwrap();
        let lines: Vec<_> = fs::read_to_string(&path)
            .unwrap()
            .lines()
            .filter(|line| !line.starts_with(name))
            .map(str::to_owned)
            .collect();
        fs::write(&path, format!("{}\n{setting}\n", lines.join("\n"))).unwrap();
        let ran = home.run(&["remember", "tea"]);
        assert!(ran.code == 2 && ran.err.contains(what), "{setting}: {ran:?}");
    }
}

#[test]
fn keys_are_hidden_wherever_settings_are_shown() {
    let home = home("http://127.0.0.1:1", "openai");
    let shown: CommandOutput = home
        .command(&["config", "show"])
        .env("EVERLORE_EMBEDDING__API_KEY", "sk-very-secret")
        .env("TEST_KEY", "sk-other-secret")
        .output()
        .unwrap()
        .into();
    assert!(shown.out.contains("[hidden]") && !shown.out.contains("-secret"), "{shown:?}");
    let mut verbose = home.command(&["-vvv", "remember", "tea"]);
    let verbose: CommandOutput = verbose.env("TEST_KEY", "sk-very-secret").output().unwrap().into();
    assert!(verbose.code == 0 && !verbose.err.contains("very-secret"), "{verbose:?}");
}

#[test]
fn a_kill_in_the_middle_of_making_vectors_loses_nothing() {
    let server = MockServer::start(MockEmbeddings::default());
    let home = home(&server.url(), "ollama");
    home.json(&["embed", "switch"]);
    server.enqueue(HttpResponse::json(200, &json!({})).held());
    let mut child = home.start(&["remember", TEXTS[0]]);
    server.await_held();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(home.json(&["embed", "rebuild"])["made"], 1);
    assert_eq!(home.recall("any animal at home?"), [TEXTS[0]]);
    home.assert_healthy();
}
