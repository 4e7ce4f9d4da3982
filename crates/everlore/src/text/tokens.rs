//! Token estimate: how many tokens a model would count in a text, without its tokenizer.
//!
//! The text is split as the pre-tokenizers of `cl100k_base` and `o200k_base` split it, and each piece is covered from
//! the left by the longest tokens that both vocabularies have. The merge rules of the real ones sometimes need more
//! tokens for a rare word, so a piece that is not a single token gets a margin. The estimate therefore leans upward,
//! and a packed block keeps to its budget by the real count.

use std::collections::HashMap;

use unicode_normalization::char::is_combining_mark;
use xxhash_rust::xxh3::xxh3_64;

/// Fingerprints of the tokens that both vocabularies have, in a hash table with linear probing. A test of this file
/// generates it from the vocabularies, and another checks that it is theirs.
static TOKEN_TABLE: &[TokenFingerprint] = include_bytes!("token_table.bin").as_chunks().0;

/// Fingerprint of a token: three bytes mistake one piece in millions for a token; with two it is one in ten thousand.
type TokenFingerprint = [u8; 3];

/// Fingerprint that no token has.
const EMPTY_BUCKET: TokenFingerprint = [0; 3];

/// Buckets of the table: 85,000 tokens fill two thirds of them, which keeps the searches short.
const BUCKETS: usize = 1 << 17;

/// Most bytes of a token in the table: 99.8% of all tokens are no longer, and a longer one only counts as two.
const MAX_TOKEN_BYTES: usize = 16;

/// Digits of a token: both pre-tokenizers split numbers into groups of three.
const DIGITS_PER_TOKEN: usize = 3;

/// Tenths of a token that the merge rules may add to a piece of ASCII that is not one token, for each token that covers
/// it. Measured: none of 28,000 texts and 1,200 source files is underestimated. One rare word in 250 costs more still;
/// see [`PieceRepeats`].
const RARE_MARGIN_TENTHS: usize = 4;

/// Letters beyond ASCII for one token of margin: they are covered almost exactly, except in odd mixtures of scripts.
const NON_ASCII_MARGIN: usize = 24;

/// Occurrences of a word before it counts as repeated.
const FREE_REPEATS: usize = 3;

/// Tokens from which a text gets one token more, for the one word in 2,500 whose margin is too small.
const LONG_TEXT_TOKENS: usize = 20;

/// Estimates the tokens of `text` for today's large models: a few percent too many rather than one too few.
pub fn estimate_tokens(text: &str) -> usize {
    let mut rest = text;
    let mut tenths = 0;
    let mut new_line = false;
    let mut repeats = PieceRepeats::default();
    while !rest.is_empty() {
        let len = if new_line { slashes_len(rest) } else { None };
        let (piece, after) = rest.split_at(len.unwrap_or_else(|| piece_len(rest)));
        tenths += repeats.tenths(piece);
        new_line = piece.ends_with(['\r', '\n']);
        rest = after;
    }
    let tokens = tenths.div_ceil(10);
    tokens + usize::from(tokens >= LONG_TEXT_TOKENS)
}

/// Occurrences of each piece of more than one token. Different words even out what the merge rules add; a repeated word
/// does not, so from its fourth occurrence on all of them count with the worst case.
#[derive(Default)]
struct PieceRepeats(HashMap<u64, usize>);

impl PieceRepeats {
    fn tenths(&mut self, piece: &str) -> usize {
        let tenths = piece_tenths(piece);
        if tenths <= 10 {
            return tenths;
        }
        let count = self.0.entry(xxh3_64(piece.as_bytes())).or_default();
        *count += 1;
        let worst = tenths.max(worst_tenths(piece));
        match *count {
            ..=FREE_REPEATS => tenths,
            count if count == FREE_REPEATS + 1 => worst + FREE_REPEATS * (worst - tenths),
            _ => worst,
        }
    }
}

