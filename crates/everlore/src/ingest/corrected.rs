//! Stored statements that corrections mean: "forget what I said about Berlin", "the demo got moved to Thursday".

use std::{collections::BTreeMap, sync::Arc};

use super::{
    extract::{Correction, Draft, SentenceJudge, StatementTraits, TurnText},
    neighbours::neighbours_of_text,
    reconcile::{CATEGORY_KEY, is_same_speaker},
    rivals,
};
use crate::{
    error::Result,
    store::{DocAddress, ListOrder, ListQuery, MemoryFilter, Store, source_turn_term},
    sync::run_blocking,
    types::{Kind, Memory, MemoryId, Role, Scope, Slot, Status, Trust},
};

/// Newest memories that a correction may mean though it shares no word with them.
const MAX_RECENT: usize = 40;

/// Confidence of an open correction of which nothing tells what it means: the gate puts it into quarantine.
const UNCLEAR_CONFIDENCE: f64 = 0.45;

/// Finds the stored statement that each correction means and makes the draft replace it. A withdrawal or tentative
/// correction that means none is dropped, and an open one that states something whole is left to a person. `context` are
/// the turns before those of the drafts.
pub(crate) async fn find_corrected(
    store: &dyn Store,
    scope: &Scope,
    drafts: &mut Vec<Draft>,
    context: &[TurnText],
    judge: Option<&Arc<dyn SentenceJudge>>,
) -> Result<()> {
    for draft in drafts.iter_mut() {
        let Some(correction) = draft.correction.filter(|_| is_open(draft)) else { continue };
        let target = match directly_before(store, scope, draft, correction, context).await? {
            Some(target) => Some(target),
            None => likeliest(store, scope, draft, &correction, judge).await?,
        };
        let Some(target) = target else { continue };
        // What is put behind the corrected statement keeps all parts of it.
        let may_lose = is_guessed(&correction) && !correction.lacks_subject;
        if may_lose && rivals::changes_one_part(&draft.content, &target.content) {
            keep_beside(draft);
            continue;
        }
        let own = traits_of_draft(draft, Vec::new());
        let stands_behind = own.stands_behind(&correction, &traits_of_memory(&target, Vec::new()));
        if stands_behind && !correction.is_withdrawal {
            let category = target.metadata.get(CATEGORY_KEY).and_then(|it| it.as_str());
            draft.put_behind(&target.content, &target.source.turns, category);
        }
        draft.replaces = Some(target.content);
    }
    let needs_target = |it: Correction| it.is_withdrawal || it.is_tentative;
    let is_empty = |draft: &Draft| {
        is_open(draft) && draft.correction.is_some_and(needs_target) && draft.replaces.is_none()
    };
    for draft in drafts.iter_mut().filter(|draft| is_empty(draft)) {
        if draft.correction.is_some_and(|it| it.is_open_statement()) {
            draft.confidence = UNCLEAR_CONFIDENCE;
            draft.correction = None;
        }
    }
    drafts.retain(|draft| !is_empty(draft));
    Ok(())
}

/// Keeps a draft that changes one part of a statement: it stands beside the statement, which rules may doubt.
fn keep_beside(draft: &mut Draft) {
    if let Some(correction) = draft.correction.as_mut() {
        correction.is_tentative = false;
    }
}

/// Returns `true` unless a draft only takes back a statement of its own conversation.
fn is_open(draft: &Draft) -> bool {
    !draft.is_withdrawal() || draft.earlier.is_empty()
}

/// Returns the last statement of the message directly before, which "scratch that" takes back.
async fn directly_before(
    store: &dyn Store,
    scope: &Scope,
    draft: &Draft,
    correction: Correction,
    context: &[TurnText],
) -> Result<Option<Memory>> {
    let previous = context.iter().rev().find(|turn| turn.role == Role::User);
    let Some(previous) = previous.filter(|_| correction.is_direct) else { return Ok(None) };
    let drawn = memories_drawn_from(store, scope, previous.id).await?;
    let own = traits_of_draft(draft, Vec::new());
    let meant = drawn.into_iter().filter(|memory| {
        may_correct(draft, memory)
            && own.may_mean(&correction, &traits_of_memory(memory, Vec::new()))
    });
    Ok(meant.max_by_key(|memory| (memory.at, memory.id)))
}

