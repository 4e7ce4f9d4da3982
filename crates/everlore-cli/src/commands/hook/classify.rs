//! Classification of user messages: too short for recall, or a command to the host.

/// Least width of a message that is recalled for: "ok", "yes" and "好的" ask for nothing. A Han character fills two
/// cells.
const MIN_QUERY_CELLS: usize = 5;

/// Returns `true` if a message is long enough for recall.
pub(super) fn is_long_enough(text: &str) -> bool {
    unicode_width::UnicodeWidthStr::width(text) >= MIN_QUERY_CELLS
}

/// Returns `true` for a command to the host, such as `/clear`. A path has more than one slash.
pub(super) fn is_command(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    first.strip_prefix('/').is_some_and(|name| !name.is_empty() && !name.contains('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_messages_and_commands_are_left_alone() {
        assert!(!is_long_enough("ok") && !is_long_enough("yes") && !is_long_enough("好的"));
        assert!(is_long_enough("我住哪") && is_long_enough("which db?"));
        assert!(is_command("/clear") && is_command("/model opus"));
        assert!(!is_command("/etc/hosts is wrong") && !is_command("/ hm") && !is_command("a /b"));
    }
}
