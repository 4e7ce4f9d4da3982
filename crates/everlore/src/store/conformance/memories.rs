//! Conformance of rows: batches, versions, scopes, lists and keys.

use super::*;

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
    let random = |digits: &[&str]| {
        MemoryKey::RandomPrefix(digits.iter().map(|digits| (*digits).to_owned()).collect())
    };
    let last = two.id.random_digits();
    let same_end =
        [&one, &two, &said].into_iter().filter(|m| m.id.random_digits() == last).cloned();
    let same_end: Vec<Memory> = same_end.collect();
    for digits in [&last[..], &last[..8], &last[..5]] {
        assert_eq!(find(random(&["123456789abc", digits])).await, same_end, "{digits}");
    }
    for digits in ["123456789abc", "12345", "12", "", "xyzxyz", "0000000000000"] {
        assert_eq!(find(random(&[digits])).await, [], "{digits}");
    }
    assert_eq!(find(MemoryKey::RandomPrefix(Vec::new())).await, []);
    assert_eq!(find(MemoryKey::Uri(one.uri.clone())).await, std::slice::from_ref(&one));
    assert_eq!(find(MemoryKey::Uri(said.uri.clone())).await, []);
    let same = MemoryKey::Text(Fingerprint::of(" same "));
    assert_eq!(find(same.clone()).await, [one.clone(), two]);
    let keys = [MemoryKey::Uri("agent://x/none".into()), same];
    assert_eq!(store.memories().find(&scope, &keys, 1).await.unwrap(), [vec![], vec![one]]);
    assert_eq!(store.memories().find(&scope, &[], 1).await.unwrap(), Vec::<Vec<Memory>>::new());
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
