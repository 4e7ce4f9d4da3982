//! Editing a JSON file by hand, as it were: one member or element goes in or out, every other byte stays.
//!
//! What is no plain JSON, such as a file with comments, is not edited at all.

use serde::Serialize;
use serde_json::{Value, ser::PrettyFormatter};

use super::spans::{Inside, Node, parse};

/// One thing that should stand in a file.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Put {
    /// A member of the object at a path.
    Member { path: Vec<String>, key: String, value: Value },
    /// A member that the file needs whatever else stands in it; one that is there is left as it is.
    Needed { key: &'static str, value: Value },
    /// An element of the array at a path, known as ours by what it calls.
    Element { path: Vec<String>, calls: String, value: Value },
}

/// The text with everything in it; none if it is no JSON that can be edited.
pub(super) fn with(text: &str, puts: &[Put]) -> Option<String> {
    let blank = text.trim().is_empty();
    let mut text = if blank { "{}\n".to_owned() } else { text.to_owned() };
    for put in puts {
        text = match put {
            Put::Member { path, key, value } => {
                let text = reach(text, path, &Value::Object(Default::default()))?;
                set(&text, path, key, value)?
            }
            Put::Needed { key, value } => match parse(&text)?.member(key) {
                Some(_) => text,
                None => set(&text, &[], key, value)?,
            },
            Put::Element { path, calls, value } => {
                let (last, above) = path.split_last()?;
                let text = reach(text, above, &Value::Object(Default::default()))?;
                let there = parse(&text)?.at(path).is_some();
                let text =
                    if there { text } else { set(&text, above, last, &Value::Array(Vec::new()))? };
                append(&text, path, calls, value)?
            }
        };
    }
    // Whatever went wrong above must not reach a file.
    serde_json::from_str::<Value>(&text).ok().map(|_| text)
}

/// The text without any of it, and without what is empty then.
pub(super) fn without(text: &str, puts: &[Put]) -> Option<String> {
    let mut text = text.to_owned();
    for put in puts.iter().rev() {
        let path = match put {
            Put::Needed { key, .. } => {
                let root = parse(&text)?;
                let alone = matches!(&root.inside, Inside::Object(members) if members.len() == 1);
                text = if alone { drop_member(&text, &[], key)? } else { text };
                continue;
            }
            Put::Member { path, key, .. } => {
                text = drop_member(&text, path, key)?;
                path
            }
            Put::Element { path, calls, .. } => {
                text = drop_elements(&text, path, calls)?;
                path
            }
        };
        text = drop_empty(text, path)?;
    }
    serde_json::from_str::<Value>(&text).ok().map(|_| text)
}

/// Whether all of it stands in the text.
pub(super) fn has(text: &str, puts: &[Put]) -> bool {
    let Ok(value) = serde_json::from_str::<Value>(text) else { return false };
    let at = |path: &[String]| path.iter().try_fold(&value, |value, key| value.get(key));
    puts.iter().all(|put| match put {
        Put::Needed { key, .. } => value.get(key).is_some(),
        Put::Member { path, key, .. } => at(path).is_some_and(|object| object.get(key).is_some()),
        Put::Element { path, calls, .. } => at(path)
            .and_then(Value::as_array)
            .is_some_and(|items| items.iter().any(|item| is_call(item, calls))),
    })
}

/// The text with the objects of a path in it.
fn reach(mut text: String, path: &[String], empty: &Value) -> Option<String> {
    for depth in 0..path.len() {
        if parse(&text)?.at(&path[..=depth]).is_none() {
            text = set(&text, &path[..depth], &path[depth], empty)?;
        }
    }
    Some(text)
}

/// Sets a member of the object at a path; one that says the same is not touched.
fn set(text: &str, path: &[String], key: &str, value: &Value) -> Option<String> {
    let root = parse(text)?;
    let object = root.at(path)?;
    let Inside::Object(members) = &object.inside else { return None };
    if let Some(there) = object.member(key) {
        if serde_json::from_str::<Value>(&text[there.start..there.end]).ok().as_ref() == Some(value)
        {
            return Some(text.to_owned());
        }
        let indent = indent_of(text, there.start);
        return Some(replaced(text, there.start..there.end, &written(text, value, &indent)));
    }
    let place = Place::of(
        text,
        object,
        members.first().map(|(_, at, _)| *at),
        members.last().map(|(_, _, node)| node),
    );
    let written = format!("{}: {}", Value::from(key), written(text, value, &place.indent));
    Some(place.filled(text, &written))
}

