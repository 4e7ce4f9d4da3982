//! `everlore onboard`: first setup, safe to run again.

mod config_edit;
mod soul_edit;
mod model_probe;
mod wizard;
mod answers;
mod report;

use std::io::{self, IsTerminal};

use clap::Args;
use everlore::{config::SecretString, engine::Language};
use serde_json::{Value, json};

use self::{
    config_edit::ConfigEdit,
    model_probe::ModelProbe,
    report::{print_next, print_unchanged, print_written},
    soul_edit::SoulEdit,
    wizard::Wizard,
};
use crate::{
    CliContext, CliError, Exit, Output, Result,
    commands::{chat::UiMessages, connect},
    config_file, keys,
};

/// Choose a model and who the agent is
///
/// At a terminal it asks step by step; a given option skips its question, and Enter leaves a step unchanged. With --yes
/// it asks nothing, and writes nothing if the model does not answer. It edits config.toml, where comments and other
/// settings stay, and sections of SOUL.md; sections that you wrote are replaced only after a confirmation, or with
/// --replace. A key that you type goes into keys.toml, which only you can read. Run it again to change a choice.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct OnboardArgs {
    /// The language of prompts and of the wizard: en, zh or auto
    #[arg(long, value_name = "LANGUAGE", value_parser = ["en", "zh", "auto"])]
    language: Option<String>,
    /// The provider of the model, such as openai, anthropic, gemini, ollama, deepseek or qwen
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// The provider's name of the model
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
    /// Do not test the model
    #[arg(long)]
    no_check: bool,
    /// Replace sections of SOUL.md that differ
    #[arg(long)]
    replace: bool,
    /// Ask nothing: apply the options and leave the rest unchanged
    #[arg(short, long)]
    yes: bool,
}

/// Choices from options or answers; `None` for skipped ones.
#[derive(Debug, Clone, Default)]
struct OnboardChoices {
    language: Option<String>,
    provider: Option<String>,
    model: Option<String>,
    base_url: Option<String>,
    key_command: Option<String>,
    /// Provider and key that was typed for it; it goes into keys.toml.
    key: Option<(String, SecretString)>,
    name: Option<String>,
    personality: Option<String>,
    speaking: Option<String>,
    connect: Vec<String>,
    no_check: bool,
    /// Set if a provider was chosen without a model: it is written, but no model is used.
    lacks_model: bool,
    /// Set if the model was asked and did not answer.
    is_silent: bool,
}

impl OnboardChoices {
    /// Returns the settings of the choices.
    fn config_values(&self) -> Vec<(&'static str, &'static str, toml_edit::Value)> {
        let names_model = (self.provider.is_some() || self.model.is_some()) && !self.lacks_model;
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

    /// Returns `true` if a model was chosen, at least in part.
    fn has_model(&self) -> bool {
        self.provider.is_some() || self.model.is_some() || self.base_url.is_some()
    }
}

impl OnboardArgs {
    /// Asks for the choices, writes them, and prints what was written.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let (yes, replace) = (self.yes, self.replace);
        let choices = self.into_choices();
        if let Some(provider) = &choices.provider {
            keys::check_provider(provider)?;
        }
        if yes || out.is_json() {
            return run_unattended(cx, out, &choices, replace).await;
        }
        if !io::stdin().is_terminal() {
            return Err(CliError::invalid(
                "there is no terminal to ask at",
                "give the choices as options and --yes; `everlore onboard --help` lists them",
            ));
        }
        run_wizard(cx, out, choices, replace).await
    }

    fn into_choices(self) -> OnboardChoices {
        let trimmed = |text: Option<String>| {
            text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
        };
        OnboardChoices {
            language: trimmed(self.language),
            provider: trimmed(self.provider),
            model: trimmed(self.model),
            base_url: trimmed(self.base_url),
            key_command: trimmed(self.key_command),
            key: None,
            name: trimmed(self.name),
            personality: trimmed(self.personality),
            speaking: trimmed(self.speaking),
            connect: self.connect,
            no_check: self.no_check,
            lacks_model: false,
            is_silent: false,
        }
    }
}

