//! Tests of the need for memory: everyday messages that need none get none, and questions that need one get the right
//! one.
//!
//! Six stores, in both languages, about a life, a program and a kitchen, so that words overlap by accident. Every
//! message goes to every store of its own language and, since people mix languages, to the others as well.

use std::{collections::BTreeMap, sync::Arc};

use everlore::{
    Engine, Kind, MemoryBlock, RememberRequest, Scope, Turn, llm::BuiltinEmbedder, store::RamStore,
};

use crate::support::{engine_on, scope};

const STORE: &str = include_str!("../data/everyday_store.txt");
const QUESTIONS: &str = include_str!("../data/everyday_questions.txt");
const ENGLISH: &str = include_str!("../data/everyday_en.txt");
const CHINESE: &str = include_str!("../data/everyday_zh.txt");

/// Default token budget of a context block.
const BUDGET: usize = 2_000;

/// Returns the fields of each line.
fn rows(text: &'static str) -> impl Iterator<Item = [&'static str; 3]> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| {
        let parts: Vec<_> = line.splitn(3, " | ").collect();
        parts.try_into().unwrap()
    })
}

fn messages(text: &str) -> Vec<String> {
    text.lines().map(|line| line.replace("\\n", "\n")).collect()
}

/// Creates an engine with the stores, and returns it with the scopes.
async fn stores() -> (Engine, Vec<Scope>) {
    let engine = engine_on(Arc::new(RamStore::default()))
        .rebuild()
        .embedder(Arc::new(BuiltinEmbedder::new()))
        .build();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for [user, how, text] in rows(STORE) {
        *counts.entry(user).or_default() += 1;
        save(&engine, &scope(user), how, text).await;
    }
    assert!(counts.values().sum::<usize>() >= 150, "{counts:?}");
    let scopes = counts.into_keys().map(scope).collect();
    (engine, scopes)
}

async fn save(engine: &Engine, owner: &Scope, how: &str, text: &str) {
    if let Some((session, speaker)) = how.split_once('/') {
        let turn = Turn {
            text: text.into(),
            session: Some(session.into()),
            speaker: Some(speaker.into()),
            ..Turn::default()
        };
        engine.observe(owner, vec![turn]).await.unwrap();
    } else {
        let kind: Kind = how.parse().unwrap();
        let request = RememberRequest {
            content: text.into(),
            kind: Some(kind),
            ..RememberRequest::default()
        };
        engine.remember(owner, request).await.unwrap();
    }
}

async fn context_block(engine: &Engine, owner: &Scope, message: &str) -> MemoryBlock {
    engine.context(&engine.context_request(owner, message), BUDGET).await.unwrap()
}

#[tokio::test]
async fn messages_that_need_no_memory_get_none() {
    let (engine, scopes) = stores().await;
    for all in [ENGLISH, CHINESE] {
        let all = messages(all);
        assert_eq!(all.len(), 100);
        let (mut told_some, mut asked) = (Vec::new(), 0);
        for (message, owner) in all.iter().flat_map(|m| scopes.iter().map(move |s| (m, s))) {
            asked += 1;
            let block = context_block(&engine, owner, message).await;
            if !block.entries.is_empty() {
                let found = engine.recall(&engine.recall_request(owner, message)).await.unwrap();
                told_some.push(format!(
                    "{owner} {:.2} {message} -> {}",
                    found.confidence, found.hits[0].memory.content
                ));
            }
        }
        // At most one in fifty.
        assert!(told_some.len() * 50 <= asked, "{} of {asked}: {told_some:#?}", told_some.len());
    }
}

#[tokio::test]
async fn questions_about_what_is_stored_get_the_right_memory() {
    let (engine, _) = stores().await;
    for english in [true, false] {
        let (mut missed, mut asked) = (Vec::new(), 0);
        for [user, question, answer] in
            rows(QUESTIONS).filter(|[user, ..]| user.is_ascii() == english)
        {
            asked += 1;
            let owner = scope(user);
            if !context_block(&engine, &owner, question).await.text.contains(answer) {
                let found = engine.recall(&engine.recall_request(&owner, question)).await.unwrap();
                missed.push(format!(
                    "{user} {:.2} {question} -> {:?} {:?}",
                    found.confidence,
                    found.hits.first().map(|hit| &hit.memory.content),
                    found.judgement
                ));
            }
        }
        assert_eq!(asked, 30);
        // At most one in ten.
        assert!(missed.len() * 10 <= asked, "{} of {asked}: {missed:#?}", missed.len());
    }
}
