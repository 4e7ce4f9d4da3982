//! Memory ids as people type and read them: shortened to a unique prefix.

use everlore::{
    Engine, MemoryId, Scope,
    store::{JournalQuery, MemoryKey},
};

use crate::error::{CliError, Result};

/// Shortest prefix; a shorter one would look like a word.
const MIN_PREFIX_DIGITS: usize = 8;

/// Journal entries searched for a deleted memory.
const MAX_JOURNAL_ENTRIES: usize = 10_000;

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
    found.retain(|id| hex_digits(&id.to_string()).starts_with(&prefix));
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

/// Returns the shortest prefix of each id that no other memory of the scope shares.
pub(crate) async fn shorten_ids(
    engine: &Engine,
    scope: &Scope,
    ids: &[MemoryId],
) -> Result<Vec<String>> {
    let mut sorted = ids.to_vec();
    sorted.sort_unstable();
    let mut short = Vec::with_capacity(ids.len());
    for id in ids {
        let at_least = MIN_PREFIX_DIGITS.max(distinct_prefix_digits(*id, &sorted));
        let digits = unique_prefix_digits(engine, scope, *id, at_least).await?;
        short.push(id_prefix(*id, digits));
    }
    Ok(short)
}

/// Returns the shortest unique prefix of one id.
pub(crate) async fn shorten_id(engine: &Engine, scope: &Scope, id: MemoryId) -> Result<String> {
    Ok(id_prefix(id, unique_prefix_digits(engine, scope, id, MIN_PREFIX_DIGITS).await?))
}

/// Returns the number of digits that tell an id from its neighbours among sorted ones.
fn distinct_prefix_digits(id: MemoryId, sorted: &[MemoryId]) -> usize {
    let index = sorted.partition_point(|other| *other < id);
    let neighbours = [index.checked_sub(1), index.checked_add(1)];
    let shared = |other: &MemoryId| {
        let (a, b) = (hex_digits(&id.to_string()), hex_digits(&other.to_string()));
        a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count()
    };
    let neighbours = neighbours.into_iter().flatten().filter_map(|index| sorted.get(index));
    neighbours.map(|other| shared(other) + 1).max().unwrap_or(0)
}

/// Returns the fewest digits, `at_least` this many, that only this memory has.
async fn unique_prefix_digits(
    engine: &Engine,
    scope: &Scope,
    id: MemoryId,
    at_least: usize,
) -> Result<usize> {
    let all = hex_digits(&id.to_string());
    let (mut low, mut high) = (at_least, all.len());
    let mut middle = at_least;
    while low < high {
        let prefix = MemoryKey::IdPrefix(all[..middle].to_owned());
        if engine.store().memories().find(scope, &prefix, 2).await?.len() > 1 {
            low = middle + 1;
        } else {
            high = middle;
        }
        middle = low + (high - low) / 2;
    }
    Ok(low)
}

fn hex_digits(id: &str) -> String {
    id.trim().replace('-', "").to_lowercase()
}

/// Returns the first `count` digits of an id, with its hyphens.
fn id_prefix(id: MemoryId, count: usize) -> String {
    let text = id.to_string();
    let mut remaining = count;
    let is_taken = |c: &char| {
        let taken = *c == '-' || remaining > 0;
        remaining -= usize::from(*c != '-' && remaining > 0);
        taken
    };
    text.chars().take_while(is_taken).collect::<String>().trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_keeps_its_hyphens_but_does_not_end_with_one() {
        let id: MemoryId = "0199c3f2-7d4e-7a31-b0c5-5f2d1e8a9b04".parse().unwrap();
        assert_eq!(id_prefix(id, 8), "0199c3f2");
        assert_eq!(id_prefix(id, 9), "0199c3f2-7");
        assert_eq!(id_prefix(id, 32), "0199c3f2-7d4e-7a31-b0c5-5f2d1e8a9b04");
    }

    #[test]
    fn neighbours_say_how_many_digits_tell_an_id_apart() {
        let ids: Vec<MemoryId> = [
            "0199c3f2-7d4e-7a31-b0c5-5f2d1e8a9b04",
            "0199c3f2-7d4e-7a31-b0c6-5f2d1e8a9b04",
            "1199c3f2-7d4e-7a31-b0c6-5f2d1e8a9b04",
        ]
        .map(|id| id.parse().unwrap())
        .into();
        assert_eq!(distinct_prefix_digits(ids[0], &ids), 20);
        assert_eq!(distinct_prefix_digits(ids[2], &ids), 1);
    }
}
