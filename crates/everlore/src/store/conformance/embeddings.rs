//! Conformance of embeddings: kept with their texts, one model at a time.

use super::*;

pub(super) fn model(name: &str) -> EmbeddingModelId {
    EmbeddingModelId { name: name.into(), dimensions: 4 }
}

/// Returns a vector that differs from text to text.
fn vector(text: &str) -> Vector {
    let hash = TermHash::of(text).0.to_le_bytes();
    Vector::quantize(&[
        1.0,
        f32::from(hash[0]) / 256.0,
        f32::from(hash[1]) / 256.0,
        f32::from(hash[2]) / 256.0,
    ])
}

/// Returns the write with a vector for each text it stores.
pub(super) fn with_vectors(write: WriteBatch, model: &EmbeddingModelId) -> WriteBatch {
    let embed = |change: &Change| match change {
        Change::Add(memory) | Change::Update(memory) => Some(vector(&memory.content)),
        Change::Delete(_) | Change::Erase(_) => None,
    };
    let vectors = write.changes.iter().map(embed).collect();
    WriteBatch { vectors: Some(ChangeVectors { model: model.clone(), vectors }), ..write }
}

/// Returns the vectors of a model by the texts of their memories; `None` where a text has no vector.
pub(super) async fn vectors(
    store: &TestStore,
    scope: &Scope,
    model: &EmbeddingModelId,
) -> Vec<(String, Option<Vec<u8>>)> {
    let mut found = BTreeMap::new();
    for segment in store.index().postings(scope, &[], Some(model)).await.unwrap() {
        for doc in (0..segment.docs.len()).filter(|doc| !segment.docs.is_deleted(*doc)) {
            let slot = segment.vectors.as_ref().and_then(|slots| slots.get(doc));
            found.insert(segment.docs.address(doc), slot.map(|(_, values)| values.to_vec()));
        }
    }
    let addresses: Vec<_> = found.keys().copied().collect();
    let memories = store.memories().by_address(scope, &addresses).await.unwrap();
    memories
        .into_iter()
        .map(|(address, memory)| (memory.content, found[&address].clone()))
        .collect()
}

/// Returns the result of [`vectors`] when every text has its vector.
fn expected_vectors(texts: &[&str]) -> Vec<(String, Option<Vec<u8>>)> {
    let values = |text: &str| vector(text).to_bytes()[4..].to_vec();
    texts.iter().map(|text| ((*text).to_owned(), Some(values(text)))).collect()
}

/// Adds the missing vectors, as the engine does.
pub(super) async fn backfill_embeddings(store: &TestStore, model: &EmbeddingModelId) {
    loop {
        let missing = store.vectors().missing(None).await.unwrap();
        let Some(first) = missing.first() else { return };
        let embeddings = missing.iter().map(|memory| NewEmbedding {
            id: memory.id,
            version: memory.version,
            vector: vector(&memory.content),
        });
        store.vectors().put(&first.scope, model, embeddings.collect()).await.unwrap();
    }
}

pub(crate) async fn vectors_are_kept_with_their_texts(store: TestStore) {
    let (scope, model) = (test_scope("ann"), model("one"));
    assert_eq!(store.vectors().model().await.unwrap(), None);
    let (tea, talk) = (memory(&scope, 1, "likes 龙井茶"), turn(&scope, 2, "monday", "hello"));
    store.apply(with_vectors(write(&scope, 1, vec![add(&tea), add(&talk)]), &model)).await.unwrap();
    assert_eq!(store.vectors().model().await.unwrap(), Some(model.clone()));
    assert_eq!(vectors(&store, &scope, &model).await, expected_vectors(&["likes 龙井茶", "hello"]));
    let coffee = edited(&tea, "likes coffee");
    store.apply(with_vectors(write(&scope, 2, vec![update(&coffee)]), &model)).await.unwrap();
    assert_eq!(vectors(&store, &scope, &model).await, expected_vectors(&["likes coffee", "hello"]));
    let heavier = Memory { weight: 2.0, ..edited(&coffee, "likes coffee") };
    store.apply(write(&scope, 3, vec![update(&heavier)])).await.unwrap();
    assert_eq!(vectors(&store, &scope, &model).await, expected_vectors(&["likes coffee", "hello"]));
    store.apply(write(&scope, 4, vec![update(&edited(&heavier, "likes water"))])).await.unwrap();
    assert_eq!(
        vectors(&store, &scope, &model).await[0],
        ("likes water".into(), None),
        "an old vector says nothing of a new text"
    );
}

