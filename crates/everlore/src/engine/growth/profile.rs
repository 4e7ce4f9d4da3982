//! Profile of a user, built from memories on every read, and the values that a person sets, corrects and rejects.

use serde::Serialize;

use crate::{
    engine::{Engine, SCAN_PAGE},
    error::{Error, Result},
    growth::profile::{
        PROFILE_KEY, ProfileField, ProfileSources, REJECTED_KEY, RejectedValue, SetField,
        build_profile, field_name, has_many_values,
    },
    ingest::{RememberRequest, SavedMemory, UndoRun, record_memory},
    store::{ListOrder, ListQuery, MemoryFilter, MemoryPages},
    types::{Change, Kind, Memory, MemoryId, Role, Scope, Status, Timestamp, WriteBatch},
    upkeep::archived,
};

/// Newest messages that language, hours and topics are counted over: some months of talk.
const COUNTED_TURNS: usize = 2_000;

/// Most memories about the user that are read, the newest: beyond them a profile says no more.
const MAX_MEMORIES: usize = 5_000;

/// Reason of the changes in the journal.
const PROFILE_CAUSE: &str = "profile";

/// Profile of a user.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ProfileReport {
    /// Fields in the order of their names; what holds before what held.
    pub fields: Vec<ProfileField>,
    /// Values that a person rejected, the newest first; they stay out of the fields.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rejected: Vec<RejectedValue>,
}

/// Decision about a value of the profile, and how to undo it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ProfileDecision {
    /// Name of the field.
    pub name: String,
    /// Value that was decided on.
    pub value: String,
    /// Set if the decision changed something.
    pub changed: bool,
    /// Run that undoes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo: Option<UndoRun>,
}

impl Engine {
    /// Returns the profile of the user.
    pub async fn profile(&self, scope: &Scope) -> Result<ProfileReport> {
        let (memories, turns) = (self.profile_memories(scope).await?, self.own_turns(scope).await?);
        let rejections = self.rejections(scope).await?;
        let rejected: Vec<_> = rejections.iter().filter_map(RejectedValue::of_memory).collect();
        let sources = ProfileSources {
            memories: &memories,
            turns: &turns,
            rejected: &rejected,
            zone: &self.zone,
            now: self.now().timestamp(),
        };
        Ok(ProfileReport { fields: build_profile(&sources), rejected })
    }

    /// Sets a field of the profile. An earlier value of the field is superseded and stays in the profile with its dates; a
    /// field with many values, such as `tools`, keeps those that it has.
    pub async fn set_profile_field(
        &self,
        scope: &Scope,
        name: &str,
        value: &str,
    ) -> Result<SavedMemory> {
        self.store_field(scope, SetField::new(name, value)?).await
    }

    /// Corrects a value of the profile, wherever it comes from: it ends now, and the new one stands.
    pub async fn correct_profile_value(
        &self,
        scope: &Scope,
        name: &str,
        old: &str,
        value: &str,
    ) -> Result<SavedMemory> {
        let old = SetField::new(name, old)?.value;
        let set = SetField { instead_of: Some(old.clone()), ..SetField::new(name, value)? };
        if has_many_values(&set.field) {
            self.check_known_value(scope, &set.field, &old).await?;
        }
        self.store_field(scope, set).await
    }

    /// Refuses to correct a value that a field with many values does not hold.
    async fn check_known_value(&self, scope: &Scope, name: &str, old: &str) -> Result<()> {
        let (name, value, at) = (name.to_owned(), old.to_owned(), self.now().timestamp());
        let meant = RejectedValue { name, value, at };
        let fields = self.profile(scope).await?.fields;
        let is_meant =
            |it: &ProfileField| it.until.is_none() && meant.is_about(&it.name, &it.value);
        if fields.iter().any(is_meant) {
            return Ok(());
        }
        Err(Error::invalid(
            format!("`{}` has no value `{old}` that holds", meant.name),
            "name a value that `profile` shows; without it the new value is added",
        ))
    }

