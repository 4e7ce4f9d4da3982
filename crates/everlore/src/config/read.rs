//! Lays settings from a file or from the environment over others, one by one, so that a mistake is named by its place.

use std::fmt::{self, Display};

use serde::Deserialize;
use toml::de::DeTable;
use toml::{Table, Value};

use super::{Config, Secret};
use crate::error::{Error, Result};

/// What every variable of ours starts with.
const PREFIX: &str = "EVERLORE_";

/// Variables that the command line reads itself.
const NOT_SETTINGS: [&str; 6] = [
    "EVERLORE_HOME",
    "EVERLORE_AGENT",
    "EVERLORE_USER",
    "EVERLORE_CONFIG",
    "EVERLORE_HOOKS",
    "EVERLORE_TOKEN",
];

/// A setting that was given but does not exist. It is ignored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Where it was given.
    pub place: Place,
    /// Its name as understood, such as `memory.inject.limits`.
    pub key: String,
    /// The setting that was probably meant.
    pub nearest: Option<String>,
}

/// Where a setting was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The line of the file, counted from 1.
    Line(usize),
    /// The name of an environment variable.
    Variable(String),
}

impl Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: there is no setting `{}`, so it is ignored", self.place, self.key)?;
        match &self.nearest {
            Some(nearest) => write!(f, "; did you mean `{nearest}`?"),
            None => Ok(()),
        }
    }
}

impl Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Variable(name) => f.write_str(name),
        }
    }
}

/// Settings while others are laid over them.
///
/// Invariant: `settings` holds every setting there is, so a path it lacks is unknown.
pub(super) struct Reader {
    settings: Table,
    warnings: Vec<Warning>,
}

impl Reader {
    /// Starts from `base`.
    pub(super) fn new(base: &Config) -> Result<Self> {
        let settings = Table::try_from(base).map_err(|cause| {
            Error::invalid(format!("the settings cannot be read: {cause}"), "use smaller numbers")
        })?;
        let mut reader = Self { settings, warnings: Vec::new() };
        reader.restore("memory_agent.api_key", &base.memory_agent.api_key);
        reader.restore("embedding.api_key", &base.embedding.api_key);
        reader.restore("chat.api_key", &base.chat.api_key);
        Ok(reader)
    }

    /// Lays the text of a TOML file over the settings.
    pub(super) fn file(&mut self, text: &str) -> Result<()> {
        let places = DeTable::parse(text).map_err(|cause| not_toml(text, &cause))?;
        let values = text.parse::<Table>().map_err(|cause| not_toml(text, &cause))?;
        self.section(text, "", places.get_ref(), values)
    }

    /// Lays environment variables over the settings.
    pub(super) fn variables(
        &mut self,
        vars: impl IntoIterator<Item = (String, String)>,
    ) -> Result<()> {
        let ours = |name: &str| name.starts_with(PREFIX) && !NOT_SETTINGS.contains(&name);
        for (name, text) in vars.into_iter().filter(|(name, text)| ours(name) && !text.is_empty()) {
            self.variable(name, text)?;
        }
        Ok(())
    }

    /// Gives back the settings and what was reported on the way.
    pub(super) fn finish(self) -> Result<(Config, Vec<Warning>)> {
        let config = Config::deserialize(self.settings).map_err(|cause| {
            Error::invalid(cause.message(), "see config.example.toml for every setting")
        })?;
        Ok((config, self.warnings))
    }

    /// Writing settings out hides a key; here it must be kept.
    fn restore(&mut self, path: &str, secret: &Secret) {
        if let Some(key) = find(&mut self.settings, path) {
            *key = Value::String(secret.reveal().to_owned());
        }
    }

    fn section(
        &mut self,
        text: &str,
        above: &str,
        places: &DeTable<'_>,
        values: Table,
    ) -> Result<()> {
        for (key, value) in values {
            let Some((name, inner)) = places.get_key_value(key.as_str()) else { continue };
            let path = if above.is_empty() { key } else { format!("{above}.{key}") };
            match (find(&mut self.settings, &path), value, inner.get_ref().as_table()) {
                (Some(Value::Table(_)), Value::Table(values), Some(places)) => {
                    self.section(text, &path, places, values)?;
                }
                (_, value, _) => {
                    self.set(Place::Line(line_of(text, name.span().start)), path, value)?
                }
            }
        }
        Ok(())
    }

