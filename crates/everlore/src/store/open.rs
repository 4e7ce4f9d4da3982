//! Opening a store by its address.

use std::sync::Arc;

use super::{SqliteStore, Store};
use crate::error::{Error, Result};

/// Opens the store at an address: `sqlite:PATH` (a file, created where needed). A path alone is a SQLite file too.
pub async fn open(url: &str) -> Result<Arc<dyn Store>> {
    match url.split_once(':') {
        Some(("sqlite", path)) => Ok(Arc::new(SqliteStore::open(path).await?)),
        Some((scheme, rest)) if rest.starts_with("//") => Err(Error::invalid(
            format!("this program was built without the store `{scheme}://`"),
            "use sqlite:PATH",
        )),
        _ => Ok(Arc::new(SqliteStore::open(url).await?)),
    }
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
        assert_eq!(open(path.to_str().unwrap()).await.unwrap().admin().info().url, url);
    }

    #[tokio::test]
    async fn an_unknown_address_is_refused_with_what_there_is() {
        let error = open("oracle://host/db").await.map(drop).unwrap_err();
        assert!(error.to_string().contains("oracle"), "{error}");
        assert_eq!(error.hint(), "use sqlite:PATH");
    }
}
