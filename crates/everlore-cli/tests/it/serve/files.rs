//! Virtual file tree over HTTP.

use serde_json::{Value, json};

use super::TestServer;
use crate::home::TestHome;

pub(crate) fn encoded(text: &str) -> String {
    let encode = |byte: u8| {
        if byte.is_ascii_alphanumeric() {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    };
    text.bytes().map(encode).collect()
}

fn key(home: &TestHome, name: &str, role: &str, user: &str) -> String {
    let key =
        home.json(&["serve", "key", "add", name, "--role", role, "--agent", "a", "--user", user]);
    key["key"].as_str().unwrap().to_owned()
}

#[test]
fn a_tree_is_walked_over_http_in_both_languages() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    for (uri, text, query) in [
        ("project/release", "The release leaves on Tuesday.", "when does the release leave"),
        ("project/发布", "新版本星期二发布。", "新版本什么时候发布"),
    ] {
        let body = json!({ "uri": uri, "content": text, "metadata": { "from": "测试" } });
        let added = server.request("POST", "/v1/fs", Some(body)).json(200);
        let uri = added["uri"].as_str().unwrap();
        for level in ["l0", "l1", "l2"] {
            let path = format!("/v1/fs/read?uri={}&level={level}", encoded(uri));
            assert_eq!(server.request("GET", &path, None).json(200)["text"], text);
        }
        let path = format!("/v1/fs/find?query={}&uri=project", encoded(query));
        assert_eq!(server.request("GET", &path, None).json(200)["found"][0]["uri"], uri);
        let path = format!("/v1/fs/inject?query={}&uri=project&budget=300", encoded(query));
        let block = server.request("GET", &path, None).json(200);
        assert!(block["text"].as_str().unwrap().contains(text), "{block}");
        let elsewhere =
            server.request("GET", &path.replace("uri=project", "uri=user"), None).json(200);
        assert_eq!(elsewhere["text"], "");
        let path = format!("/v1/fs/grep?pattern={}", encoded(text));
        assert_eq!(server.request("GET", &path, None).json(200)["matches"][0]["line"], 1);
        let path = format!("/v1/fs/stat?uri={}", encoded(uri));
        assert_eq!(server.request("GET", &path, None).json(200)["kind"], "project");
    }
    let page = server.request("GET", "/v1/fs/ls?uri=project&limit=1", None).json(200);
    assert_eq!((&page["items"][0]["name"], &page["next"]), (&json!("release"), &json!("release/")));
    let page =
        server.request("GET", "/v1/fs/ls?uri=project&limit=1&after=release%2F", None).json(200);
    assert_eq!((&page["items"][0]["name"], &page["next"]), (&json!("发布"), &Value::Null));
    let tree = server.request("GET", "/v1/fs/tree?uri=viking%3A%2F%2Fuser&depth=2", None).json(200);
    assert!(tree["items"].as_array().unwrap().len() > 4, "{tree}");
    let status = server.request("GET", "/v1/fs/status", None).json(200);
    assert_eq!((&status["memories"]["project"], &status["documents"]), (&json!(2), &json!(0)));
    let removed = server.request("DELETE", "/v1/fs?uri=project&recursive=true", None).json(200);
    assert_eq!(removed["memories"], 2);
    server.request("POST", "/v1/undo", Some(json!({ "run": removed["runs"][0] }))).json(200);
    assert_eq!(server.request("GET", "/v1/fs/stat?uri=project", None).json(200)["entries"], 2);
    home.assert_healthy();
}

#[test]
fn unknown_parameters_are_refused_before_anything_is_done() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    for (method, path, message) in [
        ("GET", "/v1/fs/read", "`uri` is missing"),
        ("DELETE", "/v1/fs?recursive=true", "`uri` is missing"),
        ("GET", "/v1/fs/find?uri=user", "`query` is missing"),
        ("GET", "/v1/fs/inject?uri=user", "`query` is missing"),
        ("GET", "/v1/fs/inject?query=%E8%8C%B6&limit=0", "`limit` must be from 1 to 1000"),
        ("GET", "/v1/fs/grep?uri=%E8%8C%B6", "`pattern` is missing"),
        ("GET", "/v1/fs/read?uri=user&level=0", "unknown `level`"),
        ("GET", "/v1/fs/ls?limit=0", "`limit` must be from 1 to 1000"),
        ("GET", "/v1/fs/tree?depth=1001", "`depth` must be from 1 to 1000"),
        ("GET", "/v1/fs/find?query=%E8%8C%B6&min_score=NaN", "`min_score` must be from 0 to 1"),
    ] {
        let response = server.request(method, path, None);
        assert_eq!(response.problem_code(400), "invalid", "{path}");
        assert!(response.text.contains(message), "{path}: {response:?}");
    }
    let response = server.request("GET", "/v1/fs/stat?uri=%0Auser", None);
    assert_eq!(response.problem_code(422), "invalid", "a line break is no part of a name");
}

