//! Servers that are killed keep what they acknowledged.

use std::fs;

use everlore_test_databases::{MariaDbOptions, MariaDbServer, PostgresOptions, PostgresServer};

#[tokio::test]
async fn postgres_keeps_its_rows_after_a_kill_and_leaves_no_shared_memory() {
    let mut server = PostgresServer::start(PostgresOptions::default()).await;
    server.query("CREATE TABLE kept AS SELECT 7 AS value").await;
    let url = server.url();
    let shared_memory = server.shared_memory().unwrap();
    assert!(segments().contains(&shared_memory));
    server.kill();
    assert!(!segments().contains(&shared_memory));
    server.restart().await;
    assert_eq!(server.query("SELECT value FROM kept").await.as_deref(), Some("7"));
    assert_eq!(server.url(), url);
    let shared_memory = server.shared_memory().unwrap();
    drop(server);
    assert!(!segments().contains(&shared_memory));
}

#[tokio::test]
async fn postgres_has_the_vector_extension_and_takes_settings() {
    let options = PostgresOptions::default().setting("fsync", "off");
    let server = PostgresServer::start(options).await;
    assert_eq!(server.query("SHOW fsync").await.as_deref(), Some("off"));
    server.query("CREATE EXTENSION vector").await;
    let distance = server.query("SELECT '[3,4]'::vector <-> '[0,0]'").await;
    assert_eq!(distance.as_deref(), Some("5"));
}

#[tokio::test]
async fn mariadb_keeps_its_rows_after_a_kill() {
    let options = MariaDbOptions::default().argument("--innodb-lock-wait-timeout=1");
    let mut server = MariaDbServer::start(options).await;
    server.query("CREATE DATABASE everlore").await;
    server.query("CREATE TABLE everlore.kept AS SELECT 7 AS value").await;
    server.kill();
    server.restart().await;
    assert_eq!(server.query("SELECT value FROM everlore.kept").await.as_deref(), Some("7"));
    let timeout = server.query("SELECT @@innodb_lock_wait_timeout").await;
    assert_eq!(timeout.as_deref(), Some("1"));
}

/// Returns the ids of all System V shared memory segments: the second column below the heading.
fn segments() -> Vec<u32> {
    let table = fs::read_to_string("/proc/sysvipc/shm").unwrap();
    let ids = table.lines().skip(1).map(|line| line.split_whitespace().nth(1).unwrap());
    ids.map(|id| id.parse().unwrap()).collect()
}
