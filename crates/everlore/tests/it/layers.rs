//! Tests of layers through the engine: the end of a conversation, days that become memories, and isolation of scopes.

use std::{fs, sync::Arc};

use everlore::{
    Engine, Kind, Scope, Turn,
    engine::{DayArchiveOutcome, Layer, LayerEdit, PromptRequest},
    store::{JournalQuery, ListOrder, ListQuery, MemoryFilter, RamStore, Store},
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
    let engine = |(index, store)| engine_on(store).rebuild().home(home(index)).build();
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
        assert_eq!(
            archived.iter().map(|day| day.memory).collect::<Vec<_>>(),
            [DayArchiveOutcome::Added]
        );
        assert_eq!(engine.archive_days(&anna).await.unwrap(), []);
        let hits =
            engine.recall(&engine.recall_request(&anna, "极光项目 发布 日志")).await.unwrap().hits;
        let day = hits.iter().find(|hit| hit.memory.kind == Kind::Session).expect("it is found");
        assert_eq!(day.memory.uri, "agent://tester/session/daily/2026-02-27");
        assert!(
            engine.recall(&engine.recall_request(&bob, "极光项目")).await.unwrap().hits.is_empty()
        );
        let layers = everlore::internal::layers_of(&engine, &anna).unwrap();
        let live = layers.path(Layer::Daily, archived[0].day);
        let file = live.with_file_name("archive").join("2026-02-27.md");
        // As if the process had died between the memory and the move.
        fs::rename(&file, &live).unwrap();
        assert_eq!(
            engine.archive_days(&anna).await.unwrap()[0].memory,
            DayArchiveOutcome::Unchanged
        );
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
    let homeless = Engine::builder(Arc::new(RamStore::default())).clock(noon).build();
    let refused = homeless.edit_layer(&Scope::default(), Layer::User, add, Actor::Agent).await;
    assert_eq!(refused.unwrap_err().to_string(), "there is no home folder");
}

/// Writes a log of a conversation three days ago, and returns its file.
async fn logged(engine: &Engine, scope: &Scope, texts: &[&str]) -> std::path::PathBuf {
    engine.observe(scope, turns("s", texts, days_ago(3).as_second())).await.unwrap();
    let ended = engine.end_session(scope, "s").await.unwrap();
    ended.log.expect("it is worth a line").layer.path
}

#[tokio::test]
async fn old_days_are_put_away_when_a_conversation_begins_and_not_when_a_prompt_is_only_shown() {
    let home = TempDir::new().unwrap();
    for engine in engines(&home).await {
        for (user, texts) in [("anna", ENGLISH), ("小王", CHINESE)] {
            let scope = scope(user);
            let path = logged(&engine, &scope, &texts).await;
            let request = PromptRequest::default();
            let shown = engine.preview_prompt(&scope, &request).await.unwrap();
            assert!(path.exists(), "showing changes nothing");
            assert_eq!(engine.begin_prompt(&scope, &request).await.unwrap(), shown);
            assert!(!path.exists(), "the day is put away");
            assert_eq!(engine.count(&scope).await.unwrap().changes, 5, "once, as a memory");
            engine.begin_prompt(&scope, &request).await.unwrap();
            assert_eq!(engine.count(&scope).await.unwrap().changes, 5);
        }
    }
}

#[tokio::test]
async fn a_new_turn_puts_old_days_away_and_is_saved_even_if_that_fails() {
    let home = TempDir::new().unwrap();
    for engine in engines(&home).await {
        let scope = scope("anna");
        let path = logged(&engine, &scope, &CHINESE).await;
        let broken = path.with_file_name("2026-01-02.md");
        fs::write(&broken, b"\xff\xfe not utf-8").unwrap();
        let saved = engine.observe(&scope, turns("t", &ENGLISH[1..2], NOON)).await.unwrap();
        assert!(saved[0].receipt.verified && path.exists());
        assert!(engine.archive_days(&scope).await.unwrap_err().to_string().contains("2026-01-02"));
        fs::remove_file(&broken).unwrap();
        engine.observe(&scope, turns("t", &ENGLISH[2..3], NOON + 1)).await.unwrap();
        assert!(!path.exists());
        let found =
            engine.recall(&engine.recall_request(&scope, "极光项目 日志")).await.unwrap().hits;
        assert!(found.iter().any(|hit| hit.memory.kind == Kind::Session));
    }
}

