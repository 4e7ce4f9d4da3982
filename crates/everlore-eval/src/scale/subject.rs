//! Systems that `scale` measures.

use std::{
    path::{Path, PathBuf},
    str::FromStr,
};

use anyhow::{Result, bail};

use super::engine_subject::EngineSubject;
use crate::{
    corpus::{Corpus, GeneratedMemory},
    trigram_baseline::{Durability, TrigramBaseline, TrigramEntry},
};

/// Memories that a query returns at most.
const LIMIT: usize = 10;

/// Memory store under test.
pub(crate) trait ScaleSubject {
    /// Stores many memories at once, as an import does.
    fn load(&mut self, batch: &[GeneratedMemory]) -> Result<()>;
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
    Everlore,
    Trigram,
}

impl SubjectKind {
    pub(crate) const ALL: [Self; 2] = [Self::Trigram, Self::Everlore];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Everlore => "everlore",
            Self::Trigram => "source",
        }
    }

    /// Creates an empty subject in `folder`.
    pub(crate) fn open(self, folder: &Path) -> Result<Box<dyn ScaleSubject>> {
        match self {
            Self::Everlore => Ok(Box::new(EngineSubject::new(folder.join("everlore.db"))?)),
            Self::Trigram => Ok(Box::new(TrigramSubject::new(folder.join("source.db"))?)),
        }
    }
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

struct TrigramSubject {
    path: PathBuf,
    /// `None` only during [`ScaleSubject::reopen`].
    design: Option<TrigramBaseline>,
}

impl TrigramSubject {
    fn new(path: PathBuf) -> Result<Self> {
        let design = Some(TrigramBaseline::open(&path, Durability::Load)?);
        Ok(Self { path, design })
    }

    fn design(&mut self) -> Result<&mut TrigramBaseline> {
        self.design.as_mut().ok_or_else(|| anyhow::anyhow!("the source design is closed"))
    }
}

impl ScaleSubject for TrigramSubject {
    fn load(&mut self, batch: &[GeneratedMemory]) -> Result<()> {
        let owners: Vec<_> = batch.iter().map(|memory| Corpus::owner(memory.scope)).collect();
        let entries: Vec<_> = batch
            .iter()
            .zip(&owners)
            .map(|(memory, (agent, user))| TrigramEntry {
                agent,
                user,
                name: memory.speaker,
                content: &memory.text,
            })
            .collect();
        self.design()?.insert_batch(&entries)?;
        Ok(())
    }

    fn save_one(&mut self, memory: &GeneratedMemory) -> Result<()> {
        self.load(std::slice::from_ref(memory))
    }

    fn query(&mut self, scope: u32, text: &str) -> Result<usize> {
        let (agent, user) = Corpus::owner(scope);
        Ok(self.design()?.search(&agent, &user, text, LIMIT)?.len())
    }

    fn reopen(&mut self) -> Result<()> {
        self.design = None;
        self.design = Some(TrigramBaseline::open(&self.path, Durability::Full)?);
        Ok(())
    }

    fn bytes(&self) -> Result<i64> {
        self.design.as_ref().map_or(Ok(0), TrigramBaseline::bytes)
    }
}
