//! Conformance of the usage log, the ledger and disk space.

use std::time::Duration;

use jiff::civil::{Date, date};

use super::*;
use crate::types::Change;

fn injected_memory(memory: &Memory, shown: InjectedTier) -> InjectedMemory {
    InjectedMemory {
        id: memory.id,
        shown,
        query_term_digests: vec![1, 2, 3, 4],
        sketch: memory.content.as_bytes().to_vec(),
    }
}

fn injection(session: &str, second: i64, memories: Vec<InjectedMemory>) -> Injection {
    let query = Fingerprint::of("喝什么茶？");
    Injection {
        session: session.into(),
        query,
        at: time(second),
        memories,
        is_same_prompt: false,
        max_lines: 1_000,
    }
}

async fn add_two_memories(store: &TestStore, scope: &Scope) -> (Memory, Memory) {
    let (one, two) = (memory(scope, 1, "喜欢龙井茶"), memory(scope, 2, "lives in Boston"));
    store.apply(write(scope, 1, vec![add(&one), add(&two)])).await.unwrap();
    (one, two)
}

pub(crate) async fn what_prompts_were_given_is_kept_until_it_is_answered(store: TestStore) {
    let (scope, other) = (test_scope("a"), test_scope("b"));
    let (one, two) = add_two_memories(&store, &scope).await;
    let log = store.usage();
    let both = vec![
        injected_memory(&one, InjectedTier::Full),
        injected_memory(&two, InjectedTier::HeldOut),
    ];
    log.record(&scope, injection("s1", 10, both)).await.unwrap();
    log.record(&scope, injection("s1", 20, vec![injected_memory(&one, InjectedTier::Line)]))
        .await
        .unwrap();
    log.record(&scope, injection("会话", 30, vec![injected_memory(&two, InjectedTier::Overview)]))
        .await
        .unwrap();
    let open = log.of_session(&scope, "s1", UsageLines::Unanswered).await.unwrap();
    let lines: Vec<_> =
        open.iter().map(|line| (line.seq, line.turn, line.injected.shown)).collect();
    assert_eq!(
        lines,
        [(1, 1, InjectedTier::Full), (2, 1, InjectedTier::HeldOut), (3, 2, InjectedTier::Line)]
    );
    assert_eq!(
        (open[2].at, &open[2].injected),
        (time(20), &injected_memory(&one, InjectedTier::Line))
    );
    assert_eq!((open[0].query, open[0].used), (Fingerprint::of("喝什么茶？"), None));
    let sketch = one.content.as_bytes().to_vec();
    assert_eq!(log.injected(&scope, "s1").await.unwrap(), [(one.id, sketch)]);
    assert_eq!(log.injected(&other, "s1").await.unwrap(), []);
    assert_eq!(log.of_session(&other, "s1", UsageLines::Unanswered).await.unwrap(), []);
    assert_eq!(log.of_scope(&scope, UsageSelection::AwaitingWeights).await.unwrap(), []);

    assert_eq!(log.of_session(&scope, "s1", UsageLines::All).await.unwrap(), open);
    assert_eq!(log.of_session(&other, "s1", UsageLines::All).await.unwrap(), []);

    check_newest(&store, &scope, &other).await;
    log.set_used(&scope, vec![(1, true), (2, false)]).await.unwrap();
    let all = log.of_session(&scope, "s1", UsageLines::All).await.unwrap();
    let verdicts: Vec<_> = all.iter().map(|line| (line.seq, line.used)).collect();
    assert_eq!(verdicts, [(1, Some(true)), (2, Some(false)), (3, None)]);
    let left = log.of_session(&scope, "s1", UsageLines::Unanswered).await.unwrap();
    assert_eq!(left.iter().map(|line| line.seq).collect::<Vec<_>>(), [3]);
    let pending = log.of_scope(&scope, UsageSelection::AwaitingWeights).await.unwrap();
    let used: Vec<_> = pending.iter().map(|line| (line.seq, line.used)).collect();
    assert_eq!(used, [(1, Some(true)), (2, Some(false))]);
    log.mark_weights_updated(&scope, vec![1]).await.unwrap();
    assert_eq!(log.of_scope(&scope, UsageSelection::AwaitingWeights).await.unwrap().len(), 1);
    let counts = log.counts(&scope).await.unwrap();
    let expected = UsageCounts {
        injected: 3,
        answered: 1,
        used: 1,
        held_out: 1,
        held_out_used: 0,
        memories: 2,
        memories_used: 1,
    };
    assert_eq!(counts, expected);
    assert_eq!(log.counts(&other).await.unwrap(), UsageCounts::default());
}

