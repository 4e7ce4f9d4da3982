//! Capture plan: each draft passes the gate, is reconciled with its neighbours, and becomes changes.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::json;

use super::{
    TextSketch,
    draft_resolution::{CaptureModels, DraftResolution, resolve_draft},
    extract::Draft,
    gate::{GateContext, GateReason, GateVerdict, judge},
    mask, naming,
    neighbours::neighbours_of_drafts,
    reconcile::{self, DraftSkipReason, Resolution, reconcile},
    remember::note_doubted,
};
use crate::{
    error::Result,
    store::{MemoryKey, Store},
    sync::BoxFuture,
    types::{
        Change, Fingerprint, GateOutcome, Kind, Memory, MemoryId, QuarantinedDraft, Scope, Slot,
        Status, TRUST_KEY, Timestamp, Trust,
    },
};

/// Context in which drafts are judged.
#[derive(Debug, Clone)]
pub(crate) struct CaptureContext<'a> {
    /// Owner of the memories.
    pub scope: &'a Scope,
    /// Session that the drafts come from.
    pub session: Option<&'a str>,
    /// Journal run of the changes.
    pub run: &'a str,
    /// Gate context, without the neighbours of a draft.
    pub gate: GateContext,
    /// Most drafts accepted in one plan.
    pub max_accepted: usize,
    /// Current time.
    pub now: Timestamp,
}

/// Planned result of an extraction.
#[derive(Debug, Default)]
pub(crate) struct CapturePlan {
    /// Changes, in order.
    pub changes: Vec<Change>,
    /// Drafts that are not stored as memories.
    pub quarantined: Vec<QuarantinedDraft>,
    /// Outcome of each draft, in order.
    pub outcomes: Vec<DraftOutcome>,
    /// Planned state of memories.
    planned_memories: BTreeMap<MemoryId, Memory>,
}

impl DraftFate {
    /// Returns `true` if the draft changed a memory.
    pub fn is_change(&self) -> bool {
        !matches!(self, Self::Skipped { .. } | Self::Held { .. })
    }

    /// Returns the memory that tells what the draft says.
    fn successor(&self) -> Option<MemoryId> {
        match self {
            Self::Added { id } | Self::Updated { id } | Self::Superseded { id, .. } => Some(*id),
            Self::Withdrew { .. } | Self::Skipped { .. } | Self::Held { .. } => None,
        }
    }
}

/// Draft with its fate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DraftOutcome {
    /// Statement, with secrets masked.
    pub statement: String,
    /// Kind of the draft.
    pub kind: Kind,
    /// Turns that are its evidence.
    #[serde(skip)]
    pub turns: Vec<MemoryId>,
    /// Fate of the draft.
    #[serde(flatten)]
    pub fate: DraftFate,
}

/// Fate of a draft.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "became", rename_all = "lowercase")]
pub enum DraftFate {
    /// Became a new memory.
    Added {
        /// Id of the memory.
        id: MemoryId,
    },
    /// Extended an existing memory.
    Updated {
        /// Id of the memory.
        id: MemoryId,
    },
    /// Became a new memory that replaces others.
    Superseded {
        /// Id of the memory.
        id: MemoryId,
        /// Superseded memories.
        older: Vec<MemoryId>,
    },
    /// Ended earlier statements and became nothing itself.
    Withdrew {
        /// Memories that no longer hold.
        older: Vec<MemoryId>,
    },
    /// Dropped: it adds nothing to what is stored.
    Skipped {
        /// Reason in words.
        reason: String,
    },
    /// Quarantined for a person to review.
    Held {
        /// Id of the quarantined draft.
        id: MemoryId,
        /// Verdict of the gate.
        verdict: GateOutcome,
        /// Reason in words.
        reason: String,
    },
}

