//! What an extraction will change: each draft is judged, held against what is near it, and turned into changes.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::json;

use super::{
    arbiter::{Arbiter, unsure},
    extract::Draft,
    gate::{GateContext, Reason, Verdict, judge},
    likeness::Likeness,
    mask, naming,
    near::near_draft,
    reconcile::{self, Resolution, Skipped, reconcile},
};
use crate::{
    error::Result,
    store::{Key, Store},
    types::{
        Change, Fingerprint, Held, HeldAs, Kind, Memory, MemoryId, Scope, Slot, Status, TRUST_KEY,
        Timestamp, Trust,
    },
};

/// What drafts are judged by.
#[derive(Debug, Clone)]
pub struct Judging<'a> {
    /// Whose memories they will be.
    pub scope: &'a Scope,
    /// The conversation that they come from.
    pub session: Option<&'a str>,
    /// The run.
    pub run: &'a str,
    /// What the gate holds them against, beside what is known.
    pub gate: GateContext,
    /// The most that are accepted.
    pub most: usize,
    /// When.
    pub now: Timestamp,
}

/// What an extraction will change.
#[derive(Debug, Default)]
pub struct Planned {
    /// The changes, in order.
    pub changes: Vec<Change>,
    /// What is not remembered.
    pub held: Vec<Held>,
    /// What became of each draft, in order.
    pub outcomes: Vec<Outcome>,
    /// Memories as they will be.
    after: BTreeMap<MemoryId, Memory>,
}

impl Became {
    /// Whether memories changed by it.
    pub fn is_change(&self) -> bool {
        matches!(self, Self::Added { .. } | Self::Updated { .. } | Self::Superseded { .. })
    }
}

/// What became of a draft.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// What it says; a stand-in where it holds a secret.
    pub statement: String,
    /// Its kind.
    pub kind: Kind,
    /// The turns that say so.
    #[serde(skip)]
    pub turns: Vec<MemoryId>,
    /// What became of it.
    #[serde(flatten)]
    pub became: Became,
}

/// What became of a draft.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "became", rename_all = "lowercase")]
pub enum Became {
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
        verdict: HeldAs,
        /// Why, in words.
        reason: String,
    },
}

/// Decides what becomes of each draft. Later drafts see what earlier ones will change. An arbiter is asked where the rules are
/// unsure.
pub async fn plan(
    store: &dyn Store,
    drafts: &[Draft],
    judging: &Judging<'_>,
    arbiter: Option<&dyn Arbiter>,
) -> Result<Planned> {
    let texts: Vec<_> = drafts.iter().map(|it| Fingerprint::of(&it.content)).collect();
    let erased = store.erased(judging.scope, &texts).await?;
    let mut planned = Planned::default();
    for (draft, erased) in drafts.iter().zip(erased) {
        let became = if erased {
            // Not even held: what was forgotten must not come back to the disk.
            Became::Skipped { reason: "it was forgotten".to_owned() }
        } else {
            planned.take(store, draft, judging, arbiter).await?
        };
        let mut statement = draft.content.clone();
        crate::text::secrets::mask_all([&mut statement]);
        let turns = draft.evidence.clone();
        planned.outcomes.push(Outcome { statement, kind: draft.kind, turns, became });
    }
    Ok(planned)
}

impl Planned {
    async fn take(
        &mut self,
        store: &dyn Store,
        draft: &Draft,
        judging: &Judging<'_>,
        arbiter: Option<&dyn Arbiter>,
    ) -> Result<Became> {
        let neighbours = self.as_they_will_be(near_draft(store, judging.scope, draft).await?);
        let gate = GateContext { known: known(draft, &neighbours), ..judging.gate.clone() };
        match judge(draft, &gate) {
            Verdict::Accept if self.accepted() >= judging.most => {
                let reason = Reason::TooMany { most: judging.most };
                Ok(self.hold(draft, HeldAs::Quarantined, &reason, judging))
            }
            Verdict::Accept => {
                let resolution = resolve(draft, &neighbours, arbiter).await;
                self.accept(store, draft, (resolution, &neighbours), judging).await
            }
            Verdict::Reject(reason @ Reason::Known) => {
                Ok(Became::Skipped { reason: reason.to_string() })
            }
            Verdict::Reject(reason) => Ok(self.hold(draft, HeldAs::Rejected, &reason, judging)),
            Verdict::Quarantine(reason) => {
                Ok(self.hold(draft, HeldAs::Quarantined, &reason, judging))
            }
        }
    }

