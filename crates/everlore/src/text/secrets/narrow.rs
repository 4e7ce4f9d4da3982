//! Full-width letters, digits and marks as plain ones, with the way back to the original text.

use std::ops::Range;

/// Text in which full-width characters are plain ASCII.
pub(super) struct NarrowText {
    text: String,
    /// Original place of each byte, and of the end.
    places: Vec<usize>,
}

impl NarrowText {
    /// Narrows a text; `None` if it has no full-width letter or digit, as most Chinese texts.
    pub(super) fn of(text: &str) -> Option<Self> {
        let is_wide = |c: char| plain_char(c).is_some_and(|plain| plain.is_ascii_alphanumeric());
        if !text.contains(is_wide) {
            return None;
        }
        let (mut narrow, mut places) = (String::with_capacity(text.len()), Vec::new());
        for (place, c) in text.char_indices() {
            let start = narrow.len();
            narrow.push(plain_char(c).unwrap_or(c));
            places.extend((start..narrow.len()).map(|at| place + at - start));
        }
        places.push(text.len());
        Some(Self { text: narrow, places })
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the place of a part in the original text.
    pub(super) fn original(&self, span: Range<usize>) -> Range<usize> {
        self.places[span.start]..self.places[span.end]
    }
}

/// Returns the ASCII character of a full-width one.
fn plain_char(c: char) -> Option<char> {
    let is_wide = ('\u{ff01}'..='\u{ff5e}').contains(&c);
    if is_wide { char::from_u32(u32::from(c) - 0xfee0) } else { None }
}
