//! The embeddings facet: the model in use, memories without a vector, and adding vectors to tail and blocks.

use std::collections::HashMap;

use async_trait::async_trait;

use super::{
    ServerStore,
    block_tables::{
        self, LAYOUT, ScopeBlock, read_blocks, read_whole, select_blocks, select_model, select_rows,
    },
    database::{Database, rows as result_rows},
    integrity::read_scopes,
    migrate,
    models::{self, ModelUse},
    rows,
    scope_row::{self, ScopeKey},
    sql::{SqlRow, Statement, list, sql},
    tables::{BLOCK_DOCS, BLOCK_VECTORS},
    transaction::{RetryRule, Transaction},
};
use crate::{
    error::{Error, Result},
    store::{
        DocAddress, Embeddings, NewEmbedding,
        embeddings::EMBED_BATCH,
        index::{IndexBlock, assemble::BlockSnapshot},
    },
    types::{EmbeddingModelId, Memory, MemoryId, Scope},
};

#[async_trait]
impl Embeddings for ServerStore {
    /// Fails if a newer program made the database one that this program may not write: a server that looks if it is ready
    /// asks for the model.
    async fn model(&self) -> Result<Option<EmbeddingModelId>> {
        migrate::check_schema(&self.db).await?;
        Ok(current_model(&self.db).await?.map(|(_, model)| model))
    }

    async fn set_model(&self, model: &EmbeddingModelId) -> Result<()> {
        models::register(&self.db, model, Some(ModelUse::Embedder)).await.map(drop)
    }

    async fn counts(&self) -> Result<(usize, usize)> {
        counts(&self.db).await
    }

    async fn missing(&self, scope: Option<&Scope>) -> Result<Vec<Memory>> {
        let Some((model, _)) = current_model(&self.db).await? else { return Ok(Vec::new()) };
        let scopes = match scope {
            Some(scope) => vec![scope.clone()],
            None => scopes_without_vectors(&self.db, model).await?,
        };
        for scope in scopes {
            let found = missing_of_scope(&self.db, &scope, model).await?;
            if !found.is_empty() {
                return Ok(found);
            }
        }
        Ok(Vec::new())
    }

    async fn put(
        &self,
        scope: &Scope,
        model: &EmbeddingModelId,
        embeddings: Vec<NewEmbedding>,
    ) -> Result<()> {
        self.db.retried(RetryRule::Idempotent, || put(&self.db, scope, model, &embeddings)).await
    }
}

async fn current_model(db: &Database) -> Result<Option<(u32, EmbeddingModelId)>> {
    models::read_current(db.read_one(select_model()).await?)
}

async fn counts(db: &Database) -> Result<(usize, usize)> {
    let [in_use, blocks, deletions, tail] = db
        .read([
            select_model(),
            sql!(
                "SELECT model, CAST(sum(docs) AS BIGINT), CAST(sum(missing) AS BIGINT) FROM blocks GROUP BY model"
            ),
            sql!(
                "SELECT b.model, count(*) FROM block_deletions d \
                 JOIN blocks b ON b.scope = d.scope AND b.block = d.block GROUP BY b.model"
            ),
            sql!("SELECT model, count(*) FROM tail GROUP BY model"),
        ])
        .await?;
    let number = models::read_current(in_use)?.map_or(u32::MAX, |(number, _)| number);
    let (mut present, mut absent) = (0, 0);
    let mut add = |model: u32, all: i64, missing: i64| {
        let of_model = if model == number { all - missing } else { 0 };
        present += of_model;
        absent += all - of_model;
    };
    for mut row in blocks {
        add(row.int(0)?, row.int(1)?, row.int(2)?);
    }
    for mut row in deletions {
        add(row.int(0)?, -row.int::<i64>(1)?, 0);
    }
    for mut row in tail {
        add(row.int(0)?, row.int(1)?, 0);
    }
    Ok((present.max(0) as usize, absent.max(0) as usize))
}

async fn scopes_without_vectors(db: &Database, model: u32) -> Result<Vec<Scope>> {
    let text = "SELECT agent, user_name FROM scopes WHERE scope IN \
                (SELECT scope FROM blocks WHERE model <> ? OR missing > 0 \
                 UNION SELECT scope FROM tail WHERE model <> ?) ORDER BY agent, user_name";
    read_scopes(db.read_one(sql!(text, model, model)).await?)
}

/// Returns memories without a vector of a model, a batch or a little more.
async fn missing_of_scope(db: &Database, scope: &Scope, model: u32) -> Result<Vec<Memory>> {
    let key = ScopeKey::of(scope);
    db.retried(RetryRule::Idempotent, || async {
        let mut tx = db.snapshot().await?;
        let [blocks, deletions] = select_blocks(key);
        let read = vec![select_bare_tail(key, model), blocks, deletions];
        let [tail, blocks, deletions] = result_rows(tx.run(read).await?)?;
        let mut addresses = read_addresses(tail)?;
        let blocks = read_blocks(blocks, deletions)?;
        for block in blocks.iter().filter(|it| it.snapshot.header.lacks_vectors(model)) {
            if addresses.len() >= EMBED_BATCH {
                break;
            }
            let block = load_without_parts(&mut tx, key, &block.snapshot).await?;
            addresses.extend(block.addresses_without_vector(model));
        }
        let found = tx.commit(vec![rows::by_addresses(key, &addresses)]).await?;
        let [found] = result_rows(found)?;
        rows::read_memories(found, scope)
    })
    .await
}

