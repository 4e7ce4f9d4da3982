//! `everlore memory verify`: runs the checks of memories.

use clap::Args;
use everlore::{
    Memory, MemoryId,
    types::{CheckResult, CheckStatus},
};
use serde::Serialize;

use crate::{
    CliContext, Exit, Output, Result,
    commands::check_args::check_status_line,
    render::{TITLE_CELLS, memory_title, pluralize, sanitize, truncate_width},
};

/// Run the checks of all memories that have one, and list those that are stale
///
/// Exits with 0 if none is stale, with 2 if some are.
#[derive(Debug, Args)]
pub(crate) struct MemoryVerifyArgs {
    /// Also list fresh ones
    #[arg(long)]
    all: bool,
}

/// Answer for programs.
#[derive(Serialize)]
struct VerifyView<'a> {
    checked: usize,
    fresh: usize,
    stale: usize,
    unverifiable: usize,
    memories: Vec<VerifiedMemoryView<'a>>,
}

#[derive(Serialize)]
struct VerifiedMemoryView<'a> {
    id: MemoryId,
    uri: &'a str,
    kind: everlore::Kind,
    name: &'a str,
    check: &'a CheckResult,
}

impl MemoryVerifyArgs {
    /// Runs the checks and prints their results.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let verified = cx.engine().await?.verify_all(&cx.scope).await?;
        let count = |status| verified.iter().filter(|(_, check)| check.verdict == status).count();
        let counts = CheckStatus::ALL.map(count);
        let is_listed =
            |(_, check): &&(Memory, CheckResult)| self.all || check.verdict != CheckStatus::Fresh;
        let listed: Vec<_> = verified.iter().filter(is_listed).collect();
        if out.is_json() {
            let memories =
                listed.iter().map(|(memory, check)| verified_memory_view(memory, check)).collect();
            let [fresh, stale, unverifiable] = counts;
            out.json(&VerifyView {
                checked: verified.len(),
                fresh,
                stale,
                unverifiable,
                memories,
            })?;
        } else {
            print_verified(&listed, counts, cx, out).await?;
        }
        Ok(Exit::from_success(counts[1] == 0))
    }
}

fn verified_memory_view<'a>(memory: &'a Memory, check: &'a CheckResult) -> VerifiedMemoryView<'a> {
    VerifiedMemoryView {
        id: memory.id,
        uri: &memory.uri,
        kind: memory.kind,
        name: &memory.name,
        check,
    }
}

async fn print_verified(
    listed: &[&(Memory, CheckResult)],
    counts: [usize; 3],
    cx: &CliContext,
    out: &mut Output,
) -> Result<()> {
    let all: Vec<_> = listed.iter().map(|(memory, _)| memory.id).collect();
    let short = cx.engine().await?.shorten_ids(&cx.scope, &all).await?;
    for ((memory, check), id) in listed.iter().zip(short) {
        let name = truncate_width(&memory_title(memory), TITLE_CELLS);
        out.line(&format!("{} [{}] {name}", out.bold(&id), memory.kind))?;
        out.line(&out.dim(&format!("   {}", sanitize(&check_status_line(check)))))?;
    }
    let [fresh, stale, unverifiable] = counts;
    let checked = pluralize(counts.iter().sum(), "memory has", "memories have");
    out.say(&format!(
        "{checked} a check: {fresh} fresh, {stale} stale, {unverifiable} unverifiable"
    ))
}
