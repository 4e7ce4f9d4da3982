//! Tests of documents as knowledge: found by heading and content, updated by their differences, undone as one run.

use everlore::{
    Document, Engine, Kind, Memory, MemoryEdit, Scope, Status,
    engine::{IngestOptions, IngestReport, UndoTarget},
    store::{ListOrder, ListQuery, MemoryFilter},
};

use crate::support::{all, engine, found, ram, scope};

const HANDBOOK: &str = "# Handbook\n\n## Staging\nThe staging server listens on port 9443.\n\n\
                        ## 数据库备份\n每天凌晨三点备份到杭州机房，保留三十天。\n\n## Release\nWe ship on Fridays.\n";

async fn ingest(engine: &Engine, owner: &Scope, path: &str, text: &str) -> IngestReport {
    let document = Document::new(path, text);
    engine.ingest_document(owner, &document, &IngestOptions::default()).await.unwrap()
}

/// Returns the numbers added, unchanged, removed, left out.
fn counts(report: &IngestReport) -> [usize; 4] {
    [report.added, report.unchanged, report.removed, report.left_out]
}

/// Returns the chunks that recall can find, oldest first.
async fn chunks(engine: &Engine, owner: &Scope) -> Vec<Memory> {
    let filter = MemoryFilter { statuses: vec![Status::Active], ..MemoryFilter::default() };
    let page = ListQuery { filter, after: None, order: ListOrder::OldestFirst, limit: 1_000 };
    engine.list(owner, &page).await.unwrap()
}

#[tokio::test]
async fn a_chunk_is_a_memory_that_says_where_it_is_from() {
    let (engine, owner) = (engine().await, scope("a"));
    let report = ingest(&engine, &owner, "/notes/docs/handbook.md", HANDBOOK).await;
    assert_eq!((report.chunks, counts(&report)), (3, [3, 0, 0, 0]));
    let chunk = &chunks(&engine, &owner).await[1];
    assert_eq!((chunk.kind, chunk.name.as_str()), (Kind::Knowledge, "数据库备份"));
    assert_eq!(chunk.description, "docs/handbook.md › Handbook › 数据库备份");
    assert_eq!(chunk.content, "## 数据库备份\n\n每天凌晨三点备份到杭州机房，保留三十天。");
    assert!(
        chunk.uri.starts_with("agent://tester/knowledge/docs-handbook-md/数据库备份-"),
        "{}",
        chunk.uri
    );
    assert!(chunk.tags.contains(&"备份".to_owned()) && chunk.tags.len() <= 8, "{:?}", chunk.tags);
    let keys: Vec<_> = chunk.metadata.keys().map(String::as_str).collect();
    assert_eq!(keys, ["chunk", "chunks", "format", "hash", "lines", "path"]);
    assert_eq!(chunk.metadata["lines"], serde_json::json!([6, 7]));
    assert_eq!((&chunk.metadata["chunk"], &chunk.metadata["chunks"]), (&2.into(), &3.into()));
    assert_eq!(chunk.source.session, None);
}

#[tokio::test]
async fn recall_finds_chunks_by_heading_and_by_content_in_both_languages() {
    let (engine, owner) = (engine().await, scope("a"));
    ingest(&engine, &owner, "handbook.md", HANDBOOK).await;
    ingest(&engine, &owner, "tea.html", "<title>茶</title><h1>龙井的泡法</h1><p>水温八十度。</p><h2>Brewing</h2><p>Use two grams.</p>").await;
    ingest(
        &engine,
        &owner,
        "src/load.rs",
        "/// Reads it.\nfn read_settings(path: &str) -> String {\n    todo()\n}\n",
    )
    .await;
    ingest(&engine, &owner, "log.txt", "The courier arrives at noon.\n").await;
    for (query, expected) in [
        ("release", "We ship on Fridays"),
        ("which port does the staging server use?", "9443"),
        ("数据库备份", "杭州机房"),
        ("杭州机房保留多少天？", "三十天"),
        ("龙井怎么泡", "八十度"),
        ("brewing grams", "two grams"),
        ("read_settings", "fn read_settings"),
        ("when does the courier arrive?", "at noon"),
    ] {
        let found = found(&engine, &owner, query).await;
        assert!(found.first().is_some_and(|text| text.contains(expected)), "{query}: {found:?}");
    }
    assert_eq!(
        found(&engine, &owner, "handbook.md")
            .await
            .iter()
            .filter(|text| *text == "handbook.md")
            .count(),
        0
    );
}

