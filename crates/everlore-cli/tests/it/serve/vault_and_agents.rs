//! Vault, extraction, quarantine, agents and settings over HTTP, and conditional writes.

use serde_json::{Value, json};

use super::{TestServer, access::key, id};
use crate::home::TestHome;

#[test]
fn a_change_with_an_old_etag_is_refused_with_advice() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let saved = json!({ "content": "喜欢喝龙井 tea" });
    let path = format!(
        "/v1/memories/{}",
        id(&server.request("POST", "/v1/memories", Some(saved)).json(201))
    );
    let bearer = format!("Bearer {}", server.token);
    let with = |tag: &str, method: &str, path: &str, body: Value| {
        server.request_with_headers(
            &[("authorization", &bearer), ("if-match", tag)],
            method,
            path,
            Some(body),
        )
    };
    let current = server.request("GET", &path, None);
    let tag = current.headers["etag"].to_str().unwrap().to_owned();
    let edited = with(&tag, "PATCH", &path, json!({ "content": "喜欢喝乌龙 oolong" }));
    assert_eq!(edited.json(200)["version"], 2);
    assert_ne!(edited.headers["etag"].to_str().unwrap(), tag);
    for old in [tag.as_str(), "\"none\"", "W/\"2\"", "\"\"", "2"] {
        let late = with(old, "PATCH", &path, json!({ "content": "late" }));
        assert_eq!(late.problem_code(412), "changed", "{old}");
        assert!(late.text.contains("ETag"), "{late:?}");
        let late = with(old, "PUT", &format!("{path}/weight"), json!({ "weight": 2 }));
        assert_eq!(late.problem_code(412), "changed", "{old}");
    }
    assert_eq!(server.request("GET", &path, None).json(200)["content"], "喜欢喝乌龙 oolong");
    for good in ["\"2\"", "*", "\"7\", \"2\""] {
        let response = with(good, "PUT", &format!("{path}/weight"), json!({ "weight": 2 }));
        assert!([200, 412].contains(&response.status), "{response:?}");
    }
    assert_eq!(server.request("GET", &path, None).json(200)["weight"], 2.0);
}

#[test]
fn a_layer_is_changed_only_in_the_version_that_was_read() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let bearer = format!("Bearer {}", server.token);
    let add = |tag: &str, content: &str| {
        let body = json!({ "action": "add", "section": "Tea 茶", "content": content });
        let headers = [("authorization", bearer.as_str()), ("if-match", tag)];
        server.request_with_headers(&headers, "PATCH", "/v1/layers/user", Some(body))
    };
    let current = server.request("GET", "/v1/layers/user", None);
    let tag = current.headers["etag"].to_str().unwrap();
    let added = add(tag, "- 龙井");
    assert!(added.json(200)["text"].as_str().unwrap().contains("龙井"));
    assert_eq!(add(tag, "- late").problem_code(412), "changed");
    let now = added.headers["etag"].to_str().unwrap();
    assert!(add(now, "- oolong").json(200)["text"].as_str().unwrap().contains("oolong"));
    assert!(!server.request("GET", "/v1/layers/user", None).text.contains("late"));
}

#[test]
fn a_vault_file_is_a_memory_and_is_linked() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    assert_eq!(server.request("GET", "/v1/vault", None).json(200)["entries"], json!([]));
    let page = json!({ "kind": "user", "name": "Role 角色", "description": "what they do", "content": "王 is a 工程师 with key sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGhIjKl" });
    server.request("PUT", "/v1/vault/user_role.md", Some(page)).json(200);
    let file = server.request("GET", "/v1/vault/user_role.md", None);
    let text = file.json(200)["text"].as_str().unwrap().to_owned();
    assert!(text.contains("工程师") && !text.contains("AbCdEfGhIjKl"), "{text}");
    assert!(file.headers.contains_key("etag"));
    let index = server.request("GET", "/v1/vault/MEMORY.md", None).json(200);
    assert!(index["text"].as_str().unwrap().contains("user_role.md"), "{index}");
    let found = server.request("POST", "/v1/recall", Some(json!({ "query": "工程师" }))).json(200);
    assert_eq!(found["hits"][0]["name"], "Role 角色");
    server
        .request("POST", "/v1/memories", Some(json!({ "content": "住在杭州", "kind": "user" })))
        .json(201);
    let would =
        server.request("POST", "/v1/vault/sync", Some(json!({ "dry_run": true }))).json(200);
    let done = server.request("POST", "/v1/vault/sync", Some(json!({}))).json(200);
    assert_eq!(would["done"], done["done"]);
    let listed = server.request("GET", "/v1/vault", None).json(200);
    assert_eq!(listed["entries"].as_array().unwrap().len(), 2, "{listed}");
    assert_eq!(server.request("GET", "/v1/vault/none.md", None).problem_code(404), "not_found");
    let turns = json!({ "kinds": ["turn"] });
    assert_eq!(server.request("POST", "/v1/vault/sync", Some(turns)).problem_code(422), "invalid");
}

