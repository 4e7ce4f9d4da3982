//! Memories in a server database, PostgreSQL or MySQL, that many Everlore servers share.
//!
//! One implementation serves both: statements are written once (`sql.rs`), a driver runs those of a step in one round
//! trip (`driver.rs`, `postgres.rs`, `mysql.rs`), and transactions are retried in one place (`transaction.rs`).
//!
//! The row of a scope is the lock of its writes (`scope_row.rs`); numbers of journal lines, sessions, addresses and index
//! blocks come from counters in it. A write (`apply.rs`) locks and loads, plans, and sends all its statements with the
//! commit. A query (`read_segments.rs`) reads what can change with the postings of the blocks it knows, and again with what
//! it lacks. Nothing goes to the database a memory at a time.

mod address;
mod sql;
mod tables;
mod driver;
mod transaction;
mod database;
#[cfg(feature = "postgres")]
mod tls;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "postgres")]
mod postgres_hosts;
#[cfg(feature = "postgres")]
mod postgres_values;
#[cfg(feature = "mysql")]
mod mysql;
#[cfg(feature = "mysql")]
mod mysql_hosts;
#[cfg(feature = "mysql")]
mod mysql_text;
mod migrate;
mod scope_row;
mod rows;
mod models;
mod load;
mod apply;
mod second_load;
mod write_script;
mod index_edit;
mod block_tables;
mod known_blocks;
mod read_segments;
mod merge;
mod integrity;
mod seal;
mod memories;
mod journal;
mod vectors;
mod token_vectors;
mod quarantine;
mod capture_queue;
mod uri_index;
mod usage;
mod ledger;
mod vector_cache;
mod shared_documents;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod server_cases_tests;
#[cfg(test)]
mod operation_cases_tests;
#[cfg(all(test, feature = "postgres"))]
mod postgres_tests;
#[cfg(all(test, feature = "mysql"))]
mod mysql_tests;

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;

use self::{
    address::ServerAddress,
    database::Database,
    driver::{SqlDriver, SqlErrorKind, failure_kind},
    known_blocks::KnownBlocks,
    scope_row::{NO_WRITE, ScopeKey},
    sql::sql,
    vector_cache::EvictionClock,
};
use super::{
    SealChange, Store, StoreAdmin, StoreInfo, index::block_cache::BlockCache,
    vector_cache::CacheTally,
};
use crate::{
    error::{Error, Result},
    types::{AppliedChange, Change, Scope, WriteBatch},
};

/// A store in a server database.
pub struct ServerStore {
    db: Arc<Database>,
    /// Address without the password.
    shown_url: String,
    /// Index blocks in RAM.
    block_cache: BlockCache,
    known_blocks: KnownBlocks,
    /// Scopes whose blocks this process is merging.
    merging: Arc<Mutex<BTreeSet<ScopeKey>>>,
    /// Hits and misses of the vector cache that are not in the database yet.
    tally: CacheTally,
    eviction: EvictionClock,
}

impl ServerStore {
    /// Connects to a database and creates or migrates its tables where needed. No error shows the password.
    ///
    /// Indexes that an older text analysis built are rebuilt in the background, a scope at a time.
    pub async fn open(url: &str) -> Result<Self> {
        let address = ServerAddress::parse(url)?;
        let opened = Self::with_driver(open_driver(&address)?, address.shown.clone()).await;
        let cache = BlockCache::with_limit(address.options.cache_bytes);
        let opened = opened.map(|store| Self { block_cache: cache, ..store });
        opened.map_err(|error| explain_refusal(error, &address.shown))
    }

    async fn with_driver(driver: Box<dyn SqlDriver>, shown_url: String) -> Result<Self> {
        let db = Arc::new(Database::new(driver));
        db.connect().await?;
        migrate::migrate(&db).await?;
        let store = Self {
            db,
            shown_url,
            block_cache: BlockCache::default(),
            known_blocks: KnownBlocks::default(),
            merging: Arc::default(),
            tally: CacheTally::default(),
            eviction: EvictionClock::default(),
        };
        store.rebuild_indexes(integrity::stale_scopes(&store.db).await?);
        Ok(store)
    }

