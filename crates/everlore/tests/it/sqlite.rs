//! Tests of the SQLite file: durability, sharing, merging, refusal of unusable files, and complete erasure.

use std::{fs, path::Path, sync::Arc};

use everlore::{
    Error, MemoryEdit, Scope,
    engine::UndoTarget,
    store::{SqliteStore, Store, TermHash},
    types::{Change, Memory, Origin},
};
use rusqlite::Connection;

use crate::support::{
    add, all, engine_on, found, fresh_path, memory, open, remember_all, say, scope, spoken, sqlite,
    turn, until_indexes_are_current, write,
};

#[tokio::test]
async fn what_was_saved_is_there_after_the_store_was_dropped_without_closing() {
    let (path, owner) = (fresh_path(), scope("ann"));
    for round in 0..3 {
        let (store, engine) = open(&path).await;
        engine.remember(&owner, say(&format!("round {round}"))).await.unwrap();
        drop((engine, store));
    }
    let (store, engine) = open(&path).await;
    assert_eq!(all(&engine, &owner).await.len(), 3);
    assert_eq!(found(&engine, &owner, "round 2").await[0], "round 2");
    assert_eq!(store.admin().integrity().await.unwrap(), Vec::<String>::new());
    assert_eq!(store.index().inconsistencies(&owner).await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn a_closed_store_says_so() {
    let (store, owner) = (sqlite().await, scope("ann"));
    let engine = engine_on(Arc::clone(&store) as Arc<dyn Store>);
    engine.remember(&owner, say("I like tea")).await.unwrap();
    store.admin().close().await;
    store.admin().close().await;
    for error in [
        engine.remember(&owner, say("x")).await.map(drop).unwrap_err(),
        engine.count(&owner).await.map(drop).unwrap_err(),
    ] {
        assert_eq!(error.to_string(), "storage failed: the store is closed");
    }
}

#[tokio::test]
async fn a_file_of_a_newer_program_is_refused_and_left_alone() {
    let path = fresh_path();
    let store = open(&path).await.0;
    let schema = store.admin().info().schema;
    store.admin().close().await;
    let db = Connection::open(&path).unwrap();
    db.pragma_update(None, "user_version", 999).unwrap();
    drop(db);
    let error = SqliteStore::open(&path).await.err().unwrap();
    let Error::SchemaTooNew { found: 999, known } = error else { panic!("{error:?}") };
    assert_eq!(known, schema);
    assert!(error.hint().contains("update everlore"));
}

#[tokio::test]
async fn places_that_cannot_hold_a_database_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plain.txt");
    fs::write(&file, "I am no database, and long enough to be seen through at once.".repeat(20))
        .unwrap();
    let below = SqliteStore::open(file.join("everlore.db")).await.err().unwrap();
    assert!(matches!(&below, Error::Io { what, .. } if what.contains("plain.txt")), "{below:?}");
    let other = SqliteStore::open(&file).await.err().unwrap();
    assert_eq!(other.to_string(), "storage failed: file is not a database");
    let nowhere = SqliteStore::open("/proc/everlore/everlore.db").await.err().unwrap();
    assert!(matches!(&nowhere, Error::Io { what, .. } if what.contains("/proc/everlore")));
    let directory = SqliteStore::open(folder.path()).await.err().unwrap();
    assert!(matches!(directory, Error::Store(_) | Error::Io { .. }), "{directory:?}");
    for error in [below, other, nowhere] {
        assert!(error.hint().contains("check"), "{}", error.hint());
    }
}

#[tokio::test]
async fn a_changed_analysis_indexes_everything_again() {
    let (path, owner) = (fresh_path(), scope("ann"));
    let (store, engine) = open(&path).await;
    remember_all(&engine, &owner, &["I like tea", "我喜欢茶"]).await;
    store.admin().close().await;
    let db = Connection::open(&path).unwrap();
    db.execute("UPDATE scopes SET index_version = 0", []).unwrap();
    db.execute("DELETE FROM tail", []).unwrap();
    drop(db);
    let (store, engine) = open(&path).await;
    until_indexes_are_current(&store).await;
    assert_eq!(found(&engine, &owner, "茶").await, ["我喜欢茶"]);
    assert_eq!(store.index().inconsistencies(&owner).await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn rows_and_index_that_disagree_are_told_and_mended() {
    let (path, owner) = (fresh_path(), scope("ann"));
    let (store, engine) = open(&path).await;
    let saved = remember_all(&engine, &owner, &["I like tea", "我喜欢茶", "I ski"]).await;
    let db = Connection::open(&path).unwrap();
    db.execute("DELETE FROM tail WHERE place = 0", []).unwrap();
    db.execute("UPDATE memories SET content = 'changed by hand' WHERE place = 1", []).unwrap();
    db.execute("DELETE FROM memories WHERE place = 2", []).unwrap();
    let ids: Vec<_> = saved.iter().map(|saved| saved.id).collect();
    assert_eq!(store.memories().read_back(&owner, &ids).await.unwrap(), [false, false, false]);
    let problems = store.index().inconsistencies(&owner).await.unwrap();
    assert_eq!(problems.len(), 3, "{problems:?}");
    assert!(problems[0].contains("is not in the index"), "{problems:?}");
    assert!(problems[1].contains("does not match its text"), "{problems:?}");
    assert!(problems[2].contains("which has no memory"), "{problems:?}");
    assert_eq!(store.index().reindex(&owner).await.unwrap(), 2);
    assert_eq!(store.index().inconsistencies(&owner).await.unwrap(), Vec::<String>::new());
    assert_eq!(store.index().reindex(&scope("nobody")).await.unwrap(), 0);
}

/// Counts the transactions in the write-ahead log: the last frame of each has the size of the database.
fn commits(path: &Path) -> usize {
    let log = fs::read(path.with_extension("db-wal")).unwrap_or_default();
    let number = |bytes: &[u8]| u32::from_be_bytes(bytes.try_into().unwrap());
    if log.len() < 32 {
        return 0;
    }
    let (page, salts) = (number(&log[8..12]) as usize, &log[16..24]);
    let frames = log[32..].chunks_exact(24 + page);
    let valid = frames.take_while(|frame| &frame[8..16] == salts);
    valid.filter(|frame| number(&frame[4..8]) > 0).count()
}

#[tokio::test]
async fn writes_that_wait_together_share_a_transaction() {
    let (path, owner) = (fresh_path(), scope("ann"));
    let (store, engine) = open(&path).await;
    engine.remember(&owner, say("before")).await.unwrap();
    let before = commits(&path);
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let tasks: Vec<_> = (0..50)
        .map(|number| {
            let (store, owner) = (Arc::clone(&store), owner.clone());
            let memory = spoken(&owner, number, "monday", "tea");
            tokio::spawn(async move { store.apply(write(&owner, vec![add(&memory)])).await })
        })
        .collect();
    // On this runtime a task runs as far as it can at its turn: afterwards every write waits.
    tokio::task::yield_now().await;
    assert_eq!(all(&engine, &owner).await.len(), 1, "readers do not wait for writers");
    assert_eq!(commits(&path), before);
    other.execute_batch("COMMIT").unwrap();
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    assert_eq!(all(&engine, &owner).await.len(), 51);
    // The first write may have been taken up before the others came.
    assert!((1..=2).contains(&(commits(&path) - before)), "{}", commits(&path) - before);
}

#[tokio::test]
async fn a_write_that_fails_does_not_take_its_neighbours_with_it() {
    let (path, owner) = (fresh_path(), scope("ann"));
    let (store, engine) = open(&path).await;
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let apply = |changes: Vec<Change>| {
        let (store, owner) = (Arc::clone(&store), owner.clone());
        tokio::spawn(async move { store.apply(write(&owner, changes)).await })
    };
    let [first, second] = [memory(&owner, 1, "one"), memory(&owner, 2, "two")];
    let tasks = [
        apply(vec![add(&first)]),
        apply(vec![add(&memory(&owner, 3, "three")), Change::Delete(crate::support::id(9))]),
        apply(vec![add(&second)]),
    ];
    tokio::task::yield_now().await;
    other.execute_batch("COMMIT").unwrap();
    let [one, bad, two] = tasks;
    assert!(one.await.unwrap().is_ok() && two.await.unwrap().is_ok());
    assert!(matches!(bad.await.unwrap(), Err(Error::NotFound { .. })));
    assert_eq!(all(&engine, &owner).await, [first, second]);
}

#[tokio::test]
async fn a_reader_sees_one_state_while_others_write() {
    let (path, owner) = (fresh_path(), scope("ann"));
    let (store, engine) = open(&path).await;
    let turns = |session: &str| vec![turn(session, "", "tea one"), turn(session, "", "tea two")];
    let writes = async {
        for session in 0..20 {
            engine.observe(&owner, turns(&session.to_string())).await.unwrap();
        }
    };
    let reads = async {
        for _ in 0..20 {
            let count = all(&engine, &owner).await.len();
            assert_eq!(count % 2, 0, "half a batch was seen");
        }
    };
    tokio::join!(writes, reads);
    assert_eq!(store.index().inconsistencies(&owner).await.unwrap(), Vec::<String>::new());
}

fn blocks(path: &Path) -> Vec<(u32, u32)> {
    let db = Connection::open(path).unwrap();
    let mut select = db.prepare("SELECT level, docs FROM blocks ORDER BY level").unwrap();
    let rows = select.query_map([], |row| row.try_into()).unwrap();
    rows.map(Result::unwrap).collect()
}

fn many(owner: &Scope, numbers: std::ops::Range<u32>) -> Vec<Change> {
    numbers.map(|number| add(&spoken(owner, number, "monday", &format!("tea {number}")))).collect()
}

#[tokio::test]
async fn blocks_are_merged_so_that_no_level_has_more_than_eight() {
    let (path, owner) = (fresh_path(), scope("ann"));
    let (store, engine) = open(&path).await;
    for batch in 0..10 {
        store.apply(write(&owner, many(&owner, batch * 600..(batch + 1) * 600))).await.unwrap();
    }
    assert_eq!(found(&engine, &owner, "5999").await[0], "tea 5999");
    store.admin().close().await;
    let blocks = blocks(&path);
    assert_eq!(blocks.iter().map(|(_, docs)| docs).sum::<u32>(), 6_000);
    assert!(blocks.len() < 10, "nothing was merged: {blocks:?}");
    assert!(blocks.chunk_by(|a, b| a.0 == b.0).all(|level| level.len() <= 8), "{blocks:?}");
    let (store, _) = open(&path).await;
    assert_eq!(store.index().inconsistencies(&owner).await.unwrap(), Vec::<String>::new());
    assert_eq!(store.admin().integrity().await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn a_block_of_which_most_is_gone_is_made_small() {
    let (path, owner) = (fresh_path(), scope("ann"));
    let (store, _) = open(&path).await;
    store.apply(write(&owner, many(&owner, 0..100))).await.unwrap();
    let delete = |number| Change::Delete(crate::support::id(number));
    store.apply(write(&owner, (0..60).map(delete).collect())).await.unwrap();
    store.admin().close().await;
    assert_eq!(blocks(&path).iter().map(|(_, docs)| *docs).collect::<Vec<_>>(), [40]);
    let (store, engine) = open(&path).await;
    assert_eq!(store.index().inconsistencies(&owner).await.unwrap(), Vec::<String>::new());
    assert_eq!(found(&engine, &owner, "99").await[0], "tea 99");
    let delete = |number| Change::Delete(crate::support::id(number));
    store.apply(write(&owner, (60..100).map(delete).collect())).await.unwrap();
    store.admin().close().await;
    assert_eq!(blocks(&path), [], "an empty block leaves nothing");
}

/// Returns all bytes of the database and its log.
fn bytes_of(path: &Path) -> Vec<u8> {
    let mut bytes = fs::read(path).unwrap();
    bytes.extend(fs::read(path.with_extension("db-wal")).unwrap_or_default());
    bytes
}

fn holds(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|window| window == text)
}

/// Returns the traces that a word leaves in the file: its bytes and its term hash.
fn traces(word: &str) -> [Vec<u8>; 2] {
    [word.as_bytes().to_vec(), TermHash::of(word).0.to_le_bytes().to_vec()]
}

fn edited(memory: &Memory, content: &str) -> Change {
    let (content, version) = (content.into(), memory.version + 1);
    Change::Update(Box::new(Memory { content, version, ..memory.clone() }))
}

async fn assert_no_trace(path: &Path, store: &SqliteStore, owner: &Scope, word: &str) {
    let bytes = bytes_of(path);
    for trace in traces(word) {
        assert!(!holds(&bytes, &trace), "`{word}` is still in the file");
    }
    assert_eq!(store.index().inconsistencies(owner).await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn nothing_erased_is_left_in_the_file_whether_new_sealed_or_only_in_the_journal() {
    let (path, owner) = (fresh_path(), scope("ann"));
    let (store, engine) = open(&path).await;
    let secret = memory(&owner, 500, "qwzxalpha secret 秘密");
    store.apply(write(&owner, vec![add(&secret)])).await.unwrap();
    assert!(traces("qwzxalpha").iter().all(|trace| holds(&bytes_of(&path), trace)));
    let forgotten = engine.forget(&owner, secret.id).await.unwrap();
    assert!(forgotten.forgotten[0].removed.index_terms >= 3, "{forgotten:?}");
    assert_no_trace(&path, &store, &owner, "qwzxalpha").await;
    // Sealed in a block, then edited: the journal keeps the first text, the block its terms.
    let secret = spoken(&owner, 501, "monday", "qwzxbeta");
    let mut changes = many(&owner, 0..100);
    changes.insert(50, add(&secret));
    store.apply(write(&owner, changes)).await.unwrap();
    store.apply(write(&owner, vec![edited(&secret, "qwzxgamma")])).await.unwrap();
    let bytes = bytes_of(&path);
    assert!(
        ["qwzxbeta", "qwzxgamma"].iter().flat_map(|word| traces(word)).all(|it| holds(&bytes, &it))
    );
    let forgotten = engine.forget(&owner, secret.id).await.unwrap();
    assert_eq!(
        (forgotten.forgotten[0].removed.journal_images, forgotten.forgotten[0].removed.tombstones),
        (1, 2)
    );
    assert_no_trace(&path, &store, &owner, "qwzxgamma").await;
    assert_no_trace(&path, &store, &owner, "qwzxbeta").await;
}

#[tokio::test]
async fn a_deleted_memory_that_is_erased_leaves_no_trace_in_its_block() {
    let (path, owner) = (fresh_path(), scope("ann"));
    let (store, engine) = open(&path).await;
    let secret = spoken(&owner, 501, "monday", "qwzxdelta 秘密");
    let mut changes = many(&owner, 0..100);
    changes.push(add(&secret));
    store.apply(write(&owner, changes)).await.unwrap();
    engine.delete(&owner, secret.id).await.unwrap();
    let bytes = bytes_of(&path);
    assert!(traces("qwzxdelta").iter().all(|trace| holds(&bytes, trace)), "the journal keeps it");
    engine.forget(&owner, secret.id).await.unwrap();
    assert_no_trace(&path, &store, &owner, "qwzxdelta").await;
}

/// Adds a turn, and statements that were extracted from it.
async fn extracted(
    store: &SqliteStore,
    owner: &Scope,
    number: u32,
    said: &str,
    statements: &[&str],
) -> (Memory, Vec<Memory>) {
    let turn = spoken(owner, number, "monday", said);
    let drawn = |(place, text): (u32, &&str)| {
        let mut statement = memory(owner, number + 1 + place, text);
        statement.source.via = Origin::Extract;
        statement.source.turns = vec![turn.id];
        statement
    };
    let drawn: Vec<Memory> = (0..).zip(statements).map(drawn).collect();
    let mut changes = vec![add(&turn)];
    changes.extend(drawn.iter().map(add));
    store.apply(write(owner, changes)).await.unwrap();
    (turn, drawn)
}

#[tokio::test]
async fn a_memory_takes_the_turn_along_that_nothing_else_comes_from() {
    let (path, owner) = (fresh_path(), scope("ann"));
    let (store, engine) = open(&path).await;
    for (number, text) in [(600, "I teach at qwzxwarts."), (610, "我在qwzxwarts当老师。")] {
        let (turn, drawn) = extracted(&store, &owner, number, text, &[text]).await;
        let receipt = engine.forget(&owner, drawn[0].id).await.unwrap();
        let erased: Vec<_> = receipt.forgotten.iter().map(|report| report.id).collect();
        assert_eq!(erased, [drawn[0].id, turn.id]);
        assert!(receipt.forgotten.iter().all(|report| report.derived.is_empty()), "{receipt:?}");
        assert!(receipt.remaining_turns.is_empty() && receipt.warnings.is_empty(), "{receipt:?}");
        assert_no_trace(&path, &store, &owner, "qwzxwarts").await;
    }
    // Deleted first, both are in the journal only.
    let (_, drawn) =
        extracted(&store, &owner, 620, "I teach at qwzxhall.", &["I teach at qwzxhall."]).await;
    engine.delete(&owner, drawn[0].id).await.unwrap();
    engine.forget(&owner, drawn[0].id).await.unwrap();
    assert_no_trace(&path, &store, &owner, "qwzxhall").await;
}

#[tokio::test]
async fn a_turn_that_other_memories_come_from_stays_and_is_named() {
    let (path, owner) = (fresh_path(), scope("ann"));
    let (store, engine) = open(&path).await;
    let said = ["I teach at qwzxwarts.", "我养了一只qwzx猫。"];
    let (turn, drawn) = extracted(&store, &owner, 600, &said.join(" "), &said).await;
    let receipt = engine.forget(&owner, drawn[0].id).await.unwrap();
    assert_eq!((receipt.forgotten.len(), &*receipt.remaining_turns), (1, &[turn.id][..]));
    assert!(receipt.warnings[0].contains(&turn.id.to_string()), "{receipt:?}");
    let receipt = engine.delete_many(&owner, &[drawn[1].id]).await.unwrap();
    assert_eq!(receipt.turns, [turn.id], "nothing else comes from it any more");
    assert_eq!(all(&engine, &owner).await.len(), 0);
    let (turn, drawn) = extracted(&store, &owner, 610, &said.join(" "), &said).await;
    let receipt = engine.delete_many(&owner, &[drawn[0].id]).await.unwrap();
    assert_eq!((receipt.turns.len(), receipt.remaining_turns), (0, vec![turn.id]));
    let both = [drawn[1].id, drawn[1].id, turn.id];
    assert_eq!(engine.delete_many(&owner, &both).await.unwrap().deleted.len(), 2);
}

#[tokio::test]
async fn a_deleted_memory_comes_back_with_its_turn_in_one_step() {
    let (path, owner) = (fresh_path(), scope("ann"));
    let (store, engine) = open(&path).await;
    engine.remember(&owner, say("I like tea")).await.unwrap();
    let text = "I teach at qwzxwarts.";
    let (_, drawn) = extracted(&store, &owner, 600, text, &[text]).await;
    let count = async || all(&engine, &owner).await.len();
    let seq = engine.delete(&owner, drawn[0].id).await.unwrap();
    assert_eq!((count().await, found(&engine, &owner, "qwzxwarts").await.len()), (1, 0));
    assert_eq!(engine.undo(&owner, &UndoTarget::Change(seq)).await.unwrap().len(), 2);
    assert_eq!(count().await, 3);
    engine.redo(&owner).await.unwrap();
    assert_eq!(count().await, 1);
    engine.undo_last(&owner).await.unwrap();
    assert_eq!(count().await, 3);
}

#[tokio::test]
async fn an_erased_name_description_and_tag_are_gone_too() {
    let (path, owner) = (fresh_path(), scope("ann"));
    let (store, engine) = open(&path).await;
    let mut told = memory(&owner, 1, "plain");
    told.name = "qwzxname".into();
    told.description = "qwzxomega".into();
    told.tags = vec!["qwzxtag".into()];
    told.metadata.insert("k".into(), "qwzxmeta".into());
    store.apply(write(&owner, vec![add(&told)])).await.unwrap();
    let edit = MemoryEdit { name: Some("other".into()), ..MemoryEdit::default() };
    engine.edit(&owner, told.id, &edit).await.unwrap();
    engine.forget(&owner, told.id).await.unwrap();
    for word in ["qwzxname", "qwzxomega", "qwzxtag", "qwzxmeta"] {
        assert_no_trace(&path, &store, &owner, word).await;
    }
}

#[tokio::test]
async fn stores_that_open_a_new_file_together_make_it_once() {
    let (path, owner) = (fresh_path(), scope("ann"));
    let opened = (0..4).map(|number| {
        let (path, owner) = (path.clone(), owner.clone());
        tokio::spawn(async move {
            let (store, engine) = open(&path).await;
            engine.remember(&owner, say(&format!("from {number}"))).await.unwrap();
            store.admin().close().await;
        })
    });
    for task in opened.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    let (store, engine) = open(&path).await;
    assert_eq!(all(&engine, &owner).await.len(), 4);
    assert_eq!(store.admin().scopes().await.unwrap(), [owner]);
}

#[tokio::test]
async fn a_file_of_the_first_schema_is_backed_up_and_brought_to_the_newest() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("everlore.db");
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute_batch(include_str!("../../migrations/sqlite/0001.sql")).unwrap();
    db.execute("INSERT INTO meta VALUES ('terms', 1)", []).unwrap();
    db.execute("INSERT INTO scopes (agent, user) VALUES ('tester', 'ann')", []).unwrap();
    db.pragma_update(None, "user_version", 1).unwrap();
    drop(db);
    let store = everlore::store::SqliteStore::open(&path).await.unwrap();
    assert_eq!(
        everlore::store::StoreAdmin::scopes(&store).await.unwrap(),
        [crate::support::scope("ann")]
    );
    assert!(folder.path().join("everlore.schema-1.backup").exists());
    let engine = everlore::Engine::new(std::sync::Arc::new(store));
    engine
        .remember(&crate::support::scope("ann"), crate::support::say("新记忆 in an old file"))
        .await
        .unwrap();
    let found = crate::support::found(&engine, &crate::support::scope("ann"), "记忆").await;
    assert_eq!(found, ["新记忆 in an old file"]);
}
