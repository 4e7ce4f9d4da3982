//! Importing lines: what is new goes in, what is known stays, what was erased does not come back.

mod replay;
mod pending_batch;

use std::io::{BufRead, Read};

use serde::Serialize;

use self::pending_batch::PendingBatch;
use super::{
    edit::checked_weight,
    jsonl::{ExportLine, MAX_LINE_BYTES},
    request::{check_content, checked_fraction, checked_name, checked_tags},
};
use crate::{
    error::{Error, Result},
    store::{MemoryKey, Store},
    types::{
        Actor, Change, Fingerprint, Kind, Memory, Origin, Scope, Timestamp, WriteBatch,
        to_millisecond,
    },
};

/// Lines stored together: one sync for many, few enough to show progress.
const BATCH: usize = 1_024;

/// Rejected lines kept with their reason; the rest is only counted.
const MAX_REJECTED: usize = 1_000;

/// No memory is changed so often; a higher number would leave no room for the next changes.
const MAX_VERSION: u32 = u32::MAX / 2;

/// How to import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ImportOptions {
    /// Leave damaged lines out and go on, instead of stopping at the first.
    pub keep_going: bool,
    /// Only say what would happen.
    pub dry_run: bool,
    /// Take secrets in as they are, instead of masking them.
    pub keep_secrets: bool,
}

/// What an import did.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ImportReport {
    /// The run, to undo all of it.
    pub run: String,
    /// Memories stored.
    pub added: usize,
    /// Memories replaced by a newer version.
    pub updated: usize,
    /// Memories that were there already.
    pub unchanged: usize,
    /// Memories left out because their text was erased here.
    pub erased: usize,
    /// Secrets that were masked.
    #[serde(skip_serializing_if = "is_zero")]
    pub masked: usize,
    /// Lines that could not be read.
    pub rejected: usize,
    /// Which lines, and why; the first thousand.
    pub rejections: Vec<RejectedLine>,
}

/// A line that could not be imported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RejectedLine {
    /// Its number, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub reason: String,
}

/// What did not happen need not be told.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Reads lines from `source` into `scope`, calling `progress` with the number of lines done.
///
/// Importing the same again changes nothing, so an import that was cut off is resumed by repeating it. Only a turn
/// without an id and a time cannot be told from another that says the same.
pub async fn import_jsonl<R: BufRead + Send>(
    store: &dyn Store,
    scope: &Scope,
    source: R,
    options: ImportOptions,
    now: Timestamp,
    progress: &mut (dyn FnMut(usize) + Send),
) -> Result<ImportReport> {
    let run = format!("import-{}", now.as_millisecond());
    let mut importing = JsonlImporter {
        store,
        scope,
        options,
        now,
        report: ImportReport { run, ..ImportReport::default() },
        erased_texts: Vec::new(),
    };
    let mut lines = JsonlReader { source, number: 0 };
    loop {
        let mut batch = Vec::with_capacity(BATCH);
        while batch.len() < BATCH
            && let Some((number, bytes)) = lines.next_line()?
        {
            match ExportLine::parse(&bytes) {
                Ok(ExportLine::Header(header)) => header.check_version()?,
                Ok(line) => batch.push((number, line)),
                Err(error) => importing.reject(number, &error)?,
            }
        }
        if batch.is_empty() {
            return importing.finish().await;
        }
        importing.import_batch(batch).await?;
        progress(lines.number);
    }
}

struct JsonlReader<R> {
    source: R,
    number: usize,
}

impl<R: BufRead> JsonlReader<R> {
    /// The next line that is not blank, with its number.
    fn next_line(&mut self) -> Result<Option<(usize, Vec<u8>)>> {
        loop {
            let mut bytes = Vec::new();
            let limit = MAX_LINE_BYTES as u64;
            let read = self.source.by_ref().take(limit).read_until(b'\n', &mut bytes);
            if read.map_err(|error| Error::io("reading the import", error))? == 0 {
                return Ok(None);
            }
            self.number += 1;
            let line = bytes.trim_ascii();
            // A byte order mark is no text.
            let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
            if !line.is_empty() {
                return Ok(Some((self.number, line.to_vec())));
            }
        }
    }
}

