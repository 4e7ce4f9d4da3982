//! Memory as a tree of files on both stores: listing, reading at three tiers, searching, adding and removing.
//!
//! The cost of a page is checked in `engine/fs/page_cost_tests.rs` and timed by `everlore-eval fs`.

use everlore::{
    Engine, Scope, ToolContext, ToolRegistry,
    engine::{
        UndoTarget,
        fs::{
            FsAddRequest, FsEntry, FsFindRequest, FsGrepRequest, FsListRequest, FsRemoveRequest,
            FsTreeRequest,
        },
    },
    internal::store_of,
    types::{Role, Tier},
};
use serde_json::{Value, json};

use crate::support::{add, engine, memory, ram, scope, temp_folder, turn, write};

const ENGLISH: &str = "The release train leaves every second Tuesday. Whoever has a change for it merges before Monday noon. \
    Hot fixes go out on any day, but the person on call must agree. The checklist is in the handbook and has nine steps. \
    After the release the team watches the error rate for two hours. If the rate doubles, the release is rolled back at once. \
    Rolled back releases are looked at on Wednesday. The notes of that meeting are kept for a year. Customers hear of a release \
    by mail on the day after, in English and in Chinese. The mail is written by the product team and read by support. Nobody \
    releases in the last week of December.";

const CHINESE: &str = "发布列车每隔一周的星期二出发。有改动的人要在星期一中午之前合并代码。紧急修复任何一天都可以发布，但是必须得到值班人员的同意。\
    检查清单在手册里，一共有九个步骤。发布之后团队要观察错误率两个小时。如果错误率翻倍，就立即回滚这次发布。\
    回滚的发布在星期三复盘，会议记录保存一年。客户在发布的第二天会收到邮件，邮件有中文和英文两个版本。\
    邮件由产品团队撰写，由客服团队校对。十二月的最后一周任何人都不发布新版本。";

async fn both() -> [Engine; 2] {
    let home = temp_folder();
    [engine().await.rebuild().home(&home).build(), ram().rebuild().home(home.join("ram")).build()]
}

fn text(uri: &str, text: &str) -> FsAddRequest {
    FsAddRequest { uri: uri.into(), bytes: text.as_bytes().to_vec(), ..FsAddRequest::default() }
}

async fn list(engine: &Engine, owner: &Scope, uri: &str) -> Vec<FsEntry> {
    engine.fs_list(owner, &FsListRequest::new(uri)).await.unwrap().items
}

fn names(items: &[FsEntry]) -> Vec<&str> {
    items.iter().map(|item| item.name.as_str()).collect()
}

fn find(query: &str, uri: &str) -> FsFindRequest {
    let (query, uri) = (query.into(), uri.into());
    FsFindRequest { query, uri, limit: 10, min_score: 0.0, explain: false }
}

fn grep(pattern: &str, uri: &str) -> FsGrepRequest {
    FsGrepRequest {
        pattern: pattern.into(),
        uri: uri.into(),
        regex: false,
        ignore_case: false,
        limit: 100,
    }
}

fn rm(uri: &str, recursive: bool) -> FsRemoveRequest {
    FsRemoveRequest { uri: uri.into(), recursive, dry_run: false }
}

#[tokio::test]
async fn what_is_added_stands_where_it_was_put_and_is_read_at_three_levels() {
    for engine in both().await {
        let owner = scope("王");
        for (uri, content, word) in
            [("project/release", ENGLISH, "train"), ("project/发布", CHINESE, "发布列车")]
        {
            let added = engine.fs_add(&owner, text(uri, content)).await.unwrap();
            assert!(added.uri.starts_with(&format!("agent://tester/{uri}/")), "{added:?}");
            let read = |level| engine.fs_read(&owner, &added.uri, level);
            let (l0, l1, l2) = (read(Tier::L0), read(Tier::L1), read(Tier::L2));
            let (l0, l1, l2) =
                (l0.await.unwrap().text, l1.await.unwrap().text, l2.await.unwrap().text);
            assert_eq!(l2, content);
            assert!(!l0.is_empty() && !l0.contains('\n') && l0.len() < l1.len(), "{l0}");
            assert!(l1.len() < l2.len(), "{l1}");
            let stored = engine.get(&owner, added.memory.unwrap().id).await.unwrap();
            assert_eq!(stored.metadata["overview"]["text"], l1, "made on save");
            let found = engine.fs_find(&owner, &find(word, "project")).await.unwrap().found;
            assert_eq!(found[0].uri, added.uri);
        }
        assert_eq!(names(&list(&engine, &owner, "project").await), ["release", "发布"]);
    }
}

