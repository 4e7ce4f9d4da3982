//! What every store must do. A backend's tests are `suite!(fresh)`, where `fresh` makes an empty store.

use std::{collections::BTreeMap, sync::Arc};

use proptest::{prelude::*, test_runner::TestRunner};

use super::*;
use crate::{
    error::Error,
    types::{Actor, Change, Op, Source, Vectors, Via},
};

/// Makes a test of each case for the store that `$fresh` makes.
macro_rules! suite {
    ($fresh:ident) => {
        crate::store::conformance::suite!(@cases $fresh:
            what_is_added_can_be_read_back,
            an_id_or_a_uri_is_taken_only_once,
            a_change_against_an_older_version_is_refused,
            what_never_changes_cannot_be_changed,
            a_batch_is_applied_whole_or_not_at_all,
            a_memory_of_another_scope_is_refused,
            scopes_know_nothing_of_each_other,
            lists_are_filtered_paged_and_newest_first,
            keys_find_what_they_name,
            the_journal_tells_before_and_after,
            the_past_can_be_read,
            erasing_leaves_no_text_anywhere,
            a_deleted_memory_can_be_erased_too,
            a_memory_that_returns_stands_where_it_stood,
            concurrent_writes_all_survive,
            vectors_are_kept_with_their_texts,
            vectors_of_two_models_never_mix,
            what_has_no_vector_yet_gets_one,
            an_erased_memory_leaves_no_vector,
            words_are_kept_until_their_text_changes,
            words_of_two_models_never_mix,
            an_erased_memory_leaves_no_words,
            a_turn_waits_until_it_was_read,
            what_was_read_is_not_read_again,
            one_session_of_a_scope_is_read_at_a_time,
            a_failed_session_waits_for_its_next_try,
            sessions_are_due_when_they_should_be,
            removed_turns_wait_no_longer,
            an_erased_turn_takes_its_drafts_with_it,
            drafts_are_held_within_limits,
            memories_are_found_by_slot_and_by_turn,
            uris_are_walked_in_order_a_page_at_a_time,
            places_are_those_of_a_folder_or_of_ids_and_of_nothing_else,
            conversations_are_walked_turn_by_turn,
            the_trees_of_two_scopes_never_meet,
        );
        crate::store::conformance::suite!(@life $fresh:
            what_prompts_were_given_is_kept_until_it_is_answered,
            the_usage_log_is_bounded_by_count_and_age,
            an_erased_memory_leaves_no_line_and_a_deleted_one_its_sketch,
            the_ledger_adds_up_by_day_scope_and_job,
            of_many_who_begin_a_job_one_does_it,
            packing_loses_nothing,
            what_a_tool_tells_belongs_to_the_prompt_before_it,
        );

        #[test]
        fn random_changes_leave_the_same_as_in_ram() {
            crate::store::conformance::mirror(|| Box::pin($fresh()));
        }
    };
    (@life $fresh:ident: $($case:ident),* $(,)?) => {
        $(#[tokio::test]
        async fn $case() {
            crate::store::life_conformance::$case($fresh().await).await;
        })*
    };
    (@cases $fresh:ident: $($case:ident),* $(,)?) => {
        $(#[tokio::test]
        async fn $case() {
            crate::store::conformance::$case($fresh().await).await;
        })*
    };
}
pub(crate) use suite;

pub(super) type Shared = Arc<dyn Store>;

use super::queue_conformance::read_some_turns;
pub(crate) use super::{queue_conformance::*, tree_conformance::*};

pub(super) fn scope(user: &str) -> Scope {
    Scope::new("tester", user).unwrap()
}

pub(super) fn time(second: i64) -> Timestamp {
    Timestamp::from_second(1_790_000_000 + second).unwrap()
}

/// A memory told apart by its number; ids rise with it.
pub(super) fn memory(owner: &Scope, number: u8, content: &str) -> Memory {
    let mut id = [7; 16];
    id[0] = number;
    Memory {
        id: MemoryId::from_bytes(id),
        uri: format!("agent://tester/user/{number}"),
        scope: owner.clone(),
        kind: Kind::User,
        name: format!("name {number}"),
        description: String::new(),
        content: content.into(),
        tags: vec!["标签".into()],
        importance: 0.5,
        confidence: 1.0,
        weight: 1.0,
        status: Status::Active,
        metadata: serde_json::Map::from_iter([("n".to_owned(), number.into())]),
        source: Source {
            via: Via::Remember,
            session: None,
            speaker: None,
            role: None,
            turns: vec![],
        },
        at: time(number.into()),
        created_at: time(number.into()),
        updated_at: time(number.into()),
        last_used_at: None,
        superseded_by: None,
        version: 1,
    }
}

pub(super) fn turn(owner: &Scope, number: u8, session: &str, content: &str) -> Memory {
    let mut turn = memory(owner, number, content);
    turn.kind = Kind::Turn;
    turn.uri = format!("agent://tester/turn/{session}/{}", turn.id);
    turn.source.session = Some(session.into());
    turn.source.speaker = Some("Caroline".into());
    turn
}

fn edited(memory: &Memory, content: &str) -> Memory {
    Memory { content: content.into(), version: memory.version + 1, ..memory.clone() }
}

pub(super) fn write(owner: &Scope, second: i64, changes: Vec<Change>) -> Write {
    Write::new(owner, Actor::Person, "test", time(second), changes)
}

pub(super) fn add(memory: &Memory) -> Change {
    Change::Add(Box::new(memory.clone()))
}

fn update(memory: &Memory) -> Change {
    Change::Update(Box::new(memory.clone()))
}

