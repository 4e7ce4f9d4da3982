//! Changes of an agent's overrides that keep the comments and the order of the file.

use serde_json::{Map, Value};
use toml_edit::{DocumentMut, InlineTable, Item, Table, TableLike};

use super::{Config, overlay::value_at};
use crate::error::{Error, Result};

/// First line of a new file.
const FILE_HEADER: &str =
    "# Settings of this agent alone; all others come from config.toml in the home.\n";

/// Change of an agent's overrides, by sections as in the file.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentConfigPatch {
    /// Replaces all overrides.
    Replace(Map<String, Value>),
    /// Merges with the present ones; null removes a setting or a section (RFC 7396).
    Merge(Map<String, Value>),
}

impl AgentConfigPatch {
    /// Creates a merge of settings by their dotted names, such as `memory.inject.limit`; `None` removes one.
    pub fn from_paths(paths: impl IntoIterator<Item = (String, Option<Value>)>) -> Self {
        let mut merged = Map::new();
        for (path, value) in paths {
            insert_at_path(&mut merged, &path, value.unwrap_or(Value::Null));
        }
        Self::Merge(merged)
    }
}

fn insert_at_path(into: &mut Map<String, Value>, path: &str, value: Value) {
    let Some((section, rest)) = path.split_once('.') else {
        into.insert(path.to_owned(), value);
        return;
    };
    let inner = into.entry(section).or_insert_with(|| Value::Object(Map::new()));
    if !inner.is_object() {
        *inner = Value::Object(Map::new());
    }
    if let Value::Object(inner) = inner {
        insert_at_path(inner, rest, value);
    }
}

/// Edit of one setting, or removal of a section.
struct SettingEdit {
    path: Vec<String>,
    /// New value; `None` removes the setting.
    value: Option<toml_edit::Value>,
}

impl SettingEdit {
    fn key(&self) -> String {
        self.path.join(".")
    }
}

impl Config {
    /// Returns the text of an agent's overrides after a change, valid as it is.
    pub(crate) fn patch_agent_config(
        &self,
        text: &str,
        change: &AgentConfigPatch,
    ) -> Result<String> {
        let (before, values) = match change {
            AgentConfigPatch::Replace(values) => ("", values),
            AgentConfigPatch::Merge(values) => (text, values),
        };
        // An unreadable file is reported with its line.
        self.for_agent(before)?;
        let mut document: DocumentMut = before.parse().map_err(unreadable)?;
        if before.trim().is_empty() {
            document.set_trailing(FILE_HEADER);
        }
        let mut known = toml::Table::try_from(self).map_err(unreadable)?;
        let mut edits = Vec::new();
        collect_edits(&mut known, values, &mut Vec::new(), &mut edits);
        let mut problems = Vec::new();
        for edit in &edits {
            problems.extend(edit.apply(&mut document, &mut known, change));
        }
        let text = render_document(document);
        problems.extend(self.find_problems(&text, &edits)?);
        if problems.is_empty() { Ok(text) } else { Err(Error::InvalidConfig { problems }) }
    }

    /// Returns the problems of a text, and the edits that name no setting.
    fn find_problems(&self, text: &str, edits: &[SettingEdit]) -> Result<Vec<(String, String)>> {
        let patched = self.for_agent(text)?;
        let errors = patched.errors.into_iter().map(|error| (error.key, error.message));
        let is_meant = |key: &String| edits.iter().any(|edit| edit.key() == *key);
        let ignored = patched.warnings.iter().filter(|warning| is_meant(&warning.key));
        let ignored = ignored.map(|warning| (warning.key.clone(), warning.message()));
        Ok(errors.chain(ignored).collect())
    }
}

/// Moves the comment of a file without settings from its end to the top.
fn render_document(mut document: DocumentMut) -> String {
    let head = document.trailing().as_str() == Some(FILE_HEADER);
    if !head {
        return document.to_string();
    }
    document.set_trailing("");
    format!("{FILE_HEADER}{document}")
}

