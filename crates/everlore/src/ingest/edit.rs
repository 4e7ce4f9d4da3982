//! Changing a memory that is there: its text, its worth, its status, its successor.

use serde::{Deserialize, Serialize};

use super::{
    naming,
    request::{check_content, checked_fraction, checked_name, checked_tags, one_line},
};
use crate::{
    error::{Error, Result},
    store::Store,
    text::tiers::{is_generated, refresh_overview},
    types::{
        Actor, CHECK_KEY, Change, ChangeAuthor, Kind, Memory, MemoryId, NewCheck, OVERVIEW_KEY,
        PINNED_KEY, Scope, Status, StoredCheck, Timestamp, WriteBatch,
    },
};

/// Another writer may come first. Each new beginning means that one of them got through, so this is more than there
/// can be at once.
const MAX_ATTEMPTS: usize = 1_000;

/// What to change. What is left out stays as it is.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct MemoryEdit {
    /// The new text.
    pub content: Option<String>,
    /// The new title.
    pub name: Option<String>,
    /// The new line that tells whether it matters.
    pub description: Option<String>,
    /// The new kind.
    pub kind: Option<Kind>,
    /// The new keywords, all of them.
    pub tags: Option<Vec<String>>,
    /// The new importance, from 0 to 1.
    pub importance: Option<f64>,
    /// The new weight, from 0 to 10.
    pub weight: Option<f64>,
    /// New free data, all of it.
    pub metadata: Option<serde_json::Map<String, serde_json::Value>>,
    /// A new check, in place of the one it has.
    pub check: Option<NewCheck>,
    /// Whether its check is taken away.
    pub no_check: bool,
    /// The new check once it was looked at; the engine makes it.
    #[serde(skip)]
    pub stored_check: Option<StoredCheck>,
    /// Only if it is one of these versions still; any if empty.
    #[serde(skip)]
    pub expected_versions: Vec<u32>,
}

/// Changes a memory and returns it as it is now.
pub async fn edit_memory(
    store: &dyn Store,
    scope: &Scope,
    id: MemoryId,
    edit: &MemoryEdit,
    author: &ChangeAuthor,
    now: Timestamp,
) -> Result<Memory> {
    update_with_retry(store, scope, id, author, "edit", now, |memory| edit.apply_to(memory)).await
}

/// Sets a weight that stays as it is, or with `None` lets the memory begin anew at 1; returns it as it is now.
pub async fn set_weight(
    store: &dyn Store,
    scope: &Scope,
    id: MemoryId,
    weight: Option<f64>,
    author: &ChangeAuthor,
    now: Timestamp,
) -> Result<Memory> {
    update_with_retry(store, scope, id, author, "weight", now, |memory| {
        memory.weight = checked_weight(weight, 1.0)?;
        match weight {
            Some(_) => drop(memory.metadata.insert(PINNED_KEY.to_owned(), true.into())),
            None => drop(memory.metadata.remove(PINNED_KEY)),
        }
        Ok(())
    })
    .await
}

/// Archives or restores a memory and returns it as it is now.
pub async fn set_status(
    store: &dyn Store,
    scope: &Scope,
    id: MemoryId,
    status: Status,
    now: Timestamp,
) -> Result<Memory> {
    let cause = if status == Status::Active { "restore" } else { "archive" };
    update_with_retry(store, scope, id, &ChangeAuthor::PERSON, cause, now, |memory| {
        memory.status = status;
        if status == Status::Active {
            memory.superseded_by = None;
        }
        Ok(())
    })
    .await
}

/// Archives memories together, as part of a run, and returns them as they are now.
pub async fn archive_all(
    store: &dyn Store,
    scope: &Scope,
    memories: Vec<Memory>,
    run: &str,
    now: Timestamp,
) -> Result<Vec<Memory>> {
    if memories.is_empty() {
        return Ok(memories);
    }
    let put_away = |memory: Memory| Memory {
        status: Status::Archived,
        updated_at: now,
        version: memory.version + 1,
        ..memory
    };
    let archived: Vec<_> = memories.into_iter().map(put_away).collect();
    let changes = archived.iter().map(|memory| Change::Update(Box::new(memory.clone()))).collect();
    let write = WriteBatch::new(scope, Actor::Person, "clean", now, changes);
    store.apply(WriteBatch { run: Some(run.to_owned()), ..write }).await?;
    Ok(archived)
}

