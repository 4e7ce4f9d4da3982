//! Files of skills and workflows, kept equal to the active ones of the store.

use std::path::PathBuf;

use super::StoredSkill;
use crate::{
    engine::Engine,
    error::Result,
    files::skill_folder::{SkillFile, SkillFolder, is_generated, read_skill_file},
    growth::skill::SkillForm,
    sync::{boxed, run_blocking},
    types::{JournalEntry, Scope},
};

/// File of a skill in the home.
#[derive(Debug, Default)]
pub(super) struct SkillOnDisk {
    /// Path; `None` without a home.
    pub path: Option<PathBuf>,
    /// Text; `None` if there is no file.
    pub text: Option<String>,
}

/// Change of a file.
enum SkillFileChange {
    Write(Box<StoredSkill>),
    Remove(SkillFile),
}

impl Engine {
    /// Makes the files of a scope's skills and workflows equal to the active ones. A file with a text that the journal
    /// does not know was edited by a person and stays as it is.
    #[boxed]
    pub(in crate::engine) async fn sync_skill_files(&self, scope: &Scope) -> Result<()> {
        let Some(folder) = self.skill_folder(scope) else { return Ok(()) };
        let active = self.stored_skills(scope, false).await?;
        if active.is_empty() && folder.is_empty() {
            return Ok(());
        }
        let listed = folder.clone();
        let files = run_blocking(move || listed.files()).await?;
        let mut changes = Vec::new();
        for file in &files {
            let is_own = |stored: &&StoredSkill| is_file_of(file, stored);
            if !active.iter().any(|stored| is_own(&stored)) && is_generated(&file.text) {
                changes.push(SkillFileChange::Remove(file.clone()));
            }
        }
        for stored in active {
            let found = files.iter().find(|file| is_file_of(file, &stored));
            let is_stale = match found {
                None => true,
                Some(file) if file.text == stored.memory.content => false,
                Some(file) => self.is_known_text(scope, &stored, &file.text).await?,
            };
            changes.extend(is_stale.then_some(SkillFileChange::Write(Box::new(stored))));
        }
        if changes.is_empty() {
            return Ok(());
        }
        let written = run_blocking(move || apply_all(&folder, &changes));
        self.write_files(written).await
    }

    /// Makes the files equal to the store after an operation that may have touched skills. It never fails the operation,
    /// which is done: a failure is logged, and the next reflection tries again.
    pub(in crate::engine) async fn sync_skills_after(&self, scope: &Scope) {
        if let Err(error) = self.sync_skill_files(scope).await {
            tracing::warn!(%scope, %error, "files of skills could not be written");
        }
    }

    /// Returns `true` if the home has files of skills of a scope.
    pub(in crate::engine) fn has_skill_files(&self, scope: &Scope) -> bool {
        self.skill_folder(scope).is_some_and(|folder| !folder.is_empty())
    }

    pub(in crate::engine) fn skill_folder(&self, scope: &Scope) -> Option<SkillFolder> {
        self.home.as_ref().map(|home| SkillFolder::new(home, scope))
    }

    /// Returns the file of a skill.
    pub(super) async fn skill_on_disk(
        &self,
        scope: &Scope,
        stored: &StoredSkill,
    ) -> Result<SkillOnDisk> {
        let Some(folder) = self.skill_folder(scope) else { return Ok(SkillOnDisk::default()) };
        let path = folder.path(is_workflow(stored), &stored.record.name);
        let file = path.clone();
        // A file that cannot be read is as good as edited: nothing overwrites it.
        let text = run_blocking(move || Ok(read_skill_file(&file).unwrap_or(Some(String::new()))));
        Ok(SkillOnDisk { path: Some(path), text: text.await? })
    }

    /// Returns `true` if a text is one that the skill ever had.
    pub(super) async fn is_known_text(
        &self,
        scope: &Scope,
        stored: &StoredSkill,
        text: &str,
    ) -> Result<bool> {
        let entries = self.skill_journal(scope, stored.memory.id).await?;
        let is_there = entries.iter().any(|entry| has_text(entry, text));
        Ok(stored.memory.content == text || is_there)
    }
}

/// Returns `true` if a change began or ended with this text.
fn has_text(entry: &JournalEntry, text: &str) -> bool {
    [&entry.before, &entry.after].into_iter().flatten().any(|memory| memory.content == text)
}

fn apply_all(folder: &SkillFolder, changes: &[SkillFileChange]) -> Result<()> {
    for change in changes {
        match change {
            SkillFileChange::Write(stored) => {
                let text = &stored.memory.content;
                folder.write(is_workflow(stored), &stored.record.name, text)?;
            }
            SkillFileChange::Remove(file) => folder.remove(file.is_workflow, &file.name)?,
        }
    }
    Ok(())
}

fn is_workflow(stored: &StoredSkill) -> bool {
    stored.record.form == SkillForm::Workflow
}

fn is_file_of(file: &SkillFile, stored: &StoredSkill) -> bool {
    file.name == stored.record.name && file.is_workflow == is_workflow(stored)
}
