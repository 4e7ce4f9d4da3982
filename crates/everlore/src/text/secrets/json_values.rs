//! Secrets in JSON: by the content of values, by the names of their fields, and by a name that stands beside its value
//! (`{"name": …, "value": …}`, pairs of headers, `NAME=…`, the words of a command).

use serde_json::{Map, Value};

use super::{
    SecretKind, SecretMatch, apply_masks, commands, find_secrets, key_names::secret_field,
    labelled::is_typed, mask_all, mask_named_value, shapes::looks_generated,
};

/// Fields that hold the name of another field.
const NAME_FIELDS: [&str; 12] = [
    "name", "key", "k", "field", "header", "variable", "var", "param", "property", "字段", "名称",
    "键",
];

/// Fields that hold its value.
const VALUE_FIELDS: [&str; 8] =
    ["value", "val", "v", "data", "content", "default", "current", "值"];

/// Fewest characters of a typed secret in a flat list: a version or a tag is shorter.
const MIN_LISTED_LEN: usize = 10;

/// Masks values, by their content and by the names of their fields, and secrets in the names themselves.
pub(crate) fn mask_metadata(metadata: &mut Map<String, Value>) -> Vec<SecretKind> {
    let mut masked = mask_value_of_name(metadata);
    masked.extend(metadata.iter_mut().flat_map(|(name, value)| mask_value(name, value)));
    if metadata.keys().any(|name| !find_secrets(name).is_empty()) {
        let taken = std::mem::take(metadata);
        metadata.extend(taken.into_iter().map(|(mut name, value)| {
            masked.extend(mask_all([&mut name]));
            (name, value)
        }));
    }
    masked
}

/// Masks the value of the field `name`; entries of a list belong to the field of the list.
pub(crate) fn mask_value(name: &str, value: &mut Value) -> Vec<SecretKind> {
    match value {
        Value::String(text) => match mask_named_value(name, text) {
            Some((mask, kind)) => {
                *text = mask;
                vec![kind]
            }
            None => mask_all([text]),
        },
        Value::Array(values) => {
            let mut masked = mask_list(values);
            masked.extend(values.iter_mut().flat_map(|value| mask_value(name, value)));
            masked
        }
        Value::Object(values) => mask_metadata(values),
        Value::Number(number) => match mask_named_value(name, &number.to_string()) {
            Some((mask, kind)) => {
                *value = Value::String(mask);
                vec![kind]
            }
            None => Vec::new(),
        },
        Value::Null | Value::Bool(_) => Vec::new(),
    }
}

/// Masks the value of an object that names its field: `{"name": "api_key", "value": …}`.
fn mask_value_of_name(object: &mut Map<String, Value>) -> Vec<SecretKind> {
    let is_name = |field: &str| NAME_FIELDS.contains(&&*field.to_lowercase());
    let names = object.iter().filter(|(field, _)| is_name(field));
    let name = names.filter_map(|(_, value)| value.as_str()).find(|it| secret_field(it).is_some());
    let Some(name) = name.filter(|name| is_field_name(name)).map(str::to_owned) else {
        return Vec::new();
    };
    let is_value = |field: &str| VALUE_FIELDS.contains(&&*field.to_lowercase());
    let values = object.iter_mut().filter(|(field, _)| is_value(field));
    values.flat_map(|(_, value)| mask_value(&name, value)).collect()
}

/// Masks secrets of a list that its entries tell only together.
fn mask_list(values: &mut [Value]) -> Vec<SecretKind> {
    let mut masked = mask_pairs(values);
    masked.extend(mask_neighbours(values));
    masked.extend(mask_command(values));
    for text in values.iter_mut().filter_map(string_of) {
        masked.extend(mask_assignment(text));
    }
    masked
}

/// Masks the values of a list of pairs: `[["X-Auth-Token", …], …]`.
fn mask_pairs(values: &mut [Value]) -> Vec<SecretKind> {
    let pair_of = |value: &Value| value.as_array().is_some_and(|pair| pair.len() == 2);
    if !values.iter().all(pair_of) {
        return Vec::new();
    }
    let pairs = values.iter_mut().filter_map(|pair| pair.as_array_mut()?.split_first_mut());
    let named = pairs.filter_map(|(name, value)| Some((name.as_str()?, value.first_mut()?)));
    let named = named.filter(|(name, _)| is_field_name(name) && secret_field(name).is_some());
    named.flat_map(|(name, value)| mask_value(name, value)).collect()
}

/// Masks entries behind the name of a secret in a flat list: `["Accept", "text/html", "X-Auth-Token", …]`. Tags and
/// words stand in such lists too, so that the value must look like a secret.
fn mask_neighbours(values: &mut [Value]) -> Vec<SecretKind> {
    let mut masked = Vec::new();
    for at in 1..values.len() {
        let (before, rest) = values.split_at_mut(at);
        let name = before.last().and_then(Value::as_str).filter(|name| is_field_name(name));
        let (Some(name), Some(value)) = (name, string_of(&mut rest[0])) else { continue };
        let is_made = value.len() >= MIN_LISTED_LEN && is_typed(value) || looks_generated(value);
        if !is_made || secret_field(name).is_none() {
            continue;
        }
        if let Some((mask, kind)) = mask_named_value(name, value) {
            *value = mask;
            masked.push(kind);
        }
    }
    masked
}

/// Masks the passwords of a command that is given as its words.
fn mask_command(values: &mut [Value]) -> Vec<SecretKind> {
    let words: Option<Vec<&str>> = values.iter().map(Value::as_str).collect();
    let Some(words) = words.filter(|words| words.len() > 1) else { return Vec::new() };
    let (line, mut found) = (words.join(" "), Vec::new());
    commands::find(&line, &mut found);
    let (mut start, mut masked) = (0, Vec::new());
    for text in values.iter_mut().filter_map(string_of) {
        let (from, to) = (start, start + text.len());
        start = to + 1;
        let inside = found.iter().filter(|it| it.span.start >= from && it.span.end <= to);
        let inside: Vec<SecretMatch> = inside
            .map(|it| SecretMatch { kind: it.kind, span: it.span.start - from..it.span.end - from })
            .collect();
        if !inside.is_empty() {
            let (text_masked, kinds) = apply_masks(text, &inside);
            *text = text_masked.into_owned();
            masked.extend(kinds);
        }
    }
    masked
}

/// Masks the value of a setting in a list: `GITEA_TOKEN=…`, `X-Api-Key: …`.
fn mask_assignment(text: &mut String) -> Option<SecretKind> {
    let at = text.find(['=', ':'])?;
    let name = text[..at].trim_start_matches("--").trim();
    let (mask, kind) = mask_named_value(name, &text[at + 1..]).filter(|_| is_field_name(name))?;
    let blanks = text[at + 1..].len() - text[at + 1..].trim_start().len();
    text.replace_range(at + 1 + blanks.., &mask);
    Some(kind)
}

/// Returns `true` for the name of a field: one word, perhaps with marks, no sentence.
fn is_field_name(name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    (2..=64).contains(&name.len()) && name.chars().all(is_part)
}

fn string_of(value: &mut Value) -> Option<&mut String> {
    if let Value::String(text) = value { Some(text) } else { None }
}
