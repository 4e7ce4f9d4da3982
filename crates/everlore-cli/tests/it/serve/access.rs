//! Authentication, roles and scopes of a server.

use std::fs;

use serde_json::{Value, json};

use super::{TestServer, contents, id};
use crate::home::TestHome;

/// Creates a key.
pub(super) fn key(home: &TestHome, name: &str, role: &str, scope: [&str; 2]) -> String {
    let [agent, user] = scope;
    let made =
        home.json(&["serve", "key", "add", name, "--role", role, "--agent", agent, "--user", user]);
    made["key"].as_str().unwrap().to_owned()
}

#[test]
fn wrong_secrets_are_refused_and_the_right_one_still_works() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let bearer = format!("Bearer {}", server.token);
    let (short, long) = (&server.token[..server.token.len() - 1], format!("{}0", server.token));
    for wrong in [short, &long, "", "evl_", "null", &server.token.to_uppercase()] {
        assert_eq!(
            server.request_as(wrong, "GET", "/v1/stats", None).problem_code(401),
            "unauthorized",
            "{wrong}"
        );
    }
    for header in [bearer.replace("Bearer", "Basic"), bearer.replace(' ', ""), server.token.clone()]
    {
        assert_eq!(
            server
                .request_with_headers(&[("authorization", &header)], "GET", "/v1/stats", None)
                .problem_code(401),
            "unauthorized"
        );
    }
    let twice = [("authorization", bearer.as_str()), ("authorization", "Bearer x")];
    assert_eq!(
        server.request_with_headers(&twice, "GET", "/v1/stats", None).problem_code(401),
        "unauthorized"
    );
    assert_eq!(
        server
            .request_with_headers(&[("x-api-key", &server.token)], "GET", "/v1/stats", None)
            .problem_code(401),
        "unauthorized"
    );
    assert_eq!(server.request("GET", "/v1/stats", None).status, 200);
}

#[test]
fn guesses_are_slowed_down_without_slowing_the_owner() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let statuses: Vec<u16> = (0..60)
        .map(|n| server.request_as(&format!("evl_{n}"), "GET", "/v1/stats", None).status)
        .collect();
    assert!(statuses.contains(&401) && statuses.contains(&429), "{statuses:?}");
    assert_eq!(server.request("GET", "/v1/stats", None).status, 200);
}

/// Starts a server with two memories of Li and one of Wang, and returns Wang's key.
fn two_scopes(home: &TestHome) -> (TestServer, String, String) {
    let server = TestServer::start(home, &[]);
    let secret = json!({ "content": "The vault code of Li is tangerine 橘子", "tags": ["橘"] });
    let foreign =
        server.request("POST", "/v1/memories?agent=helper&user=li", Some(secret)).json(201);
    let turn = json!({ "text": "tangerine 橘子", "session": "s" });
    server.request("POST", "/v1/turns?agent=helper&user=li", Some(turn)).json(201);
    let wang = key(home, "编辑器", "admin", ["助手", "王"]);
    let memory = json!({ "content": "王喜欢橘子 tangerine" });
    server.request_as(&wang, "POST", "/v1/memories", Some(memory)).json(201);
    (server, wang, id(&foreign))
}

#[test]
fn a_key_cannot_name_memories_of_another_scope() {
    let home = TestHome::new();
    let (server, wang, foreign) = two_scopes(&home);
    let memory = format!("/v1/memories/{foreign}");
    for (method, path, body) in [
        ("GET", memory.clone(), None),
        ("PATCH", memory.clone(), Some(json!({ "content": "x" }))),
        ("DELETE", memory.clone(), None),
        ("POST", format!("{memory}/archive"), None),
        ("POST", format!("{memory}/forget"), None),
        ("PUT", format!("{memory}/weight"), Some(json!({ "weight": 2 }))),
        ("POST", "/v1/sessions/s/end".to_owned(), None),
    ] {
        let response = server.request_as(&wang, method, &path, body);
        assert_eq!(response.problem_code(404), "not_found", "{method} {path}");
    }
    for path in [
        "/v1/memories?user=li",
        "/v1/export?agent=helper&user=li",
        "/v1/stats?agent=%E5%8A%A9%E6%89%8B&user=li",
        "/v1/events?user=li",
    ] {
        assert_eq!(
            server.request_as(&wang, "GET", path, None).problem_code(403),
            "scope",
            "{path}"
        );
    }
    let with = [("authorization", &*format!("Bearer {wang}")), ("x-everlore-user", "li")];
    assert_eq!(
        server.request_with_headers(&with, "GET", "/v1/stats", None).problem_code(403),
        "scope"
    );
    let listed = server.request("GET", "/v1/memories?agent=helper&user=li", None).json(200);
    assert_eq!(listed["memories"].as_array().unwrap().len(), 2);
}

