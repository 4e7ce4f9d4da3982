//! Cases of server databases beyond the conformance suite: round trips, failures, schema, passwords, ranking.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;

use super::{
    ServerStore,
    driver::{SqlConnection, SqlDriver, SqlError, SqlErrorKind, StatementResult},
    merge::merge_due,
    scope_row::ScopeKey,
    sql::{Dialect, Statement, sql},
    tests::TestDatabase,
};
use crate::{
    Engine,
    error::Error,
    llm::{BuiltinEmbedder, Embedder},
    store::{
        JournalQuery, SqliteStore, Store, StoreAdmin,
        conformance::{add, memory, test_scope, time, turn, write},
    },
    sync::lock,
    text::terms::TermHash,
    types::{Change, ChangeVectors, Memory, MemoryId, Scope, Vector, WriteBatch},
};

/// Defines a test of each case for the server that an environment variable names.
macro_rules! server_cases {
    ($variable:literal: $($case:ident),* $(,)?) => {
        $(#[tokio::test]
        async fn $case() {
            let database = crate::store::server::tests::TestDatabase::create($variable).await;
            crate::store::server::server_cases_tests::$case(&database).await;
        })*
    };
    ($variable:literal) => {
        crate::store::server::server_cases_tests::server_cases!($variable:
            a_save_takes_three_round_trips_and_a_recall_one,
            a_connection_is_used_again,
            a_read_sees_blocks_that_another_server_made,
            a_deadlock_is_tried_again,
            a_real_deadlock_loses_nothing,
            an_unknown_outcome_is_looked_up,
            a_lost_connection_is_replaced,
            a_caller_that_goes_away_leaves_no_transaction,
            many_servers_may_start_at_once,
            a_password_is_never_shown,
            texts_of_any_characters_come_back,
            a_name_that_is_too_long_for_a_key_is_refused,
            blocks_are_merged_and_nothing_is_lost,
            ranking_is_that_of_sqlite,
        );
        crate::store::server::operation_cases_tests::operation_cases!($variable);
    };
}
pub(super) use server_cases;

/// Builds a memory with an id that rises with its number.
fn numbered(scope: &Scope, number: u16, text: &str) -> Memory {
    let mut id = [7; 16];
    id[..2].copy_from_slice(&number.to_be_bytes());
    let id = MemoryId::from_bytes(id);
    let uri = format!("agent://tester/user/{number}");
    Memory { id, uri, ..memory(scope, 1, text) }
}

pub(super) fn adds(scope: &Scope, numbers: std::ops::Range<u16>) -> Vec<Change> {
    numbers.map(|n| add(&numbered(scope, n, &format!("tea {n} 龙井茶")))).collect()
}

/// Counts the round trips of some work.
async fn round_trips<T>(store: &ServerStore, work: impl Future<Output = T>) -> u64 {
    let before = store.db.round_trips();
    work.await;
    store.db.round_trips() - before
}

/// Waits until no merge of blocks is under way, so that its round trips are not counted.
async fn settle(store: &ServerStore) {
    while !lock(&store.merging).is_empty() {
        tokio::task::yield_now().await;
    }
}

/// Saves one memory and counts the round trips.
async fn save_trips(store: &ServerStore, scope: &Scope, number: u16) -> u64 {
    settle(store).await;
    let save = store.apply(write(scope, 2, adds(scope, number..number + 1)));
    round_trips(store, async { save.await.unwrap() }).await
}

