//! Cuts a text into the word pieces of BERT's uncased vocabulary, as the tokenizer of the built-in model's teacher does.
//!
//! A text is read once, character by character: control characters vanish, accents come off, letters become small;
//! blanks, punctuation and Chinese characters end a word. A word is covered from the left by the longest pieces of the
//! vocabulary; a word that they cannot cover is [`UNKNOWN`]. Names of special pieces such as `[SEP]` in a text are
//! plain text here: what somebody wrote never turns into a control token.

use std::ops::ControlFlow;

use unicode_normalization::char::decompose_canonical;

use super::characters::{is_chinese, is_dropped, is_mark, is_punctuation};

/// The piece that stands for a word no pieces cover.
pub(super) const UNKNOWN_PIECE: u16 = 100;

/// How many pieces there are.
pub(super) const VOCAB_SIZE: usize = 30_522;

/// Longer words are unknown, so that nonsense without blanks costs no more than other text.
const MAX_WORD_CHARS: usize = 100;

/// The longest piece, `telecommunications`, without the sign of a continuation.
const MAX_PIECE_BYTES: usize = 18;

/// The pieces, one a line; a line that begins with `##` continues a word.
static VOCAB: &[u8] = include_bytes!("../../assets/embedder/vocab.txt");

/// Where each piece begins in `WORDS`, then the hash table: `tools/embedder/assets.py` says how it is laid out.
static VOCAB_INDEX: &[u8] = include_bytes!("../../assets/embedder/vocab.index");

/// 30,522 pieces fill less than half of the places, which keeps the searches short.
const HASH_SLOTS: usize = 1 << 16;

/// Calls `each` with the pieces of `text` one after the other until it breaks.
pub(super) fn tokenize(
    text: &str,
    each: &mut impl FnMut(u16) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut word = WordBuffer::default();
    for c in text.chars() {
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

/// Whether a file of pieces, one a line, is the vocabulary by which texts are cut here.
#[cfg(feature = "local-model")]
pub(super) fn is_vocabulary(lines: &[u8]) -> bool {
    let ends = |line: &u8| *line == b'\n' || *line == b'\r';
    let filled =
        |lines: &'_ [u8]| lines.len() - lines.iter().rev().take_while(|byte| ends(byte)).count();
    lines[..filled(lines)] == VOCAB[..filled(VOCAB)]
}

/// A piece that is a word of plain letters.
#[cfg(feature = "local-model")]
pub(super) fn plain_word(id: u16) -> Option<&'static str> {
    let line = std::str::from_utf8(vocab_line(usize::from(id))).ok()?;
    line.bytes().all(|byte| byte.is_ascii_lowercase()).then_some(line)
}

/// The text of a piece without the sign of a continuation.
pub(super) fn piece_text(id: u16) -> &'static [u8] {
    let line = vocab_line(usize::from(id));
    line.strip_prefix(b"##").filter(|rest| !rest.is_empty()).unwrap_or(line)
}

/// The word that is being read, in small letters.
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

    /// Ends the word before `c`, and is `c` alone.
    fn push_separate(
        &mut self,
        c: char,
        each: &mut impl FnMut(u16) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.flush(each)?;
        self.push(c);
        self.flush(each)
    }

    /// Takes a character beyond ASCII apart.
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

    /// Takes a small letter, or a sign that is split off.
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

    /// Hands out the pieces of the word and begins an empty one.
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

/// Writes the longest pieces that cover `word` from the left and returns how many they are; none cover it: 0, and the
/// first is [`UNKNOWN`].
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

/// The longest piece that begins `text`, and its length. The hashes of all beginnings come from one pass.
fn longest_piece(text: &str, continues: bool) -> Option<(u16, usize)> {
    let mut hashes = [0; MAX_PIECE_BYTES];
    let mut hash = if continues { CONTINUATION_BASIS } else { FNV_BASIS };
    for (place, &byte) in hashes.iter_mut().zip(text.as_bytes()) {
        hash = fnv(hash, byte);
        *place = hash;
    }
    let max = text.len().min(MAX_PIECE_BYTES);
    (1..=max).rev().filter(|&len| text.is_char_boundary(len)).find_map(|len| {
        let id = find_piece(hashes[len - 1], &text.as_bytes()[..len], continues)?;
        Some((id, len))
    })
}

/// The piece with this text.
fn find_piece(hash: u32, text: &[u8], continues: bool) -> Option<u16> {
    let mut place = (hash.wrapping_mul(HASH_MULTIPLIER) >> 16) as usize;
    loop {
        let id = hash_slot(place).checked_sub(1)?;
        if is_piece(usize::from(id), text, continues) {
            return Some(id);
        }
        place = (place + 1) % HASH_SLOTS;
    }
}

const FNV_BASIS: u32 = 0x811c_9dc5;

/// What `##` makes of the basis.
const CONTINUATION_BASIS: u32 = fnv(fnv(FNV_BASIS, b'#'), b'#');

/// Spreads a hash over the places by its upper bits.
const HASH_MULTIPLIER: u32 = 0x9e37_79b1;

const fn fnv(hash: u32, byte: u8) -> u32 {
    (hash ^ byte as u32).wrapping_mul(0x0100_0193)
}

/// Whether the piece is written like this: with the line end, and `##` if it continues a word.
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

fn hash_slot(place: usize) -> u16 {
    u16::from_le_bytes(VOCAB_INDEX[VOCAB_SIZE * size_of::<u32>()..].as_chunks().0[place])
}

#[cfg(test)]
#[path = "wordpiece_tests.rs"]
mod tests;
