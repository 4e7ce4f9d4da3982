//! Plain text: paragraphs between blank lines.

use std::sync::Arc;

use super::block::{BlockShape, DocBlock, HeadingPath};

/// Returns the paragraphs of a text.
pub(super) fn blocks(text: &str) -> Vec<DocBlock> {
    let lines: Vec<&str> = text.lines().collect();
    let path: HeadingPath = Arc::from([]);
    let mut blocks = Vec::new();
    let mut start = 0;
    for end in 0..=lines.len() {
        if lines.get(end).is_none_or(|line| line.trim().is_empty()) {
            blocks.extend(DocBlock::from_lines(&lines, start, end, &path, BlockShape::Text));
            start = end;
        }
    }
    blocks
}