/// Decides the fate of each draft. Later drafts see the changes planned for earlier ones.
pub(crate) fn plan_capture<'a>(
    store: &'a dyn Store,
    drafts: &'a [Draft],
    context: &'a CaptureContext<'a>,
    models: CaptureModels<'a>,
) -> BoxFuture<'a, Result<CapturePlan>> {
    Box::pin(async move {
        let texts: Vec<_> = drafts.iter().map(|it| Fingerprint::of(&it.content)).collect();
        let erased = store.memories().are_erased(context.scope, &texts).await?;
        let neighbours = neighbours_of_drafts(store, context.scope, drafts).await?;
        let mut plan = CapturePlan::default();
        for ((draft, erased), neighbours) in drafts.iter().zip(erased).zip(neighbours) {
            let fate = if erased {
                // Not even quarantined: what was erased must not return to the disk.
                DraftFate::Skipped { reason: "it was forgotten".to_owned() }
            } else {
                let neighbours = plan.with_planned_changes(neighbours);
                let fate = plan.plan_draft(store, draft, &neighbours, context, models).await?;
                plan.add_earlier(store, draft, fate, context).await?
            };
            let mut statement = draft.content.clone();
            crate::text::secrets::mask_all([&mut statement]);
            let turns = draft.evidence.clone();
            plan.outcomes.push(DraftOutcome { statement, kind: draft.kind, turns, fate });
        }
        Ok(plan)
    })
}

impl CapturePlan {
    async fn plan_draft(
        &mut self,
        store: &dyn Store,
        draft: &Draft,
        neighbours: &[Memory],
        context: &CaptureContext<'_>,
        models: CaptureModels<'_>,
    ) -> Result<DraftFate> {
        if draft.is_withdrawal() {
            let resolution = DraftResolution::from(reconcile(draft, neighbours));
            return self.accept(store, draft, resolution, neighbours, context).await;
        }
        let gate =
            GateContext { known: comparable_sketches(draft, neighbours), ..context.gate.clone() };
        match judge(draft, &gate) {
            GateVerdict::Accept if self.accepted_count() >= context.max_accepted => {
                let reason = GateReason::TooMany { most: context.max_accepted };
                Ok(self.quarantine(draft, GateOutcome::Quarantined, &reason, context))
            }
            GateVerdict::Accept => {
                let resolution = resolve_draft(draft, neighbours, models).await?;
                self.accept(store, draft, resolution, neighbours, context).await
            }
            GateVerdict::Reject(reason @ GateReason::Known) => {
                Ok(DraftFate::Skipped { reason: reason.to_string() })
            }
            GateVerdict::Reject(reason) => {
                Ok(self.quarantine(draft, GateOutcome::Rejected, &reason, context))
            }
            GateVerdict::Quarantine(reason) => {
                Ok(self.quarantine(draft, GateOutcome::Quarantined, &reason, context))
            }
        }
    }

    /// Stores the statements that a draft took back in its own conversation: superseded from the beginning, so that they
    /// change nothing else. Returns the fate of the draft.
    async fn add_earlier(
        &mut self,
        store: &dyn Store,
        draft: &Draft,
        fate: DraftFate,
        context: &CaptureContext<'_>,
    ) -> Result<DraftFate> {
        if draft.earlier.is_empty() {
            return Ok(fate);
        }
        let texts: Vec<_> = draft.earlier.iter().map(|it| Fingerprint::of(&it.content)).collect();
        let erased = store.memories().are_erased(context.scope, &texts).await?;
        let mut added = Vec::new();
        for (earlier, erased) in draft.earlier.iter().zip(erased) {
            if erased || judge(earlier, &context.gate) != GateVerdict::Accept {
                continue;
            }
            let memory = reconcile::draft_to_memory(earlier, context.scope, context.now);
            let mut memory = reconcile::superseded(memory, fate.successor(), draft.at, context.now);
            let planned = self.planned_memories.values().map(|other| other.uri.clone()).collect();
            assign_free_uri(store, &mut memory, &planned).await?;
            added.push(memory.id);
            self.planned_memories.insert(memory.id, memory.clone());
            self.changes.push(Change::Add(Box::new(memory)));
        }
        Ok(if draft.is_withdrawal() && !added.is_empty() {
            DraftFate::Withdrew { older: added }
        } else {
            fate
        })
    }

