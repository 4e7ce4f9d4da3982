//! Integrity: reading saved memories back, agreement of rows, index and journal, and rebuilding the index of a scope.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{
    ServerStore,
    block_tables::{
        self, LAYOUT, ScopeBlock, read_blocks, read_joined, read_postings, read_tail, read_whole,
        select_blocks, select_parts, select_rows, select_tail,
    },
    database::{self, Database},
    models, rows,
    scope_row::{self, ScopeKey},
    sql::{SqlRow, Statement, list, sql},
    tables::BLOCK_DOCS,
    transaction::Transaction,
};
use crate::{
    error::{Error, Result},
    store::{
        DocAddress,
        index::{
            Docs, IndexBlock, IndexEntry, READ_BACK_TERMS, REINDEX_BATCH,
            assemble::{BlockSnapshot, valid_docs},
            merge_policy::SEAL_AT,
        },
        row::MemoryRow,
    },
    text::terms::{TERMS_VERSION, TermHash},
    types::{MemoryId, Scope},
};

impl ServerStore {
    /// Reads memories back and looks them up in the index; `true` for each that is found both ways.
    pub(super) async fn find_again(&self, scope: &Scope, ids: &[MemoryId]) -> Result<Vec<bool>> {
        let key = ScopeKey::of(scope);
        let mut tx = self.db.snapshot().await?;
        let tail = "SELECT t.address, t.entry, t.checksum, t.model, t.vector FROM tail t \
                    JOIN memories m ON m.scope = t.scope AND m.address = t.address \
                    WHERE m.scope = ? AND m.id IN ?";
        let [blocks, deletions] = select_blocks(key);
        let tail = sql!(tail, key, list(ids.iter().copied()));
        let read = vec![rows::by_ids(key, ids.iter().copied()), tail, blocks, deletions];
        let [stored, tail, blocks, deletions] = database::rows(tx.run(read).await?)?;
        let stored = rows::read_all(stored, scope)?;
        let tail = read_tail(tail)?;
        let blocks = read_blocks(blocks, deletions)?;
        let expected = |row: &MemoryRow| IndexEntry::from_memory(&row.memory, row.address);
        let is_tail = |row: &MemoryRow| tail.iter().any(|it| it.record.address == row.address);
        let sealed: Vec<IndexEntry> =
            stored.iter().filter(|row| !is_tail(row)).map(expected).collect();
        let sealed = self.find_sealed(tx, key, &blocks, &sealed).await?;
        let is_found = |row: &MemoryRow| {
            let entry = tail.iter().find(|entry| entry.record.address == row.address);
            entry.map_or(sealed.contains(&row.address), |entry| {
                entry.encode() == expected(row).encode()
            })
        };
        let found: BTreeSet<MemoryId> =
            stored.iter().filter(|row| is_found(row)).map(|row| row.memory.id).collect();
        Ok(ids.iter().map(|id| found.contains(id)).collect())
    }

    /// Returns the addresses of entries that blocks hold with the first of their terms.
    async fn find_sealed(
        &self,
        mut tx: Transaction,
        key: ScopeKey,
        blocks: &[ScopeBlock],
        entries: &[IndexEntry],
    ) -> Result<BTreeSet<DocAddress>> {
        let mut found = BTreeSet::new();
        let holds =
            |block: &&ScopeBlock| entries.iter().any(|it| block.may_hold(it.record.address));
        let holding: Vec<&ScopeBlock> = blocks.iter().filter(holds).collect();
        if holding.is_empty() {
            tx.finish();
            return Ok(found);
        }
        let terms: Vec<TermHash> = entries.iter().flat_map(first_terms).collect();
        let ids: Vec<i64> = holding.iter().map(|block| block.id()).collect();
        let parts = holding.iter().map(|block| select_parts(key, &block.snapshot.header, &terms));
        let statements = [select_rows(&BLOCK_DOCS, key, &ids)].into_iter().chain(parts).collect();
        let mut results = tx.run(statements).await?.into_iter().map(|result| result.rows);
        tx.finish();
        let mut docs = read_joined(results.next().unwrap_or_default())?;
        for (block, parts) in holding.into_iter().zip(results) {
            let header = &block.snapshot.header;
            let packed = valid_docs(header, docs.remove(&header.id).unwrap_or_default())?;
            let records = Docs::shared(packed.into(), block.snapshot.deleted.clone());
            let postings = read_postings(parts, header, &terms)?;
            let lists: HashMap<TermHash, Vec<u32>> = terms
                .iter()
                .zip(postings)
                .map(|(term, list)| (*term, list.iter().map(|posting| posting.doc).collect()))
                .collect();
            let is_there = |entry: &&IndexEntry| {
                let doc = records.index_of(entry.record.address);
                doc.filter(|doc| !records.is_deleted(*doc)).is_some_and(|doc| {
                    first_terms(entry).all(|term| lists[&term].contains(&(doc as u32)))
                })
            };
            found.extend(entries.iter().filter(is_there).map(|entry| entry.record.address));
        }
        Ok(found)
    }
}

fn first_terms(entry: &IndexEntry) -> impl Iterator<Item = TermHash> {
    entry.terms.iter().take(READ_BACK_TERMS).map(|(term, _)| *term)
}

