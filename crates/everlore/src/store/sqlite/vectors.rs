//! Embeddings in the file: the model in use, memories without a vector, and adding vectors to tail and blocks.

use std::collections::HashMap;

use async_trait::async_trait;
use rusqlite::{Connection, params};

use super::{
    ScopeDb, SqliteStore,
    block_tables::{
        BlockHalf, LAYOUT, drop_block, for_each_vector_row, header, headers, load_block,
        load_vectors, store_block, update_vectors,
    },
    rows,
    statements::Statements,
};
use crate::{
    error::{Error, Result},
    store::{
        DocAddress, Embeddings, NewEmbedding,
        embeddings::EMBED_BATCH,
        index::{
            assemble::{BlockHeader, damaged_block},
            segment::similarities as score_vectors,
        },
    },
    types::{ChangeVectors, EmbeddingModelId, Memory, Scope, Vector},
};

#[async_trait]
impl Embeddings for SqliteStore {
    async fn model(&self) -> Result<Option<EmbeddingModelId>> {
        Ok(self.pool.read(current_model).await?.map(|(_, model)| model))
    }

    async fn set_model(&self, model: &EmbeddingModelId) -> Result<()> {
        let model = model.clone();
        self.writer.run(move |db| set_model(db, &model).map(drop)).await
    }

    async fn counts(&self) -> Result<(usize, usize)> {
        self.pool.read(counts).await
    }

    async fn missing(&self, scope: Option<&Scope>) -> Result<Vec<Memory>> {
        let scope = scope.cloned();
        self.pool.read(move |db| missing(db, scope)).await
    }

    async fn put(
        &self,
        scope: &Scope,
        model: &EmbeddingModelId,
        embeddings: Vec<NewEmbedding>,
    ) -> Result<()> {
        let model = model.clone();
        self.write(scope, move |db| put(db, &model, embeddings)).await
    }
}

/// Returns the model in use with its number.
pub(super) fn current_model(db: &Connection) -> Result<Option<(u32, EmbeddingModelId)>> {
    let sql = "SELECT models.id, name, dimensions FROM meta JOIN models ON models.id = value WHERE key = 'model'";
    db.one(sql, [], |row| {
        let dimensions = row.get::<_, i64>(2)? as usize;
        Ok((row.get(0)?, EmbeddingModelId { name: row.get(1)?, dimensions }))
    })
}

/// Returns the number of the model in use; 0 if there is none.
pub(super) fn current_model_number(db: &Connection) -> Result<u32> {
    Ok(current_model(db)?.map_or(0, |(number, _)| number))
}

fn set_model(db: &Connection, model: &EmbeddingModelId) -> Result<u32> {
    let number = register_model(db, model)?;
    db.run("INSERT OR REPLACE INTO meta VALUES ('model', ?1)", [number])?;
    Ok(number)
}

/// Returns the number of a model; a new model gets one.
pub(super) fn register_model(db: &Connection, model: &EmbeddingModelId) -> Result<u32> {
    db.run(
        "INSERT INTO models (name, dimensions) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
        params![model.name, model.dimensions as i64],
    )?;
    let sql = "SELECT id, dimensions FROM models WHERE name = ?1";
    let found: Option<(u32, i64)> = db.one(sql, [&model.name], |row| row.try_into())?;
    let (number, dimensions) = found.ok_or_else(|| Error::damaged("a model was not registered"))?;
    if dimensions as usize != model.dimensions {
        return Err(Error::invalid(
            format!("model `{model}` had {dimensions} dimensions and now has {}", model.dimensions),
            "give another model another name",
        ));
    }
    Ok(number)
}

/// Returns the number of the model of a write's vectors if it is in use. The first model that writes is taken into use.
pub(super) fn model_number_for(
    db: &Connection,
    vectors: Option<&ChangeVectors>,
) -> Result<Option<u32>> {
    let Some(vectors) = vectors else { return Ok(None) };
    match current_model(db)? {
        None => set_model(db, &vectors.model).map(Some),
        Some((number, in_use)) => Ok((in_use == vectors.model).then_some(number)),
    }
}

fn counts(db: &Connection) -> Result<(usize, usize)> {
    let number = current_model(db)?.map_or(u32::MAX, |(number, _)| number);
    let count =
        |sql: &str| -> Result<i64> { Ok(db.one(sql, [number], |row| row.get(0))?.unwrap_or(0)) };
    let live = "docs - (SELECT count(*) FROM block_gone WHERE block = blocks.id)";
    let sealed = count(&format!("SELECT coalesce(sum({live}), 0) FROM blocks WHERE model = ?1"))?;
    let missing = count("SELECT coalesce(sum(unmade), 0) FROM blocks WHERE model = ?1")?;
    let present = sealed - missing + count("SELECT count(*) FROM tail WHERE model = ?1")?;
    let other = count(&format!("SELECT coalesce(sum({live}), 0) FROM blocks WHERE model <> ?1"))?;
    let absent = missing + other + count("SELECT count(*) FROM tail WHERE model <> ?1")?;
    Ok((present as usize, absent as usize))
}

