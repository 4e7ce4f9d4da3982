//! Questions about the user tell the profile through every front end, however many other memories there are.

use std::fs;

use serde_json::{Value, json};

use crate::{home::TestHome, hooks::hook, mcp::call_tool, readme::run_in_shell, serve::TestServer};

/// Commands that fill a home with two facts about the user and forty of a project, the question for the profile, and
/// the two facts.
const HOMES: [(&str, &str, [&str; 2]); 2] = [
    (
        "everlore remember 我老婆叫林悦; everlore remember --kind feedback 请先给结论，再解释原因; \
         for i in $(seq 40); do everlore remember --kind project \"模块$i 由第$i组维护\"; done",
        "你了解我多少",
        ["我老婆叫林悦", "请先给结论"],
    ),
    (
        "everlore remember 'My wife is called Lin'; everlore remember --kind feedback 'Conclusions first'; \
         for i in $(seq 40); do everlore remember --kind project \"Module $i is maintained by team $i\"; done",
        "what do you know about me?",
        ["My wife is called Lin", "Conclusions first"],
    ),
];

#[test]
fn a_question_for_the_profile_tells_it_through_every_front_end() {
    for (setup, question, facts) in HOMES {
        let home = TestHome::new();
        run_in_shell(&home, setup);
        let check = |front_end: &str, text: &str| {
            assert!(facts.iter().all(|fact| text.contains(fact)), "{front_end}: {text}");
        };
        check("context", &home.run(&["context", question]).out);
        check("recall", &home.run(&["recall", question]).out);
        check("hook", &hooked(&home, question).to_string());
        check("mcp", &mcp_text(&home, "memory_context", &json!({ "message": question })));
        check("mcp", &mcp_text(&home, "memory_recall", &json!({ "query": question })));
        let chat = home.run_with_input(&["chat", "--offline", "--once"], question.as_bytes());
        check("chat", &chat.out);
        let server = TestServer::start(&home, &[]);
        let body = Some(json!({ "query": question, "session": "talk" }));
        check("http", &server.request("POST", "/v1/context", body).json(200).to_string());
    }
}

#[test]
fn a_question_for_one_person_tells_no_one_else() {
    for ((setup, _, facts), question) in
        HOMES.into_iter().zip(["我老婆叫什么", "what's my wife's name?"])
    {
        let home = TestHome::new();
        run_in_shell(&home, setup);
        let told = home.run(&["context", question, "--json"]).json();
        assert_eq!(told["entries"].as_array().unwrap().len(), 1, "{told}");
        assert!(told["text"].as_str().unwrap().contains(facts[0]), "{told}");
    }
}

#[test]
fn the_first_message_of_a_conversation_stays_empty_through_every_front_end() {
    for (setup, question, facts) in HOMES {
        let home = TestHome::new();
        fs::create_dir_all(home.path()).unwrap();
        let settings = "[memory.inject]\nfirst_round_empty = true\n";
        fs::write(home.path().join("config.toml"), settings).unwrap();
        run_in_shell(&home, setup);
        let has = |text: &str| text.contains(facts[0]);
        assert!(!has(&hooked(&home, "hello, are you ready for some work?").to_string()));
        assert!(has(&hooked(&home, question).to_string()));
        let server = TestServer::start(&home, &[]);
        let ask = |session: &str| {
            let body = Some(json!({ "query": question, "session": session }));
            server.request("POST", "/v1/context", body).json(200).to_string()
        };
        assert!(!has(&ask("one")) && has(&ask("one")) && !has(&ask("two")));
        let first = mcp_text(&home, "memory_context", &json!({ "message": question }));
        assert!(!has(&first), "{first}");
    }
}

/// Sends a prompt of one conversation to the hook of Claude Code.
fn hooked(home: &TestHome, prompt: &str) -> Value {
    let event = json!({
        "session_id": "s-1", "cwd": home.sibling(""), "hook_event_name": "UserPromptSubmit", "prompt": prompt,
    });
    hook(home, "claude-code", "UserPromptSubmit", &event.to_string()).unwrap_or_default()
}

/// Returns the text that a tool answers over MCP.
fn mcp_text(home: &TestHome, tool: &str, arguments: &Value) -> String {
    call_tool(home, tool, arguments)["result"]["content"][0]["text"].as_str().unwrap().to_owned()
}