/// Appends an element to the array at a path, in the place of one that calls the same.
fn append(text: &str, path: &[String], calls: &str, value: &Value) -> Option<String> {
    let root = parse(text)?;
    let array = root.at(path)?;
    let Inside::Array(items) = &array.inside else { return None };
    let said = |node: &Node| serde_json::from_str::<Value>(&text[node.start..node.end]).ok();
    if let Some(there) =
        items.iter().find(|node| said(node).is_some_and(|item| is_call(&item, calls)))
    {
        if said(there).as_ref() == Some(value) {
            return Some(text.to_owned());
        }
        let indent = indent_of(text, there.start);
        return Some(replaced(text, there.start..there.end, &written(text, value, &indent)));
    }
    let place = Place::of(text, array, items.first().map(|node| node.start), items.last());
    Some(place.filled(text, &written(text, value, &place.indent)))
}

/// Where something new goes in an object or an array.
struct Place {
    range: std::ops::Range<usize>,
    before: String,
    after: String,
    indent: String,
}

impl Place {
    fn of(text: &str, node: &Node, first: Option<usize>, last: Option<&Node>) -> Self {
        let line = line_break(text);
        match (first, last) {
            (Some(first), Some(last)) => {
                let own_line = text[node.start..first].contains('\n');
                let indent =
                    if own_line { indent_of(text, first) } else { indent_of(text, node.start) };
                let before = if own_line { format!(",{line}{indent}") } else { ", ".to_owned() };
                Self { range: last.end..last.end, before, after: String::new(), indent }
            }
            _ => {
                let outer = indent_of(text, node.start);
                let indent = format!("{outer}{}", step(text));
                let (open, close) = (&text[node.start..=node.start], &text[node.end - 1..node.end]);
                let before = format!("{open}{line}{indent}");
                Self {
                    range: node.start..node.end,
                    before,
                    after: format!("{line}{outer}{close}"),
                    indent,
                }
            }
        }
    }

    fn filled(&self, text: &str, new: &str) -> String {
        replaced(text, self.range.clone(), &format!("{}{new}{}", self.before, self.after))
    }
}

fn drop_member(text: &str, path: &[String], key: &str) -> Option<String> {
    let root = parse(text)?;
    let Some(Node { inside: Inside::Object(members), start, end }) = root.at(path) else {
        return Some(text.to_owned());
    };
    let spans: Vec<_> = members.iter().map(|(_, at, node)| *at..node.end).collect();
    match members.iter().position(|(name, _, _)| name == key) {
        Some(index) => Some(cut(text, *start..*end, &spans, index)),
        None => Some(text.to_owned()),
    }
}

fn drop_elements(text: &str, path: &[String], calls: &str) -> Option<String> {
    let mut text = text.to_owned();
    loop {
        let root = parse(&text)?;
        let Some(Node { inside: Inside::Array(items), start, end }) = root.at(path) else {
            return Some(text);
        };
        let is_ours = |node: &Node| {
            let item = serde_json::from_str::<Value>(&text[node.start..node.end]);
            item.is_ok_and(|item| is_call(&item, calls))
        };
        let Some(index) = items.iter().position(is_ours) else { return Some(text) };
        let spans: Vec<_> = items.iter().map(|node| node.start..node.end).collect();
        text = cut(&text, *start..*end, &spans, index);
    }
}

/// Drops the containers of a path that are empty, from the innermost.
fn drop_empty(mut text: String, path: &[String]) -> Option<String> {
    for depth in (0..path.len()).rev() {
        let root = parse(&text)?;
        let empty = match root.at(&path[..=depth]).map(|node| &node.inside) {
            Some(Inside::Object(members)) => members.is_empty(),
            Some(Inside::Array(items)) => items.is_empty(),
            _ => false,
        };
        if !empty {
            break;
        }
        text = drop_member(&text, &path[..depth], &path[depth])?;
    }
    Some(text)
}

/// The text without one of the parts of a container, and without the comma that goes with it.
fn cut(
    text: &str,
    whole: std::ops::Range<usize>,
    parts: &[std::ops::Range<usize>],
    index: usize,
) -> String {
    match (index, parts.len()) {
        (0, 1) => replaced(text, whole.start + 1..whole.end - 1, ""),
        (0, _) => replaced(text, parts[0].start..parts[1].start, ""),
        _ => replaced(text, parts[index - 1].end..parts[index].end, ""),
    }
}

