//! Reflection: reviews the memories of a scope and proposes changes, which a person approves or rejects.
//!
//! One reflection:
//!
//! 1. `Engine::reflect` audits the scope (`engine/growth/audit/`): contradictions, stale memories and duplicates become
//!    proposals to change memories (`memory_changes.rs`).
//! 2. `preferences.rs` reads what the user stated, and the turns in which they said it again or corrected it
//!    (`growth/reflection/preferences.rs`). What came up often enough becomes a proposal for USER.md or SOUL.md, and a
//!    line of an identity file that a newer statement superseded one to replace it.
//! 3. `patterns.rs` counts recurring tool calls and pains that came back (`growth/patterns/`), proposes skills and workflows,
//!    and measures the effect of those that exist.
//! 4. A proposal that waits already, or that a person rejected, is left out. The rest are stored as memories of kind
//!    `suggestion`, all in one run of the journal.
//! 5. `decide.rs` applies an approved proposal, if what it was made against is unchanged, and takes it back.

mod decide;
mod memory_changes;
mod preferences;
mod patterns;
mod proven;
mod skill_changes;
mod report;
mod take_back;

pub use report::{ProposalView, ReflectRequest, ReflectionReport};

use std::collections::HashSet;

use serde_json::json;

use crate::{
    engine::{Engine, SCAN_PAGE},
    error::Result,
    growth::reflection::{PROPOSAL_KEY, Proposal, ProposalState, ProposedChange, section_base},
    ingest::root_uri,
    store::{MemoryFilter, MemoryPages},
    sync::boxed,
    text::secrets::mask_all,
    types::{
        Change, Kind, Memory, MemoryId, MemorySource, Origin, Scope, Status, TRUST_KEY, Timestamp,
        Trust, WriteBatch, run_name,
    },
};

/// Most proposals of one reflection: more are not read, and the next one finds the rest.
const MAX_PROPOSALS: usize = 50;

/// Reason of a reflection in the journal.
const REFLECT_CAUSE: &str = "reflect";

/// Proposal with the memory that keeps it.
pub(in crate::engine) struct StoredProposal {
    /// Memory that keeps it.
    pub memory: Memory,
    /// Proposal.
    pub proposal: Proposal,
}

impl Engine {
    /// Reviews the memories of a scope and proposes changes, as one run; with `dry_run`, only finds them. Calls
    /// `progress` with the number of memories read. Nothing but proposals and the measured effect of skills is written. Fails if memory is disabled for
    /// the agent, or if the store or an identity file fails.
    #[boxed]
    pub async fn reflect(
        &self,
        scope: &Scope,
        request: &ReflectRequest,
        progress: &mut (dyn FnMut(usize) + Send),
    ) -> Result<ReflectionReport> {
        self.check_writable(scope)?;
        let now = self.now().timestamp();
        let audited = self.audited(scope, progress).await?;
        let known = self.stored_proposals(scope).await?;
        let outdated = self.outdated(scope, &known).await?;
        let mut found = self.preference_proposals(scope, progress).await?;
        found.extend(self.memory_proposals(scope, &audited).await?);
        let mut skills = self.stored_skills(scope, true).await?;
        let scan = self.scan_patterns(scope, progress).await?;
        let measured = self.measured_skills(scope, &skills, &scan.calls, now).await?;
        for stored in &mut skills {
            if let Some(memory) = measured.iter().find(|memory| memory.id == stored.memory.id) {
                stored.memory = memory.clone();
            }
        }
        found.extend(self.skill_proposals(scope, scan, &skills).await?);
        let is_blocking = |stored: &&StoredProposal| !outdated.contains(&stored.memory.id);
        let mut standing: Vec<Proposal> =
            known.iter().filter(is_blocking).map(|stored| stored.proposal.clone()).collect();
        let mut new = Vec::new();
        for proposal in found {
            if !standing.iter().any(|earlier| proposal.is_blocked_by(earlier)) {
                standing.push(proposal.clone());
                new.push(proposal);
            }
        }
        let left_out = new.len().saturating_sub(MAX_PROPOSALS);
        new.truncate(MAX_PROPOSALS);
        let new: Vec<StoredProposal> =
            new.into_iter().map(|proposal| self.new_record(scope, proposal, now)).collect();
        let gone = known.into_iter().filter(|stored| outdated.contains(&stored.memory.id));
        let gone = gone.map(|stored| withdrawn(stored, now)).chain(measured).collect();
        let run =
            if request.dry_run { None } else { self.store_run(scope, &new, gone, now).await? };
        if !request.dry_run {
            self.sync_skills_after(scope).await;
        }
        let proposals = new.iter().map(ProposalView::of).collect();
        Ok(ReflectionReport { run, dry_run: request.dry_run, proposals, left_out })
    }

    /// Returns the proposals of a scope, oldest first; of one state, if `state` names one.
    pub async fn proposals(
        &self,
        scope: &Scope,
        state: Option<ProposalState>,
    ) -> Result<Vec<ProposalView>> {
        let is_meant =
            |stored: &&StoredProposal| state.is_none_or(|state| stored.proposal.state == state);
        let all = self.stored_proposals(scope).await?;
        Ok(all.iter().filter(is_meant).map(ProposalView::of).collect())
    }

