//! Kills of the server at random moments while clients write by every way in: every acknowledged write survives.

use std::{
    fs,
    sync::Mutex,
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{ApiResponse, TestServer, provider_and_home};
use crate::{home::TestHome, kill::word, random::TestRandom};

const ROUNDS: usize = 5;

/// Time from the start of a round to its kill, in milliseconds: at least a few writes by each way, on a slow machine too.
const KILL_AFTER_MS: std::ops::Range<usize> = 400..1_200;

/// Time that a turn of the proxy may take to be readable; nobody waits for it.
const MAX_CAPTURE_TIME: Duration = Duration::from_secs(5);

/// Time that the first write of each way may take, on a machine that has much to do.
const MAX_FIRST_WRITES: Duration = Duration::from_secs(60);

/// Way in: its name, and a write of a word that returns `true` once it is acknowledged, `false` if the server is gone.
type WayIn = (&'static str, fn(&WritingClient<'_>, &str) -> bool);

const WAYS: [WayIn; 16] = [
    ("REST save", |client, word| client.post("/v1/memories", json!({ "content": text(word) }))),
    ("REST observe", |client, word| {
        client.post("/v1/turns", json!({ "text": text(word), "session": "s" }))
    }),
    ("REST batch", |client, word| {
        client.post("/v1/turns/batch", json!({ "turns": [{ "text": text(word), "session": "b" }] }))
    }),
    ("REST document", |client, word| {
        let uri = format!("resources/{word}.md");
        client.post("/v1/fs", json!({ "uri": uri, "content": text(word) }))
    }),
    ("REST import", import),
    ("vault edit", |client, word| {
        let page = json!({ "kind": "user", "name": word, "content": text(word) });
        client.send("PUT", &format!("/v1/vault/user_{word}.md"), &[], page)
    }),
    ("layer edit", |client, word| {
        let add = json!({ "action": "add", "section": "Notes", "content": text(word) });
        client.send("PATCH", "/v1/layers/memory", &[], add)
    }),
    ("edit", edit),
    ("REST tool", |client, word| {
        client.post("/v1/tools/memory_save", json!({ "content": text(word) }))
    }),
    ("MCP tool", |client, word| client.call_mcp("memory_save", &json!({ "content": text(word) }))),
    ("memory folder", |client, word| {
        let path = format!("/memories/{word}.md");
        client.call_mcp(
            "memory",
            &json!({ "command": "create", "path": path, "file_text": text(word) }),
        )
    }),
    ("mem0 add", |client, word| {
        let messages = json!([{ "role": "user", "content": text(word) }]);
        client.post("/v3/memories/add/", json!({ "messages": messages, "user_id": "default" }))
    }),
    ("mem0 verbatim", |client, word| {
        let messages = json!([{ "role": "user", "content": text(word) }]);
        let body = json!({ "messages": messages, "user_id": "default", "infer": false });
        client.post("/memories", body)
    }),
    ("OpenViking write", |client, word| {
        let uri = format!("viking://resources/v{word}.md");
        client.post("/api/v1/content/write", json!({ "uri": uri, "content": text(word) }))
    }),
    ("OpenViking message", |client, word| {
        let message = json!({ "role": "user", "content": text(word) });
        client.post("/api/v1/sessions/v/messages", message)
    }),
    ("proxy", proxy),
];

fn text(word: &str) -> String {
    format!("the word is {word} 暗号")
}

/// Client that writes to one server.
struct WritingClient<'a> {
    server: &'a TestServer,
    /// Memory that is edited.
    edited: &'a str,
}

impl WritingClient<'_> {
    fn post(&self, path: &str, body: Value) -> bool {
        self.send("POST", path, &[], body)
    }

    fn call_mcp(&self, tool: &str, input: &Value) -> bool {
        let call = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": { "name": tool, "arguments": input },
        });
        let headers = [
            ("accept", "application/json, text/event-stream"),
            ("mcp-protocol-version", "2025-11-25"),
        ];
        self.send("POST", "/mcp?tools=core,anthropic", &headers, call)
    }

    /// Sends a request. A server that was killed acknowledges nothing; any other refusal is an error of this test.
    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: Value) -> bool {
        let Some(response) = self.try_send(method, path, headers, Some(body)) else { return false };
        let failed = ["\"is_error\":true", "\"isError\":true"];
        let is_error = failed.iter().any(|mark| response.text.contains(mark));
        assert!((200..300).contains(&response.status) && !is_error, "{path}: {response:?}");
        true
    }

    fn try_send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<Value>,
    ) -> Option<ApiResponse> {
        let bearer = format!("Bearer {}", self.server.token);
        let all = [&[("authorization", bearer.as_str())], headers].concat();
        self.server.try_request(&all, method, path, body).ok()
    }
}

fn import(client: &WritingClient<'_>, word: &str) -> bool {
    let line = json!({ "content": text(word) }).to_string() + "\n";
    client.send("POST", "/v1/import", &[("content-type", "application/x-ndjson")], json!(line))
}

