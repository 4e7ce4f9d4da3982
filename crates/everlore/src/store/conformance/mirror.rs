//! Random changes, compared with the RAM store.

use proptest::{prelude::*, test_runner::TestRunner};

use super::{
    capture_queue::read_some_turns,
    embeddings::{backfill_embeddings, model, vectors, with_vectors},
    token_vectors::{backfill_token_vectors, stored_token_vectors},
    *,
};

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
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
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
