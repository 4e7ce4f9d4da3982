//! Conformance of the capture queue.

use std::{collections::BTreeMap, time::Duration};

use super::*;
use crate::{
    error::Error,
    store::error_term,
    types::{
        Attribute, CaptureCheckpoint, Change, Experience, GateOutcome, Origin, QuarantineLimits,
        QuarantinedDraft, Role, Slot, USER_SUBJECT, WriteBatch,
    },
};

const DUE_POLICY: DuePolicy = DuePolicy {
    min_exchanges: 2,
    idle_after: Duration::from_secs(600),
    min_interval: Duration::from_secs(30),
    agent_overrides: BTreeMap::new(),
};

fn claim_request(owner: &str, second: i64, due: Option<DuePolicy>) -> ClaimRequest {
    let lease = Duration::from_secs(60);
    ClaimRequest {
        scope: None,
        session: None,
        owner: owner.into(),
        now: time(second),
        lease_duration: lease,
        due,
    }
}

fn extraction_write(
    lease: &SessionLease,
    unread: &UnreadTurns,
    second: i64,
    changes: Vec<Change>,
) -> WriteBatch {
    let extracted = CaptureCheckpoint {
        session: lease.session.clone(),
        owner: lease.owner.clone(),
        from: unread.from,
        to: unread.to,
        quarantined: Vec::new(),
        limits: QuarantineLimits { max_drafts: 3, keep_since: time(0) },
    };
    WriteBatch { checkpoint: Some(extracted), ..write(&lease.scope, second, changes) }
}

fn extracted_memory(scope: &Scope, number: u8, content: &str, from: &[&Memory]) -> Memory {
    let mut memory = memory(scope, number, content);
    memory.source.via = Origin::Extract;
    memory.source.turns = from.iter().map(|turn| turn.id).collect();
    memory
}

fn quarantined_draft(memory: &Memory, verdict: GateOutcome, second: i64) -> QuarantinedDraft {
    QuarantinedDraft {
        memory: Box::new(memory.clone()),
        verdict,
        reason: "it is vague".into(),
        at: time(second),
        run: "extract-1".into(),
        session: Some("monday".into()),
    }
}

async fn store_turns(store: &TestStore, scope: &Scope, second: i64, turns: &[&Memory]) {
    let turns = turns.iter().map(|turn| add(turn)).collect();
    store.apply(write(scope, second, turns)).await.unwrap();
}

/// Returns the pending sessions with their unread turns and exchanges.
async fn pending_sessions(store: &TestStore, scope: &Scope) -> Vec<(Option<String>, usize, usize)> {
    let pending = store.queue().pending(Some(scope)).await.unwrap();
    pending.into_iter().map(|it| (it.session, it.turns, it.exchanges)).collect()
}

async fn unread_turns(store: &TestStore, lease: &SessionLease, limit: usize) -> UnreadTurns {
    store.queue().unread_turns(&lease.scope, lease.session.as_deref(), limit).await.unwrap()
}

fn texts(turns: &[Memory]) -> Vec<&str> {
    turns.iter().map(|turn| turn.content.as_str()).collect()
}

/// Reads up to three turns of the session that is pending for longest.
pub(super) async fn read_some_turns(store: &TestStore, scope: &Scope, second: i64) {
    let claim =
        ClaimRequest { scope: Some(scope.clone()), ..claim_request("mirror", second, None) };
    if let Some(lease) = store.queue().claim(&claim).await.unwrap() {
        let turns = unread_turns(store, &lease, 3).await;
        store.apply(extraction_write(&lease, &turns, second, vec![])).await.unwrap();
    }
}

