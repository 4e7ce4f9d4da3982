//! Conformance under several servers: two handles on one database, races, and rules that every backend must agree on.

use super::{
    embeddings::{model, with_vectors},
    *,
};
use crate::types::Vector;

/// Writers that race in one test: enough to collide, few enough to be quick.
const RACERS: u8 = 8;

pub(crate) async fn two_handles_see_each_others_writes(store: TestStore) {
    let (scope, second) = (test_scope("ann"), store.second().await);
    let tea = memory(&scope, 1, "龙井茶 tea");
    store.apply(write(&scope, 1, vec![add(&tea)])).await.unwrap();
    assert_eq!(list_all(&second, &scope).await, std::slice::from_ref(&tea));
    let changed = edited(&tea, "普洱茶 tea");
    second.apply(write(&scope, 2, vec![Change::Update(Box::new(changed.clone()))])).await.unwrap();
    assert_eq!(list_all(&store, &scope).await, [changed]);
    let seqs =
        |entries: Vec<JournalEntry>| entries.iter().map(|entry| entry.seq).collect::<Vec<_>>();
    let query = JournalQuery::default();
    let entries = store.journal().entries(&scope, &query).await.unwrap();
    assert_eq!(seqs(entries), [2, 1]);
    assert_eq!(second.memories().read_back(&scope, &[tea.id]).await.unwrap(), [true]);
}

pub(crate) async fn concurrent_writes_of_two_handles_all_survive(store: TestStore) {
    let (scope, second) = (test_scope("ann"), store.second().await);
    let mut tasks = Vec::new();
    for number in 0..RACERS {
        let (store, scope) =
            (if number % 2 == 0 { store.clone() } else { second.clone() }, scope.clone());
        tasks.push(tokio::spawn(async move {
            let said = turn(&scope, number, "talk", &format!("turn {number}"));
            store.apply(write(&scope, number.into(), vec![add(&said)])).await.unwrap()[0].seq
        }));
    }
    let mut seqs = Vec::new();
    for task in tasks {
        seqs.push(task.await.unwrap());
    }
    seqs.sort_unstable();
    assert_eq!(seqs, (1..=u64::from(RACERS)).collect::<Vec<_>>(), "each line has its own number");
    let turns = store.uris().turns(&scope, "talk", None, 100).await.unwrap();
    assert_eq!(turns.len(), usize::from(RACERS), "each turn has its own address");
    assert_eq!(store.index().inconsistencies(&scope).await.unwrap(), Vec::<String>::new());
}

pub(crate) async fn concurrent_changes_of_one_memory_leave_one_winner(store: TestStore) {
    let (scope, second) = (test_scope("ann"), store.second().await);
    let tea = memory(&scope, 1, "tea");
    store.apply(write(&scope, 1, vec![add(&tea)])).await.unwrap();
    let change = |text: &str| write(&scope, 2, vec![Change::Update(Box::new(edited(&tea, text)))]);
    let (one, other) = tokio::join!(store.apply(change("green")), second.apply(change("black")));
    let lost = one.as_ref().err().or(other.as_ref().err());
    assert!(one.is_ok() != other.is_ok(), "{one:?} {other:?}");
    assert!(matches!(lost, Some(Error::Conflict { .. })), "{lost:?}");
    let stored = list_all(&store, &scope).await;
    assert_eq!(stored[0].content, if one.is_ok() { "green" } else { "black" });
}

pub(crate) async fn concurrent_claims_lease_a_session_once(store: TestStore) {
    let (scope, second) = (test_scope("ann"), store.second().await);
    let said = turn(&scope, 1, "talk", "I live in 里斯本");
    store.apply(write(&scope, 1, vec![add(&said)])).await.unwrap();
    let claim = |name: &str| ClaimRequest {
        scope: Some(scope.clone()),
        session: None,
        owner: name.to_owned(),
        now: time(10),
        lease_duration: std::time::Duration::from_secs(60),
        due: None,
    };
    let (a, b) = (claim("server a"), claim("server b"));
    let (one, other) = tokio::join!(store.queue().claim(&a), second.queue().claim(&b));
    let leases = [one.unwrap(), other.unwrap()];
    assert_eq!(leases.iter().flatten().count(), 1, "{leases:?}");
}

