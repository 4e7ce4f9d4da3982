//! What is measured at scale.

use std::{
    path::{Path, PathBuf},
    str::FromStr,
};

use anyhow::{Result, bail};

use super::everlore::Everlore;
use crate::{
    corpus::{Corpus, Memory},
    source_design::{Durability, Entry, SourceDesign},
};

/// Memories a query asks for.
const LIMIT: usize = 10;

/// A store of memories that can be filled, saved to and asked.
pub(crate) trait Subject {
    /// Stores many memories at once, as an import does.
    fn load(&mut self, batch: &[Memory]) -> Result<()>;
    /// Stores one memory; when it returns, the memory survives a power cut.
    fn save_one(&mut self, memory: &Memory) -> Result<()>;
    /// Recalls for a text in a scope and says how many memories came back.
    fn query(&mut self, scope: u32, text: &str) -> Result<usize>;
    /// Closes everything and opens it again as a user would.
    fn reopen(&mut self) -> Result<()>;
    /// Bytes on disk.
    fn bytes(&self) -> Result<i64>;
}

/// Which subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Everlore,
    SourceDesign,
}

impl Kind {
    pub(crate) const ALL: [Self; 2] = [Self::SourceDesign, Self::Everlore];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Everlore => "everlore",
            Self::SourceDesign => "source",
        }
    }

    /// Makes a new, empty subject in `folder`.
    pub(crate) fn open(self, folder: &Path) -> Result<Box<dyn Subject>> {
        match self {
            Self::Everlore => Ok(Box::new(Everlore::new(folder.join("everlore.db"))?)),
            Self::SourceDesign => Ok(Box::new(Source::new(folder.join("source.db"))?)),
        }
    }
}

impl FromStr for Kind {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let Some(kind) = Self::ALL.into_iter().find(|kind| kind.name() == text) else {
            bail!("use one of {}", Self::ALL.map(Self::name).join(", "))
        };
        Ok(kind)
    }
}

struct Source {
    path: PathBuf,
    /// `None` only while it is being opened again.
    design: Option<SourceDesign>,
}

impl Source {
    fn new(path: PathBuf) -> Result<Self> {
        let design = Some(SourceDesign::open(&path, Durability::Load)?);
        Ok(Self { path, design })
    }

    fn design(&mut self) -> Result<&mut SourceDesign> {
        self.design.as_mut().ok_or_else(|| anyhow::anyhow!("the source design is closed"))
    }
}

impl Subject for Source {
    fn load(&mut self, batch: &[Memory]) -> Result<()> {
        let owners: Vec<_> = batch.iter().map(|memory| Corpus::owner(memory.scope)).collect();
        let entries: Vec<_> = batch
            .iter()
            .zip(&owners)
            .map(|(memory, (agent, user))| Entry {
                agent,
                user,
                name: memory.speaker,
                content: &memory.text,
            })
            .collect();
        self.design()?.insert_batch(&entries)?;
        Ok(())
    }

    fn save_one(&mut self, memory: &Memory) -> Result<()> {
        self.load(std::slice::from_ref(memory))
    }

    fn query(&mut self, scope: u32, text: &str) -> Result<usize> {
        let (agent, user) = Corpus::owner(scope);
        Ok(self.design()?.search(&agent, &user, text, LIMIT)?.len())
    }

    fn reopen(&mut self) -> Result<()> {
        self.design = None;
        self.design = Some(SourceDesign::open(&self.path, Durability::Full)?);
        Ok(())
    }

    fn bytes(&self) -> Result<i64> {
        self.design.as_ref().map_or(Ok(0), SourceDesign::bytes)
    }
}
