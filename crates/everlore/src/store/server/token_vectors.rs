//! The token vectors facet: of one reranking model at a time; removed with their texts.

use std::collections::HashMap;

use async_trait::async_trait;

use super::{
    ServerStore,
    database::{Database, number, rows as result_rows},
    models::{self, ModelRegistry, ModelUse},
    rows,
    scope_row::{self, ScopeKey},
    sql::{OnConflict, SqlRow, Statement, insert, list, sql, sql_row},
    tables::TOKEN_VECTORS,
    transaction::RetryRule,
    vectors::{read_versions, select_versions},
};
use crate::{
    error::Result,
    store::{DocAddress, NewTokenVectors, TokenVectors},
    types::{EmbeddingModelId, Memory, MemoryId, Scope},
};

#[async_trait]
impl TokenVectors for ServerStore {
    async fn get(
        &self,
        scope: &Scope,
        model: &EmbeddingModelId,
        addresses: &[DocAddress],
    ) -> Result<Vec<Option<Vec<u8>>>> {
        let text = "SELECT address, bytes FROM token_vectors WHERE scope = ? AND address IN ?";
        let found = sql!(text, ScopeKey::of(scope), list(addresses.iter().copied()));
        let [is_stored, found] = self.db.read([select_is_stored(model), found]).await?;
        let found = if is_stored.is_empty() { Vec::new() } else { found };
        let read = |mut row: SqlRow| Ok((row.address(0)?, row.bytes(1)?));
        let found: HashMap<DocAddress, Vec<u8>> =
            found.into_iter().map(read).collect::<Result<_>>()?;
        Ok(addresses.iter().map(|address| found.get(address).cloned()).collect())
    }

    async fn put(
        &self,
        scope: &Scope,
        model: &EmbeddingModelId,
        encoded: Vec<NewTokenVectors>,
    ) -> Result<()> {
        self.db.retried(RetryRule::Idempotent, || put(&self.db, scope, model, &encoded)).await
    }

    async fn missing(
        &self,
        scope: &Scope,
        model: &EmbeddingModelId,
        after: Option<MemoryId>,
        limit: usize,
    ) -> Result<Vec<Memory>> {
        // Every id is above zero, which no memory has.
        let after = after.map_or([0; 16], |id| *id.as_bytes());
        let condition = "AND id > ? AND NOT EXISTS (SELECT 1 FROM token_vectors t JOIN meta ON meta.name = 'reranker' \
                         JOIN models ON models.number = meta.value AND models.name = ? \
                         WHERE t.scope = memories.scope AND t.address = memories.address) ORDER BY id LIMIT ?";
        let params = vec![after.into(), (&model.name).into(), rows::limit_value(limit)];
        let found = self.db.read_one(rows::select(ScopeKey::of(scope), condition, params)).await?;
        rows::read_memories(found, scope)
    }

    async fn counts(&self, model: &EmbeddingModelId) -> Result<(usize, usize)> {
        let [is_stored, all, encoded] = self
            .db
            .read([
                select_is_stored(model),
                sql!("SELECT count(*) FROM memories"),
                sql!("SELECT count(*) FROM token_vectors"),
            ])
            .await?;
        let encoded = if is_stored.is_empty() { 0 } else { number(encoded)? as usize };
        Ok((encoded, (number(all)? as usize).saturating_sub(encoded)))
    }
}

/// Creates the query for a row if the stored token vectors are of this model.
fn select_is_stored(model: &EmbeddingModelId) -> Statement {
    let text = "SELECT 1 FROM meta JOIN models ON models.number = meta.value \
                WHERE meta.name = 'reranker' AND models.name = ?";
    sql!(text, &model.name)
}

async fn put(
    db: &Database,
    scope: &Scope,
    model: &EmbeddingModelId,
    encoded: &[NewTokenVectors],
) -> Result<()> {
    let key = ScopeKey::of(scope);
    let mut tx = db.begin().await?;
    let versions = select_versions(key, encoded.iter().map(|it| it.id));
    let read = vec![select_is_stored(model), versions];
    let Some((locked, results)) = scope_row::lock(&mut tx, key, read).await? else { return Ok(()) };
    let [is_stored, versions] = result_rows(results)?;
    let mut statements = Vec::new();
    if is_stored.is_empty() {
        let select = ModelRegistry::select(model, ModelUse::Reranker);
        let (number, register) = ModelRegistry::read(tx.run(select).await?)?.register(model)?;
        statements.extend(register);
        statements.push(sql!("DELETE FROM token_vectors"));
        statements.push(models::take_into_use(number, ModelUse::Reranker));
    }
    let versions = read_versions(versions)?;
    let row = |NewTokenVectors { id, version, token_vectors }: &NewTokenVectors| {
        let (stored, address) = versions.get(id)?;
        (stored == version).then(|| sql_row![key, *address, token_vectors.clone()])
    };
    let vectors = encoded.iter().filter_map(row).collect();
    statements.push(insert(&TOKEN_VECTORS, vectors, OnConflict::Replace));
    locked.commit(tx, db.dialect(), key, statements).await.map(drop)
}