/// Returns the most tokens that merge rules make of a piece, as measured: half as many again as cover it, and one.
fn worst_tenths(piece: &str) -> usize {
    let tokens = greedy_token_count(piece);
    10 * (tokens + tokens.div_ceil(2) + 1).min(piece.len())
}

/// Class of a character for the pre-tokenizers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CharClass {
    Letter,
    Digit,
    Blank,
    Symbol,
}

impl CharClass {
    fn of(c: char) -> Self {
        match c {
            'a'..='z' | 'A'..='Z' | '一'..='鿿' => Self::Letter,
            '0'..='9' => Self::Digit,
            _ if c.is_whitespace() => Self::Blank,
            '\0'..='\x7f' => Self::Symbol,
            _ if c.is_numeric() => Self::Digit,
            // Vowel signs and letters in circles are alphabetic, but no letters to a pre-tokenizer.
            'Ⓐ'..='ⓩ' | '🄰'..='🆉' => Self::Symbol,
            _ if c.is_alphabetic() && !is_combining_mark(c) => Self::Letter,
            _ => Self::Symbol,
        }
    }

    /// Returns the class of the first character of `text`; an empty text is blank.
    fn of_first(text: &str) -> Self {
        text.chars().next().map_or(Self::Blank, Self::of)
    }
}

/// Returns the length of the first piece of a text that is not empty.
fn piece_len(text: &str) -> usize {
    match CharClass::of_first(text) {
        CharClass::Letter => letters_len(text),
        CharClass::Digit => digits_len(text),
        CharClass::Symbol => symbols_len(text),
        CharClass::Blank => word_after_space_len(text).unwrap_or_else(|| blank_len(text)),
    }
}

/// Returns the length of the slashes that begin a line: one pre-tokenizer splits them from what follows and joins them
/// to the line end.
fn slashes_len(line: &str) -> Option<usize> {
    Some(line.bytes().take_while(|&byte| byte == b'/').count()).filter(|&len| len > 0)
}

/// Returns the length of the letters at the start of `text`, up to the first change from lower to upper case.
fn letters_len(text: &str) -> usize {
    let mut lower = false;
    for (at, c) in text.char_indices() {
        match c {
            'a'..='z' => lower = true,
            '一'..='鿿' => lower = false,
            _ if CharClass::of(c) != CharClass::Letter || lower && c.is_uppercase() => return at,
            _ => lower = c.is_lowercase(),
        }
    }
    text.len()
}

/// Returns the length of the digits at the start of `text`, as far as one token goes.
fn digits_len(text: &str) -> usize {
    let digits =
        text.chars().take(DIGITS_PER_TOKEN).take_while(|&c| CharClass::of(c) == CharClass::Digit);
    digits.map(char::len_utf8).sum()
}

/// Returns the length of a symbol with the word it begins, or of the symbols at the start of `text`.
fn symbols_len(text: &str) -> usize {
    let first = text.chars().next().map_or(0, char::len_utf8);
    match CharClass::of_first(&text[first..]) {
        CharClass::Letter => {
            first + contraction_len(text).unwrap_or_else(|| letters_len(&text[first..]))
        }
        _ => symbol_run_len(text),
    }
}

/// Returns the length of the symbols at the start of `text`, with the line ends after them.
fn symbol_run_len(text: &str) -> usize {
    let symbols = text.find(|c| CharClass::of(c) != CharClass::Symbol).unwrap_or(text.len());
    symbols + text[symbols..].bytes().take_while(|byte| b"\r\n".contains(byte)).count()
}

/// Returns the length of `'s` and its like at the start of `text`: one pre-tokenizer splits them off even before a
/// longer word.
fn contraction_len(text: &str) -> Option<usize> {
    let letters = text.strip_prefix('\'')?;
    let begins = |ending: &&str| {
        letters.get(..ending.len()).is_some_and(|start| start.eq_ignore_ascii_case(ending))
    };
    ["s", "t", "re", "ve", "m", "ll", "d"].into_iter().find(begins).map(str::len)
}

