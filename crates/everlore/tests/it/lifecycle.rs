//! Tests of the memory lifecycle: injection, usage, weights, archiving, merging and costs; on both stores, in both
//! languages.

use std::{sync::Arc, time::Duration};

use everlore::{
    Engine, Kind, Memory, MemoryId, RecallRequest, Scope, Status,
    config::Config,
    engine::{UndoTarget, UpkeepJob, UpkeepJobReport, UpkeepReport, UpkeepRequest},
    internal::ingest::TextSketch,
    internal::{injected_sketches, store_of},
    llm::{BuiltinEmbedder, TokenUsage},
    store::{
        InjectedTier, JournalQuery, ListOrder, ListQuery, MemoryFilter, RamStore, Store, UsageLines,
    },
    types::{Actor, Change, Timestamp, WriteBatch},
};

use crate::support::{DAY, NOON, at, noon, open, remember_all, say, scope, sqlite, turn};

/// Clocks of the next day, of the next week, and of years later.
fn tomorrow() -> Timestamp {
    at(NOON + DAY)
}

fn next_week() -> Timestamp {
    at(NOON + 7 * DAY)
}

fn in_eight_years() -> Timestamp {
    at(NOON + 8 * 366 * DAY)
}

async fn engines() -> [Engine; 2] {
    let with = |store: Arc<dyn Store>| Engine::builder(store).clock(noon).build();
    [with(Arc::new(RamStore::default())), with(sqlite().await)]
}

/// Builds a request that returns whatever is found: confidence is tested elsewhere.
fn request(engine: &Engine, owner: &Scope, query: &str) -> RecallRequest {
    RecallRequest {
        min_confidence: 0.0,
        min_probability: 0.0,
        ..engine.context_request(owner, query)
    }
}

/// Injects context for a query in a session and returns the injected memories.
async fn ask(engine: &Engine, owner: &Scope, session: &str, query: &str) -> Vec<MemoryId> {
    let request = request(engine, owner, query);
    let block = engine.inject(&request, 2_000, session).await.unwrap();
    block.entries.iter().map(|entry| entry.id).collect()
}

async fn upkeep(engine: &Engine, owner: &Scope) -> UpkeepReport {
    engine.upkeep(owner, &UpkeepRequest::default(), &mut |_| {}).await.unwrap()
}

fn job(report: &UpkeepReport, job: UpkeepJob) -> &UpkeepJobReport {
    report.jobs.iter().find(|report| report.job == job).unwrap()
}

/// Puts memories into the store as they are.
async fn put(engine: &Engine, owner: &Scope, memories: &[Memory]) {
    let changes = memories.iter().map(|memory| Change::Add(Box::new(memory.clone()))).collect();
    let write = WriteBatch::new(owner, Actor::Person, "test", noon(), changes);
    store_of(engine).apply(write).await.unwrap();
}

async fn weight(engine: &Engine, owner: &Scope, id: MemoryId) -> f64 {
    engine.get(owner, id).await.unwrap().weight
}

#[tokio::test]
async fn what_names_its_own_end_expires_in_a_small_home_without_a_confirmation() {
    for engine in engines().await {
        let owner = scope("small");
        let texts = ["The offer ends on Sunday.", "优惠码周日到期。", "The user likes tea."];
        let mut all: Vec<Memory> = Vec::new();
        for saved in remember_all(&engine, &owner, &texts).await {
            all.push(engine.get(&owner, saved.id).await.unwrap());
        }
        for memory in &all[..2] {
            let mut ended = memory.clone();
            ended.metadata.insert("valid_until".into(), "2020-01-01T00:00:00Z".into());
            ended.version += 1;
            let write = WriteBatch::new(
                &owner,
                Actor::Person,
                "test",
                noon(),
                vec![Change::Update(Box::new(ended))],
            );
            store_of(&engine).apply(write).await.unwrap();
        }
        let report = upkeep(&engine, &owner).await;
        assert_eq!(job(&report, UpkeepJob::Expire).done, 2, "{report:?}");
        assert_eq!(report.stopped().count(), 0);
        assert_eq!(engine.get(&owner, all[0].id).await.unwrap().status, Status::Archived);
    }
}

