//! Tests of the built-in model: golden vectors from Python, properties of every vector, and typical uses.

use proptest::prelude::*;
use sha2::{Digest, Sha256};

use super::goldens::{chinese_goldens, goldens};
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
    for golden in goldens().iter().filter(|golden| !has_chinese(&golden.text)) {
        let vector = vector(&golden.text);
        for (ours, theirs) in vector.iter().zip(&golden.vector) {
            assert!((ours - theirs).abs() < 1e-4, "{:?}: {ours} {theirs}", golden.text);
        }
    }
}

#[test]
fn golden_texts_in_chinese_have_the_vectors_of_the_reference() {
    for golden in chinese_goldens() {
        let vector = vector(&golden.text);
        for (ours, theirs) in vector.iter().zip(&golden.vector) {
            assert!((ours - theirs).abs() < 1e-4, "{:?}: {ours} {theirs}", golden.text);
        }
    }
}

/// Returns the vector of a text as the table without Chinese words gave it.
fn vector_without_chinese(text: &str) -> Vec<f32> {
    let (mut sums, mut left) = ([0.0; DIMENSIONS], MAX_PIECES);
    let _ = wordpiece::tokenize(&wordpiece::BERT, text.chars(), &mut |id| {
        add_packed_row(&mut sums, &EMBEDDING_TABLE[usize::from(id)]);
        left -= 1;
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    normalize(&mut sums);
    sums.to_vec()
}

fn has_chinese(text: &str) -> bool {
    chinese_words::without_chinese(text).ne(text.chars())
}

#[test]
fn chinese_words_leave_english_vectors_as_they_were_to_the_bit() {
    let english = goldens().into_iter().map(|golden| golden.text).filter(|text| !has_chinese(text));
    for text in english.chain(["word ".repeat(600)]) {
        assert_eq!(vector(&text), vector_without_chinese(&text), "{text:?}");
    }
}

#[test]
fn the_identity_is_that_of_the_table_the_vocabulary_and_the_chinese_words() {
    let table: &[u8] = EMBEDDING_TABLE.as_flattened();
    let vocabulary: &[u8] = include_bytes!("../../assets/embedder/vocab.txt");
    let words: &[u8] = include_bytes!("../../assets/embedder/zh_words.bin");
    let parts = [table, vocabulary, words];
    let digest = parts.into_iter().fold(Sha256::new(), Sha256::chain_update).finalize();
    let name = format!("everlore-static-256-v2-{}", hex(&digest[..6]));
    assert_eq!(BuiltinEmbedder::new().model().name, name);
}

#[test]
fn a_newer_version_replaces_an_older_one_and_no_other_model() {
    let id = |name: &str| EmbeddingModelId { name: name.into(), dimensions: DIMENSIONS };
    let (new, old) =
        (BuiltinEmbedder::new().model().clone(), id("everlore-static-256-v1-438d1772c0a9"));
    assert!(replaces_builtin(&new, &old));
    assert!(!replaces_builtin(&old, &new) && !replaces_builtin(&new, &new));
    assert!(!replaces_builtin(&new, &id("everlore-static-256-v3-438d1772c0a9")));
    assert!(
        !replaces_builtin(&new, &id("text-embedding-3-small"))
            && !replaces_builtin(&id("toy"), &old)
    );
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn both_languages_share_one_space() {
    let memory = "I am badly allergic to peanuts";
    for question in
        ["我对什么过敏？", "我對什麼過敏？", "我对花生过敏", "能给我推荐一些没有坚果的零食吗"]
    {
        assert!(
            cosine(question, memory) > cosine(question, "The budget meeting moved to Friday") + 0.1
        );
    }
    assert!(cosine("我对花生过敏", memory) > 0.5);
    assert!(
        cosine("what tea do I like?", "我喜欢喝龙井茶")
            > cosine("what tea do I like?", "支付模块周三上线") + 0.2
    );
}

#[tokio::test]
async fn languages_that_the_table_does_not_know_get_no_vector() {
    let model = BuiltinEmbedder::new();
    for text in ["그녀는 어디에 살아요?", "Где она живёт?", "どこにすんでいますか"]
    {
        assert!(!model.understands(text), "{text}");
        assert!(model.embed(&[text]).await.unwrap()[0].iter().all(|value| *value == 0.0), "{text}");
    }
    for text in ["", "🎉🎉", "...?"] {
        assert!(model.understands(text), "{text}: no other language");
    }
    for text in ["她住在哪里？", "Where does she live?", "支付网关是 Go 写的", "她住喺邊度？"]
    {
        assert!(model.understands(text), "{text}");
        assert!(model.embed(&[text]).await.unwrap()[0].iter().any(|value| *value != 0.0), "{text}");
    }
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
    let (english, chinese) = ("word ".repeat(MAX_PIECES), "茶，".repeat(MAX_PIECES));
    assert_eq!(vector(&english), vector(&format!("{english} and more")));
    assert_eq!(vector(&chinese), vector(&format!("{chinese}以及其他 and more")));
}

#[test]
fn coverage_is_the_share_of_known_words() {
    let rounded = |text| (coverage(text) * 100.0).round();
    assert_eq!(rounded("Where did she move to in 2024?"), 100.0);
    assert_eq!(rounded("我上周三在北京见了老朋友。"), 100.0);
    assert_eq!(rounded("项目 release"), 100.0);
    assert_eq!(rounded("鿿 茶"), 50.0);
    assert_eq!(rounded("茶 끝"), 50.0);
    assert_eq!(rounded("🎉"), 0.0);
    assert_eq!(rounded("...!?"), 0.0);
    assert_eq!(rounded(""), 0.0);
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
    fn text_without_chinese_has_the_vector_that_it_always_had(text in "[ -~äöüéñŁж“”–—…🎉]{0,60}") {
        prop_assert_eq!(vector(&text), vector_without_chinese(&text));
    }

    #[test]
    fn coverage_is_a_share(text in ".{0,80}") {
        prop_assert!((0.0..=1.0).contains(&coverage(&text)));
    }
}
