//! Tests of saving: once, under a stable uri, with a receipt; rejected with a reason; undone; never restored after
//! erasure.

use everlore::{
    Engine, Error, Kind, MemoryEdit, RememberRequest, Status, Turn,
    engine::{ImportOptions, UndoTarget},
    internal::store_of,
    store::{JournalQuery, MemoryKey},
    types::{Actor, ChangeOp, MAX_CONTENT_BYTES, Role, WriteBatch},
};
use serde_json::json;

use crate::support::{
    add, all, days_ago, engine, engine_on, found, memory, noon, one_o_clock, ram, remember_all,
    say, scope, sqlite, turn, write,
};

#[tokio::test]
async fn the_same_told_twice_is_one_memory_with_a_newer_time() {
    for text in ["I like tea", "我喜欢龙井茶"] {
        let (engine, owner) = (engine().await, scope("ann"));
        let first = engine.remember(&owner, say(text)).await.unwrap();
        let later = engine.clone().rebuild().clock(one_o_clock).build();
        let again = later.remember(&owner, say(&format!("  {text}\n"))).await.unwrap();
        assert_eq!((again.id, &again.uri), (first.id, &first.uri));
        assert!(!first.receipt.known && again.receipt.known && again.receipt.verified);
        assert_eq!((first.receipt.seq, again.receipt.seq), (1, 2));
        let [memory] = &all(&engine, &owner).await[..] else { panic!("not one memory") };
        assert_eq!((memory.created_at, memory.updated_at), (noon(), one_o_clock()));
        assert_eq!((memory.content.as_str(), memory.version), (text, 2));
    }
}

#[tokio::test]
async fn one_name_for_two_texts_makes_two_memories_with_uris_of_their_own() {
    let (engine, owner) = (engine().await, scope("ann"));
    let named = |text: &str| RememberRequest { name: Some("Tea".into()), ..say(text) };
    let one = engine.remember(&owner, named("I like green tea")).await.unwrap();
    let two = engine.remember(&owner, named("I like black tea")).await.unwrap();
    assert!(one.id != two.id && one.uri != two.uri);
    assert!(one.uri.starts_with("agent://tester/user/general/tea-"), "{}", one.uri);
    for saved in [one, two] {
        assert_eq!(engine.resolve(&owner, &saved.uri).await.unwrap(), saved.id);
        assert_eq!(engine.resolve(&owner, &saved.id.to_string()).await.unwrap(), saved.id);
    }
}

#[tokio::test]
async fn a_uri_stays_across_edits_and_telling_it_again_renews_it() {
    let (engine, owner) = (engine().await, scope("ann"));
    let saved = engine.remember(&owner, say("I like tea")).await.unwrap();
    let edit = MemoryEdit {
        name: Some("Hot drinks".into()),
        kind: Some(Kind::Feedback),
        tags: Some(vec!["drink".into()]),
        ..MemoryEdit::default()
    };
    let edited = engine.edit(&owner, saved.id, &edit).await.unwrap();
    assert_eq!((&edited.uri, edited.kind), (&saved.uri, Kind::Feedback));
    let again = engine.remember(&owner, say("I like tea")).await.unwrap();
    assert_eq!((again.id, again.uri), (saved.id, saved.uri), "the same uri and text");
    assert_eq!(all(&engine, &owner).await.len(), 1);
}

#[tokio::test]
async fn a_text_whose_uri_says_something_else_by_now_gets_another() {
    let (engine, owner) = (engine().await, scope("ann"));
    let first = engine.remember(&owner, say("I like tea")).await.unwrap();
    let edit = MemoryEdit { content: Some("I like coffee".into()), ..MemoryEdit::default() };
    engine.edit(&owner, first.id, &edit).await.unwrap();
    let second = engine.remember(&owner, say("I like tea")).await.unwrap();
    assert_ne!(first.id, second.id);
    assert_eq!(second.uri, format!("{}-1", first.uri));
}

