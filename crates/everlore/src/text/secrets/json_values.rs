//! Secrets in JSON: by the content of values, and by the names of their fields.

use serde_json::{Map, Value};

use super::{SecretKind, find_secrets, mask_all, mask_named_value};

/// Masks values, by their content and by the names of their fields, and secrets in the names themselves.
pub(crate) fn mask_metadata(metadata: &mut Map<String, Value>) -> Vec<SecretKind> {
    let mut masked: Vec<SecretKind> =
        metadata.iter_mut().flat_map(|(name, value)| mask_value(name, value)).collect();
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
            values.iter_mut().flat_map(|value| mask_value(name, value)).collect()
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