pub(super) async fn a_save_takes_three_round_trips_and_a_recall_one(database: &TestDatabase) {
    // One connection prepares every statement once.
    let url = database.url("max_connections=1");
    let (store, scope) = (ServerStore::open(&url).await.unwrap(), test_scope("ann"));
    store.apply(write(&scope, 1, adds(&scope, 0..300))).await.unwrap();
    let terms = ["tea", "7", "龙井茶"].map(TermHash::of);
    let recall = async |store: &ServerStore| {
        let segments = store.index().postings(&scope, &terms, None).await.unwrap();
        assert!(segments.iter().any(|segment| !segment.postings[0].is_empty()));
    };
    // The tail is sealed once on the way, so that the statements for it are prepared too.
    for number in 300..370 {
        save_trips(&store, &scope, number).await;
        recall(&store).await;
    }
    let (mut saves, mut recalls) = (Vec::new(), Vec::new());
    for number in 370..440 {
        saves.push(save_trips(&store, &scope, number).await);
        settle(&store).await;
        recalls.push(round_trips(&store, recall(&store)).await);
        assert_eq!(round_trips(&store, recall(&store)).await, 1);
    }
    // The tail is sealed once on the way, and the blocks are not those of the recall before.
    assert_eq!(recalls.iter().filter(|trips| **trips != 1).collect::<Vec<_>>(), [&2]);
    assert_eq!((saves.iter().min(), saves.iter().max()), (Some(&2), Some(&3)), "{saves:?}");
    let edit = async |number: u16| {
        settle(&store).await;
        let edited = Memory { version: 2, ..numbered(&scope, number, "coffee") };
        store.apply(write(&scope, 5, vec![Change::Update(Box::new(edited))])).await.unwrap();
    };
    edit(5).await;
    assert!(round_trips(&store, edit(6)).await <= 3);
    let second = ServerStore::open(&url).await.unwrap();
    let first = round_trips(&second, recall(&second)).await;
    assert!(first <= 4, "a first recall loads everything, and prepares two steps: {first}");
}

/// Returns the database's number of the connection that a read uses.
async fn connection_number(store: &ServerStore) -> i64 {
    let text = match store.db.dialect() {
        #[cfg(feature = "postgres")]
        Dialect::Postgres => "SELECT CAST(pg_backend_pid() AS BIGINT)",
        #[cfg(feature = "mysql")]
        Dialect::MySql => "SELECT connection_id()",
    };
    super::database::number(store.db.read_one(sql!(text)).await.unwrap()).unwrap()
}

pub(super) async fn a_connection_is_used_again(database: &TestDatabase) {
    let url = database.url("max_connections=1");
    let (store, scope) = (ServerStore::open(&url).await.unwrap(), test_scope("ann"));
    let first = connection_number(&store).await;
    for number in 0..10 {
        store.apply(write(&scope, 1, adds(&scope, number..number + 1))).await.unwrap();
        let terms = [TermHash::of("tea")];
        store.index().postings(&scope, &terms, None).await.unwrap();
        assert_eq!(connection_number(&store).await, first);
    }
    // Refused by a unique key in the middle of its transaction.
    let taken = store.apply(write(&scope, 2, adds(&scope, 3..4))).await;
    assert!(matches!(taken, Err(Error::Conflict { .. })), "{taken:?}");
    assert_eq!(connection_number(&store).await, first);
    store.apply(write(&scope, 3, adds(&scope, 10..11))).await.unwrap();
    assert_eq!(database.open().await.journal().newest_seq(&scope).await.unwrap(), 11);
}

pub(super) async fn a_read_sees_blocks_that_another_server_made(database: &TestDatabase) {
    let (reader, writer) = (database.open().await, database.open().await);
    let (scope, terms) = (test_scope("ann"), [TermHash::of("tea")]);
    for batch in 0..12u16 {
        let changes = adds(&scope, batch * 40..batch * 40 + 40);
        writer.apply(write(&scope, 1, changes)).await.unwrap();
        merge_due(&writer.db, ScopeKey::of(&scope)).await.unwrap();
        // By the words, and with all that the cache of the reader lacks.
        for terms in [&terms[..], &[]] {
            let segments = reader.index().postings(&scope, terms, None).await.unwrap();
            let docs: usize = segments.iter().map(|segment| segment.docs.len()).sum();
            assert_eq!(docs, usize::from(batch + 1) * 40);
            for list in 0..terms.len() {
                let found = segments.iter().map(|segment| segment.postings[list].len());
                assert_eq!(found.sum::<usize>(), docs);
            }
        }
    }
}

