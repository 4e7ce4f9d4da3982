//! `everlore fs ls`, `tree`, `read`, `stat` and `status`: the reading commands.

use std::borrow::Cow;

use clap::Args;
use everlore::{
    Status,
    engine::fs::{DEFAULT_PAGE_SIZE, FsEntry, FsListRequest, FsTreeRequest},
    types::Tier,
};

use crate::{
    CliContext, Exit, Output, Result,
    messages::translate,
    render::{
        TITLE_CELLS, format_bytes, new_table, pad_width, render_list, render_table,
        sanitize_for_agent, truncate_width,
    },
    times::format_age,
};

/// List a folder, each entry with a one-line summary
#[derive(Debug, Args)]
pub(crate) struct FsLsArgs {
    /// The folder; the root if left out
    #[arg(default_value = "", hide_default_value = true)]
    uri: String,
    /// The most entries, 1000 at most
    #[arg(long, value_name = "NUMBER", default_value_t = DEFAULT_PAGE_SIZE)]
    limit: usize,
    /// Continue after this entry, the last one of the previous page
    #[arg(long, value_name = "NAME")]
    after: Option<String>,
    /// Include archived and superseded memories
    #[arg(long)]
    all: bool,
}

impl FsLsArgs {
    /// Lists a page.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let Self { uri, limit, after, all } = self;
        let request = FsListRequest { uri, after, limit, all };
        let listing = cx.engine().await?.fs_list(&cx.scope, &request).await?;
        if out.is_json() {
            out.json(&listing)?;
            return Ok(Exit::from_found(!listing.items.is_empty()));
        }
        out.text(&render_listing(&listing.items, cx))?;
        if listing.items.is_empty() {
            out.note("the folder is empty");
        }
        if let Some(next) = &listing.next {
            out.note(&format!("more with: --after {}", crate::render::shell_quote(next)));
        }
        Ok(Exit::from_found(!listing.items.is_empty()))
    }
}

fn render_listing(items: &[FsEntry], cx: &CliContext) -> String {
    if items.is_empty() {
        return String::new();
    }
    let now = cx.now();
    let mut rows = new_table(&["name", "size", "age", "what"]);
    for item in items {
        rows.add_row([
            display_name(item),
            item.bytes.map(|bytes| format_bytes(bytes as u64)).unwrap_or_default(),
            item.modified_at.map(|at| format_age(at, &now)).unwrap_or_default(),
            truncate_width(&sanitize_for_agent(&summary(item)), TITLE_CELLS),
        ]);
    }
    render_list(rows)
}

/// Returns the summary of an entry; that of a folder is in the program's own words.
fn summary(item: &FsEntry) -> Cow<'_, str> {
    if item.folder { translate(&item.summary) } else { Cow::Borrowed(&item.summary) }
}

fn display_name(item: &FsEntry) -> String {
    let slash = if item.folder { "/" } else { "" };
    let status = match item.status {
        Some(status) if status != Status::Active => format!(" ({})", translate(status.as_str())),
        _ => String::new(),
    };
    format!("{}{slash}{status}", sanitize_for_agent(&item.name))
}

/// Show a folder and the folders in it
#[derive(Debug, Args)]
pub(crate) struct FsTreeArgs {
    /// The folder; the root if left out
    #[arg(default_value = "", hide_default_value = true)]
    uri: String,
    /// Number of levels
    #[arg(long, short = 'L', value_name = "LEVELS", default_value_t = 3)]
    depth: usize,
    /// The most entries, 1000 at most
    #[arg(long, value_name = "NUMBER", default_value_t = DEFAULT_PAGE_SIZE)]
    limit: usize,
    /// Include archived and superseded memories
    #[arg(long)]
    all: bool,
}

