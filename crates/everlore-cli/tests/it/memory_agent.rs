//! Extraction by a model: requests, stored memories, costs, and failures.

use std::fs;

use everlore::internal::files::atomic_file::create_private_folder;
use everlore_mock_llm::{MockChat, MockServer, ModelResponse, chat::persona};
use serde_json::{Value, json};

use crate::{chat::system, home::TestHome, terminal::TestTerminal};

const MODEL: &str = "openai/scripted-chat";

/// Starts a mock provider, and returns a home whose settings use it for extraction; `more` is appended to that section.
fn capture_home(chats: MockChat, more: &str) -> (MockServer, TestHome) {
    let server = MockServer::start(chats);
    let home = TestHome::new();
    create_private_folder(&home.path()).unwrap();
    let settings = format!(
        "[memory_agent]\nenabled = true\nprovider = \"openai\"\nmodel = \"scripted-chat\"\nbase_url = \"{}/v1\"\n{more}",
        server.url()
    );
    fs::write(home.path().join("config.toml"), settings).unwrap();
    (server, home)
}

fn observe(home: &TestHome, session: &str, lines: &[&str]) {
    let args = ["observe", "--role", "user", "--plain", "--end", "--session", session];
    let ran = home.run_with_input(&args, (lines.join("\n") + "\n").as_bytes());
    assert_eq!(ran.code, 0, "{ran:?}");
}

/// Returns kind and content of all memories but turns.
fn kept_memories(home: &TestHome) -> Vec<(String, String)> {
    let listed = home.run(&["--json", "memory", "list", "--limit", "100"]).json();
    let memories = listed["memories"].as_array().unwrap_or_else(|| panic!("{listed}")).iter();
    let text = |memory: &Value, key: &str| memory[key].as_str().unwrap().to_owned();
    let mut memories: Vec<_> =
        memories.map(|memory| (text(memory, "kind"), text(memory, "content"))).collect();
    memories.retain(|(kind, _)| kind != "turn");
    memories.sort();
    memories
}