async fn check_newest(store: &TestStore, scope: &Scope, other: &Scope) {
    let log = store.usage();
    let newest = log.of_scope(scope, UsageSelection::Newest(2)).await.unwrap();
    let newest: Vec<_> = newest.iter().map(|line| (line.seq, &*line.session)).collect();
    assert_eq!(newest, [(4, "会话"), (3, "s1")]);
    assert_eq!(log.of_scope(other, UsageSelection::Newest(2)).await.unwrap(), []);
}

pub(crate) async fn the_usage_log_is_bounded_by_count_and_age(store: TestStore) {
    let scope = test_scope("a");
    let (one, _) = add_two_memories(&store, &scope).await;
    for second in 0..20 {
        let prompt = injection("s", second, vec![injected_memory(&one, InjectedTier::Full)]);
        store.usage().record(&scope, Injection { max_lines: 5, ..prompt }).await.unwrap();
    }
    let lines = store.usage().of_session(&scope, "s", UsageLines::Unanswered).await.unwrap();
    assert_eq!(lines.iter().map(|line| line.turn).collect::<Vec<_>>(), [16, 17, 18, 19, 20]);
    assert_eq!(store.usage().prune(&scope, time(18)).await.unwrap(), 3);
    assert_eq!(store.usage().prune(&test_scope("b"), time(99)).await.unwrap(), 0);
    assert_eq!(
        store.usage().of_session(&scope, "s", UsageLines::Unanswered).await.unwrap().len(),
        2
    );
}

pub(crate) async fn an_erased_memory_leaves_no_line_and_a_deleted_one_its_sketch(store: TestStore) {
    let scope = test_scope("a");
    let (one, two) = add_two_memories(&store, &scope).await;
    let both =
        vec![injected_memory(&one, InjectedTier::Full), injected_memory(&two, InjectedTier::Full)];
    store.usage().record(&scope, injection("s", 10, both.clone())).await.unwrap();
    store.apply(write(&scope, 11, vec![Change::Delete(two.id)])).await.unwrap();
    assert_eq!(store.usage().injected(&scope, "s").await.unwrap().len(), 2);
    let receipts = store.apply(write(&scope, 12, vec![Change::Erase(one.id)])).await.unwrap();
    assert_eq!(receipts[0].erasure.unwrap().usage_lines, 1);
    // A prompt that was built before an erasure and is recorded after it leaves no line either.
    store.usage().record(&scope, injection("s", 13, both)).await.unwrap();
    let left = store.usage().injected(&scope, "s").await.unwrap();
    assert_eq!(left.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [two.id]);
}

const MONDAY: Date = date(2026, 3, 2);

fn spend_of(calls: u64) -> ModelSpend {
    ModelSpend { calls, read: 100 * calls, cached: 10, written: 20 * calls, millis: 5, cost: 0.5 }
}

