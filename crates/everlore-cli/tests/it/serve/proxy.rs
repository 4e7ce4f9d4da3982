//! The memory proxy as programs meet it: what reaches the provider, what comes back, and what is kept (X5, A8).

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use everlore_scripted::{Chats, Embeddings, Reply, Request, Said, Script, Server, Step};
use serde_json::{Value, json};

use super::{PATIENCE, Serving, Told, contents};
use crate::home::Home;

/// The key that the provider asks for.
pub(crate) const KEY: &str = "sk-of-the-provider";

/// A home whose settings name a provider.
pub(crate) fn home_of(provider: &str, url: &str) -> Home {
    let home = Home::new();
    let base = if provider == "openai" { format!("{url}/v1") } else { url.to_owned() };
    let settings = format!(
        "[chat]\nprovider = \"{provider}\"\nmodel = \"scripted-chat\"\nbase_url = \"{base}\"\napi_key = \"{KEY}\"\n"
    );
    fs::create_dir_all(home.path()).unwrap();
    fs::write(home.path().join("config.toml"), settings).unwrap();
    home
}

fn chats() -> Chats {
    Chats::new().with_key(KEY)
}

fn question(text: &str) -> Value {
    json!({ "model": "scripted-chat", "messages": [{ "role": "user", "content": text }] })
}

impl Serving {
    /// Asks a model, as the owner, with more headers.
    fn chat(&self, path: &str, headers: &[(&str, &str)], body: Value) -> Told {
        let bearer = format!("Bearer {}", self.token);
        let all = [&[("authorization", bearer.as_str())], headers].concat();
        self.send(&all, "POST", path, Some(body))
    }