    /// Rejects a value of the profile for good: it is not shown again, however often it is said. What was said stays.
    pub async fn reject_profile_value(
        &self,
        scope: &Scope,
        name: &str,
        value: &str,
    ) -> Result<ProfileDecision> {
        self.check_writable(scope)?;
        let SetField { field: name, value, .. } = SetField::new(name, value)?;
        let now = self.now().timestamp();
        let rejected = RejectedValue { name, value, at: now };
        let is_known = |known: &Memory| {
            RejectedValue::of_memory(known)
                .is_some_and(|it| it.is_about(&rejected.name, &rejected.value))
        };
        let is_set = |memory: &Memory| {
            SetField::of_memory(memory).is_some_and(|set| rejected.is_about(&set.field, &set.value))
        };
        let mut changes: Vec<Change> = Vec::new();
        if !self.rejections(scope).await?.iter().any(is_known) {
            changes.push(Change::Add(Box::new(rejection_record(scope, &rejected)?)));
        }
        let set = self.set_fields(scope, &rejected.name).await?;
        changes.extend(set.iter().filter(|memory| is_set(memory)).map(|memory| gone(memory, now)));
        self.decide(scope, rejected.name, rejected.value, changes).await
    }

    /// Takes a rejection back: what says the value counts again.
    pub async fn restore_profile_value(
        &self,
        scope: &Scope,
        name: &str,
        value: &str,
    ) -> Result<ProfileDecision> {
        self.check_writable(scope)?;
        let (name, now) = (field_name(name)?, self.now().timestamp());
        let rejections = self.rejections(scope).await?;
        let is_meant = |memory: &&Memory| {
            RejectedValue::of_memory(memory).is_some_and(|it| it.is_about(&name, value))
        };
        let meant: Vec<&Memory> = rejections.iter().filter(is_meant).collect();
        let mut changes: Vec<Change> = meant.iter().map(|memory| gone(memory, now)).collect();
        let dated = |memory: &&Memory| Some((RejectedValue::of_memory(memory)?, memory.at));
        let rejected: Vec<_> = meant.iter().filter_map(dated).collect();
        for memory in self.rejected_fields(scope, &rejected).await? {
            changes.push(back(&memory, now));
        }
        self.decide(scope, name, value.to_owned(), changes).await
    }

    /// Returns the set fields that rejections archived, unless a person has set the value again.
    async fn rejected_fields(
        &self,
        scope: &Scope,
        rejected: &[(RejectedValue, Timestamp)],
    ) -> Result<Vec<Memory>> {
        let filter = MemoryFilter {
            kinds: vec![Kind::User],
            statuses: vec![Status::Active, Status::Archived],
            ..MemoryFilter::default()
        };
        let about = |memory: &Memory| {
            let set = SetField::of_memory(memory)?;
            rejected.iter().find(|(it, _)| it.is_about(&set.field, &set.value))
        };
        let mut found: Vec<Memory> = Vec::new();
        let mut pages = MemoryPages::new(&*self.store, scope, filter, SCAN_PAGE);
        while let Some(page) = pages.next().await? {
            found.extend(page.into_iter().filter(|memory| about(memory).is_some()));
        }
        if rejected.is_empty() || found.iter().any(|memory| memory.status == Status::Active) {
            return Ok(Vec::new());
        }
        // What was taken back before the rejection stays so.
        found.retain(|memory| about(memory).is_some_and(|(_, at)| memory.updated_at >= *at));
        Ok(found)
    }

    /// Writes the changes of a decision as one run.
    async fn decide(
        &self,
        scope: &Scope,
        name: String,
        value: String,
        changes: Vec<Change>,
    ) -> Result<ProfileDecision> {
        if changes.is_empty() {
            return Ok(ProfileDecision { name, value, changed: false, undo: None });
        }
        let run = self.apply_decision(scope, changes).await?;
        Ok(ProfileDecision { name, value, changed: true, undo: Some(UndoRun { run }) })
    }

    async fn apply_decision(&self, scope: &Scope, changes: Vec<Change>) -> Result<String> {
        let now = self.now().timestamp();
        let run = format!("profile-{}", MemoryId::new(now));
        let write = WriteBatch::new(scope, self.author.actor, PROFILE_CAUSE, now, changes);
        self.store.apply(WriteBatch { run: Some(run.clone()), ..write }).await?;
        Ok(run)
    }