#[tokio::test]
async fn what_an_answer_used_is_worth_more_and_what_it_did_not_use_a_little_less() {
    let cases = [
        (
            ["The user's dog is called Rex.", "The user's dog is afraid of thunder."],
            "What is my dog's name?",
            "Your dog is called Rex.",
        ),
        (["用户的狗叫小黑。", "用户的狗害怕打雷。"], "我的狗叫什么名字？", "你的狗叫小黑。"),
    ];
    for engine in engines().await {
        for (number, (texts, query, answer)) in cases.iter().enumerate() {
            let owner = scope(&format!("user{number}"));
            let saved = remember_all(&engine, &owner, texts).await;
            let injected_ids = ask(&engine, &owner, "s1", query).await;
            assert_eq!(injected_ids.len(), 2, "{query}");
            let answered = engine.record_answer(&owner, "s1", answer).await.unwrap();
            assert_eq!((answered.injected, &answered.used), (2, &vec![saved[0].id]), "{answer}");
            assert_eq!(weight(&engine, &owner, saved[0].id).await, 1.0, "nothing moves in a turn");

            let weighed = upkeep(&engine, &owner).await;
            let weighed = job(&weighed, UpkeepJob::Weigh);
            assert_eq!(weighed.done, 2);
            let used = engine.get(&owner, saved[0].id).await.unwrap();
            let unused = engine.get(&owner, saved[1].id).await.unwrap();
            assert!((used.weight - 1.2).abs() < 1e-9 && (unused.weight - 0.99).abs() < 1e-9);
            assert_eq!(used.last_used_at, Some(noon()));
            assert_eq!(upkeep(&engine, &owner).await.jobs[0].done, 0, "uses weigh once");

            let journal = JournalQuery { id: Some(used.id), ..JournalQuery::default() };
            let line = engine.history(&owner, &journal).await.unwrap().remove(0);
            assert_eq!((line.cause.as_str(), line.actor), ("usage", Actor::Engine));
            engine.undo(&owner, &UndoTarget::Run(weighed.run.clone().unwrap())).await.unwrap();
            assert_eq!(weight(&engine, &owner, used.id).await, 1.0);
        }
    }
}

#[tokio::test]
async fn looking_writes_nothing_down() {
    for engine in engines().await {
        let owner = scope("王");
        remember_all(&engine, &owner, &["用户喜欢喝龙井茶。"]).await;
        let request = engine.context_request(&owner, "喝什么茶？");
        assert!(!engine.context(&request, 2_000).await.unwrap().entries.is_empty());
        engine.recall(&request).await.unwrap();
        engine.flush(Duration::ZERO).await;
        let stats = engine.usage_stats(&owner).await.unwrap();
        assert_eq!((stats.counts.injected, stats.comparison), (0, None));
        let error = engine.inject(&request, 2_000, " ").await.unwrap_err();
        assert_eq!(error.code(), "invalid");
    }
}