/// Creates the query for the addresses of the tail without a vector of a model.
fn select_bare_tail(key: ScopeKey, model: u32) -> Statement {
    sql!("SELECT address FROM tail WHERE scope = ? AND model <> ? ORDER BY address", key, model)
}

fn read_addresses(rows: Vec<SqlRow>) -> Result<Vec<DocAddress>> {
    rows.into_iter().map(|mut row| row.address(0)).collect()
}

async fn load_without_parts(
    tx: &mut Transaction,
    key: ScopeKey,
    block: &BlockSnapshot,
) -> Result<IndexBlock> {
    let ids = [block.header.id];
    let read = vec![select_rows(&BLOCK_DOCS, key, &ids), select_rows(&BLOCK_VECTORS, key, &ids)];
    let [docs, vectors] = result_rows(tx.run(read).await?)?;
    let mut blocks = read_whole([docs, Vec::new(), vectors], &[block])?;
    blocks.pop().ok_or_else(|| Error::damaged("an index block was not read"))
}

async fn put(
    db: &Database,
    scope: &Scope,
    model: &EmbeddingModelId,
    embeddings: &[NewEmbedding],
) -> Result<()> {
    let key = ScopeKey::of(scope);
    let mut tx = db.begin().await?;
    let [blocks, deletions] = select_blocks(key);
    let versions = select_versions(key, embeddings.iter().map(|it| it.id));
    let read = vec![select_model(), versions, blocks, deletions];
    let Some((locked, results)) = scope_row::lock(&mut tx, key, read).await? else { return Ok(()) };
    let [in_use, versions, blocks, deletions] = result_rows(results)?;
    let in_use = models::read_current(in_use)?.filter(|(_, in_use)| in_use == model);
    let Some((number, _)) = in_use else {
        return Err(Error::invalid(
            format!("`{model}` is not the model in use"),
            "switch to it first",
        ));
    };
    let vectors = current_vectors(&read_versions(versions)?, embeddings);
    let mut statements = put_in_tail(key, number, &vectors);
    let blocks = read_blocks(blocks, deletions)?;
    let lacking = blocks.iter().filter(|block| block.snapshot.header.lacks_vectors(number));
    let lacking: Vec<&BlockSnapshot> =
        lacking.map(|ScopeBlock { snapshot, .. }| snapshot).collect();
    let replaced = replaced_blocks(&mut tx, key, &lacking, number, &vectors).await?;
    let mut last = locked.blocks;
    for (old, block) in replaced {
        last += 1;
        statements.extend(block_tables::drop_blocks(key, &[old]));
        statements.extend(block_tables::store(key, last, &block));
    }
    statements.push(sql!("UPDATE scopes SET blocks = ? WHERE scope = ?", last, key));
    locked.commit(tx, db.dialect(), key, statements).await.map(drop)
}

/// Creates the query for the versions and addresses of memories.
pub(super) fn select_versions(key: ScopeKey, ids: impl IntoIterator<Item = MemoryId>) -> Statement {
    sql!("SELECT id, version, address FROM memories WHERE scope = ? AND id IN ?", key, list(ids))
}

/// Decodes the rows of [`select_versions`].
pub(super) fn read_versions(rows: Vec<SqlRow>) -> Result<HashMap<MemoryId, (u32, DocAddress)>> {
    let read = |mut row: SqlRow| Ok((row.memory_id(0)?, (row.int(1)?, row.address(2)?)));
    rows.into_iter().map(read).collect()
}

/// Returns the vectors by address, without those of memories that changed since.
fn current_vectors(
    versions: &HashMap<MemoryId, (u32, DocAddress)>,
    embeddings: &[NewEmbedding],
) -> HashMap<DocAddress, Vec<u8>> {
    let current = |NewEmbedding { id, version, vector }: &NewEmbedding| {
        let (stored, address) = versions.get(id)?;
        (stored == version).then(|| (*address, vector.to_bytes()))
    };
    embeddings.iter().filter_map(current).collect()
}

fn put_in_tail(
    key: ScopeKey,
    model: u32,
    vectors: &HashMap<DocAddress, Vec<u8>>,
) -> Vec<Statement> {
    let text =
        "UPDATE tail SET model = ?, vector = ? WHERE scope = ? AND address = ? AND model <> ?";
    let put = |(address, vector): (&DocAddress, &Vec<u8>)| {
        sql!(text, model, vector.clone(), key, *address, model)
    };
    vectors.iter().map(put).collect()
}

/// Returns the blocks that gain vectors, each with the id of the one that it replaces.
async fn replaced_blocks(
    tx: &mut Transaction,
    key: ScopeKey,
    lacking: &[&BlockSnapshot],
    model: u32,
    vectors: &HashMap<DocAddress, Vec<u8>>,
) -> Result<Vec<(i64, IndexBlock)>> {
    if lacking.is_empty() || vectors.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<i64> = lacking.iter().map(|block| block.header.id).collect();
    let whole = result_rows(tx.run(block_tables::select_whole(key, &ids).into()).await?)?;
    let blocks = ids.into_iter().zip(read_whole(whole, lacking)?);
    let gained = blocks
        .filter_map(|(id, block)| Some((id, block.with_new_vectors(model, vectors, &LAYOUT)?)));
    Ok(gained.collect())
}