async fn all(store: &Shared, owner: &Scope) -> Vec<Memory> {
    let page =
        Page { filter: Filter::default(), after: None, order: Order::NewestFirst, limit: 10_000 };
    store.list(owner, &page).await.unwrap()
}

/// The places and counts of each term, whatever the segments.
async fn found(
    store: &Shared,
    owner: &Scope,
    words: &[&str],
) -> Vec<BTreeMap<Place, [u8; FIELDS]>> {
    let terms: Vec<_> = words.iter().map(|word| Term::of(word)).collect();
    let mut found = vec![BTreeMap::new(); terms.len()];
    for segment in store.postings(owner, &terms, None).await.unwrap() {
        for (list, found) in segment.postings.iter().zip(&mut found) {
            for posting in list {
                assert!(!segment.docs.is_gone(posting.doc as usize));
                let previous =
                    found.insert(segment.docs.place(posting.doc as usize), posting.counts);
                assert_eq!(previous, None, "a place is in two segments");
            }
        }
    }
    found
}

pub(crate) async fn what_is_added_can_be_read_back(store: Shared) {
    let owner = scope("ann");
    let (tea, talk) =
        (memory(&owner, 1, "likes 龙井茶"), turn(&owner, 2, "monday", "hello Caroline"));
    store.apply(write(&owner, 1, vec![add(&tea), add(&talk)])).await.unwrap();
    assert_eq!(
        store.get(&owner, &[talk.id, tea.id]).await.unwrap(),
        [Some(talk.clone()), Some(tea.clone())]
    );
    assert_eq!(store.verify(&owner, &[tea.id, talk.id]).await.unwrap(), [true, true]);
    // The stem of the name.
    let [places] = &found(&store, &owner, &["carolin"]).await[..] else { panic!("one term asked") };
    let (place, counts) = places.first_key_value().unwrap();
    assert_eq!((counts[Field::Content as usize], counts[Field::Speaker as usize]), (1, 1));
    assert_eq!(store.at_places(&owner, &[*place]).await.unwrap(), [(*place, talk)]);
    assert_eq!(store.check(&owner).await.unwrap(), Vec::<String>::new());
}

pub(crate) async fn an_id_or_a_uri_is_taken_only_once(store: Shared) {
    let owner = scope("ann");
    let first = memory(&owner, 1, "one");
    store.apply(write(&owner, 1, vec![add(&first)])).await.unwrap();
    let same_id = Memory { uri: "agent://tester/user/other".into(), ..first.clone() };
    let same_uri = Memory { uri: first.uri.clone(), ..memory(&owner, 2, "two") };
    for bad in [same_id, same_uri] {
        let answer = store.apply(write(&owner, 2, vec![add(&bad)])).await;
        assert!(matches!(answer, Err(Error::Conflict { .. })), "{answer:?}");
    }
    assert_eq!(all(&store, &owner).await, [first]);
}

pub(crate) async fn a_change_against_an_older_version_is_refused(store: Shared) {
    let owner = scope("ann");
    let first = memory(&owner, 1, "one");
    let second = edited(&first, "two");
    store.apply(write(&owner, 1, vec![add(&first)])).await.unwrap();
    store.apply(write(&owner, 2, vec![update(&second)])).await.unwrap();
    let late = store.apply(write(&owner, 3, vec![update(&edited(&first, "three"))])).await;
    assert!(matches!(late, Err(Error::Conflict { .. })), "{late:?}");
    let missing = store.apply(write(&owner, 4, vec![update(&memory(&owner, 9, "x"))])).await;
    assert!(matches!(missing, Err(Error::NotFound { .. })), "{missing:?}");
    assert_eq!(all(&store, &owner).await, [second]);
}

pub(crate) async fn what_never_changes_cannot_be_changed(store: Shared) {
    let owner = scope("ann");
    let first = memory(&owner, 1, "one");
    store.apply(write(&owner, 1, vec![add(&first)])).await.unwrap();
    let moved = Memory { uri: "agent://tester/user/x".into(), ..edited(&first, "one") };
    let mut spoken = edited(&first, "one");
    spoken.source.session = Some("monday".into());
    let turned = Memory { kind: Kind::Turn, ..edited(&first, "one") };
    for bad in [moved, spoken, turned] {
        let answer = store.apply(write(&owner, 2, vec![update(&bad)])).await;
        assert!(matches!(answer, Err(Error::Invalid { .. })), "{answer:?}");
    }
}

pub(crate) async fn a_batch_is_applied_whole_or_not_at_all(store: Shared) {
    let owner = scope("ann");
    let missing = memory(&owner, 9, "x").id;
    let changes = vec![add(&memory(&owner, 1, "one")), Change::Delete(missing)];
    let answer = store.apply(write(&owner, 1, changes)).await;
    assert!(matches!(answer, Err(Error::NotFound { .. })), "{answer:?}");
    assert_eq!(all(&store, &owner).await, []);
    assert_eq!(store.journal(&owner, &JournalQuery::default()).await.unwrap(), []);
    assert_eq!(found(&store, &owner, &["one"]).await, [BTreeMap::new()]);
}

pub(crate) async fn a_memory_of_another_scope_is_refused(store: Shared) {
    let answer =
        store.apply(write(&scope("ann"), 1, vec![add(&memory(&scope("ben"), 1, "x"))])).await;
    assert!(matches!(answer, Err(Error::Invalid { .. })), "{answer:?}");
}

