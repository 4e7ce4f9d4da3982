//! JSONL import: adds what is new, keeps what is stored, and leaves out what was erased.

mod replay;
mod pending_batch;

use std::{
    collections::BTreeSet,
    io::{BufRead, Read},
};

use serde::Serialize;

use self::pending_batch::PendingBatch;
pub(crate) use self::replay::{ReplaySource, replay_journal};
use super::{
    commit::SaveDeps,
    edit::checked_weight,
    jsonl::{ExportLine, MAX_LINE_BYTES},
    remember::supersede_rivals,
    request::{check_content, checked_fraction, checked_name, checked_tags},
    saved::SupersededMemory,
};
use crate::{
    error::{Error, Result},
    store::{MemoryKey, Store, confirm_readable},
    sync::BoxFuture,
    types::{
        Actor, Change, ChangeAuthor, Fingerprint, Kind, Memory, MemoryId, Origin, Scope, Timestamp,
        Trust, WriteBatch, to_millisecond,
    },
};

/// Lines per write: one sync for many, few enough to show progress.
const BATCH: usize = 1_024;

/// Rejected lines listed with their reason; the rest is only counted.
const MAX_REJECTED: usize = 1_000;

/// Highest accepted version. No memory is changed so often, and a higher one would leave no room for further changes.
const MAX_VERSION: u32 = u32::MAX / 2;

/// Stored memories with one text that are compared with an imported one; they differ by their names, which few have.
const MAX_EQUAL_TEXTS: usize = 100;

/// Options of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ImportOptions {
    /// Skip damaged lines instead of stopping at the first.
    pub keep_going: bool,
    /// Report only, without writing.
    pub dry_run: bool,
    /// Store secrets as they are, instead of masking them.
    pub keep_secrets: bool,
}

/// Result of an import.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ImportReport {
    /// Journal run, to undo the import.
    pub run: String,
    /// Memories added.
    pub added: usize,
    /// Memories updated to a newer version.
    pub updated: usize,
    /// Memories that were stored already.
    pub unchanged: usize,
    /// Memories left out because their text was erased here.
    pub erased: usize,
    /// Secrets masked.
    #[serde(skip_serializing_if = "is_zero")]
    pub masked: usize,
    /// Older memories that statements of the import superseded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub superseded: Vec<SupersededMemory>,
    /// Lines that could not be imported.
    pub rejected: usize,
    /// Rejected lines with their reasons; the first thousand.
    pub rejections: Vec<RejectedLine>,
}

/// Line that could not be imported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RejectedLine {
    /// Line number, from 1.
    pub line: usize,
    /// Reason.
    pub reason: String,
}

/// Returns `true` for counts that JSON leaves out.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Imports lines from `source` into `scope`, calling `progress` with the number of lines done.
///
/// Importing the same lines again changes nothing, so an interrupted import is resumed by repeating it. Only a turn
/// without id and time cannot be told from another with the same text.
pub(crate) async fn import_jsonl<R: BufRead + Send>(
    store: &dyn Store,
    scope: &Scope,
    mut source: R,
    options: ImportOptions,
    now: Timestamp,
    progress: &mut (dyn FnMut(usize) + Send),
) -> Result<ImportReport> {
    import_lines(store, scope, &mut source, options, now, progress).await
}

fn import_lines<'a>(
    store: &'a dyn Store,
    scope: &'a Scope,
    source: &'a mut (dyn BufRead + Send),
    options: ImportOptions,
    now: Timestamp,
    progress: &'a mut (dyn FnMut(usize) + Send),
) -> BoxFuture<'a, Result<ImportReport>> {
    Box::pin(async move {
        let run = format!("import-{}", now.as_millisecond());
        let mut importer = JsonlImporter {
            store,
            scope,
            options,
            now,
            report: ImportReport { run, ..ImportReport::default() },
            erased_texts: Vec::new(),
            statements: Vec::new(),
            source: ReplaySource::Export,
        };
        let mut lines = JsonlReader { source, number: 0 };
        loop {
            let mut batch = Vec::with_capacity(BATCH);
            while batch.len() < BATCH
                && let Some((number, bytes)) = lines.next_line()?
            {
                match bytes.and_then(|bytes| ExportLine::parse(&bytes)) {
                    Ok(ExportLine::Header(header)) => header.check_version()?,
                    Ok(line) => batch.push((number, line)),
                    Err(error) => importer.reject(number, &error)?,
                }
            }
            if batch.is_empty() {
                return importer.finish().await;
            }
            importer.import_batch(batch).await?;
            progress(lines.number);
        }
    })
}

struct JsonlReader<'a> {
    source: &'a mut (dyn BufRead + Send),
    number: usize,
}

