//! Tests of the settings of one agent: their effect on it, and none on another.

use std::{fs, path::Path, sync::Arc};

use everlore::{
    Engine, Error, Scope, Turn,
    config::AgentConfigPatch,
    engine::{Layer, LayerEdit, PromptRequest},
    internal::files::agent_settings::AgentSettingsFile,
    store::{RamStore, Store},
    types::Actor,
};
use serde_json::{Value, json};

use crate::support::{engine_on, one_o_clock, say};

fn of(agent: &str) -> Scope {
    Scope::new(agent, "王").unwrap()
}

fn patch(values: Value) -> AgentConfigPatch {
    match values {
        Value::Object(values) => AgentConfigPatch::Merge(values),
        other => panic!("{other}"),
    }
}

async fn set(engine: &Engine, agent: &str, values: Value) {
    engine.change_agent_settings(agent, patch(values), |_| true).await.unwrap();
}

/// Writes a file as a person does.
fn by_hand(home: &Path, agent: &str, text: &str) {
    let file = AgentSettingsFile::for_agent(home, agent);
    fs::create_dir_all(file.path().parent().unwrap()).unwrap();
    fs::write(file.path(), text).unwrap();
}

fn fresh() -> (Engine, tempfile::TempDir) {
    let home = tempfile::tempdir().unwrap();
    let engine = engine_on(Arc::new(RamStore::default())).rebuild().home(home.path()).build();
    (engine, home)
}

async fn block(engine: &Engine, scope: &Scope, query: &str) -> String {
    let request = engine.context_request(scope, query);
    engine.context(&request, 500).await.unwrap().text
}

#[tokio::test]
async fn memory_is_switched_off_for_one_agent_and_goes_on_for_another() {
    let (engine, _home) = fresh();
    let (off, on) = (of("助手"), of("helper"));
    for scope in [&off, &on] {
        engine.remember(scope, say("王喜欢喝龙井茶 and oolong")).await.unwrap();
    }
    set(&engine, "助手", json!({ "memory": { "enabled": false } })).await;
    let refused = engine.remember(&off, say("new")).await.unwrap_err();
    assert_eq!(refused.to_string(), "memory is switched off for this agent");
    assert!(refused.hint().contains("everlore agent set 助手 memory.enabled=true"));
    let turn = || Turn { session: Some("s".into()), ..turn("我住在里斯本") };
    assert!(engine.observe(&off, vec![turn()]).await.is_err());
    assert_eq!(block(&engine, &off, "喜欢喝什么茶？").await, "");
    let base = PromptRequest { base: "You help.".into(), language: None };
    assert_eq!(engine.preview_prompt(&off, &base).await.unwrap().text(), "You help.");
    assert_eq!(engine.count(&off).await.unwrap().changes, 1, "nothing was stored");

    engine.observe(&on, vec![turn()]).await.unwrap();
    assert!(block(&engine, &on, "喜欢喝什么茶？").await.contains("龙井茶"));
    assert_ne!(engine.preview_prompt(&on, &base).await.unwrap().text(), "You help.");

    engine.reset_agent_settings("助手", |_| true).await.unwrap();
    engine.remember(&off, say("new")).await.unwrap();
}

fn turn(text: &str) -> Turn {
    Turn {
        text: text.into(),
        session: None,
        speaker: None,
        role: None,
        time: None,
        ..Turn::default()
    }
}