pub(crate) async fn scopes_know_nothing_of_each_other(store: Shared) {
    let (ann, ben) = (scope("ann"), scope("ben"));
    let secret = memory(&ann, 1, "secret 秘密");
    store.apply(write(&ann, 1, vec![add(&secret)])).await.unwrap();
    let erased = memory(&ann, 2, "erased");
    store.apply(write(&ann, 2, vec![add(&erased), Change::Erase(erased.id)])).await.unwrap();
    assert_eq!(store.get(&ben, &[secret.id]).await.unwrap(), [None]);
    assert_eq!(store.verify(&ben, &[secret.id]).await.unwrap(), [false]);
    for key in
        [Key::IdPrefix("01".into()), Key::Uri(secret.uri.clone()), Key::Text(secret.fingerprint())]
    {
        assert_eq!(store.find(&ann, &key, 10).await.unwrap().len(), 1, "{key:?}");
        assert_eq!(store.find(&ben, &key, 10).await.unwrap(), [], "{key:?}");
    }
    assert_eq!(all(&store, &ben).await, []);
    assert_eq!(found(&store, &ben, &["secret"]).await, [BTreeMap::new()]);
    assert_eq!(store.at_places(&ben, &[Place::new(0, 0)]).await.unwrap(), []);
    assert_eq!(
        store
            .journal(&ben, &JournalQuery { id: Some(secret.id), ..JournalQuery::default() })
            .await
            .unwrap(),
        []
    );
    assert_eq!(store.as_of(&ben, time(9)).await.unwrap(), []);
    assert_eq!(store.erased(&ben, &[erased.fingerprint()]).await.unwrap(), [false]);
    assert_eq!(store.erased(&ann, &[erased.fingerprint()]).await.unwrap(), [true]);
    assert_eq!(store.count(&ben).await.unwrap(), Counts::default());
    for change in [
        Change::Delete(secret.id),
        Change::Erase(secret.id),
        update(&Memory { scope: ben.clone(), ..edited(&secret, "x") }),
    ] {
        let answer = store.apply(write(&ben, 3, vec![change])).await;
        assert!(matches!(answer, Err(Error::NotFound { .. })), "{answer:?}");
    }
    let own = Memory { scope: ben.clone(), content: "mine".into(), ..secret.clone() };
    let applied = store.apply(write(&ben, 4, vec![add(&own)])).await.unwrap();
    assert_eq!(applied[0].seq, 1, "the number of a line tells nothing of other scopes");
    assert_eq!(all(&store, &ann).await, [secret]);
}

pub(crate) async fn lists_are_filtered_paged_and_newest_first(store: Shared) {
    let owner = scope("ann");
    let mut memories =
        [memory(&owner, 1, "one"), memory(&owner, 2, "two"), turn(&owner, 3, "monday", "three")];
    memories[1].kind = Kind::Project;
    memories[1].status = Status::Archived;
    memories[1].tags = vec!["work".into(), "标签".into()];
    store.apply(write(&owner, 1, memories.iter().map(add).collect())).await.unwrap();
    let list = async |filter: Filter| {
        let page = Page { filter, after: None, order: Order::NewestFirst, limit: 10 };
        let found = store.list(&owner, &page).await.unwrap();
        found.into_iter().map(|memory| memory.content).collect::<Vec<_>>()
    };
    let any = Filter::default;
    assert_eq!(list(any()).await, ["three", "two", "one"]);
    assert_eq!(
        list(Filter { kinds: vec![Kind::Project, Kind::Turn], ..any() }).await,
        ["three", "two"]
    );
    assert_eq!(list(Filter { statuses: vec![Status::Active], ..any() }).await, ["three", "one"]);
    assert_eq!(list(Filter { tags: vec!["work".into(), "标签".into()], ..any() }).await, ["two"]);
    assert_eq!(list(Filter { since: Some(time(2)), until: Some(time(3)), ..any() }).await, ["two"]);
    assert_eq!(list(Filter { session: Some("monday".into()), ..any() }).await, ["three"]);
    assert_eq!(list(Filter { turns_until: Some(time(1)), ..any() }).await, ["two", "one"]);
    let page =
        Page { filter: any(), after: Some(memories[2].id), order: Order::NewestFirst, limit: 1 };
    assert_eq!(store.list(&owner, &page).await.unwrap(), [memories[1].clone()]);
    let page = Page { after: Some(memories[0].id), order: Order::OldestFirst, limit: 5, ..page };
    assert_eq!(store.list(&owner, &page).await.unwrap(), memories[1..]);
    let counts = store.count(&owner).await.unwrap();
    let expected = [
        (Kind::User, Status::Active, 1),
        (Kind::Project, Status::Archived, 1),
        (Kind::Turn, Status::Active, 1),
    ];
    assert_eq!((counts.memories, counts.changes), (expected.to_vec(), 3));
}

pub(crate) async fn keys_find_what_they_name(store: Shared) {
    let owner = scope("ann");
    let (one, two) = (memory(&owner, 0x1a, "same"), memory(&owner, 0x1b, "same"));
    let said = turn(&owner, 0x2a, "monday", "same");
    store.apply(write(&owner, 1, vec![add(&one), add(&two), add(&said)])).await.unwrap();
    let find = async |key: Key| store.find(&owner, &key, 10).await.unwrap();
    assert_eq!(find(Key::IdPrefix("1".into())).await, [one.clone(), two.clone()]);
    assert_eq!(find(Key::IdPrefix("1b07".into())).await, std::slice::from_ref(&two));
    assert_eq!(find(Key::IdPrefix("xyz".into())).await, []);
    assert_eq!(find(Key::IdPrefix("1".repeat(40))).await, []);
    assert_eq!(find(Key::Uri(one.uri.clone())).await, std::slice::from_ref(&one));
    assert_eq!(find(Key::Uri(said.uri.clone())).await, []);
    assert_eq!(find(Key::Text(Fingerprint::of(" same "))).await, [one, two]);
}

