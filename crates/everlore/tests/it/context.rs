//! Tests of the settings of injection: on or off, language, and amount of memory in the prompt.

use std::sync::Arc;

use everlore::{
    Config, Engine, RecallRequest, Turn,
    config::{InjectTrigger, LanguageChoice},
    engine::WhyNot,
    store::{RamStore, Store},
    types::{Role, Tier},
};
use jiff::tz::TimeZone;

use crate::support::{add, engine_on, memory, ram, remember_all, scope, write};

/// Creates an engine with changed settings and a memory of the tea that the user likes.
async fn with(change: impl FnOnce(&mut Config)) -> Engine {
    let mut config = Config::default();
    change(&mut config);
    let engine = ram();
    remember_all(&engine, &scope("ann"), &["I like green tea", "我喜欢龙井茶"]).await;
    engine.rebuild().config(config).build()
}

async fn context_text(engine: &Engine, query: &str) -> String {
    let request = engine.context_request(&scope("ann"), query);
    engine.context(&request, 2_000).await.unwrap().text
}

#[tokio::test]
async fn memories_are_injected_when_the_settings_say_so() {
    let tea = "green tea";
    assert!(context_text(&with(|_| ()).await, tea).await.contains("  I like green tea\n"));
    for off in [
        |config: &mut Config| config.memory.enabled = false,
        |config: &mut Config| config.memory.long_term.enabled = false,
        |config: &mut Config| config.memory.inject.long_term_trigger = InjectTrigger::Never,
        |config: &mut Config| config.memory.inject.long_term_trigger = InjectTrigger::Keywords,
        |config: &mut Config| config.memory.inject.min_query_length = 10,
        |config: &mut Config| config.memory.inject.limit = 0,
    ] {
        assert_eq!(context_text(&with(off).await, tea).await, "");
    }
    let asked =
        with(|config| config.memory.inject.long_term_trigger = InjectTrigger::Keywords).await;
    assert!(context_text(&asked, "which tea do I like?").await.contains("I like green tea"));
}

#[tokio::test]
async fn the_block_speaks_the_language_of_the_query_or_of_the_settings() {
    let chinese = |text: &str| text.contains("以下是可能相关的回忆");
    let auto = with(|_| ()).await;
    assert!(
        chinese(&context_text(&auto, "喜欢龙井茶").await)
            && !chinese(&context_text(&auto, "green tea").await)
    );
    let english = with(|config| config.general.language = LanguageChoice::En).await;
    assert!(!chinese(&context_text(&english, "喜欢龙井茶").await));
    let settled = with(|config| config.general.language = LanguageChoice::Zh).await;
    assert!(chinese(&context_text(&settled, "green tea").await));
}

#[tokio::test]
async fn the_block_comes_with_its_figures() {
    let engine = with(|_| ()).await.rebuild().zone(TimeZone::UTC).build();
    let request = engine.context_request(&scope("ann"), "green tea");
    let block = engine.context(&request, 500).await.unwrap();
    let [entry] = &block.entries[..] else { panic!("{block:?}") };
    assert_eq!(
        (entry.tier, &entry.terms[..]),
        (Tier::L2, &["green".to_owned(), "tea".to_owned()][..])
    );
    assert!(entry.uri.starts_with("agent://tester/user/general/i-like-green-tea-"));
    assert!(block.tokens > 0 && block.tokens <= 500 && entry.score > 0.0);
    let little = engine.context(&request, 20).await.unwrap();
    assert_eq!((little.text.as_str(), little.left_out.len()), ("", 1));
}

#[tokio::test]
async fn the_settings_bound_what_a_recall_returns_and_why_not_says_so() {
    let owner = scope("ann");
    let store: Arc<dyn Store> = Arc::new(RamStore::default());
    let memories: Vec<_> = (0..5).map(|number| memory(&owner, number, "tea")).collect();
    store.apply(write(&owner, memories.iter().map(add).collect())).await.unwrap();
    let mut config = Config::default();
    config.memory.long_term.max_return = 2;
    let engine = engine_on(store).rebuild().config(config).build();
    let request = RecallRequest { limit: 1_000, ..engine.recall_request(&owner, "tea") };
    assert_eq!(engine.recall(&request).await.unwrap().hits.len(), 2);
    let why = engine.why_not(&request, memories[4].id).await.unwrap();
    assert!(matches!(why, WhyNot::Rank { rank: 5, limit: 2, .. }), "{why:?}");
}

