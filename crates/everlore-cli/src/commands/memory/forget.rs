//! `everlore memory forget`: erases memories and every trace of their text, with a receipt.

use std::{
    collections::BTreeSet,
    fs,
    io::{self, IsTerminal},
    path::Path,
};

use clap::Args;
use everlore::{
    MemoryId,
    engine::{ForgetReport, RedactedDay},
    internal::ingest::{AgentNote, agent_note},
    store::JournalQuery,
    tools::MemoryToolCommand,
};
use jiff::civil::Date;
use serde_json::json;

use crate::{
    CliContext, CliError, Exit, Output, Result,
    commands::{
        chat::HistoryFile,
        vault::{VaultErasure, erase_from_vaults},
    },
    ids,
    render::{new_table, pluralize, render_table, shell_quote},
};

/// Erase memories and every trace of their text, for good
///
/// Erases rows, index, vectors, journal images, vault files, lines typed in `chat` and sentences that the daily log
/// quotes. A tombstone without content stays, so that an import cannot bring the same text back. This cannot be undone.
#[derive(Debug, Args)]
pub(crate) struct MemoryForgetArgs {
    /// The memories; deleted ones too, as long as the journal has them
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// Do not ask for confirmation
    #[arg(short, long)]
    yes: bool,
}

impl MemoryForgetArgs {
    /// Erases each memory and prints the receipts.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let ids = self.resolve_ids(cx).await?;
        if !self.yes && !confirm_forget(ids.len(), out)? {
            out.note("nothing was forgotten");
            return Ok(Exit::Failed);
        }
        let (forgotten, mut warnings) = forget_all(cx, ids).await?;
        let vaults = erase_from_vaults(cx).await?;
        warnings.extend(summary_warnings(&forgotten));
        warnings.extend(leftover_warnings(cx));
        print_receipts(&forgotten, &vaults, &warnings, out)?;
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

/// Erases memories with their files; returns the receipts, and warnings about files that could not be removed.
async fn forget_all(
    cx: &CliContext,
    ids: BTreeSet<MemoryId>,
) -> Result<(Vec<ForgetReport>, Vec<String>)> {
    let engine = cx.engine().await?;
    let (mut forgotten, mut warnings) = (Vec::new(), Vec::new());
    for id in ids {
        let (earlier, warning) = remove_memory_file(cx, id).await?;
        warnings.extend(warning);
        let contents = past_contents(cx, id).await?;
        forgotten.push(engine.forget(&cx.scope, id).await?);
        HistoryFile::in_home(&cx.home, cx.agent_config().memory.mask_secrets).forget(&contents)?;
        for id in earlier {
            match engine.forget(&cx.scope, id).await {
                // It was erased before.
                Err(everlore::Error::NotFound { .. }) => {}
                receipt => forgotten.push(receipt?),
            }
        }
    }
    Ok((forgotten, warnings))
}

/// Returns all texts that a memory ever had, which the user may have typed in `chat`.
async fn past_contents(cx: &CliContext, id: MemoryId) -> Result<Vec<String>> {
    let engine = cx.engine().await?;
    let query = JournalQuery { id: Some(id), ..JournalQuery::default() };
    let before =
        engine.history(&cx.scope, &query).await?.into_iter().filter_map(|line| line.before);
    let current = engine.get(&cx.scope, id).await.ok().map(Box::new);
    Ok(before.chain(current).map(|memory| memory.content).collect())
}

fn print_receipts(
    forgotten: &[ForgetReport],
    vaults: &[VaultErasure],
    warnings: &[String],
    out: &mut Output,
) -> Result<()> {
    if out.is_json() {
        return out
            .json(&json!({ "forgotten": forgotten, "vaults": vaults, "warnings": warnings }));
    }
    out.text(&render_receipts(forgotten))?;
    for day in forgotten.iter().flat_map(|report| &report.daily) {
        out.line(&redacted_line(day))?;
    }
    forgotten.iter().filter_map(derived_note).for_each(|note| out.note(&note));
    vaults.iter().filter_map(VaultErasure::render_note).for_each(|note| out.note(&note));
    warnings.iter().for_each(|warning| out.note(&format!("warning: {warning}")));
    Ok(())
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

/// Returns warnings about summaries, which may say in other words what was erased.
fn summary_warnings(forgotten: &[ForgetReport]) -> BTreeSet<String> {
    let warning = |(day, title): &(Date, String)| {
        format!(
            "the daily log of {day} still sums up that conversation; read it, and remove it with: everlore layer forget \
             daily --day {day} --section {}",
            shell_quote(title)
        )
    };
    forgotten.iter().flat_map(|report| &report.summaries).map(warning).collect()
}

/// Removes the file of a memory that the tool `memory` wrote. Returns the memories of its earlier paths, and a warning
/// if the file could not be removed.
async fn remove_memory_file(
    cx: &CliContext,
    id: MemoryId,
) -> Result<(Vec<MemoryId>, Option<String>)> {
    let memory = cx.engine().await?.get(&cx.scope, id).await.ok();
    let Some(AgentNote { file, earlier }) = memory.as_ref().and_then(agent_note) else {
        return Ok(Default::default());
    };
    let delete = MemoryToolCommand::Delete { path: file.clone() };
    let answer = cx.memory_folder().run(&delete)?;
    let removed = !answer.is_error || answer.text.ends_with("does not exist");
    let warning =
        (!removed).then(|| format!("the file {file} may still hold the text: {}", answer.text));
    Ok((earlier, warning))
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

/// Renders what was removed from where, one row per memory.
fn render_receipts(forgotten: &[ForgetReport]) -> String {
    let mut rows = new_table(&[
        "forgotten",
        "rows",
        "index terms",
        "vectors",
        "cached vectors",
        "drafts",
        "journal images",
        "usage lines",
        "tombstones",
    ]);
    for ForgetReport { id, removed, .. } in forgotten {
        let counts = [
            removed.rows,
            removed.index_terms,
            removed.vectors,
            removed.cached_vectors,
            removed.drafts,
            removed.journal_images,
            removed.usage_lines,
            removed.tombstones,
        ];
        let counts = counts.map(|count| count.to_string());
        rows.add_row(std::iter::once(id.to_string()).chain(counts));
    }
    render_table(rows)
}

/// Returns warnings about files that may still hold the text.
fn leftover_warnings(cx: &CliContext) -> Vec<String> {
    let mut warnings = Vec::new();
    let log = cx.database_path().with_extension("db-wal");
    if fs::metadata(&log).is_ok_and(|data| data.len() > 0) {
        warnings.push(
            "another process uses the database, so the write-ahead log could not be emptied yet; that happens when the \
             process ends"
                .to_owned(),
        );
    }
    for name in database_copies(&cx.home) {
        warnings.push(format!(
            "the backup {name} is older and may still hold the text; delete it when you no longer need it"
        ));
    }
    warnings
}

/// Returns the backups of the database in a home.
pub(crate) fn database_copies(home: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(home) else { return Vec::new() };
    let names = entries.flatten().map(|entry| entry.path());
    let copies = names.filter(|path| path.extension().is_some_and(|end| end == "backup"));
    let mut names: Vec<String> = copies.map(|path| path.display().to_string()).collect();
    names.sort();
    names
}
