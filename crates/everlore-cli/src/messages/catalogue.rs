//! Catalogue of messages with translations: exact texts, and patterns with placeholders.

use std::collections::HashMap;

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
}

/// Part of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Text as it is.
    Literal(String),
    /// Placeholder; `translated` ones hold messages themselves.
    Placeholder { name: String, translated: bool },
}

impl Catalogue {
    /// Parses lines of `> English` and `< translation`. Lines of one side that follow each other are one text.
    pub(crate) fn parse(text: &str) -> Self {
        let mut catalogue = Self::default();
        for (english, translation) in pairs(text) {
            let pieces = pieces(&english);
            if pieces.iter().any(|piece| matches!(piece, Piece::Placeholder { .. })) {
                let translation = self::pieces(&translation);
                catalogue.patterns.push(Pattern { english: pieces, translation });
            } else {
                catalogue.exact.insert(english, translation);
            }
        }
        catalogue.patterns.sort_by_key(|pattern| std::cmp::Reverse(pattern.literal_chars()));
        catalogue
    }

    /// Returns the translation of a message, if there is one.
    pub(crate) fn find(&self, message: &str) -> Option<String> {
        if let Some(translation) = self.exact.get(message) {
            return Some(translation.clone());
        }
        self.patterns.iter().find_map(|pattern| {
            let values = pattern.values_in(message)?;
            Some(self.fill(&pattern.translation, &values))
        })
    }

    fn fill(&self, translation: &[Piece], values: &[(&str, &str)]) -> String {
        let value = |name: &str| {
            values.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value)
        };
        let text = |piece: &Piece| match piece {
            Piece::Literal(text) => text.clone(),
            Piece::Placeholder { name, translated: false } => value(name).to_owned(),
            Piece::Placeholder { name, translated: true } => {
                self.find(value(name)).unwrap_or_else(|| value(name).to_owned())
            }
        };
        translation.iter().map(text).collect()
    }
}

impl Pattern {
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
    fn values_in<'a>(&'a self, message: &'a str) -> Option<Vec<(&'a str, &'a str)>> {
        if message.contains('\n') && !self.has_lines() {
            return None;
        }
        let mut values = Vec::new();
        let mut rest = message;
        let mut open: Option<&str> = None;
        for (index, piece) in self.english.iter().enumerate() {
            match (piece, open.take()) {
                (Piece::Placeholder { name, .. }, _) => open = Some(name),
                (Piece::Literal(text), None) => rest = rest.strip_prefix(text.as_str())?,
                (Piece::Literal(text), Some(name)) => {
                    let is_last = index + 1 == self.english.len();
                    let at = if is_last {
                        rest.len().checked_sub(text.len()).filter(|_| rest.ends_with(text))?
                    } else {
                        rest.find(text.as_str())?
                    };
                    values.push((name, &rest[..at]));
                    rest = &rest[at + text.len()..];
                }
            }
        }
        match open {
            Some(name) => values.push((name, rest)),
            None if !rest.is_empty() => return None,
            None => {}
        }
        values.iter().all(|(_, value)| !value.is_empty()).then_some(values)
    }
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
        let (name, translated) = match name.strip_suffix('*') {
            Some(name) => (name, true),
            None => (name, false),
        };
        pieces.push(Piece::Placeholder { name: name.to_owned(), translated });
        rest = tail;
    }
    literal += rest;
    if !literal.is_empty() {
        pieces.push(Piece::Literal(literal));
    }
    pieces
}

fn is_name(text: &str) -> bool {
    let name = text.strip_suffix('*').unwrap_or(text);
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
    fn braces_that_hold_no_name_are_text() {
        assert_eq!(pieces("{\"a\": 1}"), [Piece::Literal("{\"a\": 1}".into())]);
        let name = Piece::Placeholder { name: "a_b".into(), translated: true };
        assert_eq!(pieces("{ {a_b*}"), [Piece::Literal("{ ".into()), name]);
    }
}
