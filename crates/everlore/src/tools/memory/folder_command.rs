//! Commands of the tool `memory` on its folder, which is also the vault of the scope: files in the form of pages are
//! memories, by sync, and all others are notes.

use super::super::ToolContext;
use crate::{
    engine::Engine,
    error::{Error, Result},
    files::{
        memory_folder::{FileChange, MemoryFolder, MemoryToolCommand, PreparedCommand},
        vault::{VaultPage, is_index_file, is_memory_file, is_vault},
    },
    store::directory::{SyncAction, SyncReport, SyncRequest},
    sync::run_blocking,
    types::{ChangeAuthor, Scope},
};

/// Retries when a person edits a file while a command is prepared.
const MAX_ATTEMPTS: usize = 20;

/// Vault page with its current text.
type VaultPageText = (String, Option<String>);

/// Context of one command.
pub(super) struct FolderCommandContext<'a> {
    folder: &'a MemoryFolder,
    scope: &'a Scope,
    author: ChangeAuthor,
    /// Engine whose changes are journaled as the agent's.
    pub(super) engine: Engine,
}

impl<'a> FolderCommandContext<'a> {
    /// Creates the context of a command in the agent's folder.
    pub(super) fn new(cx: &ToolContext<'a>, command: &str) -> Result<Self> {
        let folder = cx.folder.ok_or_else(|| {
            Error::invalid(
                "this agent has no memory directory here",
                "use memory_save and memory_recall instead",
            )
        })?;
        let reason = Some(format!("memory: {command}"));
        let author = ChangeAuthor { actor: cx.actor, reason, run: None };
        let engine = cx.engine.on_behalf_of(author.clone());
        Ok(Self { folder, scope: cx.scope, author, engine })
    }

    /// Prepares a command on a vault that is in sync with the memories.
    ///
    /// Pages that a command changes are in the journal by then: they had the same text before and after a sync. No lock
    /// is held while the sync runs, as a sync has a lock of its own.
    pub(super) async fn prepare_synced(
        &self,
        command: &MemoryToolCommand,
    ) -> Result<PreparedCommand> {
        let mut synced: Option<Vec<VaultPageText>> = None;
        for _ in 0..MAX_ATTEMPTS {
            let prepared = self.prepare(command).await?;
            let pages = changed_pages(prepared.changes());
            let is_plain = pages.is_empty() && !is_vault(self.folder.root());
            if is_plain || synced.as_ref() == Some(&pages) {
                return Ok(prepared);
            }
            drop(prepared);
            synced = Some(pages);
            self.sync(None).await?;
        }
        Err(Error::Conflict { what: "a file of the memory directory".to_owned() })
    }

    /// Stores changed pages as memories and returns a note about problems. The files are changed already, so that a
    /// failure here is no error: the next sync repeats it.
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

    /// Prepares a command on a blocking thread, since it may wait for another process.
    async fn prepare(&self, command: &MemoryToolCommand) -> Result<PreparedCommand> {
        let (folder, command) = (self.folder.clone(), command.clone());
        run_blocking(move || folder.prepare(&command)).await
    }
}

/// Returns the changed files that are memories or the index, by path, with their current text.
pub(super) fn changed_pages(changes: &[FileChange]) -> Vec<VaultPageText> {
    let pages = changes.iter().filter(|change| is_page(change));
    pages.map(|change| (change.path.clone(), change.before.clone())).collect()
}

/// Returns the changes of notes. A note that becomes a page is deleted as a note; its text stays in the journal.
pub(super) fn changed_notes(changes: &[FileChange]) -> Vec<FileChange> {
    let note = |change: &FileChange| {
        if !is_page(change) {
            return change.clone();
        }
        let path = change.path.clone();
        let before = change.before.clone().filter(|text| !is_index_or_page(&path, text));
        FileChange { path, before, after: None, moved_from: None }
    };
    changes.iter().map(note).collect()
}

/// Returns `true` if a file is, or was, the index or a memory in the form of a page.
fn is_page(change: &FileChange) -> bool {
    let mut texts = [&change.before, &change.after].into_iter().flatten();
    texts.any(|text| is_index_or_page(&change.path, text))
}

fn is_index_or_page(path: &str, text: &str) -> bool {
    // Only files directly in the folder belong to the vault.
    let name = path.rsplit_once('/').filter(|(above, _)| !above[1..].contains('/'));
    name.is_some_and(|(_, name)| {
        is_index_file(name) || is_memory_file(name) && VaultPage::parse_strict(text).is_ok()
    })
}

/// Describes the pages that could not be stored, with the reasons.
fn skipped_pages_note(report: &SyncReport, pages: &[VaultPageText]) -> String {
    let is_one = |file: &str| pages.iter().any(|(path, _)| path.rsplit('/').next() == Some(file));
    let skipped =
        report.done.iter().filter(|done| done.what == SyncAction::Skipped && is_one(&done.file));
    skipped
        .map(|done| {
            let why = done.note.as_deref().unwrap_or("it cannot be read as one");
            format!("\n\nNote: the text of {} is not stored as a memory: {why}.", done.file)
        })
        .collect()
}