pub(crate) async fn a_turn_waits_until_it_was_read(store: TestStore) {
    let scope = test_scope("ann");
    let mut outside = turn(&scope, 4, "x", "outside");
    outside.source.session = None;
    let mut answer = turn(&scope, 2, "monday", "二");
    answer.source.role = Some(Role::Assistant);
    let (one, three) = (turn(&scope, 1, "monday", "one"), turn(&scope, 3, "monday", "three"));
    store_turns(&store, &scope, 1, &[&one, &answer, &three]).await;
    store_turns(&store, &scope, 2, &[&outside]).await;
    store_turns(&store, &scope, 3, &[&memory(&scope, 9, "no turn")]).await;
    let monday = Some("monday".to_owned());
    assert_eq!(pending_sessions(&store, &scope).await, [(monday.clone(), 3, 2), (None, 1, 1)]);
    let lease = store.queue().claim(&claim_request("a", 5, None)).await.unwrap().unwrap();
    assert_eq!((&lease.scope, &lease.session), (&scope, &monday));
    let first = unread_turns(&store, &lease, 2).await;
    assert_eq!((texts(&first.turns), first.context.len()), (vec!["one", "二"], 0));
    let tea = extracted_memory(&scope, 10, "likes tea", &[&one]);
    store.apply(extraction_write(&lease, &first, 6, vec![add(&tea)])).await.unwrap();
    assert_eq!(pending_sessions(&store, &scope).await, [(monday.clone(), 1, 1), (None, 1, 1)]);
    let again = store.queue().claim(&claim_request("a", 7, None)).await.unwrap().unwrap();
    let rest = unread_turns(&store, &again, 10).await;
    assert_eq!((texts(&rest.context), texts(&rest.turns)), (vec!["one", "二"], vec!["three"]));
    store.apply(extraction_write(&again, &rest, 8, vec![])).await.unwrap();
    let last = store.queue().claim(&claim_request("a", 9, None)).await.unwrap().unwrap();
    let outside = unread_turns(&store, &last, 10).await;
    assert_eq!((last.session.as_ref(), texts(&outside.turns)), (None, vec!["outside"]));
    store.apply(extraction_write(&last, &outside, 10, vec![])).await.unwrap();
    assert_eq!(pending_sessions(&store, &scope).await, []);
    assert_eq!(store.queue().claim(&claim_request("a", 11, None)).await.unwrap(), None);
    assert_eq!(store.index().inconsistencies(&scope).await.unwrap(), Vec::<String>::new());
}

pub(crate) async fn what_was_read_is_not_read_again(store: TestStore) {
    let scope = test_scope("ann");
    store_turns(&store, &scope, 1, &[&turn(&scope, 1, "monday", "one")]).await;
    let slow = store.queue().claim(&claim_request("slow", 2, None)).await.unwrap().unwrap();
    let turns = unread_turns(&store, &slow, 10).await;
    // The lease of the slow reader ends; another takes over and is done first.
    let quick = store.queue().claim(&claim_request("quick", 100, None)).await.unwrap().unwrap();
    let tea = |number| add(&extracted_memory(&scope, number, "likes tea", &[]));
    let late = store.apply(extraction_write(&slow, &turns, 101, vec![tea(7)])).await;
    assert!(matches!(late, Err(Error::Conflict { .. })), "{late:?}");
    store.apply(extraction_write(&quick, &turns, 102, vec![tea(8)])).await.unwrap();
    for lease in [&slow, &quick] {
        let again = store.apply(extraction_write(lease, &turns, 103, vec![tea(9)])).await;
        assert!(matches!(again, Err(Error::Conflict { .. })), "{again:?}");
    }
    let page = ListQuery {
        filter: MemoryFilter { kinds: vec![Kind::User], ..MemoryFilter::default() },
        after: None,
        order: ListOrder::OldestFirst,
        limit: 10,
    };
    assert_eq!(store.memories().list(&scope, &page).await.unwrap().len(), 1);
}

