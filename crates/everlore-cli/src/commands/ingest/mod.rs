//! `everlore ingest`: makes documents knowledge, in chunks (Q7).

mod walk;
mod glob;
mod ignore;
mod report;

use std::{fs, path::PathBuf};

use clap::Args;
use everlore::{
    Document, Engine,
    files::documents::{DocFormat, is_binary},
    ingest::IngestOptions,
    types::Timestamp,
};

use crate::{
    cli_context::CliContext,
    error::{CliError, Exit, Result},
    output::Output,
    render::format_bytes,
};
use glob::Glob;
use report::{IngestOutcome, IngestSummary};
use walk::{Choice, File, Found};

/// Make documents knowledge: text, markdown, HTML and source code, in chunks with their headings
///
/// Folders are walked; hidden files, links, node_modules, target, venv, __pycache__ and what a .gitignore names are left
/// out. A file that did not change costs one lookup; of one that did, new chunks are stored and old ones taken out. One
/// run can be undone as a whole. What was forgotten does not come back.
#[derive(Debug, Args)]
pub(crate) struct IngestArgs {
    /// Files and folders
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// A tag for every chunk, beside its keywords; may be repeated
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Also take out what came from files below the PATHs that are gone
    #[arg(long)]
    prune: bool,
    /// Only say what would happen
    #[arg(long)]
    dry_run: bool,
    /// Leave out files with more bytes
    #[arg(long, value_name = "N", default_value_t = 10_000_000)]
    max_bytes: u64,
    /// Only files whose name or path fits, such as '*.md' or 'docs/**'; may be repeated
    #[arg(long, value_name = "GLOB", value_parser = Glob::parse)]
    include: Vec<Glob>,
    /// No files or folders whose name or path fits; may be repeated
    #[arg(long, value_name = "GLOB", value_parser = Glob::parse)]
    exclude: Vec<Glob>,
}

impl IngestArgs {
    /// Ingests one file after the other and tells what became of each.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let choice = Choice::new(self.include, self.exclude, &cx.home);
        let found = Found::below(&self.paths, &choice, self.prune);
        let engine = cx.engine().await?;
        let run = engine.ingest_run();
        let options = IngestOptions {
            run: Some(run.clone()),
            tags: self.tag,
            dry_run: self.dry_run,
            keep_secrets: false,
        };
        let mut report = IngestSummary::new(run, self.dry_run);
        for (path, failure) in &found.failures {
            report.push(path.clone(), IngestOutcome::Failed(failure.clone()));
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

/// Ingests one file; only a failure of the disk or the database is one of the whole command.
async fn ingest_file(
    engine: &Engine,
    cx: &CliContext,
    file: &File,
    max_bytes: u64,
    options: &IngestOptions,
) -> Result<IngestOutcome> {
    let document = match read_document(file, max_bytes) {
        Ok(document) => document,
        Err(outcome) => return Ok(outcome),
    };
    match engine.ingest_document(&cx.scope, &document, options).await.map_err(CliError::from) {
        Ok(report) => Ok(IngestOutcome::Ingested(Box::new(report))),
        Err(failure) if failure.is_storage() => Err(failure),
        Err(failure) => Ok(IngestOutcome::Failed(failure)),
    }
}

/// The file as a document, or why it is none. What nobody named is left out; what somebody did is a failure.
fn read_document(file: &File, max_bytes: u64) -> Result<Document, IngestOutcome> {
    let failed = |error| IngestOutcome::Failed(CliError::io("reading it", error));
    let left_out = |reason: String, hint: &str| match file.named {
        true => IngestOutcome::Failed(CliError::invalid(reason, hint)),
        false => IngestOutcome::Skipped(reason),
    };
    let data = fs::metadata(&file.path).map_err(failed)?;
    if data.len() > max_bytes {
        return Err(left_out(
            format!("it has {}, more than --max-bytes allows", format_bytes(data.len())),
            "allow more with --max-bytes",
        ));
    }
    let bytes = fs::read(&file.path).map_err(failed)?;
    let format = DocFormat::from_path(&file.id);
    let reads_pdf = cfg!(feature = "pdf");
    if format == DocFormat::Pdf && !reads_pdf {
        return Err(left_out(
            "it is a PDF file, which this program was built without".to_owned(),
            "convert it first, for example with pdftotext, or install with: cargo install --features pdf",
        ));
    }
    if format != DocFormat::Pdf && is_binary(&bytes) {
        return Err(left_out("it is a binary file".to_owned(), "only text can be ingested"));
    }
    let modified_at = data.modified().ok().and_then(|at| Timestamp::try_from(at).ok());
    Ok(Document { path: file.id.clone(), bytes, format, modified_at })
}

/// Takes out documents below what was named whose files are gone.
async fn prune_documents(
    engine: &Engine,
    cx: &CliContext,
    found: &Found,
    options: &IngestOptions,
    report: &mut IngestSummary,
) -> Result<()> {
    for id in engine.documents(&cx.scope).await? {
        if let Some(shown) = found.gone(&id) {
            let removed = engine.remove_document(&cx.scope, &id, options).await?;
            report.push(shown, IngestOutcome::Ingested(Box::new(removed)));
        }
    }
    Ok(())
}
