//! Speed at scale: the same corpus, the same queries, for every subject.

pub(crate) mod database_server;
mod engine_subject;
mod exact_search;
pub(crate) mod hnsw_table;
mod mariadb_rival;
pub(crate) mod measure;
pub(crate) mod operation_cost;
mod postgres_rival;
pub(crate) mod subject;
mod trigram_subject;
pub(crate) mod vector_search;
