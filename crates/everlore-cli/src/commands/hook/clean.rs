//! A message without what hosts and we ourselves put into it: only what was said is recalled for and stored.

/// Blocks that are taken out with what stands in them.
const BLOCKS: [&str; 14] = [
    "memory-context",
    "agent-identity",
    "user-profile",
    "agent-notes",
    "recent-activity",
    "conversation-so-far",
    "memory-guide",
    "memory-index",
    "system-reminder",
    "local-command-stdout",
    "local-command-caveat",
    "task-notification",
    "environment_context",
    "user_instructions",
];

/// Cells that a message needs to be recalled for: "ok", "yes" and "好的" ask for nothing. A Han character fills two.
const MIN_CELLS: usize = 5;

/// The text without such blocks. One that is never closed goes to the end.
pub(super) fn cleaned(text: &str) -> String {
    let mut rest = text;
    let mut out = String::new();
    while let Some((at, tag)) = next_block(rest) {
        out.push_str(&rest[..at]);
        let close = format!("</{tag}>");
        rest = match rest[at..].find(&close) {
            Some(end) => &rest[at + end + close.len()..],
            None => "",
        };
    }
    out.push_str(rest);
    out.trim().to_owned()
}

/// Where the next block begins, and its tag.
fn next_block(text: &str) -> Option<(usize, &'static str)> {
    let opening = |tag: &'static str| {
        let open = format!("<{tag}");
        let found = text.match_indices(&open).map(|(at, _)| at);
        let mut whole = found.filter(|at| text[at + open.len()..].starts_with(['>', ' ', '\n']));
        Some((whole.next()?, tag))
    };
    BLOCKS.into_iter().filter_map(opening).min_by_key(|(at, _)| *at)
}

/// Whether a message says enough to be recalled for.
pub(super) fn asks_enough(text: &str) -> bool {
    unicode_width::UnicodeWidthStr::width(text) >= MIN_CELLS
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
    fn what_we_put_into_a_message_is_taken_out_again() {
        let said = "<memory-context a=\"1\">\n- likes tea\n</memory-context>\n我住在里斯本 <system-reminder>x</system-reminder>ok";
        assert_eq!(cleaned(said), "我住在里斯本 ok");
        assert_eq!(cleaned("hello <memory-context>never closed"), "hello");
        assert_eq!(cleaned("a <memory-contexts> stays"), "a <memory-contexts> stays");
    }

    #[test]
    fn short_messages_and_commands_are_left_alone() {
        assert!(!asks_enough("ok") && !asks_enough("yes") && !asks_enough("好的"));
        assert!(asks_enough("我住哪") && asks_enough("which db?"));
        assert!(is_command("/clear") && is_command("/model opus"));
        assert!(!is_command("/etc/hosts is wrong") && !is_command("/ hm") && !is_command("a /b"));
    }
}
