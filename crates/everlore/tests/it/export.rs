//! Tests of export and import: complete, equal, resumable, into another scope, and exact about unreadable lines.

use everlore::{
    Engine, Error, Kind, Memory, MemoryEdit, RememberRequest, Scope, Status,
    engine::{ImportOptions, ImportReport, UndoTarget},
    internal::ingest::ExportLine,
    internal::store_of,
    store::JournalQuery,
    types::{Change, JournalEntry},
};
use serde_json::json;

use crate::support::{
    add, all, days_ago, engine, found, memory, one_o_clock, remember_all, say, scope, spoken, turn,
    write,
};

const STOP: ImportOptions =
    ImportOptions { keep_going: false, dry_run: false, keep_secrets: false };
const KEEP_GOING: ImportOptions =
    ImportOptions { keep_going: true, dry_run: false, keep_secrets: false };

async fn exported(engine: &Engine, owner: &Scope, journal: bool) -> String {
    let mut file = Vec::new();
    engine.export(owner, journal, &mut file, &mut |_| ()).await.unwrap();
    String::from_utf8(file).unwrap()
}

async fn import(
    engine: &Engine,
    owner: &Scope,
    file: &str,
    options: ImportOptions,
) -> everlore::Result<ImportReport> {
    engine.import(owner, file.as_bytes(), options, &mut |_| ()).await
}

async fn journal(engine: &Engine, owner: &Scope) -> Vec<JournalEntry> {
    engine.history(owner, &JournalQuery::default()).await.unwrap()
}

/// Stores memories of every kind, with edits, a deletion and a supersession.
async fn lived_in(engine: &Engine, owner: &Scope) {
    let metadata = serde_json::Map::from_iter([("k".to_owned(), json!({ "深": [1, 2.5, null] }))]);
    let told = RememberRequest {
        kind: Some(Kind::Project),
        name: Some("发布".into()),
        description: "when we ship".into(),
        tags: vec!["work".into(), "工作".into()],
        importance: Some(0.9),
        confidence: Some(0.3),
        at: Some(days_ago(40)),
        session: Some("monday".into()),
        metadata,
        ..say("我们周五发布 \"v2\"\n第二行\0")
    };
    let project = engine.remember(owner, told).await.unwrap();
    let saved = remember_all(engine, owner, &["I like tea", "I like coffee", "gone soon"]).await;
    engine.observe(owner, vec![turn("monday", "Ann", " hi "), turn("", "", "喂")]).await.unwrap();
    let later = engine.clone().rebuild().clock(one_o_clock).build();
    let edit = MemoryEdit { content: Some("我们周四发布".into()), ..MemoryEdit::default() };
    later.edit(owner, project.id, &edit).await.unwrap();
    later
        .edit(owner, project.id, &MemoryEdit { weight: Some(2.5), ..MemoryEdit::default() })
        .await
        .unwrap();
    later.supersede(owner, saved[0].id, saved[1].id).await.unwrap();
    later.delete(owner, saved[2].id).await.unwrap();
}

