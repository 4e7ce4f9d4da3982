//! Schedules, reminders and the heartbeat over HTTP.

use std::io::{BufRead, BufReader, Write};

use serde_json::{Value, json};

use super::{TestServer, id};
use crate::home::TestHome;

#[test]
fn a_reminder_that_is_due_reaches_those_who_listen() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let mut stream = server.connect();
    write!(
        stream,
        "GET /v1/events HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\n\r\n",
        server.token
    )
    .unwrap();
    let new = json!({ "text": "every second 喝水" });
    let added = server.request("POST", "/v1/schedules", Some(new)).json(201);
    let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
    lines.find(|line| line == "event: reminder").expect("the stream ended");
    let data = lines.next().unwrap();
    let event: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
    assert_eq!((&event["task"], &event["id"]), (&json!("喝水"), &added["id"]));
    let path = format!("/v1/schedules/{}", id(&added));
    assert_eq!(server.request("DELETE", &path, None).json(200)["id"], added["id"]);
    assert_eq!(server.request("GET", "/v1/schedules", None).json(200)["schedules"], json!([]));
    let unclear = json!({ "text": "soon" });
    assert_eq!(server.request("POST", "/v1/schedules", Some(unclear)).problem_code(422), "invalid");
    let explain = json!({ "text": "每天早上9点", "zone": "Asia/Shanghai" });
    let explained = server.request("POST", "/v1/schedules/explain", Some(explain)).json(200);
    assert_eq!(explained["cron"], "0 9 * * *");
    let off = Some(json!({ "on": false }));
    let status = server.request("PUT", "/v1/heartbeat/reminders", off).json(200);
    assert_eq!((&status["jobs"][0]["on"], &status["enabled"]), (&json!(false), &json!(true)));
    let history = server.request("GET", "/v1/heartbeat/history", None).json(200);
    assert!(history["history"].as_array().unwrap().iter().any(|run| run["job"] == "reminders"));
}
