//! `everlore onboard`: from nothing to a first conversation; safe to run again.

mod config_edit;
mod soul_edit;
mod model_probe;
mod wizard;

use std::io::{self, IsTerminal};

use clap::Args;
use everlore::text::language::Language;
use serde_json::{Value, json};

use self::{config_edit::ConfigEdit, model_probe::ModelProbe, soul_edit::SoulEdit, wizard::Wizard};
use crate::{
    cli_context::CliContext,
    commands::{chat::UiMessages, connect},
    error::{CliError, Exit, Result},
    output::Output,
};

/// Choose a model and who the agent is
///
/// At a terminal it asks; what is given as an option is not asked for, and Enter leaves a step as it is. With --yes nothing
/// is asked, and nothing is written if the model does not answer. It writes config.toml, where comments and other settings stay, and sections of SOUL.md; what a person wrote
/// there is replaced only after a yes, or with --replace. Keys are written to no file. Run it again to change a choice.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct OnboardArgs {
    /// The language of prompts and of the wizard: en, zh or auto
    #[arg(long, value_name = "LANGUAGE", value_parser = ["en", "zh", "auto"])]
    language: Option<String>,
    /// Who serves the model, such as openai, anthropic, gemini, ollama, deepseek or qwen
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// The model, as its provider spells it
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// The address of the provider [default: the provider's own]
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// A command that prints the key, such as "pass show openai" [default: the provider's variable]
    #[arg(long, value_name = "COMMAND")]
    key_command: Option<String>,
    /// The agent's name
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// Its personality, in a sentence
    #[arg(long, value_name = "TEXT")]
    personality: Option<String>,
    /// Its way of speaking, in a sentence
    #[arg(long, value_name = "TEXT")]
    speaking: Option<String>,
    /// An agent that should use this memory, such as claude-code; may be repeated (see `everlore connect`)
    #[arg(long, value_name = "AGENT")]
    connect: Vec<String>,
    /// Do not ask the model whether it answers
    #[arg(long)]
    no_check: bool,
    /// Replace sections of SOUL.md that say something else
    #[arg(long)]
    replace: bool,
    /// Ask nothing: take the options, leave the rest as it is
    #[arg(short, long)]
    yes: bool,
}

/// What was chosen, by options or answers; what was skipped is none.
#[derive(Debug, Clone, Default)]
struct OnboardChoices {
    language: Option<String>,
    provider: Option<String>,
    model: Option<String>,
    base_url: Option<String>,
    key_command: Option<String>,
    name: Option<String>,
    personality: Option<String>,
    speaking: Option<String>,
    connect: Vec<String>,
    no_check: bool,
}

impl OnboardChoices {
    /// The settings that it means.
    fn config_values(&self) -> Vec<(&'static str, &'static str, toml_edit::Value)> {
        let names_model = self.provider.is_some() || self.model.is_some();
        let text = |text: &Option<String>| text.as_deref().map(toml_edit::Value::from);
        let all = [
            ("general", "language", text(&self.language)),
            ("memory_agent", "enabled", names_model.then(|| true.into())),
            ("memory_agent", "provider", text(&self.provider)),
            ("memory_agent", "model", text(&self.model)),
            ("memory_agent", "base_url", text(&self.base_url)),
            ("memory_agent", "key_command", text(&self.key_command)),
        ];
        all.into_iter().filter_map(|(section, name, value)| Some((section, name, value?))).collect()
    }

    /// Whether a model was chosen, as a whole or in part.
    fn has_model(&self) -> bool {
        self.provider.is_some() || self.model.is_some() || self.base_url.is_some()
    }
}

impl OnboardArgs {
    /// Asks, writes, and tells what was written.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let (yes, replace) = (self.yes, self.replace);
        let chosen = self.into_choices();
        if yes || out.is_json() {
            return run_unattended(cx, out, &chosen, replace).await;
        }
        if !io::stdin().is_terminal() {
            return Err(CliError::invalid(
                "there is no terminal to ask at",
                "give the choices as options and --yes; `everlore onboard --help` lists them",
            ));
        }
        run_wizard(cx, out, chosen, replace).await
    }

    fn into_choices(self) -> OnboardChoices {
        let given = |text: Option<String>| {
            text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
        };
        OnboardChoices {
            language: given(self.language),
            provider: given(self.provider),
            model: given(self.model),
            base_url: given(self.base_url),
            key_command: given(self.key_command),
            name: given(self.name),
            personality: given(self.personality),
            speaking: given(self.speaking),
            connect: self.connect,
            no_check: self.no_check,
        }
    }
}

