//! Questions of the wizard, one after the other; Enter leaves a step unchanged.

use everlore::{
    config::{CHAT_PROVIDERS, LanguageChoice, chat_provider},
    engine::Language,
};

use super::{OnboardChoices, model_probe};
use crate::{
    CliContext, Output, Result,
    commands::{
        chat::{LineEditor, LineInput, UiMessages},
        connect,
    },
    keys,
    render::sanitize,
};

/// Most models of a provider that are listed; some have hundreds.
const MAX_LISTED_MODELS: usize = 20;

/// Wizard at a terminal.
pub(super) struct Wizard<'a> {
    pub(super) cx: &'a CliContext,
    pub(super) out: &'a mut Output,
    pub(super) messages: UiMessages,
    editor: LineEditor,
}

/// Ctrl+C or the end of the input.
pub(super) struct WizardCancelled;

impl<'a> Wizard<'a> {
    pub(super) fn new(cx: &'a CliContext, out: &'a mut Output, messages: UiMessages) -> Self {
        Self { cx, out, messages, editor: LineEditor::new(&[], None) }
    }

    /// Asks for all choices that the options left open; `None` if the user cancelled.
    pub(super) async fn run(
        &mut self,
        mut choices: OnboardChoices,
    ) -> Result<Option<OnboardChoices>> {
        let welcome = self.messages.choose(
            "Enter leaves a step unchanged; Ctrl+C quits without changing anything.",
            "按 Enter 跳过一步；Ctrl+C 退出，什么都不改。",
        );
        self.out.line(welcome)?;
        let steps = async {
            self.ask_language(&mut choices).await?;
            self.ask_provider(&mut choices).await?;
            self.ask_model(&mut choices).await?;
            self.ask_persona(&mut choices).await?;
            self.ask_connections(&mut choices).await
        };
        match steps.await {
            Ok(()) => Ok(Some(choices)),
            Err(WizardStop::Cancelled(WizardCancelled)) => Ok(None),
            Err(WizardStop::Failed(error)) => Err(error),
        }
    }

    async fn ask_language(&mut self, choices: &mut OnboardChoices) -> StepResult {
        let current = match self.cx.settings.config.general.language {
            LanguageChoice::Auto => "auto",
            LanguageChoice::En => "en",
            LanguageChoice::Zh => "zh",
        };
        while choices.language.is_none() {
            let question = format!("Language / 语言: en, zh, auto [{current}]: ");
            let Some(answer) = self.ask_line(&question).await? else { break };
            match answer.as_str() {
                "en" | "zh" | "auto" => choices.language = Some(answer),
                _ => self.print_line("en, zh, auto")?,
            }
        }
        match choices.language.as_deref() {
            Some("zh") => self.messages = UiMessages::for_language(Language::Chinese),
            Some("en") => self.messages = UiMessages::for_language(Language::English),
            _ => {}
        }
        Ok(())
    }

    async fn ask_provider(&mut self, choices: &mut OnboardChoices) -> StepResult {
        if choices.provider.is_some() {
            return Ok(());
        }
        let names = CHAT_PROVIDERS.iter().enumerate();
        let names: Vec<String> =
            names.map(|(index, provider)| format!("{}) {}", index + 1, provider.name)).collect();
        self.print_line(self.messages.choose("Who provides the model?", "由谁提供模型？"))?;
        self.print_line(&format!("  {}", names.join("  ")))?;
        let current = self.cx.settings.config.chat_model().map(|model| model.provider);
        let label = self.messages.choose("Provider", "服务商");
        let question = format!("{label} [{}]: ", current.unwrap_or_default());
        while let Some(answer) = self.ask_line(&question).await? {
            let by_number = answer.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            let by_number = by_number.and_then(|index| CHAT_PROVIDERS.get(index));
            if let Some(provider) = by_number.or_else(|| chat_provider(&answer.to_lowercase())) {
                choices.provider = Some(provider.name.to_owned());
                return self.ask_address(choices).await;
            }
            self.print_line(
                self.messages
                    .choose("give a number or a name of the list", "请输入列表中的编号或名称"),
            )?;
        }
        Ok(())
    }

    /// Asks for the provider's address, and explains where its key belongs.
    async fn ask_address(&mut self, choices: &mut OnboardChoices) -> StepResult {
        let Some(provider) = choices.provider.as_deref().and_then(chat_provider) else {
            return Ok(());
        };
        if choices.base_url.is_none() {
            let address = self.messages.choose("Address", "地址");
            let question = format!("{address} [{}]: ", provider.base_url);
            choices.base_url = self.ask_line(&question).await?;
        }
        let is_set = |name: &&str| std::env::var(name).is_ok_and(|key| !key.trim().is_empty());
        let has_key = provider.key_variables.iter().any(is_set)
            || keys::read_key(&self.cx.home, provider.name)?.is_some();
        if let Some(first) = provider.key_variables.first().filter(|_| !has_key) {
            let hint = if self.messages.is_chinese() {
                format!(
                    "密钥请放进环境变量 {first}，或用 `everlore config key {}` 保存。",
                    provider.name
                )
            } else {
                format!(
                    "Put the key into the variable {first}, or save it with `everlore config key {}`.",
                    provider.name
                )
            };
            self.print_line(&hint)?;
        }
        Ok(())
    }

