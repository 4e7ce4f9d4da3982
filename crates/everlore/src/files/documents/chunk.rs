//! Chunking: small blocks are merged and large ones split, to a size worth recalling.

use std::{ops::Range, sync::Arc};

use serde::Serialize;

use super::block::{BlockShape, DocBlock, HeadingPath};
use crate::text::tokens::estimate_tokens;

/// Target tokens of a chunk: a few paragraphs, so that several fit into a prompt.
const TARGET_TOKENS: usize = 300;

/// Most tokens of a chunk, unless it is one list, table or fence; the other limits add up to it.
#[cfg(test)]
pub(super) const MAX_CHUNK_TOKENS: usize = 500;

/// Most tokens of a list, a table or a fence in one piece: no prompt would have room for more.
pub const MAX_KEEP_TOGETHER_TOKENS: usize = 2_000;

/// Most tokens of merged blocks: the whole can have a few tokens more than its parts.
const MAX_MERGED_TOKENS: usize = 470;

/// Fewest tokens of a chunk of its own, if a neighbour has room.
const MIN_CHUNK_TOKENS: usize = 80;

/// Characters of the pieces of a text without any boundary; each may be four tokens.
const HARD_SPLIT_CHARS: usize = 64;

/// Part of a document that can be understood by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Chunk {
    /// Headings above it, the outermost first.
    pub heading_path: Vec<String>,
    /// Text, with its own heading.
    pub text: String,
    /// First line, from 1.
    pub start_line: usize,
    /// Last line.
    pub end_line: usize,
}

/// Blocks that may be merged to one chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MergeScope {
    /// Blocks of one section.
    WithinSection,
    /// Blocks of neighbouring sections too.
    AcrossSections,
}

/// Merges and splits blocks into chunks, in order.
pub(super) fn chunk_blocks(blocks: Vec<DocBlock>, joins: MergeScope) -> Vec<Chunk> {
    let mut packer = ChunkMerger { joins, section: Vec::new(), chunks: Vec::new() };
    for block in blocks {
        packer.push(block);
    }
    packer.close_section();
    clamp_line_order(&mut packer.chunks);
    packer.chunks
}

/// Lets no chunk begin before the previous one: a text may have other lines than its source, as in a page with nested
/// lists.
fn clamp_line_order(chunks: &mut [Chunk]) {
    let mut line = 1;
    for chunk in chunks {
        chunk.start_line = chunk.start_line.max(line);
        chunk.end_line = chunk.end_line.max(chunk.start_line);
        line = chunk.start_line;
    }
}

/// Block that fits, with its tokens.
struct SizedBlock {
    block: DocBlock,
    tokens: usize,
}

struct ChunkMerger {
    joins: MergeScope,
    section: Vec<SizedBlock>,
    chunks: Vec<Chunk>,
}

impl ChunkMerger {
    fn push(&mut self, block: DocBlock) {
        if self.ends_section(&block) {
            self.close_section();
        }
        let tokens = estimate_tokens(&block.text);
        let fits = tokens <= MAX_MERGED_TOKENS
            || block.shape == BlockShape::KeepTogether && tokens <= MAX_KEEP_TOGETHER_TOKENS;
        if fits {
            self.section.push(SizedBlock { block, tokens });
        } else {
            self.section.extend(split_block(&block));
        }
    }

    /// Returns `true` if a section ends before the block: a heading begins one, unless only headings precede it.
    fn ends_section(&self, block: &DocBlock) -> bool {
        let Some(last) = self.section.last() else { return false };
        let only_headings = last.block.shape == BlockShape::Heading;
        let full = || self.section.iter().map(|part| part.tokens).sum::<usize>() > TARGET_TOKENS;
        match (self.joins, block.shape) {
            (MergeScope::AcrossSections, _) => false,
            (MergeScope::WithinSection, BlockShape::Heading) => !only_headings || full(),
            (MergeScope::WithinSection, _) => !only_headings && last.block.path != block.path,
        }
    }

