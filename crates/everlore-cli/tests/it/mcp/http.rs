//! MCP over HTTP with the access checks of every route, and the settings in the docs.

use serde_json::{Value, json};

use super::modern;
use crate::{home::TestHome, serve::TestServer};

#[test]
fn over_http_the_guards_are_those_of_every_route() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &["--tools", "search"]);
    let bearer = format!("Bearer {}", server.token);
    let headers = |more: &[(&'static str, &'static str)]| {
        let mut all = vec![
            ("authorization", bearer.clone()),
            ("accept", "application/json, text/event-stream".to_owned()),
            ("mcp-protocol-version", "2026-07-28".to_owned()),
            ("mcp-method", "tools/list".to_owned()),
        ];
        all.retain(|(name, _)| more.iter().all(|(other, _)| other != name));
        all.extend(more.iter().map(|(name, value)| (*name, (*value).to_owned())));
        all
    };
    let send = |more: &[(&'static str, &'static str)], path: &str, method: &str| {
        let all = headers(more);
        let all: Vec<(&str, &str)> =
            all.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let body = (method == "POST").then(|| modern(1, "tools/list", json!({})));
        server.request_with_headers(&all, method, path, body)
    };
    let listed = send(&[], "/mcp", "POST").json(200);
    assert_eq!(
        listed["result"]["tools"].as_array().unwrap().len(),
        2,
        "those of the server's option"
    );
    let listed = send(&[], "/mcp?tools=core,graph", "POST").json(200);
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 16, "those of the address");
    assert_eq!(
        send(&[("authorization", "Bearer no")], "/mcp", "POST").problem_code(401),
        "unauthorized"
    );
    assert_eq!(
        send(&[("origin", "https://evil.example")], "/mcp", "POST").problem_code(403),
        "foreign_origin"
    );
    assert_eq!(send(&[("host", "evil.example")], "/mcp", "POST").problem_code(403), "foreign_host");
    assert_eq!(send(&[], "/mcp?tools=magic", "POST").problem_code(400), "invalid");
    assert_eq!(send(&[], "/mcp?tool=core", "POST").problem_code(400), "invalid");
    assert_eq!(send(&[], "/mcp", "GET").status, 405);
    assert_eq!(send(&[], "/mcp", "DELETE").status, 405);
    let mismatch = send(&[("mcp-method", "tools/call")], "/mcp", "POST").json(400);
    assert_eq!(mismatch["error"]["code"], -32_020, "{mismatch}");
    assert_eq!(send(&[("accept", "text/html")], "/mcp", "POST").status, 406);
    let audit = std::fs::read_to_string(home.path().join("server-audit.jsonl")).unwrap_or_default();
    let lines = audit.lines().filter(|line| line.contains("\"/mcp\"")).count();
    assert!(lines >= 10, "{audit}");
}

/// Returns the code blocks of a language in a text.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");
    text.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

/// Returns the command lines in a setting, at any depth.
fn commands(value: &Value, found: &mut Vec<Vec<String>>) {
    let words = |value: &Value| -> Vec<String> {
        let all = value.as_array().into_iter().flatten();
        all.map(|word| word.as_str().unwrap().to_owned()).collect()
    };
    match &value["command"] {
        Value::String(program) => {
            found.push([vec![program.clone()], words(&value["args"])].concat())
        }
        all @ Value::Array(_) => found.push(words(all)),
        _ => value.as_object().into_iter().flatten().for_each(|(_, inner)| commands(inner, found)),
    }
}

#[test]
fn what_the_docs_give_to_paste_can_be_read_and_starts_a_server() {
    let home = TestHome::new();
    let docs = include_str!("../../../../../docs/connect.md");
    let mut found = Vec::new();
    for block in blocks(docs, "json") {
        commands(&serde_json::from_str(block).unwrap(), &mut found);
    }
    for block in blocks(docs, "toml") {
        let read: toml::Value = toml::from_str(block).unwrap();
        commands(&serde_json::to_value(read).unwrap(), &mut found);
    }
    assert_eq!(found.len(), 11, "{found:?}");
    for command in found {
        assert_eq!(command[0], "everlore");
        let request = modern(1, "server/discover", json!({}));
        let ran = home.run_with_input(&command[1..], format!("{request}\n").as_bytes());
        assert!(ran.code == 0 && ran.out.contains("supportedVersions"), "{command:?}: {ran:?}");
    }
    for tool in home.json(&["tool", "list", "--set", "core"])["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        assert!(docs.contains(&format!("| `{name}` | ")), "{name} is not in docs/connect.md");
    }
}