#[test]
fn a_key_learns_nothing_of_another_scope() {
    let home = TestHome::new();
    let (server, wang, _) = two_scopes(&home);
    for (method, path, body) in [
        ("GET", "/v1/memories", None),
        ("GET", "/v1/history", None),
        ("GET", "/v1/export", None),
        ("GET", "/v1/export?journal=true", None),
        ("GET", "/v1/scopes", None),
        ("GET", "/v1/stats", None),
        ("POST", "/v1/recall", Some(json!({ "query": "vault code of Li tangerine 橘子" }))),
        ("POST", "/v1/tools/memory_recall", Some(json!({ "query": "vault code of Li" }))),
    ] {
        let response = server.request_as(&wang, method, path, body);
        assert_eq!(response.status, 200, "{response:?}");
        let leaks =
            response.text.contains("vault code of Li is") || response.text.contains("\"li\"");
        assert!(!leaks, "{path}: {}", response.text);
    }
    assert_eq!(server.request_as(&wang, "GET", "/metrics", None).problem_code(403), "role");
    let listed = server.request_as(&wang, "GET", "/v1/memories", None).json(200);
    assert_eq!(contents(&listed["memories"]), ["王喜欢橘子 tangerine"]);
}

#[test]
fn a_role_may_do_its_own_and_less() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let scope = ["default", "default"];
    let [read, write, admin] = ["read", "write", "admin"].map(|role| key(&home, role, role, scope));
    let saved =
        id(&server.request("POST", "/v1/memories", Some(json!({ "content": "喜欢茶" }))).json(201));
    let status = |key: &str, method: &str, path: &str, body: Option<Value>| {
        server.request_as(key, method, path, body).status
    };
    let recall = || Some(json!({ "query": "茶" }));
    for key in [&read, &write, &admin] {
        assert_eq!(status(key, "GET", &format!("/v1/memories/{saved}"), None), 200);
        assert_eq!(status(key, "POST", "/v1/tools/memory_recall", recall()), 200);
    }
    for (path, body) in [
        ("/v1/memories", json!({ "content": "y" })),
        ("/v1/turns", json!({ "text": "y" })),
        ("/v1/tools/memory_save", json!({ "content": "y" })),
        ("/v1/context", json!({ "query": "茶", "session": "s" })),
        ("/v1/undo", json!({ "seq": 1 })),
        ("/v1/redo", json!({})),
    ] {
        assert_eq!(
            server.request_as(&read, "POST", path, Some(body)).problem_code(403),
            "role",
            "{path}"
        );
    }
    assert_eq!(status(&write, "POST", "/v1/memories", Some(json!({ "content": "写了" }))), 201);
    for path in [&format!("/v1/memories/{saved}/forget"), "/v1/upkeep"] {
        assert_eq!(status(&write, "POST", path, Some(json!({}))), 403, "{path}");
        assert_eq!(status(&admin, "POST", path, Some(json!({}))), 200, "{path}");
    }
    let history = server.request("GET", "/v1/history", None).json(200);
    let actors: Vec<&str> = history["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line["actor"].as_str().unwrap())
        .collect();
    assert!(actors.contains(&"agent") && actors.contains(&"person"), "{actors:?}");
}

#[test]
fn a_removed_key_is_refused_at_once() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let made = key(&home, "a", "read", ["default", "default"]);
    assert_eq!(server.request_as(&made, "GET", "/v1/stats", None).status, 200);
    assert_eq!(home.json(&["serve", "key", "list"])["keys"][0]["name"], "a");
    home.json(&["serve", "key", "remove", "a"]);
    assert_eq!(
        server.request_as(&made, "GET", "/v1/stats", None).problem_code(401),
        "unauthorized"
    );
}

#[test]
fn foreign_pages_and_names_are_refused_even_with_the_token() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let bearer = format!("Bearer {}", server.token);
    let ask = |name, value| {
        server.request_with_headers(
            &[("authorization", &bearer), (name, value)],
            "GET",
            "/v1/stats",
            None,
        )
    };
    for host in ["evil.example", "localhost.evil.example", "169.254.169.254"] {
        assert_eq!(ask("host", host).problem_code(403), "foreign_host");
    }
    for origin in ["https://evil.example", "null", "http://localhost:1"] {
        assert_eq!(ask("origin", origin).problem_code(403), "foreign_origin");
    }
    assert_eq!(ask("origin", &format!("http://{}", server.address)).status, 200);
    // Requests that a form or an image of a foreign page can send without a preflight.
    let form = [("authorization", bearer.as_str()), ("content-type", "text/plain")];
    let response = server.request_with_headers(
        &form,
        "POST",
        "/v1/memories",
        Some(json!("{\"content\":\"x\"}")),
    );
    assert_eq!(response.problem_code(415), "unsupported_type");
    let response = server.request_with_headers(
        &[("origin", "https://evil.example")],
        "OPTIONS",
        "/v1/memories",
        None,
    );
    assert!(
        response.status == 403
            && !response.headers.keys().any(|name| name.as_str().starts_with("access-control"))
    );
}