    /// Returns the records of rejected values, the newest first.
    async fn rejections(&self, scope: &Scope) -> Result<Vec<Memory>> {
        self.tagged_records(scope, Kind::Suggestion, vec![REJECTED_KEY.to_owned()]).await
    }

    async fn store_field(&self, scope: &Scope, set: SetField) -> Result<SavedMemory> {
        let earlier = self.set_fields(scope, &set.field).await?;
        let mut request = RememberRequest::new(format!("{}: {}", set.field, set.value));
        request.kind = Some(Kind::User);
        let replaced = earlier.iter().rev().find(|memory| set.replaces(memory));
        // The same value again is known, and replaces nothing.
        let other = replaced.filter(|memory| memory.content != request.content);
        request.replaces = other.map(|memory| memory.id);
        let kept = serde_json::to_value(&set).map_err(Error::store)?;
        request.metadata.insert(PROFILE_KEY.to_owned(), kept);
        self.remember(scope, request).await
    }

    /// Takes back the values of a field that a person set, and returns their number. What the user said stays.
    pub async fn unset_profile_field(&self, scope: &Scope, name: &str) -> Result<usize> {
        self.check_writable(scope)?;
        let now = self.now().timestamp();
        let set = self.set_fields(scope, &field_name(name)?).await?;
        if set.is_empty() {
            return Ok(0);
        }
        let changes = set.iter().map(|memory| gone(memory, now)).collect();
        self.apply_decision(scope, changes).await?;
        Ok(set.len())
    }

    /// Returns the active memories by which a person set a field, the oldest first.
    async fn set_fields(&self, scope: &Scope, field: &str) -> Result<Vec<Memory>> {
        let is_field = |memory: &Memory| {
            memory.status == Status::Active
                && SetField::of_memory(memory).is_some_and(|set| set.field == field)
        };
        let mut memories = self.profile_memories(scope).await?;
        memories.retain(is_field);
        memories.sort_by_key(|memory| memory.id);
        Ok(memories)
    }

    /// Reads the memories about the user, superseded ones too, and experiences.
    async fn profile_memories(&self, scope: &Scope) -> Result<Vec<Memory>> {
        let filter = MemoryFilter {
            kinds: vec![Kind::User, Kind::Feedback, Kind::Experience],
            statuses: vec![Status::Active, Status::Superseded],
            ..MemoryFilter::default()
        };
        let mut pages = MemoryPages::new(&*self.store, scope, filter, SCAN_PAGE);
        let mut memories = Vec::new();
        while let Some(page) = pages.next().await? {
            memories.extend(page);
            if memories.len() >= MAX_MEMORIES {
                break;
            }
        }
        Ok(memories)
    }

    /// Reads the newest messages of the user.
    async fn own_turns(&self, scope: &Scope) -> Result<Vec<Memory>> {
        let filter = MemoryFilter {
            kinds: vec![Kind::Turn],
            statuses: vec![Status::Active],
            ..MemoryFilter::default()
        };
        let page =
            ListQuery { filter, after: None, order: ListOrder::NewestFirst, limit: COUNTED_TURNS };
        let mut turns = self.list(scope, &page).await?;
        turns.retain(|turn| {
            turn.source.role.is_none_or(|role| role == Role::User) && turn.source.speaker.is_none()
        });
        Ok(turns)
    }
}

/// Returns the change that archives a memory.
fn gone(memory: &Memory, now: Timestamp) -> Change {
    let version = memory.version + 1;
    Change::Update(Box::new(Memory { version, updated_at: now, ..archived(memory, now) }))
}

/// Returns the change that brings an archived memory back.
fn back(memory: &Memory, now: Timestamp) -> Change {
    let version = memory.version + 1;
    let status = Status::Active;
    Change::Update(Box::new(Memory { status, version, updated_at: now, ..memory.clone() }))
}

fn rejection_record(scope: &Scope, rejected: &RejectedValue) -> Result<Memory> {
    let RejectedValue { name, value, at } = rejected;
    let title = format!("{name}: {value}");
    let mut record = record_memory(scope, Kind::Suggestion, &title, title.clone(), *at);
    record.tags = vec![REJECTED_KEY.to_owned()];
    let kept = serde_json::to_value(rejected).map_err(Error::store)?;
    record.metadata.insert(REJECTED_KEY.to_owned(), kept);
    Ok(record)
}
