//! Hostile texts in every field, stored through the engine and looked at in everything that reaches a model: blocks,
//! layers, and the answers of all tools. `tests/data/safety/hostile.jsonl` was written without knowledge of the code.

use std::path::Path;

use everlore::{
    RememberRequest, Turn,
    engine::{
        Layer, LayerEdit, PromptRequest,
        fs::{FsAddRequest, FsInjectRequest},
    },
    types::{Actor, Role},
};
use serde_json::{Value, json};

use crate::{
    corpus::checks::{find_way_out, strip_own_tags},
    tools::ToolAgent,
};

/// Tags of the blocks that an answer may hold once each.
const OWN_TAGS: [&str; 8] = [
    "memory-context",
    "agent-identity",
    "user-profile",
    "agent-notes",
    "recent-activity",
    "memory-guide",
    "memory-index",
    "agent-skills",
];

/// Hostile text with its id, and the other half where it needs one.
struct HostileText {
    id: String,
    text: String,
    other_half: Option<String>,
}

fn hostile_texts() -> Vec<HostileText> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/safety/hostile.jsonl");
    let lines = std::fs::read_to_string(path).unwrap();
    let rows: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let text_of = |id: &Value| {
        let row = rows.iter().find(|row| row["id"] == *id);
        row.map(|row| row["text"].as_str().unwrap().to_owned())
    };
    let read = |row: &Value| HostileText {
        id: row["id"].as_str().unwrap().to_owned(),
        text: row["text"].as_str().unwrap().to_owned(),
        other_half: text_of(&row["pair"]),
    };
    rows.iter().map(read).collect()
}

/// Returns the first characters of a text: labels and titles have limits.
fn cut(text: &str, chars: usize) -> String {
    text.chars().take(chars).collect()
}

/// Stores a text in every field that takes it. What is refused is not stored.
async fn store_everywhere(agent: &ToolAgent, text: &str, other: &str) {
    let (engine, scope) = (&agent.engine, &agent.scope);
    let label = |text: &str| Some(cut(text, 200));
    let turns = [(other, text, "tea talk"), (text, other, text), ("s", "Mara", text)];
    for (session, speaker, said) in turns {
        let turn = Turn {
            text: format!("tea {said}"),
            session: label(session),
            speaker: label(speaker),
            role: Some(Role::User),
            time: None,
            ..Turn::default()
        };
        let _ = engine.observe(scope, vec![turn]).await;
    }
    let fields = RememberRequest {
        content: "green tea is kept in the kitchen".into(),
        name: Some(cut(text, 100)),
        description: text.into(),
        tags: vec![cut(text, 200), cut(other, 200)],
        session: label(text),
        metadata: [(cut(text, 50), json!(text))].into_iter().collect(),
        ..RememberRequest::default()
    };
    let _ = engine.remember(scope, fields).await;
    for content in [format!("{text} tea"), format!("about tea\n{text}\n{other}")] {
        engine.remember(scope, RememberRequest::new(content)).await.unwrap();
    }
    for layer in Layer::ALL {
        let edit = LayerEdit::Add { section: cut(text, 60), content: cut(text, 200) };
        let _ = engine.edit_layer(scope, layer, edit, Actor::Person).await;
    }
    let file = FsAddRequest {
        uri: format!("resources/{}", cut(text, 60)),
        bytes: format!("# {text}\n\ntea\n{text}\n").into_bytes(),
        ..FsAddRequest::default()
    };
    let _ = engine.fs_add(scope, file).await;
    let path = format!("/memories/{}.md", cut(text, 40));
    let note = format!("tea\n{text}\n");
    for path in [path.as_str(), "/memories/plain.md"] {
        agent.answer("memory", json!({"command": "create", "path": path, "file_text": note})).await;
    }
    let entity = json!({"name": text, "entityType": other, "observations": [text]});
    agent.answer("create_entities", json!({"entities": [entity]})).await;
}

