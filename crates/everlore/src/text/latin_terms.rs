//! Terms of Latin text: stems of words, and identifiers, whole and in parts.

use rust_stemmers::{Algorithm, Stemmer};

use super::fold::{fold_latin, lower_case};
use super::language::{Script, script_of};
use super::stop_words::is_stop_word;
use super::terms::MAX_TERM_CHARS;

/// Characters that join the parts of an identifier, from the loosest to the tightest.
const JOINERS: [&[char]; 4] =
    [&['/', '\\', ':', '@', '&', '#'], &['.'], &['_', '-', '+'], &['\'', '’']];

/// Most changes between letters and digits in an identifier that is split; hashes and base64 have more.
const MAX_DIGIT_CHANGES: usize = 4;

/// Endings that an apostrophe splits off a contraction.
const CONTRACTION_ENDINGS: [&str; 8] = ["s", "t", "d", "m", "ll", "ve", "re", "n"];

/// Returns the end of the run of Latin letters, digits and joiners at the start of `text`.
pub(super) fn compound_end(text: &str) -> usize {
    let mut end = 0;
    loop {
        end += run_end(&text[end..]);
        match joiner_len(&text[..end], &text[end..]) {
            0 => return end,
            joiner => end += joiner,
        }
    }
}

/// Returns the end of the run of Latin letters and digits at the start of `text`.
pub(super) fn run_end(text: &str) -> usize {
    let ascii = text.bytes().take_while(u8::is_ascii_alphanumeric).count();
    if text[ascii..].bytes().next().is_none_or(|next| next.is_ascii()) {
        return ascii;
    }
    let more = text[ascii..].find(|c| !matches!(script_of(c), Script::Latin | Script::Mark));
    more.map_or(text.len(), |len| ascii + len)
}

/// Returns the last run of Latin letters and digits of a compound.
pub(super) fn last_run(compound: &str) -> &str {
    let start = compound.char_indices().rev().find(|&(_, c)| is_joiner(c) || c == ',');
    start.map_or(compound, |(at, c)| &compound[at + c.len_utf8()..])
}

/// Emitter of the terms of words and identifiers, with buffers that are used again.
pub(super) struct TermEmitter<'a> {
    emit: &'a mut dyn FnMut(&str),
    stemmer: Stemmer,
    buffer: String,
}

impl<'a> TermEmitter<'a> {
    pub(super) fn new(emit: &'a mut dyn FnMut(&str)) -> Self {
        Self { emit, stemmer: Stemmer::create(Algorithm::English), buffer: String::new() }
    }

    /// Emits `term` as it is.
    pub(super) fn emit_exact(&mut self, term: &str) {
        (self.emit)(term);
    }

    /// Emits a compound: a word, or an identifier whole and in parts.
    pub(super) fn emit_compound(&mut self, compound: &str) {
        let compound = without_possessive(compound);
        if compound.bytes().all(|byte| byte.is_ascii_lowercase()) {
            self.emit_word(compound);
        } else {
            self.split_at_joiners(compound, 0);
        }
    }

    /// Emits all of `piece` in lower case, unless it is longer than a term may be.
    pub(super) fn emit_whole(&mut self, piece: &str) {
        if self.fill_buffer(piece) {
            (self.emit)(&self.buffer);
        }
    }

    /// Emits a word of a script that has neither stems nor stop words here.
    pub(super) fn emit_other_script(&mut self, word: &str) {
        self.buffer.clear();
        let visible = word.chars().filter(|c| !matches!(c, '\u{200c}' | '\u{200d}'));
        self.buffer.extend(visible.flat_map(lower_case).take(MAX_TERM_CHARS));
        if !self.buffer.is_empty() {
            (self.emit)(&self.buffer);
        }
    }

    /// Splits `piece` at the joiners of `level`, then each part at the tighter ones.
    fn split_at_joiners(&mut self, piece: &str, level: usize) {
        let Some(joiners) = JOINERS.get(level) else { return self.split_digits(piece) };
        if !piece.contains(*joiners) || joined_parts(piece, joiners).nth(1).is_none() {
            return self.split_at_joiners(piece, level + 1);
        }
        if self.is_meaningful(piece, joiners) {
            self.emit_whole(piece);
            joined_parts(piece, joiners).for_each(|part| self.split_at_joiners(part, level + 1));
        }
    }

