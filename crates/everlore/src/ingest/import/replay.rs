//! Journal replay: applies the changes of an exported journal with their own times, actors and reasons.
//!
//! The stored state is read once per batch; from then on the effect of each line is known without the store. Lines that
//! were one write there, or might have been, are one write here.

use std::collections::{HashMap, HashSet};

use super::{ImportOptions, ImportReport, JsonlImporter};
use crate::{
    error::{Error, Result},
    store::{JournalQuery, Store},
    sync::boxed,
    types::{
        Actor, Change, ChangeOp, Fingerprint, JournalEntry, Memory, MemoryId, Scope, Timestamp,
        WriteBatch, to_millisecond,
    },
};

/// Origin of journal lines that are replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReplaySource {
    /// Exported file: texts that were erased here stay away, and lines may be here already.
    Export,
    /// Journal of the database that this one becomes a copy of; some lines may be here already.
    Resumed,
    /// The same journal, from a line on that is not here yet.
    Continued,
}

/// Replays lines of the journal of another database in their order.
#[boxed]
pub(crate) async fn replay_journal(
    store: &dyn Store,
    scope: &Scope,
    entries: Vec<JournalEntry>,
    source: ReplaySource,
    now: Timestamp,
) -> Result<()> {
    let mut importer = JsonlImporter {
        store,
        scope,
        options: ImportOptions { keep_secrets: true, ..ImportOptions::default() },
        now,
        report: ImportReport::default(),
        erased_texts: Vec::new(),
        statements: Vec::new(),
        source,
    };
    let lines = entries.into_iter().map(|entry| (entry.seq as usize, entry));
    importer.replay(lines.collect()).await
}

/// Identity of a journal entry: two entries with equal keys are the same change.
type JournalEntryKey = (MemoryId, ChangeOp, Timestamp, String, Option<u32>);

/// Stored state that the lines of a batch apply to.
#[derive(Default)]
struct ReplayState {
    current: HashMap<MemoryId, Memory>,
    /// Entries that the journal has already.
    replayed: HashSet<JournalEntryKey>,
    erased_texts: HashSet<Fingerprint>,
}

/// Changes with the same actor, reason and time, with their line numbers.
struct ReplayGroup {
    write_key: (Actor, String, Timestamp, Option<String>, u64),
    lines: Vec<(usize, JournalEntry, Change)>,
}

