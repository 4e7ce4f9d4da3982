//! Edits of config.toml by the wizard: only the chosen settings change.

use super::OnboardChoices;
use crate::{
    Result,
    config_file::{check_config, parse_document, set_value},
};

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
    let mut document = parse_document(text)?;
    let mut changes = Vec::new();
    for (section, name, value) in choices.config_values() {
        if set_value(&mut document, &[section, name], value.clone())? {
            changes.push(format!("{section}.{name} = {}", value.to_string().trim()));
        }
    }
    Ok(ConfigEdit { text: document.to_string(), changes })
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
