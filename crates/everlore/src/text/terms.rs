//! Terms of a text, the same for indexing and for queries.
//!
//! Latin words lose case, accents, possessive and ending; identifiers stay whole and come in parts too. Chinese,
//! Japanese and Korean give single characters and overlapping pairs, traditional characters as simplified ones. Stop
//! words, and characters and pairs that only serve grammar, give nothing: a query made of nothing else has no terms,
//! and finds nothing.

use xxhash_rust::xxh3::xxh3_64;

use super::fold::normalize_nfkc;
use super::language::{Script, is_cjk, script_of};
use super::latin_terms::{TermEmitter, compound_end, last_run, run_end};
use super::stop_words::is_function_character;
use super::traditional::simplify;

/// Version of the terms. Raised whenever any text gets other terms or another [`TermHash`]; a store that another
/// version wrote indexes its texts again.
pub const TERMS_VERSION: u32 = 2;

/// Most characters of a term; a longer one is cut: people do not type it, and an index entry should stay small.
pub(crate) const MAX_TERM_CHARS: usize = 64;

/// Most characters joined to one emoji: a family of eight is the longest that people use.
const MAX_JOINED_EMOJI: usize = 8;

/// Hash that a term is stored under.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug)]
pub struct TermHash(pub u64);

impl TermHash {
    /// Hashes a term as [`terms`] gives it.
    pub fn of(term: &str) -> Self {
        Self(xxh3_64(term.as_bytes()))
    }
}

/// Returns the terms of `text` in their order, repeated as often as they occur.
pub fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    for_each_term(text, &mut |term| terms.push(term.to_owned()));
    terms
}

/// Calls `each` with every term of `text`, in the order of [`terms`].
pub(crate) fn for_each_term(text: &str, each: &mut dyn FnMut(&str)) {
    let settled = normalize_nfkc(text);
    let text = simplify(&settled);
    let mut words = TermEmitter::new(each);
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        at = match script_of(first) {
            Script::Latin => emit_latin(&text, at, &mut words),
            Script::Cjk => emit_cjk(&text, at, &mut words),
            Script::Unspaced => emit_unspaced(&text, at, &mut words),
            Script::Other => emit_other_script(&text, at, &mut words),
            Script::Emoji => emit_emoji(&text, at, &mut words),
            Script::Mark | Script::None => at + first.len_utf8(),
        };
    }
}

/// Returns `true` if `term` is a single Chinese, Japanese or Korean character: it says less than a pair.
pub(crate) fn is_single_cjk(term: &str) -> bool {
    let mut chars = term.chars();
    chars.next().is_some_and(is_cjk) && chars.next().is_none()
}

/// Returns `true` if `term` is a pair with a function character, such as 欢什 in 喜欢什么: its absence says nothing.
pub(crate) fn is_function_pair(term: &str) -> bool {
    term.chars().all(is_cjk) && term.chars().any(is_function_character)
}

/// Emits the compound at `start` with what joins it to its neighbours, and returns its end.
fn emit_latin(text: &str, start: usize, words: &mut TermEmitter<'_>) -> usize {
    let (before, rest) = text.split_at(start);
    let compound = &rest[..compound_end(rest)];
    let end = start + compound.len();
    if starts_with_dot(before, compound) {
        words.emit_whole(&text[start - 1..end]);
    }
    words.emit_compound(compound);
    if let Some(len) = symbols_len(compound, &text[end..]) {
        words.emit_whole(&text[start..end + len]);
    }
    if let Some(c) = before.chars().next_back().filter(|&c| joins_latin(c)) {
        words.emit_whole(&text[start - c.len_utf8()..start + run_end(rest)]);
    }
    if let Some(c) = text[end..].chars().next().filter(|&c| joins_latin(c)) {
        words.emit_whole(&text[end - last_run(compound).len()..end + c.len_utf8()]);
    }
    end
}

