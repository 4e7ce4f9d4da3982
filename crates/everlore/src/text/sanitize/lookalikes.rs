//! Look-alikes: characters that a model or a person reads as an angle bracket, a slash, a hyphen or a Latin letter.

use unicode_normalization::char::{decompose_compatible, is_combining_mark};

use crate::text::language::is_cjk;

/// Angle brackets that parsers and models take for the real one; the last is `<` with a stroke.
const OPENING_ANGLES: [char; 4] = ['<', '＜', '﹤', '≮'];

/// Quotation marks that look like an angle bracket: common around ordinary words.
const ANGLE_QUOTES: [char; 2] = ['‹', '«'];

/// Other characters that look like an opening angle bracket (Unicode's confusables, and its brackets of that form).
/// U+2329 is escaped: editors that normalize a source replace it by U+3008.
const ANGLE_LOOKALIKES: &str = "〈《⟨⟪\u{2329}ᐸ˂❮❬❰≺≪⋖⧼⦑⦉⪡⪻⩹⪦⪪⊰⊲⋐◁◃⟬⫷⋘ᚲ𝈶︿︽˱﹤";

/// Characters that look like a closing angle bracket.
const CLOSING_ANGLES: &str = ">＞﹥≯›»〉》⟩⟫\u{232a}ᐳ˃❯❭❱≻≫⋗⧽⦒⦊⪢⪼⩺⪧⪫⊱⊳⋑▷▹⟭⫸⋙𝈷﹀︾˲";

/// Characters that look like a slash in either direction.
const SLASHES: &str = "/／\\＼∕⁄╱⧸⟋⫽⧶∖╲⧵⧹⟍﹨〳丿⼃ノﾉ᜵𝈺⫻";

/// Hyphens, dashes and other small bars.
const HYPHENS: &str = "-‐‑‒–—―−﹣－﹘⁃˗⸺⹀ー᠆۔ⲻ➖";

/// Letters of other scripts by the Latin letter that they look like.
const LETTERS: [(char, &str); 26] = [
    ('a', "аαɑᴀ⍺ꓮᎪ𐊠"),
    ('b', "ьвβʙꓐᏴᏏƄ"),
    ('c', "сϲᴄꓚᏟⲥ𐐕ↄ"),
    ('d', "ԁᴅꓓᎠᏧժɗđ"),
    ('e', "еεєᴇꓰᎬҽ℮ǝəɛ"),
    ('f', "ϝꜰꓝƒքғ"),
    ('g', "ɡɢցꓖᏀԍᶃ"),
    ('h', "һнʜηꓧᎻհᏂ"),
    ('i', "іıιɪӏᎥꓲɩ⍳ǀ"),
    ('j', "јϳᴊꓙᎫյ"),
    ('k', "кκᴋꓗᏦ"),
    ('l', "ӏʟꓡᏞןǀιі|ıł"),
    ('m', "мμᴍꓟᎷϻ"),
    ('n', "пηɴνꓠոռ"),
    ('o', "оοᴏꓳօσⲟჿøθө"),
    ('p', "рρᴘꓑᏢⲣþ"),
    ('q', "ԛզգ"),
    ('r', "гʀꓣᏒᎡᴦⲅꭇя"),
    ('s', "ѕꜱꓢᏚՏƽς"),
    ('t', "тτᴛꓔᎢ†ŧ"),
    ('u', "υսᴜꓴʋцꭎμ"),
    ('v', "νѵᴠꓦᏙ"),
    ('w', "ѡԝᴡꓪᎳɯωաш"),
    ('x', "хχꓫᕁⲭ×"),
    ('y', "уүγυʏꓬყᎩɣч"),
    ('z', "ᴢꓜᏃζʐ"),
];

/// Digits and marks that stand for letters.
const DIGITS: [(char, &str); 9] = [
    ('0', "o"),
    ('1', "il"),
    ('3', "e"),
    ('4', "a"),
    ('5', "s"),
    ('7', "t"),
    ('8', "b"),
    ('@', "a"),
    ('$', "s"),
];

/// Kind of opening angle bracket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OpeningAngle {
    /// The bracket itself, in any width.
    Real,
    /// Another bracket or sign of its form.
    LookAlike,
    /// Quotation mark of its form.
    Quote,
}

