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

/// A setting that was given but does not exist, or not there. It is ignored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Where it was given.
    pub place: Place,
    /// Its name as understood, such as `memory.inject.limits`.
    pub key: String,
    /// The setting that was probably meant.
    pub nearest: Option<String>,
    /// Whether it exists, but holds for all agents and cannot be set for one.
    pub holds_for_all: bool,
}

impl Warning {
    /// What is wrong with it, without its place and name.
    pub fn message(&self) -> String {
        match (&self.nearest, self.holds_for_all) {
            (_, true) => "holds for all agents; set it in config.toml".to_owned(),
            (Some(nearest), _) => format!("does not exist; did you mean `{nearest}`?"),
            (None, _) => "does not exist".to_owned(),
        }
    }
}

/// A value that does not fit its setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Where it was given, if one place is to blame.
    pub place: Option<Place>,
    /// The setting.
    pub key: String,
    /// What is wrong with it.
    pub message: String,
}

impl Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(f, "{place}: `{}`: {}", self.key, self.message),
            None => write!(f, "the setting `{}` {}", self.key, self.message),
        }
    }
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
        if self.holds_for_all {
            let (place, key) = (&self.place, &self.key);
            return write!(f, "{place}: `{key}` {}, so it is ignored here", self.message());
        }
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
    /// Which settings may be laid over the others.
    may: fn(&str) -> bool,
    /// Those that are left as they are.
    left: Vec<String>,
    pub(super) warnings: Vec<Warning>,
    pub(super) faults: Vec<Fault>,
    /// The settings that were laid over the others.
    pub(super) laid: Vec<String>,
}

impl Reader {
    /// Starts from `base`.
    pub(super) fn new(base: &Config) -> Result<Self> {
        let settings = Table::try_from(base).map_err(|cause| {
            Error::invalid(format!("the settings cannot be read: {cause}"), "use smaller numbers")
        })?;
        let (warnings, faults, laid) = (Vec::new(), Vec::new(), Vec::new());
        let mut reader = Self { settings, may: |_| true, left: Vec::new(), warnings, faults, laid };
        reader.restore("memory_agent.api_key", &base.memory_agent.api_key);
        reader.restore("embedding.api_key", &base.embedding.api_key);
        reader.restore("chat.api_key", &base.chat.api_key);
        Ok(reader)
    }

    /// The same, with only some settings laid over the others.
    pub(super) fn only(self, may: fn(&str) -> bool) -> Self {
        Self { may, ..self }
    }

    /// The same, with these left as they are.
    pub(super) fn leaving(self, left: Vec<String>) -> Self {
        Self { left, ..self }
    }

    /// Lays the text of a TOML file over the settings.
    pub(super) fn file(&mut self, text: &str) -> Result<()> {
        let places = DeTable::parse(text).map_err(|cause| not_toml(text, &cause))?;
        let values = text.parse::<Table>().map_err(|cause| not_toml(text, &cause))?;
        self.section(text, "", places.get_ref(), values);
        Ok(())
    }

    /// Lays environment variables over the settings.
    pub(super) fn variables(&mut self, vars: impl IntoIterator<Item = (String, String)>) {
        let ours = |name: &str| name.starts_with(PREFIX) && !NOT_SETTINGS.contains(&name);
        for (name, text) in vars.into_iter().filter(|(name, text)| ours(name) && !text.is_empty()) {
            self.variable(name, text);
        }
    }

    /// Gives back the settings and what was reported on the way; an error if a value does not fit.
    pub(super) fn finish(self) -> Result<(Config, Vec<Warning>)> {
        match self.faults.first() {
            None => Ok((self.config()?, self.warnings)),
            Some(fault) => Err(Error::invalid(fault.to_string(), hint(fault))),
        }
    }

    /// The settings, with those that did not fit left out.
    pub(super) fn config(&self) -> Result<Config> {
        Config::deserialize(self.settings.clone()).map_err(|cause| {
            Error::invalid(cause.message(), "see config.example.toml for every setting")
        })
    }

    /// Writing settings out hides a key; here it must be kept.
    fn restore(&mut self, path: &str, secret: &Secret) {
        if let Some(key) = find(&mut self.settings, path) {
            *key = Value::String(secret.reveal().to_owned());
        }
    }

    fn section(&mut self, text: &str, above: &str, places: &DeTable<'_>, values: Table) {
        for (key, value) in values {
            let Some((name, inner)) = places.get_key_value(key.as_str()) else { continue };
            let path = if above.is_empty() { key } else { format!("{above}.{key}") };
            match (find(&mut self.settings, &path), value, inner.get_ref().as_table()) {
                (Some(Value::Table(_)), Value::Table(values), Some(places)) => {
                    self.section(text, &path, places, values);
                }
                (_, value, _) => {
                    self.set(Place::Line(line_of(text, name.span().start)), path, value);
                }
            }
        }
    }

    fn variable(&mut self, name: String, text: String) {
        let path = name[PREFIX.len()..].to_ascii_lowercase().replace("__", ".");
        let value = match find(&mut self.settings, &path) {
            Some(Value::Table(_)) => {
                return self.unknown(Place::Variable(name), path);
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
        self.set(Place::Variable(name), path, value);
    }

    /// Sets one setting and checks at once that the whole still fits the structs: a failure is this setting's, which then
    /// keeps its value.
    fn set(&mut self, place: Place, path: String, value: Value) {
        let Some(slot) = find(&mut self.settings, &path) else {
            return self.unknown(place, path);
        };
        if !(self.may)(&path) {
            let warning = Warning { place, key: path, nearest: None, holds_for_all: true };
            return self.warnings.push(warning);
        }
        if self.left.contains(&path) {
            return;
        }
        let found = kind(&value);
        let before = std::mem::replace(slot, value);
        let Err(cause) = Config::deserialize(self.settings.clone()) else {
            return self.laid.push(path);
        };
        let message = does_not_fit(expected(&before), found, cause.message());
        if let Some(slot) = find(&mut self.settings, &path) {
            *slot = before;
        }
        self.faults.push(Fault { place: Some(place), key: path, message });
    }

    fn unknown(&mut self, place: Place, key: String) {
        let nearest = nearest(&self.settings, &key).filter(|nearest| (self.may)(nearest));
        self.warnings.push(Warning { place, key, nearest, holds_for_all: false });
    }
}

/// The value at a dotted path.
pub(super) fn find<'a>(settings: &'a mut Table, path: &str) -> Option<&'a mut Value> {
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

/// Says what does not fit. Where both sides are text, the parser knows better which texts are allowed.
fn does_not_fit(expected: &str, found: &str, cause: &str) -> String {
    match expected == found {
        true => cause.to_owned(),
        false => format!("expected {expected}, found {found}"),
    }
}

fn hint(fault: &Fault) -> &'static str {
    match fault.place {
        Some(Place::Variable(_)) => "change the variable or unset it",
        _ => "change the value or delete the line to use the default",
    }
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