    /// Returns `true` if `piece` is more than a contraction or a choice of stop words, like `don't` and `and/or`.
    fn is_meaningful(&mut self, piece: &str, joiners: &[char]) -> bool {
        let long = !self.fill_buffer(piece);
        let stop = is_stop_word(&self.buffer);
        long || !stop
            && !joined_parts(piece, joiners).all(|part| self.is_meaningless_part(part, joiners))
    }

    fn is_meaningless_part(&mut self, part: &str, joiners: &[char]) -> bool {
        self.fill_buffer(part);
        let contracted =
            joiners.contains(&'\'') && CONTRACTION_ENDINGS.contains(&self.buffer.as_str());
        contracted || is_stop_word(&self.buffer)
    }

    /// Splits `piece` between letters and digits.
    fn split_digits(&mut self, piece: &str) {
        match boundaries(piece, is_digit_boundary).take(MAX_DIGIT_CHANGES + 1).count() {
            0 => self.split_case(piece),
            1..=MAX_DIGIT_CHANGES => {
                self.emit_whole(piece);
                parts_between(piece, is_digit_boundary).for_each(|part| self.emit_part(part));
            }
            _ => self.emit_run(piece),
        }
    }

    /// Emits a part, unless it has no letter of its own, like the `v` of `v2`: that is left to the whole.
    fn emit_part(&mut self, part: &str) {
        if part.len() > 1 || part.bytes().all(|byte| byte.is_ascii_digit()) {
            self.split_case(part);
        }
    }

    /// Splits `piece` at changes of case; the whole is a word too, because people write it in one case.
    fn split_case(&mut self, piece: &str) {
        self.emit_word(piece);
        if boundaries(piece, is_case_boundary).next().is_none() || is_plural_acronym(piece) {
            return;
        }
        for part in
            parts_between(piece, is_case_boundary).filter(|part| part.chars().nth(1).is_some())
        {
            self.emit_word(part);
        }
    }

    /// Emits the stem of a word, or a number; a stop word only where it is a name.
    fn emit_word(&mut self, word: &str) {
        self.fill_buffer(word);
        if self.buffer.is_empty() || is_stop_word(&self.buffer) && !is_capitalized_name(word) {
            return;
        }
        self.buffer.retain(|c| c != ',');
        (self.emit)(stem(&self.stemmer, &self.buffer).as_ref());
    }

    /// Emits the beginning of a run without parts.
    fn emit_run(&mut self, piece: &str) {
        self.fill_buffer(piece);
        (self.emit)(&self.buffer);
    }

    /// Copies at most one term's length of `piece` into the buffer; returns `true` if all of it fits.
    fn fill_buffer(&mut self, piece: &str) -> bool {
        self.buffer.clear();
        if piece.is_ascii() {
            self.buffer.push_str(&piece[..piece.len().min(MAX_TERM_CHARS)]);
            self.buffer.make_ascii_lowercase();
            return piece.len() <= MAX_TERM_CHARS;
        }
        let mut len = 0;
        for c in piece.chars().take(2 * MAX_TERM_CHARS) {
            fold_latin(c, &mut |plain| {
                len += 1;
                if len <= MAX_TERM_CHARS {
                    self.buffer.push(plain);
                }
            });
        }
        len <= MAX_TERM_CHARS
    }
}

/// Returns the Snowball stem of an ASCII word; short words and other letters stay as they are.
fn stem<'a>(stemmer: &Stemmer, word: &'a str) -> std::borrow::Cow<'a, str> {
    // No English suffix that the stemmer cuts or changes ends in one of these letters.
    let fixed = word.ends_with(['a', 'b', 'f', 'h', 'j', 'k', 'o', 'p', 'u', 'v', 'w', 'x', 'z']);
    if fixed || word.len() < 3 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word.into();
    }
    stemmer.stem(word)
}

