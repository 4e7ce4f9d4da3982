//! Profile of a user, built from memories on every read, and the fields that a person sets.

use serde::Serialize;

use crate::{
    engine::{Engine, SCAN_PAGE},
    error::{Error, Result},
    growth::profile::{
        PROFILE_KEY, ProfileField, ProfileSources, SetField, build_profile, field_name,
    },
    ingest::{RememberRequest, SavedMemory},
    store::{ListOrder, ListQuery, MemoryFilter, MemoryPages},
    types::{Change, Kind, Memory, Role, Scope, Status, WriteBatch},
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
}

impl Engine {
    /// Returns the profile of the user.
    pub async fn profile(&self, scope: &Scope) -> Result<ProfileReport> {
        let (memories, turns) = (self.profile_memories(scope).await?, self.own_turns(scope).await?);
        let sources = ProfileSources {
            memories: &memories,
            turns: &turns,
            zone: &self.zone,
            now: self.now().timestamp(),
        };
        Ok(ProfileReport { fields: build_profile(&sources) })
    }

    /// Sets a field of the profile. An earlier value of the field is superseded and stays in the profile with its dates.
    pub async fn set_profile_field(
        &self,
        scope: &Scope,
        name: &str,
        value: &str,
    ) -> Result<SavedMemory> {
        let set = SetField::new(name, value)?;
        let earlier = self.set_fields(scope, &set.field).await?;
        let mut request = RememberRequest::new(format!("{}: {}", set.field, set.value));
        request.kind = Some(Kind::User);
        // The same value again is known, and replaces nothing.
        let other = earlier.last().filter(|memory| memory.content != request.content);
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
        let changes = set.iter().map(|memory| {
            let version = memory.version + 1;
            let gone = Memory { version, updated_at: now, ..archived(memory, now) };
            Change::Update(Box::new(gone))
        });
        let run = format!("profile-{}", now.as_millisecond());
        let write =
            WriteBatch::new(scope, self.author.actor, PROFILE_CAUSE, now, changes.collect());
        self.store.apply(WriteBatch { run: Some(run), ..write }).await?;
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
