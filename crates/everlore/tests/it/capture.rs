//! Tests of capture as a whole: echoes of recalled text are not captured, and the background worker blocks no other
//! work.

use std::{path::Path, sync::Arc, time::Duration};

use async_trait::async_trait;
use everlore::{
    Config, Engine, Kind, Memory, Result, Status, Turn,
    engine::{ExtractRequest, ExtractionReport, UpkeepRequest},
    internal::{injected_sketches, store_of},
    llm::{ChatModel, ChatRequest, ChatStream},
    store::{DirectoryStore, RamStore, Store},
    types::{Role, Timestamp},
};
use serde_json::json;
use tokio::{
    sync::{Notify, mpsc},
    time::timeout,
};

use crate::{
    scenarios::ScenarioModel,
    support::{self, DAY, NOON, all, at, noon, scope, sqlite},
};

/// Longer than anything here takes; only a failure waits for it.
const PATIENCE: Duration = Duration::from_secs(30);

fn turn_by(session: &str, role: Role, text: &str) -> Turn {
    Turn { role: Some(role), ..support::turn(session, "", text) }
}

fn with_model(store: Arc<dyn Store>, model: Arc<dyn ChatModel>) -> Engine {
    let mut config = Config::default();
    config.memory_agent.enabled = true;
    config.memory_agent.model = "scripted".into();
    Engine::builder(store).config(config).clock(noon).chat_model(model).build()
}

async fn memories(engine: &Engine) -> Vec<Memory> {
    let mut all = all(engine, &scope("sam")).await;
    all.retain(|memory| memory.kind != Kind::Turn);
    all
}

async fn extract(engine: &Engine) -> Vec<ExtractionReport> {
    engine.extract(&scope("sam"), &ExtractRequest::default()).await.unwrap()
}

/// Statement of the user, question about it, and phrases with which a model repeats what it was given.
const ECHOES: [(&str, &str, [&str; 3]); 2] = [
    (
        "I live in Boston and I'm allergic to peanuts.",
        "Where do I live?",
        ["As you told me, {}", "Apparently, as you mentioned, {}", "{}"],
    ),
    ("我住在上海。我对花生过敏。", "我住在哪里？", ["之前提到，{}", "用户说过：{}", "{}"]),
];

#[tokio::test]
async fn fifty_rounds_of_a_model_that_repeats_its_memories_teach_nothing() {
    for (statement, question, phrases) in ECHOES {
        let model = Arc::new(ScenarioModel::default());
        let rules = support::engine_on(Arc::new(RamStore::default()));
        let owner = scope("sam");
        rules.observe(&owner, vec![turn_by("first", Role::User, statement)]).await.unwrap();
        extract(&rules).await;
        let known = memories(&rules).await;
        assert_eq!(known.len(), 2, "{statement}");
        let engine = with_model(Arc::clone(store_of(&rules)), Arc::clone(&model) as _);
        for round in 0..50 {
            let request = engine.context_request(&owner, question);
            let block = engine.context(&request, 1_000).await.unwrap();
            let echo = phrases[round % phrases.len()].replace("{}", &known[round % 2].content);
            assert!(block.text.contains(&known[0].content), "{}", block.text);
            let session = format!("round {round}");
            let turns = vec![
                turn_by(&session, Role::User, question),
                turn_by(&session, Role::Assistant, &format!("{echo}\n{}", block.text)),
            ];
            engine.observe(&owner, turns).await.unwrap();
            let drafts: Vec<_> = [&echo, &known[0].content, &known[1].content]
                .iter()
                .map(|text| {
                    json!({ "statement": text, "kind": "user", "confidence": 0.9, "turns": [2] })
                })
                .collect();
            model.0.lock().unwrap().push_back(json!({ "memories": drafts }).to_string());
            let done = extract(&engine).await;
            assert_eq!((done.len(), done[0].drafts.len()), (1, 3), "{done:?}");
            assert_eq!(done[0].run, None, "round {round}: {done:?}");
        }
        assert_eq!(memories(&engine).await, known);
    }
}

/// Returns one empty store of each type.
async fn stores(folder: &Path) -> [Arc<dyn Store>; 3] {
    let directory = DirectoryStore::open(&folder.join("memories")).await.unwrap();
    [Arc::new(RamStore::default()), sqlite().await, Arc::new(directory)]
}

fn drafts(statements: &[&str], turn: usize) -> String {
    let one = |text: &&str| json!({ "statement": text, "kind": "user", "confidence": 0.9, "turns": [turn] });
    json!({ "memories": statements.iter().map(one).collect::<Vec<_>>() }).to_string()
}