#[tokio::test]
async fn an_overview_that_is_of_another_text_is_not_shown() {
    let (engine, owner) = (ram(), scope("u"));
    let saved = engine.fs_add(&owner, text("project", ENGLISH)).await.unwrap().memory.unwrap();
    let edit =
        everlore::MemoryEdit { content: Some("Nobody releases.".into()), ..Default::default() };
    engine.edit(&owner, saved.id, &edit).await.unwrap();
    for level in [Tier::L0, Tier::L1, Tier::L2] {
        let read = engine.fs_read(&owner, &saved.uri, level).await.unwrap();
        assert_eq!(read.text, "Nobody releases.", "{level}");
    }
    let memory = engine.get(&owner, saved.id).await.unwrap();
    assert_eq!((memory.metadata.len(), memory.description.as_str()), (0, ""));
}

#[tokio::test]
async fn the_root_shows_everything_there_is() {
    for engine in both().await {
        let owner = scope("u");
        engine.fs_add(&owner, text("user/food", "I like tea")).await.unwrap();
        engine.observe(&owner, vec![turn("周一/会议", "Ann", "我们星期二发布")]).await.unwrap();
        engine.fs_add(&owner, text("resources/手册/部署.md", "# 部署\n\n先备份。")).await.unwrap();
        let root = list(&engine, &owner, "").await;
        assert_eq!(names(&root), ["files", "knowledge", "layers", "resources", "sessions", "user"]);
        assert!(root.iter().all(|item| item.folder && !item.summary.is_empty()), "{root:?}");
        let tree = FsTreeRequest { uri: String::new(), depth: 9, limit: 100, all: false };
        let tree = engine.fs_tree(&owner, &tree).await.unwrap();
        let shown: Vec<_> =
            tree.items.iter().map(|deep| (deep.depth, deep.item.name.as_str())).collect();
        for entry in [(2, "手册"), (3, "部署.md"), (2, "周一/会议"), (2, "USER.md"), (2, "food")]
        {
            assert!(shown.contains(&entry), "{entry:?} in {shown:?}");
        }
        let session = &list(&engine, &owner, "sessions").await[0];
        assert_eq!(session.uri, "agent://tester/sessions/周一%2F会议/");
        let turns = list(&engine, &owner, &session.uri).await;
        assert_eq!(turns[0].summary, "我们星期二发布");
        let read = engine.fs_read(&owner, &turns[0].uri, Tier::L2).await.unwrap();
        assert_eq!(read.text, "我们星期二发布");
    }
}

#[tokio::test]
async fn every_folder_has_a_line_and_an_overview_made_of_what_is_in_it() {
    for engine in both().await {
        let owner = scope("u");
        engine.fs_add(&owner, text("user/food", "I like green tea.")).await.unwrap();
        engine.fs_add(&owner, text("user/food", "我不吃花生。")).await.unwrap();
        let l0 = engine.fs_read(&owner, "user/food", Tier::L0).await.unwrap().text;
        assert!(l0.starts_with("2 entries: "), "{l0}");
        let l1 = engine.fs_read(&owner, "user/food", Tier::L1).await.unwrap().text;
        assert!(l1.contains("I like green tea.") && l1.contains("我不吃花生。"), "{l1}");
        let l2 = engine.fs_read(&owner, "user/food", Tier::L2).await.unwrap_err();
        assert!(l2.to_string().contains("is a folder"), "{l2}");
    }
}

