//! Checking an input against a tool's schema, with errors that name the field and what it should be.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::Spec;
use crate::error::{Error, Result};

/// A name so near to another is a slip.
const NEAR: f64 = 0.75;

/// The input, if it fits. Fields that are null count as left out, and values that have another name get their own.
pub(super) fn checked(spec: &Spec, input: Value) -> Result<Map<String, Value>> {
    let Value::Object(mut input) = input else {
        return Err(wrong(spec, format!("the input is {}, not an object", described(&input))));
    };
    input.retain(|_, value| !value.is_null());
    let fields = fields(spec);
    for (field, value) in &mut input {
        let Some(schema) = fields.get(field) else { return Err(unknown(spec, field)) };
        if let Some(meant) = alias(spec, field, value) {
            *value = meant.into();
        } else {
            fit(spec, field, schema, value)?;
        }
    }
    let required = spec.input_schema["required"].as_array().into_iter().flatten();
    match required.filter_map(Value::as_str).find(|field| !input.contains_key(*field)) {
        Some(missing) => Err(self::missing(spec, missing, "")),
        None => Ok(input),
    }
}

/// The input as a tool wants it. What fits the schema fits the type, or the schema is wrong.
pub(super) fn typed<T: DeserializeOwned>(input: Map<String, Value>) -> Result<T> {
    serde_json::from_value(Value::Object(input)).map_err(|error| {
        Error::invalid(format!("the input does not fit: {error}"), "see the schema of the tool")
    })
}

/// Says that a field is needed, and for what.
pub(super) fn missing(spec: &Spec, field: &str, why: &str) -> Error {
    let fields = fields(spec);
    let about = fields.get(field).and_then(|schema| schema["description"].as_str());
    wrong(
        spec,
        format!("the field `{field}` is missing{why}: {}", lower(about.unwrap_or_default())),
    )
}

/// Says that a field cannot be used as it is.
pub(super) fn wrong(spec: &Spec, message: impl Into<String>) -> Error {
    Error::invalid(message, format!("the fields of {} are {}", spec.name, told_fields(spec)))
}

/// ", did you mean …?", if a name is near to one of these.
pub(super) fn meant(name: &str, names: &[&str]) -> String {
    let near = |other: &&&str| strsim::jaro_winkler(&name.to_lowercase(), other);
    let best = names.iter().max_by(|a, b| near(a).total_cmp(&near(b)));
    match best {
        Some(best) if near(&best) >= NEAR => format!("; did you mean `{best}`?"),
        _ => String::new(),
    }
}

fn fields(spec: &Spec) -> Map<String, Value> {
    spec.input_schema["properties"].as_object().cloned().unwrap_or_default()
}

/// Every field, those that are needed marked.
fn told_fields(spec: &Spec) -> String {
    let required = |field: &String| {
        spec.input_schema["required"]
            .as_array()
            .is_some_and(|all| all.iter().any(|one| one == field))
    };
    let told = |field: &String| {
        if required(field) { format!("{field} (required)") } else { field.clone() }
    };
    fields(spec).keys().map(told).collect::<Vec<_>>().join(", ")
}

fn unknown(spec: &Spec, field: &str) -> Error {
    let fields = fields(spec);
    let names: Vec<&str> = fields.keys().map(String::as_str).collect();
    wrong(spec, format!("there is no field `{field}`{}", meant(field, &names)))
}

fn alias(spec: &Spec, field: &str, value: &Value) -> Option<&'static str> {
    let given = value.as_str()?.trim().to_lowercase();
    let alias = spec.aliases.iter().find(|(of, alias, _)| *of == field && *alias == given);
    alias.map(|(_, _, meant)| *meant)
}

/// Checks one value: its type, its choices, its bounds.
fn fit(spec: &Spec, field: &str, schema: &Value, value: &Value) -> Result<()> {
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
        let found = described(value);
        return Err(wrong(
            spec,
            format!("the field `{field}` is {found}, not {}", with_article(expected)),
        ));
    }
    fit_choices(spec, field, schema, value)?;
    fit_bounds(spec, field, schema, value)?;
    fit_fields(spec, field, schema, value)?;
    fit_items(spec, field, schema, value)
}

fn fit_choices(spec: &Spec, field: &str, schema: &Value, value: &Value) -> Result<()> {
    let Some(choices) = schema["enum"].as_array() else { return Ok(()) };
    if choices.contains(value) {
        return Ok(());
    }
    let names: Vec<&str> = choices.iter().filter_map(Value::as_str).collect();
    let given = value.as_str().unwrap_or_default();
    let message = format!("the field `{field}` cannot be `{given}`{}", meant(given, &names));
    Err(Error::invalid(message, format!("use one of {}", names.join(", "))))
        .map_err(|error| named(spec, error))
}

/// The same error, saying which tool it is about.
fn named(spec: &Spec, error: Error) -> Error {
    match error {
        Error::Invalid { message, hint } => {
            Error::invalid(message, format!("for {}, {hint}", spec.name))
        }
        error => error,
    }
}

fn fit_bounds(spec: &Spec, field: &str, schema: &Value, value: &Value) -> Result<()> {
    let Some(number) = value.as_i64() else { return Ok(()) };
    let bound = |name: &str, else_: i64| schema[name].as_i64().unwrap_or(else_);
    let (least, most) = (bound("minimum", i64::MIN), bound("maximum", i64::MAX));
    if (least..=most).contains(&number) {
        return Ok(());
    }
    Err(wrong(spec, format!("the field `{field}` is {number}, it goes from {least} to {most}")))
}

fn fit_items(spec: &Spec, field: &str, schema: &Value, value: &Value) -> Result<()> {
    let Some(items) = value.as_array() else { return Ok(()) };
    for item in items {
        fit(spec, field, &schema["items"], item)?;
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
    Err(wrong(spec, format!("the field `{field}` has {has} items, it takes {takes}")))
}

/// Objects in a list have fields of their own.
fn fit_fields(spec: &Spec, field: &str, schema: &Value, value: &Value) -> Result<()> {
    let (Some(given), Some(known)) = (value.as_object(), schema["properties"].as_object()) else {
        return Ok(());
    };
    for (name, value) in given {
        let at = format!("{field}.{name}");
        let Some(schema) = known.get(name) else {
            let names: Vec<&str> = known.keys().map(String::as_str).collect();
            return Err(wrong(spec, format!("there is no field `{at}`{}", meant(name, &names))));
        };
        fit(spec, &at, schema, value)?;
    }
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    match required.into_iter().find(|name| !given.contains_key(*name)) {
        Some(name) => {
            let about = known[name]["description"].as_str().unwrap_or_default();
            let message = format!("the field `{field}.{name}` is missing: {}", lower(about));
            Err(wrong(spec, message))
        }
        None => Ok(()),
    }
}

fn described(value: &Value) -> &'static str {
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

fn lower(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(|first| first.to_lowercase().to_string());
    first.unwrap_or_default() + characters.as_str().trim_end_matches('.')
}