/// Compares every row with its index entry and its journal line, at one moment.
pub(super) async fn inconsistencies(db: &Database, scope: &Scope) -> Result<Vec<String>> {
    let key = ScopeKey::of(scope);
    let mut tx = db.snapshot().await?;
    let [blocks, deletions] = select_blocks(key);
    let orphans = "SELECT count(*) FROM token_vectors t WHERE t.scope = ? AND NOT EXISTS \
                   (SELECT 1 FROM memories m WHERE m.scope = t.scope AND m.address = t.address)";
    let unjournaled = "SELECT m.id, m.seq FROM memories m WHERE m.scope = ? AND NOT EXISTS \
                       (SELECT 1 FROM journal j WHERE j.scope = m.scope AND j.seq = m.seq AND j.id = m.id)";
    let read = vec![
        blocks,
        deletions,
        select_tail(key),
        rows::select(key, "ORDER BY address", Vec::new()),
        sql!(unjournaled, key),
        sql!(orphans, key),
    ];
    let [blocks, deletions, tail, stored, unjournaled, orphans] =
        database::rows(tx.run(read).await?)?;
    let blocks = read_blocks(blocks, deletions)?;
    let snapshots: Vec<&BlockSnapshot> = blocks.iter().map(|block| &block.snapshot).collect();
    let ids: Vec<i64> = blocks.iter().map(ScopeBlock::id).collect();
    let whole = tx.commit(block_tables::select_whole(key, &ids).into()).await?;
    let mut entries = read_tail(tail)?;
    entries.extend(
        read_whole(database::rows(whole)?, &snapshots)?.iter().flat_map(IndexBlock::entries),
    );
    let mut problems = index_problems(entries, &rows::read_all(stored, scope)?);
    for mut row in unjournaled {
        let (id, seq) = (row.memory_id(0)?, row.int::<i64>(1)?);
        problems.push(format!("memory {id} has no line {seq} in the journal"));
    }
    let orphans = database::number(orphans)?;
    if orphans > 0 {
        problems.push(format!("token vectors of {orphans} deleted texts are still there"));
    }
    Ok(problems)
}

fn index_problems(entries: Vec<IndexEntry>, stored: &[MemoryRow]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut indexed: BTreeMap<DocAddress, Vec<u8>> = BTreeMap::new();
    for entry in entries {
        let address = entry.record.address;
        if indexed.insert(address, entry.encode()).is_some() {
            problems.push(format!("address {} is indexed twice", address.to_bits()));
        }
    }
    for MemoryRow { memory, address, .. } in stored {
        let id = memory.id;
        match indexed.remove(address) {
            None => problems.push(format!("memory {id} is not in the index")),
            Some(found) if found != IndexEntry::from_memory(memory, *address).encode() => {
                problems.push(format!("the index entry of memory {id} does not match its text"));
            }
            Some(_) => {}
        }
    }
    let unknown = indexed.keys().map(|address| address.to_bits());
    problems
        .extend(unknown.map(|bits| format!("the index names address {bits}, which has no memory")));
    problems
}

/// Returns the scopes whose index was built by an older text analysis.
pub(super) async fn stale_scopes(db: &Database) -> Result<Vec<Scope>> {
    let text =
        "SELECT agent, user_name FROM scopes WHERE index_version < ? ORDER BY agent, user_name";
    read_scopes(db.read_one(sql!(text, TERMS_VERSION)).await?)
}

/// Decodes the names of scopes.
pub(super) fn read_scopes(rows: Vec<SqlRow>) -> Result<Vec<Scope>> {
    let read = |mut row: SqlRow| Scope::new(&row.text(0)?, &row.text(1)?);
    rows.into_iter().map(read).collect()
}

/// Rebuilds the index of a scope and returns how many memories it holds.
pub(super) async fn reindex(db: &Database, scope: &Scope) -> Result<usize> {
    let key = ScopeKey::of(scope);
    let mut tx = db.begin().await?;
    let first = vec![next_batch(key, None), block_tables::select_model()];
    let Some((locked, results)) = scope_row::lock(&mut tx, key, first).await? else { return Ok(0) };
    let [batch, model] = database::rows(results)?;
    let model = models::read_current(model)?.map_or(0, |(number, _)| number);
    let (mut batch, mut count, mut blocks) = (rows::read_all(batch, scope)?, 0, locked.blocks);
    tx.run(block_tables::clear(key)).await?;
    while let Some(last) = batch.last().map(|row| row.address) {
        count += batch.len();
        let mut statements = index_batch(key, &batch, model, &mut blocks);
        statements.retain(|statement| !statement.is_empty());
        statements.push(next_batch(key, Some(last)));
        let next = tx.run(statements).await?.pop().ok_or_else(|| Error::store("no result"))?;
        batch = rows::read_all(next.rows, scope)?;
    }
    let text = "UPDATE scopes SET index_version = ?, blocks = ? WHERE scope = ?";
    let done = vec![sql!(text, TERMS_VERSION, blocks, key)];
    locked.commit(tx, db.dialect(), key, done).await?;
    Ok(count)
}

/// Creates the query for the next memories to index, in the order of addresses.
fn next_batch(key: ScopeKey, after: Option<DocAddress>) -> Statement {
    let after = after.map_or(-1, |address| address.to_bits() as i64);
    rows::select(
        key,
        "AND address > ? ORDER BY address LIMIT ?",
        vec![after.into(), rows::limit_value(REINDEX_BATCH)],
    )
}

/// Creates the statements that index memories: in a block, or in the tail if they are few.
fn index_batch(key: ScopeKey, batch: &[MemoryRow], model: u32, blocks: &mut i64) -> Vec<Statement> {
    let entry = |row: &MemoryRow| IndexEntry::from_memory(&row.memory, row.address);
    let entries: Vec<IndexEntry> = batch.iter().map(entry).collect();
    if entries.len() < SEAL_AT {
        return vec![block_tables::append_tail(key, &entries)];
    }
    *blocks += 1;
    block_tables::store(key, *blocks, &IndexBlock::seal(&entries, model, &LAYOUT))
}
