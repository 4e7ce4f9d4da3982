//! Supersession, undo, forgetting and failed saves over HTTP, as on the command line.

use std::{fs, thread, time::Duration};

use serde_json::{Value, json};

use super::{TestServer, access::key, contents, id};
use crate::home::TestHome;

const SECRET: &str = "xylocarpquokka";

/// 李 in a URL.
const LI: &str = "%E6%9D%8E";

fn active(server: &TestServer) -> Vec<String> {
    let listed = server.request("GET", "/v1/memories?status=active&order=oldest", None).json(200);
    contents(&listed["memories"]).into_iter().map(str::to_owned).collect()
}

fn save(server: &TestServer, content: &str) -> Value {
    let body = json!({ "content": content, "kind": "user" });
    server.request("POST", "/v1/memories", Some(body)).json(201)
}

#[test]
fn a_save_supersedes_and_undo_walks_back_and_forth() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    for (older, newer) in [("I live in Paris", "I live in Rome"), ("我在腾讯上班", "我在美团上班")]
    {
        save(&server, older);
        let before = active(&server);
        let saved = save(&server, newer);
        assert_eq!(saved["superseded"][0]["content"], older, "{saved}");
        let step = server.request("POST", "/v1/undo", Some(json!({}))).json(200);
        assert_eq!(step["step"]["run"], saved["undo"]["run"], "{step}");
        assert_eq!(active(&server), before);
        server.request("POST", "/v1/undo", Some(json!({}))).json(200);
        assert_eq!(active(&server).len(), before.len() - 1);
        server.request("POST", "/v1/redo", None).json(200);
        assert_eq!(active(&server), before);
        server.request("POST", "/v1/redo", None).json(200);
        assert!(active(&server).contains(&newer.to_owned()));
    }
    let keyed = |content: &str| {
        let bearer = format!("Bearer {}", server.token);
        let headers = [("authorization", bearer.as_str()), ("idempotency-key", "k")];
        server.request_with_headers(
            &headers,
            "POST",
            "/v1/memories",
            Some(json!({ "content": content })),
        )
    };
    let first = keyed("I live in Oslo").json(201);
    let again = keyed("I live in Oslo").json(201);
    assert_eq!((&again["id"], &again["superseded"]), (&first["id"], &first["superseded"]));
}

#[test]
fn forgetting_over_http_leaves_no_trace_in_any_file() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let text = format!("The word of the day is {SECRET} 暗号.");
    let saved = save(&server, &text);
    server.request("POST", "/v1/vault/sync", Some(json!({}))).json(200);
    let note = json!({ "action": "add", "section": "Words", "content": format!("- {text}") });
    for layer in ["user", "memory"] {
        server.request("PATCH", &format!("/v1/layers/{layer}"), Some(note.clone())).json(200);
    }
    let spool = home.path().join("hooks/waiting");
    fs::create_dir_all(&spool).unwrap();
    let scope = json!({ "agent": "default", "user": "default" });
    let spooled = json!({ "scope": scope, "host": "codex", "turn": { "text": text } });
    fs::write(spool.join("r.refused"), spooled.to_string()).unwrap();
    let header = json!({ "everlore_export": 1, "scope": scope, "exported_at": "2026-01-01T00:00:00Z", "journal": false });
    let rescued =
        format!("{header}\n{}\n{}\n", json!({ "content": text }), json!({ "content": "kept" }));
    fs::write(home.path().join("unsaved.jsonl"), rescued).unwrap();
    fs::write(home.path().join("chat_history.jsonl"), format!("{}\n\"hello\"\n", json!(text)))
        .unwrap();
    fs::write(home.path().join("everlore.schema-0.backup"), "").unwrap();

    let path = format!("/v1/memories/{}/forget", id(&saved));
    let receipt = server.request("POST", &path, Some(json!({}))).json(200);
    assert_eq!(receipt["forgotten"][0]["removed"]["rows"], 1, "{receipt}");
    assert_eq!(
        (&receipt["removed"]["rows"], &receipt["pending"]),
        (&json!(1), &json!(2)),
        "{receipt}"
    );
    assert_eq!((&receipt["typed"], &receipt["layers"].as_array().unwrap().len()), (&json!(1), &2));
    assert_eq!(receipt["vaults"][0]["removed"].as_array().unwrap().len(), 1, "{receipt}");
    assert_eq!(receipt["backups"][0], "everlore.schema-0.backup");
    drop(server);
    let holds = |bytes: &[u8]| bytes.windows(SECRET.len()).any(|it| it == SECRET.as_bytes());
    let left = home.files().into_iter().filter(|(_, bytes)| holds(bytes));
    assert_eq!(
        left.map(|(path, _)| path).collect::<Vec<_>>(),
        [""; 0].map(std::path::PathBuf::from)
    );
    assert!(home.recall("kept").contains(&"kept".to_owned()));
}