impl JsonlImporter<'_> {
    /// Replays these lines in order.
    pub(super) async fn replay(&mut self, lines: Vec<(usize, JournalEntry)>) -> Result<()> {
        let mut state = self.load_replay_state(&lines).await?;
        let mut group: Option<ReplayGroup> = None;
        for (number, entry) in lines {
            let Some(change) = self.change_to_replay(&entry, &state) else {
                self.report.unchanged += 1;
                continue;
            };
            state.record(&entry, &change);
            let write_key = write_key_of(&entry);
            let line = (number, entry, change);
            match &mut group {
                Some(group) if group.write_key == write_key => group.lines.push(line),
                _ => {
                    let full = group.replace(ReplayGroup { write_key, lines: vec![line] });
                    self.apply_group(full, &mut state).await?;
                }
            }
        }
        self.apply_group(group, &mut state).await
    }

    /// Writes a group; if that fails as a whole, writes its lines one by one.
    #[boxed]
    async fn apply_group(
        &mut self,
        group: Option<ReplayGroup>,
        state: &mut ReplayState,
    ) -> Result<()> {
        let Some(group) = group else { return Ok(()) };
        let changes = group.lines.iter().map(|(_, _, change)| change.clone()).collect();
        match self.write(&group, changes).await {
            Ok(()) => group.lines.iter().for_each(|(_, entry, _)| self.count_op(entry.op)),
            Err(error) if is_line_error(&error) => self.apply_one_by_one(group, state).await?,
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Writes the lines of a group one by one; lines that do not fit the stored state are rejected.
    async fn apply_one_by_one(
        &mut self,
        group: ReplayGroup,
        state: &mut ReplayState,
    ) -> Result<()> {
        for (number, entry, _) in &group.lines {
            let current = self.load_replay_state(&[(*number, entry.clone())]).await?;
            let Some(change) = self.change_to_replay(entry, &current) else {
                self.report.unchanged += 1;
                continue;
            };
            match self.write(&group, vec![change]).await {
                Ok(()) => self.count_op(entry.op),
                Err(error) if is_line_error(&error) => self.reject(*number, &error)?,
                Err(error) => return Err(error),
            }
        }
        // The expected state did not come about.
        let lines: Vec<_> = group.lines.into_iter().map(|(at, entry, _)| (at, entry)).collect();
        state.refresh(self.load_replay_state(&lines).await?, &lines);
        Ok(())
    }

    async fn write(&self, group: &ReplayGroup, changes: Vec<Change>) -> Result<()> {
        if self.options.dry_run {
            return Ok(());
        }
        let (actor, reason, at, run, cost) = group.write_key.clone();
        let write = WriteBatch::new(self.scope, actor, reason, at, changes);
        self.store.apply(WriteBatch { run, cost, ..write }).await.map(drop)
    }

    fn count_op(&mut self, op: ChangeOp) {
        match op {
            ChangeOp::Add => self.report.added += 1,
            _ => self.report.updated += 1,
        }
    }

    /// Loads the stored state of everything that the lines refer to.
    #[boxed]
    async fn load_replay_state(&self, lines: &[(usize, JournalEntry)]) -> Result<ReplayState> {
        let ids: HashSet<MemoryId> = lines.iter().map(|(_, entry)| entry.id).collect();
        let ids: Vec<MemoryId> = ids.into_iter().collect();
        let mut state = ReplayState::default();
        // Lines that cannot be here need no lookup, which is one for each memory.
        let looked_up = if self.source == ReplaySource::Continued { &[][..] } else { &ids[..] };
        for id in looked_up {
            let query = JournalQuery { id: Some(*id), ..JournalQuery::default() };
            state.replayed.extend(
                self.store.journal().entries(self.scope, &query).await?.iter().map(entry_key),
            );
        }
        let stored = self.store.memories().get(self.scope, &ids).await?.into_iter().flatten();
        state.current = stored.map(|memory| (memory.id, memory)).collect();
        if self.source != ReplaySource::Export {
            return Ok(state);
        }
        let texts: Vec<Fingerprint> =
            lines.iter().filter_map(|(_, entry)| added_text(entry)).collect();
        let erased = self.store.memories().are_erased(self.scope, &texts).await?;
        let erased = texts.into_iter().zip(erased).filter(|(_, erased)| *erased);
        state.erased_texts = erased.map(|(text, _)| text).collect();
        Ok(state)
    }

    /// Returns the change to apply, or `None` if it was applied already or its text was erased.
    fn change_to_replay(&self, entry: &JournalEntry, state: &ReplayState) -> Option<Change> {
        if state.replayed.contains(&entry_key(entry)) {
            return None;
        }
        let after =
            entry.after.as_ref().map(|after| Box::new(self.move_to_scope((**after).clone())));
        let before = entry.before.as_ref();
        match (entry.op, after, state.current.get(&entry.id)) {
            (ChangeOp::Add, Some(after), None)
                if !state.erased_texts.contains(&after.fingerprint()) =>
            {
                Some(Change::Add(after))
            }
            (ChangeOp::Update, Some(after), Some(current)) if current.version < after.version => {
                Some(Change::Update(after))
            }
            (ChangeOp::Delete, _, Some(current))
                if before.is_some_and(|before| before.version == current.version) =>
            {
                Some(Change::Delete(entry.id))
            }
            _ => None,
        }
    }
}

impl ReplayState {
    /// Updates the state after a change.
    fn record(&mut self, entry: &JournalEntry, change: &Change) {
        self.replayed.insert(entry_key(entry));
        match change {
            Change::Add(memory) | Change::Update(memory) => {
                self.current.insert(memory.id, (**memory).clone());
            }
            Change::Delete(id) | Change::Erase(id) => drop(self.current.remove(id)),
        }
    }

    /// Replaces the state of these lines by a fresh one.
    fn refresh(&mut self, fresh: Self, lines: &[(usize, JournalEntry)]) {
        let ids: HashSet<MemoryId> = lines.iter().map(|(_, entry)| entry.id).collect();
        self.current.retain(|id, _| !ids.contains(id));
        self.replayed.retain(|(id, ..)| !ids.contains(id));
        self.current.extend(fresh.current);
        self.replayed.extend(fresh.replayed);
    }
}

/// Returns `true` if the error is the line's fault, and not the store's.
fn is_line_error(error: &Error) -> bool {
    matches!(error, Error::Conflict { .. } | Error::NotFound { .. } | Error::Invalid { .. })
}

fn write_key_of(entry: &JournalEntry) -> (Actor, String, Timestamp, Option<String>, u64) {
    let at = to_millisecond(entry.at);
    (entry.actor, entry.cause.clone(), at, entry.run.clone(), entry.cost)
}

fn entry_key(entry: &JournalEntry) -> JournalEntryKey {
    (entry.id, entry.op, to_millisecond(entry.at), entry.cause.clone(), entry_version(entry))
}

/// Returns the version that a journal entry left or removed; `None` once its text was erased.
fn entry_version(entry: &JournalEntry) -> Option<u32> {
    entry.after.as_ref().or(entry.before.as_ref()).map(|memory| memory.version)
}

/// Returns the fingerprint of the text that an entry adds.
fn added_text(entry: &JournalEntry) -> Option<Fingerprint> {
    let after = entry.after.as_ref().filter(|_| entry.op == ChangeOp::Add)?;
    Some(after.fingerprint())
}