pub(crate) async fn a_unique_violation_inside_a_batch_leaves_nothing(store: TestStore) {
    let scope = test_scope("ann");
    let taken = memory(&scope, 1, "tea");
    store.apply(write(&scope, 1, vec![add(&taken)])).await.unwrap();
    let fresh = memory(&scope, 2, "milk");
    let clash = Memory { uri: taken.uri.clone(), ..memory(&scope, 3, "coffee") };
    let twin = Memory { uri: fresh.uri.clone(), ..memory(&scope, 4, "water") };
    for batch in [vec![add(&fresh), add(&clash)], vec![add(&fresh), add(&twin)]] {
        let error = store.apply(write(&scope, 2, batch)).await.unwrap_err();
        assert!(matches!(error, Error::Conflict { .. }), "{error:?}");
    }
    assert_eq!(list_all(&store, &scope).await, [taken]);
    store.apply(write(&scope, 3, vec![add(&fresh)])).await.unwrap();
    assert_eq!(store.index().inconsistencies(&scope).await.unwrap(), Vec::<String>::new());
}

pub(crate) async fn a_uri_is_free_again_once_its_memory_is_deleted(store: TestStore) {
    let scope = test_scope("ann");
    let old = memory(&scope, 1, "tea");
    store.apply(write(&scope, 1, vec![add(&old)])).await.unwrap();
    let new = Memory { uri: old.uri.clone(), ..memory(&scope, 2, "coffee") };
    let too_early = vec![add(&new), Change::Delete(old.id)];
    let error = store.apply(write(&scope, 2, too_early)).await.unwrap_err();
    assert!(matches!(error, Error::Conflict { .. }), "{error:?}");
    store.apply(write(&scope, 2, vec![Change::Delete(old.id), add(&new)])).await.unwrap();
    assert_eq!(list_all(&store, &scope).await, [new]);
}

pub(crate) async fn similarities_are_those_of_the_loaded_vectors(store: TestStore) {
    let scope = test_scope("ann");
    let added = (0..200u8).map(|number| add(&memory(&scope, number, &format!("text {number}"))));
    let batch = with_vectors(write(&scope, 1, added.collect()), &model("one"));
    store.apply(batch).await.unwrap();
    let segments = store.index().postings(&scope, &[], Some(&model("one"))).await.unwrap();
    let query = Vector { scale: 0.01, values: vec![3; model("one").dimensions] };
    for segment in &segments {
        let vectors = segment.vectors.as_ref().expect("every segment has vectors");
        let loaded = |doc| vectors.similarity(doc, &query);
        match vectors {
            SegmentVectors::Unloaded(block) => {
                let scores = store.index().similarities(&scope, &[*block], &query).await.unwrap();
                assert_eq!(scores.expect("the block is there")[0].len(), segment.docs.len());
            }
            _ => assert!((0..segment.docs.len()).all(|doc| loaded(doc).is_some())),
        }
    }
    let scores = store.index().similarities(&scope, &[i64::MAX], &query).await.unwrap();
    assert_eq!(scores, None, "a block that is not there has no scores");
}

pub(crate) async fn cached_vectors_are_found_bounded_and_forgotten(store: TestStore) {
    let (scope, other) = (test_scope("ann"), test_scope("ben"));
    for scope in [&scope, &other] {
        store.apply(write(scope, 1, vec![add(&memory(scope, 1, "secret 茶"))])).await.unwrap();
    }
    let text = |n: u8| Fingerprint::of(&format!("text {n}"));
    let secret = Fingerprint::of("secret 茶");
    let vector = |n: i8| Vector { scale: 1.0, values: vec![n; 4] };
    let insert = |vectors: Vec<(Fingerprint, Vector)>, is_query, most| VectorInsert {
        model: model("one"),
        vectors,
        is_query,
        now: time(0),
        max_entries: most,
    };
    let lookup = |texts: Vec<Fingerprint>, is_query| VectorLookup {
        model: model("one"),
        texts,
        is_query,
        now: time(0),
    };
    let cache = store.vector_cache();
    cache
        .insert(&scope, insert(vec![(text(1), vector(1)), (secret, vector(2))], false, 9))
        .await
        .unwrap();
    cache.insert(&scope, insert(vec![(text(1), vector(3))], true, 9)).await.unwrap();
    let found = cache.lookup(&scope, &lookup(vec![text(1), text(9), secret], false)).await.unwrap();
    assert_eq!(found, [Some(vector(1)), None, Some(vector(2))]);
    assert_eq!(
        cache.lookup(&scope, &lookup(vec![text(1)], true)).await.unwrap(),
        [Some(vector(3))]
    );
    assert_eq!(cache.lookup(&other, &lookup(vec![text(1)], false)).await.unwrap(), [None]);
    let status = cache.status().await.unwrap();
    assert_eq!((status.entries, status.hits, status.misses), (3, 3, 2));
    let erased = memory(&scope, 1, "secret 茶").id;
    let receipt =
        store.apply(write(&scope, 2, vec![Change::Erase(erased)])).await.unwrap().remove(0);
    assert_eq!(receipt.erasure.unwrap().cached_vectors, 2, "its text, and every question");
    let left = cache.lookup(&scope, &lookup(vec![text(1), secret], false)).await.unwrap();
    assert_eq!(left, [Some(vector(1)), None]);
    cache.insert(&scope, insert(vec![(secret, vector(2))], false, 9)).await.unwrap();
    assert_eq!(cache.lookup(&scope, &lookup(vec![secret], false)).await.unwrap(), [None]);
    let many = (10..40).map(|n| (text(n), vector(1))).collect();
    cache.insert(&scope, insert(many, false, 16)).await.unwrap();
    assert!(cache.status().await.unwrap().entries <= 16);
}