#[test]
fn stored_secrets_are_readable_by_the_owner_only() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let made = key(&home, "a", "read", ["default", "default"]);
    server
        .request("POST", "/v1/memories", Some(json!({ "content": "龙井茶 and oolong" })))
        .json(201);
    server.request("POST", "/v1/recall", Some(json!({ "query": "oolong 龙井" }))).json(200);
    server.request("GET", "/v1/memories?tag=oolong", None).json(200);
    assert_eq!(server.request("GET", "/v1/oolong", None).problem_code(404), "no_route");
    for name in ["server.token", "server.keys.json", "server-audit.jsonl", "server.json"] {
        let path = home.path().join(name);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "{name}");
        }
        let text = fs::read_to_string(&path).unwrap();
        assert!(
            !text.contains(&made) && !text.contains("oolong") && !text.contains("龙井"),
            "{name}"
        );
    }
    let log = fs::read_to_string(home.sibling("log")).unwrap();
    assert!(log.contains("/v1/memories") && log.contains("status=201"), "{log}");
    assert!(
        !log.contains("oolong")
            && !log.contains("龙井")
            && !log.contains(&server.token)
            && !log.contains(&made)
    );
    let audit = fs::read_to_string(home.path().join("server-audit.jsonl")).unwrap();
    let line: Value = serde_json::from_str(audit.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&line["caller"], &line["route"], &line["status"]),
        (&json!("token"), &json!("/v1/memories"), &json!(201))
    );
}

#[test]
fn a_public_address_without_tls_needs_an_explicit_option() {
    let home = TestHome::new();
    let refused = home.run(&["serve", "--port", "0", "--host", "0.0.0.0"]);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(
        refused.err.contains("there is no TLS") && refused.err.contains("--allow-remote"),
        "{refused:?}"
    );
}

#[test]
fn clients_of_other_systems_are_refused_in_their_own_shape() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let bearer = format!("Bearer {}", server.token);
    let refusals = [
        ("GET", vec![("host", "evil.example"), ("authorization", &bearer)], 403),
        ("GET", vec![("origin", "https://evil.example"), ("authorization", &bearer)], 403),
        ("GET", vec![], 401),
        ("PATCH", vec![("authorization", &bearer)], 405),
    ];
    for (method, headers, status) in &refusals {
        let response = |path: &str| {
            let response = server.request_with_headers(headers, method, path, None);
            assert_eq!(
                response.headers["content-type"], "application/json",
                "{path}: {response:?}"
            );
            response.json(*status)
        };
        for path in ["/v1/models", "/v1/models/gpt"] {
            let error = &response(path)["error"];
            assert!(error["message"].as_str().unwrap().starts_with("everlore: "), "{error}");
            assert!(error["type"].is_string() && error["param"].is_null(), "{error}");
            assert!(error["code"].is_string(), "{error}");
        }
        let anthropic = response("/anthropic/v1/models");
        assert_eq!(anthropic["type"], "error");
        assert!(anthropic["error"]["type"].is_string(), "{anthropic}");
        assert!(anthropic["error"]["message"].is_string(), "{anthropic}");
        for path in ["/v1/memories/", "/memories"] {
            assert!(response(path)["detail"].as_str().unwrap().len() > 20, "{path}");
        }
        let viking = response("/api/v1/fs/ls");
        assert_eq!(viking["status"], "error");
        assert!(viking["error"]["code"].is_string(), "{viking}");
        let ours = server.request_with_headers(headers, method, "/v1/stats", None);
        assert!(!ours.problem_code(*status).is_empty());
    }
    let nowhere = server.request("POST", "/anthropic/v1/nothing", None).json(404);
    assert_eq!(nowhere["error"]["type"], "not_found_error");
    let audit = fs::read_to_string(home.path().join("server-audit.jsonl")).unwrap();
    assert!(
        audit
            .lines()
            .filter(|line| line.contains("/api/v1/fs/ls"))
            .all(|line| { serde_json::from_str::<Value>(line).unwrap()["code"].is_string() })
    );
}

#[test]
fn a_second_server_says_where_the_first_one_is() {
    let home = TestHome::new();
    assert_eq!(home.run(&["serve", "status"]).code, 1);
    let server = TestServer::start(&home, &[]);
    assert_eq!(home.json(&["serve", "status"])["url"], format!("http://{}", server.address));
    let second = home.run(&["serve", "--port", "0"]);
    assert_eq!(second.code, 2);
    assert!(
        second.err.contains(&format!("http://{} (process {})", server.address, server.child.id())),
        "{second:?}"
    );
}
