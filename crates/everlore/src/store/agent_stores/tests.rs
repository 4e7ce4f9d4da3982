//! An agent with a database of its own passes the suite of all stores, and others know nothing of it.

use std::{path::PathBuf, sync::Arc};

use super::*;
use crate::{
    store::{SqliteStore, conformance::*},
    types::Scope,
};

/// Agent of the suite.
const AGENT: &str = "tester";

async fn open(folder: PathBuf) -> Arc<AgentStores> {
    open_waiting(folder, MAX_SEAL_WAIT, seal_lease::MAX_SILENCE).await
}

async fn open_waiting(
    folder: PathBuf,
    max_seal_wait: Duration,
    max_silence: Duration,
) -> Arc<AgentStores> {
    let home = SqliteStore::open(folder.join("everlore.db")).await.unwrap();
    let stores = AgentStores::open_waiting(Arc::new(home), max_seal_wait, max_silence);
    let stores = stores.await.unwrap();
    let url = StoreUrl::new(format!("sqlite:{}", folder.join("own/tester.db").display()));
    let own = |database| Ok(AgentDatabase { url: url.clone(), ..database });
    stores.update(AGENT, own).await.unwrap();
    stores
}

async fn fresh() -> TestStore {
    // Nobody ends the seals of the suite.
    let open = |folder| async move {
        open_waiting(folder, Duration::ZERO, seal_lease::MAX_SILENCE).await as Arc<dyn Store>
    };
    TestStore::in_folder(open).await
}

crate::store::conformance::suite!(fresh);

#[tokio::test]
async fn an_agent_is_where_the_registry_says() {
    let folder = tempfile::tempdir().unwrap();
    let stores = open(folder.path().to_owned()).await;
    let (own, shared) = (test_scope("ann"), Scope::new("助手", "ann").unwrap());
    for scope in [&own, &shared] {
        let tea = memory(scope, 1, "I like 龙井茶");
        stores.apply(write(scope, 1, vec![add(&tea)])).await.unwrap();
    }
    assert_eq!(stores.admin().scopes().await.unwrap(), [own.clone(), shared.clone()]);
    assert_eq!(stores.home.admin().scopes().await.unwrap(), [shared]);
    let url = stores.database(AGENT).url;
    let store = stores.open_url(&url).await.unwrap();
    assert_eq!(store.admin().scopes().await.unwrap(), [own]);
}

#[tokio::test]
async fn a_write_to_a_sealed_agent_goes_where_the_agent_went() {
    let folder = tempfile::tempdir().unwrap();
    let stores = open(folder.path().to_owned()).await;
    let scope = test_scope("ann");
    stores.apply(write(&scope, 1, vec![add(&memory(&scope, 1, "tea"))])).await.unwrap();
    stores.admin().change_seal(AGENT, SealChange::SEAL_FOR_GOOD).await.unwrap();
    let other = AgentStores::open(Arc::clone(&stores.home)).await.unwrap();
    let target = StoreUrl::new(format!("sqlite:{}", folder.path().join("new.db").display()));
    let switch = async {
        tokio::time::sleep(SEAL_RETRY_INTERVAL * 2).await;
        other.update(AGENT, |it| Ok(AgentDatabase { url: target.clone(), ..it })).await.unwrap();
    };
    let late = write(&scope, 2, vec![add(&memory(&scope, 2, "late"))]);
    let (written, ()) = tokio::join!(stores.apply(late), switch);
    written.unwrap();
    let moved = other.open_url(&target).await.unwrap();
    assert_eq!(moved.memories().count(&scope).await.unwrap().changes, 1);
}

/// Seals the agent of the suite as a move does.
async fn seal_for_move(stores: &AgentStores, holder: &str) {
    let lease = SealLease { holder: holder.to_owned(), beats: 0 };
    let (to, phase) = (StoreUrl::new("sqlite:target.db"), MovePhase::Sealed);
    let moving = AgentMove { to, phase, lease: Some(lease) };
    let seal = |it| Ok(AgentDatabase { moving: Some(moving.clone()), ..it });
    stores.update(AGENT, seal).await.unwrap();
    stores.admin().change_seal(AGENT, SealChange::Seal(holder)).await.unwrap();
}