pub(crate) async fn the_ledger_adds_up_by_day_scope_and_job(store: TestStore) {
    let (scope, other) = (test_scope("甲"), test_scope("b"));
    let (ledger, tuesday) = (store.ledger(), date(2026, 3, 3));
    ledger.record(&scope, MONDAY, "extract", spend_of(1)).await.unwrap();
    ledger.record(&scope, MONDAY, "extract", spend_of(2)).await.unwrap();
    ledger.record(&scope, MONDAY, "summarize", spend_of(1)).await.unwrap();
    ledger.record(&scope, tuesday, "extract", spend_of(1)).await.unwrap();
    ledger.record(&other, MONDAY, "extract", spend_of(5)).await.unwrap();
    let lines = ledger.entries(&scope, MONDAY).await.unwrap();
    let named: Vec<_> = lines.iter().map(|line| (line.day, line.job.as_str())).collect();
    assert_eq!(named, [(tuesday, "extract"), (MONDAY, "extract"), (MONDAY, "summarize")]);
    assert_eq!(lines[1].spend, spend_of(1).plus(spend_of(2)));
    assert_eq!(ledger.entries(&scope, tuesday).await.unwrap().len(), 1);
    let all = ledger.total_on(MONDAY).await.unwrap();
    assert_eq!((all.calls, all.tokens(), all.cost), (9, 9 * 120, 2.0));
    assert_eq!(ledger.prune(tuesday).await.unwrap(), 3);
    assert_eq!(ledger.entries(&scope, MONDAY).await.unwrap().len(), 1);
    assert_eq!(store.admin().scopes().await.unwrap(), [], "spending stores no memory");
}

pub(crate) async fn of_many_who_begin_a_job_one_does_it(store: TestStore) {
    let (scope, day) = (test_scope("a"), Duration::from_secs(86_400));
    assert_eq!(store.ledger().job_begun_at(&scope, "upkeep").await.unwrap(), None);
    let begin = |second| {
        let (store, scope) = (store.clone(), scope.clone());
        async move { store.ledger().try_begin_job(&scope, "upkeep", time(second), day).await.unwrap() }
    };
    let tasks: Vec<_> = (0..8).map(|_| tokio::spawn(begin(0))).collect();
    let mut begun = 0;
    for task in tasks {
        begun += usize::from(task.await.unwrap());
    }
    assert_eq!(begun, 1);
    assert!(!begin(86_399).await);
    assert!(begin(86_400).await);
    assert_eq!(store.ledger().job_begun_at(&scope, "upkeep").await.unwrap(), Some(time(86_400)));
    assert!(store.ledger().try_begin_job(&test_scope("b"), "upkeep", time(0), day).await.unwrap());
    assert!(store.ledger().try_begin_job(&scope, "other", time(0), day).await.unwrap());
}

pub(crate) async fn packing_loses_nothing(store: TestStore) {
    let scope = test_scope("a");
    let stored = memory(&scope, 1, "喜欢龙井茶");
    store.apply(write(&scope, 1, vec![add(&stored)])).await.unwrap();
    for number in 2..60 {
        let large = memory(&scope, number, &"a long text that will go again ".repeat(400));
        store.apply(write(&scope, 2, vec![add(&large)])).await.unwrap();
        store.apply(write(&scope, 3, vec![Change::Erase(large.id)])).await.unwrap();
    }
    store.admin().compact().await.unwrap();
    assert_eq!(store.memories().get(&scope, &[stored.id]).await.unwrap(), [Some(stored)]);
    assert_eq!(store.index().inconsistencies(&scope).await.unwrap(), Vec::<String>::new());
    assert_eq!(store.admin().compact().await.unwrap(), 0, "there is nothing left to give back");
}

pub(crate) async fn what_a_tool_tells_belongs_to_the_prompt_before_it(store: TestStore) {
    let scope = test_scope("a");
    let (one, two) = add_two_memories(&store, &scope).await;
    let tells = |memory: &Memory, is_same_prompt| Injection {
        is_same_prompt,
        ..injection("s", 1, vec![injected_memory(memory, InjectedTier::Full)])
    };
    for prompt in [tells(&one, true), tells(&two, true), tells(&one, false), tells(&two, true)] {
        store.usage().record(&scope, prompt).await.unwrap();
    }
    let lines = store.usage().of_session(&scope, "s", UsageLines::Unanswered).await.unwrap();
    assert_eq!(lines.iter().map(|line| line.turn).collect::<Vec<_>>(), [1, 1, 2, 2]);
}
