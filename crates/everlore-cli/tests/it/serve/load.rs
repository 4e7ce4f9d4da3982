//! A server under load: clients that never read, bodies that are costly to look at, and many listeners. All others are
//! answered as usual.

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use serde_json::json;

use super::{TestServer, access::key};
use crate::home::TestHome;

/// Clients that never read: more than the server has places.
const SLOW_READERS: usize = 600;

/// Time within which 99 of 100 requests for `/health` are answered, whatever else happens.
const MAX_HEALTH: Duration = Duration::from_millis(100);

/// Samples of a percentile: with 300, the three slowest are left out.
const MIN_SAMPLES: usize = 300;

/// Requests that a client sends at once and whose responses it never reads: far more than the buffers hold.
const UNREAD_REQUESTS: usize = 60;

/// Asks for `/health` on a new connection and returns how long that took.
fn health(server: &TestServer) -> Duration {
    let began = Instant::now();
    let answer =
        server.send_raw(b"GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    began.elapsed()
}

/// Asks for `/health` until `is_done`, often enough for a percentile, and returns the 99th.
fn health_p99(server: &TestServer, is_done: impl Fn() -> bool) -> Duration {
    let mut times = Vec::new();
    while times.len() < MIN_SAMPLES || !is_done() {
        times.push(health(server));
        std::thread::sleep(Duration::from_millis(5));
    }
    times.sort_unstable();
    times[times.len() * 99 / 100]
}

/// Returns the processor time that the server has used.
fn cpu_time(server: &TestServer) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{}/stat", server.child.id())).unwrap();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    // Linux counts in hundredths of a second.
    Duration::from_millis(ticks * 10)
}

/// Opens a connection, asks for large responses and reads none of them.
fn slow_reader(server: &TestServer) -> TcpStream {
    let mut stream = server.connect();
    let request =
        b"GET /v1/openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(UNREAD_REQUESTS);
    // The server may have closed it for another.
    let _ = stream.write_all(&request);
    stream
}

#[test]
fn clients_that_never_read_do_not_stop_the_server() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let slow: Vec<TcpStream> = (0..SLOW_READERS).map(|_| slow_reader(&server)).collect();
    let p99 = health_p99(&server, || true);
    assert!(p99 < MAX_HEALTH, "{p99:?}");
    let memory = json!({ "content": "I like oolong 我喜欢乌龙茶" });
    server.request("POST", "/v1/memories", Some(memory)).json(201);
    drop(slow);
    assert_eq!(server.request("GET", "/v1/stats", None).json(200)["total"], 1);
}

#[test]
fn a_client_that_never_reads_is_disconnected_in_time() {
    let home = TestHome::new();
    let server = TestServer::start_with_timeouts(&home, &[], "write=500");
    let mut stream = slow_reader(&server);
    // Long enough for the server to give up, and for the test to be the one that is slow.
    std::thread::sleep(Duration::from_secs(3));
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let responses = answer.windows(12).filter(|window| window == b"HTTP/1.1 200").count();
    assert!((1..UNREAD_REQUESTS).contains(&responses), "{responses} responses were sent");
}

/// Sends a request while `/health` is asked for; returns the status of the answer and the 99th percentile.
fn answered_beside_health(server: &TestServer, request: &[u8]) -> (u16, Duration) {
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let sender = scope.spawn(|| {
            let answer = server.send_raw(request);
            is_done.store(true, Ordering::SeqCst);
            answer.get(9..12).and_then(|status| status.parse().ok()).unwrap_or(0)
        });
        let p99 = health_p99(server, || is_done.load(Ordering::SeqCst));
        (sender.join().unwrap(), p99)
    })
}

fn post(secret: &str, path: &str, kind: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {secret}\r\ncontent-type: {kind}\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

#[test]
fn bodies_that_are_costly_to_look_at_delay_no_other_request() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let reader = key(&home, "reader", "read", ["default", "default"]);
    let tags: Vec<String> = (0..100_000).map(|number| format!("tag{number}")).collect();
    let tagged = json!({ "content": "tea 茶", "tags": tags }).to_string();
    let query = json!({ "query": "what is my tea, 我的茶是什么？".repeat(150_000) }).to_string();
    let turn =
        json!({ "text": "next friday I am (at) [home] 下周五我在家。".repeat(60_000) }).to_string();
    let bomb =
        json!({ "uri": "resources/bomb.md", "content": "- [a](".repeat(20_000) }).to_string();
    for (name, secret, path, body, expected) in [
        ("100,000 tags", &server.token, "/v1/memories", &tagged, 422),
        ("a query of 6 MB", &reader, "/v1/recall", &query, 422),
        ("a message of 6 MB", &reader, "/v1/context", &query, 200),
        ("a turn of 3 MB", &server.token, "/v1/turns", &turn, 201),
        ("a document bomb", &server.token, "/v1/fs", &bomb, 200),
    ] {
        let request = post(secret, path, "application/json", body.as_bytes());
        let began = Instant::now();
        let (status, p99) = answered_beside_health(&server, &request);
        assert_eq!(status, expected, "{name}");
        assert!(p99 < MAX_HEALTH, "{name}: {p99:?}");
        assert!(began.elapsed() < Duration::from_secs(60), "{name}: {:?}", began.elapsed());
    }
}