fn missing(db: &Connection, scope: Option<Scope>) -> Result<Vec<Memory>> {
    let Some((number, _)) = current_model(db)? else { return Ok(Vec::new()) };
    for scope in scope.map_or_else(|| rows::scopes(db), |scope| Ok(vec![scope]))? {
        let Some(db) = ScopeDb::find(db, &scope)? else { continue };
        let addresses = addresses_without_vector(db, number)?;
        if !addresses.is_empty() {
            let found = rows::by_address(db, &addresses)?;
            return Ok(found.into_iter().map(|(_, memory)| memory).collect());
        }
    }
    Ok(Vec::new())
}

/// Returns addresses without a vector of a model, a batch or a little more.
fn addresses_without_vector(db: ScopeDb<'_>, model: u32) -> Result<Vec<DocAddress>> {
    let mut addresses = tail_without_vector(db, model)?;
    for header in headers(db)?.iter().filter(|header| header.lacks_vectors(model)) {
        if addresses.len() >= EMBED_BATCH {
            break;
        }
        addresses.extend(load_block(&db, header)?.addresses_without_vector(model));
    }
    Ok(addresses)
}

fn put(db: ScopeDb<'_>, model: &EmbeddingModelId, embeddings: Vec<NewEmbedding>) -> Result<()> {
    let Some((number, _)) = current_model(&db)?.filter(|(_, in_use)| in_use == model) else {
        return Err(Error::invalid(
            format!("`{model}` is not the model in use"),
            "switch to it first",
        ));
    };
    let mut vectors: HashMap<DocAddress, Vec<u8>> = HashMap::new();
    for NewEmbedding { id, version, vector } in embeddings {
        let row = rows::by_id(db, id)?;
        if let Some(row) = row.filter(|row| row.memory.version == version) {
            vectors.insert(row.address, vector.to_bytes());
        }
    }
    put_in_tail(db, number, &vectors)?;
    for header in headers(db)?.iter().filter(|header| header.lacks_vectors(number)) {
        put_in_block(db, header, number, &vectors)?;
    }
    Ok(())
}

/// Scores half of the vectors of each block against a query; `None` if one of the blocks is no longer there.
pub(super) fn similarities(
    db: ScopeDb<'_>,
    blocks: &[i64],
    query: &Vector,
    half: BlockHalf,
) -> Result<Option<Vec<Vec<f32>>>> {
    let mut all = Vec::with_capacity(blocks.len());
    for block in blocks {
        let sql = "SELECT 1 FROM blocks WHERE id = ?1 AND scope = ?2";
        if !db.finds(sql, (block, db.id))? {
            return Ok(None);
        }
        let mut scores = Vec::new();
        for_each_vector_row(&db, *block, half, |row| scores.extend(score_vectors(row, query)))?;
        all.push(scores);
    }
    Ok(Some(all))
}

/// Returns `true` if the entry at an address of the tail has a vector.
pub(super) fn tail_has_vector(db: ScopeDb<'_>, address: DocAddress) -> Result<bool> {
    let sql = "SELECT 1 FROM tail WHERE scope = ?1 AND place = ?2 AND vector IS NOT NULL";
    db.finds(sql, (db.id, address.to_bits() as i64))
}

/// Clears the vector of a document of a block and returns `true` if there was one.
pub(super) fn clear_vector(db: &Connection, block: i64, doc: u32) -> Result<bool> {
    let per_row = LAYOUT.vectors_per_row;
    let (row, index) = (doc as usize / per_row, doc as usize % per_row);
    let (Some(header), Some(mut vectors)) = (header(db, block)?, load_vectors(db, block, row)?)
    else {
        return Ok(false);
    };
    let size = vectors.len() / header.docs.saturating_sub(row * per_row).clamp(1, per_row);
    let vector = vectors.get_mut(index * size..(index + 1) * size);
    let vector = vector.ok_or_else(|| damaged_block(block))?;
    let existed = vector.iter().any(|byte| *byte != 0);
    vector.fill(0);
    update_vectors(db, block, row, &vectors)?;
    Ok(existed)
}

fn tail_without_vector(db: ScopeDb<'_>, model: u32) -> Result<Vec<DocAddress>> {
    let sql = "SELECT place FROM tail WHERE scope = ?1 AND model <> ?2 ORDER BY place";
    let bits: Vec<i64> = db.all(sql, (db.id, model), |row| row.get(0))?;
    Ok(bits.into_iter().map(|bits| DocAddress::from_bits(bits as u64)).collect())
}

fn put_in_tail(db: ScopeDb<'_>, model: u32, vectors: &HashMap<DocAddress, Vec<u8>>) -> Result<()> {
    let sql = "UPDATE tail SET model = ?3, vector = ?4 WHERE scope = ?1 AND place = ?2";
    for address in tail_without_vector(db, model)? {
        if let Some(vector) = vectors.get(&address) {
            db.run(sql, params![db.id, address.to_bits() as i64, model, vector])?;
        }
    }
    Ok(())
}

fn put_in_block(
    db: ScopeDb<'_>,
    header: &BlockHeader,
    model: u32,
    vectors: &HashMap<DocAddress, Vec<u8>>,
) -> Result<()> {
    let Some(block) = load_block(&db, header)?.with_new_vectors(model, vectors, &LAYOUT) else {
        return Ok(());
    };
    drop_block(&db, header.id)?;
    store_block(db, &block)
}
