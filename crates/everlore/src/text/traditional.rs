//! Traditional Chinese characters in their simplified form, so that 喜歡 and 喜欢 are one word.
//!
//! The fold goes one way and character by character: 發 and 髮 both become 发. It serves search and comparison, never
//! display. A character and its fold have the same number of bytes, so positions in a folded text are positions in the
//! original.

use std::borrow::Cow;
use std::sync::LazyLock;

/// First character of the block that has all characters with a fold.
const FIRST_HAN: char = '一';
const LAST_HAN: char = '鿿';

/// Pairs of a character and its fold (`assets/han/NOTICE`).
static PAIRS: &[[u8; 4]] = include_bytes!("../../assets/han/folds.bin").as_chunks().0;

/// Fold of each character of the block, 0 for none: looking up a character must cost next to nothing.
static FOLDS: LazyLock<Box<[u16]>> = LazyLock::new(|| {
    let mut folds = vec![0; (LAST_HAN as u32 - FIRST_HAN as u32) as usize + 1];
    for [a, b, c, d] in PAIRS {
        let at = u32::from(u16::from_le_bytes([*a, *b])) - FIRST_HAN as u32;
        folds[at as usize] = u16::from_le_bytes([*c, *d]);
    }
    folds.into_boxed_slice()
});

/// Returns the text with simplified characters only; copies it only if it has others.
pub(crate) fn simplify(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || !text.chars().any(|c| simplify_char(c) != c) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.chars().map(simplify_char).collect())
    }
}

/// Returns the simplified form of a character.
pub(crate) fn simplify_char(c: char) -> char {
    if !(FIRST_HAN..=LAST_HAN).contains(&c) {
        return c;
    }
    match FOLDS[(c as u32 - FIRST_HAN as u32) as usize] {
        0 => c,
        fold => char::from_u32(fold.into()).unwrap_or(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traditional_text_becomes_simplified() {
        for (traditional, simplified) in [
            ("台灣", "台湾"),
            ("臺灣", "台湾"),
            ("電腦", "电脑"),
            ("喜歡", "喜欢"),
            ("頭髮", "头发"),
            ("發現", "发现"),
            ("乾淨", "干净"),
            ("幹部", "干部"),
            ("裏面", "里面"),
            ("裡面", "里面"),
            ("後來", "后来"),
            ("瞭解", "了解"),
            ("上週", "上周"),
            ("什麼時候", "什么时候"),
        ] {
            assert_eq!(simplify(traditional), simplified);
        }
    }

    #[test]
    fn simplified_text_and_other_languages_stay_as_they_are() {
        for text in
            ["我喜欢喝茶，住在台湾。", "plain words", "しりとり", "끝말잇기", "カタカナ", "東"]
        {
            let is_borrowed = matches!(simplify(text), Cow::Borrowed(_));
            assert_eq!(is_borrowed, text != "東", "{text}");
        }
    }

    #[test]
    fn folding_twice_is_folding_once_and_keeps_every_position() {
        for c in FIRST_HAN..=LAST_HAN {
            let once = simplify_char(c);
            assert_eq!(simplify_char(once), once, "{c}");
            assert_eq!(once.len_utf8(), c.len_utf8(), "{c}");
        }
    }

    #[test]
    fn the_table_is_sorted_and_small() {
        let key = |pair: &[u8; 4]| u16::from_le_bytes([pair[0], pair[1]]);
        assert!(PAIRS.is_sorted_by(|a, b| key(a) < key(b)));
        assert!((2_500..3_500).contains(&PAIRS.len()), "{}", PAIRS.len());
    }
}
