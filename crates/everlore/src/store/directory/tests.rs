//! Sync of a vault and a database, step by step.

use std::{fs, path::Path, sync::Arc};

use super::*;
use crate::{
    Engine, Kind, Memory, MemoryEdit, RememberRequest, Scope,
    ingest::UndoTarget,
    store::{ListOrder, ListQuery, MemoryFilter, RamStore, SqliteStore, Store},
    types::{MemoryId, Timestamp},
};

/// Vault with its database.
pub(super) struct VaultFixture {
    pub(super) folder: tempfile::TempDir,
    pub(super) engine: Engine,
    pub(super) scope: Scope,
}

impl VaultFixture {
    pub(super) fn new(store: Arc<dyn Store>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder, engine: Engine::new(store), scope: Scope::default() }
    }

    fn ram() -> Self {
        Self::new(Arc::new(RamStore::default()))
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn put(&self, file: &str, text: &str) {
        fs::write(self.path().join(file), text).unwrap();
    }

    pub(super) fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    }

    pub(super) fn remove(&self, file: &str) {
        fs::remove_file(self.path().join(file)).unwrap();
    }

    /// Returns the files of the vault, without hidden ones and the index file.
    pub(super) fn files(&self) -> Vec<String> {
        let names = fs::read_dir(self.path()).unwrap().map(|found| found.unwrap().file_name());
        let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
        names.retain(|name| !name.starts_with('.') && name != "MEMORY.md");
        names.sort();
        names
    }

    pub(super) async fn sync(&self) -> SyncReport {
        sync(&**self.engine.store(), &SyncRequest::new(self.path(), &self.scope), Timestamp::now())
            .await
            .unwrap()
    }

    pub(super) async fn remember(&self, name: &str, content: &str) -> MemoryId {
        let request = RememberRequest {
            content: content.into(),
            name: Some(name.into()),
            kind: Some(Kind::User),
            ..RememberRequest::default()
        };
        self.engine.remember(&self.scope, request).await.unwrap().id
    }

    pub(super) async fn edit(&self, id: MemoryId, content: &str) {
        let edit = MemoryEdit { content: Some(content.into()), ..MemoryEdit::default() };
        self.engine.edit(&self.scope, id, &edit).await.unwrap();
    }

    pub(super) async fn memories(&self) -> Vec<Memory> {
        let page = ListQuery {
            filter: MemoryFilter::default(),
            after: None,
            order: ListOrder::OldestFirst,
            limit: 100_000,
        };
        self.engine.list(&self.scope, &page).await.unwrap()
    }

    async fn texts(&self) -> Vec<String> {
        self.memories().await.into_iter().map(|memory| memory.content).collect()
    }
}

fn actions(report: &SyncReport) -> Vec<(SyncAction, &str)> {
    report.done.iter().map(|done| (done.what, done.file.as_str())).collect()
}

pub(super) fn page(name: &str, content: &str) -> String {
    format!("---\nname: {name}\ndescription: about {name}\ntype: user\n---\n\n{content}\n")
}

#[tokio::test]
async fn what_is_new_on_either_side_reaches_the_other() {
    let pair = VaultFixture::ram();
    let id = pair.remember("Tea", "I like 龙井茶").await;
    pair.put("user_role.md", &page("Role", "I am a nurse"));
    let report = pair.sync().await;
    assert_eq!(
        actions(&report),
        [(SyncAction::Stored, "user_role.md"), (SyncAction::Written, "user_tea.md")]
    );
    assert_eq!(pair.texts().await, ["I like 龙井茶", "I am a nurse"]);
    assert_eq!(
        pair.read("user_role.md"),
        page("Role", "I am a nurse"),
        "a file that is read is not touched"
    );
    assert!(pair.read("user_tea.md").contains(&format!("id: {id}\n")));
    assert_eq!(
        pair.read("MEMORY.md"),
        "- [Role](user_role.md) — about Role\n- [Tea](user_tea.md) — I like 龙井茶\n"
    );
    assert_eq!(
        pair.sync().await,
        SyncReport { run: None, done: vec![], unchanged: 2, superseded: vec![] }
    );
    assert_eq!(
        pair.sync().await,
        SyncReport { run: None, done: vec![], unchanged: 2, superseded: vec![] }
    );
}