    async fn accept(
        &mut self,
        store: &dyn Store,
        draft: &Draft,
        (resolution, neighbours): (Resolution, &[Memory]),
        judging: &Judging<'_>,
    ) -> Result<Became> {
        let changes =
            reconcile::changes(draft, &resolution, neighbours, judging.scope, judging.now)?;
        let first = changes.first().map(Change::id);
        for mut change in changes {
            if let Change::Add(memory) = &mut change {
                let planned = self.after.values().map(|other| other.uri.clone()).collect();
                find_uri(store, memory, &planned).await?;
            }
            if let Change::Add(memory) | Change::Update(memory) = &change {
                self.after.insert(memory.id, (**memory).clone());
            }
            self.changes.push(change);
        }
        Ok(match (resolution, first) {
            (Resolution::Skip(_, why), _) => skipped(why),
            (Resolution::Update(id), _) => Became::Updated { id },
            (Resolution::Supersede(older), Some(id)) => Became::Superseded { id, older },
            (Resolution::Add | Resolution::Supersede(_), first) => {
                Became::Added { id: first.unwrap_or_else(|| MemoryId::new(judging.now)) }
            }
        })
    }

    fn hold(
        &mut self,
        draft: &Draft,
        verdict: HeldAs,
        reason: &Reason,
        judging: &Judging<'_>,
    ) -> Became {
        let mut memory = reconcile::into_memory(draft, judging.scope, judging.now);
        // Whatever the settings say of memories: a secret that was turned away is written nowhere.
        mask::in_memory(&mut memory);
        let (id, reason) = (memory.id, reason.to_string());
        self.held.push(Held {
            memory: Box::new(memory),
            verdict,
            reason: reason.clone(),
            at: judging.now,
            run: judging.run.to_owned(),
            session: judging.session.map(str::to_owned),
        });
        Became::Held { id, verdict, reason }
    }

    fn accepted(&self) -> usize {
        let is_change = |outcome: &&Outcome| {
            !matches!(outcome.became, Became::Held { .. } | Became::Skipped { .. })
        };
        self.outcomes.iter().filter(is_change).count()
    }

    /// Neighbours with what is planned for them, and everything that is planned beside.
    fn as_they_will_be(&self, neighbours: Vec<Memory>) -> Vec<Memory> {
        let untouched = neighbours.into_iter().filter(|it| !self.after.contains_key(&it.id));
        untouched.chain(self.after.values().cloned()).collect()
    }
}

/// What a draft means, by rules; by the arbiter where they are unsure, if it can say.
async fn resolve(
    draft: &Draft,
    neighbours: &[Memory],
    arbiter: Option<&dyn Arbiter>,
) -> Resolution {
    let resolution = reconcile(draft, neighbours);
    let near = match resolution {
        Resolution::Add => unsure(draft, neighbours),
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
pub async fn find_uri(
    store: &dyn Store,
    memory: &mut Memory,
    planned: &BTreeSet<String>,
) -> Result<()> {
    let slot = Slot::of(&memory.metadata);
    let category = slot.as_ref().map(|slot| slot.attribute.as_str());
    let print = memory.fingerprint();
    for attempt in 1.. {
        let key = Key::Uri(memory.uri.clone());
        let is_planned = planned.contains(&memory.uri);
        if !is_planned && store.find(&memory.scope, &key, 1).await?.is_empty() {
            break;
        }
        memory.uri =
            naming::uri(&memory.scope, memory.kind, category, &memory.name, print, attempt);
    }
    Ok(())
}

/// A draft's memory as a person approved it.
pub fn approved(mut memory: Memory, now: Timestamp) -> Memory {
    memory.metadata.insert(TRUST_KEY.to_owned(), json!(Trust::Approved));
    (memory.created_at, memory.updated_at) = (now, now);
    memory
}

fn skipped(why: Skipped) -> Became {
    Became::Skipped { reason: why.as_str().to_owned() }
}

/// What the gate compares a draft with by its words. Where slots tell more, or it says itself what it replaces, words
/// must not: "tea over coffee" and "coffee over tea" have the same ones.
fn known(draft: &Draft, neighbours: &[Memory]) -> Vec<Likeness> {
    let by_words = |memory: &&Memory| {
        memory.status == Status::Active
            && draft.replaces.is_none()
            && (draft.slot.is_none() || Slot::of(&memory.metadata).is_none())
    };
    neighbours.iter().filter(by_words).map(|memory| Likeness::of(&memory.content)).collect()
}
