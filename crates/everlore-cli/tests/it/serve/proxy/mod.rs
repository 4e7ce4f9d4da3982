//! Memory proxy as clients use it: what reaches the provider, what comes back, and what is captured.

mod bytes;
mod conversations;
mod models;

use std::{
    fs,
    time::{Duration, Instant},
};

use everlore_mock_llm::{HttpRequest, MockChat, MockServer, ModelResponse};
use serde_json::{Value, json};

use super::{ApiResponse, DEADLINE, TestServer, contents};
use crate::home::TestHome;

/// Key that the provider requires.
pub(crate) const KEY: &str = "sk-of-the-provider";

/// Creates a home whose settings name a provider.
pub(crate) fn home_with_provider(provider: &str, url: &str) -> TestHome {
    let home = TestHome::new();
    let base = if provider == "openai" { format!("{url}/v1") } else { url.to_owned() };
    let settings = format!(
        "[chat]\nprovider = \"{provider}\"\nmodel = \"scripted-chat\"\nbase_url = \"{base}\"\napi_key = \"{KEY}\"\n"
    );
    fs::create_dir_all(home.path()).unwrap();
    fs::write(home.path().join("config.toml"), settings).unwrap();
    home
}

fn chats() -> MockChat {
    MockChat::new().with_key(KEY)
}

fn question(text: &str) -> Value {
    json!({ "model": "scripted-chat", "messages": [{ "role": "user", "content": text }] })
}

impl TestServer {
    /// Sends a chat request as the owner, with extra headers.
    fn chat(&self, path: &str, headers: &[(&str, &str)], body: Value) -> ApiResponse {
        let bearer = format!("Bearer {}", self.token);
        let all = [&[("authorization", bearer.as_str())], headers].concat();
        self.request_with_headers(&all, "POST", path, Some(body))
    }

