//! Memories of other systems come in: what is new is added, what changed there is updated, what is known stays.
//!
//! A memory's id follows from where it came from, so it is found again whatever it says now. What has no name there is
//! found by its text, and when its text changed, by being most like an entry that is no longer in the source. What was
//! forgotten, deleted or edited here is left as it is.

mod incoming_memory;
mod earlier_imports;

use std::collections::HashMap;

use serde::Serialize;

use self::{
    earlier_imports::EarlierImports,
    incoming_memory::{IncomingMemory, imported_digest, is_edited, updated_memory},
};
use crate::{
    error::{Error, Result},
    files::importers::{ExternalDraft, ExternalFormat, SkippedImport},
    store::{JournalQuery, MemoryKey, Store},
    types::{
        Actor, Change, ChangeOp, Fingerprint, Kind, Memory, MemoryId, Scope, Timestamp, WriteBatch,
    },
};

/// Drafts stored together: one sync for many.
const BATCH: usize = 1_024;

/// What is left out is told one by one up to here; the rest is only counted.
const MAX_LISTED_SKIPS: usize = 1_000;

/// How to import from another system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExternalImportOptions {
    /// Which system.
    pub format: ExternalFormat,
    /// The run all changes belong to.
    pub run: String,
    /// Only say what would happen.
    pub dry_run: bool,
    /// Take secrets in as they are, instead of masking them.
    pub keep_secrets: bool,
}

/// What an import from another system did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExternalImportReport {
    /// Which system.
    pub format: ExternalFormat,
    /// The run, to undo all of it; none if nothing was written.
    pub run: Option<String>,
    /// Memories stored, by kind.
    pub taken: Vec<ImportedKindCount>,
    /// Memories that say now what the source says now.
    pub updated: usize,
    /// Memories that were here already.
    pub unchanged: usize,
    /// Secrets that were masked in what was stored.
    pub masked: usize,
    /// How many things were left out.
    pub left_out: usize,
    /// Which, and why; the first thousand.
    pub skipped: Vec<SkippedImport>,
}

/// How many memories of a kind were stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ImportedKindCount {
    /// The kind.
    pub kind: Kind,
    /// How many.
    pub count: usize,
}

impl ExternalImportReport {
    /// A report of nothing yet.
    pub fn new(format: ExternalFormat) -> Self {
        let (taken, skipped) = (Vec::new(), Vec::new());
        Self { format, run: None, taken, updated: 0, unchanged: 0, masked: 0, left_out: 0, skipped }
    }

    /// How many memories were stored.
    pub fn added(&self) -> usize {
        self.taken.iter().map(|taken| taken.count).sum()
    }

    /// Notes something that stays out.
    pub fn skip(&mut self, skipped: SkippedImport) {
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

/// The name of a run that begins at `now`; the end of an id tells it from others of the same moment.
pub fn new_import_run(now: Timestamp) -> String {
    let id = MemoryId::new(now);
    let [.., a, b] = id.as_bytes();
    format!("import-{}-{a:02x}{b:02x}", now.as_millisecond())
}

/// Brings the memories of `scope` to what another system says, and adds to `report` what was done.
pub async fn import_drafts(
    store: &dyn Store,
    scope: &Scope,
    drafts: Vec<ExternalDraft>,
    options: &ExternalImportOptions,
    now: Timestamp,
    report: &mut ExternalImportReport,
) -> Result<()> {
    let before = EarlierImports::load(store, scope, options, &drafts).await?;
    let mut importing = ExternalImporter {
        store,
        scope,
        options,
        now,
        report,
        earlier: before,
        locations_by_id: HashMap::new(),
        locations_by_text: HashMap::new(),
    };
    let mut drafts = drafts.into_iter();
    loop {
        let batch: Vec<ExternalDraft> = drafts.by_ref().take(BATCH).collect();
        if batch.is_empty() {
            return Ok(());
        }
        importing.import_batch(batch).await?;
    }
}

struct ExternalImporter<'a> {
    store: &'a dyn Store,
    scope: &'a Scope,
    options: &'a ExternalImportOptions,
    now: Timestamp,
    report: &'a mut ExternalImportReport,
    earlier: EarlierImports,
    /// Where each memory and each text of this import stood first.
    locations_by_id: HashMap<MemoryId, String>,
    locations_by_text: HashMap<Fingerprint, String>,
}

/// What becomes of a draft.
enum ImportOutcome {
    Add,
    /// The same, but the id that its text gives it belongs to a memory that says something else by now.
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
        let known = self.store.memories().get(self.scope, &ids).await?;
        let mut changes = Vec::new();
        for ((one, erased), known) in incoming.into_iter().zip(erased).zip(known) {
            let outcome = self.decide(&one, erased, known).await?;
            self.locations_by_id.entry(one.memory.id).or_insert_with(|| one.location.clone());
            self.locations_by_text
                .entry(one.memory.fingerprint())
                .or_insert_with(|| one.location.clone());
            changes.extend(self.record(one, outcome));
        }
        self.apply(changes).await
    }

