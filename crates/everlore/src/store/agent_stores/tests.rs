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
    open_waiting(folder, MAX_SEAL_WAIT).await
}

async fn open_waiting(folder: PathBuf, max_seal_wait: Duration) -> Arc<AgentStores> {
    let home = SqliteStore::open(folder.join("everlore.db")).await.unwrap();
    let stores = AgentStores::open_waiting(Arc::new(home), max_seal_wait).await.unwrap();
    let url = StoreUrl::new(format!("sqlite:{}", folder.join("own/tester.db").display()));
    let own = |database| Ok(AgentDatabase { url: url.clone(), ..database });
    stores.update(AGENT, own).await.unwrap();
    stores
}

async fn fresh() -> TestStore {
    // Nobody ends the seals of the suite.
    let open = |folder| async move { open_waiting(folder, Duration::ZERO).await as Arc<dyn Store> };
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
    stores.admin().set_sealed(AGENT, true).await.unwrap();
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
