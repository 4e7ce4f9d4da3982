//! The layers of an agent: SOUL (who it is), USER (whom it talks to), MEMORY (its notes), DAILY (what happened lately).
//!
//! Each is a markdown file in a home that people open in an editor. A change takes the file's lock, reads it, edits one
//! section, checks the budget, writes the change into the history, and replaces the file as a whole: two processes that
//! change different sections both win, and a crash leaves the old file or the new one (F8).

mod layer;
mod mask;
mod paths;
mod budget;
mod layer_file;
mod history;
mod daily;
mod forget;
mod quotes;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use jiff::{Zoned, civil::Date};
use serde::Serialize;

pub use budget::{LayerSize, LayerView, count_chars, fit_to_budget};
pub use daily::{OldDay, SessionDay};
pub use forget::{ForgetTarget, LayerForgetReceipt};
pub use history::LayerRevision;
pub use layer::Layer;
pub use quotes::{ForgottenDay, remove_quotes};

use self::{history::LayerHistory, paths::LayerPaths};
use super::sections::{EditedText, MarkdownSections};
use crate::{
    config::LayersConfig,
    error::{Error, Result},
    text::language::Language,
    types::{Actor, Scope},
};

/// What an agent is told of itself when nobody wrote anything else.
const DEFAULT_SOUL: [&str; 2] =
    [include_str!("../../../prompts/soul.en.md"), include_str!("../../../prompts/soul.zh.md")];

/// The files of one agent and one user.
#[derive(Debug, Clone)]
pub struct Layers {
    paths: LayerPaths,
    config: LayersConfig,
    /// Whether secrets are written as they are given.
    keeps_secrets: bool,
}

/// What to do with a layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LayerEdit {
    /// Appends to a section, which is made if there is none.
    Add {
        /// Its title.
        section: String,
        /// What to append.
        content: String,
    },
    /// Replaces a text that occurs exactly once in a section.
    Replace {
        /// Its title.
        section: String,
        /// The exact text to replace.
        old: String,
        /// What stands there then.
        new: String,
    },
    /// Removes a section.
    Remove {
        /// Its title.
        section: String,
    },
    /// Replaces the whole file, if it still says what it did.
    Write {
        /// What it said when it was read.
        before: String,
        /// What it says then.
        text: String,
    },
}

/// A layer as it is on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LayerText {
    /// Which one.
    pub layer: Layer,
    /// Where it is.
    pub path: PathBuf,
    /// What the path is a link to, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_to: Option<PathBuf>,
    /// What it says; empty if there is no such file.
    pub text: String,
    /// How much of its budget that takes.
    pub usage: LayerSize,
    /// Its sections, in their order.
    pub sections: Vec<SectionSize>,
}

/// A section and how long it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SectionSize {
    /// Its title.
    pub title: String,
    /// Its characters, heading included.
    pub chars: usize,
}

/// What a change did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LayerChange {
    /// The file as it is now.
    #[serde(flatten)]
    pub layer: LayerText,
    /// The number of the change in the history; none if nothing changed.
    pub change: Option<u64>,
    /// What the one who asked for it should know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The four layers as they reach the prompt, all within their budgets (F5).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct LayerSnapshot {
    /// Who the agent is.
    pub soul: LayerView,
    /// Who the user is.
    pub user: LayerView,
    /// The agent's notes.
    pub memory: LayerView,
    /// The latest days, the oldest first.
    pub daily: LayerView,
    /// The characters of all of them.
    pub total_chars: usize,
}

/// Who changes something, and when.
#[derive(Debug, Clone)]
pub struct EditContext {
    /// Who.
    pub actor: Actor,
    /// When, in the zone of the user, by which the day is told.
    pub now: Zoned,
}

impl Layers {
    /// The files of a scope in a home.
    pub fn new(home: &Path, scope: &Scope, config: &LayersConfig) -> Self {
        Self {
            paths: LayerPaths::for_scope(home, scope),
            config: config.clone(),
            keeps_secrets: false,
        }
    }

    /// The same, with secrets written as they are given, or masked as usual.
    #[must_use]
    pub fn keeping_secrets(self, keeps_secrets: bool) -> Self {
        Self { keeps_secrets, ..self }
    }

