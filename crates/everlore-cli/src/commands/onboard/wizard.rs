//! The questions, one after the other; Enter leaves anything as it is.

use everlore::{
    config::{CHAT_PROVIDERS, LanguageChoice, chat_provider},
    text::language::Language,
};

use super::{Chosen, check};
use crate::{
    commands::{
        chat::{LineEditor, Phrases, Read},
        connect,
    },
    context::Context,
    failure::Result,
    keys,
    output::Output,
    words::visible,
};

/// The models of a provider that are listed; some have hundreds.
const LISTED: usize = 20;

/// Asks at a terminal.
pub(super) struct Wizard<'a> {
    pub(super) cx: &'a Context,
    pub(super) out: &'a mut Output,
    pub(super) phrases: Phrases,
    editor: LineEditor,
}

/// An answer that ends the wizard.
pub(super) struct Left;

impl<'a> Wizard<'a> {
    pub(super) fn new(cx: &'a Context, out: &'a mut Output, phrases: Phrases) -> Self {
        Self { cx, out, phrases, editor: LineEditor::new(&[], None) }
    }

    /// Asks for everything that was not given yet; none if the user left.
    pub(super) async fn ask(&mut self, mut chosen: Chosen) -> Result<Option<Chosen>> {
        let welcome = self.phrases.choose(
            "Enter leaves a step as it is; Ctrl+C leaves without changing anything.",
            "按 Enter 跳过一步；Ctrl+C 退出，什么都不改。",
        );
        self.out.line(welcome)?;
        let steps = async {
            self.language(&mut chosen).await?;
            self.provider(&mut chosen).await?;
            self.model(&mut chosen).await?;
            self.persona(&mut chosen).await?;
            self.connect(&mut chosen).await
        };
        match steps.await {
            Ok(()) => Ok(Some(chosen)),
            Err(Stopped::Left(Left)) => Ok(None),
            Err(Stopped::Failed(failure)) => Err(failure),
        }
    }

    async fn language(&mut self, chosen: &mut Chosen) -> Step {
        let now = match self.cx.settings.config.general.language {
            LanguageChoice::Auto => "auto",
            LanguageChoice::En => "en",
            LanguageChoice::Zh => "zh",
        };
        while chosen.language.is_none() {
            let question = format!("Language / 语言: en, zh, auto [{now}]: ");
            let Some(answer) = self.question(&question).await? else { break };
            match answer.as_str() {
                "en" | "zh" | "auto" => chosen.language = Some(answer),
                _ => self.say("en, zh, auto")?,
            }
        }
        match chosen.language.as_deref() {
            Some("zh") => self.phrases = Phrases::of(Language::Chinese),
            Some("en") => self.phrases = Phrases::of(Language::English),
            _ => {}
        }
        Ok(())
    }

    async fn provider(&mut self, chosen: &mut Chosen) -> Step {
        if chosen.provider.is_some() {
            return Ok(());
        }
        let names = CHAT_PROVIDERS.iter().enumerate();
        let names: Vec<String> =
            names.map(|(at, known)| format!("{}) {}", at + 1, known.name)).collect();
        self.say(self.phrases.choose("Who serves the model?", "由谁提供模型？"))?;
        self.say(&format!("  {}", names.join("  ")))?;
        let now = self.cx.settings.config.chat_model().map(|model| model.provider);
        let provider = self.phrases.choose("Provider", "服务商");
        let question = format!("{provider} [{}]: ", now.unwrap_or_default());
        while let Some(answer) = self.question(&question).await? {
            let by_number = answer.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            let by_number = by_number.and_then(|at| CHAT_PROVIDERS.get(at));
            if let Some(known) = by_number.or_else(|| chat_provider(&answer.to_lowercase())) {
                chosen.provider = Some(known.name.to_owned());
                return self.address(chosen).await;
            }
            self.say(
                self.phrases
                    .choose("give a number or a name of the list", "请输入列表中的编号或名称"),
            )?;
        }
        Ok(())
    }

    /// Where the provider is, and where its key should be.
    async fn address(&mut self, chosen: &mut Chosen) -> Step {
        let Some(known) = chosen.provider.as_deref().and_then(chat_provider) else { return Ok(()) };
        if chosen.base_url.is_none() {
            let address = self.phrases.choose("Address", "地址");
            let question = format!("{address} [{}]: ", known.base_url);
            chosen.base_url = self.question(&question).await?;
        }
        let set = |name: &&str| std::env::var(name).is_ok_and(|key| !key.trim().is_empty());
        let has_key =
            known.key_variables.iter().any(set) || keys::read(&self.cx.home, known.name)?.is_some();
        if let Some(first) = known.key_variables.first().filter(|_| !has_key) {
            let told = match self.phrases.is_chinese() {
                true => format!(
                    "密钥请放进环境变量 {first}，或用 `everlore config key {}` 保存。",
                    known.name
                ),
                false => format!(
                    "The key belongs into the variable {first}, or keep it with `everlore config key {}`.",
                    known.name
                ),
            };
            self.say(&told)?;
        }
        Ok(())
    }

