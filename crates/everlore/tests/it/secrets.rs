//! Secrets in every field and way in: nothing of them may reach the disk, and what only looks like one stays. The rows
//! of `tests/data/safety/secrets.hex` are JSON in hexadecimal digits, so that no scanner reports them; they were written
//! without knowledge of the rules, or (from `s141` on) before the rules that find them.

use std::{fs, path::Path};

use everlore::{
    Engine, RememberRequest, Scope, Turn,
    engine::{Document, IngestOptions, Layer, LayerEdit, fs::FsAddRequest},
    store::SqliteStore,
    types::{Actor, Role},
};
use serde_json::{Map, Value, json};

use crate::support::{all, noon, temp_folder};

/// Row of the corpus: a text, and the parts of it that must not be stored.
struct SecretRow {
    id: String,
    text: String,
    place: String,
    /// Set when only the name of the field tells that the value is a secret.
    by_name_only: bool,
    parts: Vec<String>,
}

fn read_data(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/safety");
    fs::read_to_string(folder.join(name)).unwrap()
}

fn secret_rows() -> Vec<SecretRow> {
    let from_hex = |line: &str| -> Vec<u8> {
        let byte = |at| u8::from_str_radix(&line[at..at + 2], 16).unwrap();
        (0..line.len()).step_by(2).map(byte).collect()
    };
    let read = |line: &str| {
        let row: Value = serde_json::from_slice(&from_hex(line)).unwrap();
        let text = |field: &str| row[field].as_str().unwrap().to_owned();
        let also = row["also"].as_array().cloned().unwrap_or_default();
        let also = also.iter().map(|part| part.as_str().unwrap().to_owned());
        let parts = std::iter::once(text("secret")).chain(also).collect();
        SecretRow {
            id: text("id"),
            text: text("text"),
            place: text("where"),
            by_name_only: text("shape").starts_with("metadata key"),
            parts,
        }
    };
    read_data("secrets.hex").lines().map(read).collect()
}

/// Returns the text as the caller's own data: itself if it is an object, a header under its name, or a plain value.
fn as_metadata(row: &SecretRow) -> Map<String, Value> {
    let object = serde_json::from_str(&row.text).ok().filter(|_| row.place == "metadata");
    let header = row.text.split_once(": ").filter(|_| row.place == "header");
    let header = header
        .map(|(name, value)| Map::from_iter([("headers".to_owned(), json!({ name: value }))]));
    object.or(header).unwrap_or_else(|| Map::from_iter([("note".to_owned(), json!(row.text))]))
}

/// Stores a text in every field that takes it, through the ways in of the engine.
async fn store_everywhere(engine: &Engine, scope: &Scope, row: &SecretRow) {
    let text = if row.by_name_only { "plain text" } else { &*row.text };
    let turn = Turn {
        text: text.to_owned(),
        session: Some(text.to_owned()),
        speaker: Some(text.to_owned()),
        role: Some(Role::User),
        time: None,
        ..Turn::default()
    };
    let plain = Turn { session: Some("s".into()), speaker: None, ..turn.clone() };
    let named = Turn { text: "good morning".into(), ..turn.clone() };
    for turn in [plain, named, turn] {
        let _ = engine.observe(scope, vec![turn]).await;
    }
    let fields = RememberRequest {
        content: "a plain note".into(),
        name: Some(text.to_owned()),
        description: text.to_owned(),
        session: Some(text.to_owned()),
        ..RememberRequest::default()
    };
    let tagged = RememberRequest {
        content: "another plain note".into(),
        tags: vec![text.to_owned()],
        metadata: as_metadata(row),
        ..RememberRequest::default()
    };
    for request in [RememberRequest::new(text), fields, tagged] {
        let _ = engine.remember(scope, request).await;
    }
    let document = Document::new(format!("notes/{text}.md"), format!("# {text}\n\n{text}\n"));
    let options = IngestOptions { tags: vec![text.to_owned()], ..IngestOptions::default() };
    let _ = engine.ingest_document(scope, &document, &options).await;
    let uri = format!("resources/{text}");
    let file = FsAddRequest { uri, bytes: b"plain".to_vec(), ..FsAddRequest::default() };
    let _ = engine.fs_add(scope, file).await;
    let edit = LayerEdit::Add { section: "Notes".into(), content: text.to_owned() };
    let _ = engine.edit_layer(scope, Layer::Memory, edit, Actor::Person).await;
    let _ = engine.end_session(scope, text).await;
    let request = engine.context_request(scope, "a plain note");
    let _ = engine.inject(&request, 1_000, text).await;
    engine.flush_usage().await;
}