#[tokio::test]
async fn edits_and_deletions_travel_both_ways() {
    let pair = VaultFixture::ram();
    let tea = pair.remember("Tea", "I like tea").await;
    pair.put("user_role.md", &page("Role", "I am a nurse"));
    pair.put("user_gone.md", &page("Gone", "here for now"));
    pair.sync().await;
    pair.edit(tea, "I like coffee").await;
    pair.put("user_role.md", &page("Role", "I am a doctor"));
    pair.remove("user_gone.md");
    let report = pair.sync().await;
    assert_eq!(
        actions(&report),
        [
            (SyncAction::Deleted, "user_gone.md"),
            (SyncAction::Updated, "user_role.md"),
            (SyncAction::Written, "user_tea.md")
        ]
    );
    assert_eq!(pair.texts().await, ["I like coffee", "I am a doctor"]);
    assert!(pair.read("user_tea.md").ends_with("\n\nI like coffee\n"));
    assert!(!pair.read("MEMORY.md").contains("Gone"));
    let role = pair.memories().await[1].id;
    pair.engine.delete(&pair.scope, role).await.unwrap();
    pair.engine.archive(&pair.scope, tea).await.unwrap();
    let report = pair.sync().await;
    assert_eq!(
        actions(&report),
        [(SyncAction::Removed, "user_role.md"), (SyncAction::Removed, "user_tea.md")]
    );
    assert_eq!((pair.files(), pair.read("MEMORY.md")), (vec![], String::new()));
    pair.engine.restore(&pair.scope, tea).await.unwrap();
    assert_eq!(actions(&pair.sync().await), [(SyncAction::Written, "user_tea.md")]);
}

#[tokio::test]
async fn a_run_can_be_undone_and_the_files_follow() {
    let pair = VaultFixture::ram();
    pair.put("user_role.md", &page("Role", "I am a nurse"));
    pair.sync().await;
    pair.put("user_role.md", &page("Role", "I am a doctor"));
    let run = pair.sync().await.run.unwrap();
    pair.engine.undo(&pair.scope, &UndoTarget::Run(run)).await.unwrap();
    assert_eq!(actions(&pair.sync().await), [(SyncAction::Written, "user_role.md")]);
    assert_eq!(pair.read("user_role.md"), page("Role", "I am a nurse"));
    pair.remove("user_role.md");
    let run = pair.sync().await.run.unwrap();
    assert_eq!(pair.texts().await, Vec::<String>::new());
    pair.engine.undo(&pair.scope, &UndoTarget::Run(run)).await.unwrap();
    pair.sync().await;
    assert_eq!((pair.files().len(), pair.texts().await), (1, vec!["I am a nurse".to_owned()]));
    let entry =
        &pair.engine.history(&pair.scope, &crate::store::JournalQuery::default()).await.unwrap()[1];
    assert!(entry.cause.starts_with("vault sync") && entry.run.is_some(), "{entry:?}");
}

#[tokio::test]
async fn when_both_sides_are_edited_both_are_kept_and_named() {
    let pair = VaultFixture::ram();
    let tea = pair.remember("茶", "我喜欢茶").await;
    pair.sync().await;
    let edited = pair.read("user_茶.md").replace("我喜欢茶", "我喜欢红茶");
    pair.put("user_茶.md", &edited);
    pair.edit(tea, "我喜欢绿茶").await;
    let report = pair.sync().await;
    assert_eq!(report.count(SyncAction::Conflict), 1, "{report:?}");
    assert_eq!(pair.read("user_茶.md"), edited, "the file that somebody is editing stays as it is");
    assert_eq!(pair.texts().await, ["我喜欢红茶", "我喜欢绿茶"]);
    let copy = &pair.memories().await[1];
    assert!(copy.name.starts_with("茶 (conflict 20"), "{}", copy.name);
    assert_eq!(copy.metadata["conflict_of"], tea.to_string());
    assert_eq!(pair.files().len(), 2);
    assert!(pair.files()[1].starts_with("user_茶_conflict_20"), "{:?}", pair.files());
    assert!(pair.sync().await.is_unchanged());
}

