//! Cases of the operation of server databases: refusals, several hosts, silence, servers of two versions.

use std::time::{Duration, Instant};

use super::{
    ServerStore,
    database::Database,
    migrate::{ProgramSchema, migrate_to},
    server_cases_tests::adds,
    sql::sql,
    tests::TestDatabase,
};
use crate::{
    error::Error,
    store::{
        Store, StoreAdmin,
        conformance::{test_scope, write},
    },
    text::terms::TermHash,
};

/// Defines a test of each case for the server that an environment variable names.
macro_rules! operation_cases {
    ($variable:literal: $($case:ident),* $(,)?) => {
        $(#[tokio::test]
        async fn $case() {
            let database = crate::store::server::tests::TestDatabase::create($variable).await;
            crate::store::server::operation_cases_tests::$case(&database).await;
        })*
    };
    ($variable:literal) => {
        crate::store::server::operation_cases_tests::operation_cases!($variable:
            a_refusal_and_an_outage_are_told_soon,
            the_next_host_is_used_when_one_does_not_answer,
            a_call_ends_when_the_database_is_silent,
            a_newer_schema_is_refused,
            an_older_program_goes_on_while_a_newer_one_adds_to_the_schema,
        );
    };
}
pub(super) use operation_cases;

/// Returns the address of the test's database with another login or host.
fn other_url(database: &TestDatabase, login: Option<&str>, hosts: &str) -> String {
    let url = database.url("");
    let (scheme, rest) = url.split_once("://").unwrap();
    let (own, place) = rest.split_once('@').map_or(("", rest), |(login, place)| (login, place));
    let (host, database) = place.split_once('/').unwrap();
    let hosts = hosts.replace("HOST", host);
    format!("{scheme}://{}@{hosts}/{database}", login.unwrap_or(own))
}

pub(super) async fn a_refusal_and_an_outage_are_told_soon(database: &TestDatabase) {
    let soon = Duration::from_secs(4);
    let unknown = database.url("").replace("everlore_test_", "everlore_no_");
    for url in [other_url(database, Some("nobody:x"), "HOST"), unknown] {
        let began = Instant::now();
        let refused = ServerStore::open(&url).await.map(drop).unwrap_err();
        assert!(matches!(refused, Error::Invalid { .. }), "{refused}");
        assert!(refused.hint().contains("password") && began.elapsed() < soon, "{refused}");
    }
    let began = Instant::now();
    let away = ServerStore::open(&other_url(database, None, "127.0.0.1:1")).await.map(drop);
    let away = away.unwrap_err();
    assert!(matches!(away, Error::Store(_)) && began.elapsed() < soon, "{away}");
    assert_eq!(away.to_string().to_lowercase().matches("refused").count(), 1, "{away}");
}

pub(super) async fn the_next_host_is_used_when_one_does_not_answer(database: &TestDatabase) {
    // It accepts connections and says nothing.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = silent.local_addr().unwrap();
    let hosts = format!("127.0.0.1:1,{silent},HOST");
    let url = other_url(database, None, &hosts) + "&connect_timeout=1";
    let (store, scope) = (ServerStore::open(&url).await.unwrap(), test_scope("ann"));
    store.apply(write(&scope, 1, adds(&scope, 0..1))).await.unwrap();
    assert_eq!(store.journal().newest_seq(&scope).await.unwrap(), 1);
}

pub(super) async fn a_call_ends_when_the_database_is_silent(database: &TestDatabase) {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let hosts = silent.local_addr().unwrap().to_string();
    let url = other_url(database, None, &hosts) + "&connect_timeout=1&acquire_timeout=1";
    let began = Instant::now();
    let failed = ServerStore::open(&url).await.map(drop).unwrap_err();
    assert!(
        failed.to_string().contains("in time") || failed.to_string().contains("timeout"),
        "{failed}"
    );
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

pub(super) async fn a_newer_schema_is_refused(database: &TestDatabase) {
    database.open().await;
    database.run(sql!("UPDATE meta SET value = 99 WHERE name IN ('schema', 'min_writer')")).await;
    let refused = ServerStore::open(&database.url("")).await.map(drop);
    assert!(matches!(refused, Err(Error::SchemaTooNew { found: 99, known: 2 })), "{refused:?}");
}

/// Steps of programs to come, after those of this one: the first adds what older ones need not know.
const STEPS: [&str; 4] = [
    "",
    "",
    "ALTER TABLE memories ADD COLUMN mood BIGINT NOT NULL DEFAULT 0;\nCREATE TABLE moods (mood BIGINT NOT NULL PRIMARY KEY);\n",
    "ALTER TABLE memories DROP COLUMN weight;\n",
];

/// Migrates the database as a program of another version would.
async fn migrate_as(database: &TestDatabase, version: u32, min_writer: u32) -> Result<(), Error> {
    let steps = &STEPS[..version as usize];
    migrate_to(&Database::new(database.driver()), ProgramSchema { version, min_writer, steps })
        .await
}

pub(super) async fn an_older_program_goes_on_while_a_newer_one_adds_to_the_schema(
    database: &TestDatabase,
) {
    let (running, scope) = (database.open().await, test_scope("ann"));
    running.apply(write(&scope, 1, adds(&scope, 0..3))).await.unwrap();
    migrate_as(database, 3, 2).await.unwrap();
    // The one that runs goes on, and so does another one that starts.
    running.apply(write(&scope, 2, adds(&scope, 3..6))).await.unwrap();
    let started = database.open().await;
    started.apply(write(&scope, 3, adds(&scope, 6..9))).await.unwrap();
    let segments = running.index().postings(&scope, &[TermHash::of("tea")], None).await.unwrap();
    assert_eq!(segments.iter().map(|segment| segment.postings[0].len()).sum::<usize>(), 9);
    assert_eq!(started.index().inconsistencies(&scope).await.unwrap(), Vec::<String>::new());
    started.integrity().await.unwrap();
    // A program of the third version opens what one of the second writes.
    migrate_as(database, 3, 2).await.unwrap();
    migrate_as(database, 4, 4).await.unwrap();
    let refused = running.apply(write(&scope, 4, adds(&scope, 9..12))).await.unwrap_err();
    assert!(matches!(refused, Error::SchemaTooNew { found: 4, known: 2 }), "{refused}");
    let stopped = started.vectors().model().await.unwrap_err();
    assert!(matches!(stopped, Error::SchemaTooNew { found: 4, known: 2 }), "{stopped}");
    let refused = ServerStore::open(&database.url("")).await.map(drop).unwrap_err();
    assert!(matches!(refused, Error::SchemaTooNew { found: 4, known: 2 }), "{refused}");
    let older = migrate_as(database, 3, 2).await.unwrap_err();
    assert!(matches!(older, Error::SchemaTooNew { found: 4, known: 3 }), "{older}");
}
