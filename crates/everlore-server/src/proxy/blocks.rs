//! What stands in a message and was not said by anyone: blocks that memory or a host put there.

use std::borrow::Cow;

/// The tags of such blocks: those of Everlore's prompts, and that by which coding assistants talk to their model.
const TAGS: [&str; 9] = [
    "memory-context",
    "agent-identity",
    "user-profile",
    "agent-notes",
    "recent-activity",
    "conversation-so-far",
    "memory-guide",
    "memory-index",
    "system-reminder",
];

/// The text without such blocks. One that is not closed is somebody's own words.
pub(super) fn without_blocks(text: &str) -> Cow<'_, str> {
    if !text.contains('<') {
        return Cow::Borrowed(text.trim());
    }
    let mut left = text.to_owned();
    for tag in TAGS {
        let (opening, closing) = (format!("<{tag}>"), format!("</{tag}>"));
        while let Some((from, to)) = found(&left, &opening, &closing) {
            left.replace_range(from..to, "");
        }
    }
    Cow::Owned(left.trim().to_owned())
}

fn found(text: &str, opening: &str, closing: &str) -> Option<(usize, usize)> {
    let from = text.find(opening)?;
    let inside = from + opening.len();
    Some((from, inside + text[inside..].find(closing)? + closing.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_ours_and_of_hosts_are_taken_out() {
        let said = "我喜欢什么茶？\n\n<memory-context>\n龙井\n</memory-context>";
        assert_eq!(without_blocks(said), "我喜欢什么茶？");
        let said =
            "<system-reminder>be brief</system-reminder>hi <user-profile>x</user-profile>there";
        assert_eq!(without_blocks(said), "hi there");
    }

    #[test]
    fn what_only_looks_like_one_stays() {
        for said in
            ["what does <memory-context> mean?", "</memory-context> a <memory-context>", "a < b"]
        {
            assert_eq!(without_blocks(said), said);
        }
    }
}
