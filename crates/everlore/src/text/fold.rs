//! Unicode folding: one form for spellings that differ in width, composition or case.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{decompose_compatible, is_combining_mark};

/// Folds a text to Unicode NFKC and lower case, without invisible characters; every control character becomes a space.
///
/// Folding twice is folding once.
pub fn fold(text: &str) -> Cow<'_, str> {
    if text.bytes().all(is_folded_byte) {
        return Cow::Borrowed(text);
    }
    if text.is_ascii() {
        return Cow::Owned(
            text.chars().map(|c| control_to_space(c).to_ascii_lowercase()).collect(),
        );
    }
    let lower =
        normalize_nfkc(text).chars().flat_map(lower_case).map(control_to_space).collect::<String>();
    // Some letters compose only in lower case, for example j and a caron.
    Cow::Owned(normalize_nfkc(&lower).into_owned())
}

/// Normalizes to Unicode NFKC without invisible characters; the case stays.
pub(super) fn normalize_nfkc(text: &str) -> Cow<'_, str> {
    match text.chars().map(nfkc_class).max() {
        None | Some(NfkcClass::Stable) => Cow::Borrowed(text),
        Some(NfkcClass::FullWidth) => Cow::Owned(text.chars().map(to_half_width).collect()),
        Some(NfkcClass::Unknown) => {
            Cow::Owned(text.chars().filter(|&c| !is_invisible(c)).nfkc().collect())
        }
    }
}

/// Returns the lower case of `c`, with one small sigma.
pub(super) fn lower_case(c: char) -> impl Iterator<Item = char> {
    c.to_lowercase().map(|lower| if lower == 'ς' { 'σ' } else { lower })
}

/// Calls `each` with the letters of a Latin `c` in lower case and without diacritics: `É` is `e`, `ß` is `ss`.
pub(super) fn fold_latin(c: char, each: &mut impl FnMut(char)) {
    if c.is_ascii() {
        return each(c.to_ascii_lowercase());
    }
    if c == '’' {
        return each('\'');
    }
    decompose_compatible(c, |part| {
        if !is_combining_mark(part) {
            part.to_lowercase().for_each(|lower| transliterate(lower, each));
        }
    });
}

/// Spells a letter that Unicode does not decompose in the plain letters that people type.
fn transliterate(c: char, each: &mut impl FnMut(char)) {
    let plain = match c {
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'þ' => "th",
        'ø' => "o",
        'đ' | 'ð' => "d",
        'ł' => "l",
        'ı' => "i",
        _ if is_combining_mark(c) => "",
        _ => return each(c),
    };
    plain.chars().for_each(each);
}

/// Work that NFKC has with a character.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum NfkcClass {
    /// Stays as it is, whatever precedes it.
    Stable,
    /// Full-width form of an ASCII character.
    FullWidth,
    /// Needs a look into the tables.
    Unknown,
}

/// Classifies cheaply the characters that make up nearly all text.
fn nfkc_class(c: char) -> NfkcClass {
    match c {
        '\0'..='\x7f' | 'À'..='ÿ' | '一'..='鿿' => NfkcClass::Stable,
        'ぁ'..='ゖ' | 'ァ'..='ヺ' | 'ー' | '가'..='힣' => NfkcClass::Stable,
        '、' | '。' | '〈'..='】' | '‘' | '’' | '“' | '”' | '–' | '—' => {
            NfkcClass::Stable
        }
        '\u{3000}' | '！'..='～' => NfkcClass::FullWidth,
        _ => NfkcClass::Unknown,
    }
}

/// Returns the ASCII character of a full-width one.
fn to_half_width(c: char) -> char {
    match c {
        '\u{3000}' => ' ',
        '！'..='～' => char::from((u32::from(c) - u32::from('！')) as u8 + b'!'),
        _ => c,
    }
}

/// Returns `true` for soft hyphens, word joiners, direction marks, variation selectors and the byte order mark.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}'
        | '\u{2066}'..='\u{2069}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0100}'..='\u{e01ef}')
}

fn is_folded_byte(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && !byte.is_ascii_uppercase()
}

fn control_to_space(c: char) -> char {
    if c.is_control() { ' ' } else { c }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn width_case_and_composition_do_not_matter() {
        assert_eq!(fold("ＡＢＣ　１２３"), "abc 123");
        assert_eq!(fold("Cafe\u{301}"), "café");
        assert_eq!(fold("ﾊﾟﾝ"), "パン");
        assert_eq!(fold("한글"), "한글");
        assert_eq!(fold("ΟΔΟΣ"), fold("οδος"));
    }

    #[test]
    fn folded_text_is_not_copied() {
        assert!(matches!(fold("plain words, 42%"), Cow::Borrowed(_)));
    }

    #[test]
    fn control_characters_separate() {
        assert_eq!(fold("a\0b\u{7}C"), "a b c");
    }

    #[test]
    fn invisible_characters_vanish() {
        assert_eq!(fold("co\u{ad}operate\u{feff}"), "cooperate");
    }

    #[test]
    fn the_shortcut_agrees_with_the_tables() {
        for c in ('\0'..=char::MAX).filter(|&c| nfkc_class(c) != NfkcClass::Unknown) {
            let text = c.to_string();
            assert_eq!(normalize_nfkc(&text), text.nfkc().collect::<String>(), "{c:?}");
        }
    }

    #[test]
    fn folding_any_character_twice_is_folding_it_once() {
        // Nothing beyond the ideographic planes has a case or a composition.
        for c in '\0'..='\u{3ffff}' {
            let once = fold(c.encode_utf8(&mut [0; 4])).into_owned();
            assert_eq!(fold(&once), once, "{c:?}");
        }
    }

    proptest! {
        #[test]
        fn folding_twice_is_folding_once(text in "(\\PC|[A-Za-z]|\\p{M}|\\p{Hangul}){0,40}") {
            let once = fold(&text).into_owned();
            prop_assert_eq!(fold(&once), once.clone());
        }
    }
}
