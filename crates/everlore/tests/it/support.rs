//! Shared fixtures: frozen clocks, engines on both stores, memories with their values in sight, seeds.

use std::{
    cell::RefCell,
    hash::{BuildHasher, RandomState},
    path::{Path, PathBuf},
    sync::Arc,
};

use everlore::{
    Engine, Hit, Kind, Memory, MemoryId, RememberRequest, Scope, Status, Turn,
    engine::SavedMemory,
    store::{ListOrder, ListQuery, MemoryFilter, RamStore, SqliteStore, Store},
    types::{Actor, Change, MemorySource, Origin, Timestamp, WriteBatch},
};
use tempfile::TempDir;

/// Monday, 2 March 2026, noon.
pub(crate) const NOON: i64 = 1_772_452_800;

/// Seconds of a day.
pub(crate) const DAY: i64 = 86_400;

/// Environment variable with the seed of randomized tests.
const SEED: &str = "EVERLORE_TEST_SEED";

thread_local! {
    /// Folders of the test on this thread, deleted when the thread ends.
    static FOLDERS: RefCell<Vec<TempDir>> = const { RefCell::new(Vec::new()) };
}

/// Frozen clock of every engine here, unless a test replaces it.
pub(crate) fn noon() -> Timestamp {
    at(NOON)
}

/// Frozen clock an hour later.
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

/// Creates a folder that is deleted when the test ends.
pub(crate) fn temp_folder() -> PathBuf {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    FOLDERS.with_borrow_mut(|folders| folders.push(folder));
    path
}

/// Returns the path of a new database in its own folder.
pub(crate) fn fresh_path() -> PathBuf {
    temp_folder().join("everlore.db")
}

/// Returns the seed of a randomized test: `EVERLORE_TEST_SEED` if it is set, otherwise a random one. Prints it, so that
/// a failure shows the value to set.
#[expect(clippy::print_stdout, reason = "the output of a failed test names its seed")]
pub(crate) fn seed() -> u64 {
    let given = std::env::var(SEED).ok();
    let seed = match &given {
        Some(text) => text.parse().unwrap_or_else(|_| panic!("{SEED}={text} is no number")),
        None => RandomState::new().hash_one(SEED),
    };
    println!("{SEED}={seed}");
    seed
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

/// Opens an engine on this file and returns it with its store.
pub(crate) async fn open(path: &Path) -> (Arc<SqliteStore>, Engine) {
    let store = Arc::new(SqliteStore::open(path).await.unwrap());
    (Arc::clone(&store), engine_on(store))
}

/// Creates an engine on a new SQLite file.
pub(crate) async fn engine() -> Engine {
    engine_on(sqlite().await)
}

/// Creates an engine on a RAM store.
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

/// Stores each text as a statement and returns the receipts.
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

/// Returns the texts that a query finds, best first.
pub(crate) async fn found(engine: &Engine, owner: &Scope, query: &str) -> Vec<String> {
    texts(&engine.recall(&engine.recall_request(owner, query)).await.unwrap().hits)
}

pub(crate) fn texts(hits: &[Hit]) -> Vec<String> {
    hits.iter().map(|hit| hit.memory.content.clone()).collect()
}

/// Returns all memories of a scope, oldest first.
pub(crate) async fn all(engine: &Engine, owner: &Scope) -> Vec<Memory> {
    let page = ListQuery {
        filter: MemoryFilter::default(),
        after: None,
        order: ListOrder::OldestFirst,
        limit: 100_000,
    };
    engine.list(owner, &page).await.unwrap()
}

/// Returns the id of a number; ids rise with the number and differ in their first bytes.
pub(crate) fn id(number: u32) -> MemoryId {
    let mut bytes = [7; 16];
    bytes[..4].copy_from_slice(&number.to_be_bytes());
    bytes[10..14].copy_from_slice(&number.to_be_bytes());
    MemoryId::from_bytes(bytes)
}

/// Builds a stored statement.
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

/// Builds a stored turn.
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
