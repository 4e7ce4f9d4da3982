//! Chinese words of the built-in model: each is a weighted sum of four rows of the English table, so that both
//! languages share one space.
//!
//! `tools/bilingual/README.md` documents the layout of the file. Lookups search the compiled-in bytes; nothing is
//! parsed at start.

use crate::text::traditional::simplify_char;

/// Characters of the longest word.
const MAX_WORD_CHARS: usize = 8;

/// Rows of the English table that make up a word.
pub(super) const ROWS_PER_WORD: usize = 4;

/// Weight that counts as 1.
const WEIGHT_STEPS: f32 = 32.0;

/// Bytes of the rows and weights of a word.
const WORD_BYTES: usize = ROWS_PER_WORD * 3;

static WORD_FILE: &[u8] = include_bytes!("../../assets/embedder/zh_words.bin");

/// Bytes before the first key: the magic number and the count of words of each length.
const HEADER_BYTES: usize = 4 + MAX_WORD_CHARS * 4;

/// Words of each length.
const COUNTS: [usize; MAX_WORD_CHARS] = counts();

/// Number of the first word of each length.
const FIRST_NUMBERS: [usize; MAX_WORD_CHARS] = running_totals(false).0;

/// Position of the first key of each length, and the end of all keys.
const FIRST_KEYS: [usize; MAX_WORD_CHARS] = running_totals(true).0;
const KEYS_END: usize = running_totals(true).1;

const fn counts() -> [usize; MAX_WORD_CHARS] {
    let mut counts = [0; MAX_WORD_CHARS];
    let mut length = 0;
    while length < MAX_WORD_CHARS {
        let at = 4 + length * 4;
        let low = WORD_FILE[at] as usize | (WORD_FILE[at + 1] as usize) << 8;
        counts[length] = low | (WORD_FILE[at + 2] as usize) << 16;
        length += 1;
    }
    counts
}

/// Adds up the words of the lengths before each, in words or in bytes of the file; the second value is the total.
const fn running_totals(in_bytes: bool) -> ([usize; MAX_WORD_CHARS], usize) {
    let mut totals = [0; MAX_WORD_CHARS];
    let (mut total, mut length) = (if in_bytes { HEADER_BYTES } else { 0 }, 0);
    while length < MAX_WORD_CHARS {
        totals[length] = total;
        total += COUNTS[length] * if in_bytes { 2 * (length + 1) } else { 1 };
        length += 1;
    }
    (totals, total)
}

// A file of another layout would be read out of bounds.
const _: () = assert!(WORD_FILE.len() == KEYS_END + running_totals(false).1 * WORD_BYTES);

/// Number of a word in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChineseWord(usize);

impl ChineseWord {
    /// Returns the rows of the English table that make up the word, each with its weight.
    pub(super) fn rows(self) -> [(u16, f32); ROWS_PER_WORD] {
        let bytes = &WORD_FILE[KEYS_END + self.0 * WORD_BYTES..][..WORD_BYTES];
        let (rows, weights) = bytes.split_at(ROWS_PER_WORD * 2);
        let rows = rows.as_chunks().0;
        std::array::from_fn(|index| {
            let weight = f32::from(weights[index].cast_signed()) / WEIGHT_STEPS;
            (u16::from_le_bytes(rows[index]), weight)
        })
    }

    /// Looks up the word with these characters.
    fn find(characters: &[u16]) -> Option<Self> {
        let length = characters.len() - 1;
        let (mut low, mut high) = (0, COUNTS[length]);
        while low < high {
            let middle = usize::midpoint(low, high);
            match key(middle, length).cmp(characters.iter().copied()) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some(Self(FIRST_NUMBERS[length] + middle)),
            }
        }
        None
    }

    /// Returns the text of the word.
    #[cfg(test)]
    fn text(self) -> String {
        let length = (0..MAX_WORD_CHARS).rfind(|length| FIRST_NUMBERS[*length] <= self.0).unwrap();
        let units: Vec<u16> = key(self.0 - FIRST_NUMBERS[length], length).collect();
        String::from_utf16(&units).unwrap()
    }
}

/// Returns the characters of a word; `length` is the number of characters less one.
fn key(number: usize, length: usize) -> impl Iterator<Item = u16> {
    let size = 2 * (length + 1);
    let bytes = &WORD_FILE[FIRST_KEYS[length] + number * size..][..size];
    bytes.as_chunks().0.iter().map(|unit| u16::from_le_bytes(*unit))
}

