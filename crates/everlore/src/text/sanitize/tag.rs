//! Markers that a prompt's reader may take for structure: tags, chat templates, in any spelling that looks like them.

use super::{
    Strictness,
    lookalikes::{
        OpeningAngle, for_each_read_letter, is_angle, is_blank, is_closing_angle, is_hyphen,
        is_slash, opening_angle, reads_as,
    },
};
use crate::text::injected_blocks::{HOST_TAGS, OWN_TAGS};

/// Tags that have a meaning to hosts and models, beside those of our own blocks and of hosts' blocks.
const RESERVED_TAGS: [&str; 22] = [
    "system",
    "system-prompt",
    "assistant",
    "user",
    "human",
    "developer",
    "instructions",
    "tool_result",
    "tool_results",
    "tool_use",
    "tool_call",
    "tool_response",
    "function_calls",
    "function_results",
    "im_start",
    "im_end",
    "start_of_turn",
    "end_of_turn",
    "conversation",
    "hook_context",
    "thinking",
    "sys",
];

/// Chat-template markers in square brackets.
const BRACKET_MARKERS: [&str; 6] =
    ["inst", "system_prompt", "available_tools", "tool_calls", "tool_results", "sys"];

/// Most characters that are read of a name: more than the longest tag, with a prefix and blanks in it.
const MAX_NAME_CHARS: usize = 48;

/// Fewest letters at the end of a line that may be the first half of a tag: `a < b` ends in fewer.
const MIN_HALF_NAME: usize = 3;

/// Kind of character that begins a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marker {
    /// Angle bracket, or what looks like one.
    Angle,
    /// Square bracket.
    Bracket,
}

/// Finder of markers in one line.
pub(super) struct MarkerFinder<'a> {
    line: &'a str,
    strictness: Strictness,
    last_close: usize,
}

impl<'a> MarkerFinder<'a> {
    /// Creates a finder for a line without hidden characters.
    pub(super) fn new(line: &'a str, strictness: Strictness) -> Self {
        Self { line, strictness, last_close: line.rfind(is_closing_angle).unwrap_or(0) }
    }

    /// Returns the marker that the character at `index` begins; `before` is the character before it.
    pub(super) fn marker_at(&self, index: usize, c: char, before: Option<char>) -> Option<Marker> {
        let rest = &self.line[index + c.len_utf8()..];
        if matches!(c, '[' | '［') {
            return is_bracket_marker(rest).then_some(Marker::Bracket);
        }
        let angle = opening_angle(c)?;
        let after = AfterAngle::read(rest);
        let closes = index < self.last_close;
        let is_marker = match angle {
            OpeningAngle::Real => {
                after.is_reserved()
                    || after.is_half_tag()
                    || after.is_chat_marker(rest)
                    || self.strictness == Strictness::AnyTag
                        && after.is_any_tag(rest, before, closes)
            }
            OpeningAngle::LookAlike => {
                after.is_fenced_reserved()
                    || after.has_slash && after.is_reserved()
                    || after.is_bare()
            }
            OpeningAngle::Quote => after.is_own() || after.has_slash && after.is_reserved(),
        };
        is_marker.then_some(Marker::Angle)
    }
}

/// Text after an angle bracket: slashes and blanks, then perhaps a name.
struct AfterAngle<'a> {
    /// Set when a slash precedes the name.
    has_slash: bool,
    /// Set when a blank or another mark precedes the name.
    has_mark: bool,
    /// Text from the name on.
    name: &'a str,
    /// Letters that the name is read as; hyphens, underscores and blanks as they are.
    letters: Vec<char>,
    /// The same without anything else, as far as the next bracket.
    dense_letters: Vec<char>,
    /// Set when those reach to the end of the line.
    dense_to_line_end: bool,
    /// Set when the letters reach to the end of the line.
    to_line_end: bool,
}

impl<'a> AfterAngle<'a> {
    fn read(rest: &'a str) -> Self {
        // Marks before a name do not hide it, signs of the form of a closing angle included, but operators and quotation
        // marks begin something else.
        let is_lead = |c: char| {
            is_blank(c)
                || is_slash(c)
                || !c.is_alphanumeric() && opening_angle(c).is_none() && !">&!?=\"'".contains(c)
        };
        let name = rest.trim_start_matches(is_lead);
        let lead = &rest[..rest.len() - name.len()];
        let mut letters = Vec::with_capacity(MAX_NAME_CHARS);
        let mut characters = name.chars();
        let mut to_line_end = true;
        for c in characters.by_ref().take(MAX_NAME_CHARS) {
            if is_name_end(c) {
                to_line_end = false;
                // One character beyond the name tells where it ends.
                letters.push(c);
                break;
            }
            push_name_letters(c, &mut letters);
        }
        to_line_end &= characters.next().is_none();
        let (dense_letters, dense_to_line_end) = dense_letters(name);
        Self {
            has_slash: lead.contains(is_slash),
            has_mark: lead.contains(|c| !is_slash(c) && !matches!(c, '|' | '｜')),
            name,
            dense_letters,
            dense_to_line_end,
            letters,
            to_line_end,
        }
    }

