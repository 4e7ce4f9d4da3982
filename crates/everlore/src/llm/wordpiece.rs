//! WordPiece tokenizer with BERT's uncased vocabulary, equal to the tokenizer of the built-in model's teacher.
//!
//! One pass over the characters: control characters are dropped, accents are stripped, letters become lower case;
//! whitespace, punctuation and Chinese characters end a word. A word is split greedily into the longest pieces of the
//! vocabulary; a word that they cannot cover becomes [`UNKNOWN_PIECE`]. Special tokens such as `[SEP]` in a text are
//! plain text: user input never becomes a control token.

use std::ops::ControlFlow;

use unicode_normalization::char::decompose_canonical;

use super::characters::{is_chinese, is_dropped, is_mark, is_punctuation};

/// Id of the piece that stands for a word outside the vocabulary.
pub(super) const UNKNOWN_PIECE: u16 = 100;

/// Number of pieces in the vocabulary.
pub(super) const VOCAB_SIZE: usize = 30_522;

/// Longest tokenized word. Longer ones are unknown, so that noise without spaces costs no more than other text.
const MAX_WORD_CHARS: usize = 100;

/// Length of the longest piece, `telecommunications`, without the continuation prefix.
const MAX_PIECE_BYTES: usize = 18;

/// Pieces, one per line; a line that begins with `##` continues a word.
static VOCAB: &[u8] = include_bytes!("../../assets/embedder/vocab.txt");

/// Offsets of the pieces in [`VOCAB`], then the hash table; `tools/embedder/assets.py` documents the layout.
static VOCAB_INDEX: &[u8] = include_bytes!("../../assets/embedder/vocab.index");

/// Slots of the hash table. The 30,522 pieces fill less than half of them, which keeps probing short.
const HASH_SLOTS: usize = 1 << 16;

/// Calls `each` with the pieces of a text, given as its characters, in order until it breaks.
pub(super) fn tokenize(
    text: impl Iterator<Item = char>,
    each: &mut impl FnMut(u16) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut word = WordBuffer::default();
    for c in text {
        match c {
            'a'..='z' | '0'..='9' => word.push(c),
            'A'..='Z' => word.push(c.to_ascii_lowercase()),
            '\t' | '\n' | '\r' | ' ' => word.flush(each)?,
            '!'..='~' => word.push_separate(c, each)?,
            _ if is_dropped(c) => {}
            _ if c.is_whitespace() => word.flush(each)?,
            _ => word.push_non_ascii(c, each)?,
        }
    }
    word.flush(each)
}

/// Returns `true` if `lines`, one piece per line, is the compiled-in vocabulary.
#[cfg(feature = "local-model")]
pub(super) fn is_vocabulary(lines: &[u8]) -> bool {
    let ends = |line: &u8| *line == b'\n' || *line == b'\r';
    let filled =
        |lines: &'_ [u8]| lines.len() - lines.iter().rev().take_while(|byte| ends(byte)).count();
    lines[..filled(lines)] == VOCAB[..filled(VOCAB)]
}

/// Returns the piece if it is a whole word of lower-case ASCII letters.
#[cfg(feature = "local-model")]
pub(super) fn plain_word(id: u16) -> Option<&'static str> {
    let line = std::str::from_utf8(vocab_line(usize::from(id))).ok()?;
    line.bytes().all(|byte| byte.is_ascii_lowercase()).then_some(line)
}

/// Returns the text of a piece without the continuation prefix.
pub(super) fn piece_text(id: u16) -> &'static [u8] {
    let line = vocab_line(usize::from(id));
    line.strip_prefix(b"##").filter(|rest| !rest.is_empty()).unwrap_or(line)
}

/// Word being read, in lower case.
#[derive(Default)]
struct WordBuffer {
    text: String,
    chars: usize,
}

impl WordBuffer {
    fn push(&mut self, c: char) {
        self.chars += 1;
        if self.chars <= MAX_WORD_CHARS {
            self.text.push(c);
        }
    }

    /// Ends the current word and emits `c` as a word of its own.
    fn push_separate(
        &mut self,
        c: char,
        each: &mut impl FnMut(u16) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.flush(each)?;
        self.push(c);
        self.flush(each)
    }

    /// Decomposes a non-ASCII character and adds its parts.
    fn push_non_ascii(
        &mut self,
        c: char,
        each: &mut impl FnMut(u16) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let chinese = is_chinese(c);
        if chinese {
            self.flush(each)?;
        }
        let mut flow = ControlFlow::Continue(());
        decompose_canonical(c, |part| {
            if flow.is_continue() && !is_mark(part) {
                flow = part.to_lowercase().try_for_each(|small| self.push_lowercase(small, each));
            }
        });
        flow?;
        if chinese { self.flush(each) } else { ControlFlow::Continue(()) }
    }

