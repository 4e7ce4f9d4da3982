//! WordPiece tokenizer, with BERT's uncased vocabulary or that of the built-in encoder.
//!
//! One pass over the characters: control characters are dropped, accents are stripped, letters become lower case;
//! whitespace, punctuation and Chinese characters end a word. A word is split greedily into the longest pieces of the
//! vocabulary; a word that they cannot cover becomes [`UNKNOWN_PIECE`]. A vocabulary with Chinese words splits a run of
//! Chinese characters into the longest of them; without, each character is a word. Special tokens such as `[SEP]` in a
//! text are plain text: user input never becomes a control token.

use std::ops::ControlFlow;

use unicode_normalization::char::decompose_canonical;

use super::characters::{is_chinese, is_dropped, is_mark, is_punctuation};
#[cfg(feature = "local-model")]
use crate::text::traditional::simplify_char;

/// Id of the piece that stands for a word outside the vocabulary.
pub(super) const UNKNOWN_PIECE: u16 = 100;

/// Number of pieces in BERT's vocabulary.
pub(super) const VOCAB_SIZE: usize = 30_522;

/// Longest tokenized word. Longer ones are unknown, so that noise without spaces costs no more than other text.
const MAX_WORD_CHARS: usize = 100;

/// Length of the longest piece, `telecommunications`, without the continuation prefix.
const MAX_PIECE_BYTES: usize = 18;

/// Characters of the longest Chinese word.
const MAX_CHINESE_CHARS: usize = 4;

/// Longest run of Chinese characters that is split at once; a longer one is more than any model reads.
const MAX_CHINESE_RUN: usize = 2_048;

/// Slots of the hash table. The pieces fill about half of them, which keeps probing short.
const HASH_SLOTS: usize = 1 << 16;

/// Compiled-in vocabulary.
pub(super) struct Vocabulary {
    /// Pieces, one per line; a line that begins with `##` continues a word.
    lines: &'static [u8],
    /// Offsets of the pieces in `lines`, then the hash table; `tools/embedder/assets.py` documents the layout.
    index: &'static [u8],
    /// Number of pieces.
    pub(super) size: usize,
    /// `true` if Chinese words are pieces.
    pub(super) chinese_words: bool,
}

/// Vocabulary of BERT's uncased models.
pub(super) static BERT: Vocabulary = Vocabulary {
    lines: include_bytes!("../../assets/embedder/vocab.txt"),
    index: include_bytes!("../../assets/embedder/vocab.index"),
    size: VOCAB_SIZE,
    chinese_words: false,
};

/// Vocabulary of the built-in encoder.
#[cfg(feature = "local-model")]
pub(super) static ENCODER: Vocabulary = {
    let index = include_bytes!("../../assets/encoder/vocab.index");
    Vocabulary {
        lines: include_bytes!("../../assets/encoder/vocab.txt"),
        index,
        size: (index.len() - HASH_SLOTS * size_of::<u16>()) / size_of::<u32>(),
        chinese_words: true,
    }
};

/// Calls `each` with the pieces of a text, given as its characters, in order until it breaks.
pub(super) fn tokenize(
    vocabulary: &'static Vocabulary,
    text: impl Iterator<Item = char>,
    each: &mut impl FnMut(u16) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut word = WordBuffer::new(vocabulary);
    for c in text {
        match c {
            'a'..='z' | '0'..='9' => word.push(c, each)?,
            'A'..='Z' => word.push(c.to_ascii_lowercase(), each)?,
            '\t' | '\n' | '\r' | ' ' => word.flush(each)?,
            '!'..='~' => word.push_separate(c, each)?,
            _ if is_dropped(c) => {}
            _ if c.is_whitespace() => word.flush(each)?,
            _ => word.push_non_ascii(c, each)?,
        }
    }
    word.flush(each)
}

/// Returns `true` if `lines`, one piece per line, is BERT's vocabulary.
#[cfg(feature = "local-model")]
pub(super) fn is_vocabulary(lines: &[u8]) -> bool {
    let ends = |line: &u8| *line == b'\n' || *line == b'\r';
    let filled =
        |lines: &'_ [u8]| lines.len() - lines.iter().rev().take_while(|byte| ends(byte)).count();
    lines[..filled(lines)] == BERT.lines[..filled(BERT.lines)]
}