/// Returns everything that a model would read, each with the name of where it stands.
async fn rendered(agent: &ToolAgent, text: &str) -> Vec<(String, String)> {
    let (engine, scope) = (&agent.engine, &agent.scope);
    let mut shown = Vec::new();
    let request = engine.context_request(scope, "where is the green tea?");
    shown.push(("context".to_owned(), engine.context(&request, 4_000).await.unwrap().text));
    let folder =
        FsInjectRequest { query: "tea".into(), uri: String::new(), limit: None, budget: None };
    shown.push(("fs inject".into(), engine.fs_inject(scope, &folder).await.unwrap().text));
    let prompt = engine.preview_prompt(scope, &PromptRequest::default()).await.unwrap();
    shown.push(("prompt".into(), prompt.text()));
    let memories = crate::support::all(engine, scope).await;
    let ids: Vec<_> = memories.iter().map(|memory| memory.id.to_string()).take(20).collect();
    let mut calls = vec![
        ("memory_recall", json!({"query": "green tea", "explain": true, "why_not": ids[0]})),
        ("memory_recall", json!({"query": text, "explain": true})),
        ("memory_get", json!({"ids": ids})),
        ("memory_get", json!({"ids": [text]})),
        ("memory_timeline", json!({"id": ids[0]})),
        ("memory_context", json!({"message": "where is the green tea?"})),
        ("memory", json!({"command": "view", "path": "/memories"})),
        ("memory", json!({"command": "view", "path": "/memories/plain.md"})),
        ("memory", json!({"command": "view", "path": format!("/memories/{text}")})),
        ("fs_ls", json!({"uri": "resources"})),
        ("fs_ls", json!({"uri": "sessions"})),
        ("fs_tree", json!({"depth": 6})),
        ("fs_find", json!({"query": "green tea"})),
        ("fs_grep", json!({"pattern": "tea"})),
        ("read_graph", json!({})),
        ("search_nodes", json!({"query": cut(text, 20)})),
        ("search", json!({"query": "green tea"})),
        ("memory_save", json!({"content": format!("oolong {text}"), "name": cut(text, 100)})),
        ("memory_update", json!({"id": ids.last(), "name": cut(text, 90)})),
    ];
    for file in ["soul", "user", "memory", "daily"] {
        calls.push(("memory_read", json!({"file": file})));
    }
    for memory in memories.iter().take(12) {
        calls.push(("fs_read", json!({"uri": memory.uri})));
        calls.push(("fs_stat", json!({"uri": memory.uri})));
        calls.push(("fetch", json!({"id": memory.id})));
    }
    for (name, input) in calls {
        let result = agent.answer(name, input.clone()).await;
        shown.push((format!("{name} {input}"), result.text));
        strings(&result.structured, &mut |value| {
            shown.push((format!("{name}, values"), value.into()))
        });
    }
    shown
}

fn strings(value: &Value, each: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => each(text),
        Value::Array(values) => values.iter().for_each(|value| strings(value, each)),
        Value::Object(fields) => fields.iter().for_each(|(key, value)| {
            each(key);
            strings(value, each);
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns where a text gets out of its block, or poses as a line of ours.
async fn ways_out(hostile: &HostileText) -> Vec<String> {
    let agent = ToolAgent::new().await;
    let other = hostile.other_half.as_deref().unwrap_or(&hostile.text);
    store_everywhere(&agent, &hostile.text, other).await;
    let mut found = Vec::new();
    for (place, text) in rendered(&agent, &hostile.text).await {
        let inside = strip_own_tags(&text, &OWN_TAGS);
        if let Some(way) = find_way_out(&inside) {
            found.push(format!("{} in {place}: {way}", hostile.id));
        }
        if place == "context" {
            let is_ours = |line: &str| line.is_empty() || line.starts_with(['[', ' ', 'R', '以']);
            let forged = inside.lines().find(|line| !is_ours(line));
            found.extend(forged.map(|line| format!("{} at the margin: {line}", hostile.id)));
        }
    }
    found
}

async fn check_share(share: usize, of: usize) {
    let texts = hostile_texts();
    assert!(texts.len() >= 150);
    let mut found = Vec::new();
    for hostile in texts.iter().skip(share).step_by(of) {
        found.extend(ways_out(hostile).await);
    }
    assert_eq!(found, Vec::<String>::new());
}

/// Four tests share the texts, so that they run beside each other.
#[tokio::test]
async fn no_hostile_text_gets_out_of_its_block_first_quarter() {
    check_share(0, 4).await;
}

#[tokio::test]
async fn no_hostile_text_gets_out_of_its_block_second_quarter() {
    check_share(1, 4).await;
}

#[tokio::test]
async fn no_hostile_text_gets_out_of_its_block_third_quarter() {
    check_share(2, 4).await;
}

#[tokio::test]
async fn no_hostile_text_gets_out_of_its_block_fourth_quarter() {
    check_share(3, 4).await;
}

#[tokio::test]
async fn what_is_stored_stays_as_it_was() {
    let agent = ToolAgent::new().await;
    for hostile in hostile_texts().iter().filter(|hostile| hostile.text.len() < 500).take(60) {
        let content = format!("tea {} tea", hostile.text);
        let request = RememberRequest::new(content.as_str());
        let saved = agent.engine.remember(&agent.scope, request).await.unwrap();
        assert_eq!(agent.engine.get(&agent.scope, saved.id).await.unwrap().content, content);
    }
}
