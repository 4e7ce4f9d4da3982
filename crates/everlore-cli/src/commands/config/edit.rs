//! `everlore config get`, `set`, `unset` and `edit`: single settings, checked before anything is written.

use std::{
    io::{self, IsTerminal},
    path::Path,
};

use clap::Args;
use everlore::{Config, config::ConfigWarning};
use serde_json::{Value as Json, json};
use toml_edit::Value;

use crate::{
    CliContext, CliError, Exit, Output, Result,
    config_file::{
        check_config, parse_document, read_config, remove_value, set_value, write_config,
    },
    editor,
    near_words::setting_meant_by,
    render::shell_quote,
    word_tables::API_KEY,
};

#[derive(Debug, Args)]
pub(crate) struct ConfigGetArgs {
    /// The setting, such as memory.inject.limit; a section shows all of it
    key: String,
}

#[derive(Debug, Args)]
pub(crate) struct ConfigSetArgs {
    /// The setting, such as memory_agent.model
    key: String,
    /// Its value: a text, a number, true or false, or a list such as ["a", "b"]
    #[arg(allow_hyphen_values = true)]
    value: String,
}

#[derive(Debug, Args)]
pub(crate) struct ConfigUnsetArgs {
    /// The setting
    key: String,
}

impl ConfigGetArgs {
    /// Prints the effective value, as `config show` has it.
    pub(crate) fn run(&self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let value = effective(&cx.settings.config, &self.key)?;
        let text = match &value {
            Json::String(text) => text.clone(),
            Json::Object(_) => toml::to_string(&value).unwrap_or_default().trim_end().to_owned(),
            other => other.to_string(),
        };
        out.answer_text(&json!({ "key": self.key, "value": value }), &format!("{text}\n"))
    }
}

impl ConfigSetArgs {
    /// Sets the value in the file, if the settings are valid with it.
    pub(crate) fn run(&self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        refuse_secret(&self.key)?;
        let before = effective(&cx.settings.config, &self.key)?;
        if before.is_object() {
            return Err(CliError::invalid(
                format!("`{}` is a section", self.key),
                format!("name a setting of it; `everlore config get {}` shows them", self.key),
            ));
        }
        let value = parse_value(&self.value, &before);
        let key: Vec<&str> = self.key.split('.').collect();
        let text = read_config(&cx.settings.path)?;
        let mut document = parse_document(&text)?;
        let is_changed = set_value(&mut document, &key, value)?;
        let text = document.to_string();
        check_edit(&self.key, &text)?;
        if is_changed {
            write_config(&cx.settings.path, &text)?;
        }
        let after = effective(&Config::parse(&text)?.0, &self.key)?;
        print_change(cx, &self.key, (before, after), out)
    }
}

impl ConfigUnsetArgs {
    /// Removes the value from the file, so that the default applies.
    pub(crate) fn run(&self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let before = effective(&cx.settings.config, &self.key)?;
        let key: Vec<&str> = self.key.split('.').collect();
        let mut document = parse_document(&read_config(&cx.settings.path)?)?;
        if !remove_value(&mut document, &key) {
            let path = cx.settings.path.display();
            out.note(&format!("{path} does not set {}", self.key));
            return Ok(Exit::NothingFound);
        }
        let text = document.to_string();
        check_config(&text)?;
        write_config(&cx.settings.path, &text)?;
        let after = effective(&Config::parse(&text)?.0, &self.key)?;
        print_change(cx, &self.key, (before, after), out)
    }
}

/// Advice where there is no editor.
const EDIT_HINT: &str = "set EDITOR to a command that works, or change one setting with `everlore config set KEY VALUE`";

/// Opens the file in the editor and saves it if it is valid. What was typed is kept in any case.
pub(super) fn edit(cx: &CliContext, out: &mut Output) -> Result<Exit> {
    let path = &cx.settings.path;
    let is_chosen = ["VISUAL", "EDITOR"].into_iter().any(|name| std::env::var_os(name).is_some());
    if !io::stdin().is_terminal() && !is_chosen {
        return Err(CliError::invalid("an editor needs a terminal", EDIT_HINT));
    }
    let before = read_config(path)?;
    let edited = editor::edit_text(&before).map_err(|error| error.with_hint(EDIT_HINT))?;
    let Some(edited) = edited else {
        out.note("nothing was changed");
        return Ok(Exit::Done);
    };
    if let Err(error) = check_config(&edited) {
        let rejected = path.with_extension("toml.rejected");
        write_config(&rejected, &edited)?;
        return Err(keep_rejected(error, &rejected));
    }
    write_config(path, &edited)?;
    let warnings: Vec<String> =
        Config::parse(&edited)?.1.iter().map(|warning| format!("warning: {warning}")).collect();
    warnings.iter().for_each(|warning| out.note(warning));
    let path = path.display().to_string();
    out.answer_line(&json!({ "path": path, "warnings": warnings }), &format!("saved: {path}"))
}

