//! Ids as people type and read them: as short as they can be.

use everlore::{
    Engine, MemoryId, Scope,
    store::{JournalQuery, MemoryKey},
};

use crate::error::{CliError, Result};

/// A shorter beginning would look like a word.
const MIN_PREFIX_DIGITS: usize = 8;

/// How far back the journal is searched for a memory that was deleted.
const MAX_JOURNAL_ENTRIES: usize = 10_000;

/// The ids that whole or shortened ids or uris name; all of them, before anything is done to one.
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

/// The same for one name, also if the memory was deleted and only the journal still knows it.
pub(crate) async fn resolve_including_deleted(
    engine: &Engine,
    scope: &Scope,
    name: &str,
) -> Result<MemoryId> {
    match engine.resolve(scope, name).await.map_err(CliError::from) {
        Err(failure) if failure.is_not_found() => {
            find_deleted(engine, scope, name).await?.ok_or(failure)
        }
        resolved => resolved,
    }
}

async fn find_deleted(engine: &Engine, scope: &Scope, name: &str) -> Result<Option<MemoryId>> {
    if let Ok(id) = name.parse::<MemoryId>() {
        let own = JournalQuery { id: Some(id), limit: Some(1), ..JournalQuery::default() };
        return Ok(engine.history(scope, &own).await?.first().map(|entry| entry.id));
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

/// The shortest beginning of each id that no other memory of the scope shares.
pub(crate) async fn shorten_ids(
    engine: &Engine,
    scope: &Scope,
    ids: &[MemoryId],
) -> Result<Vec<String>> {
    let mut sorted = ids.to_vec();
    sorted.sort_unstable();
    let mut short = Vec::with_capacity(ids.len());
    for id in ids {
        let enough = MIN_PREFIX_DIGITS.max(distinct_prefix_digits(*id, &sorted));
        let digits = unique_prefix_digits(engine, scope, *id, enough).await?;
        short.push(id_prefix(*id, digits));
    }
    Ok(short)
}

/// The same for one id.
pub(crate) async fn shorten_id(engine: &Engine, scope: &Scope, id: MemoryId) -> Result<String> {
    Ok(id_prefix(id, unique_prefix_digits(engine, scope, id, MIN_PREFIX_DIGITS).await?))
}

/// How many digits tell an id from its neighbours among sorted ones.
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

/// The fewest digits, `enough` at least, that only this memory has.
async fn unique_prefix_digits(
    engine: &Engine,
    scope: &Scope,
    id: MemoryId,
    enough: usize,
) -> Result<usize> {
    let all = hex_digits(&id.to_string());
    let (mut low, mut high) = (enough, all.len());
    let mut middle = enough;
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

/// So many digits of an id, hyphens kept.
fn id_prefix(id: MemoryId, count: usize) -> String {
    let text = id.to_string();
    let mut left = count;
    let cut = |c: &char| {
        let taken = *c == '-' || left > 0;
        left -= usize::from(*c != '-' && left > 0);
        taken
    };
    text.chars().take_while(cut).collect::<String>().trim_end_matches('-').to_owned()
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