impl JsonlReader<'_> {
    /// Returns the next line that is not blank, with its number; the line itself is an error if it is too long.
    fn next_line(&mut self) -> Result<Option<(usize, Result<Vec<u8>>)>> {
        let failed = |error| Error::io("reading the import", error);
        loop {
            let mut bytes = Vec::new();
            let limit = MAX_LINE_BYTES as u64 + 1;
            let read = Read::by_ref(&mut self.source).take(limit).read_until(b'\n', &mut bytes);
            if read.map_err(failed)? == 0 {
                return Ok(None);
            }
            self.number += 1;
            if bytes.len() > MAX_LINE_BYTES && bytes.last() != Some(&b'\n') {
                self.source.skip_until(b'\n').map_err(failed)?;
                return Ok(Some((self.number, Err(line_too_long()))));
            }
            let line = bytes.trim_ascii();
            // A byte order mark is no content.
            let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
            if !line.is_empty() {
                return Ok(Some((self.number, Ok(line.to_vec()))));
            }
        }
    }
}

fn line_too_long() -> Error {
    Error::invalid(
        format!("the line has more than {MAX_LINE_BYTES} bytes"),
        "no memory is that long: check that every record ends with a line break",
    )
}

struct JsonlImporter<'a> {
    store: &'a dyn Store,
    scope: &'a Scope,
    options: ImportOptions,
    now: Timestamp,
    report: ImportReport,
    /// Fingerprints of erased texts. They are written at the end, because the file itself may state such a text anew.
    erased_texts: Vec<Fingerprint>,
    /// Statements to remember; memories of an export come with their status.
    statements: Vec<MemoryId>,
    source: ReplaySource,
}

impl JsonlImporter<'_> {
    /// Records a rejected line, or stops.
    fn reject(&mut self, line: usize, error: &Error) -> Result<()> {
        if !self.options.keep_going {
            return Err(Error::invalid(format!("line {line}: {error}"), error.hint()));
        }
        self.report.rejected += 1;
        if self.report.rejections.len() < MAX_REJECTED {
            self.report.rejections.push(RejectedLine { line, reason: error.to_string() });
        }
        Ok(())
    }

    async fn import_batch(&mut self, lines: Vec<(usize, ExportLine)>) -> Result<()> {
        let (mut memories, mut replayed) = (Vec::new(), Vec::new());
        for (number, mut line) in lines {
            if !self.options.keep_secrets {
                self.report.masked += line.mask_secrets().len();
            }
            match line {
                ExportLine::Header(_) => {}
                ExportLine::Tombstone(text) => self.erased_texts.push(text),
                ExportLine::JournalEntry(entry) => replayed.push((number, *entry)),
                ExportLine::Memory(memory) => memories.push((number, *memory)),
                ExportLine::Remember(request) => match request.into_memory(self.scope, self.now) {
                    Ok(memory) => {
                        self.statements.push(memory.id);
                        memories.push((number, memory));
                    }
                    Err(error) => self.reject(number, &error)?,
                },
                ExportLine::Turn(turn) => match turn.into_imported_memory(self.scope, self.now) {
                    Ok(memory) => memories.push((number, memory)),
                    Err(error) => self.reject(number, &error)?,
                },
            }
        }
        self.replay(replayed).await?;
        self.store_memories(memories).await
    }

    /// Supersedes what statements contradict, and writes the tombstones of the export, so that erased texts do not come
    /// in later.
    async fn finish(mut self) -> Result<ImportReport> {
        if !self.options.dry_run {
            let (reason, run) = (Some("import".to_owned()), Some(self.report.run.clone()));
            let author = ChangeAuthor { actor: Actor::Engine, reason, run };
            let deps = SaveDeps { store: self.store, judge: None, author: &author, now: self.now };
            let superseded = supersede_rivals(deps, self.scope, &self.statements, Trust::Imported);
            self.report.superseded = superseded.await?;
        }
        let texts = std::mem::take(&mut self.erased_texts);
        self.apply(Vec::new(), texts).await?;
        Ok(self.report)
    }

    async fn store_memories(&mut self, memories: Vec<(usize, Memory)>) -> Result<()> {
        let moved = |(number, memory)| (number, self.move_to_scope(memory));
        let memories: Vec<_> = memories.into_iter().map(moved).collect();
        let prints: Vec<_> = memories.iter().map(|(_, memory)| memory.fingerprint()).collect();
        let erased = self.store.memories().are_erased(self.scope, &prints).await?;
        let ids: Vec<_> = memories.iter().map(|(_, memory)| memory.id).collect();
        let stored = self.store.memories().get(self.scope, &ids).await?;
        let (mut changes, mut pending) = (Vec::new(), PendingBatch::default());
        for similar in self.find_similar(&memories, &stored).await? {
            pending.record_stored(&similar);
        }
        for (((number, memory), erased), stored) in memories.into_iter().zip(erased).zip(stored) {
            if erased {
                self.report.erased += 1;
                continue;
            }
            match change_for(memory, stored, &pending) {
                Ok(Some(change)) => {
                    pending.record(&change);
                    changes.push(change);
                }
                Ok(None) => self.report.unchanged += 1,
                Err(error) => self.reject(number, &error)?,
            }
        }
        self.apply(changes, Vec::new()).await
    }

    async fn apply(&mut self, changes: Vec<Change>, erased_texts: Vec<Fingerprint>) -> Result<()> {
        let added = changes.iter().filter(|change| matches!(change, Change::Add(_))).count();
        self.report.added += added;
        self.report.updated += changes.len() - added;
        if self.options.dry_run || changes.is_empty() && erased_texts.is_empty() {
            return Ok(());
        }
        let run = Some(self.report.run.clone());
        let write = WriteBatch::new(self.scope, Actor::Engine, "import", self.now, changes);
        let ids: Vec<_> = write.changes.iter().map(Change::id).collect();
        self.store.apply(WriteBatch { run, erased_texts, ..write }).await?;
        confirm_readable(self.store, self.scope, &ids).await
    }

    /// Moves a memory into this scope.
    fn move_to_scope(&self, mut memory: Memory) -> Memory {
        if memory.scope != *self.scope {
            let prefix =
                format!("agent://{}/", memory.scope.agent().replace(char::is_whitespace, "-"));
            if let Some(rest) = memory.uri.strip_prefix(&prefix) {
                memory.uri = format!(
                    "agent://{}/{rest}",
                    self.scope.agent().replace(char::is_whitespace, "-")
                );
            }
            memory.scope = self.scope.clone();
        }
        for at in [&mut memory.at, &mut memory.created_at, &mut memory.updated_at] {
            *at = to_millisecond(*at);
        }
        memory.last_used_at = memory.last_used_at.map(to_millisecond);
        memory
    }

    /// Finds the stored memories with the text or the uri of a new statement.
    async fn find_similar(
        &self,
        memories: &[(usize, Memory)],
        stored: &[Option<Memory>],
    ) -> Result<Vec<Memory>> {
        let is_new = |memory: &Memory, stored: &Option<Memory>| {
            stored.is_none() && memory.kind != Kind::Turn
        };
        let memories = memories.iter().map(|(_, memory)| memory).zip(stored);
        let new: Vec<&Memory> =
            memories.filter(|(memory, stored)| is_new(memory, stored)).map(|it| it.0).collect();
        let texts: BTreeSet<_> = new.iter().map(|memory| memory.fingerprint()).collect();
        let uris = new.iter().map(|memory| MemoryKey::Uri(memory.uri.clone()));
        let keys: Vec<_> = texts.into_iter().map(MemoryKey::Text).chain(uris).collect();
        let found = self.store.memories().find(self.scope, &keys, MAX_EQUAL_TEXTS).await?;
        Ok(found.into_iter().flatten().collect())
    }
}

