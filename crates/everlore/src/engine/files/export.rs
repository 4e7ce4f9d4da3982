//! Export of memories as JSON lines, and their import.

use std::io;

use serde::Serialize;

use super::page_size::PageSize;
use crate::{
    engine::Engine,
    error::{Error, Result},
    ingest::{self, ExportHeader, ExportLine, ImportOptions, ImportReport},
    store::{JournalQuery, MemoryFilter, MemoryPages},
    types::Scope,
};

/// Counts of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct ExportReport {
    /// Number of memories.
    pub memories: usize,
    /// Number of journal entries.
    pub changes: usize,
    /// Number of tombstones.
    pub tombstones: usize,
}

impl Engine {
    /// Writes every memory of the scope, or with `journal` every change, as JSON lines and returns the counts; calls
    /// `progress` with the number written. Fails if the store or the writer fails.
    pub async fn export<W: io::Write + Send>(
        &self,
        scope: &Scope,
        journal: bool,
        to: &mut W,
        progress: &mut (dyn FnMut(usize) + Send),
    ) -> Result<ExportReport> {
        write_line(
            to,
            &ExportLine::Header(ExportHeader::new(scope, journal, self.now().timestamp())),
        )?;
        let mut exported = ExportReport::default();
        for text in self.store.memories().tombstones(scope).await? {
            write_line(to, &ExportLine::Tombstone(text))?;
            exported.tombstones += 1;
        }
        if journal {
            self.export_journal(scope, to, &mut exported, progress).await?;
        } else {
            self.export_memories(scope, to, &mut exported, progress).await?;
        }
        to.flush().map_err(|error| Error::io("writing the export", error))?;
        Ok(exported)
    }

    async fn export_memories<W: io::Write + Send>(
        &self,
        scope: &Scope,
        to: &mut W,
        exported: &mut ExportReport,
        progress: &mut (dyn FnMut(usize) + Send),
    ) -> Result<()> {
        let mut size = PageSize::default();
        let mut pages = MemoryPages::new(&*self.store, scope, MemoryFilter::default(), size.rows());
        while let Some(memories) = pages.next().await? {
            for memory in memories {
                size.count(write_line(to, &ExportLine::Memory(Box::new(memory)))?);
                exported.memories += 1;
            }
            progress(exported.memories);
            pages.set_limit(size.next_rows());
        }
        Ok(())
    }

    async fn export_journal<W: io::Write + Send>(
        &self,
        scope: &Scope,
        to: &mut W,
        exported: &mut ExportReport,
        progress: &mut (dyn FnMut(usize) + Send),
    ) -> Result<()> {
        let (mut written, total) = (0, self.store.memories().count(scope).await?.changes as u64);
        let mut size = PageSize::default();
        while written < total {
            // Journal numbers start at 1 without gaps; entries added meanwhile are left to the next export.
            let end = total.min(written + size.rows() as u64);
            let limit = Some((end - written) as usize);
            let page = JournalQuery { before: Some(end + 1), limit, ..JournalQuery::default() };
            let mut entries = self.store.journal().entries(scope, &page).await?;
            entries.reverse();
            for entry in entries {
                size.count(write_line(to, &ExportLine::JournalEntry(Box::new(entry)))?);
                exported.changes += 1;
            }
            progress(exported.changes);
            size.next_rows();
            written = end;
        }
        Ok(())
    }

    /// Imports JSON lines into the scope and returns a report; calls `progress` with the number of lines done. Masks
    /// secrets unless options or settings keep them. Repeating an interrupted import resumes it. Fails if the reader
    /// or the store fails. Skills of the file come in retired and proposals withdrawn: nobody approved them here.
    pub async fn import<R: io::BufRead + Send>(
        &self,
        scope: &Scope,
        from: R,
        options: ImportOptions,
        progress: &mut (dyn FnMut(usize) + Send),
    ) -> Result<ImportReport> {
        let keep_secrets = options.keep_secrets || !self.masks_secrets(scope);
        let options = ImportOptions { keep_secrets, ..options };
        let approved = self.approved_here(scope).await?;
        let (store, now, dry_run) = (&*self.store, self.now().timestamp(), options.dry_run);
        let report = ingest::import_jsonl(store, scope, from, options, now, progress).await?;
        if !dry_run {
            self.disarm_imported(scope, &approved, &report.run).await?;
        }
        Ok(report)
    }

    /// Imports the export of another database of the same owner and returns a report. Unlike [`Engine::import`], it
    /// changes nothing: secrets stay as they are, skills active and proposals open. Repeating an interrupted copy
    /// resumes it. Fails if the reader or the store fails.
    pub async fn import_copy<R: io::BufRead + Send>(
        &self,
        scope: &Scope,
        from: R,
        progress: &mut (dyn FnMut(usize) + Send),
    ) -> Result<ImportReport> {
        let options = ImportOptions { keep_secrets: true, ..ImportOptions::default() };
        let now = self.now().timestamp();
        ingest::import_jsonl(&*self.store, scope, from, options, now, progress).await
    }
}

/// Writes a line and returns its length in bytes.
fn write_line(to: &mut (impl io::Write + ?Sized), line: &ExportLine) -> Result<usize> {
    let json = line.to_json()?;
    writeln!(to, "{json}").map_err(|error| Error::io("writing the export", error))?;
    Ok(json.len())
}