pub(crate) async fn the_journal_tells_before_and_after(store: Shared) {
    let owner = scope("ann");
    let (one, other) = (memory(&owner, 1, "one"), memory(&owner, 2, "other"));
    let two = edited(&one, "two");
    store.apply(write(&owner, 1, vec![add(&one), add(&other)])).await.unwrap();
    let run = Write {
        run: Some("run-7".into()),
        actor: Actor::Engine,
        cost: 42,
        ..write(&owner, 2, vec![update(&two)])
    };
    store.apply(run).await.unwrap();
    store.apply(write(&owner, 3, vec![Change::Delete(one.id)])).await.unwrap();
    let journal = store
        .journal(&owner, &JournalQuery { id: Some(one.id), ..JournalQuery::default() })
        .await
        .unwrap();
    let images = |entry: &Entry| {
        let text = |image: &Option<Box<Memory>>| image.as_ref().map(|image| image.content.clone());
        (entry.seq, entry.op, text(&entry.before), text(&entry.after))
    };
    let expected = [
        (4, Op::Delete, Some("two".into()), None),
        (3, Op::Update, Some("one".into()), Some("two".into())),
        (1, Op::Add, None, Some("one".into())),
    ];
    assert_eq!(journal.iter().map(images).collect::<Vec<_>>(), expected);
    assert_eq!((journal[1].actor, journal[1].cost, journal[1].at), (Actor::Engine, 42, time(2)));
    let read = async |query: JournalQuery| store.journal(&owner, &query).await.unwrap();
    let any = JournalQuery::default;
    let whole = read(any()).await;
    assert_eq!(whole.iter().map(|entry| entry.seq).collect::<Vec<_>>(), [4, 3, 2, 1]);
    assert_eq!(images(&whole[2]), (2, Op::Add, None, Some("other".into())));
    assert_eq!(
        read(JournalQuery { run: Some("run-7".into()), ..any() }).await,
        [journal[1].clone()]
    );
    assert_eq!(read(JournalQuery { seq: Some(1), ..any() }).await, [journal[2].clone()]);
    assert_eq!(
        read(JournalQuery { before: Some(4), limit: Some(1), ..any() }).await,
        [journal[1].clone()]
    );
}

pub(crate) async fn the_past_can_be_read(store: Shared) {
    let owner = scope("ann");
    let (one, two) = (memory(&owner, 1, "one"), memory(&owner, 2, "two"));
    let changed = edited(&one, "one, changed");
    store.apply(write(&owner, 10, vec![add(&one)])).await.unwrap();
    store.apply(write(&owner, 20, vec![add(&two), update(&changed)])).await.unwrap();
    store.apply(write(&owner, 30, vec![Change::Delete(two.id)])).await.unwrap();
    assert_eq!(store.as_of(&owner, time(9)).await.unwrap(), []);
    assert_eq!(store.as_of(&owner, time(10)).await.unwrap(), std::slice::from_ref(&one));
    assert_eq!(store.as_of(&owner, time(29)).await.unwrap(), [changed.clone(), two]);
    assert_eq!(store.as_of(&owner, time(99)).await.unwrap(), [changed]);
}

pub(crate) async fn erasing_leaves_no_text_anywhere(store: Shared) {
    let owner = scope("ann");
    let (one, other) = (memory(&owner, 1, "alpha beta"), memory(&owner, 2, "alpha"));
    let two = edited(&one, "gamma beta");
    store.apply(write(&owner, 1, vec![add(&one), add(&other), update(&two)])).await.unwrap();
    let applied = store.apply(write(&owner, 2, vec![Change::Erase(one.id)])).await.unwrap();
    let erased = applied[0].erased.unwrap();
    assert_eq!((erased.rows, erased.journal_images, erased.tombstones), (1, 1, 2));
    assert!(erased.index_terms >= 2, "{erased:?}");
    assert_eq!(store.get(&owner, &[one.id]).await.unwrap(), [None]);
    let [alpha, beta, gamma] = &found(&store, &owner, &["alpha", "beta", "gamma"]).await[..] else {
        panic!()
    };
    assert_eq!((alpha.len(), beta.len(), gamma.len()), (1, 0, 0));
    let journal = store.journal(&owner, &JournalQuery::default()).await.unwrap();
    assert!(
        journal
            .iter()
            .filter(|entry| entry.id == one.id)
            .all(|entry| entry.before.is_none() && entry.after.is_none())
    );
    assert_eq!(journal.len(), 4, "that something happened is still told");
    assert_eq!(store.as_of(&owner, time(1)).await.unwrap(), [other]);
    let texts = [one.fingerprint(), two.fingerprint(), Fingerprint::of("alpha")];
    assert_eq!(store.erased(&owner, &texts).await.unwrap(), [true, true, false]);
    assert_eq!(store.tombstones(&owner).await.unwrap().len(), 2);
    let elsewhere =
        Write { erased_texts: vec![Fingerprint::of("elsewhere")], ..write(&owner, 3, vec![]) };
    store.apply(elsewhere).await.unwrap();
    assert_eq!(store.erased(&owner, &[Fingerprint::of("elsewhere")]).await.unwrap(), [true]);
    assert_eq!(store.check(&owner).await.unwrap(), Vec::<String>::new());
}

