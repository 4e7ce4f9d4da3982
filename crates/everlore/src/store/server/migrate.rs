//! The schema: created and migrated at open, under a lock, so that servers that start together do it once.
//!
//! Servers of two versions may run on one database: a newer one migrates it, and the older ones go on reading and writing
//! as long as `min_writer` allows it. Every write looks at it in the round trip that locks its scope (`scope_row.rs`).

use super::{
    database::{Database, number, rows},
    scope_row::ScopeKey,
    sql::{Dialect, SqlRow, Statement, sql},
    transaction::{RetryRule, retried},
};
use crate::error::{Error, Result};

/// Step `n` leads from schema `n` to schema `n + 1`. Only ever added to, with the same numbers for every database.
#[cfg(feature = "postgres")]
const POSTGRES: [&str; SCHEMA_VERSION as usize] = [
    include_str!("../../../migrations/postgres/0001.sql"),
    include_str!("../../../migrations/postgres/0002.sql"),
];
#[cfg(feature = "mysql")]
const MYSQL: [&str; SCHEMA_VERSION as usize] = [
    include_str!("../../../migrations/mysql/0001.sql"),
    include_str!("../../../migrations/mysql/0002.sql"),
];

/// The newest schema this program knows.
pub(super) const SCHEMA_VERSION: u32 = 2;

/// Oldest schema whose programs may write a database of this one, while servers are upgraded one by one. A step that only
/// adds what older programs can ignore leaves it; a step that they would contradict raises it to its own number.
const MIN_WRITER: u32 = 2;

const VERSIONS: &str = "SELECT name, value FROM meta WHERE name IN ('schema', 'min_writer')";

/// Schema that a program brings.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProgramSchema {
    pub(super) version: u32,
    pub(super) min_writer: u32,
    pub(super) steps: &'static [&'static str],
}

/// Schema that a database has.
#[derive(Debug, Clone, Copy, Default)]
struct StoredSchema {
    /// 0 if there is none.
    version: u32,
    min_writer: u32,
}

/// Makes the schema ready for this program; refuses one that only newer programs may write.
pub(super) async fn migrate(db: &Database) -> Result<()> {
    let steps = db.dialect().migrations();
    migrate_to(db, ProgramSchema { version: SCHEMA_VERSION, min_writer: MIN_WRITER, steps }).await
}

/// Makes the schema ready for a program.
pub(super) async fn migrate_to(db: &Database, program: ProgramSchema) -> Result<()> {
    retried(RetryRule::Idempotent, || async {
        let found = stored_schema(db).await?;
        if found.version > program.version {
            return check_writer(&found, program.version);
        }
        if found.version < program.version { upgrade(db, program).await } else { Ok(()) }
    })
    .await
}

/// Fails if the database may be written by newer programs only. A server that runs asks again and again: another one may
/// have migrated the database.
pub(super) async fn check_schema(db: &Database) -> Result<()> {
    let found = StoredSchema::read(db.read_one(sql!(VERSIONS)).await?)?;
    check_writer(&found, SCHEMA_VERSION)
}

fn check_writer(found: &StoredSchema, known: u32) -> Result<()> {
    if found.min_writer > known {
        return Err(Error::SchemaTooNew { found: found.version, known });
    }
    Ok(())
}

impl StoredSchema {
    /// Decodes the result of [`VERSIONS`]. A database that does not say who may write it is for its own version.
    fn read(rows: Vec<SqlRow>) -> Result<Self> {
        let (mut version, mut min_writer) = (0, None);
        for mut row in rows {
            match row.text(0)?.as_str() {
                "schema" => version = row.int(1)?,
                _ => min_writer = Some(row.int(1)?),
            }
        }
        Ok(Self { version, min_writer: min_writer.unwrap_or(version) })
    }
}

async fn stored_schema(db: &Database) -> Result<StoredSchema> {
    if number(db.read_one(db.dialect().count_meta_tables()).await?)? == 0 {
        return Ok(StoredSchema::default());
    }
    StoredSchema::read(db.read_one(sql!(VERSIONS)).await?)
}

/// Runs the steps that are missing. Another server may have run them while this one waited for the lock.
async fn upgrade(db: &Database, program: ProgramSchema) -> Result<()> {
    let dialect = db.dialect();
    let mut tx = db.begin().await?;
    tx.run(vec![dialect.lock_schema()]).await?;
    let [tables] = rows(tx.run(vec![dialect.count_meta_tables()]).await?)?;
    let found = if number(tables)? == 0 {
        StoredSchema::default()
    } else {
        let [found] = rows(tx.run(vec![sql!(VERSIONS)]).await?)?;
        StoredSchema::read(found)?
    };
    let steps = program.steps.iter().skip(found.version as usize);
    tx.run(steps.flat_map(|step| statements(step)).collect()).await?;
    let raise = "UPDATE meta SET value = ? WHERE name = ? AND value < ?";
    let raise = |name: &str, value: u32| sql!(raise, value, name, value);
    let last = [raise("schema", program.version), raise("min_writer", program.min_writer)];
    tx.commit(last.into_iter().chain(dialect.unlock_schema()).collect()).await.map(drop)
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

    /// Returns the query for the bytes of the database.
    pub(super) fn database_size(self) -> Statement {
        match self {
            #[cfg(feature = "postgres")]
            Self::Postgres => sql!("SELECT pg_database_size(current_database())"),
            #[cfg(feature = "mysql")]
            Self::MySql => sql!(
                "SELECT CAST(COALESCE(SUM(data_length + index_length), 0) AS SIGNED) \
                 FROM information_schema.tables WHERE table_schema = DATABASE()"
            ),
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