/// Takes the options as they are. A model that does not answer leaves everything as it was.
async fn run_unattended(
    cx: &CliContext,
    out: &mut Output,
    chosen: &OnboardChoices,
    replace: bool,
) -> Result<Exit> {
    let phrases = messages_for(cx, chosen);
    let written =
        config_edit::apply_choices(&config_edit::read_config(&cx.settings.path)?, chosen)?;
    let check = match chosen.has_model() && !chosen.no_check {
        true => {
            Some(model_probe::probe_model(cx, &model_probe::config_with_choices(cx, chosen)).await)
        }
        false => None,
    };
    if let Some(live) = check.as_ref().filter(|live| !live.ok) {
        return print_failed_probe(cx, out, live, phrases);
    }
    cx.create_first_layers(&cx.home);
    let soul = SoulEdit::apply_choices(cx, chosen, phrases)?;
    if !soul.replaced.is_empty() && !replace {
        return Err(CliError::invalid(
            format!("SOUL.md says something else in: {}", soul.replaced.join(", ")),
            "give --replace to replace these sections, or leave the options out; nothing was changed",
        ));
    }
    let (changes, sections) =
        (written.changes.clone(), [soul.added.clone(), soul.replaced.clone()].concat());
    write_choices(cx, &written, soul)?;
    if out.is_json() {
        out.json(&report_json(cx, &changes, &sections, check.as_ref()))?;
        return Ok(Exit::Done);
    }
    if let Some(live) = check {
        out.line(&live.render_line(phrases))?;
    }
    print_written(cx, out, &changes, &sections, phrases)?;
    connect_chosen(cx, out, &chosen.connect)?;
    Ok(Exit::Done)
}

/// Tells that nothing was written, because the model did not answer.
fn print_failed_probe(
    cx: &CliContext,
    out: &mut Output,
    live: &ModelProbe,
    phrases: UiMessages,
) -> Result<Exit> {
    if out.is_json() {
        out.json(&report_json(cx, &[], &[], Some(live)))?;
        return Ok(Exit::Failed);
    }
    out.line(&live.render_line(phrases))?;
    out.line(phrases.choose(
        "nothing was written; mend it and run this again, or give --no-check to write it all the same",
        "什么都没有写入；请改正后重新运行，或加上 --no-check 直接写入",
    ))?;
    Ok(Exit::Failed)
}

/// What was written, for programs.
fn report_json(
    cx: &CliContext,
    changes: &[String],
    sections: &[&str],
    check: Option<&ModelProbe>,
) -> Value {
    json!({
        "config": cx.settings.path.display().to_string(),
        "settings": changes,
        "soul": sections,
        "check": check,
    })
}

/// Asks step by step; nothing is written before the last question.
async fn run_wizard(
    cx: &CliContext,
    out: &mut Output,
    chosen: OnboardChoices,
    replace: bool,
) -> Result<Exit> {
    let mut wizard = Wizard::new(cx, out, messages_for(cx, &chosen));
    let Some(chosen) = wizard.run(chosen).await? else {
        return print_unchanged(wizard.out, wizard.messages);
    };
    let phrases = wizard.messages;
    cx.create_first_layers(&cx.home);
    let written =
        config_edit::apply_choices(&config_edit::read_config(&cx.settings.path)?, &chosen)?;
    let mut soul = SoulEdit::apply_choices(cx, &chosen, phrases)?;
    if !replace && !confirm_replace(&mut wizard, &soul).await? {
        soul = SoulEdit::apply_choices(cx, &OnboardChoices::default(), phrases)?;
    }
    let sections = [soul.added.clone(), soul.replaced.clone()].concat();
    if !confirm_write(&mut wizard, &written, &soul, &sections).await? {
        return print_unchanged(out, phrases);
    }
    let changes = written.changes.clone();
    write_choices(cx, &written, soul)?;
    print_written(cx, out, &changes, &sections, phrases)?;
    connect_chosen(cx, out, &chosen.connect)?;
    Ok(Exit::Done)
}

/// Connects the agents that were chosen.
fn connect_chosen(cx: &CliContext, out: &mut Output, agents: &[String]) -> Result<()> {
    match agents.is_empty() {
        true => Ok(()),
        false => connect::connect_agents(agents, cx, out).map(drop),
    }
}

