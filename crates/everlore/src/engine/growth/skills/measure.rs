//! Measured effect of skills and workflows: uses, outcomes that are reported, and those that tool calls and experiences
//! show. What fails again and again is retired.

use super::{SkillView, StoredSkill, change::bump};
use crate::{
    engine::Engine,
    error::{Error, Result},
    growth::{
        patterns::SequenceScan,
        skill::{SkillEffectRecord, SkillForm, SkillPattern},
    },
    ingest::change_memory,
    types::{Actor, ChangeAuthor, Experience, Memory, MemoryId, Scope, Status, Timestamp},
};

impl Engine {
    /// Returns an active skill or workflow for an agent that is about to follow it, and counts the use. Fails if the scope
    /// has no active one of this name.
    pub async fn use_skill(&self, scope: &Scope, name: &str) -> Result<SkillView> {
        let all = self.stored_skills(scope, false).await?;
        let found = all.into_iter().find(|stored| stored.record.name == name);
        let stored = found.ok_or_else(|| Error::not_found("skill", name))?;
        let count = |memory: &mut Memory| {
            let mut effect = SkillEffectRecord::of(memory);
            effect.uses = effect.uses.saturating_add(1);
            effect.store_in(memory);
            Ok(())
        };
        let now = self.now().timestamp();
        // A use is no step that undo walks back.
        let author = ChangeAuthor { actor: Actor::Engine, reason: None, run: None };
        let id = stored.memory.id;
        let used =
            change_memory(&*self.store, scope, id, &author, "skill: used", now, &count).await;
        // What is read is told even where it cannot be counted.
        let stored = used.ok().and_then(StoredSkill::of).unwrap_or(stored);
        self.skill_view(scope, &stored).await
    }

    /// Reports that a skill or workflow was followed and worked or failed, and returns it. After three failures in a row it
    /// is retired, until the owner restores it. Fails if the scope has none of this name.
    pub async fn report_skill(
        &self,
        scope: &Scope,
        form: SkillForm,
        name: &str,
        worked: bool,
    ) -> Result<SkillView> {
        let id = self.stored_skill(scope, form, name).await?.memory.id;
        let now = self.now().timestamp();
        let report = |memory: &mut Memory| {
            count_report(memory, worked, now);
            Ok(())
        };
        let what = if worked { "skill worked" } else { "skill failed" };
        let changed =
            change_memory(&*self.store, scope, id, &self.author, what, now, &report).await?;
        self.sync_skills_after(scope).await;
        let stored = StoredSkill::of(changed).ok_or_else(|| Error::not_found("skill", name))?;
        self.skill_view(scope, &stored).await
    }

    /// Returns the skills whose effect has changed by what tool calls and experiences show, those that stopped working
    /// retired.
    pub(in crate::engine) async fn measured_skills(
        &self,
        scope: &Scope,
        skills: &[StoredSkill],
        calls: &SequenceScan,
        now: Timestamp,
    ) -> Result<Vec<Memory>> {
        let mut changed = Vec::new();
        for stored in skills.iter().filter(|stored| stored.is_active()) {
            let before = SkillEffectRecord::of(&stored.memory);
            let mut effect = before.clone();
            let since = effect.observed_at.unwrap_or(stored.memory.created_at);
            if let SkillPattern::Steps(keys) = &stored.record.pattern {
                let (worked, failed) = calls.outcomes(keys, since);
                effect.uses = effect.uses.saturating_add(worked + failed);
                effect.count(worked, failed, now);
                effect.observed_at = (worked + failed > 0).then_some(now).or(effect.observed_at);
            }
            self.count_cures(scope, &mut effect, now).await?;
            if effect != before {
                let mut stored = stored.clone();
                effect.store_in(&mut stored.memory);
                retire_failing(&mut stored.memory, &effect);
                bump(&mut stored, now);
                changed.push(stored.memory);
            }
        }
        Ok(changed)
    }

    /// Counts the outcomes of the experiences that tell a cure since they were last counted.
    async fn count_cures(
        &self,
        scope: &Scope,
        effect: &mut SkillEffectRecord,
        now: Timestamp,
    ) -> Result<()> {
        let ids: Vec<MemoryId> = effect.cures.iter().map(|cure| cure.id).collect();
        let memories = self.get_many(scope, &ids).await?;
        let (mut worked, mut failed) = (0, 0);
        for memory in memories {
            let Some(experience) = Experience::of_memory(&memory) else { continue };
            let cures = effect.cures.iter_mut().filter(|cure| cure.id == memory.id);
            for cure in cures {
                worked += experience.worked.saturating_sub(cure.worked);
                failed += experience.failed.saturating_sub(cure.failed);
                (cure.worked, cure.failed) = (experience.worked, experience.failed);
            }
        }
        effect.uses = effect.uses.saturating_add(worked + failed);
        effect.count(worked, failed, now);
        Ok(())
    }
}

/// Counts a report in a memory, and retires its skill if it fails again and again.
pub(in crate::engine) fn count_report(memory: &mut Memory, worked: bool, now: Timestamp) {
    let mut effect = SkillEffectRecord::of(memory);
    effect.count(u32::from(worked), u32::from(!worked), now);
    effect.store_in(memory);
    retire_failing(memory, &effect);
}

fn retire_failing(memory: &mut Memory, effect: &SkillEffectRecord) {
    if effect.is_failing() {
        memory.status = Status::Archived;
    }
}