/// Conversation with the memories that a model extracts.
struct ExtractionCase {
    prompt: &'static str,
    text: [&'static str; 3],
    answer: Value,
    memories: [(&'static str, &'static str); 3],
}

fn cases() -> [ExtractionCase; 2] {
    [
        ExtractionCase {
            prompt: "You read a conversation",
            text: [
                "I moved to Lisbon last month.",
                "The build failed until I cleared the cache.",
                "I have written Rust for ten years.",
            ],
            answer: json!({
                "memories": [{
                    "statement": "The user lives in Lisbon.", "kind": "user", "confidence": 0.9, "turns": [1],
                    "about": { "subject": "user", "attribute": "home", "value": "Lisbon" },
                }],
                "experiences": [{
                    "problem": "The build failed.", "solution": "Clearing the cache.", "confidence": 0.8, "turns": [2],
                }],
                "profile": [{
                    "aspect": "expertise", "statement": "The user knows Rust well.", "value": "Rust",
                    "confidence": 0.8, "turns": [3],
                }],
            }),
            memories: [
                ("experience", "Problem: The build failed.\nSolution: Clearing the cache."),
                ("user", "The user knows Rust well."),
                ("user", "The user lives in Lisbon."),
            ],
        },
        ExtractionCase {
            prompt: "你阅读用户与助手之间的一段对话",
            text: ["我上个月搬到了里斯本。", "清掉缓存之后构建才成功。", "我写 Rust 十年了。"],
            answer: json!({
                "memories": [{
                    "statement": "用户住在里斯本。", "kind": "user", "confidence": 0.9, "turns": [1],
                    "about": { "subject": "用户", "attribute": "home", "value": "里斯本" },
                }],
                "experiences": [{
                    "problem": "构建失败。", "solution": "清掉缓存。", "confidence": 0.8, "turns": [2],
                }],
                "profile": [{
                    "aspect": "expertise", "statement": "用户精通 Rust。", "value": "Rust", "confidence": 0.8,
                    "turns": [3],
                }],
            }),
            memories: [
                ("experience", "问题：构建失败。\n解决：清掉缓存。"),
                ("user", "用户住在里斯本。"),
                ("user", "用户精通 Rust。"),
            ],
        },
    ]
}

#[test]
fn a_model_reads_what_waits_in_its_language_and_all_of_it_can_be_taken_back() {
    for case in cases() {
        let text = ModelResponse::text(&case.answer.to_string()).with_usage(700, 0, 90);
        let (server, home) = capture_home(MockChat::new().then(text), "");
        observe(&home, "monday", &case.text);
        assert_eq!(server.requests().len(), 0, "a stream of turns waits for no model");
        assert_eq!(home.json(&["memory", "status"])["turns"], 3);
        let done = home.json(&["extract"])["extractions"][0].clone();
        assert_eq!((&done["by"], &done["turns"]), (&json!(MODEL), &json!(3)), "{done}");
        assert_eq!((&done["tokens"], &done["note"]), (&json!(790), &Value::Null), "{done}");
        let expected: Vec<_> = case
            .memories
            .iter()
            .map(|(kind, text)| ((*kind).to_owned(), (*text).to_owned()))
            .collect();
        assert_eq!(kept_memories(&home), expected);
        assert!(system(&server, 0).starts_with(case.prompt), "{}", system(&server, 0));
        assert_eq!(home.json(&["memory", "status"])["turns"], 0);
        let ledger = home.json(&["ledger"]);
        assert_eq!(ledger["spending"][0]["job"], "extract", "{ledger}");
        assert_eq!(
            (&ledger["total"]["read"], &ledger["total"]["written"]),
            (&json!(700), &json!(90))
        );
        home.json(&["memory", "undo", "--run", done["run"].as_str().unwrap()]);
        assert_eq!(kept_memories(&home), []);
        home.assert_healthy();
    }
}

#[test]
fn the_end_of_a_session_has_the_model_read_it() {
    for case in cases() {
        let (server, home) = capture_home(MockChat::new().says(&case.answer.to_string()), "");
        let args = ["observe", "--role", "user", "--plain", "--session", "monday"];
        home.run_with_input(&args, (case.text.join("\n") + "\n").as_bytes());
        let ended = home.json(&["session", "end", "monday"]);
        assert_eq!(ended["extractions"][0]["by"], MODEL, "{ended}");
        assert_eq!((kept_memories(&home).len(), server.requests().len()), (3, 1));
        assert_eq!(home.json(&["memory", "status"])["turns"], 0);
    }
}

#[test]
fn above_the_cap_of_a_day_rules_read_and_say_so() {
    let text = ModelResponse::text("{\"memories\": []}").with_usage(900, 0, 200);
    let (server, home) =
        capture_home(MockChat::new().then(text), "[memory_agent.budget]\ndaily_tokens = 1000\n");
    observe(&home, "monday", &["The weather is fine today."]);
    assert_eq!(home.json(&["extract"])["extractions"][0]["by"], MODEL);
    for (text, expected) in
        [("I live in Boston.", "I live in Boston."), ("我对花生过敏。", "我对花生过敏。")]
    {
        observe(&home, text, &[text]);
        let done = home.json(&["extract"])["extractions"][0].clone();
        let note = done["note"].as_str().unwrap();
        assert_eq!((&done["by"], &done["tokens"]), (&json!("rules"), &json!(0)), "{done}");
        assert!(note.contains("1100") && note.contains("rules"), "{note}");
        assert!(kept_memories(&home).contains(&("user".to_owned(), expected.to_owned())), "{done}");
    }
    observe(&home, "shown", &["I like tea."]);
    let ran = home.run(&["extract"]);
    assert!(ran.err.contains("note: ") && ran.err.contains("1100"), "{ran:?}");
    let ledger = home.run(&["ledger"]);
    assert!(ledger.out.contains("0 left"), "{ledger:?}");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn an_answer_that_cannot_be_used_is_asked_for_again_and_after_three_rules_read() {
    let chats = MockChat::new()
        .says("I would rather talk about the weather.")
        .says("{\"memories\": [{\"statement\": \"half a thou")
        .says("{\"memories\": [{\"statement\": \"x\", \"kind\": \"user\", \"confidence\": 7, \"turns\": [1]}]}");
    let (server, home) = capture_home(chats, "");
    observe(&home, "monday", &["I live in Boston.", "我对花生过敏。"]);
    for request in 1..=3 {
        let failed = home.run(&["extract"]);
        assert_eq!((failed.code, server.requests().len()), (2, request), "{failed:?}");
        assert!(
            failed.out.contains("cannot be used") && failed.out.contains("it is retried later")
        );
        assert_eq!(
            (kept_memories(&home).len(), &home.json(&["memory", "status"])["turns"]),
            (0, &json!(2))
        );
    }
    let done = home.json(&["extract"])["extractions"][0].clone();
    let note = done["note"].as_str().unwrap();
    assert!(note.contains("3 unusable answers"), "{note}");
    assert_eq!((&done["by"], kept_memories(&home).len()), (&json!("rules"), 2), "{done}");
    assert_eq!(server.requests().len(), 3);
    assert_eq!(home.json(&["ledger"])["total"]["calls"], 3, "what is of no use costs all the same");
}

#[test]
fn a_model_that_falls_silent_is_left_out_and_the_person_is_told() {
    for (text, expected) in [("I live in Boston.", "Boston"), ("我对花生过敏。", "花生")] {
        let silent = ModelResponse::text("{\"memories\": []}").held_after(1);
        let (server, home) = capture_home(
            MockChat::new().then(silent).says("{\"memories\": []}"),
            "timeout = \"1s\"\n",
        );
        observe(&home, "monday", &[text]);
        let done = home.json(&["extract"])["extractions"][0].clone();
        let note = done["note"].as_str().unwrap();
        assert!(
            note.contains("was silent for 1s") && note.contains("memory_agent.timeout"),
            "{note}"
        );
        assert_eq!((&done["by"], &done["error"]), (&json!("rules"), &Value::Null), "{done}");
        assert!(kept_memories(&home).iter().any(|(_, text)| text.contains(expected)), "{done}");
        let status = home.run(&["memory", "status"]);
        assert!(status.err.contains("was silent for 1s"), "{status:?}");
        let history = home.run(&["memory", "history"]);
        assert!(history.out.contains("was silent"), "{history:?}");
        // Once the model answers again, nothing is left to tell.
        observe(&home, "tuesday", &["Good morning to you."]);
        assert_eq!(home.json(&["extract"])["extractions"][0]["by"], MODEL);
        assert_eq!(home.json(&["memory", "status"])["note"], Value::Null);
        assert_eq!(server.requests().len(), 2);
    }
}

#[test]
fn a_slow_model_may_take_longer_than_its_longest_silence() {
    let answer = json!({ "memories": [{
        "statement": "The user lives in Lisbon.", "kind": "user", "confidence": 0.9, "turns": [1],
        "evidence": "I moved to Lisbon",
    }] });
    // About forty deltas, 50 ms apart: two seconds with a limit of one.
    let slow =
        ModelResponse::text(&answer.to_string()).with_pause(std::time::Duration::from_millis(50));
    let (_server, home) = capture_home(MockChat::new().then(slow), "timeout = \"1s\"\n");
    observe(&home, "monday", &["I moved to Lisbon last month."]);
    let begun = std::time::Instant::now();
    let done = home.json(&["extract"])["extractions"][0].clone();
    assert_eq!((&done["by"], &done["note"]), (&json!(MODEL), &Value::Null), "{done}");
    assert!(begun.elapsed() > std::time::Duration::from_secs(1), "{:?}", begun.elapsed());
    assert_eq!(kept_memories(&home).len(), 1, "{done}");
}

#[test]
fn a_provider_that_is_down_leaves_everything_waiting() {
    let (server, home) = capture_home(MockChat::new(), "");
    drop(server);
    observe(&home, "monday", &["I live in Boston."]);
    let ended = home.json(&["session", "end", "monday"]);
    let error = ended["extractions"][0]["error"].as_str().unwrap();
    assert!(error.contains("cannot be reached"), "{error}");
    let status = home.json(&["memory", "status"]);
    assert_eq!(status["turns"], 1, "{status}");
    assert!(status["waiting"][0]["error"].as_str().unwrap().contains("cannot be reached"));
}

/// Returns a model that chats, summarizes, and extracts these memories.
fn chat_script(found: &'static str, marker: &'static str) -> MockChat {
    MockChat::new().otherwise(move |request| match (request.json, request.last_user_message()) {
        (true, Some(data)) if data.contains(marker) => ModelResponse::text(
            &json!({ "memories": [
                { "statement": found, "kind": "user", "confidence": 0.9, "turns": [1] },
            ] })
            .to_string(),
        ),
        (true, _) => ModelResponse::text("{\"memories\": []}"),
        _ => ModelResponse::text("OK."),
    })
}

/// Returns the system prompt of the last request that was no extraction.
fn last_chat_prompt(server: &MockServer, question: &str) -> String {
    let requests = server.requests();
    let is_talk = |index: &usize| {
        let body = requests[*index].json();
        let messages = body["messages"].as_array().unwrap();
        messages.last().unwrap()["content"].as_str().unwrap().starts_with(question)
    };
    let index = (0..requests.len()).rev().find(is_talk).unwrap();
    crate::chat::messages(server, index).last().unwrap()["content"].as_str().unwrap().to_owned()
}

#[test]
fn a_chat_that_is_piped_is_read_at_its_end_and_the_next_one_knows() {
    let cases = [
        (
            "My sister Ana breeds alpacas in Porto.",
            "The user's sister Ana breeds alpacas in Porto.",
            "What does my sister Ana breed?",
        ),
        ("我妹妹小安在波尔图养羊驼。", "用户的妹妹小安在波尔图养羊驼。", "我妹妹小安养什么？"),
    ];
    for (text, found, question) in cases {
        let (server, home) = capture_home(chat_script(found, text), "");
        let ran =
            home.run_with_input(&["chat", "--session", "one"], format!("{text}\n").as_bytes());
        assert_eq!((ran.code, ran.out.as_str()), (0, "OK.\n"), "{ran:?}");
        assert_eq!(kept_memories(&home), [("user".to_owned(), found.to_owned())], "{ran:?}");
        let later =
            home.run_with_input(&["chat", "--session", "two"], format!("{question}\n").as_bytes());
        assert_eq!(later.code, 0, "{later:?}");
        let prompt = last_chat_prompt(&server, question);
        assert!(prompt.contains("<memory-context") && prompt.contains(found), "{prompt}");
        home.assert_healthy();
    }
}

#[test]
fn a_chat_at_a_terminal_says_that_it_is_read_and_what_came_of_it() {
    let found = "The user plays the cello in a quartet.";
    let (server, home) = capture_home(chat_script(found, "cello"), "");
    let terminal = TestTerminal::start(&home, &["chat", "--session", "monday"], &[]);
    terminal.type_line("I play the cello in a quartet.");
    terminal.wait_for_text("OK.");
    terminal.type_line("/quit");
    terminal.wait_for_text("logged: 2 turns in");
    terminal.wait_for_text("1 memory");
    assert_eq!(terminal.wait_for_exit(), 0);
    assert_eq!(kept_memories(&home), [("user".to_owned(), found.to_owned())]);
    home.run(&["chat", "--session", "tuesday", "Do I play the cello in a quartet?"]);
    let prompt = last_chat_prompt(&server, "Do I play the cello in a quartet?");
    assert!(prompt.contains(found), "{prompt}");
}

#[test]
fn the_persona_for_demonstrations_shows_the_whole_loop() {
    let cases = [
        (
            "My landlord is called Bento.",
            "The user: \"My landlord is called Bento.\"",
            "What is my landlord called?",
        ),
        ("我的房东叫王先生。", "用户说：“我的房东叫王先生。”", "我的房东叫什么？"),
    ];
    for (text, expected, question) in cases {
        let (_server, home) = capture_home(MockChat::new().otherwise(persona), "");
        let ran =
            home.run_with_input(&["chat", "--session", "one"], format!("{text}\n").as_bytes());
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(kept_memories(&home), [("user".to_owned(), expected.to_owned())], "{ran:?}");
        let later =
            home.run_with_input(&["chat", "--session", "two"], format!("{question}\n").as_bytes());
        assert!(later.out.contains(expected), "{later:?}");
        assert_eq!(kept_memories(&home).len(), 1, "a question teaches nothing, nor does its echo");
    }
}