    /// Asks for the model, from the provider's list if there is one, and tests it.
    async fn ask_model(&mut self, choices: &mut OnboardChoices) -> StepResult {
        let config = model_probe::config_with_choices(self.cx, choices);
        if choices.model.is_none() {
            let listed = model_probe::list_models(self.cx, &config).await.unwrap_or_default();
            for (index, name) in listed.iter().take(MAX_LISTED_MODELS).enumerate() {
                self.print_line(&format!("  {}) {}", index + 1, sanitize(name)))?;
            }
            let current = config.chat_model().map(|model| model.model).unwrap_or_default();
            let question = format!("{} [{current}]: ", self.messages.choose("Model", "模型"));
            choices.model = self.ask_line(&question).await?.map(|answer| {
                let number = answer.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
                number.and_then(|index| listed.get(index).cloned()).unwrap_or(answer)
            });
        }
        let config = model_probe::config_with_choices(self.cx, choices);
        if !choices.no_check && config.chat_model().is_some_and(|model| !model.model.is_empty()) {
            self.print_line(self.messages.choose("Asking the model…", "正在询问模型……"))?;
            let probe = model_probe::probe_model(self.cx, &config).await;
            self.print_line(&probe.render_line(self.messages))?;
            choices.no_check = true;
        }
        Ok(())
    }

    async fn ask_persona(&mut self, choices: &mut OnboardChoices) -> StepResult {
        let steps = [
            (&mut choices.name, "The agent's name", "智能体的名字"),
            (&mut choices.personality, "Its personality", "个性"),
            (&mut choices.speaking, "Its way of speaking", "说话方式"),
        ];
        for (choice, english, chinese) in steps {
            if choice.is_none() {
                let question = format!("{}: ", self.messages.choose(english, chinese));
                *choice = self.ask_line(&question).await?;
            }
        }
        Ok(())
    }

    /// Asks which agents to connect.
    async fn ask_connections(&mut self, choices: &mut OnboardChoices) -> StepResult {
        let found = connect::installed_agents();
        if found.is_empty() || !choices.connect.is_empty() {
            let question = self.messages.choose(
                "Should other agents use this memory? [y/N]: ",
                "要让其他智能体使用这份记忆吗？[y/N]: ",
            );
            if choices.connect.is_empty()
                && self.ask_line(question).await?.is_some_and(|answer| super::is_yes(&answer))
            {
                self.print_line(super::connect_help(self.messages))?;
            }
            return Ok(());
        }
        let list = found.join(", ");
        let question = if self.messages.is_chinese() {
            format!("让哪些智能体使用？找到了 {list}，名称或 all []: ")
        } else {
            format!("Which agents should use it? Found {list}; names or all []: ")
        };
        while let Some(answer) = self.ask_line(&question).await? {
            let names: Vec<&str> =
                answer.split([',', ' ', '、', '，']).filter(|name| !name.is_empty()).collect();
            let all = names == ["all"] || super::is_yes(&answer);
            if !all && !names.iter().all(|name| found.contains(name)) {
                self.print_line(&found.join(", "))?;
                continue;
            }
            let names = if all { found.clone() } else { names };
            choices.connect = names.into_iter().map(str::to_owned).collect();
            break;
        }
        Ok(())
    }

    /// Asks a yes-or-no question.
    pub(super) async fn confirm(&mut self, question: &str, default: bool) -> Result<bool> {
        match self.ask_line(question).await {
            Ok(Some(answer)) => Ok(super::is_yes(&answer)),
            Ok(None) => Ok(default),
            Err(WizardStop::Cancelled(WizardCancelled)) => Ok(false),
            Err(WizardStop::Failed(error)) => Err(error),
        }
    }

    /// Reads an answer; `None` for Enter.
    async fn ask_line(&mut self, question: &str) -> StepResult<Option<String>> {
        self.out.flush()?;
        match self.editor.read_line(question).await? {
            LineInput::Line(line) => {
                Ok(Some(line.trim().to_owned()).filter(|line| !line.is_empty()))
            }
            LineInput::Interrupted | LineInput::End => Err(WizardStop::Cancelled(WizardCancelled)),
        }
    }

    fn print_line(&mut self, line: &str) -> StepResult {
        Ok(self.out.line(line)?)
    }
}

/// Reason why a step has no answer.
enum WizardStop {
    Cancelled(WizardCancelled),
    Failed(crate::error::CliError),
}

type StepResult<T = ()> = std::result::Result<T, WizardStop>;

impl From<crate::error::CliError> for WizardStop {
    fn from(error: crate::error::CliError) -> Self {
        Self::Failed(error)
    }
}