/// Returns the length of the joiner between `before` and `after`, or 0 if the compound ends.
fn joiner_len(before: &str, after: &str) -> usize {
    let Some(joiner) = after.chars().next() else { return 0 };
    let len = match joiner {
        ',' if groups_thousands(before, &after[1..]) => 1,
        ':' => 1 + after[1..].bytes().take(2).take_while(|b| b":/\\".contains(b)).count(),
        '_' => after.bytes().take_while(|&b| b == b'_').count(),
        _ if is_joiner(joiner) => joiner.len_utf8(),
        _ => return 0,
    };
    let joined = after[len..].chars().next().is_some_and(|c| script_of(c) == Script::Latin);
    if joined { len } else { 0 }
}

/// Returns `true` if a comma between `before` and `after` groups the digits of one number, as in `1,000`.
fn groups_thousands(before: &str, after: &str) -> bool {
    before.ends_with(|c: char| c.is_ascii_digit())
        && after.bytes().take(4).take_while(u8::is_ascii_digit).count() == 3
}

fn is_joiner(c: char) -> bool {
    JOINERS.iter().any(|joiners| joiners.contains(&c))
}

/// Removes a possessive: `Ann's` is `Ann`.
fn without_possessive(word: &str) -> &str {
    let cut = ["'s", "’s", "'S", "’S"].iter().find_map(|ending| word.strip_suffix(ending));
    cut.unwrap_or(word)
}

/// Iterates over the parts of `piece` between `joiners`; a decimal point, a clock's colon and a comma in a number join
/// nothing.
fn joined_parts<'p>(piece: &'p str, joiners: &'p [char]) -> impl Iterator<Item = &'p str> {
    let bytes = piece.as_bytes();
    let digit = move |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut at = 0;
    let splits = move |c: char| {
        let here = at;
        at += c.len_utf8();
        let in_number = matches!(c, '.' | ':') && here > 0 && digit(here - 1) && digit(here + 1);
        joiners.contains(&c) && !in_number
    };
    piece.split(splits).filter(|part| !part.is_empty())
}

/// Iterates over the positions in `piece` where two neighbours, with the character after them, make a boundary.
fn boundaries(
    piece: &str,
    boundary: fn(char, char, Option<char>) -> bool,
) -> impl Iterator<Item = usize> {
    let mut rest = piece.char_indices().skip(1).peekable();
    let mut before = piece.chars().next();
    std::iter::from_fn(move || {
        loop {
            let (at, here) = rest.next()?;
            let left = before.replace(here)?;
            if boundary(left, here, rest.peek().map(|&(_, c)| c)) {
                return Some(at);
            }
        }
    })
}

/// Iterates over the parts of `piece` between its boundaries.
fn parts_between(
    piece: &str,
    boundary: fn(char, char, Option<char>) -> bool,
) -> impl Iterator<Item = &str> {
    let mut start = 0;
    boundaries(piece, boundary)
        .chain(std::iter::once(piece.len()))
        .map(move |end| &piece[std::mem::replace(&mut start, end)..end])
}

/// Returns `true` in `iphone|15` and `1.2.3|rc`: the separators of a number belong to it.
fn is_digit_boundary(left: char, here: char, _: Option<char>) -> bool {
    is_number_char(left) != is_number_char(here)
}

/// Returns `true` in `camel|Case` and `HTTP|Server`.
fn is_case_boundary(left: char, here: char, next: Option<char>) -> bool {
    here.is_uppercase()
        && (left.is_lowercase() || left.is_uppercase() && next.is_some_and(char::is_lowercase))
}

fn is_number_char(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, '.' | ':' | ',')
}

/// Returns `true` for `APIs` and `IDs`: they are plurals, not `AP` and `Is`.
fn is_plural_acronym(piece: &str) -> bool {
    piece.strip_suffix('s').is_some_and(|acronym| acronym.chars().all(char::is_uppercase))
}

/// Returns `true` for a stop word that is a name when written like this.
fn is_capitalized_name(word: &str) -> bool {
    matches!(word, "US" | "IT" | "WHO" | "May")
}

#[cfg(test)]
#[path = "latin_terms_tests.rs"]
mod tests;