    /// Returns `true` if what follows reads like the name of one of our blocks, whatever marks stand within it and
    /// whatever follows it; also if the line ends before the name does.
    fn is_own(&self) -> bool {
        let alone: Vec<char> =
            self.dense_letters.iter().copied().filter(|c| c.is_alphanumeric()).collect();
        let is_half = |letters: &[char]| self.dense_to_line_end && letters.len() >= MIN_HALF_NAME;
        let mut spellings = Self::spellings_of(&self.dense_letters).chain([&*alone]);
        spellings
            .any(|letters| OWN_TAGS.iter().any(|tag| begins_with(letters, tag, is_half(letters))))
    }

    /// Returns `true` if the name is reserved, as a word of its own.
    fn is_reserved(&self) -> bool {
        let ends = |rest: &[char]| !continues_name(rest);
        self.is_own() || self.spellings().any(|letters| has_reserved(letters, ends))
    }

    /// Returns `true` if the name is reserved and no further word follows: titles have more words.
    fn is_fenced_reserved(&self) -> bool {
        let ends = |rest: &[char]| {
            let next = rest.iter().find(|c| !is_blank(**c));
            next.is_none_or(|c| !is_letter(*c))
        };
        self.is_own() || self.spellings().any(|letters| has_reserved(letters, ends))
    }

    /// Returns `true` if the line ends before the name does: its second half may stand in the next line or field.
    fn is_half_tag(&self) -> bool {
        self.is_bare()
            || self.to_line_end
                && (self.has_slash
                    || self.spellings().any(|letters| self.is_half_of(letters, &RESERVED_TAGS)))
    }

    /// Returns `true` if only marks follow in the line: the name may stand in the next one.
    fn is_bare(&self) -> bool {
        self.dense_to_line_end && !self.dense_letters.iter().any(|c| c.is_alphanumeric())
    }

    fn is_half_of(&self, letters: &[char], tags: &[&str]) -> bool {
        letters.len() >= MIN_HALF_NAME && tags.iter().any(|tag| is_beginning_of(letters, tag))
    }

    /// Returns `true` for `<|` and for `<<` before a letter or a slash.
    fn is_chat_marker(&self, rest: &str) -> bool {
        let first = rest.trim_start_matches(|c: char| is_blank(c) && c != ' ').chars().next();
        let is_real = |c: char| opening_angle(c) == Some(OpeningAngle::Real);
        let doubled = rest.strip_prefix(is_real);
        matches!(first, Some('|' | '｜'))
            || doubled
                .is_some_and(|name| name.starts_with(|c: char| c.is_alphabetic() || is_slash(c)))
    }

    /// Returns `true` for what reads like any tag, comment or declaration; `closes` says whether a bracket follows that
    /// could end it. `Vec<String>` does not: a name stands before it. Nor does `a < b`: a blank follows.
    fn is_any_tag(&self, rest: &str, before: Option<char>, closes: bool) -> bool {
        if rest.starts_with(['!', '?']) || rest.starts_with(is_slash) {
            return true;
        }
        let opens = self.name.starts_with(|c: char| {
            c.is_alphabetic() || opening_angle(c).is_some() || matches!(c, '&' | '!' | '?')
        });
        let adjoins = before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':');
        opens && closes && (self.has_slash || !adjoins && !self.has_mark)
    }

    /// Iterates over the name and over what follows each colon in it: a tag may have a namespace.
    fn spellings(&self) -> impl Iterator<Item = &[char]> {
        Self::spellings_of(&self.letters)
    }

    fn spellings_of(letters: &[char]) -> impl Iterator<Item = &[char]> {
        let colons = letters.iter().enumerate().filter(|(_, c)| **c == ':');
        let spellings =
            std::iter::once(0).chain(colons.map(|(at, _)| at + 1)).map(|from| &letters[from..]);
        // Marks before a name do not hide it.
        let alone = letters.iter().position(|c| c.is_alphanumeric()).map(|from| &letters[from..]);
        spellings.chain(alone)
    }
}

