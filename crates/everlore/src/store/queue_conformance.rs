//! What every store must do with what waits to be drawn from conversations.

use std::{collections::BTreeMap, time::Duration};

use super::{
    conformance::{Shared, add, memory, scope, time, turn, write},
    *,
};
use crate::{
    error::Error,
    types::{Attribute, Change, Extracted, Held, HeldAs, HeldLimits, Role, Slot, USER, Via, Write},
};

const DUE: Due = Due {
    exchanges: 2,
    quiet: Duration::from_secs(600),
    apart: Duration::from_secs(30),
    own: BTreeMap::new(),
};

fn claim(owner: &str, second: i64, due: Option<Due>) -> Claim {
    let lease = Duration::from_secs(60);
    Claim { scope: None, session: None, owner: owner.into(), now: time(second), lease, due }
}

fn read(claimed: &Claimed, unread: &Unread, second: i64, changes: Vec<Change>) -> Write {
    let extracted = Extracted {
        session: claimed.session.clone(),
        owner: claimed.owner.clone(),
        from: unread.from,
        to: unread.to,
        held: Vec::new(),
        keep: HeldLimits { most: 3, since: time(0) },
    };
    Write { extracted: Some(extracted), ..write(&claimed.scope, second, changes) }
}

fn drawn(owner: &Scope, number: u8, content: &str, from: &[&Memory]) -> Memory {
    let mut memory = memory(owner, number, content);
    memory.source.via = Via::Extract;
    memory.source.turns = from.iter().map(|turn| turn.id).collect();
    memory
}

fn held(memory: &Memory, verdict: HeldAs, second: i64) -> Held {
    Held {
        memory: Box::new(memory.clone()),
        verdict,
        reason: "it is vague".into(),
        at: time(second),
        run: "extract-1".into(),
        session: Some("monday".into()),
    }
}

async fn said(store: &Shared, owner: &Scope, second: i64, turns: &[&Memory]) {
    let turns = turns.iter().map(|turn| add(turn)).collect();
    store.apply(write(owner, second, turns)).await.unwrap();
}

/// Sessions that wait, with how many turns.
async fn waiting(store: &Shared, owner: &Scope) -> Vec<(Option<String>, usize, usize)> {
    let waiting = store.waiting(Some(owner)).await.unwrap();
    waiting.into_iter().map(|it| (it.session, it.turns, it.exchanges)).collect()
}

async fn unread(store: &Shared, claimed: &Claimed, limit: usize) -> Unread {
    store.unread_turns(&claimed.scope, claimed.session.as_deref(), limit).await.unwrap()
}

fn texts(turns: &[Memory]) -> Vec<&str> {
    turns.iter().map(|turn| turn.content.as_str()).collect()
}

/// Reads up to three turns of the session that waits longest.
pub(super) async fn read_some_turns(store: &Shared, owner: &Scope, second: i64) {
    let claim = Claim { scope: Some(owner.clone()), ..claim("mirror", second, None) };
    if let Some(claimed) = store.claim(&claim).await.unwrap() {
        let turns = unread(store, &claimed, 3).await;
        store.apply(read(&claimed, &turns, second, vec![])).await.unwrap();
    }
}

pub(crate) async fn a_turn_waits_until_it_was_read(store: Shared) {
    let owner = scope("ann");
    let mut outside = turn(&owner, 4, "x", "outside");
    outside.source.session = None;
    let mut answer = turn(&owner, 2, "monday", "二");
    answer.source.role = Some(Role::Assistant);
    let (one, three) = (turn(&owner, 1, "monday", "one"), turn(&owner, 3, "monday", "three"));
    said(&store, &owner, 1, &[&one, &answer, &three]).await;
    said(&store, &owner, 2, &[&outside]).await;
    said(&store, &owner, 3, &[&memory(&owner, 9, "no turn")]).await;
    let monday = Some("monday".to_owned());
    assert_eq!(waiting(&store, &owner).await, [(monday.clone(), 3, 2), (None, 1, 1)]);
    let claimed = store.claim(&claim("a", 5, None)).await.unwrap().unwrap();
    assert_eq!((&claimed.scope, &claimed.session), (&owner, &monday));
    let first = unread(&store, &claimed, 2).await;
    assert_eq!((texts(&first.turns), first.before.len()), (vec!["one", "二"], 0));
    let tea = drawn(&owner, 10, "likes tea", &[&one]);
    store.apply(read(&claimed, &first, 6, vec![add(&tea)])).await.unwrap();
    assert_eq!(waiting(&store, &owner).await, [(monday.clone(), 1, 1), (None, 1, 1)]);
    let again = store.claim(&claim("a", 7, None)).await.unwrap().unwrap();
    let rest = unread(&store, &again, 10).await;
    assert_eq!((texts(&rest.before), texts(&rest.turns)), (vec!["one", "二"], vec!["three"]));
    store.apply(read(&again, &rest, 8, vec![])).await.unwrap();
    let last = store.claim(&claim("a", 9, None)).await.unwrap().unwrap();
    let outside = unread(&store, &last, 10).await;
    assert_eq!((last.session.as_ref(), texts(&outside.turns)), (None, vec!["outside"]));
    store.apply(read(&last, &outside, 10, vec![])).await.unwrap();
    assert_eq!(waiting(&store, &owner).await, []);
    assert_eq!(store.claim(&claim("a", 11, None)).await.unwrap(), None);
    assert_eq!(store.check(&owner).await.unwrap(), Vec::<String>::new());
}

