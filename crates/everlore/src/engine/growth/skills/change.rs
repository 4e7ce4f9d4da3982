//! Changes of skills and workflows: a new version, back to an older one, retire, restore, remove. Only the owner makes
//! them.

use super::{SkillView, StoredSkill};
use crate::{
    engine::Engine,
    error::{Error, Result},
    growth::skill::{SkillEffectRecord, SkillForm, SkillHead, skill_problems},
    sync::boxed,
    text::suspect::is_suspect,
    types::{Actor, Change, JournalEntry, MemoryId, Scope, Status, Timestamp},
};

impl Engine {
    /// Makes a new version of a skill or workflow; without a text, of its file as a person edited it. Fails if the caller is
    /// not the owner, if the text breaks a rule of the format, or if nothing changed.
    pub async fn update_skill(
        &self,
        scope: &Scope,
        form: SkillForm,
        name: &str,
        text: Option<&str>,
    ) -> Result<SkillView> {
        self.check_skill_owner()?;
        let mut stored = self.stored_skill(scope, form, name).await?;
        let text = match text {
            Some(text) => text.to_owned(),
            None => self.edited_text(scope, &stored).await?,
        };
        check_skill_text(&text, &stored.record.name)?;
        if text == stored.memory.content {
            return Err(Error::invalid("the text is the same", "change it first"));
        }
        set_text(&mut stored, text);
        self.write_skill(scope, stored, "skill: update").await
    }

    /// Brings back the text of another version, byte for byte; without a number, of the version before. Fails if the caller
    /// is not the owner, or if there is no such version.
    #[boxed]
    pub async fn roll_back_skill(
        &self,
        scope: &Scope,
        form: SkillForm,
        name: &str,
        version: Option<u32>,
    ) -> Result<SkillView> {
        self.check_skill_owner()?;
        let stored = self.stored_skill(scope, form, name).await?;
        let mut stored = self.keep_hand_edit(scope, stored).await?;
        let current = stored.record.version;
        let wanted = version.unwrap_or_else(|| current.saturating_sub(1));
        let entries = self.skill_journal(scope, stored.memory.id).await?;
        let found = find_version(&entries, wanted).filter(|_| wanted != current);
        let Some(found) = found else {
            return Err(Error::invalid(
                format!("`{name}` has no version {wanted} to go back to"),
                format!("see `everlore {form} history {name}`"),
            ));
        };
        stored.record.version = wanted;
        stored.record.steps = found.record.steps;
        stored.memory.content = found.memory.content;
        self.write_skill(scope, stored, "skill: rollback").await
    }

    /// Takes a skill or workflow out of use; it can be restored. Fails if the caller is not the owner.
    pub async fn retire_skill(
        &self,
        scope: &Scope,
        form: SkillForm,
        name: &str,
    ) -> Result<SkillView> {
        self.check_skill_owner()?;
        let stored = self.stored_skill(scope, form, name).await?;
        let mut stored = self.keep_hand_edit(scope, stored).await?;
        stored.memory.status = Status::Archived;
        self.write_skill(scope, stored, "skill: retire").await
    }

    /// Puts a retired skill or workflow back into use; its failures in a row start again. Fails if the caller is not the
    /// owner.
    pub async fn restore_skill(
        &self,
        scope: &Scope,
        form: SkillForm,
        name: &str,
    ) -> Result<SkillView> {
        self.check_skill_owner()?;
        let mut stored = self.stored_skill(scope, form, name).await?;
        let mut effect = SkillEffectRecord::of(&stored.memory);
        effect.failures_in_a_row = 0;
        effect.store_in(&mut stored.memory);
        stored.memory.status = Status::Active;
        self.write_skill(scope, stored, "skill: restore").await
    }

    /// Removes a skill or workflow with its file and returns it; undo brings it back. Fails if the caller is not the owner.
    pub async fn remove_skill(
        &self,
        scope: &Scope,
        form: SkillForm,
        name: &str,
    ) -> Result<SkillView> {
        self.check_skill_owner()?;
        let stored = self.stored_skill(scope, form, name).await?;
        let stored = self.keep_hand_edit(scope, stored).await?;
        let view = self.skill_view(scope, &stored).await?;
        let removed = vec![Change::Delete(stored.memory.id)];
        self.write_records(scope, "skill: remove", removed).await?;
        self.sync_skill_files(scope).await?;
        Ok(view)
    }

