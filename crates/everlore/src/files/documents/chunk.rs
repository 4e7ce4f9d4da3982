//! Chunks: blocks joined until they say something, and split before they say too much.

use std::{ops::Range, sync::Arc};

use serde::Serialize;

use super::block::{Block, Path, Shape};
use crate::text::tokens::estimate;

/// What a chunk should have: a few paragraphs, so that several fit into a prompt.
const TARGET_TOKENS: usize = 300;

/// A chunk never has more, unless it is one list, table or fence.
pub const MAX_CHUNK_TOKENS: usize = 500;

/// Even a list, a table or a fence is split above this: no prompt would have room for it.
pub const MAX_WHOLE_TOKENS: usize = 2_000;

/// What parts may add up to: the whole can have a few tokens more than its parts.
const BUDGET: usize = 470;

/// Less than this is not worth a chunk of its own, if a neighbour has room.
const SMALL_TOKENS: usize = 80;

/// A text without any place to cut is cut into pieces of so many characters; each may be four tokens.
const PIECE_CHARS: usize = 64;

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
pub(super) enum Joins {
    /// Those of one section.
    Blocks,
    /// Those of neighbouring sections too.
    Sections,
}

/// Makes chunks of blocks, in order.
pub(super) fn chunks(blocks: Vec<Block>, joins: Joins) -> Vec<Chunk> {
    let mut packer = Packer { joins, section: Vec::new(), chunks: Vec::new() };
    for block in blocks {
        packer.push(block);
    }
    packer.close_section();
    in_line_order(&mut packer.chunks);
    packer.chunks
}

/// Where a text has other lines than its source, as in a page with nested lists, a chunk is said to begin where the one
/// before it does at the earliest.
fn in_line_order(chunks: &mut [Chunk]) {
    let mut line = 1;
    for chunk in chunks {
        chunk.start_line = chunk.start_line.max(line);
        chunk.end_line = chunk.end_line.max(chunk.start_line);
        line = chunk.start_line;
    }
}

/// A block that fits, with what it costs.
struct Part {
    block: Block,
    tokens: usize,
}

struct Packer {
    joins: Joins,
    section: Vec<Part>,
    chunks: Vec<Chunk>,
}

impl Packer {
    fn push(&mut self, block: Block) {
        if self.ends_section(&block) {
            self.close_section();
        }
        let tokens = estimate(&block.text);
        let fits = tokens <= BUDGET || block.shape == Shape::Whole && tokens <= MAX_WHOLE_TOKENS;
        match fits {
            true => self.section.push(Part { block, tokens }),
            false => self.section.extend(split(&block)),
        }
    }

    /// A heading begins a section, unless only headings stand before it.
    fn ends_section(&self, block: &Block) -> bool {
        let Some(last) = self.section.last() else { return false };
        let only_headings = last.block.shape == Shape::Heading;
        let full = || self.section.iter().map(|part| part.tokens).sum::<usize>() > TARGET_TOKENS;
        match (self.joins, block.shape) {
            (Joins::Sections, _) => false,
            (Joins::Blocks, Shape::Heading) => !only_headings || full(),
            (Joins::Blocks, _) => !only_headings && last.block.path != block.path,
        }
    }

    /// Makes one chunk of a section that fits, or several.
    fn close_section(&mut self) {
        let parts = std::mem::take(&mut self.section);
        let mut ends = Vec::new();
        if cost(&parts) > BUDGET {
            let mut start = 0;
            for end in 1..parts.len() {
                if is_full(&parts[start..end], &parts[end]) {
                    ends.push(end);
                    start = end;
                }
            }
            join_small_end(&parts, &mut ends);
        }
        ends.push(parts.len());
        let mut start = 0;
        for end in ends {
            self.chunks.extend(joined(&parts[start..end]));
            start = end;
        }
    }
}

/// What parts cost together; each break between them is a token.
fn cost(parts: &[Part]) -> usize {
    parts.iter().map(|part| part.tokens + 1).sum()
}

/// Whether `next` must begin a new chunk.
fn is_full(parts: &[Part], next: &Part) -> bool {
    let only_headings = parts.iter().all(|part| part.block.shape == Shape::Heading);
    let tokens = cost(parts);
    let together = tokens + next.tokens + 1;
    match only_headings {
        // A heading goes with what it heads, however long that is.
        true => together > BUDGET && next.block.shape != Shape::Whole,
        false if together > BUDGET => true,
        false if tokens < SMALL_TOKENS => false,
        // What is long enough is not joined to something else.
        false => together > TARGET_TOKENS || tokens * 2 > TARGET_TOKENS && !continues(parts, next),
    }
}

/// Whether `next` stands below the same headings as the part before it.
fn continues(parts: &[Part], next: &Part) -> bool {
    parts.last().is_none_or(|last| last.block.path == next.block.path)
}

