//! Explanations over HTTP: why a memory is not returned or injected; and the stable part of a prompt.

use serde_json::{Value, json};

use super::{TestServer, id};
use crate::home::TestHome;

fn save(server: &TestServer, content: &str, query: &str) -> String {
    let path = format!("/v1/memories{query}");
    id(&server.request("POST", &path, Some(json!({ "content": content }))).json(201))
}

#[test]
fn recall_and_context_explain_a_missing_memory_and_reveal_nothing_of_other_scopes() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let theirs = save(&server, "My boat is called Alba 我的船叫阿尔巴", "?user=eve");
    for (content, other, query) in [
        ("The staging port is 8443.", "My sister keeps bees.", "Which port does staging use?"),
        ("预发布环境的端口是九千。", "我妹妹养蜜蜂。", "预发布环境用哪个端口？"),
    ] {
        let (wanted, other) = (save(&server, content, ""), save(&server, other, ""));
        for path in ["/v1/recall", "/v1/context"] {
            let ask = |id: &str| {
                server.request("POST", path, Some(json!({ "query": query, "why_not": id })))
            };
            let response = ask(&wanted).json(200)["why_not"].clone();
            let reason = if path == "/v1/recall" { "returned" } else { "told" };
            assert_eq!(
                (&response["reason"], &response["id"]),
                (&json!(reason), &json!(wanted)),
                "{response}"
            );
            let kept_out = ask(&other).json(200)["why_not"].clone();
            assert!(kept_out["message"].as_str().is_some_and(|text| text.len() > 20), "{kept_out}");
            assert_ne!(kept_out["reason"], reason, "{kept_out}");
            let refused = ask(&theirs);
            assert_eq!(refused.problem_code(404), "not_found");
            assert!(!refused.text.contains("Alba"), "{refused:?}");
        }
        let plain = server.request("POST", "/v1/recall", Some(json!({ "query": query }))).json(200);
        assert!(plain.get("why_not").is_none(), "{plain}");
    }
    let then = json!({ "query": "port", "why_not": theirs, "as_of": "2026-01-01T00:00:00Z" });
    assert_eq!(server.request("POST", "/v1/recall", Some(then)).problem_code(422), "invalid");
    let found = server.request("GET", "/v1/fs/find?query=port&explain=true", None).json(200);
    assert!(found["found"][0]["signals"]["terms"][0]["term"] == "port", "{found}");
    assert!(found["found"][0]["factors"]["relevance"].is_number(), "{found}");
}

#[test]
fn context_explains_the_block_that_it_answers() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let error = "ModuleNotFoundError: No module named 'yaml'";
    let experience = json!({ "pain": "yaml 缺失", "solution": "pip install pyyaml", "outcome": "worked", "error": error });
    let cure = id(&server.request("POST", "/v1/experiences", Some(experience)).json(201));
    let other = save(&server, "The yaml module of the course is on Mondays.", "");
    for session in [Value::Null, json!("monday")] {
        let ask = |why_not: &str| {
            let body =
                json!({ "query": error, "failure": true, "session": session, "why_not": why_not });
            server.request("POST", "/v1/context", Some(body)).json(200)
        };
        let told = ask(&cure);
        assert!(told["text"].as_str().unwrap().contains("pyyaml"), "{told}");
        assert_eq!(told["why_not"]["reason"], "told", "{told}");
        assert_eq!(ask(&other)["why_not"]["reason"], "not_a_cure");
    }
}

#[test]
fn the_stable_part_of_a_prompt_keeps_its_bytes_while_memories_are_saved() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let layer = |content: &str| {
        let body = json!({ "action": "add", "section": "Work 工作", "content": content });
        server.request("PATCH", "/v1/layers/user", Some(body)).json(200);
    };
    layer("- a nurse 护士");
    let turn = |session: &str, number: usize| -> Value {
        let question =
            format!("Which locker number {number} is mine? 我的柜子 {number} 号是哪个？");
        let body = json!({ "query": question, "session": session, "stable": true });
        server.request("POST", "/v1/context", Some(body)).json(200)
    };
    let first = turn("monday", 0);
    let stable = first["stable"].as_str().unwrap();
    assert!(stable.contains("护士"), "{first}");
    assert_eq!(first["bytes"]["stable_bytes"], stable.len());
    assert!(first["bytes"].get("changed_bytes").is_none(), "there was no turn before: {first}");
    for number in 1..10 {
        save(
            &server,
            &format!("My locker number {number} at the gym is {}. 柜子 {number} 号。", number * 7),
            "",
        );
        layer(&format!("- shift 班次 {number}"));
        let response = turn("monday", number);
        assert_eq!(response["bytes"]["changed_bytes"], 0, "{response}");
        assert_eq!(response["bytes"]["stable_fingerprint"], first["bytes"]["stable_fingerprint"]);
        assert_eq!(response["stable"], first["stable"]);
        let injected = response["text"].as_str().unwrap().len();
        assert!(
            injected > 0 && response["bytes"]["turn_bytes"].as_u64().unwrap() as usize >= injected
        );
    }
    let next = turn("tuesday", 3);
    assert!(next["stable"].as_str().unwrap().contains("班次 9"), "the next one sees it: {next}");
    let nameless = json!({ "query": "locker", "stable": true });
    assert_eq!(server.request("POST", "/v1/context", Some(nameless)).problem_code(422), "invalid");
}