pub(crate) async fn what_was_read_is_not_read_again(store: Shared) {
    let owner = scope("ann");
    said(&store, &owner, 1, &[&turn(&owner, 1, "monday", "one")]).await;
    let slow = store.claim(&claim("slow", 2, None)).await.unwrap().unwrap();
    let turns = unread(&store, &slow, 10).await;
    // The lease of the slow one ends, another takes over and is done first.
    let quick = store.claim(&claim("quick", 100, None)).await.unwrap().unwrap();
    let tea = |number| add(&drawn(&owner, number, "likes tea", &[]));
    let late = store.apply(read(&slow, &turns, 101, vec![tea(7)])).await;
    assert!(matches!(late, Err(Error::Conflict { .. })), "{late:?}");
    store.apply(read(&quick, &turns, 102, vec![tea(8)])).await.unwrap();
    for claimed in [&slow, &quick] {
        let again = store.apply(read(claimed, &turns, 103, vec![tea(9)])).await;
        assert!(matches!(again, Err(Error::Conflict { .. })), "{again:?}");
    }
    let page = Page {
        filter: Filter { kinds: vec![Kind::User], ..Filter::default() },
        after: None,
        order: Order::OldestFirst,
        limit: 10,
    };
    assert_eq!(store.list(&owner, &page).await.unwrap().len(), 1);
}

pub(crate) async fn one_session_of_a_scope_is_read_at_a_time(store: Shared) {
    let (ann, bob) = (scope("ann"), scope("bob"));
    said(&store, &ann, 1, &[&turn(&ann, 1, "monday", "one"), &turn(&ann, 2, "tuesday", "two")])
        .await;
    said(&store, &bob, 2, &[&turn(&bob, 3, "monday", "three")]).await;
    let first = store.claim(&claim("a", 5, None)).await.unwrap().unwrap();
    let second = store.claim(&claim("b", 6, None)).await.unwrap().unwrap();
    assert_eq!((&first.scope, &second.scope), (&ann, &bob));
    assert_eq!(store.claim(&claim("c", 7, None)).await.unwrap(), None);
    store.give_back(&first, None).await.unwrap();
    // Somebody else's lease is not ended by one who lost it.
    let third = store.claim(&claim("c", 8, None)).await.unwrap().unwrap();
    store.give_back(&first, None).await.unwrap();
    assert_eq!(store.claim(&claim("d", 9, None)).await.unwrap(), None);
    assert_eq!(third.scope, ann);
    let only = Claim { scope: Some(bob.clone()), ..claim("e", 300, None) };
    assert_eq!(store.claim(&only).await.unwrap().unwrap().scope, bob);
    let named = Claim {
        scope: Some(ann.clone()),
        session: Some(Some("tuesday".into())),
        ..claim("f", 300, None)
    };
    let named = store.claim(&named).await.unwrap().unwrap();
    assert_eq!(named.session.as_deref(), Some("tuesday"));
}

