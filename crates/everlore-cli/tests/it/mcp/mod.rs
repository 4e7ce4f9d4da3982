//! MCP over standard input and output, word for word: both eras, hostile input, and a server on the same home.

mod http;

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin},
    sync::mpsc::{Receiver, channel},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::{home::TestHome, serve::TestServer};

/// Longer than any answer takes; a test that hangs fails.
const DEADLINE: Duration = Duration::from_secs(60);

/// MCP process that answers line by line.
struct McpProcess {
    child: Child,
    input: Option<ChildStdin>,
    answers: Receiver<String>,
}

impl McpProcess {
    fn start(home: &TestHome, args: &[&str]) -> Self {
        let mut child = home.start(&[&["mcp"], args].concat());
        let (sender, answers) = channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        Self { input: child.stdin.take(), child, answers }
    }

    fn send(&mut self, line: impl AsRef<[u8]>) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_ref()).unwrap();
        input.write_all(b"\n").unwrap();
        input.flush().unwrap();
    }

    fn receive(&self) -> Value {
        let line = self.answers.recv_timeout(DEADLINE).expect("no answer");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("not protocol: {line}"))
    }

    /// Sends a request and returns its answer.
    fn round_trip(&mut self, message: &Value) -> Value {
        self.send(message.to_string());
        let answer = self.receive();
        assert_eq!(answer["id"], message["id"], "{answer}");
        answer
    }

    fn handshake(&mut self) -> Value {
        let answer = self.round_trip(&request(1, "initialize", json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" }
        })));
        self.send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
        answer
    }

    /// Ends the input; nothing more may be printed, and the process exits with 0.
    fn end(mut self) {
        drop(self.input.take());
        assert!(self.answers.recv_timeout(DEADLINE).is_err(), "nothing was asked");
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }
}

/// Starts an MCP process on a home, calls one tool, and returns the answer.
pub(crate) fn call_tool(home: &TestHome, name: &str, arguments: &Value) -> Value {
    let mut mcp = McpProcess::start(home, &[]);
    mcp.handshake();
    mcp.round_trip(&request(2, "tools/call", json!({ "name": name, "arguments": arguments })))
}

impl Drop for McpProcess {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[expect(clippy::needless_pass_by_value, reason = "values are written where they are given")]
fn request(id: u32, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// Returns a request of the era without a handshake.
fn modern(id: u32, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
    });
    request(id, method, params)
}

#[expect(clippy::needless_pass_by_value, reason = "values are written where they are given")]
fn call(name: &str, arguments: Value) -> Value {
    json!({ "name": name, "arguments": arguments })
}

#[test]
fn a_message_that_is_far_too_long_is_answered() {
    let mut talk = McpProcess::start(&TestHome::new(), &[]);
    talk.handshake();
    let content = "长".repeat(7 * 1024 * 1024);
    let answer = talk.round_trip(&request(
        2,
        "tools/call",
        call("memory_save", json!({ "content": content })),
    ));
    assert_eq!(answer["result"]["isError"], true, "{}", answer["result"]["content"]);
    let listed = talk.round_trip(&request(3, "tools/list", json!({})));
    assert!(listed["result"]["tools"].is_array());
    talk.end();
}

#[test]
fn a_handshake_leads_to_tools_and_carries_nothing_of_the_newer_era() {
    let home = TestHome::new();
    let mut talk = McpProcess::start(&home, &[]);
    let answer = talk.handshake();
    let result = &answer["result"];
    assert_eq!(result["protocolVersion"], "2025-11-25");
    assert_eq!(result["serverInfo"]["name"], "everlore");
    let instructions = result["instructions"].as_str().unwrap();
    assert!((500..2_048).contains(&instructions.len()), "hosts cut what is longer than 2 KB");
    let listed = talk.round_trip(&request(2, "tools/list", json!({})));
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 7);
    for newer in ["resultType", "ttlMs", "cacheScope", "_meta"] {
        assert!(listed["result"].get(newer).is_none(), "{newer}");
    }
    let saved = talk.round_trip(&request(
        3,
        "tools/call",
        call("memory_save", json!({"content": "我喜欢喝龙井茶"})),
    ));
    assert_eq!(saved["result"]["structuredContent"]["action"], "created", "{saved}");
    talk.end();
    assert_eq!(home.json(&["memory", "list"])["memories"][0]["content"], "我喜欢喝龙井茶");
    home.assert_healthy();
}

