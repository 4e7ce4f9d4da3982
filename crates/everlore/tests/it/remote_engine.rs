//! Tests of the engine with a remote embedder: saves never wait, recall waits a little, nothing is requested twice, and
//! erasure reaches the cache.

use std::{path::Path, sync::Arc, time::Duration};

use everlore::{
    Engine, Scope,
    config::{EmbeddingConfig, EmbeddingProvider},
    store::{SqliteStore, Store, VectorCache, VectorInsert, VectorLookup},
    types::{EmbeddingModelId, Fingerprint, Vector},
};
use everlore_mock_llm::{HttpResponse, MockEmbeddings, MockServer, embeddings};
use rusqlite::Connection;
use serde_json::json;

use crate::{
    remote::{HASTY, config, endpoint},
    support::{DAY, NOON, at, engine_on, found, fresh_path, one_o_clock, remember_all, say, scope},
};

const DIMENSIONS: usize = 16;

/// Longer than anything takes here.
const PATIENT: Duration = Duration::from_secs(30);

const TEXTS: [&str; 6] = [
    "Adopted a puppy on Sunday",
    "我养了一只小狗叫豆豆",
    "The physician was friendly",
    "staging runs on 9443",
    "我最喜欢龙井",
    "下周三上线",
];

async fn open(path: &Path, config: &EmbeddingConfig) -> (Engine, Arc<SqliteStore>) {
    let store = Arc::new(SqliteStore::open(path).await.unwrap());
    let endpoint = endpoint(config);
    let max_cached = config.cache_entries;
    let engine = engine_on(Arc::clone(&store) as Arc<dyn Store>)
        .rebuild()
        .remote_embedder(
            Arc::new(endpoint.document_embedder(DIMENSIONS)),
            Arc::new(endpoint.query_embedder(DIMENSIONS)),
            max_cached,
        )
        .build();
    (engine, store)
}

/// Disables the query timeout, so that a busy machine does not fail tests about something else.
fn unhurried(server: &MockServer, provider: EmbeddingProvider) -> EmbeddingConfig {
    EmbeddingConfig { query_limit: PATIENT, ..config(server, provider) }
}

async fn counts(engine: &Engine) -> (usize, usize) {
    let status = engine.admin().embed_status().await.unwrap();
    (status.embedded, status.waiting)
}

#[tokio::test]
async fn memories_are_found_by_meaning_in_english_and_chinese_over_both_protocols() {
    for provider in [EmbeddingProvider::Openai, EmbeddingProvider::Ollama] {
        let server = MockServer::start(MockEmbeddings::default());
        let (engine, _) = open(&fresh_path(), &unhurried(&server, provider)).await;
        let owner = scope("ann");
        remember_all(&engine, &owner, &TEXTS).await;
        engine.flush(PATIENT).await;
        assert_eq!(counts(&engine).await, (6, 0));
        for (query, texts) in
            [("any animal at home?", [TEXTS[0], TEXTS[1]]), ("家里的宠物", [TEXTS[1], TEXTS[0]])]
        {
            let found = found(&engine, &owner, query).await;
            assert!(
                texts.iter().all(|text| found.contains(&(*text).to_owned())),
                "{query}: {found:?}"
            );
        }
        assert_eq!(found(&engine, &owner, "有什么饮料").await[0], TEXTS[4]);
        assert_eq!(found(&engine, &owner, "who prescribed medicine").await[0], TEXTS[2]);
    }
}

#[tokio::test]
async fn a_save_does_not_wait_for_a_server_that_never_answers() {
    let server = MockServer::start(|_: &everlore_mock_llm::HttpRequest| {
        HttpResponse::json(200, &json!({})).held()
    });
    let (engine, store) = open(&fresh_path(), &config(&server, EmbeddingProvider::Openai)).await;
    let owner = scope("ann");
    // Would hang for good if a save waited for the vectors.
    remember_all(&engine, &owner, &TEXTS).await;
    let answer = engine.recall(&engine.recall_request(&owner, "puppy")).await.unwrap();
    assert_eq!(answer.hits[0].memory.content, TEXTS[0]);
    assert_eq!(counts(&engine).await, (0, 6));
    engine.flush(Duration::ZERO).await;
    store.admin().close().await;
}

