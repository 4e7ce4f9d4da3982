//! Front matter: the YAML between two `---` lines at the start of a markdown text, read by a YAML parser and edited
//! line by line, so that unchanged parts keep their bytes: unknown keys, comments, quotes, line ends.

mod yaml;

use std::ops::Range;

use self::yaml::parse_mapping;
pub use self::yaml::yaml_scalar;
pub(crate) use self::yaml::{parse_string_map, yaml_list};
use crate::error::{Error, Result};

/// Most bytes of front matter; a longer one is a text that happens to begin with a thematic break.
const MAX_BYTES: usize = 64 * 1024;

/// Byte order mark that some editors put at the start of a file.
const BOM: char = '\u{feff}';

/// Value of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum YamlValue {
    /// No value: `key:` or `key: null`.
    Null,
    /// Text, number or date, as text.
    Text(String),
    /// List of texts.
    List(Vec<String>),
    /// Anything else: mappings, lists of lists, references.
    Other,
}

/// Front matter of a text, with the lines of each key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrontMatter<'a> {
    text: &'a str,
    /// Bytes between the two delimiter lines.
    yaml_range: Range<usize>,
    /// First byte after the closing delimiter line.
    body_start: usize,
    newline: &'static str,
    values: Vec<(String, YamlValue)>,
    /// Lines of each key; `None` if lines and parsed values disagree.
    key_lines: Option<Vec<KeyLines>>,
}

/// Lines of one key.
#[derive(Debug, Clone, PartialEq, Eq)]
struct KeyLines {
    key: String,
    bytes: Range<usize>,
}

impl<'a> FrontMatter<'a> {
    /// Parses the front matter; `None` if the text has none.
    pub fn parse(text: &'a str) -> Result<Option<Self>> {
        let start = text.len() - text.trim_start_matches(BOM).len();
        let Some((first, newline)) = delimiter_line(&text[start..], &["---"]) else {
            return Ok(None);
        };
        let inside = start + first;
        let Some((end, body)) = find_closing_delimiter(text, inside) else {
            return Err(Error::invalid(
                "the front matter is not closed",
                "end it with a line that says ---",
            ));
        };
        let lines = split_keys(text, inside..end);
        let values = match parse_mapping(&text[inside..end]) {
            Ok(values) => values,
            // People write `description: see: there`, which YAML refuses; line by line it is clear enough.
            Err(error) => parse_leniently(text, &lines).ok_or(error)?,
        };
        check_unique_keys(&values)?;
        let keys = values.iter().map(|(key, _)| key);
        let entries = lines.iter().map(|lines| &lines.key).eq(keys).then_some(lines);
        Ok(Some(Self {
            text,
            yaml_range: inside..end,
            body_start: body,
            newline,
            values,
            key_lines: entries,
        }))
    }

    /// Returns the value of a key; `None` if there is no such key.
    pub fn get(&self, key: &str) -> Option<&YamlValue> {
        self.values.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Iterates over the keys in their order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.values.iter().map(|(key, _)| key.as_str())
    }

    /// Returns the text after the closing delimiter line.
    pub fn body(&self) -> &'a str {
        &self.text[self.body_start..]
    }

    /// Returns the text up to the body, both delimiter lines included.
    pub fn head(&self) -> &'a str {
        &self.text[..self.body_start]
    }

    /// Returns the YAML between the two delimiter lines.
    pub(crate) fn yaml(&self) -> &'a str {
        &self.text[self.yaml_range.clone()]
    }

    /// Returns `true` if lines end with CRLF.
    pub fn is_crlf(&self) -> bool {
        self.newline == "\r\n"
    }

    /// Returns the head with other values, as YAML, for some keys; a key without a value is removed. Only the lines of
    /// those keys change, and new keys come last.
    pub fn with_values(&self, changes: &[(&str, Option<String>)]) -> Result<String> {
        let entries = self.key_lines.as_ref().ok_or_else(unsafe_edit_error)?;
        let mut head = self.text[..self.yaml_range.start].to_owned();
        let mut at = self.yaml_range.start;
        for KeyLines { key, bytes } in entries {
            let Some((_, value)) = changes.iter().find(|(changed, _)| changed == key) else {
                continue;
            };
            head.push_str(&self.text[at..bytes.start]);
            head.push_str(&self.rewrite_key(&self.text[bytes.clone()], key, value.as_deref()));
            at = bytes.end;
        }
        head.push_str(&self.text[at..self.yaml_range.end]);
        if !head.ends_with('\n') {
            head.push_str(self.newline);
        }
        for (key, value) in changes {
            if let Some(value) = value.as_ref().filter(|_| self.get(key).is_none()) {
                head.push_str(&format!("{key}: {value}{}", self.newline));
            }
        }
        head.push_str(&self.text[self.yaml_range.end..self.body_start]);
        self.check_edit(&head, changes)?;
        Ok(head)
    }

    /// Returns the lines of a key with another value; comments on and between them stay.
    fn rewrite_key(&self, lines: &str, key: &str, value: Option<&str>) -> String {
        let (first, rest) = lines.split_at(lines.find('\n').map_or(lines.len(), |end| end + 1));
        let written = first.split_once(':').map_or("", |(_, written)| written.trim());
        let is_block = written.starts_with(['|', '>']);
        let mut rewritten = String::new();
        if let Some(value) = value {
            let name = first.split_once(':').map_or(key, |(name, _)| name);
            let comment = trailing_comment(written).map(|comment| format!(" {comment}"));
            rewritten = format!("{name}: {value}{}{}", comment.unwrap_or_default(), self.newline);
        }
        if !is_block {
            rewritten.extend(
                rest.split_inclusive('\n').filter(|line| line.trim_start().starts_with('#')),
            );
        }
        rewritten
    }

    /// Refuses an edit whose result does not parse to the intended values.
    fn check_edit(&self, head: &str, changes: &[(&str, Option<String>)]) -> Result<()> {
        let again = FrontMatter::parse(head)?.ok_or_else(unsafe_edit_error)?;
        let untouched =
            |(key, _): &&(String, YamlValue)| changes.iter().all(|(name, _)| name != key);
        let same = self.values.iter().filter(untouched).eq(again.values.iter().filter(untouched));
        let written = |(key, value): &(&str, Option<String>)| match value {
            None => again.get(key).is_none(),
            Some(value) => {
                again.get(key)
                    == parse_mapping(&format!("k: {value}")).ok().as_ref().map(|v| &v[0].1)
            }
        };
        if same && changes.iter().all(written) { Ok(()) } else { Err(unsafe_edit_error()) }
    }
}

