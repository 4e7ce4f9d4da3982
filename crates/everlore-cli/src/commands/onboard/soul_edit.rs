//! Who the agent is, as the wizard writes it: sections of SOUL.md. What stands in it already is replaced only with a yes.

use everlore::{
    files::{
        layers::{EditContext, Layer, LayerEdit, LayerText},
        sections::MarkdownSections,
    },
    types::Actor,
};

use super::OnboardChoices;
use crate::{
    cli_context::CliContext,
    commands::chat::UiMessages,
    error::{CliError, Result},
};

/// SOUL.md as it would be.
#[derive(Debug)]
pub(super) struct SoulEdit {
    before: LayerText,
    /// The whole text.
    text: String,
    /// Sections that are new.
    pub(super) added: Vec<&'static str>,
    /// Sections that said something else.
    pub(super) replaced: Vec<&'static str>,
}

impl SoulEdit {
    /// SOUL.md with the persona that was chosen.
    pub(super) fn apply_choices(
        cx: &CliContext,
        chosen: &OnboardChoices,
        phrases: UiMessages,
    ) -> Result<Self> {
        let before = cx.layers().read(Layer::Soul, cx.now().date())?;
        let mut soul =
            Self { text: before.text.clone(), before, added: Vec::new(), replaced: Vec::new() };
        for (title, content) in persona_sections(chosen, phrases) {
            soul.set_section(title, &content)?;
        }
        Ok(soul)
    }

    /// Whether anything changes.
    pub(super) fn has_changes(&self) -> bool {
        self.text != self.before.text
    }

    /// Writes it, unless somebody else did meanwhile.
    pub(super) fn write(self, cx: &CliContext) -> Result<LayerText> {
        let edit = LayerEdit::Write { before: self.before.text, text: self.text };
        let by = EditContext { actor: Actor::Person, now: cx.now() };
        let changed = cx.layers().edit(Layer::Soul, &edit, &by).map_err(|error| match error {
            everlore::Error::Conflict { .. } => CliError::new(
                "conflict",
                "SOUL.md was changed meanwhile",
                "run `everlore onboard` again",
            ),
            other => other.into(),
        })?;
        Ok(changed.layer)
    }

    fn set_section(&mut self, title: &'static str, content: &str) -> Result<()> {
        let sections = MarkdownSections::parse(&self.text);
        let text = match sections.get(title) {
            Some(known) if known.body.trim() == content => return Ok(()),
            Some(_) => {
                self.replaced.push(title);
                sections.remove(title)?.text
            }
            None => {
                self.added.push(title);
                self.text.clone()
            }
        };
        self.text = MarkdownSections::parse(&text).add(title, content)?.text;
        Ok(())
    }
}

fn persona_sections(chosen: &OnboardChoices, phrases: UiMessages) -> Vec<(&'static str, String)> {
    let title = |english, chinese| phrases.choose(english, chinese);
    let name = chosen.name.as_ref().map(|name| match phrases.is_chinese() {
        true => format!("我叫{name}。"),
        false => format!("My name is {name}."),
    });
    let all = [
        (title("Name", "名字"), name),
        (title("Personality", "个性"), chosen.personality.clone()),
        (title("Way of speaking", "说话方式"), chosen.speaking.clone()),
    ];
    all.into_iter().filter_map(|(title, content)| Some((title, content?))).collect()
}
