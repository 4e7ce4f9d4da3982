//! The questions, one after the other; Enter leaves anything as it is.

use everlore::{
    config::{CHAT_PROVIDERS, LanguageChoice, chat_provider},
    text::language::Language,
};

use super::{OnboardChoices, model_probe};
use crate::{
    cli_context::CliContext,
    commands::{
        chat::{LineEditor, LineInput, UiMessages},
        connect,
    },
    error::Result,
    keys,
    output::Output,
    render::sanitize,
};

/// The models of a provider that are listed; some have hundreds.
const MAX_LISTED_MODELS: usize = 20;

/// Asks at a terminal.
pub(super) struct Wizard<'a> {
    pub(super) cx: &'a CliContext,
    pub(super) out: &'a mut Output,
    pub(super) messages: UiMessages,
    editor: LineEditor,
}

/// An answer that ends the wizard.
pub(super) struct WizardCancelled;

impl<'a> Wizard<'a> {
    pub(super) fn new(cx: &'a CliContext, out: &'a mut Output, messages: UiMessages) -> Self {
        Self { cx, out, messages, editor: LineEditor::new(&[], None) }
    }

    /// Asks for everything that was not given yet; none if the user left.
    pub(super) async fn run(
        &mut self,
        mut chosen: OnboardChoices,
    ) -> Result<Option<OnboardChoices>> {
        let welcome = self.messages.choose(
            "Enter leaves a step as it is; Ctrl+C leaves without changing anything.",
            "按 Enter 跳过一步；Ctrl+C 退出，什么都不改。",
        );
        self.out.line(welcome)?;
        let steps = async {
            self.ask_language(&mut chosen).await?;
            self.ask_provider(&mut chosen).await?;
            self.ask_model(&mut chosen).await?;
            self.ask_persona(&mut chosen).await?;
            self.ask_connections(&mut chosen).await
        };
        match steps.await {
            Ok(()) => Ok(Some(chosen)),
            Err(WizardStop::Cancelled(WizardCancelled)) => Ok(None),
            Err(WizardStop::Failed(failure)) => Err(failure),
        }
    }

    async fn ask_language(&mut self, chosen: &mut OnboardChoices) -> StepResult {
        let now = match self.cx.settings.config.general.language {
            LanguageChoice::Auto => "auto",
            LanguageChoice::En => "en",
            LanguageChoice::Zh => "zh",
        };
        while chosen.language.is_none() {
            let question = format!("Language / 语言: en, zh, auto [{now}]: ");
            let Some(answer) = self.ask_line(&question).await? else { break };
            match answer.as_str() {
                "en" | "zh" | "auto" => chosen.language = Some(answer),
                _ => self.print_line("en, zh, auto")?,
            }
        }
        match chosen.language.as_deref() {
            Some("zh") => self.messages = UiMessages::for_language(Language::Chinese),
            Some("en") => self.messages = UiMessages::for_language(Language::English),
            _ => {}
        }
        Ok(())
    }

    async fn ask_provider(&mut self, chosen: &mut OnboardChoices) -> StepResult {
        if chosen.provider.is_some() {
            return Ok(());
        }
        let names = CHAT_PROVIDERS.iter().enumerate();
        let names: Vec<String> =
            names.map(|(at, known)| format!("{}) {}", at + 1, known.name)).collect();
        self.print_line(self.messages.choose("Who serves the model?", "由谁提供模型？"))?;
        self.print_line(&format!("  {}", names.join("  ")))?;
        let now = self.cx.settings.config.chat_model().map(|model| model.provider);
        let provider = self.messages.choose("Provider", "服务商");
        let question = format!("{provider} [{}]: ", now.unwrap_or_default());
        while let Some(answer) = self.ask_line(&question).await? {
            let by_number = answer.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            let by_number = by_number.and_then(|at| CHAT_PROVIDERS.get(at));
            if let Some(known) = by_number.or_else(|| chat_provider(&answer.to_lowercase())) {
                chosen.provider = Some(known.name.to_owned());
                return self.ask_address(chosen).await;
            }
            self.print_line(
                self.messages
                    .choose("give a number or a name of the list", "请输入列表中的编号或名称"),
            )?;
        }
        Ok(())
    }

