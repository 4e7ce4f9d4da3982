//! End of a server, by a signal or a kill: acknowledged writes survive both.

#![cfg(unix)]

use std::{
    collections::HashMap,
    io::{BufRead, BufReader, Read, Write},
    process::Stdio,
    sync::atomic::{AtomicUsize, Ordering},
};

use serde_json::json;

use super::TestServer;
use crate::{home::TestHome, kill::word};

/// Concurrent clients.
const CLIENTS: usize = 8;

#[test]
fn acknowledged_writes_survive_a_kill_under_load() {
    let home = TestHome::new();
    let (next, mut acknowledged) = (AtomicUsize::new(0), Vec::new());
    for round in 0..5 {
        let mut server = TestServer::start(&home, &[]);
        let enough = acknowledged.len() + 30 + round * 7;
        let done = AtomicUsize::new(acknowledged.len());
        let mut child = std::process::Command::new("true").spawn().unwrap();
        std::mem::swap(&mut child, &mut server.child);
        let saved: Vec<(String, String)> = std::thread::scope(|scope| {
            let clients: Vec<_> =
                (0..CLIENTS).map(|_| scope.spawn(|| save(&server, &next, &done))).collect();
            while done.load(Ordering::SeqCst) < enough {
                std::thread::yield_now();
            }
            child.kill().unwrap();
            child.wait().unwrap();
            clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
        });
        acknowledged.extend(saved);
    }
    assert!(acknowledged.len() > 100, "{}", acknowledged.len());
    home.assert_healthy();
    let lines = home.run(&["memory", "export"]).lines();
    let stored: HashMap<String, String> = lines
        .iter()
        .filter_map(|line| line.get("memory"))
        .map(|memory| {
            (
                memory["id"].as_str().unwrap().to_owned(),
                memory["content"].as_str().unwrap().to_owned(),
            )
        })
        .collect();
    for (id, word) in &acknowledged {
        assert!(stored.get(id).is_some_and(|text| text.contains(word)), "{word} is lost");
    }
}

/// Saves until the server is gone; returns the acknowledged writes.
fn save(server: &TestServer, next: &AtomicUsize, done: &AtomicUsize) -> Vec<(String, String)> {
    let bearer = format!("Bearer {}", server.token);
    let mut saved = Vec::new();
    loop {
        let word = word(next.fetch_add(1, Ordering::SeqCst));
        let turn = json!({ "text": format!("他说 the word is {word}"), "session": "杀" });
        match server.try_request(&[("authorization", &bearer)], "POST", "/v1/turns", Some(turn)) {
            Ok(response) => {
                saved.push((super::id(&response.json(201)), word));
                done.fetch_add(1, Ordering::SeqCst);
            }
            Err(_) => return saved,
        }
    }
}

#[test]
fn a_terminated_server_answers_the_requests_that_it_began() {
    let home = TestHome::new();
    let mut server = TestServer::start(&home, &[]);
    let body = json!({ "content": "说到一半 half said" }).to_string();
    let (first, rest) = body.as_bytes().split_at(10);
    let mut stream = server.connect();
    write!(stream, "POST /v1/memories HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", server.token, body.len()).unwrap();
    stream.write_all(first).unwrap();
    let mut listener = server.connect();
    write!(
        listener,
        "GET /v1/events HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\n\r\n",
        server.token
    )
    .unwrap();
    // The server has begun both once it counts them.
    while !server
        .request("GET", "/metrics", None)
        .text
        .contains("everlore_requests_total{route=\"/v1/events\"")
    {}
    while !server.request("GET", "/metrics", None).text.contains("everlore_requests_under_way 2") {}
    server.terminate();
    // It accepts no new connection, so it is closing.
    while std::net::TcpStream::connect(&server.address).is_ok() {}
    assert!(server.child.try_wait().unwrap().is_none(), "it did not wait for the request");
    stream.write_all(rest).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    let mut events = String::new();
    listener.read_to_string(&mut events).unwrap();
    assert!(events.starts_with("HTTP/1.1 200"), "{events}");
    assert!(server.child.wait().unwrap().success());
    assert_eq!(home.recall("half said"), ["说到一半 half said"]);
    assert!(!home.path().join("server.json").exists());
    home.assert_healthy();
}

