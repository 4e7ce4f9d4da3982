//! Elision: a long text shortened to its beginning and its end, which say most.

use serde_json::Value;

/// Stands where something was left out.
const ELISION: &str = "[…]";

/// Shortens a text to at most `max_chars` characters, with a sign where something was left out.
pub fn elide_middle(text: &str, max_chars: usize) -> String {
    keep_ends(text, max_chars, ELISION)
}

/// Shortens a text to at most `max_chars` characters: three quarters from its beginning, the rest from its end, with
/// `joint` between them.
pub fn keep_ends(text: &str, max_chars: usize, joint: &str) -> String {
    let count = text.chars().count();
    if count <= max_chars {
        return text.to_owned();
    }
    let kept = max_chars.saturating_sub(joint.chars().count());
    let tail = kept / 4;
    let head: String = text.chars().take(kept - tail).collect();
    let tail: String = text.chars().skip(count - tail).collect();
    format!("{head}{joint}{tail}").chars().take(max_chars).collect()
}

/// Shortens every text in a value.
pub fn elide_texts(value: &mut Value, max_chars: usize) {
    match value {
        Value::String(text) if text.chars().count() > max_chars => {
            *text = elide_middle(text, max_chars);
        }
        Value::Array(items) => items.iter_mut().for_each(|item| elide_texts(item, max_chars)),
        Value::Object(fields) => {
            fields.values_mut().for_each(|field| elide_texts(field, max_chars));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_long_text_keeps_both_ends_within_its_limit() {
        let text = format!("begin{}结束", "x".repeat(500));
        for max in [0, 1, 3, 4, 10, 40] {
            assert!(elide_middle(&text, max).chars().count() <= max, "{max}");
        }
        let short = elide_middle(&text, 40);
        assert!(short.starts_with("begin") && short.ends_with("结束") && short.contains(ELISION));
        assert_eq!(elide_middle("短", 1), "短");
    }

    #[test]
    fn every_text_of_a_value_is_shortened() {
        let mut value = json!({ "a": "x".repeat(50), "b": ["y".repeat(50), 3] });
        elide_texts(&mut value, 10);
        assert_eq!(value, json!({ "a": "xxxxxx[…]x", "b": ["yyyyyy[…]y", 3] }));
    }
}
