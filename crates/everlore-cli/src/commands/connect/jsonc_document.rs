//! JSON text that is edited by splicing: one item goes in or out of an object or array, every other byte stays.
//!
//! `jsonc-parser` says where values, commas and comments are. Its own editing tree is not used: it reflows one-line
//! objects and trims blank lines, so that removing an item could not restore the text to the byte.

use std::ops::Range;

use jsonc_parser::{
    CollectOptions, CommentCollectionStrategy, ParseOptions,
    ast::Value as JsoncValue,
    common::Ranged,
    parse_to_ast,
    tokens::{Token, TokenAndRange},
};
use serde::Serialize;
use serde_json::{Value, ser::PrettyFormatter};

/// JSON as Zed and VS Code write it: comments and trailing commas, nothing else beyond the standard.
const SYNTAX: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Parsed text: values and tokens with their places in the text.
pub(super) struct Document<'a> {
    text: &'a str,
    pub(super) root: JsoncValue<'a>,
    tokens: Vec<TokenAndRange<'a>>,
}

/// Object or array.
pub(super) struct Container {
    range: Range<usize>,
    /// Members with their keys, or elements.
    pub(super) items: Vec<Range<usize>>,
}

impl<'a> Document<'a> {
    /// Parses the text; `None` if it is not JSON with at most comments and trailing commas.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let collect =
            CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
        let parsed = parse_to_ast(text, &collect, &SYNTAX).ok()?;
        Some(Self { text, root: parsed.value?, tokens: parsed.tokens? })
    }

    /// Returns the value at a path of keys.
    pub(super) fn at(&self, path: &[String]) -> Option<&JsoncValue<'a>> {
        path.iter().try_fold(&self.root, |value, key| Some(&value.as_object()?.get(key)?.value))
    }

    /// Returns the object or array at a path.
    pub(super) fn container(&self, path: &[String]) -> Option<Container> {
        let value = self.at(path)?;
        let items = match value {
            JsoncValue::Object(object) => object.properties.iter().map(place).collect(),
            JsoncValue::Array(array) => array.elements.iter().map(place).collect(),
            _ => return None,
        };
        Some(Container { range: place(value), items })
    }

    /// Returns the text with another value; one that is the same already is not touched.
    pub(super) fn replace(&self, old: &JsoncValue, value: &Value) -> String {
        let range = place(old);
        if Value::from(old.clone()) == *value {
            return self.text.to_owned();
        }
        let written = write_value(self.text, value, indent_at(self.text, range.start));
        splice(self.text, range, &written)
    }

    /// Returns the text with a new last item.
    pub(super) fn insert(&self, container: &Container, key: Option<&str>, value: &Value) -> String {
        let (text, line) = (self.text, line_break(self.text));
        let outer = indent_at(text, container.range.start);
        let item = |indent: &str| {
            let key = key.map(|key| format!("{}: ", Value::from(key))).unwrap_or_default();
            format!("{key}{}", write_value(text, value, indent))
        };
        let deeper = format!("{outer}{}", indent_step(text));
        let Some(last) = self.last_thing(container) else {
            let inside = container.range.start + 1..container.range.end - 1;
            return splice(text, inside, &format!("{line}{deeper}{}{line}{outer}", item(&deeper)));
        };
        let comma = self.comma_after(last.end);
        let end = self.end_with_comments(comma.clone().map_or(last.end, |comma| comma.end));
        let first = container.items.first().unwrap_or(&last).start;
        let on_own_line = text[container.range.start..first].contains('\n')
            || text[end..container.range.end].contains('\n');
        let indent = match line_indent(text, first) {
            Some(indent) if on_own_line => indent,
            None if on_own_line => &deeper,
            _ => outer,
        };
        let before = if on_own_line { format!("{line}{indent}") } else { " ".to_owned() };
        let after = if comma.is_some() { "," } else { "" };
        let text = splice(text, end..end, &format!("{before}{}{after}", item(indent)));
        let needs_comma = comma.is_none() && !container.items.is_empty();
        if needs_comma { splice(&text, last.end..last.end, ",") } else { text }
    }

    /// Returns the text without an item, its comma, and a comment that follows it on its line.
    pub(super) fn remove(&self, container: &Container, index: usize) -> String {
        let item = &container.items[index];
        let comma = self.comma_after(item.end);
        let end = self.end_with_comments(comma.clone().map_or(item.end, |comma| comma.end));
        let start = item_start(self.text, item.start);
        let text = splice(self.text, start..end, "");
        let before = index.checked_sub(1).map(|index| &container.items[index]);
        let comma_before =
            before.filter(|_| comma.is_none()).and_then(|item| self.comma_after(item.end));
        let text = comma_before.map_or_else(|| text.clone(), |comma| splice(&text, comma, ""));
        let inside = container.range.start + 1..container.range.end - 1 - (end - start);
        let is_blank = container.items.len() == 1 && text[inside.clone()].trim().is_empty();
        if is_blank { splice(&text, inside, "") } else { text }
    }

    /// Returns `true` if a container has neither items nor comments.
    pub(super) fn is_blank(&self, container: &Container) -> bool {
        self.last_thing(container).is_none()
    }

    /// Returns the last item of a container; the last comment if it has no items.
    fn last_thing(&self, container: &Container) -> Option<Range<usize>> {
        let inside = |token: &&TokenAndRange| {
            container.range.contains(&token.range.start) && is_comment(token)
        };
        let comment = || self.tokens.iter().rev().find(inside).map(place);
        container.items.last().cloned().or_else(comment)
    }

    /// Returns the comma that follows a value, past comments.
    fn comma_after(&self, end: usize) -> Option<Range<usize>> {
        let mut next =
            self.tokens.iter().filter(|token| token.range.start >= end && !is_comment(token));
        next.next().filter(|token| token.token == Token::Comma).map(place)
    }

    /// Returns where the comments end that follow on the same line, if nothing comes after them there.
    fn end_with_comments(&self, item_end: usize) -> usize {
        let mut end = item_end;
        let next = self.tokens.partition_point(|token| token.range.start < end);
        for token in &self.tokens[next..] {
            let gap = &self.text[end..token.range.start];
            if !is_comment(token) || gap.contains('\n') {
                break;
            }
            end = token.range.end;
        }
        let rest_of_line = self.text[end..].lines().next().unwrap_or_default();
        if rest_of_line.trim().is_empty() { end } else { item_end }
    }
}