/// Applies the options without questions. If the model does not answer, nothing changes.
async fn run_unattended(
    cx: &CliContext,
    out: &mut Output,
    choices: &OnboardChoices,
    replace: bool,
) -> Result<Exit> {
    let messages = messages_for(cx, choices);
    let config = model_probe::config_with_choices(cx, choices);
    if choices.has_model() && config.memory_agent.model.is_empty() {
        return Err(CliError::invalid(
            "a provider needs the name of a model",
            "give --model NAME, as the provider spells it",
        ));
    }
    let edit = config_edit::apply_choices(&config_file::read_config(&cx.settings.path)?, choices)?;
    let probe = if choices.has_model() && !choices.no_check {
        Some(model_probe::probe_model(cx, &config).await)
    } else {
        None
    };
    if let Some(failed) = probe.as_ref().filter(|probe| !probe.ok) {
        return print_failed_probe(cx, out, failed, messages);
    }
    cx.create_first_layers(&cx.home);
    let soul = SoulEdit::apply_choices(cx, choices, messages)?;
    if !soul.replaced.is_empty() && !replace {
        return Err(CliError::invalid(
            format!("SOUL.md has another text in: {}", soul.replaced.join(", ")),
            "use --replace to replace these sections, or leave the options out; nothing was changed",
        ));
    }
    let (changes, sections) =
        (edit.changes.clone(), [soul.added.clone(), soul.replaced.clone()].concat());
    write_choices(cx, &edit, soul, choices)?;
    if out.is_json() {
        out.json(&report_json(cx, &changes, &sections, probe.as_ref()))?;
        return Ok(Exit::Done);
    }
    if let Some(probe) = probe {
        out.line(&probe.render_line(messages))?;
    }
    print_written(cx, out, (&changes, &sections), choices, messages)?;
    connect_chosen(cx, out, &choices.connect)?;
    print_next(cx, choices, out, messages)?;
    Ok(Exit::Done)
}

/// Reports that nothing was written, because the model did not answer.
fn print_failed_probe(
    cx: &CliContext,
    out: &mut Output,
    probe: &ModelProbe,
    messages: UiMessages,
) -> Result<Exit> {
    if out.is_json() {
        out.json(&report_json(cx, &[], &[], Some(probe)))?;
        return Ok(Exit::Failed);
    }
    out.line(&probe.render_line(messages))?;
    out.line(messages.choose(
        "nothing was written; fix it and run this again, or use --no-check to write it anyway",
        "什么都没有写入；请改正后重新运行，或加上 --no-check 直接写入",
    ))?;
    Ok(Exit::Failed)
}

/// Returns the report for programs.
fn report_json(
    cx: &CliContext,
    changes: &[String],
    sections: &[&str],
    probe: Option<&ModelProbe>,
) -> Value {
    json!({
        "config": cx.settings.path.display().to_string(),
        "settings": changes,
        "soul": sections,
        "check": probe,
    })
}

/// Asks step by step; nothing is written before the last question. Answers are never lost: whatever ends the wizard, it
/// prints the command that goes on with them.
async fn run_wizard(
    cx: &CliContext,
    out: &mut Output,
    choices: OnboardChoices,
    replace: bool,
) -> Result<Exit> {
    let mut wizard = Wizard::new(cx, out, messages_for(cx, &choices));
    let mut answers = choices;
    let outcome = match wizard.run(&mut answers).await {
        Ok(true) => finish_wizard(&mut wizard, &answers, replace).await,
        unfinished => unfinished,
    };
    let messages = wizard.messages;
    match outcome {
        Ok(true) => Ok(Exit::Done),
        Ok(false) => print_unchanged(out, messages, &answers),
        Err(error) => {
            // The one answer that no command line can repeat; what failed is told already.
            let _ = write_key(cx, &answers);
            Err(answers.kept_in(error, messages))
        }
    }
}

