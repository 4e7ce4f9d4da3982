//! Positions of a copy: how much of each journal of an agent a database has, kept as a document in that database.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    error::{Error, Result},
    store::{SharedDocument, Store},
};

/// Copied journal lines of each user of an agent.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct CopyPositions {
    /// Address of the database that they come from, without its password.
    pub(super) from: String,
    /// Number of the last copied line of each user.
    pub(super) users: BTreeMap<String, u64>,
    /// Version of the document.
    #[serde(skip)]
    version: u64,
}

impl CopyPositions {
    /// Reads the positions; those of no copy if there is none.
    pub(super) async fn read(store: &dyn Store, agent: &str) -> Result<Self> {
        let Some(SharedDocument { text, version }) = store.documents().get(&name(agent)).await?
        else {
            return Ok(Self::default());
        };
        let positions: Self = serde_json::from_str(&text)
            .map_err(|error| Error::damaged(format!("the positions of a copy: {error}")))?;
        Ok(Self { version, ..positions })
    }

    /// Stores the positions. Fails if another process copies the same agent.
    pub(super) async fn save(&mut self, store: &dyn Store, agent: &str) -> Result<()> {
        let text = serde_json::to_string(&self).map_err(Error::store)?;
        let put = store.documents().put(&name(agent), self.version, &text).await?;
        self.version =
            put.ok_or_else(|| Error::Conflict { what: format!("the copy of `{agent}`") })?;
        Ok(())
    }

    /// Removes the positions of an agent.
    pub(super) async fn remove(store: &dyn Store, agent: &str) -> Result<()> {
        store.documents().remove(&name(agent)).await.map(drop)
    }

    /// Returns `true` if there is a copy of another database.
    pub(super) fn is_from(&self, url: &str) -> bool {
        self.from == url
    }

    /// Starts anew: nothing is copied yet.
    pub(super) fn restart(&mut self, from: &str) {
        (self.from, self.users) = (from.to_owned(), BTreeMap::new());
    }
}

fn name(agent: &str) -> String {
    format!("copied/{agent}")
}
