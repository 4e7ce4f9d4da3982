//! `everlore fs ls`, `tree`, `read`, `stat` and `status`: looking around.

use clap::Args;
use everlore::{
    Status,
    engine::fs::{Item, Level, ListRequest, PAGE, TreeRequest},
};

use crate::{
    context::Context,
    failure::{Exit, Result},
    output::Output,
    times::age,
    words::{TITLE_CELLS, cut, rendered, size, table, visible},
};

/// List a folder, each entry with one line that says what it is
#[derive(Debug, Args)]
pub(crate) struct LsArgs {
    /// The folder; the root if left out
    #[arg(default_value = "", hide_default_value = true)]
    uri: String,
    /// The most entries, 1000 at most
    #[arg(long, value_name = "NUMBER", default_value_t = PAGE)]
    limit: usize,
    /// Go on after this entry, as the page before says
    #[arg(long, value_name = "NAME")]
    after: Option<String>,
    /// Also what is archived or superseded
    #[arg(long)]
    all: bool,
}

impl LsArgs {
    /// Lists a page.
    pub(super) async fn run(self, cx: &Context, out: &mut Output) -> Result<Exit> {
        let Self { uri, limit, after, all } = self;
        let request = ListRequest { uri, after, limit, all };
        let listing = cx.engine().await?.fs_list(&cx.scope, &request).await?;
        if out.is_json() {
            out.json(&listing)?;
            return Ok(Exit::found(!listing.items.is_empty()));
        }
        out.text(&listed(&listing.items, cx))?;
        if listing.items.is_empty() {
            out.note("the folder is empty");
        }
        if let Some(next) = &listing.next {
            out.note(&format!("more with: --after {}", crate::words::quoted(next)));
        }
        Ok(Exit::found(!listing.items.is_empty()))
    }
}

fn listed(items: &[Item], cx: &Context) -> String {
    if items.is_empty() {
        return String::new();
    }
    let now = cx.now();
    let mut rows = table(&["name", "size", "age", "what"]);
    for item in items {
        rows.add_row([
            named(item),
            item.bytes.map(|bytes| size(bytes as u64)).unwrap_or_default(),
            item.modified_at.map(|at| age(at, &now)).unwrap_or_default(),
            cut(&visible(&item.summary), TITLE_CELLS),
        ]);
    }
    rendered(rows)
}

fn named(item: &Item) -> String {
    let slash = if item.folder { "/" } else { "" };
    let status = match item.status {
        Some(status) if status != Status::Active => format!(" ({status})"),
        _ => String::new(),
    };
    format!("{}{slash}{status}", visible(&item.name))
}

/// Show a folder and the folders in it
#[derive(Debug, Args)]
pub(crate) struct TreeArgs {
    /// The folder; the root if left out
    #[arg(default_value = "", hide_default_value = true)]
    uri: String,
    /// How many levels
    #[arg(long, short = 'L', value_name = "LEVELS", default_value_t = 3)]
    depth: usize,
    /// The most entries, 1000 at most
    #[arg(long, value_name = "NUMBER", default_value_t = PAGE)]
    limit: usize,
    /// Also what is archived or superseded
    #[arg(long)]
    all: bool,
}

impl TreeArgs {
    /// Shows it.
    pub(super) async fn run(self, cx: &Context, out: &mut Output) -> Result<Exit> {
        let Self { uri, depth, limit, all } = self;
        let request = TreeRequest { uri, depth, limit, all };
        let walked = cx.engine().await?.fs_tree(&cx.scope, &request).await?;
        if out.is_json() {
            out.json(&walked)?;
            return Ok(Exit::found(!walked.items.is_empty()));
        }
        out.line(&visible(&walked.uri))?;
        for deep in &walked.items {
            out.line(&format!("{}{}", "  ".repeat(deep.depth), named(&deep.item)))?;
        }
        if walked.more {
            out.note("there is more: see --limit, or look at one folder");
        }
        Ok(Exit::found(!walked.items.is_empty()))
    }
}

/// Read a memory, a document, a conversation or a layer at a level
#[derive(Debug, Args)]
pub(crate) struct ReadArgs {
    /// What to read
    uri: String,
    /// l0 (one line), l1 (overview) or l2 (all of it)
    #[arg(long, value_name = "LEVEL", default_value_t)]
    level: Level,
}

impl ReadArgs {
    /// Reads it.
    pub(super) async fn run(self, cx: &Context, out: &mut Output) -> Result<Exit> {
        let read = cx.engine().await?.fs_read(&cx.scope, &self.uri, self.level).await?;
        if out.is_json() {
            out.json(&read)?;
            return Ok(Exit::Done);
        }
        out.line(visible(&read.text).trim_end_matches('\n'))?;
        if read.cut {
            out.note(
                "there is more: list it with `everlore fs ls` and read the entries one by one",
            );
        }
        Ok(Exit::Done)
    }
}

/// Say what something is without reading it
#[derive(Debug, Args)]
pub(crate) struct StatArgs {
    /// What to look at; the root if left out
    #[arg(default_value = "", hide_default_value = true)]
    uri: String,
}

impl StatArgs {
    /// Tells it.
    pub(super) async fn run(self, cx: &Context, out: &mut Output) -> Result<Exit> {
        let stat = cx.engine().await?.fs_stat(&cx.scope, &self.uri).await?;
        if out.is_json() {
            out.json(&stat)?;
            return Ok(Exit::Done);
        }
        let (item, mut rows) = (&stat.item, table(&[]));
        let mut row = |name: &str, value: Option<String>| {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                rows.add_row([name.to_owned(), visible(&value).into_owned()]);
            }
        };
        row("uri", Some(item.uri.clone()));
        row("what", Some(if item.folder { "folder" } else { "file" }.to_owned()));
        row("abstract", Some(item.summary.clone()));
        row("entries", stat.entries.map(|count| count.to_string()));
        row("kind", item.kind.map(|kind| kind.to_string()));
        row("status", item.status.map(|status| status.to_string()));
        row("tags", Some(item.tags.join(", ")));
        row("size", item.bytes.map(|bytes| size(bytes as u64)));
        row("created", item.created_at.map(|at| at.to_string()));
        row("modified", item.modified_at.map(|at| at.to_string()));
        row("id", item.id.map(|id| id.to_string()));
        row("read-only", item.read_only.then(|| "yes".to_owned()));
        out.text(&rendered(rows))?;
        Ok(Exit::Done)
    }
}

/// Say how much is held, by kind
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {}

impl StatusArgs {
    /// Counts and tells.
    pub(super) async fn run(self, cx: &Context, out: &mut Output) -> Result<Exit> {
        let status = cx.engine().await?.fs_status(&cx.scope).await?;
        if out.is_json() {
            out.json(&status)?;
            return Ok(Exit::Done);
        }
        for (kind, count) in &status.memories {
            out.line(&format!("{:12} {count}", kind.as_str()))?;
        }
        for (what, count) in [
            ("put away", status.put_away),
            ("documents", status.documents),
            ("changes", status.changes),
            ("erased", status.erased),
        ] {
            out.line(&format!("{what:12} {count}"))?;
        }
        let model = status.model.as_deref().unwrap_or("none; found by words alone");
        out.line(&format!("{:12} {}", "meaning", visible(model)))?;
        Ok(Exit::Done)
    }
}
