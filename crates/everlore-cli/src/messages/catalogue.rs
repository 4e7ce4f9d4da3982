//! Catalogue of messages with translations: exact texts, and patterns with placeholders.

use std::collections::HashMap;

use super::placeholder::{Slot, Takes, is_sentence};

/// Messages of one language, by their English.
#[derive(Debug, Default)]
pub(crate) struct Catalogue {
    exact: HashMap<String, String>,
    /// Messages with placeholders, those with the most literal characters first.
    patterns: Vec<Pattern>,
}

/// Message with placeholders, and its translation.
#[derive(Debug)]
struct Pattern {
    english: Vec<Piece>,
    translation: Vec<Piece>,
    /// One for each placeholder of the English side, in its order.
    slots: Vec<Slot>,
}

/// Part of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Text as it is.
    Literal(String),
    /// Placeholder: `{name}`, `{name*}` whose value is translated itself, `{name~}` which takes any text.
    Placeholder { name: String, translated: bool, free: bool },
}

impl Piece {
    fn may_occur_in(&self, message: &str) -> bool {
        match self {
            Self::Literal(text) => message.contains(text.as_str()),
            Self::Placeholder { .. } => true,
        }
    }
}

impl Catalogue {
    /// Parses lines of `> English` and `< translation`. Lines of one side that follow each other are one text.
    pub(crate) fn parse(text: &str) -> Self {
        let mut catalogue = Self::default();
        for (english, translation) in pairs(text) {
            let pieces = pieces(&english);
            if pieces.iter().any(|piece| matches!(piece, Piece::Placeholder { .. })) {
                catalogue.patterns.push(Pattern::new(pieces, self::pieces(&translation)));
            } else {
                catalogue.exact.insert(english, translation);
            }
        }
        catalogue.patterns.sort_by_key(|pattern| std::cmp::Reverse(pattern.literal_chars()));
        catalogue
    }

    /// Returns the translation of a text that has no placeholders, such as one of the help.
    pub(crate) fn find_exact(&self, text: &str) -> Option<&str> {
        self.exact.get(text).map(String::as_str)
    }

    /// Returns the translation of a message, if there is one.
    pub(crate) fn find(&self, message: &str) -> Option<String> {
        if let Some(translation) = self.exact.get(message) {
            return Some(translation.clone());
        }
        self.patterns.iter().find_map(|pattern| {
            let values = pattern.values_in(message, self)?;
            Some(self.fill(&pattern.translation, &values))
        })
    }

    /// Returns what a message puts into placeholders, each with `true` if it may be any text.
    #[cfg(test)]
    pub(crate) fn values_in(&self, message: &str) -> Vec<(String, bool)> {
        let values =
            self.patterns.iter().filter(|_| !self.exact.contains_key(message)).find_map(
                |pattern| pattern.values_in(message, self).map(|values| (pattern, values)),
            );
        let Some((pattern, values)) = values else { return Vec::new() };
        let is_free = |slot: &Slot| slot.takes == Takes::Anything;
        let slots = values.iter().zip(&pattern.slots);
        slots.map(|((_, value), slot)| ((*value).to_owned(), is_free(slot))).collect()
    }

    fn fill(&self, translation: &[Piece], values: &[(&str, &str)]) -> String {
        let value = |name: &str| {
            values.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value)
        };
        let text = |piece: &Piece| match piece {
            Piece::Literal(text) => text.clone(),
            Piece::Placeholder { name, translated: false, .. } => value(name).to_owned(),
            Piece::Placeholder { name, translated: true, .. } => {
                self.find(value(name)).unwrap_or_else(|| self.find_items(value(name)))
            }
        };
        translation.iter().map(text).fold(String::new(), |whole, part| join(whole, &part))
    }

    /// Returns a list of messages with those translated that are known.
    fn find_items(&self, list: &str) -> String {
        let lists = [("; ", "；"), (", ", "，")];
        let Some((gap, chinese)) = lists.into_iter().find(|(gap, _)| list.contains(gap)) else {
            return list.to_owned();
        };
        let items: Vec<_> = list.split(gap).map(|item| (item, self.find(item))).collect();
        if items.iter().all(|(_, translated)| translated.is_none()) {
            return list.to_owned();
        }
        let items = items.into_iter().map(|(item, known)| known.unwrap_or_else(|| item.to_owned()));
        items.collect::<Vec<_>>().join(chinese)
    }
}