#[tokio::test]
async fn an_unchanged_document_changes_nothing() {
    for engine in [engine().await, ram()] {
        let owner = scope("a");
        ingest(&engine, &owner, "handbook.md", HANDBOOK).await;
        let before = (all(&engine, &owner).await, engine.count(&owner).await.unwrap().changes);
        let again = ingest(&engine, &owner, "handbook.md", HANDBOOK).await;
        assert_eq!((again.chunks, counts(&again)), (3, [0, 3, 0, 0]));
        assert_eq!(
            (all(&engine, &owner).await, engine.count(&owner).await.unwrap().changes),
            before
        );
    }
}

#[tokio::test]
async fn a_changed_document_adds_what_is_new_and_takes_out_what_is_gone() {
    for engine in [engine().await, ram()] {
        let owner = scope("a");
        ingest(&engine, &owner, "handbook.md", HANDBOOK).await;
        let before = chunks(&engine, &owner).await;
        let changed = HANDBOOK.replace("9443", "8443").replace("# Handbook\n", "# Handbook\n\n\n");
        let report = ingest(&engine, &owner, "handbook.md", &changed).await;
        assert_eq!(counts(&report), [1, 2, 1, 0]);
        let after = chunks(&engine, &owner).await;
        assert_eq!(after[..2], before[1..], "unchanged chunks stay as they are");
        assert!(after[2].content.contains("8443"));
        let undone = engine.undo(&owner, &UndoTarget::Run(report.run)).await.unwrap();
        assert_eq!(undone.len(), 3, "one added, one taken out, and the list");
        let texts = |memories: &[Memory]| {
            memories.iter().map(|memory| memory.content.clone()).collect::<Vec<_>>()
        };
        assert_eq!(texts(&chunks(&engine, &owner).await), texts(&before));
        let again = ingest(&engine, &owner, "handbook.md", &changed).await;
        assert_eq!(counts(&again), [1, 2, 1, 0], "after an undo the change is new again");
    }
}