    /// Waits until so many turns are kept, and returns them, the oldest first.
    fn turns(&self, query: &str, count: usize) -> Vec<String> {
        let since = Instant::now();
        loop {
            let path = format!("/v1/memories?kind=turn&limit=100{query}");
            let listed = self.ask("GET", &path, None).json(200);
            let mut turns: Vec<String> =
                contents(&listed["memories"]).iter().map(|text| (*text).to_owned()).collect();
            if turns.len() >= count {
                assert_eq!(turns.len(), count, "{turns:?}");
                turns.reverse();
                return turns;
            }
            assert!(since.elapsed() < PATIENCE, "{count} turns did not come: {turns:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

fn header<'a>(told: &'a Told, name: &str) -> &'a str {
    told.headers.get(name).map_or("", |value| value.to_str().unwrap())
}

/// What the provider was asked last.
fn last(server: &Server) -> Request {
    server.requests().pop().unwrap()
}

#[test]
fn a_fact_of_an_earlier_conversation_reaches_the_model_and_nothing_else_changes() {
    let server = Server::start(chats().otherwise(|_| Said::text("好的。")));
    let home = home_of("openai", &server.url());
    let serving = Serving::on(&home, &[]);
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
        let told = serving.chat("/v1/chat/completions", &[("x-memory-session", ask)], body.clone());
        told.json(200);
        assert_eq!(header(&told, "x-everlore-memory"), "added", "{told:?}");
        assert!(header(&told, "x-everlore-memory-count").parse::<usize>().unwrap() > 0);
        assert!(header(&told, "x-everlore-memory-tokens").parse::<usize>().unwrap() > 0);
        assert_eq!(header(&told, "x-everlore-memory-ids").split(',').next().unwrap().len(), 36);
        let sent = String::from_utf8(last(&server).body).unwrap();
        let content = last(&server).json()["messages"][1]["content"].as_str().unwrap().to_owned();
        let (said, block) = content.split_once("\n\n<memory-context>\n").unwrap();
        assert!(
            said == ask && block.contains(found) && block.ends_with("</memory-context>"),
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
    assert!(!fs::read_to_string(home.beside("log")).unwrap().contains("Rex"));
}

#[test]
fn what_is_said_is_kept_once_however_often_it_is_sent() {
    let script = chats()
        .when("weather", Said::text("Let me look.").and_call("weather", json!({"city": "Lisbon"})))
        .when_told("sunny", Said::text("It is sunny in Lisbon."))
        .when("Thanks", Said::text("You are welcome."));
    let server = Server::start(script);
    let home = home_of("openai", &server.url());
    let serving = Serving::on(&home, &[]);
    let mut body = question("What is the weather in Lisbon?");
    // Sent twice, as by a client that tries again.
    for _ in 0..2 {
        serving.chat("/v1/chat/completions", &[], body.clone()).json(200);
    }
    serving.turns("", 2);
    let messages = body["messages"].as_array_mut().unwrap();
    let call =
        json!({"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}});
    messages.push(json!({"role": "assistant", "content": "Let me look.", "tool_calls": [call]}));
    messages.push(json!({"role": "tool", "tool_call_id": "c1", "content": "sunny"}));
    let told = serving.chat("/v1/chat/completions", &[], body.clone());
    assert_eq!(header(&told, "x-everlore-memory"), "tool-loop");
    assert_eq!(
        last(&server).body,
        body.to_string().into_bytes(),
        "inside a tool loop nothing is added"
    );
    serving.turns("", 3);
    let messages = body["messages"].as_array_mut().unwrap();
    messages.push(json!({"role": "assistant", "content": "It is sunny in Lisbon."}));
    let echo = "Thanks\n\n<memory-context>\nold\n</memory-context>";
    messages.push(json!({"role": "user", "content": echo}));
    let told = serving.chat("/v1/chat/completions", &[], body);
    let expected = [
        "What is the weather in Lisbon?",
        "Let me look.",
        "It is sunny in Lisbon.",
        "Thanks",
        "You are welcome.",
    ];
    assert_eq!(serving.turns("", 5), expected);
    let session = header(&told, "x-everlore-session");
    assert!(session.starts_with("chat-"), "{session}");
    let first = serving.ask("GET", "/v1/memories?kind=turn&limit=1", None).json(200);
    assert_eq!(first["memories"][0]["source"]["session"], session);
}

/// An answer as it came: its head, and its chunks, of which the last is empty where the answer was whole.
fn raw(address: &str, head: &str, body: &str) -> (String, Vec<Vec<u8>>) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let head = format!(
        "{head}\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(reader.read_line(&mut head).unwrap() > 0, "{head}");
    }
    let length = head
        .to_lowercase()
        .split("content-length: ")
        .nth(1)
        .map(|rest| rest.lines().next().unwrap().parse().unwrap());
    if let Some(length) = length {
        let mut whole = vec![0; length];
        reader.read_exact(&mut whole).unwrap();
        return (head, vec![whole]);
    }
    let mut chunks = Vec::new();
    loop {
        let mut size = String::new();
        // What is cut off may end without a word.
        if reader.read_line(&mut size).unwrap_or(0) == 0 {
            return (head, chunks);
        }
        let mut chunk = vec![0; usize::from_str_radix(size.trim(), 16).unwrap() + 2];
        reader.read_exact(&mut chunk).unwrap();
        chunk.truncate(chunk.len() - 2);
        chunks.push(chunk);
        if chunks.last().unwrap().is_empty() {
            return (head, chunks);
        }
    }
}

#[test]
fn streams_come_byte_for_byte_and_chunk_for_chunk() {
    let said = |text: &str| {
        Said::text(text)
            .thinking("想一想")
            .and_call("note", json!({"text": "喝茶 <b>&\u{1f375}"}))
            .costing(9, 3, 5)
    };
    for (provider, path, ours) in [
        ("openai", "/v1/chat/completions", "/v1/chat/completions"),
        ("openai", "/v1/responses", "/v1/responses"),
        ("anthropic", "/v1/messages", "/anthropic/v1/messages"),
    ] {
        let script = move || {
            chats()
                .when("cut me", said("龙井，茶很香。").in_chunks_of(7))
                .when("whole", said("Tea, 茶."))
        };
        let (direct, server) = (Server::start(script()), Server::start(script()));
        let home = home_of(provider, &server.url());
        let serving = Serving::on(&home, &[]);
        for (text, stream) in [("cut me", true), ("whole", true), ("whole", false)] {
            let list = json!([{ "role": "user", "content": text }]);
            let body = json!({ "model": "scripted-chat", "max_tokens": 9, "stream": stream, "stream_options": {"include_usage": true}, "messages": list, "input": list });
            let body = body.to_string();
            let key = format!(
                "authorization: Bearer {KEY}\r\nx-api-key: {KEY}\r\nanthropic-version: 2023-06-01"
            );
            let address = direct.url().replace("http://", "");
            let (_, expected) = raw(&address, &format!("POST {path} HTTP/1.1\r\n{key}"), &body);
            let head = format!("POST {ours} HTTP/1.1\r\nauthorization: Bearer {}", serving.token);
            let (headers, came) = raw(&serving.address, &head, &body);
            assert!(headers.starts_with("HTTP/1.1 200"), "{headers}");
            assert_eq!(expected, came, "{ours}: every chunk");
            assert!(
                expected.concat().len() > 200 && (!stream || expected.len() > 9),
                "{expected:?}"
            );
        }
    }
}

#[test]
fn a_slow_answer_is_handed_on_as_it_comes_and_a_client_that_goes_takes_it_along() {
    let server = Server::start(chats().otherwise(|_| Said::text("第一部分，第二部分")));
    let home = home_of("openai", &server.url());
    let serving = Serving::on(&home, &[]);
    let chunk = |text: &str| {
        Step::Send(
            format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": {"content": text}}]}))
                .into_bytes(),
        )
    };
    let steps = vec![chunk("先说这些"), Step::Hold, chunk("never")];
    server.then(Reply::stream("text/event-stream", steps));
    let body = question("Tell me slowly").to_string();
    let mut client = serving.connect();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        serving.token,
        body.len()
    );
    client.write_all(head.as_bytes()).unwrap();
    let mut seen = String::new();
    while !seen.contains("先说这些") {
        let mut some = [0; 1024];
        let read = client.read(&mut some).unwrap();
        assert!(read > 0, "{seen}");
        seen += &String::from_utf8_lossy(&some[..read]);
    }
    server.await_held();
    drop(client);
    server.await_gone();
    assert_eq!(serving.turns("", 2), ["Tell me slowly", "先说这些"], "what came is kept");
}

#[test]
fn a_client_that_goes_before_the_answer_begins_takes_the_request_along() {
    // A provider that says nothing, not even a head.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let home = home_of("openai", &format!("http://{}", listener.local_addr().unwrap()));
    let serving = Serving::on(&home, &[]);
    let body = question("hello?").to_string();
    let mut client = serving.connect();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        serving.token,
        body.len()
    );
    client.write_all(head.as_bytes()).unwrap();
    let (mut asked, _) = listener.accept().unwrap();
    asked.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut some = [0; 64];
    assert!(asked.read(&mut some).unwrap() > 0);
    drop(client);
    let mut rest = Vec::new();
    // Ends only when the proxy closes the connection.
    asked.read_to_end(&mut rest).unwrap();
}

#[test]
fn errors_of_the_provider_come_as_they_are_and_nothing_is_kept() {
    let server = Server::start(chats());
    let home = home_of("openai", &server.url());
    let serving = Serving::on(&home, &[]);
    for status in [400, 401, 404, 429, 500, 529] {
        let body = json!({ "error": { "message": format!("no {status}"), "type": "t", "param": null, "code": 7, "zz": 1, "aa": 2 } });
        server.then(
            Reply::json(status, &body)
                .with_header("retry-after", "7")
                .with_header("x-request-id", "req_theirs"),
        );
        let told = serving.chat("/v1/chat/completions", &[], question("I live in Porto"));
        assert_eq!((told.status, told.text), (status, body.to_string()));
        assert_eq!(
            (&told.headers["retry-after"], &told.headers["x-request-id"]),
            (&"7".parse().unwrap(), &"req_theirs".parse().unwrap())
        );
    }
    let cut = vec![
        Step::Send(
            b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"half\"}}]}\n\n".to_vec(),
        ),
        Step::Cut,
    ];
    server.then(Reply::stream("text/event-stream", cut));
    let body = question("Cut it").to_string();
    let head =
        format!("POST /v1/chat/completions HTTP/1.1\r\nauthorization: Bearer {}", serving.token);
    let (_, came) = raw(&serving.address, &head, &body);
    assert!(came.len() == 1 && !came[0].is_empty(), "it looks cut off: {came:?}");
    assert_eq!(serving.turns("", 2), ["Cut it", "half"], "only what was answered is kept");
}

#[test]
fn problems_of_ours_are_told_as_the_client_reads_them() {
    let home = Home::new();
    let serving = Serving::on(&home, &[]);
    let openai = serving.chat("/v1/chat/completions", &[], question("hi"));
    let told = openai.json(503);
    assert_eq!(told["error"]["code"], "no_provider");
    assert!(told["error"]["message"].as_str().unwrap().contains("[chat]"), "{told}");
    assert_eq!(
        (header(&openai, "x-should-retry"), header(&openai, "content-type")),
        ("false", "application/json")
    );
    let told = serving.chat("/anthropic/v1/messages", &[], question("hi")).json(503);
    assert_eq!((&told["type"], &told["error"]["type"]), (&json!("error"), &json!("api_error")));
    let bad = [("authorization", "Bearer wrong")];
    let told = serving.send(&bad, "POST", "/v1/chat/completions", Some(question("hi"))).json(401);
    assert_eq!(told["error"]["type"], "authentication_error");
    let told = serving
        .send(&[("x-api-key", "wrong")], "POST", "/anthropic/v1/messages", Some(question("hi")))
        .json(401);
    assert_eq!(told["error"]["type"], "authentication_error");
    // Nothing listens where the settings point.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let home = home_of("openai", &format!("http://{free}"));
    let serving = Serving::on(&home, &[]);
    let told = serving.chat("/v1/chat/completions", &[], question("hi")).json(502);
    assert_eq!(told["error"]["code"], "provider_unreachable");
    assert!(told["error"]["message"].as_str().unwrap().contains("nothing listens there"), "{told}");
}

#[test]
fn a_key_opens_its_own_memory_only() {
    let server = Server::start(chats().otherwise(|_| Said::text("ok")));
    let home = home_of("openai", &server.url());
    let key = |name: &str, role: &str| {
        let made = home.json(&["--user", "ann", "serve", "key", "add", name, "--role", role]);
        made["key"].as_str().unwrap().to_owned()
    };
    let (ann, reader) = (key("ann", "write"), key("reader", "read"));
    let serving = Serving::on(&home, &[]);
    let path = "/v1/chat/completions";
    // Whatever the program calls its user, the key says who it is.
    let body = json!({ "model": "everlore", "user": "opaque-7", "messages": [{"role": "user", "content": "My boat is called Alba."}] });
    serving.ask_as(&ann, "POST", path, Some(body)).json(200);
    assert_eq!(last(&server).json()["model"], "scripted-chat", "the model of the settings");
    serving.turns("&user=ann", 2);
    let bearer = format!("Bearer {ann}");
    let foreign = [("authorization", bearer.as_str()), ("x-memory-user", "ben")];
    let told = serving.send(&foreign, "POST", path, Some(question("hi")));
    assert_eq!(told.json(403)["error"]["code"], "scope");

    // A key that only looks needs a key of the provider, and leaves nothing behind.
    let ask = question("What is my boat called?");
    let told = serving.ask_as(&reader, "POST", path, Some(ask.clone()));
    assert_eq!(told.json(403)["error"]["code"], "role", "the owner's money is not theirs");
    let own = [("x-everlore-key", reader.as_str()), ("authorization", &format!("Bearer {KEY}"))];
    let told = serving.send(&own, "POST", path, Some(ask));
    assert_eq!((told.status, header(&told, "x-everlore-memory")), (200, "added"));
    serving.turns("&user=ann", 2);
    serving.turns("", 0);
    let audit = fs::read_to_string(home.path().join("server-audit.jsonl")).unwrap();
    let line = audit.lines().rfind(|line| line.contains("completions")).unwrap();
    let line: Value = serde_json::from_str(line).unwrap();
    let told = [&line["route"], &line["user"], &line["caller"]];
    assert_eq!(told, [&json!(path), &json!("ann"), &json!("key:reader")]);
}

#[test]
fn the_owner_chooses_whose_memory_is_used_and_for_what() {
    let server = Server::start(chats().otherwise(|_| Said::text("ok")));
    let home = home_of("openai", &server.url());
    let serving = Serving::on(&home, &[]);
    let path = "/v1/chat/completions";
    serving.chat(path, &[("x-memory-user", "王")], question("My boat is called Alba.")).json(200);
    serving.turns("&user=%E7%8E%8B", 2);
    let asks = |headers: &[(&str, &str)], body: &Value| {
        let told = serving.chat(path, headers, body.clone());
        told.json(200);
        let sent = String::from_utf8(last(&server).body).unwrap();
        (header(&told, "x-everlore-memory").to_owned(), sent.contains("Alba"))
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
    assert_eq!(last(&server).body, ask.to_string().into_bytes());
    let wrong = serving.chat(path, &[("x-memory-mode", "some")], ask);
    assert_eq!(wrong.json(400)["error"]["type"], "invalid_request_error");
}

#[test]
fn a_client_may_bring_the_key_of_its_provider() {
    let server = Server::start(Chats::new().otherwise(|_| Said::text("ok")));
    let home = home_of("openai", &server.url());
    let serving = Serving::on(&home, &[]);
    let headers = [
        ("x-everlore-key", serving.token.as_str()),
        ("authorization", "Bearer sk-theirs"),
        ("accept-encoding", "gzip"),
    ];
    serving.send(&headers, "POST", "/v1/chat/completions", Some(question("hi"))).json(200);
    let sent = last(&server);
    assert_eq!(sent.header("authorization"), Some("Bearer sk-theirs"));
    assert!(sent.headers.iter().all(|(name, value)| !name.starts_with("x-everlore") && !value.contains(&serving.token)));
    assert_eq!(sent.header("accept-encoding"), Some("identity"));
}

#[test]
fn secrets_are_masked_in_what_is_kept_and_not_in_what_is_sent() {
    let secret = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD";
    let server = Server::start(chats().otherwise(|_| Said::text("noted")));
    let home = home_of("openai", &server.url());
    let serving = Serving::on(&home, &[]);
    serving
        .chat("/v1/chat/completions", &[], question(&format!("我的密钥是 {secret} 吗")))
        .json(200);
    assert!(String::from_utf8(last(&server).body).unwrap().contains(secret));
    let kept = serving.turns("", 2);
    assert!(kept[0].contains("我的密钥是") && !kept[0].contains(secret), "{kept:?}");
}

#[test]
fn when_memory_fails_the_model_is_asked_all_the_same() {
    let server = Server::start(chats().otherwise(|_| Said::text("fine")));
    let home = home_of("openai", &server.url());
    let serving = Serving::on(&home, &[]);
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
    let told = serving.chat("/v1/chat/completions", &[], body.clone());
    assert_eq!(told.json(200)["choices"][0]["message"]["content"], "fine");
    assert_eq!(header(&told, "x-everlore-memory"), "failed");
    assert_eq!(last(&server).body, body.to_string().into_bytes());
}

#[test]
fn what_an_answer_used_is_written_down() {
    let server = Server::start(
        chats()
            .when("dog", Said::text("Your dog is called Rex."))
            .otherwise(|_| Said::text("Noted.")),
    );
    let home = home_of("openai", &server.url());
    let serving = Serving::on(&home, &[]);
    serving
        .ask("POST", "/v1/memories", Some(json!({"content": "The user's dog is called Rex."})))
        .json(201);
    let told = serving.chat("/v1/chat/completions", &[], question("What is my dog called?"));
    assert_eq!(header(&told, "x-everlore-memory"), "added");
    serving.turns("", 2);
    let since = Instant::now();
    loop {
        let usage = serving.ask("GET", "/v1/stats", None).json(200);
        if usage.to_string().contains("\"used\":1") {
            break;
        }
        assert!(since.elapsed() < PATIENCE, "{usage}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A provider that also makes vectors.
struct Both(Chats, Embeddings);

impl Script for Both {
    fn answer(&mut self, request: &Request) -> Reply {
        match request.path.as_str() {
            "/v1/embeddings" => self.1.answer(request),
            _ => self.0.answer(request),
        }
    }
}

/// The names of the models that are listed.
fn listed(serving: &Serving, path: &str) -> Vec<String> {
    let told = serving.ask("GET", path, None).json(200);
    let models = told["data"].as_array().unwrap().iter();
    models.map(|model| model["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn without_a_provider_the_built_in_model_makes_vectors() {
    let home = Home::new();
    let serving = Serving::on(&home, &[]);
    assert_eq!(listed(&serving, "/v1/models"), ["everlore-builtin"]);
    assert!(listed(&serving, "/anthropic/v1/models").is_empty());
    let texts = ["My dog is called Rex.", "The puppy has a name.", "Taxes are due in April."];
    let body = json!({ "model": "any", "input": texts });
    let vectors = serving.ask("POST", "/v1/embeddings", Some(body)).json(200);
    let vector = |place: usize| -> Vec<f64> {
        let numbers = vectors["data"][place]["embedding"].as_array().unwrap();
        numbers.iter().map(|number| number.as_f64().unwrap()).collect()
    };
    let dot = |a: usize, b: usize| vector(a).iter().zip(vector(b)).map(|(a, b)| a * b).sum::<f64>();
    assert_eq!((vectors["model"].as_str(), vector(0).len()), (Some("everlore-builtin"), 256));
    assert!((dot(0, 0) - 1.0).abs() < 1e-3 && dot(0, 1) > dot(0, 2), "they mean something");
    for wrong in [
        json!({"input": "我喜欢喝茶"}),
        json!({"input": []}),
        json!({"input": [[1, 2]]}),
        json!({"input": "a", "dimensions": 3}),
        json!({}),
    ] {
        let told = serving.ask("POST", "/v1/embeddings", Some(wrong)).json(400);
        assert_eq!(told["error"]["type"], "invalid_request_error");
    }
}

#[test]
fn models_and_vectors_are_those_of_the_provider_and_ours() {
    let server = Server::start(Both(
        chats(),
        Embeddings { key: Some(KEY.to_owned()), ..Embeddings::default() },
    ));
    let home = home_of("openai", &server.url());
    let serving = Serving::on(&home, &[]);
    assert_eq!(
        listed(&serving, "/v1/models"),
        ["scripted-chat", "scripted-other", "everlore", "everlore-builtin"]
    );
    assert_eq!(serving.ask("GET", "/v1/models/everlore", None).json(200)["owned_by"], "everlore");
    let passed = serving
        .ask("POST", "/v1/embeddings", Some(json!({"model": "scripted-embed", "input": "茶"})))
        .json(200);
    assert_eq!(passed["model"], "scripted-embed");
    let own = serving
        .ask("POST", "/v1/embeddings", Some(json!({"model": "everlore-builtin", "input": "tea"})))
        .json(200);
    assert_eq!(own["model"], "everlore-builtin");
    let server = Server::start(chats());
    let home = home_of("anthropic", &server.url());
    let serving = Serving::on(&home, &[]);
    assert_eq!(
        listed(&serving, "/anthropic/v1/models?limit=5"),
        ["scripted-chat", "scripted-other", "everlore"]
    );
    assert_eq!(last(&server).path, "/v1/models?limit=5");
}
