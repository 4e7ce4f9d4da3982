//! Opening the file: creation, migration with a backup first, and the settings of a connection.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, OpenFlags};

use super::{check, failed};
use crate::{
    error::{Error, Result},
    text::terms::TERMS_VERSION,
};

/// The newest schema this program knows.
pub const SCHEMA_VERSION: u32 = MIGRATIONS.len() as u32;

/// Step `n` leads from schema `n` to schema `n + 1`. Only ever added to.
const MIGRATIONS: [&str; 1] = [include_str!("../../../migrations/sqlite/0001.sql")];

/// How long to wait for another process that writes: far longer than any write takes, short enough to end a hang.
const BUSY: Duration = Duration::from_secs(60);

/// Makes the file ready for this program and returns a connection for reading.
pub(super) fn prepare(path: &Path) -> Result<Connection> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)
            .map_err(|error| Error::io(folder.display().to_string(), error))?;
    }
    if !is_current(path)? {
        migrate(path)?;
    }
    reader(path)
}

/// A connection that reads.
pub(super) fn reader(path: &Path) -> Result<Connection> {
    let db = connect(path)?;
    db.pragma_update(None, "query_only", true).map_err(failed)?;
    Ok(db)
}

/// A connection that writes, durably: a commit returns when the disk has it, and what is deleted is overwritten.
pub(super) fn writer(path: &Path) -> Result<Connection> {
    let db = connect(path)?;
    db.pragma_update(None, "synchronous", "FULL").map_err(failed)?;
    db.pragma_update(None, "secure_delete", true).map_err(failed)?;
    // 32 MB of pages: what a bulk import of many scopes touches again and again.
    db.pragma_update(None, "cache_size", -32_000).map_err(failed)?;
    Ok(db)
}

fn connect(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags).map_err(failed)?;
    db.busy_timeout(BUSY).map_err(failed)?;
    // More than all statements this store has, so that none is compiled twice.
    db.set_prepared_statement_cache_capacity(64);
    Ok(db)
}

/// Whether the file has this program's schema and terms, so that nothing need be done under the lock.
fn is_current(path: &Path) -> Result<bool> {
    if !path.exists() {
        return Ok(false);
    }
    let db = reader(path)?;
    match version(&db)? {
        found if found > SCHEMA_VERSION => Err(Error::TooNew { found, known: SCHEMA_VERSION }),
        SCHEMA_VERSION => Ok(terms_version(&db)? == Some(TERMS_VERSION)),
        _ => Ok(false),
    }
}

/// Creates or migrates the file while holding a lock, so that processes starting together do it once.
fn migrate(path: &Path) -> Result<()> {
    let lock_path = path.with_extension("lock");
    let lock = File::create(&lock_path)
        .map_err(|error| Error::io(lock_path.display().to_string(), error))?;
    lock.lock().map_err(|error| Error::io(lock_path.display().to_string(), error))?;
    let mut db = writer(path)?;
    db.pragma_update(None, "journal_mode", "WAL").map_err(failed)?;
    let found = version(&db)?;
    if found > SCHEMA_VERSION {
        return Err(Error::TooNew { found, known: SCHEMA_VERSION });
    }
    if found > 0 && found < SCHEMA_VERSION {
        back_up(&db, &backup_path(path, found))?;
    }
    let tx = db.transaction().map_err(failed)?;
    for (step, sql) in MIGRATIONS.iter().enumerate().skip(found as usize) {
        tx.execute_batch(sql).map_err(failed)?;
        tx.pragma_update(None, "user_version", step as u32 + 1).map_err(failed)?;
    }
    if terms_version(&tx)? != Some(TERMS_VERSION) {
        check::reindex_all(&tx)?;
        tx.execute("INSERT OR REPLACE INTO meta VALUES ('terms', ?1)", [TERMS_VERSION])
            .map_err(failed)?;
    }
    tx.commit().map_err(failed)
}

/// The copy made before leaving schema `version`.
fn backup_path(path: &Path, version: u32) -> PathBuf {
    path.with_extension(format!("schema-{version}.backup"))
}

fn back_up(db: &Connection, to: &Path) -> Result<()> {
    db.backup(rusqlite::MAIN_DB, to, None::<fn(rusqlite::backup::Progress)>).map_err(failed)
}

fn version(db: &Connection) -> Result<u32> {
    db.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(failed)
}

/// By which analysis the index was made; none if it is still empty.
fn terms_version(db: &Connection) -> Result<Option<u32>> {
    let mut statement =
        db.prepare_cached("SELECT value FROM meta WHERE key = 'terms'").map_err(failed)?;
    let mut rows = statement.query([]).map_err(failed)?;
    rows.next().map_err(failed)?.map(|row| row.get(0)).transpose().map_err(failed)
}