fn print_unchanged(out: &mut Output, phrases: UiMessages) -> Result<Exit> {
    out.line(phrases.choose("nothing was changed", "什么都没有改"))?;
    Ok(Exit::Done)
}

/// Whether what a person wrote into SOUL.md may go; there may be nothing of that.
async fn confirm_replace(wizard: &mut Wizard<'_>, soul: &SoulEdit) -> Result<bool> {
    if soul.replaced.is_empty() {
        return Ok(true);
    }
    let question = match wizard.messages.is_chinese() {
        true => {
            format!("SOUL.md 中已有不同的内容（{}），替换吗？[y/N]: ", soul.replaced.join("、"))
        }
        false => {
            format!(
                "SOUL.md says something else in {}. Replace it? [y/N]: ",
                soul.replaced.join(", ")
            )
        }
    };
    wizard.confirm(&question, false).await
}

/// Shows what would be written and asks whether it may be; what changes nothing need not be asked for.
async fn confirm_write(
    wizard: &mut Wizard<'_>,
    written: &ConfigEdit,
    soul: &SoulEdit,
    sections: &[&str],
) -> Result<bool> {
    if written.changes.is_empty() && !soul.has_changes() {
        return Ok(true);
    }
    for change in &written.changes {
        wizard.out.line(&format!("  {change}"))?;
    }
    for section in sections {
        wizard.out.line(&format!("  SOUL.md: {section}"))?;
    }
    let question = wizard.messages.choose("Write this? [Y/n]: ", "写入这些内容吗？[Y/n]: ");
    wizard.confirm(question, true).await
}

fn write_choices(cx: &CliContext, written: &ConfigEdit, soul: SoulEdit) -> Result<()> {
    if soul.has_changes() {
        soul.write(cx)?;
    }
    if !written.changes.is_empty() {
        config_edit::write_config(&cx.settings.path, &written.text)?;
    }
    Ok(())
}

/// What was written, and what to do next.
fn print_written(
    cx: &CliContext,
    out: &mut Output,
    changes: &[String],
    sections: &[&str],
    phrases: UiMessages,
) -> Result<()> {
    let path = cx.settings.path.display();
    match (changes.is_empty(), sections.is_empty()) {
        (true, true) => out.line(phrases.choose("nothing to change", "没有需要改的内容"))?,
        (false, _) => out.line(&format!("{}: {path}", phrases.choose("written", "已写入")))?,
        (true, false) => out.line(phrases.choose("written: SOUL.md", "已写入：SOUL.md"))?,
    }
    out.line(phrases.choose("next: everlore chat", "下一步：everlore chat"))
}

/// How agents that have no connection of their own get at the memory.
fn connect_help(phrases: UiMessages) -> &'static str {
    phrases.choose(
        "\
Coding agents: everlore connect --list, then everlore connect NAME
Any agent that can run commands can use it:
  before an answer   everlore context \"MESSAGE\"   prints what is worth knowing, or nothing
  after a message    everlore observe --session NAME --role user   stores each line of its input
  as tools           everlore tool list, everlore tool call NAME JSON
A memory folder of a coding assistant can be kept in step: everlore vault init FOLDER
What another system remembers comes along: everlore import auto PATH --dry-run",
        "\
编程智能体：先 everlore connect --list，再 everlore connect 名称
任何能运行命令的智能体都可以使用：
  回答之前   everlore context \"消息\"   输出值得知道的内容，没有就不输出
  说话之后   everlore observe --session 名称 --role user   保存输入的每一行
  作为工具   everlore tool list，everlore tool call 名称 JSON
编程助手的记忆文件夹可以保持同步：everlore vault init 文件夹
其他系统的记忆可以导入：everlore import auto 路径 --dry-run",
    )
}

/// The language of the wizard: what was chosen, or what the settings and the system say.
fn messages_for(cx: &CliContext, chosen: &OnboardChoices) -> UiMessages {
    match chosen.language.as_deref() {
        Some("zh") => UiMessages::for_language(Language::Chinese),
        Some("en") => UiMessages::for_language(Language::English),
        _ => UiMessages::for_language(cx.language()),
    }
}

fn is_yes(answer: &str) -> bool {
    ["y", "yes", "是", "好"].contains(&answer.trim().to_lowercase().as_str())
}