fn is_name_end(c: char) -> bool {
    is_closing_angle(c)
        || is_slash(c)
        || opening_angle(c).is_some()
        || matches!(c, '=' | '"' | '\'' | '&')
}

fn push_name_letters(c: char, letters: &mut Vec<char>) {
    if c.is_whitespace() || c == '\u{2800}' {
        letters.push(' ');
    } else if is_hyphen(c) {
        letters.push('-');
    } else if !is_blank(c) {
        for_each_read_letter(c, &mut |letter| letters.push(letter));
    }
}

/// Returns the letters, digits and colons of a name, without marks between them, and `true` if they reach to the end of
/// the line.
fn dense_letters(name: &str) -> (Vec<char>, bool) {
    let mut letters = Vec::with_capacity(MAX_NAME_CHARS);
    let mut characters = name.chars();
    for c in characters.by_ref().take(MAX_NAME_CHARS) {
        let is_opening = opening_angle(c).is_some();
        if is_closing_angle(c) || is_opening && !letters.is_empty() {
            return (letters, false);
        }
        if c.is_alphanumeric() || matches!(c, ':' | '@' | '$') {
            for_each_read_letter(c, &mut |letter| letters.push(letter));
        }
    }
    let to_line_end = characters.next().is_none();
    (letters, to_line_end)
}

fn has_reserved(letters: &[char], ends: impl Fn(&[char]) -> bool) -> bool {
    RESERVED_TAGS.iter().chain(&HOST_TAGS).any(|tag| matches_tag(letters, tag).is_some_and(&ends))
}

/// Returns `true` if letters without marks begin with a tag, or with `or_half` are the beginning of it.
fn begins_with(letters: &[char], tag: &str, or_half: bool) -> bool {
    let mut read = letters.iter();
    for expected in tag.chars().filter(|c| *c != '-') {
        match read.next() {
            Some(c) if reads_as(*c, expected) => {}
            Some(_) => return false,
            None => return or_half,
        }
    }
    true
}

/// Returns what follows the tag if the letters begin with it; a hyphen of the tag stands for hyphens, underscores and
/// blanks, or for nothing.
fn matches_tag<'l>(mut letters: &'l [char], tag: &str) -> Option<&'l [char]> {
    for expected in tag.chars() {
        if matches!(expected, '-' | '_') {
            while letters.first().is_some_and(|c| is_joint(*c)) {
                letters = &letters[1..];
            }
        } else if letters.first().is_some_and(|read| reads_as(*read, expected)) {
            letters = &letters[1..];
        } else {
            return None;
        }
    }
    Some(letters)
}

/// Returns `true` if the letters are the beginning of the tag.
fn is_beginning_of(mut letters: &[char], tag: &str) -> bool {
    for expected in tag.chars() {
        if matches!(expected, '-' | '_') {
            while letters.first().is_some_and(|c| is_joint(*c)) {
                letters = &letters[1..];
            }
        } else {
            match letters.first() {
                None => return true,
                Some(read) if reads_as(*read, expected) => letters = &letters[1..],
                Some(_) => return false,
            }
        }
    }
    letters.is_empty()
}

fn is_joint(c: char) -> bool {
    c == ' ' || c == '_' || is_hyphen(c)
}

/// Returns `true` for a letter or digit that is no angle: some scripts have letters of that form.
fn is_letter(c: char) -> bool {
    c.is_alphanumeric() && !is_angle(c)
}

/// Returns `true` if a name goes on after the tag that it begins with: `user_count`, `systemd`.
fn continues_name(rest: &[char]) -> bool {
    let is_joint = |c: char| c == '_' || is_hyphen(c);
    let next = rest.iter().find(|c| !is_joint(**c));
    next.is_some_and(|c| is_letter(*c))
}

/// Returns `true` for the rest of a chat-template marker such as `[INST]` or `[/INST]`.
fn is_bracket_marker(rest: &str) -> bool {
    let name = rest.trim_start_matches(|c: char| is_blank(c) || is_slash(c));
    let mut letters = Vec::with_capacity(MAX_NAME_CHARS);
    name.chars().take(MAX_NAME_CHARS).for_each(|c| push_name_letters(c, &mut letters));
    let ends = |rest: &[char]| matches!(rest.iter().find(|c| !is_blank(**c)), Some(']' | '］'));
    BRACKET_MARKERS.iter().any(|tag| matches_tag(&letters, tag).is_some_and(ends))
}
