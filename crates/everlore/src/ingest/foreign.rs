//! Memories of other systems come in: what is new is added, what changed there is updated, what is known stays.
//!
//! A memory's id follows from where it came from, so it is found again whatever it says now. What has no name there is
//! found by its text, and when its text changed, by being most like an entry that is no longer in the source. What was
//! forgotten, deleted or edited here is left as it is.

mod memory;
mod before;

use std::collections::HashMap;

use serde::Serialize;

use self::{
    before::Before,
    memory::{Incoming, is_edited, said, updated},
};
use crate::{
    error::{Error, Result},
    files::foreign::{ForeignDraft, ForeignFormat, Skipped},
    store::{JournalQuery, Key, Store},
    types::{Actor, Change, Fingerprint, Kind, Memory, MemoryId, Op, Scope, Timestamp, Write},
};

/// Drafts stored together: one sync for many.
const BATCH: usize = 1_024;

/// What is left out is told one by one up to here; the rest is only counted.
const MAX_TOLD: usize = 1_000;

/// How to import from another system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignOptions {
    /// Which system.
    pub format: ForeignFormat,
    /// The run all changes belong to.
    pub run: String,
    /// Only say what would happen.
    pub dry_run: bool,
    /// Take secrets in as they are, instead of masking them.
    pub keep_secrets: bool,
}

/// What an import from another system did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ForeignReport {
    /// Which system.
    pub format: ForeignFormat,
    /// The run, to undo all of it; none if nothing was written.
    pub run: Option<String>,
    /// Memories stored, by kind.
    pub taken: Vec<Taken>,
    /// Memories that say now what the source says now.
    pub updated: usize,
    /// Memories that were here already.
    pub unchanged: usize,
    /// Secrets that were masked in what was stored.
    pub masked: usize,
    /// How many things were left out.
    pub left_out: usize,
    /// Which, and why; the first thousand.
    pub skipped: Vec<Skipped>,
}

/// How many memories of a kind were stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Taken {
    /// The kind.
    pub kind: Kind,
    /// How many.
    pub count: usize,
}

impl ForeignReport {
    /// A report of nothing yet.
    pub fn new(format: ForeignFormat) -> Self {
        let (taken, skipped) = (Vec::new(), Vec::new());
        Self { format, run: None, taken, updated: 0, unchanged: 0, masked: 0, left_out: 0, skipped }
    }

    /// How many memories were stored.
    pub fn added(&self) -> usize {
        self.taken.iter().map(|taken| taken.count).sum()
    }

    /// Notes something that stays out.
    pub fn skip(&mut self, skipped: Skipped) {
        self.left_out += 1;
        if self.skipped.len() < MAX_TOLD {
            self.skipped.push(skipped);
        }
    }

    fn take(&mut self, kind: Kind) {
        match self.taken.iter_mut().find(|taken| taken.kind == kind) {
            Some(taken) => taken.count += 1,
            None => self.taken.push(Taken { kind, count: 1 }),
        }
        self.taken.sort_by_key(|taken| taken.kind);
    }
}

/// The name of a run that begins at `now`; the end of an id tells it from others of the same moment.
pub fn import_run(now: Timestamp) -> String {
    let id = MemoryId::new(now);
    let [.., a, b] = id.as_bytes();
    format!("import-{}-{a:02x}{b:02x}", now.as_millisecond())
}

/// Brings the memories of `scope` to what another system says, and adds to `report` what was done.
pub async fn import_foreign(
    store: &dyn Store,
    scope: &Scope,
    drafts: Vec<ForeignDraft>,
    options: &ForeignOptions,
    now: Timestamp,
    report: &mut ForeignReport,
) -> Result<()> {
    let before = Before::of(store, scope, options, &drafts).await?;
    let mut importing = Importing {
        store,
        scope,
        options,
        now,
        report,
        before,
        ids: HashMap::new(),
        texts: HashMap::new(),
    };
    let mut drafts = drafts.into_iter();
    loop {
        let batch: Vec<ForeignDraft> = drafts.by_ref().take(BATCH).collect();
        if batch.is_empty() {
            return Ok(());
        }
        importing.batch(batch).await?;
    }
}

struct Importing<'a> {
    store: &'a dyn Store,
    scope: &'a Scope,
    options: &'a ForeignOptions,
    now: Timestamp,
    report: &'a mut ForeignReport,
    before: Before,
    /// Where each memory and each text of this import stood first.
    ids: HashMap<MemoryId, String>,
    texts: HashMap<Fingerprint, String>,
}

/// What becomes of a draft.
enum Outcome {
    Add,
    /// The same, but the id that its text gives it belongs to a memory that says something else by now.
    AddAnew,
    Update(Box<Memory>),
    Unchanged,
    Skip(String),
}

