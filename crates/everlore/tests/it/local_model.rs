//! Tests of all-MiniLM-L6-v2 beside vectors of the reference implementation. `make test` fetches the model.

use std::path::PathBuf;

use everlore::llm::{Embedder, LocalModel, PackedTokenVectors, Reranker};
use serde::Deserialize;

/// Text with its number of pieces, its sentence vector, and the vector of its middle piece.
#[derive(Deserialize)]
struct GoldenSentence {
    text: String,
    pieces: usize,
    sentence: Vec<f32>,
    #[serde(default)]
    middle: Vec<f32>,
}

#[tokio::test]
async fn it_agrees_with_the_reference_and_tells_what_texts_mean() {
    let Some(folder) = folder() else { return };
    // As in production: converted, then opened.
    let home = tempfile::tempdir().unwrap();
    let into = home.path().join("minilm");
    let size = LocalModel::read(folder).unwrap().save_quantized(&into).unwrap();
    assert!(size < 24 << 20, "{size}");
    let model = LocalModel::open(&into).unwrap();
    assert!(model.id().name.starts_with("local-sentence-") && model.id().dimensions == 384);
    assert_like_the_reference(&model);
    assert_tells_meaning(&model).await;
}

/// Returns the model folder that `make model` fills. If the variable or `CI` is set, the model must be there.
#[expect(clippy::print_stderr, reason = "a test that is not run says so")]
fn folder() -> Option<PathBuf> {
    let named = std::env::var_os("EVERLORE_TEST_MODEL").map(PathBuf::from);
    let required = named.is_some() || std::env::var_os("CI").is_some();
    let folder = named.unwrap_or_else(|| {
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.tools/model"))
    });
    if folder.join("model.safetensors").is_file() {
        return Some(folder);
    }
    assert!(!required, "there is no model in {}: run `make model`", folder.display());
    eprintln!("not run: there is no model in {}; `make model` fetches it", folder.display());
    None
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let length = |v: &[f32]| v.iter().map(|x| x * x).sum::<f32>().sqrt();
    a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>() / length(a) / length(b)
}

fn assert_like_the_reference(model: &LocalModel) {
    let goldens: Vec<GoldenSentence> =
        serde_json::from_str(include_str!("../fixtures/minilm.json")).unwrap();
    assert_eq!(goldens.len(), 6);
    for golden in goldens {
        let sentence = cosine(&model.vector(&golden.text).unwrap(), &golden.sentence);
        assert!(sentence > 0.99, "{}: {sentence}", golden.text);
        let tokens = model.token_vectors(&golden.text).unwrap();
        assert_eq!(tokens.len(), golden.pieces, "{}", golden.text);
        if !golden.middle.is_empty() {
            let middle = cosine(&tokens[tokens.len() / 2], &golden.middle);
            assert!(middle > 0.98, "{}: {middle}", golden.text);
        }
    }
}

async fn assert_tells_meaning(model: &LocalModel) {
    let query = model.encode_query(&["what", "medicine", "did", "the", "doctor", "give?"]);
    let query = query.await.unwrap().weigh([1.0, 4.0, 1.0, 1.0, 4.0, 2.0]);
    let texts = [
        "A physician prescribed antibiotics.",
        "The train leaves at noon.",
        "We raised the price of tickets.",
    ];
    let packed = Reranker::encode_texts(model, &texts).await.unwrap();
    let alike: Vec<f32> = packed
        .iter()
        .map(|PackedTokenVectors(bytes)| query.weighted_sum(&query.compare(bytes).tokens))
        .collect();
    assert!(alike[0] > alike[1] + 0.1 && alike[0] > alike[2] + 0.1, "{alike:?}");
    let vectors = model
        .embed(&["My puppy learned to swim.", "The little dog can swim now.", texts[2]])
        .await
        .unwrap();
    assert!(cosine(&vectors[0], &vectors[1]) > cosine(&vectors[0], &vectors[2]) + 0.3);
}
