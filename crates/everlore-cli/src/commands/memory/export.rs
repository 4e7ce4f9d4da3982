//! `everlore memory export`: all memories or the journal as JSON Lines.

use std::{
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};

use clap::Args;
use everlore::engine::ExportReport;
use serde_json::json;

use crate::{CliContext, CliError, Exit, Output, Result, render::pluralize};

/// Write all memories as JSON Lines, to a file or to standard output
#[derive(Debug, Args)]
pub(crate) struct MemoryExportArgs {
    /// The file; standard output if left out or `-`
    file: Option<PathBuf>,
    /// Write every change of the journal instead, from which the memories follow
    #[arg(long)]
    journal: bool,
}

impl MemoryExportArgs {
    /// Writes the export and prints what it holds.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        match self.file.as_deref().filter(|file| *file != Path::new("-")) {
            None => {
                self.write_export(cx, out).await?;
                Ok(Exit::Done)
            }
            Some(file) => {
                let exported = self.write_file(file, cx, out).await?;
                print_exported(file, exported, out)?;
                Ok(Exit::Done)
            }
        }
    }

    async fn write_export(&self, cx: &CliContext, out: &mut Output) -> Result<ExportReport> {
        let engine = cx.engine().await?;
        let mut ignore = |_| {};
        Ok(engine.export(&cx.scope, self.journal, out.writer_mut(), &mut ignore).await?)
    }

    /// Writes a temporary file and renames it when all is written, so that the file is complete or missing.
    async fn write_file(
        &self,
        file: &Path,
        cx: &CliContext,
        out: &mut Output,
    ) -> Result<ExportReport> {
        let failed = |error| CliError::io(format!("writing {}", file.display()), error);
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut temporary = tempfile::Builder::new()
            .prefix(".everlore-export-")
            .tempfile_in(folder.unwrap_or(Path::new(".")))
            .map_err(failed)?;
        let bar = out.progress("exporting", None);
        let mut buffered = BufWriter::new(temporary.as_file_mut());
        let engine = cx.engine().await?;
        let exported = engine
            .export(&cx.scope, self.journal, &mut buffered, &mut |done| {
                bar.set_position(done as u64);
            })
            .await?;
        buffered.flush().map_err(failed)?;
        drop(buffered);
        bar.finish_and_clear();
        temporary.as_file().sync_all().map_err(failed)?;
        temporary.persist(file).map_err(|error| failed(error.error))?;
        Ok(exported)
    }
}

fn print_exported(file: &Path, exported: ExportReport, out: &mut Output) -> Result<()> {
    let ExportReport { memories, changes, tombstones } = exported;
    let file = file.display().to_string();
    if out.is_json() {
        return out.json(&json!({
            "file": file,
            "memories": memories,
            "changes": changes,
            "tombstones": tombstones,
        }));
    }
    let content = if changes > 0 {
        pluralize(changes, "change", "changes")
    } else {
        pluralize(memories, "memory", "memories")
    };
    out.say(&format!("exported: {content} to {file}"))
}
