//! Opening a store by its address.

use std::{ffi::OsStr, sync::Arc};

use super::{DirectoryStore, SqliteStore, Store};
use crate::error::{Error, Result};

/// Addresses that this program can open.
const KNOWN_ADDRESSES: &str = if cfg!(all(feature = "postgres", feature = "mysql")) {
    "use sqlite:PATH, directory:PATH, postgres://USER:PASSWORD@HOST/DATABASE or mysql://USER:PASSWORD@HOST/DATABASE"
} else if cfg!(feature = "postgres") {
    "use sqlite:PATH, directory:PATH or postgres://USER:PASSWORD@HOST/DATABASE"
} else if cfg!(feature = "mysql") {
    "use sqlite:PATH, directory:PATH or mysql://USER:PASSWORD@HOST/DATABASE"
} else {
    "use sqlite:PATH or directory:PATH"
};

/// Opens the store at an address: `sqlite:PATH` (a file, created where needed), `directory:PATH` (a folder of markdown
/// files, created where needed), `postgres://…` or `mysql://…` (a database whose tables are created where needed). A path
/// alone is a SQLite file too.
///
/// An address is an [`OsStr`], because a path need not be UTF-8. Fails if the scheme is unknown, or if the database cannot
/// be opened or migrated. No error shows a password.
pub async fn open(url: impl AsRef<OsStr> + Send) -> Result<Arc<dyn Store>> {
    let url = url.as_ref();
    match split_scheme(url) {
        Some(("sqlite", path)) => Ok(Arc::new(SqliteStore::open(path).await?)),
        Some(("directory", path)) => Ok(Arc::new(DirectoryStore::open(path).await?)),
        #[cfg(feature = "postgres")]
        Some(("postgres" | "postgresql", _)) => open_server(url).await,
        #[cfg(feature = "mysql")]
        Some(("mysql" | "mariadb", _)) => open_server(url).await,
        Some((scheme, _)) => Err(Error::invalid(
            format!("this program was built without the store `{scheme}:`"),
            KNOWN_ADDRESSES,
        )),
        None => Ok(Arc::new(SqliteStore::open(url).await?)),
    }
}

#[cfg(any(feature = "postgres", feature = "mysql"))]
#[crate::sync::boxed]
async fn open_server(url: &OsStr) -> Result<Arc<dyn Store>> {
    let url = url.to_str().ok_or_else(|| {
        Error::invalid("the address of the database is not UTF-8", "write other bytes as %XX")
    })?;
    let store: Arc<dyn Store> = Arc::new(super::ServerStore::open(url).await?);
    Ok(store)
}

/// Splits `scheme:rest`; `None` for a path alone. A single letter is a drive of Windows, not a scheme.
fn split_scheme(url: &OsStr) -> Option<(&str, &OsStr)> {
    let (scheme, rest) = split_at_colon(url)?;
    let is_scheme = scheme.len() > 1
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    is_scheme.then_some((scheme, rest))
}

#[cfg(unix)]
fn split_at_colon(url: &OsStr) -> Option<(&str, &OsStr)> {
    use std::os::unix::ffi::OsStrExt;
    let bytes = url.as_bytes();
    let colon = bytes.iter().position(|byte| *byte == b':')?;
    Some((str::from_utf8(&bytes[..colon]).ok()?, OsStr::from_bytes(&bytes[colon + 1..])))
}

#[cfg(not(unix))]
fn split_at_colon(url: &OsStr) -> Option<(&str, &OsStr)> {
    url.to_str()?.split_once(':').map(|(scheme, rest)| (scheme, OsStr::new(rest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_path_and_a_sqlite_url_open_the_same_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("记忆.db");
        let url = format!("sqlite:{}", path.display());
        assert_eq!(open(&url).await.unwrap().admin().info().url, url);
        assert_eq!(open(path).await.unwrap().admin().info().url, url);
    }

    #[tokio::test]
    async fn an_unknown_address_is_refused_with_what_there_is() {
        for url in ["oracle://host/db", "oracle:host/db"] {
            let error = open(url).await.map(drop).unwrap_err();
            assert!(error.to_string().contains("`oracle:`"), "{error}");
            assert!(error.hint().starts_with("use sqlite:PATH"), "{}", error.hint());
        }
    }

    #[test]
    fn a_scheme_is_a_word_before_a_colon() {
        let split = |url: &'static str| split_scheme(OsStr::new(url));
        assert_eq!(split("sqlite:/a:b"), Some(("sqlite", OsStr::new("/a:b"))));
        assert_eq!(split("mysql+tls://h"), Some(("mysql+tls", OsStr::new("//h"))));
        for path in ["/home/a/x.db", "x.db", r"C:\memory.db", "/a:b", "./a:b", ":x", "茶:x"] {
            assert_eq!(split(path), None, "{path}");
        }
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_path_that_is_not_utf8_can_be_opened() {
        use std::os::unix::ffi::OsStrExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(OsStr::from_bytes(b"caf\xe9.db"));
        let mut url = std::ffi::OsString::from("sqlite:");
        url.push(&path);
        open(url).await.unwrap();
        assert!(path.exists());
    }
}
