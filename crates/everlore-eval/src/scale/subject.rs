//! Systems that `scale` measures.

use std::{path::Path, str::FromStr};

use anyhow::{Result, bail};

use super::{
    engine_subject::EngineSubject,
    mariadb_rival::MariaDbRival,
    postgres_rival::{PostgresRival, RivalSearch},
    trigram_subject::TrigramSubject,
};
use crate::corpus::GeneratedMemory;

/// Memories that a query returns at most.
pub(super) const LIMIT: usize = 10;

/// Memory store under test.
pub(crate) trait ScaleSubject {
    /// Stores many memories at once, as an import does.
    fn load(&mut self, batch: &[GeneratedMemory]) -> Result<()>;
    /// Builds what is built after loading.
    fn finish_loading(&mut self) -> Result<()>;
    /// Stores one memory; when it returns, the memory survives a power cut.
    fn save_one(&mut self, memory: &GeneratedMemory) -> Result<()>;
    /// Recalls for a text in a scope and returns the number of memories found.
    fn query(&mut self, scope: u32, text: &str) -> Result<usize>;
    /// Closes everything and opens it again, as a new process would.
    fn reopen(&mut self) -> Result<()>;
    /// Returns the bytes on disk.
    fn bytes(&self) -> Result<i64>;
}

/// Kind of subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SubjectKind {
    /// The engine on SQLite.
    Everlore,
    /// The engine on PostgreSQL.
    EverlorePostgres,
    /// The engine on MariaDB.
    EverloreMariaDb,
    /// SQLite's trigram index, filtered by scope.
    Trigram,
    /// PostgreSQL's full-text search, filtered by scope.
    PostgresFullText,
    /// pgvector's HNSW index, filtered by scope.
    PostgresVectors,
    /// MariaDB's full-text search, filtered by scope.
    MariaDbFullText,
}

impl SubjectKind {
    pub(crate) const ALL: [Self; 7] = [
        Self::Trigram,
        Self::PostgresFullText,
        Self::PostgresVectors,
        Self::MariaDbFullText,
        Self::Everlore,
        Self::EverlorePostgres,
        Self::EverloreMariaDb,
    ];

    /// Subjects of a run without `--only`: those that need no server.
    pub(crate) const LOCAL: [Self; 2] = [Self::Trigram, Self::Everlore];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Everlore => "everlore",
            Self::EverlorePostgres => "everlore-postgres",
            Self::EverloreMariaDb => "everlore-mariadb",
            Self::Trigram => "source",
            Self::PostgresFullText => "postgres-text",
            Self::PostgresVectors => "pgvector",
            Self::MariaDbFullText => "mariadb-text",
        }
    }

    /// Creates an empty subject in `folder`, or on a server of its own.
    pub(crate) fn open(self, folder: &Path) -> Result<Box<dyn ScaleSubject>> {
        Ok(match self {
            Self::Everlore => Box::new(EngineSubject::on_file(folder.join("everlore.db"))?),
            Self::EverlorePostgres => Box::new(EngineSubject::on_postgres()?),
            Self::EverloreMariaDb => Box::new(EngineSubject::on_mariadb()?),
            Self::Trigram => Box::new(TrigramSubject::new(folder.join("source.db"))?),
            Self::PostgresFullText => Box::new(PostgresRival::new(RivalSearch::FullText)?),
            Self::PostgresVectors => Box::new(PostgresRival::new(RivalSearch::Vectors)?),
            Self::MariaDbFullText => Box::new(MariaDbRival::new()?),
        })
    }
}

/// Opens the engine on a database that runs already, by its address.
pub(crate) fn open_store(url: &str) -> Result<Box<dyn ScaleSubject>> {
    Ok(Box::new(EngineSubject::on_url(url)?))
}

impl FromStr for SubjectKind {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let Some(kind) = Self::ALL.into_iter().find(|kind| kind.name() == text) else {
            bail!("use one of {}", Self::ALL.map(Self::name).join(", "))
        };
        Ok(kind)
    }
}
