//! Conformance of seals: no process writes to a sealed agent, and an erased one leaves nothing.

use super::*;

async fn refuses(store: &TestStore, scope: &Scope, number: u8) -> bool {
    let added = store.apply(write(scope, 9, vec![add(&memory(scope, number, "茶 late"))])).await;
    match added {
        Err(Error::Sealed { agent }) => agent == scope.agent(),
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn a_sealed_agent_is_read_and_not_written(store: TestStore) {
    let (ann, bob) = (test_scope("ann"), test_scope("bob"));
    let other = Scope::new("another", "ann").unwrap();
    let tea = memory(&ann, 1, "I like 龙井茶");
    store.apply(write(&ann, 1, vec![add(&tea)])).await.unwrap();
    let second = store.second().await;
    store.admin().change_seal("tester", SealChange::SEAL_FOR_GOOD).await.unwrap();
    store.admin().change_seal("tester", SealChange::SEAL_FOR_GOOD).await.unwrap();
    for handle in [&store, &second] {
        assert!(refuses(handle, &ann, 2).await);
        assert!(refuses(handle, &bob, 3).await, "a user that appears later");
        assert_eq!(list_all(handle, &ann).await, std::slice::from_ref(&tea));
        assert_eq!(handle.journal().newest_seq(&ann).await.unwrap(), 1);
        let found = postings_by_address(handle, &ann, &["like"]).await;
        assert_eq!(found[0].len(), 1);
    }
    assert_eq!(store.admin().scopes().await.unwrap(), std::slice::from_ref(&ann));
    store.apply(write(&other, 2, vec![add(&memory(&other, 4, "free"))])).await.unwrap();
    assert_eq!(store.index().stale_scopes().await.unwrap(), []);
    second.admin().change_seal("tester", SealChange::End).await.unwrap();
    store.apply(write(&ann, 3, vec![add(&memory(&ann, 2, "again"))])).await.unwrap();
    second.apply(write(&bob, 3, vec![add(&memory(&bob, 3, "new"))])).await.unwrap();
    assert_eq!(list_all(&store, &ann).await.len(), 2);
}

pub(crate) async fn a_holder_ends_no_seal_but_its_own(store: TestStore) {
    let (ann, bob) = (test_scope("ann"), test_scope("bob"));
    store.apply(write(&ann, 1, vec![add(&memory(&ann, 1, "I like 龙井茶"))])).await.unwrap();
    let second = store.second().await;
    let change = async |store: &TestStore, change| {
        store.admin().change_seal("tester", change).await.unwrap();
    };
    change(&store, SealChange::Seal("first")).await;
    change(&second, SealChange::EndOf("another")).await;
    assert!(refuses(&store, &ann, 2).await && refuses(&second, &bob, 3).await);
    change(&second, SealChange::Seal("second")).await;
    change(&store, SealChange::EndOf("first")).await;
    for handle in [&store, &second] {
        assert!(refuses(handle, &ann, 2).await, "a process that was late");
        assert!(refuses(handle, &bob, 3).await);
    }
    change(&store, SealChange::EndOf("second")).await;
    store.apply(write(&ann, 2, vec![add(&memory(&ann, 2, "again"))])).await.unwrap();
    second.apply(write(&bob, 2, vec![add(&memory(&bob, 3, "new"))])).await.unwrap();
    change(&store, SealChange::Seal("first")).await;
    change(&second, SealChange::SEAL_FOR_GOOD).await;
    change(&store, SealChange::EndOf("first")).await;
    assert!(refuses(&store, &ann, 4).await, "sealed for good since");
    change(&second, SealChange::End).await;
    store.apply(write(&ann, 3, vec![add(&memory(&ann, 4, "at last"))])).await.unwrap();
    assert_eq!(list_all(&second, &ann).await.len(), 3);
}

pub(crate) async fn a_seal_waits_for_writes_under_way(store: TestStore) {
    // Numbers of a scope's memories, each writer its own users.
    const WRITES: u8 = 12;
    let second = store.second().await;
    let write_until_sealed = async |store: &TestStore, prefix: &str| {
        let mut stored = 0;
        for number in 0..WRITES {
            let scope = test_scope(&format!("{prefix}{}", number % 4));
            let added = vec![add(&memory(&scope, number, "tea"))];
            match store.apply(write(&scope, 1, added)).await {
                Ok(_) => stored += 1,
                Err(Error::Sealed { .. }) => {}
                Err(error) => panic!("{error:?}"),
            }
        }
        stored
    };
    let count = async || {
        let mut count = 0;
        for scope in store.admin().scopes().await.unwrap() {
            count += list_all(&store, &scope).await.len();
        }
        count
    };
    let seal_and_count = async {
        tokio::task::yield_now().await;
        store.admin().change_seal("tester", SealChange::SEAL_FOR_GOOD).await.unwrap();
        count().await
    };
    let (one, other, sealed) = tokio::join!(
        write_until_sealed(&store, "a"),
        write_until_sealed(&second, "b"),
        seal_and_count
    );
    assert_eq!(count().await, one + other, "every acknowledged write is there");
    assert_eq!(count().await, sealed, "nothing was written after the seal");
}

pub(crate) async fn an_erased_agent_leaves_nothing_and_may_come_back(store: TestStore) {
    let scope = test_scope("ann");
    let other = Scope::new("another", "ann").unwrap();
    let tea = memory(&scope, 1, "I like 龙井茶");
    let said = turn(&scope, 2, "s", "I bought a bicycle");
    store.apply(write(&scope, 1, vec![add(&tea), add(&said)])).await.unwrap();
    store.apply(write(&other, 1, vec![add(&memory(&other, 3, "I like milk"))])).await.unwrap();
    store.admin().change_seal("tester", SealChange::SEAL_FOR_GOOD).await.unwrap();
    store.admin().erase_agent("tester").await.unwrap();
    assert!(refuses(&store, &scope, 4).await);
    assert_eq!(store.admin().scopes().await.unwrap(), std::slice::from_ref(&other));
    assert_eq!(list_all(&store, &scope).await, []);
    assert_eq!(store.memories().count(&scope).await.unwrap(), ScopeCounts::default());
    assert_eq!(store.queue().pending(None).await.unwrap(), []);
    assert!(postings_by_address(&store, &scope, &["like"]).await[0].is_empty());
    store.admin().change_seal("tester", SealChange::End).await.unwrap();
    store.apply(write(&scope, 2, vec![add(&tea), add(&said)])).await.unwrap();
    assert_eq!(list_all(&store, &scope).await.len(), 2);
    assert_eq!(store.index().inconsistencies(&scope).await.unwrap(), Vec::<String>::new());
    assert_eq!(list_all(&store, &other).await.len(), 1);
}
