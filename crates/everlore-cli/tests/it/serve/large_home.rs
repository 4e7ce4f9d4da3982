//! A home with very many rows: lists are paged, within time and memory, and a slow reader delays no other.

use std::{io::Write, time::Instant};

use rusqlite::Connection;
use serde_json::{Value, json};

use super::TestServer;
use crate::home::TestHome;

/// Rows of the home; `docs/benchmarks.md` has the figures for a million.
const ROWS: usize = 200_000;

/// Longest time for a page of a thousand in a build without optimization, beside other tests.
const MAX_PAGE_SECONDS: u64 = 5;

/// Memory that the lists of such a home may add to the server: a few pages, and no share of the rows.
const MAX_GROWTH_KIB: u64 = 150 * 1024;

/// Copies one row straight into the table: lists read nothing else.
fn fill_with_rows(home: &TestHome) {
    home.remember("row 行");
    let db = Connection::open(home.path().join("everlore.db")).unwrap();
    db.execute_batch(&format!(
        "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {ROWS})
         INSERT INTO memories (scope, place, id, seq, uri, kind, status, at, created_at, updated_at, version, importance,
             confidence, weight, text, detail, name, description, content)
         SELECT scope, place + n, unhex(hex(substr(id, 1, 8)) || printf('%016X', n)), seq, uri || n, kind, status, at,
             created_at, updated_at, version, importance, confidence, weight, text, detail, name, description, 'row 行 ' || n
         FROM memories, n"
    ))
    .unwrap();
}

#[cfg(target_os = "linux")]
fn resident_kib(server: &TestServer) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.child.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[cfg(not(target_os = "linux"))]
fn resident_kib(_: &TestServer) -> u64 {
    0
}

fn page(server: &TestServer, query: &str) -> Value {
    let began = Instant::now();
    let page = server.request("GET", &format!("/v1/memories?{query}"), None).json(200);
    let took = began.elapsed().as_secs();
    assert!(took < MAX_PAGE_SECONDS, "{query} took {took} s");
    page
}

#[test]
fn a_list_of_very_many_rows_is_paged() {
    let home = TestHome::new();
    fill_with_rows(&home);
    let server = TestServer::start(&home, &[]);
    page(&server, "limit=1000");
    let before = resident_kib(&server);
    let mut next = String::new();
    for _ in 0..5 {
        let response = page(&server, &format!("limit=1000{next}"));
        assert_eq!(response["memories"].as_array().unwrap().len(), 1_000);
        next = format!("&after={}", response["next"].as_str().unwrap());
    }
    let oldest = page(&server, "limit=1000&order=oldest");
    assert_eq!(oldest["memories"].as_array().unwrap().len(), 1_000);
    assert_eq!(page(&server, "limit=1")["memories"].as_array().unwrap().len(), 1);
    for wrong in
        ["limit=1001", "limit=1000000", "limit=0", "limit=-1", "limit=99999999999999999999"]
    {
        let response = server.request("GET", &format!("/v1/memories?{wrong}"), None);
        assert_eq!(response.problem_code(400), "invalid", "{wrong}");
    }
    let growth = resident_kib(&server).saturating_sub(before);
    assert!(growth < MAX_GROWTH_KIB, "the server grew by {growth} KiB");
    let stats = server.request("GET", "/v1/stats", None).json(200);
    assert_eq!(stats["total"], ROWS + 1, "{stats}");
}

#[test]
fn clients_that_do_not_read_delay_no_other_and_cost_little() {
    let home = TestHome::new();
    fill_with_rows(&home);
    let server = TestServer::start(&home, &[]);
    page(&server, "limit=1000");
    let before = resident_kib(&server);
    let lazy: Vec<_> = (0..8)
        .map(|_| {
            let mut stream = server.connect();
            let token = &server.token;
            let ask = format!("GET /v1/export HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\r\n");
            stream.write_all(ask.as_bytes()).unwrap();
            stream
        })
        .collect();
    for number in 0..5 {
        let body = json!({ "content": format!("第{number}句 said meanwhile") });
        server.request("POST", "/v1/memories?user=li", Some(body)).json(201);
        page(&server, "limit=1000");
    }
    let refused = server.request("GET", "/v1/export", None);
    assert_eq!(refused.problem_code(503), "busy", "one more export than a caller may run");
    let growth = resident_kib(&server).saturating_sub(before);
    assert!(growth < MAX_GROWTH_KIB, "the server grew by {growth} KiB");
    drop(lazy);
    assert_eq!(server.request_with_headers(&[], "GET", "/ready", None).status, 200);
}