/// Gives a last chunk that is not worth one to the chunk before it, if that has room.
fn join_small_end(parts: &[Part], ends: &mut Vec<usize>) {
    let Some(&last) = ends.last() else { return };
    let before = ends.iter().rev().nth(1).copied().unwrap_or(0);
    if cost(&parts[last..]) < SMALL_TOKENS && cost(&parts[before..]) <= BUDGET {
        ends.pop();
    }
}

/// The chunk of parts.
fn joined(parts: &[Part]) -> Option<Chunk> {
    let (first, last) = (parts.first()?, parts.last()?);
    let texts: Vec<&str> = parts.iter().map(|part| part.block.text.as_str()).collect();
    Some(Chunk {
        heading_path: path_of(parts, &last.block.path).to_vec(),
        text: texts.join("\n\n"),
        start_line: first.block.first_line,
        end_line: last.block.last_line,
    })
}

/// The headings that most of the text stands below, or those that all of it does. Headings alone count by the last.
fn path_of(parts: &[Part], last: &Path) -> Path {
    let mut texts = parts.iter().filter(|part| part.block.shape != Shape::Heading);
    let Some(first) = texts.next() else { return Arc::clone(last) };
    let tokens: usize = parts.iter().map(|part| part.tokens).sum();
    let most = parts.iter().find(|part| part.tokens * 2 > tokens).map(|part| &part.block.path);
    most.cloned().unwrap_or_else(|| {
        texts.fold(Arc::clone(&first.block.path), |path, part| common(&path, &part.block.path))
    })
}

fn common(one: &Path, other: &Path) -> Path {
    if one == other {
        return Arc::clone(one);
    }
    let same = one.iter().zip(other.iter()).take_while(|(one, other)| one == other);
    same.map(|(one, _)| one.clone()).collect()
}

/// Splits a block that is too long into parts that fit: between paragraphs if that is enough, else between lines,
/// sentences, words or, last, characters.
fn split(block: &Block) -> Vec<Part> {
    let mut line = block.first_line;
    let parts = groups(&block.text).into_iter().filter_map(|(range, tokens)| {
        let text = &block.text[range];
        let first_line = line + lines_before_text(text);
        line += text.bytes().filter(|byte| *byte == b'\n').count();
        let text = without_blank_lines_around(text);
        let last_line = first_line + text.bytes().filter(|byte| *byte == b'\n').count();
        let block = Block {
            path: Arc::clone(&block.path),
            text: text.to_owned(),
            first_line,
            last_line,
            shape: Shape::Text,
        };
        (!text.is_empty()).then_some(Part { block, tokens })
    });
    parts.collect()
}

/// Where a text that is too long is split, with the tokens of each part; none is so small that it says nothing.
fn groups(text: &str) -> Vec<(Range<usize>, usize)> {
    let mut pieces = Vec::new();
    cut(text, 0, 0, &mut pieces);
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
        && *tokens < SMALL_TOKENS
        && sum + tokens <= BUDGET
    {
        let (end, both, before) = (last.end, sum + tokens, groups.len() - 2);
        groups.truncate(before + 1);
        groups[before] = (groups[before].0.start..end, both);
    }
    groups
}

/// Cuts `text`, which starts at `offset`, into pieces of at most the target, each with its tokens.
fn cut(text: &str, offset: usize, level: usize, pieces: &mut Vec<(Range<usize>, usize)>) {
    let mut start = 0;
    while start < text.len() {
        let end = start + piece_len(&text[start..], level);
        let piece = &text[start..end];
        let tokens = estimate(piece);
        if tokens <= TARGET_TOKENS || level == LEVELS {
            pieces.push((offset + start..offset + end, tokens));
        } else {
            cut(piece, offset + start, level + 1, pieces);
        }
        start = end;
    }
}

/// Paragraphs, lines, sentences, words, characters.
const LEVELS: usize = 4;

/// The length of the first piece of `text`, which is not empty.
fn piece_len(text: &str, level: usize) -> usize {
    let end = match level {
        0 => text.find("\n\n").map(|at| at + 2),
        1 => text.find('\n').map(|at| at + 1),
        2 => sentence_end(text),
        3 => text.char_indices().find(|(_, c)| c.is_whitespace()).map(|(at, c)| at + c.len_utf8()),
        _ => text.char_indices().nth(PIECE_CHARS).map(|(at, _)| at),
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
fn lines_before_text(text: &str) -> usize {
    let blank = &text[..text.len() - text.trim_start().len()];
    blank.bytes().filter(|byte| *byte == b'\n').count()
}

/// The text without blank lines around it; the first line keeps its indentation.
fn without_blank_lines_around(text: &str) -> &str {
    let blank = &text[..text.len() - text.trim_start().len()];
    let start = blank.rfind('\n').map_or(0, |at| at + 1);
    text[start..].trim_end()
}
