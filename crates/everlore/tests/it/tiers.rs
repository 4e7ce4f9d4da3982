//! Tests of the short forms of long memories: kept by every way of saving, removed with their text, improved by a
//! model.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use everlore::{
    Config, Document, Engine, Kind, Memory, MemoryEdit, Scope, ToolContext, ToolRegistry,
    engine::{
        ExternalFormat, ExtractRequest, ImportOptions, IngestOptions, MigrationRequest,
        SyncRequest, UndoTarget, fs::FsAddRequest,
    },
    internal::text::{
        tiers::{one_line, overview},
        tokens::estimate_tokens,
    },
    llm::ChatModel,
    store::{JournalQuery, RamStore, Store},
    tools::{MemoryFolder, MemoryFolderLimits},
    types::Role,
};
use serde_json::{Value, json};

use crate::{
    scenarios::ScenarioModel,
    support::{all, engine, engine_on, noon, ram, say, scope, sqlite, turn},
};

const ENGLISH: &str = "The release train leaves every second Tuesday. Whoever has a change merges before Monday noon. Hot fixes \
    go out on any day, but the person on call must agree. The checklist has nine steps. After the release the team watches the \
    error rate for two hours. If the error rate doubles, the release is rolled back at once. Rolled back releases are looked at \
    on Wednesday. The notes of that meeting are kept for a year. Customers hear of a release by mail on the day after, in \
    English and in Chinese. Nobody releases in the last week of December. \
    The mail is written by the product team and read by support before it goes out. Whoever is on call keeps the script for \
    rolling back at hand, and writes down afterwards what went wrong and what should be done about it.";

const CHINESE: &str = "发布列车每隔一周的星期二出发。有改动的人要在星期一中午之前合并代码。紧急修复任何一天都可以发布，但是必须得到值班人员的同意。\
    检查清单一共有九个步骤。发布之后团队要观察错误率两个小时。如果错误率翻倍，就立即回滚这次发布。回滚的发布在星期三复盘，会议记录保存一年。\
    客户在发布的第二天会收到邮件，邮件有中文和英文两个版本。十二月的最后一周任何人都不发布新版本。\
    邮件由产品团队撰写，由客服团队校对之后才能寄出。值班人员要随时准备好回滚脚本，并且在发布之后写下哪里出了问题、应该怎么改进。";

fn stored_forms(memory: &Memory) -> &Value {
    memory.metadata.get("overview").unwrap_or(&Value::Null)
}

/// Asserts that every long memory of a scope has the forms that are shown of it.
async fn check_all(engine: &Engine, owner: &Scope, what: &str) {
    let is_long =
        |memory: &Memory| memory.kind != Kind::Turn && estimate_tokens(&memory.content) > 120;
    let long: Vec<Memory> = all(engine, owner).await.into_iter().filter(is_long).collect();
    assert!(!long.is_empty(), "{what}: nothing was saved");
    for memory in long {
        let forms = stored_forms(&memory);
        assert_eq!(forms["text"], overview(&memory), "{what}: {memory:?}");
        assert!(overview(&memory).len() < memory.content.len(), "{what}: {memory:?}");
        assert!(!memory.description.is_empty() || forms["line"] == one_line(&memory), "{what}");
    }
}

#[tokio::test]
async fn remembered_and_edited_texts_keep_them_and_own_descriptions_stay() {
    for (engine, text, other) in [(ram(), ENGLISH, CHINESE), (engine().await, CHINESE, ENGLISH)] {
        let owner = scope("王");
        let draft = everlore::RememberRequest { description: "my own 我的".into(), ..say(text) };
        let id = engine.remember(&owner, draft).await.unwrap().id;
        check_all(&engine, &owner, "remember").await;
        let edit = MemoryEdit { content: Some(other.into()), ..MemoryEdit::default() };
        let edited = engine.edit(&owner, id, &edit).await.unwrap();
        check_all(&engine, &owner, "edit").await;
        assert_eq!(
            (edited.description.as_str(), one_line(&edited)),
            ("my own 我的", "my own 我的".into())
        );
        let none = MemoryEdit { metadata: Some(serde_json::Map::new()), ..MemoryEdit::default() };
        engine.edit(&owner, id, &none).await.unwrap();
        check_all(&engine, &owner, "new metadata").await;
        let short = MemoryEdit { content: Some("No.".into()), ..MemoryEdit::default() };
        assert_eq!(*stored_forms(&engine.edit(&owner, id, &short).await.unwrap()), Value::Null);
    }
}

