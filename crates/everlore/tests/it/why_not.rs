//! Tests of `why_not`: every reason that keeps a memory out of an answer is named.

use everlore::{
    Engine, Error, MemoryId, RecallRequest, RememberRequest, Scope, Status,
    engine::WhyNot,
    store::{MemoryFilter, Store as _},
};

use crate::support::{
    add, days_ago, engine_on, id, memory, noon, ram, remember_all, say, scope, spoken, write,
};

async fn remember_tea(engine: &Engine, owner: &Scope) -> MemoryId {
    let tagged = RememberRequest {
        tags: vec!["drink".into()],
        session: Some("monday".into()),
        at: Some(days_ago(2)),
        ..say("I like tea")
    };
    let id = engine.remember(owner, tagged).await.unwrap().id;
    remember_all(engine, owner, &["tea tea", "我喜欢龙井茶", "green tea"]).await;
    id
}

#[tokio::test]
async fn what_is_in_the_answer_is_said_to_be() {
    let (engine, owner) = (ram(), scope("ann"));
    let id = remember_tea(&engine, &owner).await;
    let why = engine.why_not(&engine.recall_request(&owner, "I like"), id).await.unwrap();
    let WhyNot::Returned { rank: 1, hit } = why else { panic!("{why:?}") };
    assert_eq!(hit.memory.id, id);
}

#[tokio::test]
async fn each_part_of_a_filter_is_named_with_what_the_memory_has() {
    let (engine, owner) = (ram(), scope("ann"));
    let id = remember_tea(&engine, &owner).await;
    let any = MemoryFilter::default;
    let at = days_ago(2).to_string();
    for (filter, by, has) in [
        (MemoryFilter { kinds: vec![everlore::Kind::Project], ..any() }, "kind", "user"),
        (MemoryFilter { statuses: vec![Status::Archived], ..any() }, "status", "active"),
        (MemoryFilter { tags: vec!["food".into()], ..any() }, "tags", "drink"),
        (MemoryFilter { since: Some(noon()), ..any() }, "since", &at),
        (MemoryFilter { until: Some(days_ago(9)), ..any() }, "until", &at),
        (MemoryFilter { session: Some("sunday".into()), ..any() }, "session", "monday"),
    ] {
        let request = RecallRequest { filter, ..engine.recall_request(&owner, "tea") };
        let why = engine.why_not(&request, id).await.unwrap();
        assert_eq!(why, WhyNot::Filter { by, has: has.into() });
    }
}

#[tokio::test]
async fn a_query_without_a_common_word_is_shown_beside_the_words_of_the_memory() {
    let (engine, owner) = (ram(), scope("ann"));
    let id = remember_tea(&engine, &owner).await;
    let why = engine.why_not(&engine.recall_request(&owner, "登山 boots"), id).await.unwrap();
    let WhyNot::NoTerm { query_terms, memory_terms } = why else { panic!("{why:?}") };
    assert!(query_terms.contains(&"登山".into()) && query_terms.contains(&"boot".into()));
    assert!(memory_terms.contains(&"tea".into()), "{memory_terms:?}");
}

#[tokio::test]
async fn a_memory_below_the_limit_is_told_its_rank() {
    let (engine, owner) = (ram(), scope("ann"));
    let id = remember_tea(&engine, &owner).await;
    let request = RecallRequest { limit: 1, ..engine.recall_request(&owner, "green tea") };
    let why = engine.why_not(&request, id).await.unwrap();
    let WhyNot::Rank { rank, limit: 1, lowest, hit } = why else { panic!("{why:?}") };
    assert!(rank > 1 && hit.score <= lowest);
    let best = engine.recall(&request).await.unwrap().hits.remove(0);
    assert_eq!(best.score, lowest);
    let none = RecallRequest { limit: 0, ..request };
    let why = engine.why_not(&none, id).await.unwrap();
    assert!(matches!(why, WhyNot::Rank { limit: 0, .. }), "{why:?}");
}

#[tokio::test]
async fn a_score_below_the_bar_is_told_with_its_numbers() {
    let (engine, owner) = (ram(), scope("ann"));
    let id = remember_tea(&engine, &owner).await;
    let request = RecallRequest { min_score: 0.99, ..engine.recall_request(&owner, "tea") };
    let why = engine.why_not(&request, id).await.unwrap();
    assert!(matches!(why, WhyNot::Score { min_score: 0.99, .. }), "{why:?}");
}

#[tokio::test]
async fn an_answer_that_is_not_sure_enough_names_the_gate() {
    let (engine, owner) = (ram(), scope("ann"));
    let id = remember_tea(&engine, &owner).await;
    let query = "the capital of Peru, its mountains, lakes and tea";
    let request = RecallRequest { min_confidence: 0.9, ..engine.recall_request(&owner, query) };
    let why = engine.why_not(&request, id).await.unwrap();
    let WhyNot::Gate { confidence, min_confidence: 0.9, .. } = why else { panic!("{why:?}") };
    assert!(confidence < 0.9);
}

#[tokio::test]
async fn a_memory_of_someone_else_is_not_found() {
    let (engine, owner) = (ram(), scope("ann"));
    let told = remember_tea(&engine, &owner).await;
    for (owner, id) in [(scope("ben"), told), (owner, id(9))] {
        let why = engine.why_not(&engine.recall_request(&owner, "tea"), id).await;
        assert!(matches!(why, Err(Error::NotFound { .. })), "{why:?}");
    }
}

/// A memory takes the place of its turn only where it is told itself.
#[tokio::test]
async fn a_turn_is_said_to_be_told_by_a_memory_only_if_that_memory_is_told() {
    let filler = |word: &str| format!("{} ", word.repeat(3)).repeat(150);
    for (said, kept, other, query) in [
        (
            "Peanuts make my throat swell.",
            "The user keeps away from peanuts.",
            "plain words ",
            "peanuts",
        ),
        ("花生会让我的喉咙肿起来。", "用户不吃花生。", "别的话题，", "花生"),
    ] {
        for is_long in [true, false] {
            let (store, owner) =
                (std::sync::Arc::new(everlore::store::RamStore::default()), scope("ann"));
            let engine = engine_on(store.clone());
            let turn = spoken(&owner, 1, "s", said);
            let text = if is_long { format!("{kept} {}", filler(other)) } else { kept.to_owned() };
            let mut drawn = memory(&owner, 2, &text);
            drawn.source.turns = vec![turn.id];
            store.apply(write(&owner, vec![add(&turn), add(&drawn)])).await.unwrap();
            let request = engine.context_request(&owner, query);
            let block = engine.context(&request, 4_000).await.unwrap();
            let told: Vec<MemoryId> = block.entries.iter().map(|entry| entry.id).collect();
            for id in [turn.id, drawn.id] {
                let why = engine.why_not_in_block(&request, 4_000, id).await.unwrap();
                match &why {
                    WhyNot::Told { .. } => assert!(told.contains(&id), "{query} {is_long}"),
                    WhyNot::ToldByMemory { memory } => {
                        assert!(!told.contains(&id) && told.contains(memory), "{query} {is_long}");
                    }
                    WhyNot::Floor { .. } | WhyNot::Gate { .. } => {
                        assert!(!told.contains(&id), "{query} {is_long}");
                    }
                    other => panic!("{query} {is_long}: {other:?}"),
                }
            }
        }
    }
}
