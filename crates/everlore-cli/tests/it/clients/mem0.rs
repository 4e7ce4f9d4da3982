//! mem0's client, and its routes as other programs use them.

use serde_json::{Value, json};

use super::{clients, succeed};
use crate::{
    home::TestHome,
    readme::root,
    serve::{ApiResponse, TestServer},
};

fn key(home: &TestHome, role: &str, scope: [&str; 2]) -> String {
    let [agent, user] = scope;
    let args = ["serve", "key", "add", role, "--role", role, "--agent", agent, "--user", user];
    home.json(&args)["key"].as_str().unwrap().to_owned()
}

#[test]
fn the_python_client_of_mem0_works_unchanged() {
    let Some(clients) = clients() else { return };
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let mut command = clients.python("mem0_client.py");
    command
        .env("HOME", home.sibling("python"))
        .env("MEM0_DIR", home.sibling("python"))
        .arg(format!("http://{}", server.address))
        .arg(&server.token)
        .arg(key(&home, "admin", ["default", "li"]));
    let output = succeed(command);
    assert_eq!(output.lines().count(), 9, "{output}");
}

#[test]
fn the_export_of_the_migration_guide_runs_with_the_library_of_mem0() {
    let Some(clients) = clients() else { return };
    let home = TestHome::new();
    let mut command = clients.python("mem0_export.py");
    command.env("HOME", home.sibling("python"));
    command.arg(root().join("docs/migrate-mem0.md")).arg(home.sibling("export"));
    let output = succeed(command);
    assert_eq!(output.lines().last(), Some("26"), "{output}");
    let file = home.sibling("export").join("mem0-export.json");
    let report = home.json(&["import", "mem0", file.to_str().unwrap(), "--map-users"]);
    assert_eq!(report["taken"], json!([{ "kind": "user", "count": 26 }]), "{report}");
    // A user has more memories than mem0 lists unless it is told to.
    assert_eq!(home.json(&["--user", "ana", "memory", "stats"])["total"], 25);
}

fn request_with_token(
    server: &TestServer,
    method: &str,
    path: &str,
    body: Option<Value>,
) -> ApiResponse {
    server.request_with_headers(
        &[("authorization", &format!("Token {}", server.token))],
        method,
        path,
        body,
    )
}

#[test]
fn the_routes_of_the_open_source_server_answer_as_it_does() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let key = [("x-api-key", server.token.as_str())];
    let body = json!({ "messages": [{ "role": "user", "content": "喜欢喝龙井茶 Longjing" }], "user_id": "王", "infer": false, "metadata": { "team": "红队" } });
    let added = server.request_with_headers(&key, "POST", "/memories", Some(body)).json(200);
    let id = added["results"][0]["id"].as_str().unwrap();
    let query = json!({ "query": "龙井", "filters": { "user_id": "王", "team": "红队" } });
    let found = server.request_with_headers(&key, "POST", "/search", Some(query)).json(200);
    assert_eq!(found["results"][0]["id"], id, "{found}");
    let listed =
        server.request_with_headers(&key, "GET", "/memories?user_id=%E7%8E%8B", None).json(200);
    assert_eq!(listed["results"].as_array().unwrap().len(), 1);
    let put = server.request_with_headers(
        &key,
        "PUT",
        &format!("/memories/{id}"),
        Some(json!({ "text": "tea" })),
    );
    assert_eq!(put.json(200)["message"], "Memory updated successfully!");
    let history = server
        .request_with_headers(&key, "GET", &format!("/memories/{id}/history"), None)
        .json(200);
    assert_eq!(history[1]["new_memory"], "tea");
    assert_eq!(
        server.request_with_headers(&key, "DELETE", &format!("/memories/{id}"), None).status,
        200
    );
    let deleted = server.request_with_headers(&key, "GET", &format!("/memories/{id}"), None);
    assert_eq!(deleted.headers["content-type"], "application/json");
    assert!(deleted.json(404)["detail"].as_str().unwrap().contains("not found"), "{deleted:?}");
    assert_eq!(server.request_with_headers(&key, "POST", "/reset", None).status, 200);
    let nobody = server.request_with_headers(&key, "GET", "/memories", None).json(422);
    assert!(nobody["detail"].as_str().unwrap().contains("user_id"), "{nobody}");
}

