//! Merging of index blocks after writes, in the background. Blocks are read and merged without the scope's lock, which
//! is held only to replace them; if they changed meanwhile, nothing is replaced.

use std::sync::Arc;

use super::{
    ServerStore,
    block_tables::{
        self, LAYOUT, ScopeBlock, read_blocks, read_whole, select_blocks, select_model,
    },
    database::{Database, rows},
    models,
    scope_row::{self, ScopeKey},
    sql::{Statement, sql},
};
use crate::{
    error::Result,
    store::index::{
        IndexBlock,
        assemble::BlockSnapshot,
        merge_policy::{BlockSize, MergeLimit, next_merge},
    },
    sync::lock,
    types::Scope,
};

/// Attempts at a merge whose blocks change meanwhile; the next write tries again.
const MAX_ATTEMPTS: u32 = 4;

/// Outcome of one merge.
#[derive(Debug, PartialEq, Eq)]
enum MergeOutcome {
    /// Nothing is due.
    Idle,
    Merged,
    /// Another writer was faster.
    Overtaken,
}

impl ServerStore {
    /// Merges blocks of a scope in the background, as long as some are due. One task serves a scope.
    pub(super) fn merge_later(&self, scope: &Scope) {
        let key = ScopeKey::of(scope);
        if !lock(&self.merging).insert(key) {
            return;
        }
        let (db, merging) = (Arc::clone(&self.db), Arc::clone(&self.merging));
        tokio::spawn(async move {
            if let Err(error) = merge_due(&db, key).await {
                tracing::debug!("{error}: index blocks are merged after the next write");
            }
            lock(&merging).remove(&key);
        });
    }
}

/// Merges until nothing is due.
pub(super) async fn merge_due(db: &Database, key: ScopeKey) -> Result<()> {
    let mut overtaken = 0;
    while overtaken < MAX_ATTEMPTS {
        match merge_one(db, key).await? {
            MergeOutcome::Idle => return Ok(()),
            MergeOutcome::Merged => {}
            MergeOutcome::Overtaken => overtaken += 1,
        }
    }
    Ok(())
}

async fn merge_one(db: &Database, key: ScopeKey) -> Result<MergeOutcome> {
    let [blocks, deletions, model] = db.read(select_state(key)).await?;
    let blocks = read_blocks(blocks, deletions)?;
    let model = models::read_current(model)?.map_or(0, |(number, _)| number);
    let mut sizes: Vec<BlockSize> = blocks.iter().map(ScopeBlock::size).collect();
    sizes.sort_by_key(|size| (size.level, size.id));
    let Some(due) = next_merge(&sizes, MergeLimit::Any) else { return Ok(MergeOutcome::Idle) };
    let sources: Vec<&BlockSnapshot> = blocks
        .iter()
        .map(|block| &block.snapshot)
        .filter(|it| due.contains(&it.header.id))
        .collect();
    let bytes = db.read(block_tables::select_whole(key, &due)).await?;
    let Ok(whole) = read_whole(bytes, &sources) else { return Ok(MergeOutcome::Overtaken) };
    let merged = IndexBlock::merge(&whole, model, &LAYOUT);
    replace(db, key, &sources, model, &merged).await
}

fn select_state(key: ScopeKey) -> [Statement; 3] {
    let [blocks, deletions] = select_blocks(key);
    [blocks, deletions, select_model()]
}

/// Replaces blocks by their merger, if they are still what was merged.
async fn replace(
    db: &Database,
    key: ScopeKey,
    sources: &[&BlockSnapshot],
    model: u32,
    merged: &IndexBlock,
) -> Result<MergeOutcome> {
    let mut tx = db.begin().await?;
    let locked = scope_row::lock(&mut tx, key, select_state(key).into()).await?;
    let Some((scope, results)) = locked else { return Ok(MergeOutcome::Idle) };
    let [blocks, deletions, in_use] = rows(results)?;
    let blocks = read_blocks(blocks, deletions)?;
    let is_same = |source: &&BlockSnapshot| {
        let stored = blocks.iter().find(|block| block.id() == source.header.id);
        stored.is_some_and(|block| block.snapshot.deleted == source.deleted)
    };
    let in_use = models::read_current(in_use)?.map_or(0, |(number, _)| number);
    if in_use != model || !sources.iter().all(is_same) {
        return Ok(MergeOutcome::Overtaken);
    }
    let ids: Vec<i64> = sources.iter().map(|source| source.header.id).collect();
    let id = scope.blocks + 1;
    let mut statements = block_tables::drop_blocks(key, &ids);
    statements.extend(block_tables::store(key, id, merged));
    statements.push(sql!("UPDATE scopes SET blocks = ? WHERE scope = ?", id, key));
    scope.commit(tx, db.dialect(), key, statements).await?;
    Ok(MergeOutcome::Merged)
}
