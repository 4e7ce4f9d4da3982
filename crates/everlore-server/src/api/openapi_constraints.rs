//! OpenAPI details that the types do not carry: the query and path parameters, which handlers parse by hand, ranges of
//! engine fields, and the settings of an agent.

use everlore::{Kind, Status, tools::ToolSet};
use serde_json::{Map, Value, json};

/// Plain name: no slash, no control character, no leading dot, no blanks around it.
const NAME: &str = r"^[^\s./\\\u0000-\u001f\u007f-\u009f]([^/\\\u0000-\u001f\u007f-\u009f]*[^\s/\\\u0000-\u001f\u007f-\u009f])?$";

/// Id, beginning of an id, or uri.
const ID: &str = r"^([0-9A-Fa-f-]{1,36}|agent://.+)$";

/// Uri of the tree, or a path from its root.
const URI: &str = r"^[^\\\u0000-\u001f\u007f-\u009f]*$";

/// Fields that every response has, although old records may lack them.
const REQUIRED_FIELDS: [(&str, &str); 4] =
    [("Memory", "name"), ("Memory", "description"), ("Memory", "tags"), ("JournalEntry", "cost")];

/// Adds the details to a description.
pub(super) fn add_constraints(api: &mut Value) {
    for (path, item) in objects(&mut api["paths"]) {
        for (_, operation) in objects(item) {
            let parameters = operation.get_mut("parameters").and_then(Value::as_array_mut);
            for parameter in parameters.into_iter().flatten() {
                if let Some(schema) = parameter_schema(&path, parameter) {
                    parameter["schema"] = schema;
                }
            }
            let ndjson = operation.pointer_mut("/requestBody/content/application~1x-ndjson");
            if let Some(ndjson) = ndjson {
                // Each line is JSON of its own; the body as a whole has no JSON schema.
                ndjson["schema"] = json!({});
            }
        }
    }
    constrain_settings(api);
    let schemas = &mut api["components"]["schemas"];
    for (name, field, facts) in field_constraints() {
        extend(&mut schemas[name]["properties"][field], &facts);
    }
    for (name, field) in REQUIRED_FIELDS {
        let schema = &mut schemas[name];
        schema["required"].as_array_mut().into_iter().for_each(|fields| fields.push(json!(field)));
    }
    let remember = &mut schemas["RememberRequest"];
    remember["required"] = json!(["content"]);
    remember["properties"]["content"].as_object_mut().map(|content| content.remove("default"));
    for variant in schemas["LayerBody"]["oneOf"].as_array_mut().into_iter().flatten() {
        variant["additionalProperties"] = json!(false);
    }
}

/// Describes the settings of an agent from the defaults: each has the type of its default; in a patch it may be null.
fn constrain_settings(api: &mut Value) {
    let defaults = Value::Object(everlore::Config::default().overridable_values());
    for (name, is_patch) in [("SettingsBody", false), ("SettingsPatch", true)] {
        let schema = &mut api["components"]["schemas"][name];
        let shape = setting_schema(&defaults);
        extend(schema, &if is_patch { nullable(shape, true) } else { shape });
    }
}

fn setting_schema(default: &Value) -> Value {
    let kind = match default {
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

/// Allows null for every field, and for the schema itself unless it is the root.
fn nullable(mut schema: Value, is_root: bool) -> Value {
    for (_, field) in schema.get_mut("properties").into_iter().flat_map(objects) {
        *field = nullable(field.take(), false);
    }
    if !is_root {
        schema["type"] = json!([schema["type"].take(), "null"]);
    }
    schema
}

fn objects(value: &mut Value) -> impl Iterator<Item = (String, &mut Value)> {
    value.as_object_mut().into_iter().flatten().map(|(name, value)| (name.clone(), value))
}

/// Returns the schema of a parameter by its name. Routes of mem0 end with a slash or have no version, and share only
/// paging.
fn parameter_schema(path: &str, parameter: &Value) -> Option<Value> {
    let is_own = path.starts_with("/v1/") || path.starts_with("/anthropic/");
    let is_mem0 = !is_own || path.ends_with('/');
    let is_trajectory = path.starts_with("/v1/trajectories");
    Some(match parameter["name"].as_str()? {
        "limit" if path == "/v1/map" => positive_up_to(10_000),
        "limit" if path == "/v1/injections" => positive_up_to(100),
        "limit" if is_trajectory => positive_up_to(200),
        "after" if is_trajectory => json!({ "type": "string" }),
        "budget" if is_trajectory => {
            json!({ "type": "integer", "minimum": 50, "maximum": 100_000_000 })
        }
        "format" if is_trajectory => {
            json!({ "type": "string", "enum": ["atif", "sharegpt", "openai"] })
        }
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

fn enum_array(names: &[&str]) -> Value {
    let item = json!({ "type": "string", "enum": names });
    json!({ "type": "array", "items": item })
}

fn positive_up_to(max: u64) -> Value {
    json!({ "type": "integer", "minimum": 1, "maximum": max })
}

/// Returns the schema of a parameter that means the same on each of our routes.
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
        | "recursive" => json!({ "type": "boolean" }),
        _ => return None,
    })
}

/// Returns the schema of a uri, with an example that every home has.
fn uri_schema(example: Option<&str>) -> Value {
    let mut schema = json!({ "type": "string", "maxLength": 4_096, "pattern": URI });
    if let Some(example) = example {
        schema["examples"] = json!([example]);
    }
    schema
}

/// Ranges that the engine checks itself; request types of the server carry theirs as attributes.
fn field_constraints() -> [(&'static str, &'static str, Value); 8] {
    let fraction = json!({ "minimum": 0, "maximum": 1 });
    let non_empty = json!({ "minLength": 1 });
    [
        ("RememberRequest", "content", non_empty.clone()),
        ("RememberRequest", "importance", fraction.clone()),
        ("RememberRequest", "confidence", fraction.clone()),
        ("MemoryEdit", "content", non_empty),
        ("MemoryEdit", "importance", fraction),
        ("MemoryEdit", "weight", json!({ "minimum": 0, "maximum": 10 })),
        ("NewCheck", "days", json!({ "minimum": 1, "maximum": 36_500 })),
        ("FsAddBody", "uri", uri_schema(Some("user/food"))),
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
    fn every_constraint_is_about_a_field_that_exists() {
        let api = super::super::api_doc::openapi();
        for (name, field, _) in field_constraints() {
            let schema = &api["components"]["schemas"][name]["properties"][field];
            assert!(schema.get("type").is_some(), "{name}.{field}");
        }
    }

    #[test]
    fn no_request_body_takes_unknown_fields_or_unbounded_integers() {
        let api = super::super::api_doc::openapi();
        let schemas = &api["components"]["schemas"];
        let bodies = ["RememberRequest", "MemoryEdit", "MemoryFilter", "NewCheck"];
        let own = schemas.as_object().unwrap().keys().map(String::as_str);
        let own = own.filter(|name| name.ends_with("Body") && *name != "LayerBody");
        for name in own.chain(bodies) {
            let schema = &schemas[name];
            assert_eq!(schema["additionalProperties"], false, "{name}");
            for (field, property) in schema["properties"].as_object().unwrap() {
                let is_integer = property["type"].to_string().contains("integer");
                assert!(!is_integer || property["maximum"].is_u64(), "{name}.{field}");
            }
        }
    }
}
