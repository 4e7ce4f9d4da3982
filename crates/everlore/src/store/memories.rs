//! The memories facet: reading rows by id, key, list and address, and the tombstones of erased texts.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::{DocAddress, Store, index::entry::keyword_term};
use crate::{
    error::{Error, Result},
    sync::boxed,
    text::terms::TermHash,
    types::{Fingerprint, Kind, Memory, MemoryId, Scope, Status, Timestamp},
};

/// Reads the memories of a scope.
#[async_trait]
pub trait Memories: Send + Sync {
    /// Returns the memories with these ids, in this order; `None` where the scope has none.
    async fn get(&self, scope: &Scope, ids: &[MemoryId]) -> Result<Vec<Option<Memory>>>;

    /// Returns for each key the memories that it names, oldest first, at most `limit`.
    async fn find(
        &self,
        scope: &Scope,
        keys: &[MemoryKey],
        limit: usize,
    ) -> Result<Vec<Vec<Memory>>>;

    /// Returns one page of the memories that match a filter.
    async fn list(&self, scope: &Scope, page: &ListQuery) -> Result<Vec<Memory>>;

    /// Returns the memories at these index addresses, in this order, without those that were deleted.
    async fn by_address(
        &self,
        scope: &Scope,
        addresses: &[DocAddress],
    ) -> Result<Vec<(DocAddress, Memory)>>;

    /// Reads memories back and looks them up in the index; `true` for each that is found both ways.
    async fn read_back(&self, scope: &Scope, ids: &[MemoryId]) -> Result<Vec<bool>>;

    /// Counts the memories of the scope by kind and status.
    async fn count(&self, scope: &Scope) -> Result<ScopeCounts>;

    /// Looks up tombstones; `true` for each text that was erased from the scope.
    async fn are_erased(&self, scope: &Scope, texts: &[Fingerprint]) -> Result<Vec<bool>>;

    /// Returns the digest of every text that was erased from the scope.
    async fn tombstones(&self, scope: &Scope) -> Result<Vec<Fingerprint>>;
}

impl dyn Memories + '_ {
    /// Returns the oldest memory that a key names.
    pub async fn find_one(&self, scope: &Scope, key: MemoryKey) -> Result<Option<Memory>> {
        Ok(self.find(scope, &[key], 1).await?.pop().and_then(|mut found| found.pop()))
    }
}

/// Digits of the last group of an id.
const RANDOM_DIGITS: usize = 12;

/// Fewest bytes of the last group that are looked for: fewer would name a large part of the scope.
const MIN_RANDOM_BYTES: usize = 2;

/// Exact key of a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemoryKey {
    /// The first hexadecimal digits of an id, without hyphens.
    IdPrefix(String),
    /// The first hexadecimal digits of the last group of an id, which is random; any of several.
    RandomPrefix(Vec<String>),
    /// A uri. Turns are not found by it: theirs ends with their id.
    Uri(String),
    /// The digest of a text, among memories that are no turns.
    Text(Fingerprint),
}

impl MemoryKey {
    /// Returns `false` if the key names ids and not this one: whole bytes of a random part are found, and it may have half of
    /// one more.
    pub(super) fn may_name(&self, id: &MemoryId) -> bool {
        match self {
            Self::RandomPrefix(prefixes) => has_random_prefix(id, prefixes),
            _ => true,
        }
    }
}

/// Reads saved memories back. Fails if one is not found by its row and by the index: a save is acknowledged only then.
#[boxed]
pub(crate) async fn confirm_readable(
    store: &dyn Store,
    scope: &Scope,
    ids: &[MemoryId],
) -> Result<()> {
    let read = store.memories().read_back(scope, ids).await?;
    match ids.iter().zip(read).find(|(_, is_found)| !is_found) {
        Some((id, _)) => {
            Err(Error::damaged(format!("memory `{id}` was stored but cannot be read back")))
        }
        None => Ok(()),
    }
}

/// Returns the lowest and highest id that start with these hexadecimal digits.
pub(super) fn id_range(prefix: &str) -> Option<(Vec<u8>, Vec<u8>)> {
    let bytes = |fill: char| {
        // 32 digits are a whole id.
        let digits: String = prefix.chars().chain(std::iter::repeat(fill)).take(32).collect();
        u128::from_str_radix(&digits, 16).ok().map(|id| id.to_be_bytes().to_vec())
    };
    (prefix.len() <= 32).then(|| Some((bytes('0')?, bytes('f')?)))?
}

/// Returns the first bytes of the last group of an id that ids with one of these digits have, and the number of bytes;
/// `None` if a prefix is too short to look for, too long, or no hexadecimal number.
pub(super) fn random_bytes(prefixes: &[String]) -> Option<(usize, Vec<Vec<u8>>)> {
    let count = prefixes.iter().map(|prefix| prefix.len() / 2).min()?;
    let bytes = |prefix: &String| {
        let digits = prefix.get(..count * 2).filter(|_| prefix.len() <= RANDOM_DIGITS)?;
        let pairs = (0..count).map(|pair| u8::from_str_radix(&digits[pair * 2..pair * 2 + 2], 16));
        pairs.collect::<std::result::Result<Vec<u8>, _>>().ok()
    };
    let all = prefixes.iter().map(bytes).collect::<Option<Vec<_>>>()?;
    (count >= MIN_RANDOM_BYTES).then_some((count, all))
}

/// Returns `true` if the last group of an id begins with one of these digits.
fn has_random_prefix(id: &MemoryId, prefixes: &[String]) -> bool {
    let random = id.random_digits();
    prefixes.iter().any(|prefix| random.starts_with(prefix))
}

