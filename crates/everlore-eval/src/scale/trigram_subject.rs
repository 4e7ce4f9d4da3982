//! The source design, SQLite's trigram index, as a [`ScaleSubject`].

use std::path::PathBuf;

use anyhow::Result;

use super::subject::{LIMIT, ScaleSubject};
use crate::{
    corpus::{Corpus, GeneratedMemory},
    trigram_baseline::{Durability, TrigramBaseline, TrigramEntry},
};

/// Source design on a database file.
pub(super) struct TrigramSubject {
    path: PathBuf,
    /// `None` only during [`ScaleSubject::reopen`].
    design: Option<TrigramBaseline>,
}

impl TrigramSubject {
    pub(super) fn new(path: PathBuf) -> Result<Self> {
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

    fn finish_loading(&mut self) -> Result<()> {
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
