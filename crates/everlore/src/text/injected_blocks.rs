//! What stands in a message and was not said by anyone: blocks that memory or a host put there.

use std::borrow::Cow;

/// The tags of blocks that Everlore puts into prompts.
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

/// The tags by which coding assistants talk to their model.
const HOST_TAGS: [&str; 6] = [
    "system-reminder",
    "local-command-stdout",
    "local-command-caveat",
    "task-notification",
    "environment_context",
    "user_instructions",
];

/// The text without such blocks, trimmed: only what was said is recalled for and stored. A block that is not closed is
/// somebody's own words. Takes time linear in the length of the text.
pub fn strip_injected_blocks(text: &str) -> Cow<'_, str> {
    let mut unclosed = Vec::new();
    let (mut out, mut kept, mut from) = (String::new(), 0, 0);
    while let Some(at) = text[from..].find('<').map(|at| from + at) {
        from = at + 1;
        let Some(tag) = opening_tag(&text[from..]).filter(|tag| !unclosed.contains(tag)) else {
            continue;
        };
        match block_end(&text[from..], tag) {
            Some(end) => {
                out.push_str(&text[kept..at]);
                (kept, from) = (from + end, from + end);
            }
            // What is not closed here is closed nowhere after.
            None => unclosed.push(tag),
        }
    }
    if kept == 0 {
        return Cow::Borrowed(text.trim());
    }
    out.push_str(&text[kept..]);
    Cow::Owned(out.trim().to_owned())
}

/// The block that a tag opens, told by what follows its bracket.
fn opening_tag(rest: &str) -> Option<&'static str> {
    OWN_TAGS.into_iter().chain(HOST_TAGS).find(|tag| {
        rest.strip_prefix(tag).is_some_and(|rest| rest.starts_with(['>', ' ', '\n', '\t']))
    })
}

/// Where a block is over.
fn block_end(rest: &str, tag: &str) -> Option<usize> {
    let closing = format!("</{tag}>");
    rest.find(&closing).map(|at| at + closing.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_ours_and_of_hosts_are_taken_out() {
        let said = "我喜欢什么茶？\n\n<memory-context>\n龙井\n</memory-context>";
        assert_eq!(strip_injected_blocks(said), "我喜欢什么茶？");
        let said = "<system-reminder>be brief</system-reminder>hi <user-profile a=\"1\">x</user-profile>there";
        assert_eq!(strip_injected_blocks(said), "hi there");
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
        for said in own {
            assert_eq!(strip_injected_blocks(said), said);
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