/// Returns the bytes of every file below a folder.
fn bytes_below(folder: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        bytes.extend(path.to_string_lossy().bytes());
        if path.is_dir() {
            bytes.extend(bytes_below(&path));
        } else {
            // Files of the database come and go.
            bytes.extend(fs::read(&path).unwrap_or_default());
        }
    }
    bytes
}

fn contains(bytes: &[u8], part: &str) -> bool {
    memchr_find(bytes, part.as_bytes())
        || memchr_find(bytes, json!(part).to_string().trim_matches('"').as_bytes())
}

fn memchr_find(bytes: &[u8], part: &[u8]) -> bool {
    let first = part[0];
    let mut from = 0;
    while let Some(at) = bytes[from..].iter().position(|byte| *byte == first) {
        if bytes[from + at..].starts_with(part) {
            return true;
        }
        from += at + 1;
    }
    false
}

/// Stores some rows, each in its own scope, and returns the ids of those of which something is on disk.
async fn stored_secrets(rows: &[SecretRow]) -> Vec<String> {
    let mut stored = Vec::new();
    for row in rows {
        let home = temp_folder();
        let store = SqliteStore::open(home.join("everlore.db")).await.unwrap();
        let engine = Engine::builder(std::sync::Arc::new(store)).clock(noon).home(&home).build();
        let scope = Scope::new("tester", "ann").unwrap();
        store_everywhere(&engine, &scope, row).await;
        assert!(!all(&engine, &scope).await.is_empty());
        drop(engine);
        let bytes = bytes_below(&home);
        let kept = row.parts.iter().filter(|part| part.len() > 4 && contains(&bytes, part));
        let texts = fs_texts(&row.parts, &bytes);
        stored.extend(
            kept.chain(texts).map(|part| format!("{} {}: {part}", row.id, row.place)).take(1),
        );
    }
    stored
}

/// Returns the short parts that stand in the bytes behind their label: four digits alone are everywhere.
fn fs_texts<'p>(parts: &'p [String], bytes: &[u8]) -> impl Iterator<Item = &'p String> {
    let found: Vec<&String> = parts
        .iter()
        .filter(|part| part.len() <= 4)
        .filter(|part| {
            ["is ", "是", "为", ": ", "：", " ", "号", "码"]
                .iter()
                .any(|before| contains(bytes, &format!("{before}{part}")))
        })
        .collect();
    found.into_iter()
}

async fn check_share(share: usize, of: usize) {
    let rows = secret_rows();
    assert!(rows.len() >= 120);
    let rows: Vec<SecretRow> = rows.into_iter().skip(share).step_by(of).collect();
    assert_eq!(stored_secrets(&rows).await, Vec::<String>::new());
}

/// Four tests share the rows, so that they run beside each other.
#[tokio::test]
async fn no_secret_reaches_the_disk_first_quarter() {
    check_share(0, 4).await;
}

#[tokio::test]
async fn no_secret_reaches_the_disk_second_quarter() {
    check_share(1, 4).await;
}

#[tokio::test]
async fn no_secret_reaches_the_disk_third_quarter() {
    check_share(2, 4).await;
}

#[tokio::test]
async fn no_secret_reaches_the_disk_fourth_quarter() {
    check_share(3, 4).await;
}