/// A stored answer that only says that nothing is known repeats the words of the question.
#[tokio::test]
async fn an_answer_that_knew_nothing_keeps_no_fact_out_in_both_languages() {
    let cases = [
        (
            "What is my cat called?",
            "I don't know what your cat is called.",
            "My cat is called Momo.",
        ),
        ("我的猫叫什么名字？", "我不知道你的猫叫什么名字。", "我的猫叫墨墨。"),
    ];
    for (question, empty, fact) in cases {
        let (engine, owner) = (ram(), scope("ann"));
        let said = [(Role::User, fact)].into_iter().chain([(Role::Assistant, empty); 40]);
        let turn = |(role, text): (Role, &str)| Turn {
            text: text.to_owned(),
            role: Some(role),
            ..Turn::default()
        };
        let saved = engine.observe(&owner, said.map(turn).collect()).await.unwrap();
        let told = context_text(&engine, question).await;
        assert!(told.contains(fact) && !told.contains(empty), "{told}");
        let why =
            engine.why_not(&engine.recall_request(&owner, question), saved[40].id).await.unwrap();
        assert_eq!(why, WhyNot::NoAnswer);
    }
}

/// A repeated question matches all words of the new one, and would take the place of its answer.
#[tokio::test]
async fn a_question_asked_before_keeps_no_answer_out_in_both_languages() {
    let cases = [
        ("What is my cat called?", "My cat is called Momo.", "What did I ask about my cat?"),
        ("我的猫叫什么名字？", "我的猫叫墨墨。", "我问过我的猫什么？"),
    ];
    for (question, fact, about_questions) in cases {
        let (engine, owner) = (ram(), scope("ann"));
        let said = [fact].into_iter().chain([question; 60]);
        let turns = said.map(|text| Turn { text: text.to_owned(), ..Turn::default() });
        let saved = engine.observe(&owner, turns.collect()).await.unwrap();
        let told = context_text(&engine, question).await;
        assert!(told.contains(fact) && !told.contains(question), "{told}");
        let found = engine.recall(&engine.recall_request(&owner, about_questions)).await.unwrap();
        assert!(found.hits.iter().any(|hit| hit.memory.content == question), "{about_questions}");
        let why =
            engine.why_not(&engine.recall_request(&owner, question), saved[60].id).await.unwrap();
        assert_eq!(why, WhyNot::SameQuestion);
    }
}

#[tokio::test]
async fn the_first_message_of_a_conversation_gets_no_memories_where_the_settings_say_so() {
    let engine = with(|config| config.memory.inject.first_round_empty = true).await;
    let owner = scope("ann");
    let inject = async |session: &str, query: &str| {
        let request = engine.context_request(&owner, query);
        engine.inject(&request, 2_000, session).await.unwrap().text
    };
    for (session, query, found) in
        [("one", "which tea do I like?", "green tea"), ("two", "我喜欢什么茶", "龙井茶")]
    {
        assert_eq!(inject(session, query).await, "", "{query}");
        assert!(inject(session, query).await.contains(found), "{query}");
    }
    // Another process knows the conversation by its stored turns; the message itself is none of the earlier ones.
    let other = || engine.rebuild().config(engine.config().clone());
    let message = Turn {
        text: "which tea do I like?".into(),
        session: Some("three".into()),
        ..Turn::default()
    };
    engine.observe(&owner, vec![message.clone()]).await.unwrap();
    assert_eq!(inject("three", "which tea do I like?").await, "");
    engine.observe(&owner, vec![Turn { text: "You like tea.".into(), ..message }]).await.unwrap();
    let restarted = other().build();
    let request = restarted.context_request(&owner, "which tea do I like?");
    assert!(restarted.inject(&request, 2_000, "three").await.unwrap().text.contains("green tea"));
    // Without a session there is no conversation to begin.
    assert!(context_text(&engine, "which tea do I like?").await.contains("green tea"));
}
