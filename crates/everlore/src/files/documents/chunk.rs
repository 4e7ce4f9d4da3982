//! Chunks: blocks joined until they say something, and split before they say too much.

use std::{ops::Range, sync::Arc};

use serde::Serialize;

use super::block::{BlockShape, DocBlock, HeadingPath};
use crate::text::tokens::estimate_tokens;

/// What a chunk should have: a few paragraphs, so that several fit into a prompt.
const TARGET_TOKENS: usize = 300;

/// A chunk never has more, unless it is one list, table or fence.
pub const MAX_CHUNK_TOKENS: usize = 500;

/// Even a list, a table or a fence is split above this: no prompt would have room for it.
pub const MAX_KEEP_TOGETHER_TOKENS: usize = 2_000;

/// What parts may add up to: the whole can have a few tokens more than its parts.
const MAX_MERGED_TOKENS: usize = 470;

/// Less than this is not worth a chunk of its own, if a neighbour has room.
const MIN_CHUNK_TOKENS: usize = 80;

/// A text without any place to cut is cut into pieces of so many characters; each may be four tokens.
const HARD_SPLIT_CHARS: usize = 64;

/// A piece of a document that can be understood by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Chunk {
    /// The headings above it, the outermost first.
    pub heading_path: Vec<String>,
    /// Its text, with its own heading.
    pub text: String,
    /// The line it begins with, counted from 1.
    pub start_line: usize,
    /// The line it ends with.
    pub end_line: usize,
}

/// Which blocks may be joined to one chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MergeScope {
    /// Those of one section.
    WithinSection,
    /// Those of neighbouring sections too.
    AcrossSections,
}

/// Makes chunks of blocks, in order.
pub(super) fn chunk_blocks(blocks: Vec<DocBlock>, joins: MergeScope) -> Vec<Chunk> {
    let mut packer = ChunkMerger { joins, section: Vec::new(), chunks: Vec::new() };
    for block in blocks {
        packer.push(block);
    }
    packer.close_section();
    clamp_line_order(&mut packer.chunks);
    packer.chunks
}

/// Where a text has other lines than its source, as in a page with nested lists, a chunk is said to begin where the one
/// before it does at the earliest.
fn clamp_line_order(chunks: &mut [Chunk]) {
    let mut line = 1;
    for chunk in chunks {
        chunk.start_line = chunk.start_line.max(line);
        chunk.end_line = chunk.end_line.max(chunk.start_line);
        line = chunk.start_line;
    }
}

/// A block that fits, with what it costs.
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
            self.section.push(SizedBlock { block, tokens })
        } else {
            self.section.extend(split_block(&block))
        }
    }

    /// A heading begins a section, unless only headings stand before it.
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

    /// Makes one chunk of a section that fits, or several.
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

/// What parts cost together; each break between them is a token.
fn token_cost(parts: &[SizedBlock]) -> usize {
    parts.iter().map(|part| part.tokens + 1).sum()
}

/// Whether `next` must begin a new chunk.
fn must_split_before(parts: &[SizedBlock], next: &SizedBlock) -> bool {
    let only_headings = parts.iter().all(|part| part.block.shape == BlockShape::Heading);
    let tokens = token_cost(parts);
    let together = tokens + next.tokens + 1;
    match only_headings {
        // A heading goes with what it heads, however long that is.
        true => together > MAX_MERGED_TOKENS && next.block.shape != BlockShape::KeepTogether,
        false if together > MAX_MERGED_TOKENS => true,
        false if tokens < MIN_CHUNK_TOKENS => false,
        // What is long enough is not joined to something else.
        false => {
            together > TARGET_TOKENS || tokens * 2 > TARGET_TOKENS && !same_headings(parts, next)
        }
    }
}

/// Whether `next` stands below the same headings as the part before it.
fn same_headings(parts: &[SizedBlock], next: &SizedBlock) -> bool {
    parts.last().is_none_or(|last| last.block.path == next.block.path)
}

/// Gives a last chunk that is not worth one to the chunk before it, if that has room.
fn merge_small_tail(parts: &[SizedBlock], ends: &mut Vec<usize>) {
    let Some(&last) = ends.last() else { return };
    let before = ends.iter().rev().nth(1).copied().unwrap_or(0);
    if token_cost(&parts[last..]) < MIN_CHUNK_TOKENS
        && token_cost(&parts[before..]) <= MAX_MERGED_TOKENS
    {
        ends.pop();
    }
}

/// The chunk of parts.
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

/// The headings that most of the text stands below, or those that all of it does. Headings alone count by the last.
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

/// Splits a block that is too long into parts that fit: between paragraphs if that is enough, else between lines,
/// sentences, words or, last, characters.
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

/// Where a text that is too long is split, with the tokens of each part; none is so small that it says nothing.
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

/// Cuts `text`, which starts at `offset`, into pieces of at most the target, each with its tokens.
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

/// Paragraphs, lines, sentences, words, characters.
const MAX_SPLIT_LEVEL: usize = 4;

/// The length of the first piece of `text`, which is not empty.
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

/// Where the first sentence of a line ends: after its full stop and a blank, or after a Chinese one.
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

/// How many line ends come before the first line that says something.
fn leading_line_breaks(text: &str) -> usize {
    let blank = &text[..text.len() - text.trim_start().len()];
    blank.bytes().filter(|byte| *byte == b'\n').count()
}

/// The text without blank lines around it; the first line keeps its indentation.
fn trim_blank_lines(text: &str) -> &str {
    let blank = &text[..text.len() - text.trim_start().len()];
    let start = blank.rfind('\n').map_or(0, |at| at + 1);
    text[start..].trim_end()
}