#[test]
fn everything_of_a_user_is_previewed_and_removed_by_those_who_may() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    for user in ["ben", LI] {
        let body = json!({ "content": format!("the word of {user}") });
        server.request("POST", &format!("/v1/memories?user={user}"), Some(body)).json(201);
    }
    let ask =
        |secret: &str, body: Value| server.request_as(secret, "POST", "/v1/everything", Some(body));
    let admin = key(&home, "k", "admin", ["default", "李"]);
    let writer = key(&home, "w", "write", ["default", "李"]);
    let others = json!({ "action": "forget", "user": "ben", "yes": true });
    assert_eq!(ask(&admin, others.clone()).problem_code(403), "scope");
    let own = json!({ "action": "delete", "agent": "default", "user": "李", "yes": true });
    assert_eq!(ask(&writer, own.clone()).problem_code(403), "role");
    let preview = ask(&server.token, json!({ "action": "forget", "user": "ben" })).json(200);
    assert_eq!(preview["dry_run"], true, "{preview}");
    assert_eq!(preview["scopes"][0]["memories"][0]["count"], 1, "{preview}");
    let count = |user: &str| {
        let listed = server.request("GET", &format!("/v1/memories?user={user}"), None).json(200);
        listed["memories"].as_array().unwrap().len()
    };
    assert_eq!(count("ben"), 1);
    let receipt = ask(&server.token, others).json(200);
    assert_eq!(receipt["scopes"][0]["removed"]["rows"], 1, "{receipt}");
    assert_eq!((count("ben"), count(LI)), (0, 1));
    let receipt = ask(&admin, own).json(200);
    assert_eq!(count(LI), 0);
    let run = json!({ "run": receipt["scopes"][0]["run"] });
    server.request("POST", &format!("/v1/undo?user={LI}"), Some(run)).json(200);
    assert_eq!(count(LI), 1);
}

#[test]
fn a_running_server_saves_what_others_could_not() {
    let home = TestHome::new();
    let server = TestServer::start_with_timeouts(&home, &[], "replay=50");
    let scope = json!({ "agent": "default", "user": "default" });
    let header = json!({ "everlore_export": 1, "scope": scope, "exported_at": "2026-01-01T00:00:00Z", "journal": false });
    let line = json!({ "content": "茶 at five", "at": "2026-01-01T00:00:00Z" });
    fs::write(home.sibling("new"), format!("{header}\n{line}\n")).unwrap();
    fs::rename(home.sibling("new"), home.path().join("unsaved.jsonl")).unwrap();
    let waiting = home.path().join("hooks/waiting");
    fs::create_dir_all(&waiting).unwrap();
    let turn = json!({ "scope": scope, "host": "codex", "turn": { "text": "乌龙 at six", "role": "user" } });
    fs::write(waiting.join("run-1.json"), turn.to_string()).unwrap();
    let file = fs::File::options().append(true).open(waiting.join("run-1.json")).unwrap();
    file.set_modified(std::time::SystemTime::now() - Duration::from_secs(3_600)).unwrap();
    for _ in 0..600 {
        if active(&server).len() == 2 {
            break;
        }
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(active(&server).len(), 2, "{:?}", active(&server));
    assert!(!waiting.join("run-1.json").exists());
}

#[test]
fn clients_of_other_systems_supersede_and_forget_like_the_rest() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let token = format!("Token {}", server.token);
    let mem0 = |method: &str, path: &str, body: Option<Value>| {
        server.request_with_headers(&[("authorization", &token)], method, path, body).json(200)
    };
    let add = |text: &str| {
        let body = json!({ "messages": text, "user_id": "li", "infer": false });
        mem0("POST", "/v3/memories/add/", Some(body))["results"].clone()
    };
    add("我住在巴黎");
    let added = add(&format!("我住在{SECRET}"));
    assert_eq!((&added[1]["event"], &added[1]["memory"]), (&json!("DELETE"), &json!("我住在巴黎")));
    let path = format!("/v1/memories/{}/?forget=true", added[0]["id"].as_str().unwrap());
    let receipt = mem0("DELETE", &path, None)["receipt"].clone();
    assert_eq!(receipt["forgotten"][0]["removed"]["tombstones"], 1, "{receipt}");

    let written = |folder: &str, content: &str| {
        let body = json!({ "uri": format!("viking://user/default/memories/user/{folder}"), "content": content, "mode": "create" });
        server.request("POST", "/api/v1/content/write", Some(body)).json(200)["result"].clone()
    };
    written("before", "I live in Paris");
    let answer = written("now", &format!("I live in {SECRET}"));
    assert_eq!(answer["superseded"][0]["content"], "I live in Paris", "{answer}");
    let uri = answer["uri"].as_str().unwrap().replace(':', "%3A").replace('/', "%2F");
    let removed = server.request("DELETE", &format!("/api/v1/fs?uri={uri}&forget=true"), None);
    let receipt = removed.json(200)["result"]["receipt"].clone();
    assert_eq!(receipt["forgotten"][0]["removed"]["tombstones"], 1, "{receipt}");
    drop(server);
    let holds = |bytes: &[u8]| bytes.windows(SECRET.len()).any(|it| it == SECRET.as_bytes());
    assert!(home.files().iter().all(|(_, bytes)| !holds(bytes)));
}

#[test]
fn an_entry_of_the_tree_is_forgotten_for_good_by_an_admin() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let text = format!("The word is {SECRET} 暗号.");
    let saved = save(&server, &text);
    let memory = server.request("GET", &format!("/v1/memories/{}", id(&saved)), None).json(200);
    let uri = memory["uri"].as_str().unwrap().replace(':', "%3A").replace('/', "%2F");
    let path = format!("/v1/fs?uri={uri}&forget=true");
    let removed = server.request("DELETE", &path, None).json(200);
    assert_eq!((&removed["memories"], &removed["runs"]), (&json!(1), &json!([])), "{removed}");
    assert!(removed["receipt"]["forgotten"][0]["seq"].is_u64(), "{removed}");
    let history = server.request("GET", "/v1/history", None);
    assert!(!history.text.contains(SECRET), "{}", history.text);
}
