//! Tests of the audit: every planted fault is found, an innocent home has none, and its fixes can be undone exactly.

use std::{collections::BTreeMap, fs, path::Path, sync::Arc};

use everlore::{
    Engine, Kind, Memory, MemoryId, Scope, Status,
    engine::{AuditFix, AuditReport, AuditRequest, AuditSource, FaultKind, UndoTarget},
    store::{RamStore, Store},
    types::{Actor, Change, MemorySource, Origin, Role, Timestamp, WriteBatch},
};
use proptest::prelude::*;

use crate::support::{all, scope};

/// Time of the audits: weeks after what the memories look ahead to.
fn now() -> Timestamp {
    "2026-05-20T12:00:00Z".parse().unwrap()
}

/// Line of a file of cases.
struct Case {
    expected: Option<String>,
    joins_last: bool,
    memory: Memory,
}

fn case(line: &str, number: usize) -> Case {
    let (expected, rest) = line.split_once(char::is_whitespace).unwrap();
    let (kind, rest) = rest.trim_start().split_once(char::is_whitespace).unwrap();
    let (day, text) = rest.trim_start().split_once(' ').unwrap();
    let said: Timestamp = format!("{day}T09:00:00Z").parse().unwrap();
    let joins_last = expected.starts_with('=');
    let expected = expected.trim_start_matches('=');
    let memory = stored(kind.parse().unwrap(), text, said, number);
    Case { expected: (expected != "-").then(|| expected.to_owned()), joins_last, memory }
}

fn stored(kind: Kind, text: &str, said: Timestamp, number: usize) -> Memory {
    let source = MemorySource::new(Origin::Remember);
    let mut memory = Memory::with_content(&scope("sam"), kind, text.into(), source, said, said);
    memory.uri = format!("agent://tester/{kind}/general/{number}");
    memory
}

fn cases(name: &str) -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/audit").join(name);
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines.enumerate().map(|(number, line)| case(line, number)).collect()
}

/// Stores memories as they are, past every gate, as an older program or another one may have.
async fn engine_with(memories: impl IntoIterator<Item = Memory>) -> Engine {
    let store: Arc<dyn Store> = Arc::new(RamStore::default());
    let changes = memories.into_iter().map(|memory| Change::Add(Box::new(memory))).collect();
    let write = WriteBatch::new(&scope("sam"), Actor::Person, "test", now(), changes);
    store.apply(write).await.unwrap();
    Engine::builder(store).clock(now).build()
}

async fn audit(engine: &Engine, request: &AuditRequest) -> AuditReport {
    engine.audit(&scope("sam"), request, &mut |_| {}).await.unwrap()
}

fn kinds_of(report: &AuditReport, id: MemoryId) -> Vec<String> {
    let id = id.to_string();
    let has = report.findings.iter().filter(|finding| finding.ids.contains(&id));
    has.map(|finding| finding.kind.to_string()).collect()
}

async fn check_faulty(name: &str) {
    let cases = cases(name);
    let engine = engine_with(cases.iter().map(|case| case.memory.clone())).await;
    let report = audit(&engine, &AuditRequest::default()).await;
    for (index, case) in cases.iter().enumerate() {
        let next = cases.get(index + 1).filter(|next| next.joins_last);
        let expected = case.expected.as_ref().or_else(|| next?.expected.as_ref());
        let expected: Vec<String> = expected.cloned().into_iter().collect();
        let text = &case.memory.content;
        assert_eq!(kinds_of(&report, case.memory.id), expected, "{text}: {:#?}", report.findings);
    }
    assert!(report.score < 50, "{}", report.score);
}

#[tokio::test]
async fn every_planted_fault_is_found_in_both_languages() {
    check_faulty("faulty_en.txt").await;
    check_faulty("faulty_zh.txt").await;
}

#[tokio::test]
async fn an_innocent_home_has_no_finding_in_either_language() {
    for name in ["innocent_en.txt", "innocent_zh.txt"] {
        let engine = engine_with(cases(name).into_iter().map(|case| case.memory)).await;
        let report = audit(&engine, &AuditRequest::default()).await;
        assert_eq!((report.score, &report.findings[..]), (100, &[][..]), "{name}");
    }
}

#[tokio::test]
async fn a_memory_without_the_users_words_is_found() {
    let said = "2026-01-01T09:00:00Z".parse().unwrap();
    let turn = |role, number| {
        let mut turn = stored(Kind::Turn, "您住在巴黎。You live in Paris.", said, number);
        turn.source.role = Some(role);
        turn
    };
    let (assistant, user) = (turn(Role::Assistant, 1), turn(Role::User, 2));
    let extracted = |turns: Vec<MemoryId>, number| {
        let mut memory =
            stored(Kind::User, &format!("The user lives at number {number}."), said, number);
        memory.source = MemorySource { turns, ..MemorySource::new(Origin::Extract) };
        memory
    };
    let memories = [
        extracted(vec![assistant.id], 11),
        extracted(vec![assistant.id, user.id], 12),
        extracted(vec![], 13),
        extracted(vec![MemoryId::new(said)], 14),
    ];
    let ids = memories.each_ref().map(|memory| memory.id);
    let engine = engine_with([assistant, user].into_iter().chain(memories)).await;
    let report = audit(&engine, &AuditRequest::default()).await;
    let kinds = ids.map(|id| kinds_of(&report, id).join(" "));
    assert_eq!(kinds, ["echo", "", "unattributed", "unattributed"], "{:#?}", report.findings);
}