/// Returns the stored statement that a correction most probably means; `None` if none is probable.
async fn likeliest(
    store: &dyn Store,
    scope: &Scope,
    draft: &Draft,
    correction: &Correction,
    judge: Option<&Arc<dyn SentenceJudge>>,
) -> Result<Option<Memory>> {
    let near = neighbours_of_text(store, scope, &draft.content).await?;
    let recent = store.memories().list(scope, &recent_statements()).await?;
    let candidates: BTreeMap<MemoryId, Memory> = near
        .into_iter()
        .chain(recent)
        .filter(|memory| may_correct(draft, memory) && !is_unrelated(draft, correction, memory))
        .map(|memory| (memory.id, memory))
        .collect();
    let candidates: Vec<Memory> = candidates.into_values().collect();
    let texts = candidates.iter().map(|memory| memory.content.clone());
    let texts = std::iter::once(draft.content.clone()).chain(texts).collect();
    let mut vectors = text_vectors(judge, texts).await?.into_iter();
    let own = vectors.next().unwrap_or_default();
    let own = traits_of_draft(draft, own);
    let statements: Vec<StatementTraits> =
        candidates.iter().zip(vectors).map(|(memory, it)| traits_of_memory(memory, it)).collect();
    let both = candidates.into_iter().zip(&statements);
    let meant = both.filter(|(_, statement)| own.may_mean(correction, statement)).collect();
    Ok(own.likeliest(correction, meant))
}

/// Returns the traits of a draft with this vector.
fn traits_of_draft(draft: &Draft, vector: Vec<f32>) -> StatementTraits {
    StatementTraits::new(&draft.content, draft.category, vector).with_slot(draft.slot.clone())
}

/// Returns the traits of a memory with this vector.
fn traits_of_memory(memory: &Memory, vector: Vec<f32>) -> StatementTraits {
    let category = memory.metadata.get(CATEGORY_KEY).and_then(|it| it.as_str());
    StatementTraits::new(&memory.content, category, vector)
        .with_slot(Slot::from_metadata(&memory.metadata))
}

/// Returns the vectors of texts; empty ones without an encoder.
async fn text_vectors(
    judge: Option<&Arc<dyn SentenceJudge>>,
    texts: Vec<String>,
) -> Result<Vec<Vec<f32>>> {
    let Some(judge) = judge.map(Arc::clone) else { return Ok(vec![Vec::new(); texts.len()]) };
    run_blocking(move || texts.iter().map(|text| judge.text_vector(text)).collect()).await
}

/// Returns `true` if a draft may take back a memory: an earlier statement of the same person.
fn may_correct(draft: &Draft, memory: &Memory) -> bool {
    memory.status == Status::Active
        && matches!(memory.kind, Kind::User | Kind::Feedback | Kind::Project | Kind::Reference)
        && memory.at <= draft.at
        && memory.trust() <= Trust::Said
        && !draft.evidence.iter().any(|turn| memory.source.turns.contains(turn))
        && is_same_speaker(draft, memory)
}

/// Returns `true` if a draft that only seems to be a correction cannot be one of this memory.
fn is_unrelated(draft: &Draft, correction: &Correction, memory: &Memory) -> bool {
    is_guessed(correction) && rivals::leaves_alone(&draft.content, &memory.content)
}

/// Returns `true` for a correction that states something new and does not say which statement it means.
fn is_guessed(correction: &Correction) -> bool {
    !correction.is_direct && !correction.is_withdrawal
}

fn recent_statements() -> ListQuery {
    let filter = MemoryFilter {
        kinds: vec![Kind::User, Kind::Feedback, Kind::Project],
        statuses: vec![Status::Active],
        ..MemoryFilter::default()
    };
    ListQuery { filter, after: None, order: ListOrder::NewestFirst, limit: MAX_RECENT }
}

async fn memories_drawn_from(
    store: &dyn Store,
    scope: &Scope,
    turn: MemoryId,
) -> Result<Vec<Memory>> {
    let segments = store.index().postings(scope, &[source_turn_term(turn)], None).await?;
    let addresses: Vec<DocAddress> = segments
        .iter()
        .flat_map(|segment| segment.postings.iter().flatten().map(move |it| (segment, it.doc)))
        .map(|(segment, doc)| segment.docs.address(doc as usize))
        .collect();
    let rows = store.memories().by_address(scope, &addresses).await?;
    Ok(rows.into_iter().map(|(_, memory)| memory).collect())
}