#[test]
fn memories_are_extracted_on_request() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    for text in ["I live in Lisbon.", "我对花生过敏。"] {
        let turn = json!({ "text": text, "session": "s", "role": "user" });
        server.request("POST", "/v1/turns", Some(turn)).json(201);
    }
    assert_eq!(server.request("GET", "/v1/extract", None).json(200)["turns"], 2);
    let dry = server.request("POST", "/v1/extract", Some(json!({ "dry_run": true }))).json(200);
    assert_eq!(server.request("GET", "/v1/extract", None).json(200)["turns"], 2);
    let done = server.request("POST", "/v1/extract", Some(json!({ "session": "s" }))).json(200);
    let drafts = |report: &Value| report["extractions"][0]["drafts"].as_array().unwrap().len();
    assert_eq!((drafts(&dry), drafts(&done)), (2, 2), "{done}");
    assert_eq!(server.request("GET", "/v1/extract", None).json(200)["turns"], 0);
    let facts = server.request("GET", "/v1/memories?kind=user", None);
    assert!(facts.text.contains("Lisbon") && facts.text.contains("花生"), "{facts:?}");
    let ledger = server.request("GET", "/v1/ledger?days=7", None).json(200);
    assert!(ledger["spending"].is_array() && ledger["allowance"].is_object(), "{ledger}");
    assert_eq!(server.request("GET", "/v1/ledger?days=0", None).problem_code(400), "invalid");
}

#[test]
fn quarantined_drafts_are_listed_restored_and_dropped() {
    let home = TestHome::new();
    // Nothing is extracted with full certainty, so this threshold stops everything.
    std::fs::create_dir_all(home.path()).unwrap();
    let strict = "[memory_agent.extract]\nmin_confidence = 1.0\n";
    std::fs::write(home.path().join("config.toml"), strict).unwrap();
    let server = TestServer::start(&home, &[]);
    for text in ["I live in Boston.", "我对花生过敏。"] {
        let turn = json!({ "text": text, "session": "s", "role": "user" });
        server.request("POST", "/v1/turns", Some(turn)).json(201);
    }
    server.request("POST", "/v1/extract", Some(json!({}))).json(200);
    let quarantine = server.request("GET", "/v1/quarantine", None).json(200);
    let drafts = quarantine["drafts"].as_array().unwrap();
    assert_eq!(drafts.len(), 2, "{quarantine}");
    let path =
        |draft: &Value| format!("/v1/quarantine/{}", draft["memory"]["id"].as_str().unwrap());
    let shown = server.request("GET", &path(&drafts[0]), None).json(200);
    assert!(shown["reason"].as_str().unwrap().contains("confidence"), "{shown}");
    let restored = server.request("POST", &format!("{}/restore", path(&drafts[0])), None).json(200);
    assert_eq!(restored["content"], drafts[0]["memory"]["content"]);
    server.request("DELETE", &path(&drafts[1]), None).json(200);
    for draft in drafts {
        assert_eq!(server.request("GET", &path(draft), None).problem_code(404), "not_found");
    }
    let page = server.request("GET", "/v1/memories?kind=user", None).json(200);
    assert_eq!(page["memories"].as_array().unwrap().len(), 1);
}

#[test]
fn agents_are_listed_and_settings_hide_their_secrets() {
    let home = TestHome::new();
    std::fs::create_dir_all(home.path()).unwrap();
    std::fs::write(
        home.path().join("config.toml"),
        "[memory_agent]\napi_key = \"sk-very-secret-key\"\nmodel = \"some-model\"\n",
    )
    .unwrap();
    let server = TestServer::start(&home, &[]);
    for (agent, user) in [("helper", "li"), ("helper", "wang"), ("%E5%8A%A9%E6%89%8B", "li")] {
        let path = format!("/v1/memories?agent={agent}&user={user}");
        server.request("POST", &path, Some(json!({ "content": "喜欢茶" }))).json(201);
    }
    let turn = json!({ "text": "今天喝什么茶？", "session": "s" });
    server.request("POST", "/v1/turns?agent=helper&user=wang", Some(turn)).json(201);
    let agents = server.request("GET", "/v1/agents", None).json(200);
    let users = json!([
        { "user": "li", "memories": 1, "turns": 0 },
        { "user": "wang", "memories": 1, "turns": 1 },
    ]);
    let helper = |users: &serde_json::Value| json!({ "agent": "helper", "users": users, "enabled": true, "own_settings": false });
    assert_eq!(agents["agents"][0], helper(&users));
    assert_eq!(agents["agents"][1]["agent"], "助手");
    let settings = server.request("GET", "/v1/settings", None);
    assert_eq!(settings.json(200)["memory_agent"]["model"], "some-model");
    assert!(!settings.text.contains("sk-very-secret-key"), "{settings:?}");
    let li = key(&home, "a", "admin", ["helper", "li"]);
    let own = server.request_as(&li, "GET", "/v1/agents", None).json(200);
    assert_eq!(own["agents"], json!([helper(&json!([users[0]]))]));
    assert_eq!(server.request_as(&li, "GET", "/v1/settings", None).problem_code(403), "role");
}
