//! `everlore memory export`: everything as JSON Lines, a whole file or none (L5).

use std::{
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};

use clap::Args;
use everlore::engine::Exported;
use serde_json::json;

use crate::{
    context::Context,
    failure::{Exit, Failure, Result},
    output::Output,
    words::count,
};

/// Write all memories as JSON Lines, to a file or to standard output
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The file; standard output if left out or `-`
    file: Option<PathBuf>,
    /// Write every change instead, from which the memories follow
    #[arg(long)]
    journal: bool,
}

impl ExportArgs {
    /// Writes the export and says what it holds.
    pub(super) async fn run(self, cx: &Context, out: &mut Output) -> Result<Exit> {
        match self.file.as_deref().filter(|file| *file != Path::new("-")) {
            None => {
                self.write(cx, out).await?;
                Ok(Exit::Done)
            }
            Some(file) => {
                let exported = self.write_file(file, cx, out).await?;
                tell(file, exported, out)?;
                Ok(Exit::Done)
            }
        }
    }

    async fn write(&self, cx: &Context, out: &mut Output) -> Result<Exported> {
        let engine = cx.engine().await?;
        let mut ignore = |_| {};
        Ok(engine.export(&cx.scope, self.journal, out.stream(), &mut ignore).await?)
    }

    /// Writes beside the file and moves it there when all is written, so that a file is whole or not there.
    async fn write_file(&self, file: &Path, cx: &Context, out: &mut Output) -> Result<Exported> {
        let failed = |error| Failure::io(format!("writing {}", file.display()), error);
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut beside = tempfile::Builder::new()
            .prefix(".everlore-export-")
            .tempfile_in(folder.unwrap_or(Path::new(".")))
            .map_err(failed)?;
        let bar = out.progress("exporting", None);
        let mut buffered = BufWriter::new(beside.as_file_mut());
        let engine = cx.engine().await?;
        let exported = engine
            .export(&cx.scope, self.journal, &mut buffered, &mut |done| {
                bar.set_position(done as u64);
            })
            .await?;
        buffered.flush().map_err(failed)?;
        drop(buffered);
        bar.finish_and_clear();
        beside.as_file().sync_all().map_err(failed)?;
        beside.persist(file).map_err(|error| failed(error.error))?;
        Ok(exported)
    }
}

fn tell(file: &Path, exported: Exported, out: &mut Output) -> Result<()> {
    let Exported { memories, changes, tombstones } = exported;
    let file = file.display().to_string();
    if out.is_json() {
        return out.json(&json!({
            "file": file,
            "memories": memories,
            "changes": changes,
            "tombstones": tombstones,
        }));
    }
    let what = if changes > 0 {
        count(changes, "change", "changes")
    } else {
        count(memories, "memory", "memories")
    };
    out.line(&format!("exported: {what} to {file}"))
}