pub(crate) async fn a_deleted_memory_can_be_erased_too(store: Shared) {
    let owner = scope("ann");
    let one = memory(&owner, 1, "alpha");
    store.apply(write(&owner, 1, vec![add(&one), Change::Delete(one.id)])).await.unwrap();
    let applied = store.apply(write(&owner, 2, vec![Change::Erase(one.id)])).await.unwrap();
    let erased = applied[0].erased.unwrap();
    assert_eq!((erased.rows, erased.journal_images, erased.tombstones), (0, 1, 1));
    assert_eq!(store.as_of(&owner, time(1)).await.unwrap(), []);
    let missing =
        store.apply(write(&owner, 3, vec![Change::Erase(memory(&owner, 9, "x").id)])).await;
    assert!(matches!(missing, Err(Error::NotFound { .. })), "{missing:?}");
}

pub(crate) async fn a_memory_that_returns_stands_where_it_stood(store: Shared) {
    let owner = scope("ann");
    let turns: Vec<_> = (1..=3).map(|number| turn(&owner, number, "monday", "alpha")).collect();
    store.apply(write(&owner, 1, turns.iter().map(add).collect())).await.unwrap();
    let before = found(&store, &owner, &["alpha"]).await;
    store.apply(write(&owner, 2, vec![Change::Delete(turns[1].id)])).await.unwrap();
    assert_eq!(found(&store, &owner, &["alpha"]).await[0].len(), 2);
    let back = Memory { version: 2, ..turns[1].clone() };
    store.apply(write(&owner, 3, vec![add(&back)])).await.unwrap();
    assert_eq!(found(&store, &owner, &["alpha"]).await, before);
    let journal = store
        .journal(&owner, &JournalQuery { id: Some(back.id), ..JournalQuery::default() })
        .await
        .unwrap();
    assert_eq!(journal.len(), 3);
}

pub(crate) async fn concurrent_writes_all_survive(store: Shared) {
    let owner = scope("ann");
    let writes: Vec<_> = (0..100u8)
        .map(|number| {
            let (store, owner) = (Arc::clone(&store), owner.clone());
            tokio::spawn(async move {
                store
                    .apply(write(&owner, 1, vec![add(&turn(&owner, number, "monday", "alpha"))]))
                    .await
            })
        })
        .collect();
    let mut seqs = Vec::new();
    for write in writes {
        seqs.push(write.await.unwrap().unwrap()[0].seq);
    }
    seqs.sort_unstable();
    assert_eq!(seqs, (1..=100).collect::<Vec<u64>>());
    assert_eq!(found(&store, &owner, &["alpha"]).await[0].len(), 100);
    assert_eq!(store.check(&owner).await.unwrap(), Vec::<String>::new());
}

fn model(name: &str) -> ModelId {
    ModelId { name: name.into(), dimensions: 4 }
}

/// A vector that tells texts apart.
fn vector(text: &str) -> Vector {
    let hash = Term::of(text).0.to_le_bytes();
    Vector::quantize(&[
        1.0,
        f32::from(hash[0]) / 256.0,
        f32::from(hash[1]) / 256.0,
        f32::from(hash[2]) / 256.0,
    ])
}

/// The write with a vector for each text it stores.
fn embedded(write: Write, model: &ModelId) -> Write {
    let made = |change: &Change| match change {
        Change::Add(memory) | Change::Update(memory) => Some(vector(&memory.content)),
        Change::Delete(_) | Change::Erase(_) => None,
    };
    let vectors = write.changes.iter().map(made).collect();
    Write { vectors: Some(Vectors { model: model.clone(), vectors }), ..write }
}

/// The vectors of a model that a store returns, by the texts of their memories; none where a text has no vector.
async fn vectors(store: &Shared, owner: &Scope, model: &ModelId) -> Vec<(String, Option<Vec<u8>>)> {
    let mut found = BTreeMap::new();
    for segment in store.postings(owner, &[], Some(model)).await.unwrap() {
        for doc in (0..segment.docs.len()).filter(|doc| !segment.docs.is_gone(*doc)) {
            let slot = segment.slots.as_ref().and_then(|slots| slots.get(doc));
            found.insert(segment.docs.place(doc), slot.map(|(_, values)| values.to_vec()));
        }
    }
    let places: Vec<_> = found.keys().copied().collect();
    let memories = store.at_places(owner, &places).await.unwrap();
    memories.into_iter().map(|(place, memory)| (memory.content, found[&place].clone())).collect()
}

/// What [`vectors`] returns when every text has the vector that was made for it.
fn all_made(texts: &[&str]) -> Vec<(String, Option<Vec<u8>>)> {
    let values = |text: &str| vector(text).to_slot()[4..].to_vec();
    texts.iter().map(|text| ((*text).to_owned(), Some(values(text)))).collect()
}

/// Makes the vectors that are still to be made, as the engine does.
async fn embed_rest(store: &Shared, model: &ModelId) {
    loop {
        let waiting = store.unembedded(None).await.unwrap();
        let Some(first) = waiting.first() else { return };
        let made = waiting.iter().map(|memory| Made {
            id: memory.id,
            version: memory.version,
            vector: vector(&memory.content),
        });
        store.embed(&first.scope, model, made.collect()).await.unwrap();
    }
}

pub(crate) async fn vectors_are_kept_with_their_texts(store: Shared) {
    let (owner, model) = (scope("ann"), model("one"));
    assert_eq!(store.model().await.unwrap(), None);
    let (tea, talk) = (memory(&owner, 1, "likes 龙井茶"), turn(&owner, 2, "monday", "hello"));
    store.apply(embedded(write(&owner, 1, vec![add(&tea), add(&talk)]), &model)).await.unwrap();
    assert_eq!(store.model().await.unwrap(), Some(model.clone()));
    assert_eq!(vectors(&store, &owner, &model).await, all_made(&["likes 龙井茶", "hello"]));
    let coffee = edited(&tea, "likes coffee");
    store.apply(embedded(write(&owner, 2, vec![update(&coffee)]), &model)).await.unwrap();
    assert_eq!(vectors(&store, &owner, &model).await, all_made(&["likes coffee", "hello"]));
    let heavier = Memory { weight: 2.0, ..edited(&coffee, "likes coffee") };
    store.apply(write(&owner, 3, vec![update(&heavier)])).await.unwrap();
    assert_eq!(vectors(&store, &owner, &model).await, all_made(&["likes coffee", "hello"]));
    store.apply(write(&owner, 4, vec![update(&edited(&heavier, "likes water"))])).await.unwrap();
    assert_eq!(
        vectors(&store, &owner, &model).await[0],
        ("likes water".into(), None),
        "an old vector says nothing of a new text"
    );
}

