//! Edit of a layer: change of a section or of the whole file, with its author and time.

use jiff::Zoned;
use serde::Deserialize;

use super::layer::Layer;
use crate::{
    error::{Error, Result},
    files::sections::{EditedText, MarkdownSections},
    text::suspect::{count_suspect, is_suspect},
    types::Actor,
};

/// Edit of a layer: `action` is add, replace, remove or write.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "action", rename_all = "lowercase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = LayerBody))]
pub enum LayerEdit {
    /// Appends to a section, and creates the section if there is none.
    Add {
        /// Title of the section.
        section: String,
        /// Text to append.
        content: String,
    },
    /// Replaces a text that occurs exactly once in a section.
    Replace {
        /// Title of the section.
        section: String,
        /// Exact text to replace.
        old: String,
        /// Text in its place.
        new: String,
    },
    /// Removes a section.
    Remove {
        /// Title of the section.
        section: String,
    },
    /// Replaces the whole file if it is unchanged since it was read.
    Write {
        /// Text as it was read.
        before: String,
        /// New text.
        text: String,
    },
}

/// Author and time of a change.
#[derive(Debug, Clone)]
pub struct EditContext {
    /// Author.
    pub actor: Actor,
    /// Time, in the zone of the user, which decides the day.
    pub now: Zoned,
}

impl LayerEdit {
    /// Fails if an agent would write a text that reads like an instruction: by itself, or with what stands around it in
    /// the layer, since a text can be written in halves. What a person wrote there before does not count.
    pub(super) fn check_suspect(
        &self,
        layer: Layer,
        actor: Actor,
        before: &str,
        after: &str,
    ) -> Result<()> {
        let is_order = || {
            self.new_texts().into_iter().any(is_suspect)
                || count_suspect(after) > count_suspect(before)
        };
        if actor == Actor::Person || !is_order() {
            return Ok(());
        }
        Err(Error::invalid(
            format!(
                "the text reads like an instruction to the model, so it is not written into {layer}"
            ),
            "write what is worth knowing in your own words, or ask the user to write it",
        ))
    }

    /// Returns the texts that the edit brings in.
    fn new_texts(&self) -> Vec<&str> {
        match self {
            Self::Add { section, content } => vec![section, content],
            Self::Replace { new, .. } => vec![new],
            Self::Remove { .. } => Vec::new(),
            Self::Write { text, .. } => vec![text],
        }
    }

    /// Returns the text after the edit. Fails if a section or text is missing, or if the file has changed.
    pub(super) fn apply(&self, text: &str) -> Result<EditedText> {
        let sections = MarkdownSections::parse(text);
        match self {
            Self::Add { section, content } => sections.add(section, content),
            Self::Replace { section, old, new } => sections.replace(section, old, new),
            Self::Remove { section } => sections.remove(section),
            Self::Write { before, text: new } if before == text => {
                Ok(EditedText { text: new.clone(), note: None })
            }
            Self::Write { .. } => Err(Error::Conflict { what: "the file".to_owned() }),
        }
    }
}
