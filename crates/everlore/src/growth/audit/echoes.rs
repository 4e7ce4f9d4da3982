//! Echoes: memories that repeat a prompt, or the assistant, instead of stating something.

use std::sync::LazyLock;

use regex::Regex;

use super::fault::{AuditFix, Fault, FaultKind, quote};
use crate::{
    text::{
        injected_blocks::strip_injected_blocks, substance::retells_conversation,
        text_sketch::TextSketch,
    },
    types::{Kind, Memory, Trust},
};

/// Share of a memory copied from the system prompt at which it counts as a repetition.
const MIN_PROMPT_SHARE: f64 = 0.6;

/// Fewest terms of a memory that is compared with the system prompt: a short rule may be both by chance.
const MIN_TERMS: usize = 8;

/// Instructions of a host to its model.
static PROMPT: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^\W*you are (?:an? )(?:[\w-]+[ ,]+){0,5}(?:assistant|language model|chatbot|ai|ai agent)\b|^\W*(?:你|您)是(?:一个|一名|一位|个)[^。]{0,15}(?:助手|助理|语言模型|人工智能|AI)",
    )
});

/// Phrases of an assistant about itself and its help.
static ASSISTANT: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^\W*(?:as an? (?:ai|language model)|i(?:'|’)?m (?:just )?an? (?:ai|language model)|i(?:'|’)d be happy to help|i(?:'|’)m happy to help|how can i (?:help|assist) you|is there anything else i can)\b|^\W*作为(?:一个|一名)?(?:ai|人工智能|语言模型)|^\W*(?:很高兴(?:为您|能帮)|(?:请问)?有什么(?:可以|能)(?:帮|为))",
    )
});

/// Returns the fault of a memory that repeats a prompt or the assistant. `prompts` are system prompts.
pub(super) fn find_echo(memory: &Memory, prompts: &[TextSketch]) -> Option<Fault> {
    let (text, fault) = (&memory.content, |fix, why: &str| {
        Fault::of(memory, FaultKind::Echo, fix, format!("{} {why}", quote(memory)))
    });
    if strip_injected_blocks(text) != text.trim() {
        return Some(fault(AuditFix::Archive, "holds a block that was put into a prompt"));
    }
    let sketch = TextSketch::of(text);
    let copies = |prompt: &TextSketch| sketch.shingle_containment(prompt) >= MIN_PROMPT_SHARE;
    if sketch.len() >= MIN_TERMS && prompts.iter().any(copies) {
        return Some(fault(AuditFix::Archive, "repeats the system prompt"));
    }
    if PROMPT.is_match(text) {
        return Some(fault(AuditFix::Archive, "reads like a system prompt"));
    }
    if ASSISTANT.is_match(text) {
        return Some(fault(AuditFix::Archive, "is what an assistant says about itself"));
    }
    let retells = retells_conversation(text) && memory.trust() < Trust::Said;
    retells.then(|| fault(AuditFix::Ask, "retells a conversation and states nothing that lasts"))
}

/// Returns `true` if a memory is about the user, so that the assistant's own words are no evidence for it.
pub(super) fn needs_user_words(memory: &Memory) -> bool {
    matches!(memory.kind, Kind::User | Kind::Feedback) && memory.trust() < Trust::Approved
}

/// Returns the fault of a memory about the user that only the assistant said.
pub(super) fn assistant_only_fault(id: crate::types::MemoryId, quoted: &str) -> Fault {
    Fault {
        kind: FaultKind::Echo,
        ids: vec![id],
        why: format!("{quoted} rests on the assistant's words alone; the user never said it"),
        fix: AuditFix::Ask,
    }
}

fn compile(pattern: &str) -> Regex {
    Regex::new(&format!("(?i){pattern}")).expect("valid")
}
