//! `everlore vault list`: what a vault holds, from the heads of its files (D2, D5, D6).

use std::path::PathBuf;

use clap::Args;
use everlore::files::vault::{Listing, list};

use super::folder;
use crate::{
    context::Context,
    failure::{Exit, Failure, Result},
    output::Output,
    times::age,
    words::{count, cut, rendered, table, visible},
};

/// List the files of a vault, newest first, and those that are no memories
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// The folder [default: the vault of the agent and user, in the home]
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    /// The most files to list
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Print a line for each, fit for a model that chooses among them
    #[arg(long)]
    manifest: bool,
}

impl ListArgs {
    /// Lists the files.
    pub(super) fn run(self, cx: &Context, out: &mut Output) -> Result<Exit> {
        let folder = folder(self.folder.as_deref(), cx);
        if !folder.is_dir() {
            return Err(Failure::invalid(
                format!("there is no vault at {}", folder.display()),
                "make one with `everlore vault init`, or name another folder",
            ));
        }
        let listing = list(&folder, self.limit)?;
        let found = Exit::found(!listing.entries.is_empty());
        if out.is_json() {
            out.json(&listing)?;
            return Ok(found);
        }
        match self.manifest {
            true => manifest(cx, &listing, out)?,
            false => told(cx, &listing, out)?,
        }
        for skipped in &listing.skipped {
            out.note(&visible(&format!("skipped {}: {}", skipped.file, skipped.reason)));
        }
        if listing.left_out > 0 {
            out.note(&format!("{} more", count(listing.left_out, "file", "files")));
        }
        Ok(found)
    }
}

fn manifest(cx: &Context, listing: &Listing, out: &mut Output) -> Result<()> {
    let now = cx.now();
    for entry in &listing.entries {
        out.line(&visible(&entry.manifest_line(now.time_zone())))?;
    }
    Ok(())
}

fn told(cx: &Context, listing: &Listing, out: &mut Output) -> Result<()> {
    if listing.entries.is_empty() {
        return Ok(());
    }
    let now = cx.now();
    let mut rows = table(&["type", "file", "changed", "description"]);
    for entry in &listing.entries {
        let changed = age(entry.modified_at, &now);
        let what = if entry.description.is_empty() { &entry.name } else { &entry.description };
        rows.add_row([entry.kind.as_str(), &visible(&entry.file), &changed, &cut(what, 60)]);
    }
    out.text(&rendered(rows))
}