#[tokio::test]
async fn forgetting_a_turn_reaches_the_days_that_quote_it() {
    for is_archived in [false, true] {
        let home = TempDir::new().unwrap();
        for engine in engines(&home).await {
            for (user, texts, erased) in
                [("anna", ENGLISH, "Borealis moved"), ("小王", CHINESE, "推迟到")]
            {
                let scope = scope(user);
                let saved = turns("s", &texts, days_ago(3).as_second());
                let saved = engine.observe(&scope, saved).await.unwrap();
                let other = turns("other", &texts[2..3], days_ago(3).as_second() + 9);
                engine.observe(&scope, other).await.unwrap();
                engine.end_session(&scope, "s").await.unwrap();
                engine.end_session(&scope, "other").await.unwrap();
                if is_archived {
                    engine.archive_days(&scope).await.unwrap();
                }
                let forgotten = engine.forget(&scope, saved[1].id).await.unwrap();
                let [day] = &forgotten.forgotten[0].daily[..] else { panic!("{forgotten:?}") };
                assert_eq!(day.memory, is_archived);
                assert_eq!((day.removed.file, day.removed.archived), (!is_archived, is_archived));
                assert!(day.removed.images > 0, "{day:?}");
                assert_eq!(
                    forgotten.forgotten[0].summaries.len(),
                    1,
                    "what is left of it is named"
                );
                assert_eq!(holding(home.path(), erased), [""; 0]);
                assert!(!holding(home.path(), texts[2]).is_empty(), "the rest stays");
                assert_eq!(
                    engine.archive_days(&scope).await.unwrap().len(),
                    usize::from(!is_archived)
                );
                let days = engine.list(&scope, &days_only()).await.unwrap();
                assert!(days.len() == 1 && !days[0].content.contains(erased), "{days:?}");
                assert!(days[0].content.contains(texts[2]), "{days:?}");
                assert_eq!(engine.admin().check_index(&scope).await.unwrap(), [""; 0]);
            }
        }
    }
}

#[tokio::test]
async fn forgetting_reaches_a_day_that_was_deleted_and_leaves_nothing_of_an_emptied_one() {
    let home = TempDir::new().unwrap();
    for engine in engines(&home).await {
        let scope = scope("小王");
        let saved = turns("s", &CHINESE[1..2], days_ago(3).as_second());
        let saved = engine.observe(&scope, saved).await.unwrap();
        engine.end_session(&scope, "s").await.unwrap();
        engine.archive_days(&scope).await.unwrap();
        let day = engine.list(&scope, &days_only()).await.unwrap().remove(0);
        engine.delete(&scope, day.id).await.unwrap();
        let forgotten = engine.forget(&scope, saved[0].id).await.unwrap();
        assert!(
            forgotten.forgotten[0].daily[0].removed.archived
                && forgotten.forgotten[0].summaries.is_empty()
        );
        assert_eq!(holding(home.path(), "极光"), [""; 0], "also the empty section goes");
        let lines = engine.history(&scope, &JournalQuery::default()).await.unwrap();
        let images = lines.iter().filter_map(|line| line.before.as_deref());
        assert!(images.into_iter().all(|image| !image.content.contains("极光")), "{lines:?}");
    }
}

fn days_only() -> ListQuery {
    let filter = MemoryFilter { kinds: vec![Kind::Session], ..MemoryFilter::default() };
    ListQuery { filter, after: None, order: ListOrder::OldestFirst, limit: 10 }
}

/// Returns the files below a folder that contain a text.
fn holding(folder: &std::path::Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(holding(&path, text));
        } else if String::from_utf8_lossy(&fs::read(&path).unwrap()).contains(text) {
            found.push(path.display().to_string());
        }
    }
    found
}
