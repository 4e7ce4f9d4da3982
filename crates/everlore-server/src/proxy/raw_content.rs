//! Content of a message as the client sent it: its texts, and the bytes where a block can go.

use std::ops::Range;

use serde_json::{Value, value::RawValue};

use super::request::InsertionPoint;

/// Returns the texts of a content: a string, or a list of parts without images.
pub(super) fn text_parts(content: &RawValue) -> Vec<String> {
    match json_string(content) {
        Some(text) => vec![text],
        None => {
            let text = |part: &Value| part["text"].as_str().map(str::to_owned);
            content_parts(content).iter().filter_map(text).collect()
        }
    }
}

pub(super) fn content_parts(content: &RawValue) -> Vec<Value> {
    let list = Some(content).filter(|raw| raw.get().starts_with('['));
    list.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
}

pub(super) fn json_string(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}

/// Returns the byte range of a part in the text that it borrows from.
pub(super) fn byte_range(whole: &str, part: &RawValue) -> Range<usize> {
    let start = part.get().as_ptr() as usize - whole.as_ptr() as usize;
    start..start + part.get().len()
}

pub(super) fn insertion_point(whole: &str, content: &RawValue) -> Option<InsertionPoint> {
    let (text, end) = (content.get(), byte_range(whole, content).end);
    match text.as_bytes().first()? {
        b'"' => Some(InsertionPoint::Text(end - 1)),
        b'[' => {
            let is_first = text[1..text.len() - 1].trim().is_empty();
            Some(InsertionPoint::Part { at: end - 1, is_first })
        }
        _ => None,
    }
}