#[tokio::test]
async fn the_same_text_twice_and_in_two_files_makes_memories_of_their_own() {
    let (engine, owner) = (engine().await, scope("a"));
    let twice = "# A\nsame\n# A\nsame\n";
    assert_eq!(counts(&ingest(&engine, &owner, "one/x.md", twice).await), [2, 0, 0, 0]);
    assert_eq!(counts(&ingest(&engine, &owner, "two/x.md", twice).await), [2, 0, 0, 0]);
    assert_eq!(counts(&ingest(&engine, &owner, "one/x.md", "# A\nsame\n").await), [0, 1, 1, 0]);
    assert_eq!(engine.documents(&owner).await.unwrap(), ["one/x.md", "two/x.md"]);
    assert_eq!(engine.documents(&scope("b")).await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn what_was_forgotten_or_deleted_by_hand_does_not_come_back() {
    let (engine, owner) = (engine().await, scope("a"));
    ingest(&engine, &owner, "handbook.md", HANDBOOK).await;
    let before = chunks(&engine, &owner).await;
    engine.forget(&owner, before[0].id).await.unwrap();
    engine.delete(&owner, before[1].id).await.unwrap();
    let changed = format!("{HANDBOOK}\n## More\nNew words.\n");
    assert_eq!(counts(&ingest(&engine, &owner, "handbook.md", &changed).await), [1, 1, 0, 2]);
    assert_eq!(
        counts(&ingest(&engine, &owner, "copy.md", HANDBOOK).await),
        [2, 0, 0, 1],
        "forgotten everywhere"
    );
    assert!(!found(&engine, &owner, "staging port").await.iter().any(|text| text.contains("9443")));
    let listed = all(&engine, &owner).await;
    assert!(
        listed.iter().all(|memory| !serde_json::to_string(memory).unwrap().contains("Staging"))
    );
}

#[tokio::test]
async fn what_someone_wrote_into_a_chunk_is_put_away_and_not_deleted() {
    let (engine, owner) = (engine().await, scope("a"));
    ingest(&engine, &owner, "handbook.md", HANDBOOK).await;
    let chunk = chunks(&engine, &owner).await[0].clone();
    let edit =
        MemoryEdit { content: Some("My own words about staging".into()), ..MemoryEdit::default() };
    engine.edit(&owner, chunk.id, &edit).await.unwrap();
    let report = ingest(&engine, &owner, "handbook.md", "# Handbook\nNothing else.\n").await;
    assert_eq!(counts(&report), [1, 0, 3, 0]);
    assert_eq!(engine.get(&owner, chunk.id).await.unwrap().status, Status::Archived);
    let back = ingest(&engine, &owner, "handbook.md", HANDBOOK).await;
    assert_eq!(counts(&back), [3, 0, 1, 0]);
    assert_eq!(engine.get(&owner, chunk.id).await.unwrap().status, Status::Active);
}

#[tokio::test]
async fn a_document_can_be_taken_out_and_tagged() {
    let (engine, owner) = (engine().await, scope("a"));
    ingest(&engine, &owner, "handbook.md", HANDBOOK).await;
    let options = IngestOptions { tags: vec!["ops".into()], ..IngestOptions::default() };
    let document = Document::new("handbook.md", HANDBOOK);
    let tagged = engine.ingest_document(&owner, &document, &options).await.unwrap();
    assert_eq!(counts(&tagged), [0, 3, 0, 0]);
    assert!(
        chunks(&engine, &owner).await.iter().all(|chunk| chunk.tags.contains(&"ops".to_owned()))
    );
    let removed = engine.remove_document(&owner, "handbook.md", &options).await.unwrap();
    assert_eq!((counts(&removed), all(&engine, &owner).await.len()), ([0, 0, 3, 0], 0));
    assert!(engine.remove_document(&owner, "handbook.md", &options).await.is_err());
    engine.undo(&owner, &UndoTarget::Run(removed.run)).await.unwrap();
    assert_eq!(counts(&ingest(&engine, &owner, "handbook.md", HANDBOOK).await), [0, 3, 0, 0]);
}

#[tokio::test]
async fn a_dry_run_only_tells() {
    let (engine, owner) = (engine().await, scope("a"));
    let options = IngestOptions { dry_run: true, ..IngestOptions::default() };
    let document = Document::new("handbook.md", HANDBOOK);
    let report = engine.ingest_document(&owner, &document, &options).await.unwrap();
    assert_eq!((counts(&report), all(&engine, &owner).await.len()), ([3, 0, 0, 0], 0));
}

#[tokio::test]
async fn a_deleted_list_is_made_again_from_the_chunks_that_are_there() {
    let (engine, owner) = (engine().await, scope("a"));
    ingest(&engine, &owner, "handbook.md", HANDBOOK).await;
    let list =
        all(&engine, &owner).await.into_iter().find(|memory| memory.status == Status::Archived);
    engine.delete(&owner, list.unwrap().id).await.unwrap();
    ingest(&engine, &owner, "handbook.md", HANDBOOK).await;
    assert_eq!(chunks(&engine, &owner).await.len(), 3);
    assert_eq!(engine.documents(&owner).await.unwrap(), ["handbook.md"]);
}

#[tokio::test]
async fn what_cannot_be_read_is_refused_and_empty_documents_store_nothing() {
    let (engine, owner) = (engine().await, scope("a"));
    let options = IngestOptions::default();
    for bytes in [&b"\x7fELF\0\0\0"[..], b"Un caf\xe9 cr\xe8me"] {
        let document = Document::new("notes.txt", bytes);
        let error = engine.ingest_document(&owner, &document, &options).await.unwrap_err();
        assert_eq!((error.code(), error.hint().is_empty()), ("invalid", false));
    }
    assert_eq!(ingest(&engine, &owner, "empty.md", " \n").await.chunks, 0);
    assert_eq!(engine.count(&owner).await.unwrap().changes, 0);
}

#[tokio::test]
async fn a_long_document_is_stored_at_once() {
    let (engine, owner) = (engine().await, scope("a"));
    let text: String =
        (0..300).map(|n| format!("## Part {n}\n\nWhat part {n} says, 第{n}部分。\n\n")).collect();
    assert_eq!(counts(&ingest(&engine, &owner, "long.md", &text).await), [300, 0, 0, 0]);
    assert!(found(&engine, &owner, "part 217").await[0].contains("Part 217"));
}

#[test]
fn ingesting_can_be_moved_between_threads() {
    fn is_send<T: Send>(_: T) {}
    let (engine, owner, document) = (ram(), scope("a"), Document::new("a.md", "a"));
    is_send(engine.ingest_document(&owner, &document, &IngestOptions::default()));
}
