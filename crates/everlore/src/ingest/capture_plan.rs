//! What an extraction will change: each draft is judged, held against what is near it, and turned into changes.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::json;

use super::{
    arbiter::{Arbiter, ambiguous_neighbours},
    extract::Draft,
    gate::{GateContext, GateReason, GateVerdict, judge},
    mask, naming,
    neighbours::neighbours_of_draft,
    reconcile::{self, DraftSkipReason, Resolution, reconcile},
    text_sketch::TextSketch,
};
use crate::{
    error::Result,
    store::{MemoryKey, Store},
    types::{
        Change, Fingerprint, GateOutcome, Kind, Memory, MemoryId, QuarantinedDraft, Scope, Slot,
        Status, TRUST_KEY, Timestamp, Trust,
    },
};

/// What drafts are judged by.
#[derive(Debug, Clone)]
pub struct CaptureContext<'a> {
    /// Whose memories they will be.
    pub scope: &'a Scope,
    /// The conversation that they come from.
    pub session: Option<&'a str>,
    /// The run.
    pub run: &'a str,
    /// What the gate holds them against, beside what is known.
    pub gate: GateContext,
    /// The most that are accepted.
    pub max_accepted: usize,
    /// When.
    pub now: Timestamp,
}

/// What an extraction will change.
#[derive(Debug, Default)]
pub struct CapturePlan {
    /// The changes, in order.
    pub changes: Vec<Change>,
    /// What is not remembered.
    pub quarantined: Vec<QuarantinedDraft>,
    /// What became of each draft, in order.
    pub outcomes: Vec<DraftOutcome>,
    /// Memories as they will be.
    planned_memories: BTreeMap<MemoryId, Memory>,
}

impl DraftFate {
    /// Whether memories changed by it.
    pub fn is_change(&self) -> bool {
        matches!(self, Self::Added { .. } | Self::Updated { .. } | Self::Superseded { .. })
    }
}

/// What became of a draft.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DraftOutcome {
    /// What it says; a stand-in where it holds a secret.
    pub statement: String,
    /// Its kind.
    pub kind: Kind,
    /// The turns that say so.
    #[serde(skip)]
    pub turns: Vec<MemoryId>,
    /// What became of it.
    #[serde(flatten)]
    pub fate: DraftFate,
}

/// What became of a draft.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "became", rename_all = "lowercase")]
pub enum DraftFate {
    /// A new memory.
    Added {
        /// The memory.
        id: MemoryId,
    },
    /// A memory says more now.
    Updated {
        /// The memory.
        id: MemoryId,
    },
    /// A new memory takes the place of others.
    Superseded {
        /// The memory.
        id: MemoryId,
        /// Those that it replaces.
        older: Vec<MemoryId>,
    },
    /// Nothing: it adds nothing to what is known.
    Skipped {
        /// Why, in words.
        reason: String,
    },
    /// Nothing: it is held for a person to look at.
    Held {
        /// What the draft is called there.
        id: MemoryId,
        /// What the gate said.
        verdict: GateOutcome,
        /// Why, in words.
        reason: String,
    },
}

/// Decides what becomes of each draft. Later drafts see what earlier ones will change. An arbiter is asked where the rules are
/// unsure.
pub async fn plan_capture(
    store: &dyn Store,
    drafts: &[Draft],
    judging: &CaptureContext<'_>,
    arbiter: Option<&dyn Arbiter>,
) -> Result<CapturePlan> {
    let texts: Vec<_> = drafts.iter().map(|it| Fingerprint::of(&it.content)).collect();
    let erased = store.memories().are_erased(judging.scope, &texts).await?;
    let mut planned = CapturePlan::default();
    for (draft, erased) in drafts.iter().zip(erased) {
        let became = if erased {
            // Not even held: what was forgotten must not come back to the disk.
            DraftFate::Skipped { reason: "it was forgotten".to_owned() }
        } else {
            planned.plan_draft(store, draft, judging, arbiter).await?
        };
        let mut statement = draft.content.clone();
        crate::text::secrets::mask_all([&mut statement]);
        let turns = draft.evidence.clone();
        planned.outcomes.push(DraftOutcome { statement, kind: draft.kind, turns, fate: became });
    }
    Ok(planned)
}

impl CapturePlan {
    async fn plan_draft(
        &mut self,
        store: &dyn Store,
        draft: &Draft,
        judging: &CaptureContext<'_>,
        arbiter: Option<&dyn Arbiter>,
    ) -> Result<DraftFate> {
        let neighbours =
            self.with_planned_changes(neighbours_of_draft(store, judging.scope, draft).await?);
        let gate =
            GateContext { known: comparable_sketches(draft, &neighbours), ..judging.gate.clone() };
        match judge(draft, &gate) {
            GateVerdict::Accept if self.accepted_count() >= judging.max_accepted => {
                let reason = GateReason::TooMany { most: judging.max_accepted };
                Ok(self.quarantine(draft, GateOutcome::Quarantined, &reason, judging))
            }
            GateVerdict::Accept => {
                let resolution = resolve_draft(draft, &neighbours, arbiter).await;
                self.accept(store, draft, (resolution, &neighbours), judging).await
            }
            GateVerdict::Reject(reason @ GateReason::Known) => {
                Ok(DraftFate::Skipped { reason: reason.to_string() })
            }
            GateVerdict::Reject(reason) => {
                Ok(self.quarantine(draft, GateOutcome::Rejected, &reason, judging))
            }
            GateVerdict::Quarantine(reason) => {
                Ok(self.quarantine(draft, GateOutcome::Quarantined, &reason, judging))
            }
        }
    }