/// Failure to be injected into the next commit of a write to the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InjectedFault {
    /// The database reports a deadlock.
    Deadlock,
    /// The connection breaks before the statements arrive.
    LostBefore,
    /// The connection breaks after the commit.
    LostAfter,
}

/// Client that injects failures.
struct FaultyDriver {
    inner: Box<dyn SqlDriver>,
    faults: Arc<Mutex<Vec<InjectedFault>>>,
}

struct FaultyConnection {
    inner: Box<dyn SqlConnection>,
    faults: Arc<Mutex<Vec<InjectedFault>>>,
}

#[async_trait]
impl SqlDriver for FaultyDriver {
    fn dialect(&self) -> Dialect {
        self.inner.dialect()
    }

    async fn acquire(&self) -> Result<Box<dyn SqlConnection>, SqlError> {
        let inner = self.inner.acquire().await?;
        Ok(Box::new(FaultyConnection { inner, faults: Arc::clone(&self.faults) }))
    }

    fn call_limit(&self) -> std::time::Duration {
        self.inner.call_limit()
    }

    fn round_trips(&self) -> u64 {
        self.inner.round_trips()
    }

    async fn close(&self) {
        self.inner.close().await;
    }
}

#[async_trait]
impl SqlConnection for FaultyConnection {
    async fn run(&mut self, statements: Vec<Statement>) -> Result<Vec<StatementResult>, SqlError> {
        let is_write = |it: &Statement| matches!(it, Statement::Insert { table, .. } if table.name == "journal");
        let fault = if statements.iter().any(is_write) { lock(&self.faults).pop() } else { None };
        let lost = || Err(SqlError::new(SqlErrorKind::Lost, "injected"));
        match fault {
            None => self.inner.run(statements).await,
            Some(InjectedFault::Deadlock) => Err(SqlError::new(SqlErrorKind::TryAgain, "injected")),
            Some(InjectedFault::LostBefore) => lost(),
            Some(InjectedFault::LostAfter) => {
                self.inner.run(statements).await?;
                lost()
            }
        }
    }

    fn end_transaction(self: Box<Self>, statement: &'static str) {
        self.inner.end_transaction(statement);
    }
}

/// Opens a store whose next writes fail.
async fn faulty(database: &TestDatabase, faults: &[InjectedFault]) -> ServerStore {
    let faults = Arc::new(Mutex::new(faults.to_vec()));
    let driver = FaultyDriver { inner: database.driver(), faults };
    ServerStore::with_driver(Box::new(driver), "test".into()).await.unwrap()
}

/// Saves two memories in one write and asserts that each was stored once.
async fn assert_stored_once(store: &ServerStore) {
    let scope = test_scope("ann");
    let applied = store.apply(write(&scope, 1, adds(&scope, 0..2))).await.unwrap();
    assert_eq!(applied.iter().map(|it| it.seq).collect::<Vec<_>>(), [1, 2]);
    let lines = store.journal().entries(&scope, &JournalQuery::default()).await.unwrap();
    assert_eq!(lines.len(), 2, "each change has one line");
    let later = store.apply(write(&scope, 2, adds(&scope, 2..3))).await.unwrap();
    assert_eq!(later[0].seq, 3);
    assert_eq!(store.index().inconsistencies(&scope).await.unwrap(), Vec::<String>::new());
}

pub(super) async fn a_deadlock_is_tried_again(database: &TestDatabase) {
    assert_stored_once(&faulty(database, &[InjectedFault::Deadlock; 3]).await).await;
}