    /// Rebuilds the indexes of these scopes in the background.
    fn rebuild_indexes(&self, stale: Vec<Scope>) {
        if stale.is_empty() {
            return;
        }
        let db = Arc::clone(&self.db);
        tokio::spawn(async move {
            for scope in stale {
                if let Err(error) = integrity::reindex(&db, &scope).await {
                    tracing::warn!("{error}: the index of {scope} is rebuilt at the next start");
                }
            }
        });
    }
}

/// Tells a database that refuses its user from one that cannot be reached: waiting does not help.
fn explain_refusal(error: Error, shown: &str) -> Error {
    if failure_kind(&error) != Some(SqlErrorKind::Refused) {
        return error;
    }
    Error::invalid(
        format!("the database {shown} refuses: {error}"),
        "check user, password and name of the database in its address, and the rights of the user there",
    )
}

/// Opens the client for the scheme of an address.
fn open_driver(address: &ServerAddress) -> Result<Box<dyn SqlDriver>> {
    let scheme = address.scheme();
    match scheme {
        #[cfg(feature = "postgres")]
        "postgres" | "postgresql" => Ok(Box::new(postgres::PostgresDriver::new(address)?)),
        #[cfg(feature = "mysql")]
        "mysql" | "mariadb" => Ok(Box::new(mysql::MySqlDriver::new(address)?)),
        _ => Err(Error::invalid(
            format!("this program was built without the store `{scheme}:`"),
            "use sqlite:PATH",
        )),
    }
}

#[async_trait]
impl Store for ServerStore {
    async fn apply(&self, write: WriteBatch) -> Result<Vec<AppliedChange>> {
        let erases = write.changes.iter().any(|change| matches!(change, Change::Erase(_)));
        let applied = self.apply_write(write).await?;
        if erases {
            self.block_cache.clear();
        }
        Ok(applied)
    }

    crate::store_facets! {
        own: memories, index, journal, vectors, token_vectors, queue, uris, usage, ledger, vector_cache,
            documents, admin
    }
}

#[async_trait]
impl StoreAdmin for ServerStore {
    fn info(&self) -> StoreInfo {
        StoreInfo {
            url: self.shown_url.clone(),
            schema: migrate::SCHEMA_VERSION,
            is_read_only: false,
        }
    }

    async fn scopes(&self) -> Result<Vec<Scope>> {
        let text =
            "SELECT agent, user_name FROM scopes WHERE write_id <> ? ORDER BY agent, user_name";
        integrity::read_scopes(self.db.read_one(sql!(text, NO_WRITE)).await?)
    }

    /// The database's own tools check its files; this asks if it answers and may be written.
    async fn integrity(&self) -> Result<Vec<String>> {
        migrate::check_schema(&self.db).await.map(|()| Vec::new())
    }

    /// The database reuses space by itself.
    async fn compact(&self) -> Result<u64> {
        Ok(0)
    }

    async fn size(&self) -> Result<Option<u64>> {
        let bytes = database::number(self.db.read_one(self.db.dialect().database_size()).await?)?;
        Ok(u64::try_from(bytes).ok())
    }

    async fn change_seal(&self, agent: &str, change: SealChange<'_>) -> Result<()> {
        match change {
            SealChange::Seal(holder) => self.seal_agent(agent, holder).await,
            SealChange::End => self.unseal_agent(agent, None).await,
            SealChange::EndOf(holder) => self.unseal_agent(agent, Some(holder)).await,
        }
    }

    async fn erase_agent(&self, agent: &str) -> Result<()> {
        self.erase_rows_of(agent).await
    }

    async fn close(&self) {
        if let Err(error) = self.flush_tally().await {
            tracing::debug!("{error}: the hit rate of the vector cache is not complete");
        }
        self.db.close().await;
    }
}