    /// Which model, from the provider's own list where it gives one, and whether it answers.
    async fn model(&mut self, chosen: &mut Chosen) -> Step {
        let config = check::config_with(self.cx, chosen);
        if chosen.model.is_none() {
            let listed = check::models(self.cx, &config).await.unwrap_or_default();
            for (at, name) in listed.iter().take(LISTED).enumerate() {
                self.say(&format!("  {}) {}", at + 1, visible(name)))?;
            }
            let now = config.chat_model().map(|model| model.model).unwrap_or_default();
            let question = format!("{} [{now}]: ", self.phrases.choose("Model", "模型"));
            chosen.model = self.question(&question).await?.map(|answer| {
                let number = answer.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
                number.and_then(|at| listed.get(at).cloned()).unwrap_or(answer)
            });
        }
        let config = check::config_with(self.cx, chosen);
        if !chosen.no_check && config.chat_model().is_some_and(|model| !model.model.is_empty()) {
            self.say(self.phrases.choose("Asking the model…", "正在询问模型……"))?;
            let told = check::live(self.cx, &config).await.told(self.phrases);
            self.say(&told)?;
            chosen.no_check = true;
        }
        Ok(())
    }

    async fn persona(&mut self, chosen: &mut Chosen) -> Step {
        let steps = [
            (&mut chosen.name, "The agent's name", "智能体的名字"),
            (&mut chosen.personality, "Its personality", "个性"),
            (&mut chosen.speaking, "Its way of speaking", "说话方式"),
        ];
        for (chosen, english, chinese) in steps {
            if chosen.is_none() {
                let question = format!("{}: ", self.phrases.choose(english, chinese));
                *chosen = self.question(&question).await?;
            }
        }
        Ok(())
    }

    /// Which agents should use this memory.
    async fn connect(&mut self, chosen: &mut Chosen) -> Step {
        let found = connect::installed();
        if found.is_empty() || !chosen.connect.is_empty() {
            let question = self.phrases.choose(
                "Should other agents use this memory? [y/N]: ",
                "要让其他智能体使用这份记忆吗？[y/N]: ",
            );
            if chosen.connect.is_empty()
                && self.question(question).await?.is_some_and(|answer| super::is_yes(&answer))
            {
                self.say(super::connecting(self.phrases))?;
            }
            return Ok(());
        }
        let list = found.join(", ");
        let question = match self.phrases.is_chinese() {
            true => format!("让哪些智能体使用？找到了 {list}，名称或 all []: "),
            false => format!("Which agents should use it? Found {list}; names or all []: "),
        };
        while let Some(answer) = self.question(&question).await? {
            let names: Vec<&str> =
                answer.split([',', ' ', '、', '，']).filter(|name| !name.is_empty()).collect();
            let all = names == ["all"] || super::is_yes(&answer);
            if !all && !names.iter().all(|name| found.contains(name)) {
                self.say(&found.join(", "))?;
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
        match self.question(question).await {
            Ok(Some(answer)) => Ok(super::is_yes(&answer)),
            Ok(None) => Ok(default),
            Err(Stopped::Left(Left)) => Ok(false),
            Err(Stopped::Failed(failure)) => Err(failure),
        }
    }

    /// What was typed; none for Enter.
    async fn question(&mut self, question: &str) -> Step<Option<String>> {
        self.out.flush()?;
        match self.editor.read(question).await? {
            Read::Line(line) => Ok(Some(line.trim().to_owned()).filter(|line| !line.is_empty())),
            Read::Interrupted | Read::End => Err(Stopped::Left(Left)),
        }
    }

    fn say(&mut self, line: &str) -> Step {
        Ok(self.out.line(line)?)
    }
}

/// Why a step did not end with an answer.
enum Stopped {
    Left(Left),
    Failed(crate::failure::Failure),
}

type Step<T = ()> = std::result::Result<T, Stopped>;

impl From<crate::failure::Failure> for Stopped {
    fn from(failure: crate::failure::Failure) -> Self {
        Self::Failed(failure)
    }
}