/// Time without a beat that this test waits for: long enough for a busy machine to beat in time.
const SILENCE: Duration = Duration::from_secs(1);

#[tokio::test]
async fn a_seal_whose_holder_is_silent_ends_and_one_that_beats_stays() {
    let folder = tempfile::tempdir().unwrap();
    let stores = open_waiting(folder.path().to_owned(), MAX_SEAL_WAIT, SILENCE).await;
    let scope = test_scope("ann");
    stores.apply(write(&scope, 1, vec![add(&memory(&scope, 1, "tea"))])).await.unwrap();
    seal_for_move(&stores, "alive").await;
    let heartbeat = SealHeartbeat::start(&stores, AGENT, "alive");
    let beats = || stores.database(AGENT).lease().map_or(0, |lease| lease.beats);
    let late = write(&scope, 2, vec![add(&memory(&scope, 2, "late"))]);
    let written = tokio::time::timeout(SILENCE * 2, stores.apply(late.clone())).await;
    assert!(written.is_err() && beats() > 3, "a live move is not disturbed: {written:?}");
    drop(heartbeat);
    let began = Instant::now();
    stores.apply(late).await.unwrap();
    assert!(
        began.elapsed() < MAX_SEAL_WAIT,
        "writers wait for a dead move no longer than its lease"
    );
    let moving = stores.database(AGENT).moving.unwrap();
    assert_eq!((moving.phase, moving.lease), (MovePhase::Copying, None));
}

#[tokio::test]
async fn a_holder_that_lost_its_lease_notices_and_takes_no_other_seal_along() {
    let folder = tempfile::tempdir().unwrap();
    let stores =
        open_waiting(folder.path().to_owned(), Duration::ZERO, seal_lease::MAX_SILENCE).await;
    let scope = test_scope("ann");
    stores.apply(write(&scope, 1, vec![add(&memory(&scope, 1, "tea"))])).await.unwrap();
    seal_for_move(&stores, "slow").await;
    let slow = stores.database(AGENT).lease().unwrap().clone();
    stores.end_seal(AGENT, &slow).await.unwrap();
    assert!(!stores.database(AGENT).is_sealed_by("slow"), "it may not switch");
    seal_for_move(&stores, "next").await;
    stores.end_seal(AGENT, &slow).await.unwrap();
    assert!(stores.database(AGENT).is_sealed_by("next"));
    let added = write(&scope, 2, vec![add(&memory(&scope, 2, "late"))]);
    assert!(matches!(stores.apply(added).await, Err(Error::Sealed { .. })));
}

#[tokio::test]
async fn a_password_is_in_the_registry_and_in_no_debug_output() {
    let folder = tempfile::tempdir().unwrap();
    let stores = open(folder.path().to_owned()).await;
    let url = StoreUrl::new("postgres://ann:hunter2@host/db");
    let kept = |it| Ok(AgentDatabase { kept: Some(url.clone()), ..it });
    let database = stores.update(AGENT, kept).await.unwrap();
    assert!(!format!("{database:?}").contains("hunter2"));
    let other = AgentStores::open(Arc::clone(&stores.home)).await.unwrap();
    assert_eq!(other.database(AGENT).kept.unwrap().reveal(), url.reveal());
}

#[tokio::test]
async fn a_database_that_cannot_be_opened_stops_no_other_agent() {
    let folder = tempfile::tempdir().unwrap();
    let stores = open(folder.path().to_owned()).await;
    let gone = StoreUrl::new(format!("directory:{}", folder.path().join("everlore.db").display()));
    stores.update("gone", |it| Ok(AgentDatabase { url: gone.clone(), ..it })).await.unwrap();
    let scope = test_scope("ann");
    stores.apply(write(&scope, 1, vec![add(&memory(&scope, 1, "tea"))])).await.unwrap();
    assert_eq!(stores.admin().scopes().await.unwrap(), [scope]);
    assert!(stores.queue().pending(None).await.is_ok());
    let problems = stores.admin().integrity().await.unwrap();
    assert!(problems.len() == 1 && problems[0].contains("`gone`"), "{problems:?}");
}
