//! Checks over HTTP: the owner may probe this machine, a key may only use dates.

use std::fs;

use serde_json::{Value, json};

use super::{TestServer, access::key, id};
use crate::checks::patient_home;

#[test]
fn the_owner_sets_a_check_and_every_read_reports_it() {
    let home = patient_home("");
    let notes = home.sibling("笔记.md");
    fs::write(&notes, "龙井").unwrap();
    let server = TestServer::start(&home, &[]);
    let body = json!({ "content": "茶的笔记在这里 tea notes", "check": { "file": notes } });
    let saved = id(&server.request("POST", "/v1/memories", Some(body)).json(201));
    let path = format!("/v1/memories/{saved}");
    assert_eq!(server.request("GET", &path, None).json(200)["check"]["verdict"], "fresh");
    fs::write(&notes, "碧螺春").unwrap();
    assert_eq!(server.request("GET", &path, None).json(200)["check"]["verdict"], "stale");
    let found =
        server.request("POST", "/v1/recall", Some(json!({ "query": "tea notes" }))).json(200);
    assert_eq!(found["hits"][0]["check"]["verdict"], "stale", "{found}");
    let body = json!({ "query": "茶的笔记在哪里" });
    let block = server.request("POST", "/v1/context", Some(body)).json(200);
    assert!(block["text"].as_str().unwrap().contains("检查未通过"), "{block}");
    assert_eq!(block["entries"][0]["check"]["verdict"], "stale");
    let listed = server.request("GET", "/v1/memories?verify=true", None).json(200);
    assert_eq!(listed["memories"][0]["check"]["verdict"], "stale");
    let plain = server.request("GET", "/v1/memories", None).json(200);
    assert_eq!(plain["memories"][0].get("check"), None);
    let report = server.request("POST", "/v1/memories/verify", None).json(200);
    assert_eq!((&report["stale"], &report["memories"][0]["id"]), (&json!(1), &json!(saved)));
    let days = json!({ "check": { "days": 5.0 } });
    let edited = server.request("PATCH", &path, Some(days)).json(200);
    assert_eq!(
        (&edited["check"]["verdict"], &edited["check"]["days"]),
        (&json!("fresh"), &json!(5))
    );
    let bare = server.request("PATCH", &path, Some(json!({ "no_check": true }))).json(200);
    assert_eq!((bare.get("check"), bare["metadata"].get("check")), (None, None), "{bare}");
}

#[test]
fn a_key_cannot_probe_files_in_any_way() {
    let home = patient_home("commands = true\n");
    let there = home.sibling("there");
    fs::write(&there, "").unwrap();
    let mark = home.sibling("mark");
    let server = TestServer::start(&home, &[]);
    let key = key(&home, "wang", "admin", ["助手", "王"]);
    let ask =
        |method: &str, path: &str, body: Value| server.request_as(&key, method, path, Some(body));
    let mine = id(&ask("POST", "/v1/memories", json!({ "content": "我的 own words" })).json(201));
    let path = format!("/v1/memories/{mine}");
    for check in [
        json!({ "path": there }),
        json!({ "file": there }),
        json!({ "file": there, "sha256": "0".repeat(64) }),
        json!({ "command": ["/bin/touch", mark] }),
    ] {
        let body = json!({ "content": "is it there", "check": check });
        assert_eq!(ask("POST", "/v1/memories", body.clone()).problem_code(403), "role", "{check}");
        assert_eq!(ask("PATCH", &path, json!({ "check": check })).problem_code(403), "role");
        let answer = ask("POST", "/v1/tools/memory_save", body).json(200);
        assert_eq!(answer["is_error"], true, "{answer}");
        // As custom metadata, or as a line of an import, a check is stored and never run.
        let mut stored = check.clone();
        stored["set_by"] = json!("person");
        stored["set_at"] = json!("2026-03-02T12:00:00Z");
        let body = json!({ "content": format!("free {check}"), "metadata": { "check": stored } });
        let saved = id(&ask("POST", "/v1/memories", body).json(201));
        let shown =
            server.request_as(&key, "GET", &format!("/v1/memories/{saved}"), None).json(200);
        assert_eq!(shown["check"]["verdict"], "unverifiable", "{shown}");
        assert!(
            shown["check"]["why"].as_str().unwrap().contains("not set in this home"),
            "{shown}"
        );
    }
    assert!(!mark.exists());
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "memory_save", "arguments": { "content": "x", "check": { "path": there } }
    } });
    let bearer = format!("Bearer {key}");
    let headers = [
        ("authorization", bearer.as_str()),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2025-11-25"),
    ];
    let answer = server.request_with_headers(&headers, "POST", "/mcp", Some(call)).json(200);
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    let dated = json!({ "content": "优惠码有效", "check": { "until": "2999-01-01" } });
    let saved = id(&ask("POST", "/v1/memories", dated).json(201));
    let shown = server.request_as(&key, "GET", &format!("/v1/memories/{saved}"), None).json(200);
    assert_eq!(shown["check"]["verdict"], "fresh");
}

#[test]
fn checks_of_the_owner_are_not_shown_to_other_scopes() {
    let home = patient_home("");
    let server = TestServer::start(&home, &[]);
    let body = json!({ "content": "the plan is here", "check": { "path": home.path() } });
    server.request("POST", "/v1/memories?agent=helper&user=li", Some(body)).json(201);
    let key = key(&home, "wang", "admin", ["助手", "王"]);
    let report = server.request_as(&key, "POST", "/v1/memories/verify?all=true", None).json(200);
    assert_eq!((&report["checked"], &report["memories"]), (&json!(0), &json!([])));
    let relative = json!({ "content": "x", "check": { "path": "src/a.rs" } });
    let refused = server.request("POST", "/v1/memories", Some(relative));
    assert_eq!(refused.problem_code(422), "invalid");
    assert!(refused.text.contains("absolute path"), "{}", refused.text);
}
