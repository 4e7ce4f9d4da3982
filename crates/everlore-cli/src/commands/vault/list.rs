//! `everlore vault list`: the files of a vault, from their front matter.

use std::path::PathBuf;

use clap::Args;
use everlore::internal::files::vault::{VaultListing, list};

use super::resolve_folder;
use crate::{
    CliContext, CliError, Exit, Output, Result,
    render::{new_table, pluralize, render_list, sanitize, truncate_width},
    times::format_age,
};

/// List the files of a vault, newest first, and files that are not memories
#[derive(Debug, Args)]
pub(crate) struct VaultListArgs {
    /// The folder [default: the vault of the agent and user, in the home]
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    /// The most files to list
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Print one line per file, for a model that chooses among them
    #[arg(long)]
    manifest: bool,
}

impl VaultListArgs {
    /// Lists the files.
    pub(super) fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let folder = resolve_folder(self.folder.as_deref(), cx);
        if !folder.is_dir() {
            return Err(CliError::invalid(
                format!("there is no vault at {}", folder.display()),
                "create one with `everlore vault init`, or name another folder",
            ));
        }
        let listing = list(&folder, self.limit)?;
        let found = Exit::from_found(!listing.entries.is_empty());
        if out.is_json() {
            out.json(&listing)?;
            return Ok(found);
        }
        if self.manifest {
            print_manifest(cx, &listing, out)?;
        } else {
            print_listing(cx, &listing, out)?;
        }
        for skipped in &listing.skipped {
            out.note(&sanitize(&format!("skipped {}: {}", skipped.file, skipped.reason)));
        }
        if listing.left_out > 0 {
            out.note(&format!("{} more", pluralize(listing.left_out, "file", "files")));
        }
        Ok(found)
    }
}

fn print_manifest(cx: &CliContext, listing: &VaultListing, out: &mut Output) -> Result<()> {
    let now = cx.now();
    for entry in &listing.entries {
        out.line(&sanitize(&entry.manifest_line(now.time_zone())))?;
    }
    Ok(())
}

fn print_listing(cx: &CliContext, listing: &VaultListing, out: &mut Output) -> Result<()> {
    if listing.entries.is_empty() {
        return Ok(());
    }
    let now = cx.now();
    let mut rows = new_table(&["type", "file", "changed", "description"]);
    for entry in &listing.entries {
        let changed = format_age(entry.modified_at, &now);
        let summary = if entry.description.is_empty() { &entry.name } else { &entry.description };
        rows.add_row([
            entry.kind.as_str(),
            &sanitize(&entry.file),
            &changed,
            &truncate_width(summary, 60),
        ]);
    }
    out.text(&render_list(rows))
}
