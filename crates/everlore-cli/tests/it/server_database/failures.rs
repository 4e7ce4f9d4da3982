//! Databases that fail under writes, in short: `everlore-eval cluster` does the same with more clients and for longer.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use everlore_test_databases::{Fault, FaultProxy};
use serde_json::json;

use super::{TestMariaDb, TestPostgres, home_on, wait_for};
use crate::{home::TestHome, serve::TestServer};

/// Clients that write during a failure.
const CLIENTS: usize = 4;

/// Writes of each client before the failure, and after it.
const WRITES: usize = 3;

/// Acknowledged texts of each client.
type Acknowledged = Mutex<Vec<Vec<String>>>;

/// Writes through a server while `fail` runs and until every client could write again; then each write must be there
/// exactly once.
fn write_during(home: &TestHome, fail: impl FnOnce()) {
    let server = TestServer::start(home, &[]);
    let (written, is_over) = (Acknowledged::new(vec![Vec::new(); CLIENTS]), AtomicBool::new(false));
    let least = || written.lock().unwrap().iter().map(Vec::len).min().unwrap();
    thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (server, written, is_over) = (&server, &written, &is_over);
            scope.spawn(move || write_until(server, client, written, is_over));
        }
        wait_for("writes before the failure", || least() >= WRITES);
        fail();
        let before = written.lock().unwrap().iter().map(Vec::len).max().unwrap();
        wait_for("writes after the failure", || least() >= before + WRITES);
        is_over.store(true, Ordering::Relaxed);
    });
    home.assert_healthy();
    let exported = home.run(&["memory", "export"]).out;
    let written = written.into_inner().unwrap().concat();
    for text in &written {
        assert_eq!(exported.matches(text).count(), 1, "{text}");
    }
    assert_eq!(exported.matches("of the hall.").count(), written.len());
}

fn write_until(server: &TestServer, client: usize, written: &Acknowledged, is_over: &AtomicBool) {
    for number in 0.. {
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        let text =
            format!("Lamp {client}z{number} hangs beside door {number}z{client} of the hall.");
        while !is_saved(server, &format!("key-{client}-{number}"), &text) {
            thread::sleep(Duration::from_millis(50));
        }
        written.lock().unwrap()[client].push(text);
    }
}

/// Sends a write; `false` if the server says that it can be sent again.
fn is_saved(server: &TestServer, key: &str, text: &str) -> bool {
    let secret = format!("Bearer {}", server.token);
    let headers = [("authorization", secret.as_str()), ("idempotency-key", key)];
    let body = Some(json!({ "content": text }));
    let answer = server.request_with_headers(&headers, "POST", "/v1/memories", body);
    if [200, 201].contains(&answer.status) {
        return true;
    }
    assert_eq!(answer.problem_code(503), "store");
    assert_eq!(answer.headers["retry-after"], "1");
    false
}

#[test]
fn a_standby_that_is_promoted_takes_over() {
    let mut postgres = TestPostgres::start();
    let mut standby = postgres.runtime.block_on(postgres.server.standby());
    let primary = postgres.server.address().to_string();
    let both = format!("{primary},{}", standby.address());
    let home = home_on(&postgres.url().replace(&primary, &both));
    write_during(&home, || {
        postgres.server.kill();
        postgres.runtime.block_on(standby.promote());
    });
}

#[test]
fn a_mariadb_server_that_is_killed_and_restarted_has_every_write() {
    let mut mariadb = TestMariaDb::start();
    let home = home_on(&mariadb.url("everlore"));
    write_during(&home, || {
        mariadb.server.kill();
        mariadb.runtime.block_on(mariadb.server.restart());
    });
}

#[test]
fn a_bad_network_loses_and_doubles_nothing() {
    let postgres = TestPostgres::start();
    let proxy = postgres.runtime.block_on(FaultProxy::start(postgres.server.address()));
    let url = postgres.server.url_at(proxy.address());
    let home = home_on(&format!("{url}?connect_timeout=1&acquire_timeout=2&statement_timeout=1"));
    let faults = [
        Fault::Delay(Duration::from_millis(20)),
        Fault::TruncateRequests(700),
        Fault::TruncateResponses(300),
        Fault::Refuse,
        Fault::Blackhole,
        Fault::None,
    ];
    write_during(&home, || {
        for fault in faults {
            postgres.runtime.block_on(proxy.set(fault));
            // Long enough for some writes to meet it.
            thread::sleep(Duration::from_millis(400));
            postgres.runtime.block_on(proxy.cut());
        }
    });
}