/// Returns the piece of BERT's vocabulary if it is a whole word of lower-case ASCII letters.
#[cfg(feature = "local-model")]
pub(super) fn plain_word(id: u16) -> Option<&'static str> {
    let line = std::str::from_utf8(BERT.line(usize::from(id))).ok()?;
    line.bytes().all(|byte| byte.is_ascii_lowercase()).then_some(line)
}

/// Returns the text of a piece of BERT's vocabulary without the continuation prefix.
pub(super) fn piece_text(id: u16) -> &'static [u8] {
    let line = BERT.line(usize::from(id));
    line.strip_prefix(b"##").filter(|rest| !rest.is_empty()).unwrap_or(line)
}

/// Word being read, in lower case, or run of Chinese characters.
struct WordBuffer {
    vocabulary: &'static Vocabulary,
    text: String,
    chars: usize,
    is_chinese: bool,
}

impl WordBuffer {
    fn new(vocabulary: &'static Vocabulary) -> Self {
        Self { vocabulary, text: String::new(), chars: 0, is_chinese: false }
    }

    fn push(&mut self, c: char, each: &mut impl FnMut(u16) -> ControlFlow<()>) -> ControlFlow<()> {
        if self.is_chinese {
            self.flush(each)?;
        }
        self.chars += 1;
        if self.chars <= MAX_WORD_CHARS {
            self.text.push(c);
        }
        ControlFlow::Continue(())
    }

    /// Ends the current word and emits `c` as a word of its own.
    fn push_separate(
        &mut self,
        c: char,
        each: &mut impl FnMut(u16) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.flush(each)?;
        self.push(c, each)?;
        self.flush(each)
    }

    /// Decomposes a non-ASCII character and adds its parts.
    fn push_non_ascii(
        &mut self,
        c: char,
        each: &mut impl FnMut(u16) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if is_chinese(c) {
            return self.push_chinese(c, each);
        }
        let mut flow = ControlFlow::Continue(());
        decompose_canonical(c, |part| {
            if flow.is_continue() && !is_mark(part) {
                flow = part.to_lowercase().try_for_each(|small| self.push_lowercase(small, each));
            }
        });
        flow
    }

    /// Adds a Chinese character to the current run; without Chinese words, emits it as a word of its own.
    fn push_chinese(
        &mut self,
        c: char,
        each: &mut impl FnMut(u16) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if !(self.vocabulary.chinese_words && self.is_chinese && self.chars < MAX_CHINESE_RUN) {
            self.flush(each)?;
        }
        self.is_chinese = true;
        decompose_canonical(c, |part| {
            self.chars += 1;
            self.text.push(part);
        });
        if self.vocabulary.chinese_words { ControlFlow::Continue(()) } else { self.flush(each) }
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
        self.push(c, each)
    }

    /// Emits the pieces of the word and starts an empty one.
    fn flush(&mut self, each: &mut impl FnMut(u16) -> ControlFlow<()>) -> ControlFlow<()> {
        if self.chars == 0 {
            return ControlFlow::Continue(());
        }
        let (text, chars) = (std::mem::take(&mut self.text), std::mem::take(&mut self.chars));
        let flow = if std::mem::take(&mut self.is_chinese) {
            self.vocabulary.split_chinese(&text, each)
        } else {
            self.vocabulary.split_word(&text, chars, each)
        };
        self.text = text;
        self.text.clear();
        flow
    }
}

/// Returns the bytes before the first Chinese character.
#[cfg(feature = "local-model")]
fn other_len(text: &str) -> usize {
    text.find(is_chinese).unwrap_or(text.len())
}

fn is_separate_word(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_punctuation() } else { is_punctuation(c) }
}

impl Vocabulary {
    /// Emits the longest pieces that cover a word from the left, or [`UNKNOWN_PIECE`] if none do.
    fn split_word(
        &self,
        word: &str,
        chars: usize,
        each: &mut impl FnMut(u16) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut found = [UNKNOWN_PIECE; MAX_WORD_CHARS];
        let count = if chars > MAX_WORD_CHARS { 0 } else { self.cover(word, &mut found) };
        found[..count.max(1)].iter().try_for_each(|&id| each(id))
    }

    /// Writes the longest pieces that cover `word` and returns their number. If none cover it, returns 0 and writes
    /// [`UNKNOWN_PIECE`] first.
    fn cover(&self, word: &str, found: &mut [u16; MAX_WORD_CHARS]) -> usize {
        let mut rest = word;
        let mut count = 0;
        while !rest.is_empty() {
            let Some((id, len)) = self.longest_piece(rest, rest.len(), count > 0) else {
                found[0] = UNKNOWN_PIECE;
                return 0;
            };
            found[count] = id;
            count += 1;
            rest = &rest[len..];
        }
        count
    }