    /// The files of every agent and user that has any in a home. For the owner of the home, not for an agent.
    pub fn all(home: &Path, config: &LayersConfig) -> Vec<Self> {
        let places = paths::all_in_home(home).into_iter();
        let layers = |place| Self { paths: place, config: config.clone(), keeps_secrets: false };
        places.map(layers).collect()
    }

    /// The file of a layer; of the daily log, that of `day`.
    pub fn path(&self, layer: Layer, day: Date) -> PathBuf {
        self.paths.file(layer, day)
    }

    /// The most characters of a layer; of the daily log, of a day.
    pub fn budget(&self, layer: Layer) -> usize {
        match layer {
            Layer::Soul => self.config.soul_chars,
            Layer::User => self.config.user_chars,
            Layer::Memory => self.config.memory_chars,
            Layer::Daily => self.config.daily_chars,
        }
    }

    /// Whether nobody wrote a layer yet: it is empty, or says what a home begins with.
    pub fn is_default(&self, layer: Layer, text: &str) -> bool {
        count_chars(text.trim()) == 0 || layer == Layer::Soul && DEFAULT_SOUL.contains(&text)
    }

    /// Makes SOUL.md if there was never one. Says whether it was made.
    pub fn create_default_soul(&self, language: Language, now: &Zoned) -> Result<bool> {
        let day = now.date();
        let (path, history) = (self.path(Layer::Soul, day), self.history(Layer::Soul, day));
        if path.symlink_metadata().is_ok() || !history.all()?.is_empty() {
            return Ok(false);
        }
        let _lock = self.lock(Layer::Soul, day)?;
        let text = DEFAULT_SOUL[usize::from(language == Language::Chinese)];
        let made = layer_file::create(&path, text)?;
        if made {
            let cause = "first run".to_owned();
            let (at, text) = (now.timestamp(), Some(text.to_owned()));
            history.append(&LayerRevision { number: 1, at, actor: Actor::Engine, cause, text })?;
        }
        Ok(made)
    }

    /// A layer as it is on disk; a missing file reads as empty.
    pub fn read(&self, layer: Layer, day: Date) -> Result<LayerText> {
        let text = layer_file::read(&self.path(layer, day))?.unwrap_or_default();
        self.layer_text(layer, day, text)
    }

    /// The four layers as they reach the prompt.
    pub fn snapshot(&self, today: Date) -> Result<LayerSnapshot> {
        let view_of = |layer| -> Result<LayerView> {
            Ok(fit_to_budget(&self.read(layer, today)?.text, self.budget(layer)))
        };
        let (soul, user, memory) =
            (view_of(Layer::Soul)?, view_of(Layer::User)?, view_of(Layer::Memory)?);
        let daily = self.recent_days_view(today)?;
        let total_chars = soul.chars + user.chars + memory.chars + daily.chars;
        Ok(LayerSnapshot { soul, user, memory, daily, total_chars })
    }

    /// Changes a layer, or says why not; of the daily log, today's file.
    pub fn edit(&self, layer: Layer, edit: &LayerEdit, by: &EditContext) -> Result<LayerChange> {
        self.edit_day(layer, by.now.date(), edit, by)
    }

    /// The same for any day of the daily log.
    pub fn edit_day(
        &self,
        layer: Layer,
        day: Date,
        edit: &LayerEdit,
        by: &EditContext,
    ) -> Result<LayerChange> {
        self.edit_if(layer, day, edit, by, &|_| true)
    }

    /// The same, if what the file says is still what the caller expects.
    pub fn edit_if(
        &self,
        layer: Layer,
        day: Date,
        edit: &LayerEdit,
        by: &EditContext,
        is_expected: &dyn Fn(&str) -> bool,
    ) -> Result<LayerChange> {
        let mut edit = edit.clone();
        let masked = if self.keeps_secrets { Vec::new() } else { edit.mask_secrets() };
        let changed = self.edit_locked(layer, day, by, &edit.cause(), |text| {
            if is_expected(text) {
                edit.apply(text)
            } else {
                Err(Error::Conflict { what: format!("the layer {layer}") })
            }
        })?;
        Ok(changed.with_masked_note(&masked))
    }

