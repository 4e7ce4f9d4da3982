//! Tests of the tokenizer: golden texts tokenized by the teacher's tokenizer, and lookup of every piece.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::super::builtin::goldens::goldens;
use super::*;

fn ids(text: &str) -> Vec<u16> {
    let mut ids = vec![];
    let flow = tokenize(&BERT, text.chars(), &mut |id| {
        ids.push(id);
        ControlFlow::Continue(())
    });
    assert!(flow.is_continue());
    ids
}

#[test]
fn golden_texts_are_cut_as_the_teacher_cuts_them() {
    for golden in goldens() {
        assert_eq!(ids(&golden.text), golden.ids, "{:?}", golden.text);
    }
}

#[test]
fn the_index_finds_every_piece() {
    for id in 0..VOCAB_SIZE as u16 {
        let line = BERT.line(usize::from(id));
        let rest = line.strip_prefix(b"##").filter(|rest| !rest.is_empty());
        let hash = line.iter().fold(FNV_BASIS, |hash, &byte| fnv(hash, byte));
        assert_eq!(BERT.find_piece(hash, rest.unwrap_or(line), rest.is_some()), Some(id));
    }
    assert_eq!(BERT.line(usize::from(UNKNOWN_PIECE)), b"[UNK]");
    assert_eq!(BERT.line(VOCAB_SIZE - 1), "##～".as_bytes());
}

#[test]
fn the_longest_piece_fits() {
    let longest =
        (0..VOCAB_SIZE as u16).map(|id| piece_text(id).len()).filter(|len| *len > 0).max();
    assert_eq!(longest, Some(MAX_PIECE_BYTES));
}

#[test]
fn names_of_special_pieces_are_plain_text() {
    assert_eq!(ids("[SEP]"), ids("[ sep ]"));
}

#[test]
fn reading_stops_when_it_is_told_to() {
    let mut count = 0;
    let flow = tokenize(&BERT, "word ".repeat(1000).chars(), &mut |_| {
        count += 1;
        if count == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(flow.is_break());
    assert_eq!(count, 3);
}

#[test]
fn a_megabyte_of_anything_is_read_in_one_go() {
    for part in [
        "x",
        "ab",
        "telecommunications",
        "字",
        "e\u{301}",
        "\u{301}",
        "\u{200b}",
        "🎉",
        "!",
        "a!",
        "각",
        "ﷺ ",
    ] {
        let text = part.repeat(1_000_000 / part.len());
        let began = Instant::now();
        ids(&text);
        assert!(began.elapsed() < Duration::from_secs(5), "{part:?} {:?}", began.elapsed());
    }
}

proptest! {
    #[test]
    fn any_text_is_cut_into_pieces_of_the_table(text in "\\PC{0,60}|.{0,60}") {
        prop_assert!(ids(&text).iter().all(|&id| usize::from(id) < VOCAB_SIZE));
    }

    #[test]
    fn a_blank_between_texts_cuts_them_apart(left in "\\PC{0,20}", right in "\\PC{0,20}") {
        prop_assert_eq!(ids(&format!("{left} {right}")), [ids(&left), ids(&right)].concat());
    }
}