#[tokio::test]
async fn files_documents_notes_and_other_systems_keep_them() {
    let home = tempfile::tempdir().unwrap();
    let both = format!("# Releases\n\n{ENGLISH}\n\n# 发布\n\n{CHINESE}\n");
    let engine = engine().await.rebuild().home(home.path()).build();
    let fs = scope("fs");
    for (uri, text) in [("project/release", ENGLISH), ("project/发布", CHINESE)] {
        let bytes = text.as_bytes().to_vec();
        let request = FsAddRequest { uri: uri.into(), bytes, ..FsAddRequest::default() };
        engine.fs_add(&fs, request).await.unwrap();
    }
    check_all(&engine, &fs, "fs").await;
    let documents = scope("documents");
    let document = Document::new("handbook.md", both.clone().into_bytes());
    engine.ingest_document(&documents, &document, &IngestOptions::default()).await.unwrap();
    check_all(&engine, &documents, "document").await;
    let graph = home.path().join("memory.jsonl");
    let entity = |name: &str, text: &str| json!({"type": "entity", "name": name, "entityType": "rule", "observations": [text]});
    std::fs::write(
        &graph,
        format!("{}\n{}\n", entity("release", ENGLISH), entity("发布", CHINESE)),
    )
    .unwrap();
    let foreign = scope("foreign");
    let request = MigrationRequest {
        format: Some(ExternalFormat::McpGraph),
        path: graph,
        dry_run: false,
        layers: false,
        map_users: false,
    };
    assert_eq!(engine.migrate(&foreign, &request).await.unwrap().report.added(), 2);
    check_all(&engine, &foreign, "foreign").await;
    let again = engine.migrate(&foreign, &request).await.unwrap().report;
    assert_eq!(
        (again.added(), again.updated, again.unchanged),
        (0, 0, 2),
        "they are no difference"
    );
    let notes = scope("notes");
    let tools = ToolRegistry::all();
    let folder = MemoryFolder::new(home.path().join("root"), MemoryFolderLimits::default());
    let cx = ToolContext { folder: Some(&folder), ..ToolContext::new(&engine, &notes) };
    let note = json!({"command": "create", "path": "/memories/release.md", "file_text": both});
    let answer = tools.call("memory", note, &cx).await;
    assert!(!answer.is_error, "{}", answer.text);
    check_all(&engine, &notes, "note").await;
}

#[tokio::test]
async fn pages_of_a_vault_keep_them_also_when_they_are_edited_by_hand() {
    let home = tempfile::tempdir().unwrap();
    let (engine, vault) = (engine().await, scope("vault"));
    let folder = home.path().join("pages");
    std::fs::create_dir(&folder).unwrap();
    for (name, text) in [("release", ENGLISH), ("发布", CHINESE)] {
        let page =
            format!("---\nname: {name}\ndescription: about {name}\ntype: project\n---\n\n{text}\n");
        std::fs::write(folder.join(format!("{name}.md")), page).unwrap();
    }
    let sync = SyncRequest::new(folder.clone(), &vault);
    engine.sync_vault(&sync).await.unwrap();
    check_all(&engine, &vault, "vault").await;
    let page = std::fs::read_to_string(folder.join("release.md")).unwrap();
    std::fs::write(folder.join("release.md"), page.replace("Tuesday", "Thursday 星期四")).unwrap();
    engine.sync_vault(&sync).await.unwrap();
    check_all(&engine, &vault, "page edited by hand").await;
    assert_eq!(all(&engine, &vault).await.len(), 2);
}

fn with_model(store: Arc<dyn Store>, answers: &[&str]) -> (Engine, Arc<ScenarioModel>) {
    let mut config = Config::default();
    config.memory_agent.enabled = true;
    config.memory_agent.model = "scripted".into();
    let model = Arc::new(ScenarioModel::default());
    *model.0.lock().unwrap() =
        answers.iter().map(|text| (*text).to_owned()).collect::<VecDeque<_>>();
    let engine = Engine::builder(store).config(config).clock(noon).build();
    (engine.with_chat_model(Arc::clone(&model) as Arc<dyn ChatModel>), model)
}

#[tokio::test]
async fn what_a_model_draws_from_a_conversation_keeps_them() {
    for text in [ENGLISH, CHINESE] {
        let draft =
            json!({ "statement": text, "kind": "project", "confidence": 0.9, "turns": [1] });
        let answer = json!({ "memories": [draft] }).to_string();
        let (engine, _) = with_model(Arc::new(RamStore::default()), &[&answer]);
        let owner = scope("sam");
        let message = everlore::Turn { role: Some(Role::User), ..turn("s", "", text) };
        engine.observe(&owner, vec![message]).await.unwrap();
        engine.extract(&owner, &ExtractRequest::default()).await.unwrap();
        check_all(&engine, &owner, "extract").await;
    }
}

