//! Whether a message asks for anything.

/// Cells that a message needs to be recalled for: "ok", "yes" and "好的" ask for nothing. A Han character fills two.
const MIN_QUERY_CELLS: usize = 5;

/// Whether a message says enough to be recalled for.
pub(super) fn is_long_enough(text: &str) -> bool {
    unicode_width::UnicodeWidthStr::width(text) >= MIN_QUERY_CELLS
}

/// Whether it is a command to the host, such as `/clear`, and no message. A path has more than one slash.
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
