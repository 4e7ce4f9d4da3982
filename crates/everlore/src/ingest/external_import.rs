//! Import from other systems: adds what is new, updates what changed there, and keeps the rest.
//!
//! A memory's id is derived from its origin, so it is found again whatever its text. Entries without a key are matched
//! by text, and after a change by overlap with an entry that is missing in the source. Memories that were erased,
//! deleted or edited here stay as they are.

mod incoming_memory;
mod earlier_imports;

use std::collections::HashMap;

use serde::Serialize;

use self::{
    earlier_imports::EarlierImports,
    incoming_memory::{IncomingMemory, imported_digest, is_edited, updated_memory},
};
use super::{commit::SaveDeps, remember::supersede_rivals, saved::SupersededMemory};
use crate::{
    error::Result,
    files::importers::{ExternalDraft, ExternalFormat, SkippedImport},
    store::{JournalQuery, MemoryKey, Store, confirm_readable},
    sync::BoxFuture,
    types::{
        Actor, Change, ChangeAuthor, ChangeOp, Fingerprint, Kind, Memory, MemoryId, Scope,
        Timestamp, Trust, WriteBatch,
    },
};

/// Drafts per write: one sync for many.
const BATCH: usize = 1_024;

/// Skipped entries listed one by one; the rest is only counted.
const MAX_LISTED_SKIPS: usize = 1_000;

/// Options of an import from another system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ExternalImportOptions {
    /// Format of the source.
    pub format: ExternalFormat,
    /// Journal run of all changes.
    pub run: String,
    /// Report only, without writing.
    pub dry_run: bool,
    /// Store secrets as they are, instead of masking them.
    pub keep_secrets: bool,
}

/// Result of an import from another system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExternalImportReport {
    /// Format of the source.
    pub format: ExternalFormat,
    /// Journal run, to undo the import; `None` if nothing was written.
    pub run: Option<String>,
    /// Memories added, by kind.
    pub taken: Vec<ImportedKindCount>,
    /// Memories updated to the source's current text.
    pub updated: usize,
    /// Memories that were stored already.
    pub unchanged: usize,
    /// Older memories that imported ones superseded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub superseded: Vec<SupersededMemory>,
    /// Secrets masked in what was stored.
    pub masked: usize,
    /// Number of skipped entries.
    pub left_out: usize,
    /// Skipped entries with their reasons; the first thousand.
    pub skipped: Vec<SkippedImport>,
}

/// Number of imported memories of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ImportedKindCount {
    /// Kind.
    pub kind: Kind,
    /// Number of memories.
    pub count: usize,
}

impl ExternalImportReport {
    /// Creates an empty report.
    pub(crate) fn new(format: ExternalFormat) -> Self {
        Self {
            format,
            run: None,
            taken: Vec::new(),
            updated: 0,
            unchanged: 0,
            superseded: Vec::new(),
            masked: 0,
            left_out: 0,
            skipped: Vec::new(),
        }
    }

    /// Returns the number of memories added.
    pub fn added(&self) -> usize {
        self.taken.iter().map(|taken| taken.count).sum()
    }

    /// Records a skipped entry.
    pub(crate) fn skip(&mut self, skipped: SkippedImport) {
        self.left_out += 1;
        if self.skipped.len() < MAX_LISTED_SKIPS {
            self.skipped.push(skipped);
        }
    }

    fn count_added(&mut self, kind: Kind) {
        match self.taken.iter_mut().find(|taken| taken.kind == kind) {
            Some(taken) => taken.count += 1,
            None => self.taken.push(ImportedKindCount { kind, count: 1 }),
        }
        self.taken.sort_by_key(|taken| taken.kind);
    }
}

