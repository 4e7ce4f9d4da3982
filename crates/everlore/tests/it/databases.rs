//! Databases on the servers that `EVERLORE_TEST_POSTGRES` and `EVERLORE_TEST_MYSQL` name, and tests of two engines on one of
//! them: a reminder is told once and a job runs once. A server that is missing is a failure, never a skipped test.

use std::{cell::Cell, sync::Arc};

use everlore::{
    Engine, RememberRequest,
    engine::{HeartbeatJob, HeartbeatReport, NewSchedule},
    store::{self, Store},
    types::Timestamp,
};

use crate::support::scope;

/// Environment variables with the addresses of the servers.
pub(crate) const VARIABLES: &[&str] = &[
    #[cfg(feature = "postgres")]
    "EVERLORE_TEST_POSTGRES",
    #[cfg(feature = "mysql")]
    "EVERLORE_TEST_MYSQL",
];

/// Reminders that are due at once.
const REMINDERS: usize = 20;

thread_local! {
    static NOW: Cell<Timestamp> = const { Cell::new(Timestamp::UNIX_EPOCH) };
}

fn now() -> Timestamp {
    NOW.get()
}

fn set_now(time: &str) {
    NOW.set(time.parse().unwrap());
}

/// Empty database of one test.
pub(crate) struct ScratchDatabase {
    server: String,
    name: String,
}

impl ScratchDatabase {
    /// Creates a database on the server that an environment variable names.
    pub(crate) async fn create(variable: &str) -> Self {
        let server = std::env::var(variable).unwrap_or_else(|_| {
            panic!("{variable} names no server to test with: run `make databases` first")
        });
        let name = format!("everlore_it_{:016x}", getrandom::u64().unwrap());
        run_on(&server, &format!("CREATE DATABASE {name}")).await;
        Self { server, name }
    }

    /// Opens a store in the database.
    pub(crate) async fn open(&self) -> Arc<dyn Store> {
        let (base, options) = self.server.split_once('?').unwrap_or((&self.server, ""));
        let (host, _) = base.rsplit_once('/').unwrap();
        store::open(format!("{host}/{}?{options}", self.name)).await.unwrap()
    }

    /// Drops the database.
    pub(crate) async fn drop(self) {
        let force = if self.server.starts_with("postgres") { " WITH (FORCE)" } else { "" };
        run_on(&self.server, &format!("DROP DATABASE {}{force}", self.name)).await;
    }
}

async fn run_on(server: &str, statement: &str) {
    match server.split_once("://").unwrap().0 {
        #[cfg(feature = "mysql")]
        "mysql" | "mariadb" => {
            use mysql_async::prelude::Queryable;
            let mut connection = mysql_async::Conn::from_url(server).await.unwrap();
            connection.query_drop(statement).await.unwrap();
            connection.disconnect().await.unwrap();
        }
        #[cfg(feature = "postgres")]
        _ => {
            let connected = tokio_postgres::connect(server, tokio_postgres::NoTls).await;
            let (client, connection) = connected.unwrap();
            let connection = tokio::spawn(connection);
            client.batch_execute(statement).await.unwrap();
            drop(client);
            connection.await.unwrap().unwrap();
        }
        #[cfg(not(feature = "postgres"))]
        other => panic!("there is no client for {other}"),
    }
}

async fn two_engines(database: &ScratchDatabase) -> (Engine, Engine) {
    let open = async || Engine::builder(database.open().await).clock(now).build();
    (open().await, open().await)
}

#[tokio::test]
async fn of_two_servers_of_a_database_one_tells_a_reminder() {
    for variable in VARIABLES {
        let database = ScratchDatabase::create(variable).await;
        let (one, other) = two_engines(&database).await;
        let owner = scope("wang");
        set_now("2026-03-02T12:00:00Z");
        for minute in 1..=REMINDERS {
            let text = format!("in {minute} minutes 喝水 {minute}");
            one.add_schedule(&owner, &NewSchedule { text, ..NewSchedule::default() })
                .await
                .unwrap();
        }
        set_now("2026-03-02T13:00:00Z");
        let (first, second) = tokio::join!(one.due_reminders(&owner), other.due_reminders(&owner));
        let (first, second) = (first.unwrap(), second.unwrap());
        let mut told: Vec<_> = first.iter().chain(&second).map(|it| it.id).collect();
        assert_eq!(told.len(), REMINDERS, "{variable}: {} and {}", first.len(), second.len());
        told.sort_unstable();
        told.dedup();
        assert_eq!(told.len(), REMINDERS, "{variable}");
        assert!(other.due_reminders(&owner).await.unwrap().is_empty());
        close(database, one, other).await;
    }
}

#[tokio::test]
async fn of_two_servers_of_a_database_one_runs_a_job() {
    for variable in VARIABLES {
        let database = ScratchDatabase::create(variable).await;
        let (one, other) = two_engines(&database).await;
        set_now("2026-03-02T12:00:00Z");
        for user in ["ann", "ben", "王"] {
            one.remember(&scope(user), RememberRequest::new("I sail")).await.unwrap();
        }
        let (first, second) = tokio::join!(one.heartbeat(&[]), other.heartbeat(&[]));
        let runs = [first.unwrap(), second.unwrap()].map(|report| upkeep_runs(&report));
        assert_eq!(runs.iter().sum::<usize>(), 3, "{variable}: {runs:?}");
        assert_eq!(upkeep_runs(&other.heartbeat(&[]).await.unwrap()), 0, "{variable}");
        set_now("2026-03-03T12:00:00Z");
        assert_eq!(upkeep_runs(&other.heartbeat(&[]).await.unwrap()), 3, "{variable}");
        let status = one.heartbeat_status().await.unwrap();
        let upkeep = status.jobs.iter().find(|job| job.job == HeartbeatJob::Upkeep).unwrap();
        assert_eq!(upkeep.last.as_ref().unwrap().at, now(), "both see the same history");
        close(database, one, other).await;
    }
}

#[tokio::test]
async fn a_trajectory_and_the_size_of_the_database_are_read_from_every_server() {
    for variable in VARIABLES {
        let database = ScratchDatabase::create(variable).await;
        let (one, other) = two_engines(&database).await;
        set_now("2026-03-02T12:00:00Z");
        let turns = crate::trajectories::chinese();
        one.observe(&scope("wang"), turns.clone()).await.unwrap();
        let read = other.trajectory(&scope("wang"), "work/一").await.unwrap();
        assert_eq!(read.steps.len(), turns.len());
        let health = other.admin().health(&scope("wang")).await.unwrap();
        let store = health.store.unwrap();
        assert!(store.bytes.is_some_and(|bytes| bytes > 0), "{variable}: {store:?}");
        assert!(!store.url.contains("everlore:") || store.url.contains("***"), "{store:?}");
        close(database, one, other).await;
    }
}

fn upkeep_runs(report: &HeartbeatReport) -> usize {
    let runs = report.runs.iter().filter(|run| run.job == HeartbeatJob::Upkeep);
    runs.map(|run| run.scopes).sum()
}

async fn close(database: ScratchDatabase, one: Engine, other: Engine) {
    one.admin().close().await;
    other.admin().close().await;
    database.drop().await;
}