#[tokio::test]
async fn what_prompts_never_needed_is_one_finding_a_kind() {
    let long_ago: Timestamp = "2025-06-01T09:00:00Z".parse().unwrap();
    let memory = |kind, number: usize| {
        stored(kind, &format!("The plant on shelf {number} needs water"), long_ago, number)
    };
    let idle = (0..5).map(|number| memory(Kind::Knowledge, number));
    let engine = engine_with(idle.chain([memory(Kind::User, 9)])).await;
    assert_eq!(
        audit(&engine, &AuditRequest::default()).await.findings.len(),
        0,
        "nothing was used"
    );
    for round in 0..40 {
        let request = engine.recall_request(&scope("sam"), "Which plant needs water?");
        engine.inject(&request, 2_000, &format!("s{round}")).await.unwrap();
    }
    engine.flush_usage().await;
    let report = audit(&engine, &AuditRequest::default()).await;
    let kinds: Vec<_> = report.findings.iter().map(|it| (it.kind, it.ids.len(), it.fix)).collect();
    assert_eq!(kinds, [(FaultKind::Unused, 5, AuditFix::Ask)], "{:#?}", report.findings);
}

#[tokio::test]
async fn paths_and_checks_that_fail_on_this_machine_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("notes.md");
    let said = "2026-05-19T09:00:00Z".parse().unwrap();
    let home = folder.path().parent().unwrap().to_owned();
    let below =
        |name: &str| format!("~/{}/{name}", folder.path().file_name().unwrap().to_str().unwrap());
    let memories = [
        stored(
            Kind::Project,
            &format!("The notes of the team are in {}", below("gone.md")),
            said,
            1,
        ),
        stored(
            Kind::Project,
            &format!("The plans of the team are in {}", below("notes.md")),
            said,
            2,
        ),
        stored(Kind::Project, "To build the site, run `no-such-program-here build` first", said, 3),
        stored(Kind::Project, "部署时执行 `no-such-program-here deploy`", said, 4),
    ];
    fs::write(&file, "x").unwrap();
    let expected = [memories[0].id, memories[2].id, memories[3].id];
    let store: Arc<dyn Store> = Arc::new(RamStore::default());
    let changes = memories.into_iter().map(|memory| Change::Add(Box::new(memory))).collect();
    store
        .apply(WriteBatch::new(&scope("sam"), Actor::Person, "test", now(), changes))
        .await
        .unwrap();
    let environment = vec![("PATH".into(), "/usr/bin:/bin".into()), ("HOME".into(), home.into())];
    let engine = Engine::builder(store).clock(now).check_environment(environment).build();
    let report = audit(&engine, &AuditRequest::default()).await;
    let ids: Vec<_> = report.findings.iter().flat_map(|finding| finding.ids.clone()).collect();
    assert_eq!(ids, expected.map(|id| id.to_string()), "{:#?}", report.findings);
}

fn put(folder: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// Name of a format, files of an export, and the faults it has.
type ExportCase<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a str);

