//! Entries of ours in the JSON settings of an agent; files with comments and trailing commas are edited too.

use jsonc_parser::ast::Value as JsoncValue;
use serde_json::Value;

use super::jsonc_document::{Document, has_value};

/// Entry that a settings file should have.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum JsonEntry {
    /// Member of the object at a path; replaced if it has another value.
    Member { path: Vec<String>, key: String, value: Value },
    /// Member of the root that the file needs to be valid; left as it is if there is one.
    Required { key: &'static str, value: Value },
    /// Element of the array at a path, recognised as ours by the end of the command it calls.
    Element { path: Vec<String>, calls: String, value: Value },
}

/// Returns the text with all entries; `None` if it is not JSON that can be edited.
pub(super) fn insert_entries(text: &str, entries: &[JsonEntry]) -> Option<String> {
    let mut text = with_root(text)?;
    for entry in entries {
        text = match entry {
            JsonEntry::Member { path, key, value } => {
                set_member(&create_objects(text, path)?, path, key, value)?
            }
            JsonEntry::Required { key, value } => {
                let exists = Document::parse(&text)?.at(&[(*key).to_owned()]).is_some();
                if exists { text } else { set_member(&text, &[], key, value)? }
            }
            JsonEntry::Element { path, calls, value } => {
                let (last, above) = path.split_last()?;
                let text = create_objects(text, above)?;
                let exists = is_set(&Document::parse(&text)?, path);
                let empty = Value::Array(Vec::new());
                let text = if exists { text } else { set_member(&text, above, last, &empty)? };
                set_element(&text, path, calls, value)?
            }
        };
    }
    // A mistake above must not reach a file.
    has_entries(&text, entries).then_some(text)
}

/// Returns the text without the entries, and without the objects and arrays that are empty then. Those that were empty
/// before stay.
pub(super) fn remove_entries(original: &str, entries: &[JsonEntry]) -> Option<String> {
    let mut text = original.to_owned();
    for entry in entries.iter().rev() {
        let before = text.clone();
        let path = match entry {
            JsonEntry::Required { key, .. } => {
                let alone = Document::parse(&text)?.container(&[])?.items.len() == 1;
                text =
                    if alone && text != original { remove_member(&text, &[], key)? } else { text };
                continue;
            }
            JsonEntry::Member { path, key, .. } => {
                text = remove_member(&text, path, key)?;
                path
            }
            JsonEntry::Element { path, calls, .. } => {
                text = remove_elements(text, path, calls)?;
                path
            }
        };
        if text != before {
            text = remove_empty_containers(text, path)?;
        }
    }
    let is_valid = Document::parse(&text).is_some();
    is_valid.then_some(text)
}

/// Returns `true` if the text has all entries.
pub(super) fn has_entries(text: &str, entries: &[JsonEntry]) -> bool {
    let Some(document) = Document::parse(text) else { return false };
    let value = Value::from(document.root);
    let at = |path: &[String]| path.iter().try_fold(&value, |value, key| value.get(key));
    entries.iter().all(|entry| match entry {
        JsonEntry::Required { key, .. } => value.get(key).is_some(),
        JsonEntry::Member { path, key, .. } => {
            at(path).is_some_and(|object| object.get(key).is_some())
        }
        JsonEntry::Element { path, calls, .. } => at(path)
            .and_then(Value::as_array)
            .is_some_and(|items| items.iter().any(|item| calls_command(item, calls))),
    })
}

/// Returns the text with an object as its root, if it has no root yet.
fn with_root(text: &str) -> Option<String> {
    if text.trim().is_empty() {
        return Some("{}\n".to_owned());
    }
    Some(if has_value(text)? { text.to_owned() } else { format!("{}\n{{}}\n", text.trim_end()) })
}

/// Returns the text with the objects of a path.
fn create_objects(mut text: String, path: &[String]) -> Option<String> {
    for depth in 0..path.len() {
        if !is_set(&Document::parse(&text)?, &path[..=depth]) {
            let empty = Value::Object(serde_json::Map::new());
            text = set_member(&text, &path[..depth], &path[depth], &empty)?;
        }
    }
    Some(text)
}

/// Returns `true` if there is a value at a path; `null` is none.
fn is_set(document: &Document, path: &[String]) -> bool {
    !matches!(document.at(path), None | Some(JsoncValue::NullKeyword(_)))
}

/// Sets a member of the object at a path; one with the same value is not touched.
fn set_member(text: &str, path: &[String], key: &str, value: &Value) -> Option<String> {
    let document = Document::parse(text)?;
    let object = document.at(path)?.as_object()?;
    match object.get(key) {
        Some(member) => Some(document.replace(&member.value, value)),
        None => Some(document.insert(&document.container(path)?, Some(key), value)),
    }
}

/// Appends an element to the array at a path, or replaces the one that calls the same command.
fn set_element(text: &str, path: &[String], calls: &str, value: &Value) -> Option<String> {
    let document = Document::parse(text)?;
    let array = document.at(path)?.as_array()?;
    let is_ours = |item: &&JsoncValue| calls_command(&Value::from((*item).clone()), calls);
    match array.elements.iter().find(is_ours) {
        Some(element) => Some(document.replace(element, value)),
        None => Some(document.insert(&document.container(path)?, None, value)),
    }
}

fn remove_member(text: &str, path: &[String], key: &str) -> Option<String> {
    let document = Document::parse(text)?;
    let Some(object) = document.at(path).and_then(JsoncValue::as_object) else {
        return Some(text.to_owned());
    };
    let index = object.properties.iter().position(|member| member.name.as_str() == key);
    let container = document.container(path)?;
    Some(index.map_or_else(|| text.to_owned(), |index| document.remove(&container, index)))
}

fn remove_elements(mut text: String, path: &[String], calls: &str) -> Option<String> {
    loop {
        let document = Document::parse(&text)?;
        let Some(array) = document.at(path).and_then(JsoncValue::as_array) else { break };
        let is_ours = |item: &JsoncValue| calls_command(&Value::from(item.clone()), calls);
        let Some(index) = array.elements.iter().position(is_ours) else { break };
        text = document.remove(&document.container(path)?, index);
    }
    Some(text)
}

/// Removes the containers of a path that have neither items nor comments, from the innermost.
fn remove_empty_containers(mut text: String, path: &[String]) -> Option<String> {
    for depth in (0..path.len()).rev() {
        let document = Document::parse(&text)?;
        let container = document.container(&path[..=depth]);
        if !container.is_some_and(|container| document.is_blank(&container)) {
            break;
        }
        text = remove_member(&text, &path[..depth], &path[depth])?;
    }
    Some(text)
}

/// Returns `true` if an element calls a command, itself or through the hooks in it.
fn calls_command(item: &Value, calls: &str) -> bool {
    let words = |value: &Value| -> Vec<String> {
        let args = value.get("args").and_then(Value::as_array);
        let args = args.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
        let command = value.get("command").and_then(Value::as_str).map(str::to_owned);
        command.into_iter().chain(args).collect()
    };
    let is_call = |value: &Value| words(value).join(" ").ends_with(calls);
    let hooks = item.get("hooks").and_then(Value::as_array);
    is_call(item) || hooks.is_some_and(|hooks| !hooks.is_empty() && hooks.iter().all(is_call))
}

#[cfg(test)]
#[path = "json_entries_tests.rs"]
mod tests;
