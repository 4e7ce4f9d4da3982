//! The second round trip of a write, if it needs one: what its index changes, its erasures and its checkpoint load once
//! the plan is known.

use std::{collections::HashMap, sync::Arc};

use super::{
    apply::WriteAttempt,
    block_tables::{self, read_joined, read_tail, read_whole, select_rows, select_tail},
    index_edit::{IndexLoaded, IndexNeeds, IndexState},
    quarantine, rows,
    rows::TurnQuery,
    sql::{SqlRow, Statement},
    tables::BLOCK_DOCS,
    transaction::Transaction,
};
use crate::{
    error::Result,
    store::{
        DocAddress,
        index::{
            Docs, IndexBlock,
            assemble::{BlockSnapshot, valid_docs},
            block_cache::{CachedBlock, CachedVectors},
        },
        plan::Effects,
        row::MemoryRow,
    },
    types::QuarantinedDraft,
};

/// Rows of the second round trip.
#[derive(Default)]
pub(super) struct SecondLoad {
    pub(super) index: IndexLoaded,
    pub(super) drafts: Vec<QuarantinedDraft>,
    /// Stored turns that the checkpoint passes.
    pub(super) passed: Vec<MemoryRow>,
}

impl WriteAttempt<'_> {
    /// Loads what the index changes, the erasures and the checkpoint need, in one round trip, if they need anything.
    pub(super) async fn second_load(
        &self,
        tx: &mut Transaction,
        state: &IndexState,
        needs: &IndexNeeds,
        effects: &Effects,
        captured: Option<u32>,
    ) -> Result<SecondLoad> {
        let mut second = SecondLoad::default();
        let uncached = self.cached_docs(needs, &mut second.index.docs);
        let statements = self.second_statements(needs, &uncached, effects, captured);
        if statements.is_empty() {
            return Ok(second);
        }
        let results = tx.run(statements).await?;
        let mut results = results.into_iter().map(|result| result.rows);
        let mut next =
            |is_there: bool| if is_there { results.next().unwrap_or_default() } else { Vec::new() };
        let docs = next(!uncached.is_empty());
        self.read_docs(docs, state, &uncached, &mut second.index.docs)?;
        let is_whole = !needs.whole.is_empty();
        let whole = [next(is_whole), next(is_whole), next(is_whole)];
        second.index.whole = read_whole_blocks(whole, state, &needs.whole)?;
        second.index.tail = read_tail(next(needs.seals))?;
        second.drafts = quarantine::read(next(!effects.erasures.is_empty()))?;
        second.passed = rows::read_all(next(captured.is_some()), &self.prepared.write.scope)?;
        Ok(second)
    }

    fn second_statements(
        &self,
        needs: &IndexNeeds,
        uncached: &[i64],
        effects: &Effects,
        captured: Option<u32>,
    ) -> Vec<Statement> {
        let key = self.key;
        let mut statements = Vec::new();
        if !uncached.is_empty() {
            statements.push(select_rows(&BLOCK_DOCS, key, uncached));
        }
        if !needs.whole.is_empty() {
            statements.extend(block_tables::select_whole(key, &needs.whole));
        }
        statements.extend(needs.seals.then(|| select_tail(key)));
        statements.extend((!effects.erasures.is_empty()).then(|| quarantine::select(key)));
        let checkpoint = self.prepared.write.checkpoint.as_ref();
        statements.extend(captured.zip(checkpoint).map(|(session, checkpoint)| {
            let address = |position| DocAddress::new(session, position);
            let (from, to) = (address(checkpoint.from), address(checkpoint.to));
            rows::turns(key, TurnQuery { from, to, last: false, limit: usize::MAX })
        }));
        statements
    }

    /// Takes records from the cache; returns the blocks that it lacks.
    fn cached_docs(&self, needs: &IndexNeeds, docs: &mut HashMap<i64, Docs>) -> Vec<i64> {
        let cache = self.store.block_cache.of_scope(self.key.to_bits());
        let mut uncached = Vec::new();
        for block in &needs.docs {
            match cache.get(*block) {
                Some(known) => drop(docs.insert(*block, Docs::shared(known.docs, Vec::new()))),
                None => uncached.push(*block),
            }
        }
        uncached
    }

    fn read_docs(
        &self,
        rows: Vec<SqlRow>,
        state: &IndexState,
        wanted: &[i64],
        docs: &mut HashMap<i64, Docs>,
    ) -> Result<()> {
        let cache = self.store.block_cache.of_scope(self.key.to_bits());
        let mut loaded = read_joined(rows)?;
        for block in state.blocks.iter().filter(|block| wanted.contains(&block.id())) {
            let packed = loaded.remove(&block.id()).unwrap_or_default();
            let packed = Arc::new(valid_docs(&block.snapshot.header, packed)?);
            docs.insert(block.id(), Docs::shared(Arc::clone(&packed), Vec::new()));
            cache.put(
                block.id(),
                CachedBlock { docs: packed, vectors: CachedVectors::NotRequested },
            );
        }
        Ok(())
    }
}

fn read_whole_blocks(
    rows: [Vec<SqlRow>; 3],
    state: &IndexState,
    wanted: &[i64],
) -> Result<HashMap<i64, IndexBlock>> {
    let wanted = state.blocks.iter().filter(|block| wanted.contains(&block.id()));
    let snapshots: Vec<&BlockSnapshot> = wanted.map(|block| &block.snapshot).collect();
    let blocks = read_whole(rows, &snapshots)?;
    Ok(snapshots.iter().map(|block| block.header.id).zip(blocks).collect())
}