    /// Fails if the caller may not change skills.
    pub(in crate::engine) fn check_skill_owner(&self) -> Result<()> {
        self.check_owner("a change of a skill")?;
        if self.author.actor == Actor::Person {
            return Ok(());
        }
        Err(Error::OwnerOnly { what: "a change of a skill".to_owned() })
    }

    /// Stores the file of a skill as a version if a person edited it.
    #[boxed]
    pub(in crate::engine) async fn keep_hand_edit(
        &self,
        scope: &Scope,
        mut stored: StoredSkill,
    ) -> Result<StoredSkill> {
        let text = self.skill_on_disk(scope, &stored).await?.text.filter(|it| !it.is_empty());
        let Some(text) = text.filter(|_| stored.is_active()) else { return Ok(stored) };
        if self.is_known_text(scope, &stored, &text).await? {
            return Ok(stored);
        }
        set_text(&mut stored, text);
        bump(&mut stored, self.now().timestamp());
        let change = Change::Update(Box::new(stored.memory.clone()));
        self.write_records(scope, "skill: edited by hand", vec![change]).await?;
        Ok(stored)
    }

    /// Returns the file of a skill as a person edited it.
    async fn edited_text(&self, scope: &Scope, stored: &StoredSkill) -> Result<String> {
        let text = self.skill_on_disk(scope, stored).await?.text;
        let edited = text.filter(|text| *text != stored.memory.content && !text.is_empty());
        edited.ok_or_else(|| {
            Error::invalid(
                format!("the file of `{}` was not edited", stored.record.name),
                "edit it, or give the new text",
            )
        })
    }

    /// Writes a changed skill and its file, and returns it.
    #[boxed]
    async fn write_skill(
        &self,
        scope: &Scope,
        mut stored: StoredSkill,
        what: &str,
    ) -> Result<SkillView> {
        bump(&mut stored, self.now().timestamp());
        let change = Change::Update(Box::new(stored.memory.clone()));
        self.write_records(scope, what, vec![change]).await?;
        self.sync_skill_files(scope).await?;
        self.skill_view(scope, &stored).await
    }

    /// Returns the name for a new skill: the one that is wanted, or with a number if it is taken.
    pub(in crate::engine) fn free_skill_name(
        taken: &[(SkillForm, String)],
        form: SkillForm,
        wanted: &str,
    ) -> String {
        let is_taken = |name: &String| taken.iter().any(|(other, it)| *other == form && it == name);
        let numbered = (2..).map(|number| format!("{wanted}-{number}"));
        let mut names = std::iter::once(wanted.to_owned()).chain(numbered);
        names.find(|name| !is_taken(name)).unwrap_or_default()
    }

    /// Returns the skill or workflow of an id; `None` if it is none.
    pub(in crate::engine) async fn skill_by_id(
        &self,
        scope: &Scope,
        id: MemoryId,
    ) -> Result<Option<StoredSkill>> {
        let memory = self.store.memories().get(scope, &[id]).await?.pop().flatten();
        Ok(memory.and_then(StoredSkill::of))
    }
}

/// Gives a skill another text under the next number.
pub(in crate::engine) fn set_text(stored: &mut StoredSkill, text: String) {
    stored.record.latest += 1;
    stored.record.version = stored.record.latest;
    if let Some(head) = SkillHead::parse(&text) {
        stored.memory.description = head.description;
    }
    stored.memory.content = text;
}

/// Counts a change of the memory and stores the record in it.
pub(in crate::engine) fn bump(stored: &mut StoredSkill, now: Timestamp) {
    stored.record.store_in(&mut stored.memory);
    stored.memory.updated_at = now;
    stored.memory.version += 1;
}

/// Fails if a text breaks a rule of the format or reads like an attempt to take the model over.
pub(in crate::engine) fn check_skill_text(text: &str, name: &str) -> Result<()> {
    if let Some(problem) = skill_problems(text, Some(name)).first() {
        return Err(Error::invalid(
            format!("the text is no valid SKILL.md: {}", problem.message),
            "see the rules with `everlore skill validate --help`",
        ));
    }
    if is_suspect(text) {
        return Err(Error::invalid(
            "the text reads like an attempt to take the model over",
            "say what to do in plain words",
        ));
    }
    Ok(())
}

/// Returns the newest state of a skill with this version number in its journal.
fn find_version(entries: &[JournalEntry], wanted: u32) -> Option<StoredSkill> {
    let images = entries.iter().flat_map(|entry| [&entry.after, &entry.before]).flatten();
    let mut versions = images.filter_map(|memory| StoredSkill::of((**memory).clone()));
    versions.find(|other| other.record.version == wanted)
}