#[tokio::test]
async fn exports_bring_them_back_undo_too_and_forgetting_leaves_nothing_of_them() {
    let (from, to, owner) = (engine().await, engine().await, scope("ann"));
    let id = from.remember(&owner, say(ENGLISH)).await.unwrap().id;
    from.remember(&owner, say(CHINESE)).await.unwrap();
    let before = from.get(&owner, id).await.unwrap();
    let mut file = Vec::new();
    from.export(&owner, true, &mut file, &mut |_| ()).await.unwrap();
    let options = ImportOptions { keep_going: false, dry_run: false, keep_secrets: false };
    to.import(&owner, &file[..], options, &mut |_| ()).await.unwrap();
    assert_eq!(all(&to, &owner).await, all(&from, &owner).await);
    let edit = MemoryEdit {
        content: Some(format!("{CHINESE}另外，星期五不发布。")),
        ..MemoryEdit::default()
    };
    from.edit(&owner, id, &edit).await.unwrap();
    let last =
        from.history(&owner, &JournalQuery { limit: Some(1), ..Default::default() }).await.unwrap();
    from.undo(&owner, &UndoTarget::Change(last[0].seq)).await.unwrap();
    let back = from.get(&owner, id).await.unwrap();
    assert_eq!((back.content, back.metadata), (before.content, before.metadata));
    from.forget(&owner, id).await.unwrap();
    let mut file = Vec::new();
    from.export(&owner, true, &mut file, &mut |_| ()).await.unwrap();
    let left = String::from_utf8(file).unwrap();
    assert!(left.contains("十二月") && !left.contains("release"), "{left}");
}

const BETTER: [(&str, &str); 2] = [
    (ENGLISH, "Releases leave every second Tuesday; a doubled error rate rolls them back."),
    (CHINESE, "隔周星期二发布，错误率翻倍就回滚。"),
];

fn answer(text: &str) -> String {
    json!({ "overviews": [{ "text": 1, "overview": text }] }).to_string()
}

#[tokio::test]
async fn a_model_makes_better_ones_that_are_charged_told_and_can_be_undone() {
    for (text, better) in BETTER {
        let (engine, _) = with_model(sqlite().await, &[&answer(better)]);
        let owner = scope("sam");
        let id = engine.remember(&owner, say(&text.repeat(5))).await.unwrap().id;
        let before = engine.get(&owner, id).await.unwrap();
        assert_eq!(engine.improve_overviews(&owner).await.unwrap(), 1);
        let after = engine.get(&owner, id).await.unwrap();
        assert_eq!(overview(&after), better);
        assert_eq!((&after.content, after.updated_at), (&before.content, before.updated_at));
        let spent = engine.ledger(&owner, 1).await.unwrap();
        assert_eq!((spent.spending[0].job.as_str(), spent.total.calls), ("overview", 1));
        assert_eq!(engine.improve_overviews(&owner).await.unwrap(), 0, "once is enough");
        let run = engine
            .history(&owner, &JournalQuery { limit: Some(1), ..Default::default() })
            .await
            .unwrap();
        engine.undo(&owner, &UndoTarget::Run(run[0].run.clone().unwrap())).await.unwrap();
        assert_eq!(overview(&engine.get(&owner, id).await.unwrap()), overview(&before));
    }
}

#[tokio::test]
async fn answers_that_cannot_be_used_and_spent_budgets_change_nothing() {
    let long = ENGLISH.repeat(5);
    for bad in ["", "offline", "{\"overviews\": 3}", &answer(CHINESE), &answer(&long)] {
        let (engine, _) = with_model(Arc::new(RamStore::default()), &[bad]);
        let owner = scope("sam");
        engine.remember(&owner, say(&long)).await.unwrap();
        let before = all(&engine, &owner).await;
        let improved = engine.improve_overviews(&owner).await.unwrap_or(0);
        assert_eq!(improved, 0, "{bad}");
        assert_eq!(all(&engine, &owner).await, before, "{bad}");
    }
    let (engine, model) = with_model(Arc::new(RamStore::default()), &[&answer("Releases.")]);
    let mut config = engine.config().clone();
    config.memory_agent.budget.daily_tokens = 1;
    let engine = engine.rebuild().config(config).build();
    let owner = scope("sam");
    engine.remember(&owner, say(&long)).await.unwrap();
    let tokens = everlore::llm::TokenUsage { read: 5, cached: 0, written: 5 };
    engine.record_spending(&owner, "extract", tokens, Duration::ZERO).await.unwrap();
    assert_eq!(engine.improve_overviews(&owner).await.unwrap(), 0);
    assert_eq!(model.0.lock().unwrap().len(), 1, "the model was not asked");
}

#[tokio::test]
async fn the_worker_makes_them_by_itself_and_without_a_model_nobody_is_asked() {
    let (engine, _) = with_model(sqlite().await, &[&answer(BETTER[1].1)]);
    let owner = scope("sam");
    let id = engine.remember(&owner, say(&CHINESE.repeat(5))).await.unwrap().id;
    let worker = engine.spawn_worker();
    let waiting = async {
        while overview(&engine.get(&owner, id).await.unwrap()) != BETTER[1].1 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), waiting)
        .await
        .expect("the worker asks the model");
    worker.stop(Duration::from_secs(30)).await;
    let plain = engine_on(Arc::new(RamStore::default()));
    plain.remember(&owner, say(&ENGLISH.repeat(5))).await.unwrap();
    assert_eq!(plain.improve_overviews(&owner).await.unwrap(), 0);
}
