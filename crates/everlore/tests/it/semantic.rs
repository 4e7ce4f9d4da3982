//! Tests of semantic recall with a transparent model: a few concepts, one dimension each.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use everlore::{
    Engine, Error, Result, Scope,
    llm::Embedder,
    store::{SegmentVectors, SqliteStore, Store},
    types::{ChangeVectors, EmbeddingModelId, Vector, WriteBatch},
};

use crate::support::{
    add, engine, found, fresh_path, memory, open, ram, remember_all, scope, spoken, turn, write,
};

/// Words of each concept.
const CONCEPTS: [&[&str]; 4] = [
    &["dog", "puppy", "kitten", "animal"],
    &["physician", "hospital", "ill"],
    &["port", "server", "staging"],
    &["hey", "hello", "caroline"],
];

/// Model that knows [`CONCEPTS`] and nothing else.
struct ToyEmbedder {
    model: EmbeddingModelId,
    fails: AtomicBool,
}

impl ToyEmbedder {
    fn new(name: &str) -> Arc<Self> {
        let model = EmbeddingModelId { name: name.into(), dimensions: CONCEPTS.len() };
        Arc::new(Self { model, fails: AtomicBool::new(false) })
    }
}

#[async_trait]
impl Embedder for ToyEmbedder {
    fn model(&self) -> &EmbeddingModelId {
        &self.model
    }

    /// It knows no Chinese.
    fn understands(&self, text: &str) -> bool {
        text.is_ascii()
    }

    fn least_similarity(&self) -> f32 {
        0.3
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        if self.fails.load(Ordering::Relaxed) {
            return Err(Error::store("the model is out of reach"));
        }
        Ok(texts.iter().map(|text| vector(text)).collect())
    }
}

fn vector(text: &str) -> Vec<f32> {
    let lower = text.to_lowercase();
    let count = |words: &&[&str]| words.iter().filter(|word| lower.contains(*word)).count() as f32;
    let numbers: Vec<f32> = CONCEPTS.iter().map(count).collect();
    let length = numbers.iter().map(|number| number * number).sum::<f32>().sqrt();
    numbers.into_iter().map(|number| if length > 0.0 { number / length } else { 0.0 }).collect()
}

const TEXTS: [&str; 4] = [
    "Adopted a puppy on Sunday",
    "The physician was friendly",
    "staging runs on port 9443",
    "下周三上线",
];

#[tokio::test]
async fn a_question_finds_what_means_the_same_in_other_words() {
    for engine in [ram(), engine().await] {
        let (engine, owner) =
            (engine.rebuild().embedder(ToyEmbedder::new("toy")).build(), scope("ann"));
        remember_all(&engine, &owner, &TEXTS).await;
        assert_eq!(found(&engine, &owner, "any animal at home?").await[0], TEXTS[0]);
        assert_eq!(found(&engine, &owner, "was anybody ill").await[0], TEXTS[1]);
        let answer =
            engine.recall(&engine.recall_request(&owner, "any animal at home?")).await.unwrap();
        let signals = &answer.hits[0].signals;
        assert!(signals.semantic > 0.0 && signals.bm25 == 0.0, "{signals:?}");
    }
}

#[tokio::test]
async fn without_a_model_only_words_count() {
    let (engine, owner) = (ram(), scope("ann"));
    remember_all(&engine, &owner, &TEXTS).await;
    assert_eq!(found(&engine, &owner, "any animal at home?").await, Vec::<String>::new());
}

#[tokio::test]
async fn a_mostly_chinese_question_is_left_to_its_words() {
    let (engine, owner) = (ram().rebuild().embedder(ToyEmbedder::new("toy")).build(), scope("ann"));
    remember_all(&engine, &owner, &TEXTS).await;
    let answer =
        engine.recall(&engine.recall_request(&owner, "下周三上线的是哪个 server")).await.unwrap();
    assert_eq!(answer.hits[0].memory.content, TEXTS[3]);
    assert!(answer.hits.iter().all(|hit| hit.signals.semantic == 0.0));
}

#[tokio::test]
async fn the_name_of_a_speaker_does_not_draw_greetings_near() {
    let (engine, owner) = (ram().rebuild().embedder(ToyEmbedder::new("toy")).build(), scope("ann"));
    let turns = [
        ("Caroline", "Hey, hello!"),
        ("Melanie", "Hello Caroline"),
        ("Caroline", "My puppy is ill"),
    ];
    engine
        .observe(&owner, turns.map(|(speaker, text)| turn("monday", speaker, text)).to_vec())
        .await
        .unwrap();
    let answer = engine
        .recall(&engine.recall_request(&owner, "Which animal does Caroline have?"))
        .await
        .unwrap();
    let greeting = answer.hits.iter().find(|hit| hit.memory.content == "Hello Caroline");
    assert!(greeting.is_none_or(|hit| hit.signals.semantic <= 0.0), "{greeting:?}");
    assert_eq!(answer.hits[0].memory.content, "My puppy is ill");
}

