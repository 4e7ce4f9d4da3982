//! mem0: items in a list, in an answer of its server, or one a line.

use serde_json::{Deserializer, Map, Value};

use super::{
    ExternalDraft, ParsedImport, SourceFile, markdown_notes::shorten_title, parse_time,
    source_tree::decode_utf8,
};
use crate::types::{Fingerprint, Kind};

/// Keys of an item that are kept as they are.
const METADATA_KEYS: [&str; 7] =
    ["agent_id", "run_id", "app_id", "session_id", "actor_id", "role", "metadata"];

/// Parses a file. An item is identified by its id, in any file.
pub(super) fn parse(file: &SourceFile, import: &mut ParsedImport) {
    for (location, item) in read_items(file, import) {
        match to_draft(&item, &location) {
            Ok(draft) => import.drafts.push(draft),
            Err(reason) => import.skip(location, reason),
        }
    }
}

/// Returns the items with their locations.
fn read_items(file: &SourceFile, import: &mut ParsedImport) -> Vec<(String, Value)> {
    let text = match decode_utf8(&file.bytes) {
        Ok(text) if is_jsonl(&text) => return read_jsonl(file, import),
        Ok(text) => text,
        Err(_) => return read_jsonl(file, import),
    };
    let named = |(index, item)| (format!("{}: item {}", file.path, index + 1), item);
    match serde_json::from_str::<Value>(&text) {
        Ok(export) => unwrap_list(export).into_iter().enumerate().map(named).collect(),
        Err(error) => {
            let location = format!("{}:{}", file.path, error.line());
            import.skip(location, format!("the file cannot be read from here on: {error}"));
            salvage_items(&text).into_iter().enumerate().map(named).collect()
        }
    }
}

/// Returns the list of an export, however it is wrapped.
fn unwrap_list(export: Value) -> Vec<Value> {
    match export {
        Value::Array(items) => items,
        Value::Object(mut export) => {
            let list = ["results", "memories"]
                .into_iter()
                .find(|key| export.get(*key).is_some_and(Value::is_array));
            match list.and_then(|key| export.remove(key)) {
                Some(Value::Array(items)) => items,
                _ => vec![Value::Object(export)],
            }
        }
        other => vec![other],
    }
}

/// Returns `true` if the first line is an item by itself.
fn is_jsonl(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next().and_then(|line| serde_json::from_str::<Value>(line).ok());
    first.is_some_and(|first| first.is_object() && memory_text(&first).is_some())
}

fn read_jsonl(file: &SourceFile, import: &mut ParsedImport) -> Vec<(String, Value)> {
    let mut items = Vec::new();
    let bytes = file.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&file.bytes);
    for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let location = format!("{}:{}", file.path, number + 1);
        if line.trim_ascii().is_empty() {
            continue;
        }
        match decode_utf8(line).ok().map(|line| serde_json::from_str(&line)) {
            None => import.skip(location, "the line is not UTF-8"),
            Some(Err(error)) => import.skip(location, format!("the line cannot be read: {error}")),
            Some(Ok(item)) => items.push((location, item)),
        }
    }
    items
}

/// Returns the items of a list that breaks off.
fn salvage_items(text: &str) -> Vec<Value> {
    let mut items = Vec::new();
    let mut rest = text.find('[').map_or("", |start| &text[start + 1..]);
    loop {
        let mut values = Deserializer::from_str(rest).into_iter::<Value>();
        let Some(Ok(item)) = values.next() else { return items };
        rest = rest[values.byte_offset()..].trim_start().trim_start_matches(',');
        items.push(item);
    }
}

fn memory_text(item: &Value) -> Option<&str> {
    let texts = [&item["memory"], &item["data"]["memory"], &item["text"], &item["content"]];
    texts.into_iter().find_map(Value::as_str)
}

fn to_draft(item: &Value, location: &str) -> Result<ExternalDraft, String> {
    if !item.is_object() {
        return Err("it is not an object".to_owned());
    }
    let content = memory_text(item).map(str::trim).ok_or("it has no text in `memory`")?;
    if content.is_empty() {
        return Err("its `memory` is empty".to_owned());
    }
    let label = |key: &str| match &item[key] {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let user = label("user_id");
    let present = METADATA_KEYS.iter().filter(|key| !item[**key].is_null());
    let metadata: Map<String, Value> =
        present.map(|key| ((*key).to_owned(), item[*key].clone())).collect();
    let texts = |value: &Value| -> Vec<String> {
        let texts = value.as_array().into_iter().flatten().filter_map(Value::as_str);
        texts.map(shorten_title).collect()
    };
    let print = || Fingerprint::of(content).as_bytes().iter().map(|b| format!("{b:02x}")).collect();
    Ok(ExternalDraft {
        location: location.to_owned(),
        source: "mem0".to_owned(),
        key: Some(label("id").unwrap_or_else(print)),
        // What mem0 keeps for a user are statements about that user.
        kind: user.as_ref().map(|_| Kind::User),
        content: content.to_owned(),
        tags: texts(&item["categories"]),
        at: parse_time(&item["created_at"]).or_else(|| parse_time(&item["updated_at"])),
        expires_at: parse_time(&item["expiration_date"]),
        speaker: label("actor_id"),
        role: serde_json::from_value(item["role"].clone()).ok(),
        metadata,
        user,
        ..ExternalDraft::default()
    })
}