#[tokio::test]
async fn with_a_dead_server_saves_succeed_words_are_found_and_the_rest_is_made_later() {
    let path = fresh_path();
    let owner = scope("ann");
    let dead = { config(&MockServer::start(MockEmbeddings::default()), EmbeddingProvider::Ollama) };
    let (engine, store) = open(&path, &dead).await;
    remember_all(&engine, &owner, &TEXTS).await;
    engine.flush(PATIENT).await;
    assert_eq!(counts(&engine).await, (0, 6));
    assert_eq!(found(&engine, &owner, "豆豆是谁").await[0], TEXTS[1]);
    assert!(
        engine.admin().backfill_embeddings(&mut |_| {}).await.is_err(),
        "asked for, it says what is wrong"
    );
    store.admin().close().await;

    let server = MockServer::start(MockEmbeddings::default());
    let (engine, _) = open(&path, &unhurried(&server, EmbeddingProvider::Ollama)).await;
    assert_eq!(engine.admin().backfill_embeddings(&mut |_| {}).await.unwrap(), 6);
    assert_eq!(counts(&engine).await, (6, 0));
    assert_eq!(found(&engine, &owner, "who prescribed medicine").await[0], TEXTS[2]);
}

#[tokio::test]
async fn what_an_earlier_failure_left_is_made_after_the_next_save() {
    let server = MockServer::start(MockEmbeddings::default());
    let (engine, _) = open(&fresh_path(), &unhurried(&server, EmbeddingProvider::Openai)).await;
    let owner = scope("ann");
    for _ in 0..=HASTY.retries {
        server.enqueue(HttpResponse::error(500, "down"));
    }
    remember_all(&engine, &owner, &TEXTS[..1]).await;
    engine.flush(PATIENT).await;
    assert_eq!(counts(&engine).await, (0, 1));
    remember_all(&engine, &owner, &TEXTS[1..2]).await;
    engine.flush(PATIENT).await;
    assert_eq!(counts(&engine).await, (2, 0));
}

#[tokio::test]
async fn a_question_that_is_not_answered_in_time_is_answered_by_words_and_says_so() {
    let server = MockServer::start(MockEmbeddings::default());
    let hurried = EmbeddingConfig {
        query_limit: Duration::from_millis(20),
        ..config(&server, EmbeddingProvider::Openai)
    };
    let (engine, _) = open(&fresh_path(), &hurried).await;
    let owner = scope("ann");
    remember_all(&engine, &owner, &TEXTS).await;
    engine.flush(PATIENT).await;
    server.enqueue(HttpResponse::json(200, &json!({})).held());
    let answer =
        engine.recall(&engine.recall_request(&owner, "the friendly physician")).await.unwrap();
    assert_eq!(answer.hits[0].memory.content, TEXTS[2]);
    let why = answer.without_meaning.unwrap();
    assert!(why.contains("did not answer within 20ms"), "{why}");
}

#[tokio::test]
async fn a_question_is_asked_once() {
    let server = MockServer::start(MockEmbeddings::default());
    let (engine, _) = open(&fresh_path(), &unhurried(&server, EmbeddingProvider::Openai)).await;
    let owner = scope("ann");
    remember_all(&engine, &owner, &TEXTS).await;
    engine.flush(PATIENT).await;
    server.enqueue(HttpResponse::error(500, "down"));
    let sent = server.requests().len();
    let answer = engine.recall(&engine.recall_request(&owner, "医生 physician")).await.unwrap();
    assert!(answer.without_meaning.unwrap().contains("status 500"));
    assert_eq!(server.requests().len(), sent + 1);
}

#[tokio::test]
async fn a_server_that_failed_is_left_alone_for_a_while_and_then_asked_again() {
    let server = MockServer::start(MockEmbeddings::default());
    let (engine, _) = open(&fresh_path(), &unhurried(&server, EmbeddingProvider::Openai)).await;
    let owner = scope("ann");
    remember_all(&engine, &owner, &TEXTS).await;
    engine.flush(PATIENT).await;
    server.enqueue(HttpResponse::error(500, "down"));
    let recall = async |engine: &Engine, query: &str| {
        engine.recall(&engine.recall_request(&owner, query)).await.unwrap().without_meaning
    };
    assert!(recall(&engine, "who prescribed it").await.unwrap().contains("status 500"));
    let sent = server.requests().len();
    for query in ["the friendly physician", "医生是谁"] {
        let why = recall(&engine, query).await.unwrap();
        assert!(why.contains("status 500") && why.contains("next attempt at"), "{why}");
    }
    assert_eq!(server.requests().len(), sent, "nobody waits for it");
    assert_eq!(engine.embedder_outage().unwrap().failures, 1);
    let later = engine.clone().rebuild().clock(one_o_clock).build();
    assert_eq!(recall(&later, "有什么饮料").await, None);
    assert!(later.embedder_outage().is_none() && engine.embedder_outage().is_none());
    assert_eq!(server.requests().len(), sent + 1);
}

