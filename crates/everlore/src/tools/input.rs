//! Validation of tool inputs against the schema, with errors that name the field and the expected value.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::ToolSpec;
use crate::error::{Error, Result};

/// Similarity of two names above which one is a likely typo of the other.
const MIN_NAME_SIMILARITY: f64 = 0.75;

/// Validates the input. Null fields count as left out, and aliases are replaced by their values.
pub(super) fn validate(spec: &ToolSpec, input: Value) -> Result<Map<String, Value>> {
    let Value::Object(mut input) = input else {
        return Err(invalid_input(
            spec,
            format!("the input is {}, not an object", json_type_name(&input)),
        ));
    };
    input.retain(|_, value| !value.is_null());
    let fields = fields(spec);
    for (field, value) in &mut input {
        let Some(schema) = fields.get(field) else { return Err(unknown_field(spec, field)) };
        if let Some(resolved) = resolve_alias(spec, field, value) {
            *value = resolved.into();
        } else {
            check_value(spec, field, schema, value)?;
        }
    }
    let required = spec.input_schema["required"].as_array().into_iter().flatten();
    match required.filter_map(Value::as_str).find(|field| !input.contains_key(*field)) {
        Some(missing) => Err(self::missing_field(spec, missing, "")),
        None => Ok(input),
    }
}

/// Deserializes a validated input. What fits the schema fits the type, or the schema is wrong.
pub(super) fn parse_input<T: DeserializeOwned>(input: Map<String, Value>) -> Result<T> {
    serde_json::from_value(Value::Object(input)).map_err(|error| {
        Error::invalid(format!("the input does not fit: {error}"), "see the schema of the tool")
    })
}

/// Returns the error for a missing field.
pub(super) fn missing_field(spec: &ToolSpec, field: &str, why: &str) -> Error {
    let fields = fields(spec);
    let about = fields.get(field).and_then(|schema| schema["description"].as_str());
    invalid_input(
        spec,
        format!(
            "the field `{field}` is missing{why}: {}",
            lowercase_first(about.unwrap_or_default())
        ),
    )
}

/// Returns the error for an unusable input.
pub(super) fn invalid_input(spec: &ToolSpec, message: impl Into<String>) -> Error {
    Error::invalid(message, format!("the fields of {} are {}", spec.name, list_fields(spec)))
}

/// Returns "; did you mean …?" if a name is similar to one of these.
pub(super) fn did_you_mean(name: &str, names: &[&str]) -> String {
    let similarity = |other: &&&str| strsim::jaro_winkler(&name.to_lowercase(), other);
    let best = names.iter().max_by(|a, b| similarity(a).total_cmp(&similarity(b)));
    match best {
        Some(best) if similarity(&best) >= MIN_NAME_SIMILARITY => {
            format!("; did you mean `{best}`?")
        }
        _ => String::new(),
    }
}

fn fields(spec: &ToolSpec) -> Map<String, Value> {
    spec.input_schema["properties"].as_object().cloned().unwrap_or_default()
}

/// Lists all fields, with the required ones marked.
fn list_fields(spec: &ToolSpec) -> String {
    let required = |field: &String| {
        spec.input_schema["required"]
            .as_array()
            .is_some_and(|all| all.iter().any(|one| one == field))
    };
    let described = |field: &String| {
        if required(field) { format!("{field} (required)") } else { field.clone() }
    };
    fields(spec).keys().map(described).collect::<Vec<_>>().join(", ")
}

fn unknown_field(spec: &ToolSpec, field: &str) -> Error {
    let fields = fields(spec);
    let names: Vec<&str> = fields.keys().map(String::as_str).collect();
    invalid_input(spec, format!("there is no field `{field}`{}", did_you_mean(field, &names)))
}

fn resolve_alias(spec: &ToolSpec, field: &str, value: &Value) -> Option<&'static str> {
    let given = value.as_str()?.trim().to_lowercase();
    let alias = spec
        .aliases
        .iter()
        .find(|(alias_field, alias, _)| *alias_field == field && *alias == given);
    alias.map(|(_, _, resolved)| *resolved)
}

