//! Edits of SOUL.md by the wizard: sections for name, personality and way of speaking.

use everlore::{
    engine::{Layer, LayerEdit, LayerText},
    internal::files::{layers::EditContext, sections::MarkdownSections},
    types::Actor,
};

use super::OnboardChoices;
use crate::{CliContext, CliError, Result, commands::chat::UiMessages};

/// Edited SOUL.md.
#[derive(Debug)]
pub(super) struct SoulEdit {
    before: LayerText,
    /// New text.
    text: String,
    /// New sections.
    pub(super) added: Vec<&'static str>,
    /// Sections that had another text.
    pub(super) replaced: Vec<&'static str>,
}

impl SoulEdit {
    /// Returns SOUL.md with the chosen persona.
    pub(super) fn apply_choices(
        cx: &CliContext,
        choices: &OnboardChoices,
        messages: UiMessages,
    ) -> Result<Self> {
        let before = cx.layers().read(Layer::Soul, cx.now().date())?;
        let mut soul =
            Self { text: before.text.clone(), before, added: Vec::new(), replaced: Vec::new() };
        for (title, content) in persona_sections(choices, messages) {
            soul.set_section(title, &content)?;
        }
        Ok(soul)
    }

    /// Returns the text of a section, if SOUL.md has one.
    pub(super) fn section(&self, title: &str) -> Option<String> {
        let sections = MarkdownSections::parse(&self.before.text);
        sections.get(title).map(|section| section.body.trim().to_owned())
    }

    /// Returns `true` if anything changes.
    pub(super) fn has_changes(&self) -> bool {
        self.text != self.before.text
    }

    /// Writes the file, unless it was changed meanwhile.
    pub(super) fn write(self, cx: &CliContext) -> Result<LayerText> {
        let edit = LayerEdit::Write { before: self.before.text, text: self.text };
        let context = EditContext { actor: Actor::Person, now: cx.now() };
        let changed =
            cx.layers().edit(Layer::Soul, &edit, &context).map_err(|error| match error {
                everlore::Error::Conflict { .. } => CliError::new(
                    "conflict",
                    "SOUL.md has been changed in the meantime",
                    "run `everlore onboard` again",
                ),
                other => other.into(),
            })?;
        Ok(changed.layer)
    }

    fn set_section(&mut self, title: &'static str, content: &str) -> Result<()> {
        let sections = MarkdownSections::parse(&self.text);
        let text = match sections.get(title) {
            Some(section) if section.body.trim() == content => return Ok(()),
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

fn persona_sections(choices: &OnboardChoices, messages: UiMessages) -> Vec<(&'static str, String)> {
    let title = |english, chinese| messages.choose(english, chinese);
    let name = choices.name.as_ref().map(|name| {
        if messages.is_chinese() {
            format!("我叫{name}。")
        } else {
            format!("My name is {name}.")
        }
    });
    let all = [
        (title("Name", "名字"), name),
        (title("Personality", "个性"), choices.personality.clone()),
        (title("Way of speaking", "说话方式"), choices.speaking.clone()),
    ];
    all.into_iter().filter_map(|(title, content)| Some((title, content?))).collect()
}