#[tokio::test]
async fn what_only_looks_like_a_secret_stays_in_every_field() {
    let engine = crate::support::engine().await;
    let scope = Scope::new("tester", "ann").unwrap();
    let rows: Vec<Value> = read_data("innocent.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(rows.len() >= 80);
    let mut touched = Vec::new();
    for row in &rows {
        let text = row["text"].as_str().unwrap();
        let metadata = Map::from_iter([("note".to_owned(), json!(text))]);
        let request =
            RememberRequest { metadata, description: text.into(), ..RememberRequest::new(text) };
        let saved = engine.remember(&scope, request).await.unwrap();
        let memory = engine.get(&scope, saved.id).await.unwrap();
        let turn = Turn { text: text.into(), speaker: Some("Ann".into()), ..Turn::default() };
        let turn = engine.observe(&scope, vec![turn]).await.unwrap().remove(0);
        let said = engine.get(&scope, turn.id).await.unwrap();
        if memory.content != text.trim()
            || memory.metadata["note"] != text
            || said.content != text.trim()
        {
            touched.push(format!("{}: {}", row["id"], memory.content));
        }
    }
    assert_eq!(touched, Vec::<String>::new());
}

#[tokio::test]
async fn fields_are_known_by_their_names() {
    let engine = crate::support::engine().await;
    let scope = Scope::new("tester", "ann").unwrap();
    let metadata = json!({
        "db_password": "swordfish", "X-Api-Key": "abc-def", "appSecret": "plain words", "门禁密码": "一二三四", "pin": 4821,
        "login": { "user": "ann", "pass": "tulip" }, "tokens": ["kept"], "refreshToken": ["opal", "onyx"],
        "token_count": 128, "max_tokens": 2048, "password_hint": "the dog", "cache_key": "user:7", "password": "",
        "token_type": "bearer", "secret": null, "passed": true, "author": "Ann", "api_key": "${API_KEY}",
    });
    let Value::Object(metadata) = metadata else { panic!("an object") };
    let request = RememberRequest { metadata, ..RememberRequest::new("a plain note") };
    let saved = engine.remember(&scope, request).await.unwrap();
    let stored = engine.get(&scope, saved.id).await.unwrap().metadata;
    assert_eq!(
        Value::Object(stored),
        json!({
            "db_password": "[secret: password]", "X-Api-Key": "[secret: API key]", "appSecret": "[secret: API key]",
            "门禁密码": "[secret: password]", "pin": "[secret: password]",
            "login": { "user": "ann", "pass": "[secret: password]" }, "tokens": ["kept"],
            "refreshToken": ["[secret: token]", "[secret: token]"],
            "token_count": 128, "max_tokens": 2048, "password_hint": "the dog", "cache_key": "user:7", "password": "",
            "token_type": "bearer", "secret": null, "passed": true, "author": "Ann", "api_key": "${API_KEY}",
        })
    );
}

#[tokio::test]
async fn a_secret_is_no_name_of_a_user_or_an_agent() {
    let engine = crate::support::engine().await;
    let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    for (agent, user) in
        [("tester", token.as_str()), (token.as_str(), "ann"), ("tester", "密码是abc12345")]
    {
        let scope = Scope::new(agent, user).unwrap();
        let error = engine.remember(&scope, RememberRequest::new("I like tea")).await.unwrap_err();
        assert!(error.to_string().contains("looks like a secret"), "{error}");
        assert!(!error.to_string().contains(&token), "{error}");
        let turn = Turn { text: "good morning".into(), ..Turn::default() };
        assert!(engine.observe(&scope, vec![turn]).await.is_err());
        let edit = LayerEdit::Add { section: "Notes".into(), content: "tea".into() };
        assert!(engine.edit_layer(&scope, Layer::Memory, edit, Actor::Person).await.is_err());
        assert!(all(&engine, &scope).await.is_empty());
    }
    // Ids of other systems are numbers, with any checksum.
    for user in ["4111111111111111", "1234567890123456789", "王小明", "ann@example.com"] {
        let scope = Scope::new("tester", user).unwrap();
        engine.remember(&scope, RememberRequest::new("I like tea")).await.unwrap();
    }
}
