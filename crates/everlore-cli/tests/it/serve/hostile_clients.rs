//! Malicious and broken clients: the right status, nothing leaked, nothing hung.

use std::{
    io::{Read, Write},
    time::{Duration, Instant},
};

use serde_json::json;

use super::TestServer;
use crate::home::TestHome;

/// Time limit of the servers here, in milliseconds: short for a test, long for a client that is only slow.
const LIMIT_MS: u64 = 500;

/// Slow clients of a test.
const SLOW_CLIENTS: usize = 50;

/// A server that served the slow clients one after the other would take 25 s (50 times 500 ms).
const ALL_IN_TURN: Duration = Duration::from_secs(15);

/// Longer than a server with that limit can need on any machine.
const MAX_WAIT: Duration = Duration::from_secs(30);

fn request(server: &TestServer, line: &str, headers: &str) -> Vec<u8> {
    let token = &server.token;
    format!("{line} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\nconnection: close\r\n{headers}\r\n").into_bytes()
}

fn status(answer: &str) -> u16 {
    answer.get(9..12).and_then(|status| status.parse().ok()).unwrap_or(0)
}

#[test]
fn no_path_leads_out_of_the_api() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    for path in [
        "/../server.token",
        "/docs/../../server.token",
        "/docs/%2e%2e/%2e%2e/server.token",
        "/docs/..%2f..%2fserver.token",
        "/v1/layers/..%2fserver.token",
        "/v1/layers/%2e%2e%2f%2e%2e%2fserver.token",
        "/v1/layers/..%5cserver.token",
        "/v1/memories/..%2f..%2fserver.token",
        "/v1/memories/%00",
        "/v1/memories/%ff%fe",
        "/v1/memories/agent:%2f%2fother%2fuser%2fgeneral%2fx",
        "/v1/sessions/..%2f..%2fserver.token/end",
        "/v1/vault/..%2f..%2fserver.token",
        "/v1/vault/..%2fserver.token.md",
        "/v1/vault/%2e%2e%2f%2e%2e%2fserver.token",
        "/v1/vault/server.token%00.md",
        "/memories/..%2f..%2fserver.token",
        "/v1/memories/..%2f..%2fserver.token/",
        "/v1/event/..%2f..%2fserver.token/",
        "//server.token",
        "/v1/stats?agent=..%2f..&user=x",
        "/v1/stats?user=a%0d%0aset-cookie:%20a=b",
    ] {
        let answer = server.send_raw(&request(&server, &format!("GET {path}"), ""));
        assert!([400, 404, 405, 422].contains(&status(&answer)), "{path}: {answer}");
        assert!(
            !answer.contains(&server.token) && !answer.to_lowercase().contains("set-cookie: a=b"),
            "{path}: {answer}"
        );
    }
}

#[test]
fn bodies_that_are_too_long_are_refused_with_or_without_a_content_length() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &["--max-body", "10000"]);
    let kind = "content-type: application/json\r\n";
    let body = json!({ "content": "茶".repeat(5_000) }).to_string();
    let announced =
        request(&server, "POST /v1/memories", &format!("{kind}content-length: {}\r\n", body.len()));
    let answer = server.send_raw(&[announced, body.clone().into_bytes()].concat());
    assert_eq!(status(&answer), 413, "{answer}");
    assert!(answer.contains("\"too_large\""), "{answer}");
    let mut chunked =
        request(&server, "POST /v1/memories", &format!("{kind}transfer-encoding: chunked\r\n"));
    for part in body.as_bytes().chunks(1_000) {
        chunked.extend(format!("{:x}\r\n", part.len()).bytes());
        chunked.extend(part);
        chunked.extend(b"\r\n");
    }
    chunked.extend(b"0\r\n\r\n");
    assert_eq!(status(&server.send_raw(&chunked)), 413);
    assert_eq!(server.request("GET", "/v1/stats", None).json(200)["total"], 0);
}

