//! Layers of an agent: SOUL (its identity), USER (the user's profile), MEMORY (its notes), DAILY (the latest days).
//!
//! Each is a markdown file in a home that people open in an editor. One edit:
//!
//! 1. The tool `memory_add` and `PATCH /v1/layers/{layer}` pass a `LayerEdit` to `Engine::edit_layer`,
//!    `everlore layer add` to `Layers::edit_day`; both call `Layers::edit_if`, which masks secrets (`mask.rs`).
//! 2. `edit_locked` takes the file's lock and reads it. `files/sections/edit.rs` edits one section and parses the
//!    result again: if any other section differs, the edit is refused.
//! 3. `budget.rs` refuses a text that is too long. `history.rs` records an edit by hand since the last change, then
//!    this change; `layer_file.rs` replaces the file as a whole. Of two processes that change different sections both
//!    succeed, and a crash leaves the old file or the new one.
//! 4. `Engine::begin_prompt` reads `Layers::snapshot` at the start of a session: each layer within its budget.
//! 5. `Engine::end_session` writes a summary of the session into the log of the day (`daily.rs`).
//!    `Engine::archive_days` turns days that no longer reach the prompt into memories (`ingest/daily.rs`) and moves
//!    their files to the archive: at the end of a session, when a prompt is built, and when a turn is observed.
//! 6. `Engine::forget` removes the sentences of a memory from every day (`quotes.rs`) before it erases the memory.

mod layer;
mod layer_edit;
mod mask;
mod paths;
mod budget;
mod layer_file;
mod history;
mod undo;
mod daily;
mod forget;
mod quotes;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use jiff::{Zoned, civil::Date};
use serde::Serialize;

pub(crate) use budget::count_chars;
pub use budget::{LayerSize, LayerView, fit_to_budget};
pub(crate) use daily::{OldDay, SessionDay};
pub use forget::{ForgetTarget, LayerForgetReceipt};
pub(crate) use history::LayerRevision;
pub use layer::Layer;
pub use layer_edit::{EditContext, LayerEdit};
pub(crate) use quotes::{ForgottenDay, remove_quotes};

use self::{history::LayerHistory, paths::LayerPaths};
use super::sections::{EditedText, MarkdownSections};
use crate::{
    config::LayersConfig,
    error::{Error, Result},
    text::language::Language,
    types::{Actor, Scope},
};

/// SOUL.md of a new home.
const DEFAULT_SOUL: [&str; 2] =
    [include_str!("../../../prompts/soul.en.md"), include_str!("../../../prompts/soul.zh.md")];

/// Files of one agent and one user.
#[derive(Debug, Clone)]
pub struct Layers {
    paths: LayerPaths,
    config: LayersConfig,
    /// Set if secrets are written unmasked.
    keeps_secrets: bool,
}

/// Layer as it is on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LayerText {
    /// Layer.
    pub layer: Layer,
    /// Path.
    pub path: PathBuf,
    /// Target of the path, if it is a link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_to: Option<PathBuf>,
    /// Text; empty if there is no such file.
    pub text: String,
    /// Size against the budget.
    pub usage: LayerSize,
    /// Sections in their order.
    pub sections: Vec<SectionSize>,
}

/// Size of a section.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SectionSize {
    /// Title.
    pub title: String,
    /// Characters, heading included.
    pub chars: usize,
}

/// Result of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LayerChange {
    /// Layer after the change.
    #[serde(flatten)]
    pub layer: LayerText,
    /// Number of the revision in the history; `None` if nothing changed.
    pub change: Option<u64>,
    /// Note for the caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The four layers as they reach the prompt, all within their budgets.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct LayerSnapshot {
    /// Identity of the agent.
    pub soul: LayerView,
    /// Profile of the user.
    pub user: LayerView,
    /// Notes of the agent.
    pub memory: LayerView,
    /// Latest days, the oldest first.
    pub daily: LayerView,
    /// Characters of all of them.
    pub total_chars: usize,
}

