//! Text outside of the store that forgetting erases: pending saves, typed lines, layers, the agent's file, vault files.

use std::{collections::HashSet, fs, path::PathBuf};

use super::{
    daily_log::memory_sentences,
    receipt::{ForgetReceipt, RedactedLayer, VaultErasure},
};
use crate::{
    engine::Engine,
    error::{Error, Result},
    files::{
        home::vault_folder,
        layers::EditContext,
        memory_folder::{MemoryFolder, MemoryFolderLimits, MemoryToolCommand},
        pending_text::{database_backups, erase_spooled, erase_typed, erase_unsaved},
        vault::vaults_of,
    },
    ingest::agent_note,
    store::directory::{SyncAction, SyncRequest, sync},
    sync::{boxed, run_blocking},
    text::secrets::mask,
    types::{Actor, Memory, MemoryId, Scope},
};

/// Fewest characters of a text that is erased where a longer one contains it: a shorter one occurs by chance.
const MIN_CONTAINED_CHARS: usize = 6;

/// Characters at either end of a text by which a copy that was cut is known.
const MAX_END_CHARS: usize = 20;

/// Texts of a memory, in all its versions.
#[derive(Debug, Clone, Default)]
pub(super) struct ErasedTexts {
    texts: HashSet<String>,
    sentences: HashSet<String>,
}

/// Erasures outside of the store.
#[derive(Debug, Default)]
pub(super) struct Leftovers {
    /// Turns and lines that waited to be stored.
    pub(super) pending: usize,
    /// Lines typed in `chat`.
    pub(super) typed: usize,
    pub(super) layers: Vec<RedactedLayer>,
}

impl ErasedTexts {
    /// Collects the texts of a memory's versions, with secrets masked and unmasked.
    pub(super) fn of(states: &[Memory]) -> Self {
        let texts = states.iter().flat_map(|memory| {
            let content = memory.content.trim();
            [content.to_owned(), mask(content).0.into_owned()]
        });
        let sentences = states.iter().flat_map(memory_sentences).collect();
        Self { texts: texts.filter(|text| !text.is_empty()).collect(), sentences }
    }

    /// Returns `true` if `text` is one of the texts.
    fn is(&self, text: &str) -> bool {
        self.texts.contains(text.trim())
    }

    /// Returns `true` if `text` is or contains one of the texts.
    fn is_in(&self, text: &str) -> bool {
        let is_long = |erased: &&String| erased.chars().count() >= MIN_CONTAINED_CHARS;
        self.is(text) || self.texts.iter().filter(is_long).any(|erased| text.contains(erased))
    }
}

/// Parts of erased texts by which copies of them are known that tools returned, which may be cut and laid out anew. It
/// rather finds too much.
#[derive(Debug, Default)]
pub(super) struct ErasedCopies {
    parts: HashSet<String>,
}

impl ErasedCopies {
    /// Adds the texts and the id of a memory's versions.
    pub(super) fn add(&mut self, states: &[Memory]) {
        let ErasedTexts { texts, sentences } = ErasedTexts::of(states);
        let told = texts.iter().chain(&sentences).flat_map(|text| ends(&without_blanks(text)));
        self.parts.extend(told);
        self.parts.extend(states.iter().map(|memory| memory.id.to_string()));
    }

    /// Returns `true` if `text` has one of the parts.
    pub(super) fn are_in(&self, text: &str) -> bool {
        let joined = without_blanks(text);
        self.parts.iter().any(|part| joined.contains(part))
    }
}

fn without_blanks(text: &str) -> String {
    text.split_whitespace().collect()
}

/// Returns the beginning and the end of a text, or all of a short one; nothing of one that occurs by chance.
fn ends(text: &str) -> Vec<String> {
    let count = text.chars().count();
    match count {
        ..MIN_CONTAINED_CHARS => Vec::new(),
        MIN_CONTAINED_CHARS..=MAX_END_CHARS => vec![text.to_owned()],
        _ => vec![
            text.chars().take(MAX_END_CHARS).collect(),
            text.chars().skip(count - MAX_END_CHARS).collect(),
        ],
    }
}