#[tokio::test]
async fn a_model_that_fails_keeps_nothing_from_being_stored() {
    let (toy, owner) = (ToyEmbedder::new("toy"), scope("ann"));
    let engine = engine().await.rebuild().embedder(toy.clone()).build();
    toy.fails.store(true, Ordering::Relaxed);
    remember_all(&engine, &owner, &TEXTS).await;
    toy.fails.store(false, Ordering::Relaxed);
    engine.admin().switch_embedding_model().await.unwrap();
    assert_eq!(counts(&engine).await, (0, 4));
    assert_eq!(engine.admin().backfill_embeddings(&mut |_| {}).await.unwrap(), 4);
    assert_eq!(counts(&engine).await, (4, 0));
    assert_eq!(found(&engine, &owner, "any animal at home?").await[0], TEXTS[0]);
}

#[tokio::test]
async fn another_model_is_refused_until_it_is_switched_to_and_then_all_is_made_anew() {
    let (store, owner) = (crate::support::sqlite().await, scope("ann"));
    let old = crate::support::engine_on(store.clone())
        .rebuild()
        .embedder(ToyEmbedder::new("old"))
        .build();
    for _ in 0..2 {
        remember_all(&old, &owner, &TEXTS).await;
    }
    let new = crate::support::engine_on(store).rebuild().embedder(ToyEmbedder::new("new")).build();
    new.observe(&owner, (0..100).map(|n| turn("monday", "Ben", &format!("word {n}"))).collect())
        .await
        .unwrap();
    assert_eq!(
        found(&new, &owner, "any animal at home?").await,
        Vec::<String>::new(),
        "vectors are not mixed"
    );
    assert_eq!(
        found(&old, &owner, "any animal at home?").await[0],
        TEXTS[0],
        "the old model still works"
    );
    let status = new.admin().embed_status().await.unwrap();
    assert_eq!(
        (status.in_use.unwrap().name, status.model.unwrap().name),
        ("old".into(), "new".into())
    );
    new.admin().switch_embedding_model().await.unwrap();
    let mut told = Vec::new();
    let made = new.admin().backfill_embeddings(&mut |done| told.push(done)).await.unwrap();
    assert_eq!((made, told.last().copied()), (104, Some(104)));
    assert_eq!(found(&new, &owner, "any animal at home?").await[0], TEXTS[0]);
    assert_eq!(found(&old, &owner, "any animal at home?").await, Vec::<String>::new());
}

async fn counts(engine: &Engine) -> (usize, usize) {
    let status = engine.admin().embed_status().await.unwrap();
    (status.embedded, status.waiting)
}

/// Stores more turns at once than a block has whose vectors are read for one question.
async fn store_many(store: &SqliteStore, owner: &Scope, toy: &ToyEmbedder) {
    let text = |number: u32| match number % 5 {
        _ if number == 1_234 => "Adopted a puppy on Sunday".to_owned(),
        0 => format!("note {number}: the kitten slept in box {}", number % 97),
        1 => format!("note {number}: the staging server moved to rack {}", number % 89),
        2 => format!("记录 {number}：今天在第 {} 号会议室开会", number % 83),
        3 => format!("note {number}: a physician called about case {}", number % 79),
        _ => format!("note {number}: nothing in particular"),
    };
    let texts: Vec<_> = (0..5_000).map(text).collect();
    let spoken = |(number, text): (u32, &String)| add(&spoken(owner, number, "long", text));
    let changes = (0..).zip(&texts).map(spoken).collect();
    let vectors = texts.iter().map(|text| Some(Vector::quantize(&vector(text)))).collect();
    let vectors = Some(ChangeVectors { model: toy.model.clone(), vectors });
    store.apply(WriteBatch { vectors, ..write(owner, changes) }).await.unwrap();
}

/// Returns the texts that a query finds, with their scores.
async fn scored(engine: &Engine, owner: &Scope, query: &str) -> Vec<(String, f64)> {
    let answer = engine.recall(&engine.recall_request(owner, query)).await.unwrap();
    answer.hits.into_iter().map(|hit| (hit.memory.content, hit.score)).collect()
}

