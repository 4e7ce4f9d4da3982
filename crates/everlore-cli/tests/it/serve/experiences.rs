//! Experiences and feedback over HTTP: each user has their own.

use serde_json::{Value, json};

use super::{TestServer, id};
use crate::home::TestHome;

#[test]
fn an_experience_is_recorded_found_reported_and_judged_over_http() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let post = |path: &str, body: Value| server.request("POST", path, Some(body));
    let error = "Error: listen EADDRINUSE: address already in use :::8080";
    let new = json!({ "pain": "端口被占用", "solution": "结束旧进程", "outcome": "好了", "error": error });
    let cure = id(&post("/v1/experiences", new).json(201));
    let query = json!({ "error": "OSError: [Errno 98] Address already in use" });
    let hits = post("/v1/experiences/find", query.clone()).json(200);
    assert_eq!((&hits["hits"][0]["id"], &hits["hits"][0]["same"]), (&json!(cure), &json!(true)));
    let other = post("/v1/experiences/find?user=li", query).json(200);
    assert_eq!(other["hits"], json!([]), "another user has other experiences");
    let path = format!("/v1/experiences/{cure}");
    let reported = post(&format!("{path}/outcome"), json!({ "worked": true })).json(200);
    assert_eq!((&reported["worked"], &reported["uses"]), (&json!(2), &json!(1)));
    let edit = Some(json!({ "context": "Debian" }));
    assert_eq!(server.request("PATCH", &path, edit).json(200)["context"], "Debian");
    let judged =
        post(&format!("/v1/memories/{cure}/feedback"), json!({ "verdict": "bad" })).json(200);
    assert_eq!(judged["memories"][0]["bad"], 1);
    post("/v1/undo", json!({ "run": judged["run"] })).json(200);
    let listed = server.request("GET", "/v1/experiences", None).json(200);
    assert_eq!(listed["experiences"][0]["failed"], 0, "{listed}");
    server.request("DELETE", &path, None).json(200);
    server.request("GET", &path, None).json(404);
    assert_eq!(post("/v1/experiences", json!({ "pain": "x" })).problem_code(422), "invalid");
}
