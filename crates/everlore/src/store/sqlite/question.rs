//! What a question reads of a scope: the postings of its terms, the records, and the vectors or how similar they are.
//!
//! What can change is read at one moment; blocks never change, so that two threads may read those of a large scope.

use std::sync::Arc;

use rusqlite::Connection;

use super::{
    SqliteStore,
    blocks::{Half, Header, exists, headers, load_gone, load_packed, load_slots, term_postings},
    cache::{Cache, Cached, CachedSlots, MAX_BYTES},
    index::tail,
    scope_number, vectors,
};
use crate::{
    error::Result,
    store::{
        Segment, Slots,
        entry::{IndexEntry, segment_of},
        segment::{Docs, Run, slot_bytes},
    },
    text::terms::Term,
    types::{ModelId, Scope, Vector},
};

/// Documents of a block whose vectors are not read for one question: about a megabyte of them.
const LARGE_DOCS: usize = 4_096;

/// Bytes of a scope's vectors that are kept between questions: most of the cache, the rest of which is for records.
const MAX_SLOTS_BYTES: usize = MAX_BYTES / 4 * 3;

/// Documents that are worth a second thread: reading them takes several times as long as opening the file once more.
const SHARED_DOCS: usize = 40_000;

/// What is asked.
pub(super) struct Asked {
    pub(super) terms: Vec<Term>,
    pub(super) model: Option<ModelId>,
}

/// What can change of a scope's index, as it was at one moment.
struct Frame {
    blocks: Vec<Seen>,
    tail: Vec<IndexEntry>,
    /// The asked model, if it is in use.
    model: Option<Wanted>,
}

/// The model whose vectors are asked for.
#[derive(Clone, Copy)]
struct Wanted {
    number: u32,
    /// How many numbers a vector has.
    dimensions: usize,
    /// Whether those of the scope may be kept: all of them fit, so that one question does not push out what another read.
    kept: bool,
}

/// A block with the documents of it that are gone.
#[derive(Clone)]
struct Seen {
    header: Header,
    gone: Vec<u32>,
}

/// How far one reader came.
enum Begun {
    /// It is done.
    Done(Vec<Segment>),
    /// There is enough to read for two.
    Large(Box<Frame>),
}

impl Default for Begun {
    fn default() -> Self {
        Self::Done(Vec::new())
    }
}

impl SqliteStore {
    /// Everything a query needs of the scope.
    pub(super) async fn read_postings(&self, scope: &Scope, asked: Asked) -> Result<Vec<Segment>> {
        let (asked, cache) = (Arc::new(asked), Arc::clone(&self.cache));
        let first = {
            let (asked, cache) = (Arc::clone(&asked), Arc::clone(&cache));
            self.read(scope, move |db, number| begin(db, number, &asked, &cache))
        };
        let frame = match first.await? {
            Begun::Done(segments) => return Ok(segments),
            Begun::Large(frame) => frame,
        };
        if let Some(segments) = self.read_shared(&asked, *frame).await? {
            return Ok(segments);
        }
        // Blocks were merged meanwhile.
        self.read(scope, move |db, number| {
            Frame::read(db, number, &asked)?.segments(db, &asked, &cache)
        })
        .await
    }

    /// Reads the blocks with two threads; none if one of them is no longer there.
    async fn read_shared(
        &self,
        asked: &Arc<Asked>,
        Frame { blocks, tail, model }: Frame,
    ) -> Result<Option<Vec<Segment>>> {
        let read = |part: Vec<(usize, Seen)>| {
            let (asked, cache) = (Arc::clone(asked), Arc::clone(&self.cache));
            self.pool.read_much(move |db| {
                let segment = |(place, seen): &(usize, Seen)| match exists(db, seen.header.id)? {
                    true => segment(db, seen, &asked, model, &cache).map(|one| Some((*place, one))),
                    false => Ok(None),
                };
                part.iter().map(segment).collect::<Result<Option<Vec<_>>>>()
            })
        };
        let [one, other] = halves(blocks);
        let (one, other) = tokio::try_join!(read(one), read(other))?;
        let (Some(one), Some(other)) = (one, other) else { return Ok(None) };
        let mut all = [one, other].concat();
        all.sort_by_key(|(place, _)| *place);
        let blocks = all.into_iter().map(|(_, segment)| segment).collect();
        Ok(Some(with_tail(blocks, &tail, asked, model)))
    }

