//! Speed at scale: the same corpus, the same queries, for every subject.

pub(crate) mod subject;
mod everlore;
pub(crate) mod measure;