    /// Adds a lower-case letter, or emits a separator as a word of its own.
    fn push_lowercase(
        &mut self,
        c: char,
        each: &mut impl FnMut(u16) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if is_separate_word(c) {
            return self.push_separate(c, each);
        }
        self.push(c);
        ControlFlow::Continue(())
    }

    /// Emits the pieces of the word and starts an empty one.
    fn flush(&mut self, each: &mut impl FnMut(u16) -> ControlFlow<()>) -> ControlFlow<()> {
        if self.chars == 0 {
            return ControlFlow::Continue(());
        }
        let mut found = [UNKNOWN_PIECE; MAX_WORD_CHARS];
        let count =
            if self.chars > MAX_WORD_CHARS { 0 } else { split_word(&self.text, &mut found) };
        self.text.clear();
        self.chars = 0;
        found[..count.max(1)].iter().try_for_each(|&id| each(id))
    }
}

fn is_separate_word(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_punctuation() } else { is_punctuation(c) }
}

/// Writes the longest pieces that cover `word` from the left and returns their number. If none cover it, returns 0 and
/// writes [`UNKNOWN_PIECE`] first.
fn split_word(word: &str, found: &mut [u16; MAX_WORD_CHARS]) -> usize {
    let mut rest = word;
    let mut count = 0;
    while !rest.is_empty() {
        let Some((id, len)) = longest_piece(rest, count > 0) else {
            found[0] = UNKNOWN_PIECE;
            return 0;
        };
        found[count] = id;
        count += 1;
        rest = &rest[len..];
    }
    count
}

/// Returns the longest piece at the start of `text` and its length. One pass computes the hashes of all prefixes.
fn longest_piece(text: &str, continues: bool) -> Option<(u16, usize)> {
    let mut hashes = [0; MAX_PIECE_BYTES];
    let mut hash = if continues { CONTINUATION_BASIS } else { FNV_BASIS };
    for (prefix_hash, &byte) in hashes.iter_mut().zip(text.as_bytes()) {
        hash = fnv(hash, byte);
        *prefix_hash = hash;
    }
    let max = text.len().min(MAX_PIECE_BYTES);
    (1..=max).rev().filter(|&len| text.is_char_boundary(len)).find_map(|len| {
        let id = find_piece(hashes[len - 1], &text.as_bytes()[..len], continues)?;
        Some((id, len))
    })
}

/// Looks up the piece with this text in the hash table.
fn find_piece(hash: u32, text: &[u8], continues: bool) -> Option<u16> {
    let mut slot = (hash.wrapping_mul(HASH_MULTIPLIER) >> 16) as usize;
    loop {
        let id = hash_slot(slot).checked_sub(1)?;
        if is_piece(usize::from(id), text, continues) {
            return Some(id);
        }
        slot = (slot + 1) % HASH_SLOTS;
    }
}

const FNV_BASIS: u32 = 0x811c_9dc5;

/// FNV basis after hashing `##`.
const CONTINUATION_BASIS: u32 = fnv(fnv(FNV_BASIS, b'#'), b'#');

/// Multiplier that spreads a hash over the slots by its upper bits.
const HASH_MULTIPLIER: u32 = 0x9e37_79b1;

const fn fnv(hash: u32, byte: u8) -> u32 {
    (hash ^ byte as u32).wrapping_mul(0x0100_0193)
}

/// Returns `true` if piece `id` has exactly this text, with `##` before it if it continues a word.
fn is_piece(id: usize, text: &[u8], continues: bool) -> bool {
    let line = &VOCAB[line_start(id)..];
    let line = if continues { line.strip_prefix(b"##") } else { Some(line) };
    line.is_some_and(|line| line.starts_with(text) && line.get(text.len()) == Some(&b'\n'))
}

fn vocab_line(id: usize) -> &'static [u8] {
    let end = if id + 1 < VOCAB_SIZE { line_start(id + 1) } else { VOCAB.len() };
    &VOCAB[line_start(id)..end - 1]
}

fn line_start(id: usize) -> usize {
    u32::from_le_bytes(VOCAB_INDEX.as_chunks().0[id]) as usize
}

fn hash_slot(slot: usize) -> u16 {
    u16::from_le_bytes(VOCAB_INDEX[VOCAB_SIZE * size_of::<u32>()..].as_chunks().0[slot])
}

#[cfg(test)]
#[path = "wordpiece_tests.rs"]
mod tests;