/// Calls `each` with the words of `text` in order: the longest match from the left in every stretch of Chinese
/// characters, and `None` for a character that begins no word.
pub(super) fn for_each_word(text: &str, mut each: impl FnMut(Option<ChineseWord>)) {
    let mut stretch = Vec::new();
    for c in text.chars() {
        if is_han(c) {
            stretch.push(simplify_char(c) as u16);
        } else if !stretch.is_empty() {
            split_stretch(&stretch, &mut each);
            stretch.clear();
        }
    }
    split_stretch(&stretch, &mut each);
}

fn split_stretch(stretch: &[u16], each: &mut impl FnMut(Option<ChineseWord>)) {
    let mut rest = stretch;
    while !rest.is_empty() {
        let most = rest.len().min(MAX_WORD_CHARS);
        let found = (1..=most).rev().find_map(|len| Some((ChineseWord::find(&rest[..len])?, len)));
        each(found.map(|(word, _)| word));
        rest = &rest[found.map_or(1, |(_, len)| len)..];
    }
}

/// Returns the characters of `text` for the English tokenizer: blanks in place of Chinese words and punctuation.
pub(super) fn without_chinese(text: &str) -> impl Iterator<Item = char> {
    text.chars().map(|c| if is_han(c) || is_silent(c) { ' ' } else { c })
}

/// Returns `true` for the characters of words in the file.
fn is_han(c: char) -> bool {
    matches!(c, '\u{4e00}'..='\u{9fff}')
}

/// Returns `true` for Chinese punctuation. Every Chinese text has it, so its rows would make all of them alike.
fn is_silent(c: char) -> bool {
    matches!(c,
        '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301f}' | '\u{30fb}'
        | '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}' | '\u{ff3b}'..='\u{ff40}'
        | '\u{ff5b}'..='\u{ff65}')
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use proptest::prelude::*;

    use super::{
        super::{builtin::goldens::chinese_goldens, wordpiece},
        *,
    };

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        for_each_word(text, |word| words.extend(word.map(ChineseWord::text)));
        words
    }

    #[test]
    fn golden_texts_are_cut_as_the_reference_cuts_them() {
        for golden in chinese_goldens() {
            let mut found = words(&golden.text);
            // The reference stops at the pieces that are read.
            found.truncate(super::super::builtin::MAX_PIECES);
            assert_eq!(found, golden.words, "{:?}", golden.text);
        }
    }

    #[test]
    fn the_rest_of_golden_texts_is_cut_into_the_pieces_of_the_reference() {
        for golden in chinese_goldens() {
            let mut ids = Vec::new();
            let _ =
                wordpiece::tokenize(&wordpiece::BERT, without_chinese(&golden.text), &mut |id| {
                    ids.push(id);
                    ControlFlow::Continue(())
                });
            assert_eq!(ids, golden.ids, "{:?}", golden.text);
        }
    }

    #[test]
    fn every_word_is_found() {
        let all = FIRST_NUMBERS[MAX_WORD_CHARS - 1] + COUNTS[MAX_WORD_CHARS - 1];
        assert_eq!(all, 40_000);
        for number in 0..all {
            let units: Vec<u16> = ChineseWord(number).text().encode_utf16().collect();
            assert_eq!(ChineseWord::find(&units), Some(ChineseWord(number)));
        }
        assert!(WORD_FILE.starts_with(b"EZW1"));
    }

    #[test]
    fn traditional_characters_are_read_as_simplified_ones() {
        assert_eq!(words("台灣的電腦"), words("台湾的电脑"));
    }

    #[test]
    fn a_character_of_no_word_is_counted_and_left_out() {
        let mut found = Vec::new();
        for_each_word("鿿茶", |word| found.push(word.map(ChineseWord::text)));
        assert_eq!(found, [None, Some("茶".to_owned())]);
    }

    proptest! {
        #[test]
        fn rows_are_rows_of_the_table(number in 0..40_000_usize) {
            let size = wordpiece::VOCAB_SIZE;
            prop_assert!(ChineseWord(number).rows().iter().all(|(row, _)| usize::from(*row) < size));
        }

        #[test]
        fn english_text_is_left_as_it_is(text in "[ -~äöüéñ“”–—…]{0,60}") {
            prop_assert!(without_chinese(&text).eq(text.chars()));
            prop_assert!(words(&text).is_empty());
        }
    }
}
