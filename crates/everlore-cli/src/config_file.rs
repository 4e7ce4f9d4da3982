//! Edits of config.toml: only the named settings change; comments, order and unknown keys stay.

use std::{fs, io, path::Path};

use everlore::{
    Config,
    internal::files::{
        atomic_file::{TempFile, WriteOptions, create_private_folder},
        regular_file::{self, MAX_SETTINGS_BYTES},
    },
};
use toml_edit::{DocumentMut, Item, Table, TableLike, Value, value};

use crate::{CliError, Result};

/// Reads the file; a missing one is empty.
pub(crate) fn read_config(path: &Path) -> Result<String> {
    match regular_file::read_to_string(path, MAX_SETTINGS_BYTES) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        text => text.map_err(|error| CliError::io(path.display().to_string(), error)),
    }
}

/// Replaces the file, or the target of a link, in one step.
pub(crate) fn write_config(path: &Path, text: &str) -> Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let replace = || -> io::Result<()> {
        if let Some(folder) = target.parent() {
            create_private_folder(folder)?;
        }
        let permissions = fs::metadata(&target).ok().map(|data| data.permissions());
        let options = WriteOptions { durable: true, private: true, permissions };
        let temporary = target.with_extension(format!("toml.{}.tmp", std::process::id()));
        TempFile::write(temporary, text.as_bytes(), options)?.persist(&target)
    };
    replace().map_err(|error| CliError::io(target.display().to_string(), error))
}

/// Parses the text of a file for editing.
pub(crate) fn parse_document(text: &str) -> Result<DocumentMut> {
    text.parse().map_err(|error: toml_edit::TomlError| {
        CliError::invalid(
            format!("the settings cannot be read: {}", error.message()),
            "fix the file or move it away; nothing was changed (`everlore config path` prints its path)",
        )
    })
}

/// Checks that a text is valid as a whole.
pub(crate) fn check_config(text: &str) -> Result<()> {
    let (config, _) = Config::parse(text)?;
    match config.validate().first() {
        None => Ok(()),
        Some(problem) => Err(CliError::invalid(
            format!("the setting {problem}"),
            "choose another value; nothing was changed",
        )),
    }
}

/// Sets one value, by its sections and its name; returns `false` if it is the same already.
pub(crate) fn set_value(document: &mut DocumentMut, key: &[&str], new: Value) -> Result<bool> {
    let Some((name, sections)) = key.split_last() else { return Ok(false) };
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for section in sections {
        let item = table.entry(section).or_insert_with(|| Item::Table(implicit_table()));
        table = item.as_table_like_mut().ok_or_else(|| not_a_section(section))?;
    }
    let same = |old: &Item| old.as_value().map(without_decor) == Some(without_decor(&new));
    if table.get(name).is_some_and(same) {
        return Ok(false);
    }
    match table.get_mut(name).and_then(Item::as_value_mut) {
        // The comment behind a value stays.
        Some(old) => {
            let decor = old.decor().clone();
            *old = new;
            *old.decor_mut() = decor;
        }
        None => {
            table.insert(name, value(new));
        }
    }
    Ok(true)
}

/// Removes one value; returns `false` if the file does not have it.
pub(crate) fn remove_value(document: &mut DocumentMut, key: &[&str]) -> bool {
    let Some((name, sections)) = key.split_last() else { return false };
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for section in sections {
        match table.get_mut(section).and_then(Item::as_table_like_mut) {
            Some(inner) => table = inner,
            None => return false,
        }
    }
    table.remove(name).is_some()
}

/// Returns a table whose heading is only written if it has values of its own.
fn implicit_table() -> Table {
    let mut table = Table::new();
    table.set_implicit(true);
    table
}

fn not_a_section(section: &str) -> CliError {
    CliError::invalid(
        format!("`{section}` is not a section in the settings"),
        format!("write it as [{section}]"),
    )
}

fn without_decor(value: &Value) -> String {
    let mut value = value.clone();
    value.decor_mut().clear();
    value.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(text: &str, edit: impl FnOnce(&mut DocumentMut)) -> String {
        let mut document = parse_document(text).unwrap();
        edit(&mut document);
        document.to_string()
    }

    #[test]
    fn a_value_changes_and_its_comments_stay() {
        let before = "# mine\n[recall] # how\nlimit = 3 # few\n";
        let after = edited(before, |document| {
            assert!(set_value(document, &["recall", "limit"], 5.into()).unwrap());
            assert!(!set_value(document, &["recall", "limit"], 5.into()).unwrap());
        });
        assert_eq!(after, "# mine\n[recall] # how\nlimit = 5 # few\n");
    }

    #[test]
    fn nested_sections_are_made_and_values_removed() {
        let after = edited("", |document| {
            set_value(document, &["memory", "inject", "limit"], 2.into()).unwrap();
        });
        assert_eq!(after, "[memory.inject]\nlimit = 2\n");
        let removed = edited("a = 1 # one\n[b]\nc = 2\n", |document| {
            assert!(remove_value(document, &["b", "c"]) && !remove_value(document, &["x", "y"]));
        });
        assert_eq!(removed, "a = 1 # one\n[b]\n");
        let mut flat = parse_document("memory = 3\n").unwrap();
        assert!(set_value(&mut flat, &["memory", "enabled"], true.into()).is_err());
    }
}