#[tokio::test]
async fn the_first_question_of_a_process_is_answered_as_all_later_ones() {
    let (path, owner) = (fresh_path(), scope("ann"));
    let (store, engine) = open(&path).await;
    let engine = engine.rebuild().embedder(ToyEmbedder::new("toy")).build();
    store_many(&store, &owner, &ToyEmbedder::new("toy")).await;
    for query in ["any animal at home?", "was anybody ill in case 7", "第 12 号会议室 server"]
    {
        let (_, fresh) = open(&path).await;
        let fresh = fresh.rebuild().embedder(ToyEmbedder::new("toy")).build();
        let first = scored(&fresh, &owner, query).await;
        assert!(!first.is_empty());
        for again in [&fresh, &fresh, &engine] {
            assert_eq!(scored(again, &owner, query).await, first, "{query}");
        }
    }
    let puppy = engine.recall(&engine.recall_request(&owner, "puppy on Sunday")).await.unwrap();
    engine.forget(&owner, puppy.hits[0].memory.id).await.unwrap();
    let (_, fresh) = open(&path).await;
    let fresh = fresh.rebuild().embedder(ToyEmbedder::new("toy")).build();
    let first = scored(&fresh, &owner, "any animal at home?").await;
    assert!(first.iter().all(|(text, _)| !text.contains("puppy")));
    assert_eq!(scored(&engine, &owner, "any animal at home?").await, first);
    store.admin().close().await;
}

#[tokio::test]
async fn vectors_are_compared_only_for_the_scope_that_has_them() {
    let (path, owner) = (fresh_path(), scope("ann"));
    let (store, engine) = open(&path).await;
    let (toy, engine) =
        (ToyEmbedder::new("toy"), engine.rebuild().embedder(ToyEmbedder::new("toy")).build());
    store_many(&store, &owner, &toy).await;
    remember_all(&engine, &scope("bob"), &TEXTS).await;
    let segments = store.index().postings(&owner, &[], Some(&toy.model)).await.unwrap();
    let Some(SegmentVectors::Unloaded(number)) = segments[0].vectors else {
        panic!("they are read at once")
    };
    let question = Vector::quantize(&vector("animal"));
    let compared = store.index().similarities(&owner, &[number], &question).await.unwrap().unwrap();
    assert_eq!(compared[0].len(), segments[0].docs.len());
    assert!(compared[0].iter().any(|similarity| *similarity > 0.9));
    for (other, number) in [(scope("bob"), number), (scope("eve"), number), (owner, number + 1)] {
        let found = store.index().similarities(&other, &[number], &question).await.unwrap();
        assert_eq!(found, None, "{other:?}");
    }
}

/// Id of the built-in model of release 0.1.0, which knew no Chinese.
fn builtin_of_0_1_0() -> EmbeddingModelId {
    EmbeddingModelId { name: "everlore-static-256-v1-438d1772c0a9".into(), dimensions: 256 }
}

#[tokio::test]
async fn vectors_of_an_earlier_built_in_model_are_renewed_when_a_store_is_opened() {
    let (path, owner) = (fresh_path(), scope("ann"));
    let (store, _) = open(&path).await;
    store.vectors().set_model(&builtin_of_0_1_0()).await.unwrap();
    let engine = crate::support::engine_on(store.clone());
    remember_all(&engine, &owner, &["我对花生过敏", "I like long walks", "支付模块周三上线"]).await;
    drop((store, engine));

    let engine = Engine::open(&path).await.unwrap();
    assert_eq!(counts(&engine).await, (3, 0));
    assert!(!engine.admin().embed_status().await.unwrap().is_outdated);
    assert_eq!(found(&engine, &owner, "any allergies?").await[0], "我对花生过敏");
}

#[tokio::test]
async fn many_vectors_of_an_earlier_built_in_model_are_renewed_in_the_background() {
    let (path, owner) = (fresh_path(), scope("ann"));
    let (store, _) = open(&path).await;
    store.vectors().set_model(&builtin_of_0_1_0()).await.unwrap();
    let texts =
        (0..20_000).map(|n| add(&memory(&owner, n, &format!("note {n}: 我在第 {n} 号会议室开会"))));
    store.apply(write(&owner, texts.collect())).await.unwrap();
    drop(store);

    let engine = Engine::open(&path).await.unwrap();
    assert!(!found(&engine, &owner, "note 17").await.is_empty(), "words are found meanwhile");
    engine.flush(Duration::from_secs(60)).await;
    assert_eq!(counts(&engine).await, (20_000, 0));
}

#[tokio::test]
async fn vectors_of_another_model_are_left_alone_when_a_store_is_opened() {
    let (path, owner) = (fresh_path(), scope("ann"));
    let (_, engine) = open(&path).await;
    let engine = engine.rebuild().embedder(ToyEmbedder::new("toy")).build();
    remember_all(&engine, &owner, &TEXTS).await;
    drop(engine);
    let engine = Engine::open(&path).await.unwrap();
    assert_eq!(engine.admin().embed_status().await.unwrap().in_use.unwrap().name, "toy");
}