#[tokio::test]
async fn memories_come_back_as_they_were() {
    let (from, to, owner) = (engine().await, engine().await, scope("ann"));
    lived_in(&from, &owner).await;
    let file = exported(&from, &owner, false).await;
    let report = import(&to, &owner, &file, STOP).await.unwrap();
    assert_eq!((report.added, report.updated, report.unchanged), (5, 0, 0));
    assert_eq!(all(&to, &owner).await, all(&from, &owner).await);
    assert_eq!(exported(&to, &owner, false).await, file);
    assert_eq!(to.admin().check_index(&owner).await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn the_journal_comes_back_line_by_line() {
    let (from, to, owner) = (engine().await, engine().await, scope("ann"));
    lived_in(&from, &owner).await;
    let file = exported(&from, &owner, true).await;
    import(&to, &owner, &file, STOP).await.unwrap();
    assert_eq!(journal(&to, &owner).await, journal(&from, &owner).await);
    assert_eq!(all(&to, &owner).await, all(&from, &owner).await);
    assert_eq!(exported(&to, &owner, true).await, file);
    let again = import(&to, &owner, &file, STOP).await.unwrap();
    assert_eq!((again.added, again.updated, again.unchanged), (0, 0, 10));
    assert_eq!(journal(&to, &owner).await, journal(&from, &owner).await);
}

#[tokio::test]
async fn a_long_journal_is_written_page_by_page_and_in_order() {
    let (engine, owner) = (engine().await, scope("ann"));
    let memories: Vec<_> = (0..2_500).map(|n| memory(&owner, n, "tea")).collect();
    store_of(&engine).apply(write(&owner, memories.iter().map(add).collect())).await.unwrap();
    let (mut file, mut progress_counts) = (Vec::new(), Vec::new());
    let mut progress = |count| progress_counts.push(count);
    let exported = engine.export(&owner, true, &mut file, &mut progress).await.unwrap();
    assert_eq!((exported.changes, progress_counts.last()), (2_500, Some(&2_500)));
    let pages = progress_counts.windows(2).map(|counts| counts[1] - counts[0]);
    assert!(pages.clone().all(|rows| (1..=64).contains(&rows)), "{progress_counts:?}");
    assert!(pages.clone().any(|rows| rows == 64), "{progress_counts:?}");
    let seq = |line: &[u8]| match ExportLine::parse(line).unwrap() {
        ExportLine::JournalEntry(entry) => Some(entry.seq),
        _ => None,
    };
    let lines = file.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    assert!(lines.filter_map(seq).eq(1..=2_500));
}

#[tokio::test]
async fn changes_made_within_one_millisecond_are_all_replayed() {
    let (from, to, owner) = (engine().await, engine().await, scope("ann"));
    let id = from.remember(&owner, say("one")).await.unwrap().id;
    for text in ["two", "three", "four"] {
        let edit = MemoryEdit { content: Some(text.into()), ..MemoryEdit::default() };
        from.edit(&owner, id, &edit).await.unwrap();
    }
    import(&to, &owner, &exported(&from, &owner, true).await, STOP).await.unwrap();
    assert_eq!(to.get(&owner, id).await.unwrap().content, "four");
    assert_eq!(journal(&to, &owner).await.len(), 4);
}

#[tokio::test]
async fn another_scope_gets_memories_of_its_own() {
    let (engine, ann) = (engine().await, scope("ann"));
    let ben = Scope::new("other agent", "ben").unwrap();
    lived_in(&engine, &ann).await;
    for journal in [false, true] {
        let file = exported(&engine, &ann, journal).await;
        import(&engine, &ben, &file, STOP).await.unwrap();
    }
    let (theirs, mine) = (all(&engine, &ann).await, all(&engine, &ben).await);
    assert_eq!(theirs.len(), mine.len());
    for (theirs, mine) in theirs.iter().zip(&mine) {
        assert_eq!((&mine.scope, mine.id), (&ben, theirs.id));
        let rest = theirs.uri.strip_prefix("agent://tester/").unwrap();
        assert_eq!(mine.uri, format!("agent://other-agent/{rest}"));
        assert_eq!((&mine.content, mine.status), (&theirs.content, theirs.status));
    }
    assert_eq!(found(&engine, &ben, "发布").await[0], "我们周四发布");
}

#[tokio::test]
async fn an_import_that_was_cut_off_is_resumed_by_repeating_it() {
    let (from, to, owner) = (engine().await, engine().await, scope("ann"));
    let memories: Vec<_> = (0..1_500).map(|n| memory(&owner, n, &format!("tea {n}"))).collect();
    store_of(&from).apply(write(&owner, memories.iter().map(add).collect())).await.unwrap();
    let file = exported(&from, &owner, false).await;
    let cut = &file[..file.len() * 4 / 5];
    let error = import(&to, &owner, cut, STOP).await.unwrap_err();
    let line = cut.lines().count();
    assert!(error.to_string().starts_with(&format!("line {line}: ")), "{error}");
    let stored = all(&to, &owner).await.len();
    assert!(stored > 0 && stored < 1_500, "the first batch is in: {stored}");
    let mut progress_counts = Vec::new();
    let mut progress = |lines| progress_counts.push(lines);
    let report = to.import(&owner, file.as_bytes(), STOP, &mut progress).await.unwrap();
    assert_eq!((report.added, report.unchanged), (1_500 - stored, stored));
    assert_eq!(progress_counts, [1_025, 1_501]);
    assert_eq!(all(&to, &owner).await, memories);
}

#[tokio::test]
async fn damaged_lines_stop_the_import_or_are_listed_with_their_numbers() {
    let (engine, owner) = (engine().await, scope("ann"));
    let file = "\u{feff}{\"content\": \"I like tea\"}\n\n{\"content\": \"cut\n{\"x\": 1}\n[1]\n{\"text\": \" \"}\n\
        {\"tombstone\": \"zz\"}\n{\"content\": \"我喜欢茶\", \"colour\": 1}\n{\"text\": \"喂\", \"speaker\": \"小明\"}\n";
    let error = import(&engine, &owner, file, STOP).await.unwrap_err();
    assert!(error.to_string().starts_with("line 3: the line cannot be read"), "{error}");
    assert!(all(&engine, &owner).await.is_empty());
    let report = import(&engine, &owner, file, KEEP_GOING).await.unwrap();
    assert_eq!((report.added, report.rejected), (2, 6));
    let mut lines: Vec<_> = report.rejections.iter().map(|rejected| rejected.line).collect();
    lines.sort_unstable();
    assert_eq!(lines, [3, 4, 5, 6, 7, 8]);
    let stored: Vec<_> =
        all(&engine, &owner).await.into_iter().map(|memory| memory.content).collect();
    assert_eq!(stored, ["I like tea", "喂"]);
    let invalid: &[u8] = b"{\"content\": \"\xff\"}\n";
    let error = engine.import(&owner, invalid, STOP, &mut |_| ()).await.unwrap_err();
    assert!(error.to_string().contains("it is not UTF-8"), "{error}");
}

#[tokio::test]
async fn a_line_that_is_too_long_is_one_bad_line_and_the_next_ones_are_read() {
    let (engine, owner) = (engine().await, scope("ann"));
    // The line would end inside of a string, and what follows would be read as a line of its own.
    let long = format!("{{\"content\": \"{}{{\"content\": \"smuggled\"}}", "a".repeat(32 << 20));
    let file = format!("{{\"content\": \"I like tea\"}}\n{long}\n{{\"content\": \"我喜欢茶\"}}\n");
    let error = import(&engine, &owner, &file, STOP).await.unwrap_err();
    assert!(error.to_string().starts_with("line 2: the line has more than"), "{error}");
    let report = import(&engine, &owner, &file, KEEP_GOING).await.unwrap();
    assert_eq!((report.added, report.rejected), (2, 1));
    assert_eq!(report.rejections[0].line, 2);
    let stored: Vec<_> =
        all(&engine, &owner).await.into_iter().map(|memory| memory.content).collect();
    assert_eq!(stored, ["I like tea", "我喜欢茶"]);
}

#[tokio::test]
async fn an_export_of_a_newer_form_is_refused_even_when_asked_to_keep_going() {
    let (engine, owner) = (engine().await, scope("ann"));
    let file = exported(&engine, &owner, false)
        .await
        .replace("\"everlore_export\":1", "\"everlore_export\":2");
    let file = file + "{\"content\": \"I like tea\"}\n";
    for options in [STOP, KEEP_GOING] {
        let error = import(&engine, &owner, &file, options).await.unwrap_err();
        assert!(error.to_string().contains("the export has format 2"), "{error}");
    }
    assert!(all(&engine, &owner).await.is_empty());
}

#[tokio::test]
async fn what_was_erased_there_does_not_come_in_here_later() {
    let (from, to, owner) = (engine().await, engine().await, scope("ann"));
    let old = exported_with_secret(&from, &owner).await;
    let secret = all(&from, &owner).await.pop().unwrap();
    from.forget(&owner, secret.id).await.unwrap();
    for journal in [false, true] {
        import(&to, &owner, &exported(&from, &owner, journal).await, STOP).await.unwrap();
    }
    assert_eq!(to.count(&owner).await.unwrap().tombstones, 1);
    let report = import(&to, &owner, &old, STOP).await.unwrap();
    assert_eq!((report.added, report.erased), (0, 1));
    assert!(all(&to, &owner).await.is_empty());
}

async fn exported_with_secret(engine: &Engine, owner: &Scope) -> String {
    engine.remember(owner, say("我的秘密")).await.unwrap();
    exported(engine, owner, false).await
}

#[tokio::test]
async fn what_was_erased_and_told_again_comes_along_wherever_it_stands_in_the_file() {
    let owner = scope("ann");
    for others in [0, 1_100] {
        let (from, to) = (engine().await, engine().await);
        let memories: Vec<_> =
            (0..others).map(|n| memory(&owner, n, &format!("tea {n}"))).collect();
        store_of(&from).apply(write(&owner, memories.iter().map(add).collect())).await.unwrap();
        let id = from.remember(&owner, say("我的秘密")).await.unwrap().id;
        from.forget(&owner, id).await.unwrap();
        from.remember(&owner, say("我的秘密")).await.unwrap();
        import(&to, &owner, &exported(&from, &owner, false).await, STOP).await.unwrap();
        assert_eq!(all(&to, &owner).await, all(&from, &owner).await, "after {others} others");
        assert_eq!(to.count(&owner).await.unwrap().tombstones, 1);
    }
}

#[tokio::test]
async fn a_newer_version_replaces_an_older_one_and_never_the_other_way_round() {
    let (from, to, owner) = (engine().await, engine().await, scope("ann"));
    let id = from.remember(&owner, say("I like tea")).await.unwrap().id;
    let old = exported(&from, &owner, false).await;
    let edit = MemoryEdit { content: Some("I like coffee".into()), ..MemoryEdit::default() };
    from.edit(&owner, id, &edit).await.unwrap();
    let new = exported(&from, &owner, false).await;
    import(&to, &owner, &old, STOP).await.unwrap();
    assert_eq!(import(&to, &owner, &new, STOP).await.unwrap().updated, 1);
    assert_eq!(import(&to, &owner, &old, STOP).await.unwrap().unchanged, 1);
    assert_eq!(found(&to, &owner, "coffee").await, ["I like coffee"]);
}

#[tokio::test]
async fn an_imported_memory_must_be_one_that_could_have_been_saved() {
    let (engine, owner) = (engine().await, scope("ann"));
    let bad = |change: fn(&mut Memory)| {
        let mut memory = memory(&owner, 1, "I like tea");
        change(&mut memory);
        ExportLine::Memory(Box::new(memory)).to_json().unwrap()
    };
    let cases = [
        (bad(|memory| memory.content = "  ".into()), "there is no text"),
        (bad(|memory| memory.importance = 2.0), "importance is 2"),
        (bad(|memory| memory.confidence = -1.0), "confidence is -1"),
        (bad(|memory| memory.weight = 1e9), "weight is 1000000000"),
        (bad(|memory| memory.name = "n".repeat(201)), "the name is longer"),
        (bad(|memory| memory.tags = vec!["t".repeat(201)]), "a tag is longer"),
        (bad(|memory| memory.version = 0), "version"),
        (bad(|memory| memory.version = u32::MAX), "version"),
    ];
    for (line, message) in cases {
        let error = import(&engine, &owner, &line, STOP).await.unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
        let report = import(&engine, &owner, &line, KEEP_GOING).await.unwrap();
        assert_eq!((report.rejected, report.added), (1, 0));
    }
    assert!(all(&engine, &owner).await.is_empty());
}

#[tokio::test]
async fn drafts_are_taken_once_and_a_whole_import_is_undone_at_once() {
    let (engine, owner) = (engine().await, scope("ann"));
    remember_all(&engine, &owner, &["I like tea"]).await;
    let file =
        "{\"content\": \"I like tea\"}\n{\"content\": \"我喜欢茶\"}\n{\"content\": \"我喜欢茶\"}\n";
    let dry = ImportOptions { dry_run: true, ..STOP };
    let report = import(&engine, &owner, file, dry).await.unwrap();
    assert_eq!((report.added, report.unchanged), (1, 2));
    assert_eq!(all(&engine, &owner).await.len(), 1, "a dry run stores nothing");
    let report = import(&engine, &owner, file, STOP).await.unwrap();
    assert_eq!((report.added, report.unchanged), (1, 2));
    assert_eq!(import(&engine, &owner, file, STOP).await.unwrap().unchanged, 3);
    engine.undo(&owner, &UndoTarget::Run(report.run)).await.unwrap();
    assert_eq!(all(&engine, &owner).await.len(), 1);
}

#[tokio::test]
async fn two_memories_with_one_uri_both_come_in() {
    let (engine, owner) = (engine().await, scope("ann"));
    let mut memories = [memory(&owner, 1, "one"), memory(&owner, 2, "two")];
    memories[1].uri = memories[0].uri.clone();
    let lines = memories.map(|memory| ExportLine::Memory(Box::new(memory)).to_json().unwrap());
    import(&engine, &owner, &lines.join("\n"), STOP).await.unwrap();
    let uris: Vec<_> = all(&engine, &owner).await.into_iter().map(|memory| memory.uri).collect();
    assert_eq!(uris[0], "agent://tester/user/1");
    assert!(uris[1].starts_with("agent://tester/user/1-"), "{uris:?}");
}

#[tokio::test]
async fn a_journal_that_does_not_fit_is_reported_line_by_line() {
    let (from, to, owner) = (engine().await, engine().await, scope("ann"));
    let saved = remember_all(&from, &owner, &["I like tea"]).await;
    let edit = MemoryEdit { content: Some("I like coffee".into()), ..MemoryEdit::default() };
    from.edit(&owner, saved[0].id, &edit).await.unwrap();
    let mut taken = memory(&owner, 9, "something else");
    taken.uri.clone_from(&saved[0].uri);
    store_of(&to).apply(write(&owner, vec![add(&taken)])).await.unwrap();
    let file = exported(&from, &owner, true).await;
    let error = import(&to, &owner, &file, STOP).await.unwrap_err();
    assert!(error.to_string().starts_with("line 2: "), "{error}");
    let report = import(&to, &owner, &file, KEEP_GOING).await.unwrap();
    assert_eq!((report.added, report.updated, report.rejected), (0, 0, 1));
}

#[tokio::test]
async fn one_line_of_a_write_that_does_not_fit_keeps_no_other_out() {
    let (from, to, owner) = (engine().await, engine().await, scope("ann"));
    let memories: Vec<_> = (0..5).map(|n| memory(&owner, n, "龙井茶")).collect();
    store_of(&from).apply(write(&owner, memories.iter().map(add).collect())).await.unwrap();
    let mut taken = memory(&owner, 9, "something else");
    taken.uri.clone_from(&memories[2].uri);
    store_of(&to).apply(write(&owner, vec![add(&taken)])).await.unwrap();
    let file = exported(&from, &owner, true).await;
    let report = import(&to, &owner, &file, KEEP_GOING).await.unwrap();
    assert_eq!((report.added, report.rejected), (4, 1));
    assert_eq!(report.rejections[0].line, 4);
    let again = import(&to, &owner, &file, KEEP_GOING).await.unwrap();
    assert_eq!((again.added, again.unchanged, again.rejected), (0, 4, 1));
}

#[tokio::test]
async fn a_dry_run_of_a_journal_tells_what_the_import_does() {
    let (from, to, owner) = (engine().await, engine().await, scope("ann"));
    lived_in(&from, &owner).await;
    let file = exported(&from, &owner, true).await;
    let dry = ImportOptions { dry_run: true, ..STOP };
    let told = import(&to, &owner, &file, dry).await.unwrap();
    assert_eq!(journal(&to, &owner).await, []);
    let done = import(&to, &owner, &file, STOP).await.unwrap();
    assert_eq!((told.added, told.updated, told.unchanged), (done.added, done.updated, 0));
}

/// Writer that fails like a full disk.
struct FullDisk;

impl std::io::Write for FullDisk {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(std::io::ErrorKind::StorageFull.into())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_disk_that_is_full_or_cannot_be_read_is_an_error() {
    let (engine, owner) = (engine().await, scope("ann"));
    let error = engine.export(&owner, false, &mut FullDisk, &mut |_| ()).await.unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error:?}");
    struct BrokenReader;
    impl std::io::Read for BrokenReader {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::Other.into())
        }
    }
    let broken = std::io::BufReader::new(BrokenReader);
    let error = engine.import(&owner, broken, STOP, &mut |_| ()).await.unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error:?}");
}

