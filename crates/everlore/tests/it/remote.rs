//! Tests of remote embedders against a mock server: batches, retries, rejected responses, timeouts.

use std::{sync::Arc, time::Duration};

use everlore::{
    Error, Result,
    config::{EmbeddingConfig, EmbeddingProvider, SecretString, VectorEncoding},
    llm::{Embedder, EmbeddingEndpoint, Proxies, RemoteEmbedder, RetryPolicy},
};
use everlore_mock_llm::{HttpResponse, MockEmbeddings, MockServer, embeddings};
use serde_json::json;

/// Pauses too short to notice.
pub(crate) const HASTY: RetryPolicy = RetryPolicy {
    retries: 3,
    first_pause: Duration::from_millis(1),
    max_pause: Duration::from_secs(5),
};

const DIMENSIONS: usize = 16;

const TEXTS: [&str; 7] = [
    "a puppy",
    "我喜欢龙井茶",
    "the staging port",
    "医生开了药",
    "moved to Lisbon",
    "tea",
    "  住在里斯本 ",
];

pub(crate) fn config(server: &MockServer, provider: EmbeddingProvider) -> EmbeddingConfig {
    let path = if provider == EmbeddingProvider::Openai { "/v1" } else { "" };
    EmbeddingConfig {
        provider,
        model: "scripted-embed".into(),
        base_url: format!("{}{path}", server.url()),
        ..EmbeddingConfig::default()
    }
}

pub(crate) fn endpoint(config: &EmbeddingConfig) -> EmbeddingEndpoint {
    EmbeddingEndpoint::new(config, None, &Proxies::default()).unwrap().with_retry_policy(HASTY)
}

fn remote(config: &EmbeddingConfig) -> RemoteEmbedder {
    endpoint(config).document_embedder(DIMENSIONS)
}

fn openai(server: &MockServer) -> RemoteEmbedder {
    remote(&config(server, EmbeddingProvider::Openai))
}

/// Returns the vectors that the model should return, of length 1.
fn expected(text: &str) -> Vec<f32> {
    let numbers = embeddings::concept_vector(text.trim(), DIMENSIONS);
    let length = numbers.iter().map(|number| number * number).sum::<f32>().sqrt();
    numbers.iter().map(|number| number / length).collect()
}

fn assert_expected(texts: &[&str], vectors: &[Vec<f32>]) {
    assert_eq!(texts.len(), vectors.len());
    for (text, vector) in texts.iter().zip(vectors) {
        let near = expected(text).iter().zip(vector).all(|(a, b)| (a - b).abs() < 1e-5);
        assert!(near && vector.len() == DIMENSIONS, "{text}: {vector:?}");
    }
}

/// Returns the number of texts in each request.
fn sizes(server: &MockServer) -> Vec<usize> {
    server
        .requests()
        .iter()
        .map(|request| embeddings::parse_input(&request.json()).unwrap().len())
        .collect()
}

async fn failure(embedder: &RemoteEmbedder, texts: &[&str]) -> (String, String) {
    let error = embedder.embed(texts).await.unwrap_err();
    assert!(matches!(error, Error::Remote { .. }), "{error:?}");
    (error.to_string(), error.hint().to_owned())
}

#[tokio::test]
async fn both_protocols_give_the_vectors_of_english_and_chinese_texts_in_order() {
    for (provider, path) in
        [(EmbeddingProvider::Openai, "/v1/embeddings"), (EmbeddingProvider::Ollama, "/api/embed")]
    {
        let server = MockServer::start(MockEmbeddings::default());
        let embedder = remote(&config(&server, provider));
        assert_expected(&TEXTS, &embedder.embed(&TEXTS).await.unwrap());
        let requests = server.requests();
        assert_eq!((requests.len(), requests[0].path.as_str()), (1, path));
        assert_eq!(requests[0].header("content-type"), Some("application/json"));
        assert_eq!(requests[0].header("authorization"), None, "no key, no header");
    }
}

#[tokio::test]
async fn vectors_may_travel_as_bytes_and_be_shortened() {
    let server = MockServer::start(MockEmbeddings::default());
    let config = EmbeddingConfig {
        encoding: VectorEncoding::Base64,
        dimensions: 8,
        ..config(&server, EmbeddingProvider::Openai)
    };
    let vectors = endpoint(&config).document_embedder(8).embed(&TEXTS[..2]).await.unwrap();
    assert_eq!(vectors.iter().map(Vec::len).collect::<Vec<_>>(), [8, 8]);
    let sent = server.requests()[0].json();
    assert_eq!((&sent["encoding_format"], &sent["dimensions"]), (&json!("base64"), &json!(8)));
}