/// Filter on memories. An empty list matches any.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct MemoryFilter {
    /// Of one of these kinds.
    pub kinds: Vec<Kind>,
    /// With one of these statuses.
    pub statuses: Vec<Status>,
    /// With all of these tags.
    pub tags: Vec<String>,
    /// Said at or after this moment.
    pub since: Option<Timestamp>,
    /// Said before this moment.
    pub until: Option<Timestamp>,
    /// Of this conversation.
    pub session: Option<String>,
    /// Turns only if they were said before this moment: a conversation needs no recall of what its context still holds.
    pub turns_until: Option<Timestamp>,
}

impl MemoryFilter {
    /// Leaves records out unless the filter names kinds.
    pub fn without_records(mut self) -> Self {
        if self.kinds.is_empty() {
            self.kinds = Kind::without_records();
        }
        self
    }

    /// Returns `true` if a memory matches.
    pub fn matches(&self, memory: &Memory) -> bool {
        self.matches_doc(memory.kind, memory.status, || memory.at)
            && self.tags.iter().all(|tag| memory.tags.contains(tag))
            && self
                .session
                .as_ref()
                .is_none_or(|session| memory.source.session.as_ref() == Some(session))
    }

    /// Returns the terms that every matching memory has: with them and [`MemoryFilter::matches_doc`] the index alone
    /// can answer.
    pub(crate) fn required_terms(&self) -> Vec<TermHash> {
        let tags = self.tags.iter().map(|tag| keyword_term("tag", tag));
        tags.chain(self.session.iter().map(|session| keyword_term("session", session))).collect()
    }

    /// Answers the part of [`MemoryFilter::matches`] that an index record can. It reads the time only where the filter
    /// needs it.
    pub(crate) fn matches_doc(
        &self,
        kind: Kind,
        status: Status,
        at: impl Fn() -> Timestamp,
    ) -> bool {
        (self.kinds.is_empty() || self.kinds.contains(&kind))
            && (self.statuses.is_empty() || self.statuses.contains(&status))
            && self.since.is_none_or(|since| at() >= since)
            && self.until.is_none_or(|until| at() < until)
            && (kind != Kind::Turn || self.turns_until.is_none_or(|until| at() < until))
    }

    /// Simplifies the filter for memories that were all said from the first of these moments to the second: it needs no
    /// time where all of them match.
    pub(crate) fn within_span(&self, first: Timestamp, last: Timestamp) -> Self {
        Self {
            since: self.since.filter(|since| first < *since),
            until: self.until.filter(|until| last >= *until),
            turns_until: self.turns_until.filter(|until| last >= *until),
            ..self.clone()
        }
    }
}

/// Request for one page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListQuery {
    /// Filter of the memories.
    pub filter: MemoryFilter,
    /// Cursor: only memories after this one in the order.
    pub after: Option<MemoryId>,
    /// Order of the memories.
    pub order: ListOrder,
    /// The most memories to return.
    pub limit: usize,
}

impl ListQuery {
    /// Returns `true` if a memory comes after the page before.
    pub(super) fn is_after_cursor(&self, id: MemoryId) -> bool {
        self.after.is_none_or(|after| match self.order {
            ListOrder::NewestFirst => id < after,
            ListOrder::OldestFirst => id > after,
        })
    }
}

/// Cursor over all memories that pass a filter, a page at a time.
pub(crate) struct MemoryPages<'a> {
    store: &'a dyn Store,
    scope: &'a Scope,
    query: ListQuery,
}

impl<'a> MemoryPages<'a> {
    /// Begins with the oldest memory.
    pub(crate) fn new(
        store: &'a dyn Store,
        scope: &'a Scope,
        filter: MemoryFilter,
        limit: usize,
    ) -> Self {
        let query = ListQuery { filter, after: None, order: ListOrder::OldestFirst, limit };
        Self { store, scope, query }
    }

    /// Changes the most memories of the next page.
    pub(crate) fn set_limit(&mut self, limit: usize) {
        self.query.limit = limit;
    }

    /// Returns the next page; `None` after the last.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<Memory>>> {
        let page = self.store.memories().list(self.scope, &self.query).await?;
        let Some(last) = page.last() else { return Ok(None) };
        self.query.after = Some(last.id);
        Ok(Some(page))
    }
}

/// The order of a list, by when memories were stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ListOrder {
    /// The newest first.
    #[default]
    NewestFirst,
    /// The oldest first.
    OldestFirst,
}

/// Sizes of a scope.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ScopeCounts {
    /// By kind and status; only those that occur.
    pub memories: Vec<(Kind, Status, usize)>,
    /// Lines of the journal.
    pub changes: usize,
    /// Texts that were erased.
    pub tombstones: usize,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn moment() -> impl Strategy<Value = Timestamp> {
        (0..9i64).prop_map(|second| Timestamp::from_second(second).unwrap())
    }

    fn filter() -> impl Strategy<Value = MemoryFilter> {
        let moment = || proptest::option::of(moment());
        (moment(), moment(), moment()).prop_map(|(since, until, turns_until)| MemoryFilter {
            since,
            until,
            turns_until,
            ..MemoryFilter::default()
        })
    }

    proptest! {
        #[test]
        fn a_filter_for_a_stretch_of_time_is_the_same_within_it(filter in filter(), mut times in proptest::collection::vec(moment(), 3)) {
            times.sort();
            let between = filter.within_span(times[0], times[2]);
            for (at, kind) in times.iter().flat_map(|at| [(*at, Kind::Turn), (*at, Kind::User)]) {
                let passes = |filter: &MemoryFilter| filter.matches_doc(kind, Status::Active, || at);
                prop_assert_eq!(passes(&between), passes(&filter));
            }
        }
    }
}
