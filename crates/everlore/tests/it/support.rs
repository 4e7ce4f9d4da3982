//! What the tests share: frozen clocks, engines on both stores, memories with their values in sight.

use std::{
    cell::RefCell,
    path::{Path, PathBuf},
    sync::Arc,
};

use tempfile::TempDir;

use everlore::{
    Engine, Kind, Memory, MemoryId, RememberRequest, Scope, Status, Turn,
    ingest::SavedMemory,
    recall::Hit,
    store::{ListOrder, ListQuery, MemoryFilter, RamStore, SqliteStore, Store},
    types::{Actor, Change, MemorySource, Origin, Timestamp, WriteBatch},
};

/// Monday, 2 March 2026, noon.
pub(crate) const NOON: i64 = 1_772_452_800;

/// A day in seconds.
pub(crate) const DAY: i64 = 86_400;

/// The clock of every engine here, unless a test turns it on.
pub(crate) fn noon() -> Timestamp {
    at(NOON)
}

/// The same an hour later.
pub(crate) fn one_o_clock() -> Timestamp {
    at(NOON + 3_600)
}

pub(crate) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

pub(crate) fn days_ago(days: i64) -> Timestamp {
    at(NOON - days * DAY)
}

pub(crate) fn scope(user: &str) -> Scope {
    Scope::new("tester", user).unwrap()
}

/// An empty file in a folder of its own, which is kept for the rest of the test process.
pub(crate) fn fresh_path() -> PathBuf {
    fresh_folder().join("everlore.db")
}

thread_local! {
    /// Folders of the test that runs on this thread; they are removed when it ends.
    static FOLDERS: RefCell<Vec<TempDir>> = const { RefCell::new(Vec::new()) };
}

/// Makes a folder that lasts as long as the test.
pub(crate) fn fresh_folder() -> PathBuf {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    FOLDERS.with_borrow_mut(|folders| folders.push(folder));
    path
}

/// Waits until background work has rebuilt every stale index.
pub(crate) async fn until_indexes_are_current(store: &SqliteStore) {
    while !store.index().stale_scopes().await.unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
}

pub(crate) async fn sqlite() -> Arc<SqliteStore> {
    Arc::new(SqliteStore::open(fresh_path()).await.unwrap())
}

pub(crate) fn engine_on(store: Arc<dyn Store>) -> Engine {
    Engine::builder(store).clock(noon).build()
}

/// An engine on this file, with its store.
pub(crate) async fn open(path: &Path) -> (Arc<SqliteStore>, Engine) {
    let store = Arc::new(SqliteStore::open(path).await.unwrap());
    (Arc::clone(&store), engine_on(store))
}

/// An engine on a file.
pub(crate) async fn engine() -> Engine {
    engine_on(sqlite().await)
}

/// An engine in RAM.
pub(crate) fn ram() -> Engine {
    engine_on(Arc::new(RamStore::default()))
}

pub(crate) fn say(content: &str) -> RememberRequest {
    RememberRequest { content: content.into(), ..RememberRequest::default() }
}

pub(crate) fn turn(session: &str, speaker: &str, text: &str) -> Turn {
    let some = |name: &str| Some(name.to_owned()).filter(|name| !name.is_empty());
    Turn { text: text.into(), session: some(session), speaker: some(speaker), ..Turn::default() }
}

/// Stores each text as a statement and returns the answers.
pub(crate) async fn remember_all(
    engine: &Engine,
    owner: &Scope,
    texts: &[&str],
) -> Vec<SavedMemory> {
    let mut saved = Vec::new();
    for text in texts {
        saved.push(engine.remember(owner, say(text)).await.unwrap());
    }
    saved
}

/// The texts that a query finds, best first.
pub(crate) async fn found(engine: &Engine, owner: &Scope, query: &str) -> Vec<String> {
    texts(&engine.recall(&engine.request(owner, query)).await.unwrap().hits)
}

pub(crate) fn texts(hits: &[Hit]) -> Vec<String> {
    hits.iter().map(|hit| hit.memory.content.clone()).collect()
}

/// Everything a scope has, oldest first.
pub(crate) async fn all(engine: &Engine, owner: &Scope) -> Vec<Memory> {
    let page = ListQuery {
        filter: MemoryFilter::default(),
        after: None,
        order: ListOrder::OldestFirst,
        limit: 100_000,
    };
    engine.list(owner, &page).await.unwrap()
}

/// The first and the last bytes of an id tell memories apart; ids rise with the number.
pub(crate) fn id(number: u32) -> MemoryId {
    let mut bytes = [7; 16];
    bytes[..4].copy_from_slice(&number.to_be_bytes());
    MemoryId::from_bytes(bytes)
}

/// A statement as a store keeps it.
pub(crate) fn memory(owner: &Scope, number: u32, content: &str) -> Memory {
    let source = MemorySource {
        via: Origin::Remember,
        session: None,
        speaker: None,
        role: None,
        turns: Vec::new(),
    };
    Memory {
        id: id(number),
        uri: format!("agent://{}/user/{number}", owner.agent()),
        scope: owner.clone(),
        kind: Kind::User,
        name: String::new(),
        description: String::new(),
        content: content.into(),
        tags: Vec::new(),
        importance: 0.5,
        confidence: 1.0,
        weight: 1.0,
        status: Status::Active,
        metadata: serde_json::Map::new(),
        source,
        at: noon(),
        created_at: noon(),
        updated_at: noon(),
        last_used_at: None,
        superseded_by: None,
        version: 1,
    }
}

/// A turn as a store keeps it.
pub(crate) fn spoken(owner: &Scope, number: u32, session: &str, content: &str) -> Memory {
    let mut turn = memory(owner, number, content);
    turn.kind = Kind::Turn;
    turn.uri = format!("agent://{}/turn/{session}/{}", owner.agent(), turn.id);
    turn.source.session = Some(session.into());
    turn.source.via = Origin::Observe;
    turn
}

pub(crate) fn add(memory: &Memory) -> Change {
    Change::Add(Box::new(memory.clone()))
}

pub(crate) fn write(owner: &Scope, changes: Vec<Change>) -> WriteBatch {
    WriteBatch::new(owner, Actor::Person, "test", noon(), changes)
}