pub(crate) async fn a_failed_session_waits_for_its_next_try(store: Shared) {
    let owner = scope("ann");
    said(&store, &owner, 1, &[&turn(&owner, 1, "monday", "one")]).await;
    store.announce_end(&owner, "monday", time(2)).await.unwrap();
    let claimed = store.claim(&claim("a", 3, Some(DUE))).await.unwrap().unwrap();
    let failure = Failure { error: "no answer".into(), is_invalid: true, retry_at: time(100) };
    store.give_back(&claimed, Some(&failure)).await.unwrap();
    assert_eq!(store.claim(&claim("a", 99, Some(DUE))).await.unwrap(), None);
    let again = store.claim(&claim("a", 100, Some(DUE))).await.unwrap().unwrap();
    assert_eq!((again.failures, again.invalid), (1, 1));
    let offline = Failure { error: "offline".into(), is_invalid: false, retry_at: time(900) };
    store.give_back(&again, Some(&offline)).await.unwrap();
    let told = store.waiting(Some(&owner)).await.unwrap().remove(0);
    assert_eq!((told.failures, told.invalid, told.retry_at), (2, 1, Some(time(900))));
    assert_eq!((told.error.as_deref(), told.leased_until), (Some("offline"), None));
    // Whoever asks by hand does not wait.
    let by_hand = store.claim(&claim("a", 101, None)).await.unwrap().unwrap();
    let turns = unread(&store, &by_hand, 10).await;
    store.apply(read(&by_hand, &turns, 102, vec![])).await.unwrap();
    said(&store, &owner, 103, &[&turn(&owner, 2, "monday", "two")]).await;
    let told = store.waiting(Some(&owner)).await.unwrap().remove(0);
    assert_eq!((told.failures, told.error, told.ended_at), (0, None, None));
}

pub(crate) async fn sessions_are_due_when_they_should_be(store: Shared) {
    let owner = scope("ann");
    let due = async |second| {
        let claimed = store.claim(&claim("a", second, Some(DUE))).await.unwrap();
        if let Some(claimed) = &claimed {
            store.give_back(claimed, None).await.unwrap();
        }
        claimed.is_some()
    };
    assert!(!store.announce_end(&owner, "monday", time(0)).await.unwrap());
    said(&store, &owner, 1, &[&turn(&owner, 1, "monday", "one")]).await;
    assert!(!due(2).await && due(601).await, "quiet");
    assert!(store.announce_end(&owner, "monday", time(3)).await.unwrap());
    assert!(due(4).await, "ended");
    said(&store, &owner, 5, &[&turn(&owner, 2, "monday", "two")]).await;
    assert!(due(6).await, "enough");
    let claimed = store.claim(&claim("a", 7, Some(DUE))).await.unwrap().unwrap();
    let turns = unread(&store, &claimed, 10).await;
    store.apply(read(&claimed, &turns, 8, vec![])).await.unwrap();
    let more = [turn(&owner, 3, "monday", "three"), turn(&owner, 4, "monday", "four")];
    said(&store, &owner, 9, &[&more[0], &more[1]]).await;
    assert!(!due(37).await && due(38).await, "merged");
    store.announce_end(&owner, "monday", time(10)).await.unwrap();
    assert!(due(11).await, "ended, so not merged");
}

pub(crate) async fn removed_turns_wait_no_longer(store: Shared) {
    let owner = scope("ann");
    let (one, two) = (turn(&owner, 1, "monday", "one"), turn(&owner, 2, "monday", "two"));
    said(&store, &owner, 1, &[&one, &two]).await;
    store.apply(write(&owner, 2, vec![Change::Delete(one.id)])).await.unwrap();
    assert_eq!(waiting(&store, &owner).await, [(Some("monday".into()), 1, 1)]);
    store.apply(write(&owner, 3, vec![Change::Erase(two.id)])).await.unwrap();
    assert_eq!(waiting(&store, &owner).await, []);
    let back = Memory { version: 2, ..one.clone() };
    said(&store, &owner, 4, &[&back]).await;
    assert_eq!(waiting(&store, &owner).await, [(Some("monday".into()), 1, 1)]);
    let claimed = store.claim(&claim("a", 5, None)).await.unwrap().unwrap();
    let turns = unread(&store, &claimed, 10).await;
    store.apply(read(&claimed, &turns, 6, vec![])).await.unwrap();
    store.apply(write(&owner, 7, vec![Change::Delete(one.id)])).await.unwrap();
    said(&store, &owner, 8, &[&Memory { version: 3, ..one }]).await;
    assert_eq!(waiting(&store, &owner).await, [], "it was read before it went");
}

