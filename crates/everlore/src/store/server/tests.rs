//! Databases for tests, on the servers that `EVERLORE_TEST_POSTGRES` and `EVERLORE_TEST_MYSQL` name. Each test has a
//! database of its own.

use std::sync::Arc;

use super::{
    ServerStore,
    address::ServerAddress,
    driver::{SqlDriver, StatementResult},
    open_driver,
    sql::{Statement, sql},
};
use crate::store::{Store, conformance::TestStore};

/// Database of one test, dropped with it.
pub(super) struct TestDatabase {
    /// Address of the server's own database.
    server: String,
    name: String,
}

impl TestDatabase {
    /// Creates a database on the server that an environment variable names.
    pub(super) async fn create(variable: &str) -> Self {
        let server = std::env::var(variable).unwrap_or_else(|_| {
            panic!("{variable} names no server to test with: run `make databases` first")
        });
        let name = format!("everlore_test_{:016x}", getrandom::u64().unwrap());
        let database = Self { server, name };
        let create = format!("CREATE DATABASE {}", database.name);
        run_on(&database.server, sql!(create)).await;
        database
    }

    /// Returns the address of the database, with options added.
    pub(super) fn url(&self, options: &str) -> String {
        let (base, query) = self.server.split_once('?').unwrap_or((&self.server, ""));
        let (scheme, rest) = base.split_once("://").unwrap();
        let host = rest.split_once('/').map_or(rest, |(host, _)| host);
        format!("{scheme}://{host}/{}?{query}&{options}", self.name)
    }

    /// Opens a store in the database.
    pub(super) async fn open(&self) -> ServerStore {
        ServerStore::open(&self.url("")).await.unwrap()
    }

    /// Opens the client of the database.
    pub(super) fn driver(&self) -> Box<dyn SqlDriver> {
        open_driver(&ServerAddress::parse(&self.url("")).unwrap()).unwrap()
    }

    /// Runs a statement in the database, as another program would.
    pub(super) async fn run(&self, statement: Statement) -> StatementResult {
        run_on(&self.url(""), statement).await
    }

    /// Ends all connections to a MySQL database, also those whose runtime is no longer polled: their transactions would
    /// block the end of the database.
    pub(super) async fn disconnect_all(&self) {
        let list = "SELECT id FROM information_schema.processlist WHERE db = ?";
        for mut row in run_on(&self.server, sql!(list, &self.name)).await.rows {
            let kill = format!("KILL {}", row.int::<i64>(0).unwrap());
            let driver = open_driver(&ServerAddress::parse(&self.server).unwrap()).unwrap();
            // It may have ended by itself.
            let _ = driver.acquire().await.unwrap().run(vec![sql!(kill)]).await;
        }
    }

    async fn drop_database(&self) {
        let force = if self.server.starts_with("postgres") {
            " WITH (FORCE)"
        } else {
            self.disconnect_all().await;
            ""
        };
        run_on(&self.server, sql!(format!("DROP DATABASE {}{force}", self.name))).await;
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        // Servers that were started for the tests go with all their databases.
        if std::env::var_os("EVERLORE_TEST_DATABASES").is_some() {
            return;
        }
        // A thread of its own: the runtime of the test may be blocked here.
        std::thread::scope(|threads| {
            threads.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                runtime.unwrap().block_on(self.drop_database());
            });
        });
    }
}

async fn run_on(url: &str, statement: Statement) -> StatementResult {
    let driver = open_driver(&ServerAddress::parse(url).unwrap()).unwrap();
    let mut connection = driver.acquire().await.unwrap();
    let mut results = connection.run(vec![statement]).await.unwrap();
    drop(connection);
    driver.close().await;
    results.remove(0)
}

/// Opens an empty store on a server.
pub(super) async fn fresh(variable: &str) -> TestStore {
    let database = TestDatabase::create(variable).await;
    let url = database.url("");
    let open = move || {
        let url = url.clone();
        async move { Arc::new(ServerStore::open(&url).await.unwrap()) as Arc<dyn Store> }
    };
    TestStore::in_database(open, database).await
}