#[tokio::test]
async fn batches_are_bounded_by_count_and_by_characters() {
    let server = MockServer::start(MockEmbeddings::default());
    let by_count = EmbeddingConfig { batch: 3, ..config(&server, EmbeddingProvider::Ollama) };
    assert_expected(&TEXTS, &remote(&by_count).embed(&TEXTS).await.unwrap());
    assert_eq!(sizes(&server), [3, 3, 1]);

    let server = MockServer::start(MockEmbeddings::default());
    let by_chars =
        EmbeddingConfig { batch_chars: 1_000, ..config(&server, EmbeddingProvider::Openai) };
    let long =
        ["茶".repeat(600), "茶".repeat(400), "tea".into(), "dog ".repeat(300), "port".into()];
    let long: Vec<&str> = long.iter().map(String::as_str).collect();
    assert_expected(&long, &remote(&by_chars).embed(&long).await.unwrap());
    assert_eq!(sizes(&server), [2, 1, 1, 1], "1,000 characters just fit, and 1,200 go alone");
}

#[tokio::test]
async fn texts_without_words_are_not_sent() {
    let server = MockServer::start(MockEmbeddings::default());
    let vectors = openai(&server).embed(&["", "tea", " \n"]).await.unwrap();
    assert_eq!((&vectors[0], &vectors[2]), (&vec![0.0; DIMENSIONS], &vec![0.0; DIMENSIONS]));
    assert_expected(&["tea"], &vectors[1..2]);
    assert_eq!(sizes(&server), [1]);
    assert_eq!(openai(&server).embed(&[]).await.unwrap(), Vec::<Vec<f32>>::new());
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_server_that_is_busy_is_asked_again_when_it_says() {
    let server = MockServer::start(MockEmbeddings::default());
    server.enqueue(HttpResponse::error(429, "slow down").with_header("retry-after", "1"));
    let started = std::time::Instant::now();
    assert_expected(&TEXTS, &openai(&server).embed(&TEXTS).await.unwrap());
    assert!(started.elapsed() >= Duration::from_secs(1), "{:?}", started.elapsed());
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn a_server_that_wants_too_long_a_pause_is_given_up() {
    let server = MockServer::start(MockEmbeddings::default());
    server.enqueue(
        HttpResponse::error(429, "come back tomorrow").with_header("retry-after", "86400"),
    );
    let (message, _) = failure(&openai(&server), &TEXTS).await;
    assert!(message.contains("come back tomorrow"), "{message}");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn failures_that_pass_are_survived_and_those_that_do_not_are_told() {
    let server = MockServer::start(MockEmbeddings::default());
    server.enqueue(HttpResponse::error(500, "worker died"));
    server.enqueue(HttpResponse::json(200, &json!({ "data": [] })).disconnect_after(5));
    server.enqueue(HttpResponse::error(503, "loading"));
    assert_expected(&TEXTS, &openai(&server).embed(&TEXTS).await.unwrap());
    assert_eq!(server.requests().len(), 4);
    for _ in 0..4 {
        server.enqueue(HttpResponse::error(500, "模型崩溃"));
    }
    let (message, hint) = failure(&openai(&server), &TEXTS).await;
    assert!(
        message.contains("status 500: 模型崩溃") && hint.contains("try again"),
        "{message} {hint}"
    );
    assert_eq!(server.requests().len(), 8, "three repetitions");
}

#[tokio::test]
async fn a_connection_that_breaks_off_every_time_is_told() {
    let server = MockServer::start(|_: &everlore_mock_llm::HttpRequest| {
        HttpResponse::json(200, &json!({ "data": [] })).disconnect_after(3)
    });
    let (message, _) = failure(&openai(&server), &TEXTS).await;
    assert!(message.contains("was cut off"), "{message}");
    assert_eq!(server.requests().len(), 4);
}

#[tokio::test]
async fn a_refused_key_is_not_tried_again_and_never_shown() {
    let server = MockServer::start(MockEmbeddings {
        key: Some("sk-right".into()),
        ..MockEmbeddings::default()
    });
    let config = config(&server, EmbeddingProvider::Openai);
    let with = |key: Option<&str>| {
        let endpoint =
            EmbeddingEndpoint::new(&config, key.map(SecretString::new), &Proxies::default())
                .unwrap();
        endpoint.with_retry_policy(HASTY).document_embedder(DIMENSIONS)
    };
    let wrong = with(Some("sk-wrong-one"));
    let (message, hint) = failure(&wrong, &TEXTS).await;
    assert!(message.starts_with("the key in OPENAI_API_KEY was refused by 127.0.0.1"), "{message}");
    assert!(message.contains("(401)") && hint.contains("revoked"), "{message} {hint}");
    assert!(!message.contains("sk-wrong-one") && !format!("{wrong:?}").contains("sk-wrong-one"));
    assert_eq!(server.requests().len(), 1);
    let (message, hint) = failure(&with(None), &TEXTS).await;
    assert!(
        message.contains("asks for a key") && hint.contains("OPENAI_API_KEY"),
        "{message} {hint}"
    );
    assert_expected(&TEXTS, &with(Some("sk-right")).embed(&TEXTS).await.unwrap());
}

#[tokio::test]
async fn a_model_that_is_not_there_is_told_with_how_to_get_it() {
    let server = MockServer::start(MockEmbeddings::default());
    for (provider, advice) in
        [(EmbeddingProvider::Openai, "base_url"), (EmbeddingProvider::Ollama, "ollama pull bge-m3")]
    {
        let config = EmbeddingConfig { model: "bge-m3".into(), ..config(&server, provider) };
        let (message, hint) = failure(&remote(&config), &TEXTS).await;
        assert!(
            message.contains("does not know the model `bge-m3`") && hint.contains(advice),
            "{message} {hint}"
        );
    }
    assert_eq!(server.requests().len(), 2, "neither is asked again");
}

#[tokio::test]
async fn answers_that_cannot_be_right_are_refused() {
    let server = MockServer::start(MockEmbeddings::default());
    let item = |index: usize, embedding: serde_json::Value| json!({ "index": index, "embedding": embedding });
    let answer = |items: &[serde_json::Value]| HttpResponse::json(200, &json!({ "data": items }));
    let right = json!(vec![0.5; DIMENSIONS]);
    let cases = [
        (answer(&[item(0, right.clone())]), "has 1 vectors for 2 texts"),
        (answer(&[item(0, right.clone()), item(0, right.clone())]), "leaves out or repeats texts"),
        (answer(&[item(0, right.clone()), item(1, json!([1.0, 2.0]))]), "2 numbers instead of 16"),
        (
            answer(&[item(0, right.clone()), item(1, json!(vec![0.0; DIMENSIONS]))]),
            "a vector of zeros",
        ),
        (answer(&[item(0, right.clone()), item(1, json!("not base64!"))]), "is not base64"),
        (answer(&[item(0, right.clone()), item(1, json!([null]))]), "cannot be read"),
        (
            HttpResponse::bytes(
                200,
                "application/json",
                b"{\"data\":[{\"index\":0,\"embedding\":[NaN]}]}".to_vec(),
            ),
            "cannot be read",
        ),
        (HttpResponse::bytes(200, "text/html", b"<html>sign in</html>".to_vec()), "cannot be read"),
        // Four bytes of NaN, as base64.
        (
            answer(&[item(0, json!("AADAfw==")), item(1, json!("AADAfw=="))]),
            "1 numbers instead of 16",
        ),
    ];
    for (reply, what) in cases {
        server.enqueue(reply);
        let (message, hint) = failure(&openai(&server), &["tea", "茶"]).await;
        assert!(message.contains(what) && hint.contains("[embedding]"), "{message} {hint}");
    }
    assert_eq!(server.requests().len(), 9, "none is asked again");
    server.enqueue(answer(&[item(0, json!("AADAfw=="))]));
    let error = endpoint(&config(&server, EmbeddingProvider::Openai))
        .document_embedder(1)
        .embed(&["tea"])
        .await
        .unwrap_err();
    assert!(error.to_string().contains("not finite"), "{error}");
}

#[tokio::test]
async fn a_batch_that_is_too_large_is_split_and_a_text_that_is_too_long_is_shortened() {
    let server = MockServer::start(MockEmbeddings { max_chars: 300, ..MockEmbeddings::default() });
    let texts: Vec<String> =
        (0..9).map(|number| format!("{number} {}", "茶 tea ".repeat(10 + number))).collect();
    let texts: Vec<&str> = texts.iter().map(|text| text.trim()).collect();
    assert_expected(&texts, &openai(&server).embed(&texts).await.unwrap());
    assert!(sizes(&server).contains(&1) || sizes(&server).contains(&2), "{:?}", sizes(&server));

    let long = format!("puppy {}", "w ".repeat(400));
    let vectors = openai(&server).embed(&[&long]).await.unwrap();
    let kept: String = long.chars().take(long.trim().chars().count() / 4).collect();
    assert_expected(&[&kept], &vectors);

    let strict = MockServer::start(MockEmbeddings { max_chars: 3, ..MockEmbeddings::default() });
    let (message, hint) = failure(&openai(&strict), &["this does not fit"]).await;
    assert!(message.contains("maximum context") && hint.contains("batch"), "{message} {hint}");
}

#[tokio::test]
async fn a_server_that_is_too_slow_is_given_up_in_time_and_can_be_asked_again() {
    let server = MockServer::start(MockEmbeddings::default());
    let slow = EmbeddingConfig {
        timeout: Duration::from_millis(50),
        retries: 0,
        ..config(&server, EmbeddingProvider::Ollama)
    };
    let embedder = EmbeddingEndpoint::new(&slow, None, &Proxies::default())
        .unwrap()
        .document_embedder(DIMENSIONS);
    server.enqueue(HttpResponse::json(200, &json!({})).held());
    let (message, _) = failure(&embedder, &TEXTS).await;
    assert!(message.contains("did not answer within 50ms"), "{message}");
    assert_expected(&TEXTS, &openai(&server).embed(&TEXTS).await.unwrap());
}

#[tokio::test]
async fn dropping_a_request_ends_it() {
    let server = Arc::new(MockServer::start(MockEmbeddings::default()));
    server.enqueue(HttpResponse::json(200, &json!({})).held());
    let embedder = openai(&server);
    let asking = tokio::spawn(async move { embedder.embed(&TEXTS).await });
    let holder = Arc::clone(&server);
    tokio::task::spawn_blocking(move || holder.await_held()).await.unwrap();
    asking.abort();
    assert!(asking.await.unwrap_err().is_cancelled());
    assert_expected(&TEXTS, &openai(&server).embed(&TEXTS).await.unwrap());
}

#[tokio::test]
async fn nobody_listening_is_told_by_the_address() {
    let gone = { config(&MockServer::start(MockEmbeddings::default()), EmbeddingProvider::Ollama) };
    let (message, hint) = failure(&remote(&gone), &TEXTS).await;
    assert!(message.contains("127.0.0.1") && message.contains("cannot be reached"), "{message}");
    assert!(hint.contains("check that the server runs"), "{hint}");
}

#[tokio::test]
async fn the_size_of_vectors_is_asked_for_and_the_name_tells_models_apart() -> Result<()> {
    let server = MockServer::start(MockEmbeddings::default());
    let config = config(&server, EmbeddingProvider::Openai);
    let endpoint = endpoint(&config);
    assert_eq!(endpoint.known_dimensions(None), None);
    assert_eq!(endpoint.probe_dimensions().await?, DIMENSIONS);
    let model = endpoint.document_embedder(DIMENSIONS).model().clone();
    assert_eq!(model.name, "openai/scripted-embed/16");
    assert_eq!(endpoint.known_dimensions(Some(&model)), Some(DIMENSIONS), "the store remembers it");
    assert_eq!(*endpoint.query_embedder(DIMENSIONS).model(), model);
    let others = [
        EmbeddingConfig { model: "other".into(), ..config.clone() },
        EmbeddingConfig { provider: EmbeddingProvider::Ollama, ..config.clone() },
        EmbeddingConfig { text_prefix: "passage: ".into(), ..config.clone() },
    ];
    for other in &others {
        assert_eq!(self::endpoint(other).known_dimensions(Some(&model)), None, "{other:?}");
    }
    let given = EmbeddingConfig { dimensions: 8, ..config };
    assert_eq!(self::endpoint(&given).known_dimensions(Some(&model)), Some(8));
    Ok(())
}

#[tokio::test]
async fn memories_and_questions_get_the_prefixes_that_a_model_asks_for() {
    let server = MockServer::start(MockEmbeddings::default());
    let config = EmbeddingConfig {
        text_prefix: "search_document: ".into(),
        query_prefix: "search_query: ".into(),
        ..config(&server, EmbeddingProvider::Ollama)
    };
    endpoint(&config).document_embedder(DIMENSIONS).embed(&["茶"]).await.unwrap();
    endpoint(&config).query_embedder(DIMENSIONS).embed(&["tea?"]).await.unwrap();
    let sent: Vec<_> =
        server.requests().iter().map(|request| request.json()["input"][0].clone()).collect();
    assert_eq!(sent, ["search_document: 茶", "search_query: tea?"]);
}