/// Imports drafts of another system into `scope` and adds the result to `report`.
pub(crate) fn import_drafts<'a>(
    store: &'a dyn Store,
    scope: &'a Scope,
    drafts: Vec<ExternalDraft>,
    options: &'a ExternalImportOptions,
    now: Timestamp,
    report: &'a mut ExternalImportReport,
) -> BoxFuture<'a, Result<()>> {
    Box::pin(async move {
        let earlier = EarlierImports::load(store, scope, options, &drafts).await?;
        let mut importer = ExternalImporter {
            store,
            scope,
            options,
            now,
            report,
            earlier,
            added: Vec::new(),
            locations_by_id: HashMap::new(),
            locations_by_text: HashMap::new(),
        };
        let mut drafts = drafts.into_iter();
        loop {
            let batch: Vec<ExternalDraft> = drafts.by_ref().take(BATCH).collect();
            if batch.is_empty() {
                return importer.supersede().await;
            }
            importer.import_batch(batch).await?;
        }
    })
}

struct ExternalImporter<'a> {
    store: &'a dyn Store,
    scope: &'a Scope,
    options: &'a ExternalImportOptions,
    now: Timestamp,
    report: &'a mut ExternalImportReport,
    earlier: EarlierImports,
    added: Vec<MemoryId>,
    /// First location of each memory and each text of this import.
    locations_by_id: HashMap<MemoryId, String>,
    locations_by_text: HashMap<Fingerprint, String>,
}

/// State of the store about a draft.
struct KnownState {
    /// Set when its text was erased here.
    erased: bool,
    /// Memory with its id.
    stored: Option<Memory>,
    /// Set when a memory has its text.
    has_text: bool,
}

/// Decision about a draft.
enum ImportOutcome {
    Add,
    /// Add it under another id: the id derived from its text belongs to a memory with other content by now.
    AddWithNewId,
    Update(Box<Memory>),
    Unchanged,
    Skip(String),
}

