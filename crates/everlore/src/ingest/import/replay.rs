//! Making the changes of another journal again, with their own times, actors and causes.
//!
//! What is stored is asked for once a batch; from then on the effect of each line is known without asking. Lines that were one
//! write there, or might have been, are one write here.

use std::collections::{HashMap, HashSet};

use super::JsonlImporter;
use crate::{
    error::{Error, Result},
    store::JournalQuery,
    types::{
        Actor, Change, ChangeOp, Fingerprint, JournalEntry, Memory, MemoryId, Timestamp,
        WriteBatch, to_millisecond,
    },
};

/// What tells a line of the journal: two lines that agree are the same change.
type JournalEntryKey = (MemoryId, ChangeOp, Timestamp, String, Option<u32>);

/// What the lines of a batch meet.
#[derive(Default)]
struct ReplayState {
    current: HashMap<MemoryId, Memory>,
    /// Lines that the journal has.
    replayed: HashSet<JournalEntryKey>,
    erased_texts: HashSet<Fingerprint>,
}

/// Changes with one actor, cause and time, with the numbers of their lines.
struct ReplayGroup {
    write_key: (Actor, String, Timestamp, Option<String>, u64),
    lines: Vec<(usize, JournalEntry, Change)>,
}

impl JsonlImporter<'_> {
    /// Makes the changes of these lines, in their order.
    pub(super) async fn replay(&mut self, lines: Vec<(usize, JournalEntry)>) -> Result<()> {
        let mut present = self.load_replay_state(&lines).await?;
        let mut group: Option<ReplayGroup> = None;
        for (number, entry) in lines {
            let Some(change) = self.change_to_replay(&entry, &present) else {
                self.report.unchanged += 1;
                continue;
            };
            present.record(&entry, &change);
            let made = write_key_of(&entry);
            let line = (number, entry, change);
            match &mut group {
                Some(group) if group.write_key == made => group.lines.push(line),
                _ => {
                    let full = group.replace(ReplayGroup { write_key: made, lines: vec![line] });
                    self.apply_group(full, &mut present).await?;
                }
            }
        }
        self.apply_group(group, &mut present).await
    }

    /// Stores a group; if it cannot be stored as a whole, each line of it on its own.
    async fn apply_group(
        &mut self,
        group: Option<ReplayGroup>,
        present: &mut ReplayState,
    ) -> Result<()> {
        let Some(group) = group else { return Ok(()) };
        let changes = group.lines.iter().map(|(_, _, change)| change.clone()).collect();
        match self.write(&group, changes).await {
            Ok(()) => group.lines.iter().for_each(|(_, entry, _)| self.count_op(entry.op)),
            Err(error) if is_line_error(&error) => self.apply_one_by_one(group, present).await?,
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Stores the lines of a group one by one; those that do not fit what is stored are told.
    async fn apply_one_by_one(
        &mut self,
        group: ReplayGroup,
        present: &mut ReplayState,
    ) -> Result<()> {
        for (number, entry, _) in &group.lines {
            let now = self.load_replay_state(&[(*number, entry.clone())]).await?;
            let Some(change) = self.change_to_replay(entry, &now) else {
                self.report.unchanged += 1;
                continue;
            };
            match self.write(&group, vec![change]).await {
                Ok(()) => self.count_op(entry.op),
                Err(error) if is_line_error(&error) => self.reject(*number, &error)?,
                Err(error) => return Err(error),
            }
        }
        // What was expected did not all come true.
        let lines: Vec<_> = group.lines.into_iter().map(|(at, entry, _)| (at, entry)).collect();
        present.refresh(self.load_replay_state(&lines).await?, &lines);
        Ok(())
    }

    async fn write(&self, group: &ReplayGroup, changes: Vec<Change>) -> Result<()> {
        if self.options.dry_run {
            return Ok(());
        }
        let (actor, cause, at, run, cost) = group.write_key.clone();
        let write = WriteBatch::new(self.scope, actor, cause, at, changes);
        self.store.apply(WriteBatch { run, cost, ..write }).await.map(drop)
    }

    fn count_op(&mut self, op: ChangeOp) {
        match op {
            ChangeOp::Add => self.report.added += 1,
            _ => self.report.updated += 1,
        }
    }

    /// What is stored of all that the lines are about.
    async fn load_replay_state(&self, lines: &[(usize, JournalEntry)]) -> Result<ReplayState> {
        let ids: HashSet<MemoryId> = lines.iter().map(|(_, entry)| entry.id).collect();
        let ids: Vec<MemoryId> = ids.into_iter().collect();
        let mut present = ReplayState::default();
        for id in &ids {
            let own = JournalQuery { id: Some(*id), ..JournalQuery::default() };
            present.replayed.extend(
                self.store.journal().entries(self.scope, &own).await?.iter().map(entry_key),
            );
        }
        let stored = self.store.memories().get(self.scope, &ids).await?.into_iter().flatten();
        present.current = stored.map(|memory| (memory.id, memory)).collect();
        let texts: Vec<Fingerprint> =
            lines.iter().filter_map(|(_, entry)| added_text(entry)).collect();
        let erased = self.store.memories().are_erased(self.scope, &texts).await?;
        let erased = texts.into_iter().zip(erased).filter(|(_, erased)| *erased);
        present.erased_texts = erased.map(|(text, _)| text).collect();
        Ok(present)
    }

    /// The change to make, or nothing if it was made already or its text is gone.
    fn change_to_replay(&self, entry: &JournalEntry, present: &ReplayState) -> Option<Change> {
        if present.replayed.contains(&entry_key(entry)) {
            return None;
        }
        let after =
            entry.after.as_ref().map(|after| Box::new(self.move_to_scope((**after).clone())));
        let before = entry.before.as_ref();
        match (entry.op, after, present.current.get(&entry.id)) {
            (ChangeOp::Add, Some(after), None)
                if !present.erased_texts.contains(&after.fingerprint()) =>
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
    /// What is stored once a change is made.
    fn record(&mut self, entry: &JournalEntry, change: &Change) {
        self.replayed.insert(entry_key(entry));
        match change {
            Change::Add(memory) | Change::Update(memory) => {
                self.current.insert(memory.id, (**memory).clone());
            }
            Change::Delete(id) | Change::Erase(id) => drop(self.current.remove(id)),
        }
    }

    /// Takes over what was asked anew about these lines.
    fn refresh(&mut self, now: Self, lines: &[(usize, JournalEntry)]) {
        let ids: HashSet<MemoryId> = lines.iter().map(|(_, entry)| entry.id).collect();
        self.current.retain(|id, _| !ids.contains(id));
        self.replayed.retain(|(id, ..)| !ids.contains(id));
        self.current.extend(now.current);
        self.replayed.extend(now.replayed);
    }
}

/// Whether the line is at fault, and not the store.
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

/// The version that a line of the journal left or removed; none once its text was erased.
fn entry_version(entry: &JournalEntry) -> Option<u32> {
    entry.after.as_ref().or(entry.before.as_ref()).map(|memory| memory.version)
}

/// The text that a line adds.
fn added_text(entry: &JournalEntry) -> Option<Fingerprint> {
    let after = entry.after.as_ref().filter(|_| entry.op == ChangeOp::Add)?;
    Some(after.fingerprint())
}