#[test]
fn uris_that_lead_out_are_refused_on_every_route() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    for uri in [
        "../x",
        "user/../../x",
        "user/%2e%2e/x",
        "a\0b",
        "user/%00",
        "agent://other/user",
        "viking://user/other/memories",
        "file:///etc/passwd",
        "user\\x",
        "user/%ff",
        &"x/".repeat(4_000),
    ] {
        let uri = encoded(uri);
        for route in ["ls", "tree", "read", "stat", "find", "grep"] {
            let path = format!("/v1/fs/{route}?uri={uri}&query=x&pattern=x");
            let path = match route {
                "find" => path.replace("&pattern=x", ""),
                "grep" => path.replace("&query=x", ""),
                _ => path.replace("&query=x&pattern=x", ""),
            };
            let response = server.request("GET", &path, None);
            assert_eq!(response.problem_code(422), "invalid", "{path}");
            assert!(!response.text.contains("root:"), "{response:?}");
        }
        let response = server.request("DELETE", &format!("/v1/fs?uri={uri}&recursive=true"), None);
        assert_eq!(response.problem_code(422), "invalid", "{uri}");
        let theirs = format!("/api/v1/fs/ls?uri={uri}");
        let response = server.request("GET", &theirs, None).json(400);
        assert_eq!(response["error"]["code"], "INVALID_ARGUMENT", "{response}");
    }
    let near = server.request("GET", "/v1/fs/read?uri=resorces%2Fx.md", None);
    assert_eq!(near.problem_code(404), "not_found");
}

#[test]
fn a_key_sees_its_own_tree_only_and_a_reader_changes_nothing() {
    let home = TestHome::new();
    let (mine, theirs, reader) = (
        key(&home, "mine", "write", "me"),
        key(&home, "theirs", "write", "them"),
        key(&home, "reader", "read", "me"),
    );
    let server = TestServer::start(&home, &[]);
    let body = json!({ "uri": "user/food", "content": "their tea 4711 秘密" });
    let secret = server.request_as(&theirs, "POST", "/v1/fs", Some(body)).json(200);
    let uri = encoded(secret["uri"].as_str().unwrap());
    let read = format!("/v1/fs/read?uri={uri}");
    assert_eq!(server.request_as(&mine, "GET", &read, None).problem_code(404), "not_found");
    let remove = format!("/v1/fs?uri={uri}");
    assert_eq!(server.request_as(&mine, "DELETE", &remove, None).problem_code(404), "not_found");
    let status = server.request_as(&mine, "GET", "/v1/fs/status", None).json(200);
    assert_eq!((&status["memories"], &status["changes"]), (&json!({}), &json!(0)));
    for path in [
        "/v1/fs/grep?pattern=4711",
        "/v1/fs/find?query=tea",
        "/v1/fs/inject?query=their%20tea%204711",
        "/v1/fs/tree?depth=9",
    ] {
        let response = server.request_as(&mine, "GET", path, None);
        assert_eq!(response.status, 200);
        assert!(!response.text.contains("4711"), "{path}: {}", response.text);
    }
    let other = format!("{read}&user=them");
    assert_eq!(server.request_as(&mine, "GET", &other, None).problem_code(403), "scope");
    let add = json!({ "uri": "user", "content": "x" });
    assert_eq!(server.request_as(&reader, "POST", "/v1/fs", Some(add)).problem_code(403), "role");
    assert_eq!(
        server.request_as(&reader, "DELETE", "/v1/fs?uri=user", None).problem_code(403),
        "role"
    );
    assert_eq!(server.request_as(&reader, "GET", "/v1/fs/ls", None).status, 200);
    let without = server
        .request_with_headers(&[], "GET", "/api/v1/fs/ls?uri=viking%3A%2F%2F", None)
        .json(401);
    assert_eq!(without["error"]["code"], "UNAUTHENTICATED");
    let with = [("x-api-key", mine.as_str())];
    assert_eq!(
        server.request_with_headers(&with, "GET", "/api/v1/fs/ls?uri=viking%3A%2F%2F", None).status,
        200
    );
    assert_eq!(
        server.request_with_headers(&with, "GET", "/v1/fs/ls", None).problem_code(401),
        "unauthorized"
    );
    let there = home.run(&["--json", "--agent", "a", "--user", "them", "fs", "ls", "user/food"]);
    assert_eq!(there.json()["items"].as_array().unwrap().len(), 1);
}