pub(super) async fn an_unknown_outcome_is_looked_up(database: &TestDatabase) {
    use InjectedFault::{LostAfter, LostBefore};
    let store = faulty(database, &[LostAfter, LostBefore]).await;
    assert_stored_once(&store).await;
    let scope = test_scope("ben");
    let store = faulty(database, &[LostAfter]).await;
    // Another write follows before the outcome is looked up: the journal tells, not the row of the scope.
    let said = turn(&scope, 1, "monday", "hello");
    let (one, other) = (
        write(&scope, 1, vec![add(&said)]),
        write(&scope, 1, vec![add(&numbered(&scope, 9, "tea"))]),
    );
    let (one, other) = tokio::join!(store.apply(one), store.apply(other));
    let seqs: BTreeSet<u64> = [one.unwrap()[0].seq, other.unwrap()[0].seq].into();
    assert_eq!(seqs, [1, 2].into());
}

/// A write takes the scope's lock and then that of the models; another transaction takes them the other way round.
pub(super) async fn a_real_deadlock_loses_nothing(database: &TestDatabase) {
    let (store, scope) = (Arc::new(database.open().await), test_scope("ann"));
    store.apply(write(&scope, 1, adds(&scope, 0..1))).await.unwrap();
    let mut other = store.db.begin().await.unwrap();
    let models = sql!("SELECT value FROM meta WHERE name = 'models' FOR UPDATE");
    other.run(vec![models]).await.unwrap();
    let save = {
        let (store, scope) = (Arc::clone(&store), scope.clone());
        tokio::spawn(async move {
            let embedder = BuiltinEmbedder::new();
            let memory = numbered(&scope, 1, "tea");
            let vectors = Some(Vector::quantize(&embedder.embed(&["tea"]).await.unwrap()[0]));
            let vectors = ChangeVectors { model: embedder.model().clone(), vectors: vec![vectors] };
            let batch = write(&scope, 2, vec![add(&memory)]);
            store.apply(WriteBatch { vectors: Some(vectors), ..batch }).await
        })
    };
    while !is_scope_locked(&store, &scope).await {
        tokio::task::yield_now().await;
    }
    let row = sql!("SELECT 1 FROM scopes WHERE scope = ? FOR UPDATE", ScopeKey::of(&scope));
    // The database ends one of the two.
    let outcome = other.run(vec![row]).await;
    drop(other);
    assert_eq!(save.await.unwrap().unwrap()[0].seq, 2, "{outcome:?}");
}

async fn is_scope_locked(store: &ServerStore, scope: &Scope) -> bool {
    let mut tx = store.db.begin().await.unwrap();
    let text = "SELECT 1 FROM scopes WHERE scope = ? FOR UPDATE SKIP LOCKED";
    tx.run(vec![sql!(text, ScopeKey::of(scope))]).await.unwrap()[0].rows.is_empty()
}

pub(super) async fn a_lost_connection_is_replaced(database: &TestDatabase) {
    let (store, scope) = (database.open().await, test_scope("ann"));
    store.apply(write(&scope, 1, adds(&scope, 0..1))).await.unwrap();
    match store.db.dialect() {
        #[cfg(feature = "postgres")]
        Dialect::Postgres => {
            let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                 WHERE datname = current_database() AND pid <> pg_backend_pid()";
            database.run(sql!(end)).await;
        }
        #[cfg(feature = "mysql")]
        Dialect::MySql => database.disconnect_all().await,
    }
    store.apply(write(&scope, 2, adds(&scope, 1..2))).await.unwrap();
    assert_eq!(store.journal().newest_seq(&scope).await.unwrap(), 2);
}