#[tokio::test]
async fn a_change_that_is_no_text_is_no_conflict() {
    let pair = VaultFixture::ram();
    let tea = pair.remember("Tea", "I like tea").await;
    pair.sync().await;
    let heavier = MemoryEdit { weight: Some(3.0), ..MemoryEdit::default() };
    pair.engine.edit(&pair.scope, tea, &heavier).await.unwrap();
    assert_eq!(pair.sync().await.done, [], "a weight is not written into a file");
    pair.engine
        .edit(&pair.scope, tea, &MemoryEdit { weight: Some(2.0), ..MemoryEdit::default() })
        .await
        .unwrap();
    pair.put("user_tea.md", &pair.read("user_tea.md").replace("like", "love"));
    assert_eq!(actions(&pair.sync().await), [(SyncAction::Updated, "user_tea.md")]);
    let memory = pair.memories().await.remove(0);
    assert_eq!((memory.content.as_str(), memory.weight), ("I love tea", 2.0));
}

#[tokio::test]
async fn an_edit_beats_a_deletion_on_either_side() {
    let pair = VaultFixture::ram();
    let (tea, rice) =
        (pair.remember("Tea", "I like tea").await, pair.remember("Rice", "I like rice").await);
    pair.sync().await;
    pair.engine.delete(&pair.scope, tea).await.unwrap();
    pair.put("user_tea.md", &pair.read("user_tea.md").replace("like", "love"));
    pair.edit(rice, "I love rice").await;
    pair.remove("user_rice.md");
    let report = pair.sync().await;
    assert_eq!(
        actions(&report),
        [(SyncAction::Stored, "user_tea.md"), (SyncAction::Written, "user_rice.md")]
    );
    assert_eq!(pair.texts().await, ["I love tea", "I love rice"]);
    assert_eq!(pair.memories().await[0].id, tea, "it is the same memory as before");
    assert_eq!(pair.files(), ["user_rice.md", "user_tea.md"]);
}

#[tokio::test]
async fn a_renamed_file_is_the_same_memory() {
    let pair = VaultFixture::ram();
    let tea = pair.remember("Tea", "I like tea").await;
    pair.put("user_role.md", &page("Role", "I am a nurse"));
    pair.sync().await;
    let moved =
        |from: &str, to: &str| fs::rename(pair.path().join(from), pair.path().join(to)).unwrap();
    moved("user_tea.md", "drinks.md");
    pair.put("drinks.md", &pair.read("drinks.md").replace("like", "love"));
    moved("user_role.md", "job.md");
    let report = pair.sync().await;
    assert_eq!(
        actions(&report),
        [
            (SyncAction::Renamed, "job.md"),
            (SyncAction::Renamed, "drinks.md"),
            (SyncAction::Updated, "drinks.md")
        ]
    );
    assert_eq!(pair.texts().await, ["I love tea", "I am a nurse"]);
    assert_eq!(pair.memories().await[0].id, tea);
    assert_eq!(
        pair.read("MEMORY.md"),
        "- [Role](job.md) — about Role\n- [Tea](drinks.md) — I love tea\n"
    );
    assert!(pair.sync().await.is_unchanged());
}

