//! Opening the file: creation, migration with a backup first, and the settings of a connection.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, OpenFlags, config::DbConfig};

use crate::{
    error::{Error, Result},
    files::atomic_file::{private_open_options, remove_if_exists},
};

/// The newest schema this program knows.
pub(crate) const SCHEMA_VERSION: u32 = MIGRATIONS.len() as u32;

/// Step `n` leads from schema `n` to schema `n + 1`. Only ever added to.
const MIGRATIONS: [&str; 9] = [
    include_str!("../../../migrations/sqlite/0001.sql"),
    include_str!("../../../migrations/sqlite/0002.sql"),
    include_str!("../../../migrations/sqlite/0003.sql"),
    include_str!("../../../migrations/sqlite/0004.sql"),
    include_str!("../../../migrations/sqlite/0005.sql"),
    include_str!("../../../migrations/sqlite/0006.sql"),
    include_str!("../../../migrations/sqlite/0007.sql"),
    include_str!("../../../migrations/sqlite/0008.sql"),
    include_str!("../../../migrations/sqlite/0009.sql"),
];

/// Time to wait for another process that writes: far longer than any write takes, short enough to end a hang.
const BUSY_TIMEOUT: Duration = Duration::from_secs(60);

/// Bytes of a file that are memory-mapped: all of one with a million memories.
const MMAP_BYTES: i64 = 1 << 30;

/// Access that this process has to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OpenMode {
    /// Reading and writing.
    ReadWrite,
    /// Reading, beside other processes that write.
    ReadOnly,
    /// Reading the file as it is: it has no log, and none can be created.
    Immutable,
}

/// Makes the file ready for this program and returns a connection for reading.
pub(super) fn prepare(path: &Path) -> Result<(Connection, OpenMode)> {
    if is_write_protected(path) {
        return read_only(path);
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)
            .map_err(|error| Error::io(folder.display().to_string(), error))?;
    }
    let db = match open_if_current(path)? {
        Some(db) => db,
        None => migrate(path, &MIGRATIONS).and_then(|()| reader(path, OpenMode::ReadWrite))?,
    };
    Ok((db, OpenMode::ReadWrite))
}

/// Opens a file that cannot be written to: with its log, as other processes write it, or without one.
fn read_only(path: &Path) -> Result<(Connection, OpenMode)> {
    let log_bytes = fs::metadata(wal_path(path)).map(|log| log.len());
    let ways: &[OpenMode] = match log_bytes {
        Err(_) => &[OpenMode::Immutable],
        Ok(0) => &[OpenMode::ReadOnly, OpenMode::Immutable],
        // Without the log, the changes in it would be missing.
        Ok(_) => &[OpenMode::ReadOnly],
    };
    let found = ways.iter().find_map(|mode| {
        let db = reader(path, *mode).ok()?;
        Some((version(&db).ok()?, db, *mode))
    });
    let Some((found, db, mode)) = found else {
        return Err(Error::invalid(
            format!(
                "{} was not closed properly, and cannot be recovered because it is read-only here",
                path.display()
            ),
            "copy the home to a folder that you may write to, and name it with --home",
        ));
    };
    match found {
        found if found > SCHEMA_VERSION => {
            Err(Error::SchemaTooNew { found, known: SCHEMA_VERSION })
        }
        SCHEMA_VERSION => Ok((db, mode)),
        _ => Err(Error::invalid(
            format!(
                "{} has an older version, and cannot be updated because it is read-only here",
                path.display()
            ),
            "open it once where you may write, or copy the home and name the copy with --home",
        )),
    }
}

/// Returns the path of SQLite's write-ahead log.
fn wal_path(path: &Path) -> PathBuf {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    log.into()
}

/// Returns `true` if a file exists and it or its folder is write-protected.
#[cfg(unix)]
fn is_write_protected(path: &Path) -> bool {
    use rustix::{
        fs::{Access, access},
        io::Errno,
    };
    let refused = |path: &Path| {
        let result = access(path, Access::WRITE_OK);
        result.is_err_and(|error| [Errno::ACCESS, Errno::ROFS, Errno::PERM].contains(&error))
    };
    path.exists() && (refused(path) || path.parent().is_some_and(refused))
}

#[cfg(not(unix))]
fn is_write_protected(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|data| data.permissions().readonly())
}

/// Opens a connection for reading.
pub(super) fn reader(path: &Path, mode: OpenMode) -> Result<Connection> {
    let db = match mode {
        OpenMode::ReadWrite | OpenMode::ReadOnly => connect(path)?,
        OpenMode::Immutable => connect_immutable(path)?,
    };
    db.pragma_update(None, "query_only", true)?;
    set_mmap(&db, true)?;
    Ok(db)
}