pub(crate) async fn vectors_of_two_models_never_mix(store: Shared) {
    let (owner, one, two) = (scope("ann"), model("one"), model("two"));
    store
        .apply(embedded(write(&owner, 1, vec![add(&memory(&owner, 1, "alpha"))]), &one))
        .await
        .unwrap();
    store
        .apply(embedded(write(&owner, 2, vec![add(&memory(&owner, 2, "beta"))]), &two))
        .await
        .unwrap();
    assert_eq!(
        store.model().await.unwrap(),
        Some(one.clone()),
        "a write does not change the model in use"
    );
    let of = async |model: &ModelId| {
        vectors(&store, &owner, model).await.into_iter().filter(|(_, slot)| slot.is_some()).count()
    };
    assert_eq!((of(&one).await, of(&two).await), (1, 0));
    store.use_model(&two).await.unwrap();
    assert_eq!((of(&one).await, of(&two).await), (0, 0), "what another model made is not returned");
    embed_rest(&store, &two).await;
    assert_eq!(vectors(&store, &owner, &two).await, all_made(&["alpha", "beta"]));
    let wrong = store.use_model(&ModelId { dimensions: 5, ..two }).await;
    assert!(
        wrong.is_err() || store.unembedded(None).await.unwrap().len() == 2,
        "another size is another model"
    );
}

pub(crate) async fn what_has_no_vector_yet_gets_one(store: Shared) {
    let (owner, model) = (scope("ann"), model("one"));
    let texts: Vec<String> = (0..150).map(|number| format!("text {number}")).collect();
    let turns: Vec<_> = texts
        .iter()
        .enumerate()
        .map(|(number, text)| turn(&owner, number as u8, "monday", text))
        .collect();
    store.apply(write(&owner, 1, turns[..100].iter().map(add).collect())).await.unwrap();
    assert_eq!(store.unembedded(None).await.unwrap(), [], "without a model there is nothing to do");
    store
        .apply(embedded(write(&owner, 2, turns[100..].iter().map(add).collect()), &model))
        .await
        .unwrap();
    store.apply(write(&owner, 3, vec![Change::Delete(turns[7].id)])).await.unwrap();
    assert_eq!(store.unembedded(Some(&scope("ben"))).await.unwrap(), [], "nobody else waits");
    assert_eq!(store.unembedded(Some(&owner)).await.unwrap().len(), 99);
    let stale = Made { id: turns[0].id, version: 9, vector: vector("another text") };
    store.embed(&owner, &model, vec![stale]).await.unwrap();
    embed_rest(&store, &model).await;
    let left: Vec<&str> =
        texts.iter().filter(|text| *text != "text 7").map(String::as_str).collect();
    assert_eq!(vectors(&store, &owner, &model).await, all_made(&left));
    assert_eq!(store.check(&owner).await.unwrap(), Vec::<String>::new());
}

pub(crate) async fn an_erased_memory_leaves_no_vector(store: Shared) {
    let (owner, model) = (scope("ann"), model("one"));
    let turns: Vec<_> =
        (0..100).map(|number| turn(&owner, number, "monday", &format!("text {number}"))).collect();
    store.apply(embedded(write(&owner, 1, turns.iter().map(add).collect()), &model)).await.unwrap();
    let applied = store.apply(write(&owner, 2, vec![Change::Erase(turns[70].id)])).await.unwrap();
    assert_eq!(applied[0].erased.unwrap().vectors, 1);
    assert_eq!(vectors(&store, &owner, &model).await.len(), 99);
    for segment in store.postings(&owner, &[], Some(&model)).await.unwrap() {
        let gone = (0..segment.docs.len()).filter(|doc| segment.docs.is_gone(*doc));
        assert!(gone.into_iter().all(|doc| segment.slots.as_ref().unwrap().get(doc).is_none()));
    }
}

/// What a reranking model would make of a text.
fn tokens_of(memory: &Memory) -> MadeTokens {
    let tokens = memory.content.bytes().rev().collect();
    MadeTokens { id: memory.id, version: memory.version, tokens }
}

/// Has a model read all that it has not read yet, as the engine does.
async fn read_rest(store: &Shared, model: &ModelId) {
    for owner in store.scopes().await.unwrap() {
        let mut after = None;
        loop {
            let waiting = store.unread(&owner, model, after, 3).await.unwrap();
            let Some(last) = waiting.last() else { break };
            after = Some(last.id);
            let made = waiting.iter().map(tokens_of).collect();
            store.keep_tokens(&owner, model, made).await.unwrap();
        }
    }
}

/// What a store keeps of the texts of a scope, by their memories.
async fn words(store: &Shared, owner: &Scope, model: &ModelId) -> Vec<(Memory, Option<Vec<u8>>)> {
    let segments = store.postings(owner, &[], None).await.unwrap();
    let mut places: Vec<Place> = Vec::new();
    for segment in &segments {
        let living = (0..segment.docs.len()).filter(|doc| !segment.docs.is_gone(*doc));
        places.extend(living.map(|doc| segment.docs.place(doc)));
    }
    places.sort_unstable();
    let kept = store.tokens(owner, model, &places).await.unwrap();
    let memories = store.at_places(owner, &places).await.unwrap();
    memories.into_iter().map(|(_, memory)| memory).zip(kept).collect()
}

