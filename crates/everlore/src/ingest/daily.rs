//! Archive of the daily log: days that no longer reach the prompt become memories, so that they stay searchable.

use jiff::{civil::Date, tz::TimeZone};
use serde::Serialize;

use super::naming;
use crate::{
    error::{Error, Result},
    files::layers::OldDay,
    store::{MemoryKey, Store, confirm_readable},
    sync::BoxFuture,
    text::{
        language::{Language, detect_language},
        tiers::refresh_overview,
    },
    types::{
        Actor, Change, Fingerprint, Kind, Memory, MemoryId, MemorySource, Origin, Scope, Status,
        Timestamp, WriteBatch,
    },
};

/// Tag of archived days.
const DAILY_TAG: &str = "daily";

/// Result of archiving a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DayArchiveOutcome {
    /// Became a memory.
    Added,
    /// Updated the memory of the day.
    Updated,
    /// Was archived already.
    Unchanged,
    /// Was empty, or its text was erased.
    LeftOut,
}

/// Stores a day as a memory, or updates the memory to the day's current text.
pub(crate) fn archive_day<'a>(
    store: &'a dyn Store,
    scope: &'a Scope,
    day: &'a OldDay,
    zone: &'a TimeZone,
    now: Timestamp,
) -> BoxFuture<'a, Result<DayArchiveOutcome>> {
    Box::pin(async move {
        let text = day.text.trim_start_matches('\u{feff}').trim();
        let erased = store.memories().are_erased(scope, &[Fingerprint::of(text)]).await?;
        if text.is_empty() || erased == [true] {
            return Ok(DayArchiveOutcome::LeftOut);
        }
        let uri = naming::day_uri(scope, day.date);
        let (change, outcome) =
            match store.memories().find_one(scope, MemoryKey::Uri(uri.clone())).await? {
                Some(stored) if stored.content == text && stored.status == Status::Active => {
                    return Ok(DayArchiveOutcome::Unchanged);
                }
                Some(stored) => (
                    Change::Update(Box::new(renewed(stored, text, now))),
                    DayArchiveOutcome::Updated,
                ),
                None => (
                    Change::Add(Box::new(new_day_memory(scope, day, uri, text, zone, now)?)),
                    DayArchiveOutcome::Added,
                ),
            };
        let id = change.id();
        store.apply(WriteBatch::new(scope, Actor::Engine, "daily log", now, vec![change])).await?;
        confirm_readable(store, scope, &[id]).await?;
        Ok(outcome)
    })
}

/// Returns the changes that reduce the memory of a day to `rest` and erase its earlier text. An empty rest erases all
/// of it.
pub(crate) fn redact_day(memory: Memory, rest: &str, now: Timestamp) -> Vec<Change> {
    let erase = Change::Erase(memory.id);
    if rest.is_empty() {
        return vec![erase];
    }
    let (id, content) = (MemoryId::new(now), rest.to_owned());
    let version = 1;
    let mut redacted = Memory { id, content, version, created_at: now, updated_at: now, ..memory };
    refresh_overview(&mut redacted);
    vec![erase, Change::Add(Box::new(redacted))]
}

/// Returns the day that a memory was made from, if it is an archived day.
pub(crate) fn daily_log_date(memory: &Memory) -> Option<Date> {
    let date = memory.uri.rsplit('/').next()?.parse().ok()?;
    (naming::day_uri(&memory.scope, date) == memory.uri).then_some(date)
}

fn renewed(stored: Memory, text: &str, now: Timestamp) -> Memory {
    let content = text.to_owned();
    let version = stored.version + 1;
    let mut day = Memory { content, status: Status::Active, updated_at: now, version, ..stored };
    refresh_overview(&mut day);
    day
}

fn new_day_memory(
    scope: &Scope,
    day: &OldDay,
    uri: String,
    text: &str,
    zone: &TimeZone,
    now: Timestamp,
) -> Result<Memory> {
    // Noon falls on that day in every zone nearby.
    let noon = day.date.at(12, 0, 0, 0).to_zoned(zone.clone());
    let at = noon.map_err(|error| Error::damaged(error.to_string()))?.timestamp();
    let source = MemorySource::new(Origin::Import);
    let mut memory = Memory::with_content(scope, Kind::Session, text.to_owned(), source, at, now);
    memory.id = MemoryId::new(now);
    memory.uri = uri;
    memory.name = match detect_language(text) {
        Language::Chinese => format!("{} 的日志", day.date),
        _ => format!("Daily log of {}", day.date),
    };
    memory.tags = vec![DAILY_TAG.to_owned()];
    refresh_overview(&mut memory);
    Ok(memory)
}
