//! `everlore import`: imports from other memory systems.

use std::path::PathBuf;

use clap::Args;
use everlore::engine::{ExternalFormat, FilledLayer, MigrationRequest, MigrationSummary};

use crate::{
    CliContext, Exit, Output, Result,
    messages::translate,
    render::{pluralize, sanitize, shell_quote},
};

/// Most skipped items that are listed; `--json` has all of them.
const MAX_LISTED_SKIPS: usize = 20;

/// Import memories from another memory system
///
/// FORMAT is openclaw (a workspace), hermes (MEMORY.md and USER.md), claude (memory folders and CLAUDE.md), mcp-graph
/// (the JSON lines of the MCP reference server), mem0 (an export), basic-memory (a project of notes), or auto. Importing
/// again updates what changed there and nothing else; forgotten memories do not come back. Nothing is written to the
/// other system's files. For the output of `everlore memory export`, use `everlore memory import`.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// The system that wrote it
    #[arg(value_name = "FORMAT", value_parser = parse_import_format)]
    format: ImportFormat,
    /// The folder or the file
    path: PathBuf,
    /// Report what would happen, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Fill empty layers (SOUL, USER, MEMORY) with those of the other system, as far as they fit
    #[arg(long)]
    layers: bool,
    /// Import each user of an export into a separate memory, under the user's name
    #[arg(long)]
    map_users: bool,
}

/// Format; `None` to detect it.
#[derive(Debug, Clone, Copy)]
struct ImportFormat(Option<ExternalFormat>);

fn parse_import_format(text: &str) -> std::result::Result<ImportFormat, String> {
    if text == "auto" {
        return Ok(ImportFormat(None));
    }
    let parsed = text.parse().map(|format| ImportFormat(Some(format)));
    parsed.map_err(|error: everlore::Error| format!("{error}; {}", error.hint()))
}

impl ImportArgs {
    /// Returns `true` if nothing is stored.
    pub(crate) fn is_read_only(&self) -> bool {
        self.dry_run
    }

    /// Imports and prints the summary.
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
        let found = report.added() + report.updated + report.unchanged > 0
            || imported.layers.iter().any(|layer| layer.written + layer.unchanged > 0);
        if out.is_json() {
            out.json(&imported)?;
        } else {
            print_import(&imported, cx, out)?;
        }
        Ok(Exit::from_found(found))
    }
}

fn print_import(imported: &MigrationSummary, cx: &CliContext, out: &mut Output) -> Result<()> {
    let report = &imported.report;
    let would = if imported.dry_run { "would be " } else { "" };
    let kinds: Vec<_> =
        report.taken.iter().map(|taken| format!("{} {}", taken.count, taken.kind)).collect();
    let kinds = if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
    out.say(&format!(
        "{}: {would}imported {}{kinds}, updated {}, unchanged {}, skipped {}",
        report.format,
        report.added(),
        report.updated,
        report.unchanged,
        report.left_out
    ))?;
    if report.masked > 0 {
        out.say(&format!("masked {}", pluralize(report.masked, "secret", "secrets")))?;
    }
    for older in &report.superseded {
        out.say(&format!("superseded: {} {}", older.id, sanitize(&older.content)))?;
    }
    imported.layers.iter().try_for_each(|layer| out.say(&render_filled_layer(layer)))?;
    for skipped in report.skipped.iter().take(MAX_LISTED_SKIPS) {
        out.line(
            &sanitize(&format!("  {}: {}", skipped.location, translate(&skipped.reason)))
                .replace('\n', " "),
        )?;
    }
    if report.left_out > MAX_LISTED_SKIPS {
        out.say(&format!("  and {} more; --json lists them", report.left_out - MAX_LISTED_SKIPS))?;
    }
    let Some(run) = report.run.as_ref().filter(|_| !imported.dry_run) else { return Ok(()) };
    for user in &imported.users {
        let option = if user == cx.scope.user() {
            String::new()
        } else {
            format!(" --user {}", shell_quote(user))
        };
        out.say(&format!("undo with: everlore memory undo --run {run}{option}"))?;
    }
    Ok(())
}

fn render_filled_layer(filled: &FilledLayer) -> String {
    let parts = pluralize(filled.written, "part", "parts");
    let mut line = format!("layer {}: {parts} written", filled.layer);
    if filled.unchanged > 0 {
        line += &format!(", {} unchanged", filled.unchanged);
    }
    if let Some(reason) = &filled.reason {
        line += &format!(", {} stored as memories instead: {reason}", filled.left_out);
    }
    line
}
