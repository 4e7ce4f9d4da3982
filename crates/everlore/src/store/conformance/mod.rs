//! Conformance suite of stores. A backend's tests are `suite!(fresh)`, where `fresh` opens an empty [`TestStore`].

pub(crate) mod capture_queue;
pub(crate) mod many_servers;
pub(crate) mod uri_index;
pub(crate) mod usage_ledger;

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use proptest::{prelude::*, test_runner::TestRunner};
use tempfile::TempDir;

use super::*;
use crate::{
    error::Error,
    sync::BoxFuture,
    text::terms::TermHash,
    types::{
        Actor, Change, ChangeOp, ChangeVectors, EmbeddingModelId, Fingerprint, JournalEntry,
        MemoryId, MemorySource, Origin, Scope, Status, Timestamp, Vector,
    },
};

/// Defines a test of each case for the store that `$fresh` opens.
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
        crate::store::conformance::suite!(@many_servers $fresh:
            two_handles_see_each_others_writes,
            concurrent_writes_of_two_handles_all_survive,
            concurrent_changes_of_one_memory_leave_one_winner,
            concurrent_claims_lease_a_session_once,
            a_unique_violation_inside_a_batch_leaves_nothing,
            a_uri_is_free_again_once_its_memory_is_deleted,
            similarities_are_those_of_the_loaded_vectors,
            cached_vectors_are_found_bounded_and_forgotten,
            documents_are_replaced_by_the_first_of_two_writers,
            uris_are_ordered_by_bytes,
            a_batch_may_change_one_memory_many_times,
        );
        crate::store::conformance::suite!(@usage $fresh:
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
    (@many_servers $fresh:ident: $($case:ident),* $(,)?) => {
        $(#[tokio::test]
        async fn $case() {
            crate::store::conformance::many_servers::$case($fresh().await).await;
        })*
    };
    (@usage $fresh:ident: $($case:ident),* $(,)?) => {
        $(#[tokio::test]
        async fn $case() {
            crate::store::conformance::usage_ledger::$case($fresh().await).await;
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

/// Store under test, with the folder it lives in and a way to open it a second time, as another server would.
#[derive(Clone)]
pub(crate) struct TestStore {
    store: Arc<dyn Store>,
    open: Arc<dyn Fn() -> BoxFuture<'static, Arc<dyn Store>> + Send + Sync>,
    _folder: Arc<Option<TempDir>>,
}

impl TestStore {
    /// Wraps a store that lives in RAM: a second handle is the same store.
    pub(crate) fn in_ram(store: Arc<dyn Store>) -> Self {
        let shared = Arc::clone(&store);
        let open = move || -> BoxFuture<'static, Arc<dyn Store>> {
            let shared = Arc::clone(&shared);
            Box::pin(async move { shared })
        };
        Self { store, open: Arc::new(open), _folder: Arc::new(None) }
    }

    /// Opens a store in a temporary folder, which is removed with it.
    pub(crate) async fn in_folder<F>(open: impl Fn(PathBuf) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Arc<dyn Store>> + Send + 'static,
    {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_owned();
        let open = move || -> BoxFuture<'static, Arc<dyn Store>> { Box::pin(open(path.clone())) };
        Self { store: open().await, open: Arc::new(open), _folder: Arc::new(Some(folder)) }
    }

    /// Opens the same database again.
    pub(crate) async fn second(&self) -> Self {
        Self { store: (self.open)().await, ..self.clone() }
    }
}

impl std::ops::Deref for TestStore {
    type Target = Arc<dyn Store>;

    fn deref(&self) -> &Arc<dyn Store> {
        &self.store
    }
}

use self::capture_queue::read_some_turns;
pub(crate) use self::{capture_queue::*, uri_index::*};

pub(super) fn test_scope(user: &str) -> Scope {
    Scope::new("tester", user).unwrap()
}

pub(super) fn time(second: i64) -> Timestamp {
    Timestamp::from_second(1_790_000_000 + second).unwrap()
}

/// Builds a memory with an id that rises with its number.
pub(super) fn memory(scope: &Scope, number: u8, content: &str) -> Memory {
    let mut id = [7; 16];
    id[0] = number;
    Memory {
        id: MemoryId::from_bytes(id),
        uri: format!("agent://tester/user/{number}"),
        scope: scope.clone(),
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
        source: MemorySource {
            via: Origin::Remember,
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

pub(super) fn turn(scope: &Scope, number: u8, session: &str, content: &str) -> Memory {
    let mut turn = memory(scope, number, content);
    turn.kind = Kind::Turn;
    turn.uri = format!("agent://tester/turn/{session}/{}", turn.id);
    turn.source.session = Some(session.into());
    turn.source.speaker = Some("Caroline".into());
    turn
}

fn edited(memory: &Memory, content: &str) -> Memory {
    Memory { content: content.into(), version: memory.version + 1, ..memory.clone() }
}

pub(super) fn write(scope: &Scope, second: i64, changes: Vec<Change>) -> WriteBatch {
    WriteBatch::new(scope, Actor::Person, "test", time(second), changes)
}

pub(super) fn add(memory: &Memory) -> Change {
    Change::Add(Box::new(memory.clone()))
}

fn update(memory: &Memory) -> Change {
    Change::Update(Box::new(memory.clone()))
}

async fn list_all(store: &TestStore, scope: &Scope) -> Vec<Memory> {
    let page = ListQuery {
        filter: MemoryFilter::default(),
        after: None,
        order: ListOrder::NewestFirst,
        limit: 10_000,
    };
    store.memories().list(scope, &page).await.unwrap()
}

/// Returns the addresses and counts of each term, whatever the segments.
async fn postings_by_address(
    store: &TestStore,
    scope: &Scope,
    words: &[&str],
) -> Vec<BTreeMap<DocAddress, [u8; FIELD_COUNT]>> {
    let terms: Vec<_> = words.iter().map(|word| TermHash::of(word)).collect();
    let mut found = vec![BTreeMap::new(); terms.len()];
    for segment in store.index().postings(scope, &terms, None).await.unwrap() {
        for (list, found) in segment.postings.iter().zip(&mut found) {
            for posting in list {
                assert!(!segment.docs.is_deleted(posting.doc as usize));
                let previous =
                    found.insert(segment.docs.address(posting.doc as usize), posting.counts);
                assert_eq!(previous, None, "a place is in two segments");
            }
        }
    }
    found
}

pub(crate) async fn what_is_added_can_be_read_back(store: TestStore) {
    let scope = test_scope("ann");
    let (tea, talk) =
        (memory(&scope, 1, "likes 龙井茶"), turn(&scope, 2, "monday", "hello Caroline"));
    store.apply(write(&scope, 1, vec![add(&tea), add(&talk)])).await.unwrap();
    assert_eq!(
        store.memories().get(&scope, &[talk.id, tea.id]).await.unwrap(),
        [Some(talk.clone()), Some(tea.clone())]
    );
    assert_eq!(store.memories().read_back(&scope, &[tea.id, talk.id]).await.unwrap(), [true, true]);
    // The stem of the name.
    let [addresses] = &postings_by_address(&store, &scope, &["carolin"]).await[..] else {
        panic!("one term asked")
    };
    let (address, counts) = addresses.first_key_value().unwrap();
    assert_eq!(
        (counts[IndexField::Content as usize], counts[IndexField::Speaker as usize]),
        (1, 1)
    );
    assert_eq!(store.memories().by_address(&scope, &[*address]).await.unwrap(), [(*address, talk)]);
    assert_eq!(store.index().inconsistencies(&scope).await.unwrap(), Vec::<String>::new());
}

pub(crate) async fn an_id_or_a_uri_is_taken_only_once(store: TestStore) {
    let scope = test_scope("ann");
    let first = memory(&scope, 1, "one");
    store.apply(write(&scope, 1, vec![add(&first)])).await.unwrap();
    let same_id = Memory { uri: "agent://tester/user/other".into(), ..first.clone() };
    let same_uri = Memory { uri: first.uri.clone(), ..memory(&scope, 2, "two") };
    for bad in [same_id, same_uri] {
        let answer = store.apply(write(&scope, 2, vec![add(&bad)])).await;
        assert!(matches!(answer, Err(Error::Conflict { .. })), "{answer:?}");
    }
    assert_eq!(list_all(&store, &scope).await, [first]);
}

pub(crate) async fn a_change_against_an_older_version_is_refused(store: TestStore) {
    let scope = test_scope("ann");
    let first = memory(&scope, 1, "one");
    let second = edited(&first, "two");
    store.apply(write(&scope, 1, vec![add(&first)])).await.unwrap();
    store.apply(write(&scope, 2, vec![update(&second)])).await.unwrap();
    let late = store.apply(write(&scope, 3, vec![update(&edited(&first, "three"))])).await;
    assert!(matches!(late, Err(Error::Conflict { .. })), "{late:?}");
    let missing = store.apply(write(&scope, 4, vec![update(&memory(&scope, 9, "x"))])).await;
    assert!(matches!(missing, Err(Error::NotFound { .. })), "{missing:?}");
    assert_eq!(list_all(&store, &scope).await, [second]);
}

pub(crate) async fn what_never_changes_cannot_be_changed(store: TestStore) {
    let scope = test_scope("ann");
    let first = memory(&scope, 1, "one");
    store.apply(write(&scope, 1, vec![add(&first)])).await.unwrap();
    let moved = Memory { uri: "agent://tester/user/x".into(), ..edited(&first, "one") };
    let mut spoken = edited(&first, "one");
    spoken.source.session = Some("monday".into());
    let turned = Memory { kind: Kind::Turn, ..edited(&first, "one") };
    for bad in [moved, spoken, turned] {
        let answer = store.apply(write(&scope, 2, vec![update(&bad)])).await;
        assert!(matches!(answer, Err(Error::Invalid { .. })), "{answer:?}");
    }
}

pub(crate) async fn a_batch_is_applied_whole_or_not_at_all(store: TestStore) {
    let scope = test_scope("ann");
    let missing = memory(&scope, 9, "x").id;
    let changes = vec![add(&memory(&scope, 1, "one")), Change::Delete(missing)];
    let answer = store.apply(write(&scope, 1, changes)).await;
    assert!(matches!(answer, Err(Error::NotFound { .. })), "{answer:?}");
    assert_eq!(list_all(&store, &scope).await, []);
    assert_eq!(store.journal().entries(&scope, &JournalQuery::default()).await.unwrap(), []);
    assert_eq!(postings_by_address(&store, &scope, &["one"]).await, [BTreeMap::new()]);
}

pub(crate) async fn a_memory_of_another_scope_is_refused(store: TestStore) {
    let answer = store
        .apply(write(&test_scope("ann"), 1, vec![add(&memory(&test_scope("ben"), 1, "x"))]))
        .await;
    assert!(matches!(answer, Err(Error::Invalid { .. })), "{answer:?}");
}

pub(crate) async fn scopes_know_nothing_of_each_other(store: TestStore) {
    let (ann, ben) = (test_scope("ann"), test_scope("ben"));
    let secret = memory(&ann, 1, "secret 秘密");
    store.apply(write(&ann, 1, vec![add(&secret)])).await.unwrap();
    let erased = memory(&ann, 2, "erased");
    store.apply(write(&ann, 2, vec![add(&erased), Change::Erase(erased.id)])).await.unwrap();
    assert_eq!(store.memories().get(&ben, &[secret.id]).await.unwrap(), [None]);
    assert_eq!(store.memories().read_back(&ben, &[secret.id]).await.unwrap(), [false]);
    let keys = [
        MemoryKey::IdPrefix("01".into()),
        MemoryKey::Uri(secret.uri.clone()),
        MemoryKey::Text(secret.fingerprint()),
    ];
    let found = [[secret.clone()], [secret.clone()], [secret.clone()]];
    assert_eq!(store.memories().find(&ann, &keys, 10).await.unwrap(), found);
    assert_eq!(store.memories().find(&ben, &keys, 10).await.unwrap(), [[], [], []]);
    assert_eq!(list_all(&store, &ben).await, []);
    assert_eq!(postings_by_address(&store, &ben, &["secret"]).await, [BTreeMap::new()]);
    assert_eq!(store.memories().by_address(&ben, &[DocAddress::new(0, 0)]).await.unwrap(), []);
    assert_eq!(
        store
            .journal()
            .entries(&ben, &JournalQuery { id: Some(secret.id), ..JournalQuery::default() })
            .await
            .unwrap(),
        []
    );
    assert_eq!(store.journal().as_of(&ben, time(9)).await.unwrap(), []);
    assert_eq!(store.memories().are_erased(&ben, &[erased.fingerprint()]).await.unwrap(), [false]);
    assert_eq!(store.memories().are_erased(&ann, &[erased.fingerprint()]).await.unwrap(), [true]);
    assert_eq!(store.memories().count(&ben).await.unwrap(), ScopeCounts::default());
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
    assert_eq!(list_all(&store, &ann).await, [secret]);
}

pub(crate) async fn lists_are_filtered_paged_and_newest_first(store: TestStore) {
    let scope = test_scope("ann");
    let mut memories =
        [memory(&scope, 1, "one"), memory(&scope, 2, "two"), turn(&scope, 3, "monday", "three")];
    memories[1].kind = Kind::Project;
    memories[1].status = Status::Archived;
    memories[1].tags = vec!["work".into(), "标签".into()];
    store.apply(write(&scope, 1, memories.iter().map(add).collect())).await.unwrap();
    let list = async |filter: MemoryFilter| {
        let page = ListQuery { filter, after: None, order: ListOrder::NewestFirst, limit: 10 };
        let found = store.memories().list(&scope, &page).await.unwrap();
        found.into_iter().map(|memory| memory.content).collect::<Vec<_>>()
    };
    let any = MemoryFilter::default;
    assert_eq!(list(any()).await, ["three", "two", "one"]);
    assert_eq!(
        list(MemoryFilter { kinds: vec![Kind::Project, Kind::Turn], ..any() }).await,
        ["three", "two"]
    );
    assert_eq!(
        list(MemoryFilter { statuses: vec![Status::Active], ..any() }).await,
        ["three", "one"]
    );
    assert_eq!(
        list(MemoryFilter { tags: vec!["work".into(), "标签".into()], ..any() }).await,
        ["two"]
    );
    assert_eq!(
        list(MemoryFilter { since: Some(time(2)), until: Some(time(3)), ..any() }).await,
        ["two"]
    );
    assert_eq!(list(MemoryFilter { session: Some("monday".into()), ..any() }).await, ["three"]);
    assert_eq!(list(MemoryFilter { turns_until: Some(time(1)), ..any() }).await, ["two", "one"]);
    let page = ListQuery {
        filter: any(),
        after: Some(memories[2].id),
        order: ListOrder::NewestFirst,
        limit: 1,
    };
    assert_eq!(store.memories().list(&scope, &page).await.unwrap(), [memories[1].clone()]);
    let page =
        ListQuery { after: Some(memories[0].id), order: ListOrder::OldestFirst, limit: 5, ..page };
    assert_eq!(store.memories().list(&scope, &page).await.unwrap(), memories[1..]);
    let counts = store.memories().count(&scope).await.unwrap();
    let expected = [
        (Kind::User, Status::Active, 1),
        (Kind::Project, Status::Archived, 1),
        (Kind::Turn, Status::Active, 1),
    ];
    assert_eq!((counts.memories, counts.changes), (expected.to_vec(), 3));
}

pub(crate) async fn keys_find_what_they_name(store: TestStore) {
    let scope = test_scope("ann");
    let (one, two) = (memory(&scope, 0x1a, "same"), memory(&scope, 0x1b, "same"));
    let said = turn(&scope, 0x2a, "monday", "same");
    store.apply(write(&scope, 1, vec![add(&one), add(&two), add(&said)])).await.unwrap();
    let find = async |key| store.memories().find(&scope, &[key], 10).await.unwrap().remove(0);
    assert_eq!(find(MemoryKey::IdPrefix("1".into())).await, [one.clone(), two.clone()]);
    assert_eq!(find(MemoryKey::IdPrefix("1b07".into())).await, std::slice::from_ref(&two));
    assert_eq!(find(MemoryKey::IdPrefix("xyz".into())).await, []);
    assert_eq!(find(MemoryKey::IdPrefix("1".repeat(40))).await, []);
    assert_eq!(find(MemoryKey::Uri(one.uri.clone())).await, std::slice::from_ref(&one));
    assert_eq!(find(MemoryKey::Uri(said.uri.clone())).await, []);
    let same = MemoryKey::Text(Fingerprint::of(" same "));
    assert_eq!(find(same.clone()).await, [one.clone(), two]);
    let keys = [MemoryKey::Uri("agent://x/none".into()), same];
    assert_eq!(store.memories().find(&scope, &keys, 1).await.unwrap(), [vec![], vec![one]]);
    assert_eq!(store.memories().find(&scope, &[], 1).await.unwrap(), Vec::<Vec<Memory>>::new());
}

pub(crate) async fn the_journal_tells_before_and_after(store: TestStore) {
    let scope = test_scope("ann");
    assert_eq!(store.journal().newest_seq(&scope).await.unwrap(), 0);
    let (one, other) = (memory(&scope, 1, "one"), memory(&scope, 2, "other"));
    let two = edited(&one, "two");
    store.apply(write(&scope, 1, vec![add(&one), add(&other)])).await.unwrap();
    let run = WriteBatch {
        run: Some("run-7".into()),
        actor: Actor::Engine,
        cost: 42,
        ..write(&scope, 2, vec![update(&two)])
    };
    store.apply(run).await.unwrap();
    store.apply(write(&scope, 3, vec![Change::Delete(one.id)])).await.unwrap();
    assert_eq!(store.journal().newest_seq(&scope).await.unwrap(), 4);
    let journal = store
        .journal()
        .entries(&scope, &JournalQuery { id: Some(one.id), ..JournalQuery::default() })
        .await
        .unwrap();
    let images = |entry: &JournalEntry| {
        let text = |image: &Option<Box<Memory>>| image.as_ref().map(|image| image.content.clone());
        (entry.seq, entry.op, text(&entry.before), text(&entry.after))
    };
    let expected = [
        (4, ChangeOp::Delete, Some("two".into()), None),
        (3, ChangeOp::Update, Some("one".into()), Some("two".into())),
        (1, ChangeOp::Add, None, Some("one".into())),
    ];
    assert_eq!(journal.iter().map(images).collect::<Vec<_>>(), expected);
    assert_eq!((journal[1].actor, journal[1].cost, journal[1].at), (Actor::Engine, 42, time(2)));
    let read = async |query: JournalQuery| store.journal().entries(&scope, &query).await.unwrap();
    let any = JournalQuery::default;
    let whole = read(any()).await;
    assert_eq!(whole.iter().map(|entry| entry.seq).collect::<Vec<_>>(), [4, 3, 2, 1]);
    assert_eq!(images(&whole[2]), (2, ChangeOp::Add, None, Some("other".into())));
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

pub(crate) async fn the_past_can_be_read(store: TestStore) {
    let scope = test_scope("ann");
    let (one, two) = (memory(&scope, 1, "one"), memory(&scope, 2, "two"));
    let changed = edited(&one, "one, changed");
    store.apply(write(&scope, 10, vec![add(&one)])).await.unwrap();
    store.apply(write(&scope, 20, vec![add(&two), update(&changed)])).await.unwrap();
    store.apply(write(&scope, 30, vec![Change::Delete(two.id)])).await.unwrap();
    assert_eq!(store.journal().as_of(&scope, time(9)).await.unwrap(), []);
    assert_eq!(store.journal().as_of(&scope, time(10)).await.unwrap(), std::slice::from_ref(&one));
    assert_eq!(store.journal().as_of(&scope, time(29)).await.unwrap(), [changed.clone(), two]);
    assert_eq!(store.journal().as_of(&scope, time(99)).await.unwrap(), [changed]);
}

pub(crate) async fn erasing_leaves_no_text_anywhere(store: TestStore) {
    let scope = test_scope("ann");
    let (one, other) = (memory(&scope, 1, "alpha beta"), memory(&scope, 2, "alpha"));
    let two = edited(&one, "gamma beta");
    store.apply(write(&scope, 1, vec![add(&one), add(&other), update(&two)])).await.unwrap();
    let applied = store.apply(write(&scope, 2, vec![Change::Erase(one.id)])).await.unwrap();
    let erased = applied[0].erasure.unwrap();
    assert_eq!((erased.rows, erased.journal_images, erased.tombstones), (1, 1, 2));
    assert!(erased.index_terms >= 2, "{erased:?}");
    assert_eq!(store.memories().get(&scope, &[one.id]).await.unwrap(), [None]);
    let [alpha, beta, gamma] =
        &postings_by_address(&store, &scope, &["alpha", "beta", "gamma"]).await[..]
    else {
        panic!()
    };
    assert_eq!((alpha.len(), beta.len(), gamma.len()), (1, 0, 0));
    let journal = store.journal().entries(&scope, &JournalQuery::default()).await.unwrap();
    assert!(
        journal
            .iter()
            .filter(|entry| entry.id == one.id)
            .all(|entry| entry.before.is_none() && entry.after.is_none())
    );
    assert_eq!(journal.len(), 4, "that something happened is still told");
    assert_eq!(store.journal().as_of(&scope, time(1)).await.unwrap(), [other]);
    let texts = [one.fingerprint(), two.fingerprint(), Fingerprint::of("alpha")];
    assert_eq!(store.memories().are_erased(&scope, &texts).await.unwrap(), [true, true, false]);
    assert_eq!(store.memories().tombstones(&scope).await.unwrap().len(), 2);
    let elsewhere =
        WriteBatch { erased_texts: vec![Fingerprint::of("elsewhere")], ..write(&scope, 3, vec![]) };
    store.apply(elsewhere).await.unwrap();
    assert_eq!(
        store.memories().are_erased(&scope, &[Fingerprint::of("elsewhere")]).await.unwrap(),
        [true]
    );
    assert_eq!(store.index().inconsistencies(&scope).await.unwrap(), Vec::<String>::new());
}

pub(crate) async fn a_deleted_memory_can_be_erased_too(store: TestStore) {
    let scope = test_scope("ann");
    let one = memory(&scope, 1, "alpha");
    store.apply(write(&scope, 1, vec![add(&one), Change::Delete(one.id)])).await.unwrap();
    let applied = store.apply(write(&scope, 2, vec![Change::Erase(one.id)])).await.unwrap();
    let erased = applied[0].erasure.unwrap();
    assert_eq!((erased.rows, erased.journal_images, erased.tombstones), (0, 1, 1));
    assert_eq!(store.journal().as_of(&scope, time(1)).await.unwrap(), []);
    let missing =
        store.apply(write(&scope, 3, vec![Change::Erase(memory(&scope, 9, "x").id)])).await;
    assert!(matches!(missing, Err(Error::NotFound { .. })), "{missing:?}");
}

pub(crate) async fn a_memory_that_returns_stands_where_it_stood(store: TestStore) {
    let scope = test_scope("ann");
    let turns: Vec<_> = (1..=3).map(|number| turn(&scope, number, "monday", "alpha")).collect();
    store.apply(write(&scope, 1, turns.iter().map(add).collect())).await.unwrap();
    let before = postings_by_address(&store, &scope, &["alpha"]).await;
    store.apply(write(&scope, 2, vec![Change::Delete(turns[1].id)])).await.unwrap();
    assert_eq!(postings_by_address(&store, &scope, &["alpha"]).await[0].len(), 2);
    let back = Memory { version: 2, ..turns[1].clone() };
    store.apply(write(&scope, 3, vec![add(&back)])).await.unwrap();
    assert_eq!(postings_by_address(&store, &scope, &["alpha"]).await, before);
    let journal = store
        .journal()
        .entries(&scope, &JournalQuery { id: Some(back.id), ..JournalQuery::default() })
        .await
        .unwrap();
    assert_eq!(journal.len(), 3);
}

pub(crate) async fn concurrent_writes_all_survive(store: TestStore) {
    let scope = test_scope("ann");
    let writes: Vec<_> = (0..100u8)
        .map(|number| {
            let (store, scope) = (store.clone(), scope.clone());
            tokio::spawn(async move {
                store
                    .apply(write(&scope, 1, vec![add(&turn(&scope, number, "monday", "alpha"))]))
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
    assert_eq!(postings_by_address(&store, &scope, &["alpha"]).await[0].len(), 100);
    assert_eq!(store.index().inconsistencies(&scope).await.unwrap(), Vec::<String>::new());
}

fn model(name: &str) -> EmbeddingModelId {
    EmbeddingModelId { name: name.into(), dimensions: 4 }
}

/// Returns a vector that differs from text to text.
fn vector(text: &str) -> Vector {
    let hash = TermHash::of(text).0.to_le_bytes();
    Vector::quantize(&[
        1.0,
        f32::from(hash[0]) / 256.0,
        f32::from(hash[1]) / 256.0,
        f32::from(hash[2]) / 256.0,
    ])
}

/// Returns the write with a vector for each text it stores.
fn with_vectors(write: WriteBatch, model: &EmbeddingModelId) -> WriteBatch {
    let embed = |change: &Change| match change {
        Change::Add(memory) | Change::Update(memory) => Some(vector(&memory.content)),
        Change::Delete(_) | Change::Erase(_) => None,
    };
    let vectors = write.changes.iter().map(embed).collect();
    WriteBatch { vectors: Some(ChangeVectors { model: model.clone(), vectors }), ..write }
}

/// Returns the vectors of a model by the texts of their memories; `None` where a text has no vector.
async fn vectors(
    store: &TestStore,
    scope: &Scope,
    model: &EmbeddingModelId,
) -> Vec<(String, Option<Vec<u8>>)> {
    let mut found = BTreeMap::new();
    for segment in store.index().postings(scope, &[], Some(model)).await.unwrap() {
        for doc in (0..segment.docs.len()).filter(|doc| !segment.docs.is_deleted(*doc)) {
            let slot = segment.vectors.as_ref().and_then(|slots| slots.get(doc));
            found.insert(segment.docs.address(doc), slot.map(|(_, values)| values.to_vec()));
        }
    }
    let addresses: Vec<_> = found.keys().copied().collect();
    let memories = store.memories().by_address(scope, &addresses).await.unwrap();
    memories
        .into_iter()
        .map(|(address, memory)| (memory.content, found[&address].clone()))
        .collect()
}

/// Returns the result of [`vectors`] when every text has its vector.
fn expected_vectors(texts: &[&str]) -> Vec<(String, Option<Vec<u8>>)> {
    let values = |text: &str| vector(text).to_bytes()[4..].to_vec();
    texts.iter().map(|text| ((*text).to_owned(), Some(values(text)))).collect()
}

/// Adds the missing vectors, as the engine does.
async fn backfill_embeddings(store: &TestStore, model: &EmbeddingModelId) {
    loop {
        let missing = store.vectors().missing(None).await.unwrap();
        let Some(first) = missing.first() else { return };
        let embeddings = missing.iter().map(|memory| NewEmbedding {
            id: memory.id,
            version: memory.version,
            vector: vector(&memory.content),
        });
        store.vectors().put(&first.scope, model, embeddings.collect()).await.unwrap();
    }
}

pub(crate) async fn vectors_are_kept_with_their_texts(store: TestStore) {
    let (scope, model) = (test_scope("ann"), model("one"));
    assert_eq!(store.vectors().model().await.unwrap(), None);
    let (tea, talk) = (memory(&scope, 1, "likes 龙井茶"), turn(&scope, 2, "monday", "hello"));
    store.apply(with_vectors(write(&scope, 1, vec![add(&tea), add(&talk)]), &model)).await.unwrap();
    assert_eq!(store.vectors().model().await.unwrap(), Some(model.clone()));
    assert_eq!(vectors(&store, &scope, &model).await, expected_vectors(&["likes 龙井茶", "hello"]));
    let coffee = edited(&tea, "likes coffee");
    store.apply(with_vectors(write(&scope, 2, vec![update(&coffee)]), &model)).await.unwrap();
    assert_eq!(vectors(&store, &scope, &model).await, expected_vectors(&["likes coffee", "hello"]));
    let heavier = Memory { weight: 2.0, ..edited(&coffee, "likes coffee") };
    store.apply(write(&scope, 3, vec![update(&heavier)])).await.unwrap();
    assert_eq!(vectors(&store, &scope, &model).await, expected_vectors(&["likes coffee", "hello"]));
    store.apply(write(&scope, 4, vec![update(&edited(&heavier, "likes water"))])).await.unwrap();
    assert_eq!(
        vectors(&store, &scope, &model).await[0],
        ("likes water".into(), None),
        "an old vector says nothing of a new text"
    );
}

pub(crate) async fn vectors_of_two_models_never_mix(store: TestStore) {
    let (scope, one, two) = (test_scope("ann"), model("one"), model("two"));
    store
        .apply(with_vectors(write(&scope, 1, vec![add(&memory(&scope, 1, "alpha"))]), &one))
        .await
        .unwrap();
    store
        .apply(with_vectors(write(&scope, 2, vec![add(&memory(&scope, 2, "beta"))]), &two))
        .await
        .unwrap();
    assert_eq!(
        store.vectors().model().await.unwrap(),
        Some(one.clone()),
        "a write does not change the model in use"
    );
    let of = async |model: &EmbeddingModelId| {
        vectors(&store, &scope, model).await.into_iter().filter(|(_, slot)| slot.is_some()).count()
    };
    assert_eq!((of(&one).await, of(&two).await), (1, 0));
    store.vectors().set_model(&two).await.unwrap();
    assert_eq!((of(&one).await, of(&two).await), (0, 0), "what another model made is not returned");
    backfill_embeddings(&store, &two).await;
    assert_eq!(vectors(&store, &scope, &two).await, expected_vectors(&["alpha", "beta"]));
    let wrong = store.vectors().set_model(&EmbeddingModelId { dimensions: 5, ..two }).await;
    assert!(
        wrong.is_err() || store.vectors().missing(None).await.unwrap().len() == 2,
        "another size is another model"
    );
}

pub(crate) async fn what_has_no_vector_yet_gets_one(store: TestStore) {
    let (scope, model) = (test_scope("ann"), model("one"));
    let texts: Vec<String> = (0..150).map(|number| format!("text {number}")).collect();
    let turns: Vec<_> = texts
        .iter()
        .enumerate()
        .map(|(number, text)| turn(&scope, number as u8, "monday", text))
        .collect();
    store.apply(write(&scope, 1, turns[..100].iter().map(add).collect())).await.unwrap();
    assert_eq!(
        store.vectors().missing(None).await.unwrap(),
        [],
        "without a model there is nothing to do"
    );
    store
        .apply(with_vectors(write(&scope, 2, turns[100..].iter().map(add).collect()), &model))
        .await
        .unwrap();
    store.apply(write(&scope, 3, vec![Change::Delete(turns[7].id)])).await.unwrap();
    assert_eq!(
        store.vectors().missing(Some(&test_scope("ben"))).await.unwrap(),
        [],
        "nobody else waits"
    );
    assert_eq!(store.vectors().missing(Some(&scope)).await.unwrap().len(), 99);
    let stale = NewEmbedding { id: turns[0].id, version: 9, vector: vector("another text") };
    store.vectors().put(&scope, &model, vec![stale]).await.unwrap();
    backfill_embeddings(&store, &model).await;
    let left: Vec<&str> =
        texts.iter().filter(|text| *text != "text 7").map(String::as_str).collect();
    assert_eq!(vectors(&store, &scope, &model).await, expected_vectors(&left));
    assert_eq!(store.index().inconsistencies(&scope).await.unwrap(), Vec::<String>::new());
}

pub(crate) async fn an_erased_memory_leaves_no_vector(store: TestStore) {
    let (scope, model) = (test_scope("ann"), model("one"));
    let turns: Vec<_> =
        (0..100).map(|number| turn(&scope, number, "monday", &format!("text {number}"))).collect();
    store
        .apply(with_vectors(write(&scope, 1, turns.iter().map(add).collect()), &model))
        .await
        .unwrap();
    let applied = store.apply(write(&scope, 2, vec![Change::Erase(turns[70].id)])).await.unwrap();
    assert_eq!(applied[0].erasure.unwrap().vectors, 1);
    assert_eq!(vectors(&store, &scope, &model).await.len(), 99);
    for segment in store.index().postings(&scope, &[], Some(&model)).await.unwrap() {
        let deleted = (0..segment.docs.len()).filter(|doc| segment.docs.is_deleted(*doc));
        assert!(
            deleted.into_iter().all(|doc| segment.vectors.as_ref().unwrap().get(doc).is_none())
        );
    }
}

/// Returns token vectors that a reranker could have computed for a text.
fn new_token_vectors(memory: &Memory) -> NewTokenVectors {
    let tokens = memory.content.bytes().rev().collect();
    NewTokenVectors { id: memory.id, version: memory.version, token_vectors: tokens }
}

/// Encodes every text that has no token vectors of the model, as the engine does.
async fn backfill_token_vectors(store: &TestStore, model: &EmbeddingModelId) {
    for scope in store.admin().scopes().await.unwrap() {
        let mut after = None;
        loop {
            let missing = store.token_vectors().missing(&scope, model, after, 3).await.unwrap();
            let Some(last) = missing.last() else { break };
            after = Some(last.id);
            let token_vectors = missing.iter().map(new_token_vectors).collect();
            store.token_vectors().put(&scope, model, token_vectors).await.unwrap();
        }
    }
}

/// Returns the stored token vectors of a scope, by their memories.
async fn stored_token_vectors(
    store: &TestStore,
    scope: &Scope,
    model: &EmbeddingModelId,
) -> Vec<(Memory, Option<Vec<u8>>)> {
    let segments = store.index().postings(scope, &[], None).await.unwrap();
    let mut addresses: Vec<DocAddress> = Vec::new();
    for segment in &segments {
        let living = (0..segment.docs.len()).filter(|doc| !segment.docs.is_deleted(*doc));
        addresses.extend(living.map(|doc| segment.docs.address(doc)));
    }
    addresses.sort_unstable();
    let stored = store.token_vectors().get(scope, model, &addresses).await.unwrap();
    let memories = store.memories().by_address(scope, &addresses).await.unwrap();
    memories.into_iter().map(|(_, memory)| memory).zip(stored).collect()
}

/// Asserts that [`stored_token_vectors`] has those of every memory.
async fn assert_token_vectors_complete(store: &TestStore, scope: &Scope, model: &EmbeddingModelId) {
    for (memory, stored) in stored_token_vectors(store, scope, model).await {
        assert_eq!(stored, Some(new_token_vectors(&memory).token_vectors), "{}", memory.content);
    }
}

pub(crate) async fn words_are_kept_until_their_text_changes(store: TestStore) {
    let (scope, model) = (test_scope("ann"), model("words"));
    let texts = ["likes 龙井茶", "hello", "third", "fourth", "fifth"];
    let turns = (1..).zip(texts).map(|(number, text)| turn(&scope, number, "monday", text));
    let turns: Vec<_> = turns.collect();
    store.apply(write(&scope, 1, turns.iter().map(add).collect())).await.unwrap();
    assert_eq!(store.token_vectors().counts(&model).await.unwrap(), (0, 5));
    backfill_token_vectors(&store, &model).await;
    assert_eq!(store.token_vectors().counts(&model).await.unwrap(), (5, 0));
    assert_token_vectors_complete(&store, &scope, &model).await;
    let stored =
        async |number: usize| stored_token_vectors(&store, &scope, &model).await[number].1.clone();
    let heavier = Memory { weight: 2.0, ..edited(&turns[0], "likes 龙井茶") };
    store.apply(write(&scope, 2, vec![update(&heavier)])).await.unwrap();
    assert!(stored(0).await.is_some(), "the text is the same");
    let other = edited(&heavier, "likes coffee");
    store.apply(write(&scope, 3, vec![update(&other)])).await.unwrap();
    assert_eq!(stored(0).await, None, "old words say nothing of a new text");
    let stale = new_token_vectors(&heavier);
    store.token_vectors().put(&scope, &model, vec![stale]).await.unwrap();
    assert_eq!(stored(0).await, None, "what was made of an older version comes too late");
    store.apply(write(&scope, 4, vec![Change::Delete(turns[1].id)])).await.unwrap();
    let back = Memory { version: 2, content: "another text".into(), ..turns[1].clone() };
    store.apply(write(&scope, 5, vec![add(&back)])).await.unwrap();
    assert_eq!(stored(1).await, None, "what returns is read again");
    assert_eq!(store.token_vectors().counts(&model).await.unwrap(), (3, 2));
    backfill_token_vectors(&store, &model).await;
    assert_token_vectors_complete(&store, &scope, &model).await;
    let nobody = store
        .token_vectors()
        .get(&test_scope("ben"), &model, &[DocAddress::new(1, 0)])
        .await
        .unwrap();
    assert_eq!(nobody, [None], "places of another scope are not read");
    assert_eq!(store.index().inconsistencies(&scope).await.unwrap(), Vec::<String>::new());
}

pub(crate) async fn words_of_two_models_never_mix(store: TestStore) {
    let (scope, one, two) = (test_scope("ann"), model("one"), model("two"));
    let memories = [memory(&scope, 1, "alpha"), memory(&scope, 2, "beta")];
    store.apply(write(&scope, 1, memories.iter().map(add).collect())).await.unwrap();
    backfill_token_vectors(&store, &one).await;
    assert_eq!(store.token_vectors().counts(&two).await.unwrap(), (0, 2));
    assert!(
        stored_token_vectors(&store, &scope, &two).await.iter().all(|(_, stored)| stored.is_none())
    );
    store.token_vectors().put(&scope, &two, vec![new_token_vectors(&memories[0])]).await.unwrap();
    assert_eq!(store.token_vectors().counts(&two).await.unwrap(), (1, 1));
    assert_eq!(
        store.token_vectors().counts(&one).await.unwrap(),
        (0, 2),
        "there is room for one model"
    );
    assert_eq!(
        store.token_vectors().missing(&scope, &two, None, 9).await.unwrap(),
        [memories[1].clone()]
    );
    assert_eq!(
        store.token_vectors().missing(&scope, &two, Some(memories[1].id), 9).await.unwrap(),
        []
    );
}

pub(crate) async fn an_erased_memory_leaves_no_words(store: TestStore) {
    let (scope, model) = (test_scope("ann"), model("words"));
    let memories = [memory(&scope, 1, "alpha"), memory(&scope, 2, "beta")];
    store.apply(write(&scope, 1, memories.iter().map(add).collect())).await.unwrap();
    backfill_token_vectors(&store, &model).await;
    let applied = store.apply(write(&scope, 2, vec![Change::Erase(memories[0].id)])).await.unwrap();
    assert_eq!(applied[0].erasure.unwrap().vectors, 1);
    assert_eq!(
        store.token_vectors().get(&scope, &model, &[DocAddress::new(0, 0)]).await.unwrap(),
        [None]
    );
    assert_eq!(store.token_vectors().counts(&model).await.unwrap(), (1, 0));
}

/// Step of the random comparison: the scope, the memory and the change.
#[derive(Debug, Clone)]
enum MirrorStep {
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

const TEXTS: [&str; 6] =
    ["alpha", "beta gamma", "早报 设备", "alpha alpha delta", "", "C盘 API配置"];

/// Applies random changes to a store and to the RAM store and compares everything that can be read.
pub(crate) fn mirror(fresh: impl Fn() -> std::pin::Pin<Box<dyn Future<Output = TestStore>>>) {
    let step = prop_oneof![
        4 => (0..TEXTS.len(), proptest::option::of(0..3u8)).prop_map(|(text, session)| MirrorStep::Add { text, session }),
        3 => (0..TEXTS.len()).prop_map(|text| MirrorStep::Update { text }),
        1 => Just(MirrorStep::Archive),
        2 => Just(MirrorStep::Delete),
        1 => Just(MirrorStep::Erase),
        1 => (1..90u8).prop_map(|count| MirrorStep::Bulk { count }),
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

async fn compare(fresh: impl Future<Output = TestStore>, steps: &[(u8, u8, MirrorStep)]) {
    let (store, ram): (TestStore, TestStore) =
        (fresh.await, TestStore::in_ram(Arc::new(RamStore::default())));
    let owners = [test_scope("ann"), test_scope("ben")];
    for (second, (scope, number, step)) in steps.iter().enumerate() {
        let scope = &owners[usize::from(*scope)];
        let changes = changes(&ram, scope, *number, step, second as u8).await;
        let write = write(scope, second as i64, changes);
        // Some writes come without vectors, as from a program that has no model.
        let write = if second % 3 == 0 { write } else { with_vectors(write, &model("one")) };
        let (real, expected) = (store.apply(write.clone()).await, ram.apply(write).await);
        assert_eq!(comparable(&real), comparable(&expected), "{real:?} and not {expected:?}");
        // Some texts are encoded as they come, others only at the end.
        if second % 5 == 4 {
            backfill_token_vectors(&store, &model("words")).await;
            backfill_token_vectors(&ram, &model("words")).await;
        }
        if second % 7 == 6 {
            read_some_turns(&store, scope, second as i64).await;
            read_some_turns(&ram, scope, second as i64).await;
        }
        assert_eq!(
            store.queue().pending(Some(scope)).await.unwrap(),
            ram.queue().pending(Some(scope)).await.unwrap()
        );
        assert_eq!(
            store.token_vectors().counts(&model("words")).await.unwrap(),
            ram.token_vectors().counts(&model("words")).await.unwrap()
        );
    }
    for scope in &owners {
        let reader = model("words");
        assert_eq!(
            stored_token_vectors(&store, scope, &reader).await,
            stored_token_vectors(&ram, scope, &reader).await
        );
    }
    backfill_embeddings(&store, &self::model("one")).await;
    backfill_embeddings(&ram, &self::model("one")).await;
    for scope in &owners {
        assert_same(&store, &ram, scope, steps.len() as i64).await;
    }
    store.admin().close().await;
}

/// Returns the applied changes without the number of vectors removed: a store may have deferred some vectors.
fn comparable(applied: &Result<Vec<AppliedChange>>) -> Option<Vec<AppliedChange>> {
    let mut applied = applied.as_ref().ok()?.clone();
    for erased in applied.iter_mut().filter_map(|applied| applied.erasure.as_mut()) {
        erased.vectors = 0;
    }
    Some(applied)
}

async fn changes(
    model: &TestStore,
    scope: &Scope,
    number: u8,
    step: &MirrorStep,
    second: u8,
) -> Vec<Change> {
    let id = memory(scope, number, "").id;
    let stored = model.memories().get(scope, &[id]).await.unwrap().remove(0);
    let stored = stored.unwrap_or_else(|| memory(scope, number, "never stored"));
    match step {
        MirrorStep::Add { text, session: None } => vec![add(&memory(scope, number, TEXTS[*text]))],
        MirrorStep::Add { text, session: Some(session) } => {
            vec![add(&turn(scope, number, &session.to_string(), TEXTS[*text]))]
        }
        MirrorStep::Update { text } => vec![update(&edited(&stored, TEXTS[*text]))],
        MirrorStep::Archive => {
            vec![update(&Memory { status: Status::Archived, ..edited(&stored, &stored.content) })]
        }
        MirrorStep::Delete => vec![Change::Delete(id)],
        MirrorStep::Erase => vec![Change::Erase(id)],
        MirrorStep::Bulk { count } => (0..*count)
            .map(|index| {
                let mut turn = turn(scope, 100, "bulk", TEXTS[usize::from(index) % TEXTS.len()]);
                let mut id = *turn.id.as_bytes();
                (id[1], id[2]) = (second, index);
                turn.id = MemoryId::from_bytes(id);
                add(&turn)
            })
            .collect(),
    }
}

async fn assert_same(store: &TestStore, model: &TestStore, scope: &Scope, seconds: i64) {
    assert_eq!(list_all(store, scope).await, list_all(model, scope).await);
    let words = ["alpha", "beta", "gamma", "delta", "早报", "设备", "c盘", "nothing"];
    assert_eq!(
        postings_by_address(store, scope, &words).await,
        postings_by_address(model, scope, &words).await
    );
    let journal = JournalQuery::default();
    assert_eq!(
        store.journal().entries(scope, &journal).await.unwrap(),
        model.journal().entries(scope, &journal).await.unwrap()
    );
    for second in [0, seconds / 2, seconds] {
        let at = time(second);
        assert_eq!(
            store.journal().as_of(scope, at).await.unwrap(),
            model.journal().as_of(scope, at).await.unwrap()
        );
    }
    assert_eq!(
        store.memories().count(scope).await.unwrap(),
        model.memories().count(scope).await.unwrap()
    );
    let texts: Vec<_> = TEXTS.iter().map(|text| Fingerprint::of(text)).collect();
    assert_eq!(
        store.memories().are_erased(scope, &texts).await.unwrap(),
        model.memories().are_erased(scope, &texts).await.unwrap()
    );
    assert_eq!(store.index().inconsistencies(scope).await.unwrap(), Vec::<String>::new());
    let one = self::model("one");
    assert_eq!(vectors(store, scope, &one).await, vectors(model, scope, &one).await);
    let held = list_all(store, scope).await;
    assert_eq!(store.index().reindex(scope).await.unwrap(), held.len());
    assert_eq!(
        postings_by_address(store, scope, &words).await,
        postings_by_address(model, scope, &words).await
    );
    assert_eq!(store.index().inconsistencies(scope).await.unwrap(), Vec::<String>::new());
}