#[test]
fn a_server_that_is_terminated_twice_ends_at_once() {
    let home = TestHome::new();
    let mut server = TestServer::start(&home, &[]);
    let mut stream = server.connect();
    write!(stream, "POST /v1/memories HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n{{", server.token).unwrap();
    while !server.request("GET", "/metrics", None).text.contains("everlore_requests_under_way 2") {}
    server.terminate();
    while std::net::TcpStream::connect(&server.address).is_ok() {}
    assert!(server.child.try_wait().unwrap().is_none(), "it did not wait for the request");
    server.terminate();
    assert_eq!(server.child.wait().unwrap().code(), Some(143));
    home.assert_healthy();
}

#[test]
fn a_server_of_a_program_ends_when_its_input_closes() {
    let home = TestHome::new();
    let mut command = home.command(&["--json", "serve", "--port", "0", "--until-stdin-closes"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let started: serde_json::Value = serde_json::from_str(&line).unwrap();
    child.stdin.as_mut().unwrap().write_all(b"not for the server\n").unwrap();
    let address = started["url"].as_str().unwrap().trim_start_matches("http://");
    assert!(std::net::TcpStream::connect(address).is_ok());
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    assert!(!home.path().join("server.json").exists());
    home.assert_healthy();
}

#[test]
fn the_settings_give_the_address_unless_an_option_does() {
    let home = TestHome::new();
    home.remember("tea");
    std::fs::write(home.path().join("config.toml"), "[server]\nhost = \"0.0.0.0\"\nport = 0\n")
        .unwrap();
    let ran = home.run(&["serve"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("other machines can reach 0.0.0.0"), "{}", ran.err);
    assert!(TestServer::start(&home, &["--host", "127.0.0.1"]).address.starts_with("127.0.0.1:"));
    std::fs::write(home.path().join("config.toml"), "[server]\nhost = \"tea\"\n").unwrap();
    let ran = home.run(&["serve"]);
    assert!(ran.code == 2 && ran.err.contains("server.host"), "{}", ran.err);
}

#[test]
fn the_command_line_and_the_server_share_a_home() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    home.remember("王先生喜欢龙井茶");
    let found = server.request("POST", "/v1/recall", Some(json!({ "query": "龙井" }))).json(200);
    assert_eq!(found["hits"][0]["content"], "王先生喜欢龙井茶");
    server
        .request("POST", "/v1/memories", Some(json!({ "content": "Mr Wang drinks oolong" })))
        .json(201);
    assert_eq!(home.recall("oolong")[0], "Mr Wang drinks oolong");
}

#[test]
fn a_server_whose_output_nobody_reads_serves_on() {
    let home = TestHome::new();
    let server = TestServer::start_unread(&home);
    for number in 0..20 {
        let content = format!("Shelf {number} holds the blue binders");
        server.request("POST", "/v1/memories", Some(json!({ "content": content }))).json(201);
        assert_eq!(server.request("GET", "/v1/nowhere", None).status, 404);
    }
    assert_eq!(server.request("GET", "/health", None).status, 200);
}

#[test]
fn a_server_is_found_and_stopped_by_a_command() {
    let home = TestHome::new();
    let ran = home.run(&["serve", "--status"]);
    assert!(ran.code == 1 && ran.err.contains("everlore serve"), "{ran:?}");
    assert_eq!(home.run(&["serve", "--stop"]).code, 1);
    let mut server = TestServer::start(&home, &[]);
    let pid = server.child.id();
    assert!(home.run(&["serve", "--status"]).out.contains(&format!("(process {pid})")));
    let stopped = home.json(&["serve", "--stop"]);
    assert_eq!((&stopped["stopped"], &stopped["pid"]), (&json!(true), &json!(pid)));
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    assert_eq!(home.run(&["serve", "--status"]).code, 1);
    assert_eq!(home.run(&["serve", "--stop", "--port", "1"]).code, 1);
    home.assert_healthy();
}