#[tokio::test]
async fn a_server_with_vectors_of_another_size_is_not_asked_with_every_save() {
    let server = MockServer::start(MockEmbeddings { dimensions: 8, ..MockEmbeddings::default() });
    let (engine, _) = open(&fresh_path(), &unhurried(&server, EmbeddingProvider::Openai)).await;
    let owner = scope("ann");
    for text in TEXTS {
        remember_all(&engine, &owner, &[text]).await;
        engine.flush(PATIENT).await;
    }
    assert_eq!(counts(&engine).await, (0, 6));
    assert_eq!(server.requests().len(), 2, "once, and once more if it was only starting");
}

#[tokio::test]
async fn a_day_that_is_replayed_asks_nothing_of_the_server() {
    let server = MockServer::start(MockEmbeddings::default());
    let path = fresh_path();
    let owner = scope("ann");
    let questions = ["any animal at home?", "家里的宠物", "有什么饮料", "who prescribed medicine"];
    let config = unhurried(&server, EmbeddingProvider::Ollama);
    let (engine, store) = open(&path, &config).await;
    let turns = |engine: Engine| async move {
        let owner = scope("ann");
        for text in TEXTS {
            engine
                .observe(&owner, vec![crate::support::turn("monday", "Ann", text)])
                .await
                .unwrap();
        }
        engine.flush(PATIENT).await;
        for question in questions {
            engine.recall(&engine.recall_request(&owner, question)).await.unwrap();
        }
    };
    turns(engine.clone()).await;
    let first = engine.admin().embed_status().await.unwrap().cache.unwrap();
    assert_eq!((first.entries, first.misses), (10, 10));
    store.admin().close().await;

    let sent = server.requests().len();
    for _ in 0..20 {
        let (engine, store) = open(&path, &config).await;
        turns(engine).await;
        store.admin().close().await;
    }
    assert_eq!(server.requests().len(), sent, "nothing is asked for twice");
    let (engine, _) = open(&path, &config).await;
    let cache = engine.admin().embed_status().await.unwrap().cache.unwrap();
    assert_eq!((cache.entries, cache.misses), (10, 10));
    assert_eq!(cache.hits, 200);
    assert_eq!(engine.count(&owner).await.unwrap().memories[0].2, 126);
    assert_eq!(counts(&engine).await, (126, 0));
}

#[tokio::test]
async fn another_model_is_noticed_and_going_back_costs_no_request() {
    let server = MockServer::start(|request: &everlore_mock_llm::HttpRequest| {
        let model = request.json()["model"].as_str().unwrap_or_default().to_owned();
        everlore_mock_llm::Responder::respond(
            &mut MockEmbeddings { model, ..MockEmbeddings::default() },
            request,
        )
    });
    let path = fresh_path();
    let owner = scope("ann");
    let old = unhurried(&server, EmbeddingProvider::Openai);
    let new = EmbeddingConfig { model: "newer".into(), ..old.clone() };
    let (engine, store) = open(&path, &old).await;
    remember_all(&engine, &owner, &TEXTS).await;
    engine.flush(PATIENT).await;
    store.admin().close().await;

    let (engine, store) = open(&path, &new).await;
    remember_all(&engine, &owner, &["a second puppy"]).await;
    engine.flush(PATIENT).await;
    let status = engine.admin().embed_status().await.unwrap();
    assert_eq!(status.in_use.unwrap().name, "openai/scripted-embed/16");
    assert_eq!(status.model.unwrap().name, "openai/newer/16");
    assert_eq!(
        found(&engine, &owner, "any animal at home?").await,
        Vec::<String>::new(),
        "not mixed"
    );
    engine.admin().switch_embedding_model().await.unwrap();
    assert_eq!(engine.admin().backfill_embeddings(&mut |_| {}).await.unwrap(), 7);
    assert!(!found(&engine, &owner, "any animal at home?").await.is_empty());
    store.admin().close().await;

    let sent = server.requests().len();
    let (engine, _) = open(&path, &old).await;
    engine.admin().switch_embedding_model().await.unwrap();
    assert_eq!(engine.admin().backfill_embeddings(&mut |_| {}).await.unwrap(), 7);
    let texts: Vec<_> = server.requests()[sent..]
        .iter()
        .flat_map(|request| embeddings::parse_input(&request.json()).unwrap())
        .collect();
    assert_eq!(texts, ["a second puppy"], "the others were kept");
}

