//! Database of a home: the SQLite file in it, another file, or a server database that other servers share.

use std::{
    ffi::OsString,
    fmt, fs, io,
    path::{Path, PathBuf},
};

use everlore::{config::StoreUrl, engine::MisplacedAgent};

use crate::error::CliError;

/// Name of the database file in a home.
pub(crate) const DATABASE_FILE: &str = "everlore.db";

/// Variable that chooses the database, and passes the choice to processes that this one starts.
pub(crate) const STORE_VARIABLE: &str = "EVERLORE_STORE";

/// Beginning of the engine's advice about a database file.
const FILE_HINT: &str = "check free disk space";

/// Database of a home. Shown without its password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HomeStore {
    /// SQLite file.
    File(PathBuf),
    /// Database on a server.
    Server(StoreUrl),
}

impl HomeStore {
    /// Returns the database that the settings choose; the file of the home if they choose none, or none that exists.
    pub(crate) fn chosen(home: &Path, url: &StoreUrl) -> Self {
        match url.sqlite_path() {
            Some(path) => Self::File(path.into()),
            None if url.is_server() => Self::Server(url.clone()),
            None => Self::File(home.join(DATABASE_FILE)),
        }
    }

    /// Returns the file; `None` for a server database.
    pub(crate) fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Server(_) => None,
        }
    }

    /// Returns `true` for a database that other servers share.
    pub(crate) fn is_server(&self) -> bool {
        self.file().is_none()
    }

    /// Returns `true` if nothing was ever stored. A server database is never missing: without it commands fail.
    pub(crate) fn is_missing(&self) -> bool {
        self.file().is_some_and(|path| !path.exists())
    }

    /// Returns the size of the file; `None` for a server database, which has its own tools for that.
    pub(crate) fn bytes(&self) -> Option<u64> {
        self.file().map(|path| fs::metadata(path).map_or(0, |data| data.len()))
    }

    /// Returns the address for [`everlore::store::open`].
    pub(crate) fn address(&self) -> OsString {
        match self {
            Self::File(path) => {
                let mut address = OsString::from("sqlite:");
                address.push(path);
                address
            }
            Self::Server(url) => url.reveal().into(),
        }
    }

    /// Replaces the advice of a storage error, which is about files, if the database is on a server. That of an agent with a
    /// database of its own stays.
    pub(crate) fn explain(&self, error: CliError) -> CliError {
        if !self.is_server() || !error.is_of_store() || !error.has_hint(FILE_HINT) {
            return error;
        }
        error.with_hint(format!(
            "check that the database {self} runs and accepts this user; then try again. --store, {STORE_VARIABLE} or store.url choose another one"
        ))
    }
}

impl fmt::Display for HomeStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "sqlite:{}", path.display()),
            Self::Server(url) => write!(f, "{url}"),
        }
    }
}

/// Makes the path of a file or folder absolute, so that processes in other folders open the same one.
pub(crate) fn absolute(url: StoreUrl, folder: &Path) -> io::Result<StoreUrl> {
    let scheme = if url.directory_path().is_some() { "directory" } else { "sqlite" };
    match url.sqlite_path().or_else(|| url.directory_path()) {
        Some(path) if !path.is_empty() => {
            let path = std::path::absolute(folder.join(path))?;
            // The text came from UTF-8; only the folder can hold other bytes.
            let path = path.into_os_string().into_string().map_err(|_| {
                io::Error::new(io::ErrorKind::InvalidInput, "the path is not UTF-8")
            })?;
            Ok(StoreUrl::new(format!("{scheme}:{path}")))
        }
        _ => Ok(url),
    }
}

/// Says that an agent is not where the settings say, and what moves it.
pub(crate) fn misplaced_note(misplaced: &MisplacedAgent) -> String {
    let MisplacedAgent { agent, at, named } = misplaced;
    format!(
        "warning: store.agents names {named} for `{agent}`, whose memories are in {at}; `everlore agent move {agent} --to ADDRESS` moves them"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_the_file_of_the_home() {
        let home = Path::new("/h");
        let chosen = |url: &str| HomeStore::chosen(home, &StoreUrl::new(url));
        assert_eq!(chosen(""), HomeStore::File("/h/everlore.db".into()));
        assert_eq!(chosen("sqlite:/x.db"), HomeStore::File("/x.db".into()));
        let server = chosen("postgres://ann:secret@host/db");
        assert_eq!(server.to_string(), "postgres://ann:***@host/db");
        assert_eq!(server.address(), "postgres://ann:secret@host/db");
        assert!(!server.is_missing() && server.bytes().is_none());
    }

    #[test]
    fn a_failure_of_a_server_database_says_where_it_should_be() {
        let server = HomeStore::Server(StoreUrl::new("postgres://ann:secret@host/db"));
        let failed = || CliError::from(everlore::Error::store("connection refused"));
        let told = format!("{:?}", server.explain(failed()));
        assert!(told.contains("postgres://ann:***@host/db") && !told.contains("secret"), "{told}");
        let file = HomeStore::File("/h/everlore.db".into());
        assert!(format!("{:?}", file.explain(failed())).contains("disk space"));
    }
}