#[tokio::test]
async fn an_echo_is_told_even_after_the_memory_is_gone() {
    for engine in engines().await {
        let owner = scope("ann");
        let texts = ["用户喜欢喝龙井茶。", "The user drinks tea in the morning."];
        let saved = remember_all(&engine, &owner, &texts).await;
        let injected_ids = ask(&engine, &owner, "s1", "tea 喝茶").await;
        assert_eq!(injected_ids.len(), 2);
        engine.delete(&owner, saved[0].id).await.unwrap();
        let injected = injected_sketches(&engine, &owner, "s1").await.unwrap();
        let echoes = |text: &str| {
            injected
                .iter()
                .any(|(_, injected_ids)| TextSketch::of(text).is_covered_by(injected_ids))
        };
        assert!(echoes("用户喜欢喝龙井茶") && echoes("the user drinks tea in the morning"));
        assert!(!echoes("用户住在杭州") && !echoes("The user lives in Boston"));
        assert_eq!(injected_sketches(&engine, &owner, "s2").await.unwrap(), []);
        engine.forget(&owner, saved[0].id).await.unwrap();
        assert_eq!(injected_sketches(&engine, &owner, "s1").await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn what_is_held_out_is_not_told_earns_nothing_and_is_compared() {
    for engine in engines().await {
        let mut config = Config::default();
        config.memory.inject.holdout = 0.5;
        let (engine, owner) = (engine.rebuild().config(config).build(), scope("ann"));
        let id = remember_all(&engine, &owner, &["用户的狗叫小黑。"]).await[0].id;
        let (mut injected_ids, mut held) = (0, 0);
        for number in 0..80 {
            let session = format!("会话{number}");
            let shown = ask(&engine, &owner, &session, "我的狗叫什么名字？").await;
            engine.flush_usage().await;
            let lines = store_of(&engine)
                .usage()
                .of_session(&owner, &session, UsageLines::Unanswered)
                .await
                .unwrap();
            assert_eq!(lines.len(), 1);
            assert_eq!(shown.is_empty(), lines[0].injected.shown == InjectedTier::HeldOut);
            let answer = if shown.is_empty() { "我不知道。" } else { "你的狗叫小黑。" };
            engine.record_answer(&owner, &session, answer).await.unwrap();
            injected_ids += usize::from(!shown.is_empty());
            held += usize::from(shown.is_empty());
        }
        assert!(injected_ids > 25 && held > 25, "{injected_ids} {held}");
        let stats = engine.usage_stats(&owner).await.unwrap();
        let compared = stats.comparison.unwrap();
        assert_eq!((compared.injected.rate, compared.held_out.rate), (1.0, 0.0));
        assert!(compared.standard_error > 0.0 && compared.standard_error < 0.1);
        let weighed = upkeep(&engine, &owner).await;
        assert_eq!(job(&weighed, UpkeepJob::Weigh).done, 1);
        assert!((weight(&engine, &owner, id).await - (2.0 - 0.8_f64.powi(3))).abs() < 1e-9);
    }
}

#[tokio::test]
async fn a_memory_that_was_only_held_out_keeps_its_weight() {
    for engine in engines().await {
        let mut config = Config::default();
        config.memory.inject.holdout = 0.5;
        let (engine, owner) = (engine.rebuild().config(config).build(), scope("ann"));
        let id = remember_all(&engine, &owner, &["The user's dog is called Rex."]).await[0].id;
        let mut held = 0;
        for number in 0..40 {
            let session = format!("s{number}");
            let query = "What is my dog's name?";
            let request = request(&engine, &owner, query);
            if everlore::internal::upkeep::is_held_out(0.5, &session, id) {
                engine.inject(&request, 2_000, &session).await.unwrap();
                // Even an answer that happens to say it earns nothing: the model did not see it.
                engine.record_answer(&owner, &session, "Your dog is called Rex.").await.unwrap();
                held += 1;
            }
        }
        assert!(held > 5);
        assert_eq!(job(&upkeep(&engine, &owner).await, UpkeepJob::Weigh).done, 0);
        assert_eq!(weight(&engine, &owner, id).await, 1.0);
        assert_eq!(engine.usage_stats(&owner).await.unwrap().counts.held_out_used, held);
    }
}

#[tokio::test]
async fn a_weight_set_by_hand_stays_until_it_is_let_go() {
    for engine in engines().await {
        let owner = scope("ann");
        let id = remember_all(&engine, &owner, &["用户的狗叫小黑。"]).await[0].id;
        let set = engine.set_weight(&owner, id, Some(3.0)).await.unwrap();
        assert!(set.is_pinned() && set.weight_at(in_eight_years()) == 3.0);
        ask(&engine, &owner, "s", "我的狗叫什么名字？").await;
        engine.record_answer(&owner, "s", "你的狗叫小黑。").await.unwrap();
        upkeep(&engine, &owner).await;
        assert_eq!(weight(&engine, &owner, id).await, 3.0);
        assert_eq!(engine.core_memories(&owner, 10).await.unwrap()[0].id, id);
        let later = engine.clone().rebuild().clock(in_eight_years).build();
        assert_eq!(job(&upkeep(&later, &owner).await, UpkeepJob::Archive).memories, []);
        let free = engine.set_weight(&owner, id, None).await.unwrap();
        assert_eq!((free.weight, free.is_pinned()), (1.0, false));
        assert_eq!(engine.core_memories(&owner, 10).await.unwrap(), []);
        let error = engine.set_weight(&owner, id, Some(11.0)).await.unwrap_err();
        assert!(error.hint().contains("0 to 10"), "{error}");
    }
}

#[tokio::test]
async fn an_older_change_can_be_undone_though_use_moved_the_weight_since() {
    for engine in engines().await {
        let owner = scope("ann");
        let id = remember_all(&engine, &owner, &["The user's dog is called Rex."]).await[0].id;
        let edit = everlore::MemoryEdit {
            content: Some("The user's dog is called Max.".into()),
            ..Default::default()
        };
        engine.edit(&owner, id, &edit).await.unwrap();
        let journal = JournalQuery { id: Some(id), ..JournalQuery::default() };
        let edited = engine.history(&owner, &journal).await.unwrap()[0].seq;
        ask(&engine, &owner, "s", "What is my dog's name?").await;
        engine.record_answer(&owner, "s", "Your dog is called Max.").await.unwrap();
        upkeep(&engine, &owner).await;
        engine.undo(&owner, &UndoTarget::Change(edited)).await.unwrap();
        let memory = engine.get(&owner, id).await.unwrap();
        assert_eq!(memory.content, "The user's dog is called Rex.");
        assert!((memory.weight - 1.2).abs() < 1e-9, "what use made of it stays");
    }
}

/// Returns memories that differ in a word that counts.
fn statements(owner: &Scope, count: usize, kind: Kind) -> Vec<Memory> {
    let text = |number: usize| match number % 2 {
        0 => format!("The user owns the book number {number}."),
        _ => format!("用户有第{number}号书。"),
    };
    (0..count)
        .map(|number| {
            let source = everlore::types::MemorySource::new(everlore::types::Origin::Remember);
            let mut memory =
                Memory::with_content(owner, kind, text(number), source, noon(), noon());
            memory.uri = format!("agent://tester/{kind}/{number}");
            memory
        })
        .collect()
}

#[tokio::test]
async fn what_fades_is_put_away_found_on_request_and_brought_back() {
    for engine in engines().await {
        let owner = scope("ann");
        let mut all = statements(&owner, 8, Kind::User);
        all[0].weight = 0.05;
        put(&engine, &owner, &all).await;
        let tried = engine
            .upkeep(&owner, &UpkeepRequest { dry_run: true, yes: false }, &mut |_| {})
            .await
            .unwrap();
        let planned = job(&tried, UpkeepJob::Archive);
        assert_eq!((planned.memories.len(), planned.done, &planned.run), (1, 0, &None));
        assert_eq!(engine.get(&owner, all[0].id).await.unwrap().status, Status::Active);

        let done = upkeep(&engine, &owner).await;
        let archived = job(&done, UpkeepJob::Archive);
        assert_eq!((archived.memories[0].id, archived.done), (all[0].id, 1));
        let request = engine.recall_request(&owner, "book number 0");
        let found = engine.recall(&request).await.unwrap();
        assert!(found.hits.iter().all(|hit| hit.memory.id != all[0].id));
        let mut wider = request.clone();
        wider.filter.statuses = vec![Status::Archived];
        assert_eq!(engine.recall(&wider).await.unwrap().hits[0].memory.id, all[0].id);
        engine.undo(&owner, &UndoTarget::Run(archived.run.clone().unwrap())).await.unwrap();
        assert_eq!(engine.get(&owner, all[0].id).await.unwrap().status, Status::Active);
    }
}

#[tokio::test]
async fn a_job_that_would_touch_more_than_a_quarter_stops_and_asks() {
    for engine in engines().await {
        let owner = scope("ann");
        put(&engine, &owner, &statements(&owner, 8, Kind::User)).await;
        let turns: Vec<_> = (0..50).map(|n| turn("s", "Ann", &format!("turn {n}"))).collect();
        engine.observe(&owner, turns).await.unwrap();
        let later = engine.clone().rebuild().clock(in_eight_years).build();
        let report = upkeep(&later, &owner).await;
        let stopped = job(&report, UpkeepJob::Archive);
        let reason = stopped.stopped.as_ref().unwrap();
        assert_eq!(reason, "archive would change 8 of 8 memories, more than a quarter");
        assert_eq!((stopped.done, &stopped.run, report.stopped().count()), (0, &None, 1));
        let active = ListQuery {
            filter: MemoryFilter { statuses: vec![Status::Active], ..MemoryFilter::default() },
            after: None,
            order: ListOrder::NewestFirst,
            limit: 100,
        };
        assert_eq!(engine.list(&owner, &active).await.unwrap().len(), 58);
        let yes = UpkeepRequest { yes: true, ..UpkeepRequest::default() };
        let report = later.upkeep(&owner, &yes, &mut |_| {}).await.unwrap();
        assert_eq!(job(&report, UpkeepJob::Archive).done, 8);
        assert_eq!(engine.list(&owner, &active).await.unwrap().len(), 50, "turns do not fade");
    }
}

#[tokio::test]
async fn what_held_until_a_time_that_is_over_is_put_away() {
    for engine in engines().await {
        let owner = scope("ann");
        let mut all = statements(&owner, 8, Kind::Project);
        all[3].metadata.insert("valid_until".into(), "2026-03-05T00:00:00Z".into());
        put(&engine, &owner, &all).await;
        assert_eq!(job(&upkeep(&engine, &owner).await, UpkeepJob::Expire).done, 0);
        let later = engine.clone().rebuild().clock(next_week).build();
        let report = upkeep(&later, &owner).await;
        assert_eq!(job(&report, UpkeepJob::Expire).memories[0].id, all[3].id);
        assert_eq!(engine.get(&owner, all[3].id).await.unwrap().status, Status::Archived);
    }
}

#[tokio::test]
async fn a_check_that_ends_puts_away_and_what_is_brought_back_stays() {
    for engine in engines().await {
        let owner = scope("王");
        put(&engine, &owner, &statements(&owner, 16, Kind::Project)).await;
        let until = everlore::types::NewCheck {
            until: Some("2026-03-04".into()),
            ..everlore::types::NewCheck::default()
        };
        let offer =
            everlore::RememberRequest { check: Some(until), ..say("报价有效 the offer holds") };
        let offer = engine.remember(&owner, offer).await.unwrap().id;
        let light = engine.remember(&owner, say("a light thing 小事")).await.unwrap().id;
        let weightless = everlore::MemoryEdit { weight: Some(0.01), ..Default::default() };
        engine.edit(&owner, light, &weightless).await.unwrap();
        let later = engine.clone().rebuild().clock(next_week).build();
        let report = upkeep(&later, &owner).await;
        assert_eq!(job(&report, UpkeepJob::Expire).memories[0].id, offer);
        assert_eq!(job(&report, UpkeepJob::Archive).memories[0].id, light);
        let archived = job(&report, UpkeepJob::Archive).run.clone().unwrap();

        later.restore(&owner, offer).await.unwrap();
        later.undo(&owner, &UndoTarget::Run(archived)).await.unwrap();
        let report = upkeep(&later, &owner).await;
        assert_eq!(job(&report, UpkeepJob::Expire).done, 0, "a person brought it back");
        assert_eq!(job(&report, UpkeepJob::Archive).done, 0, "a person brought it back");
        later.archive(&owner, light).await.unwrap();
        later.restore(&owner, light).await.unwrap();
        assert_eq!(job(&upkeep(&later, &owner).await, UpkeepJob::Archive).done, 0);
    }
}

#[tokio::test]
async fn what_says_the_same_is_put_together_and_taken_apart_again() {
    for engine in engines().await {
        let owner = scope("王");
        put(&engine, &owner, &statements(&owner, 8, Kind::User)).await;
        let tagged = |content: &str, tag: &str| everlore::RememberRequest {
            tags: vec![tag.into()],
            kind: Some(Kind::User),
            ..say(content)
        };
        let later = engine.clone().rebuild().clock(tomorrow).build();
        let old = engine.remember(&owner, tagged("用户喜歡喝龍井茶。", "茶")).await.unwrap().id;
        let new = later.remember(&owner, tagged("用户目前喜欢喝龙井茶", "爱好")).await.unwrap().id;
        let report = upkeep(&later, &owner).await;
        let merged = job(&report, UpkeepJob::Merge);
        assert_eq!(merged.memories.len(), 2, "{merged:?}");
        let gone = engine.get(&owner, old).await.unwrap();
        assert_eq!((gone.status, gone.superseded_by), (Status::Superseded, Some(new)));
        assert_eq!(engine.get(&owner, new).await.unwrap().tags, ["爱好", "茶"]);
        assert_eq!(job(&upkeep(&later, &owner).await, UpkeepJob::Merge).done, 0);
        later.undo(&owner, &UndoTarget::Run(merged.run.clone().unwrap())).await.unwrap();
        assert_eq!(engine.get(&owner, old).await.unwrap().status, Status::Active);
        assert_eq!(engine.get(&owner, new).await.unwrap().tags, ["爱好"]);
    }
}

#[tokio::test]
async fn upkeep_is_done_when_it_is_due_and_by_one_process() {
    let path = crate::support::fresh_path();
    let (_one, first) = open(&path).await;
    let (_two, second) = open(&path).await;
    let owner = scope("ann");
    remember_all(&first, &owner, &["用户喜欢喝龙井茶。"]).await;
    assert!(first.upkeep_if_due(&owner).await.unwrap().is_some());
    assert!(second.upkeep_if_due(&owner).await.unwrap().is_none());
    assert_eq!(second.last_upkeep(&owner).await.unwrap(), Some(noon()));
    let later = second.clone().rebuild().clock(tomorrow).build();
    assert!(later.upkeep_if_due(&owner).await.unwrap().is_some());
    let mut config = Config::default();
    config.upkeep.hours = "2-5".into();
    let next_week = second.clone().rebuild().clock(next_week).build();
    assert!(
        next_week
            .clone()
            .rebuild()
            .config(config.clone())
            .build()
            .upkeep_if_due(&owner)
            .await
            .unwrap()
            .is_none()
    );
    (config.upkeep.hours, config.upkeep.enabled) = (String::new(), false);
    assert!(
        next_week
            .clone()
            .rebuild()
            .config(config)
            .build()
            .upkeep_if_due(&owner)
            .await
            .unwrap()
            .is_none()
    );
    assert!(next_week.upkeep_if_due(&owner).await.unwrap().is_some());
}

#[tokio::test]
async fn old_lines_go_and_what_waits_for_a_vector_gets_one() {
    for engine in engines().await {
        let owner = scope("ann");
        remember_all(&engine, &owner, &["The user's dog is called Rex."]).await;
        ask(&engine, &owner, "s", "What is my dog's name?").await;
        engine
            .record_spending(&owner, "extract", TokenUsage::default(), Duration::ZERO)
            .await
            .unwrap();
        let with_model =
            engine.clone().rebuild().embedder(Arc::new(BuiltinEmbedder::new())).build();
        let report = upkeep(&with_model, &owner).await;
        assert_eq!(
            (job(&report, UpkeepJob::Prune).done, job(&report, UpkeepJob::Embed).done),
            (0, 1)
        );
        let later = engine.clone().rebuild().clock(in_eight_years).build();
        let yes = UpkeepRequest { yes: true, ..UpkeepRequest::default() };
        let report = later.upkeep(&owner, &yes, &mut |_| {}).await.unwrap();
        assert_eq!(job(&report, UpkeepJob::Prune).done, 2);
    }
}

#[tokio::test]
async fn above_the_budget_of_the_day_rules_do_the_work() {
    for engine in engines().await {
        let mut config = Config::default();
        let budget = &mut config.memory_agent.budget;
        (budget.daily_tokens, budget.price_read, budget.price_written) = (10_000, 0.5, 2.0);
        let engine = engine.rebuild().config(config.clone()).build();
        let (ann, wang) = (scope("ann"), scope("王"));
        assert!(engine.may_spend(&ann, "extract").await.unwrap().allowed);
        let tokens = TokenUsage { read: 6_000, cached: 1_000, written: 1_000 };
        engine.record_spending(&ann, "extract", tokens, Duration::from_millis(900)).await.unwrap();
        let left = engine.may_spend(&wang, "extract").await.unwrap();
        assert_eq!((left.allowed, left.tokens_left), (true, Some(3_000)));
        engine
            .record_spending(&wang, "summarize", tokens, Duration::from_millis(100))
            .await
            .unwrap();
        let over = engine.may_spend(&ann, "extract").await.unwrap();
        assert!(!over.allowed);
        assert_eq!(
            over.reason.unwrap(),
            "the daily budget is spent (14000 of 10000 tokens): rules replace the model until tomorrow"
        );
        let next_day = engine.clone().rebuild().clock(tomorrow).build();
        assert!(next_day.may_spend(&ann, "extract").await.unwrap().allowed);

        let report = engine.ledger(&ann, 7).await.unwrap();
        assert_eq!((report.spending.len(), report.total.calls, report.total.millis), (1, 1, 900));
        assert!((report.total.cost - 0.005).abs() < 1e-12);
        assert_eq!((report.today.tokens(), report.allowance.allowed), (14_000, false));
        config.memory_agent.budget.daily_tokens = 0;
        config.memory_agent.budget.daily_cost = 0.009;
        let dear = engine
            .clone()
            .rebuild()
            .config(config)
            .build()
            .may_spend(&ann, "extract")
            .await
            .unwrap();
        assert_eq!(
            dear.reason.unwrap().split(':').next(),
            Some("the daily budget is spent (0.0100 of 0.0090)")
        );
    }
}

#[tokio::test]
async fn the_next_extraction_is_priced_before_it_happens() {
    for engine in engines().await {
        let mut config = Config::default();
        config.memory_agent.budget.price_read = 1_000.0;
        let (engine, owner) = (engine.rebuild().config(config).build(), scope("ann"));
        let nothing = engine.preview_extraction_cost(&owner).await.unwrap();
        assert_eq!((nothing.turns, nothing.read, nothing.written), (0, 0, 0));
        let turns: Vec<_> =
            (0..30).map(|n| turn("s", "王", &format!("第{n}句话，说的是茶"))).collect();
        engine.observe(&owner, turns).await.unwrap();
        let next = engine.preview_extraction_cost(&owner).await.unwrap();
        assert_eq!(next.turns, 30, "all that wait in the session");
        assert!(next.read > 1_450 && next.read < 1_750, "{next:?}");
        assert!((next.cost - next.read as f64 / 1_000.0).abs() < 1e-9);
    }
}

#[tokio::test]
async fn what_a_tool_tells_in_a_conversation_counts_as_told() {
    for engine in engines().await {
        let owner = scope("ann");
        let texts = ["用户的狗叫小黑。", "The user lives in Boston, in Elm Street."];
        let saved = remember_all(&engine, &owner, &texts).await;
        let tools = everlore::ToolRegistry::all();
        let input = serde_json::json!({ "query": "Boston Elm Street" });
        let outside = everlore::ToolContext::new(&engine, &owner);
        tools.call("memory_recall", input.clone(), &outside).await;
        assert_eq!(injected_sketches(&engine, &owner, "s1").await.unwrap(), []);
        let inside = everlore::ToolContext { session: Some("s1"), ..outside };
        tools.call("memory_recall", input, &inside).await;
        let injected_ids = injected_sketches(&engine, &owner, "s1").await.unwrap();
        assert!(injected_ids.iter().any(|(id, _)| *id == saved[1].id), "{injected_ids:?}");
        let answer = "You live in Boston, in Elm Street.";
        let answered = engine.record_answer(&owner, "s1", answer).await.unwrap();
        assert_eq!((answered.injected, &answered.used), (injected_ids.len(), &vec![saved[1].id]));
    }
}

/// Usage checks run in the background, in the order of the session.
#[tokio::test]
async fn use_that_is_followed_meanwhile_belongs_to_the_prompt_before_it() {
    for engine in engines().await {
        let owner = scope("ann");
        let [dog, cat] = ["The user's dog is called Rex.", "用户的猫叫墨墨。"];
        let ids = remember_all(&engine, &owner, &[dog, cat]).await;
        ask(&engine, &owner, "s", "What is my dog's name?").await;
        engine.spawn_usage_check(&owner, "s", "Your dog is called Rex.");
        ask(&engine, &owner, "s", "我的猫叫什么名字？").await;
        engine.spawn_usage_check(&owner, "s", "我不知道。");
        engine.flush_usage().await;
        upkeep(&engine, &owner).await;
        assert!(weight(&engine, &owner, ids[0].id).await > 1.0, "the answer named the dog");
        assert!(weight(&engine, &owner, ids[1].id).await <= 1.0, "and not the cat");
    }
}