#[tokio::test]
async fn a_copied_file_is_a_memory_of_its_own() {
    let pair = VaultFixture::ram();
    let tea = pair.remember("Tea", "I like tea").await;
    pair.sync().await;
    pair.put("copy.md", &pair.read("user_tea.md").replace("tea", "coffee"));
    let report = pair.sync().await;
    assert_eq!(
        actions(&report),
        [(SyncAction::Stored, "copy.md"), (SyncAction::Written, "copy.md")]
    );
    assert_eq!(pair.texts().await, ["I like tea", "I like coffee"]);
    let copy = pair.memories().await[1].id;
    assert!(copy != tea && pair.read("copy.md").contains(&format!("id: {copy}")));
    assert!(pair.sync().await.is_unchanged());
}

#[tokio::test]
async fn what_was_forgotten_leaves_the_folder_and_does_not_come_back() {
    let pair = VaultFixture::ram();
    let secret = pair.remember("Secret", "the code is 4711").await;
    pair.sync().await;
    let text = pair.read("user_secret.md");
    pair.engine.forget(&pair.scope, secret).await.unwrap();
    assert_eq!(actions(&pair.sync().await), [(SyncAction::Removed, "user_secret.md")]);
    let hidden = fs::read_to_string(pair.path().join(".everlore/sync.jsonl")).unwrap();
    assert!(!hidden.contains("secret") && !pair.read("MEMORY.md").contains("4711"), "{hidden}");
    pair.put("user_secret.md", &text);
    assert_eq!(actions(&pair.sync().await), [(SyncAction::Removed, "user_secret.md")]);
    pair.put("mine.md", &page("Mine", "the code is 4711"));
    let report = pair.sync().await;
    assert_eq!(
        actions(&report),
        [(SyncAction::Skipped, "mine.md")],
        "a file that we did not write is told of"
    );
    assert!(report.done[0].note.as_ref().unwrap().contains("forgotten"));
    assert_eq!(pair.texts().await, Vec::<String>::new());
    pair.put("mine.md", &page("Mine", "a new text"));
    assert_eq!(actions(&pair.sync().await), [(SyncAction::Stored, "mine.md")]);
    pair.put("mine.md", &page("Mine", "the code is 4711"));
    assert_eq!(actions(&pair.sync().await), [(SyncAction::Skipped, "mine.md")]);
    assert_eq!(pair.texts().await, ["a new text"]);
}

#[tokio::test]
async fn files_that_cannot_be_taken_are_told_by_name_and_never_changed() {
    let pair = VaultFixture::ram();
    let bad = [
        ("bom.md", "\u{feff}---\ntype: user\n---\nx".to_owned()),
        ("crlf.md", page("x", "y").replace('\n', "\r\n")),
        ("empty.md", page("x", "")),
        ("kind.md", page("x", "y").replace("type: user", "type: colour")),
        ("list.md", page("x", "y").replace("name: x", "name: [x]")),
        ("none.md", "just a note".to_owned()),
    ];
    for (file, text) in &bad {
        pair.put(file, text);
    }
    fs::write(pair.path().join("binary.md"), [0xff, 0xfe, 0]).unwrap();
    fs::File::create(pair.path().join("huge.md")).unwrap().set_len(5 * 1024 * 1024).unwrap();
    let mut expected = vec![
        "binary.md",
        "bom.md",
        "crlf.md",
        "empty.md",
        "huge.md",
        "kind.md",
        "list.md",
        "none.md",
    ];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("none.md", pair.path().join("link.md")).unwrap();
        expected.insert(0, "link.md");
    }
    let report = pair.sync().await;
    let files: Vec<_> = report.done.iter().map(|done| done.file.as_str()).collect();
    assert_eq!(files, expected);
    assert!(
        report.done.iter().all(|done| done.what == SyncAction::Skipped && done.note.is_some()),
        "{report:?}"
    );
    assert_eq!(pair.texts().await, Vec::<String>::new());
    for (file, text) in &bad {
        assert_eq!(&pair.read(file), text);
    }
}

