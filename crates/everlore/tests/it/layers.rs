//! Layers through the engine: the end of a conversation, days that become memories, and what stays apart.

use std::{fs, sync::Arc};

use everlore::{
    Engine, Kind, Scope, Turn,
    files::layers::{Layer, LayerEdit},
    ingest::KeptDay,
    store::{RamStore, Store},
    types::{Actor, Role},
};
use tempfile::TempDir;

use crate::support::{NOON, at, days_ago, engine_on, noon, scope, sqlite};

const ENGLISH: [&str; 4] = [
    "Hi!",
    "The launch of Borealis moved to May 4, because the Borealis audit is late.",
    "Please book a room in Porto for the launch of Borealis.",
    "Thanks, that is all.",
];

const CHINESE: [&str; 4] = [
    "你好！",
    "极光项目的发布推迟到 5 月 4 日，因为审计晚了。",
    "请为极光项目的发布在杭州订一个会议室。",
    "谢谢，就这些。",
];

fn turns(session: &str, texts: &[&str], first: i64) -> Vec<Turn> {
    let turn = |(index, text): (usize, &&str)| Turn {
        text: (*text).to_owned(),
        session: Some(session.to_owned()),
        role: Some(Role::User),
        time: Some(at(first + index as i64)),
        ..Turn::default()
    };
    texts.iter().enumerate().map(turn).collect()
}

async fn engines(home: &TempDir) -> Vec<Engine> {
    let stores: [Arc<dyn Store>; 2] = [Arc::new(RamStore::default()), sqlite().await];
    let home = |index: usize| home.path().join(index.to_string());
    let engine = |(index, store)| engine_on(store).with_home(home(index));
    stores.into_iter().enumerate().map(engine).collect()
}

#[tokio::test]
async fn a_conversation_is_summed_up_in_its_own_language_and_once() {
    let home = TempDir::new().unwrap();
    for engine in engines(&home).await {
        let cases =
            [("english", ENGLISH, "## Session", "Borealis"), ("中文", CHINESE, "## 会话", "极光")];
        for (session, texts, title, word) in cases {
            let scope = scope(session);
            engine.observe(&scope, turns(session, &texts, NOON - 60)).await.unwrap();
            let ended = engine.end_session(&scope, session).await.unwrap();
            let log = ended.log.unwrap();
            assert!(
                log.layer.text.starts_with(&format!("{title} {session}")),
                "{}",
                log.layer.text
            );
            let summary = &log.layer.text;
            assert!(
                summary.contains(word)
                    && (summary.contains("May 4") || summary.contains("5 月 4 日")),
                "{summary}"
            );
            assert!(!summary.contains("Thanks") && !summary.contains("谢谢"), "{summary}");
            assert!(log.layer.usage.chars <= log.layer.usage.budget);
            let again = engine.end_session(&scope, session).await.unwrap().log.unwrap();
            assert_eq!((again.change, &again.layer.text), (None, &log.layer.text));
            let more = ["The Borealis budget is 9000.", "极光项目预算 9000。"];
            engine.observe(&scope, turns(session, &more, NOON - 30)).await.unwrap();
            let grown = engine.end_session(&scope, session).await.unwrap().log.unwrap();
            assert_eq!(grown.layer.sections.len(), 1, "{}", grown.layer.text);
            assert!(
                grown.change.is_some() && grown.layer.text.contains("9000"),
                "{}",
                grown.layer.text
            );
        }
    }
}

#[tokio::test]
async fn a_full_day_is_left_as_it_is_and_an_unknown_session_is_said_so() {
    let home = TempDir::new().unwrap();
    let engine = engines(&home).await.remove(0);
    let scope = scope("anna");
    assert_eq!(engine.end_session(&scope, "s").await.unwrap_err().code(), "not_found");
    for session in 0..8 {
        let session = format!("s{session}");
        engine.observe(&scope, turns(&session, &ENGLISH, NOON - 60)).await.unwrap();
        let ended = engine.end_session(&scope, &session).await.unwrap();
        let log = engine.read_layer(&scope, Layer::Daily).await.unwrap();
        assert!(log.usage.chars <= log.usage.budget, "{}", log.text);
        assert_eq!(ended.turns, 4);
    }
    let before = engine.read_layer(&scope, Layer::Daily).await.unwrap().text;
    engine.observe(&scope, turns("late", &ENGLISH, NOON - 60)).await.unwrap();
    assert_eq!(engine.end_session(&scope, "late").await.unwrap().log, None);
    assert_eq!(engine.read_layer(&scope, Layer::Daily).await.unwrap().text, before);
}

#[tokio::test]
async fn old_days_become_memories_once_and_go_when_they_are_forgotten() {
    let home = TempDir::new().unwrap();
    for engine in engines(&home).await {
        let (anna, bob) = (scope("anna"), scope("bob"));
        engine.observe(&anna, turns("s", &CHINESE, days_ago(3).as_second())).await.unwrap();
        engine.end_session(&anna, "s").await.unwrap();
        let archived = engine.archive_days(&anna).await.unwrap();
        assert_eq!(archived.iter().map(|day| day.memory).collect::<Vec<_>>(), [KeptDay::Added]);
        assert_eq!(engine.archive_days(&anna).await.unwrap(), []);
        let hits = engine.recall(&engine.request(&anna, "极光项目 发布 日志")).await.unwrap().hits;
        let day = hits.iter().find(|hit| hit.memory.kind == Kind::Session).expect("it is found");
        assert_eq!(day.memory.uri, "agent://tester/session/daily/2026-02-27");
        assert!(engine.recall(&engine.request(&bob, "极光项目")).await.unwrap().hits.is_empty());
        let layers = engine.layers(&anna).unwrap();
        let live = layers.path(Layer::Daily, archived[0].day);
        let file = live.with_file_name("archive").join("2026-02-27.md");
        // As if the process had died between the memory and the move.
        fs::rename(&file, &live).unwrap();
        assert_eq!(engine.archive_days(&anna).await.unwrap()[0].memory, KeptDay::Unchanged);
        engine.forget(&anna, day.memory.id).await.unwrap();
        assert!(!file.exists() && !live.exists(), "the file goes with the memory");
    }
}

#[tokio::test]
async fn layers_of_two_users_never_meet_and_need_a_home() {
    let home = TempDir::new().unwrap();
    let engine = engines(&home).await.remove(0);
    let add = LayerEdit::Add { section: "偏好".into(), content: "likes tea".into() };
    let (anna, bob) = (scope("anna"), scope("bob"));
    engine.edit_layer(&anna, Layer::User, add.clone(), Actor::Agent).await.unwrap();
    assert_eq!(engine.layer_snapshot(&anna).await.unwrap().user.text, "## 偏好\n\nlikes tea");
    assert_eq!(engine.layer_snapshot(&bob).await.unwrap().total_chars, 0);
    let homeless = Engine::new(Arc::new(RamStore::default())).with_clock(noon);
    let refused = homeless.edit_layer(&Scope::default(), Layer::User, add, Actor::Agent).await;
    assert_eq!(refused.unwrap_err().to_string(), "there is no home folder");
}
