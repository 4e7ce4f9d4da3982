//! Subset of YAML for front matter: keys with texts and lists, read by a parser and written on one line.

use saphyr_parser::{Event, Parser};

use super::YamlValue;
use crate::error::{Error, Result};

/// Returns a text as a YAML value on one line: plain if that is safe, else in double quotes.
pub fn yaml_scalar(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            c if needs_escape(c) => quoted.push_str(&format!("\\U{:08x}", c as u32)),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

/// Returns texts as a YAML list on one line.
pub(crate) fn yaml_list(texts: &[String]) -> String {
    let quoted = |text: &String| {
        if text.contains([',', '[', ']', '{', '}']) && is_plain(text) {
            format!("\"{text}\"")
        } else {
            yaml_scalar(text)
        }
    };
    format!("[{}]", texts.iter().map(quoted).collect::<Vec<_>>().join(", "))
}

/// Returns `true` if every version of YAML reads the text back unchanged without quotes.
fn is_plain(text: &str) -> bool {
    const WORDS: [&str; 11] =
        ["true", "false", "yes", "no", "on", "off", "null", "y", "n", "nan", "inf"];
    let first = text.chars().next().unwrap_or(' ');
    first.is_alphabetic()
        && !text.ends_with([':', ' '])
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.chars().any(|c| needs_escape(c) || matches!(c, '\n' | '\t' | '"' | '\\'))
        && !WORDS.contains(&text.to_lowercase().as_str())
}

/// Returns `true` for a character that YAML does not allow unescaped, or that an editor would not show.
fn needs_escape(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// Parses the keys and values of a YAML mapping.
pub(super) fn parse_mapping(yaml: &str) -> Result<Vec<(String, YamlValue)>> {
    let mut nodes = MappingReader { values: Vec::new(), key: None, depth: 0, list: None };
    for event in Parser::new_from_str(yaml) {
        let (event, _) = event.map_err(|error| {
            // The first line of the file is the delimiter line, which the parser does not see.
            not_yaml(&format!("line {}: {}", error.marker().line() + 1, error.info()))
        })?;
        nodes.on_event(event)?;
    }
    Ok(nodes.values)
}

/// Parses the value of a key as a mapping of words to scalars: `None` if there is no such key. Fails if the YAML cannot be
/// read, or if the value is anything else.
pub(crate) fn parse_string_map(yaml: &str, key: &str) -> Result<Option<Vec<(String, String)>>> {
    let mut reader = StringMapReader { key, depth: 0, is_key: true, state: MapState::Before };
    for event in Parser::new_from_str(yaml) {
        let (event, _) = event.map_err(|error| {
            not_yaml(&format!("line {}: {}", error.marker().line() + 1, error.info()))
        })?;
        reader.on_event(event)?;
    }
    Ok(match reader.state {
        MapState::Inside { pairs, .. } | MapState::After(pairs) => Some(pairs),
        MapState::Before | MapState::Found => None,
    })
}

/// Mapping under one key while it is read.
struct StringMapReader<'a> {
    key: &'a str,
    depth: usize,
    /// Set if the next scalar of the outer mapping is a key.
    is_key: bool,
    state: MapState,
}

enum MapState {
    Before,
    /// The key was read, its value comes next.
    Found,
    Inside {
        pairs: Vec<(String, String)>,
        name: Option<String>,
    },
    After(Vec<(String, String)>),
}

impl StringMapReader<'_> {
    fn on_event(&mut self, event: Event<'_>) -> Result<()> {
        match event {
            Event::Scalar(text, ..) => self.on_scalar(&text),
            Event::Alias(_) => self.on_scalar(""),
            Event::MappingStart(..) => self.open(true),
            Event::SequenceStart(..) => self.open(false),
            Event::MappingEnd | Event::SequenceEnd => {
                self.close();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn on_scalar(&mut self, text: &str) -> Result<()> {
        if self.depth == 1 && matches!(self.state, MapState::Found) {
            return Err(self.not_a_map());
        }
        match (&mut self.state, self.depth) {
            (MapState::Inside { pairs, name }, 2) => match name.take() {
                Some(name) => pairs.push((name, text.to_owned())),
                None => *name = Some(text.to_owned()),
            },
            (state, 1) => {
                if self.is_key && text == self.key {
                    *state = MapState::Found;
                }
                self.is_key = !self.is_key;
            }
            _ => {}
        }
        Ok(())
    }

    fn open(&mut self, is_mapping: bool) -> Result<()> {
        self.depth += 1;
        let is_value = self.depth == 2 && matches!(self.state, MapState::Found);
        let is_deeper = self.depth > 2 && matches!(self.state, MapState::Inside { .. });
        if is_deeper || is_value && !is_mapping {
            return Err(self.not_a_map());
        }
        if is_value {
            self.state = MapState::Inside { pairs: Vec::new(), name: None };
        }
        Ok(())
    }

    fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        if self.depth == 1 {
            self.is_key = true;
            if let MapState::Inside { pairs, .. } = &mut self.state {
                self.state = MapState::After(std::mem::take(pairs));
            }
        }
    }

    fn not_a_map(&self) -> Error {
        Error::invalid(
            format!("`{}` is not a map of words to texts", self.key),
            "write each pair on an indented line of its own, such as `author: me`",
        )
    }
}

fn not_yaml(why: &str) -> Error {
    Error::invalid(
        format!("the front matter cannot be read: {why}"),
        "write each key on a line of its own, and texts with a colon in quotes",
    )
}

/// Mapping while it is read.
struct MappingReader {
    values: Vec<(String, YamlValue)>,
    key: Option<String>,
    /// Number of open collections; the mapping itself is one.
    depth: usize,
    /// Items of the open list; `Other` if it holds more than texts.
    list: Option<YamlValue>,
}

impl MappingReader {
    fn on_event(&mut self, event: Event<'_>) -> Result<()> {
        match event {
            Event::Scalar(text, style, _, tag) => {
                let is_text = style != saphyr_parser::ScalarStyle::Plain;
                let nothing = !is_text
                    && tag.is_none()
                    && ["", "~", "null", "Null", "NULL"].contains(&&*text);
                let value =
                    if nothing { YamlValue::Null } else { YamlValue::Text(text.into_owned()) };
                self.push_value(value)?;
            }
            Event::Alias(_) => self.push_value(YamlValue::Other)?,
            Event::MappingStart(..) if self.depth == 0 => self.depth = 1,
            Event::SequenceStart(..) if self.depth == 1 && self.key.is_some() => {
                self.list = Some(YamlValue::List(Vec::new()));
                self.depth = 2;
            }
            Event::MappingStart(..) | Event::SequenceStart(..) if self.depth == 0 => {
                return Err(not_yaml("it is a list and not keys with values"));
            }
            Event::MappingStart(..) | Event::SequenceStart(..) => {
                if self.depth == 1 && self.key.is_none() {
                    return Err(not_yaml("a key is not a word"));
                }
                self.list = Some(YamlValue::Other);
                self.depth += 1;
            }
            Event::MappingEnd | Event::SequenceEnd => self.close_collection()?,
            _ => {}
        }
        Ok(())
    }

    fn push_value(&mut self, value: YamlValue) -> Result<()> {
        match (self.depth, self.key.take(), value) {
            (0, _, YamlValue::Null) => {}
            (0, ..) => return Err(not_yaml("it is a text and not keys with values")),
            (1, None, YamlValue::Text(key)) => self.key = Some(key),
            (1, None, _) => return Err(not_yaml("a key is not a word")),
            (1, Some(key), value) => self.values.push((key, value)),
            (_, key, value) => {
                self.key = key;
                match (self.list.as_mut(), value) {
                    (Some(YamlValue::List(items)), YamlValue::Text(item)) => items.push(item),
                    (list, _) => drop(list.map(|list| *list = YamlValue::Other)),
                }
            }
        }
        Ok(())
    }

    fn close_collection(&mut self) -> Result<()> {
        self.depth = self.depth.saturating_sub(1);
        if self.depth == 1
            && let Some(key) = self.key.take()
        {
            self.values.push((key, self.list.take().unwrap_or(YamlValue::Other)));
        }
        Ok(())
    }
}
