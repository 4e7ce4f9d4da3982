//! `everlore memory forget`: removes memories and every trace of what they said, with a receipt (H2).

use std::{
    fs,
    io::{self, IsTerminal},
    path::Path,
};

use clap::Args;
use everlore::{
    MemoryId,
    engine::Forgotten,
    files::memory_folder as files,
    ingest::{Note, note_of},
};
use serde_json::json;

use crate::{
    commands::vault::{Reached, reach_vaults},
    context::Context,
    failure::{Exit, Failure, Result},
    ids,
    output::Output,
    words::{count, rendered, table},
};

/// Remove memories and every trace of what they said, for good
///
/// Rows, index, vectors, every image in the journal and files in vaults go; a mark without content stays, so that an
/// import cannot bring the same text back. This cannot be undone.
#[derive(Debug, Args)]
pub(crate) struct ForgetArgs {
    /// The memories; deleted ones too, as long as the journal still holds them
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

impl ForgetArgs {
    /// Erases each memory and prints the receipts.
    pub(super) async fn run(self, cx: &Context, out: &mut Output) -> Result<Exit> {
        let engine = cx.engine().await?;
        let mut ids = Vec::new();
        for name in &self.ids {
            ids.push(ids::resolve_ever(engine, &cx.scope, name).await?);
        }
        ids.sort_unstable();
        ids.dedup();
        if !self.yes && !confirmed(ids.len(), out)? {
            out.note("nothing was forgotten");
            return Ok(Exit::Failed);
        }
        let mut forgotten = Vec::new();
        let mut warnings = Vec::new();
        for id in ids {
            let (earlier, left) = remove_file(cx, id).await?;
            warnings.extend(left);
            forgotten.push(engine.forget(&cx.scope, id).await?);
            for id in earlier {
                match engine.forget(&cx.scope, id).await {
                    // It was forgotten before.
                    Err(everlore::Error::NotFound { .. }) => {}
                    receipt => forgotten.push(receipt?),
                }
            }
        }
        let vaults = reach_vaults(cx).await?;
        warnings.extend(self::warnings(cx));
        if out.is_json() {
            out.json(&json!({ "forgotten": forgotten, "vaults": vaults, "warnings": warnings }))?;
            return Ok(Exit::Done);
        }
        out.text(&receipt(&forgotten))?;
        for Forgotten { id, derived, .. } in forgotten.iter().filter(|it| !it.derived.is_empty()) {
            let derived: Vec<_> = derived.iter().map(ToString::to_string).collect();
            out.note(&format!(
                "memories were drawn from {id} and are still there; look at them, and forget them too with: \
                 everlore memory forget {}",
                derived.join(" ")
            ));
        }
        for told in vaults.iter().filter_map(Reached::told) {
            out.note(&told);
        }
        for warning in warnings {
            out.note(&format!("warning: {warning}"));
        }
        Ok(Exit::Done)
    }
}

/// Removes the file that a memory is, if it is one of the tool `memory`. Returns what else remembers its text under older
/// paths, and what to say if the file could not be removed.
async fn remove_file(cx: &Context, id: MemoryId) -> Result<(Vec<MemoryId>, Option<String>)> {
    let memory = cx.engine().await?.get(&cx.scope, id).await.ok();
    let Some(Note { file, earlier }) = memory.as_ref().and_then(note_of) else {
        return Ok(Default::default());
    };
    let delete = files::Command::Delete { path: file.clone() };
    let answer = cx.memory_folder().run(&delete)?;
    let gone = !answer.is_error || answer.text.ends_with("does not exist");
    let left = (!gone).then(|| format!("the file {file} may still hold the text: {}", answer.text));
    Ok((earlier, left))
}

fn confirmed(memories: usize, out: &mut Output) -> Result<bool> {
    if !io::stdin().is_terminal() {
        return Err(Failure::invalid(
            "forgetting is for good, and nobody can be asked here",
            "repeat the command with --yes, or use `everlore memory delete`, which can be undone",
        ));
    }
    out.confirm(&format!("Forget {} for good?", count(memories, "memory", "memories")))
}

/// What was removed from where, a line a memory.
fn receipt(forgotten: &[Forgotten]) -> String {
    let mut rows = table(&[
        "forgotten",
        "rows",
        "index terms",
        "vectors",
        "kept vectors",
        "drafts",
        "journal images",
        "tombstones",
    ]);
    for Forgotten { id, removed, .. } in forgotten {
        let counts = [
            removed.rows,
            removed.index_terms,
            removed.vectors,
            removed.cached_vectors,
            removed.drafts,
            removed.journal_images,
            removed.tombstones,
        ];
        let counts = counts.map(|count| count.to_string());
        rows.add_row(std::iter::once(id.to_string()).chain(counts));
    }
    rendered(rows)
}

/// Where the text may still lie.
fn warnings(cx: &Context) -> Vec<String> {
    let mut warnings = Vec::new();
    let log = cx.database().with_extension("db-wal");
    if fs::metadata(&log).is_ok_and(|data| data.len() > 0) {
        warnings.push(
            "another process is reading or writing, so the write-ahead log could not be emptied yet; it is when that \
             process ends"
                .to_owned(),
        );
    }
    for name in copies(&cx.home) {
        warnings.push(format!(
            "the copy {name} was made earlier and may still hold the text; delete it when you no longer need it"
        ));
    }
    warnings
}

/// Files of the home that are copies of the database or hold texts of their own.
pub(crate) fn copies(home: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(home) else { return Vec::new() };
    let names = entries.flatten().map(|entry| entry.path());
    let copies = names.filter(|path| path.extension().is_some_and(|end| end == "backup"));
    let mut names: Vec<String> = copies.map(|path| path.display().to_string()).collect();
    names.sort();
    names
}