    /// Returns the open proposals that are not among `before`, withdrawn.
    pub(in crate::engine) async fn withdrawn_imports(
        &self,
        scope: &Scope,
        before: &HashSet<MemoryId>,
        now: Timestamp,
    ) -> Result<Vec<Memory>> {
        let is_new = |stored: &StoredProposal| {
            stored.proposal.state == ProposalState::Open && !before.contains(&stored.memory.id)
        };
        let all = self.stored_proposals(scope).await?.into_iter().filter(is_new);
        Ok(all.map(|stored| withdrawn(stored, now)).collect())
    }

    #[boxed]
    async fn stored_proposals(&self, scope: &Scope) -> Result<Vec<StoredProposal>> {
        let filter = MemoryFilter { kinds: vec![Kind::Suggestion], ..MemoryFilter::default() };
        let mut pages = MemoryPages::new(&*self.store, scope, filter, SCAN_PAGE);
        let mut all = Vec::new();
        while let Some(page) = pages.next().await? {
            let stored = |memory: Memory| {
                let proposal = Proposal::of(&memory)?;
                Some(StoredProposal { memory, proposal })
            };
            all.extend(page.into_iter().filter_map(stored));
        }
        Ok(all)
    }

    /// Returns the open proposals whose subject, or the section they were made against, has changed since.
    async fn outdated(&self, scope: &Scope, known: &[StoredProposal]) -> Result<Vec<MemoryId>> {
        let is_open = |stored: &&StoredProposal| stored.proposal.state == ProposalState::Open;
        let mut outdated = Vec::new();
        for stored in known.iter().filter(is_open) {
            let subject: Vec<MemoryId> =
                stored.proposal.evidence.first().copied().into_iter().collect();
            let subject = self.store.memories().get(scope, &subject).await?.pop().flatten();
            let holds = subject.is_some_and(|memory| memory.status == Status::Active);
            let is_current = match &stored.proposal.change {
                ProposedChange::Layer(edit) => {
                    let text = self.read_layer(scope, edit.layer).await?.text;
                    section_base(&text, &edit.section) == edit.base
                }
                ProposedChange::Memories { .. } => true,
                ProposedChange::Skill(skill) => match &skill.base {
                    None => true,
                    Some(base) => {
                        let known = self.stored_skill(scope, skill.form, &skill.name).await;
                        known.is_ok_and(|known| known.memory.content == *base)
                    }
                },
            };
            outdated.extend((!holds || !is_current).then_some(stored.memory.id));
        }
        Ok(outdated)
    }

    fn new_record(&self, scope: &Scope, mut proposal: Proposal, now: Timestamp) -> StoredProposal {
        if self.masks_secrets(scope) {
            mask_all([&mut proposal.why]);
            if let ProposedChange::Skill(skill) = &mut proposal.change {
                mask_all([&mut skill.text]);
            }
        }
        let target = proposal.change.target();
        let text = format!("{}\n\n{}", proposal.why, proposal.diff());
        let source =
            MemorySource { turns: proposal.evidence.clone(), ..MemorySource::new(Origin::Extract) };
        let mut memory = Memory::with_content(scope, Kind::Suggestion, text, source, now, now);
        memory.name = format!("{target}: {}", proposal.reason);
        memory.uri = format!("{}suggestion/reflection/{}", root_uri(scope), memory.id);
        memory.metadata.insert(TRUST_KEY.to_owned(), json!(Trust::Inferred.as_str()));
        memory.metadata.insert(PROPOSAL_KEY.to_owned(), json!(proposal));
        StoredProposal { memory, proposal }
    }

    /// Stores new proposals, those that are withdrawn and measured skills as one run; `None` if there are none.
    async fn store_run(
        &self,
        scope: &Scope,
        new: &[StoredProposal],
        gone: Vec<Memory>,
        now: Timestamp,
    ) -> Result<Option<String>> {
        let added = new.iter().map(|stored| Change::Add(Box::new(stored.memory.clone())));
        let updated = gone.into_iter().map(|memory| Change::Update(Box::new(memory)));
        let changes: Vec<Change> = added.chain(updated).collect();
        if changes.is_empty() {
            return Ok(None);
        }
        let run = run_name("reflect", now);
        let write = WriteBatch::new(scope, self.author.actor, REFLECT_CAUSE, now, changes);
        self.store.apply(WriteBatch { run: Some(run.clone()), ..write }).await?;
        Ok(Some(run))
    }
}

/// Returns the memory that keeps a proposal, with the proposal as it is now.
fn with_proposal(stored: StoredProposal, now: Timestamp) -> Memory {
    let StoredProposal { mut memory, proposal } = stored;
    memory.metadata.insert(PROPOSAL_KEY.to_owned(), json!(proposal));
    (memory.updated_at, memory.version) = (now, memory.version + 1);
    memory
}

fn withdrawn(mut stored: StoredProposal, now: Timestamp) -> Memory {
    stored.proposal.state = ProposalState::Withdrawn;
    stored.proposal.decided_at = Some(now);
    with_proposal(stored, now)
}