#[tokio::test]
async fn limits_budgets_and_language_are_those_of_the_agent() {
    let (engine, _home) = fresh();
    let (few, many) = (of("few"), of("many"));
    for scope in [&few, &many] {
        for text in ["tea is green", "tea is hot", "tea is from 杭州"] {
            engine.remember(scope, say(text)).await.unwrap();
        }
    }
    set(&engine, "few", json!({ "memory": { "inject": { "limit": 1 }, "long_term": { "max_return": 2 } }, "recall": { "limit": 1 }, "layers": { "user_chars": 100 }, "general": { "language": "zh" } })).await;
    assert_eq!(
        (engine.context_request(&few, "tea").limit, engine.recall_request(&few, "tea").limit),
        (1, 1)
    );
    assert_eq!(
        (engine.context_request(&many, "tea").limit, engine.recall_request(&many, "tea").limit),
        (5, 10)
    );
    let request = |scope: &Scope| everlore::RecallRequest {
        limit: 10,
        ..engine.recall_request(scope, "tea")
    };
    assert_eq!(engine.recall(&request(&few)).await.unwrap().hits.len(), 2);
    assert_eq!(engine.recall(&request(&many)).await.unwrap().hits.len(), 3);
    let long = || LayerEdit::Add { section: "Home".into(), content: "里斯本 ".repeat(40) };
    assert!(engine.edit_layer(&few, Layer::User, long(), Actor::Person).await.is_err());
    engine.edit_layer(&many, Layer::User, long(), Actor::Person).await.unwrap();
    let words = PromptRequest::default();
    let chinese = |text: &str| text.contains('的');
    assert!(chinese(&engine.preview_prompt(&few, &words).await.unwrap().text()));
}

#[tokio::test]
async fn an_edit_by_hand_holds_at_the_next_use_and_a_broken_one_does_not() {
    let (engine, home) = fresh();
    let limit = || engine.settings("助手").memory.inject.limit;
    assert_eq!(limit(), 5);
    by_hand(home.path(), "助手", "[memory.inject]\nlimit = 2\n");
    assert_eq!(limit(), 2);
    for broken in
        ["[memory.inject\n", "[memory.inject]\nlimit = 9999\n", "[memory.inject]\nlimit = \"x\"\n"]
    {
        by_hand(home.path(), "助手", broken);
        assert_eq!(limit(), 2, "{broken}");
        let agent = engine.agent_settings("助手").await.unwrap();
        assert!(agent.problem.is_some(), "{broken}");
        assert_eq!(agent.settings["memory"]["inject"]["limit"], 2);
        engine.remember(&of("助手"), say(broken)).await.unwrap();
    }
    fs::write(AgentSettingsFile::for_agent(home.path(), "助手").path(), [0xff, 0xfe]).unwrap();
    assert_eq!(limit(), 2);
    by_hand(home.path(), "助手", "[memory.inject]\nlimit = 3\nfuture = 1\n");
    assert_eq!(limit(), 3);
    assert_eq!(engine.agent_settings("助手").await.unwrap().warnings.len(), 1);
    fs::remove_file(AgentSettingsFile::for_agent(home.path(), "助手").path()).unwrap();
    assert_eq!(limit(), 5);
}

#[tokio::test]
async fn an_agent_whose_settings_were_never_readable_remembers_nothing_until_they_are() {
    let home = tempfile::tempdir().unwrap();
    by_hand(home.path(), "助手", "[memory]\nenabled = fals\n");
    let engine = engine_on(Arc::new(RamStore::default())).rebuild().home(home.path()).build();
    let refused = engine.remember(&of("助手"), say("tea")).await.unwrap_err();
    assert!(refused.to_string().contains("line 2"), "{refused}");
    engine.remember(&of("helper"), say("tea")).await.unwrap();
    by_hand(home.path(), "助手", "[memory]\nenabled = true\n");
    engine.remember(&of("助手"), say("tea")).await.unwrap();
}

#[tokio::test]
async fn beside_a_value_that_cannot_be_used_the_others_hold_from_the_start() {
    let home = tempfile::tempdir().unwrap();
    by_hand(home.path(), "a", "[memory]\nenabled = false\n[recall]\nb = 7\n");
    by_hand(home.path(), "b", "[recall]\nb = 7\n[memory]\nmask_secrets = false\n");
    let engine = engine_on(Arc::new(RamStore::default())).rebuild().home(home.path()).build();
    assert!(engine.remember(&of("a"), say("tea")).await.is_err());
    let saved =
        engine.remember(&of("b"), say("my key is sk-proj-a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6")).await;
    assert!(!saved.unwrap().masked.is_empty(), "secrets are masked all the same");
}

