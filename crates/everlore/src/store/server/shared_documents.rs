//! The documents facet: one row a document, replaced by compare-and-swap on its version.

use async_trait::async_trait;

use super::{
    ServerStore,
    sql::{OnConflict, SqlRow, insert, sql, sql_row},
    tables::DOCUMENTS,
    transaction::RetryRule,
};
use crate::{
    error::Result,
    store::{SharedDocument, SharedDocuments, uri_index::MAX_CHAR},
};

#[async_trait]
impl SharedDocuments for ServerStore {
    async fn get(&self, name: &str) -> Result<Option<SharedDocument>> {
        let text = "SELECT body, version FROM documents WHERE name = ?";
        let found = self.db.read_one(sql!(text, name)).await?.into_iter().next();
        let read =
            |mut row: SqlRow| Ok(SharedDocument { text: row.text(0)?, version: row.int(1)? });
        found.map(read).transpose()
    }

    async fn put(&self, name: &str, expected: u64, text: &str) -> Result<Option<u64>> {
        let put = if expected == 0 {
            insert(&DOCUMENTS, vec![sql_row![name, 1, text]], OnConflict::Keep)
        } else {
            let replace = "UPDATE documents SET version = version + 1, body = ? WHERE name = ? AND version = ?";
            sql!(replace, text, name, expected)
        };
        let changed = self.db.write(RetryRule::Unchanged, vec![put]).await?;
        Ok((changed.iter().sum::<u64>() > 0).then_some(expected + 1))
    }

    async fn remove(&self, name: &str) -> Result<bool> {
        let remove = vec![sql!("DELETE FROM documents WHERE name = ?", name)];
        Ok(self.db.write(RetryRule::Unchanged, remove).await?.iter().sum::<u64>() > 0)
    }

    async fn names(&self, prefix: &str) -> Result<Vec<String>> {
        let text = "SELECT name FROM documents WHERE name >= ? AND name < ? ORDER BY name";
        let end = format!("{prefix}{MAX_CHAR}");
        let found = self.db.read_one(sql!(text, prefix, end)).await?;
        found.into_iter().map(|mut row| row.text(0)).collect()
    }
}