/// Returns the length of a space and a word, the most common piece by far.
fn word_after_space_len(text: &str) -> Option<usize> {
    let word =
        text.strip_prefix(' ').filter(|word| CharClass::of_first(word) == CharClass::Letter)?;
    Some(1 + letters_len(word))
}

/// Returns the length of the blanks at the start of `text`: up to the last line end, or without the one that belongs to
/// the word after it, or of that one with its word.
fn blank_len(text: &str) -> usize {
    let (blank, after) =
        text.split_at(text.find(|c: char| !c.is_whitespace()).unwrap_or(text.len()));
    let last = blank.chars().next_back().map_or(0, char::len_utf8);
    match CharClass::of_first(after) {
        _ if blank.contains(['\r', '\n']) => blank.rfind(['\r', '\n']).map_or(0, |at| at + 1),
        _ if after.is_empty() => blank.len(),
        _ if blank.len() > last => blank.len() - last,
        CharClass::Letter => blank.len() + letters_len(after),
        CharClass::Symbol if blank == " " => blank.len() + symbol_run_len(after),
        _ => blank.len(),
    }
}

/// Returns tenths of the tokens of a piece, with the margin for what merge rules do to rare words.
fn piece_tenths(piece: &str) -> usize {
    if piece.len() <= MAX_TOKEN_BYTES && is_token(piece.as_bytes()) {
        return 10;
    }
    let tokens = greedy_token_count(piece);
    let plain = piece.is_ascii() || piece.bytes().any(|byte| byte.is_ascii_graphic());
    let margin = if plain { RARE_MARGIN_TENTHS * tokens } else { 10 * (tokens / NON_ASCII_MARGIN) };
    10 * tokens + margin
}

/// Counts the tokens that cover `piece` from the left, the longest first.
fn greedy_token_count(piece: &str) -> usize {
    let mut rest = piece;
    let mut tokens = 0;
    while let Some(first) = rest.chars().next() {
        let first = first.len_utf8();
        let len = longest_token(rest, first);
        tokens += if len == 0 { byte_token_count(&rest.as_bytes()[..first]) } else { 1 };
        rest = &rest[len.max(first)..];
    }
    tokens
}

/// Returns the length of the longest token of whole characters at the start of `text`, or 0.
fn longest_token(text: &str, first: usize) -> usize {
    let is_token_of =
        |&len: &usize| text.is_char_boundary(len) && is_token(&text.as_bytes()[..len]);
    let max = text.len().min(MAX_TOKEN_BYTES);
    match first {
        1 | 2 => (first..=max).rev().find(is_token_of).unwrap_or(0),
        _ if !is_token_of(&first) => 0,
        // Only Chinese, Japanese and Korean have characters this long and tokens of two of them; longer ones are rare.
        _ => Some(2 * first).filter(|len| *len <= max && is_token_of(len)).unwrap_or(first),
    }
}

/// Counts the tokens of a character that is not a token: one for each byte, but the first two or three may share one.
fn byte_token_count(bytes: &[u8]) -> usize {
    let shared = (2..bytes.len()).rev().find(|&len| is_token(&bytes[..len])).unwrap_or(1);
    1 + bytes.len() - shared
}

fn is_token(bytes: &[u8]) -> bool {
    let (mut bucket, fingerprint) = bucket_and_fingerprint(bytes);
    loop {
        match TOKEN_TABLE[bucket] {
            EMPTY_BUCKET => return false,
            found if found == fingerprint => return true,
            _ => bucket = (bucket + 1) % BUCKETS,
        }
    }
}

/// Returns the bucket at which the search for a token begins, and its fingerprint.
fn bucket_and_fingerprint(token: &[u8]) -> (usize, TokenFingerprint) {
    let hash = xxh3_64(token);
    let [.., a, b, c] = hash.to_le_bytes();
    (hash as usize % BUCKETS, [a | 1, b, c])
}

#[cfg(test)]
#[path = "tokens_tests.rs"]
mod tests;
