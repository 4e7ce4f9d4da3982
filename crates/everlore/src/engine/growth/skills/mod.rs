//! Skills and workflows: procedures that a person approved.
//!
//! 1. An approved proposal stores a memory of kind `skill`, whose text is the file; so the journal is the history, and undo
//!    brings any state back.
//! 2. `files.rs` keeps the files of the home equal to the active ones, for people, assistants and the prompt's index; on a
//!    server database they are shared like layers.
//! 3. A file that a person edited is never overwritten: the edit becomes a version (`change.rs`).
//! 4. `measure.rs` counts uses and outcomes, and retires what stopped working.

mod change;
mod files;
mod imported;
mod measure;

pub(in crate::engine) use change::{bump, check_skill_text, set_text};
pub(in crate::engine) use measure::count_report;

use serde::Serialize;

use crate::{
    engine::{Engine, SCAN_PAGE},
    error::{Error, Result},
    growth::{
        patterns::WorkflowStep,
        reflection::ProposalReason,
        skill::{ExpectedUse, SkillEffect, SkillEffectRecord, SkillForm, SkillHead, SkillRecord},
    },
    store::{JournalQuery, ListOrder, ListQuery, MemoryFilter},
    sync::boxed,
    types::{Actor, JournalEntry, Kind, Memory, MemoryId, Scope, Status, Timestamp},
};

/// State of a skill or workflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum SkillState {
    /// In use: it has its file and reaches prompts.
    Active,
    /// Out of use, because it stopped working or a person said so; it can be restored.
    Retired,
}

crate::types::variant_names! { pub SkillState: Active = "active", Retired = "retired" }

/// Skill or workflow as callers see it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SkillView {
    /// Id of the memory that keeps it.
    pub id: MemoryId,
    /// Form.
    pub form: SkillForm,
    /// Name, unique among those of its form.
    pub name: String,
    /// Description in one line.
    pub description: String,
    /// Number of its text.
    pub version: u32,
    /// State.
    pub state: SkillState,
    /// Finding that led to it.
    pub reason: ProposalReason,
    /// Evidence in plain words.
    pub why: String,
    /// Memories and turns that are the evidence.
    pub evidence: Vec<MemoryId>,
    /// Number of times that it would have applied before it was suggested.
    pub expected_use: ExpectedUse,
    /// Measured effect.
    pub effect: SkillEffect,
    /// Steps, if it has some.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<WorkflowStep>,
    /// Time at which it was approved.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
    /// File in the home; only for the owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Set if the file differs from the text: a person edited it, and nothing overwrites it.
    pub edited: bool,
    /// Text of the file; left out in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Change in the history of a skill or workflow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SkillVersion {
    /// Number of the text.
    pub version: u32,
    /// Time of the change.
    pub at: Timestamp,
    /// Author of the change.
    pub actor: Actor,
    /// Reason of the change.
    pub cause: String,
    /// State after it.
    pub state: SkillState,
    /// Set if the text is the one in use.
    pub current: bool,
    /// Text after the change.
    pub text: String,
}

/// Skill or workflow with the memory that keeps it.
#[derive(Debug, Clone)]
pub(in crate::engine) struct StoredSkill {
    /// Memory that keeps it.
    pub memory: Memory,
    /// Record.
    pub record: SkillRecord,
}

impl StoredSkill {
    fn of(memory: Memory) -> Option<Self> {
        let record = SkillRecord::of(&memory)?;
        Some(Self { memory, record })
    }

    /// Returns `true` if it is in use.
    pub(in crate::engine) fn is_active(&self) -> bool {
        self.memory.status == Status::Active
    }

    fn state(&self) -> SkillState {
        if self.is_active() { SkillState::Active } else { SkillState::Retired }
    }
}

impl Engine {
    /// Returns the skills or workflows of a scope, by name; with `retired`, those too that are out of use. Fails if the
    /// store fails.
    pub async fn skills(
        &self,
        scope: &Scope,
        form: SkillForm,
        retired: bool,
    ) -> Result<Vec<SkillView>> {
        let mut all = self.stored_skills(scope, retired).await?;
        all.retain(|stored| stored.record.form == form);
        let mut views = Vec::new();
        for stored in &all {
            views.push(SkillView { text: None, ..self.skill_view(scope, stored).await? });
        }
        Ok(views)
    }