#[tokio::test]
async fn a_conversation_of_an_agent_that_was_switched_off_is_not_read() {
    let (engine, _home) = fresh();
    for agent in ["助手", "helper"] {
        let message =
            Turn { session: Some("s".into()), ..turn("I live in Lisbon. 我住在里斯本") };
        engine.observe(&of(agent), vec![message]).await.unwrap();
        engine.mark_session_ended(&of(agent), "s").await.unwrap();
    }
    set(&engine, "助手", json!({ "memory": { "enabled": false } })).await;
    assert!(engine.extract_due().await.unwrap().is_some());
    assert!(engine.extract_due().await.unwrap().is_none(), "the other one waits");
    assert_eq!(engine.capture_status(&of("助手")).await.unwrap().turns, 1);
    set(&engine, "助手", json!({ "memory": { "enabled": true } })).await;
    assert!(engine.extract_due().await.unwrap().is_some(), "nothing was lost");
}

#[tokio::test]
async fn how_long_a_silence_is_waited_for_is_the_agents() {
    let (engine, _home) = fresh();
    for agent in ["patient", "助手"] {
        let message =
            Turn { session: Some("s".into()), ..turn("I live in Lisbon. 我住在里斯本") };
        engine.observe(&of(agent), vec![message]).await.unwrap();
    }
    set(&engine, "patient", json!({ "memory_agent": { "extract": { "quiet": "2h" } } })).await;
    let later = engine.clone().rebuild().clock(one_o_clock).build();
    assert!(later.extract_due().await.unwrap().is_some());
    assert!(later.extract_due().await.unwrap().is_none());
    assert_eq!(engine.capture_status(&of("patient")).await.unwrap().turns, 1);
}

#[tokio::test]
async fn names_that_play_tricks_stay_in_their_folder() {
    let (engine, home) = fresh();
    for name in ["../x", "..", "a/b", "a\\b", "", ".hidden", " a", "a\n"] {
        let change = patch(json!({ "memory": { "enabled": false } }));
        let refused = engine.change_agent_settings(name, change, |_| true).await;
        assert!(matches!(refused, Err(Error::Invalid { .. })), "{name:?}");
    }
    assert!(!home.path().join("agents").exists());
    for name in ["CON", "a..b", "%2e%2e", "Ümläut", "default"] {
        set(&engine, name, json!({ "memory": { "enabled": false } })).await;
        assert!(!engine.settings(name).memory.enabled);
    }
    assert_eq!(AgentSettingsFile::all(home.path()).len(), 5);
    assert!(engine.settings("con").memory.enabled, "case counts");
}

#[tokio::test]
async fn changes_at_the_same_time_are_all_there() {
    let (engine, home) = fresh();
    let keys = ["limit", "short_term_count", "min_query_length", "token_budget"];
    let tasks = (0..40).map(|number| {
        // As two processes do, which share nothing but the file.
        let engine = engine_on(Arc::new(RamStore::default())).rebuild().home(home.path()).build();
        let change = patch(json!({ "memory": { "inject": { keys[number % 4]: 100 + number } } }));
        tokio::spawn(async move { engine.change_agent_settings("助手", change, |_| true).await })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap().unwrap();
    }
    let own = engine.agent_settings("助手").await.unwrap().own;
    for (at, key) in keys.iter().enumerate() {
        let value = own["memory"]["inject"][key].as_u64().unwrap() as usize;
        assert!(value >= 100 && value % 4 == at, "{own:?}");
    }
}

#[tokio::test]
async fn a_change_is_refused_if_the_file_is_no_longer_what_was_seen() {
    let (engine, _home) = fresh();
    set(&engine, "助手", json!({ "memory": { "enabled": false } })).await;
    let before = engine.agent_settings("助手").await.unwrap();
    set(&engine, "助手", json!({ "memory": { "max_history": 3 } })).await;
    let change = patch(json!({ "memory": { "enabled": true } }));
    let refused =
        engine.change_agent_settings("助手", change, move |now| now.text == before.text).await;
    assert!(matches!(refused, Err(Error::Conflict { .. })), "{refused:?}");
    assert!(!engine.settings("助手").memory.enabled);
    let store: Arc<dyn Store> = Arc::new(RamStore::default());
    assert!(Engine::new(store).agent_settings("助手").await.is_err(), "there is no home");
}
