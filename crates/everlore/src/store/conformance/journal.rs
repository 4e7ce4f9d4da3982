//! Conformance of the journal: history, the past, erasure.

use super::*;

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

pub(crate) async fn a_single_write_is_made_once(store: TestStore) {
    let scope = test_scope("ann");
    let single = |number: u8| WriteBatch {
        run: Some("http-7".into()),
        is_single: true,
        ..write(
            &scope,
            1,
            vec![add(&memory(&scope, number, "one")), add(&memory(&scope, number + 1, "two"))],
        )
    };
    store.apply(single(1)).await.unwrap();
    let repeated = store.apply(single(3)).await;
    assert!(matches!(repeated, Err(Error::Repeated { .. })), "{repeated:?}");
    assert_eq!(store.journal().newest_seq(&scope).await.unwrap(), 2);
    // Others of the run may follow: an undo has another reason, and a copy repeats line by line.
    let undo = WriteBatch { reason: "undo".into(), ..single(5) };
    store.apply(undo).await.unwrap();
    store.apply(WriteBatch { is_single: false, ..single(7) }).await.unwrap();
    assert_eq!(store.journal().newest_seq(&scope).await.unwrap(), 6);
}

pub(crate) async fn a_plan_that_missed_a_write_is_refused(store: TestStore) {
    let (scope, other) = (test_scope("ann"), test_scope("ben"));
    let planned = |seen: u64, number: u8| WriteBatch {
        planned_after: Some(seen),
        ..write(&scope, 1, vec![add(&memory(&scope, number, "text"))])
    };
    store.apply(planned(0, 1)).await.unwrap();
    let late = store.apply(planned(0, 2)).await;
    assert!(matches!(late, Err(Error::Conflict { .. })), "{late:?}");
    store.apply(write(&other, 1, vec![add(&memory(&other, 3, "another's"))])).await.unwrap();
    store.apply(planned(1, 2)).await.unwrap();
    assert_eq!(store.journal().newest_seq(&scope).await.unwrap(), 2);
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