pub(crate) async fn vectors_of_two_models_never_mix(store: TestStore) {
    let (scope, one, two) = (test_scope("ann"), model("one"), model("two"));
    store
        .apply(with_vectors(write(&scope, 1, vec![add(&memory(&scope, 1, "alpha"))]), &one))
        .await
        .unwrap();
    store
        .apply(with_vectors(write(&scope, 2, vec![add(&memory(&scope, 2, "beta"))]), &two))
        .await
        .unwrap();
    assert_eq!(
        store.vectors().model().await.unwrap(),
        Some(one.clone()),
        "a write does not change the model in use"
    );
    let of = async |model: &EmbeddingModelId| {
        vectors(&store, &scope, model).await.into_iter().filter(|(_, slot)| slot.is_some()).count()
    };
    assert_eq!((of(&one).await, of(&two).await), (1, 0));
    store.vectors().set_model(&two).await.unwrap();
    assert_eq!((of(&one).await, of(&two).await), (0, 0), "what another model made is not returned");
    backfill_embeddings(&store, &two).await;
    assert_eq!(vectors(&store, &scope, &two).await, expected_vectors(&["alpha", "beta"]));
    let wrong = store.vectors().set_model(&EmbeddingModelId { dimensions: 5, ..two }).await;
    assert!(
        wrong.is_err() || store.vectors().missing(None).await.unwrap().len() == 2,
        "another size is another model"
    );
}

pub(crate) async fn what_has_no_vector_yet_gets_one(store: TestStore) {
    let (scope, model) = (test_scope("ann"), model("one"));
    let texts: Vec<String> = (0..150).map(|number| format!("text {number}")).collect();
    let turns: Vec<_> = texts
        .iter()
        .enumerate()
        .map(|(number, text)| turn(&scope, number as u8, "monday", text))
        .collect();
    store.apply(write(&scope, 1, turns[..100].iter().map(add).collect())).await.unwrap();
    assert_eq!(
        store.vectors().missing(None).await.unwrap(),
        [],
        "without a model there is nothing to do"
    );
    store
        .apply(with_vectors(write(&scope, 2, turns[100..].iter().map(add).collect()), &model))
        .await
        .unwrap();
    store.apply(write(&scope, 3, vec![Change::Delete(turns[7].id)])).await.unwrap();
    assert_eq!(
        store.vectors().missing(Some(&test_scope("ben"))).await.unwrap(),
        [],
        "nobody else waits"
    );
    assert_eq!(store.vectors().missing(Some(&scope)).await.unwrap().len(), 99);
    let stale = NewEmbedding { id: turns[0].id, version: 9, vector: vector("another text") };
    store.vectors().put(&scope, &model, vec![stale]).await.unwrap();
    backfill_embeddings(&store, &model).await;
    let left: Vec<&str> =
        texts.iter().filter(|text| *text != "text 7").map(String::as_str).collect();
    assert_eq!(vectors(&store, &scope, &model).await, expected_vectors(&left));
    assert_eq!(store.index().inconsistencies(&scope).await.unwrap(), Vec::<String>::new());
}

pub(crate) async fn an_erased_memory_leaves_no_vector(store: TestStore) {
    let (scope, model) = (test_scope("ann"), model("one"));
    let turns: Vec<_> =
        (0..100).map(|number| turn(&scope, number, "monday", &format!("text {number}"))).collect();
    store
        .apply(with_vectors(write(&scope, 1, turns.iter().map(add).collect()), &model))
        .await
        .unwrap();
    let applied = store.apply(write(&scope, 2, vec![Change::Erase(turns[70].id)])).await.unwrap();
    assert_eq!(applied[0].erasure.unwrap().vectors, 1);
    assert_eq!(vectors(&store, &scope, &model).await.len(), 99);
    for segment in store.index().postings(&scope, &[], Some(&model)).await.unwrap() {
        let deleted = (0..segment.docs.len()).filter(|doc| segment.docs.is_deleted(*doc));
        assert!(
            deleted.into_iter().all(|doc| segment.vectors.as_ref().unwrap().get(doc).is_none())
        );
    }
}
