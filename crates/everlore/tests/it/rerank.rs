//! Tests of reranking with a transparent model: words of one concept have the same vector.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use async_trait::async_trait;
use everlore::{
    Engine, MemoryEdit, Recall, RecallRequest, RememberRequest, Result,
    engine::WhyNot,
    llm::{EncodedQuery, PackedTokenVectors, Reranker},
    store::TermHash,
    types::EmbeddingModelId,
};

use crate::support::{engine, ram, remember_all, scope, turn};

/// Words with the same vector, by concept; any other word has its own.
const CONCEPTS: [&[&str]; 2] = [&["doctor", "physician"], &["medicine", "antibiotics"]];

/// Dimensions: one for each bit of a word's digest.
const DIMENSIONS: usize = 64;

/// Model that knows [`CONCEPTS`], and counts the texts that it encodes.
struct ToyReranker {
    model: EmbeddingModelId,
    read: AtomicUsize,
    asked: Mutex<Vec<String>>,
}

impl ToyReranker {
    fn new() -> Arc<Self> {
        let model = EmbeddingModelId { name: "toy-words".into(), dimensions: DIMENSIONS };
        Arc::new(Self { model, read: AtomicUsize::new(0), asked: Mutex::default() })
    }

    fn count(&self) -> usize {
        self.read.load(Ordering::Relaxed)
    }
}

#[async_trait]
impl Reranker for ToyReranker {
    fn model(&self) -> &EmbeddingModelId {
        &self.model
    }

    fn understands(&self, question: &str) -> bool {
        question.is_ascii()
    }

    async fn encode_texts(&self, texts: &[&str]) -> Result<Vec<PackedTokenVectors>> {
        self.read.fetch_add(texts.len(), Ordering::Relaxed);
        let vectors = |text: &&str| text.split_whitespace().map(vector).collect::<Vec<_>>();
        Ok(texts
            .iter()
            .map(|text| PackedTokenVectors::new(&[0.0; DIMENSIONS], &vectors(text)))
            .collect())
    }

    async fn encode_query(&self, words: &[&str]) -> Result<EncodedQuery> {
        self.asked.lock().unwrap().push(words.join(" "));
        Ok(EncodedQuery {
            words: words.iter().map(|word| (*word).to_owned()).collect(),
            // The pooled vectors of any two texts are unrelated.
            pooled: vec![0.0; DIMENSIONS],
            tokens: words.iter().map(|word| vector(word)).collect(),
            word_tokens: vec![1; words.len()],
        })
    }
}

/// Returns one direction for each concept and each other word.
fn vector(word: &str) -> Vec<f32> {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let concept = CONCEPTS.iter().position(|words| words.contains(&word.as_str()));
    let seed = concept
        .map_or_else(|| TermHash::of(&word).0, |concept| TermHash::of(CONCEPTS[concept][0]).0);
    let sign = |place: usize| if seed >> place & 1 == 0 { 1.0 } else { -1.0 };
    let length = (DIMENSIONS as f32).sqrt();
    (0..DIMENSIONS).map(|place| sign(place) / length).collect()
}

async fn ask(engine: &Engine, query: &str) -> Recall {
    engine.recall(&engine.recall_request(&scope("ann"), query)).await.unwrap()
}

fn contents(found: &Recall) -> Vec<&str> {
    found.hits.iter().map(|hit| hit.memory.content.as_str()).collect()
}

const TEXTS: [&str; 4] = [
    "on monday the doctor parked the car",
    "on monday a physician prescribed antibiotics",
    "on monday we cooked onion soup",
    "on monday we cooked fried rice",
];

#[tokio::test]
async fn words_of_the_same_meaning_lift_a_memory() {
    for engine in [engine().await, ram()] {
        remember_all(&engine, &scope("ann"), &TEXTS).await;
        let query = "which medicine on monday";
        let plain = ask(&engine, query).await;
        assert!(plain.hits.iter().all(|hit| hit.signals.rerank == 0.0));
        let toy = ToyReranker::new();
        let engine = engine.rebuild().reranker(toy.clone()).build();
        let found = ask(&engine, query).await;
        assert_eq!(contents(&found)[0], TEXTS[1], "{:#?}", found.hits);
        let signals = &found.hits[0].signals;
        assert!(signals.rerank > 1.0, "{signals:?}");
        assert!((signals.lexical + signals.rerank - signals.fused).abs() < 1e-9, "{signals:?}");
        assert_eq!(toy.count(), 4);
        ask(&engine, query).await;
        assert_eq!(toy.count(), 4, "what was read once is kept");
    }
}