fn replaced(text: &str, range: std::ops::Range<usize>, new: &str) -> String {
    format!("{}{new}{}", &text[..range.start], &text[range.end..])
}

/// Whether an element calls something, itself or through a command in it.
fn is_call(item: &Value, calls: &str) -> bool {
    let words = |value: &Value| -> Vec<String> {
        let args = value.get("args").and_then(Value::as_array);
        let args = args.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
        let command = value.get("command").and_then(Value::as_str).map(str::to_owned);
        command.into_iter().chain(args).collect()
    };
    let own = |value: &Value| words(value).join(" ").ends_with(calls);
    let inner = item.get("hooks").and_then(Value::as_array);
    own(item) || inner.is_some_and(|hooks| !hooks.is_empty() && hooks.iter().all(own))
}

/// A value as it is written in this text, after this indent.
fn written(text: &str, value: &Value, indent: &str) -> String {
    let mut bytes = Vec::new();
    let step = step(text);
    let formatter = PrettyFormatter::with_indent(step.as_bytes());
    let mut writer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
    // Writing a value into memory cannot fail.
    let _ = value.serialize(&mut writer);
    let pretty = String::from_utf8(bytes).unwrap_or_default();
    pretty.replace('\n', &format!("{}{indent}", line_break(text)))
}

/// The blanks at the beginning of the line of a place.
fn indent_of(text: &str, at: usize) -> String {
    let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
    text[line..at].chars().take_while(|c| *c == ' ' || *c == '\t').collect()
}

/// What one level is indented by: as the first line that is indented, or two blanks.
fn step(text: &str) -> String {
    let indents =
        text.lines().map(|line| &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]);
    indents.into_iter().find(|indent| !indent.is_empty()).unwrap_or("  ").to_owned()
}

fn line_break(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn path(keys: &[&str]) -> Vec<String> {
        keys.iter().map(|key| (*key).to_owned()).collect()
    }

    fn puts() -> Vec<Put> {
        vec![
            Put::Member {
                path: path(&["mcpServers"]),
                key: "everlore".into(),
                value: json!({ "command": "/opt/我的 apps/everlore", "args": ["mcp"] }),
            },
            Put::Element {
                path: path(&["hooks", "Stop"]),
                calls: "hook codex Stop".into(),
                value: json!({ "hooks": [{ "type": "command", "command": "everlore hook codex Stop" }] }),
            },
        ]
    }

    #[test]
    fn what_goes_in_comes_out_again_and_every_other_byte_stays() {
        for text in [
            "{\n  \"theme\": \"dark\"\n}\n",
            "{\"a\":1}",
            "{\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{ \"command\": \"say 好\" }\n\t\t]\n\t},\n\t\"n\": 1.50\n}",
            "{\r\n    \"mcpServers\": {\r\n        \"other\": {\"command\": \"x\\\"{\"}\r\n    }\r\n}\r\n",
            "{}\n",
            "{ \"mcpServers\": { \"other\": {} }, \"hooks\": { \"Stop\": [1, 2] } }",
        ] {
            let laid = with(text, &puts()).unwrap();
            assert!(has(&laid, &puts()), "{laid}");
            assert_eq!(with(&laid, &puts()).unwrap(), laid, "twice is once");
            assert_eq!(without(&laid, &puts()).unwrap(), text, "{laid}");
        }
    }

    #[test]
    fn an_empty_file_gets_a_readable_one() {
        let laid = with("", &puts()[..1]).unwrap();
        assert_eq!(
            laid,
            "{\n  \"mcpServers\": {\n    \"everlore\": {\n      \"args\": [\n        \"mcp\"\n      ],\n      \
             \"command\": \"/opt/我的 apps/everlore\"\n    }\n  }\n}\n"
        );
    }

    #[test]
    fn an_older_entry_of_ours_is_replaced() {
        let old = "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"command\": \"/old/everlore hook codex Stop\"}]}]}}";
        let laid = with(old, &puts()[1..]).unwrap();
        assert!(!laid.contains("/old/") && laid.matches("hook codex Stop").count() == 1, "{laid}");
    }

    #[test]
    fn what_is_no_plain_json_is_not_edited() {
        for text in [
            "{ // a comment\n}",
            "{\"a\":1,}",
            "[1]",
            "{\"hooks\": 3}",
            "{\"a\" 1}",
            "{",
            "\u{feff}{}",
            "{\"a\": tru}",
            &"[".repeat(200),
        ] {
            assert_eq!(with(text, &puts()), None, "{text}");
        }
    }
}
