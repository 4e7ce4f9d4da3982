//! The engine as a [`ScaleSubject`].

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context, Result};
use everlore::{Engine, Scope, Turn, llm::BuiltinEmbedder, store};
use jiff::Timestamp;
use tokio::{runtime::Runtime, task::JoinSet};

use super::{
    database_server::DatabaseServer,
    subject::{ScaleSubject, SubjectKind},
};
use crate::corpus::{Corpus, GeneratedMemory};

/// Engine on a database.
pub(super) struct EngineSubject {
    /// `None` only during [`ScaleSubject::reopen`].
    engine: Option<Engine>,
    database: SubjectDatabase,
    runtime: Runtime,
}

/// Database that the engine runs on.
enum SubjectDatabase {
    File(PathBuf),
    Server(DatabaseServer),
    /// Database that somebody else runs, by its address.
    Foreign(String),
}

impl SubjectDatabase {
    fn url(&self) -> OsString {
        match self {
            Self::File(path) => path.clone().into_os_string(),
            Self::Server(server) => server.url().into(),
            Self::Foreign(url) => url.into(),
        }
    }
}

impl EngineSubject {
    /// Creates an engine on a database file.
    pub(super) fn on_file(path: PathBuf) -> Result<Self> {
        Self::new(|_| SubjectDatabase::File(path))
    }

    /// Creates an engine on a PostgreSQL server of its own.
    pub(super) fn on_postgres() -> Result<Self> {
        Self::new(|runtime| SubjectDatabase::Server(DatabaseServer::start_postgres(runtime)))
    }

    /// Creates an engine on a MariaDB server of its own.
    pub(super) fn on_mariadb() -> Result<Self> {
        Self::new(|runtime| SubjectDatabase::Server(DatabaseServer::start_mariadb(runtime)))
    }

    /// Creates an engine on a database that runs already and has no memories.
    pub(super) fn on_url(url: &str) -> Result<Self> {
        let subject = Self::new(|_| SubjectDatabase::Foreign(url.to_owned()))?;
        let scopes = subject.runtime.block_on(subject.engine()?.admin().scopes())?;
        anyhow::ensure!(
            scopes.is_empty(),
            "the database has memories already: create an empty one"
        );
        Ok(subject)
    }

    fn new(database: impl FnOnce(&Runtime) -> SubjectDatabase) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let database = database(&runtime);
        let engine = Some(runtime.block_on(open(&database))?);
        Ok(Self { engine, database, runtime })
    }

    /// Creates an engine on a database of a kind, in `folder` if it is a file.
    pub(super) fn of_kind(kind: SubjectKind, folder: &Path) -> Result<Self> {
        match kind {
            SubjectKind::EverlorePostgres => Self::on_postgres(),
            SubjectKind::EverloreMariaDb => Self::on_mariadb(),
            _ => Self::on_file(folder.join("everlore.db")),
        }
    }

    /// Returns the runtime that the engine runs on.
    pub(super) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Returns the database server, if there is one.
    pub(super) fn server(&self) -> Option<&DatabaseServer> {
        match &self.database {
            SubjectDatabase::File(_) | SubjectDatabase::Foreign(_) => None,
            SubjectDatabase::Server(server) => Some(server),
        }
    }

    /// Returns the engine, unless it is being opened again.
    pub(super) fn engine(&self) -> Result<&Engine> {
        self.engine.as_ref().context("the engine is closed")
    }
}

impl ScaleSubject for EngineSubject {
    /// Writes each scope's turns as one batch; all batches wait together, as those of many users would.
    fn load(&mut self, batch: &[GeneratedMemory]) -> Result<()> {
        let mut by_scope: BTreeMap<u32, Vec<Turn>> = BTreeMap::new();
        for memory in batch {
            by_scope.entry(memory.scope).or_default().push(turn(memory)?);
        }
        let engine = self.engine()?.clone();
        self.runtime.block_on(async {
            let mut writes = JoinSet::new();
            for (number, turns) in by_scope {
                let (engine, owner) = (engine.clone(), scope(number)?);
                writes.spawn(async move { engine.observe(&owner, turns).await.map(drop) });
            }
            writes.join_all().await.into_iter().collect::<everlore::Result<()>>()?;
            Ok(())
        })
    }

    fn finish_loading(&mut self) -> Result<()> {
        Ok(())
    }

    fn save_one(&mut self, memory: &GeneratedMemory) -> Result<()> {
        let owner = scope(memory.scope)?;
        self.runtime.block_on(self.engine()?.observe(&owner, vec![turn(memory)?]))?;
        Ok(())
    }

    fn query(&mut self, number: u32, text: &str) -> Result<usize> {
        let engine = self.engine()?;
        let request = engine.recall_request(&scope(number)?, text);
        Ok(self.runtime.block_on(engine.recall(&request))?.hits.len())
    }

    fn reopen(&mut self) -> Result<()> {
        if let Some(engine) = self.engine.take() {
            self.runtime.block_on(engine.admin().close());
        }
        self.engine = Some(self.runtime.block_on(open(&self.database))?);
        Ok(())
    }

    fn bytes(&self) -> Result<i64> {
        match &self.database {
            SubjectDatabase::File(path) => Ok(std::fs::metadata(path)?.len() as i64),
            SubjectDatabase::Server(server) => server.bytes(&self.runtime),
            SubjectDatabase::Foreign(_) => {
                let store = everlore::internal::store_of(self.engine()?);
                let size = self.runtime.block_on(store.admin().size())?;
                Ok(size.map_or(0, |bytes| bytes as i64))
            }
        }
    }
}

async fn open(database: &SubjectDatabase) -> Result<Engine> {
    let store = store::open(database.url()).await?;
    Ok(Engine::builder(store).embedder(Arc::new(BuiltinEmbedder::new())).build())
}

/// Returns the scope with a number.
pub(super) fn scope(number: u32) -> Result<Scope> {
    let (agent, user) = Corpus::owner(number);
    Ok(Scope::new(&agent, &user)?)
}

/// Returns a memory as a turn.
pub(super) fn turn(memory: &GeneratedMemory) -> Result<Turn> {
    Ok(Turn {
        text: memory.text.clone(),
        session: Some(format!("session-{}", memory.session)),
        speaker: Some(memory.speaker.to_owned()),
        role: None,
        time: Some(Timestamp::from_second(memory.at_seconds)?),
        ..Turn::default()
    })
}
