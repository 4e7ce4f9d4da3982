//! A PostgreSQL primary is killed under writes, and its synchronous standby takes over.

use everlore_test_databases::{PostgresOptions, PostgresServer};

use crate::clients::write_to_postgres;

/// Clients that write at once.
const CLIENTS: usize = 4;

#[tokio::test]
async fn a_promoted_standby_has_every_acknowledged_row() {
    let mut primary = PostgresServer::start(PostgresOptions::default()).await;
    primary.query("CREATE TABLE written (client int, line int, PRIMARY KEY (client, line))").await;
    let mut standby = primary.standby().await;
    let writers: Vec<_> =
        (0..CLIENTS).map(|client| write_to_postgres(primary.url(), client)).collect();
    for (rows, _) in &writers {
        rows.reach(20).await;
    }
    primary.kill();
    let mut acknowledged = Vec::new();
    for (rows, task) in writers {
        task.await.unwrap();
        acknowledged.push(rows.count());
    }
    standby.promote().await;
    for (client, rows) in acknowledged.into_iter().enumerate() {
        let count =
            format!("SELECT count(*) FROM written WHERE client = {client} AND line < {rows}");
        assert_eq!(standby.query(&count).await, Some(rows.to_string()), "client {client}");
    }
    standby.query("INSERT INTO written VALUES (-1, 0)").await;
    // A promoted standby can have a standby of its own.
    let next = standby.standby().await;
    let followed = "SELECT count(*) FROM written WHERE client = -1";
    assert_eq!(next.query(followed).await.as_deref(), Some("1"));
}
