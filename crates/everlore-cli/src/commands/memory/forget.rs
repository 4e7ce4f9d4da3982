//! `everlore memory forget`: erases memories and every trace of their text, with a receipt.

use std::{
    collections::BTreeSet,
    io::{self, IsTerminal},
};

use clap::Args;
use everlore::{
    MemoryId,
    engine::{ForgetReceipt, ForgetReport, RedactedDay, RedactedLayer, RemovalMode},
};

use super::everything::{OwnerArgs, preview, vault_note};
use crate::{
    CliContext, CliError, Exit, Output, Result, ids, messages::translate, output::terminal_width,
    render::pluralize, text_width::wrap,
};

/// Stands for a blank at which no line breaks.
const UNBROKEN_BLANK: &str = "\u{e000}";

/// Erase memories and every trace of their text, for good
///
/// Erases rows, index, vectors, journal images, vault files, saves that wait, lines typed in `chat`, and sentences that
/// layers and the daily log quote. A tombstone without content stays, so that an import cannot bring the same text
/// back. This cannot be undone.
#[derive(Debug, Args)]
pub(crate) struct MemoryForgetArgs {
    /// The memories; deleted ones too, as long as the journal has them
    #[arg(required_unless_present_any = ["all_of_user", "all_of_agent"], value_name = "ID")]
    ids: Vec<String>,
    #[command(flatten)]
    owner: OwnerArgs,
    /// Do not ask for confirmation
    #[arg(short, long)]
    yes: bool,
}

impl MemoryForgetArgs {
    /// Erases each memory, or everything of an owner, and prints the receipt.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        if self.owner.is_named() {
            return self.owner.remove(RemovalMode::Forget, self.yes, cx, out).await;
        }
        let ids = self.resolve_ids(cx).await?;
        if self.owner.dry_run {
            return preview(RemovalMode::Forget, &ids.into_iter().collect::<Vec<_>>(), cx, out)
                .await;
        }
        if !self.yes && !confirm_forget(ids.len(), out)? {
            out.note("nothing was forgotten");
            return Ok(Exit::Failed);
        }
        let ids: Vec<MemoryId> = ids.into_iter().collect();
        let receipt = cx.engine().await?.forget_all(&cx.scope, &ids).await?;
        print_receipt(&receipt, out)?;
        Ok(Exit::Done)
    }

    /// Resolves the memories, each once.
    async fn resolve_ids(&self, cx: &CliContext) -> Result<BTreeSet<MemoryId>> {
        let mut ids = BTreeSet::new();
        for name in &self.ids {
            ids.insert(ids::resolve_including_deleted(cx.engine().await?, &cx.scope, name).await?);
        }
        Ok(ids)
    }
}

fn print_receipt(receipt: &ForgetReceipt, out: &mut Output) -> Result<()> {
    if out.is_json() {
        return out.json(receipt);
    }
    out.text(&render_receipts(&receipt.forgotten))?;
    for day in receipt.forgotten.iter().flat_map(|report| &report.daily) {
        out.say(&redacted_line(day))?;
    }
    for RedactedLayer { layer, removed } in &receipt.layers {
        let images = pluralize(removed.images, "earlier state", "earlier states");
        out.say(&format!("layer {layer} quoted it: removed from its file and {images} of it"))?;
    }
    let pending = [
        (receipt.pending, "pending save", "pending saves"),
        (receipt.typed, "line typed in chat", "lines typed in chat"),
    ];
    for (count, what, plural) in pending.into_iter().filter(|(count, ..)| *count > 0) {
        out.say(&format!("removed {}", pluralize(count, what, plural)))?;
    }
    for report in &receipt.forgotten {
        superseded_note(report.id, &report.superseded).iter().for_each(|note| out.note(note));
    }
    receipt.forgotten.iter().filter_map(derived_note).for_each(|note| out.note(&note));
    receipt.vaults.iter().filter_map(vault_note).for_each(|note| out.note(&note));
    receipt.warnings.iter().for_each(|warning| out.note(&format!("warning: {warning}")));
    Ok(())
}

/// Returns a note about memories that a removed one had superseded.
pub(super) fn superseded_note(id: MemoryId, superseded: &[MemoryId]) -> Option<String> {
    let ids: Vec<_> = superseded.iter().map(ToString::to_string).collect();
    (!ids.is_empty()).then(|| {
        format!(
            "{id} had superseded another memory, which stays out of prompts; make it active again with: everlore \
             memory restore {}",
            ids.join(" ")
        )
    })
}

/// Returns a note about memories that were extracted from an erased one and are still stored.
fn derived_note(forgotten: &ForgetReport) -> Option<String> {
    let ids: Vec<_> = forgotten.derived.iter().map(ToString::to_string).collect();
    (!ids.is_empty()).then(|| {
        format!(
            "memories extracted from {} are still stored; check them, and forget them too with: everlore memory \
             forget {}",
            forgotten.id,
            ids.join(" ")
        )
    })
}

/// Returns a line about the sentences that were removed from a daily log.
fn redacted_line(day: &RedactedDay) -> String {
    let removed = day.removed;
    let images = pluralize(removed.images, "earlier state", "earlier states");
    let places = [
        (removed.file || removed.archived, "its file".to_owned()),
        (removed.images > 0, format!("{images} of it")),
        (day.memory, "the memory of that day".to_owned()),
    ];
    let places: Vec<String> =
        places.into_iter().filter(|(changed, _)| *changed).map(|(_, place)| place).collect();
    format!("the daily log of {} quoted it: removed from {}", day.day, places.join(" and "))
}

fn confirm_forget(memories: usize, out: &mut Output) -> Result<bool> {
    if !io::stdin().is_terminal() {
        return Err(CliError::invalid(
            "forgetting is for good and needs a confirmation, for which there is no terminal",
            "repeat the command with --yes, or use `everlore memory delete`, which can be undone",
        ));
    }
    out.confirm(&format!("Forget {} for good?", pluralize(memories, "memory", "memories")))
}

/// Renders what was removed from where, for each memory.
fn render_receipts(forgotten: &[ForgetReport]) -> String {
    let mut text = String::new();
    for ForgetReport { id, removed, .. } in forgotten {
        let counts = [
            ("rows", removed.rows),
            ("index terms", removed.index_terms),
            ("vectors", removed.vectors),
            ("cached vectors", removed.cached_vectors),
            ("drafts", removed.drafts),
            ("journal images", removed.journal_images),
            ("usage lines", removed.usage_lines),
            ("tombstones", removed.tombstones),
        ];
        // Blanks inside a part do not break a line.
        let counts = counts.map(|(what, count)| {
            format!("{} {count}", translate(what)).replace(' ', UNBROKEN_BLANK)
        });
        text += &format!("{} {id}\n", translate("forgotten"));
        for line in wrap(&format!("  {}", counts.join(", ")), terminal_width().unwrap_or(80)) {
            text += &format!("{}\n", line.replace(UNBROKEN_BLANK, " "));
        }
    }
    text
}