fn unsafe_edit_error() -> Error {
    Error::invalid(
        "the front matter cannot be edited safely",
        "write each key on a line of its own, such as name: tea",
    )
}

fn check_unique_keys(values: &[(String, YamlValue)]) -> Result<()> {
    let twice = values
        .iter()
        .enumerate()
        .find(|(at, (key, _))| values[..*at].iter().any(|(k, _)| k == key));
    twice.map_or(Ok(()), |(_, (key, _))| {
        Err(Error::invalid(format!("`{key}` is in the front matter twice"), "keep one of them"))
    })
}

/// Returns the length of a delimiter line, and its line end.
fn delimiter_line(text: &str, rules: &[&str]) -> Option<(usize, &'static str)> {
    let end = text.find('\n')?;
    let newline = if text[..end].ends_with('\r') { "\r\n" } else { "\n" };
    rules.contains(&text[..end].trim_end()).then_some((end + 1, newline))
}

/// Returns the start of the closing delimiter line and the start of the text after it.
fn find_closing_delimiter(text: &str, from: usize) -> Option<(usize, usize)> {
    let mut at = from;
    while at < text.len() && at - from <= MAX_BYTES {
        let line = text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
        if ["---", "..."].contains(&text[at..line].trim_end()) {
            return Some((at, line));
        }
        at = line;
    }
    None
}

/// Splits the lines by keys. A key starts at the beginning of a line; indented lines or a list below belong to it;
/// blank lines and comments after its last value do not.
fn split_keys(text: &str, inside: Range<usize>) -> Vec<KeyLines> {
    let mut entries: Vec<KeyLines> = Vec::new();
    let mut at = inside.start;
    for line in text[inside].split_inclusive('\n') {
        let bytes = at..at + line.len();
        at = bytes.end;
        let is_loose = line.trim().is_empty() || line.starts_with('#');
        let goes_on = line.starts_with([' ', '\t', ']', '}'])
            || line.starts_with("- ")
            || line.trim_end() == "-";
        match entries.last_mut() {
            _ if is_loose => {}
            Some(entry) if goes_on && !is_trailing_comment(text, entry, line) => {
                entry.bytes.end = bytes.end
            }
            _ if goes_on => {}
            _ => entries.push(KeyLines { key: parse_key(line), bytes }),
        }
    }
    entries
}

/// Returns `true` if an indented line is a comment and not part of a multi-line text.
fn is_trailing_comment(text: &str, entry: &KeyLines, line: &str) -> bool {
    let first = text[entry.bytes.clone()].lines().next().unwrap_or_default();
    let value = first.split_once(':').map_or("", |(_, value)| value.trim_start());
    line.trim_start().starts_with('#') && !value.starts_with(['|', '>'])
}

fn parse_key(line: &str) -> String {
    let end = line.find(": ").or_else(|| line.trim_end().strip_suffix(':').map(str::len));
    let key = line[..end.unwrap_or(0)].trim_end();
    let quoted = |quote| key.strip_prefix(quote).and_then(|key| key.strip_suffix(quote));
    quoted('"').or_else(|| quoted('\'')).unwrap_or(key).to_owned()
}

/// Returns the comment at the end of a value, with its number sign.
fn trailing_comment(value: &str) -> Option<&str> {
    let after = match value.chars().next()? {
        '"' => closing_quote(value, '"')?,
        '\'' => closing_quote(value, '\'')?,
        '[' => value.rfind(']').map_or(value.len(), |end| end + 1),
        '#' => return Some(value),
        _ => value.find(" #")?,
    };
    let rest = value[after..].trim_start();
    rest.starts_with('#').then_some(rest)
}

fn closing_quote(value: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in value.char_indices().skip(1) {
        if c == quote && !escaped {
            return Some(at + 1);
        }
        escaped = c == '\\' && !escaped && quote == '"';
    }
    None
}

/// Returns keys and values of lines that are each complete; `None` if any is not.
fn parse_leniently(text: &str, lines: &[KeyLines]) -> Option<Vec<(String, YamlValue)>> {
    let read = |lines: &KeyLines| {
        let line = text[lines.bytes.clone()].trim_end();
        let (name, value) = line.split_once(':')?;
        let is_plain =
            !line.contains('\n') && !name.contains(['"', '\'', '{', '[']) && !lines.key.is_empty();
        let one = parse_mapping(&format!("k: {}", value.trim())).ok();
        let value = match one.as_deref() {
            Some([(_, value)]) => value.clone(),
            _ => YamlValue::Text(value.trim().to_owned()),
        };
        is_plain.then_some((lines.key.clone(), value))
    };
    (!lines.is_empty()).then(|| lines.iter().map(read).collect())?
}

#[cfg(test)]
mod tests;