impl Engine {
    /// Erases texts from what waits to be stored, from typed lines, and from USER.md and MEMORY.md with their histories.
    pub(super) async fn erase_leftovers(
        &self,
        scope: &Scope,
        texts: &ErasedTexts,
    ) -> Result<Leftovers> {
        let Some(home) = self.home.clone() else { return Ok(Leftovers::default()) };
        let (layers, by) =
            (self.layers(scope)?, EditContext { actor: Actor::Person, now: self.now() });
        let (scope, texts) = (scope.clone(), texts.clone());
        let erased = run_blocking(move || {
            let failed = |error| Error::io("a file of the home", error);
            let is_erased = |text: &str| texts.is_in(text);
            let spooled = erase_spooled(&home, &scope, &is_erased).map_err(failed)?;
            let unsaved = erase_unsaved(&home, &scope, &is_erased).map_err(failed)?;
            let typed = erase_typed(&home, &|line| texts.is(line)).map_err(failed)?;
            let redacted = layers.forget_in_notes(&texts.sentences, &by)?.into_iter();
            let layers =
                redacted.map(|(layer, removed)| RedactedLayer { layer, removed }).collect();
            Ok(Leftovers { pending: spooled + unsaved, typed, layers })
        });
        self.write_files(erased).await
    }

    /// Removes the file of a memory that the tool `memory` wrote; returns the memories of its earlier paths.
    pub(super) async fn remove_note_file(
        &self,
        scope: &Scope,
        states: &[Memory],
        receipt: &mut ForgetReceipt,
    ) -> Result<Vec<MemoryId>> {
        let (Some(home), Some(note)) = (&self.home, states.first().and_then(agent_note)) else {
            return Ok(Vec::new());
        };
        let folder = MemoryFolder::new(vault_folder(home, scope), MemoryFolderLimits::default());
        let delete = MemoryToolCommand::Delete { path: note.file.clone() };
        let answer = run_blocking(move || folder.run(&delete)).await?;
        if answer.is_error && !answer.text.ends_with("does not exist") {
            let file = &note.file;
            receipt
                .warnings
                .push(format!("the file {file} may still hold the text: {}", answer.text));
        }
        Ok(note.earlier)
    }

    /// Syncs every vault of the scope, which removes the files of forgotten memories. It works where memory is switched
    /// off, too: that setting stops collecting, not removing.
    #[boxed]
    pub(super) async fn erase_from_vaults(&self, scope: &Scope) -> Result<Vec<VaultErasure>> {
        let Some(home) = self.home.clone() else { return Ok(Vec::new()) };
        let owner = scope.clone();
        let folders = run_blocking(move || vaults_of(&home, &owner)).await?;
        let mut erasures = Vec::new();
        for folder in folders {
            erasures.push(self.erase_from_vault(scope, folder).await);
        }
        Ok(erasures)
    }

    async fn erase_from_vault(&self, scope: &Scope, folder: PathBuf) -> VaultErasure {
        let request = SyncRequest {
            mask_secrets: self.masks_secrets(scope),
            ..SyncRequest::new(folder.clone(), scope)
        };
        let synced = sync(&*self.store, &request, self.now().timestamp()).await;
        let removed = synced.as_ref().map(|report| {
            let removed = report.done.iter().filter(|step| step.what == SyncAction::Removed);
            removed.map(|step| step.file.clone()).collect()
        });
        VaultErasure {
            folder: folder.display().to_string(),
            removed: removed.unwrap_or_default(),
            failure: synced.err().map(|error| error.to_string()),
        }
    }

    /// Returns the names of the backups in the home.
    pub(in crate::engine) fn backup_names(&self) -> Vec<String> {
        let backups = self.home.as_deref().map(database_backups).unwrap_or_default();
        let name =
            |path: &PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
        backups.iter().filter_map(name).collect()
    }

    /// Returns `true` if the write-ahead log of the database may still hold erased texts.
    pub(super) fn is_wal_filled(&self) -> bool {
        let url = self.store.admin().info().url;
        let log = url.strip_prefix("sqlite:").map(|path| format!("{path}-wal"));
        log.is_some_and(|log| fs::metadata(log).is_ok_and(|data| data.len() > 0))
    }
}