/// Collects the settings that a change names, one by one.
fn collect_edits(
    known: &mut toml::Table,
    values: &Map<String, Value>,
    above: &mut Vec<String>,
    edits: &mut Vec<SettingEdit>,
) {
    for (key, value) in values {
        above.push(key.clone());
        let is_section = matches!(value_at(known, &above.join(".")), Some(toml::Value::Table(_)));
        match value {
            Value::Object(inner) if is_section && !key.contains('.') => {
                collect_edits(known, inner, above, edits)
            }
            Value::Null => edits.push(SettingEdit { path: above.clone(), value: None }),
            value => {
                edits.push(SettingEdit { path: above.clone(), value: Some(to_toml_value(value)) })
            }
        }
        above.pop();
    }
}

/// Converts a value; lists and sections become empty: no setting of an agent is one, so they are refused by their type.
fn to_toml_value(value: &Value) -> toml_edit::Value {
    match value {
        Value::Bool(is) => (*is).into(),
        Value::Number(number) => to_toml_number(number),
        Value::String(text) => text.into(),
        Value::Array(_) | Value::Null => toml_edit::Array::new().into(),
        Value::Object(_) => InlineTable::new().into(),
    }
}

/// Converts a number; a program may write a whole number as 5.0.
fn to_toml_number(number: &serde_json::Number) -> toml_edit::Value {
    let float = number.as_f64().unwrap_or(f64::NAN);
    let is_whole = float.fract() == 0.0 && float.abs() < 1e15;
    match number.as_i64() {
        Some(whole) => whole.into(),
        None if is_whole => (float as i64).into(),
        None => float.into(),
    }
}

impl SettingEdit {
    /// Applies the change, or returns its problem.
    fn apply(
        &self,
        document: &mut DocumentMut,
        known: &mut toml::Table,
        change: &AgentConfigPatch,
    ) -> Option<(String, String)> {
        let (name, sections) = self.path.split_last()?;
        let refused = |why: &str| Some((self.key(), why.to_owned()));
        if self.path.iter().any(|part| part.contains('.')) {
            return refused("does not exist; write each section as an object of its own");
        }
        match &self.value {
            Some(value) => set_value(document, sections, name, value.clone()),
            None if matches!(change, AgentConfigPatch::Replace(_)) => {
                return refused("is null; leave it out to use that of the home");
            }
            None => {
                let was_there = remove_value(document.as_table_mut(), sections, name);
                if !was_there && value_at(known, &self.key()).is_none() {
                    return refused("does not exist");
                }
            }
        }
        None
    }
}

/// Sets a value; missing sections are created, and the comment behind a value stays.
fn set_value(document: &mut DocumentMut, sections: &[String], name: &str, value: toml_edit::Value) {
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for section in sections {
        let item = table.entry(section).or_insert_with(new_section);
        if !item.is_table_like() {
            *item = new_section();
        }
        let Some(inner) = item.as_table_like_mut() else { return };
        table = inner;
    }
    match table.get_mut(name).and_then(Item::as_value_mut) {
        Some(old) => {
            let decor = old.decor().clone();
            *old = value;
            *old.decor_mut() = decor;
        }
        None => {
            table.insert(name, toml_edit::value(value));
        }
    }
}

/// Creates a section whose heading is written only if it has a setting.
fn new_section() -> Item {
    let mut table = Table::new();
    table.set_implicit(true);
    Item::Table(table)
}

/// Removes a setting or a section. Returns `true` if it was there.
fn remove_value(table: &mut dyn TableLike, sections: &[String], name: &str) -> bool {
    match sections.split_first() {
        None => table.remove(name).is_some(),
        Some((section, rest)) => table
            .get_mut(section)
            .and_then(Item::as_table_like_mut)
            .is_some_and(|inner| remove_value(inner, rest, name)),
    }
}

fn unreadable(cause: impl std::fmt::Display) -> Error {
    Error::invalid(
        format!("the settings cannot be read: {cause}"),
        "repair the file, or replace all of it",
    )
}
