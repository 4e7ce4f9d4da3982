//! Days of the daily log that no longer reach the prompt become memories, so that they stay searchable (F7).

use jiff::{civil::Date, tz::TimeZone};
use serde::Serialize;

use super::naming;
use crate::{
    error::{Error, Result},
    files::layers::OldDay,
    store::{MemoryKey, Store},
    text::{
        language::{Language, detect_language},
        tiers::refresh_overview,
    },
    types::{
        Actor, Change, Fingerprint, Kind, Memory, MemoryId, MemorySource, Origin, Scope, Status,
        Timestamp, WriteBatch,
    },
};

/// The tag of such memories.
const DAILY_TAG: &str = "daily";

/// What became of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DayArchiveOutcome {
    /// It is a memory now.
    Added,
    /// The memory says what the day says now.
    Updated,
    /// It was known.
    Unchanged,
    /// There was nothing to keep, or it was forgotten.
    LeftOut,
}

/// Makes a day a memory, or brings the memory to what the day says now.
pub async fn archive_day(
    store: &dyn Store,
    scope: &Scope,
    day: &OldDay,
    zone: &TimeZone,
    now: Timestamp,
) -> Result<DayArchiveOutcome> {
    let text = day.text.trim_start_matches('\u{feff}').trim();
    let erased = store.memories().are_erased(scope, &[Fingerprint::of(text)]).await?;
    if text.is_empty() || erased == [true] {
        return Ok(DayArchiveOutcome::LeftOut);
    }
    let uri = naming::day_uri(scope, day.date);
    let (change, kept) =
        match store.memories().find(scope, &MemoryKey::Uri(uri.clone()), 1).await?.pop() {
            Some(known) if known.content == text && known.status == Status::Active => {
                return Ok(DayArchiveOutcome::Unchanged);
            }
            Some(known) => {
                (Change::Update(Box::new(renewed(known, text, now))), DayArchiveOutcome::Updated)
            }
            None => (
                Change::Add(Box::new(new_day_memory(scope, day, uri, text, zone, now)?)),
                DayArchiveOutcome::Added,
            ),
        };
    let id = change.id();
    store.apply(WriteBatch::new(scope, Actor::Engine, "daily log", now, vec![change])).await?;
    match store.memories().verify(scope, &[id]).await?[..] {
        [true] => Ok(kept),
        _ => Err(Error::damaged(format!("memory `{id}` was stored but cannot be read back"))),
    }
}

/// The changes that make the memory of a day say only `rest`, and forget what it said before. Nothing is left of it if
/// nothing is left to say.
pub fn redact_day(memory: Memory, rest: &str, now: Timestamp) -> Vec<Change> {
    let erase = Change::Erase(memory.id);
    if rest.is_empty() {
        return vec![erase];
    }
    let (id, content) = (MemoryId::new(now), rest.to_owned());
    let version = 1;
    let mut anew = Memory { id, content, version, created_at: now, updated_at: now, ..memory };
    refresh_overview(&mut anew);
    vec![erase, Change::Add(Box::new(anew))]
}

/// The day a memory was made from, if it was.
pub fn daily_log_date(memory: &Memory) -> Option<Date> {
    let date = memory.uri.rsplit('/').next()?.parse().ok()?;
    (naming::day_uri(&memory.scope, date) == memory.uri).then_some(date)
}

fn renewed(known: Memory, text: &str, now: Timestamp) -> Memory {
    let content = text.to_owned();
    let version = known.version + 1;
    let mut day = Memory { content, status: Status::Active, updated_at: now, version, ..known };
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
    // Noon is that day in every zone nearby.
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
