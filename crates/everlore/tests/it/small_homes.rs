//! Tests of recall in small homes: a question that a memory answers gets that memory, any other message gets nothing.
//!
//! The data: sixty memories in each language, cut into homes of 1, 2, 5, 20 and 60, and everyday messages of which
//! about half need one of them. Confidence was tuned on one half of the messages (`everlore-eval homes`); this is the
//! other.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    sync::Arc,
};

use everlore::{Engine, Kind, RememberRequest, Turn, llm::BuiltinEmbedder, store::RamStore};

use crate::support::{engine_on, scope};

const ENGLISH: [&str; 2] =
    [include_str!("../data/small_home_en.txt"), include_str!("../data/small_questions_en.txt")];
const CHINESE: [&str; 2] =
    [include_str!("../data/small_home_zh.txt"), include_str!("../data/small_questions_zh.txt")];

/// Default token budget of a context block.
const BUDGET: usize = 2_000;

/// Results by need: messages that need a memory and those that got it, other messages and those that got one in vain.
#[derive(Debug, Default)]
struct MessageCounts {
    needing: usize,
    right: usize,
    others: usize,
    in_vain: Vec<String>,
}

fn rows(text: &'static str) -> Vec<(&'static str, &'static str)> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split_once(" | ").unwrap()).collect()
}

async fn living(memories: &[(&str, &str)]) -> Engine {
    let engine = engine_on(Arc::new(RamStore::default()))
        .rebuild()
        .embedder(Arc::new(BuiltinEmbedder::new()))
        .build();
    for (how, text) in memories {
        if let Some((session, _)) = how.split_once('/') {
            let session = Some(session.to_owned());
            let turn = Turn { text: (*text).into(), session, ..Turn::default() };
            engine.observe(&scope("ann"), vec![turn]).await.unwrap();
        } else {
            let kind: Kind = how.parse().unwrap();
            let content = (*text).to_owned();
            let request =
                RememberRequest { content, kind: Some(kind), ..RememberRequest::default() };
            engine.remember(&scope("ann"), request).await.unwrap();
        }
    }
    engine
}

/// Sends the held-out messages to homes of one size.
async fn asked([memories, questions]: [&'static str; 2], size: usize) -> MessageCounts {
    let (memories, mut homes) = (rows(memories), BTreeMap::new());
    let mut counts = MessageCounts::default();
    let held_out = |(number, _): &(usize, _)| matches!(number % 4, 1 | 2);
    for (number, (needs, question)) in rows(questions).into_iter().enumerate().filter(held_out) {
        let needs: Vec<_> = needs.split('/').filter(|needed| *needed != "-").collect();
        let holds = |home: &[(&str, &str)]| {
            needs.first().is_some_and(|needed| home.iter().any(|(_, text)| text.contains(needed)))
        };
        // A message that no home can answer is sent to any of them.
        let at = memories.chunks(size).position(holds);
        let at = at.unwrap_or(number * 7 % memories.len().div_ceil(size));
        let engine = match homes.entry(at) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(living(memories.chunks(size).nth(at).unwrap()).await),
        };
        let request = engine.context_request(&scope("ann"), question);
        let told = engine.context(&request, BUDGET).await.unwrap().text;
        if needs.is_empty() {
            counts.others += 1;
            counts.in_vain.extend((!told.is_empty()).then(|| question.to_owned()));
        } else {
            counts.needing += 1;
            counts.right += usize::from(needs.iter().any(|needed| told.contains(needed)));
        }
    }
    counts
}

#[tokio::test]
async fn homes_of_any_size_tell_what_is_needed_and_little_else() {
    for (language, all) in [("english", ENGLISH), ("chinese", CHINESE)] {
        for size in [1, 2, 5, 20, 60] {
            let counts = asked(all, size).await;
            assert!(counts.needing >= 40 && counts.others >= 40, "{counts:?}");
            // Two in three, of questions that are asked in other words, in passing or for another purpose.
            assert!(counts.right * 3 >= counts.needing * 2, "{language} {size}: {counts:?}");
            // One in eight at most; almost none where there are few memories.
            let most = if size <= 5 { 24 } else { 8 };
            assert!(counts.in_vain.len() * most <= counts.others, "{language} {size}: {counts:?}");
        }
    }
}

#[tokio::test]
async fn an_allergy_is_told_to_whoever_asks_what_to_avoid_or_wants_a_dinner() {
    let english =
        living(&[("user", "I'm allergic to peanuts"), ("project", "Harbor ships in May")]);
    let chinese = living(&[("user", "我对花生过敏"), ("project", "灯塔五月上线")]);
    for (engine, messages) in [
        (
            english.await,
            [
                "what food should I avoid? am I allergic?",
                "am I allergic?",
                "plan dinner for me tonight",
            ],
        ),
        (chinese.await, ["我应该避开什么食物？我过敏吗？", "我过敏吗？", "帮我安排今天的晚饭"]),
    ] {
        for message in messages {
            let request = engine.context_request(&scope("ann"), message);
            let told = engine.context(&request, BUDGET).await.unwrap().text;
            assert!(told.contains("peanuts") || told.contains("花生"), "{message}");
        }
    }
}
