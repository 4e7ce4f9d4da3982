//! The folder of the tool `memory` as what it also is, the vault of the scope: files in the form of memories are memories, by
//! sync, and all others are notes.

use super::super::ToolContext;
use crate::{
    engine::Engine,
    error::{Error, Result},
    files::{
        memory_folder::{FileChange, MemoryFolder, MemoryToolCommand, PreparedCommand},
        vault::{VaultPage, is_index_file, is_memory_file, is_vault},
    },
    store::directory::{SyncAction, SyncReport, SyncRequest},
    types::{ChangeAuthor, Scope},
};

/// People may edit a file while it is looked at; not so many times.
const MAX_ATTEMPTS: usize = 20;

/// A file of the vault, and what it says.
type VaultPageText = (String, Option<String>);

/// Where a command is done.
pub(super) struct FolderCommandContext<'a> {
    folder: &'a MemoryFolder,
    scope: &'a Scope,
    author: ChangeAuthor,
    /// Journals what changes as the agent's doing.
    pub(super) engine: Engine,
}

impl<'a> FolderCommandContext<'a> {
    /// The folder of the agent, for one command.
    pub(super) fn new(cx: &ToolContext<'a>, command: &str) -> Result<Self> {
        let folder = cx.folder.ok_or_else(|| {
            Error::invalid(
                "this agent has no memory directory here",
                "use memory_save and memory_recall instead",
            )
        })?;
        let cause = Some(format!("memory: {command}"));
        let author = ChangeAuthor { actor: cx.actor, reason: cause, run: None };
        let engine = cx.engine.on_behalf_of(author.clone());
        Ok(Self { folder, scope: cx.scope, author, engine })
    }

    /// Works a command out on a vault that says what is remembered.
    ///
    /// Pages that a command changes are in the journal by then: they said the same before and after a sync. Nothing is
    /// locked while that runs, as a sync has a lock of its own.
    pub(super) async fn prepare_synced(
        &self,
        command: &MemoryToolCommand,
    ) -> Result<PreparedCommand> {
        let mut seen: Option<Vec<VaultPageText>> = None;
        for _ in 0..MAX_ATTEMPTS {
            let prepared = self.prepare(command).await?;
            let pages = changed_pages(prepared.changes());
            let is_plain = pages.is_empty() && !is_vault(self.folder.root());
            if is_plain || seen.as_ref() == Some(&pages) {
                return Ok(prepared);
            }
            drop(prepared);
            seen = Some(pages);
            self.sync(None).await?;
        }
        Err(Error::Conflict { what: "a file of the memory directory".to_owned() })
    }

    /// Makes changed pages memories, and returns what there is to say of it. The files are changed already, so that nothing
    /// that goes wrong here is an error: the next sync does it.
    pub(super) async fn store_pages(&self, pages: &[VaultPageText]) -> String {
        if pages.is_empty() {
            return String::new();
        }
        match self.sync(Some(self.author.clone())).await {
            Ok(report) => skipped_pages_note(&report, pages),
            Err(error) => format!("\n\nNote: it is not among the memories yet: {error}."),
        }
    }

    async fn sync(&self, author: Option<ChangeAuthor>) -> Result<SyncReport> {
        let request = SyncRequest::new(self.folder.root(), self.scope);
        self.engine.sync_vault(&SyncRequest { author, ..request }).await
    }

    /// Waiting for another process must not hold up the other work of this one.
    async fn prepare(&self, command: &MemoryToolCommand) -> Result<PreparedCommand> {
        let (folder, command) = (self.folder.clone(), command.clone());
        tokio::task::spawn_blocking(move || folder.prepare(&command))
            .await
            .map_err(|error| Error::store(error.to_string()))?
    }
}

/// The files among those that change which are memories or the index, by path, with what they say so far.
pub(super) fn changed_pages(changes: &[FileChange]) -> Vec<VaultPageText> {
    let pages = changes.iter().filter(|change| is_page(change));
    pages.map(|change| (change.path.clone(), change.before.clone())).collect()
}

/// What becomes of notes. A note that becomes a page is none any more; what it said stays in the journal.
pub(super) fn changed_notes(changes: &[FileChange]) -> Vec<FileChange> {
    let note = |change: &FileChange| match is_page(change) {
        false => change.clone(),
        true => {
            let path = change.path.clone();
            let before = change.before.clone().filter(|text| !is_index_or_page(&path, text));
            FileChange { path, before, after: None, moved_from: None }
        }
    };
    changes.iter().map(note).collect()
}

/// Whether a file is, or was, the index or a memory in the form of a page.
fn is_page(change: &FileChange) -> bool {
    let mut texts = [&change.before, &change.after].into_iter().flatten();
    texts.any(|text| is_index_or_page(&change.path, text))
}

fn is_index_or_page(path: &str, text: &str) -> bool {
    // Only the files of the folder itself are the vault's.
    let name = path.rsplit_once('/').filter(|(above, _)| !above[1..].contains('/'));
    name.is_some_and(|(_, name)| {
        is_index_file(name) || is_memory_file(name) && VaultPage::parse_strict(text).is_ok()
    })
}

/// Which of the pages could not be taken, and why.
fn skipped_pages_note(report: &SyncReport, pages: &[VaultPageText]) -> String {
    let is_one = |file: &str| pages.iter().any(|(path, _)| path.rsplit('/').next() == Some(file));
    let skipped =
        report.done.iter().filter(|done| done.what == SyncAction::Skipped && is_one(&done.file));
    skipped
        .map(|done| {
            let why = done.note.as_deref().unwrap_or("it cannot be read as one");
            format!("\n\nNote: what {} says now is not stored as a memory: {why}.", done.file)
        })
        .collect()
}