struct JsonlImporter<'a> {
    store: &'a dyn Store,
    scope: &'a Scope,
    options: ImportOptions,
    now: Timestamp,
    report: ImportReport,
    /// What was erased there. It is noted at the end, because the file itself may tell such a text anew.
    erased_texts: Vec<Fingerprint>,
}

impl JsonlImporter<'_> {
    /// Notes a line that is left out, or stops.
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
                ExportLine::Remember(draft) => match draft.into_memory(self.scope, self.now) {
                    Ok(memory) => memories.push((number, memory)),
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

    /// Notes what was erased there, so that it does not come in here later.
    async fn finish(mut self) -> Result<ImportReport> {
        let texts = std::mem::take(&mut self.erased_texts);
        self.apply(Vec::new(), texts).await?;
        Ok(self.report)
    }

    async fn store_memories(&mut self, memories: Vec<(usize, Memory)>) -> Result<()> {
        let prints: Vec<_> = memories.iter().map(|(_, memory)| memory.fingerprint()).collect();
        let erased = self.store.memories().are_erased(self.scope, &prints).await?;
        let ids: Vec<_> = memories.iter().map(|(_, memory)| memory.id).collect();
        let known = self.store.memories().get(self.scope, &ids).await?;
        let (mut changes, mut ahead) = (Vec::new(), PendingBatch::default());
        for (((number, memory), erased), known) in memories.into_iter().zip(erased).zip(known) {
            if erased {
                self.report.erased += 1;
                continue;
            }
            match self.change_for(self.move_to_scope(memory), known, &ahead).await {
                Ok(Some(change)) => {
                    ahead.record(&change);
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

    /// Makes a memory one of this scope.
    fn move_to_scope(&self, mut memory: Memory) -> Memory {
        if memory.scope != *self.scope {
            let own =
                format!("agent://{}/", memory.scope.agent().replace(char::is_whitespace, "-"));
            if let Some(rest) = memory.uri.strip_prefix(&own) {
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

    /// What has to be done for a memory to be here as the file has it; nothing if it is.
    async fn change_for(
        &self,
        memory: Memory,
        known: Option<Memory>,
        ahead: &PendingBatch,
    ) -> Result<Option<Change>> {
        check_memory(&memory)?;
        match known {
            Some(known) if known == memory || known.version >= memory.version => Ok(None),
            Some(known) => {
                Ok(Some(Change::Update(Box::new(Memory { version: known.version + 1, ..memory }))))
            }
            None if ahead.has_id(memory.id) => Ok(None),
            None if memory.kind == Kind::Turn => Ok(Some(Change::Add(Box::new(memory)))),
            None => Ok(self
                .new_memory(memory, ahead)
                .await?
                .map(|memory| Change::Add(Box::new(memory)))),
        }
    }

    /// The memory with a uri of its own, or nothing if the same is stored under another id.
    async fn new_memory(&self, mut memory: Memory, ahead: &PendingBatch) -> Result<Option<Memory>> {
        let mut others = self
            .store
            .memories()
            .find(self.scope, &MemoryKey::Text(memory.fingerprint()), 100)
            .await?;
        others.extend(
            self.store.memories().find(self.scope, &MemoryKey::Uri(memory.uri.clone()), 1).await?,
        );
        let says_same = |other: &Memory| {
            (other.kind, &other.name, &other.content)
                == (memory.kind, &memory.name, &memory.content)
        };
        let is_known = others.iter().any(says_same) || ahead.has_same_statement(&memory);
        if memory.source.via == Origin::Remember && is_known {
            return Ok(None);
        }
        if others.iter().any(|other| other.uri == memory.uri) || ahead.has_uri(&memory.uri) {
            memory.uri = format!("{}-{}", memory.uri, memory.id);
        }
        Ok(Some(memory))
    }
}

/// A memory in a file must be one that could have been saved here.
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