#[tokio::test]
async fn pages_follow_each_other_without_gaps_also_past_what_is_archived() {
    for engine in both().await {
        let owner = scope("u");
        let mut uris = Vec::new();
        for number in 0..30 {
            let saved = engine.fs_add(&owner, text("user/food", &format!("fact {number}"))).await;
            let saved = saved.unwrap().memory.unwrap();
            if number % 3 == 0 {
                engine.archive(&owner, saved.id).await.unwrap();
            } else {
                uris.push(saved.uri);
            }
        }
        uris.sort();
        let (mut listed, mut after) = (Vec::new(), None);
        loop {
            let page = FsListRequest { after, limit: 7, ..FsListRequest::new("user/food") };
            let page = engine.fs_list(&owner, &page).await.unwrap();
            assert!(page.items.len() <= 7);
            listed.extend(page.items.into_iter().map(|item| item.uri));
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(listed, uris);
        let all = FsListRequest { all: true, ..FsListRequest::new("user/food") };
        assert_eq!(engine.fs_list(&owner, &all).await.unwrap().items.len(), 30);
    }
}

#[tokio::test]
async fn both_stores_walk_the_same_tree() {
    let [file, ram] = both().await;
    let owner = scope("u");
    let uris =
        ["user/a", "user/a-b", "user/a/x", "user/a/y", "user/a0", "user/ab/z", "user/茶", "zoo/1"];
    let mut rows: Vec<_> = (1..)
        .zip(uris)
        .map(|(n, uri)| {
            let mut row = memory(&owner, n, uri);
            row.uri = format!("agent://tester/{uri}");
            row
        })
        .collect();
    rows.rotate_left(3);
    for engine in [&file, &ram] {
        let changes = rows.iter().map(add).collect();
        store_of(engine).apply(write(&owner, changes)).await.unwrap();
        let turns = ["one", "two", "three"].map(|word| turn("s", "Ann", word));
        engine.observe(&owner, turns.to_vec()).await.unwrap();
    }
    for after in [None, Some("a"), Some("a-b"), Some("a/"), Some("a0"), Some("茶")] {
        for limit in [1, 3, 100] {
            let walk = |engine: &Engine| {
                let store = std::sync::Arc::clone(store_of(engine));
                let owner = owner.clone();
                async move {
                    let names =
                        store.uris().children(&owner, "agent://tester/user/", after, limit).await;
                    names.unwrap().iter().map(|name| name.sort_key()).collect::<Vec<_>>()
                }
            };
            assert_eq!(walk(&file).await, walk(&ram).await, "{after:?} {limit}");
        }
    }
    let keys =
        store_of(&file).uris().children(&owner, "agent://tester/user/", None, 100).await.unwrap();
    let keys: Vec<_> = keys.iter().map(|name| name.sort_key()).collect();
    assert_eq!(keys, ["a", "a-b", "a/", "a0", "ab/", "茶"]);
    for engine in [&file, &ram] {
        let first = store_of(engine).uris().turns(&owner, "s", None, 1).await.unwrap();
        let rest = store_of(engine).uris().turns(&owner, "s", Some(first[0].id), 9).await.unwrap();
        let rest: Vec<_> = rest.iter().map(|turn| turn.content.as_str()).collect();
        assert_eq!((first[0].content.as_str(), rest), ("one", vec!["two", "three"]));
        assert_eq!(store_of(engine).uris().sessions(&owner, None, 9).await.unwrap().len(), 1);
        assert_eq!(store_of(engine).uris().sessions(&owner, Some("s"), 9).await.unwrap(), []);
    }
}

#[tokio::test]
async fn a_document_is_read_whole_and_found_by_its_folder() {
    for engine in both().await {
        let owner = scope("u");
        let guide = "# Deploy\n\nBack up first.\n\n## Roll back\n\nUse the blue button.\n";
        let added = engine.fs_add(&owner, text("resources/ops/deploy.md", guide)).await.unwrap();
        assert_eq!(added.uri, "agent://tester/resources/ops/deploy.md");
        engine.fs_add(&owner, text("resources/厨房/茶.md", "# 茶\n\n水温八十度。")).await.unwrap();
        let folders = list(&engine, &owner, "viking://resources").await;
        assert_eq!(names(&folders), ["ops", "厨房"]);
        let read = |level| engine.fs_read(&owner, "resources/ops/deploy.md", level);
        let full = read(Tier::L2).await.unwrap().text;
        assert!(full.contains("Back up first.") && full.contains("Use the blue button."), "{full}");
        assert!(read(Tier::L0).await.unwrap().text.contains("deploy.md"));
        let l1 = read(Tier::L1).await.unwrap().text;
        assert!(l1.contains("Deploy") && l1.len() < full.len() * 3, "{l1}");
        let found = engine.fs_find(&owner, &find("blue button", "resources/ops")).await.unwrap();
        assert_eq!(found.found[0].document.as_deref(), Some(added.uri.as_str()));
        let other = engine.fs_find(&owner, &find("blue button", "resources/厨房")).await.unwrap();
        assert!(other.found.iter().all(|one| !one.name.contains("Roll")), "{other:?}");
        let lines = engine.fs_grep(&owner, &grep("水温", "resources")).await.unwrap();
        assert_eq!((lines.matches.len(), lines.matches[0].text.as_str()), (1, "水温八十度。"));
        let removed =
            engine.fs_remove(&owner, &rm("resources/ops/deploy.md", false)).await.unwrap();
        assert!(removed.memories > 0);
        assert_eq!(names(&list(&engine, &owner, "resources").await), ["厨房"]);
        engine.undo(&owner, &UndoTarget::Run(removed.runs[0].clone())).await.unwrap();
        assert_eq!(names(&list(&engine, &owner, "resources").await), ["ops", "厨房"]);
    }
}

#[tokio::test]
async fn lines_are_found_by_text_with_their_numbers() {
    for engine in both().await {
        let owner = scope("u");
        engine.fs_add(&owner, text("user/家", "第一行\n电话 4711\n第三行")).await.unwrap();
        engine.fs_add(&owner, text("user/work", "Phone 4711 at work")).await.unwrap();
        engine.observe(&owner, vec![turn("s", "Ann", "call 4711")]).await.unwrap();
        let all = engine.fs_grep(&owner, &grep("4711", "")).await.unwrap();
        let lines: Vec<_> = all.matches.iter().map(|one| (one.line, one.text.as_str())).collect();
        assert_eq!(lines, [(1, "Phone 4711 at work"), (2, "电话 4711"), (1, "call 4711")]);
        let home = engine.fs_grep(&owner, &grep("4711", "user/家")).await.unwrap();
        assert_eq!(home.matches.len(), 1);
        let phone = FsGrepRequest { ignore_case: true, ..grep("phone 4711", "user") };
        assert_eq!(engine.fs_grep(&owner, &phone).await.unwrap().matches.len(), 1);
        let dots = engine.fs_grep(&owner, &grep("47.1", "user")).await.unwrap();
        assert_eq!(dots.matches.len(), 0, "exact text");
        let regex = FsGrepRequest { regex: true, ..grep("47.1", "user") };
        assert_eq!(engine.fs_grep(&owner, &regex).await.unwrap().matches.len(), 2);
        let one = FsGrepRequest { limit: 1, ..grep("4711", "") };
        assert!(engine.fs_grep(&owner, &one).await.unwrap().more);
        let bad = FsGrepRequest { regex: true, ..grep("(", "user") };
        assert!(engine.fs_grep(&owner, &bad).await.is_err());
    }
}

#[tokio::test]
async fn a_removal_of_a_folder_is_undone_as_one() {
    for engine in both().await {
        let owner = scope("u");
        for food in ["I like tea", "我喜欢面条", "No peanuts"] {
            engine.fs_add(&owner, text("user/food", food)).await.unwrap();
        }
        let refused = engine.fs_remove(&owner, &rm("user/food", false)).await.unwrap_err();
        assert!(refused.hint().contains("--recursive"), "{refused}");
        let dry = FsRemoveRequest { dry_run: true, ..rm("user/food", true) };
        assert_eq!(engine.fs_remove(&owner, &dry).await.unwrap().memories, 3);
        assert_eq!(list(&engine, &owner, "user/food").await.len(), 3);
        let removed = engine.fs_remove(&owner, &rm("user/food", true)).await.unwrap();
        assert_eq!(removed.memories, 3);
        assert!(engine.fs_list(&owner, &FsListRequest::new("user/food")).await.is_err());
        engine.undo(&owner, &UndoTarget::Run(removed.runs[0].clone())).await.unwrap();
        assert_eq!(list(&engine, &owner, "user/food").await.len(), 3);
    }
}

#[tokio::test]
async fn what_is_read_only_says_how_it_is_changed() {
    for engine in both().await {
        let owner = scope("u");
        engine.observe(&owner, vec![turn("s", "Ann", "hello there")]).await.unwrap();
        for (uri, hint) in [
            ("layers/USER.md", "everlore layer"),
            ("files/a.md", "tool `memory`"),
            ("sessions/s", "observe"),
        ] {
            let error = engine.fs_add(&owner, text(uri, "x")).await.unwrap_err();
            assert!(error.hint().contains(hint), "{uri}: {error} {}", error.hint());
        }
        let error = engine.fs_remove(&owner, &rm("layers/USER.md", true)).await.unwrap_err();
        assert!(error.to_string().contains("cannot be changed here"), "{error}");
        assert!(engine.fs_remove(&owner, &rm("", true)).await.is_err());
    }
}

#[tokio::test]
async fn a_mistyped_name_is_answered_with_near_ones() {
    for engine in both().await {
        let owner = scope("u");
        engine.fs_add(&owner, text("user/food", "I like tea")).await.unwrap();
        engine.fs_add(&owner, text("user/家庭住址", "我住在杭州")).await.unwrap();
        for (name, near) in [("user/fodo", "user/food/"), ("user/家庭地址", "user/家庭住址/")]
        {
            let error = engine.fs_read(&owner, name, Tier::L1).await.unwrap_err();
            assert_eq!(error.code(), "not_found");
            assert!(error.hint().contains(near), "{name}: {}", error.hint());
        }
        let file = FsListRequest::new(&list(&engine, &owner, "user/food").await[0].uri);
        let file = engine.fs_list(&owner, &file);
        assert!(file.await.unwrap_err().to_string().contains("is not a folder"));
    }
}

#[tokio::test]
async fn deep_paths_and_odd_names_break_nothing() {
    for engine in both().await {
        let owner = scope("u");
        for root in ["user/", "resources/", "files/", "memories/"] {
            let deep = format!("{root}{}", "a/".repeat(2_000));
            assert_eq!(
                engine.fs_read(&owner, &deep, Tier::L1).await.unwrap_err().code(),
                "not_found"
            );
            assert!(engine.fs_list(&owner, &FsListRequest::new(&deep)).await.is_err());
        }
        let names =
            ["..", "a\\b", "50% 折扣", "x/../y"].map(|name| turn(name, "Ann", "hello 你好"));
        engine.observe(&owner, names.to_vec()).await.unwrap();
        let tree = FsTreeRequest { uri: String::new(), depth: 9, limit: 100, all: false };
        let tree = engine.fs_tree(&owner, &tree).await.unwrap();
        let opened = tree.items.iter().filter(|deep| deep.item.summary == "hello 你好").count();
        assert_eq!(opened, 2, "those whose names can stand in a uri: {tree:?}");
    }
}

#[tokio::test]
async fn nothing_of_another_user_or_agent_is_seen_or_touched() {
    for engine in both().await {
        let (mine, other) = (scope("me"), scope("other"));
        let secret =
            engine.fs_add(&other, text("user/food", "their secret tea 4711")).await.unwrap();
        engine.observe(&other, vec![turn("s", "X", "their words 4711")]).await.unwrap();
        engine.fs_add(&other, text("resources/a.md", "their document 4711")).await.unwrap();
        engine.fs_add(&mine, text("user/food", "my tea")).await.unwrap();
        let turns = list(&engine, &other, "sessions/s").await;
        for uri in [secret.uri.as_str(), turns[0].uri.as_str(), "sessions/s", "resources/a.md"] {
            assert!(engine.fs_read(&mine, uri, Tier::L2).await.is_err(), "{uri}");
            assert!(engine.fs_stat(&mine, uri).await.is_err(), "{uri}");
            assert!(engine.fs_remove(&mine, &rm(uri, true)).await.is_err(), "{uri}");
        }
        assert_eq!(engine.fs_grep(&mine, &grep("4711", "")).await.unwrap().matches, []);
        assert_eq!(list(&engine, &mine, "sessions").await, []);
        assert_eq!(list(&engine, &mine, "resources").await, []);
        assert_eq!(list(&engine, &mine, "user/food").await.len(), 1);
        let foreign = Scope::new("another", "me").unwrap();
        let error = engine.fs_list(&foreign, &FsListRequest::new("agent://tester/user")).await;
        assert!(error.unwrap_err().to_string().contains("another agent"));
    }
}

#[tokio::test]
async fn the_tools_do_the_same_in_both_languages() {
    let engine = engine().await.rebuild().home(temp_folder()).build();
    let (owner, tools) = (scope("u"), ToolRegistry::for_sets(&["fs".parse().unwrap()]));
    let cx = ToolContext::new(&engine, &owner);
    let names: Vec<_> = tools.specs().map(|spec| spec.name).collect();
    assert_eq!(
        names,
        ["fs_ls", "fs_tree", "fs_read", "fs_find", "fs_grep", "fs_add", "fs_rm", "fs_stat"]
    );
    let call = async |name: &str, input: Value| {
        let answer = tools.call(name, input, &cx).await;
        assert!(!answer.is_error, "{name}: {answer:?}");
        answer
    };
    for (uri, content, query) in [
        ("user/drinks", "I drink green tea in the morning", "what do I drink"),
        ("user/饮料", "我早上喝龙井茶", "我早上喝什么"),
    ] {
        let added = call("fs_add", json!({ "uri": uri, "content": content })).await;
        let at = added.structured["uri"].as_str().unwrap().to_owned();
        let listed = call("fs_ls", json!({ "uri": uri })).await;
        assert_eq!(listed.structured["items"][0]["abstract"], content);
        for level in ["l0", "abstract", "l2"] {
            let read = call("fs_read", json!({ "uri": at, "level": level })).await;
            assert_eq!(read.text, content);
        }
        let found = call("fs_find", json!({ "query": query, "uri": "user" })).await;
        assert_eq!(found.structured["found"][0]["uri"], at.as_str());
        let lines = call("fs_grep", json!({ "pattern": content })).await;
        assert!(lines.text.contains(":1: "), "{}", lines.text);
        assert!(call("fs_tree", json!({})).await.text.contains("user/"));
        assert_eq!(call("fs_stat", json!({ "uri": at })).await.structured["kind"], "user");
        call("fs_rm", json!({ "uri": at })).await;
        let removed = tools.call("fs_read", json!({ "uri": at }), &cx).await;
        assert!(removed.is_error && removed.text.contains("There is nothing at"), "{removed:?}");
    }
}

#[tokio::test]
async fn a_conversation_has_three_levels() {
    let (engine, owner) = (engine().await, scope("u"));
    let mut turns = Vec::new();
    for (role, text) in [
        (Role::User, "We moved to Lisbon in March and need a landlord contact."),
        (Role::Assistant, "I noted that you moved to Lisbon in March."),
        (Role::User, "The landlord is Mr Silva, his phone number is 4711."),
    ] {
        turns.push(everlore::Turn { role: Some(role), ..turn("move", "", text) });
    }
    engine.observe(&owner, turns).await.unwrap();
    let read = |level| engine.fs_read(&owner, "sessions/move", level);
    let (l0, l1, l2) = (read(Tier::L0).await, read(Tier::L1).await, read(Tier::L2).await);
    let (l0, l1, l2) = (l0.unwrap().text, l1.unwrap().text, l2.unwrap().text);
    assert!(!l0.contains('\n') && !l0.is_empty(), "{l0}");
    assert!(l1.contains("Silva"), "{l1}");
    assert!(l2.starts_with("user: We moved") && l2.contains("assistant: I noted"), "{l2}");
    let found = engine.fs_find(&owner, &find("landlord phone", "sessions/move")).await.unwrap();
    assert!(found.found[0].summary.contains("Silva"), "{found:?}");
}

#[tokio::test]
async fn a_search_in_a_folder_finds_its_own_memories_among_ten_thousand() {
    let (engine, owner) = (engine().await, scope("large"));
    let fact = |number: u32| {
        let mut row = memory(&owner, number, &format!("fact number {number} 关于茶"));
        row.uri = format!("agent://tester/user/topic-{}/fact-{number:05}", number % 20);
        add(&row)
    };
    store_of(&engine).apply(write(&owner, (1..=10_000).map(fact).collect())).await.unwrap();
    let search = async |query: &str| {
        engine.fs_find(&owner, &find(query, "user/topic-7")).await.unwrap().found
    };
    let found = search("number 9987").await;
    assert!(found.iter().all(|hit| hit.uri.contains("/topic-7/")), "{found:?}");
    assert!(found[0].uri.ends_with("/fact-09987"), "{found:?}");
    let alike = search("fact 关于茶").await;
    let in_folder = alike.iter().filter(|hit| hit.uri.contains("/topic-7/")).count();
    assert_eq!((alike.len(), in_folder), (10, 10), "also where all 10,000 fit equally well");
}

#[tokio::test]
async fn what_is_found_in_a_folder_is_all_that_fits_there_and_says_why() {
    for engine in both().await {
        let owner = scope("u");
        for number in 0..30 {
            let other = format!("Tea note {number}: green tea, black tea, 茶 and more tea");
            engine.fs_add(&owner, text("project/tea", &other)).await.unwrap();
        }
        engine.fs_add(&owner, text("user/food", "Sometimes a tea, 偶尔喝茶")).await.unwrap();
        engine.fs_add(&owner, text("user/foodstuff", "Tea again 茶")).await.unwrap();
        let document = "# Tea 茶\n\nTea is kept dry. 茶叶要放在干燥的地方。";
        engine.fs_add(&owner, text("resources/kitchen/tea.md", document)).await.unwrap();
        engine.fs_add(&owner, text("resources/cellar/tea.md", document)).await.unwrap();
        for query in ["tea", "茶"] {
            let found = engine.fs_find(&owner, &find(query, "user/food")).await.unwrap().found;
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].uri.contains("/user/food/") && found[0].signals.is_none());
            let request = FsFindRequest { explain: true, ..find(query, "resources/kitchen") };
            let found = engine.fs_find(&owner, &request).await.unwrap().found;
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].document.as_ref().unwrap().ends_with("kitchen/tea.md"), "{found:?}");
            let signals = found[0].signals.as_ref().unwrap();
            assert!(signals.terms.iter().any(|term| term.term == query), "{signals:?}");
            assert!(found[0].factors.is_some());
        }
    }
}