#[tokio::test]
async fn a_text_that_changes_is_read_again_and_one_that_goes_leaves_nothing() {
    for engine in [engine().await, ram()] {
        let (toy, ann) = (ToyReranker::new(), scope("ann"));
        let engine = engine.rebuild().reranker(toy.clone()).build();
        remember_all(&engine, &ann, &TEXTS).await;
        assert_eq!(engine.admin().embed_status().await.unwrap().unread, 4);
        assert_eq!(engine.admin().backfill_token_vectors(&mut |_| ()).await.unwrap(), 4);
        assert_eq!(
            engine.admin().backfill_token_vectors(&mut |_| ()).await.unwrap(),
            0,
            "there is nothing more to do"
        );
        let found = ask(&engine, "monday soup").await;
        assert_eq!(toy.count(), 4);
        let soup = found.hits.iter().find(|hit| hit.memory.content == TEXTS[2]).unwrap().memory.id;
        let edit = MemoryEdit {
            content: Some("on monday we ate medicine".into()),
            ..MemoryEdit::default()
        };
        engine.edit(&ann, soup, &edit).await.unwrap();
        let status = engine.admin().embed_status().await.unwrap();
        assert_eq!((status.read, status.unread), (3, 1));
        let found = ask(&engine, "antibiotics monday").await;
        assert!(
            contents(&found)[..2].contains(&"on monday we ate medicine"),
            "{:?}",
            contents(&found)
        );
        assert_eq!(toy.count(), 5);
        let gone = engine.forget(&ann, soup).await.unwrap();
        assert!(gone.forgotten[0].removed.vectors >= 1, "{gone:?}");
        let status = engine.admin().embed_status().await.unwrap();
        assert_eq!((status.read, status.unread), (3, 0));
    }
}

#[tokio::test]
async fn chinese_questions_are_left_alone() {
    let toy = ToyReranker::new();
    let engine = ram().rebuild().reranker(toy.clone()).build();
    remember_all(&engine, &scope("ann"), &["我喜欢龙井茶", "医生开了抗生素"]).await;
    let found = ask(&engine, "医生开了什么药").await;
    assert_eq!(contents(&found)[0], "医生开了抗生素");
    assert_eq!(
        (toy.count(), toy.asked.lock().unwrap().len()),
        (0, 0),
        "the model knows no Chinese"
    );
}

#[tokio::test]
async fn the_names_of_speakers_are_not_asked_for() {
    let toy = ToyReranker::new();
    let engine = ram().rebuild().reranker(toy.clone()).build();
    let turns = vec![
        turn("monday", "Caroline", "I saw a physician"),
        turn("monday", "Ben", "Hey Caroline"),
    ];
    engine.observe(&scope("ann"), turns).await.unwrap();
    ask(&engine, "When did Caroline see the doctor?").await;
    let asked = ["When did Caroline see the doctor ?", "When did see the doctor ?"];
    assert_eq!(*toy.asked.lock().unwrap(), asked, "ahead of the index, and without the name");
}

#[tokio::test]
async fn what_stands_in_the_next_turn_counts_too() {
    let toy = ToyReranker::new();
    let engine = ram().rebuild().reranker(toy.clone()).build();
    let said = [
        ("Ben", "did you see anybody about the cough"),
        ("Ann", "yes, the one on monday"),
        ("Ben", "the physician with antibiotics"),
    ];
    let mut turns: Vec<_> = said.map(|(who, text)| turn("clinic", who, text)).into();
    turns.extend(
        (0..6).map(|n| turn(&format!("s{n}"), "Ben", &format!("on monday we cooked dish {n}"))),
    );
    engine.observe(&scope("ann"), turns).await.unwrap();
    let found = ask(&engine, "medicine on monday").await;
    assert!(contents(&found)[..2].contains(&"yes, the one on monday"), "{:?}", contents(&found));
}

#[tokio::test]
async fn a_first_question_reads_a_bounded_amount_and_still_answers() {
    let toy = ToyReranker::new();
    let engine = ram().rebuild().reranker(toy.clone()).build();
    let long = "filler ".repeat(100);
    for number in 0..30 {
        let content = format!("on monday note {number} {long}");
        engine
            .remember(&scope("ann"), RememberRequest { content, ..RememberRequest::default() })
            .await
            .unwrap();
    }
    let found = ask(&engine, "monday note 7").await;
    assert_eq!(found.hits.len(), 10);
    let first = toy.count();
    assert!((1..30).contains(&first), "{first}");
    ask(&engine, "monday note 7").await;
    assert!(toy.count() > first, "the next question reads on");
    engine.admin().backfill_token_vectors(&mut |_| ()).await.unwrap();
    assert_eq!(toy.count(), 30);
}

#[tokio::test]
async fn why_not_ranks_as_recall_does() {
    let toy = ToyReranker::new();
    let engine = ram().rebuild().reranker(toy.clone()).build();
    let saved = remember_all(&engine, &scope("ann"), &TEXTS).await;
    let request = RecallRequest {
        limit: 2,
        ..engine.recall_request(&scope("ann"), "which medicine on monday")
    };
    let found = engine.recall(&request).await.unwrap();
    for (index, hit) in found.hits.iter().enumerate() {
        match engine.why_not(&request, hit.memory.id).await.unwrap() {
            WhyNot::Returned { rank, hit: same } => {
                assert_eq!(rank, index + 1);
                assert_eq!(same.signals.rerank, hit.signals.rerank);
            }
            other => panic!("{other:?}"),
        }
    }
    let last =
        saved.iter().find(|saved| found.hits.iter().all(|hit| hit.memory.id != saved.id)).unwrap();
    let answer = engine.why_not(&request, last.id).await.unwrap();
    assert!(matches!(answer, WhyNot::Rank { limit: 2, .. }), "{answer:?}");
}