/// Appends a part. The blank around a value is left out where the value became Chinese.
fn join(mut text: String, part: &str) -> String {
    let is_chinese = |c: char| !c.is_ascii() && c.is_alphabetic();
    let ends_chinese = |text: &str| text.chars().next_back().is_some_and(is_chinese);
    let starts_chinese = |text: &str| text.chars().next().is_some_and(is_chinese);
    if starts_chinese(part) && text.strip_suffix(' ').is_some_and(ends_chinese) {
        text.pop();
    }
    let part = match part.strip_prefix(' ') {
        Some(rest) if starts_chinese(rest) && ends_chinese(&text) => rest,
        _ => part,
    };
    text + part
}

impl Pattern {
    /// A mark counts on whichever side it stands.
    fn new(english: Vec<Piece>, translation: Vec<Piece>) -> Self {
        let marks = |wanted: &str| {
            english.iter().chain(&translation).fold((false, false), |marks, piece| match piece {
                Piece::Placeholder { name, translated, free } if name == wanted => {
                    (marks.0 || *translated, marks.1 || *free)
                }
                _ => marks,
            })
        };
        let quote_at = |index: Option<usize>, at_end: bool| {
            let Some(Piece::Literal(text)) = index.and_then(|index| english.get(index)) else {
                return None;
            };
            let edge = if at_end { text.chars().next_back() } else { text.chars().next() };
            edge.filter(|c| "`'\"“”".contains(*c))
        };
        let slot = |(index, piece): (usize, &Piece)| {
            let Piece::Placeholder { name, .. } = piece else { return None };
            let quoted = quote_at(index.checked_sub(1), true).is_some()
                && quote_at(Some(index + 1), false).is_some();
            let (translated, free) = marks(name);
            Some(Slot { name: name.clone(), takes: Takes::of(name, translated, free, quoted) })
        };
        let slots = english.iter().enumerate().filter_map(slot).collect();
        Self { slots, english, translation }
    }

    fn literal_chars(&self) -> usize {
        let literal = |piece: &Piece| match piece {
            Piece::Literal(text) => text.chars().count(),
            Piece::Placeholder { .. } => 0,
        };
        self.english.iter().map(literal).sum()
    }

    /// Returns `true` for a message of several lines; any other is one line, whatever stands in it.
    fn has_lines(&self) -> bool {
        let is_broken =
            |piece: &Piece| matches!(piece, Piece::Literal(text) if text.contains('\n'));
        self.english.iter().any(is_broken)
    }

    /// Returns what stands in the placeholders, if the message fits.
    fn values_in<'a>(
        &'a self,
        message: &'a str,
        catalogue: &Catalogue,
    ) -> Option<Vec<(&'a str, &'a str)>> {
        if let Some(Piece::Literal(start)) = self.english.first()
            && !message.starts_with(start.as_str())
        {
            return None;
        }
        if message.contains('\n') && !self.has_lines() {
            return None;
        }
        if !self.english.iter().all(|piece| piece.may_occur_in(message)) {
            return None;
        }
        let mut values = Vec::new();
        let fits = fit(&self.english, &self.slots, message, &mut values)
            && values.iter().zip(&self.slots).all(|((_, value), slot)| {
                slot.takes != Takes::Message
                    || !is_sentence(value)
                    || catalogue.find(value).is_some()
            });
        fits.then_some(values)
    }
}

/// Fits pieces to a text; where a value is not of its kind, a later end of it is tried.
fn fit<'a>(
    pieces: &[Piece],
    slots: &'a [Slot],
    text: &'a str,
    values: &mut Vec<(&'a str, &'a str)>,
) -> bool {
    let (slot, next, rest) = match pieces {
        [] => return text.is_empty(),
        [Piece::Literal(literal), rest @ ..] => {
            return text
                .strip_prefix(literal.as_str())
                .is_some_and(|text| fit(rest, slots, text, values));
        }
        [Piece::Placeholder { .. }] => {
            let takes = slots[0].takes.takes(text);
            values.extend(takes.then_some((slots[0].name.as_str(), text)));
            return takes;
        }
        [Piece::Placeholder { .. }, Piece::Literal(next), rest @ ..] => (&slots[0], next, rest),
        [Piece::Placeholder { .. }, ..] => return false,
    };
    if rest.is_empty() && !text.ends_with(next.as_str()) {
        return false;
    }
    for (at, found) in text.match_indices(next.as_str()) {
        let (value, after) = (&text[..at], &text[at + found.len()..]);
        if (rest.is_empty() && !after.is_empty()) || !slot.takes.takes(value) {
            continue;
        }
        let known = values.len();
        values.push((slot.name.as_str(), value));
        if fit(rest, &slots[1..], after, values) {
            return true;
        }
        values.truncate(known);
    }
    false
}