#[test]
fn without_a_handshake_every_request_stands_alone() {
    let home = TestHome::new();
    let mut talk = McpProcess::start(&home, &[]);
    let found = talk.round_trip(&modern(1, "server/discover", json!({})));
    let found = &found["result"];
    assert!(found["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")));
    assert_eq!(
        (&found["resultType"], &found["cacheScope"]),
        (&json!("complete"), &json!("private"))
    );
    let listed = talk.round_trip(&modern(2, "tools/list", json!({})));
    assert_eq!(listed["result"]["ttlMs"], 300_000);
    let saved = talk.round_trip(&modern(
        3,
        "tools/call",
        call("memory_save", json!({"content": "The user sails."})),
    ));
    assert_eq!(saved["result"]["resultType"], "complete");
    assert_eq!(saved["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "everlore");
    let read = talk.round_trip(&modern(4, "resources/read", json!({"uri": "memory://nothing"})));
    assert_eq!(read["error"]["code"], -32_602, "{read}");
    let old = json!({
        "io.modelcontextprotocol/protocolVersion": "1999-01-01",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let refused = talk.round_trip(&request(5, "tools/list", json!({ "_meta": old })));
    assert_eq!(refused["error"]["code"], -32_022, "{refused}");
    assert_eq!(refused["error"]["data"]["requested"], "1999-01-01");
    let lacking = talk.round_trip(&request(6, "tools/list", json!({})));
    assert_eq!(lacking["error"]["code"], -32_602, "{lacking}");
    talk.end();
}

#[test]
fn the_sets_of_tools_are_chosen_and_a_reader_changes_nothing() {
    let home = TestHome::new();
    let names = |args: &[&str]| {
        let mut talk = McpProcess::start(&home, args);
        let listed = talk.round_trip(&modern(1, "tools/list", json!({})));
        talk.end();
        let tools = listed["result"]["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&["--tools", "anthropic,search"]), ["memory", "search", "fetch"]);
    let reading = ["memory_recall", "memory_timeline", "memory_get", "memory_context"];
    assert_eq!(names(&["--read-only"]), reading);
    let ran = home.run(&["mcp", "--tools", "core,magic"]);
    assert!(ran.code == 2 && ran.err.contains("magic") && ran.err.contains("graph"), "{ran:?}");
    let mut talk = McpProcess::start(&home, &["--read-only"]);
    let refused =
        talk.round_trip(&modern(1, "tools/call", call("memory_save", json!({"content": "x"}))));
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    talk.end();
    assert_eq!(home.run(&["memory", "list"]).code, 1, "nothing is stored");
}

#[test]
fn hostile_input_is_answered_or_ignored_and_never_the_end() {
    let home = TestHome::new();
    let mut talk = McpProcess::start(&home, &[]);
    for noise in [
        &b"{broken"[..],
        b"",
        b"\0\0\0",
        b"\xff\xfe\xfd",
        b"null",
        b"[]",
        b"[1,2,3]",
        b"{}",
        b"\"text\"",
        b"{\"jsonrpc\":\"2.0\"}",
        b"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"tools/list\"}",
        b"{\"jsonrpc\":\"2.0\",\"id\":{\"a\":1},\"method\":\"tools/list\"}",
    ] {
        talk.send(noise);
    }
    let deep = "[".repeat(100_000);
    talk.send(&deep);
    // Some of this is answered with errors; then the requested answer comes.
    talk.send(request(77, "initialize", json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" }
    })).to_string());
    let answer = loop {
        let answer = talk.receive();
        if answer["id"] == 77 {
            break answer;
        }
        assert!(answer.get("error").is_some(), "{answer}");
    };
    assert!(answer.get("result").is_some(), "{answer}");
    for (method, params, code) in [
        ("no/such", json!({}), -32_601),
        ("tools/call", call("no_such", json!({})), -32_602),
        ("prompts/get", json!({"name": "no_such"}), -32_602),
        ("prompts/get", json!({"name": "recall"}), -32_602),
        ("resources/read", json!({"uri": "memory://layers/../server.token"}), -32_002),
        ("resources/read", json!({"uri": "file:///etc/passwd"}), -32_002),
    ] {
        let answer = talk.round_trip(&request(2, method, params));
        assert_eq!(answer["error"]["code"], code, "{answer}");
    }
    let wrong =
        talk.round_trip(&request(3, "tools/call", call("memory_recall", json!({"query": 7}))));
    assert_eq!(wrong["result"]["isError"], true, "{wrong}");
    talk.end();
}

#[test]
fn a_line_without_end_takes_no_room_and_the_next_one_is_heard() {
    let home = TestHome::new();
    let mut talk = McpProcess::start(&home, &[]);
    talk.handshake();
    let block = vec![b'x'; 1024 * 1024];
    for _ in 0..40 {
        talk.input.as_mut().unwrap().write_all(&block).unwrap();
    }
    talk.send("");
    let long = "很长的记忆。".repeat(100_000);
    let saved =
        talk.round_trip(&request(2, "tools/call", call("memory_save", json!({"content": long}))));
    assert_eq!(saved["result"]["isError"], false, "a memory of 1.8 MB fits");
    talk.end();
}

#[test]
fn an_end_at_any_time_is_an_end() {
    let home = TestHome::new();
    McpProcess::start(&home, &[]).end();
    let mut cut = McpProcess::start(&home, &[]);
    cut.input.as_mut().unwrap().write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,").unwrap();
    cut.end();
    let mut shaken = McpProcess::start(&home, &[]);
    shaken.handshake();
    shaken.end();
    // A client that closes its input right after a request still gets the answer.
    let request =
        modern(1, "tools/call", call("memory_save", json!({"content": "用户住在上海。"})));
    let ran = home.run_with_input(&["mcp"], format!("{request}\n").as_bytes());
    assert_eq!(ran.code, 0);
    let answer: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(answer["result"]["structuredContent"]["action"], "created", "{answer}");
}

#[test]
fn a_process_and_a_server_share_a_home() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let mut talk = McpProcess::start(&home, &[]);
    talk.handshake();
    for number in 0..20 {
        let text = format!("Fact {number}: the tower has {number} bells.");
        let save = call("memory_save", json!({ "content": text }));
        let saved = talk.round_trip(&request(2, "tools/call", save));
        let id = saved["result"]["structuredContent"]["id"].as_str().unwrap();
        server.request("GET", &format!("/v1/memories/{id}"), None).json(200);
        let text = format!("事实 {number}：塔上有 {number} 口钟。");
        let saved =
            server.request("POST", "/v1/memories", Some(json!({ "content": text }))).json(201);
        let got = talk.round_trip(&request(
            3,
            "tools/call",
            call("memory_get", json!({ "ids": [saved["id"]] })),
        ));
        let got = &got["result"]["structuredContent"]["memories"][0]["content"];
        assert_eq!(*got, text);
    }
    talk.end();
    drop(server);
    home.assert_healthy();
}

#[test]
fn with_verbose_the_log_goes_to_standard_error_and_the_protocol_stays_clean() {
    let home = TestHome::new();
    let request =
        modern(1, "tools/call", call("memory_save", json!({"content": "The user sails."})));
    let ran = home.run_with_input(&["-vvv", "mcp"], format!("{request}\n").as_bytes());
    assert!(ran.code == 0 && !ran.err.is_empty());
    for line in ran.out.lines() {
        serde_json::from_str::<Value>(line).unwrap_or_else(|_| panic!("not protocol: {line}"));
    }
    assert_eq!(ran.out.lines().count(), 1);
}
