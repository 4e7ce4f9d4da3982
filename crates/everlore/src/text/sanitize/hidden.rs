//! Hidden characters: invisible ones that split words, reorder text or carry a message that only a model reads.

use std::borrow::Cow;

use super::lookalikes::is_angle;

const ZERO_WIDTH_NON_JOINER: char = '\u{200c}';
const ZERO_WIDTH_JOINER: char = '\u{200d}';

/// Mark that makes a digit a keycap.
const KEYCAP: char = '\u{20e3}';

/// Returns a line without hidden characters. Joiners stay between letters of scripts that need them and within emoji,
/// and so does the one selector after an emoji. Marks on an angle bracket go, too: with U+0338 a reader takes `>` for
/// another character that ends no tag.
pub(super) fn without_hidden(line: &str) -> Cow<'_, str> {
    if !line.chars().any(|c| is_hidden(c) || is_combining(c)) {
        return Cow::Borrowed(line);
    }
    let mut visible = String::with_capacity(line.len());
    let (mut before, mut on_angle, mut characters) = (None, false, line.chars().peekable());
    while let Some(c) = characters.next() {
        if is_combining(c) && on_angle {
            continue;
        }
        if !is_hidden(c) || is_needed(c, before, characters.peek().copied()) {
            visible.push(c);
            before = Some(c);
            on_angle = is_angle(c);
        }
    }
    Cow::Owned(visible)
}

/// Returns `true` for marks that stand on the character before them, of the blocks for all scripts.
fn is_combining(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}'
        | '\u{fe20}'..='\u{fe2f}')
}

/// Returns `true` for control characters and all that Unicode calls default-ignorable (zero-width characters, direction
/// overrides, fillers, variation selectors, tag characters): they are invisible and can deceive.
pub(super) fn is_hidden(c: char) -> bool {
    (c.is_control() && c != '\t')
        || matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns `true` if a hidden character changes how its neighbours look, as its script or the emoji means it.
fn is_needed(c: char, before: Option<char>, after: Option<char>) -> bool {
    let Some(before) = before else { return false };
    match c {
        '\u{fe0e}' | '\u{fe0f}' => {
            is_emoji(before) || (after == Some(KEYCAP) && matches!(before, '0'..='9' | '#' | '*'))
        }
        ZERO_WIDTH_JOINER if is_emoji(before) || before == '\u{fe0f}' => {
            after.is_some_and(is_emoji)
        }
        ZERO_WIDTH_JOINER | ZERO_WIDTH_NON_JOINER => {
            is_joining_script(before) && after.is_none_or(is_joining_script)
        }
        _ => false,
    }
}

/// Returns `true` for characters that a variation selector can show as an emoji, skin tones included.
fn is_emoji(c: char) -> bool {
    matches!(c, '©' | '®' | '‼' | '⁉' | '™' | 'ℹ' | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{2328}'
        | '\u{232b}'..='\u{23ff}' | '\u{24c2}' | '\u{25a0}'..='\u{2767}' | '\u{2795}'..='\u{27bf}'
        | '\u{2934}'..='\u{2935}' | '\u{2b00}'..='\u{2bff}' | '〰' | '〽' | '㊗' | '㊙' | '\u{1f000}'..='\u{1faff}')
}

/// Returns `true` for scripts whose letters join: Arabic, Syriac, Mongolian and those of India and South-East Asia.
fn is_joining_script(c: char) -> bool {
    matches!(c, '\u{600}'..='\u{8ff}' | '\u{900}'..='\u{dff}' | '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}'
        | '\u{1780}'..='\u{18af}' | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}