    /// Takes back a change, the last one if none is named; only if nothing was changed since.
    pub fn undo(
        &self,
        layer: Layer,
        day: Date,
        number: Option<u64>,
        by: &EditContext,
    ) -> Result<LayerChange> {
        let mut past = self.revisions(layer, day, by)?;
        let Some(last) = past.pop() else {
            return Err(Error::invalid(
                "there is nothing to undo",
                "`everlore layer history` lists changes",
            ));
        };
        match number.filter(|number| *number != last.number) {
            None => {}
            Some(number) if past.iter().any(|past| past.number == number) => {
                return Err(Error::invalid(
                    format!("the file was changed again by change {}", last.number),
                    format!(
                        "undo the later one first: everlore layer undo {layer} {}",
                        last.number
                    ),
                ));
            }
            Some(number) => return Err(Error::not_found("change", number)),
        }
        if past.is_empty() && last.number > 1 {
            return Err(Error::invalid(
                "what the file said before is no longer kept",
                "restore it from a backup",
            ));
        }
        let before = past.pop().and_then(|before| before.text).unwrap_or_default();
        let after = last.text.unwrap_or_default();
        let edit = LayerEdit::Write { before: after, text: before };
        self.edit_locked(layer, day, by, &format!("undo change {}", last.number), |text| {
            edit.apply(text)
        })
    }

    /// All changes that are kept, the oldest first; edits by hand are noticed and written down.
    pub fn revisions(
        &self,
        layer: Layer,
        day: Date,
        by: &EditContext,
    ) -> Result<Vec<LayerRevision>> {
        let path = self.path(layer, day);
        let history = self.history(layer, day);
        if !path.exists() && history.all()?.is_empty() {
            return Ok(Vec::new());
        }
        let _lock = self.lock(layer, day)?;
        history.record_external_edit(layer_file::read(&path)?.as_deref(), by.now.timestamp())?;
        history.all()
    }

    /// Reads, edits and replaces a file while nobody else does.
    fn edit_locked(
        &self,
        layer: Layer,
        day: Date,
        by: &EditContext,
        cause: &str,
        make: impl FnOnce(&str) -> Result<EditedText>,
    ) -> Result<LayerChange> {
        self.check_writable(layer, by.actor)?;
        let path = self.path(layer, day);
        let _lock = self.lock(layer, day)?;
        let found = layer_file::read(&path)?;
        let before = found.clone().unwrap_or_default();
        let EditedText { text, note } = make(&before)?;
        if text == before {
            return Ok(LayerChange {
                layer: self.layer_text(layer, day, text)?,
                change: None,
                note,
            });
        }
        budget::check(&file_name(&path), &before, &text, self.budget(layer))?;
        let history = self.history(layer, day);
        let number = history.record_external_edit(found.as_deref(), by.now.timestamp())? + 1;
        history.append(&LayerRevision {
            number,
            at: by.now.timestamp(),
            actor: by.actor,
            cause: cause.to_owned(),
            text: Some(text.clone()),
        })?;
        layer_file::write(&path, &text)?;
        Ok(LayerChange { layer: self.layer_text(layer, day, text)?, change: Some(number), note })
    }

    fn check_writable(&self, layer: Layer, actor: Actor) -> Result<()> {
        if layer != Layer::Soul || actor == Actor::Person || !self.config.soul_read_only {
            return Ok(());
        }
        Err(Error::invalid(
            "SOUL.md may only be read",
            "ask the user to change it; the setting layers.soul_read_only protects it",
        ))
    }

    fn layer_text(&self, layer: Layer, day: Date, text: String) -> Result<LayerText> {
        let path = self.path(layer, day);
        let target = layer_file::resolve_link(&path)?;
        let sections = MarkdownSections::parse(&text);
        let size = |section: super::sections::MarkdownSection<'_>| SectionSize {
            title: section.title.to_owned(),
            chars: count_chars(section.text),
        };
        Ok(LayerText {
            layer,
            link_to: (target != path).then_some(target),
            path,
            usage: LayerSize { chars: count_chars(&text), budget: self.budget(layer) },
            sections: sections.iter().map(size).collect(),
            text,
        })
    }

    fn history(&self, layer: Layer, day: Date) -> LayerHistory {
        LayerHistory::new(&self.paths.history_stem(layer, day))
    }

    fn lock(&self, layer: Layer, day: Date) -> Result<std::fs::File> {
        layer_file::lock(&self.paths.history_stem(layer, day).with_extension("lock"))
    }
}

impl LayerEdit {
    fn apply(&self, text: &str) -> Result<EditedText> {
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

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
