//! A database that is stopped and comes back: what the server and commands say, and that they recover by themselves.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{TestPostgres, wait_for};
use crate::serve::{TestServer, contents};

/// Longest time until a command tells that a database refuses or does not listen, on a busy machine.
const SOON: Duration = Duration::from_secs(4);

/// Status of a route without authentication.
fn status(server: &TestServer, path: &str) -> u16 {
    server.request_with_headers(&[], "GET", path, None).status
}

#[test]
fn a_server_starts_without_its_database_and_is_ready_when_it_comes() {
    let mut postgres = TestPostgres::start();
    let home = postgres.home();
    home.remember("The user drinks oolong.");
    postgres.stop();
    let server = TestServer::start(&home, &[]);
    assert_eq!(status(&server, "/health"), 200);
    let not_ready = server.request_with_headers(&[], "GET", "/ready", None);
    assert_eq!(not_ready.problem_code(503), "not_ready");
    assert_eq!(not_ready.headers["retry-after"], "1");
    assert!(not_ready.text.contains("the database cannot be reached"), "{not_ready:?}");
    let refused = server.request("GET", "/v1/memories", None);
    assert_eq!(refused.problem_code(503), "not_ready");
    postgres.restart();
    wait_for("ready", || status(&server, "/ready") == 200);
    let listed = server.request("GET", "/v1/memories", None).json(200);
    assert_eq!(contents(&listed["memories"]), ["The user drinks oolong."]);
    let log = std::fs::read_to_string(home.sibling("log")).unwrap();
    assert!(log.contains(&postgres.shown()) && !log.contains(&postgres.password()), "{log}");
}

#[test]
fn a_server_tells_an_outage_and_recovers() {
    let mut postgres = TestPostgres::start();
    let home = postgres.home();
    let server = TestServer::start(&home, &[]);
    let save =
        |text: &str| server.request("POST", "/v1/memories", Some(json!({ "content": text })));
    save("The user drinks oolong.").json(201);
    assert_eq!(status(&server, "/ready"), 200);
    postgres.stop();
    let began = Instant::now();
    let failed = save("The user drinks sencha.");
    assert_eq!(failed.problem_code(503), "store");
    assert_eq!(failed.headers["retry-after"], "1");
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    assert_eq!(status(&server, "/ready"), 503);
    assert_eq!(status(&server, "/health"), 200);
    postgres.restart();
    wait_for("ready", || status(&server, "/ready") == 200);
    save("The user drinks sencha.").json(201);
    let listed = server.request("GET", "/v1/memories", None).json(200);
    assert_eq!(contents(&listed["memories"]).len(), 2);
}

#[test]
fn a_command_says_which_database_does_not_answer() {
    let mut postgres = TestPostgres::start();
    let home = postgres.home();
    postgres.stop();
    for args in [&["recall", "tea"] as &[&str], &["--json", "recall", "tea"], &["doctor"]] {
        let began = Instant::now();
        let ran = home.run(args);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
        postgres.assert_hidden(&ran);
        let told = ran.out + &ran.err;
        assert!(told.contains(&postgres.shown()) && told.contains("runs"), "{told}");
    }
}

#[test]
fn a_refusal_is_told_at_once_and_a_server_does_not_wait_for_it() {
    let postgres = TestPostgres::start();
    let home = postgres.home();
    let wrong = [
        postgres.url().replace(&postgres.password(), "hunter2"),
        postgres.url().replace("/postgres", "/no-such-database"),
    ];
    for url in wrong {
        super::write_config(&home, &format!("[store]\nurl = \"{url}\"\n"));
        for args in [&["recall", "tea"] as &[&str], &["serve", "--port", "0"]] {
            let began = Instant::now();
            let ran = home.run(args);
            assert!(ran.code == 2 && began.elapsed() < SOON, "{:?}: {ran:?}", began.elapsed());
            assert!(ran.err.contains("refuses") && ran.err.contains("check user"), "{ran:?}");
            assert!(!ran.err.contains("hunter2"), "{ran:?}");
        }
    }
}

#[test]
fn a_save_during_an_outage_is_kept_and_stored_later() {
    let mut postgres = TestPostgres::start();
    let home = postgres.home();
    home.remember("The user drinks oolong.");
    postgres.stop();
    let ran = home.run(&["remember", "The user moved to Lisbon."]);
    assert_eq!(ran.code, 2, "{ran:?}");
    postgres.assert_hidden(&ran);
    postgres.restart();
    assert_eq!(home.recall("Where does the user live?")[0], "The user moved to Lisbon.");
}