pub(super) async fn a_caller_that_goes_away_leaves_no_transaction(database: &TestDatabase) {
    let url = database.url("max_connections=1");
    let (store, scope) = (ServerStore::open(&url).await.unwrap(), test_scope("ann"));
    store.apply(write(&scope, 1, adds(&scope, 0..1))).await.unwrap();
    for number in 1..20u16 {
        // Each goes away a little later than the one before.
        let apply = store.apply(write(&scope, 2, adds(&scope, number..number + 1)));
        let patience = std::time::Duration::from_micros(u64::from(number) * 150);
        let _ = tokio::time::timeout(patience, apply).await;
    }
    store.apply(write(&scope, 3, adds(&scope, 100..101))).await.unwrap();
    assert_eq!(store.index().inconsistencies(&scope).await.unwrap(), Vec::<String>::new());
}

pub(super) async fn many_servers_may_start_at_once(database: &TestDatabase) {
    let opened: Vec<_> = (0..8)
        .map(|_| {
            let url = database.url("");
            tokio::spawn(async move { crate::store::open(url).await.map(drop) })
        })
        .collect();
    for open in opened {
        open.await.unwrap().unwrap();
    }
}

pub(super) async fn a_password_is_never_shown(database: &TestDatabase) {
    let url = database.url("");
    let (scheme, rest) = url.split_once("://").unwrap();
    let place = rest.split_once('@').map_or(rest, |(_, place)| place);
    let (host, name) = place.split_once('/').unwrap();
    let nowhere = "127.0.0.1:1";
    for place in [format!("{host}/no-such-database"), format!("{nowhere}/{name}")] {
        let url = format!("{scheme}://nobody-such:hunter2@{place}");
        let error = ServerStore::open(&url).await.map(drop).unwrap_err();
        let shown = format!("{error} {error:?} {}", error.hint());
        assert!(!shown.contains("hunter2"), "{shown}");
    }
    let shown = super::address::ServerAddress::parse(&format!("{scheme}://a:hunter2@{place}"));
    assert!(!shown.unwrap().shown.contains("hunter2"));
    assert_eq!(database.open().await.info().url, crate::config::redact_url::redact_url(&url));
}

pub(super) async fn texts_of_any_characters_come_back(database: &TestDatabase) {
    let (store, scope) = (database.open().await, test_scope("o'neil; --"));
    let texts = ["a\0b", "'; DROP TABLE memories; --", "\\' ? $1 %s", "😀 é 茶\u{10fffd}", " x "];
    for (number, text) in (0..).zip(texts) {
        let said = Memory { name: text.into(), ..numbered(&scope, number, text) };
        let mut said = Memory { description: text.into(), ..said };
        said.uri = format!("agent://tester/user/{text}");
        store.apply(write(&scope, 1, vec![add(&said)])).await.unwrap();
        let found = store.memories().get(&scope, &[said.id]).await.unwrap();
        assert_eq!(found, [Some(said.clone())]);
        let by_uri = crate::store::MemoryKey::Uri(said.uri.clone());
        assert_eq!(store.memories().find_one(&scope, by_uri).await.unwrap(), Some(said));
    }
    assert_eq!(store.index().inconsistencies(&scope).await.unwrap(), Vec::<String>::new());
}

pub(super) async fn a_name_that_is_too_long_for_a_key_is_refused(database: &TestDatabase) {
    let (store, scope) = (database.open().await, test_scope("ann"));
    // Digits of a random number do not compress, as a name may not.
    let name = |bytes: usize| -> String {
        (0..)
            .flat_map(|n: u64| TermHash::of(&n.to_string()).0.to_string().into_bytes())
            .map(char::from)
            .take(bytes)
            .collect()
    };
    let named = |number: u16, bytes: usize| {
        add(&Memory { uri: name(bytes), ..numbered(&scope, number, "tea") })
    };
    store.apply(write(&scope, 1, vec![named(1, 2_048)])).await.unwrap();
    let refused = store.apply(write(&scope, 2, vec![named(2, 2_049)])).await;
    assert!(matches!(refused, Err(Error::Invalid { .. })), "{refused:?}");
}