/// Edits one memory over and over; the journal keeps what it said before.
fn edit(client: &WritingClient<'_>, word: &str) -> bool {
    let path = format!("/v1/memories/{}", client.edited);
    client.send("PATCH", &path, &[], json!({ "content": text(word) }))
}

/// Sends a message through the proxy. The answer acknowledges nothing, as the turn is stored after it; a turn that a client
/// can read is stored.
fn proxy(client: &WritingClient<'_>, word: &str) -> bool {
    let body =
        json!({ "model": "everlore", "messages": [{ "role": "user", "content": text(word) }] });
    if !client.post("/v1/chat/completions", body) {
        return false;
    }
    let began = Instant::now();
    while began.elapsed() < MAX_CAPTURE_TIME {
        let newest = client.try_send("GET", "/v1/memories?limit=100", &[], None);
        match newest {
            None => return false,
            Some(listed) if listed.text.contains(word) => return true,
            Some(_) => thread::sleep(Duration::from_millis(5)),
        }
    }
    panic!("the turn {word} was never stored");
}

/// Kills a process without a warning.
fn kill(server: &TestServer) {
    let pid = server.child.id().to_string();
    let killed = std::process::Command::new("sh").args(["-c", "kill -KILL $0", &pid]).status();
    assert!(killed.unwrap().success());
}

/// Writes by every way at once until the server is killed, and returns the acknowledged words by way. The first server is
/// killed only after it acknowledged a write of each way.
fn write_until_killed(
    home: &TestHome,
    edited: &str,
    next: &Mutex<usize>,
    (pause, is_first): (Duration, bool),
) -> Vec<(usize, String)> {
    let mut server = TestServer::start(home, &["--rate", "1000000"]);
    let acknowledged = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for (way, (_, write)) in WAYS.iter().enumerate() {
            let (client, acknowledged) = (WritingClient { server: &server, edited }, &acknowledged);
            scope.spawn(move || {
                loop {
                    let word = {
                        let mut next = next.lock().unwrap();
                        *next += 1;
                        word(*next)
                    };
                    if !write(&client, &word) {
                        break;
                    }
                    acknowledged.lock().unwrap().push((way, word));
                }
            });
        }
        if is_first {
            let has_all = || {
                let acknowledged = acknowledged.lock().unwrap();
                (0..WAYS.len()).all(|way| acknowledged.iter().any(|(by, _)| *by == way))
            };
            let began = Instant::now();
            while !has_all() {
                assert!(began.elapsed() < MAX_FIRST_WRITES, "a way acknowledges nothing");
                thread::sleep(Duration::from_millis(10));
            }
        }
        thread::sleep(pause);
        kill(&server);
    });
    server.child.wait().unwrap();
    acknowledged.into_inner().unwrap()
}

/// Returns everything that the home tells: memories, their journal, layers and vault.
fn whole_home(home: &TestHome) -> String {
    let mut all = home.run(&["memory", "export"]).out;
    all += &home.run(&["memory", "export", "--journal"]).out;
    for (path, bytes) in home.files() {
        if path.extension().is_some_and(|end| end == "md") {
            all += &String::from_utf8_lossy(&bytes);
        }
    }
    all
}

#[test]
fn whatever_any_way_in_acknowledged_survives_a_kill_at_any_moment() {
    let (_provider, home) = provider_and_home();
    let config = home.path().join("config.toml");
    let settings = fs::read_to_string(&config).unwrap() + "[layers]\nmemory_chars = 100000\n";
    fs::write(&config, settings).unwrap();
    // The folder was made for all users of this machine.
    home.run(&["doctor", "--repair"]);
    let edited = home.remember("the word is none 暗号");
    let (mut random, next) = (TestRandom::new(), Mutex::new(0));
    let mut acknowledged: Vec<(usize, String)> = Vec::new();
    for round in 0..ROUNDS {
        let pause = KILL_AFTER_MS.start + random.below(KILL_AFTER_MS.len());
        let pause = Duration::from_millis(pause as u64);
        let moment = (pause, round == 0);
        acknowledged.extend(write_until_killed(&home, &edited, &next, moment));
    }
    home.assert_healthy();
    let all = whole_home(&home);
    let edited_last =
        home.run(&["memory", "show", &edited, "--json"]).json()["content"].to_string();
    let word = edited_last.trim_matches('"').split(' ').nth(3).unwrap();
    assert!(home.recall(word).iter().any(|found| found.contains(word)), "edit: {edited_last}");
    for (way, word) in &acknowledged {
        assert!(all.contains(word), "{} lost {word}", WAYS[*way].0);
    }
    for (way, (name, _)) in WAYS.iter().enumerate() {
        let words: Vec<_> = acknowledged.iter().filter(|(by, _)| *by == way).collect();
        println!("{name}: {} acknowledged", words.len());
        assert!(!words.is_empty(), "{name} acknowledged nothing");
        // A later edit may have been stored and killed before it was acknowledged; layers are not recalled.
        if !["edit", "layer edit"].contains(name) {
            let (_, last) = words[words.len() - 1];
            assert!(home.recall(last).iter().any(|found| found.contains(last)), "{name}: {last}");
        }
    }
}