    /// Where the provider is, and where its key should be.
    async fn ask_address(&mut self, chosen: &mut OnboardChoices) -> StepResult {
        let Some(known) = chosen.provider.as_deref().and_then(chat_provider) else { return Ok(()) };
        if chosen.base_url.is_none() {
            let address = self.messages.choose("Address", "地址");
            let question = format!("{address} [{}]: ", known.base_url);
            chosen.base_url = self.ask_line(&question).await?;
        }
        let set = |name: &&str| std::env::var(name).is_ok_and(|key| !key.trim().is_empty());
        let has_key = known.key_variables.iter().any(set)
            || keys::read_key(&self.cx.home, known.name)?.is_some();
        if let Some(first) = known.key_variables.first().filter(|_| !has_key) {
            let told = match self.messages.is_chinese() {
                true => format!(
                    "密钥请放进环境变量 {first}，或用 `everlore config key {}` 保存。",
                    known.name
                ),
                false => format!(
                    "The key belongs into the variable {first}, or keep it with `everlore config key {}`.",
                    known.name
                ),
            };
            self.print_line(&told)?;
        }
        Ok(())
    }

    /// Which model, from the provider's own list where it gives one, and whether it answers.
    async fn ask_model(&mut self, chosen: &mut OnboardChoices) -> StepResult {
        let config = model_probe::config_with_choices(self.cx, chosen);
        if chosen.model.is_none() {
            let listed = model_probe::list_models(self.cx, &config).await.unwrap_or_default();
            for (at, name) in listed.iter().take(MAX_LISTED_MODELS).enumerate() {
                self.print_line(&format!("  {}) {}", at + 1, sanitize(name)))?;
            }
            let now = config.chat_model().map(|model| model.model).unwrap_or_default();
            let question = format!("{} [{now}]: ", self.messages.choose("Model", "模型"));
            chosen.model = self.ask_line(&question).await?.map(|answer| {
                let number = answer.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
                number.and_then(|at| listed.get(at).cloned()).unwrap_or(answer)
            });
        }
        let config = model_probe::config_with_choices(self.cx, chosen);
        if !chosen.no_check && config.chat_model().is_some_and(|model| !model.model.is_empty()) {
            self.print_line(self.messages.choose("Asking the model…", "正在询问模型……"))?;
            let told = model_probe::probe_model(self.cx, &config).await.render_line(self.messages);
            self.print_line(&told)?;
            chosen.no_check = true;
        }
        Ok(())
    }

    async fn ask_persona(&mut self, chosen: &mut OnboardChoices) -> StepResult {
        let steps = [
            (&mut chosen.name, "The agent's name", "智能体的名字"),
            (&mut chosen.personality, "Its personality", "个性"),
            (&mut chosen.speaking, "Its way of speaking", "说话方式"),
        ];
        for (chosen, english, chinese) in steps {
            if chosen.is_none() {
                let question = format!("{}: ", self.messages.choose(english, chinese));
                *chosen = self.ask_line(&question).await?;
            }
        }
        Ok(())
    }

    /// Which agents should use this memory.
    async fn ask_connections(&mut self, chosen: &mut OnboardChoices) -> StepResult {
        let found = connect::installed_agents();
        if found.is_empty() || !chosen.connect.is_empty() {
            let question = self.messages.choose(
                "Should other agents use this memory? [y/N]: ",
                "要让其他智能体使用这份记忆吗？[y/N]: ",
            );
            if chosen.connect.is_empty()
                && self.ask_line(question).await?.is_some_and(|answer| super::is_yes(&answer))
            {
                self.print_line(super::connect_help(self.messages))?;
            }
            return Ok(());
        }
        let list = found.join(", ");
        let question = match self.messages.is_chinese() {
            true => format!("让哪些智能体使用？找到了 {list}，名称或 all []: "),
            false => format!("Which agents should use it? Found {list}; names or all []: "),
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
            chosen.connect = names.into_iter().map(str::to_owned).collect();
            break;
        }
        Ok(())
    }

    /// Asks for a yes.
    pub(super) async fn confirm(&mut self, question: &str, default: bool) -> Result<bool> {
        match self.ask_line(question).await {
            Ok(Some(answer)) => Ok(super::is_yes(&answer)),
            Ok(None) => Ok(default),
            Err(WizardStop::Cancelled(WizardCancelled)) => Ok(false),
            Err(WizardStop::Failed(failure)) => Err(failure),
        }
    }

    /// What was typed; none for Enter.
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

/// Why a step did not end with an answer.
enum WizardStop {
    Cancelled(WizardCancelled),
    Failed(crate::error::CliError),
}

type StepResult<T = ()> = std::result::Result<T, WizardStop>;

impl From<crate::error::CliError> for WizardStop {
    fn from(failure: crate::error::CliError) -> Self {
        Self::Failed(failure)
    }
}