    async fn accept(
        &mut self,
        store: &dyn Store,
        draft: &Draft,
        (resolution, neighbours): (Resolution, &[Memory]),
        judging: &CaptureContext<'_>,
    ) -> Result<DraftFate> {
        let changes = reconcile::resolution_changes(
            draft,
            &resolution,
            neighbours,
            judging.scope,
            judging.now,
        )?;
        let first = changes.first().map(Change::id);
        for mut change in changes {
            if let Change::Add(memory) = &mut change {
                let planned =
                    self.planned_memories.values().map(|other| other.uri.clone()).collect();
                assign_free_uri(store, memory, &planned).await?;
            }
            if let Change::Add(memory) | Change::Update(memory) = &change {
                self.planned_memories.insert(memory.id, (**memory).clone());
            }
            self.changes.push(change);
        }
        Ok(match (resolution, first) {
            (Resolution::Skip(_, why), _) => skipped_fate(why),
            (Resolution::Update(id), _) => DraftFate::Updated { id },
            (Resolution::Supersede(older), Some(id)) => DraftFate::Superseded { id, older },
            (Resolution::Add | Resolution::Supersede(_), first) => {
                DraftFate::Added { id: first.unwrap_or_else(|| MemoryId::new(judging.now)) }
            }
        })
    }

    fn quarantine(
        &mut self,
        draft: &Draft,
        verdict: GateOutcome,
        reason: &GateReason,
        judging: &CaptureContext<'_>,
    ) -> DraftFate {
        let mut memory = reconcile::draft_to_memory(draft, judging.scope, judging.now);
        // Whatever the settings say of memories: a secret that was turned away is written nowhere.
        mask::mask_memory(&mut memory);
        let (id, reason) = (memory.id, reason.to_string());
        self.quarantined.push(QuarantinedDraft {
            memory: Box::new(memory),
            verdict,
            reason: reason.clone(),
            at: judging.now,
            run: judging.run.to_owned(),
            session: judging.session.map(str::to_owned),
        });
        DraftFate::Held { id, verdict, reason }
    }

    fn accepted_count(&self) -> usize {
        let is_change = |outcome: &&DraftOutcome| {
            !matches!(outcome.fate, DraftFate::Held { .. } | DraftFate::Skipped { .. })
        };
        self.outcomes.iter().filter(is_change).count()
    }

    /// Neighbours with what is planned for them, and everything that is planned beside.
    fn with_planned_changes(&self, neighbours: Vec<Memory>) -> Vec<Memory> {
        let untouched =
            neighbours.into_iter().filter(|it| !self.planned_memories.contains_key(&it.id));
        untouched.chain(self.planned_memories.values().cloned()).collect()
    }
}

/// What a draft means, by rules; by the arbiter where they are unsure, if it can say.
async fn resolve_draft(
    draft: &Draft,
    neighbours: &[Memory],
    arbiter: Option<&dyn Arbiter>,
) -> Resolution {
    let resolution = reconcile(draft, neighbours);
    let near = match resolution {
        Resolution::Add => ambiguous_neighbours(draft, neighbours),
        _ => Vec::new(),
    };
    match arbiter {
        Some(arbiter) if !near.is_empty() => {
            arbiter.decide(draft, &near).await.unwrap_or(resolution)
        }
        _ => resolution,
    }
}

/// Gives a memory a uri that neither a memory nor a planned one has: one that said the same before, and was superseded, keeps its own.
pub async fn assign_free_uri(
    store: &dyn Store,
    memory: &mut Memory,
    planned: &BTreeSet<String>,
) -> Result<()> {
    let slot = Slot::from_metadata(&memory.metadata);
    let category = slot.as_ref().map(|slot| slot.attribute.as_str());
    let print = memory.fingerprint();
    for attempt in 1.. {
        let key = MemoryKey::Uri(memory.uri.clone());
        let is_planned = planned.contains(&memory.uri);
        if !is_planned && store.memories().find(&memory.scope, &key, 1).await?.is_empty() {
            break;
        }
        memory.uri =
            naming::memory_uri(&memory.scope, memory.kind, category, &memory.name, print, attempt);
    }
    Ok(())
}

/// A draft's memory as a person approved it.
pub fn approved_memory(mut memory: Memory, now: Timestamp) -> Memory {
    memory.metadata.insert(TRUST_KEY.to_owned(), json!(Trust::Approved));
    (memory.created_at, memory.updated_at) = (now, now);
    memory
}

fn skipped_fate(why: DraftSkipReason) -> DraftFate {
    DraftFate::Skipped { reason: why.as_str().to_owned() }
}

/// What the gate compares a draft with by its words. Where slots tell more, or it says itself what it replaces, words
/// must not: "tea over coffee" and "coffee over tea" have the same ones.
fn comparable_sketches(draft: &Draft, neighbours: &[Memory]) -> Vec<TextSketch> {
    let by_words = |memory: &&Memory| {
        memory.status == Status::Active
            && draft.replaces.is_none()
            && (draft.slot.is_none() || Slot::from_metadata(&memory.metadata).is_none())
    };
    neighbours.iter().filter(by_words).map(|memory| TextSketch::of(&memory.content)).collect()
}