    fn variable(&mut self, name: String, text: String) -> Result<()> {
        let path = name[PREFIX.len()..].to_ascii_lowercase().replace("__", ".");
        let value = match find(&mut self.settings, &path) {
            Some(Value::Table(_)) => {
                self.unknown(Place::Variable(name), path);
                return Ok(());
            }
            Some(Value::Boolean(_)) => {
                text.parse().map(Value::Boolean).unwrap_or(Value::String(text))
            }
            Some(Value::Integer(_)) => {
                text.parse().map(Value::Integer).unwrap_or(Value::String(text))
            }
            // A list is given as a path would be: its parts between commas.
            Some(Value::Array(_)) => Value::Array(
                text.split(',').map(|part| Value::String(part.trim().to_owned())).collect(),
            ),
            Some(Value::Float(_)) => text.parse().map(Value::Float).unwrap_or(Value::String(text)),
            _ => Value::String(text),
        };
        self.set(Place::Variable(name), path, value)
    }

    /// Sets one setting and checks at once that the whole still fits the structs: a failure is this setting's.
    fn set(&mut self, place: Place, path: String, value: Value) -> Result<()> {
        let Some(slot) = find(&mut self.settings, &path) else {
            self.unknown(place, path);
            return Ok(());
        };
        let found = kind(&value);
        let before = std::mem::replace(slot, value);
        match Config::deserialize(self.settings.clone()) {
            Ok(_) => Ok(()),
            Err(cause) => {
                Err(does_not_fit(&place, &path, expected(&before), found, cause.message()))
            }
        }
    }

    fn unknown(&mut self, place: Place, key: String) {
        let nearest = nearest(&self.settings, &key);
        self.warnings.push(Warning { place, key, nearest });
    }
}

/// The value at a dotted path.
fn find<'a>(settings: &'a mut Table, path: &str) -> Option<&'a mut Value> {
    match path.split_once('.') {
        None => settings.get_mut(path),
        Some((section, rest)) => find(settings.get_mut(section)?.as_table_mut()?, rest),
    }
}

/// The existing path that was probably meant: the same name elsewhere, or a name a few letters away.
fn nearest(settings: &Table, path: &str) -> Option<String> {
    let name = last(path);
    let most = (name.chars().count() / 3).max(1);
    paths(settings, "")
        .into_iter()
        .filter(|known| known != path)
        .map(|known| {
            (strsim::osa_distance(name, last(&known)), strsim::osa_distance(path, &known), known)
        })
        .filter(|(distance, ..)| *distance <= most)
        .min()
        .map(|(.., known)| known)
}

fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

/// Every path there is, sections included.
fn paths(settings: &Table, above: &str) -> Vec<String> {
    let mut all = Vec::new();
    for (key, value) in settings {
        let path = format!("{above}{key}");
        if let Some(section) = value.as_table() {
            all.extend(paths(section, &format!("{path}.")));
        }
        all.push(path);
    }
    all
}

fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
}

/// Only the message is passed on: the parser's full text quotes the line, which may hold a key.
fn not_toml(text: &str, cause: &toml::de::Error) -> Error {
    let line = cause.span().map_or(1, |span| line_of(text, span.start));
    Error::invalid(
        format!("line {line}: not valid TOML: {}", cause.message()),
        "write `name = value` under a [section]; text goes in double quotes",
    )
}

/// Says what does not fit where. Where both sides are text, the parser knows better which texts are allowed.
fn does_not_fit(place: &Place, path: &str, expected: &str, found: &str, cause: &str) -> Error {
    let problem = if expected == found {
        cause.to_owned()
    } else {
        format!("expected {expected}, found {found}")
    };
    let hint = match place {
        Place::Line(_) => "change the value or delete the line to use the default",
        Place::Variable(_) => "change the variable or unset it",
    };
    Error::invalid(format!("{place}: `{path}`: {problem}"), hint)
}

fn expected(value: &Value) -> &'static str {
    match value {
        Value::Integer(_) => "a whole number, 0 or more",
        value => kind(value),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "text",
        Value::Integer(number) if *number < 0 => "a negative number",
        Value::Integer(_) => "a whole number",
        Value::Float(_) => "a number",
        Value::Boolean(_) => "true or false",
        Value::Datetime(_) => "a date",
        Value::Array(_) => "a list",
        Value::Table(_) => "a section",
    }
}
