//! Vectors in the file: which model is in use, what is still to be embedded, and adding what was.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, params};

use super::{
    block_tables::{
        BlockHalf, BlockHeader, ROW_IDS_PER_BLOCK, drop_block, for_each_vector_row, headers,
        load_block, store_block,
    },
    failed, rows,
};
use crate::{
    error::{Error, Result},
    store::{
        DocAddress, EMBED_BATCH, NewEmbedding,
        index_block::{IndexBlock, VECTORS_PER_ROW},
        segment::similarities as similarities_of,
    },
    types::{ChangeVectors, EmbeddingModelId, Memory, Scope, Vector},
};

/// The model in use with its number.
pub(super) fn current_model(db: &Connection) -> Result<Option<(u32, EmbeddingModelId)>> {
    let sql = "SELECT models.id, name, dimensions FROM meta JOIN models ON models.id = value WHERE key = 'model'";
    let mut statement = db.prepare_cached(sql).map_err(failed)?;
    let mut rows = statement.query([]).map_err(failed)?;
    let Some(row) = rows.next().map_err(failed)? else { return Ok(None) };
    let (number, name, dimensions): (u32, String, i64) = row.try_into().map_err(failed)?;
    Ok(Some((number, EmbeddingModelId { name, dimensions: dimensions as usize })))
}

/// The number of the model in use; 0 if there is none.
pub(super) fn current_model_number(db: &Connection) -> Result<u32> {
    Ok(current_model(db)?.map_or(0, |(number, _)| number))
}

/// Takes a model into use and returns its number.
pub(super) fn set_embedding_model(db: &Connection, model: &EmbeddingModelId) -> Result<u32> {
    let number = register_model(db, model)?;
    db.execute("INSERT OR REPLACE INTO meta VALUES ('model', ?1)", [number]).map_err(failed)?;
    Ok(number)
}

/// The number of a model, which is given one if it is new.
pub(super) fn register_model(db: &Connection, model: &EmbeddingModelId) -> Result<u32> {
    db.execute(
        "INSERT INTO models (name, dimensions) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
        params![model.name, model.dimensions as i64],
    )
    .map_err(failed)?;
    let (number, dimensions): (u32, i64) = db
        .query_row("SELECT id, dimensions FROM models WHERE name = ?1", [&model.name], |row| {
            row.try_into()
        })
        .map_err(failed)?;
    if dimensions as usize != model.dimensions {
        return Err(Error::invalid(
            format!("model `{model}` had {dimensions} dimensions and now has {}", model.dimensions),
            "give another model another name",
        ));
    }
    Ok(number)
}

/// The number of the model of a write's vectors, if it is the one in use; the first model that writes is.
pub(super) fn model_number_for(
    db: &Connection,
    vectors: Option<&ChangeVectors>,
) -> Result<Option<u32>> {
    let Some(vectors) = vectors else { return Ok(None) };
    match current_model(db)? {
        None => set_embedding_model(db, &vectors.model).map(Some),
        Some((number, in_use)) => Ok((in_use == vectors.model).then_some(number)),
    }
}

/// How many memories have a vector of the model in use, and how many have none.
pub(super) fn embedding_counts(db: &Connection) -> Result<(usize, usize)> {
    let number = current_model(db)?.map_or(u32::MAX, |(number, _)| number);
    let count = |sql: &str| db.query_row(sql, [number], |row| row.get::<_, i64>(0)).map_err(failed);
    let living = "docs - (SELECT count(*) FROM block_gone WHERE block = blocks.id)";
    let sealed = count(&format!("SELECT coalesce(sum({living}), 0) FROM blocks WHERE model = ?1"))?;
    let unmade = count("SELECT coalesce(sum(unmade), 0) FROM blocks WHERE model = ?1")?;
    let made = sealed - unmade + count("SELECT count(*) FROM tail WHERE model = ?1")?;
    let other = count(&format!("SELECT coalesce(sum({living}), 0) FROM blocks WHERE model <> ?1"))?;
    let waiting = unmade + other + count("SELECT count(*) FROM tail WHERE model <> ?1")?;
    Ok((made as usize, waiting as usize))
}