fn keep_rejected(error: CliError, rejected: &Path) -> CliError {
    error.with_hint(format!(
        "nothing was changed; your text is in {}: correct it there and copy it back",
        shell_quote(&rejected.display().to_string())
    ))
}

/// Returns the value of a setting, or the section, as JSON; rejects a name that does not exist.
fn effective(config: &Config, key: &str) -> Result<Json> {
    let all = json!(config);
    let found = all.pointer(&format!("/{}", key.replace('.', "/")));
    found.cloned().ok_or_else(|| unknown_setting(key))
}

/// Returns the error for a setting that does not exist, with the nearest one that does.
fn unknown_setting(key: &str) -> CliError {
    let meant = setting_meant_by(key).filter(|meant| *meant != API_KEY);
    let hint = match (meant, nearest_setting(key)) {
        (Some(meant), _) => format!(
            "try `everlore config set {meant} VALUE`; `everlore config show` lists all settings"
        ),
        (None, Some(nearest)) => format!("try `everlore config set {nearest} VALUE`"),
        (None, None) => "`everlore config show` lists all settings".to_owned(),
    };
    CliError::invalid(format!("there is no setting `{key}`"), hint)
}

/// Returns the setting that was probably meant, as the reader of settings files guesses it.
fn nearest_setting(key: &str) -> Option<String> {
    let mut document = parse_document("").ok()?;
    set_value(&mut document, &key.split('.').collect::<Vec<_>>(), "".into()).ok()?;
    let (_, warnings): (_, Vec<ConfigWarning>) = Config::parse(&document.to_string()).ok()?;
    warnings.into_iter().find_map(|warning| warning.nearest)
}

/// Reads a value as the setting wants it: a text stays one, even if it looks like a number.
fn parse_value(text: &str, current: &Json) -> Value {
    let parsed = text.parse::<Value>().ok();
    match (current.is_string(), parsed) {
        (true, Some(Value::String(quoted))) => Value::String(quoted),
        (true, _) | (false, None) => Value::from(text),
        (false, Some(value)) => value,
    }
}

/// Checks the whole file; an error about this setting names its value.
fn check_edit(key: &str, text: &str) -> Result<()> {
    check_config(text).map_err(|error| {
        error.with_hint(format!(
            "nothing was changed; `everlore config get {key}` shows the current value"
        ))
    })
}

/// Refuses to write a secret into the settings, where backups and shells would keep it.
fn refuse_secret(key: &str) -> Result<()> {
    if key.ends_with(".api_key") {
        return Err(CliError::invalid(
            "a key does not belong into the settings, nor into the history of your shell",
            "save it with `everlore config key PROVIDER`, which hides what you type, or reads standard input",
        ));
    }
    Ok(())
}

fn print_change(
    cx: &CliContext,
    key: &str,
    change: (Json, Json),
    out: &mut Output,
) -> Result<Exit> {
    let (before, after) = change;
    let path = cx.settings.path.display().to_string();
    let line = if before == after {
        format!("{key} = {after}, as before")
    } else {
        format!("{key} = {after} (was {before}), in {path}")
    };
    let (name, value) = (variable_of(key), after.clone());
    let view = json!({ "key": key, "value": value, "was": before, "path": path });
    out.answer_line(&view, &line)?;
    if std::env::var(&name).is_ok_and(|value| !value.is_empty()) {
        out.note(&format!("note: the variable {name} is set and takes precedence"));
    }
    if crate::server_client::is_running(cx) {
        out.note("note: a server runs on this home; it reads the settings when it starts: `everlore serve --stop`, then `everlore serve`");
    }
    Ok(Exit::Done)
}

/// Returns the environment variable of a setting.
fn variable_of(key: &str) -> String {
    format!("EVERLORE_{}", key.replace('.', "__").to_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_read_as_its_setting_wants_it() {
        let text = |value: &str| parse_value(value, &json!("text")).to_string();
        assert_eq!(text("3"), "\"3\"");
        assert_eq!(text("\"a b\""), "\"a b\"");
        let other = |value: &str| parse_value(value, &json!(1)).to_string();
        assert_eq!(
            (other("3"), other("true"), other("qwen3")),
            ("3".into(), "true".into(), "\"qwen3\"".into())
        );
    }

    #[test]
    fn a_setting_that_does_not_exist_leads_to_the_nearest_one() {
        assert_eq!(nearest_setting("memory_agent.modle").as_deref(), Some("memory_agent.model"));
        assert!(effective(&Config::default(), "memory_agent.model").is_ok());
        assert!(effective(&Config::default(), "模型").is_err());
    }
}
