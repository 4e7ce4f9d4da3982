//! `everlore ingest`: splits documents into chunks and stores them as knowledge.

mod source_files;
mod path_glob;
mod report;

use std::{fs, io, path::PathBuf, sync::Arc};

use clap::Args;
use everlore::{
    Document, Engine,
    engine::{DocFormat, IngestOptions},
    internal::files::documents::is_binary,
    types::Timestamp,
};

use crate::{CliContext, CliError, Exit, Output, Result, render::format_bytes};
use everlore::internal::files::regular_file;
use path_glob::PathGlob;
use report::{IngestOutcome, IngestSummary};
use source_files::{FileFilter, SourceFile, SourceFiles};

/// Store documents as knowledge: text, markdown, HTML and source code, in chunks with their headings
///
/// Folders are walked. Hidden files, symbolic links, node_modules, target, venv, __pycache__ and files that git ignores
/// (.gitignore, .git/info/exclude) are left out. An unchanged file costs one lookup; of a changed one, new chunks are
/// stored and old ones removed. One run can be undone as a whole. Chunks that were forgotten do not come back.
#[derive(Debug, Args)]
pub(crate) struct IngestArgs {
    /// Files and folders
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// A tag for every chunk, beside its keywords; may be repeated
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Also remove chunks of files below the PATHs that no longer exist
    #[arg(long)]
    prune: bool,
    /// Report what would happen, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Skip files with more bytes
    #[arg(long, value_name = "N", default_value_t = 10_000_000)]
    max_bytes: u64,
    /// Only files whose name or path matches, such as '*.md' or 'docs/**'; may be repeated
    #[arg(long, value_name = "GLOB", value_parser = PathGlob::parse)]
    include: Vec<PathGlob>,
    /// No files or folders whose name or path matches; may be repeated
    #[arg(long, value_name = "GLOB", value_parser = PathGlob::parse)]
    exclude: Vec<PathGlob>,
}

impl IngestArgs {
    /// Ingests one file after the other and reports the outcome of each.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let home = cx.home.canonicalize().ok();
        let filter = Arc::new(FileFilter { include: self.include, exclude: self.exclude, home });
        let found = SourceFiles::find(&self.paths, &filter, self.prune);
        let engine = cx.engine().await?;
        let run = engine.ingest_run();
        let options = IngestOptions {
            run: Some(run.clone()),
            tags: self.tag,
            dry_run: self.dry_run,
            keep_secrets: false,
        };
        let mut report = IngestSummary::new(run, self.dry_run);
        for (path, error) in &found.failures {
            report.push(path.clone(), IngestOutcome::Failed(error.clone()));
        }
        let bar = out.progress("ingesting", Some(found.files.len()));
        for file in &found.files {
            let outcome = ingest_file(engine, cx, file, self.max_bytes, &options).await;
            bar.inc(1);
            report.push(file.shown.clone(), outcome?);
        }
        bar.finish_and_clear();
        if self.prune {
            prune_documents(engine, cx, &found, &options, &mut report).await?;
        }
        report.print(out)
    }
}

/// Ingests one file. An error of the disk or the database ends the command; any other one is the file's outcome.
async fn ingest_file(
    engine: &Engine,
    cx: &CliContext,
    file: &SourceFile,
    max_bytes: u64,
    options: &IngestOptions,
) -> Result<IngestOutcome> {
    let document = match read_document(file, max_bytes) {
        Ok(document) => document,
        Err(outcome) => return Ok(outcome),
    };
    match engine.ingest_document(&cx.scope, &document, options).await.map_err(CliError::from) {
        Ok(report) => Ok(IngestOutcome::Ingested(Box::new(report))),
        Err(error) if error.is_storage() => Err(error),
        Err(error) => Ok(IngestOutcome::Failed(error)),
    }
}

/// Reads a file as a document. A file that cannot be one is skipped, or failed if the user named it.
fn read_document(file: &SourceFile, max_bytes: u64) -> Result<Document, IngestOutcome> {
    let failed = |error| IngestOutcome::Failed(CliError::io("reading it", error));
    let unusable = |reason: String, hint: &str| {
        if file.named {
            IngestOutcome::Failed(CliError::invalid(reason, hint))
        } else {
            IngestOutcome::Skipped(reason)
        }
    };
    let too_large = |size: u64| {
        unusable(
            format!("it has {}, more than --max-bytes allows", format_bytes(size)),
            "allow more with --max-bytes",
        )
    };
    let metadata = fs::metadata(&file.path).map_err(failed)?;
    if metadata.is_file() && metadata.len() > max_bytes {
        return Err(too_large(metadata.len()));
    }
    let bytes = match regular_file::read(&file.path, max_bytes) {
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
            return Err(unusable(
                error.to_string(),
                "save what it gives to a file, and ingest that",
            ));
        }
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            return Err(too_large(max_bytes + 1));
        }
        bytes => bytes.map_err(failed)?,
    };
    let format = DocFormat::from_path(&file.id);
    let reads_pdf = cfg!(feature = "pdf");
    if format == DocFormat::Pdf && !reads_pdf {
        return Err(unusable(
            "it is a PDF file, which this program was built without".to_owned(),
            "convert it first, for example with pdftotext, or install with: cargo install --features pdf",
        ));
    }
    if format != DocFormat::Pdf && is_binary(&bytes) {
        return Err(unusable("it is a binary file".to_owned(), "only text can be ingested"));
    }
    let modified_at = metadata.modified().ok().and_then(|at| Timestamp::try_from(at).ok());
    Ok(Document { path: file.id.clone(), bytes, format, modified_at })
}

/// Removes the documents below the named paths whose files no longer exist.
async fn prune_documents(
    engine: &Engine,
    cx: &CliContext,
    found: &SourceFiles,
    options: &IngestOptions,
    report: &mut IngestSummary,
) -> Result<()> {
    for id in engine.documents(&cx.scope).await? {
        if let Some(shown) = found.shown_if_missing(&id) {
            let removed = engine.remove_document(&cx.scope, &id, options).await?;
            report.push(shown, IngestOutcome::Ingested(Box::new(removed)));
        }
    }
    Ok(())
}
