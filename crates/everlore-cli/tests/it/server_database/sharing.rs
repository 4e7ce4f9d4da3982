//! Layers, agent settings and keys of servers that share a database.

use std::{
    fs,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{TestPostgres, wait_for};
use crate::{home::TestHome, serve::TestServer};

/// Time within which every server sees a change, with room for a busy machine.
const SEEN_WITHIN: Duration = Duration::from_secs(3);

/// Waits until a condition holds, for as long as a change may take to be seen.
#[track_caller]
fn soon(what: &str, condition: impl Fn() -> bool) {
    let began = Instant::now();
    wait_for(what, condition);
    assert!(began.elapsed() < SEEN_WITHIN, "{what}: after {:?}", began.elapsed());
}

fn add_note(server: &TestServer, section: &str) {
    let note =
        json!({ "action": "add", "section": section, "content": format!("about {section}") });
    server.request("PATCH", "/v1/layers/user", Some(note)).json(200);
}

fn layer(server: &TestServer, name: &str) -> String {
    let shown = server.request("GET", &format!("/v1/layers/{name}"), None).json(200);
    shown["text"].as_str().unwrap().to_owned()
}

fn budget(server: &TestServer) -> Value {
    let shown = server.request("GET", "/v1/agents/anna/settings", None).json(200);
    shown["settings"]["memory"]["inject"]["token_budget"].clone()
}

#[test]
fn servers_see_each_others_layers_settings_and_keys() {
    let postgres = TestPostgres::start();
    let (home, other_home) = (postgres.home(), postgres.home());
    let (server, other) = (TestServer::start(&home, &[]), TestServer::start(&other_home, &[]));
    assert_eq!(layer(&server, "soul"), layer(&other, "soul"));
    add_note(&server, "Tea");
    soon("a layer", || layer(&other, "user").contains("about Tea"));
    add_note(&other, "Coffee");
    soon("both notes", || layer(&server, "user").contains("about Coffee"));
    assert!(layer(&server, "user").contains("about Tea"));

    let change = json!({ "memory": { "inject": { "token_budget": 777 } } });
    server.request("PATCH", "/v1/agents/anna/settings", Some(change)).json(200);
    soon("a setting", || budget(&other) == 777);

    let key = home.json(&["serve", "key", "add", "editor", "--agent", "anna"]);
    let secret = key["key"].as_str().unwrap();
    let status =
        |server: &TestServer| server.request_as(secret, "GET", "/v1/memories", None).status;
    soon("a key", || status(&server) == 200 && status(&other) == 200);
    assert_eq!(other_home.json(&["serve", "key", "list"])["keys"].as_array().unwrap().len(), 1);
    other_home.json(&["serve", "key", "remove", "editor"]);
    soon("a removed key", || status(&server) == 401 && status(&other) == 401);
}

#[test]
fn servers_that_change_a_layer_at_once_lose_nothing() {
    let postgres = TestPostgres::start();
    let homes: Vec<TestHome> = (0..3).map(|_| postgres.home()).collect();
    let servers: Vec<TestServer> = homes.iter().map(|home| TestServer::start(home, &[])).collect();
    std::thread::scope(|threads| {
        for (at, server) in servers.iter().enumerate() {
            threads.spawn(move || (0..4).for_each(|n| add_note(server, &format!("s{at}n{n}"))));
        }
    });
    for server in &servers {
        soon("all notes", || {
            let text = layer(server, "user");
            (0..3).all(|at| (0..4).all(|n| text.contains(&format!("about s{at}n{n}"))))
        });
    }
    let history = homes[0].json(&["layer", "history", "user", "--limit", "100"]);
    assert_eq!(history["changes"].as_array().unwrap().len(), 12);
}

#[test]
fn what_is_forgotten_does_not_come_back_with_a_server_that_was_away() {
    let postgres = TestPostgres::start();
    let (home, away) = (postgres.home(), postgres.home());
    home.json(&["layer", "add", "user", "Tea", "The user drinks oolong."]);
    let copy = away.path().join("memories/USER.md");
    assert!(away.run(&["layer", "show", "user"]).out.contains("oolong"));
    assert!(fs::read_to_string(&copy).unwrap().contains("oolong"));
    home.json(&["layer", "forget", "user", "--all", "--yes"]);
    assert!(!away.run(&["layer", "show", "user"]).out.contains("oolong"));
    let left = |home: &TestHome| {
        home.files()
            .into_iter()
            .any(|(_, bytes)| String::from_utf8_lossy(&bytes).contains("oolong"))
    };
    assert!(!left(&away) && !left(&home));
}

#[test]
fn a_home_that_joins_brings_its_files_and_a_local_home_has_no_copies() {
    let local = TestHome::new();
    local.json(&["layer", "add", "user", "Tea", "The user drinks oolong."]);
    assert!(!local.path().join("shared.json").exists());
    let postgres = TestPostgres::start();
    let ran = local.run(&["--store", &postgres.url(), "layer", "show", "user"]);
    assert!(ran.out.contains("oolong"), "{ran:?}");
    assert!(postgres.home().run(&["layer", "show", "user"]).out.contains("oolong"));
}

/// Sends a turn under an idempotency key and returns its id.
fn send_turn(server: &TestServer, key: &str) -> String {
    let secret = format!("Bearer {}", server.token);
    let headers = [("authorization", secret.as_str()), ("idempotency-key", key)];
    let turn = json!({ "text": format!("Where is box {key}?"), "session": "talk" });
    let saved = server.request_with_headers(&headers, "POST", "/v1/turns", Some(turn)).json(201);
    saved["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_turn_that_is_sent_to_two_servers_at_once_is_stored_once() {
    let postgres = TestPostgres::start();
    let (home, other_home) = (postgres.home(), postgres.home());
    let (server, other) = (TestServer::start(&home, &[]), TestServer::start(&other_home, &[]));
    for number in 0..20 {
        let key = format!("key-{number}");
        let (first, second) = std::thread::scope(|scope| {
            let first = scope.spawn(|| send_turn(&server, &key));
            let second = scope.spawn(|| send_turn(&other, &key));
            (first.join().unwrap(), second.join().unwrap())
        });
        assert_eq!(first, second);
    }
    let listed = server.request("GET", "/v1/memories?kind=turn", None).json(200);
    assert_eq!(listed["memories"].as_array().unwrap().len(), 20);
}
