//! Who the agent is, as the wizard writes it: sections of SOUL.md. What stands in it already is replaced only with a yes.

use everlore::{
    files::{
        layers::{By, Layer, LayerEdit, LayerText},
        sections::Sections,
    },
    types::Actor,
};

use super::Chosen;
use crate::{
    commands::chat::Phrases,
    context::Context,
    failure::{Failure, Result},
};

/// SOUL.md as it would be.
#[derive(Debug)]
pub(super) struct Soul {
    before: LayerText,
    /// The whole text.
    text: String,
    /// Sections that are new.
    pub(super) added: Vec<&'static str>,
    /// Sections that said something else.
    pub(super) replaced: Vec<&'static str>,
}

impl Soul {
    /// SOUL.md with the persona that was chosen.
    pub(super) fn with_chosen(cx: &Context, chosen: &Chosen, phrases: Phrases) -> Result<Self> {
        let before = cx.layers().read(Layer::Soul, cx.now().date())?;
        let mut soul =
            Self { text: before.text.clone(), before, added: Vec::new(), replaced: Vec::new() };
        for (title, content) in sections(chosen, phrases) {
            soul.set(title, &content)?;
        }
        Ok(soul)
    }

    /// Whether anything changes.
    pub(super) fn changes(&self) -> bool {
        self.text != self.before.text
    }

    /// Writes it, unless somebody else did meanwhile.
    pub(super) fn write(self, cx: &Context) -> Result<LayerText> {
        let edit = LayerEdit::Write { before: self.before.text, text: self.text };
        let by = By { actor: Actor::Person, now: cx.now() };
        let changed = cx.layers().edit(Layer::Soul, &edit, &by).map_err(|error| match error {
            everlore::Error::Conflict { .. } => Failure::told(
                "conflict",
                "SOUL.md was changed meanwhile",
                "run `everlore onboard` again",
            ),
            other => other.into(),
        })?;
        Ok(changed.layer)
    }

    fn set(&mut self, title: &'static str, content: &str) -> Result<()> {
        let sections = Sections::of(&self.text);
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
        self.text = Sections::of(&text).add(title, content)?.text;
        Ok(())
    }
}

fn sections(chosen: &Chosen, phrases: Phrases) -> Vec<(&'static str, String)> {
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
