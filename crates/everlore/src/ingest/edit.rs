//! Edits of stored memories: content, weight, status, successor.

use serde::{Deserialize, Serialize};

use super::{
    naming,
    remember::revive,
    request::{
        check_content, check_tag_count, checked_fraction, checked_name, checked_tags, one_line,
        record_refusal,
    },
};
use crate::{
    error::{Error, Result},
    store::Store,
    sync::BoxFuture,
    text::tiers::{is_generated, refresh_overview},
    types::{
        Actor, CHECK_KEY, Change, ChangeAuthor, Kind, Memory, MemoryId, NewCheck, OVERVIEW_KEY,
        PINNED_KEY, Scope, Status, StoredCheck, Timestamp, WriteBatch,
    },
};

/// Retries after a conflict with another writer. Each conflict means that one of them succeeded, so this exceeds any
/// real concurrency.
const MAX_ATTEMPTS: usize = 1_000;

/// Fields to change; omitted ones stay.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct MemoryEdit {
    /// New text.
    pub content: Option<String>,
    /// New title.
    pub name: Option<String>,
    /// New line that helps to judge relevance.
    pub description: Option<String>,
    /// New kind.
    pub kind: Option<Kind>,
    /// New keywords, all of them.
    pub tags: Option<Vec<String>>,
    /// New importance, from 0 to 1.
    pub importance: Option<f64>,
    /// New weight, from 0 to 10.
    pub weight: Option<f64>,
    /// New metadata, all of it.
    pub metadata: Option<serde_json::Map<String, serde_json::Value>>,
    /// New check, replacing the current one.
    pub check: Option<NewCheck>,
    /// Set to remove the check.
    pub no_check: bool,
    /// New check in its stored form, created by the engine.
    #[serde(skip)]
    pub stored_check: Option<StoredCheck>,
    /// Versions on which the edit may be based; any if empty.
    #[serde(skip)]
    pub expected_versions: Vec<u32>,
}

/// Edits a memory and returns it.
pub(crate) async fn edit_memory(
    store: &dyn Store,
    scope: &Scope,
    id: MemoryId,
    edit: &MemoryEdit,
    author: &ChangeAuthor,
    now: Timestamp,
) -> Result<Memory> {
    let make = |memory: &mut Memory| {
        let before = memory.content.clone();
        edit.apply_to(memory)?;
        if memory.content != before && author.actor != Actor::Person {
            edit.drop_outdated_check(memory);
        }
        Ok(())
    };
    change_memory(store, scope, id, author, "edit", now, &make).await
}

/// Pins a weight, or with `None` resets it to 1 and unpins it; returns the memory.
pub(crate) async fn set_weight(
    store: &dyn Store,
    scope: &Scope,
    id: MemoryId,
    weight: Option<f64>,
    author: &ChangeAuthor,
    now: Timestamp,
) -> Result<Memory> {
    let make = |memory: &mut Memory| {
        memory.weight = checked_weight(weight, 1.0)?;
        match weight {
            Some(_) => drop(memory.metadata.insert(PINNED_KEY.to_owned(), true.into())),
            None => drop(memory.metadata.remove(PINNED_KEY)),
        }
        Ok(())
    };
    change_memory(store, scope, id, author, "weight", now, &make).await
}

/// Archives or restores a memory and returns it.
pub(crate) async fn set_status(
    store: &dyn Store,
    scope: &Scope,
    id: MemoryId,
    status: Status,
    author: &ChangeAuthor,
    now: Timestamp,
) -> Result<Memory> {
    let reason = if status == Status::Active { "restore" } else { "archive" };
    let make = |memory: &mut Memory| {
        // Only the owner puts a procedure into use or takes it out.
        if memory.kind == Kind::Skill {
            return Err(record_refusal(memory.kind));
        }
        if status == Status::Active {
            revive(memory, now);
        }
        memory.status = status;
        Ok(())
    };
    change_memory(store, scope, id, author, reason, now, &make).await
}

/// Archives memories together, as part of a run, and returns them.
pub(crate) async fn archive_all(
    store: &dyn Store,
    scope: &Scope,
    memories: Vec<Memory>,
    run: &str,
    now: Timestamp,
) -> Result<Vec<Memory>> {
    if memories.is_empty() {
        return Ok(memories);
    }
    let archive = |memory: Memory| Memory {
        status: Status::Archived,
        updated_at: now,
        version: memory.version + 1,
        ..memory
    };
    let archived: Vec<_> = memories.into_iter().map(archive).collect();
    let changes = archived.iter().map(|memory| Change::Update(Box::new(memory.clone()))).collect();
    let write = WriteBatch::new(scope, Actor::Person, "clean", now, changes);
    store.apply(WriteBatch { run: Some(run.to_owned()), ..write }).await?;
    Ok(archived)
}

/// Marks a memory as superseded by another of the same scope and returns it.
pub(crate) async fn supersede(
    store: &dyn Store,
    scope: &Scope,
    id: MemoryId,
    by: MemoryId,
    author: &ChangeAuthor,
    now: Timestamp,
) -> Result<Memory> {
    if store.memories().get(scope, &[by]).await?.pop().flatten().is_none() {
        return Err(Error::not_found("memory", by));
    }
    if id == by {
        return Err(Error::invalid(
            "a memory cannot replace itself",
            "name the newer memory that replaces it",
        ));
    }
    check_no_cycle(store, scope, id, by).await?;
    let make = |memory: &mut Memory| {
        memory.status = Status::Superseded;
        memory.superseded_by = Some(by);
        Ok(())
    };
    change_memory(store, scope, id, author, "supersede", now, &make).await
}