#[test]
fn every_line_that_is_written_is_read_back_the_same() {
    let owner = scope("ann");
    let memory = spoken(&owner, 1, "monday", "喂 \"hi\"\n\0");
    let entry = JournalEntry {
        seq: 7,
        at: days_ago(1),
        actor: everlore::types::Actor::Agent,
        cause: "why".into(),
        run: Some("r".into()),
        cost: 9,
        op: Change::Delete(memory.id).op(),
        id: memory.id,
        before: Some(Box::new(memory.clone())),
        after: None,
    };
    for line in [
        ExportLine::Header(everlore::internal::ingest::ExportHeader::new(
            &owner,
            true,
            days_ago(0),
        )),
        ExportLine::Memory(Box::new(memory.clone())),
        ExportLine::JournalEntry(Box::new(entry)),
        ExportLine::Tombstone(memory.fingerprint()),
        ExportLine::Remember(Box::new(say("x"))),
        ExportLine::Turn(Box::new(turn("s", "小明", "喂"))),
    ] {
        assert_eq!(ExportLine::parse(line.to_json().unwrap().as_bytes()).unwrap(), line);
    }
    assert_eq!(memory.status, Status::Active);
}

proptest::proptest! {
    #[test]
    fn numbers_come_back_to_the_last_digit(importance in 0.0..=1.0f64, confidence in 0.0..=1.0f64, weight in 0.0..=10.0f64) {
        let mut told = memory(&scope("ann"), 1, "tea");
        (told.importance, told.confidence, told.weight) = (importance, confidence, weight);
        told.metadata.insert("x".into(), (weight * 1e-7).into());
        let line = ExportLine::Memory(Box::new(told));
        proptest::prop_assert_eq!(ExportLine::parse(line.to_json().unwrap().as_bytes()).unwrap(), line);
    }
}
