//! Speed at scale: the same corpus, the same queries, for every subject.

mod database_server;
mod engine_subject;
mod mariadb_rival;
pub(crate) mod measure;
mod postgres_rival;
pub(crate) mod subject;
mod trigram_subject;
