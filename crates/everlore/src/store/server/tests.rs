//! Tests of the server store against real servers, which `EVERLORE_TEST_POSTGRES` and `EVERLORE_TEST_MYSQL` name. Each
//! test has a database of its own.

#[cfg(feature = "postgres")]
mod postgres;

use std::sync::Arc;

use super::{ServerStore, address::ServerAddress, open_driver, sql::sql};
use crate::store::{Store, conformance::TestStore};

/// Database of one test, dropped with it.
struct TestDatabase {
    /// Address of the server's own database.
    server: String,
    name: String,
}

impl TestDatabase {
    /// Creates a database on the server that an environment variable names.
    async fn create(variable: &str) -> Self {
        let server = std::env::var(variable).unwrap_or_else(|_| {
            panic!("{variable} names no server to test with: run `make databases` first")
        });
        let name = format!("everlore_test_{:016x}", getrandom::u64().unwrap());
        let database = Self { server, name };
        database.run(format!("CREATE DATABASE {}", database.name)).await;
        database
    }

    /// Returns the address of the database.
    fn url(&self) -> String {
        let (base, query) = self.server.split_once('?').unwrap_or((&self.server, ""));
        let (scheme, rest) = base.split_once("://").unwrap();
        let host = rest.split_once('/').map_or(rest, |(host, _)| host);
        let separator = if query.is_empty() { "" } else { "?" };
        format!("{scheme}://{host}/{}{separator}{query}", self.name)
    }

    /// Runs a statement on the server, outside of this database.
    async fn run(&self, statement: String) {
        let address = ServerAddress::parse(&self.server).unwrap();
        let driver = open_driver(&address).unwrap();
        driver.acquire().await.unwrap().run(vec![sql!(statement)]).await.unwrap();
        driver.close().await;
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        let force = if self.server.starts_with("postgres") { " WITH (FORCE)" } else { "" };
        let statement = format!("DROP DATABASE {}{force}", self.name);
        // A thread of its own: the runtime of the test may be blocked here.
        std::thread::scope(|threads| {
            threads.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                runtime.unwrap().block_on(self.run(statement));
            });
        });
    }
}

/// Opens an empty store on a server.
async fn fresh(variable: &str) -> TestStore {
    let database = TestDatabase::create(variable).await;
    let url = database.url();
    let open = move || {
        let url = url.clone();
        async move { Arc::new(ServerStore::open(&url).await.unwrap()) as Arc<dyn Store> }
    };
    TestStore::in_database(open, database).await
}