/// Checks that the successor is not itself superseded by the memory, directly or through others.
async fn check_no_cycle(
    store: &dyn Store,
    scope: &Scope,
    id: MemoryId,
    by: MemoryId,
) -> Result<()> {
    let mut next = Some(by);
    while let Some(newer) = next {
        if newer == id {
            return Err(Error::invalid(
                "the newer memory is itself replaced by the older one",
                "restore the newer memory first: everlore memory restore ID",
            ));
        }
        next = store
            .memories()
            .get(scope, &[newer])
            .await?
            .pop()
            .flatten()
            .and_then(|memory| memory.superseded_by);
    }
    Ok(())
}

impl MemoryEdit {
    /// Refuses texts and lists that are too long to be looked at.
    pub(crate) fn check_sizes(&self) -> Result<()> {
        self.content.as_deref().map_or(Ok(()), check_content)?;
        check_tag_count(self.tags.as_deref().unwrap_or_default())
    }

    /// Makes the edit. Fails if it is invalid, or based on another version.
    pub(crate) fn apply_to(&self, memory: &mut Memory) -> Result<()> {
        if !self.expected_versions.is_empty() && !self.expected_versions.contains(&memory.version) {
            return Err(Error::Conflict { what: format!("memory `{}`", memory.id) });
        }
        let rewrites = self.content.is_some() || self.name.is_some() || self.metadata.is_some();
        if memory.kind.is_record() && rewrites {
            return Err(record_refusal(memory.kind));
        }
        if let Some(content) = &self.content {
            check_content(content)?;
            if memory.kind != Kind::Turn && memory.name == naming::title_of(&memory.content) {
                // A title derived from the text changes with it.
                memory.name = naming::title_of(content);
            }
            memory.content.clone_from(content);
            drop_generated_description(memory);
        }
        if let Some(name) = &self.name {
            memory.name = checked_name(name)?;
        }
        if let Some(description) = &self.description {
            memory.description = one_line(description);
        }
        if let Some(kind) = self.kind.filter(|kind| *kind != memory.kind) {
            let record = [kind, memory.kind].into_iter().find(|kind| kind.is_record());
            record.map_or(Ok(()), |kind| Err(record_refusal(kind)))?;
            memory.kind = kind;
        }
        if let Some(tags) = &self.tags {
            memory.tags = checked_tags(tags.clone())?;
        }
        memory.importance = checked_fraction("importance", self.importance, memory.importance)?;
        memory.weight = checked_weight(self.weight, memory.weight)?;
        if let Some(metadata) = &self.metadata {
            let check = memory.check().and_then(|_| memory.metadata.remove(CHECK_KEY));
            memory.metadata.clone_from(metadata);
            // A check is no free metadata: it stays until it is removed explicitly.
            memory.metadata.extend(check.map(|check| (CHECK_KEY.to_owned(), check)));
        }
        refresh_overview(memory);
        self.set_check(memory)
    }
}

impl MemoryEdit {
    /// Removes the check of a text that an agent has rewritten: it was set for the text before, and would call any new
    /// one verified. A check of the same edit stays.
    fn drop_outdated_check(&self, memory: &mut Memory) {
        if self.stored_check.is_none() && memory.check().is_some() {
            memory.metadata.remove(CHECK_KEY);
        }
    }

    fn set_check(&self, memory: &mut Memory) -> Result<()> {
        if self.no_check && memory.check().is_some() {
            memory.metadata.remove(CHECK_KEY);
        }
        let Some(check) = &self.stored_check else { return Ok(()) };
        if memory.kind == Kind::Turn {
            return Err(Error::invalid(
                "a turn cannot have a check: it is a verbatim record",
                "save the fact as a separate memory, with the check",
            ));
        }
        let check = serde_json::to_value(check).unwrap_or_default();
        memory.metadata.insert(CHECK_KEY.to_owned(), check);
        Ok(())
    }
}

/// Clears a description that was generated from the previous text.
fn drop_generated_description(memory: &mut Memory) {
    let overview = memory.metadata.get(OVERVIEW_KEY).filter(|overview| is_generated(overview));
    if overview.and_then(|overview| overview["line"].as_str()) == Some(memory.description.as_str())
    {
        memory.description.clear();
    }
}

pub(super) fn checked_weight(weight: Option<f64>, default: f64) -> Result<f64> {
    match weight {
        None => Ok(default),
        Some(weight) if (0.0..=10.0).contains(&weight) => Ok(weight),
        Some(weight) => Err(Error::invalid(
            format!("weight is {weight}"),
            "weight goes from 0 to 10; new memories have 1",
        )),
    }
}

/// Reads a memory, changes it with `make` and writes it back, again after a conflict; returns it. Boxed, so that all edits share one state
/// machine.
pub(crate) fn change_memory<'a>(
    store: &'a dyn Store,
    scope: &'a Scope,
    id: MemoryId,
    author: &'a ChangeAuthor,
    what: &'a str,
    now: Timestamp,
    make: &'a (dyn Fn(&mut Memory) -> Result<()> + Sync),
) -> BoxFuture<'a, Result<Memory>> {
    Box::pin(async move {
        for _ in 0..MAX_ATTEMPTS {
            let stored = store.memories().get(scope, &[id]).await?.pop().flatten();
            let mut memory = stored.ok_or_else(|| Error::not_found("memory", id))?;
            make(&mut memory)?;
            memory.updated_at = now;
            memory.version += 1;
            let changes = vec![Change::Update(Box::new(memory.clone()))];
            let write = WriteBatch::new(scope, author.actor, author.reason_for(what), now, changes);
            match store.apply(WriteBatch { run: author.run.clone(), ..write }).await {
                Ok(_) => return Ok(memory),
                Err(Error::Conflict { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::Conflict { what: format!("memory `{id}`") })
    })
}
