//! Callers who look for a way round: false hosts, damaged or open key files, paths out of the vault, texts in logs.

use std::fs;

use serde_json::json;

use super::{TestServer, access::key};
use crate::home::TestHome;

/// Time in which a server notices that its file of keys is whole again.
const MAX_RECOVERY: std::time::Duration = std::time::Duration::from_secs(10);

#[test]
fn a_host_with_anything_but_a_port_after_it_is_refused() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let port = server.address.rsplit(':').next().unwrap();
    for (host, expected) in [
        (format!("localhost:{port}"), 200),
        (format!("localhost:{port}@evil.example"), 403),
        (format!("localhost:{port}.evil.example"), 403),
        ("localhost:".to_owned(), 403),
        (format!("[::1]:{port}/x"), 403),
    ] {
        let request = format!(
            "GET /v1/stats HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {}\r\nconnection: close\r\n\r\n",
            server.token
        );
        let answer = server.send_raw(request.as_bytes());
        assert!(answer.starts_with(&format!("HTTP/1.1 {expected}")), "{host}: {answer}");
    }
}

#[test]
fn a_damaged_key_file_refuses_keys_clearly_and_counts_guesses() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let secret = key(&home, "编辑器", "read", ["default", "default"]);
    assert_eq!(server.request_as(&secret, "GET", "/v1/stats", None).status, 200);
    let path = home.path().join("server.keys.json");
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let refused = server.request_as(&secret, "GET", "/v1/stats", None);
    assert_eq!(refused.problem_code(503), "keys_unreadable");
    assert!(
        !refused.text.contains("/server.keys.json") && !refused.text.contains("line "),
        "{refused:?}"
    );
    let statuses: Vec<u16> = (0..60)
        .map(|number| server.request_as(&format!("evl_{number}"), "GET", "/v1/stats", None).status)
        .collect();
    assert!(statuses.contains(&429), "{statuses:?}");
    assert_eq!(server.request("GET", "/v1/stats", None).status, 200);
    fs::write(&path, whole).unwrap();
    let began = std::time::Instant::now();
    while server.request_as(&secret, "GET", "/v1/stats", None).status != 200 {
        assert!(began.elapsed() < MAX_RECOVERY, "the key is still refused");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn a_path_names_a_file_of_the_vault_and_nothing_else() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let page = json!({ "kind": "user", "name": "Role 角色", "content": "An engineer 工程师" });
    server.request("PUT", "/v1/vault/user_role.md", Some(page.clone())).json(200);
    for name in [
        "..%2fx.md",
        "a%2fx.md",
        "..%5cx.md",
        "user_%E2%80%AEdm.md",
        "%E8%8C%B6%E2%80%8B.md",
        ".hidden.md",
        "x%3F.md",
        "MEMORY.md",
        "x.txt",
    ] {
        let response = server.request("PUT", &format!("/v1/vault/{name}"), Some(page.clone()));
        assert_eq!(response.problem_code(422), "invalid", "{name}");
    }
    let files = fs::read_dir(home.path().join("vault")).unwrap();
    let mut names: Vec<_> =
        files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name.ends_with(".md"));
    names.sort_unstable();
    assert_eq!(names, ["MEMORY.md", "user_role.md"]);
}

#[test]
fn a_verbose_server_logs_no_texts() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &["-vvv"]);
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "memory_save", "arguments": { "content": "zyzzyva 秘密食谱" } },
    });
    let bearer = format!("Bearer {}", server.token);
    let headers = [
        ("authorization", bearer.as_str()),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2025-11-25"),
    ];
    let response = server.request_with_headers(&headers, "POST", "/mcp", Some(call));
    assert_eq!(response.status, 200, "{response:?}");
    let memory = json!({ "content": "zyzzyva again 秘密食谱" });
    server.request("POST", "/v1/memories", Some(memory)).json(201);
    server.request("POST", "/v1/recall", Some(json!({ "query": "zyzzyva 秘密食谱" }))).json(200);
    let log = fs::read_to_string(home.sibling("log")).unwrap();
    assert!(log.contains("answered"), "{log}");
    assert!(!log.contains("zyzzyva") && !log.contains("秘密食谱"), "{log}");
    assert!(!log.contains(&server.token));
}

#[cfg(unix)]
#[test]
fn a_token_that_others_could_read_is_made_private_and_told() {
    use std::os::unix::fs::PermissionsExt;
    let home = TestHome::new();
    drop(TestServer::start(&home, &[]));
    key(&home, "a", "read", ["default", "default"]);
    let files = ["server.token", "server.keys.json"].map(|name| home.path().join(name));
    for file in &files {
        fs::set_permissions(file, fs::Permissions::from_mode(0o644)).unwrap();
    }
    let server = TestServer::start(&home, &[]);
    for file in &files {
        assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let log = fs::read_to_string(home.sibling("log")).unwrap();
    assert!(log.contains("server.token (mode 0644); it is 0600 now"), "{log}");
    assert!(log.contains("server.keys.json (mode 0644)"), "{log}");
    assert_eq!(server.request("GET", "/v1/stats", None).status, 200);
}
