//! The uri index in RAM.

use async_trait::async_trait;

use super::RamStore;
use crate::{
    error::Result,
    store::{
        AddressQuery, DocAddress, SessionSummary, UriChild, UriIndex,
        uri_index::{child_of, seek_after},
    },
    types::{Kind, Memory, MemoryId, Scope},
};

#[async_trait]
impl UriIndex for RamStore {
    async fn children(
        &self,
        scope: &Scope,
        folder: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<UriChild>> {
        let (from, is_in) = seek_after(folder, after);
        let follows = |memory: &Memory| memory.uri > from || is_in && memory.uri == from;
        let mut names = Vec::new();
        for memory in self.by_uri(scope, folder).into_iter().filter(follows) {
            let Some(name) = child_of(folder, memory) else { continue };
            if names.last().map(UriChild::sort_key) != Some(name.sort_key()) {
                names.push(name);
            }
        }
        names.truncate(limit);
        Ok(names)
    }

    async fn by_prefix(
        &self,
        scope: &Scope,
        beginning: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Memory>> {
        let all = self.by_uri(scope, beginning).into_iter();
        let follows = |memory: &Memory| after.is_none_or(|after| memory.uri.as_str() > after);
        Ok(all.filter(follows).take(limit).collect())
    }

    async fn addresses(&self, scope: &Scope, within: &AddressQuery) -> Result<Vec<DocAddress>> {
        let is_below = |uri: &str, memory: &Memory| {
            let rest = memory.uri.strip_prefix(uri).filter(|_| memory.kind != Kind::Turn);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let is_selected = |memory: &Memory| match within {
            AddressQuery::Folder(uri) => is_below(uri, memory),
            AddressQuery::Ids(ids) => ids.contains(&memory.id),
        };
        Ok(self.read(scope, |data| {
            let selected = data.rows.iter().filter(|(_, memory)| is_selected(memory));
            selected.map(|(address, _)| *address).collect()
        }))
    }

    async fn sessions(
        &self,
        scope: &Scope,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<SessionSummary>> {
        Ok(self.read(scope, |data| {
            let mut names: Vec<_> = data.sessions.iter().collect();
            names.sort();
            let names = names
                .into_iter()
                .filter(|(name, _)| after.is_none_or(|after| name.as_str() > after));
            let talk = |(name, number): (&String, &u32)| {
                let of = data.rows.iter().filter(|(address, _)| address.session() == *number);
                let mut turns = of.map(|(_, memory)| memory).filter(|it| it.kind == Kind::Turn);
                let first = turns.next()?;
                let last = turns.next_back().unwrap_or(first);
                Some(SessionSummary { session: name.clone(), first_at: first.at, last_at: last.at })
            };
            names.filter_map(talk).take(limit).collect()
        }))
    }

    async fn turns(
        &self,
        scope: &Scope,
        session: &str,
        after: Option<MemoryId>,
        limit: usize,
    ) -> Result<Vec<Memory>> {
        Ok(self.read(scope, |data| {
            let Some(number) = data.sessions.get(session) else { return Vec::new() };
            let from = match after
                .map(|id| data.addresses.get(&id).filter(|_| data.memory(id).is_some()))
            {
                Some(None) => return Vec::new(),
                Some(Some(address)) => Some(*address),
                None => None,
            };
            let follows = |address: &DocAddress| from.is_none_or(|from| *address > from);
            let rows = data.rows.iter();
            let of = rows.filter(|(address, _)| address.session() == *number && follows(address));
            let turns = of.map(|(_, memory)| memory).filter(|memory| memory.kind == Kind::Turn);
            turns.take(limit).cloned().collect()
        }))
    }
}

impl RamStore {
    fn by_uri(&self, scope: &Scope, beginning: &str) -> Vec<Memory> {
        let fits =
            |memory: &&Memory| memory.kind != Kind::Turn && memory.uri.starts_with(beginning);
        let mut all: Vec<Memory> =
            self.read(scope, |data| data.rows.values().filter(fits).cloned().collect());
        all.sort_by(|a, b| a.uri.cmp(&b.uri));
        all
    }
}