/// Classifies a character as an opening angle bracket.
pub(super) fn opening_angle(c: char) -> Option<OpeningAngle> {
    if OPENING_ANGLES.contains(&c) {
        Some(OpeningAngle::Real)
    } else if c.is_ascii() {
        None
    } else if ANGLE_QUOTES.contains(&c) {
        Some(OpeningAngle::Quote)
    } else {
        ANGLE_LOOKALIKES.contains(c).then_some(OpeningAngle::LookAlike)
    }
}

/// Returns `true` for a closing angle bracket or its look-alike.
pub(super) fn is_closing_angle(c: char) -> bool {
    c == '>' || !c.is_ascii() && CLOSING_ANGLES.contains(c)
}

/// Returns `true` for an angle bracket of either direction or its look-alike.
pub(super) fn is_angle(c: char) -> bool {
    opening_angle(c).is_some() || is_closing_angle(c)
}

/// Returns `true` for a slash of either direction or its look-alike.
pub(super) fn is_slash(c: char) -> bool {
    SLASHES.contains(c)
}

/// Returns `true` for a hyphen or its look-alike.
pub(super) fn is_hyphen(c: char) -> bool {
    HYPHENS.contains(c)
}

/// Returns `true` for characters that show nothing of their own: blanks, signs for what was removed, marks on the letter before, joiners that the
/// line kept.
pub(super) fn is_blank(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, '\u{2800}' | '\u{fffd}')
        || super::hidden::is_hidden(c)
        || is_combining_mark(c)
        || !c.is_ascii() && !c.is_alphanumeric() && is_spacing_mark(c)
}

/// Returns `true` for a mark that stands alone: Unicode takes it apart into a blank and marks.
fn is_spacing_mark(c: char) -> bool {
    let mut is_mark = true;
    for_each_read_letter(c, &mut |part| is_mark &= part.is_whitespace());
    is_mark
}

/// Calls `each` with the letters that a character is read as: compatible forms taken apart, without marks, in lower
/// case.
pub(super) fn for_each_read_letter(c: char, each: &mut impl FnMut(char)) {
    if c.is_ascii() {
        return each(c.to_ascii_lowercase());
    }
    decompose_compatible(c, |part| {
        if !is_combining_mark(part) {
            part.to_lowercase().filter(|lower| !is_combining_mark(*lower)).for_each(&mut *each);
        }
    });
}

/// Returns the Latin letter that a letter of another script looks like; other characters stay as they are.
pub(in crate::text) fn latin_reading(c: char) -> char {
    if c.is_ascii() || is_cjk(c) {
        return c;
    }
    let row = LETTERS.iter().find(|(_, alike)| alike.contains(c));
    row.map_or(c, |(latin, _)| *latin)
}

/// Returns `true` if a reader may take `read` for the Latin letter `letter`.
pub(super) fn reads_as(read: char, letter: char) -> bool {
    if read.is_ascii_alphabetic() || read == letter {
        return read == letter || matches!((read, letter), ('l', 'i') | ('i', 'l'));
    }
    let table: &[(char, &str)] = if read.is_ascii() { &DIGITS } else { &LETTERS };
    if read.is_ascii() {
        return table.iter().any(|(digit, letters)| *digit == read && letters.contains(letter));
    }
    // The table has one case of each letter; Cherokee's small letters look like its capitals.
    let upper = read.to_uppercase().next().unwrap_or(read);
    let row = table.iter().find(|(latin, _)| *latin == letter);
    row.is_some_and(|(_, alike)| alike.contains(read) || alike.contains(upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_hold_every_character_once_so_normalizing_the_source_shows() {
        for table in [ANGLE_LOOKALIKES, CLOSING_ANGLES, SLASHES, HYPHENS] {
            let mut characters: Vec<char> = table.chars().collect();
            characters.sort_unstable();
            let repeated: Vec<_> = characters.windows(2).filter(|two| two[0] == two[1]).collect();
            assert_eq!(repeated, Vec::<&[char]>::new(), "{table}");
        }
        assert_eq!(opening_angle('\u{2329}'), Some(OpeningAngle::LookAlike));
        assert!(is_closing_angle('\u{232a}'));
    }
}
