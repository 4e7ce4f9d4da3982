//! Trajectories, health and the small calls over HTTP.

use serde_json::{Value, json};

use super::{TestServer, access::key};
use crate::home::TestHome;

/// Records a conversation of the owner.
fn record(server: &TestServer) {
    let call = json!({ "id": "t1", "name": "Bash", "arguments": { "command": "make", "token": "ghp_abcdefghijklmnopqrstuvwxyz0123456789" }, "failed": true });
    let turns = json!({ "turns": [
        { "text": "构建失败了", "session": "web/1", "role": "user", "time": "2026-03-02T12:00:00Z" },
        { "text": "make: *** No rule to make target", "session": "web/1", "role": "tool", "call": call, "time": "2026-03-02T12:00:01Z" },
        { "text": "缺少目标。", "session": "web/1", "role": "assistant", "answer": { "model": "m" }, "time": "2026-03-02T12:00:02Z" },
    ] });
    server.request("POST", "/v1/turns/batch", Some(turns)).json(201);
}

#[test]
fn trajectories_are_listed_shown_and_exported() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    record(&server);
    let get = |path: &str| server.request("GET", path, None);
    let listed = get("/v1/trajectories?since=2026-01-01T00:00:00Z&limit=5").json(200);
    assert_eq!(listed["trajectories"][0]["session"], "web/1");
    assert_eq!(listed["trajectories"][0]["outcome"]["kind"], "failed");
    let shown = get("/v1/trajectories/web%2F1").json(200);
    assert_eq!(
        (&shown["steps"][1]["call"]["name"], &shown["models"]),
        (&json!("Bash"), &json!(["m"]))
    );
    let short = get("/v1/trajectories/web%2F1?budget=50").json(200);
    assert!(short["compressed"]["tokens"].as_u64().unwrap() <= 50, "{short}");
    let atif = get("/v1/trajectories/web%2F1/export?format=atif");
    assert_eq!(atif.json(200)["steps"][1]["tool_calls"][0]["tool_call_id"], "t1");
    for format in ["sharegpt", "openai", "atif"] {
        let exported = get(&format!("/v1/trajectories/web%2F1/export?format={format}"));
        assert!(!exported.json(200).to_string().contains("ghp_"), "{format}");
    }
    assert_eq!(get("/v1/trajectories/web%2F1/export?format=xml").problem_code(400), "invalid");
    assert_eq!(get("/v1/trajectories/web%2F1?budget=3").problem_code(400), "invalid");
    assert_eq!(get("/v1/trajectories/none").status, 404);
    let other = get("/v1/trajectories?user=li").json(200);
    assert_eq!(other["trajectories"], json!([]), "another user has other trajectories");
    let no_session = json!({ "text": "x", "role": "tool", "call": { "name": "Bash" } });
    assert_eq!(server.request("POST", "/v1/turns", Some(no_session)).problem_code(422), "invalid");
}

#[test]
fn health_tells_a_key_of_its_scope_and_the_owner_of_everything() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    record(&server);
    let whole = server.request("GET", "/v1/health", None).json(200);
    assert!(whole["store"]["bytes"].as_u64().unwrap() > 0 && whole["heartbeat"]["enabled"] == true);
    assert_eq!(
        (&whole["memories"]["turns"], &whole["memories"]["records"]),
        (&json!(2), &json!(1))
    );
    let wang = key(&home, "wang", "admin", ["助手", "王"]);
    let own = server.request_as(&wang, "GET", "/v1/health", None).json(200);
    assert!(own.get("store").is_none() && own.get("files").is_none(), "{own}");
    assert_eq!((&own["memories"]["turns"], &own["status"]), (&json!(0), &json!("ok")));
    assert_eq!(server.request_as(&wang, "GET", "/v1/store", None).problem_code(403), "role");
}

#[test]
fn small_calls_count_embed_and_name_the_database() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let post = |path: &str, body: Value| server.request("POST", path, Some(body));
    assert_eq!(post("/v1/tokens", json!({ "text": "我喜欢茶" })).json(200)["characters"], 4);
    let embedded = post("/v1/embed", json!({ "text": "green tea" })).json(200);
    assert_eq!(embedded["dimensions"], embedded["vector"].as_array().unwrap().len());
    assert_eq!(post("/v1/embed", json!({ "text": " " })).problem_code(422), "invalid");
    let providers = server.request("GET", "/v1/embed/providers", None).json(200);
    assert_eq!(providers["providers"][0]["name"], "builtin");
    let store = server.request("GET", "/v1/store", None).json(200);
    assert!(
        store["url"].as_str().unwrap().ends_with("everlore.db") && store["backend"] == "sqlite"
    );
}
