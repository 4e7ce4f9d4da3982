//! Overlay of settings from a file or the environment, one by one, so that an error names its location.

use std::fmt::{self, Display};

use serde::Deserialize;
use toml::de::DeTable;
use toml::{Table, Value};

use super::{AgentStoreUrl, Config};
use crate::error::{Error, Result};

/// Prefix of all our variables.
const ENV_PREFIX: &str = "EVERLORE_";

/// Variables that the command line and the packages for Python and Node.js read themselves.
const CLI_VARIABLES: [&str; 10] = [
    "EVERLORE_HOME",
    "EVERLORE_AGENT",
    "EVERLORE_USER",
    "EVERLORE_CONFIG",
    "EVERLORE_STORE",
    "EVERLORE_HOOKS",
    "EVERLORE_TOKEN",
    "EVERLORE_URL",
    "EVERLORE_KEY",
    "EVERLORE_BINARY",
];

/// Setting that does not exist, or cannot be set there. It is ignored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigWarning {
    /// Location of the setting.
    pub location: ConfigLocation,
    /// Name as understood, such as `memory.inject.limits`.
    pub key: String,
    /// Existing setting that was probably meant.
    pub nearest: Option<String>,
    /// Set if the setting exists but is shared by all agents.
    pub is_shared: bool,
}

impl ConfigWarning {
    /// Returns the problem without its location and name.
    pub fn message(&self) -> String {
        match (&self.nearest, self.is_shared) {
            (_, true) => "is shared by all agents; set it in config.toml".to_owned(),
            (Some(nearest), _) => format!("does not exist; did you mean `{nearest}`?"),
            (None, _) => "does not exist".to_owned(),
        }
    }
}

/// Value that does not fit its setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// Location of the value, if there is one.
    pub location: Option<ConfigLocation>,
    /// Setting.
    pub key: String,
    /// Problem.
    pub message: String,
}

impl Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.location {
            Some(location) => write!(f, "{location}: `{}`: {}", self.key, self.message),
            None => write!(f, "the setting `{}` {}", self.key, self.message),
        }
    }
}

/// Location of a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigLocation {
    /// Line of the file, from 1.
    Line(usize),
    /// Environment variable.
    Variable(String),
}

impl Display for ConfigWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_shared {
            let (location, key) = (&self.location, &self.key);
            return write!(f, "{location}: `{key}` {}, so it is ignored here", self.message());
        }
        write!(f, "{}: there is no setting `{}`, so it is ignored", self.location, self.key)?;
        match &self.nearest {
            Some(nearest) => write!(f, "; did you mean `{nearest}`?"),
            None => Ok(()),
        }
    }
}

impl Display for ConfigLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Variable(name) => f.write_str(name),
        }
    }
}

/// Settings while others are overlaid.
///
/// Invariant: `settings` holds every setting there is, so a path it lacks is unknown.
pub(super) struct ConfigOverlay {
    settings: Table,
    /// Filter of the settings that may be overlaid.
    is_allowed: fn(&str) -> bool,
    /// Settings that keep their value.
    skipped: Vec<String>,
    pub(super) warnings: Vec<ConfigWarning>,
    pub(super) errors: Vec<ConfigError>,
    /// Settings that were overlaid.
    pub(super) overridden: Vec<String>,
}

impl ConfigOverlay {
    /// Starts from `base`.
    pub(super) fn new(base: &Config) -> Result<Self> {
        let settings = Table::try_from(base).map_err(|cause| {
            Error::invalid(format!("the settings cannot be read: {cause}"), "use smaller numbers")
        })?;
        let (warnings, errors, overridden) = (Vec::new(), Vec::new(), Vec::new());
        let mut overlay = Self {
            settings,
            is_allowed: |_| true,
            skipped: Vec::new(),
            warnings,
            errors,
            overridden,
        };
        overlay.restore_secret("memory_agent.api_key", base.memory_agent.api_key.reveal());
        overlay.restore_secret("embedding.api_key", base.embedding.api_key.reveal());
        overlay.restore_secret("chat.api_key", base.chat.api_key.reveal());
        overlay.restore_secret("store.url", base.store.url.reveal());
        let agents: Vec<_> = base.store.agents.iter().map(AgentStoreUrl::reveal).collect();
        overlay.restore_secret("store.agents", agents);
        Ok(overlay)
    }