impl Importing<'_> {
    async fn batch(&mut self, drafts: Vec<ForeignDraft>) -> Result<()> {
        let incoming = self.read(drafts);
        let prints: Vec<_> = incoming.iter().map(|one| one.memory.fingerprint()).collect();
        let erased = self.store.erased(self.scope, &prints).await?;
        let ids: Vec<_> = incoming.iter().map(|one| one.memory.id).collect();
        let known = self.store.get(self.scope, &ids).await?;
        let mut changes = Vec::new();
        for ((one, erased), known) in incoming.into_iter().zip(erased).zip(known) {
            let outcome = self.outcome(&one, erased, known).await?;
            self.ids.entry(one.memory.id).or_insert_with(|| one.place.clone());
            self.texts.entry(one.memory.fingerprint()).or_insert_with(|| one.place.clone());
            changes.extend(self.note(one, outcome));
        }
        self.apply(changes).await
    }

    /// The drafts as memories; what cannot be one is told.
    fn read(&mut self, drafts: Vec<ForeignDraft>) -> Vec<Incoming> {
        let mut incoming = Vec::new();
        for draft in drafts {
            let place = draft.place.clone();
            match Incoming::of(draft, self.scope, self.options, self.now) {
                Ok(one) => incoming.push(one),
                Err(error) => self.skip(place, error.to_string()),
            }
        }
        incoming
    }

    async fn outcome(
        &mut self,
        one: &Incoming,
        erased: bool,
        known: Option<Memory>,
    ) -> Result<Outcome> {
        let print = one.memory.fingerprint();
        let is_taken = known.is_some();
        if let Some(place) = self.ids.get(&one.memory.id).filter(|_| !one.is_loose) {
            return Ok(Outcome::Skip(format!("it has the same name as {place}")));
        }
        if erased {
            return Ok(Outcome::Skip("it was forgotten here".to_owned()));
        }
        if let Some(place) = self.texts.get(&print).filter(|_| known.is_none() || one.is_loose) {
            return Ok(Outcome::Skip(format!("it says the same as {place}")));
        }
        if let Some(known) = known.filter(|known| !one.is_loose || known.fingerprint() == print) {
            return Ok(of_known(one, known));
        }
        if !self.store.find(self.scope, &Key::Text(print), 1).await?.is_empty() {
            return Ok(Outcome::Unchanged);
        }
        if let Some(reason) = self.removed_here(one.memory.id).await? {
            return Ok(Outcome::Skip(reason));
        }
        let earlier = self.before.take_most_like(one);
        Ok(match earlier {
            Some(earlier) => of_known(one, earlier),
            None if is_taken => Outcome::AddAnew,
            None => Outcome::Add,
        })
    }

    /// Why a memory that was here is no longer; an import that was undone may come again.
    async fn removed_here(&self, id: MemoryId) -> Result<Option<String>> {
        let last = JournalQuery { id: Some(id), limit: Some(1), ..JournalQuery::default() };
        let last = self.store.journal(self.scope, &last).await?.pop();
        Ok(last.and_then(|entry| match entry.op {
            Op::Erase => Some("it was forgotten here".to_owned()),
            Op::Delete if !entry.cause.starts_with("undo ") => {
                Some("it was deleted here".to_owned())
            }
            _ => None,
        }))
    }

    fn note(&mut self, one: Incoming, outcome: Outcome) -> Option<Change> {
        match outcome {
            Outcome::Unchanged => {
                self.report.unchanged += 1;
                None
            }
            Outcome::Skip(reason) => {
                self.skip(one.place, reason);
                None
            }
            Outcome::AddAnew => self.note(one.with_new_id(self.now), Outcome::Add),
            Outcome::Add => {
                self.report.take(one.memory.kind);
                self.report.masked += one.masked;
                Some(Change::Add(Box::new(one.memory)))
            }
            Outcome::Update(known) => {
                self.report.updated += 1;
                self.report.masked += one.masked;
                Some(Change::Update(Box::new(updated(*known, one.memory, self.now))))
            }
        }
    }

    fn skip(&mut self, place: String, reason: String) {
        self.report.skip(Skipped { place, reason });
    }

    async fn apply(&mut self, changes: Vec<Change>) -> Result<()> {
        if changes.is_empty() || self.options.dry_run {
            return Ok(());
        }
        let run = Some(self.options.run.clone());
        self.report.run.clone_from(&run);
        let ids: Vec<_> = changes.iter().map(Change::id).collect();
        let cause = format!("import: {}", self.options.format);
        let write = Write::new(self.scope, Actor::Engine, cause, self.now, changes);
        self.store.apply(Write { run, ..write }).await?;
        match self.store.verify(self.scope, &ids).await?.iter().position(|verified| !verified) {
            None => Ok(()),
            Some(index) => Err(Error::damaged(format!(
                "memory `{}` was stored but cannot be read back",
                ids[index]
            ))),
        }
    }
}

/// What becomes of a draft whose memory is here: a text that only changed there is taken over.
fn of_known(one: &Incoming, known: Memory) -> Outcome {
    if said(&known).as_deref() == Some(one.said.as_str()) {
        Outcome::Unchanged
    } else if is_edited(&known) {
        Outcome::Skip(format!(
            "it changed there, and memory {} was edited here: both stay",
            known.id
        ))
    } else {
        Outcome::Update(Box::new(known))
    }
}
