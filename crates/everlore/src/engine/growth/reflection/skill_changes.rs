//! Approved proposals of skills and workflows, and the way back.

use serde_json::json;

use super::StoredProposal;
use crate::{
    engine::{
        Engine,
        growth::skills::{StoredSkill, bump, check_skill_text, set_text},
    },
    error::{Error, Result},
    growth::{
        reflection::{Proposal, ProposedSkill},
        skill::{CureCounts, SkillEffectRecord, SkillHead, SkillRecord},
    },
    ingest::{record_memory, root_uri},
    types::{
        Change, Experience, Kind, Memory, MemoryId, Scope, Status, TRUST_KEY, Timestamp, Trust,
    },
};

impl Engine {
    /// Returns the change that makes a proposed skill, and the id of its memory. Fails if the text is not valid, if the name
    /// is taken, or if the version that it was made against has changed.
    pub(super) async fn skill_change(
        &self,
        scope: &Scope,
        stored: &StoredProposal,
        proposed: &ProposedSkill,
        now: Timestamp,
    ) -> Result<(Change, MemoryId)> {
        check_skill_text(&proposed.text, &proposed.name)?;
        let known = self
            .stored_skills(scope, true)
            .await?
            .into_iter()
            .find(|it| it.record.form == proposed.form && it.record.name == proposed.name);
        let cures = self.cure_counts(scope, &proposed.cures).await?;
        match (known, &proposed.base) {
            (None, None) => {
                let memory = new_skill(scope, &stored.proposal, proposed, cures, now);
                let id = memory.id;
                Ok((Change::Add(Box::new(memory)), id))
            }
            (Some(known), Some(base)) => {
                let known = self.keep_hand_edit(scope, known).await?;
                if known.memory.content != *base {
                    return Err(has_changed(proposed));
                }
                let memory = next_version(known, proposed, cures, now);
                let id = memory.id;
                Ok((Change::Update(Box::new(memory)), id))
            }
            _ => Err(has_changed(proposed)),
        }
    }

    /// Returns the changes that take an approved skill back: a new one is removed, and of another version the text before
    /// comes back. Fails if it was changed since.
    pub(super) async fn skill_way_back(
        &self,
        scope: &Scope,
        proposed: &ProposedSkill,
        id: MemoryId,
        now: Timestamp,
    ) -> Result<Vec<Change>> {
        // What was removed meanwhile needs no way back.
        let Some(stored) = self.skill_by_id(scope, id).await? else { return Ok(Vec::new()) };
        let mut stored = self.keep_hand_edit(scope, stored).await?;
        if stored.memory.content != proposed.text {
            return Err(Error::invalid(
                format!("the {} `{}` was changed since", proposed.form, proposed.name),
                format!(
                    "see `everlore {0} history {1}`, and use `everlore {0} rollback {1}` or `rm`",
                    proposed.form, proposed.name
                ),
            ));
        }
        let Some(base) = &proposed.base else { return Ok(vec![Change::Delete(id)]) };
        let versions = self.skill_history(scope, proposed.form, &proposed.name).await?;
        let before = versions.iter().find(|version| version.text == *base);
        stored.record.version = before.map_or(1, |before| before.version);
        stored.memory.content.clone_from(base);
        bump(&mut stored, now);
        Ok(vec![Change::Update(Box::new(stored.memory))])
    }

    /// Returns the outcomes of experiences up to now, from which those of a skill are counted.
    async fn cure_counts(&self, scope: &Scope, cures: &[MemoryId]) -> Result<Vec<CureCounts>> {
        let memories = self.get_many(scope, cures).await?;
        let counts = |memory: &Memory| {
            let Experience { worked, failed, .. } = Experience::of_memory(memory)?;
            Some(CureCounts { id: memory.id, worked, failed })
        };
        Ok(memories.iter().filter_map(counts).collect())
    }
}

fn new_skill(
    scope: &Scope,
    proposal: &Proposal,
    proposed: &ProposedSkill,
    cures: Vec<CureCounts>,
    now: Timestamp,
) -> Memory {
    let record = SkillRecord {
        form: proposed.form,
        name: proposed.name.clone(),
        version: 1,
        latest: 1,
        reason: proposal.reason,
        why: proposal.why.clone(),
        expected: proposed.expected,
        pattern: proposed.pattern.clone(),
        steps: proposed.steps.clone(),
    };
    let text = proposed.text.clone();
    let mut memory = record_memory(scope, Kind::Skill, &proposed.name, text, now);
    memory.uri = format!("{}skill/{}/{}", root_uri(scope), proposed.form, proposed.name);
    memory.source.turns.clone_from(&proposal.evidence);
    memory.metadata.insert(TRUST_KEY.to_owned(), json!(Trust::Approved.as_str()));
    if let Some(head) = SkillHead::parse(&memory.content) {
        memory.description = head.description;
    }
    record.store_in(&mut memory);
    let effect = SkillEffectRecord { cures, ..SkillEffectRecord::default() };
    effect.store_in(&mut memory);
    memory
}

/// Returns a skill with another text, in use again if it was retired.
fn next_version(
    mut known: StoredSkill,
    proposed: &ProposedSkill,
    cures: Vec<CureCounts>,
    now: Timestamp,
) -> Memory {
    set_text(&mut known, proposed.text.clone());
    known.record.steps.clone_from(&proposed.steps);
    let effect = SkillEffectRecord::of(&known.memory);
    let effect = SkillEffectRecord { cures, failures_in_a_row: 0, ..effect };
    effect.store_in(&mut known.memory);
    known.memory.status = Status::Active;
    bump(&mut known, now);
    known.memory
}

fn has_changed(proposed: &ProposedSkill) -> Error {
    Error::invalid(
        format!(
            "the {} `{}` has changed since the proposal was made",
            proposed.form, proposed.name
        ),
        "reject it, or run `everlore reflect` again",
    )
}
