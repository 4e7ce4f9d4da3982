//! Says exactly what requests may hold: names, ranges and words that the types alone do not tell the description.

use everlore::{Kind, Status, tools::ToolSet};
use serde_json::{Map, Value, json};

/// A plain name: no slash, no control character, no dot in front, no blanks around it.
const NAME: &str = r"^[^\s./\\\u0000-\u001f\u007f-\u009f]([^/\\\u0000-\u001f\u007f-\u009f]*[^\s/\\\u0000-\u001f\u007f-\u009f])?$";

/// An id, the beginning of one, or a uri.
const ID: &str = r"^([0-9A-Fa-f-]{1,36}|agent://.+)$";

/// A place in the tree: a uri, or a path from its root.
const URI: &str = r"^[^\\\u0000-\u001f\u007f-\u009f]*$";

/// Completes a description.
pub(super) fn add_constraints(api: &mut Value) {
    for (path, item) in objects(&mut api["paths"]) {
        for (_, operation) in objects(item) {
            let parameters = operation.get_mut("parameters").and_then(Value::as_array_mut);
            for parameter in parameters.into_iter().flatten() {
                if let Some(schema) = parameter_schema(&path, parameter) {
                    parameter["schema"] = schema;
                }
            }
            let lines = operation.pointer_mut("/requestBody/content/application~1x-ndjson");
            if let Some(lines) = lines {
                // Lines are text, whatever they say.
                lines["schema"] = json!({});
            }
        }
    }
    constrain_settings(api);
    let asked = request_schemas(api);
    for (name, schema) in objects(&mut api["components"]["schemas"]) {
        if asked.contains(&name) {
            forbid_unknown_fields(schema);
        }
        for (of, field, facts) in field_constraints() {
            if of == name {
                extend(&mut schema["properties"][field], &facts);
            }
        }
    }
}

/// The settings of an agent as they are: each with the type of its default, and in a patch null too.
fn constrain_settings(api: &mut Value) {
    let all = Value::Object(everlore::Config::default().overridable_values());
    for (name, is_patch) in [("SettingsBody", false), ("SettingsPatch", true)] {
        let schema = &mut api["components"]["schemas"][name];
        let shape = setting_schema(&all);
        extend(schema, &if is_patch { nullable(shape, true) } else { shape });
    }
}

fn setting_schema(value: &Value) -> Value {
    let kind = match value {
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| (name.clone(), setting_schema(value)));
            let fields: Map<String, Value> = fields.collect();
            return json!({ "type": "object", "properties": fields, "additionalProperties": false });
        }
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_u64() => "integer",
        Value::Number(_) => "number",
        _ => "string",
    };
    json!({ "type": kind })
}

/// The same with null in place of everything but the whole.
fn nullable(mut schema: Value, is_whole: bool) -> Value {
    for (_, field) in schema.get_mut("properties").into_iter().flat_map(objects) {
        *field = nullable(field.take(), false);
    }
    if !is_whole {
        schema["type"] = json!([schema["type"].take(), "null"]);
    }
    schema
}

fn objects(value: &mut Value) -> impl Iterator<Item = (String, &mut Value)> {
    value.as_object_mut().into_iter().flatten().map(|(name, value)| (name.clone(), value))
}

fn parameter_schema(path: &str, parameter: &Value) -> Option<Value> {
    let is_ours = path.starts_with("/v1/") || path.starts_with("/anthropic/");
    let is_mem0 = !is_ours || path.ends_with('/');
    Some(match parameter["name"].as_str()? {
        "page" => positive_up_to(u32::MAX.into()),
        "page_size" | "top_k" | "limit" => positive_up_to(1_000),
        _ if is_mem0 => return None,
        "agent" | "user" => json!({ "type": "string", "maxLength": 100, "pattern": NAME }),
        "id" if path.contains("/quarantine/")
            || path.ends_with("/forget")
            || path.ends_with("/history") =>
        {
            json!({ "type": "string", "format": "uuid" })
        }
        "after" if path.starts_with("/v1/fs/") => json!({ "type": "string" }),
        "id" | "after" => pattern_string(ID),
        "uri" if path == "/v1/fs" => uri_schema(None),
        "uri" => uri_schema(Some("user")),
        name => return common_parameter(name),
    })
}

fn pattern_string(pattern: &str) -> Value {
    json!({ "type": "string", "pattern": pattern })
}

fn enum_array(words: &[&str]) -> Value {
    let one = json!({ "type": "string", "enum": words });
    json!({ "type": "array", "items": one })
}

fn positive_up_to(most: u64) -> Value {
    json!({ "type": "integer", "minimum": 1, "maximum": most })
}

