//! Uri index of a folder store: takes in edits by hand first.

use super::DirectoryStore;
use crate::{
    error::Result,
    store::{AddressQuery, DocAddress, SessionSummary, Store, UriChild, UriIndex},
    types::{Memory, MemoryId, Scope},
};

forward_facet! { uris: UriIndex
    #[sync_if_stale] fn children(scope, folder: &str, after: Option<&str>, limit: usize) -> Vec<UriChild>;
    #[sync_if_stale] fn by_prefix(scope, beginning: &str, after: Option<&str>, limit: usize) -> Vec<Memory>;
    #[sync_if_stale] fn addresses(scope, within: &AddressQuery) -> Vec<DocAddress>;
    fn sessions(scope, after: Option<&str>, limit: usize) -> Vec<SessionSummary>;
    fn turns(scope, session: &str, after: Option<MemoryId>, limit: usize) -> Vec<Memory>;
}