/// Marks a memory as replaced by another of the same scope and returns it as it is now.
pub async fn supersede(
    store: &dyn Store,
    scope: &Scope,
    id: MemoryId,
    by: MemoryId,
    now: Timestamp,
) -> Result<Memory> {
    if store.get(scope, &[by]).await?.pop().flatten().is_none() {
        return Err(Error::not_found("memory", by));
    }
    if id == by {
        return Err(Error::invalid(
            "a memory cannot replace itself",
            "name the newer memory that replaces it",
        ));
    }
    check_no_cycle(store, scope, id, by).await?;
    update_with_retry(store, scope, id, &ChangeAuthor::PERSON, "supersede", now, |memory| {
        memory.status = Status::Superseded;
        memory.superseded_by = Some(by);
        Ok(())
    })
    .await
}

/// What replaces a memory must not itself be replaced by it, directly or through others.
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
            .get(scope, &[newer])
            .await?
            .pop()
            .flatten()
            .and_then(|memory| memory.superseded_by);
    }
    Ok(())
}

impl MemoryEdit {
    fn apply_to(&self, memory: &mut Memory) -> Result<()> {
        if !self.expected_versions.is_empty() && !self.expected_versions.contains(&memory.version) {
            return Err(Error::Conflict { what: format!("memory `{}`", memory.id) });
        }
        if let Some(content) = &self.content {
            check_content(content)?;
            if memory.kind != Kind::Turn && memory.name == naming::title_of(&memory.content) {
                // A title that was taken from the text goes with it.
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
        if let Some(kind) = self.kind {
            memory.kind = kind;
        }
        if let Some(tags) = &self.tags {
            memory.tags = checked_tags(tags.clone())?;
        }
        memory.importance = checked_fraction("importance", self.importance, memory.importance)?;
        memory.weight = checked_weight(self.weight, memory.weight)?;
        if let Some(metadata) = &self.metadata {
            let kept = memory.check().and_then(|_| memory.metadata.remove(CHECK_KEY));
            memory.metadata.clone_from(metadata);
            // A check is no free data: it stays until it is taken away by name.
            memory.metadata.extend(kept.map(|kept| (CHECK_KEY.to_owned(), kept)));
        }
        refresh_overview(memory);
        self.set_check(memory)
    }
}

impl MemoryEdit {
    fn set_check(&self, memory: &mut Memory) -> Result<()> {
        if self.no_check && memory.check().is_some() {
            memory.metadata.remove(CHECK_KEY);
        }
        let Some(kept) = &self.stored_check else { return Ok(()) };
        if memory.kind == Kind::Turn {
            return Err(Error::invalid(
                "what was said in a conversation stays said, whatever happens to files",
                "save what follows from it as a memory of its own, with the check",
            ));
        }
        let kept = serde_json::to_value(kept).unwrap_or_default();
        memory.metadata.insert(CHECK_KEY.to_owned(), kept);
        Ok(())
    }
}

/// A description that was made of the text before goes with it.
fn drop_generated_description(memory: &mut Memory) {
    let made = memory.metadata.get(OVERVIEW_KEY).filter(|made| is_generated(made));
    if made.and_then(|made| made["line"].as_str()) == Some(memory.description.as_str()) {
        memory.description.clear();
    }
}

pub(super) fn checked_weight(weight: Option<f64>, default: f64) -> Result<f64> {
    match weight {
        None => Ok(default),
        Some(weight) if (0.0..=10.0).contains(&weight) => Ok(weight),
        Some(weight) => Err(Error::invalid(
            format!("weight is {weight}"),
            "weight goes from 0 to 10; 1 is where memories begin",
        )),
    }
}

/// Reads a memory, changes it and writes it back, again if someone else did so meanwhile.
async fn update_with_retry(
    store: &dyn Store,
    scope: &Scope,
    id: MemoryId,
    author: &ChangeAuthor,
    what: &str,
    now: Timestamp,
    make: impl Fn(&mut Memory) -> Result<()>,
) -> Result<Memory> {
    for _ in 0..MAX_ATTEMPTS {
        let stored = store.get(scope, &[id]).await?.pop().flatten();
        let mut memory = stored.ok_or_else(|| Error::not_found("memory", id))?;
        make(&mut memory)?;
        memory.updated_at = now;
        memory.version += 1;
        let changes = vec![Change::Update(Box::new(memory.clone()))];
        let write = WriteBatch::new(scope, author.actor, author.reason_for(what), now, changes);
        match store.apply(write).await {
            Ok(_) => return Ok(memory),
            Err(Error::Conflict { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Err(Error::Conflict { what: format!("memory `{id}`") })
}