#[tokio::test]
async fn a_file_that_became_unreadable_keeps_its_memory_and_loses_no_change() {
    let pair = VaultFixture::ram();
    let tea = pair.remember("Tea", "I like tea").await;
    pair.sync().await;
    let good = pair.read("user_tea.md");
    pair.put("user_tea.md", &good.replace('\n', "\r\n"));
    assert_eq!(actions(&pair.sync().await), [(SyncAction::Skipped, "user_tea.md")]);
    pair.edit(tea, "I like coffee").await;
    assert_eq!(pair.sync().await.count(SyncAction::Skipped), 2);
    assert_eq!(pair.texts().await, ["I like coffee"]);
    pair.put("user_tea.md", &good.replace("like", "love"));
    let report = pair.sync().await;
    assert_eq!(report.count(SyncAction::Conflict), 1, "{report:?}");
    assert_eq!(pair.texts().await, ["I love tea", "I like coffee"]);
}

#[tokio::test]
async fn an_edit_in_the_same_tick_and_of_the_same_length_is_not_missed() {
    let pair = VaultFixture::ram();
    pair.put("a.md", &page("A", "one"));
    pair.sync().await;
    let modified = fs::metadata(pair.path().join("a.md")).unwrap().modified().unwrap();
    pair.put("a.md", &page("A", "two"));
    let file = fs::File::options().write(true).open(pair.path().join("a.md")).unwrap();
    file.set_modified(modified).unwrap();
    assert_eq!(actions(&pair.sync().await), [(SyncAction::Updated, "a.md")]);
    assert_eq!(pair.texts().await, ["two"]);
}

#[tokio::test]
async fn a_folder_without_its_record_is_recognised() {
    let pair = VaultFixture::ram();
    let (tea, _) =
        (pair.remember("Tea", "I like tea").await, pair.remember("Rice", "I like rice").await);
    pair.put("role.md", &page("Role", "I am a nurse"));
    pair.sync().await;
    fs::remove_dir_all(pair.path().join(".everlore")).unwrap();
    pair.edit(tea, "I like coffee").await;
    pair.put("user_rice.md", &pair.read("user_rice.md").replace("like", "love"));
    let report = pair.sync().await;
    assert_eq!(
        actions(&report),
        [
            (SyncAction::Conflict, "user_rice.md"),
            (SyncAction::Written, &pair.files()[2]),
            (SyncAction::Written, "user_tea.md")
        ],
        "the file of an older text follows, an unknown text is kept beside the known one"
    );
    assert_eq!(pair.texts().await, ["I like coffee", "I love rice", "I am a nurse", "I like rice"]);
}

#[tokio::test]
async fn another_database_gets_everything_and_deletes_nothing() {
    let pair = VaultFixture::ram();
    pair.remember("Tea", "I like tea").await;
    pair.put("role.md", &page("Role", "I am a nurse"));
    pair.sync().await;
    let other = VaultFixture { engine: Engine::new(Arc::new(RamStore::default())), ..pair };
    other.remember("Rice", "I like rice").await;
    let report = other.sync().await;
    assert_eq!(
        actions(&report),
        [
            (SyncAction::Stored, "role.md"),
            (SyncAction::Stored, "user_tea.md"),
            (SyncAction::Written, "user_rice.md")
        ]
    );
    assert!(other.sync().await.is_unchanged());
}

#[tokio::test]
async fn a_vault_belongs_to_one_scope() {
    let pair = VaultFixture::ram();
    pair.remember("Tea", "I like tea").await;
    pair.sync().await;
    let other = SyncRequest::new(pair.path(), &Scope::new("default", "ben").unwrap());
    let error = sync(&**pair.engine.store(), &other, Timestamp::now()).await.unwrap_err();
    assert!(error.to_string().contains("belongs to agent `default` and user `default`"), "{error}");
}