/// What a parameter takes that means the same on every route of ours.
fn common_parameter(name: &str) -> Option<Value> {
    Some(match name {
        "level" => json!({ "type": "string", "enum": ["l0", "l1", "l2"] }),
        "depth" => positive_up_to(1_000),
        "query" | "pattern" => json!({ "type": "string" }),
        "min_score" => json!({ "type": "number", "minimum": 0, "maximum": 1 }),
        "layer" => json!({ "type": "string", "enum": ["soul", "user", "memory", "daily"] }),
        "file" => pattern_string(r"^[^/\\]+\.md$"),
        "name" | "Idempotency-Key" => json!({ "type": "string", "minLength": 1 }),
        "session" | "run" => json!({ "type": "string" }),
        "If-Match" => pattern_string(r#"^"[!#-+\--~]+"$"#),
        "kind" => enum_array(&Kind::ALL.map(Kind::as_str)),
        "status" => enum_array(&Status::ALL.map(Status::as_str)),
        "set" => enum_array(&ToolSet::ALL.map(ToolSet::as_str)),
        "tag" => json!({ "type": "array", "items": { "type": "string" } }),
        "since" | "until" => json!({ "type": "string", "format": "date-time" }),
        "order" => json!({ "type": "string", "enum": ["newest", "oldest"] }),
        "before" => json!({ "type": "integer", "minimum": 0, "maximum": i64::MAX }),
        "days" => positive_up_to(3_660),
        "verify" | "journal" | "dry_run" | "keep_going" | "all" | "regex" | "ignore_case"
        | "recursive" => {
            json!({ "type": "boolean" })
        }
        _ => return None,
    })
}

/// A place in the tree, with one that there is.
fn uri_schema(example: Option<&str>) -> Value {
    let mut schema = json!({ "type": "string", "maxLength": 4_096, "pattern": URI });
    if let Some(example) = example {
        schema["examples"] = json!([example]);
    }
    schema
}

/// The names of the schemas of bodies, and of what they are made of.
fn request_schemas(api: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for item in api["paths"].as_object().into_iter().flat_map(Map::values) {
        for operation in item.as_object().into_iter().flat_map(Map::values) {
            collect_references(&operation["requestBody"], &mut found);
        }
    }
    let mut next = 0;
    while next < found.len() {
        let schema = &api["components"]["schemas"][&found[next]];
        collect_references(schema, &mut found);
        next += 1;
    }
    found
}

fn collect_references(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            let name = fields.get("$ref").and_then(Value::as_str);
            let name = name.and_then(|name| name.rsplit('/').next()).map(str::to_owned);
            if let Some(name) = name.filter(|name| !found.contains(name)) {
                found.push(name);
            }
            fields.values().for_each(|value| collect_references(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| collect_references(value, found)),
        _ => {}
    }
}

/// What is not named is refused, and numbers fit into a word of the machine.
fn forbid_unknown_fields(schema: &mut Value) {
    let variants = schema.get_mut("oneOf").and_then(Value::as_array_mut);
    variants.into_iter().flatten().for_each(forbid_unknown_fields);
    let Some(properties) = schema.get_mut("properties") else { return };
    for (_, property) in objects(properties) {
        let types = property["type"].to_string();
        if types.contains("integer") {
            property["maximum"] = json!(u64::MAX);
            property.as_object_mut().map(|property| property.remove("format"));
        }
    }
    schema["additionalProperties"] = json!(false);
}

/// What fields must be like beyond their type.
fn field_constraints() -> Vec<(&'static str, &'static str, Value)> {
    let (share, time) = (json!({ "minimum": 0, "maximum": 1 }), json!({ "format": "date-time" }));
    let (weight, some) = (json!({ "minimum": 0, "maximum": 10 }), json!({ "minLength": 1 }));
    vec![
        ("Remember", "content", some.clone()),
        ("Remember", "importance", share.clone()),
        ("Remember", "confidence", share.clone()),
        ("Remember", "at", time.clone()),
        ("Edit", "content", some.clone()),
        ("Edit", "importance", share.clone()),
        ("Edit", "weight", weight.clone()),
        ("NewCheck", "days", json!({ "minimum": 1, "maximum": 36_500 })),
        ("Weight", "weight", weight),
        ("Turn", "text", some.clone()),
        ("Turn", "time", time.clone()),
        ("Turns", "turns", json!({ "maxItems": 1_000 })),
        ("RecallBody", "min_score", share.clone()),
        ("RecallBody", "min_confidence", share),
        ("RecallBody", "as_of", time.clone()),
        ("ContextBody", "seen_since", time.clone()),
        ("Filter", "since", time.clone()),
        ("Filter", "until", time.clone()),
        ("Filter", "turns_until", time),
        ("FileBody", "name", some),
        ("AddBody", "uri", uri_schema(Some("user/food"))),
    ]
}

fn extend(schema: &mut Value, facts: &Value) {
    for (name, fact) in facts.as_object().into_iter().flatten() {
        schema[name] = fact.clone();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fact_is_about_a_field_that_there_is() {
        let api = super::super::openapi();
        for (of, field, _) in field_constraints() {
            let schema = &api["components"]["schemas"][of]["properties"][field];
            assert!(schema.get("type").is_some() || schema.get("oneOf").is_some(), "{of}.{field}");
        }
    }
}
