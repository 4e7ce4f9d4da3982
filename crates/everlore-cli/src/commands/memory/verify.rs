//! `everlore memory verify`: looks whether memories with a check still hold.

use clap::Args;
use everlore::{
    Memory, MemoryId,
    types::{Verdict, Verified},
};
use serde::Serialize;

use crate::{
    commands::checks::sentence,
    context::Context,
    failure::{Exit, Result},
    ids,
    output::Output,
    words::{TITLE_CELLS, count, cut, title, visible},
};

/// Verify all memories that have a check, and list those that do not hold
///
/// Exits with 0 if none is stale, with 2 if some are.
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// Also list those that hold
    #[arg(long)]
    all: bool,
}

/// The answer for programs.
#[derive(Serialize)]
struct Answer<'a> {
    checked: usize,
    fresh: usize,
    stale: usize,
    unverifiable: usize,
    memories: Vec<Item<'a>>,
}

#[derive(Serialize)]
struct Item<'a> {
    id: MemoryId,
    uri: &'a str,
    kind: everlore::Kind,
    name: &'a str,
    check: &'a Verified,
}

impl VerifyArgs {
    /// Verifies and tells.
    pub(super) async fn run(self, cx: &Context, out: &mut Output) -> Result<Exit> {
        let verified = cx.engine().await?.verify_all(&cx.scope).await?;
        let number = |verdict| {
            let is = |found: &&(Memory, Verified)| found.1.verdict == verdict;
            verified.iter().filter(is).count()
        };
        let counts = Verdict::ALL.map(number);
        let shown = |found: &&(Memory, Verified)| self.all || found.1.verdict != Verdict::Fresh;
        let listed: Vec<_> = verified.iter().filter(shown).collect();
        if out.is_json() {
            let memories = listed.iter().map(|(memory, check)| item(memory, check)).collect();
            let [fresh, stale, unverifiable] = counts;
            out.json(&Answer { checked: verified.len(), fresh, stale, unverifiable, memories })?;
        } else {
            tell(&listed, counts, cx, out).await?;
        }
        Ok(Exit::well(counts[1] == 0))
    }
}

fn item<'a>(memory: &'a Memory, check: &'a Verified) -> Item<'a> {
    Item { id: memory.id, uri: &memory.uri, kind: memory.kind, name: &memory.name, check }
}

async fn tell(
    listed: &[&(Memory, Verified)],
    counts: [usize; 3],
    cx: &Context,
    out: &mut Output,
) -> Result<()> {
    let all: Vec<_> = listed.iter().map(|(memory, _)| memory.id).collect();
    let short = ids::shortened(cx.engine().await?, &cx.scope, &all).await?;
    for ((memory, check), id) in listed.iter().zip(short) {
        let name = cut(&title(memory), TITLE_CELLS);
        out.line(&format!("{} [{}] {name}", out.strong(&id), memory.kind))?;
        out.line(&out.faint(&format!("   {}", visible(&sentence(check)))))?;
    }
    let [fresh, stale, unverifiable] = counts;
    let checked = count(counts.iter().sum(), "memory has", "memories have");
    out.line(&format!(
        "{checked} a check: {fresh} fresh, {stale} stale, {unverifiable} unverifiable"
    ))
}