pub(crate) async fn an_erased_turn_takes_its_drafts_with_it(store: Shared) {
    let owner = scope("ann");
    let (one, two) = (turn(&owner, 1, "monday", "one"), turn(&owner, 2, "monday", "two"));
    said(&store, &owner, 1, &[&one, &two]).await;
    let claimed = store.claim(&claim("a", 2, None)).await.unwrap().unwrap();
    let turns = unread(&store, &claimed, 10).await;
    let mut done = read(&claimed, &turns, 3, vec![]);
    let drafts = [
        drawn(&owner, 11, "某件事", &[&one]),
        drawn(&owner, 12, "something", &[&two]),
        drawn(&owner, 13, "two", &[]),
    ];
    let all: Vec<_> = drafts.iter().map(|it| held(it, HeldAs::Rejected, 3)).collect();
    done.extracted.as_mut().unwrap().held.clone_from(&all);
    store.apply(done).await.unwrap();
    assert_eq!(store.held(&owner).await.unwrap().len(), 3);
    assert_eq!(store.held(&scope("bob")).await.unwrap(), []);
    let applied = store.apply(write(&owner, 4, vec![Change::Erase(two.id)])).await.unwrap();
    assert_eq!(applied[0].erased.unwrap().drafts, 2);
    assert_eq!(store.held(&owner).await.unwrap(), [all[0].clone()]);
}

pub(crate) async fn drafts_are_held_within_limits(store: Shared) {
    let owner = scope("ann");
    let hold = async |second: i64, drafts: Vec<Held>| {
        let number = second as u8;
        said(&store, &owner, second, &[&turn(&owner, number, "monday", "more")]).await;
        let claimed = store.claim(&claim("a", second, None)).await.unwrap().unwrap();
        let turns = unread(&store, &claimed, 10).await;
        let mut done = read(&claimed, &turns, second, vec![]);
        done.extracted.as_mut().unwrap().held = drafts;
        store.apply(done).await.unwrap();
    };
    let draft = |number: u8, content: &str, verdict, second| {
        held(&drawn(&owner, 100 + number, content, &[]), verdict, second)
    };
    use HeldAs::{Quarantined, Rejected};
    let order = draft(1, "an order", Quarantined, 1);
    hold(1, vec![order.clone(), draft(2, "vague", Rejected, 1)]).await;
    // The same again takes the place of what was there.
    let again = draft(3, "vague", Rejected, 2);
    hold(2, vec![again.clone()]).await;
    assert_eq!(store.held(&owner).await.unwrap(), [again.clone(), order.clone()]);
    let (other, newest) = (draft(4, "other", Rejected, 3), draft(5, "newest", Rejected, 3));
    hold(3, vec![other.clone(), newest.clone()]).await;
    assert_eq!(
        store.held(&owner).await.unwrap(),
        [newest.clone(), other.clone(), order.clone()],
        "three at most, and what a person should look at stays longest"
    );
    // One that becomes a memory is held no longer.
    store.apply(write(&owner, 4, vec![add(&order.memory)])).await.unwrap();
    assert_eq!(store.held(&owner).await.unwrap(), [newest.clone(), other.clone()]);
    assert_eq!(store.drop_held(&owner, &[other.id(), order.id()]).await.unwrap(), 1);
    assert_eq!(store.drop_held(&scope("bob"), &[newest.id()]).await.unwrap(), 0);
    assert_eq!(store.held(&owner).await.unwrap(), [newest]);
}

pub(crate) async fn memories_are_found_by_slot_and_by_turn(store: Shared) {
    let owner = scope("ann");
    let one = turn(&owner, 1, "monday", "one");
    let slot = |value: &str| Slot {
        subject: USER.into(),
        attribute: Attribute::Home,
        value: value.into(),
        ended: false,
    };
    let mut home = drawn(&owner, 2, "住在里斯本", &[&one]);
    said(&store, &owner, 1, &[&one, &home]).await;
    let found = async |term| {
        let segments = store.postings(&owner, &[term], None).await.unwrap();
        segments.iter().map(|segment| segment.postings[0].len()).sum::<usize>()
    };
    assert_eq!(found(drawn_from_term(one.id)).await, 1);
    assert_eq!(found(slot_term(&slot("x"))).await, 0);
    home.metadata.insert(SLOT_KEY.into(), serde_json::to_value(slot("里斯本")).unwrap());
    home.version = 2;
    store.apply(write(&owner, 2, vec![Change::Update(Box::new(home))])).await.unwrap();
    assert_eq!(found(slot_term(&slot("x"))).await, 1, "any value of the same slot");
}