/// Memory, question about it, and paraphrase by a model.
const HANDED_BACK: [(&str, &str, &str); 2] = [
    (
        "The user keeps bees on the roof.",
        "Where do I keep my bees?",
        "As they mentioned, the user still keeps bees on the roof.",
    ),
    ("用户在屋顶上养蜜蜂。", "我在哪里养蜜蜂？", "之前提到，用户目前仍然在屋顶上养蜜蜂。"),
];

#[tokio::test]
async fn what_is_deleted_after_it_was_told_does_not_come_back_by_the_models_mouth() {
    for (known, question, echo) in HANDED_BACK {
        let folder = tempfile::tempdir().unwrap();
        for store in stores(folder.path()).await {
            let model = Arc::new(ScenarioModel::default());
            let engine = with_model(store, Arc::clone(&model) as _);
            let owner = scope("sam");
            let saved = engine.remember(&owner, support::say(known)).await.unwrap();
            let request = engine.context_request(&owner, question);
            let block = engine.inject(&request, 1_000, "talk").await.unwrap();
            assert!(block.text.contains(known), "{}", block.text);
            engine.delete(&owner, saved.id).await.unwrap();
            let turns =
                vec![turn_by("talk", Role::User, question), turn_by("talk", Role::Assistant, echo)];
            engine.observe(&owner, turns).await.unwrap();
            model.0.lock().unwrap().push_back(drafts(&[known, echo], 2));
            let done = extract(&engine).await;
            let reasons: Vec<_> =
                done[0].drafts.iter().map(|it| format!("{:?}", it.fate)).collect();
            let is_echo = |reason: &String| reason.contains("repeats a memory that was put into");
            assert!(reasons.len() == 2 && reasons.iter().all(is_echo), "{reasons:?}");
            assert_eq!(active(&engine).await, Vec::<String>::new());
            // The user may say it again in another session: deleted is not forbidden.
            engine.observe(&owner, vec![turn_by("later", Role::User, known)]).await.unwrap();
            model.0.lock().unwrap().push_back(drafts(&[known], 1));
            extract(&engine).await;
            assert_eq!(active(&engine).await, [known]);
        }
    }
}

#[tokio::test]
async fn what_is_forgotten_after_it_was_told_does_not_come_back_in_its_own_words() {
    for (known, question, _) in HANDED_BACK {
        let folder = tempfile::tempdir().unwrap();
        for store in stores(folder.path()).await {
            let model = Arc::new(ScenarioModel::default());
            let engine = with_model(store, Arc::clone(&model) as _);
            let owner = scope("sam");
            let saved = engine.remember(&owner, support::say(known)).await.unwrap();
            let request = engine.context_request(&owner, question);
            engine.inject(&request, 1_000, "talk").await.unwrap();
            engine.forget(&owner, saved.id).await.unwrap();
            assert_eq!(
                injected_sketches(&engine, &owner, "talk").await.unwrap(),
                [],
                "no trace of it is kept"
            );
            let turns = vec![
                turn_by("talk", Role::User, question),
                turn_by("talk", Role::Assistant, known),
            ];
            engine.observe(&owner, turns).await.unwrap();
            model.0.lock().unwrap().push_back(drafts(&[known], 2));
            let done = extract(&engine).await;
            assert_eq!((done[0].drafts.len(), &done[0].run), (1, &None), "{done:?}");
            assert_eq!(active(&engine).await, Vec::<String>::new());
        }
    }
}

/// Returns the texts of all active memories.
async fn active(engine: &Engine) -> Vec<String> {
    let memories = memories(engine).await.into_iter();
    let active = memories.filter(|memory| memory.status == Status::Active);
    active.map(|memory| memory.content).collect()
}

#[tokio::test]
async fn capture_in_the_background_leaves_what_can_be_redone() {
    let folder = support::temp_folder();
    for store in stores(&folder).await {
        let engine = support::engine_on(store);
        let owner = scope("sam");
        let said = vec![turn_by("s", Role::User, "I moved to Lisbon.")];
        engine.observe(&owner, said).await.unwrap();
        engine.remember(&owner, support::say("我喜欢喝龙井茶")).await.unwrap();
        engine.undo_last(&owner).await.unwrap();
        extract(&engine).await;
        assert_eq!(active(&engine).await, ["I moved to Lisbon."]);
        engine.redo(&owner).await.unwrap();
        assert!(active(&engine).await.contains(&"我喜欢喝龙井茶".to_owned()));
    }
}

#[tokio::test]
async fn a_worker_reads_what_is_due_while_others_go_on() {
    let engine = support::engine_on(sqlite().await);
    let owner = scope("sam");
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let worker = engine.spawn_worker_with(move |_, read| sender.send(read.turns).unwrap());
    for number in 0..5 {
        let text = if number == 3 { "我住在上海。" } else { "Hello there." };
        let turns = vec![turn_by("s", Role::User, text), turn_by("s", Role::Assistant, "Hi.")];
        engine.observe(&owner, turns).await.unwrap();
    }
    let read = timeout(PATIENCE, receiver.recv()).await.expect("the worker reads");
    assert_eq!(read, Some(10));
    assert_eq!(memories(&engine).await[0].content, "我住在上海。");
    worker.stop(PATIENCE).await;
    assert_eq!(store_of(&engine).queue().pending(None).await.unwrap(), []);
}