pub(super) async fn blocks_are_merged_and_nothing_is_lost(database: &TestDatabase) {
    let (store, scope) = (database.open().await, test_scope("ann"));
    for batch in 0..6u16 {
        let changes = adds(&scope, batch * 70..batch * 70 + 70);
        store.apply(write(&scope, 1, changes)).await.unwrap();
        let gone = numbered(&scope, batch * 70 + 3, "").id;
        store.apply(write(&scope, 2, vec![Change::Delete(gone)])).await.unwrap();
    }
    merge_due(&store.db, ScopeKey::of(&scope)).await.unwrap();
    let segments = store.index().postings(&scope, &[TermHash::of("tea")], None).await.unwrap();
    assert!(segments.len() <= 3, "six blocks became fewer: {}", segments.len());
    let found: usize = segments.iter().map(|segment| segment.postings[0].len()).sum();
    assert_eq!(found, 6 * 69);
    assert_eq!(store.index().inconsistencies(&scope).await.unwrap(), Vec::<String>::new());
}

const SUBJECTS: [&str; 8] =
    ["Caroline", "the user", "our team", "my brother", "小王", "我的妈妈", "客户", "项目组"];
const VERBS: [&str; 6] = ["likes", "moved to", "works on", "喜欢", "搬到了", "正在准备"];
const OBJECTS: [&str; 10] = [
    "green tea",
    "Lisbon",
    "the payment service",
    "a marathon in spring",
    "jazz records",
    "龙井茶",
    "上海",
    "数据库迁移",
    "明年的马拉松",
    "摄影",
];

/// Returns a sentence that differs from number to number.
fn sentence(number: usize) -> String {
    let (subject, verb) = (SUBJECTS[number % 8], VERBS[number / 8 % 6]);
    let (object, other) = (OBJECTS[number / 3 % 10], OBJECTS[number / 7 % 10]);
    format!("{subject} {verb} {object} {other} {}", number % 97)
}

pub(super) async fn ranking_is_that_of_sqlite(database: &TestDatabase) {
    let folder = tempfile::tempdir().unwrap();
    let (scope, embedder) = (test_scope("ann"), Arc::new(BuiltinEmbedder::new()));
    let sqlite = SqliteStore::open(folder.path().join("everlore.db")).await.unwrap();
    let stores: [Arc<dyn Store>; 2] = [Arc::new(sqlite), Arc::new(database.open().await)];
    for start in (0..400).step_by(50) {
        let texts: Vec<String> = (start..start + 50).map(sentence).collect();
        let borrowed: Vec<&str> = texts.iter().map(String::as_str).collect();
        let vectors = embedder.embed(&borrowed).await.unwrap();
        let vectors = vectors.iter().map(|numbers| Some(Vector::quantize(numbers))).collect();
        let vectors = ChangeVectors { model: embedder.model().clone(), vectors };
        let changes = (start as u16..).zip(&texts).map(|(n, text)| add(&numbered(&scope, n, text)));
        let batch = write(&scope, start as i64, changes.collect());
        let batch = WriteBatch { vectors: Some(vectors), ..batch };
        for store in &stores {
            store.apply(batch.clone()).await.unwrap();
        }
    }
    let now = time(1_000).to_zoned(jiff::tz::TimeZone::UTC);
    let engines = stores.map(|store| Engine::builder(store).embedder(embedder.clone()).build());
    for number in 0..300 {
        let query = format!("{} {}?", SUBJECTS[number % 8], OBJECTS[number / 5 % 10]);
        let mut answers = Vec::new();
        for engine in &engines {
            let mut request = engine.recall_request(&scope, &query);
            request.limit = 10;
            let hits = engine.recall_at(&request, &now).await.unwrap().hits;
            let hits = hits.into_iter().map(|hit| (hit.memory.id, hit.score.to_bits()));
            answers.push(hits.collect::<Vec<_>>());
        }
        assert!(!answers[0].is_empty(), "{query}");
        assert_eq!(answers[0], answers[1], "{query}");
    }
}
