//! Source code: items that begin at the left edge after a blank line, in any language.

use std::sync::Arc;

use super::block::{BlockShape, DocBlock, Outline};

/// First words of a definition in common languages.
const DEFINITION_KEYWORDS: &[&str] = &[
    "abstract",
    "async",
    "class",
    "const",
    "contract",
    "create",
    "data",
    "def",
    "defmodule",
    "defn",
    "enum",
    "export",
    "extension",
    "extern",
    "fn",
    "fun",
    "func",
    "function",
    "impl",
    "instance",
    "interface",
    "let",
    "local",
    "macro_rules!",
    "message",
    "mod",
    "module",
    "namespace",
    "object",
    "package",
    "private",
    "protected",
    "protocol",
    "pub",
    "pub(crate)",
    "pub(super)",
    "public",
    "record",
    "resource",
    "service",
    "static",
    "struct",
    "sub",
    "trait",
    "type",
    "typedef",
    "union",
    "val",
    "var",
    "virtual",
];

/// Returns the top-level items of a source file, each below its own first line.
pub(super) fn blocks(text: &str) -> Vec<DocBlock> {
    let lines: Vec<&str> = text.lines().collect();
    let mut blocks = Vec::new();
    let mut start = 0;
    for end in 1..=lines.len() {
        if end == lines.len() || begins_item(lines[end - 1], lines[end]) {
            let mut outline = Outline::under_title(None);
            if let Some(signature) = signature(&lines[start..end]) {
                outline.enter(1, signature);
            }
            let path = Arc::clone(outline.path());
            blocks.extend(DocBlock::from_lines(&lines, start, end, &path, BlockShape::Text));
            start = end;
        }
    }
    blocks
}

/// Returns `true` if an item begins with `line`: at the left edge, after a blank line, and not the end of the one
/// before.
fn begins_item(before: &str, line: &str) -> bool {
    let closes = ["}", ")", "]", "end", "else", "elif", "except", "finally", "catch"];
    before.trim().is_empty()
        && line.starts_with(|c: char| !c.is_whitespace())
        && !closes.iter().any(|close| line.starts_with(close))
}

/// Returns the line that defines something, without the token that opens its body.
fn signature<'a>(lines: &[&'a str]) -> Option<&'a str> {
    let comments = ["//", "/*", "*", "#", "@", "--", ";", "\"\"\"", "'''", "<!--", "%"];
    let is_comment = |line: &&&str| comments.iter().any(|mark| line.starts_with(mark));
    let line = lines.iter().find(|line| !line.trim().is_empty() && !is_comment(line))?;
    let first = line.split_whitespace().next()?.to_lowercase();
    let defines =
        DEFINITION_KEYWORDS.contains(&first.as_str()) || line.trim_end().ends_with(['{', ':']);
    let bare = line.trim().trim_end_matches(['{', ':', '=', '(', ';']).trim_end();
    (defines && line.starts_with(|c: char| !c.is_whitespace())).then_some(bare)
}