/// Model that signals that it was called and never answers.
struct SilentModel(Notify);

#[async_trait]
impl ChatModel for SilentModel {
    fn name(&self) -> &str {
        "silent"
    }

    async fn chat(&self, _: &ChatRequest) -> Result<Box<dyn ChatStream>> {
        self.0.notify_one();
        std::future::pending().await
    }
}

#[tokio::test]
async fn a_model_that_does_not_answer_holds_up_neither_turns_nor_the_end() {
    let model = Arc::new(SilentModel(Notify::new()));
    let engine = with_model(sqlite().await, Arc::clone(&model) as Arc<dyn ChatModel>);
    let owner = scope("sam");
    let worker = engine.spawn_worker();
    for _ in 0..5 {
        engine.observe(&owner, vec![turn_by("s", Role::User, "I live in Boston.")]).await.unwrap();
    }
    timeout(PATIENCE, model.0.notified()).await.expect("the worker asks the model");
    engine.observe(&owner, vec![turn_by("s", Role::User, "And I like tea.")]).await.unwrap();
    // Another process sees the lease and reports it.
    let done = extract(&engine).await;
    assert!(done[0].error.as_ref().unwrap().contains("another process"), "{done:?}");
    worker.stop(Duration::from_millis(10)).await;
    let status = engine.capture_status(&owner).await.unwrap();
    assert_eq!(status.turns, 6, "all of them wait further");
    assert_eq!(status.waiting[0].leased_until, None, "and nobody has to wait for a lease");
}

#[tokio::test]
async fn the_prompt_of_a_home_is_used_instead_of_ours() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("prompts")).unwrap();
    std::fs::write(home.path().join("prompts/extract_zh.md"), "只写 JSON，最多 {max} 条。")
        .unwrap();
    let model = Arc::new(RecordingModel::default());
    let engine = with_model(Arc::new(RamStore::default()), Arc::clone(&model) as _)
        .rebuild()
        .home(home.path())
        .build();
    let owner = scope("sam");
    engine.observe(&owner, vec![turn_by("s", Role::User, "我住在上海。")]).await.unwrap();
    extract(&engine).await;
    engine.observe(&owner, vec![turn_by("t", Role::User, "I live in Boston.")]).await.unwrap();
    extract(&engine).await;
    let requests = model.0.lock().unwrap();
    assert_eq!(requests[0].system, "只写 JSON，最多 10 条。");
    assert!(requests[2].system.starts_with("You read a conversation"), "{}", requests[2].system);
}

/// Model that records its requests and cannot be reached.
#[derive(Default)]
struct RecordingModel(std::sync::Mutex<Vec<ChatRequest>>);

#[async_trait]
impl ChatModel for RecordingModel {
    fn name(&self) -> &str {
        "asked"
    }

    async fn chat(&self, request: &ChatRequest) -> Result<Box<dyn ChatStream>> {
        self.0.lock().unwrap().push(request.clone());
        Err(everlore::Error::Remote { message: "offline".into(), hint: "wait".into() })
    }
}

#[tokio::test]
async fn drafts_that_were_held_for_long_enough_go_with_upkeep() {
    for store in [Arc::new(RamStore::default()) as Arc<dyn Store>, sqlite().await] {
        let model = Arc::new(ScenarioModel::default());
        let (engine, owner) = (with_model(store, Arc::clone(&model) as _), scope("sam"));
        let turns = vec![turn_by("s", Role::User, "I have some things. 我喜欢一些东西。")];
        engine.observe(&owner, turns).await.unwrap();
        let draft =
            |text| json!({ "statement": text, "kind": "user", "confidence": 0.9, "turns": [1] });
        let drafts = ["The user has some things.", "用户喜欢一些东西。"].map(draft);
        model.0.lock().unwrap().push_back(json!({ "memories": drafts }).to_string());
        extract(&engine).await;
        let quarantined = async || engine.quarantine(&owner).await.unwrap().len();
        engine.upkeep(&owner, &UpkeepRequest::default(), &mut |_| {}).await.unwrap();
        assert_eq!(quarantined().await, 2, "they are held");
        let later = engine.clone().rebuild().clock(in_half_a_year).build();
        later.upkeep(&owner, &UpkeepRequest::default(), &mut |_| {}).await.unwrap();
        assert_eq!(quarantined().await, 0, "but not for ever");
    }
}

fn in_half_a_year() -> Timestamp {
    at(NOON + 183 * DAY)
}
