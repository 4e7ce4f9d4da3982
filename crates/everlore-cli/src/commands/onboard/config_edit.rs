//! Edits of config.toml by the wizard: only the chosen settings change; comments, order and unknown keys stay.

use std::{fs, io, path::Path};

use everlore::{
    Config,
    internal::files::atomic_file::{TempFile, WriteOptions, create_private_folder},
};
use toml_edit::{DocumentMut, Item, Table, value};

use super::OnboardChoices;
use crate::{CliError, Result};
use everlore::internal::files::regular_file::{self, MAX_SETTINGS_BYTES};

/// Edited settings file.
#[derive(Debug)]
pub(super) struct ConfigEdit {
    /// New text of the file.
    pub(super) text: String,
    /// Changed settings, as `section.setting = value`.
    pub(super) changes: Vec<String>,
}

/// Returns the text of a file with the choices; fails if the result is not valid.
pub(super) fn apply_choices(text: &str, choices: &OnboardChoices) -> Result<ConfigEdit> {
    let edit = apply_choices_unchecked(text, choices)?;
    check_config(&edit.text)?;
    Ok(edit)
}

/// Returns the text of a file with the choices so far, which may be incomplete.
pub(super) fn apply_choices_unchecked(text: &str, choices: &OnboardChoices) -> Result<ConfigEdit> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
        CliError::invalid(
            format!("the settings cannot be read: {}", error.message()),
            "fix the file or move it away; nothing was changed (`everlore config path` prints its path)",
        )
    })?;
    let mut changes = Vec::new();
    for (section, name, value) in choices.config_values() {
        if set_value(&mut document, section, name, value.clone())? {
            changes.push(format!("{section}.{name} = {}", value.to_string().trim()));
        }
    }
    Ok(ConfigEdit { text: document.to_string(), changes })
}

/// Sets one value; returns `false` if it is the same already.
fn set_value(
    document: &mut DocumentMut,
    section: &str,
    name: &str,
    new: toml_edit::Value,
) -> Result<bool> {
    let item = document.entry(section).or_insert_with(|| Item::Table(Table::new()));
    let table = item.as_table_like_mut().ok_or_else(|| {
        CliError::invalid(
            format!("`{section}` is not a section in the settings"),
            format!("write it as [{section}]"),
        )
    })?;
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

fn without_decor(value: &toml_edit::Value) -> String {
    let mut value = value.clone();
    value.decor_mut().clear();
    value.to_string()
}

/// Checks that the new text is valid.
fn check_config(text: &str) -> Result<()> {
    let (config, _) = Config::parse(text)?;
    match config.validate().first() {
        None => Ok(()),
        Some(problem) => Err(CliError::invalid(
            format!("the setting {problem}"),
            "choose another value; nothing was changed",
        )),
    }
}

/// Reads the file; a missing one is empty.
pub(super) fn read_config(path: &Path) -> Result<String> {
    match regular_file::read_to_string(path, MAX_SETTINGS_BYTES) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        text => text.map_err(|error| CliError::io(path.display().to_string(), error)),
    }
}

/// Replaces the file, or the target of a link, in one step.
pub(super) fn write_config(path: &Path, text: &str) -> Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn choices(provider: &str, model: &str) -> OnboardChoices {
        OnboardChoices {
            provider: Some(provider.to_owned()),
            model: Some(model.to_owned()),
            ..OnboardChoices::default()
        }
    }

    #[test]
    fn comments_unknown_keys_and_order_stay() {
        let before = "# mine\n[memory_agent] # the model\nmodel = \"old\" # was good\nfuture = 1\n\n[recall]\nlimit = 3\n";
        let after = apply_choices(before, &choices("ollama", "qwen3")).unwrap();
        assert_eq!(
            after.text,
            "# mine\n[memory_agent] # the model\nmodel = \"qwen3\" # was good\nfuture = 1\nenabled = true\nprovider = \"ollama\"\n\n[recall]\nlimit = 3\n"
        );
        assert_eq!(after.changes.len(), 3, "{:?}", after.changes);
        let again = apply_choices(&after.text, &choices("ollama", "qwen3")).unwrap();
        assert_eq!(
            (again.text, again.changes),
            (after.text, vec![]),
            "the second time changes nothing"
        );
    }

    #[test]
    fn a_file_that_cannot_be_parsed_is_not_touched() {
        assert!(apply_choices("[memory_agent\n", &choices("ollama", "qwen3")).is_err());
        assert!(apply_choices("memory_agent = 3\n", &choices("ollama", "qwen3")).is_err());
        let unknown = apply_choices("", &choices("nobody", "x"));
        assert!(unknown.is_err(), "{unknown:?}");
    }

    #[test]
    fn a_new_file_has_the_choices_and_nothing_else() {
        let edit = apply_choices("", &choices("deepseek", "deepseek-chat")).unwrap();
        let expected =
            "[memory_agent]\nenabled = true\nprovider = \"deepseek\"\nmodel = \"deepseek-chat\"\n";
        assert_eq!(edit.text, expected);
        assert_eq!(apply_choices("", &OnboardChoices::default()).unwrap().text, "");
    }
}