/// What [`words`] returns when the model has read everything.
async fn assert_all_read(store: &Shared, owner: &Scope, model: &ModelId) {
    for (memory, kept) in words(store, owner, model).await {
        assert_eq!(kept, Some(tokens_of(&memory).tokens), "{}", memory.content);
    }
}

pub(crate) async fn words_are_kept_until_their_text_changes(store: Shared) {
    let (owner, model) = (scope("ann"), model("words"));
    let texts = ["likes 龙井茶", "hello", "third", "fourth", "fifth"];
    let turns = (1..).zip(texts).map(|(number, text)| turn(&owner, number, "monday", text));
    let turns: Vec<_> = turns.collect();
    store.apply(write(&owner, 1, turns.iter().map(add).collect())).await.unwrap();
    assert_eq!(store.count_read(&model).await.unwrap(), (0, 5));
    read_rest(&store, &model).await;
    assert_eq!(store.count_read(&model).await.unwrap(), (5, 0));
    assert_all_read(&store, &owner, &model).await;
    let kept = async |number: usize| words(&store, &owner, &model).await[number].1.clone();
    let heavier = Memory { weight: 2.0, ..edited(&turns[0], "likes 龙井茶") };
    store.apply(write(&owner, 2, vec![update(&heavier)])).await.unwrap();
    assert!(kept(0).await.is_some(), "the text is the same");
    let other = edited(&heavier, "likes coffee");
    store.apply(write(&owner, 3, vec![update(&other)])).await.unwrap();
    assert_eq!(kept(0).await, None, "old words say nothing of a new text");
    let stale = tokens_of(&heavier);
    store.keep_tokens(&owner, &model, vec![stale]).await.unwrap();
    assert_eq!(kept(0).await, None, "what was made of an older version comes too late");
    store.apply(write(&owner, 4, vec![Change::Delete(turns[1].id)])).await.unwrap();
    let back = Memory { version: 2, content: "another text".into(), ..turns[1].clone() };
    store.apply(write(&owner, 5, vec![add(&back)])).await.unwrap();
    assert_eq!(kept(1).await, None, "what returns is read again");
    assert_eq!(store.count_read(&model).await.unwrap(), (3, 2));
    read_rest(&store, &model).await;
    assert_all_read(&store, &owner, &model).await;
    let nobody = store.tokens(&scope("ben"), &model, &[Place::new(1, 0)]).await.unwrap();
    assert_eq!(nobody, [None], "places of another scope are not read");
    assert_eq!(store.check(&owner).await.unwrap(), Vec::<String>::new());
}

pub(crate) async fn words_of_two_models_never_mix(store: Shared) {
    let (owner, one, two) = (scope("ann"), model("one"), model("two"));
    let memories = [memory(&owner, 1, "alpha"), memory(&owner, 2, "beta")];
    store.apply(write(&owner, 1, memories.iter().map(add).collect())).await.unwrap();
    read_rest(&store, &one).await;
    assert_eq!(store.count_read(&two).await.unwrap(), (0, 2));
    assert!(words(&store, &owner, &two).await.iter().all(|(_, kept)| kept.is_none()));
    store.keep_tokens(&owner, &two, vec![tokens_of(&memories[0])]).await.unwrap();
    assert_eq!(store.count_read(&two).await.unwrap(), (1, 1));
    assert_eq!(store.count_read(&one).await.unwrap(), (0, 2), "there is room for one model");
    assert_eq!(store.unread(&owner, &two, None, 9).await.unwrap(), [memories[1].clone()]);
    assert_eq!(store.unread(&owner, &two, Some(memories[1].id), 9).await.unwrap(), []);
}

pub(crate) async fn an_erased_memory_leaves_no_words(store: Shared) {
    let (owner, model) = (scope("ann"), model("words"));
    let memories = [memory(&owner, 1, "alpha"), memory(&owner, 2, "beta")];
    store.apply(write(&owner, 1, memories.iter().map(add).collect())).await.unwrap();
    read_rest(&store, &model).await;
    let applied = store.apply(write(&owner, 2, vec![Change::Erase(memories[0].id)])).await.unwrap();
    assert_eq!(applied[0].erased.unwrap().vectors, 1);
    assert_eq!(store.tokens(&owner, &model, &[Place::new(0, 0)]).await.unwrap(), [None]);
    assert_eq!(store.count_read(&model).await.unwrap(), (1, 0));
}

/// A step of the random comparison: on which scope, with which memory, what.
#[derive(Debug, Clone)]
enum Step {
    Add {
        text: usize,
        session: Option<u8>,
    },
    Update {
        text: usize,
    },
    Archive,
    Delete,
    Erase,
    /// Many turns at once, which a store may keep in another way than single ones.
    Bulk {
        count: u8,
    },
}

const WORDS: [&str; 6] =
    ["alpha", "beta gamma", "早报 设备", "alpha alpha delta", "", "C盘 API配置"];

