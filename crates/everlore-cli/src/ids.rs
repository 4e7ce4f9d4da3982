//! Memory ids as people type them: whole, a unique prefix of one or of its random part, or a uri.

use everlore::{Engine, MemoryId, Scope, store::JournalQuery};

use crate::{CliError, Result};

/// Journal entries searched for a deleted memory.
const MAX_JOURNAL_ENTRIES: usize = 10_000;

/// Fewest digits of the random part that name a memory, as for those that are stored.
const MIN_RANDOM_DIGITS: usize = 4;

/// Resolves ids, prefixes and uris; all of them, before a command changes any memory.
pub(crate) async fn resolve_all(
    engine: &Engine,
    scope: &Scope,
    names: &[String],
) -> Result<Vec<MemoryId>> {
    let mut ids = Vec::with_capacity(names.len());
    for name in names {
        let id = engine.resolve(scope, name).await?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}

/// Resolves one id, prefix or uri, also of a deleted memory that only the journal has.
pub(crate) async fn resolve_including_deleted(
    engine: &Engine,
    scope: &Scope,
    name: &str,
) -> Result<MemoryId> {
    match engine.resolve(scope, name).await.map_err(CliError::from) {
        Err(error) if error.is_not_found() => find_deleted(engine, scope, name).await?.ok_or(error),
        resolved => resolved,
    }
}

async fn find_deleted(engine: &Engine, scope: &Scope, name: &str) -> Result<Option<MemoryId>> {
    if let Ok(id) = name.parse::<MemoryId>() {
        let query = JournalQuery { id: Some(id), limit: Some(1), ..JournalQuery::default() };
        return Ok(engine.history(scope, &query).await?.first().map(|entry| entry.id));
    }
    let recent = JournalQuery { limit: Some(MAX_JOURNAL_ENTRIES), ..JournalQuery::default() };
    let prefix = hex_digits(name);
    let mut found: Vec<MemoryId> =
        engine.history(scope, &recent).await?.iter().map(|entry| entry.id).collect();
    found.retain(|id| {
        hex_digits(&id.to_string()).starts_with(&prefix)
            || prefix.len() >= MIN_RANDOM_DIGITS && id.random_digits().starts_with(&prefix)
    });
    found.sort_unstable();
    found.dedup();
    match found[..] {
        [] => Ok(None),
        [id] => Ok(Some(id)),
        _ => {
            Err(everlore::Error::AmbiguousId { prefix: name.to_owned(), count: found.len() }.into())
        }
    }
}

/// Short forms of ids, for texts that people read.
#[derive(Debug, Default)]
pub(crate) struct ShortIds(Vec<(String, String)>);

impl ShortIds {
    /// Looks up the shortest forms that tell these ids from all others.
    pub(crate) async fn of(engine: &Engine, scope: &Scope, ids: &[MemoryId]) -> Result<Self> {
        let short = engine.shorten_ids(scope, ids).await?;
        Ok(Self(ids.iter().map(ToString::to_string).zip(short).collect()))
    }

    /// Returns a text with the short forms of its ids.
    pub(crate) fn shorten(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (id, short)| text.replace(id, short))
    }
}

/// Returns the shortest unique prefix of one id.
pub(crate) async fn shorten_id(engine: &Engine, scope: &Scope, id: MemoryId) -> Result<String> {
    Ok(engine.shorten_ids(scope, &[id]).await?.remove(0))
}

fn hex_digits(id: &str) -> String {
    id.trim().replace('-', "").to_lowercase()
}