impl FsTreeArgs {
    /// Prints the tree.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let Self { uri, depth, limit, all } = self;
        let request = FsTreeRequest { uri, depth, limit, all };
        let tree = cx.engine().await?.fs_tree(&cx.scope, &request).await?;
        if out.is_json() {
            out.json(&tree)?;
            return Ok(Exit::from_found(!tree.items.is_empty()));
        }
        out.line(&sanitize_for_agent(&tree.uri))?;
        for node in &tree.items {
            out.line(&format!("{}{}", "  ".repeat(node.depth), display_name(&node.item)))?;
        }
        if tree.more {
            out.note("there is more: see --limit, or look at one folder");
        }
        Ok(Exit::from_found(!tree.items.is_empty()))
    }
}

/// Read a memory, a document, a conversation or a layer, in full or shortened
#[derive(Debug, Args)]
pub(crate) struct FsReadArgs {
    /// The file or folder
    uri: String,
    /// l0 (one line), l1 (overview) or l2 (full text)
    #[arg(long, value_name = "LEVEL", default_value_t)]
    level: Tier,
}

impl FsReadArgs {
    /// Prints the text.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let read = cx.engine().await?.fs_read(&cx.scope, &self.uri, self.level).await?;
        if out.is_json() {
            out.json(&read)?;
            return Ok(Exit::Done);
        }
        out.line(sanitize_for_agent(&read.text).trim_end_matches('\n'))?;
        if read.cut {
            out.note(
                "there is more: list it with `everlore fs ls` and read the entries one by one",
            );
        }
        Ok(Exit::Done)
    }
}

/// Show the metadata of a file or folder
#[derive(Debug, Args)]
pub(crate) struct FsStatArgs {
    /// The file or folder; the root if left out
    #[arg(default_value = "", hide_default_value = true)]
    uri: String,
}

impl FsStatArgs {
    /// Prints the metadata.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let stat = cx.engine().await?.fs_stat(&cx.scope, &self.uri).await?;
        if out.is_json() {
            out.json(&stat)?;
            return Ok(Exit::Done);
        }
        let (item, mut rows) = (&stat.item, new_table(&[]));
        let mut row = |name: &str, value: Option<String>| {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                rows.add_row([translate(name).into_owned(), sanitize_for_agent(&value)]);
            }
        };
        row("uri", Some(item.uri.clone()));
        row("what", Some(translate(if item.folder { "folder" } else { "file" }).into_owned()));
        row("abstract", Some(summary(item).into_owned()));
        row("entries", stat.entries.map(|count| count.to_string()));
        row("kind", item.kind.map(|kind| kind.to_string()));
        row("status", item.status.map(|status| translate(status.as_str()).into_owned()));
        row("tags", Some(item.tags.join(", ")));
        row("size", item.bytes.map(|bytes| format_bytes(bytes as u64)));
        row("created", item.created_at.map(|at| at.to_string()));
        row("modified", item.modified_at.map(|at| at.to_string()));
        row("id", item.id.map(|id| id.to_string()));
        row("read-only", item.read_only.then(|| translate("yes").into_owned()));
        out.text(&render_table(rows))?;
        Ok(Exit::Done)
    }
}

/// Count stored memories by kind
#[derive(Debug, Args)]
pub(crate) struct FsStatusArgs {}

impl FsStatusArgs {
    /// Prints the counts.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let status = cx.engine().await?.fs_status(&cx.scope).await?;
        if out.is_json() {
            out.json(&status)?;
            return Ok(Exit::Done);
        }
        for (kind, count) in &status.memories {
            out.line(&format!("{:12} {count}", kind.as_str()))?;
        }
        for (label, count) in [
            ("archived", status.put_away),
            ("documents", status.documents),
            ("changes", status.changes),
            ("erased", status.erased),
        ] {
            out.line(&format!("{} {count}", pad_width(&translate(label), 12)))?;
        }
        let model = status.model.as_deref().unwrap_or("none; recall by words only");
        out.line(&format!(
            "{} {}",
            pad_width(&translate("embedder"), 12),
            sanitize_for_agent(&translate(model))
        ))?;
        Ok(Exit::Done)
    }
}