/// Applies random changes to a store and to the RAM store and compares all that can be read.
pub(crate) fn mirror(fresh: impl Fn() -> std::pin::Pin<Box<dyn Future<Output = Shared>>>) {
    let step = prop_oneof![
        4 => (0..WORDS.len(), proptest::option::of(0..3u8)).prop_map(|(text, session)| Step::Add { text, session }),
        3 => (0..WORDS.len()).prop_map(|text| Step::Update { text }),
        1 => Just(Step::Archive),
        2 => Just(Step::Delete),
        1 => Just(Step::Erase),
        1 => (1..90u8).prop_map(|count| Step::Bulk { count }),
    ];
    let steps = proptest::collection::vec((0..2u8, 0..8u8, step), 1..60);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    // Each case opens a store of its own; two dozen find what hundreds would.
    let mut runner = TestRunner::new(ProptestConfig {
        cases: 24,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let outcome = runner.run(&steps, |steps| {
        runtime.block_on(compare(fresh(), &steps));
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

async fn compare(fresh: impl Future<Output = Shared>, steps: &[(u8, u8, Step)]) {
    let (store, ram): (Shared, Shared) = (fresh.await, Arc::new(RamStore::default()));
    let owners = [scope("ann"), scope("ben")];
    for (second, (owner, number, step)) in steps.iter().enumerate() {
        let owner = &owners[usize::from(*owner)];
        let changes = changes(&ram, owner, *number, step, second as u8).await;
        let write = write(owner, second as i64, changes);
        // Some writes come without vectors, as from a program that has no model.
        let write = if second % 3 == 0 { write } else { embedded(write, &model("one")) };
        let (real, expected) = (store.apply(write.clone()).await, ram.apply(write).await);
        assert_eq!(told(&real), told(&expected), "{real:?} and not {expected:?}");
        // Some texts are read as they come, others only at the end.
        if second % 5 == 4 {
            read_rest(&store, &model("words")).await;
            read_rest(&ram, &model("words")).await;
        }
        if second % 7 == 6 {
            read_some_turns(&store, owner, second as i64).await;
            read_some_turns(&ram, owner, second as i64).await;
        }
        assert_eq!(
            store.waiting(Some(owner)).await.unwrap(),
            ram.waiting(Some(owner)).await.unwrap()
        );
        assert_eq!(
            store.count_read(&model("words")).await.unwrap(),
            ram.count_read(&model("words")).await.unwrap()
        );
    }
    for owner in &owners {
        let reader = model("words");
        assert_eq!(words(&store, owner, &reader).await, words(&ram, owner, &reader).await);
    }
    embed_rest(&store, &self::model("one")).await;
    embed_rest(&ram, &self::model("one")).await;
    for owner in &owners {
        same(&store, &ram, owner, steps.len() as i64).await;
    }
    store.close().await;
}

/// What was applied, without the number of vectors removed: a store may have put off making some.
fn told(applied: &Result<Vec<Applied>>) -> Option<Vec<Applied>> {
    let mut applied = applied.as_ref().ok()?.clone();
    for erased in applied.iter_mut().filter_map(|applied| applied.erased.as_mut()) {
        erased.vectors = 0;
    }
    Some(applied)
}

async fn changes(
    model: &Shared,
    owner: &Scope,
    number: u8,
    step: &Step,
    second: u8,
) -> Vec<Change> {
    let id = memory(owner, number, "").id;
    let stored = model.get(owner, &[id]).await.unwrap().remove(0);
    let stored = stored.unwrap_or_else(|| memory(owner, number, "never stored"));
    match step {
        Step::Add { text, session: None } => vec![add(&memory(owner, number, WORDS[*text]))],
        Step::Add { text, session: Some(session) } => {
            vec![add(&turn(owner, number, &session.to_string(), WORDS[*text]))]
        }
        Step::Update { text } => vec![update(&edited(&stored, WORDS[*text]))],
        Step::Archive => {
            vec![update(&Memory { status: Status::Archived, ..edited(&stored, &stored.content) })]
        }
        Step::Delete => vec![Change::Delete(id)],
        Step::Erase => vec![Change::Erase(id)],
        Step::Bulk { count } => (0..*count)
            .map(|index| {
                let mut turn = turn(owner, 100, "bulk", WORDS[usize::from(index) % WORDS.len()]);
                let mut id = *turn.id.as_bytes();
                (id[1], id[2]) = (second, index);
                turn.id = MemoryId::from_bytes(id);
                add(&turn)
            })
            .collect(),
    }
}

async fn same(store: &Shared, model: &Shared, owner: &Scope, seconds: i64) {
    assert_eq!(all(store, owner).await, all(model, owner).await);
    let words = ["alpha", "beta", "gamma", "delta", "早报", "设备", "c盘", "nothing"];
    assert_eq!(found(store, owner, &words).await, found(model, owner, &words).await);
    let journal = JournalQuery::default();
    assert_eq!(
        store.journal(owner, &journal).await.unwrap(),
        model.journal(owner, &journal).await.unwrap()
    );
    for second in [0, seconds / 2, seconds] {
        let at = time(second);
        assert_eq!(store.as_of(owner, at).await.unwrap(), model.as_of(owner, at).await.unwrap());
    }
    assert_eq!(store.count(owner).await.unwrap(), model.count(owner).await.unwrap());
    let texts: Vec<_> = WORDS.iter().map(|text| Fingerprint::of(text)).collect();
    assert_eq!(
        store.erased(owner, &texts).await.unwrap(),
        model.erased(owner, &texts).await.unwrap()
    );
    assert_eq!(store.check(owner).await.unwrap(), Vec::<String>::new());
    let one = self::model("one");
    assert_eq!(vectors(store, owner, &one).await, vectors(model, owner, &one).await);
    let held = all(store, owner).await;
    assert_eq!(store.reindex(owner).await.unwrap(), held.len());
    assert_eq!(found(store, owner, &words).await, found(model, owner, &words).await);
    assert_eq!(store.check(owner).await.unwrap(), Vec::<String>::new());
}