/// Some memories of one scope, of this one if it is given, that have no vector of the model in use.
pub(super) fn missing_embeddings(db: &Connection, scope: Option<Scope>) -> Result<Vec<Memory>> {
    let Some((number, _)) = current_model(db)? else { return Ok(Vec::new()) };
    for owner in scope.map_or_else(|| rows::scopes(db), |scope| Ok(vec![scope]))? {
        let Some(scope) = super::scope_number(db, &owner)? else { continue };
        let mut places = tail_missing_vectors(db, scope, number)?;
        for header in headers(db, scope)?.iter().filter(|header| header.lacks_vectors_of(number)) {
            if places.len() >= EMBED_BATCH {
                break;
            }
            let block = load_block(db, header)?;
            let waits = |&doc: &usize| {
                !block.docs.is_deleted(doc) && block.vector_of_model(doc, number).is_none()
            };
            places.extend((0..block.docs.len()).filter(waits).map(|doc| block.docs.address(doc)));
        }
        if !places.is_empty() {
            let found = rows::by_address(db, &owner, scope, &places)?;
            return Ok(found.into_iter().map(|(_, memory)| memory).collect());
        }
    }
    Ok(Vec::new())
}

/// Adds vectors to the tail and to the blocks all of whose memories have one now.
pub(super) fn put_embeddings(
    db: &Connection,
    owner: &Scope,
    scope: i64,
    model: &EmbeddingModelId,
    made: Vec<NewEmbedding>,
) -> Result<()> {
    let Some((number, _)) = current_model(db)?.filter(|(_, in_use)| in_use == model) else {
        return Err(Error::invalid(
            format!("`{model}` is not the model in use"),
            "switch to it first",
        ));
    };
    let mut slots: HashMap<DocAddress, Vec<u8>> = HashMap::new();
    for NewEmbedding { id, version, vector } in made {
        let stored = rows::by_id(db, owner, scope, id)?;
        if let Some(stored) = stored.filter(|stored| stored.memory.version == version) {
            slots.insert(stored.address, vector.to_bytes());
        }
    }
    embed_tail(db, scope, number, &slots)?;
    for header in headers(db, scope)?.iter().filter(|header| header.lacks_vectors_of(number)) {
        embed_block(db, scope, header, number, &slots)?;
    }
    Ok(())
}

/// How similar the vectors of blocks are to a question; none if one of the blocks is no longer there.
pub(super) fn similarities(
    db: &Connection,
    scope: i64,
    blocks: &[i64],
    question: &Vector,
    half: BlockHalf,
) -> Result<Option<Vec<Vec<f32>>>> {
    let mut all = Vec::with_capacity(blocks.len());
    for block in blocks {
        let docs = db
            .prepare_cached("SELECT docs FROM blocks WHERE id = ?1 AND scope = ?2")
            .and_then(|mut select| {
                select.query_row((block, scope), |row| row.get::<_, i64>(0)).optional()
            })
            .map_err(failed)?;
        let Some(docs) = docs else { return Ok(None) };
        let mut compared = Vec::with_capacity(docs as usize);
        let mut compare = |slots: &[u8]| compared.extend(similarities_of(slots, question));
        for_each_vector_row(db, *block, half, &mut compare)?;
        all.push(compared);
    }
    Ok(Some(all))
}

/// Whether the entry at a place of the tail has a vector.
pub(super) fn tail_has_vector(db: &Connection, scope: i64, place: DocAddress) -> Result<bool> {
    db.prepare_cached("SELECT 1 FROM tail WHERE scope = ?1 AND place = ?2 AND vector IS NOT NULL")
        .and_then(|mut statement| statement.exists((scope, place.to_bits() as i64)))
        .map_err(failed)
}