/// Returns the bytes under which the file caches the vector of a text.
fn slot(text: &str) -> Vec<u8> {
    let numbers = embeddings::concept_vector(text, DIMENSIONS);
    let length = numbers.iter().map(|number| f64::from(*number).powi(2)).sum::<f64>().sqrt();
    let numbers: Vec<f32> =
        numbers.iter().map(|number| (f64::from(*number) / length) as f32).collect();
    Vector::quantize(&numbers).to_bytes()
}

/// Returns the files beside the database that contain these bytes.
fn holding(path: &Path, bytes: &[u8]) -> usize {
    let files = std::fs::read_dir(path.parent().unwrap())
        .unwrap()
        .map(|entry| std::fs::read(entry.unwrap().path()).unwrap());
    files.filter(|file| file.windows(bytes.len()).any(|window| window == bytes)).count()
}

#[tokio::test]
async fn forgetting_takes_the_text_out_of_the_cache_and_every_question_with_it() {
    let server = MockServer::start(MockEmbeddings::default());
    let path = fresh_path();
    let (ann, ben) = (scope("ann"), scope("ben"));
    let (engine, store) = open(&path, &unhurried(&server, EmbeddingProvider::Openai)).await;
    let secret = engine.remember(&ann, say("我的小狗叫魑魅")).await.unwrap().id;
    let edited = everlore::MemoryEdit {
        content: Some("my puppy is called Quokka".into()),
        ..everlore::MemoryEdit::default()
    };
    engine.flush(PATIENT).await;
    engine.edit(&ann, secret, &edited).await.unwrap();
    remember_all(&engine, &ann, &["likes tea"]).await;
    remember_all(&engine, &ben, &["likes tea too"]).await;
    engine.flush(PATIENT).await;
    for owner in [&ann, &ben] {
        engine.recall(&engine.recall_request(owner, "is the puppy called Quokka?")).await.unwrap();
    }
    let texts = ["我的小狗叫魑魅", "my puppy is called Quokka", "is the puppy called Quokka?"];
    for text in texts {
        assert!(holding(&path, &slot(text)) > 0, "{text} is kept");
    }
    let before = engine.admin().embed_status().await.unwrap().cache.unwrap().entries;
    assert_eq!(before, 6);

    let forgotten = engine.forget(&ann, secret).await.unwrap();
    assert_eq!(forgotten.forgotten[0].removed.cached_vectors, 3, "two texts and a question");
    assert_eq!(engine.admin().embed_status().await.unwrap().cache.unwrap().entries, 3);
    // The other user asked the same and keeps the cached vector: it is theirs.
    let rows: Vec<(i64, i64)> = rows(&path);
    assert_eq!(rows.len(), 3);
    engine.forget(&ben, engine.remember(&ben, say("gone")).await.unwrap().id).await.unwrap();
    store.admin().close().await;
    for text in texts {
        assert_eq!(holding(&path, &slot(text)), 0, "{text}");
    }
    assert!(holding(&path, &slot("likes tea")) > 0);
}

/// Returns scope and kind of every row of the cache.
fn rows(path: &Path) -> Vec<(i64, i64)> {
    let db = Connection::open(path).unwrap();
    let mut select = db.prepare("SELECT scope, question FROM cached_vectors").unwrap();
    let rows = select.query_map([], |row| row.try_into()).unwrap();
    rows.map(Result::unwrap).collect()
}

