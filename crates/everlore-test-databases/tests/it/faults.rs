//! The proxy between a client and a PostgreSQL server.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use everlore_test_databases::{Fault, FaultProxy, PostgresOptions, PostgresServer};
use tokio::time::timeout;

use crate::clients::connect_postgres;

/// One way of a slow link; far longer than a query on loopback takes.
const DELAY: Duration = Duration::from_millis(100);

/// Queries that one client sends at once.
const PIPELINED: u32 = 20;

/// Time in which a query on loopback is answered, if it is answered.
const PATIENCE: Duration = Duration::from_millis(500);

/// Response that a connection cannot deliver in one piece.
const LONG_QUERY: &str = "SELECT repeat('x', 1000000)";

#[tokio::test]
async fn a_proxy_delays_cuts_truncates_refuses_and_swallows() {
    let server = PostgresServer::start(PostgresOptions::default()).await;
    server.query("CREATE TABLE noted (value int)").await;
    let proxy = FaultProxy::start(server.address()).await;
    let url = server.url_at(proxy.address());
    delays(&proxy, &url).await;
    cuts(&proxy, &url).await;
    truncates(&proxy, &url, &server).await;
    refuses(&proxy, &url).await;
    swallows(&proxy, &url).await;
}

async fn delays(proxy: &FaultProxy, url: &str) {
    let client = Arc::new(connect_postgres(url).await.unwrap());
    proxy.set(Fault::Delay(DELAY)).await;
    let started = Instant::now();
    let query = || {
        let client = client.clone();
        tokio::spawn(async move { client.simple_query("SELECT 1").await.unwrap() })
    };
    for answer in (0..PIPELINED).map(|_| query()).collect::<Vec<_>>() {
        answer.await.unwrap();
        assert!(started.elapsed() >= 2 * DELAY, "{:?}", started.elapsed());
    }
    // The link is slow and not narrow: queries travel together.
    assert!(started.elapsed() < PIPELINED * 2 * DELAY, "{:?}", started.elapsed());
    proxy.set(Fault::None).await;
    client.simple_query("SELECT 1").await.unwrap();
}

async fn cuts(proxy: &FaultProxy, url: &str) {
    let client = connect_postgres(url).await.unwrap();
    client.simple_query("SELECT 1").await.unwrap();
    proxy.cut().await;
    assert!(client.simple_query("SELECT 1").await.is_err());
    connect_postgres(url).await.unwrap().simple_query("SELECT 1").await.unwrap();
}

async fn truncates(proxy: &FaultProxy, url: &str, server: &PostgresServer) {
    let client = connect_postgres(url).await.unwrap();
    proxy.set(Fault::TruncateResponses(1_000)).await;
    assert!(client.simple_query(LONG_QUERY).await.is_err());
    // A request that arrives in part is not executed; one whose answer is lost is.
    for (fault, rows) in [(Fault::TruncateRequests(10), "0"), (Fault::TruncateResponses(1), "1")] {
        proxy.set(Fault::None).await;
        let client = connect_postgres(url).await.unwrap();
        proxy.set(fault).await;
        assert!(client.simple_query("INSERT INTO noted VALUES (1)").await.is_err());
        let found = server.query("SELECT count(*) FROM noted").await;
        assert_eq!(found.as_deref(), Some(rows), "{fault:?}");
    }
    proxy.set(Fault::None).await;
}

async fn refuses(proxy: &FaultProxy, url: &str) {
    let client = connect_postgres(url).await.unwrap();
    proxy.set(Fault::Refuse).await;
    assert!(client.simple_query("SELECT 1").await.is_err());
    let error = tokio::net::TcpStream::connect(proxy.address()).await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused);
    proxy.set(Fault::None).await;
    connect_postgres(url).await.unwrap().simple_query("SELECT 1").await.unwrap();
}

async fn swallows(proxy: &FaultProxy, url: &str) {
    let client = connect_postgres(url).await.unwrap();
    proxy.set(Fault::Blackhole).await;
    assert!(timeout(PATIENCE, client.simple_query("SELECT 1")).await.is_err());
    assert!(timeout(PATIENCE, connect_postgres(url)).await.is_err());
    proxy.set(Fault::None).await;
    client.simple_query("SELECT 1").await.unwrap();
}
