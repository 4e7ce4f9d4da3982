//! `everlore import`: brings in what other memory systems keep.

use std::path::PathBuf;

use clap::Args;
use everlore::{
    engine::{FilledLayer, MigrationRequest, MigrationSummary},
    files::importers::ExternalFormat,
};

use crate::{
    cli_context::CliContext,
    error::{Exit, Result},
    output::Output,
    render::{pluralize, sanitize, shell_quote},
};

/// What was left out is told one by one up to here; `--json` tells more.
const MAX_LISTED_SKIPS: usize = 20;

/// Bring in what another memory system keeps
///
/// FORMAT is openclaw (a workspace), hermes (MEMORY.md and USER.md), claude (memory folders and CLAUDE.md), mcp-graph (the
/// JSON lines of the MCP reference server), mem0 (an export), or auto. Importing the same again changes nothing; what
/// changed there is updated here; what was forgotten here stays away. Nothing is written to the other system's files.
/// What `everlore memory export` wrote is read by `everlore memory import`.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Which system wrote it
    #[arg(value_name = "FORMAT", value_parser = parse_import_format)]
    format: ImportFormat,
    /// The folder or the file
    path: PathBuf,
    /// Only say what would happen
    #[arg(long)]
    dry_run: bool,
    /// Fill layers that nobody wrote yet (SOUL, USER, MEMORY) with those of the other system, as far as they fit
    #[arg(long)]
    layers: bool,
    /// Give each user of an export a memory of its own, under its name
    #[arg(long)]
    map_users: bool,
}

/// A format, or none to tell it by what is there.
#[derive(Debug, Clone, Copy)]
struct ImportFormat(Option<ExternalFormat>);

fn parse_import_format(text: &str) -> std::result::Result<ImportFormat, String> {
    if text == "auto" {
        return Ok(ImportFormat(None));
    }
    let read = text.parse().map(|format| ImportFormat(Some(format)));
    read.map_err(|error: everlore::Error| format!("{error}; {}", error.hint()))
}

impl ImportArgs {
    /// Whether nothing is written.
    pub(crate) fn is_read_only(&self) -> bool {
        self.dry_run
    }

    /// Imports and tells what was done.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let request = MigrationRequest {
            format: self.format.0,
            path: self.path,
            dry_run: self.dry_run,
            layers: self.layers,
            map_users: self.map_users,
        };
        let imported = cx.engine().await?.migrate(&cx.scope, &request).await?;
        let report = &imported.report;
        let is_there = report.added() + report.updated + report.unchanged > 0
            || imported.layers.iter().any(|layer| layer.written + layer.unchanged > 0);
        if out.is_json() {
            out.json(&imported)?;
        } else {
            print_import(&imported, cx, out)?;
        }
        Ok(Exit::from_found(is_there))
    }
}

fn print_import(imported: &MigrationSummary, cx: &CliContext, out: &mut Output) -> Result<()> {
    let report = &imported.report;
    let would = if imported.dry_run { "would be " } else { "" };
    let kinds: Vec<_> =
        report.taken.iter().map(|taken| format!("{} {}", taken.count, taken.kind)).collect();
    let kinds = if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
    out.line(&format!(
        "{}: {would}taken {}{kinds}, updated {}, unchanged {}, left out {}",
        report.format,
        report.added(),
        report.updated,
        report.unchanged,
        report.left_out
    ))?;
    if report.masked > 0 {
        out.line(&format!("masked {}", pluralize(report.masked, "secret", "secrets")))?;
    }
    imported.layers.iter().try_for_each(|layer| out.line(&render_filled_layer(layer)))?;
    for skipped in report.skipped.iter().take(MAX_LISTED_SKIPS) {
        out.line(
            &sanitize(&format!("  {}: {}", skipped.location, skipped.reason)).replace('\n', " "),
        )?;
    }
    if report.left_out > MAX_LISTED_SKIPS {
        out.line(&format!("  and {} more; --json lists them", report.left_out - MAX_LISTED_SKIPS))?;
    }
    let Some(run) = report.run.as_ref().filter(|_| !imported.dry_run) else { return Ok(()) };
    for user in &imported.users {
        let whose = match user == cx.scope.user() {
            true => String::new(),
            false => format!(" --user {}", shell_quote(user)),
        };
        out.line(&format!("undo with: everlore memory undo --run {run}{whose}"))?;
    }
    Ok(())
}

fn render_filled_layer(filled: &FilledLayer) -> String {
    let parts = pluralize(filled.written, "part", "parts");
    let mut told = format!("layer {}: {parts} written", filled.layer);
    if filled.unchanged > 0 {
        told += &format!(", {} there already", filled.unchanged);
    }
    if let Some(reason) = &filled.reason {
        told += &format!(", {} kept as memories instead: {reason}", filled.left_out);
    }
    told
}
