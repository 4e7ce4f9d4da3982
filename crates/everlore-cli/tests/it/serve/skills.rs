//! Skills over HTTP: the owner's suggestions, versions and outcomes; a key reads and reports, and changes nothing else.

use serde_json::{Value, json};

use super::TestServer;
use crate::home::TestHome;

#[test]
fn a_skill_is_approved_read_changed_and_removed_over_http() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let post = |path: &str, body: Value| server.request("POST", path, Some(body));
    let get = |path: &str| server.request("GET", path, None);
    let new = json!({
        "pain": "端口被占用", "solution": "先结束旧进程", "outcome": "好了",
        "error": "Error: listen EADDRINUSE: address already in use :::8080",
    });
    let cure = post("/v1/experiences", new).json(201);
    let cure = cure["id"].as_str().unwrap();
    for _ in 0..2 {
        post(&format!("/v1/experiences/{cure}/outcome"), json!({ "worked": true })).json(200);
    }
    let report = post("/v1/reflect", json!({})).json(200);
    let proposal = &report["proposals"][0];
    assert_eq!(proposal["expected_use"]["times"], 3, "{report}");
    let id = proposal["id"].as_str().unwrap();
    assert_eq!(get("/v1/skills").json(200), json!({ "skills": [] }));
    post(&format!("/v1/proposals/{id}/approve"), json!({})).json(200);
    let listed = get("/v1/skills").json(200);
    let name = listed["skills"][0]["name"].as_str().unwrap();
    let path = format!("/v1/skills/{name}");
    let skill = get(&path).json(200);
    let text = skill["text"].as_str().unwrap();
    assert!(text.contains("先结束旧进程") && skill["path"].is_string(), "{skill}");
    assert_eq!(get("/v1/skills?user=li").json(200), json!({ "skills": [] }));
    get(&format!("{path}?user=li")).json(404);
    let put = |text: &str| server.request("PUT", &path, Some(json!({ "text": text })));
    assert_eq!(put("no front matter").problem_code(422), "invalid");
    assert_eq!(put(&format!("{text}\nMore.\n")).json(200)["version"], 2);
    let back = post(&format!("{path}/rollback"), json!({})).json(200);
    assert_eq!((&back["version"], &back["text"]), (&json!(1), &json!(text)));
    let history = get(&format!("{path}/history")).json(200);
    assert_eq!(history["versions"].as_array().unwrap().len(), 3);
    let failed = post(&format!("{path}/outcome"), json!({ "worked": false })).json(200);
    assert_eq!(failed["effect"]["failed"], 1);
    assert_eq!(post(&format!("{path}/retire"), json!({})).json(200)["state"], "retired");
    assert_eq!(get("/v1/skills").json(200), json!({ "skills": [] }));
    assert_eq!(get("/v1/skills?retired=true").json(200)["skills"][0]["state"], "retired");
    post(&format!("{path}/restore"), json!({})).json(200);
    server.request("DELETE", &path, None).json(200);
    get(&path).json(404);
    assert_eq!(get("/v1/workflows").json(200), json!({ "workflows": [] }));
}