impl ExternalImporter<'_> {
    async fn import_batch(&mut self, drafts: Vec<ExternalDraft>) -> Result<()> {
        let incoming = self.convert_drafts(drafts);
        let prints: Vec<_> = incoming.iter().map(|one| one.memory.fingerprint()).collect();
        let erased = self.store.memories().are_erased(self.scope, &prints).await?;
        let ids: Vec<_> = incoming.iter().map(|one| one.memory.id).collect();
        let stored = self.store.memories().get(self.scope, &ids).await?;
        let keys: Vec<_> = prints.into_iter().map(MemoryKey::Text).collect();
        let same_text = self.store.memories().find(self.scope, &keys, 1).await?;
        let mut changes = Vec::new();
        for (((one, erased), stored), same_text) in
            incoming.into_iter().zip(erased).zip(stored).zip(same_text)
        {
            let known = KnownState { erased, stored, has_text: !same_text.is_empty() };
            let outcome = self.decide(&one, known).await?;
            self.locations_by_id.entry(one.memory.id).or_insert_with(|| one.location.clone());
            self.locations_by_text
                .entry(one.memory.fingerprint())
                .or_insert_with(|| one.location.clone());
            changes.extend(self.record(one, outcome));
        }
        self.apply(changes).await
    }

    /// Converts drafts into memories; invalid ones are recorded as skipped.
    fn convert_drafts(&mut self, drafts: Vec<ExternalDraft>) -> Vec<IncomingMemory> {
        let mut incoming = Vec::new();
        for draft in drafts {
            let location = draft.location.clone();
            match IncomingMemory::from_draft(draft, self.scope, self.options, self.now) {
                Ok(one) => incoming.push(one),
                Err(error) => self.skip(location, error.to_string()),
            }
        }
        incoming
    }

    async fn decide(
        &mut self,
        one: &IncomingMemory,
        KnownState { erased, stored, has_text }: KnownState,
    ) -> Result<ImportOutcome> {
        let print = one.memory.fingerprint();
        let is_taken = stored.is_some();
        if let Some(location) = self.locations_by_id.get(&one.memory.id).filter(|_| !one.is_unkeyed)
        {
            return Ok(ImportOutcome::Skip(format!("it has the same name as {location}")));
        }
        if erased {
            return Ok(ImportOutcome::Skip("it was forgotten here".to_owned()));
        }
        if let Some(location) =
            self.locations_by_text.get(&print).filter(|_| stored.is_none() || one.is_unkeyed)
        {
            return Ok(ImportOutcome::Skip(format!("it says the same as {location}")));
        }
        if let Some(stored) =
            stored.filter(|stored| !one.is_unkeyed || stored.fingerprint() == print)
        {
            return Ok(decide_for_known(one, stored));
        }
        if has_text {
            return Ok(ImportOutcome::Unchanged);
        }
        if let Some(reason) = self.removal_reason(one.memory.id).await? {
            return Ok(ImportOutcome::Skip(reason));
        }
        let earlier = self.earlier.take_best_match(one);
        Ok(match earlier {
            Some(earlier) => decide_for_known(one, earlier),
            None if is_taken => ImportOutcome::AddWithNewId,
            None => ImportOutcome::Add,
        })
    }

    /// Returns the reason why a memory is no longer here; `None` after an undone import, which may be repeated.
    async fn removal_reason(&self, id: MemoryId) -> Result<Option<String>> {
        let last = JournalQuery { id: Some(id), limit: Some(1), ..JournalQuery::default() };
        let last = self.store.journal().entries(self.scope, &last).await?.pop();
        Ok(last.and_then(|entry| match entry.op {
            ChangeOp::Erase => Some("it was forgotten here".to_owned()),
            ChangeOp::Delete if !entry.cause.starts_with("undo ") => {
                Some("it was deleted here".to_owned())
            }
            _ => None,
        }))
    }

    fn record(&mut self, one: IncomingMemory, outcome: ImportOutcome) -> Option<Change> {
        match outcome {
            ImportOutcome::Unchanged => {
                self.report.unchanged += 1;
                None
            }
            ImportOutcome::Skip(reason) => {
                self.skip(one.location, reason);
                None
            }
            ImportOutcome::AddWithNewId => {
                self.record(one.with_new_id(self.now), ImportOutcome::Add)
            }
            ImportOutcome::Add => {
                self.report.count_added(one.memory.kind);
                self.added.push(one.memory.id);
                self.report.masked += one.masked;
                Some(Change::Add(Box::new(one.memory)))
            }
            ImportOutcome::Update(stored) => {
                self.report.updated += 1;
                self.report.masked += one.masked;
                Some(Change::Update(Box::new(updated_memory(*stored, one.memory, self.now))))
            }
        }
    }

    /// Supersedes what added memories contradict.
    async fn supersede(self) -> Result<()> {
        if self.options.dry_run {
            return Ok(());
        }
        let reason = Some(format!("import: {}", self.options.format));
        let run = Some(self.options.run.clone());
        let author = ChangeAuthor { actor: Actor::Engine, reason, run };
        let deps = SaveDeps { store: self.store, judge: None, author: &author, now: self.now };
        let superseded = supersede_rivals(deps, self.scope, &self.added, Trust::Imported);
        self.report.superseded.extend(superseded.await?);
        Ok(())
    }

    fn skip(&mut self, location: String, reason: String) {
        self.report.skip(SkippedImport { location, reason });
    }

    async fn apply(&mut self, changes: Vec<Change>) -> Result<()> {
        if changes.is_empty() || self.options.dry_run {
            return Ok(());
        }
        let run = Some(self.options.run.clone());
        self.report.run.clone_from(&run);
        let ids: Vec<_> = changes.iter().map(Change::id).collect();
        let reason = format!("import: {}", self.options.format);
        let write = WriteBatch::new(self.scope, Actor::Engine, reason, self.now, changes);
        self.store.apply(WriteBatch { run, ..write }).await?;
        confirm_readable(self.store, self.scope, &ids).await
    }
}

/// Decides about a draft whose memory is stored: a text that changed only there is taken over.
fn decide_for_known(one: &IncomingMemory, stored: Memory) -> ImportOutcome {
    if imported_digest(&stored).as_deref() == Some(one.content_digest.as_str()) {
        ImportOutcome::Unchanged
    } else if is_edited(&stored) {
        ImportOutcome::Skip(format!(
            "it changed there, and memory {} was edited here: both stay",
            stored.id
        ))
    } else {
        ImportOutcome::Update(Box::new(stored))
    }
}