    /// Merges a section into one chunk, or several if it is too long.
    fn close_section(&mut self) {
        let parts = std::mem::take(&mut self.section);
        let mut ends = Vec::new();
        if token_cost(&parts) > MAX_MERGED_TOKENS {
            let mut start = 0;
            for end in 1..parts.len() {
                if must_split_before(&parts[start..end], &parts[end]) {
                    ends.push(end);
                    start = end;
                }
            }
            merge_small_tail(&parts, &mut ends);
        }
        ends.push(parts.len());
        let mut start = 0;
        for end in ends {
            self.chunks.extend(merge_blocks(&parts[start..end]));
            start = end;
        }
    }
}

/// Returns the tokens of blocks together; each break between them is one.
fn token_cost(parts: &[SizedBlock]) -> usize {
    parts.iter().map(|part| part.tokens + 1).sum()
}

/// Returns `true` if `next` must begin a new chunk.
fn must_split_before(parts: &[SizedBlock], next: &SizedBlock) -> bool {
    let only_headings = parts.iter().all(|part| part.block.shape == BlockShape::Heading);
    let tokens = token_cost(parts);
    let together = tokens + next.tokens + 1;
    if only_headings {
        // A heading stays with its content, however long that is.
        return together > MAX_MERGED_TOKENS && next.block.shape != BlockShape::KeepTogether;
    }
    // Blocks that are long enough are not merged with another section.
    let is_enough =
        together > TARGET_TOKENS || tokens * 2 > TARGET_TOKENS && !same_headings(parts, next);
    together > MAX_MERGED_TOKENS || tokens >= MIN_CHUNK_TOKENS && is_enough
}

/// Returns `true` if `next` has the same headings as the block before it.
fn same_headings(parts: &[SizedBlock], next: &SizedBlock) -> bool {
    parts.last().is_none_or(|last| last.block.path == next.block.path)
}

/// Merges a last chunk that is too small with the chunk before it, if that has room.
fn merge_small_tail(parts: &[SizedBlock], ends: &mut Vec<usize>) {
    let Some(&last) = ends.last() else { return };
    let before = ends.iter().rev().nth(1).copied().unwrap_or(0);
    if token_cost(&parts[last..]) < MIN_CHUNK_TOKENS
        && token_cost(&parts[before..]) <= MAX_MERGED_TOKENS
    {
        ends.pop();
    }
}

/// Merges blocks into a chunk.
fn merge_blocks(parts: &[SizedBlock]) -> Option<Chunk> {
    let (first, last) = (parts.first()?, parts.last()?);
    let texts: Vec<&str> = parts.iter().map(|part| part.block.text.as_str()).collect();
    Some(Chunk {
        heading_path: dominant_heading_path(parts, &last.block.path).to_vec(),
        text: texts.join("\n\n"),
        start_line: first.block.first_line,
        end_line: last.block.last_line,
    })
}

/// Returns the headings above most of the text, or else those above all of it. Headings alone count by the last.
fn dominant_heading_path(parts: &[SizedBlock], last: &HeadingPath) -> HeadingPath {
    let mut texts = parts.iter().filter(|part| part.block.shape != BlockShape::Heading);
    let Some(first) = texts.next() else { return Arc::clone(last) };
    let tokens: usize = parts.iter().map(|part| part.tokens).sum();
    let most = parts.iter().find(|part| part.tokens * 2 > tokens).map(|part| &part.block.path);
    most.cloned().unwrap_or_else(|| {
        texts.fold(Arc::clone(&first.block.path), |path, part| {
            common_prefix(&path, &part.block.path)
        })
    })
}

fn common_prefix(one: &HeadingPath, other: &HeadingPath) -> HeadingPath {
    if one == other {
        return Arc::clone(one);
    }
    let same = one.iter().zip(other.iter()).take_while(|(one, other)| one == other);
    same.map(|(one, _)| one.clone()).collect()
}