impl Layers {
    /// Returns the files of a scope in a home.
    pub fn new(home: &Path, scope: &Scope, config: &LayersConfig) -> Self {
        Self {
            paths: LayerPaths::for_scope(home, scope),
            config: config.clone(),
            keeps_secrets: false,
        }
    }

    /// Writes secrets as they are given, or masks them as usual.
    #[must_use]
    pub fn keeping_secrets(self, keeps_secrets: bool) -> Self {
        Self { keeps_secrets, ..self }
    }

    /// Returns the files of every agent and user that has any in a home. For the owner of the home, not for an agent.
    pub fn all(home: &Path, config: &LayersConfig) -> Vec<Self> {
        let scopes = paths::all_in_home(home).into_iter();
        let layers = |paths| Self { paths, config: config.clone(), keeps_secrets: false };
        scopes.map(layers).collect()
    }

    /// Returns the file of a layer; of the daily log, that of `day`.
    pub fn path(&self, layer: Layer, day: Date) -> PathBuf {
        self.paths.file(layer, day)
    }

    /// Returns the most characters of a layer; of the daily log, of a day.
    pub fn budget(&self, layer: Layer) -> usize {
        match layer {
            Layer::Soul => self.config.soul_chars,
            Layer::User => self.config.user_chars,
            Layer::Memory => self.config.memory_chars,
            Layer::Daily => self.config.daily_chars,
        }
    }

    /// Returns `true` if a layer is empty or has the text of a new home.
    pub fn is_default(&self, layer: Layer, text: &str) -> bool {
        count_chars(text.trim()) == 0 || layer == Layer::Soul && DEFAULT_SOUL.contains(&text)
    }

    /// Creates SOUL.md if there was never one. Returns `true` if it was created.
    pub fn create_default_soul(&self, language: Language, now: &Zoned) -> Result<bool> {
        let day = now.date();
        let (path, history) = (self.path(Layer::Soul, day), self.history(Layer::Soul, day));
        if path.symlink_metadata().is_ok() || !history.all()?.is_empty() {
            return Ok(false);
        }
        let _lock = self.lock(Layer::Soul, day)?;
        let text = DEFAULT_SOUL[usize::from(language == Language::Chinese)];
        let created = layer_file::create(&path, text)?;
        if created {
            let cause = "first run".to_owned();
            let (at, text) = (now.timestamp(), Some(text.to_owned()));
            history.append(&LayerRevision { number: 1, at, actor: Actor::Engine, cause, text })?;
        }
        Ok(created)
    }

    /// Reads a layer from disk; a missing file reads as empty.
    pub fn read(&self, layer: Layer, day: Date) -> Result<LayerText> {
        let text = layer_file::read(&self.path(layer, day))?.unwrap_or_default();
        self.layer_text(layer, day, text)
    }

    /// Returns the four layers as they reach the prompt.
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

    /// Changes a layer, or returns why not; of the daily log, today's file.
    pub fn edit(&self, layer: Layer, edit: &LayerEdit, by: &EditContext) -> Result<LayerChange> {
        self.edit_day(layer, by.now.date(), edit, by)
    }

    /// Changes any day of the daily log.
    pub fn edit_day(
        &self,
        layer: Layer,
        day: Date,
        edit: &LayerEdit,
        by: &EditContext,
    ) -> Result<LayerChange> {
        self.edit_if(layer, day, edit, by, &|_| true)
    }

    /// Changes a layer if its text is as the caller expects.
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
            if !is_expected(text) {
                return Err(Error::Conflict { what: format!("the layer {layer}") });
            }
            let edited = edit.apply(text)?;
            edit.check_suspect(layer, by.actor, text, &edited.text)?;
            Ok(edited)
        })?;
        Ok(changed.with_masked_note(&masked))
    }

    /// Returns all revisions, the oldest first; edits by hand are detected and recorded.
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

    /// Reads, edits and replaces a file under its lock.
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
            "SOUL.md is read-only",
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

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