/// Checks one value: its type, its choices, its bounds.
fn check_value(spec: &ToolSpec, field: &str, schema: &Value, value: &Value) -> Result<()> {
    let expected = schema["type"].as_str().unwrap_or_default();
    let fits = match expected {
        "string" => value.is_string(),
        "integer" => value.is_i64(),
        "array" => value.is_array(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        _ => true,
    };
    if !fits {
        let found = json_type_name(value);
        return Err(invalid_input(
            spec,
            format!("the field `{field}` is {found}, not {}", with_article(expected)),
        ));
    }
    check_choices(spec, field, schema, value)?;
    check_bounds(spec, field, schema, value)?;
    check_properties(spec, field, schema, value)?;
    check_items(spec, field, schema, value)
}

fn check_choices(spec: &ToolSpec, field: &str, schema: &Value, value: &Value) -> Result<()> {
    let Some(choices) = schema["enum"].as_array() else { return Ok(()) };
    if choices.contains(value) {
        return Ok(());
    }
    let names: Vec<&str> = choices.iter().filter_map(Value::as_str).collect();
    let given = value.as_str().unwrap_or_default();
    let message = format!("the field `{field}` cannot be `{given}`{}", did_you_mean(given, &names));
    Err(Error::invalid(message, format!("use one of {}", names.join(", "))))
        .map_err(|error| with_tool_name(spec, error))
}

/// Adds the tool's name to the hint of an error.
fn with_tool_name(spec: &ToolSpec, error: Error) -> Error {
    match error {
        Error::Invalid { message, hint } => {
            Error::invalid(message, format!("for {}, {hint}", spec.name))
        }
        error => error,
    }
}

fn check_bounds(spec: &ToolSpec, field: &str, schema: &Value, value: &Value) -> Result<()> {
    let Some(number) = value.as_i64() else { return Ok(()) };
    let bound = |name: &str, else_: i64| schema[name].as_i64().unwrap_or(else_);
    let (least, most) = (bound("minimum", i64::MIN), bound("maximum", i64::MAX));
    if (least..=most).contains(&number) {
        return Ok(());
    }
    Err(invalid_input(
        spec,
        format!("the field `{field}` is {number}, it goes from {least} to {most}"),
    ))
}

fn check_items(spec: &ToolSpec, field: &str, schema: &Value, value: &Value) -> Result<()> {
    let Some(items) = value.as_array() else { return Ok(()) };
    for item in items {
        check_value(spec, field, &schema["items"], item)?;
    }
    let (has, bound) = (items.len() as u64, |name: &str| schema[name].as_u64());
    let (least, most) = (bound("minItems").unwrap_or(0), bound("maxItems").unwrap_or(u64::MAX));
    if (least..=most).contains(&has) {
        return Ok(());
    }
    let takes = match (least, most) {
        _ if least == most => format!("{least}"),
        (_, u64::MAX) => format!("{least} or more"),
        _ => format!("{least} to {most}"),
    };
    Err(invalid_input(spec, format!("the field `{field}` has {has} items, it takes {takes}")))
}

/// Checks the fields of an object.
fn check_properties(spec: &ToolSpec, field: &str, schema: &Value, value: &Value) -> Result<()> {
    let (Some(given), Some(known)) = (value.as_object(), schema["properties"].as_object()) else {
        return Ok(());
    };
    for (name, value) in given {
        let at = format!("{field}.{name}");
        let Some(schema) = known.get(name) else {
            let names: Vec<&str> = known.keys().map(String::as_str).collect();
            return Err(invalid_input(
                spec,
                format!("there is no field `{at}`{}", did_you_mean(name, &names)),
            ));
        };
        check_value(spec, &at, schema, value)?;
    }
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    match required.into_iter().find(|name| !given.contains_key(*name)) {
        Some(name) => {
            let about = known[name]["description"].as_str().unwrap_or_default();
            let message =
                format!("the field `{field}.{name}` is missing: {}", lowercase_first(about));
            Err(invalid_input(spec, message))
        }
        None => Ok(()),
    }
}

fn json_type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn with_article(kind: &str) -> String {
    let article = if kind.starts_with(['a', 'i', 'o']) { "an" } else { "a" };
    format!("{article} {kind}")
}

fn lowercase_first(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(|first| first.to_lowercase().to_string());
    first.unwrap_or_default() + characters.as_str().trim_end_matches('.')
}