#[cfg(feature = "mem0")]
#[test]
fn bodies_for_the_routes_of_mem0_are_bounded_too() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &["--max-body", "10000"]);
    let long = json!({ "messages": "茶".repeat(5_000), "user_id": "li" });
    let response = server.request("POST", "/v3/memories/add/", Some(long));
    assert!(response.json(413)["detail"].as_str().unwrap().contains("10000 bytes"), "{response:?}");
    let deep = format!("{{\"filters\":{}{}}}", "{\"AND\":[".repeat(200), "]}".repeat(200));
    let with = [
        ("authorization", &*format!("Bearer {}", server.token)),
        ("content-type", "application/json"),
    ];
    let response = server.request_with_headers(&with, "POST", "/v3/memories/", Some(json!(deep)));
    assert_eq!(response.status, 422, "{response:?}");
}

#[test]
#[cfg(unix)]
fn no_symbolic_link_in_a_vault_leads_out_of_it() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let page = json!({ "kind": "user", "name": "Role 角色", "content": "An engineer 工程师" });
    server.request("PUT", "/v1/vault/user_role.md", Some(page.clone())).json(200);
    let folder = home.path().join("vault");
    std::os::unix::fs::symlink(home.path().join("server.token"), folder.join("link.md")).unwrap();
    let response = server.request("GET", "/v1/vault/link.md", None);
    assert_eq!(response.problem_code(404), "not_found");
    let response = server.request("PUT", "/v1/vault/link.md", Some(page));
    assert_eq!(response.problem_code(422), "invalid");
    let token = std::fs::read_to_string(home.path().join("server.token")).unwrap();
    assert_eq!(token.trim(), server.token);
    assert!(!server.request("GET", "/v1/vault", None).text.contains(&server.token));
}

#[test]
fn headers_are_bounded_and_none_is_echoed() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let long = request(&server, "GET /v1/stats", &format!("x-long: {}\r\n", "a".repeat(300_000)));
    assert_eq!(status(&server.send_raw(&long)), 431);
    let many: String = (0..200).map(|number| format!("x-{number}: a\r\n")).collect();
    assert_eq!(status(&server.send_raw(&request(&server, "GET /v1/stats", &many))), 431);
    for id in ["a b", "<script>", "a\u{1}b", "x\ty"] {
        let answer =
            server.send_raw(&request(&server, "GET /v1/stats", &format!("x-request-id: {id}\r\n")));
        assert!(!answer.contains(&format!("x-request-id: {id}")), "{answer}");
    }
    let plain = server.send_raw(&request(&server, "GET /v1/stats", "x-request-id: turn-7\r\n"));
    assert!(plain.contains("x-request-id: turn-7\r\n"), "{plain}");
    let folded =
        server.send_raw(&request(&server, "GET /v1/stats", "x-everlore-user: a\r\n b\r\n"));
    assert_eq!(status(&folded), 400, "{folded}");
    let smuggled = request(
        &server,
        "POST /v1/memories",
        "content-length: 5\r\ntransfer-encoding: chunked\r\ncontent-type: application/json\r\n",
    );
    let smuggled =
        [smuggled, b"0\r\n\r\nGET /v1/export HTTP/1.1\r\nhost: localhost\r\n\r\n".to_vec()]
            .concat();
    let answer = server.send_raw(&smuggled);
    assert!(!answer.contains("everlore_export"), "{answer}");
    assert_eq!(server.request("GET", "/v1/stats", None).status, 200);
}

#[test]
fn other_protocols_are_refused() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    for bytes in [
        &b"\x16\x03\x01\x02\x00\x01\x00"[..],
        b"hello\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET /v1/stats HTTP/1.0\r\n\r\n",
    ] {
        let answer = server.send_raw(bytes);
        assert!(answer.is_empty() || (400..=599).contains(&status(&answer)), "{answer}");
    }
    let elsewhere = format!(
        "GET http://evil.example/v1/stats HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\nconnection: close\r\n\r\n",
        server.token
    );
    assert_eq!(status(&server.send_raw(elsewhere.as_bytes())), 403);
}