/// Returns the change that brings the stored memory to the imported one; `None` if there is nothing to do.
fn change_for(
    memory: Memory,
    stored: Option<Memory>,
    pending: &PendingBatch,
) -> Result<Option<Change>> {
    check_memory(&memory)?;
    Ok(match stored {
        Some(stored) if stored == memory || stored.version >= memory.version => None,
        Some(stored) => {
            Some(Change::Update(Box::new(Memory { version: stored.version + 1, ..memory })))
        }
        None if pending.has_id(memory.id) => None,
        None if memory.kind == Kind::Turn => Some(Change::Add(Box::new(memory))),
        None => new_memory(memory, pending).map(|memory| Change::Add(Box::new(memory))),
    })
}

/// Returns the memory with a free uri, or `None` if the same is stored under another id.
fn new_memory(mut memory: Memory, pending: &PendingBatch) -> Option<Memory> {
    if memory.source.via == Origin::Remember && pending.has_same_statement(&memory) {
        return None;
    }
    if pending.has_uri(&memory.uri) {
        memory.uri = format!("{}-{}", memory.uri, memory.id);
    }
    Some(memory)
}

/// Checks that an imported memory could have been saved here.
fn check_memory(memory: &Memory) -> Result<()> {
    check_content(&memory.content)?;
    checked_name(&memory.name)?;
    checked_tags(memory.tags.clone())?;
    checked_fraction("importance", Some(memory.importance), 0.0)?;
    checked_fraction("confidence", Some(memory.confidence), 0.0)?;
    checked_weight(Some(memory.weight), 0.0)?;
    if (1..=MAX_VERSION).contains(&memory.version) {
        return Ok(());
    }
    Err(Error::invalid(
        format!("version is {}", memory.version),
        format!("versions go from 1 to {MAX_VERSION}"),
    ))
}