/// Returns `true` if the text has a value, `false` if only comments; `None` if it cannot be parsed.
pub(super) fn has_value(text: &str) -> Option<bool> {
    Some(parse_to_ast(text, &CollectOptions::default(), &SYNTAX).ok()?.value.is_some())
}

fn is_comment(token: &TokenAndRange) -> bool {
    matches!(token.token, Token::CommentLine(_) | Token::CommentBlock(_))
}

fn place(node: &impl Ranged) -> Range<usize> {
    node.start()..node.end()
}

/// Returns where an item begins, with its line break and indent if it begins a line.
fn item_start(text: &str, start: usize) -> usize {
    let before = text[..start].trim_end_matches([' ', '\t']);
    let before = before.strip_suffix('\n').unwrap_or(before);
    before.strip_suffix('\r').unwrap_or(before).len()
}

fn splice(text: &str, range: Range<usize>, new: &str) -> String {
    format!("{}{new}{}", &text[..range.start], &text[range.end..])
}

/// Writes a value in the layout of the text, with its later lines after this indent.
fn write_value(text: &str, value: &Value, indent: &str) -> String {
    let mut bytes = Vec::new();
    let formatter = PrettyFormatter::with_indent(indent_step(text).as_bytes());
    let mut writer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
    // Writing to memory cannot fail.
    let _ = value.serialize(&mut writer);
    let pretty = String::from_utf8(bytes).unwrap_or_default();
    pretty.replace('\n', &format!("{}{indent}", line_break(text)))
}

/// Returns the blanks at the beginning of the line of a position.
fn indent_at(text: &str, position: usize) -> &str {
    let line = text[..position].rfind('\n').map_or(0, |end| end + 1);
    leading_blanks(&text[line..position])
}

/// Returns the indent of an item that begins its line.
fn line_indent(text: &str, start: usize) -> Option<&str> {
    let indent = indent_at(text, start);
    let line = text[..start].rfind('\n').map_or(0, |end| end + 1);
    (line + indent.len() == start).then_some(indent)
}

/// Returns one level of indentation: that of the first indented line, or two blanks.
fn indent_step(text: &str) -> &str {
    text.lines().map(leading_blanks).find(|indent| !indent.is_empty()).unwrap_or("  ")
}

fn leading_blanks(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

fn line_break(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}
