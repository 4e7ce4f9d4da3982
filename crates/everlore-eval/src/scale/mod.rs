//! Speed at scale: the same corpus, the same queries, for every subject.

pub(crate) mod subject;
mod engine_subject;
pub(crate) mod measure;
