//! Questions of the wizard, one after the other; Enter takes the default of a step.

use everlore::{
    config::{CHAT_PROVIDERS, ChatProvider, LanguageChoice, SecretString, chat_provider},
    engine::Language,
};

use super::{OnboardChoices, model_probe, soul_edit::SoulEdit};
use crate::{
    CliContext, Output, Result,
    commands::{
        chat::{LineEditor, LineInput, UiMessages},
        connect,
    },
    keys,
    output::terminal_width,
    render::{sanitize, truncate_width},
    text_width::wrap,
};

/// Most models of a provider that are listed; some have hundreds.
const MAX_LISTED_MODELS: usize = 20;

/// Provider name of a server that is not in the list.
const OTHER_SERVER: &str = "other";

/// Longest text that is shown as the current one.
const MAX_SHOWN_CELLS: usize = 44;

/// Question about the agent, in English and Chinese.
#[derive(Clone, Copy)]
struct PersonaStep {
    label: (&'static str, &'static str),
    /// Section of SOUL.md.
    title: (&'static str, &'static str),
    default: (&'static str, &'static str),
}

const PERSONA: [PersonaStep; 3] = [
    PersonaStep {
        label: ("The agent's name", "智能体的名字"),
        title: ("Name", "名字"),
        default: ("Ever", "小忆"),
    },
    PersonaStep {
        label: ("Its personality", "个性"),
        title: ("Personality", "个性"),
        default: ("friendly, curious and honest", "友善、好奇、诚实"),
    },
    PersonaStep {
        label: ("Its way of speaking", "说话方式"),
        title: ("Way of speaking", "说话方式"),
        default: ("short and plain", "简短、直白"),
    },
];

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

    /// Asks for all choices that the options left open; `false` if the user cancelled. The answers so far are kept.
    pub(super) async fn run(&mut self, choices: &mut OnboardChoices) -> Result<bool> {
        let welcome = self.messages.choose(
            "Enter takes what stands in [ ]; Ctrl+C quits without changing anything.",
            "按 Enter 采用 [ ] 中的内容；Ctrl+C 退出，什么都不改。",
        );
        self.out.line(welcome)?;
        let steps = async {
            self.ask_language(choices).await?;
            self.ask_provider(choices).await?;
            self.ask_model(choices).await?;
            self.ask_persona(choices).await?;
            self.ask_connections(choices).await
        };
        match steps.await {
            Ok(()) => Ok(true),
            Err(WizardStop::Cancelled(WizardCancelled)) => Ok(false),
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
            return self.ask_key(choices).await;
        }
        self.print_providers()?;
        let current = self.cx.settings.config.chat_model().map(|model| model.provider);
        let found = current.clone().or_else(|| provider_with_key().map(str::to_owned));
        let label = self.messages.choose("Provider", "服务商");
        let question = format!("{label} [{}]: ", found.as_deref().unwrap_or_default());
        loop {
            let Some(answer) = self
                .ask_line(&question)
                .await?
                .or_else(|| found.clone().filter(|_| current.is_none()))
            else {
                return Ok(());
            };
            let by_number = answer.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            let by_number = by_number.and_then(|index| CHAT_PROVIDERS.get(index));
            if let Some(provider) = by_number.or_else(|| chat_provider(&answer.to_lowercase())) {
                choices.provider = Some(provider.name.to_owned());
                self.ask_address(choices, provider).await?;
                return self.ask_key(choices).await;
            }
            self.print_line(
                self.messages
                    .choose("give a number or a name of the list", "请输入列表中的编号或名称"),
            )?;
        }
    }

    fn print_providers(&mut self) -> StepResult {
        let any = self.messages.choose(
            "other (any server with OpenAI's protocol)",
            "other（任何兼容 OpenAI 协议的服务器）",
        );
        // Blanks inside a name do not break a line.
        let name = |(index, provider): (usize, &ChatProvider)| {
            let name = if provider.name == OTHER_SERVER { any } else { provider.name };
            format!("{})\u{e000}{}", index + 1, name.replace(' ', "\u{e000}"))
        };
        let names: Vec<String> = CHAT_PROVIDERS.iter().enumerate().map(name).collect();
        self.print_line(self.messages.choose(
            "Who provides the model? Enter goes on without one.",
            "由谁提供模型？直接按 Enter 则不用模型。",
        ))?;
        for line in wrap(&names.join("  "), terminal_width().unwrap_or(80).saturating_sub(2)) {
            self.print_line(&format!("  {}", line.replace('\u{e000}', " ")))?;
        }
        Ok(())
    }

    async fn ask_address(
        &mut self,
        choices: &mut OnboardChoices,
        provider: &ChatProvider,
    ) -> StepResult {
        if choices.base_url.is_none() {
            let address = self.messages.choose("Address", "地址");
            let question = format!("{address} [{}]: ", provider.base_url);
            choices.base_url = self.ask_line(&question).await?;
        }
        Ok(())
    }

    /// Asks for the provider's key, unless it is known or the provider needs none. It is not shown while it is typed.
    async fn ask_key(&mut self, choices: &mut OnboardChoices) -> StepResult {
        let Some(provider) = choices.provider.as_deref().and_then(chat_provider) else {
            return Ok(());
        };
        let may_have = !provider.key_variables.is_empty() || provider.name == OTHER_SERVER;
        let is_known = choices.key_command.is_some()
            || provider.key_variables.iter().any(is_variable_set)
            || keys::read_key(&self.cx.home, provider.name)?.is_some();
        // Such a terminal would show the key.
        let is_dumb = std::env::var("TERM").is_ok_and(|terminal| terminal == "dumb");
        if !may_have || is_known || is_dumb {
            return Ok(());
        }
        let question = self.messages.choose(
            "Key (shown as *, kept in keys.toml for you alone; Enter if there is none): ",
            "密钥（显示为 *，存入只有你能读的 keys.toml；没有则按 Enter）: ",
        );
        self.out.flush()?;
        let key = match self.editor.read_secret(question).await? {
            LineInput::Line(line) => line.trim().to_owned(),
            LineInput::Interrupted | LineInput::End => {
                return Err(WizardStop::Cancelled(WizardCancelled));
            }
        };
        choices.key = (!key.is_empty()).then(|| (provider.name.to_owned(), SecretString::new(key)));
        Ok(())
    }

    /// Asks for the model, from the provider's list if there is one, and tests it. Without a name, the provider is written
    /// but not used.
    async fn ask_model(&mut self, choices: &mut OnboardChoices) -> StepResult {
        let config = model_probe::config_with_choices(self.cx, choices);
        let Some(current) = config.chat_model().map(|model| model.model) else { return Ok(()) };
        if choices.model.is_none() {
            let listed = model_probe::list_models(self.cx, &config).await.unwrap_or_default();
            for (index, name) in listed.iter().take(MAX_LISTED_MODELS).enumerate() {
                self.print_line(&format!("  {}) {}", index + 1, sanitize(name)))?;
            }
            let default = Some(current.clone()).filter(|name| !name.is_empty());
            let default = default.or_else(|| listed.first().cloned()).unwrap_or_default();
            let question =
                format!("{} [{}]: ", self.messages.choose("Model", "模型"), sanitize(&default));
            let mut answer = self.ask_line(&question).await?;
            if answer.is_none() && default.is_empty() {
                self.print_line(self.messages.choose(
                    "A model has a name, as its provider spells it. Enter again goes on without one.",
                    "模型要有名称，按服务商的写法。再按一次 Enter 则不用模型。",
                ))?;
                answer = self.ask_line(&question).await?;
            }
            let answer = answer.map(|answer| {
                let number = answer.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
                number.and_then(|index| listed.get(index).cloned()).unwrap_or(answer)
            });
            choices.model = answer.or(Some(default).filter(|name| !name.is_empty()));
        }
        if choices.model.is_none() {
            return self.leave_model_out(choices);
        }
        if choices.model.as_ref() == Some(&current) && choices.provider.is_none() {
            choices.model = None;
        }
        self.probe(choices).await
    }

    fn leave_model_out(&mut self, choices: &mut OnboardChoices) -> StepResult {
        choices.lacks_model = true;
        self.print_line(self.messages.choose(
            "Provider and address are kept; without the name of a model none is used. Memory works without one.",
            "服务商和地址会保留；没有模型名称，所以不用模型。没有模型，记忆也能用。",
        ))
    }

    async fn probe(&mut self, choices: &mut OnboardChoices) -> StepResult {
        if choices.no_check {
            return Ok(());
        }
        let config = model_probe::config_with_choices(self.cx, choices);
        self.print_line(self.messages.choose("Asking the model…", "正在询问模型……"))?;
        let probe = model_probe::probe_model(self.cx, &config).await;
        self.print_line(&probe.render_line(self.messages))?;
        (choices.no_check, choices.is_silent) = (true, !probe.ok);
        Ok(())
    }

    /// Asks who the agent is; Enter keeps what SOUL.md says, or takes the default.
    async fn ask_persona(&mut self, choices: &mut OnboardChoices) -> StepResult {
        let soul = SoulEdit::apply_choices(self.cx, &OnboardChoices::default(), self.messages)?;
        let steps = [
            (&mut choices.name, PERSONA[0]),
            (&mut choices.personality, PERSONA[1]),
            (&mut choices.speaking, PERSONA[2]),
        ];
        for (choice, step) in steps {
            if choice.is_some() {
                continue;
            }
            let messages = self.messages;
            let pick = |texts: (&'static str, &'static str)| messages.choose(texts.0, texts.1);
            let (label, title, default) = (pick(step.label), pick(step.title), pick(step.default));
            let written = soul.section(title);
            let shown = written.as_deref().unwrap_or(default);
            let shown = truncate_width(&sanitize(&shown.replace('\n', " ")), MAX_SHOWN_CELLS);
            let answer = self.ask_line(&format!("{label} [{shown}]: ")).await?;
            *choice = answer.or_else(|| written.is_none().then(|| default.to_owned()));
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
                self.print_line(super::report::connect_help(self.messages))?;
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

/// Returns a provider whose key is in the environment.
fn provider_with_key() -> Option<&'static str> {
    let has_key = |provider: &&ChatProvider| provider.key_variables.iter().any(is_variable_set);
    CHAT_PROVIDERS.iter().find(has_key).map(|provider| provider.name)
}

fn is_variable_set(name: &&str) -> bool {
    std::env::var(name).is_ok_and(|key| !key.trim().is_empty())
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