    async fn accept(
        &mut self,
        store: &dyn Store,
        draft: &Draft,
        DraftResolution { resolution, doubted }: DraftResolution,
        neighbours: &[Memory],
        context: &CaptureContext<'_>,
    ) -> Result<DraftFate> {
        let changes = reconcile::resolution_changes(
            draft,
            &resolution,
            neighbours,
            context.scope,
            context.now,
        )?;
        let first = changes.first().map(Change::id);
        for mut change in changes {
            if let Change::Add(memory) = &mut change {
                let planned =
                    self.planned_memories.values().map(|other| other.uri.clone()).collect();
                assign_free_uri(store, memory, &planned).await?;
                note_doubted(memory, doubted.as_ref());
            }
            if let Change::Add(memory) | Change::Update(memory) = &change {
                self.planned_memories.insert(memory.id, (**memory).clone());
            }
            self.changes.push(change);
        }
        Ok(match (resolution, first) {
            (Resolution::Skip(_, why), _) => skipped_fate(why),
            (Resolution::Update(id), _) => DraftFate::Updated { id },
            (Resolution::Withdraw(older), _) if older.is_empty() => {
                DraftFate::Skipped { reason: "what it takes back is not stored".to_owned() }
            }
            (Resolution::Withdraw(older), _) => DraftFate::Withdrew { older },
            (Resolution::Supersede(older), Some(id)) => DraftFate::Superseded { id, older },
            (Resolution::Add | Resolution::Supersede(_), first) => {
                DraftFate::Added { id: first.unwrap_or_else(|| MemoryId::new(context.now)) }
            }
        })
    }

    fn quarantine(
        &mut self,
        draft: &Draft,
        verdict: GateOutcome,
        reason: &GateReason,
        context: &CaptureContext<'_>,
    ) -> DraftFate {
        let mut memory = reconcile::draft_to_memory(draft, context.scope, context.now);
        // Regardless of the settings for memories, a rejected secret is written nowhere.
        mask::mask_memory(&mut memory);
        let (id, reason) = (memory.id, reason.to_string());
        self.quarantined.push(QuarantinedDraft {
            memory: Box::new(memory),
            verdict,
            reason: reason.clone(),
            at: context.now,
            run: context.run.to_owned(),
            session: context.session.map(str::to_owned),
        });
        DraftFate::Held { id, verdict, reason }
    }

    fn accepted_count(&self) -> usize {
        let is_change = |outcome: &&DraftOutcome| {
            !matches!(outcome.fate, DraftFate::Held { .. } | DraftFate::Skipped { .. })
        };
        self.outcomes.iter().filter(is_change).count()
    }

    /// Returns neighbours in their planned state, and all other planned memories.
    fn with_planned_changes(&self, neighbours: Vec<Memory>) -> Vec<Memory> {
        let untouched =
            neighbours.into_iter().filter(|it| !self.planned_memories.contains_key(&it.id));
        untouched.chain(self.planned_memories.values().cloned()).collect()
    }
}

/// Assigns a uri that neither a stored nor a planned memory has. An earlier, superseded memory with the same text keeps
/// its own.
pub(crate) async fn assign_free_uri(
    store: &dyn Store,
    memory: &mut Memory,
    planned: &BTreeSet<String>,
) -> Result<()> {
    let category = reconcile::category_of(memory);
    let category = category.as_deref();
    let print = memory.fingerprint();
    for attempt in 1.. {
        let key = MemoryKey::Uri(memory.uri.clone());
        let is_planned = planned.contains(&memory.uri);
        if !is_planned && store.memories().find_one(&memory.scope, key).await?.is_none() {
            break;
        }
        memory.uri =
            naming::memory_uri(&memory.scope, memory.kind, category, &memory.name, print, attempt);
    }
    Ok(())
}

/// Marks the memory of a quarantined draft as approved by a person.
pub(crate) fn approved_memory(mut memory: Memory, now: Timestamp) -> Memory {
    memory.metadata.insert(TRUST_KEY.to_owned(), json!(Trust::Approved));
    (memory.created_at, memory.updated_at) = (now, now);
    memory
}

fn skipped_fate(why: DraftSkipReason) -> DraftFate {
    DraftFate::Skipped { reason: why.as_str().to_owned() }
}

/// Returns sketches of the neighbours that the gate compares with a draft. Drafts with a slot, or that name what they
/// replace, are not compared by words: "tea over coffee" and "coffee over tea" have the same ones.
fn comparable_sketches(draft: &Draft, neighbours: &[Memory]) -> Vec<TextSketch> {
    let is_comparable = |memory: &&Memory| {
        memory.status == Status::Active
            && reconcile::is_same_speaker(draft, memory)
            && draft.replaces.is_none()
            && (draft.slot.is_none() || Slot::from_metadata(&memory.metadata).is_none())
    };
    neighbours.iter().filter(is_comparable).map(|memory| TextSketch::of(&memory.content)).collect()
}