    /// How similar the vectors of these blocks are to a question; none if one of them is no longer there.
    pub(super) async fn compare(
        &self,
        scope: &Scope,
        blocks: &[i64],
        question: &Vector,
    ) -> Result<Option<Vec<Vec<f32>>>> {
        let compare = |half: Half| {
            let (scope, blocks, question) = (scope.clone(), blocks.to_vec(), question.clone());
            self.pool.read_much(move |db| match scope_number(db, &scope)? {
                Some(number) => vectors::similarities(db, number, &blocks, &question, half),
                None => Ok(None),
            })
        };
        // Two threads share every block: a question that asks the store itself has somebody waiting.
        let (first, second) = tokio::try_join!(compare(Half::First), compare(Half::Second))?;
        let whole = |(first, second): (Vec<f32>, Vec<f32>)| [first, second].concat();
        Ok(first
            .zip(second)
            .map(|(first, second)| first.into_iter().zip(second).map(whole).collect()))
    }
}

/// Reads everything, unless there is enough for two.
fn begin(db: &Connection, scope: i64, asked: &Asked, cache: &Cache) -> Result<Begun> {
    let frame = Frame::read(db, scope, asked)?;
    match frame.unread_docs(cache) {
        SHARED_DOCS.. => Ok(Begun::Large(Box::new(frame))),
        _ => frame.segments(db, asked, cache).map(Begun::Done),
    }
}

impl Frame {
    fn read(db: &Connection, scope: i64, asked: &Asked) -> Result<Self> {
        let in_use = vectors::in_use(db)?.filter(|(_, model)| Some(model) == asked.model.as_ref());
        let seen = |header: Header| Ok(Seen { gone: load_gone(db, header.id)?, header });
        let blocks = headers(db, scope)?.into_iter().map(seen).collect::<Result<Vec<_>>>()?;
        let docs: usize = blocks.iter().map(|seen| seen.header.docs).sum();
        let wanted = |(number, ModelId { dimensions, .. })| Wanted {
            number,
            dimensions,
            kept: docs * slot_bytes(dimensions) <= MAX_SLOTS_BYTES,
        };
        Ok(Self { blocks, tail: tail(db, scope)?, model: in_use.map(wanted) })
    }

    /// Documents of blocks that are to be read.
    fn unread_docs(&self, cache: &Cache) -> usize {
        let unread = |seen: &&Seen| {
            let with_slots =
                self.model.is_some_and(|model| model.kept && model.number == seen.header.model);
            cache.get(seen.header.id).is_none_or(|known| with_slots && !known.has_slots())
        };
        self.blocks.iter().filter(unread).map(|seen| seen.header.docs).sum()
    }

    /// All segments, read one after the other.
    fn segments(self, db: &Connection, asked: &Asked, cache: &Cache) -> Result<Vec<Segment>> {
        let Self { blocks, tail, model } = self;
        let blocks = blocks.iter().map(|seen| segment(db, seen, asked, model, cache));
        Ok(with_tail(blocks.collect::<Result<_>>()?, &tail, asked, model))
    }
}

/// Blocks with their places, shared out so that both halves have about as many documents.
fn halves(blocks: Vec<Seen>) -> [Vec<(usize, Seen)>; 2] {
    let mut all: Vec<_> = blocks.into_iter().enumerate().collect();
    all.sort_by_key(|(_, seen)| std::cmp::Reverse(seen.header.docs));
    let (mut halves, mut docs) = ([Vec::new(), Vec::new()], [0, 0]);
    for (place, seen) in all {
        let lesser = usize::from(docs[1] < docs[0]);
        docs[lesser] += seen.header.docs;
        halves[lesser].push((place, seen));
    }
    halves
}

fn with_tail(
    mut segments: Vec<Segment>,
    tail: &[IndexEntry],
    asked: &Asked,
    model: Option<Wanted>,
) -> Vec<Segment> {
    if !tail.is_empty() {
        let model = model.map(|model| (model.number, model.dimensions));
        segments.push(segment_of(tail, &asked.terms, model));
    }
    segments
}

fn segment(
    db: &Connection,
    Seen { header, gone }: &Seen,
    asked: &Asked,
    model: Option<Wanted>,
    cache: &Cache,
) -> Result<Segment> {
    let model = model.filter(|model| header.model == model.number);
    let cached = cached_block(db, header, model, cache)?;
    let docs = Docs::shared(cached.docs, gone.clone());
    let mut postings = term_postings(db, header, &asked.terms)?;
    for list in &mut postings {
        list.retain(|posting| {
            (posting.doc as usize) < docs.len() && !docs.is_gone(posting.doc as usize)
        });
    }
    let slots = model.map(|model| match cached.slots {
        CachedSlots::Held(slots) => Slots::new(slots, model.dimensions),
        CachedSlots::Unasked | CachedSlots::AskedOnce => Slots::Stored(header.id),
    });
    Ok(Segment { docs, postings, slots })
}