/// Returns `true` for `.net` and `.env`, but not at the end of an ellipsis or a sentence.
fn starts_with_dot(before: &str, compound: &str) -> bool {
    let mut before = before.chars().rev();
    before.next() == Some('.')
        && before.next().is_none_or(|c| c != '.' && script_of(c) == Script::None)
        && compound.starts_with(|c: char| c.is_alphabetic())
}

/// Returns the length of the `++` of `C++` or the `#` of `C#` at the beginning of `after`.
fn symbols_len(compound: &str, after: &str) -> Option<usize> {
    let symbols = ["++", "#"].into_iter().find(|symbols| after.starts_with(symbols))?;
    let ends = after[symbols.len()..].chars().next().is_none_or(|c| !c.is_ascii_alphanumeric());
    (ends && (symbols == "++" || compound.len() == 1)).then_some(symbols.len())
}

/// Returns `true` if the character joins a Latin letter: `C盘` is one term, `C的` is not.
fn joins_latin(c: char) -> bool {
    is_cjk(c) && !is_function_character(c)
}

/// Emits the characters and pairs of the run at `start` and returns its end.
fn emit_cjk(text: &str, start: usize, words: &mut TermEmitter<'_>) -> usize {
    let mut end = start;
    let mut before = None;
    for c in text[start..].chars().take_while(|&c| is_cjk(c)) {
        let at = end;
        end += c.len_utf8();
        let function = is_function_character(c);
        if !function {
            words.emit_exact(&text[at..end]);
        }
        if let Some((before_at, before_function)) = before.replace((at, function))
            && !(function && before_function)
        {
            words.emit_exact(&text[before_at..end]);
        }
    }
    end
}

/// Emits the pairs of letters of the run at `start`, or its only letter, and returns its end.
fn emit_unspaced(text: &str, start: usize, words: &mut TermEmitter<'_>) -> usize {
    let run = script_run(text, start, |script| script == Script::Unspaced);
    let mut letters = run.char_indices().map(|(at, c)| at..at + c.len_utf8());
    let Some(mut before) = letters.next() else { return start };
    if before.end == run.len() {
        words.emit_exact(run);
    }
    for letter in letters {
        words.emit_exact(&run[before.start..letter.end]);
        before = letter;
    }
    start + run.len()
}

/// Emits the word at `start` and returns its end.
fn emit_other_script(text: &str, start: usize, words: &mut TermEmitter<'_>) -> usize {
    let word = script_run(text, start, |script| matches!(script, Script::Other | Script::Mark));
    words.emit_other_script(word);
    start + word.len()
}

/// Returns the characters from `start` on whose script is `wanted`.
fn script_run(text: &str, start: usize, wanted: fn(Script) -> bool) -> &str {
    let rest = &text[start..];
    rest.find(|c| !wanted(script_of(c))).map_or(rest, |len| &rest[..len])
}

/// Emits the emoji at `start` without the colour of its skin and returns its end.
fn emit_emoji(text: &str, start: usize, words: &mut TermEmitter<'_>) -> usize {
    let mut end = start;
    let mut term = String::new();
    let mut joined = true;
    for c in text[start..].chars() {
        match c {
            '\u{1f3fb}'..='\u{1f3ff}' if !term.is_empty() => {}
            '\u{200d}' => joined = true,
            _ if script_of(c) == Script::Emoji && (joined || completes_flag(&term, c)) => {
                term.push(c);
                joined = false;
            }
            _ => break,
        }
        end += c.len_utf8();
        if term.chars().count() == MAX_JOINED_EMOJI {
            break;
        }
    }
    words.emit_exact(&term);
    end
}

/// Returns `true` if `c` is the second letter of a flag.
fn completes_flag(term: &str, c: char) -> bool {
    let is_flag_letter = |c| matches!(c, '\u{1f1e6}'..='\u{1f1ff}');
    is_flag_letter(c) && term.chars().all(is_flag_letter) && term.chars().count() == 1
}

#[cfg(test)]
#[path = "terms_tests.rs"]
mod tests;
