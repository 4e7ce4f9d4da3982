//! Tests of recall while a home grows: what was told at 5 memories is told at 40 and at 400.

use std::{fs, sync::Arc};

use everlore::{Engine, RememberRequest, llm::BuiltinEmbedder, store::RamStore};

use crate::support::{engine_on, scope};

/// Default token budget of a context block.
const BUDGET: usize = 2_000;

/// Memories of one person, each with a message in other words that it matters for.
const ENGLISH: [(&str, &str); 5] = [
    (
        "I can't eat anything with peanuts, my throat swells up.",
        "is satay sauce okay for me tonight?",
    ),
    (
        "My sister Nora is getting married in Porto on June 20.",
        "when do I have to be in Porto for the wedding?",
    ),
    (
        "The passports are in the top drawer of the desk in the study.",
        "where did we put our travel documents?",
    ),
    ("I work nights at St. Mary's hospital as a nurse.", "what do I do for a living?"),
    (
        "Our landlord is Mr. Okafor, reachable at 0151 220 44.",
        "the heating is broken, whom do I call about my flat?",
    ),
];

const CHINESE: [(&str, &str); 5] = [
    ("我对花生过敏，吃了嗓子会肿。", "今晚的沙茶酱我能吃吗"),
    ("我妹妹诺诺6月20号在厦门结婚。", "妹妹的婚礼是哪天来着"),
    ("护照都放在书房桌子最上面的抽屉里。", "我们出国要用的证件放哪了"),
    ("我在第一医院当护士，上的是夜班。", "我是干什么工作的"),
    ("房东是欧先生，电话 0592-220044。", "家里暖气坏了，该给谁打电话"),
];

/// Returns memories of other topics in one language, as many as wanted.
fn others(is_wanted: impl Fn(&str) -> bool, count: usize) -> Vec<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tools/encoder/topics.tsv");
    let topics = fs::read_to_string(path).unwrap();
    let lines = topics.lines().rev().filter(|line| !line.starts_with(['#', '{']));
    let memories = lines.filter_map(|line| {
        line.split('\t').nth(1)?.split('|').find(|text| !text.contains('{') && is_wanted(text))
    });
    memories.take(count).map(str::to_owned).collect()
}

async fn remember(engine: &Engine, texts: impl IntoIterator<Item = String>) {
    for text in texts {
        engine.remember(&scope("ann"), RememberRequest::new(text)).await.unwrap();
    }
}

/// Returns the messages whose memory is not told.
async fn untold(engine: &Engine, cases: [(&'static str, &'static str); 5]) -> Vec<&'static str> {
    let mut untold = Vec::new();
    for (memory, message) in cases {
        let request = engine.context_request(&scope("ann"), message);
        let block = engine.context(&request, BUDGET).await.unwrap();
        if !block.text.contains(memory) {
            untold.push(message);
        }
    }
    untold
}

async fn grow(cases: [(&'static str, &'static str); 5], is_wanted: impl Fn(&str) -> bool) {
    let engine = engine_on(Arc::new(RamStore::default()))
        .rebuild()
        .embedder(Arc::new(BuiltinEmbedder::new()))
        .builtin_encoder()
        .build();
    remember(&engine, cases.map(|(memory, _)| memory.to_owned())).await;
    let mut others = others(is_wanted, 395).into_iter();
    assert_eq!(untold(&engine, cases).await, [""; 0], "5 memories");
    remember(&engine, others.by_ref().take(35)).await;
    assert_eq!(untold(&engine, cases).await, [""; 0], "40 memories");
    remember(&engine, others).await;
    assert_eq!(untold(&engine, cases).await, [""; 0], "400 memories");
}

#[tokio::test]
async fn the_same_questions_are_told_at_5_40_and_400_memories_in_english() {
    grow(ENGLISH, |text| text.is_ascii()).await;
}

#[tokio::test]
async fn the_same_questions_are_told_at_5_40_and_400_memories_in_chinese() {
    grow(CHINESE, |text| text.contains('我')).await;
}
