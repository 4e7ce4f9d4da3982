//! The work of reading a page of the file tree does not grow with the memories that are not on it.

use std::{path::Path, sync::Arc};

use super::*;
use crate::{
    store::{SqliteStore, sqlite::vm_steps},
    types::{Actor, Change, Memory, MemorySource, Origin, WriteBatch},
};

/// Folders of each home.
const TOPICS: u32 = 20;

/// Entries of a page.
const LIMIT: usize = 10;

/// Memories of the two homes.
const LARGE: u32 = 4_000;
const SMALL: u32 = 400;

async fn home(engine: &Engine, user: &str, count: u32) -> Scope {
    let scope = Scope::new("tester", user).unwrap();
    let now = Timestamp::UNIX_EPOCH;
    let fact = |number: u32| {
        let source = MemorySource::new(Origin::Remember);
        let text = format!("fact number {number} 关于茶");
        let mut memory = Memory::with_content(&scope, Kind::User, text, source, now, now);
        memory.uri = format!("agent://tester/user/topic-{}/fact-{number:05}", number % TOPICS);
        Change::Add(Box::new(memory))
    };
    let changes = (1..=count).map(fact).collect();
    engine
        .store()
        .apply(WriteBatch::new(&scope, Actor::Person, "test", now, changes))
        .await
        .unwrap();
    scope
}

/// Returns the instructions that a page takes.
async fn page_steps(engine: &Engine, path: &Path, scope: &Scope, request: &FsListRequest) -> u64 {
    let before = vm_steps::total(path);
    let listing = engine.fs_list(scope, request).await.unwrap();
    assert_eq!(listing.items.len(), LIMIT);
    vm_steps::total(path) - before
}

#[tokio::test]
async fn a_page_of_a_large_home_takes_no_more_steps_than_one_of_a_small_home() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("everlore.db");
    let engine = Engine::new(Arc::new(SqliteStore::open(&path).await.unwrap()));
    let large = home(&engine, "large", LARGE).await;
    let small = home(&engine, "small", SMALL).await;
    let after = |key: &str| Some(key.to_owned());
    for (uri, after) in [
        ("user", None),
        ("user", after("topic-13/")),
        ("user/topic-7", None),
        ("user/topic-7", after("fact-00107")),
    ] {
        let request = FsListRequest { after, limit: LIMIT, ..FsListRequest::new(uri) };
        let in_large = page_steps(&engine, &path, &large, &request).await;
        let in_small = page_steps(&engine, &path, &small, &request).await;
        assert!(in_small > 0, "{request:?}: nothing was counted");
        // A full scan takes an instruction or more for each of 4,000 memories.
        assert!(in_large < LARGE.into(), "{request:?}: {in_large} steps");
        assert!(
            in_large <= in_small + in_small / 10,
            "{request:?}: {in_large} and {in_small} steps"
        );
    }
    engine.store().admin().close().await;
}