/// Returns the pairs of a catalogue file, as they stand there.
pub(crate) fn pairs(text: &str) -> Vec<(String, String)> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    let mut was_english = false;
    for line in text.lines() {
        let (is_english, line) = match line.split_at_checked(1) {
            Some((">", rest)) => (true, rest.strip_prefix(' ').unwrap_or(rest)),
            Some(("<", rest)) => (false, rest.strip_prefix(' ').unwrap_or(rest)),
            // Comments and empty lines.
            _ => continue,
        };
        match pairs.last_mut() {
            Some((english, _)) if is_english && was_english => *english += &format!("\n{line}"),
            _ if is_english => pairs.push((line.to_owned(), String::new())),
            Some((_, translation)) if was_english => line.clone_into(translation),
            Some((_, translation)) => *translation += &format!("\n{line}"),
            None => {}
        }
        was_english = is_english;
    }
    pairs
}

/// Marks at the end of a placeholder's name.
const MARKS: [char; 2] = ['*', '~'];

/// Splits a message into literal text and placeholders such as `{name}` or `{name*}`.
pub(crate) fn pieces(message: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut rest = message;
    while let Some((before, after)) = rest.split_once('{') {
        literal += before;
        let Some((name, tail)) = after.split_once('}').filter(|(name, _)| is_name(name)) else {
            literal.push('{');
            rest = after;
            continue;
        };
        if !literal.is_empty() {
            pieces.push(Piece::Literal(std::mem::take(&mut literal)));
        }
        let (translated, free) = (name.contains('*'), name.contains('~'));
        let name = name.trim_end_matches(MARKS).to_owned();
        pieces.push(Piece::Placeholder { name, translated, free });
        rest = tail;
    }
    literal += rest;
    if !literal.is_empty() {
        pieces.push(Piece::Literal(literal));
    }
    pieces
}

fn is_name(text: &str) -> bool {
    let name = text.trim_end_matches(MARKS);
    !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGES: &str = "\
# comment
> nothing found
< 没有找到

> {count} memories
< {count} 条记忆

> {what} `{id}` not found
< 找不到{what*} `{id}`

> memory
< 记忆

> two
> lines of {name}
< 两行：
< {name}
";

    #[test]
    fn exact_texts_and_patterns_are_found() {
        let catalogue = Catalogue::parse(MESSAGES);
        let find = |message: &str| catalogue.find(message).unwrap_or_default();
        assert_eq!(find("nothing found"), "没有找到");
        assert_eq!(find("3 memories"), "3 条记忆");
        assert_eq!(find("memory `01a1` not found"), "找不到记忆 `01a1`");
        assert_eq!(find("draft `01a1` not found"), "找不到draft `01a1`");
        assert_eq!(find("two\nlines of text"), "两行：\ntext");
        assert_eq!(catalogue.find("nothing at all"), None);
        assert_eq!(catalogue.find(" memories"), None, "a placeholder is never empty");
        assert_eq!(catalogue.find("3\n4 memories"), None, "nor does it hold a line break");
    }

    #[test]
    fn a_placeholder_takes_only_values_of_its_kind() {
        let catalogue = Catalogue::parse(
            "> {count} change\n< {count} 处改动\n> {job} is on\n< {job} 已打开\n> use {name}\n< 用 {name}\n\
             > failed: {error~}\n< 失败：{error}\n> did {what}\n< 做了 {what*}\n> run: {command}\n< 运行：{command}\n\
             > no `{word}`\n< 没有 `{word}`\n> {a} in {b}\n< {b} 里的 {a}\n",
        );
        let find = |message: &str| catalogue.find(message).unwrap_or_default();
        assert_eq!(find("1,200 change"), "1,200 处改动");
        assert_eq!(find("there is nothing to change"), "", "no number");
        assert_eq!(find("reflection is on"), "reflection 已打开");
        assert_eq!(find("the light is on"), "", "no job");
        assert_eq!(find("use a, b, c or d"), "用 a, b, c or d", "a list is no sentence");
        assert_eq!(find("use the value or delete it"), "");
        assert_eq!(find("failed: the disk is full"), "失败：the disk is full", "free text");
        assert_eq!(find("did 2 change"), "做了 2 处改动");
        assert_eq!(find("did what nobody has asked for"), "");
        assert_eq!(find("run: everlore memory undo --run x"), "运行：everlore memory undo --run x");
        assert_eq!(find("no `such thing as this`"), "没有 `such thing as this`", "quoted");
        assert_eq!(find("tea in china in the pot in the sink"), "", "each value is short");
        assert_eq!(find("tea in 2 in b"), "2 in b 里的 tea");
    }

    #[test]
    fn braces_that_hold_no_name_are_text() {
        assert_eq!(pieces("{\"a\": 1}"), [Piece::Literal("{\"a\": 1}".into())]);
        let name = Piece::Placeholder { name: "a_b".into(), translated: true, free: false };
        assert_eq!(pieces("{ {a_b*}"), [Piece::Literal("{ ".into()), name]);
    }
}