    /// Restricts the overlay to some settings.
    pub(super) fn allowing_only(self, is_allowed: fn(&str) -> bool) -> Self {
        Self { is_allowed, ..self }
    }

    /// Keeps the values of these settings.
    pub(super) fn skipping(self, skipped: Vec<String>) -> Self {
        Self { skipped, ..self }
    }

    /// Overlays the text of a TOML file.
    pub(super) fn apply_file(&mut self, text: &str) -> Result<()> {
        let spans = DeTable::parse(text).map_err(|cause| syntax_error(text, &cause))?;
        let values = text.parse::<Table>().map_err(|cause| syntax_error(text, &cause))?;
        self.apply_section(text, "", spans.get_ref(), values);
        Ok(())
    }

    /// Overlays environment variables.
    pub(super) fn apply_env(&mut self, vars: impl IntoIterator<Item = (String, String)>) {
        let ours = |name: &str| name.starts_with(ENV_PREFIX) && !CLI_VARIABLES.contains(&name);
        for (name, text) in vars.into_iter().filter(|(name, text)| ours(name) && !text.is_empty()) {
            self.apply_variable(name, text);
        }
    }

    /// Returns the settings and the warnings; an error if a value does not fit.
    pub(super) fn finish(self) -> Result<(Config, Vec<ConfigWarning>)> {
        match self.errors.first() {
            None => Ok((self.to_config()?, self.warnings)),
            Some(error) => Err(Error::invalid(error.to_string(), error_hint(error))),
        }
    }

    /// Returns the settings without the values that did not fit.
    pub(super) fn to_config(&self) -> Result<Config> {
        Config::deserialize(self.settings.clone()).map_err(|cause| {
            Error::invalid(cause.message(), "see config.example.toml for every setting")
        })
    }

    /// Puts a value back that serialization has hidden.
    fn restore_secret(&mut self, path: &str, secret: impl Into<Value>) {
        if let Some(key) = value_at(&mut self.settings, path) {
            *key = secret.into();
        }
    }

    fn apply_section(&mut self, text: &str, above: &str, spans: &DeTable<'_>, values: Table) {
        for (key, value) in values {
            let Some((name, inner)) = spans.get_key_value(key.as_str()) else { continue };
            let path = if above.is_empty() { key } else { format!("{above}.{key}") };
            match (value_at(&mut self.settings, &path), value, inner.get_ref().as_table()) {
                (Some(Value::Table(_)), Value::Table(values), Some(spans)) => {
                    self.apply_section(text, &path, spans, values);
                }
                (_, value, _) => {
                    self.set(
                        ConfigLocation::Line(line_number(text, name.span().start)),
                        path,
                        value,
                    );
                }
            }
        }
    }

    fn apply_variable(&mut self, name: String, text: String) {
        let path = name[ENV_PREFIX.len()..].to_ascii_lowercase().replace("__", ".");
        let value = match value_at(&mut self.settings, &path) {
            Some(Value::Table(_)) => {
                return self.warn_unknown(ConfigLocation::Variable(name), path);
            }
            Some(Value::Boolean(_)) => {
                text.parse().map(Value::Boolean).unwrap_or(Value::String(text))
            }
            Some(Value::Integer(_)) => {
                text.parse().map(Value::Integer).unwrap_or(Value::String(text))
            }
            // A list is given like a path variable: its parts between commas.
            Some(Value::Array(_)) => Value::Array(
                text.split(',').map(|part| Value::String(part.trim().to_owned())).collect(),
            ),
            Some(Value::Float(_)) => text.parse().map(Value::Float).unwrap_or(Value::String(text)),
            _ => Value::String(text),
        };
        self.set(ConfigLocation::Variable(name), path, value);
    }