/// Empties the slot of a document and tells whether there was a vector in it.
pub(super) fn clear_vector(db: &Connection, block: i64, doc: u32) -> Result<bool> {
    let id = block * ROW_IDS_PER_BLOCK + i64::from(doc) / VECTORS_PER_ROW as i64;
    let found = db
        .query_row(
            "SELECT slots, docs FROM block_vectors, blocks WHERE block_vectors.id = ?1 AND blocks.id = ?2",
            (id, block),
            |row| Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, i64>(1)?)),
        )
        .optional()
        .map_err(failed)?;
    let Some((mut slots, docs)) = found else { return Ok(false) };
    let (row, index) = (doc as usize / VECTORS_PER_ROW, doc as usize % VECTORS_PER_ROW);
    let size = slots.len() / (docs as usize - row * VECTORS_PER_ROW).clamp(1, VECTORS_PER_ROW);
    let slot = &mut slots[index * size..(index + 1) * size];
    let had = slot.iter().any(|byte| *byte != 0);
    slot.fill(0);
    db.execute("UPDATE block_vectors SET slots = ?2 WHERE id = ?1", params![id, slots])
        .map_err(failed)?;
    Ok(had)
}

fn tail_missing_vectors(db: &Connection, scope: i64, number: u32) -> Result<Vec<DocAddress>> {
    let mut statement = db
        .prepare_cached("SELECT place FROM tail WHERE scope = ?1 AND model <> ?2 ORDER BY place")
        .map_err(failed)?;
    let rows = statement.query_map((scope, number), |row| row.get::<_, i64>(0)).map_err(failed)?;
    rows.map(|place| place.map(|place| DocAddress::from_bits(place as u64)).map_err(failed))
        .collect()
}

fn embed_tail(
    db: &Connection,
    scope: i64,
    number: u32,
    slots: &HashMap<DocAddress, Vec<u8>>,
) -> Result<()> {
    let mut update = db
        .prepare_cached("UPDATE tail SET model = ?3, vector = ?4 WHERE scope = ?1 AND place = ?2")
        .map_err(failed)?;
    for place in tail_missing_vectors(db, scope, number)? {
        if let Some(slot) = slots.get(&place) {
            update.execute(params![scope, place.to_bits() as i64, number, slot]).map_err(failed)?;
        }
    }
    Ok(())
}

/// Writes a block anew with the vectors that were made for it.
fn embed_block(
    db: &Connection,
    scope: i64,
    header: &BlockHeader,
    number: u32,
    slots: &HashMap<DocAddress, Vec<u8>>,
) -> Result<()> {
    let block = load_block(db, header)?;
    let waits =
        |doc: usize| !block.docs.is_deleted(doc) && block.vector_of_model(doc, number).is_none();
    let gains = |doc: usize| waits(doc) && slots.contains_key(&block.docs.address(doc));
    if !(0..block.docs.len()).any(gains) {
        return Ok(());
    }
    let made = |doc: usize| match block.vector_of_model(doc, number) {
        Some(slot) => Some(slot.to_vec()),
        None => slots.get(&block.docs.address(doc)).cloned(),
    };
    let made = (0..block.docs.len()).map(made).collect();
    drop_block(db, header.id)?;
    // Merging it with nothing leaves out what is gone.
    store_block(db, scope, &IndexBlock::merge(&[block.with_vectors(number, made)], number))
}

impl BlockHeader {
    /// Whether some vectors of the model of this number are still to be made.
    fn lacks_vectors_of(&self, number: u32) -> bool {
        self.model != number || self.missing_vectors > 0
    }
}

impl IndexBlock {
    /// The slot of a document's vector, if the model of this number made it.
    fn vector_of_model(&self, doc: usize, number: u32) -> Option<&[u8]> {
        if self.model == number { self.vector(doc) } else { None }
    }
}
