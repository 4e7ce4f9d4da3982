//! Tests of records: recall, prompts, identity answers and upkeep leave them alone; who names their kind finds them.

use everlore::{
    Engine, Error, Kind, Memory, MemoryEdit, RememberRequest, Scope,
    engine::UpkeepRequest,
    store::{DirectoryStore, ListOrder, ListQuery, MemoryFilter, RamStore, Store},
    types::{Actor, Change, MemorySource, Origin, WriteBatch},
};
use std::sync::Arc;

use crate::support::{noon, scope, sqlite, temp_folder};

async fn stores() -> [Arc<dyn Store>; 3] {
    let directory = DirectoryStore::open(&temp_folder().join("notes")).await.unwrap();
    [Arc::new(RamStore::default()), sqlite().await, Arc::new(directory)]
}

/// Stores a record of each kind with the same words, and one statement.
async fn filled(store: Arc<dyn Store>, owner: &Scope) -> Engine {
    let records = Kind::ALL.into_iter().filter(|kind| kind.is_record()).map(|kind| {
        let source = MemorySource::new(Origin::Remember);
        let text = "I water the orchid on Sundays; 周日给兰花浇水".to_owned();
        let memory = Memory::with_content(owner, kind, text, source, noon(), noon());
        let uri = format!("agent://tester/{kind}/orchid");
        Change::Add(Box::new(Memory { uri, name: "I water the orchid".into(), ..memory }))
    });
    let write = WriteBatch::new(owner, Actor::Person, "test", noon(), records.collect());
    store.apply(write).await.unwrap();
    let engine = Engine::builder(store).clock(noon).build();
    let statement = RememberRequest::new("I water the orchid by hand; 我亲手给兰花浇水");
    engine.remember(owner, statement).await.unwrap();
    engine
}

async fn kinds_found(engine: &Engine, owner: &Scope, query: &str, kinds: &[Kind]) -> Vec<Kind> {
    let mut request = engine.recall_request(owner, query);
    request.filter.kinds = kinds.to_vec();
    let found = engine.recall(&request).await.unwrap();
    found.hits.iter().map(|hit| hit.memory.kind).collect()
}

#[tokio::test]
async fn recall_and_prompts_leave_records_alone_until_their_kind_is_named() {
    for store in stores().await {
        let owner = scope("wang");
        let engine = filled(store, &owner).await;
        for query in ["water the orchid", "兰花", "Who am I?", "我是谁"] {
            assert_eq!(kinds_found(&engine, &owner, query, &[]).await, [Kind::User], "{query}");
        }
        for kind in [Kind::Schedule, Kind::Suggestion, Kind::Trajectory] {
            let found = kinds_found(&engine, &owner, "orchid 兰花", &[kind]).await;
            assert_eq!(found, [kind]);
        }
        let request = engine.context_request(&owner, "When do I water the orchid?");
        let block = engine.context(&request, 2_000).await.unwrap();
        assert!(!block.text.contains("Sundays"), "{}", block.text);
    }
}

#[tokio::test]
async fn upkeep_neither_merges_nor_archives_records() {
    let in_eight_years = || crate::support::at(crate::support::NOON + 8 * 366 * 86_400);
    for store in stores().await {
        let owner = scope("wang");
        filled(store.clone(), &owner).await;
        let later = Engine::builder(store).clock(in_eight_years).build();
        let request = UpkeepRequest { yes: true, ..UpkeepRequest::default() };
        later.upkeep(&owner, &request, &mut |_| {}).await.unwrap();
        later.clean(&owner, 5.0, false).await.unwrap();
        let active = MemoryFilter {
            kinds: vec![Kind::Schedule, Kind::Suggestion, Kind::Trajectory],
            statuses: vec![everlore::Status::Active],
            ..MemoryFilter::default()
        };
        let order = ListOrder::NewestFirst;
        let page = ListQuery { filter: active, after: None, order, limit: 10 };
        assert_eq!(later.list(&owner, &page).await.unwrap().len(), 3);
    }
}

#[tokio::test]
async fn a_record_is_made_by_its_own_command_only() {
    let (engine, owner) = (crate::support::ram(), scope("wang"));
    let kind = Some(Kind::Schedule);
    let refused = RememberRequest { kind, ..RememberRequest::new("Every day at 9") };
    let error = engine.remember(&owner, refused).await.unwrap_err();
    assert!(matches!(&error, Error::Invalid { .. }) && error.hint().contains("schedule"));
    let saved = engine.remember(&owner, RememberRequest::new("I sail")).await.unwrap();
    let edit = MemoryEdit { kind, ..MemoryEdit::default() };
    assert!(engine.edit(&owner, saved.id, &edit).await.is_err());
}
