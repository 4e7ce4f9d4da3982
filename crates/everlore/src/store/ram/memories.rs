//! The memories facet in RAM.

use std::collections::BTreeMap;

use async_trait::async_trait;

use super::RamStore;
use crate::{
    error::Result,
    store::{
        DocAddress, ListOrder, ListQuery, Memories, MemoryKey, ScopeCounts, memories::random_bytes,
    },
    types::{Fingerprint, Kind, Memory, MemoryId, Scope},
};

#[async_trait]
impl Memories for RamStore {
    async fn get(&self, scope: &Scope, ids: &[MemoryId]) -> Result<Vec<Option<Memory>>> {
        Ok(self.read(scope, |data| ids.iter().map(|id| data.memory(*id).cloned()).collect()))
    }

    async fn find(
        &self,
        scope: &Scope,
        keys: &[MemoryKey],
        limit: usize,
    ) -> Result<Vec<Vec<Memory>>> {
        let is_named = |memory: &Memory, key: &MemoryKey| match key {
            MemoryKey::IdPrefix(prefix) => {
                memory.id.to_string().replace('-', "").starts_with(prefix)
            }
            MemoryKey::RandomPrefix(prefixes) => {
                random_bytes(prefixes).is_some() && key.may_name(&memory.id)
            }
            MemoryKey::Uri(uri) => memory.kind != Kind::Turn && memory.uri == *uri,
            MemoryKey::Text(text) => memory.kind != Kind::Turn && memory.fingerprint() == *text,
        };
        Ok(self.read(scope, |data| {
            let all = data.oldest_first();
            let named = |key| {
                let named = all.iter().copied().filter(|memory| is_named(memory, key));
                named.take(limit).cloned().collect()
            };
            keys.iter().map(named).collect()
        }))
    }

    async fn list(&self, scope: &Scope, page: &ListQuery) -> Result<Vec<Memory>> {
        let fits = |memory: &&Memory| {
            page.after.is_none_or(|after| match page.order {
                ListOrder::NewestFirst => memory.id < after,
                ListOrder::OldestFirst => memory.id > after,
            }) && page.filter.matches(memory)
        };
        Ok(self.read(scope, |data| {
            let mut all = data.oldest_first();
            if page.order == ListOrder::NewestFirst {
                all.reverse();
            }
            all.into_iter().filter(fits).take(page.limit).cloned().collect()
        }))
    }

    async fn by_address(
        &self,
        scope: &Scope,
        addresses: &[DocAddress],
    ) -> Result<Vec<(DocAddress, Memory)>> {
        Ok(self.read(scope, |data| {
            addresses
                .iter()
                .filter_map(|address| Some((*address, data.rows.get(address)?.clone())))
                .collect()
        }))
    }

    async fn read_back(&self, scope: &Scope, ids: &[MemoryId]) -> Result<Vec<bool>> {
        Ok(self.read(scope, |data| ids.iter().map(|id| data.memory(*id).is_some()).collect()))
    }

    async fn count(&self, scope: &Scope) -> Result<ScopeCounts> {
        Ok(self.read(scope, |data| {
            let mut memories = BTreeMap::new();
            for memory in data.rows.values() {
                *memories.entry((memory.kind, memory.status)).or_default() += 1;
            }
            ScopeCounts {
                memories: memories
                    .into_iter()
                    .map(|((kind, status), count)| (kind, status, count))
                    .collect(),
                changes: data.journal.len(),
                tombstones: data.tombstones.len(),
            }
        }))
    }

    async fn are_erased(&self, scope: &Scope, texts: &[Fingerprint]) -> Result<Vec<bool>> {
        Ok(self
            .read(scope, |data| texts.iter().map(|text| data.tombstones.contains(text)).collect()))
    }

    async fn tombstones(&self, scope: &Scope) -> Result<Vec<Fingerprint>> {
        Ok(self.read(scope, |data| data.tombstones.iter().copied().collect()))
    }
}