#[tokio::test]
async fn many_tasks_that_tell_the_same_at_once_make_one_memory() {
    let (engine, owner) = (engine().await, scope("ann"));
    let tasks: Vec<_> = (0..40)
        .map(|_| {
            let (engine, owner) = (engine.clone(), owner.clone());
            tokio::spawn(async move { engine.remember(&owner, say("我喜欢茶")).await })
        })
        .collect();
    let mut ids = Vec::new();
    for task in tasks {
        ids.push(task.await.unwrap().unwrap().id);
    }
    ids.dedup();
    assert_eq!(ids.len(), 1);
    let memories = all(&engine, &owner).await;
    assert_eq!((memories.len(), memories[0].version), (1, 40));
    assert_eq!(engine.admin().check_index(&owner).await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn an_archived_memory_that_is_told_again_is_active_again() {
    let (engine, owner) = (engine().await, scope("ann"));
    let saved = engine.remember(&owner, say("I like tea")).await.unwrap();
    engine.archive(&owner, saved.id).await.unwrap();
    assert!(found(&engine, &owner, "tea").await.is_empty());
    assert_eq!(engine.remember(&owner, say("I like tea")).await.unwrap().status, Status::Active);
    assert_eq!(found(&engine, &owner, "tea").await, ["I like tea"]);
}

#[tokio::test]
async fn kinds_are_taken_mapped_or_judged() {
    let (engine, owner) = (ram(), scope("ann"));
    for (kind, stored) in
        [("preference", Kind::User), ("fact", Kind::Knowledge), ("project", Kind::Project)]
    {
        let request: RememberRequest =
            serde_json::from_value(json!({ "content": format!("x {kind}"), "kind": kind }))
                .unwrap();
        assert_eq!(engine.remember(&owner, request).await.unwrap().kind, stored);
    }
    assert_eq!(engine.remember(&owner, say("不要自动提交")).await.unwrap().kind, Kind::Feedback);
    let unknown =
        serde_json::from_value::<RememberRequest>(json!({ "content": "x", "kind": "colour" }));
    assert!(unknown.unwrap_err().to_string().contains("unknown kind `colour`"));
}

#[tokio::test]
async fn bad_input_is_refused_with_what_is_wrong() {
    let (engine, owner) = (ram(), scope("ann"));
    let long = |count| "长".repeat(count);
    let tags = (0..65).map(|number| format!("tag{number}")).collect();
    let cases = [
        (say(""), "there is no text"),
        (say(" \n\t\u{3000}"), "there is no text"),
        (say(&"x".repeat(MAX_CONTENT_BYTES + 1)), "the text has 4194305 bytes"),
        (RememberRequest { importance: Some(2.0), ..say("x") }, "importance is 2"),
        (RememberRequest { importance: Some(f64::NAN), ..say("x") }, "importance is NaN"),
        (RememberRequest { confidence: Some(-0.1), ..say("x") }, "confidence is -0.1"),
        (RememberRequest { tags, ..say("x") }, "there are 65 tags"),
        (
            RememberRequest { tags: vec![long(201)], ..say("x") },
            "a tag is longer than 200 characters",
        ),
        (RememberRequest { session: Some(long(201)), ..say("x") }, "a session is longer"),
        (
            RememberRequest { name: Some(long(201)), ..say("x") },
            "the name is longer than 200 characters",
        ),
        (
            RememberRequest { kind: Some(Kind::Turn), ..say("x") },
            "a turn cannot be saved as a memory",
        ),
    ];
    for (bad, message) in cases {
        let error = engine.remember(&owner, bad).await.unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
        assert!(error.code() == "invalid" && !error.hint().is_empty());
    }
    assert!(all(&engine, &owner).await.is_empty());
}

#[tokio::test]
async fn odd_but_honest_input_is_kept_as_it_is() {
    let (engine, owner) = (engine().await, scope("ann"));
    for text in ["a\0b tea", "🎉🎉 tea", "tea \u{202e}reversed", "e\u{301}tea \r\n x"] {
        let saved = engine.remember(&owner, say(text)).await.unwrap();
        assert_eq!(engine.get(&owner, saved.id).await.unwrap().content, text);
    }
    let request =
        RememberRequest { tags: vec![" a\nb ".into(), String::new(), "a b".into()], ..say("tags") };
    let saved = engine.remember(&owner, request).await.unwrap();
    assert_eq!(engine.get(&owner, saved.id).await.unwrap().tags, ["a b"]);
}

#[tokio::test]
async fn turns_are_observed_all_or_none() {
    let (engine, owner) = (engine().await, scope("ann"));
    let bad = vec![turn("m", "Ann", "hello"), turn("m", "Ben", "  ")];
    let error = engine.observe(&owner, bad).await.unwrap_err();
    assert_eq!(error.to_string(), "there is no text");
    assert!(all(&engine, &owner).await.is_empty());
    assert_eq!(engine.observe(&owner, vec![]).await.unwrap(), []);
    let said = Turn { role: Some(Role::User), time: Some(days_ago(2)), ..turn("m", "Ann", " hi ") };
    let saved = engine.observe(&owner, vec![said.clone(), said]).await.unwrap();
    assert_ne!(saved[0].id, saved[1].id, "people say the same twice");
    let stored = engine.get(&owner, saved[0].id).await.unwrap();
    assert_eq!((stored.content.as_str(), stored.at), (" hi ", days_ago(2)), "word for word");
    assert_eq!(engine.resolve(&owner, &stored.uri).await.unwrap(), stored.id);
}

#[tokio::test]
async fn edits_are_checked_like_new_memories() {
    let (engine, owner) = (engine().await, scope("ann"));
    let id = engine.remember(&owner, say("I like tea")).await.unwrap().id;
    let cases = [
        (MemoryEdit { content: Some(" ".into()), ..MemoryEdit::default() }, "there is no text"),
        (MemoryEdit { importance: Some(1.5), ..MemoryEdit::default() }, "importance is 1.5"),
        (MemoryEdit { weight: Some(11.0), ..MemoryEdit::default() }, "weight is 11"),
        (MemoryEdit { name: Some("n".repeat(201)), ..MemoryEdit::default() }, "the name is longer"),
        (MemoryEdit { kind: Some(Kind::Turn), ..MemoryEdit::default() }, "whether it is a turn"),
    ];
    for (edit, message) in cases {
        let error = engine.edit(&owner, id, &edit).await.unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
    let metadata = serde_json::Map::from_iter([("k".to_owned(), json!([1, "二"]))]);
    let edit = MemoryEdit {
        content: Some("I like 茶".into()),
        description: Some("what\nI drink".into()),
        weight: Some(2.0),
        importance: Some(0.9),
        metadata: Some(metadata.clone()),
        ..MemoryEdit::default()
    };
    let edited = engine.edit(&owner, id, &edit).await.unwrap();
    assert_eq!((edited.description.as_str(), edited.weight), ("what I drink", 2.0));
    assert_eq!((edited.metadata, edited.version), (metadata, 2));
    assert_eq!(found(&engine, &owner, "茶").await, ["I like 茶"]);
}

#[tokio::test]
async fn concurrent_edits_all_take_effect() {
    let (engine, owner) = (engine().await, scope("ann"));
    let id = engine.remember(&owner, say("I like tea")).await.unwrap().id;
    let edits = [
        MemoryEdit { weight: Some(3.0), ..MemoryEdit::default() },
        MemoryEdit { importance: Some(0.7), ..MemoryEdit::default() },
        MemoryEdit { description: Some("d".into()), ..MemoryEdit::default() },
        MemoryEdit { tags: Some(vec!["t".into()]), ..MemoryEdit::default() },
    ];
    let tasks = edits.map(|edit| {
        let (engine, owner) = (engine.clone(), owner.clone());
        tokio::spawn(async move { engine.edit(&owner, id, &edit).await })
    });
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    let memory = engine.get(&owner, id).await.unwrap();
    assert_eq!((memory.weight, memory.importance, memory.version), (3.0, 0.7, 5));
    assert_eq!((memory.description.as_str(), memory.tags), ("d", vec!["t".to_owned()]));
}

#[tokio::test]
async fn of_statements_saved_at_the_same_time_one_holds() {
    for engine in [engine().await, ram()] {
        for (user, texts) in [
            ("ann", ["I live in Berlin", "I live in Lisbon", "I live in Oslo", "I live in Rome"]),
            ("ben", ["我住在柏林", "我住在里斯本", "我住在奥斯陆", "我住在罗马"]),
        ] {
            let saves = texts.map(|text| {
                let (engine, owner) = (engine.clone(), scope(user));
                tokio::spawn(async move { engine.remember(&owner, say(text)).await })
            });
            for save in saves {
                save.await.unwrap().unwrap();
            }
            let memories = all(&engine, &scope(user)).await;
            let active = memories.iter().filter(|memory| memory.status == Status::Active);
            assert_eq!((memories.len(), active.count()), (4, 1), "{user}");
        }
    }
}

#[tokio::test]
async fn a_memory_is_superseded_by_one_that_is_there() {
    let (engine, owner) = (engine().await, scope("ann"));
    let saved = remember_all(&engine, &owner, &["I live in Lisbon", "I live in Porto"]).await;
    let (old, new) = (saved[0].id, saved[1].id);
    let itself = engine.supersede(&owner, old, old).await.unwrap_err();
    assert_eq!(itself.to_string(), "a memory cannot replace itself");
    let missing = engine.supersede(&owner, old, crate::support::id(1)).await;
    assert!(matches!(missing, Err(Error::NotFound { .. })), "{missing:?}");
    let replaced = engine.supersede(&owner, old, new).await.unwrap();
    assert_eq!((replaced.status, replaced.superseded_by), (Status::Superseded, Some(new)));
    let back = engine.restore(&owner, old).await.unwrap();
    assert_eq!((back.status, back.superseded_by), (Status::Active, None));
}

#[tokio::test]
async fn worthless_memories_are_put_away_and_a_dry_run_only_names_them() {
    let (engine, owner) = (engine().await, scope("ann"));
    let saved = remember_all(&engine, &owner, &["I like tea", "我喜欢茶", "I ski"]).await;
    for id in [saved[0].id, saved[1].id] {
        engine
            .edit(&owner, id, &MemoryEdit { weight: Some(0.1), ..MemoryEdit::default() })
            .await
            .unwrap();
    }
    assert_eq!(engine.clean(&owner, 0.2, true).await.unwrap().memories.len(), 2);
    assert_eq!(found(&engine, &owner, "tea 茶").await.len(), 2);
    assert_eq!(engine.clean(&owner, 0.2, false).await.unwrap().memories.len(), 2);
    assert_eq!(engine.clean(&owner, 0.2, false).await.unwrap().memories, []);
    assert!(found(&engine, &owner, "tea 茶").await.is_empty());
}

#[tokio::test]
async fn ids_are_found_by_a_unique_beginning() {
    let (owner, store) = (scope("ann"), sqlite().await);
    let memories = [memory(&owner, 0x1a00_0000, "one"), memory(&owner, 0x1b00_0000, "two")];
    let engine = engine_on(store);
    store_of(&engine).apply(write(&owner, memories.iter().map(add).collect())).await.unwrap();
    assert_eq!(engine.resolve(&owner, "1B").await.unwrap(), memories[1].id);
    assert_eq!(engine.resolve(&owner, "1b00-0000").await.unwrap(), memories[1].id);
    let both = engine.resolve(&owner, "1").await.unwrap_err();
    assert_eq!((both.code(), both.to_string().as_str()), ("ambiguous", "`1` fits 2 memories"));
    for (name, code) in [
        ("2", "not_found"),
        ("xyz", "invalid"),
        ("", "invalid"),
        ("agent://tester/user/9", "not_found"),
        ("agent://tester/turn/m/1a000000-0707-0707-0707-070707070707", "not_found"),
    ] {
        assert_eq!(engine.resolve(&owner, name).await.unwrap_err().code(), code, "{name}");
    }
}

async fn last_seq(engine: &Engine, owner: &everlore::Scope) -> u64 {
    let newest = JournalQuery { limit: Some(1), ..JournalQuery::default() };
    engine.history(owner, &newest).await.unwrap()[0].seq
}

#[tokio::test]
async fn every_change_can_be_undone_and_so_can_the_undoing() {
    let (engine, owner) = (engine().await, scope("ann"));
    let id = engine.remember(&owner, say("I like tea")).await.unwrap().id;
    let undo = async |seq| engine.undo(&owner, &UndoTarget::Change(seq)).await.unwrap();
    let text = async || engine.get(&owner, id).await.map(|memory| memory.content).ok();
    let edit = MemoryEdit { content: Some("我喜欢茶".into()), ..MemoryEdit::default() };
    engine.edit(&owner, id, &edit).await.unwrap();
    assert_eq!(undo(2).await, [2]);
    assert_eq!(text().await.as_deref(), Some("I like tea"));
    undo(3).await;
    assert_eq!(text().await.as_deref(), Some("我喜欢茶"), "undoing undone");
    assert_eq!(found(&engine, &owner, "茶").await, ["我喜欢茶"]);
    engine.archive(&owner, id).await.unwrap();
    undo(5).await;
    assert_eq!(engine.get(&owner, id).await.unwrap().status, Status::Active);
    engine.delete(&owner, id).await.unwrap();
    assert_eq!(text().await, None);
    undo(7).await;
    assert_eq!(text().await.as_deref(), Some("我喜欢茶"));
    assert_eq!(found(&engine, &owner, "茶").await, ["我喜欢茶"]);
    undo(last_seq(&engine, &owner).await).await;
    assert_eq!(text().await, None, "undoing the undeletion");
    assert_eq!(engine.admin().check_index(&owner).await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn undoing_an_addition_removes_it() {
    let (engine, owner) = (engine().await, scope("ann"));
    engine.remember(&owner, say("I like tea")).await.unwrap();
    engine.undo(&owner, &UndoTarget::Change(1)).await.unwrap();
    assert!(all(&engine, &owner).await.is_empty());
    let journal = engine.history(&owner, &JournalQuery::default()).await.unwrap();
    assert_eq!((journal[0].op, journal[0].cause.as_str()), (ChangeOp::Delete, "undo change 1"));
}

#[tokio::test]
async fn what_was_changed_later_is_not_undone_over() {
    let (engine, owner) = (engine().await, scope("ann"));
    let id = engine.remember(&owner, say("one")).await.unwrap().id;
    for text in ["two", "three"] {
        let edit = MemoryEdit { content: Some(text.into()), ..MemoryEdit::default() };
        engine.edit(&owner, id, &edit).await.unwrap();
    }
    let error = engine.undo(&owner, &UndoTarget::Change(2)).await.unwrap_err();
    assert!(error.to_string().contains("was changed again by change 3"), "{error}");
    assert_eq!(engine.get(&owner, id).await.unwrap().content, "three");
    let missing = engine.undo(&owner, &UndoTarget::Change(99)).await.unwrap_err();
    assert_eq!(missing.to_string(), "change `99` not found");
    let missing = engine.undo(&owner, &UndoTarget::Run("x".into())).await.unwrap_err();
    assert_eq!(missing.to_string(), "run `x` not found");
}

#[tokio::test]
async fn what_was_erased_cannot_be_undone() {
    let (engine, owner) = (engine().await, scope("ann"));
    let id = engine.remember(&owner, say("secret")).await.unwrap().id;
    engine.forget(&owner, id).await.unwrap();
    for seq in [1, 2] {
        let error = engine.undo(&owner, &UndoTarget::Change(seq)).await.unwrap_err();
        assert!(error.to_string().contains("has been erased"), "{error}");
    }
}

/// Runs one addition, two changes of another memory and a removal of a third.
async fn with_a_run(engine: &Engine, owner: &everlore::Scope) {
    let numbered = |number, text: &str| memory(owner, number, text);
    let start = vec![add(&numbered(1, "one")), add(&numbered(2, "two"))];
    store_of(engine).apply(write(owner, start)).await.unwrap();
    let mut changed = numbered(1, "one, changed");
    changed.version = 2;
    let mut again = numbered(1, "one, changed again");
    again.version = 3;
    let update = |memory| everlore::types::Change::Update(Box::new(memory));
    let changes = vec![
        update(changed),
        add(&numbered(3, "three")),
        everlore::types::Change::Delete(crate::support::id(2)),
        update(again),
    ];
    let run = WriteBatch::new(owner, Actor::Engine, "upkeep", noon(), changes);
    store_of(engine).apply(WriteBatch { run: Some("run-1".into()), ..run }).await.unwrap();
}

async fn contents(engine: &Engine, owner: &everlore::Scope) -> Vec<String> {
    all(engine, owner).await.into_iter().map(|memory| memory.content).collect()
}

#[tokio::test]
async fn a_whole_run_is_undone_at_once() {
    let (engine, owner) = (engine().await, scope("ann"));
    with_a_run(&engine, &owner).await;
    assert_eq!(contents(&engine, &owner).await, ["one, changed again", "three"]);
    let undone = engine.undo(&owner, &UndoTarget::Run("run-1".into())).await.unwrap();
    assert_eq!(undone, [6, 5, 4, 3]);
    assert_eq!(contents(&engine, &owner).await, ["one", "two"]);
    assert_eq!(engine.admin().check_index(&owner).await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn a_run_is_not_undone_over_a_change_made_since() {
    let (engine, owner) = (engine().await, scope("ann"));
    with_a_run(&engine, &owner).await;
    let edit = MemoryEdit { name: Some("kept".into()), ..MemoryEdit::default() };
    engine.edit(&owner, crate::support::id(3), &edit).await.unwrap();
    let error = engine.undo(&owner, &UndoTarget::Run("run-1".into())).await.unwrap_err();
    assert!(error.to_string().contains("was changed again by change 7"), "{error}");
    assert_eq!(contents(&engine, &owner).await, ["one, changed again", "three"], "all or none");
}

#[tokio::test]
async fn a_run_is_not_undone_over_a_change_made_between_its_own() {
    let (engine, owner) = (engine().await, scope("ann"));
    let id = engine.remember(&owner, say("one")).await.unwrap().id;
    let run = async |text: &str| {
        let mut memory = engine.get(&owner, id).await.unwrap();
        (memory.content, memory.version) = (text.into(), memory.version + 1);
        let changes = vec![everlore::types::Change::Update(Box::new(memory))];
        let run = WriteBatch::new(&owner, Actor::Engine, "upkeep", noon(), changes);
        store_of(&engine).apply(WriteBatch { run: Some("run-1".into()), ..run }).await.unwrap();
    };
    run("two").await;
    let edit = MemoryEdit { content: Some("mine".into()), ..MemoryEdit::default() };
    engine.edit(&owner, id, &edit).await.unwrap();
    run("three").await;
    let error = engine.undo(&owner, &UndoTarget::Run("run-1".into())).await.unwrap_err();
    assert!(error.to_string().contains("was changed again by change 3"), "{error}");
    assert_eq!(contents(&engine, &owner).await, ["three"]);
}

#[tokio::test]
async fn what_was_forgotten_comes_back_by_telling_it_but_not_by_import() {
    let (engine, owner) = (engine().await, scope("ann"));
    let mut file = Vec::new();
    let saved = engine.remember(&owner, say("我的秘密")).await.unwrap();
    engine.export(&owner, false, &mut file, &mut |_| ()).await.unwrap();
    let forgotten = engine.forget(&owner, saved.id).await.unwrap();
    assert_eq!((forgotten.forgotten[0].removed.rows, forgotten.forgotten[0].removed.tombstones), (1, 1));
    let options = ImportOptions::default();
    let drafts: &[u8] = "{\"content\": \"我的秘密\"}\n".as_bytes();
    for lines in [&file[..], drafts] {
        let report = engine.import(&owner, lines, options, &mut |_| ()).await.unwrap();
        assert_eq!((report.erased, report.added), (1, 0));
    }
    assert!(all(&engine, &owner).await.is_empty());
    engine.remember(&owner, say("我的秘密")).await.unwrap();
    assert_eq!(found(&engine, &owner, "秘密").await, ["我的秘密"]);
    let known =
        store_of(&engine).memories().find_one(&owner, MemoryKey::Uri(saved.uri)).await.unwrap();
    assert_ne!(known.unwrap().id, saved.id, "a new memory, not the old one");
}

#[tokio::test]
async fn a_statement_finds_its_rival_in_either_language() {
    let pairs = [
        ("I live in Paris.", "我住在罗马"),
        ("我住在巴黎", "I live in Rome"),
        ("My favourite colour is blue", "My favorite color is green"),
        ("My favourite colour is blue", "我最喜欢的颜色是绿色"),
        ("I am 29", "I'm 30"),
        ("我29岁", "我今年30岁了"),
        ("I'm allergic to peanuts", "I'm not allergic to peanuts after all"),
        ("我对花生过敏", "我其实不对花生过敏"),
        ("我抽烟", "我戒烟了"),
        ("我在腾讯上班", "我从腾讯跳槽到了美团"),
        ("I'm single", "I got married"),
        ("我单身", "我结婚了"),
        ("I'm a teacher", "I'm a lawyer now"),
        ("The deadline is March 20", "The deadline was moved to March 27"),
        ("截止日期是3月20日", "截止日期改到3月27日了"),
        ("My name is Novak", "Call me Nowak"),
        ("我叫张伟", "我改名叫李雷了"),
        ("I work at Siemens", "I left Siemens, I'm at Bosch now"),
        ("I am vegetarian", "I started eating meat again"),
        ("I weigh 92 kg", "I'm down to 85 kg"),
        ("我吃素", "我又开始吃肉了"),
        ("我体重92公斤", "我瘦到85公斤了"),
        ("周会定在每周三下午", "周会改到每周四上午了"),
    ];
    for (older, newer) in pairs {
        let engine = engine().await;
        let scope = scope("ann");
        let first = engine.remember(&scope, RememberRequest::new(older)).await.unwrap();
        for number in 0..40 {
            let note = format!("Module {number} belongs to group {number}, 模块{number}由第{number}组维护");
            engine.remember(&scope, RememberRequest::new(note)).await.unwrap();
        }
        let saved = engine.remember(&scope, RememberRequest::new(newer)).await.unwrap();
        let superseded: Vec<_> = saved.superseded.iter().map(|it| it.id).collect();
        assert_eq!(superseded, [first.id], "{older} then {newer}");
    }
}

#[tokio::test]
async fn a_part_and_its_whole_and_two_brothers_hold_beside_each_other() {
    let pairs = [
        ("I live in Paris", "I live in France"),
        ("我住在北京", "我住在朝阳区"),
        ("My brother is called Tom", "My brother is called Jack"),
        ("我哥哥叫大明", "我哥哥叫小明"),
        ("I worked at Nokia from 2005 to 2010", "I work at Ericsson"),
        ("I work at Ericsson", "I worked at Nokia from 2005 to 2010"),
        ("I lived in Madrid for two years", "I live in Porto"),
        ("我2005年到2010年在诺基亚工作", "我在爱立信上班"),
    ];
    for (older, newer) in pairs {
        let engine = engine().await;
        let scope = scope("ann");
        engine.remember(&scope, RememberRequest::new(older)).await.unwrap();
        let saved = engine.remember(&scope, RememberRequest::new(newer)).await.unwrap();
        assert_eq!(saved.superseded, [], "{older} then {newer}");
    }
}
