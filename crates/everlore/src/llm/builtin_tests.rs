//! Tests of the built-in model: golden vectors from Python, properties of every vector, and typical uses.

use proptest::prelude::*;
use sha2::{Digest, Sha256};

use super::goldens::goldens;
use super::*;

fn vector(text: &str) -> Vec<f32> {
    BuiltinEmbedder::new().vector(text)
}

fn cosine(a: &str, b: &str) -> f32 {
    vector(a).iter().zip(vector(b)).map(|(a, b)| a * b).sum()
}

fn length(vector: &[f32]) -> f32 {
    vector.iter().map(|value| value * value).sum::<f32>().sqrt()
}

#[test]
fn golden_texts_have_the_vectors_of_the_reference() {
    for golden in goldens() {
        let vector = vector(&golden.text);
        for (ours, theirs) in vector.iter().zip(&golden.vector) {
            assert!((ours - theirs).abs() < 1e-4, "{:?}: {ours} {theirs}", golden.text);
        }
    }
}

#[test]
fn the_identity_is_that_of_the_table_and_the_vocabulary() {
    let table: &[u8] = EMBEDDING_TABLE.as_flattened();
    let vocabulary: &[u8] = include_bytes!("../../assets/embedder/vocab.txt");
    let digest = Sha256::new().chain_update(table).chain_update(vocabulary).finalize();
    let hex: String = digest[..6].iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(BuiltinEmbedder::new().model().name, format!("everlore-static-256-v1-{hex}"));
}

#[test]
fn texts_about_the_same_are_nearer_than_texts_about_something_else() {
    let question = "What pets does she have?";
    let right = "I adopted two kittens and a dog last spring.";
    let wrong = "The quarterly budget meeting moved to Friday.";
    assert!(cosine(question, right) > cosine(question, wrong) + 0.2);
}

#[test]
fn a_text_without_known_words_has_no_direction() {
    for text in ["", "   ", "\u{200b}", "🎉🎉", "☃"] {
        assert!(vector(text).iter().all(|&value| value == 0.0), "{text:?}");
    }
}

#[test]
fn case_and_accents_change_nothing() {
    assert_eq!(vector("Café in ZÜRICH"), vector("cafe in zurich"));
}

#[test]
fn what_follows_the_first_pieces_changes_nothing() {
    let long = "word ".repeat(MAX_PIECES);
    assert_eq!(vector(&long), vector(&format!("{long} and more")));
}

#[test]
fn coverage_is_the_share_of_words_in_plain_letters() {
    let rounded = |text| (coverage(text) * 100.0).round();
    assert_eq!(rounded("Where did she move to in 2024?"), 100.0);
    assert_eq!(rounded("我上周三在北京见了老朋友。"), 0.0);
    assert_eq!(rounded("项目 release"), 33.0);
    assert_eq!(rounded("🎉"), 0.0);
    assert_eq!(rounded("...!?"), 0.0);
    assert_eq!(rounded(""), 0.0);
}

#[test]
fn half_precision_is_read_as_it_was_written() {
    let cases = [
        (0, 0.0),
        (0x3c00, 1.0),
        (0x3555, 0.333_251_95),
        (0x0001, 5.960_464_5e-8),
        (0x7bff, 65504.0),
    ];
    for (half, value) in cases {
        assert_eq!(half_to_f32(half), value);
    }
}

#[tokio::test]
async fn a_batch_is_answered_in_order() {
    let model = BuiltinEmbedder::new();
    let texts = ["one text", "", "another"];
    let vectors = model.embed(&texts).await.unwrap();
    assert_eq!(vectors, texts.map(vector));
    assert!(vectors.iter().all(|vector| vector.len() == model.model().dimensions));
}

proptest! {
    #[test]
    fn any_vector_has_length_one_or_zero(text in "\\PC{0,80}") {
        let length = length(&vector(&text));
        prop_assert!(length == 0.0 || (length - 1.0).abs() < 1e-5);
    }

    #[test]
    fn upper_case_is_lower_case(text in "[a-zäöüéñ0-9 ,.'-]{0,40}") {
        prop_assert_eq!(vector(&text), vector(&text.to_uppercase()));
    }

    #[test]
    fn coverage_is_a_share(text in ".{0,80}") {
        prop_assert!((0.0..=1.0).contains(&coverage(&text)));
    }
}
