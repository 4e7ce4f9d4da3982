//! Tests of `why_not`: every reason that keeps a memory out of an answer is named.

use everlore::{
    Config, Engine, Error, MemoryBlock, MemoryId, RecallRequest, RememberRequest, Scope, Status,
    engine::{AnsweredBlock, NewExperience, WhyNot},
    internal::upkeep::is_held_out,
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
                let why = why_not_in(&engine, &request, &block, id).await;
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

/// Explains why a memory is missing from a block of 4,000 tokens.
async fn why_not_in(
    engine: &Engine,
    request: &RecallRequest,
    block: &MemoryBlock,
    id: MemoryId,
) -> WhyNot {
    let answered = AnsweredBlock { block, budget: 4_000, session: None };
    engine.why_not_in_block(request, answered, id).await.unwrap()
}

/// Stores a cure of an error.
async fn cure(engine: &Engine, owner: &Scope, error: &str, solution: &str) -> MemoryId {
    let experience = NewExperience {
        pain: error.into(),
        solution: solution.into(),
        outcome: "worked".into(),
        error: Some(error.into()),
        ..NewExperience::default()
    };
    engine.add_experience(owner, experience).await.unwrap().id
}

const NO_YAML: &str = "ModuleNotFoundError: No module named 'yaml'";

#[tokio::test]
async fn the_block_of_a_failed_tool_has_cures_and_says_that_the_rest_is_none() {
    for (solution, other) in [
        ("pip install pyyaml", "The yaml module of the course is on Mondays."),
        ("用 pip 安装 pyyaml", "课程的 yaml 模块在周一。"),
    ] {
        let (engine, owner) = (ram(), scope("ann"));
        let cure_id = cure(&engine, &owner, NO_YAML, solution).await;
        let port = "Error: listen EADDRINUSE: address already in use :::3000";
        let elsewhere = cure(&engine, &owner, port, "kill the other server").await;
        let other = engine.remember(&owner, say(other)).await.unwrap().id;
        let request = engine.context_request(&owner, NO_YAML);
        let request = RecallRequest { only_cures: true, ..request };
        let block = engine.context(&request, 4_000).await.unwrap();
        assert_eq!(block.entries.iter().map(|entry| entry.id).collect::<Vec<_>>(), [cure_id]);
        let why = why_not_in(&engine, &request, &block, cure_id).await;
        assert!(matches!(why, WhyNot::Told { .. }), "{why:?}");
        for id in [elsewhere, other] {
            assert_eq!(why_not_in(&engine, &request, &block, id).await, WhyNot::NotACure);
        }
    }
}

#[tokio::test]
async fn a_cure_beyond_those_that_a_block_tells_gave_way_to_better_ones() {
    let (engine, owner) = (ram(), scope("ann"));
    let mut cures = Vec::new();
    for solution in ["pip install pyyaml", "conda install pyyaml", "apt install python3-yaml"] {
        cures.push(cure(&engine, &owner, NO_YAML, solution).await);
    }
    let request = engine.context_request(&owner, NO_YAML);
    let request = RecallRequest { only_cures: true, ..request };
    let block = engine.context(&request, 4_000).await.unwrap();
    assert_eq!(block.entries.len(), 2);
    for id in cures {
        let is_told = block.entries.iter().any(|entry| entry.id == id);
        match why_not_in(&engine, &request, &block, id).await {
            WhyNot::Told { .. } => assert!(is_told),
            why => assert!(!is_told && why == WhyNot::BetterCures, "{why:?}"),
        }
    }
}

#[tokio::test]
async fn a_cure_that_recall_left_out_is_told_first_and_pushes_the_last_hit_out() {
    let (engine, owner) = (ram(), scope("ann"));
    let deploy = engine.remember(&owner, say("deploy script alpha")).await.unwrap().id;
    for solution in ["pip install pyyaml", "conda install pyyaml"] {
        cure(&engine, &owner, NO_YAML, solution).await;
    }
    let message = format!("deploy script alpha, deploy script alpha fails: {NO_YAML}");
    let request = engine.recall_request(&owner, message);
    // Recall itself returns nothing at this confidence.
    let sure = RecallRequest { min_confidence: 1.0, ..request.clone() };
    let block = engine.context(&sure, 4_000).await.unwrap();
    assert_eq!(block.entries.len(), 2);
    for entry in &block.entries {
        let why = why_not_in(&engine, &sure, &block, entry.id).await;
        assert!(matches!(why, WhyNot::Told { .. }), "{why:?}");
    }
    let why = why_not_in(&engine, &sure, &block, deploy).await;
    assert!(matches!(why, WhyNot::Gate { .. }), "{why:?}");
    let one = RecallRequest { limit: 1, ..request };
    assert_eq!(engine.recall(&one).await.unwrap().hits[0].memory.id, deploy);
    let block = engine.context(&one, 4_000).await.unwrap();
    let why = why_not_in(&engine, &one, &block, deploy).await;
    assert!(matches!(why, WhyNot::Rank { rank: 3, limit: 2, .. }), "{why:?}");
    assert!(why.sentence(str::to_owned).contains("number 3"), "{}", why.sentence(str::to_owned));
}

/// Creates an engine that knows the name of the dog.
async fn knows_the_dog(owner: &Scope, change: fn(&mut Config)) -> (Engine, MemoryId) {
    let mut config = Config::default();
    change(&mut config);
    let engine = ram().rebuild().config(config).build();
    let id = engine.remember(owner, say("The user's dog is called Rex.")).await.unwrap().id;
    (engine, id)
}

/// Injects into a session and explains why the block lacks a memory.
async fn injected(engine: &Engine, owner: &Scope, session: &str, id: MemoryId) -> WhyNot {
    let request = engine.recall_request(owner, "What is my dog's name?");
    let block = engine.inject(&request, 4_000, session).await.unwrap();
    let answered = AnsweredBlock { block: &block, budget: 4_000, session: Some(session) };
    engine.why_not_in_block(&request, answered, id).await.unwrap()
}

#[tokio::test]
async fn the_empty_first_round_of_a_session_is_the_reason_in_it_alone() {
    let owner = scope("ann");
    let (engine, id) =
        knows_the_dog(&owner, |config| config.memory.inject.first_round_empty = true).await;
    for session in ["monday", "周一"] {
        let first = injected(&engine, &owner, session, id).await;
        assert!(matches!(first, WhyNot::FirstRound { .. }), "{first:?}");
        let second = injected(&engine, &owner, session, id).await;
        assert!(matches!(second, WhyNot::Told { .. }), "{second:?}");
    }
}

#[tokio::test]
async fn what_a_session_holds_out_is_said_to_be_held_out() {
    let owner = scope("ann");
    let (engine, id) = knows_the_dog(&owner, |config| config.memory.inject.holdout = 0.5).await;
    let (mut held, mut told) = (0, 0);
    for number in 0..40 {
        let session = format!("会话{number}");
        match injected(&engine, &owner, &session, id).await {
            WhyNot::HeldOut { .. } if is_held_out(0.5, &session, id) => held += 1,
            WhyNot::Told { .. } if !is_held_out(0.5, &session, id) => told += 1,
            why => panic!("{session}: {why:?}"),
        }
    }
    assert!(held > 0 && told > 0, "{held} {told}");
}

#[tokio::test]
async fn where_the_settings_inject_nothing_they_are_the_reason() {
    let mut config = Config::default();
    config.memory.inject.min_query_length = 100;
    let (engine, owner) = (ram().rebuild().config(config).build(), scope("ann"));
    let id = engine.remember(&owner, say("我喜欢龙井茶")).await.unwrap().id;
    let request = engine.recall_request(&owner, "我喜欢什么茶");
    let block = engine.context(&request, 4_000).await.unwrap();
    let why = why_not_in(&engine, &request, &block, id).await;
    assert!(block.text.is_empty() && matches!(why, WhyNot::Settings { .. }), "{why:?}");
}