    /// Sets one setting and checks at once that the whole still fits the structs: a failure is this setting's, which
    /// then keeps its value.
    fn set(&mut self, location: ConfigLocation, path: String, value: Value) {
        let Some(slot) = value_at(&mut self.settings, &path) else {
            return self.warn_unknown(location, path);
        };
        if !(self.is_allowed)(&path) {
            let warning = ConfigWarning { location, key: path, nearest: None, is_shared: true };
            return self.warnings.push(warning);
        }
        if self.skipped.contains(&path) {
            return;
        }
        let found = type_name(&value);
        let before = std::mem::replace(slot, value);
        let Err(cause) = Config::deserialize(self.settings.clone()) else {
            return self.overridden.push(path);
        };
        let message = type_mismatch(expected_type(&before), found, cause.message());
        if let Some(slot) = value_at(&mut self.settings, &path) {
            *slot = before;
        }
        self.errors.push(ConfigError { location: Some(location), key: path, message });
    }

    fn warn_unknown(&mut self, location: ConfigLocation, key: String) {
        let nearest =
            nearest_path(&self.settings, &key).filter(|nearest| (self.is_allowed)(nearest));
        self.warnings.push(ConfigWarning { location, key, nearest, is_shared: false });
    }
}

/// Returns the value at a dotted path.
pub(super) fn value_at<'a>(settings: &'a mut Table, path: &str) -> Option<&'a mut Value> {
    match path.split_once('.') {
        None => settings.get_mut(path),
        Some((section, rest)) => value_at(settings.get_mut(section)?.as_table_mut()?, rest),
    }
}

/// Returns the existing path that was probably meant: the same name elsewhere, or a name a few letters away.
fn nearest_path(settings: &Table, path: &str) -> Option<String> {
    let name = last_segment(path);
    let most = (name.chars().count() / 3).max(1);
    all_paths(settings, "")
        .into_iter()
        .filter(|known| known != path)
        .map(|known| {
            (
                strsim::osa_distance(name, last_segment(&known)),
                strsim::osa_distance(path, &known),
                known,
            )
        })
        .filter(|(distance, ..)| *distance <= most)
        .min()
        .map(|(.., known)| known)
}

fn last_segment(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

/// Returns every path there is, sections included.
fn all_paths(settings: &Table, above: &str) -> Vec<String> {
    let mut all = Vec::new();
    for (key, value) in settings {
        let path = format!("{above}{key}");
        if let Some(section) = value.as_table() {
            all.extend(all_paths(section, &format!("{path}.")));
        }
        all.push(path);
    }
    all
}

fn line_number(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
}

/// Passes on only the message: the parser's full text quotes the line, which may contain a key.
fn syntax_error(text: &str, cause: &toml::de::Error) -> Error {
    let line = cause.span().map_or(1, |span| line_number(text, span.start));
    Error::invalid(
        format!("line {line}: not valid TOML: {}", cause.message()),
        "write `name = value` under a [section]; text goes in double quotes",
    )
}

/// Describes a type error. Where both sides are text, the parser's message lists the allowed ones; where both are whole
/// numbers, it names the type that the value does not fit.
fn type_mismatch(expected: &str, found: &str, cause: &str) -> String {
    const LARGEST: [(&str, u64); 3] = [("u8", 255), ("u16", 65_535), ("u32", 4_294_967_295)];
    let is_too_large = expected == COUNT && found == "a whole number";
    let limit = LARGEST.iter().find(|(name, _)| is_too_large && cause.ends_with(name));
    match limit {
        Some((_, most)) => format!("expected a whole number from 0 to {most}, found a larger one"),
        None if expected == found => cause.to_owned(),
        None => format!("expected {expected}, found {found}"),
    }
}

fn error_hint(error: &ConfigError) -> &'static str {
    match error.location {
        Some(ConfigLocation::Variable(_)) => "change the variable or unset it",
        _ => "change the value or delete the line to use the default",
    }
}

/// Whole number as the settings have it.
const COUNT: &str = "a whole number, 0 or more";

fn expected_type(value: &Value) -> &'static str {
    match value {
        Value::Integer(_) => COUNT,
        value => type_name(value),
    }
}

fn type_name(value: &Value) -> &'static str {
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
