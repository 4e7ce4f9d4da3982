//! Plain text: paragraphs between blank lines.

use std::sync::Arc;

use super::block::{Block, Path, Shape};

/// The paragraphs of a text.
pub(super) fn blocks(text: &str) -> Vec<Block> {
    let lines: Vec<&str> = text.lines().collect();
    let path: Path = Arc::from([]);
    let mut blocks = Vec::new();
    let mut start = 0;
    for end in 0..=lines.len() {
        if lines.get(end).is_none_or(|line| line.trim().is_empty()) {
            blocks.extend(Block::of_lines(&lines, start, end, &path, Shape::Text));
            start = end;
        }
    }
    blocks
}