    /// Waits for this number of captured turns, and returns them, oldest first.
    fn turns(&self, query: &str, count: usize) -> Vec<String> {
        let since = Instant::now();
        loop {
            let path = format!("/v1/memories?kind=turn&limit=100{query}");
            let listed = self.request("GET", &path, None).json(200);
            let mut turns: Vec<String> =
                contents(&listed["memories"]).iter().map(|text| (*text).to_owned()).collect();
            if turns.len() >= count {
                assert_eq!(turns.len(), count, "{turns:?}");
                turns.reverse();
                return turns;
            }
            assert!(since.elapsed() < DEADLINE, "{count} turns did not come: {turns:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

fn header<'a>(response: &'a ApiResponse, name: &str) -> &'a str {
    response.headers.get(name).map_or("", |value| value.to_str().unwrap())
}

/// Returns the last request that the provider got.
fn last_request(server: &MockServer) -> HttpRequest {
    server.requests().pop().unwrap()
}

#[test]
fn a_fact_of_an_earlier_session_reaches_the_model_and_nothing_else_changes() {
    let server = MockServer::start(chats().otherwise(|_| ModelResponse::text("好的。")));
    let home = home_with_provider("openai", &server.url());
    let serving = TestServer::start(&home, &[]);
    for (fact, ask, found) in [
        ("My dog is called Rex.", "What is my dog called?", "Rex"),
        ("我对花生过敏。", "我对什么过敏？", "花生"),
    ] {
        serving
            .chat("/v1/chat/completions", &[("x-memory-session", fact)], question(fact))
            .json(200);
        serving.turns("", if found == "Rex" { 2 } else { 6 });
        let mut body = question(ask);
        body["messages"]
            .as_array_mut()
            .unwrap()
            .insert(0, json!({"role": "system", "content": "Be brief."}));
        body["tools"] = json!([{"type": "function", "function": {"name": "z", "parameters": {"type": "object", "b": 1, "a": 2}}}]);
        body["x_unknown"] = json!({ "kept": 1.5 });
        let response =
            serving.chat("/v1/chat/completions", &[("x-memory-session", ask)], body.clone());
        response.json(200);
        assert_eq!(header(&response, "x-everlore-memory"), "added", "{response:?}");
        assert!(header(&response, "x-everlore-memory-count").parse::<usize>().unwrap() > 0);
        assert!(header(&response, "x-everlore-memory-tokens").parse::<usize>().unwrap() > 0);
        assert_eq!(header(&response, "x-everlore-memory-ids").split(',').next().unwrap().len(), 36);
        let sent = String::from_utf8(last_request(&server).body).unwrap();
        let content =
            last_request(&server).json()["messages"][1]["content"].as_str().unwrap().to_owned();
        let (message, block) = content.split_once("\n\n<memory-context>\n").unwrap();
        assert!(
            message == ask && block.contains(found) && block.ends_with("</memory-context>"),
            "{content}"
        );
        let quoted = Value::from(&content[ask.len()..]).to_string();
        assert_eq!(
            sent.replace(&quoted[1..quoted.len() - 1], ""),
            body.to_string(),
            "nothing else"
        );
        serving.turns("", if found == "Rex" { 4 } else { 8 });
    }
    let keys: Vec<_> = server
        .requests()
        .iter()
        .map(|one| one.header("authorization").unwrap().to_owned())
        .collect();
    assert!(keys.iter().all(|key| key == &format!("Bearer {KEY}")), "{keys:?}");
    assert!(!fs::read_to_string(home.sibling("log")).unwrap().contains("Rex"));
}

#[test]
fn turns_are_captured_once_however_often_they_are_sent() {
    let script = chats()
        .when(
            "weather",
            ModelResponse::text("Let me look.").and_call("weather", json!({"city": "Lisbon"})),
        )
        .when_tool_result("sunny", ModelResponse::text("It is sunny in Lisbon."))
        .when("Thanks", ModelResponse::text("You are welcome."));
    let server = MockServer::start(script);
    let home = home_with_provider("openai", &server.url());
    let serving = TestServer::start(&home, &[]);
    let mut body = question("What is the weather in Lisbon?");
    // Sent twice, as by a client that retries.
    for _ in 0..2 {
        serving.chat("/v1/chat/completions", &[], body.clone()).json(200);
    }
    serving.turns("", 2);
    let messages = body["messages"].as_array_mut().unwrap();
    let call =
        json!({"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}});
    messages.push(json!({"role": "assistant", "content": "Let me look.", "tool_calls": [call]}));
    messages.push(json!({"role": "tool", "tool_call_id": "c1", "content": "sunny"}));
    let response = serving.chat("/v1/chat/completions", &[], body.clone());
    assert_eq!(header(&response, "x-everlore-memory"), "tool-loop");
    assert_eq!(
        last_request(&server).body,
        body.to_string().into_bytes(),
        "inside a tool loop nothing is added"
    );
    serving.turns("", 3);
    let messages = body["messages"].as_array_mut().unwrap();
    messages.push(json!({"role": "assistant", "content": "It is sunny in Lisbon."}));
    let echo = "Thanks\n\n<memory-context>\nold\n</memory-context>";
    messages.push(json!({"role": "user", "content": echo}));
    let response = serving.chat("/v1/chat/completions", &[], body);
    let expected = [
        "What is the weather in Lisbon?",
        "Let me look.",
        "It is sunny in Lisbon.",
        "Thanks",
        "You are welcome.",
    ];
    assert_eq!(serving.turns("", 5), expected);
    let session = header(&response, "x-everlore-session");
    assert!(session.starts_with("chat-"), "{session}");
    let first = serving.request("GET", "/v1/memories?kind=turn&limit=1", None).json(200);
    assert_eq!(first["memories"][0]["source"]["session"], session);
}

#[test]
fn a_key_opens_its_own_scope_only() {
    let server = MockServer::start(chats().otherwise(|_| ModelResponse::text("ok")));
    let home = home_with_provider("openai", &server.url());
    let key = |name: &str, role: &str| {
        let key = home.json(&["--user", "ann", "serve", "key", "add", name, "--role", role]);
        key["key"].as_str().unwrap().to_owned()
    };
    let (ann, reader) = (key("ann", "write"), key("reader", "read"));
    let serving = TestServer::start(&home, &[]);
    let path = "/v1/chat/completions";
    // The key determines the user, whatever the client calls them.
    let body = json!({ "model": "everlore", "user": "opaque-7", "messages": [{"role": "user", "content": "My boat is called Alba."}] });
    serving.request_as(&ann, "POST", path, Some(body)).json(200);
    assert_eq!(last_request(&server).json()["model"], "scripted-chat", "the model of the settings");
    serving.turns("&user=ann", 2);
    let bearer = format!("Bearer {ann}");
    let foreign = [("authorization", bearer.as_str()), ("x-memory-user", "ben")];
    let response = serving.request_with_headers(&foreign, "POST", path, Some(question("hi")));
    assert_eq!(response.json(403)["error"]["code"], "scope");

    // A reader needs its own provider key, and nothing of it is captured.
    let ask = question("What is my boat called?");
    let response = serving.request_as(&reader, "POST", path, Some(ask.clone()));
    assert_eq!(
        response.json(403)["error"]["code"],
        "role",
        "a reader must not spend the owner's money"
    );
    let own = [("x-everlore-key", reader.as_str()), ("authorization", &format!("Bearer {KEY}"))];
    let response = serving.request_with_headers(&own, "POST", path, Some(ask));
    assert_eq!((response.status, header(&response, "x-everlore-memory")), (200, "added"));
    serving.turns("&user=ann", 2);
    serving.turns("", 0);
    let audit = fs::read_to_string(home.path().join("server-audit.jsonl")).unwrap();
    let line = audit.lines().rfind(|line| line.contains("completions")).unwrap();
    let line: Value = serde_json::from_str(line).unwrap();
    let audited = [&line["route"], &line["user"], &line["caller"]];
    assert_eq!(audited, [&json!(path), &json!("ann"), &json!("key:reader")]);
}

#[test]
fn the_owner_chooses_the_scope_and_the_use_of_memory() {
    let server = MockServer::start(chats().otherwise(|_| ModelResponse::text("ok")));
    let home = home_with_provider("openai", &server.url());
    let serving = TestServer::start(&home, &[]);
    let path = "/v1/chat/completions";
    serving.chat(path, &[("x-memory-user", "王")], question("My boat is called Alba.")).json(200);
    serving.turns("&user=%E7%8E%8B", 2);
    let asks = |headers: &[(&str, &str)], body: &Value| {
        let response = serving.chat(path, headers, body.clone());
        response.json(200);
        let sent = String::from_utf8(last_request(&server).body).unwrap();
        (header(&response, "x-everlore-memory").to_owned(), sent.contains("Alba"))
    };
    let ask = question("What is my boat called?");
    let read = ("x-memory-mode", "read");
    for user in [("x-memory-user", "王"), ("x-sm-user-id", "王")] {
        assert_eq!(asks(&[user, read], &ask), ("added".to_owned(), true));
    }
    let mut named = ask.clone();
    for (user, is_told) in [("王", true), ("li", false), ("https://id.example/王", false)] {
        named["user"] = json!(user);
        assert_eq!(asks(&[read], &named).1, is_told, "{user}");
    }
    assert!(!asks(&[read], &ask).1, "the memory of another user");
    assert!(!asks(&[("x-memory-user", "王"), ("x-memory-project", "boats"), read], &ask).1);
    let off = asks(&[("x-memory-user", "王"), ("x-memory-mode", "off")], &ask);
    assert_eq!(off, ("off".to_owned(), false));
    assert_eq!(last_request(&server).body, ask.to_string().into_bytes());
    let wrong = serving.chat(path, &[("x-memory-mode", "some")], ask);
    assert_eq!(wrong.json(400)["error"]["type"], "invalid_request_error");
}

#[test]
fn a_client_may_bring_its_own_provider_key() {
    let server = MockServer::start(MockChat::new().otherwise(|_| ModelResponse::text("ok")));
    let home = home_with_provider("openai", &server.url());
    let serving = TestServer::start(&home, &[]);
    let headers = [
        ("x-everlore-key", serving.token.as_str()),
        ("authorization", "Bearer sk-theirs"),
        ("accept-encoding", "gzip"),
    ];
    serving
        .request_with_headers(&headers, "POST", "/v1/chat/completions", Some(question("hi")))
        .json(200);
    let sent = last_request(&server);
    assert_eq!(sent.header("authorization"), Some("Bearer sk-theirs"));
    assert!(sent.headers.iter().all(|(name, value)| !name.starts_with("x-everlore") && !value.contains(&serving.token)));
    assert_eq!(sent.header("accept-encoding"), Some("identity"));
}

#[test]
fn secrets_are_masked_in_captured_turns_and_not_in_relayed_ones() {
    let secret = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD";
    let server = MockServer::start(chats().otherwise(|_| ModelResponse::text("noted")));
    let home = home_with_provider("openai", &server.url());
    let serving = TestServer::start(&home, &[]);
    serving
        .chat("/v1/chat/completions", &[], question(&format!("我的密钥是 {secret} 吗")))
        .json(200);
    assert!(String::from_utf8(last_request(&server).body).unwrap().contains(secret));
    let turns = serving.turns("", 2);
    assert!(turns[0].contains("我的密钥是") && !turns[0].contains(secret), "{turns:?}");
}

#[test]
fn a_failure_of_memory_does_not_fail_the_request() {
    let server = MockServer::start(chats().otherwise(|_| ModelResponse::text("fine")));
    let home = home_with_provider("openai", &server.url());
    let serving = TestServer::start(&home, &[]);
    let body = question("What is my dog called?");
    serving.chat("/v1/chat/completions", &[], body.clone()).json(200);
    serving.turns("", 2);
    let database = rusqlite::Connection::open(home.path().join("everlore.db")).unwrap();
    let names: Vec<String> = database
        .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    database.execute_batch("PRAGMA legacy_alter_table = ON").unwrap();
    for name in names {
        database
            .execute_batch(&format!("ALTER TABLE \"{name}\" RENAME TO \"gone_{name}\""))
            .unwrap();
    }
    let response = serving.chat("/v1/chat/completions", &[], body.clone());
    assert_eq!(response.json(200)["choices"][0]["message"]["content"], "fine");
    assert_eq!(header(&response, "x-everlore-memory"), "failed");
    assert_eq!(last_request(&server).body, body.to_string().into_bytes());
}

#[test]
fn the_usage_of_an_answer_is_recorded() {
    let server = MockServer::start(
        chats()
            .when("dog", ModelResponse::text("Your dog is called Rex."))
            .otherwise(|_| ModelResponse::text("Noted.")),
    );
    let home = home_with_provider("openai", &server.url());
    let serving = TestServer::start(&home, &[]);
    serving
        .request("POST", "/v1/memories", Some(json!({"content": "The user's dog is called Rex."})))
        .json(201);
    let response = serving.chat("/v1/chat/completions", &[], question("What is my dog called?"));
    assert_eq!(header(&response, "x-everlore-memory"), "added");
    serving.turns("", 2);
    let since = Instant::now();
    loop {
        let usage = serving.request("GET", "/v1/stats", None).json(200);
        if usage.to_string().contains("\"used\":1") {
            break;
        }
        assert!(since.elapsed() < DEADLINE, "{usage}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn ten_turns_with_saves_between_keep_the_prefix_and_a_changed_one_is_reported() {
    let server = MockServer::start(chats().otherwise(|_| ModelResponse::text("好的。")));
    let home = home_with_provider("openai", &server.url());
    let serving = TestServer::start(&home, &[]);
    let headers = [("x-memory-session", "monday")];
    let mut body = json!({ "model": "scripted-chat", "messages": [{"role": "system", "content": "Be brief. 请简短。".repeat(200)}] });
    let changed = || {
        let figures = serving.request("GET", "/metrics", None).text;
        let line = figures
            .lines()
            .find(|line| line.starts_with("everlore_prompt_prefix_changed_bytes_total "));
        line.unwrap().rsplit(' ').next().unwrap().parse::<usize>().unwrap()
    };
    let mut injected = 0;
    for number in 0..10 {
        let fact =
            format!("My locker number {number} at the gym is {}. 柜子 {number} 号。", number * 7);
        serving.request("POST", "/v1/memories", Some(json!({ "content": fact }))).json(201);
        let question =
            format!("Which locker number {number} is mine? 我的柜子 {number} 号是哪个？");
        let messages = body["messages"].as_array_mut().unwrap();
        messages.push(json!({"role": "user", "content": question}));
        let response = serving.chat("/v1/chat/completions", &headers, body.clone());
        let answer = response.json(200)["choices"][0]["message"].clone();
        injected += usize::from(header(&response, "x-everlore-memory") == "added");
        assert_eq!(
            header(&response, "x-everlore-prefix-changed-bytes"),
            if number == 0 { "" } else { "0" }
        );
        let prefix: usize = header(&response, "x-everlore-prefix-bytes").parse().unwrap();
        assert_eq!(last_request(&server).body[..prefix], body.to_string().as_bytes()[..prefix]);
        body["messages"].as_array_mut().unwrap().push(answer);
    }
    assert!(injected > 5, "{injected} turns had injected memories");
    assert_eq!(changed(), 0);
    body["messages"][0]["content"] = json!("Be long. 请详细。");
    body["messages"]
        .as_array_mut()
        .unwrap()
        .push(json!({"role": "user", "content": "And now? 现在呢？"}));
    let response = serving.chat("/v1/chat/completions", &headers, body);
    let lost: usize = header(&response, "x-everlore-prefix-changed-bytes").parse().unwrap();
    assert!(lost > 1_000 && changed() == lost, "{lost}");
}