pub(crate) async fn one_session_of_a_scope_is_read_at_a_time(store: TestStore) {
    let (ann, bob) = (test_scope("ann"), test_scope("bob"));
    store_turns(
        &store,
        &ann,
        1,
        &[&turn(&ann, 1, "monday", "one"), &turn(&ann, 2, "tuesday", "two")],
    )
    .await;
    store_turns(&store, &bob, 2, &[&turn(&bob, 3, "monday", "three")]).await;
    let first = store.queue().claim(&claim_request("a", 5, None)).await.unwrap().unwrap();
    let second = store.queue().claim(&claim_request("b", 6, None)).await.unwrap().unwrap();
    assert_eq!((&first.scope, &second.scope), (&ann, &bob));
    assert_eq!(store.queue().claim(&claim_request("c", 7, None)).await.unwrap(), None);
    store.queue().release(&first, None).await.unwrap();
    // A reader that lost its lease does not end the lease of another.
    let third = store.queue().claim(&claim_request("c", 8, None)).await.unwrap().unwrap();
    store.queue().release(&first, None).await.unwrap();
    assert_eq!(store.queue().claim(&claim_request("d", 9, None)).await.unwrap(), None);
    assert_eq!(third.scope, ann);
    let only = ClaimRequest { scope: Some(bob.clone()), ..claim_request("e", 300, None) };
    assert_eq!(store.queue().claim(&only).await.unwrap().unwrap().scope, bob);
    let named = ClaimRequest {
        scope: Some(ann.clone()),
        session: Some(Some("tuesday".into())),
        ..claim_request("f", 300, None)
    };
    let named = store.queue().claim(&named).await.unwrap().unwrap();
    assert_eq!(named.session.as_deref(), Some("tuesday"));
}

pub(crate) async fn a_failed_session_waits_for_its_next_try(store: TestStore) {
    let scope = test_scope("ann");
    store_turns(&store, &scope, 1, &[&turn(&scope, 1, "monday", "one")]).await;
    store.queue().mark_ended(&scope, "monday", time(2)).await.unwrap();
    let lease =
        store.queue().claim(&claim_request("a", 3, Some(DUE_POLICY))).await.unwrap().unwrap();
    let failure =
        CaptureFailure { error: "no answer".into(), is_invalid: true, retry_at: time(100) };
    store.queue().release(&lease, Some(&failure)).await.unwrap();
    assert_eq!(store.queue().claim(&claim_request("a", 99, Some(DUE_POLICY))).await.unwrap(), None);
    let again =
        store.queue().claim(&claim_request("a", 100, Some(DUE_POLICY))).await.unwrap().unwrap();
    assert_eq!((again.failures, again.invalid), (1, 1));
    let offline =
        CaptureFailure { error: "offline".into(), is_invalid: false, retry_at: time(900) };
    store.queue().release(&again, Some(&offline)).await.unwrap();
    let session = store.queue().pending(Some(&scope)).await.unwrap().remove(0);
    assert_eq!((session.failures, session.invalid, session.retry_at), (2, 1, Some(time(900))));
    assert_eq!((session.error.as_deref(), session.leased_until), (Some("offline"), None));
    // A claim by hand does not wait.
    let by_hand = store.queue().claim(&claim_request("a", 101, None)).await.unwrap().unwrap();
    let turns = unread_turns(&store, &by_hand, 10).await;
    store.apply(extraction_write(&by_hand, &turns, 102, vec![])).await.unwrap();
    store_turns(&store, &scope, 103, &[&turn(&scope, 2, "monday", "two")]).await;
    let session = store.queue().pending(Some(&scope)).await.unwrap().remove(0);
    assert_eq!((session.failures, session.error, session.ended_at), (0, None, None));
}

pub(crate) async fn sessions_are_due_when_they_should_be(store: TestStore) {
    let scope = test_scope("ann");
    let due = async |second| {
        let lease =
            store.queue().claim(&claim_request("a", second, Some(DUE_POLICY))).await.unwrap();
        if let Some(lease) = &lease {
            store.queue().release(lease, None).await.unwrap();
        }
        lease.is_some()
    };
    assert!(!store.queue().mark_ended(&scope, "monday", time(0)).await.unwrap());
    store_turns(&store, &scope, 1, &[&turn(&scope, 1, "monday", "one")]).await;
    assert!(!due(2).await && due(601).await, "quiet");
    assert!(store.queue().mark_ended(&scope, "monday", time(3)).await.unwrap());
    assert!(due(4).await, "ended");
    store_turns(&store, &scope, 5, &[&turn(&scope, 2, "monday", "two")]).await;
    assert!(due(6).await, "enough");
    let lease =
        store.queue().claim(&claim_request("a", 7, Some(DUE_POLICY))).await.unwrap().unwrap();
    let turns = unread_turns(&store, &lease, 10).await;
    store.apply(extraction_write(&lease, &turns, 8, vec![])).await.unwrap();
    let more = [turn(&scope, 3, "monday", "three"), turn(&scope, 4, "monday", "four")];
    store_turns(&store, &scope, 9, &[&more[0], &more[1]]).await;
    assert!(!due(37).await && due(38).await, "merged");
    store.queue().mark_ended(&scope, "monday", time(10)).await.unwrap();
    assert!(due(11).await, "ended, so not merged");
}

