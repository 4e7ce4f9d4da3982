//! Conformance of token vectors: kept until their text changes.

use super::{embeddings::model, *};

/// Returns token vectors that a reranker could have computed for a text.
fn new_token_vectors(memory: &Memory) -> NewTokenVectors {
    let tokens = memory.content.bytes().rev().collect();
    NewTokenVectors { id: memory.id, version: memory.version, token_vectors: tokens }
}

/// Encodes every text that has no token vectors of the model, as the engine does.
pub(super) async fn backfill_token_vectors(store: &TestStore, model: &EmbeddingModelId) {
    for scope in store.admin().scopes().await.unwrap() {
        let mut after = None;
        loop {
            let missing = store.token_vectors().missing(&scope, model, after, 3).await.unwrap();
            let Some(last) = missing.last() else { break };
            after = Some(last.id);
            let token_vectors = missing.iter().map(new_token_vectors).collect();
            store.token_vectors().put(&scope, model, token_vectors).await.unwrap();
        }
    }
}

/// Returns the stored token vectors of a scope, by their memories.
pub(super) async fn stored_token_vectors(
    store: &TestStore,
    scope: &Scope,
    model: &EmbeddingModelId,
) -> Vec<(Memory, Option<Vec<u8>>)> {
    let segments = store.index().postings(scope, &[], None).await.unwrap();
    let mut addresses: Vec<DocAddress> = Vec::new();
    for segment in &segments {
        let living = (0..segment.docs.len()).filter(|doc| !segment.docs.is_deleted(*doc));
        addresses.extend(living.map(|doc| segment.docs.address(doc)));
    }
    addresses.sort_unstable();
    let stored = store.token_vectors().get(scope, model, &addresses).await.unwrap();
    let memories = store.memories().by_address(scope, &addresses).await.unwrap();
    memories.into_iter().map(|(_, memory)| memory).zip(stored).collect()
}

/// Asserts that [`stored_token_vectors`] has those of every memory.
async fn assert_token_vectors_complete(store: &TestStore, scope: &Scope, model: &EmbeddingModelId) {
    for (memory, stored) in stored_token_vectors(store, scope, model).await {
        assert_eq!(stored, Some(new_token_vectors(&memory).token_vectors), "{}", memory.content);
    }
}

pub(crate) async fn words_are_kept_until_their_text_changes(store: TestStore) {
    let (scope, model) = (test_scope("ann"), model("words"));
    let texts = ["likes 龙井茶", "hello", "third", "fourth", "fifth"];
    let turns = (1..).zip(texts).map(|(number, text)| turn(&scope, number, "monday", text));
    let turns: Vec<_> = turns.collect();
    store.apply(write(&scope, 1, turns.iter().map(add).collect())).await.unwrap();
    assert_eq!(store.token_vectors().counts(&model).await.unwrap(), (0, 5));
    backfill_token_vectors(&store, &model).await;
    assert_eq!(store.token_vectors().counts(&model).await.unwrap(), (5, 0));
    assert_token_vectors_complete(&store, &scope, &model).await;
    let stored =
        async |number: usize| stored_token_vectors(&store, &scope, &model).await[number].1.clone();
    let heavier = Memory { weight: 2.0, ..edited(&turns[0], "likes 龙井茶") };
    store.apply(write(&scope, 2, vec![update(&heavier)])).await.unwrap();
    assert!(stored(0).await.is_some(), "the text is the same");
    let other = edited(&heavier, "likes coffee");
    store.apply(write(&scope, 3, vec![update(&other)])).await.unwrap();
    assert_eq!(stored(0).await, None, "old words say nothing of a new text");
    let stale = new_token_vectors(&heavier);
    store.token_vectors().put(&scope, &model, vec![stale]).await.unwrap();
    assert_eq!(stored(0).await, None, "what was made of an older version comes too late");
    store.apply(write(&scope, 4, vec![Change::Delete(turns[1].id)])).await.unwrap();
    let back = Memory { version: 2, content: "another text".into(), ..turns[1].clone() };
    store.apply(write(&scope, 5, vec![add(&back)])).await.unwrap();
    assert_eq!(stored(1).await, None, "what returns is read again");
    assert_eq!(store.token_vectors().counts(&model).await.unwrap(), (3, 2));
    backfill_token_vectors(&store, &model).await;
    assert_token_vectors_complete(&store, &scope, &model).await;
    let nobody = store
        .token_vectors()
        .get(&test_scope("ben"), &model, &[DocAddress::new(1, 0)])
        .await
        .unwrap();
    assert_eq!(nobody, [None], "places of another scope are not read");
    assert_eq!(store.index().inconsistencies(&scope).await.unwrap(), Vec::<String>::new());
}

pub(crate) async fn words_of_two_models_never_mix(store: TestStore) {
    let (scope, one, two) = (test_scope("ann"), model("one"), model("two"));
    let memories = [memory(&scope, 1, "alpha"), memory(&scope, 2, "beta")];
    store.apply(write(&scope, 1, memories.iter().map(add).collect())).await.unwrap();
    backfill_token_vectors(&store, &one).await;
    assert_eq!(store.token_vectors().counts(&two).await.unwrap(), (0, 2));
    assert!(
        stored_token_vectors(&store, &scope, &two).await.iter().all(|(_, stored)| stored.is_none())
    );
    store.token_vectors().put(&scope, &two, vec![new_token_vectors(&memories[0])]).await.unwrap();
    assert_eq!(store.token_vectors().counts(&two).await.unwrap(), (1, 1));
    assert_eq!(
        store.token_vectors().counts(&one).await.unwrap(),
        (0, 2),
        "there is room for one model"
    );
    assert_eq!(
        store.token_vectors().missing(&scope, &two, None, 9).await.unwrap(),
        [memories[1].clone()]
    );
    assert_eq!(
        store.token_vectors().missing(&scope, &two, Some(memories[1].id), 9).await.unwrap(),
        []
    );
}

pub(crate) async fn an_erased_memory_leaves_no_words(store: TestStore) {
    let (scope, model) = (test_scope("ann"), model("words"));
    let memories = [memory(&scope, 1, "alpha"), memory(&scope, 2, "beta")];
    store.apply(write(&scope, 1, memories.iter().map(add).collect())).await.unwrap();
    backfill_token_vectors(&store, &model).await;
    let applied = store.apply(write(&scope, 2, vec![Change::Erase(memories[0].id)])).await.unwrap();
    assert_eq!(applied[0].erasure.unwrap().vectors, 1);
    assert_eq!(
        store.token_vectors().get(&scope, &model, &[DocAddress::new(0, 0)]).await.unwrap(),
        [None]
    );
    assert_eq!(store.token_vectors().counts(&model).await.unwrap(), (1, 0));
}