/// Turns memory-mapping of the file on or off; without it SQLite reads page by page.
pub(super) fn set_mmap(db: &Connection, maps: bool) -> Result<()> {
    let bytes = if maps { MMAP_BYTES } else { 0 };
    Ok(db.pragma_update(None, "mmap_size", bytes)?)
}

/// Opens a connection for writing, durably: a commit returns when the disk has it, and deleted data is overwritten.
pub(super) fn writer(path: &Path) -> Result<Connection> {
    let db = connect(path)?;
    set_synced(&db, true)?;
    db.pragma_update(None, "secure_delete", true)?;
    // 32 MB of pages: the working set of a bulk import of many scopes.
    db.pragma_update(None, "cache_size", -32_000)?;
    Ok(db)
}

/// Sets if commits wait for the disk. Without it the write-ahead log is written in order all the same.
pub(super) fn set_synced(db: &Connection, is_synced: bool) -> Result<()> {
    let level = if is_synced { "FULL" } else { "NORMAL" };
    Ok(db.pragma_update(None, "synchronous", level)?)
}

fn connect(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    configure(Connection::open_with_flags(path, flags)?)
}

/// Opens a file that no process changes: it needs no log and no locks.
fn connect_immutable(path: &Path) -> Result<Connection> {
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.~".contains(byte) {
            uri.push(char::from(*byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = Connection::open_with_flags(format!("{uri}?immutable=1"), flags);
    configure(opened?)
}

fn configure(db: Connection) -> Result<Connection> {
    db.busy_timeout(BUSY_TIMEOUT)?;
    // Otherwise SQLite compiles a statement anew whenever a bound value changes that the planner had looked at.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // More than all statements this store has, so that none is compiled twice.
    db.set_prepared_statement_cache_capacity(64);
    Ok(db)
}

/// Opens a connection for reading if the file has this program's schema and terms, so that no work under the lock is
/// needed.
fn open_if_current(path: &Path) -> Result<Option<Connection>> {
    if !path.exists() {
        return Ok(None);
    }
    let db = reader(path, OpenMode::ReadWrite)?;
    match version(&db)? {
        found if found > SCHEMA_VERSION => {
            Err(Error::SchemaTooNew { found, known: SCHEMA_VERSION })
        }
        found => Ok((found == SCHEMA_VERSION).then_some(db)),
    }
}

/// Creates or migrates the file while holding a lock, so that processes starting together do it once.
fn migrate(path: &Path, migrations: &[&str]) -> Result<()> {
    let lock_path = path.with_extension("lock");
    let lock = File::create(&lock_path)
        .map_err(|error| Error::io(lock_path.display().to_string(), error))?;
    lock.lock().map_err(|error| Error::io(lock_path.display().to_string(), error))?;
    let mut db = writer(path)?;
    db.pragma_update(None, "journal_mode", "WAL")?;
    let (found, known) = (version(&db)?, migrations.len() as u32);
    if found > known {
        return Err(Error::SchemaTooNew { found, known });
    }
    if found > 0 && found < known {
        back_up(&db, &backup_path(path, found))?;
    }
    let tx = db.transaction()?;
    for (step, sql) in migrations.iter().enumerate().skip(found as usize) {
        tx.execute_batch(sql)?;
        tx.pragma_update(None, "user_version", step as u32 + 1)?;
    }
    Ok(tx.commit()?)
}

/// Returns the path of the copy made before leaving schema `version`.
fn backup_path(path: &Path, version: u32) -> PathBuf {
    path.with_extension(format!("schema-{version}.backup"))
}

/// Copies the database into a file that only its owner may read, as the database is.
fn back_up(db: &Connection, to: &Path) -> Result<()> {
    let failed = |error| Error::io(to.display().to_string(), error);
    // SQLite keeps the permissions of a file that exists, and would create one that others may read. A copy that an
    // interrupted migration left behind may be readable as well.
    remove_if_exists(to).map_err(failed)?;
    private_open_options().write(true).create_new(true).open(to).map_err(failed)?;
    Ok(db.backup(rusqlite::MAIN_DB, to, None::<fn(rusqlite::backup::Progress)>)?)
}

fn version(db: &Connection) -> Result<u32> {
    Ok(db.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

#[cfg(test)]
mod tests {
    use tempfile::{TempDir, tempdir};

    use super::*;

    /// Migrations of a later version, the second of which fails half way.
    const NEXT: [&str; 2] = [MIGRATIONS[0], "CREATE TABLE vectors (id INTEGER PRIMARY KEY);"];
    const BROKEN: [&str; 2] =
        [MIGRATIONS[0], "CREATE TABLE half (id); INSERT INTO missing VALUES (1);"];

    /// Creates a file of the first schema that holds one scope.
    fn old_file() -> (TempDir, PathBuf) {
        let folder = tempdir().unwrap();
        let path = folder.path().join("everlore.db");
        migrate(&path, &MIGRATIONS[..1]).unwrap();
        let db = connect(&path).unwrap();
        db.execute("INSERT INTO scopes (agent, user) VALUES ('a', '王')", []).unwrap();
        (folder, path)
    }

    fn has_table(path: &Path, name: &str) -> bool {
        let db = connect(path).unwrap();
        let sql = "SELECT 1 FROM sqlite_master WHERE name = ?1";
        db.prepare(sql).unwrap().exists([name]).unwrap()
    }

    fn scopes(path: &Path) -> Vec<String> {
        let db = connect(path).unwrap();
        let mut select = db.prepare("SELECT user FROM scopes").unwrap();
        let rows = select.query_map([], |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    }

    #[test]
    fn an_old_file_is_copied_before_it_is_migrated() {
        let (_folder, path) = old_file();
        migrate(&path, &NEXT).unwrap();
        assert_eq!(version(&connect(&path).unwrap()).unwrap(), 2);
        assert!(has_table(&path, "vectors"));
        let copy = backup_path(&path, 1);
        assert!(copy.ends_with("everlore.schema-1.backup"), "{}", copy.display());
        assert_eq!(version(&connect(&copy).unwrap()).unwrap(), 1);
        assert!(!has_table(&copy, "vectors"));
        assert_eq!((scopes(&path), scopes(&copy)), (vec!["王".into()], vec!["王".into()]));
    }

    #[cfg(unix)]
    #[test]
    fn the_copy_is_for_the_owner_alone_even_over_an_older_one() {
        use std::os::unix::fs::PermissionsExt;
        let (_folder, path) = old_file();
        let copy = backup_path(&path, 1);
        fs::write(&copy, "left by a migration that was cut short").unwrap();
        fs::set_permissions(&copy, fs::Permissions::from_mode(0o644)).unwrap();
        migrate(&path, &NEXT).unwrap();
        assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(scopes(&copy), ["王"]);
    }

    #[test]
    fn a_file_is_read_with_its_log_and_without_one() {
        let folder = tempdir().unwrap();
        let path = folder.path().join("my 记忆?#%.db");
        let (db, mode) = prepare(&path).unwrap();
        assert_eq!(mode, OpenMode::ReadWrite);
        let writing = writer(&path).unwrap();
        let add = "INSERT INTO scopes (agent, user) VALUES ('a', '王')";
        writing.execute(add, []).unwrap();
        let count = |db: &Connection| -> u32 {
            db.query_row("SELECT count(*) FROM scopes", [], |row| row.get(0)).unwrap()
        };
        let (beside, mode) = read_only(&path).unwrap();
        assert_eq!(
            (count(&beside), mode),
            (1, OpenMode::ReadOnly),
            "what only the log has is seen"
        );
        assert!(beside.execute(add, []).is_err());
        drop((db, writing, beside));
        assert!(!wal_path(&path).exists());
        let (alone, mode) = read_only(&path).unwrap();
        assert_eq!((count(&alone), mode), (1, OpenMode::Immutable));
        assert!(alone.execute(add, []).is_err() && !wal_path(&path).exists());
    }

    #[test]
    fn an_old_file_that_cannot_be_updated_is_told() {
        let (_folder, path) = old_file();
        let error = read_only(&path).map(drop).unwrap_err();
        assert!(error.to_string().contains("has an older version"), "{error}");
        assert_eq!(version(&connect(&path).unwrap()).unwrap(), 1);
    }

    #[test]
    fn a_new_file_and_a_current_one_are_not_copied() {
        let folder = tempdir().unwrap();
        let path = folder.path().join("everlore.db");
        migrate(&path, &NEXT).unwrap();
        migrate(&path, &NEXT).unwrap();
        assert!(!backup_path(&path, 0).exists() && !backup_path(&path, 2).exists());
    }

    #[test]
    fn a_migration_that_fails_changes_nothing() {
        let (_folder, path) = old_file();
        let error = migrate(&path, &BROKEN).unwrap_err();
        assert!(error.to_string().contains("missing"), "{error}");
        assert_eq!(version(&connect(&path).unwrap()).unwrap(), 1);
        assert!(!has_table(&path, "half"));
        migrate(&path, &NEXT).unwrap();
        assert_eq!(scopes(&path), ["王"]);
    }

    #[test]
    fn a_file_of_a_newer_program_is_refused_before_anything_is_written() {
        let (_folder, path) = old_file();
        migrate(&path, &NEXT).unwrap();
        let error = migrate(&path, &MIGRATIONS[..1]).unwrap_err();
        assert!(matches!(error, Error::SchemaTooNew { found: 2, known: 1 }), "{error:?}");
    }
}