#[cfg(feature = "openviking")]
#[test]
fn a_form_with_a_long_boundary_is_refused_at_once() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let boundary = "-".repeat(30_000);
    let kind = format!("multipart/form-data; boundary={boundary}");
    let body = "-".repeat(4_000_000);
    let request = post(&server.token, "/api/v1/resources/temp_upload", &kind, body.as_bytes());
    let (status, p99) = answered_beside_health(&server, &request);
    assert_eq!(status, 400);
    assert!(p99 < MAX_HEALTH, "{p99:?}");
}

/// Opens an event stream and waits for its first bytes.
fn listener(server: &TestServer, secret: &str) -> TcpStream {
    let mut stream = server.connect();
    let request = format!(
        "GET /v1/events HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {secret}\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut first = [0; 12];
    stream.read_exact(&mut first).unwrap();
    stream
}

#[test]
fn listeners_cost_nothing_while_nothing_happens() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let large = json!({ "content": "a long story 很长的故事 ".repeat(60_000) });
    server.request("POST", "/v1/memories", Some(large)).json(201);
    let mut listeners: Vec<_> = (0..100).map(|_| listener(&server, &server.token)).collect();
    std::thread::sleep(Duration::from_secs(1));
    let before = cpu_time(&server);
    std::thread::sleep(Duration::from_secs(4));
    let used = cpu_time(&server) - before;
    assert!(used < Duration::from_millis(400), "{used:?} of processor time in 4 s");
    server.request("POST", "/v1/memories", Some(json!({ "content": "news 新闻" }))).json(201);
    for stream in &mut listeners {
        let mut text = String::new();
        while !text.contains("event: change") {
            let mut bytes = [0; 1_024];
            let count = stream.read(&mut bytes).unwrap();
            assert!(count > 0, "{text}");
            text += &String::from_utf8_lossy(&bytes[..count]);
        }
    }
}

#[test]
fn a_removed_key_hears_nothing_more() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let secret = key(&home, "耳朵", "read", ["default", "default"]);
    let mut heard = listener(&server, &secret);
    home.json(&["serve", "key", "remove", "耳朵"]);
    let began = Instant::now();
    let mut rest = String::new();
    // The last chunk of a stream is empty.
    while !rest.ends_with("\r\n0\r\n\r\n") {
        let mut bytes = [0; 256];
        let count = heard.read(&mut bytes).unwrap();
        assert!(count > 0, "{rest}");
        rest += &String::from_utf8_lossy(&bytes[..count]);
    }
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert!(!rest.contains("event: change"), "{rest}");
}

#[test]
fn a_key_has_a_bounded_number_of_requests_and_the_owner_has_room() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let secret = key(&home, "greedy", "read", ["default", "default"]);
    let listeners: Vec<_> = (0..64).map(|_| listener(&server, &secret)).collect();
    let refused = server.request_as(&secret, "GET", "/v1/stats", None);
    assert_eq!(refused.problem_code(503), "busy");
    assert_eq!(refused.headers["retry-after"], "1");
    assert_eq!(server.request("GET", "/v1/stats", None).status, 200);
    drop(listeners);
    let began = Instant::now();
    while server.request_as(&secret, "GET", "/v1/stats", None).status != 200 {
        assert!(began.elapsed() < Duration::from_secs(30), "no place became free");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn the_description_is_built_once() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let first = server.request_with_headers(&[], "GET", "/v1/openapi.json", None).text;
    let before = cpu_time(&server);
    for _ in 0..50 {
        let again = server.request_with_headers(&[], "GET", "/v1/openapi.json", None);
        assert!(again.text == first);
    }
    let used = cpu_time(&server) - before;
    assert!(used < Duration::from_secs(1), "{used:?} for 50 requests");
}