#[tokio::test]
async fn what_is_erased_while_the_model_is_asked_is_not_kept_afterwards() {
    let server = Arc::new(MockServer::start(MockEmbeddings::default()));
    let path = fresh_path();
    let owner = scope("ann");
    let (engine, _) = open(&path, &config(&server, EmbeddingProvider::Ollama)).await;
    let answer = json!({ "embeddings": [embeddings::concept_vector("魑魅", DIMENSIONS)] });
    server.enqueue(HttpResponse::json(200, &answer).held());
    let secret = engine.remember(&owner, say("魑魅")).await.unwrap().id;
    let holder = Arc::clone(&server);
    tokio::task::spawn_blocking(move || holder.await_held()).await.unwrap();
    engine.forget(&owner, secret).await.unwrap();
    server.release();
    engine.flush(PATIENT).await;
    assert_eq!(rows(&path), []);
    assert_eq!(holding(&path, &slot("魑魅")), 0);
}

async fn sqlite() -> (SqliteStore, Scope) {
    let store = SqliteStore::open(fresh_path()).await.unwrap();
    let owner = scope("ann");
    let memory = crate::support::memory(&owner, 1, "x");
    store.apply(crate::support::write(&owner, vec![crate::support::add(&memory)])).await.unwrap();
    (store, owner)
}

fn model() -> EmbeddingModelId {
    EmbeddingModelId { name: "m/2".into(), dimensions: 2 }
}

fn keep(numbers: std::ops::Range<usize>, day: i64, most: usize) -> VectorInsert {
    let vector = Vector::quantize(&[0.6, 0.8]);
    let vectors =
        numbers.map(|number| (Fingerprint::of(&format!("文 {number}")), vector.clone())).collect();
    VectorInsert {
        model: model(),
        vectors,
        is_query: false,
        now: at(NOON + day * DAY),
        max_entries: most,
    }
}

async fn cached_count(
    store: &SqliteStore,
    owner: &Scope,
    numbers: std::ops::Range<usize>,
    day: i64,
) -> usize {
    let texts = numbers.map(|number| Fingerprint::of(&format!("文 {number}"))).collect();
    let lookup = VectorLookup { model: model(), texts, is_query: false, now: at(NOON + day * DAY) };
    store.lookup(owner, &lookup).await.unwrap().iter().flatten().count()
}

#[tokio::test]
async fn the_cache_is_bounded_and_what_was_unused_for_longest_goes_first() {
    let (store, owner) = sqlite().await;
    store.insert(&owner, keep(0..60, 0, 100)).await.unwrap();
    store.insert(&owner, keep(60..100, 1, 100)).await.unwrap();
    assert_eq!(
        cached_count(&store, &owner, 0..20, 2).await,
        20,
        "used again, so they are the newest"
    );
    store.insert(&owner, keep(100..110, 3, 100)).await.unwrap();
    // Ten too many and six more, so that pruning does not happen at every save.
    assert_eq!(store.status().await.unwrap().entries, 94);
    assert_eq!(cached_count(&store, &owner, 0..20, 3).await, 20);
    assert_eq!(cached_count(&store, &owner, 20..60, 3).await, 24);
    assert_eq!(cached_count(&store, &owner, 60..110, 3).await, 50);
}

#[tokio::test]
async fn a_scope_finds_only_what_it_kept_itself() {
    let (store, owner) = sqlite().await;
    let other = scope("ben");
    let memory = crate::support::memory(&other, 2, "y");
    store.apply(crate::support::write(&other, vec![crate::support::add(&memory)])).await.unwrap();
    store.insert(&owner, keep(0..5, 0, 100)).await.unwrap();
    assert_eq!(cached_count(&store, &other, 0..5, 0).await, 0);
    assert_eq!(cached_count(&store, &scope("nobody"), 0..5, 0).await, 0);
    assert_eq!(cached_count(&store, &owner, 0..5, 0).await, 5);
    let question = VectorLookup {
        model: model(),
        texts: vec![Fingerprint::of("文 0")],
        is_query: true,
        now: one_o_clock(),
    };
    assert_eq!(
        store.lookup(&owner, &question).await.unwrap(),
        [None],
        "a question is not a memory"
    );
    let status = store.status().await.unwrap();
    assert_eq!((status.entries, status.hits, status.misses), (5, 5, 11));
}
