//! Injected blocks: tagged text in a message that memory or a host put there and no speaker said.

use std::borrow::Cow;

/// Tags of blocks that Everlore puts into prompts.
pub(crate) const OWN_TAGS: [&str; 8] = [
    "memory-context",
    "agent-identity",
    "user-profile",
    "agent-notes",
    "recent-activity",
    "conversation-so-far",
    "memory-guide",
    "memory-index",
];

/// Tags by which coding assistants talk to their model.
pub(super) const HOST_TAGS: [&str; 6] = [
    "system-reminder",
    "local-command-stdout",
    "local-command-caveat",
    "task-notification",
    "environment_context",
    "user_instructions",
];

/// Returns the text without injected blocks, trimmed: recall and storage use only what was said. A block that is not
/// closed is the speaker's own words. Takes time linear in the length of the text.
pub fn strip_injected_blocks(text: &str) -> Cow<'_, str> {
    let mut unclosed = Vec::new();
    let (mut out, mut copied, mut from) = (String::new(), 0, 0);
    while let Some(at) = text[from..].find('<').map(|at| from + at) {
        from = at + 1;
        let Some(tag) = opening_tag(&text[from..]).filter(|tag| !unclosed.contains(tag)) else {
            continue;
        };
        match block_end(&text[from..], tag) {
            Some(end) => {
                out.push_str(&text[copied..at]);
                (copied, from) = (from + end, from + end);
            }
            // A tag that is not closed here is not closed later either.
            None => unclosed.push(tag),
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text.trim());
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out.trim().to_owned())
}

/// Returns the tag of the block that begins here, from the text after its bracket.
fn opening_tag(rest: &str) -> Option<&'static str> {
    OWN_TAGS.into_iter().chain(HOST_TAGS).find(|tag| {
        rest.strip_prefix(tag).is_some_and(|rest| rest.starts_with(['>', ' ', '\n', '\t']))
    })
}

/// Returns the end of a block.
fn block_end(rest: &str, tag: &str) -> Option<usize> {
    let closing = format!("</{tag}>");
    rest.find(&closing).map(|at| at + closing.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_ours_and_of_hosts_are_taken_out() {
        let message = "我喜欢什么茶？\n\n<memory-context>\n龙井\n</memory-context>";
        assert_eq!(strip_injected_blocks(message), "我喜欢什么茶？");
        let message = "<system-reminder>be brief</system-reminder>hi <user-profile a=\"1\">x</user-profile>there";
        assert_eq!(strip_injected_blocks(message), "hi there");
    }

    #[test]
    fn what_only_looks_like_one_stays() {
        let own = [
            "what does <memory-context> mean?",
            "</memory-context> a <memory-context>",
            "a <memory-contexts>b</memory-contexts>",
            "a < b",
            "记忆 <memory-context 是什么？",
        ];
        for message in own {
            assert_eq!(strip_injected_blocks(message), message);
        }
    }

    #[test]
    fn hostile_text_takes_linear_time() {
        let closed = "<memory-context>x</memory-context>".repeat(60_000);
        assert_eq!(strip_injected_blocks(&closed), "");
        let open = "<memory-context>".repeat(120_000);
        assert_eq!(strip_injected_blocks(&open), open);
    }
}