#[tokio::test]
async fn a_dry_run_tells_and_touches_nothing() {
    let pair = VaultFixture::ram();
    pair.remember("Tea", "I like tea").await;
    pair.put("role.md", &page("Role", "I am a nurse"));
    let request = SyncRequest { dry_run: true, ..SyncRequest::new(pair.path(), &pair.scope) };
    let report = sync(&**pair.engine.store(), &request, Timestamp::now()).await.unwrap();
    assert_eq!(
        actions(&report),
        [(SyncAction::Stored, "role.md"), (SyncAction::Written, "user_tea.md")]
    );
    assert_eq!((pair.files(), pair.texts().await.len()), (vec!["role.md".to_owned()], 1));
    assert!(!pair.path().join(".everlore").exists());
}

#[tokio::test]
async fn a_comment_or_a_key_of_your_own_is_no_change() {
    let pair = VaultFixture::ram();
    pair.remember("Tea", "I like tea").await;
    pair.sync().await;
    let mine = pair.read("user_tea.md").replace("type: user", "# mine\nmood: 好\ntype: user");
    pair.put("user_tea.md", &mine);
    let request = SyncRequest { dry_run: true, ..SyncRequest::new(pair.path(), &pair.scope) };
    let foreseen = sync(&**pair.engine.store(), &request, Timestamp::now()).await.unwrap();
    assert_eq!(foreseen, SyncReport { run: None, done: vec![], unchanged: 1, superseded: vec![] });
    assert_eq!(pair.sync().await, foreseen);
    let id = pair.memories().await[0].id;
    pair.edit(id, "I like coffee").await;
    pair.sync().await;
    let after = pair.read("user_tea.md");
    assert!(
        after.contains("# mine\nmood: 好\ntype: user\n") && after.ends_with("I like coffee\n"),
        "{after}"
    );
}

#[tokio::test]
async fn a_real_memory_folder_of_a_coding_assistant_works_as_it_is() {
    let database = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(database.path().join("x.db")).await.unwrap();
    let pair = VaultFixture::new(Arc::new(store));
    let index = "# Memory\n\n- [user_role.md](user_role.md): who the user is\n- [feedback_testing.md](feedback_testing.md): real databases\n";
    let role = "---\nname: user role\ndescription: who the user is\ntype: user\nmodified: 2026-02-01T10:00:00.123Z\n---\n\nSenior Go developer, new to React.\n";
    let rule = "---\nname: testing\ndescription: Integration tests: real databases\ntype: feedback\nmodified: 2026-02-01T10:00:00.123Z\n---\n\nNo mocks.\n\n**Why:** a migration failed.\n**How to apply:** all tests with an ORM.\n";
    pair.put("MEMORY.md", index);
    pair.put("user_role.md", role);
    pair.put("feedback_testing.md", rule);
    let report = pair.sync().await;
    assert_eq!(
        actions(&report),
        [(SyncAction::Stored, "feedback_testing.md"), (SyncAction::Stored, "user_role.md")]
    );
    assert_eq!(
        (pair.read("MEMORY.md"), pair.read("user_role.md")),
        (index.to_owned(), role.to_owned())
    );
    let memories = pair.memories().await;
    let rule_id = memories.iter().find(|memory| memory.kind == Kind::Feedback).unwrap().id;
    let edit = MemoryEdit {
        content: Some("No mocks, ever.".into()),
        description: Some("真实数据库".into()),
        ..MemoryEdit::default()
    };
    pair.engine.edit(&pair.scope, rule_id, &edit).await.unwrap();
    assert_eq!(actions(&pair.sync().await), [(SyncAction::Written, "feedback_testing.md")]);
    let after = pair.read("feedback_testing.md");
    assert!(
        after.starts_with(
            "---\nname: testing\ndescription: 真实数据库\ntype: feedback\nmodified: 20"
        ),
        "{after}"
    );
    assert!(after.ends_with("---\n\nNo mocks, ever.\n") && !after.contains("id:"), "{after}");
    assert_eq!(pair.read("MEMORY.md"), index.replace("real databases", "真实数据库"));
    assert_eq!(pair.read("user_role.md"), role);
}