#[tokio::test]
async fn exports_of_other_systems_are_audited_without_storing_them() {
    let mem0 = r#"{"results":[
        {"id":"m1","memory":"Likes green tea","user_id":"sam","created_at":"2026-01-01T00:00:00Z"},
        {"id":"m2","memory":"likes green tea!","user_id":"sam","created_at":"2026-01-02T00:00:00Z"},
        {"id":"m3","memory":"User asked about the weather","user_id":"sam"},
        {"id":"m4","memory":"The build runs on Jenkins"},
        {"id":"m5","memory":"Key is ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8","user_id":"sam"}]}"#;
    let graph = "{\"type\":\"entity\",\"name\":\"Anna\",\"entityType\":\"person\",\"observations\":[\"Anna prefers short emails\",\"anna prefers short emails.\"]}\n";
    let page =
        "---\nname: tea\ndescription: what to drink\ntype: user\n---\nThe user likes green tea.\n";
    let cases: [ExportCase; 5] = [
        ("mem0", &[("export.json", mem0)], "secret echo duplicate unattributed"),
        ("mcp", &[("memory.jsonl", graph)], "duplicate"),
        (
            "claude",
            &[("MEMORY.md", "- [tea](tea.md) tea\n"), ("tea.md", page), ("tea2.md", page)],
            "duplicate",
        ),
        (
            "openclaw",
            &[
                ("SOUL.md", "Be kind.\n"),
                ("MEMORY.md", "- 用户喜欢喝龙井茶。\n- 用户喜欢喝龙井茶\n"),
            ],
            "duplicate",
        ),
        (
            "hermes",
            &[(
                "MEMORY.md",
                "The deploy is slow on Mondays\n§\nYou are a helpful assistant for code.\n",
            )],
            "echo",
        ),
    ];
    let engine = engine_with([]).await;
    for (name, files, expected) in cases {
        let folder = tempfile::tempdir().unwrap();
        put(folder.path(), files);
        let format = match name {
            "mem0" => "mem0",
            "mcp" => "mcp-graph",
            other => other,
        };
        let path =
            if files.len() == 1 { folder.path().join(files[0].0) } else { folder.path().into() };
        let source = AuditSource { format: Some(format.parse().unwrap()), path };
        let report = engine.audit_export(&scope("sam"), &source).await.unwrap();
        let kinds: Vec<_> = report.findings.iter().map(|finding| finding.kind.as_str()).collect();
        assert_eq!(kinds.join(" "), expected, "{name}: {:#?}", report.findings);
        assert!(report.score < 100);
    }
    assert_eq!(engine.count(&scope("sam")).await.unwrap().memories, []);
}

/// Texts of random homes: each fault that has a safe fix, beside plain statements.
const TEXTS: [&str; 10] = [
    "The user likes green tea.",
    "User likes green tea",
    "用户喜欢喝龙井茶。",
    "用户喜歡喝龍井茶",
    "You are a helpful assistant that answers briefly.",
    "你是一个乐于助人的助手。",
    "Deploy with ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
    "部署用 ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
    "The staging server runs on port 8443.",
    "我住在巴黎。",
];

fn random_memory() -> impl Strategy<Value = (usize, bool, bool, f64)> {
    (0..TEXTS.len(), any::<bool>(), any::<bool>(), 0.2..1.9_f64)
}

fn build_memory(number: usize, of: (usize, bool, bool, f64)) -> Memory {
    let said: Timestamp = "2026-01-01T09:00:00Z".parse().unwrap();
    let mut memory = stored(Kind::User, TEXTS[of.0], said, number);
    if of.1 {
        memory.source = MemorySource::new(Origin::Extract);
    }
    if of.2 {
        memory.metadata.insert("valid_until".into(), "2026-02-01T00:00:00Z".into());
    }
    memory.weight = of.3;
    memory.tags = vec![format!("tag{}", number % 3)];
    memory
}

/// Returns all memories of a scope by id, without the number and the time of their last change.
async fn states(engine: &Engine, owner: &Scope) -> BTreeMap<MemoryId, Memory> {
    let plain = |memory: Memory| Memory { version: 0, updated_at: now(), ..memory };
    all(engine, owner).await.into_iter().map(|memory| (memory.id, plain(memory))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn undo_of_an_audit_restores_the_exact_earlier_state(all in proptest::collection::vec(random_memory(), 1..12)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let memories = all.into_iter().enumerate().map(|(number, of)| build_memory(number, of));
            let (engine, owner) = (engine_with(memories).await, scope("sam"));
            let before = states(&engine, &owner).await;
            let request = AuditRequest { fix: true, yes: true };
            let report = audit(&engine, &request).await;
            let again = audit(&engine, &AuditRequest::default()).await;
            let is_safe = |report: &AuditReport| report.findings.iter().any(|it| it.fix.is_safe());
            assert!(!is_safe(&again), "the fixes leave nothing to fix: {:#?}", again.findings);
            assert_eq!(report.fixed.is_some(), is_safe(&report));
            if let Some(fixed) = report.fixed {
                assert_ne!(states(&engine, &owner).await, before);
                engine.undo(&owner, &UndoTarget::Run(fixed.run)).await.unwrap();
            }
            assert_eq!(states(&engine, &owner).await, before);
        });
    }
}

#[tokio::test]
async fn more_than_a_quarter_is_fixed_only_when_confirmed() {
    let texts = ["The user likes green tea.", "User likes green tea"];
    let said = "2026-01-01T09:00:00Z".parse().unwrap();
    let memories =
        texts.iter().enumerate().map(|(number, text)| stored(Kind::User, text, said, number));
    let engine = engine_with(memories).await;
    let owner = scope("sam");
    let request = AuditRequest { fix: true, yes: false };
    let refused = engine.audit(&owner, &request, &mut |_| {}).await.unwrap_err();
    assert!(refused.to_string().contains("more than a quarter"), "{refused}");
    audit(&engine, &AuditRequest { yes: true, ..request }).await;
    let superseded = all(&engine, &owner).await;
    let superseded = superseded.iter().filter(|memory| memory.status == Status::Superseded);
    assert_eq!(superseded.count(), 1);
}