pub(crate) async fn removed_turns_wait_no_longer(store: TestStore) {
    let scope = test_scope("ann");
    let (one, two) = (turn(&scope, 1, "monday", "one"), turn(&scope, 2, "monday", "two"));
    store_turns(&store, &scope, 1, &[&one, &two]).await;
    store.apply(write(&scope, 2, vec![Change::Delete(one.id)])).await.unwrap();
    assert_eq!(pending_sessions(&store, &scope).await, [(Some("monday".into()), 1, 1)]);
    store.apply(write(&scope, 3, vec![Change::Erase(two.id)])).await.unwrap();
    assert_eq!(pending_sessions(&store, &scope).await, []);
    let back = Memory { version: 2, ..one.clone() };
    store_turns(&store, &scope, 4, &[&back]).await;
    assert_eq!(pending_sessions(&store, &scope).await, [(Some("monday".into()), 1, 1)]);
    let lease = store.queue().claim(&claim_request("a", 5, None)).await.unwrap().unwrap();
    let turns = unread_turns(&store, &lease, 10).await;
    store.apply(extraction_write(&lease, &turns, 6, vec![])).await.unwrap();
    store.apply(write(&scope, 7, vec![Change::Delete(one.id)])).await.unwrap();
    store_turns(&store, &scope, 8, &[&Memory { version: 3, ..one }]).await;
    assert_eq!(pending_sessions(&store, &scope).await, [], "it was read before it went");
}

pub(crate) async fn an_erased_turn_takes_its_drafts_with_it(store: TestStore) {
    let scope = test_scope("ann");
    let (one, two) = (turn(&scope, 1, "monday", "one"), turn(&scope, 2, "monday", "two"));
    store_turns(&store, &scope, 1, &[&one, &two]).await;
    let lease = store.queue().claim(&claim_request("a", 2, None)).await.unwrap().unwrap();
    let turns = unread_turns(&store, &lease, 10).await;
    let mut done = extraction_write(&lease, &turns, 3, vec![]);
    let drafts = [
        extracted_memory(&scope, 11, "某件事", &[&one]),
        extracted_memory(&scope, 12, "something", &[&two]),
        extracted_memory(&scope, 13, "two", &[]),
    ];
    let all: Vec<_> =
        drafts.iter().map(|it| quarantined_draft(it, GateOutcome::Rejected, 3)).collect();
    done.checkpoint.as_mut().unwrap().quarantined.clone_from(&all);
    store.apply(done).await.unwrap();
    assert_eq!(store.queue().quarantined(&scope).await.unwrap().len(), 3);
    assert_eq!(store.queue().quarantined(&test_scope("bob")).await.unwrap(), []);
    let applied = store.apply(write(&scope, 4, vec![Change::Erase(two.id)])).await.unwrap();
    assert_eq!(applied[0].erasure.unwrap().drafts, 2);
    assert_eq!(store.queue().quarantined(&scope).await.unwrap(), [all[0].clone()]);
}