#[test]
fn older_clients_get_lists_and_events_have_their_results() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let body = json!({ "messages": "I live in Oslo. 我住在奥斯陆。", "user_id": "nora" });
    let added = request_with_token(&server, "POST", "/v1/memories/", Some(body)).json(200);
    let path = format!("/v1/event/{}/", added["event_id"].as_str().unwrap());
    let event = request_with_token(&server, "GET", &path, None).json(200);
    assert_eq!(event["status"], "SUCCEEDED");
    assert_eq!(event["results"][0]["id"], added["results"][0]["id"], "{event} {added}");
    assert_eq!(request_with_token(&server, "GET", "/v1/events/", None).json(200)["count"], 1);
    assert_eq!(request_with_token(&server, "GET", "/v1/event/none/", None).status, 404);
    let listed = request_with_token(&server, "GET", "/v1/memories/?user_id=nora", None).json(200);
    assert!(listed.as_array().is_some_and(|all| !all.is_empty()), "{listed}");
    for path in ["/v1/memories/search/", "/v2/memories/search/"] {
        let query = |format: Option<&str>| json!({ "query": "Oslo 奥斯陆", "filters": { "user_id": "nora" }, "output_format": format });
        assert!(request_with_token(&server, "POST", path, Some(query(None))).json(200).is_array());
        let wrapped =
            request_with_token(&server, "POST", path, Some(query(Some("v1.1")))).json(200);
        assert!(wrapped["results"].is_array());
    }
    let paged = json!({ "filters": { "user_id": "nora" } });
    let paged =
        request_with_token(&server, "POST", "/v2/memories/?page=1&page_size=1", Some(paged))
            .json(200);
    assert_eq!(paged["results"].as_array().unwrap().len(), 1);
}

#[test]
fn extracted_memories_name_their_speaker_and_the_assistant_is_no_one_to_remember() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let messages = json!([
        { "role": "user", "name": "Ana", "content": "I live in Porto." },
        { "role": "user", "name": "Ben", "content": "I live in Bergen." },
        { "role": "assistant", "content": "I live in the cloud and I am allergic to water." },
    ]);
    let body = json!({ "messages": messages, "user_id": "flat" });
    let added = request_with_token(&server, "POST", "/v1/memories/", Some(body)).json(200);
    assert!(!added.to_string().contains("cloud"), "{added}");
    let query = json!({ "query": "Where does Ben live?", "filters": { "user_id": "flat" } });
    let found = request_with_token(&server, "POST", "/v2/memories/search/", Some(query)).json(200);
    let ben = found
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["memory"].as_str().unwrap().contains("Bergen"));
    assert_eq!(ben.unwrap()["actor_id"], "Ben", "{found}");
    assert!(!found.to_string().contains("cloud"), "{found}");
}

#[test]
fn a_deletion_can_be_undone_and_the_audit_log_names_the_scope() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let body = json!({ "messages": "牛奶 and bread", "user_id": "dora", "infer": false });
    request_with_token(&server, "POST", "/v3/memories/add/", Some(body)).json(200);
    let deleted =
        request_with_token(&server, "DELETE", "/v1/memories/?user_id=dora", None).json(200);
    let run = format!("mem0-{}", deleted["event_id"].as_str().unwrap());
    let list = || {
        let filters = json!({ "filters": { "user_id": "dora" } });
        request_with_token(&server, "POST", "/v3/memories/", Some(filters)).json(200)["count"]
            .clone()
    };
    assert_eq!(list(), 0);
    server.request("POST", "/v1/undo?user=dora", Some(json!({ "run": run }))).json(200);
    assert_eq!(list(), 1);
    let audit = std::fs::read_to_string(home.path().join("server-audit.jsonl")).unwrap();
    let line: Value = serde_json::from_str(audit.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&line["route"], &line["user"], &line["caller"]),
        (&json!("/v3/memories/add/"), &json!("dora"), &json!("token"))
    );
}

#[test]
fn roles_hold_for_the_routes_of_mem0() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let scope = ["default", "li"];
    let [read, write] = ["read", "write"].map(|role| key(&home, role, scope));
    let add = || Some(json!({ "messages": "茶 tea", "user_id": "li", "infer": false }));
    let by = |key: &str, method: &str, path: &str, body: Option<Value>| {
        server.request_with_headers(
            &[("authorization", &format!("Token {key}"))],
            method,
            path,
            body,
        )
    };
    assert_eq!(by(&read, "POST", "/v3/memories/add/", add()).status, 403);
    let added = by(&write, "POST", "/v3/memories/add/", add()).json(200);
    let path = format!("/v1/memories/{}/", added["results"][0]["id"].as_str().unwrap());
    assert_eq!(by(&read, "GET", &path, None).status, 200);
    assert_eq!(by(&read, "DELETE", &path, None).status, 403);
    let refused = by(&write, "DELETE", "/v1/memories/?user_id=li", None).json(403);
    assert!(refused["detail"].as_str().unwrap().contains("admin"), "{refused}");
    assert_eq!(by(&write, "DELETE", &path, None).status, 200);
}

#[test]
fn the_example_of_the_page_finds_what_it_says() {
    let page = include_str!("../../../../../docs/mem0.md");
    let quoted = |call: &str| {
        let (_, after) = page.split_once(call).unwrap();
        after.split('"').nth(1).unwrap().to_owned()
    };
    let (_, answer) = page.split_once("\n# → ").unwrap();
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let message = json!([{ "role": "user", "content": quoted("client.add(") }]);
    let body = json!({ "messages": message, "user_id": "ana" });
    request_with_token(&server, "POST", "/v3/memories/add/", Some(body)).json(200);
    let query = json!({ "query": quoted("client.search("), "filters": { "user_id": "ana" } });
    let found = request_with_token(&server, "POST", "/v3/memories/search/", Some(query)).json(200);
    let first = found["results"][0]["memory"].as_str().unwrap_or_default();
    assert_eq!(first, answer.lines().next().unwrap(), "{found}");
}