/// What never changes of a block. The vectors of a large one are read when they are asked for again: a process that asks
/// one question is done sooner, and takes less memory, when it compares them where they are.
fn cached_block(
    db: &Connection,
    header: &Header,
    model: Option<Wanted>,
    cache: &Cache,
) -> Result<Cached> {
    let known = cache.get(header.id);
    let held = |known: &&Cached| model.is_none() || known.has_slots();
    if let Some(known) = known.as_ref().filter(held) {
        return Ok(known.clone());
    }
    let again = matches!(&known, Some(Cached { slots: CachedSlots::AskedOnce, .. }));
    let slots = match model {
        None => CachedSlots::Unasked,
        Some(model) if header.docs >= LARGE_DOCS && !(again && model.kept) => {
            CachedSlots::AskedOnce
        }
        Some(_) => CachedSlots::Held(Arc::new(load_slots(db, header.id)?)),
    };
    let docs = match known {
        Some(known) => known.docs,
        None => Arc::new(Run::new(load_packed(db, header.id)?)),
    };
    let cached = Cached { docs, slots };
    cache.put(header.id, cached.clone());
    Ok(cached)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Engine, Turn, llm::Builtin, store::Store};

    /// A store with blocks of several sizes, documents that are gone, vectors and a tail.
    async fn filled() -> (Arc<SqliteStore>, Scope) {
        let folder = tempfile::tempdir().unwrap().keep();
        let store = Arc::new(SqliteStore::open(folder.join("everlore.db")).await.unwrap());
        let engine = Engine::new(store.clone()).with_embedder(Arc::new(Builtin::new()));
        let scope = Scope::default();
        for count in [300, 70, 200, 5] {
            let said = |n| Turn { text: format!("tea {n} 茶"), ..Turn::default() };
            let stored = engine.observe(&scope, (0..count).map(said).collect()).await.unwrap();
            engine.delete(&scope, stored[3].id).await.unwrap();
        }
        (store, scope)
    }

    fn asked() -> Asked {
        let terms = ["tea", "7", "茶"].map(Term::of).to_vec();
        Asked { terms, model: Some(crate::llm::Embedder::model(&Builtin::new()).clone()) }
    }

    async fn frame(store: &SqliteStore, scope: &Scope) -> Frame {
        let read = |db: &Connection, number| Frame::read(db, number, &asked()).map(Some);
        store.read(scope, read).await.unwrap().unwrap()
    }

    #[tokio::test]
    async fn two_threads_read_what_one_reads() {
        let (store, scope) = filled().await;
        let whole = store.read_postings(&scope, asked()).await.unwrap();
        assert!(whole.len() > 2 && whole.iter().any(|segment| !segment.docs.gone().is_empty()));
        let frame = frame(&store, &scope).await;
        let fresh = SqliteStore::open(store.path()).await.unwrap();
        let shared = fresh.read_shared(&Arc::new(asked()), frame).await.unwrap();
        assert_eq!(shared, Some(whole));
    }

    #[tokio::test]
    async fn blocks_that_were_merged_meanwhile_are_not_answered_from() {
        let (store, scope) = filled().await;
        let frame = frame(&store, &scope).await;
        store.reindex(&scope).await.unwrap();
        let shared = store.read_shared(&Arc::new(asked()), frame).await.unwrap();
        assert_eq!(shared, None);
    }

    #[tokio::test]
    async fn vectors_of_a_scope_that_does_not_fit_stay_where_they_are() {
        let folder = tempfile::tempdir().unwrap().keep();
        let store = Arc::new(SqliteStore::open(folder.join("everlore.db")).await.unwrap());
        let engine = Engine::new(store.clone()).with_embedder(Arc::new(Builtin::new()));
        let scope = Scope::default();
        let said = |n| Turn { text: format!("tea {n} 茶"), ..Turn::default() };
        engine.observe(&scope, (0..LARGE_DOCS).map(said).collect()).await.unwrap();
        let Frame { blocks, model, .. } = frame(&store, &scope).await;
        let read = move |db: &Connection| {
            let mut held = Vec::new();
            for kept in [false, true] {
                let cache = Cache::default();
                let wanted = model.map(|model| Wanted { kept, ..model });
                for _ in 0..3 {
                    let one = segment(db, &blocks[0], &asked(), wanted, &cache)?;
                    held.push(matches!(one.slots, Some(Slots::Held { .. })));
                }
            }
            Ok(held)
        };
        let held = store.pool.read(read).await.unwrap();
        assert_eq!(held, [false, false, false, false, true, true]);
    }
}