#[test]
fn clients_that_never_finish_are_disconnected_and_delay_no_other() {
    let home = TestHome::new();
    let server = TestServer::start_with_timeouts(&home, &[], &format!("headers={LIMIT_MS}"));
    let began = Instant::now();
    let mut slow: Vec<_> = (0..SLOW_CLIENTS)
        .map(|_| {
            let mut stream = server.connect();
            stream.write_all(b"GET /v1/stats HTTP/1.1\r\nhost: loc").unwrap();
            stream
        })
        .collect();
    assert_eq!(server.request("GET", "/v1/stats", None).status, 200);
    assert!(began.elapsed() < ALL_IN_TURN, "other clients had to wait");
    // Read until the server closes; a server that never does fails by the client's own time limit.
    let _ = slow[SLOW_CLIENTS - 1].read_to_end(&mut Vec::new());
    assert_in_time(began);
}

#[test]
fn headers_that_arrive_in_drops_are_cut_off_in_time() {
    let home = TestHome::new();
    let server = TestServer::start_with_timeouts(&home, &[], &format!("headers={LIMIT_MS}"));
    let began = Instant::now();
    let mut stream = server.connect();
    stream.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    stream.write_all(b"GET /v1/stats HTTP/1.1\r\nhost: localhost\r\n").unwrap();
    let mut answer = [0; 512];
    // A header line every 50 ms keeps the connection busy, and must not keep it open.
    loop {
        let sent = stream.write_all(b"x-drop: 1\r\n");
        match stream.read(&mut answer) {
            Ok(_) => break,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock && sent.is_ok() => {}
            Err(_) => break,
        }
        assert!(began.elapsed() < MAX_WAIT, "it is still open");
    }
    assert_in_time(began);
    assert_eq!(server.request("GET", "/v1/stats", None).status, 200);
}

#[test]
fn bodies_that_never_arrive_are_refused_and_delay_no_other() {
    let home = TestHome::new();
    let server = TestServer::start_with_timeouts(&home, &[], &format!("body={LIMIT_MS}"));
    let headers = "content-type: application/json\r\ncontent-length: 1000\r\n";
    let began = Instant::now();
    let mut slow: Vec<_> = (0..SLOW_CLIENTS).map(|_| server.connect()).collect();
    for stream in &mut slow {
        stream.write_all(&request(&server, "POST /v1/memories", headers)).unwrap();
        stream.write_all(b"{\"content\": \"").unwrap();
    }
    for number in 0..20 {
        let body = json!({ "content": format!("第{number}句 said meanwhile") });
        server.request("POST", "/v1/memories", Some(body)).json(201);
    }
    assert!(began.elapsed() < ALL_IN_TURN, "other clients had to wait");
    let mut answer = String::new();
    slow[SLOW_CLIENTS - 1].read_to_string(&mut answer).unwrap();
    assert_eq!(status(&answer), 408, "{answer}");
    assert!(answer.contains("\"too_slow\""), "{answer}");
    assert_in_time(began);
    assert_eq!(server.request("GET", "/v1/stats", None).json(200)["total"], 20);
}

/// Checks that a time limit was reached, and not exceeded by more than a loaded machine explains.
#[track_caller]
fn assert_in_time(began: Instant) {
    let took = began.elapsed();
    assert!(took >= Duration::from_millis(LIMIT_MS), "closed early, after {took:?}");
    assert!(took < MAX_WAIT, "closed late, after {took:?}");
}

#[test]
fn a_caller_above_its_rate_limit_is_refused_with_retry_after() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &["--rate", "5"]);
    let responses: Vec<_> = (0..40).map(|_| server.request("GET", "/v1/stats", None)).collect();
    let refused = responses.iter().find(|one| one.status == 429).expect("no request was refused");
    assert_eq!(
        (refused.problem_code(429).as_str(), refused.headers["retry-after"].as_bytes()),
        ("too_often", &b"1"[..])
    );
    assert_eq!(responses[0].status, 200);
}