    /// Emits the longest words of a run of Chinese characters; a character that begins none is unknown.
    fn split_chinese(
        &self,
        run: &str,
        each: &mut impl FnMut(u16) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut rest = run;
        while let Some(first) = rest.chars().next() {
            let word = rest.char_indices().nth(MAX_CHINESE_CHARS).map_or(rest.len(), |(at, _)| at);
            let (id, len) =
                self.longest_piece(rest, word, false).unwrap_or((UNKNOWN_PIECE, first.len_utf8()));
            each(id)?;
            rest = &rest[len..];
        }
        ControlFlow::Continue(())
    }

    /// Splits a word: a run of Chinese characters into the longest words of the vocabulary, anything else not at all.
    #[cfg(feature = "local-model")]
    pub(super) fn split_text<'a>(&'static self, word: &'a str) -> Vec<&'a str> {
        let mut parts = Vec::new();
        let mut rest = word;
        while let Some(first) = rest.chars().next() {
            let len = if is_chinese(first) { self.chinese_word_len(rest) } else { other_len(rest) };
            let (part, after) = rest.split_at(len);
            parts.push(part);
            rest = after;
        }
        parts
    }

    /// Returns the bytes of the longest word at the start of a Chinese text, in any script.
    #[cfg(feature = "local-model")]
    fn chinese_word_len(&self, text: &str) -> usize {
        let run = text.chars().take_while(|c| is_chinese(*c)).take(MAX_CHINESE_CHARS);
        let simple: String = run.map(simplify_char).collect();
        let chars = self
            .longest_piece(&simple, simple.len(), false)
            .map_or(1, |(_, len)| simple[..len].chars().count());
        text.chars().take(chars).map(char::len_utf8).sum()
    }

    /// Returns the longest piece within the first `max` bytes of `text`, and its length. One pass computes the hashes
    /// of all prefixes.
    fn longest_piece(&self, text: &str, max: usize, continues: bool) -> Option<(u16, usize)> {
        let mut hashes = [0; MAX_PIECE_BYTES];
        let mut hash = if continues { CONTINUATION_BASIS } else { FNV_BASIS };
        for (prefix_hash, &byte) in hashes.iter_mut().zip(text.as_bytes()) {
            hash = fnv(hash, byte);
            *prefix_hash = hash;
        }
        let max = max.min(MAX_PIECE_BYTES);
        (1..=max).rev().filter(|&len| text.is_char_boundary(len)).find_map(|len| {
            let id = self.find_piece(hashes[len - 1], &text.as_bytes()[..len], continues)?;
            Some((id, len))
        })
    }

    /// Looks up the piece with this text in the hash table.
    fn find_piece(&self, hash: u32, text: &[u8], continues: bool) -> Option<u16> {
        let mut slot = (hash.wrapping_mul(HASH_MULTIPLIER) >> 16) as usize;
        loop {
            let id = self.hash_slot(slot).checked_sub(1)?;
            if self.is_piece(usize::from(id), text, continues) {
                return Some(id);
            }
            slot = (slot + 1) % HASH_SLOTS;
        }
    }

    /// Returns `true` if piece `id` has exactly this text, with `##` before it if it continues a word.
    fn is_piece(&self, id: usize, text: &[u8], continues: bool) -> bool {
        let line = &self.lines[self.line_start(id)..];
        let line = if continues { line.strip_prefix(b"##") } else { Some(line) };
        line.is_some_and(|line| line.starts_with(text) && line.get(text.len()) == Some(&b'\n'))
    }

    fn line(&self, id: usize) -> &'static [u8] {
        let end = if id + 1 < self.size { self.line_start(id + 1) } else { self.lines.len() };
        &self.lines[self.line_start(id)..end - 1]
    }

    fn line_start(&self, id: usize) -> usize {
        u32::from_le_bytes(self.index.as_chunks().0[id]) as usize
    }

    fn hash_slot(&self, slot: usize) -> u16 {
        u16::from_le_bytes(self.index[self.size * size_of::<u32>()..].as_chunks().0[slot])
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

#[cfg(test)]
#[path = "wordpiece_tests.rs"]
mod tests;
