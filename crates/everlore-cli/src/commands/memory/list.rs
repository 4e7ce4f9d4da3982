//! `everlore memory list`: stored memories, newest first.

use clap::Args;
use everlore::{
    Memory, MemoryId, Status,
    store::{ListOrder, ListQuery, MemoryFilter},
};
use serde_json::json;

use crate::{
    CliContext, Exit, Output, Result,
    commands::{
        check_args::{self, CheckedMemoryView, verify_memories},
        filter_args::FilterArgs,
    },
    messages::translate,
    render::{TITLE_CELLS, memory_title, new_table, render_list, truncate_width},
    times::format_age,
};

/// Memories read at a time.
const PAGE_SIZE: usize = 1_000;

/// List memories, the newest first; schedules, proposals and tool calls only if --kind names them
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
    /// List the memories with the highest weight, heaviest first
    #[arg(long, conflicts_with_all = ["after", "kind", "tag", "status", "since", "until"])]
    core: bool,
    /// List archived memories; the same as --status archived
    #[arg(long, conflicts_with_all = ["core", "status"])]
    archived: bool,
    /// Continue after this memory, the last one of the previous page
    #[arg(long, value_name = "ID")]
    after: Option<String>,
    /// Also run the checks of the memories and show their results
    #[arg(long)]
    verify: bool,
}

impl MemoryListArgs {
    /// Lists a page or everything.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let (memories, next) = self.find_page(cx).await?;
        let checks = if self.verify {
            verify_memories(cx.engine().await?, &memories).await
        } else {
            vec![None; memories.len()]
        };
        if out.is_json() {
            let views: Vec<_> = memories
                .iter()
                .zip(&checks)
                .map(|(memory, check)| CheckedMemoryView { memory, check: check.as_ref() })
                .collect();
            out.json(&json!({ "memories": views, "next": next }))?;
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
        filter.without_records()
    }

    /// Returns the memories, and the last one's id if there are more after it.
    async fn find_page(&self, cx: &CliContext) -> Result<(Vec<Memory>, Option<MemoryId>)> {
        let engine = cx.engine().await?;
        let limit = if self.all { usize::MAX } else { self.limit };
        if self.core {
            return Ok((engine.core_memories(&cx.scope, limit).await?, None));
        }
        let after = match &self.after {
            Some(name) => Some(engine.resolve(&cx.scope, name).await?),
            None => None,
        };
        let mut memories: Vec<Memory> = Vec::new();
        let mut page =
            ListQuery { filter: self.to_filter(), after, order: ListOrder::NewestFirst, limit: 0 };
        // One more than the limit shows that there are more.
        while memories.len() <= limit {
            page.limit = PAGE_SIZE.min((limit - memories.len()).saturating_add(1));
            let found = engine.list(&cx.scope, &page).await?;
            page.after = found.last().map(|memory| memory.id);
            let is_last = found.len() < page.limit;
            memories.extend(found);
            if is_last {
                return Ok((memories, None));
            }
        }
        memories.truncate(limit);
        let next = memories.last().map(|memory| memory.id);
        Ok((memories, next))
    }
}

/// Renders a table of memories.
pub(super) async fn render_memories(memories: &[Memory], cx: &CliContext) -> Result<String> {
    if memories.is_empty() {
        return Ok(String::new());
    }
    let all: Vec<MemoryId> = memories.iter().map(|memory| memory.id).collect();
    let short = cx.engine().await?.shorten_ids(&cx.scope, &all).await?;
    let now = cx.now();
    let mut rows = new_table(&["id", "kind", "name", "age", "status"]);
    for (memory, id) in memories.iter().zip(short) {
        rows.add_row([
            id,
            memory.kind.to_string(),
            truncate_width(&memory_title(memory), TITLE_CELLS),
            format_age(memory.at, &now),
            translate(memory.status.as_str()).into_owned(),
        ]);
    }
    Ok(render_list(rows))
}
