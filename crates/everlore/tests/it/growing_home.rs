//! Tests of recall while a home grows: what was told at 5 memories is told at 40 and at 400.

use std::{fs, sync::Arc, time::Duration};

use everlore::{Engine, RememberRequest, llm::BuiltinEmbedder, store::RamStore};

use crate::support::{engine_on, scope};

/// Default token budget of a context block.
const BUDGET: usize = 2_000;

/// Memories of one person, each with a message in other words that it matters for.
const ENGLISH: [(&str, &str); 5] = [
    (
        "I can't eat anything with peanuts, my throat swells up.",
        "can I have one of these peanut butter cookies?",
    ),
    (
        "My sister Nora is getting married in Porto on June 20.",
        "when do I have to be in Porto for the wedding?",
    ),
    (
        "The passports are in the top drawer of the desk in the study.",
        "where did we put our travel documents?",
    ),
    (
        "I play the bassoon in the town band every Tuesday.",
        "which instrument do I make music with?",
    ),
    ("My car is a grey Skoda from 2014 and runs on diesel.", "what kind of fuel does my car need?"),
];

const CHINESE: [(&str, &str); 5] = [
    ("我一吃花生嗓子就肿，是过敏。", "这盒花生酱饼干我能吃吗"),
    ("我妹妹诺诺6月20号在厦门结婚。", "妹妹的婚礼是哪天来着"),
    ("护照都放在书房桌子最上面的抽屉里。", "我们出国要用的证件放哪了"),
    ("我每周二晚上去老年大学拉二胡。", "周二晚上我去老年大学学什么来着"),
    ("我的车是2014年的灰色斯柯达，烧柴油。", "我那辆斯柯达加什么油"),
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
    engine.flush(Duration::from_secs(60)).await;
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
    let (mut others, mut count) = (others(is_wanted, 395).into_iter(), cases.len());
    assert_eq!(others.len(), 395);
    let mut untold_by_size = Vec::new();
    for size in [5, 40, 400] {
        remember(&engine, others.by_ref().take(size - count)).await;
        count = size;
        untold_by_size.push((size, untold(&engine, cases).await));
    }
    assert_eq!(untold_by_size, [5, 40, 400].map(|size| (size, Vec::new())));
}

#[tokio::test]
async fn the_same_questions_are_told_at_5_40_and_400_memories_in_english() {
    grow(ENGLISH, |text| text.is_ascii()).await;
}

#[tokio::test]
async fn the_same_questions_are_told_at_5_40_and_400_memories_in_chinese() {
    grow(CHINESE, |text| text.contains('我')).await;
}
