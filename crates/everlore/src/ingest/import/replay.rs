//! Making the changes of another journal again, with their own times, actors and causes.
//!
//! What is stored is asked for once a batch; from then on the effect of each line is known without asking. Lines that were one
//! write there, or might have been, are one write here.

use std::collections::{HashMap, HashSet};

use super::Importing;
use crate::{
    error::{Error, Result},
    store::JournalQuery,
    types::{
        Actor, Change, Entry, Fingerprint, Memory, MemoryId, Op, Timestamp, Write, to_millisecond,
    },
};

/// What tells a line of the journal: two lines that agree are the same change.
type Mark = (MemoryId, Op, Timestamp, String, Option<u32>);

/// What the lines of a batch meet.
#[derive(Default)]
struct Present {
    current: HashMap<MemoryId, Memory>,
    /// Lines that the journal has.
    done: HashSet<Mark>,
    erased: HashSet<Fingerprint>,
}

/// Changes with one actor, cause and time, with the numbers of their lines.
struct Group {
    made: (Actor, String, Timestamp, Option<String>, u64),
    lines: Vec<(usize, Entry, Change)>,
}

impl Importing<'_> {
    /// Makes the changes of these lines, in their order.
    pub(super) async fn replay(&mut self, lines: Vec<(usize, Entry)>) -> Result<()> {
        let mut present = self.present(&lines).await?;
        let mut group: Option<Group> = None;
        for (number, entry) in lines {
            let Some(change) = self.replayed(&entry, &present) else {
                self.report.unchanged += 1;
                continue;
            };
            present.note(&entry, &change);
            let made = made(&entry);
            let line = (number, entry, change);
            match &mut group {
                Some(group) if group.made == made => group.lines.push(line),
                _ => {
                    let full = group.replace(Group { made, lines: vec![line] });
                    self.make(full, &mut present).await?;
                }
            }
        }
        self.make(group, &mut present).await
    }

    /// Stores a group; if it cannot be stored as a whole, each line of it on its own.
    async fn make(&mut self, group: Option<Group>, present: &mut Present) -> Result<()> {
        let Some(group) = group else { return Ok(()) };
        let changes = group.lines.iter().map(|(_, _, change)| change.clone()).collect();
        match self.write(&group, changes).await {
            Ok(()) => group.lines.iter().for_each(|(_, entry, _)| self.count(entry.op)),
            Err(error) if is_about_the_line(&error) => self.make_each(group, present).await?,
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Stores the lines of a group one by one; those that do not fit what is stored are told.
    async fn make_each(&mut self, group: Group, present: &mut Present) -> Result<()> {
        for (number, entry, _) in &group.lines {
            let now = self.present(&[(*number, entry.clone())]).await?;
            let Some(change) = self.replayed(entry, &now) else {
                self.report.unchanged += 1;
                continue;
            };
            match self.write(&group, vec![change]).await {
                Ok(()) => self.count(entry.op),
                Err(error) if is_about_the_line(&error) => self.reject(*number, &error)?,
                Err(error) => return Err(error),
            }
        }
        // What was expected did not all come true.
        let lines: Vec<_> = group.lines.into_iter().map(|(at, entry, _)| (at, entry)).collect();
        present.renew(self.present(&lines).await?, &lines);
        Ok(())
    }

    async fn write(&self, group: &Group, changes: Vec<Change>) -> Result<()> {
        if self.options.dry_run {
            return Ok(());
        }
        let (actor, cause, at, run, cost) = group.made.clone();
        let write = Write::new(self.scope, actor, cause, at, changes);
        self.store.apply(Write { run, cost, ..write }).await.map(drop)
    }

    fn count(&mut self, op: Op) {
        match op {
            Op::Add => self.report.added += 1,
            _ => self.report.updated += 1,
        }
    }

    /// What is stored of all that the lines are about.
    async fn present(&self, lines: &[(usize, Entry)]) -> Result<Present> {
        let ids: HashSet<MemoryId> = lines.iter().map(|(_, entry)| entry.id).collect();
        let ids: Vec<MemoryId> = ids.into_iter().collect();
        let mut present = Present::default();
        for id in &ids {
            let own = JournalQuery { id: Some(*id), ..JournalQuery::default() };
            present.done.extend(self.store.journal(self.scope, &own).await?.iter().map(mark));
        }
        let stored = self.store.get(self.scope, &ids).await?.into_iter().flatten();
        present.current = stored.map(|memory| (memory.id, memory)).collect();
        let texts: Vec<Fingerprint> = lines.iter().filter_map(|(_, entry)| text(entry)).collect();
        let erased = self.store.erased(self.scope, &texts).await?;
        let erased = texts.into_iter().zip(erased).filter(|(_, erased)| *erased);
        present.erased = erased.map(|(text, _)| text).collect();
        Ok(present)
    }

    /// The change to make, or nothing if it was made already or its text is gone.
    fn replayed(&self, entry: &Entry, present: &Present) -> Option<Change> {
        if present.done.contains(&mark(entry)) {
            return None;
        }
        let after = entry.after.as_ref().map(|after| Box::new(self.adopt((**after).clone())));
        let before = entry.before.as_ref();
        match (entry.op, after, present.current.get(&entry.id)) {
            (Op::Add, Some(after), None) if !present.erased.contains(&after.fingerprint()) => {
                Some(Change::Add(after))
            }
            (Op::Update, Some(after), Some(current)) if current.version < after.version => {
                Some(Change::Update(after))
            }
            (Op::Delete, _, Some(current))
                if before.is_some_and(|before| before.version == current.version) =>
            {
                Some(Change::Delete(entry.id))
            }
            _ => None,
        }
    }
}

impl Present {
    /// What is stored once a change is made.
    fn note(&mut self, entry: &Entry, change: &Change) {
        self.done.insert(mark(entry));
        match change {
            Change::Add(memory) | Change::Update(memory) => {
                self.current.insert(memory.id, (**memory).clone());
            }
            Change::Delete(id) | Change::Erase(id) => drop(self.current.remove(id)),
        }
    }

    /// Takes over what was asked anew about these lines.
    fn renew(&mut self, now: Self, lines: &[(usize, Entry)]) {
        let ids: HashSet<MemoryId> = lines.iter().map(|(_, entry)| entry.id).collect();
        self.current.retain(|id, _| !ids.contains(id));
        self.done.retain(|(id, ..)| !ids.contains(id));
        self.current.extend(now.current);
        self.done.extend(now.done);
    }
}

/// Whether the line is at fault, and not the store.
fn is_about_the_line(error: &Error) -> bool {
    matches!(error, Error::Conflict { .. } | Error::NotFound { .. } | Error::Invalid { .. })
}

fn made(entry: &Entry) -> (Actor, String, Timestamp, Option<String>, u64) {
    let at = to_millisecond(entry.at);
    (entry.actor, entry.cause.clone(), at, entry.run.clone(), entry.cost)
}

fn mark(entry: &Entry) -> Mark {
    (entry.id, entry.op, to_millisecond(entry.at), entry.cause.clone(), version(entry))
}

/// The version that a line of the journal left or removed; none once its text was erased.
fn version(entry: &Entry) -> Option<u32> {
    entry.after.as_ref().or(entry.before.as_ref()).map(|memory| memory.version)
}

/// The text that a line adds.
fn text(entry: &Entry) -> Option<Fingerprint> {
    let after = entry.after.as_ref().filter(|_| entry.op == Op::Add)?;
    Some(after.fingerprint())
}