pub(crate) async fn documents_are_replaced_by_the_first_of_two_writers(store: TestStore) {
    let second = store.second().await;
    assert_eq!(store.documents().get("agents/助手/settings").await.unwrap(), None);
    assert_eq!(store.documents().put("agents/助手/settings", 0, "a").await.unwrap(), Some(1));
    assert_eq!(second.documents().put("agents/助手/settings", 0, "b").await.unwrap(), None);
    assert_eq!(second.documents().put("agents/助手/settings", 1, "c").await.unwrap(), Some(2));
    let stored = store.documents().get("agents/助手/settings").await.unwrap().unwrap();
    assert_eq!((stored.text.as_str(), stored.version), ("c", 2));
    store.documents().put("keys", 0, "k").await.unwrap();
    assert_eq!(store.documents().names("agents/").await.unwrap(), ["agents/助手/settings"]);
    assert!(store.documents().remove("keys").await.unwrap());
    assert!(!store.documents().remove("keys").await.unwrap());
}

pub(crate) async fn uris_are_ordered_by_bytes(store: TestStore) {
    let scope = test_scope("ann");
    let names = ["a", "a/b", "a-b", "a0", "a~", "A", "a/~", "茶", "茶/龙井", "é", "z"];
    let uri = |name: &str| format!("agent://tester/user/{name}");
    let named = |(number, name): (usize, &&str)| {
        let number = number as u8;
        add(&Memory { uri: uri(name), ..memory(&scope, number, &format!("text {number}")) })
    };
    let changes = names.iter().enumerate().map(named).collect();
    store.apply(write(&scope, 1, changes)).await.unwrap();
    let mut expected: Vec<String> = names.iter().map(|name| uri(name)).collect();
    expected.sort_unstable();
    let found = store.uris().by_prefix(&scope, "agent://tester/user/", None, 100).await.unwrap();
    assert_eq!(found.iter().map(|memory| memory.uri.clone()).collect::<Vec<_>>(), expected);
    let mut walked: Vec<String> = Vec::new();
    loop {
        let after = walked.last().map(String::as_str);
        let page = store.uris().children(&scope, "agent://tester/user/", after, 2).await.unwrap();
        if page.is_empty() {
            break;
        }
        walked.extend(page.iter().map(UriChild::sort_key));
    }
    assert_eq!(walked, ["A", "a", "a-b", "a/", "a0", "a~", "z", "é", "茶", "茶/"]);
}

pub(crate) async fn a_batch_may_change_one_memory_many_times(store: TestStore) {
    let scope = test_scope("ann");
    let (tea, milk) = (memory(&scope, 1, "tea"), memory(&scope, 2, "milk"));
    let green = edited(&tea, "green tea");
    let update = |memory: &Memory| Change::Update(Box::new(memory.clone()));
    let batch = vec![
        add(&tea),
        update(&green),
        add(&milk),
        Change::Delete(milk.id),
        add(&milk),
        Change::Delete(tea.id),
    ];
    store.apply(write(&scope, 1, batch)).await.unwrap();
    assert_eq!(list_all(&store, &scope).await, std::slice::from_ref(&milk));
    let batch = vec![Change::Erase(tea.id), Change::Erase(milk.id)];
    let receipts = store.apply(write(&scope, 2, batch)).await.unwrap();
    let erasure = |index: usize| receipts[index].erasure.unwrap();
    assert_eq!((erasure(0).rows, erasure(0).journal_images, erasure(0).tombstones), (0, 2, 2));
    assert_eq!((erasure(1).rows, erasure(1).journal_images, erasure(1).tombstones), (1, 1, 1));
    assert_eq!(store.memories().tombstones(&scope).await.unwrap().len(), 3);
    assert_eq!(store.index().inconsistencies(&scope).await.unwrap(), Vec::<String>::new());
}
