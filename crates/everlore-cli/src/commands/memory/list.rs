//! `everlore memory list`: what is stored, newest first.

use clap::Args;
use everlore::{
    Memory, MemoryId, Status,
    store::{ListOrder, ListQuery, MemoryFilter},
};
use serde_json::json;

use crate::{
    cli_context::CliContext,
    commands::{
        check_args::{self, CheckedMemoryView, verify_memories},
        filter_args::FilterArgs,
    },
    error::{Exit, Result},
    ids,
    output::Output,
    render::{TITLE_CELLS, memory_title, new_table, render_table, truncate_width},
    times::format_age,
};

/// Memories read at a time.
const PAGE_SIZE: usize = 1_000;

/// List memories, the newest first
#[derive(Debug, Args)]
pub(crate) struct MemoryListArgs {
    #[command(flatten)]
    filter: FilterArgs,
    /// The most memories to list
    #[arg(long, value_name = "NUMBER", default_value_t = 20)]
    limit: usize,
    /// List all of them
    #[arg(long, conflicts_with = "limit")]
    all: bool,
    /// List those that are worth most, the heaviest first
    #[arg(long, conflicts_with_all = ["after", "kind", "tag", "status", "since", "until"])]
    core: bool,
    /// List those that were put away; the same as --status archived
    #[arg(long, conflicts_with_all = ["core", "status"])]
    archived: bool,
    /// Go on after this memory, the last one of the page before
    #[arg(long, value_name = "ID")]
    after: Option<String>,
    /// Also say what the checks of memories tell now
    #[arg(long)]
    verify: bool,
}

impl MemoryListArgs {
    /// Lists a page or everything.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let (memories, next) = self.find_page(cx).await?;
        let checks = match self.verify {
            true => verify_memories(cx.engine().await?, &memories).await,
            false => vec![None; memories.len()],
        };
        if out.is_json() {
            let each = memories.iter().zip(&checks);
            let told: Vec<_> = each
                .map(|(memory, check)| CheckedMemoryView { memory, check: check.as_ref() })
                .collect();
            out.json(&json!({ "memories": told, "next": next }))?;
        } else {
            out.text(&render_memories(&memories, cx).await?)?;
            out.text(&check_args::render_verdicts(cx, &memories, &checks).await?)?;
            if memories.is_empty() {
                out.note("nothing found");
            }
            if let Some(next) = next {
                out.note(&format!("more with: --after {next}"));
            }
        }
        Ok(Exit::from_found(!memories.is_empty()))
    }

    fn to_filter(&self) -> MemoryFilter {
        let mut filter = self.filter.to_filter();
        if self.archived {
            filter.statuses = vec![Status::Archived];
        }
        filter
    }

    /// The memories, and the last one if there may be more after it.
    async fn find_page(&self, cx: &CliContext) -> Result<(Vec<Memory>, Option<MemoryId>)> {
        let engine = cx.engine().await?;
        if self.core {
            let most = if self.all { usize::MAX } else { self.limit };
            return Ok((engine.core_memories(&cx.scope, most).await?, None));
        }
        let after = match &self.after {
            Some(name) => Some(engine.resolve(&cx.scope, name).await?),
            None => None,
        };
        let limit = if self.all { usize::MAX } else { self.limit };
        let mut memories: Vec<Memory> = Vec::new();
        let mut page =
            ListQuery { filter: self.to_filter(), after, order: ListOrder::NewestFirst, limit: 0 };
        // One more than asked for tells whether there is more.
        while memories.len() <= limit {
            page.limit = PAGE_SIZE.min((limit - memories.len()).saturating_add(1));
            let more = engine.list(&cx.scope, &page).await?;
            page.after = more.last().map(|memory| memory.id);
            let last = more.len() < page.limit;
            memories.extend(more);
            if last {
                return Ok((memories, None));
            }
        }
        memories.truncate(limit);
        let next = memories.last().map(|memory| memory.id);
        Ok((memories, next))
    }
}

/// A table of memories.
pub(super) async fn render_memories(memories: &[Memory], cx: &CliContext) -> Result<String> {
    if memories.is_empty() {
        return Ok(String::new());
    }
    let all: Vec<MemoryId> = memories.iter().map(|memory| memory.id).collect();
    let short = ids::shorten_ids(cx.engine().await?, &cx.scope, &all).await?;
    let now = cx.now();
    let mut rows = new_table(&["id", "kind", "name", "age", "status"]);
    for (memory, id) in memories.iter().zip(short) {
        rows.add_row([
            id,
            memory.kind.to_string(),
            truncate_width(&memory_title(memory), TITLE_CELLS),
            format_age(memory.at, &now),
            memory.status.to_string(),
        ]);
    }
    Ok(render_table(rows))
}