    /// Returns a skill or workflow with its text. Fails if the scope has none of this name.
    pub async fn skill(&self, scope: &Scope, form: SkillForm, name: &str) -> Result<SkillView> {
        let stored = self.stored_skill(scope, form, name).await?;
        self.skill_view(scope, &stored).await
    }

    /// Returns the changes of a skill or workflow, newest first. Fails if the scope has none of this name.
    pub async fn skill_history(
        &self,
        scope: &Scope,
        form: SkillForm,
        name: &str,
    ) -> Result<Vec<SkillVersion>> {
        let stored = self.stored_skill(scope, form, name).await?;
        let entries = self.skill_journal(scope, stored.memory.id).await?;
        let is_change = |entry: &&JournalEntry| match (&entry.before, &entry.after) {
            (Some(before), Some(after)) => {
                (&before.content, before.status) != (&after.content, after.status)
            }
            _ => true,
        };
        let version = |entry: &JournalEntry| {
            let after = StoredSkill::of((**entry.after.as_ref()?).clone())?;
            Some(SkillVersion {
                version: after.record.version,
                at: entry.at,
                actor: entry.actor,
                cause: entry.cause.clone(),
                state: after.state(),
                current: after.memory.content == stored.memory.content,
                text: after.memory.content,
            })
        };
        Ok(entries.iter().filter(is_change).filter_map(version).collect())
    }

    /// Returns the journal lines of a skill, newest first.
    async fn skill_journal(&self, scope: &Scope, id: MemoryId) -> Result<Vec<JournalEntry>> {
        let query = JournalQuery { id: Some(id), ..JournalQuery::default() };
        let mut entries = self.store.journal().entries(scope, &query).await?;
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.seq));
        Ok(entries)
    }

    /// Returns all skills and workflows of a scope, by form and name; with `retired`, those too that are out of use.
    #[boxed]
    pub(in crate::engine) async fn stored_skills(
        &self,
        scope: &Scope,
        retired: bool,
    ) -> Result<Vec<StoredSkill>> {
        let mut statuses = vec![Status::Active];
        statuses.extend(retired.then_some(Status::Archived));
        let filter = MemoryFilter {
            kinds: vec![Kind::Skill],
            statuses,
            tags: vec![Kind::Skill.as_str().to_owned()],
            ..MemoryFilter::default()
        };
        let order = ListOrder::OldestFirst;
        let mut page = ListQuery { filter, after: None, order, limit: SCAN_PAGE };
        let mut all = Vec::new();
        loop {
            let found = self.store.memories().list(scope, &page).await?;
            page.after = found.last().map(|memory| memory.id);
            let is_last = found.len() < SCAN_PAGE;
            all.extend(found.into_iter().filter_map(StoredSkill::of));
            if is_last {
                break;
            }
        }
        all.sort_by(|one, other| {
            (one.record.form, &one.record.name).cmp(&(other.record.form, &other.record.name))
        });
        Ok(all)
    }

    pub(in crate::engine) async fn stored_skill(
        &self,
        scope: &Scope,
        form: SkillForm,
        name: &str,
    ) -> Result<StoredSkill> {
        let all = self.stored_skills(scope, true).await?;
        let mut found = all.into_iter().filter(|stored| stored.record.form == form);
        found
            .find(|stored| stored.record.name == name || stored.memory.id.to_string() == name)
            .ok_or_else(|| Error::not_found(form.as_str(), name))
    }

    #[boxed]
    pub(in crate::engine) async fn skill_view(
        &self,
        scope: &Scope,
        stored: &StoredSkill,
    ) -> Result<SkillView> {
        let StoredSkill { memory, record } = stored;
        let on_disk = self.skill_on_disk(scope, stored).await?;
        let head = SkillHead::parse(&memory.content);
        let path = on_disk.path.filter(|_| self.has_owner_rights && stored.is_active());
        Ok(SkillView {
            id: memory.id,
            form: record.form,
            name: record.name.clone(),
            description: head.map(|head| head.description).unwrap_or_default(),
            version: record.version,
            state: stored.state(),
            reason: record.reason,
            why: record.why.clone(),
            evidence: memory.source.turns.clone(),
            expected_use: record.expected,
            effect: SkillEffectRecord::of(memory).view(),
            steps: record.steps.clone(),
            created_at: memory.created_at,
            updated_at: memory.updated_at,
            path: path.map(|path| path.display().to_string()),
            edited: on_disk.text.is_some_and(|text| text != memory.content) && stored.is_active(),
            text: Some(memory.content.clone()),
        })
    }
}
