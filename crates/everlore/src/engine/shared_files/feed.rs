//! Feed of changed documents: one small document that names the latest changes, so that a look at it tells whether
//! copies are current.

use serde::{Deserialize, Serialize};

use crate::{
    error::{Error, Result},
    store::Store,
};

/// Name of the document.
const FEED: &str = "changes";

/// Changes that the feed names; a server that missed more copies everything.
const MAX_NAMES: usize = 256;

/// Attempts to append while other servers append too.
const MAX_ATTEMPTS: usize = 64;

/// Latest changes of shared documents.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct ChangeFeed {
    /// Random id of the database's feed; empty until something changed.
    pub(super) id: String,
    /// Number of changes so far.
    pub(super) position: u64,
    /// Names of the latest ones, the newest last.
    names: Vec<String>,
}

/// Names that changed since a position.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ChangedNames {
    None,
    Some(Vec<String>),
    /// More changed than the feed names.
    Unknown,
}

impl ChangeFeed {
    /// Reads the feed; an empty one if nothing ever changed.
    pub(super) async fn read(store: &dyn Store) -> Result<Self> {
        let document = store.documents().get(FEED).await?;
        document.map_or_else(|| Ok(Self::default()), |document| parse(&document.text))
    }

    /// Appends names and returns the feed after it.
    pub(super) async fn append(store: &dyn Store, names: &[String]) -> Result<Self> {
        for _ in 0..MAX_ATTEMPTS {
            let document = store.documents().get(FEED).await?;
            let version = document.as_ref().map_or(0, |document| document.version);
            let mut feed = document.map_or_else(|| Ok(Self::default()), |it| parse(&it.text))?;
            if feed.id.is_empty() {
                feed.id = format!("{:016x}", getrandom::u64().map_err(Error::store)?);
            }
            feed.push(names);
            let text = serde_json::to_string(&feed).map_err(Error::store)?;
            if store.documents().put(FEED, version, &text).await?.is_some() {
                return Ok(feed);
            }
        }
        Err(Error::Conflict { what: "the list of shared changes".to_owned() })
    }

    /// Returns what changed since a position.
    pub(super) fn since(&self, position: u64) -> ChangedNames {
        let Some(missed) = self.position.checked_sub(position) else {
            return ChangedNames::Unknown;
        };
        let missed = usize::try_from(missed).unwrap_or(usize::MAX);
        if missed == 0 {
            return ChangedNames::None;
        }
        let Some(first) = self.names.len().checked_sub(missed) else {
            return ChangedNames::Unknown;
        };
        let mut names = self.names[first..].to_vec();
        names.sort();
        names.dedup();
        ChangedNames::Some(names)
    }

    fn push(&mut self, names: &[String]) {
        self.position += names.len() as u64;
        self.names.extend_from_slice(names);
        let surplus = self.names.len().saturating_sub(MAX_NAMES);
        self.names.drain(..surplus);
    }
}

fn parse(text: &str) -> Result<ChangeFeed> {
    serde_json::from_str(text)
        .map_err(|error| Error::damaged(format!("the list of shared changes: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_gets_what_it_missed_or_everything() {
        let names = |range: std::ops::Range<usize>| range.map(|n| format!("n{n:03}")).collect();
        let mut feed = ChangeFeed::default();
        let first: Vec<String> = names(0..3);
        feed.push(&first);
        assert_eq!(feed.since(3), ChangedNames::None);
        assert_eq!(feed.since(1), ChangedNames::Some(names(1..3)));
        assert_eq!(feed.since(0), ChangedNames::Some(first));
        feed.push(&names(0..MAX_NAMES));
        assert_eq!(feed.since(3), ChangedNames::Some(names(0..MAX_NAMES)));
        assert_eq!(feed.since(2), ChangedNames::Unknown);
        assert_eq!(feed.since(9_999), ChangedNames::Unknown, "of another database");
    }
}