    /// The drafts as memories; what cannot be one is told.
    fn convert_drafts(&mut self, drafts: Vec<ExternalDraft>) -> Vec<IncomingMemory> {
        let mut incoming = Vec::new();
        for draft in drafts {
            let place = draft.location.clone();
            match IncomingMemory::from_draft(draft, self.scope, self.options, self.now) {
                Ok(one) => incoming.push(one),
                Err(error) => self.skip(place, error.to_string()),
            }
        }
        incoming
    }

    async fn decide(
        &mut self,
        one: &IncomingMemory,
        erased: bool,
        known: Option<Memory>,
    ) -> Result<ImportOutcome> {
        let print = one.memory.fingerprint();
        let is_taken = known.is_some();
        if let Some(place) = self.locations_by_id.get(&one.memory.id).filter(|_| !one.is_unkeyed) {
            return Ok(ImportOutcome::Skip(format!("it has the same name as {place}")));
        }
        if erased {
            return Ok(ImportOutcome::Skip("it was forgotten here".to_owned()));
        }
        if let Some(place) =
            self.locations_by_text.get(&print).filter(|_| known.is_none() || one.is_unkeyed)
        {
            return Ok(ImportOutcome::Skip(format!("it says the same as {place}")));
        }
        if let Some(known) = known.filter(|known| !one.is_unkeyed || known.fingerprint() == print) {
            return Ok(decide_for_known(one, known));
        }
        if !self.store.memories().find(self.scope, &MemoryKey::Text(print), 1).await?.is_empty() {
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

    /// Why a memory that was here is no longer; an import that was undone may come again.
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
                self.report.masked += one.masked;
                Some(Change::Add(Box::new(one.memory)))
            }
            ImportOutcome::Update(known) => {
                self.report.updated += 1;
                self.report.masked += one.masked;
                Some(Change::Update(Box::new(updated_memory(*known, one.memory, self.now))))
            }
        }
    }

    fn skip(&mut self, place: String, reason: String) {
        self.report.skip(SkippedImport { location: place, reason });
    }

    async fn apply(&mut self, changes: Vec<Change>) -> Result<()> {
        if changes.is_empty() || self.options.dry_run {
            return Ok(());
        }
        let run = Some(self.options.run.clone());
        self.report.run.clone_from(&run);
        let ids: Vec<_> = changes.iter().map(Change::id).collect();
        let cause = format!("import: {}", self.options.format);
        let write = WriteBatch::new(self.scope, Actor::Engine, cause, self.now, changes);
        self.store.apply(WriteBatch { run, ..write }).await?;
        match self
            .store
            .memories()
            .verify(self.scope, &ids)
            .await?
            .iter()
            .position(|verified| !verified)
        {
            None => Ok(()),
            Some(index) => Err(Error::damaged(format!(
                "memory `{}` was stored but cannot be read back",
                ids[index]
            ))),
        }
    }
}

/// What becomes of a draft whose memory is here: a text that only changed there is taken over.
fn decide_for_known(one: &IncomingMemory, known: Memory) -> ImportOutcome {
    if imported_digest(&known).as_deref() == Some(one.content_digest.as_str()) {
        ImportOutcome::Unchanged
    } else if is_edited(&known) {
        ImportOutcome::Skip(format!(
            "it changed there, and memory {} was edited here: both stay",
            known.id
        ))
    } else {
        ImportOutcome::Update(Box::new(known))
    }
}
