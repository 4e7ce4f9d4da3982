//! The schema: created and migrated at open, under a lock, so that servers that start together do it once.

use super::{
    database::{Database, number, rows},
    scope_row::ScopeKey,
    sql::{Dialect, Statement, sql},
    transaction::{RetryRule, retried},
};
use crate::error::{Error, Result};

/// Step `n` leads from schema `n` to schema `n + 1`. Only ever added to, with the same numbers for every database.
#[cfg(feature = "postgres")]
const POSTGRES: [&str; SCHEMA_VERSION as usize] =
    [include_str!("../../../migrations/postgres/0001.sql")];
#[cfg(feature = "mysql")]
const MYSQL: [&str; SCHEMA_VERSION as usize] = [include_str!("../../../migrations/mysql/0001.sql")];

/// The newest schema this program knows.
pub(super) const SCHEMA_VERSION: u32 = 1;

const VERSION: &str = "SELECT value FROM meta WHERE name = 'schema'";

/// Makes the schema ready for this program; refuses one of a newer program.
pub(super) async fn migrate(db: &Database) -> Result<()> {
    retried(RetryRule::Idempotent, || async {
        let found = version(db).await?;
        if found > SCHEMA_VERSION {
            return Err(Error::SchemaTooNew { found, known: SCHEMA_VERSION });
        }
        if found < SCHEMA_VERSION { upgrade(db).await } else { Ok(()) }
    })
    .await
}

/// Returns the version of the schema; 0 if there is none.
async fn version(db: &Database) -> Result<u32> {
    if number(db.read_one(db.dialect().count_meta_tables()).await?)? == 0 {
        return Ok(0);
    }
    u32::try_from(number(db.read_one(sql!(VERSION)).await?)?).map_err(Error::store)
}

/// Runs the steps that are missing. Another server may have run them while this one waited for the lock.
async fn upgrade(db: &Database) -> Result<()> {
    let dialect = db.dialect();
    let mut tx = db.begin().await?;
    tx.run(vec![dialect.lock_schema()]).await?;
    let [tables] = rows(tx.run(vec![dialect.count_meta_tables()]).await?)?;
    let found = if number(tables)? == 0 {
        0
    } else {
        let [found] = rows(tx.run(vec![sql!(VERSION)]).await?)?;
        number(found)? as usize
    };
    let steps = dialect.migrations().iter().skip(found);
    tx.run(steps.flat_map(|step| statements(step)).collect()).await?;
    let version = sql!("UPDATE meta SET value = ? WHERE name = 'schema'", SCHEMA_VERSION);
    let last = std::iter::once(version).chain(dialect.unlock_schema());
    tx.commit(last.collect()).await.map(drop)
}

/// Splits a step into its statements, each of which ends a line.
fn statements(step: &'static str) -> impl Iterator<Item = Statement> {
    let is_statement =
        |text: &&str| text.lines().any(|line| !line.trim().is_empty() && !line.starts_with("--"));
    step.split(";\n").filter(is_statement).map(|text| sql!(text))
}

impl Dialect {
    fn migrations(self) -> &'static [&'static str] {
        match self {
            #[cfg(feature = "postgres")]
            Self::Postgres => &POSTGRES,
            #[cfg(feature = "mysql")]
            Self::MySql => &MYSQL,
        }
    }

    fn count_meta_tables(self) -> Statement {
        let schema = match self {
            #[cfg(feature = "postgres")]
            Self::Postgres => "current_schema()",
            #[cfg(feature = "mysql")]
            Self::MySql => "DATABASE()",
        };
        sql!(format!(
            "SELECT count(*) FROM information_schema.tables WHERE table_schema = {schema} AND table_name = 'meta'"
        ))
    }

    /// Creates the statement that waits until no other server migrates.
    fn lock_schema(self) -> Statement {
        match self {
            // Any number that no other program uses for a lock will do.
            #[cfg(feature = "postgres")]
            Self::Postgres => sql!("SELECT 1 FROM pg_advisory_xact_lock(7318264916250378)"),
            #[cfg(feature = "mysql")]
            Self::MySql => sql!("SELECT GET_LOCK('everlore_schema', 60)"),
        }
    }

    /// Creates the statement that ends the lock, if the end of the transaction does not.
    fn unlock_schema(self) -> Option<Statement> {
        match self {
            #[cfg(feature = "postgres")]
            Self::Postgres => None,
            #[cfg(feature = "mysql")]
            Self::MySql => Some(sql!("SELECT RELEASE_LOCK('everlore_schema')")),
        }
    }

    /// Creates the statement that begins a transaction that changes data. A node of a Galera cluster may end a
    /// transaction between two statements of one text; without autocommit, the rest of the text is then not stored
    /// statement by statement.
    pub(super) fn begin_write(self) -> Statement {
        match self {
            #[cfg(feature = "postgres")]
            Self::Postgres => sql!("BEGIN"),
            #[cfg(feature = "mysql")]
            Self::MySql => sql!("SET autocommit = 0"),
        }
    }

    /// Creates the statements that commit a transaction that changes data.
    pub(super) fn commit_write(self) -> Vec<Statement> {
        match self {
            #[cfg(feature = "postgres")]
            Self::Postgres => vec![sql!("COMMIT")],
            #[cfg(feature = "mysql")]
            Self::MySql => vec![sql!("COMMIT"), sql!("SET autocommit = 1")],
        }
    }

    /// Returns the statement that ends a transaction and its changes.
    pub(super) fn rollback_write(self) -> &'static str {
        match self {
            #[cfg(feature = "postgres")]
            Self::Postgres => "ROLLBACK",
            #[cfg(feature = "mysql")]
            Self::MySql => "ROLLBACK; SET autocommit = 1",
        }
    }

    /// Creates the statement that fails, and so keeps the commit behind it from running, unless the row of a scope has
    /// this write id; `None` where a transaction cannot end unnoticed.
    #[cfg_attr(
        not(feature = "mysql"),
        expect(unused_variables, reason = "only MySQL has such transactions")
    )]
    pub(super) fn guard_write(self, key: ScopeKey, write_id: [u8; 16]) -> Option<Statement> {
        match self {
            #[cfg(feature = "postgres")]
            Self::Postgres => None,
            // A value that is two rows is an error.
            #[cfg(feature = "mysql")]
            Self::MySql => Some(sql!(
                "SELECT (SELECT 1 UNION ALL SELECT 2 FROM scopes WHERE scope = ? AND write_id <> ?)",
                key,
                write_id
            )),
        }
    }

    /// Creates the statements that begin a transaction that sees one unchanging state.
    pub(super) fn begin_snapshot(self) -> Vec<Statement> {
        match self {
            #[cfg(feature = "postgres")]
            Self::Postgres => vec![sql!("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")],
            #[cfg(feature = "mysql")]
            Self::MySql => vec![
                sql!("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"),
                sql!("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"),
            ],
        }
    }
}
