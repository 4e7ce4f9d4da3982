//! Tests of the built-in encoder: it reads what is stored in the background, and forgets what is forgotten.

use std::{sync::Arc, time::Duration};

use everlore::{Engine, MemoryId, RememberRequest, llm::BuiltinEmbedder, store::RamStore};

use crate::support::{engine_on, noon, scope};

/// Memories in both languages, with messages in other words.
const CASES: [(&str, &str); 2] = [
    ("The passports are in the top drawer of the desk.", "where did we put our travel documents?"),
    ("护照都放在书房桌子最上面的抽屉里。", "我们出国要用的证件放哪了"),
];

fn engine() -> Engine {
    engine_on(Arc::new(RamStore::default()))
        .rebuild()
        .embedder(Arc::new(BuiltinEmbedder::new()))
        .builtin_encoder()
        .build()
}

async fn remember_all(engine: &Engine) -> Vec<MemoryId> {
    let mut memories = Vec::new();
    for (memory, _) in CASES {
        let request = RememberRequest::new(memory);
        memories.push(engine.remember(&scope("ann"), request).await.unwrap().id);
    }
    memories
}

/// Returns how many memories the encoder has read, and how many it has not.
async fn read_and_unread(engine: &Engine) -> (usize, usize) {
    let status = engine.admin().embed_status().await.unwrap();
    assert!(status.reranker.is_some(), "the status names the encoder");
    (status.read, status.unread)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_stored_is_read_in_the_background_and_compared() {
    let engine = engine();
    remember_all(&engine).await;
    engine.flush(Duration::from_secs(60)).await;
    assert_eq!(read_and_unread(&engine).await, (2, 0));
    for (memory, message) in CASES {
        let request = engine.recall_request(&scope("ann"), message);
        let recall = engine.recall(&request).await.unwrap();
        let hit = recall.hits.iter().find(|hit| hit.memory.content == memory).expect(message);
        assert!(hit.signals.rerank_cosine.is_some_and(|cosine| cosine > 0.3), "{message}: {hit:?}");
        assert!(hit.probability.is_some_and(|probability| probability > 0.0), "{message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_read_yet_is_found_all_the_same() {
    let engine = engine();
    let (memory, message) = CASES[0];
    engine.remember(&scope("ann"), RememberRequest::new(memory)).await.unwrap();
    let recall = engine.recall(&engine.recall_request(&scope("ann"), message)).await.unwrap();
    assert_eq!(recall.hits[0].memory.content, memory);
}

#[tokio::test(flavor = "multi_thread")]
async fn vectors_go_with_their_memory() {
    let engine = engine();
    let memories = remember_all(&engine).await;
    engine.flush(Duration::from_secs(60)).await;
    engine.forget(&scope("ann"), memories[0]).await.unwrap();
    assert_eq!(read_and_unread(&engine).await, (1, 0));
}

#[tokio::test]
async fn a_recall_of_a_past_day_runs_no_model() {
    let words = engine_on(Arc::new(RamStore::default()));
    remember_all(&words).await;
    let with_models = words.rebuild().builtin_encoder().build();
    for query in ["what is in the drawer of the desk?", "护照放在哪里"] {
        let request = words.recall_request(&scope("ann"), query);
        let plain = words.recall_as_of(&request, noon()).await.unwrap();
        assert!(!plain.hits.is_empty(), "{query}");
        assert_eq!(with_models.recall_as_of(&request, noon()).await.unwrap(), plain, "{query}");
    }
}