pub(crate) async fn drafts_are_held_within_limits(store: TestStore) {
    let scope = test_scope("ann");
    let hold = async |second: i64, drafts: Vec<QuarantinedDraft>| {
        let number = second as u8;
        store_turns(&store, &scope, second, &[&turn(&scope, number, "monday", "more")]).await;
        let lease = store.queue().claim(&claim_request("a", second, None)).await.unwrap().unwrap();
        let turns = unread_turns(&store, &lease, 10).await;
        let mut done = extraction_write(&lease, &turns, second, vec![]);
        done.checkpoint.as_mut().unwrap().quarantined = drafts;
        store.apply(done).await.unwrap();
    };
    let draft = |number: u8, content: &str, verdict, second| {
        quarantined_draft(&extracted_memory(&scope, 100 + number, content, &[]), verdict, second)
    };
    use GateOutcome::{Quarantined, Rejected};
    let order = draft(1, "an order", Quarantined, 1);
    hold(1, vec![order.clone(), draft(2, "vague", Rejected, 1)]).await;
    // The same draft again replaces the stored one.
    let again = draft(3, "vague", Rejected, 2);
    hold(2, vec![again.clone()]).await;
    assert_eq!(store.queue().quarantined(&scope).await.unwrap(), [again.clone(), order.clone()]);
    let (other, newest) = (draft(4, "other", Rejected, 3), draft(5, "newest", Rejected, 3));
    hold(3, vec![other.clone(), newest.clone()]).await;
    assert_eq!(
        store.queue().quarantined(&scope).await.unwrap(),
        [newest.clone(), other.clone(), order.clone()],
        "three at most, and what a person should look at stays longest"
    );
    // A draft that becomes a memory leaves the quarantine.
    store.apply(write(&scope, 4, vec![add(&order.memory)])).await.unwrap();
    assert_eq!(store.queue().quarantined(&scope).await.unwrap(), [newest.clone(), other.clone()]);
    assert_eq!(store.queue().drop_quarantined(&scope, &[other.id(), order.id()]).await.unwrap(), 1);
    assert_eq!(
        store.queue().drop_quarantined(&test_scope("bob"), &[newest.id()]).await.unwrap(),
        0
    );
    assert_eq!(store.queue().quarantined(&scope).await.unwrap(), [newest]);
}

pub(crate) async fn memories_are_found_by_slot_and_by_turn(store: TestStore) {
    let scope = test_scope("ann");
    let one = turn(&scope, 1, "monday", "one");
    let slot = |value: &str| Slot {
        subject: USER_SUBJECT.into(),
        attribute: Attribute::Home,
        value: value.into(),
        ended: false,
    };
    let mut home = extracted_memory(&scope, 2, "住在里斯本", &[&one]);
    store_turns(&store, &scope, 1, &[&one, &home]).await;
    let found = async |term| {
        let segments = store.index().postings(&scope, &[term], None).await.unwrap();
        segments.iter().map(|segment| segment.postings[0].len()).sum::<usize>()
    };
    assert_eq!(found(source_turn_term(one.id)).await, 1);
    assert_eq!(found(slot_term(&slot("x"))).await, 0);
    home.metadata.insert(SLOT_KEY.into(), serde_json::to_value(slot("里斯本")).unwrap());
    home.version = 2;
    store.apply(write(&scope, 2, vec![Change::Update(Box::new(home))])).await.unwrap();
    assert_eq!(found(slot_term(&slot("x"))).await, 1, "any value of the same slot");
}

pub(crate) async fn experiences_are_found_by_the_keys_of_their_error(store: TestStore) {
    let scope = test_scope("ann");
    let mut cure = memory(&scope, 1, "Problem: 端口被占用");
    cure.kind = Kind::Experience;
    let found = async |key| {
        let segments = store.index().postings(&scope, &[error_term(key)], None).await.unwrap();
        segments.iter().map(|segment| segment.postings[0].len()).sum::<usize>()
    };
    store.apply(write(&scope, 1, vec![add(&cure)])).await.unwrap();
    assert_eq!(found(7).await, 0);
    // The greatest key that fits into a number of JSON.
    let greatest = (1 << 53) - 1;
    let keyed = Experience { error_keys: vec![7, greatest], ..Experience::default() };
    keyed.store_in(&mut cure.metadata);
    cure.version = 2;
    store.apply(write(&scope, 2, vec![Change::Update(Box::new(cure.clone()))])).await.unwrap();
    assert_eq!((found(7).await, found(greatest).await, found(8).await), (1, 1, 0));
    assert_eq!(store.memories().get(&scope, &[cure.id]).await.unwrap(), [Some(cure)]);
}
