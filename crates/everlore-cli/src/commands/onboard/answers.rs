//! Answers of the wizard as a command line, so that nothing typed is lost when something fails.

use super::OnboardChoices;
use crate::{CliError, commands::chat::UiMessages, render::shell_quote};

impl OnboardChoices {
    /// Returns the command that goes on with these answers; `None` if there are none.
    pub(super) fn command_line(&self) -> Option<String> {
        let options = [
            ("--language", &self.language),
            ("--provider", &self.provider),
            ("--base-url", &self.base_url),
            ("--model", &self.model),
            ("--key-command", &self.key_command),
            ("--name", &self.name),
            ("--personality", &self.personality),
            ("--speaking", &self.speaking),
        ];
        let mut words = String::new();
        for (option, value) in options {
            if let Some(value) = value {
                words += &format!(" {option} {}", shell_quote(value));
            }
        }
        for agent in &self.connect {
            words += &format!(" --connect {}", shell_quote(agent));
        }
        (!words.is_empty()).then(|| format!("everlore onboard{words}"))
    }

    /// Adds the command to the hint of an error.
    pub(super) fn kept_in(&self, error: CliError, messages: UiMessages) -> CliError {
        let (CliError::Reported(report), Some(command)) = (&error, self.command_line()) else {
            return error;
        };
        let label = messages.choose("your answers are kept in", "你的回答保留在");
        let hint = format!("{}\n{label}: {command}", report.hint);
        error.with_hint(hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_become_a_command_without_the_key() {
        let answers = OnboardChoices {
            provider: Some("openai".into()),
            name: Some("小 爱".into()),
            key: Some(("openai".into(), everlore::config::SecretString::new("sk-secret"))),
            ..OnboardChoices::default()
        };
        let command = answers.command_line().unwrap();
        assert_eq!(command, "everlore onboard --provider openai --name '小 爱'");
        assert_eq!(OnboardChoices::default().command_line(), None);
    }
}