/// Shows what would change, and writes it; returns `false` if the user does not want that.
async fn finish_wizard(
    wizard: &mut Wizard<'_>,
    choices: &OnboardChoices,
    replace: bool,
) -> Result<bool> {
    let (cx, messages) = (wizard.cx, wizard.messages);
    cx.create_first_layers(&cx.home);
    let edit = config_edit::apply_choices(&config_file::read_config(&cx.settings.path)?, choices)?;
    let mut soul = SoulEdit::apply_choices(cx, choices, messages)?;
    if !replace && !confirm_replace(wizard, &soul).await? {
        soul = SoulEdit::apply_choices(cx, &OnboardChoices::default(), messages)?;
    }
    let sections = [soul.added.clone(), soul.replaced.clone()].concat();
    if !confirm_write(wizard, &edit, &soul, choices).await? {
        return Ok(false);
    }
    let changes = edit.changes.clone();
    write_choices(cx, &edit, soul, choices)?;
    print_written(cx, wizard.out, (&changes, &sections), choices, messages)?;
    connect_chosen(cx, wizard.out, &choices.connect)?;
    print_next(cx, choices, wizard.out, messages)?;
    Ok(true)
}

/// Connects the chosen agents.
fn connect_chosen(cx: &CliContext, out: &mut Output, agents: &[String]) -> Result<()> {
    if agents.is_empty() { Ok(()) } else { connect::connect_agents(agents, cx, out).map(drop) }
}

/// Asks if sections of SOUL.md that a person wrote may be replaced; returns `true` if there are none.
async fn confirm_replace(wizard: &mut Wizard<'_>, soul: &SoulEdit) -> Result<bool> {
    if soul.replaced.is_empty() {
        return Ok(true);
    }
    let question = if wizard.messages.is_chinese() {
        format!("SOUL.md 中已有不同的内容（{}），替换吗？[y/N]: ", soul.replaced.join("、"))
    } else {
        format!("SOUL.md has another text in {}. Replace it? [y/N]: ", soul.replaced.join(", "))
    };
    wizard.confirm(&question, false).await
}

/// Shows the changes and asks for a confirmation, unless nothing changes.
async fn confirm_write(
    wizard: &mut Wizard<'_>,
    edit: &ConfigEdit,
    soul: &SoulEdit,
    choices: &OnboardChoices,
) -> Result<bool> {
    if edit.changes.is_empty() && !soul.has_changes() && choices.key.is_none() {
        return Ok(true);
    }
    for change in &edit.changes {
        wizard.out.line(&format!("  {change}"))?;
    }
    for section in soul.added.iter().chain(&soul.replaced) {
        wizard.out.line(&format!("  SOUL.md: {section}"))?;
    }
    if let Some((provider, _)) = &choices.key {
        let key = wizard.messages.choose("the key of", "密钥：");
        wizard.out.line(&format!("  {}: {key} {provider}", keys::KEYS_FILE))?;
    }
    let question = wizard.messages.choose("Write this? [Y/n]: ", "写入这些内容吗？[Y/n]: ");
    wizard.confirm(question, true).await
}

fn write_choices(
    cx: &CliContext,
    edit: &ConfigEdit,
    soul: SoulEdit,
    choices: &OnboardChoices,
) -> Result<()> {
    write_key(cx, choices)?;
    if soul.has_changes() {
        soul.write(cx)?;
    }
    if !edit.changes.is_empty() {
        config_file::write_config(&cx.settings.path, &edit.text)?;
    }
    Ok(())
}

/// Saves the key that was typed, if there is one.
fn write_key(cx: &CliContext, choices: &OnboardChoices) -> Result<()> {
    match &choices.key {
        Some((provider, key)) => keys::write_key(&cx.home, provider, Some(key)),
        None => Ok(()),
    }
}

/// Returns the messages in the chosen language, else in that of the settings or the system.
fn messages_for(cx: &CliContext, choices: &OnboardChoices) -> UiMessages {
    match choices.language.as_deref() {
        Some("zh") => UiMessages::for_language(Language::Chinese),
        Some("en") => UiMessages::for_language(Language::English),
        _ => UiMessages::for_language(cx.language()),
    }
}

fn is_yes(answer: &str) -> bool {
    ["y", "yes", "是", "好"].contains(&answer.trim().to_lowercase().as_str())
}