/// Splits a block that is too long: between paragraphs if that is enough, else between lines, sentences, words or,
/// last, characters.
fn split_block(block: &DocBlock) -> Vec<SizedBlock> {
    let mut line = block.first_line;
    let parts = split_ranges(&block.text).into_iter().filter_map(|(range, tokens)| {
        let text = &block.text[range];
        let first_line = line + leading_line_breaks(text);
        line += text.bytes().filter(|byte| *byte == b'\n').count();
        let text = trim_blank_lines(text);
        let last_line = first_line + text.bytes().filter(|byte| *byte == b'\n').count();
        let block = DocBlock {
            path: Arc::clone(&block.path),
            text: text.to_owned(),
            first_line,
            last_line,
            shape: BlockShape::Text,
        };
        (!text.is_empty()).then_some(SizedBlock { block, tokens })
    });
    parts.collect()
}

/// Returns the ranges to split a long text into, with the tokens of each; none is too small.
fn split_ranges(text: &str) -> Vec<(Range<usize>, usize)> {
    let mut pieces = Vec::new();
    split_recursively(text, 0, 0, &mut pieces);
    let mut groups: Vec<(Range<usize>, usize)> = Vec::new();
    for (range, tokens) in pieces {
        match groups.last_mut() {
            Some((group, sum)) if *sum + tokens <= TARGET_TOKENS => {
                group.end = range.end;
                *sum += tokens;
            }
            _ => groups.push((range, tokens)),
        }
    }
    if let [.., (_, sum), (last, tokens)] = &groups[..]
        && *tokens < MIN_CHUNK_TOKENS
        && sum + tokens <= MAX_MERGED_TOKENS
    {
        let (end, both, before) = (last.end, sum + tokens, groups.len() - 2);
        groups.truncate(before + 1);
        groups[before] = (groups[before].0.start..end, both);
    }
    groups
}

/// Splits `text`, which starts at `offset`, into pieces of at most the target, each with its tokens.
fn split_recursively(
    text: &str,
    offset: usize,
    level: usize,
    pieces: &mut Vec<(Range<usize>, usize)>,
) {
    let mut start = 0;
    while start < text.len() {
        let end = start + first_piece_len(&text[start..], level);
        let piece = &text[start..end];
        let tokens = estimate_tokens(piece);
        if tokens <= TARGET_TOKENS || level == MAX_SPLIT_LEVEL {
            pieces.push((offset + start..offset + end, tokens));
        } else {
            split_recursively(piece, offset + start, level + 1, pieces);
        }
        start = end;
    }
}

/// Index of the last split level: paragraphs, lines, sentences, words, characters.
const MAX_SPLIT_LEVEL: usize = 4;

/// Returns the length of the first piece of `text`, which is not empty.
fn first_piece_len(text: &str, level: usize) -> usize {
    let end = match level {
        0 => text.find("\n\n").map(|at| at + 2),
        1 => text.find('\n').map(|at| at + 1),
        2 => sentence_end(text),
        3 => text.char_indices().find(|(_, c)| c.is_whitespace()).map(|(at, c)| at + c.len_utf8()),
        _ => text.char_indices().nth(HARD_SPLIT_CHARS).map(|(at, _)| at),
    };
    end.unwrap_or(text.len())
}

/// Returns the end of the first sentence of a line: after its full stop and a blank, or after a Chinese one.
fn sentence_end(text: &str) -> Option<usize> {
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        match c {
            '。' | '！' | '？' | '；' => return Some(at + c.len_utf8()),
            '.' | '!' | '?' | ';' if next.is_some_and(char::is_whitespace) => {
                return Some(at + 2).filter(|end| text.is_char_boundary(*end));
            }
            _ => {}
        }
    }
    None
}

/// Counts the line breaks before the first line that is not blank.
fn leading_line_breaks(text: &str) -> usize {
    let blank = &text[..text.len() - text.trim_start().len()];
    blank.bytes().filter(|byte| *byte == b'\n').count()
}

/// Returns the text without blank lines around it; the first line keeps its indentation.
fn trim_blank_lines(text: &str) -> &str {
    let blank = &text[..text.len() - text.trim_start().len()];
    let start = blank.rfind('\n').map_or(0, |at| at + 1);
    text[start..].trim_end()
}
