//! From what both sides say to what has to be done: pure, no I/O.

mod parts;
mod pairs;
mod tracked;
mod draft;

use std::collections::{BTreeMap, HashMap, HashSet};

pub(super) use self::parts::{FileWork, IndexWork, Work, base_of};
use self::{
    draft::{conflict_copy, memory_of},
    pairs::{is_another, sort_out},
};

use super::{
    known::Known,
    look::{Found, Look, Seen},
    state::{Base, Digest, State},
    sync::{Done, SyncRequest, What},
};
use crate::{
    files::vault::Page,
    text::secrets::told,
    types::{Change, Memory, MemoryId, Status, Timestamp},
};

/// Plans a sync.
pub(super) fn plan(
    state: &State,
    look: &Look,
    known: &Known,
    request: &SyncRequest,
    now: Timestamp,
) -> Work {
    let mut planner = Planner {
        known,
        request,
        now,
        claimed: HashSet::new(),
        noted: HashMap::new(),
        work: Work::default(),
    };
    planner.tell_skipped(look);
    let live = planner.live(state);
    let (renamed, strangers) = sort_out(&live, look, known);
    planner.claimed = live.values().map(|base| base.id).collect();
    let noted = state.files.iter().filter(|(file, _)| !live.contains_key(file));
    planner.noted = noted.map(|(file, base)| (file.clone(), base.id)).collect();
    planner.work.drops.extend(planner.noted.keys().cloned());
    let absent = planner.noted.keys().filter(|file| !look.files.contains_key(*file));
    planner.work.index.extend(absent.map(|file| IndexWork::Remove { file: file.clone() }));
    for (file, base) in live {
        let name = renamed.get(file).copied().unwrap_or(file);
        if name != file {
            planner.rename(file, name, base);
        }
        let is_own = name != file || !is_another(base, look.files.get(name));
        planner.tracked(name, base, look.files.get(name).filter(|_| is_own));
    }
    for (file, seen, page) in strangers {
        planner.stranger(file, seen, page);
    }
    planner.memories_without_files();
    planner.work
}

struct Planner<'a> {
    known: &'a Known,
    request: &'a SyncRequest,
    now: Timestamp,
    /// Memories that have a file.
    claimed: HashSet<MemoryId>,
    /// Files that were about to get a memory which is not there: never stored, or stored and gone since.
    noted: HashMap<String, MemoryId>,
    work: Work,
}

impl Planner<'_> {
    /// What was noted before a memory was stored counts only if it was stored.
    fn counts(&self, base: &Base) -> bool {
        !base.pending || self.known.memory(base.id).is_some()
    }

    /// The records that count. A file that was renamed and noted anew before a crash is known by its new name.
    fn live<'s>(&mut self, state: &'s State) -> BTreeMap<&'s String, &'s Base> {
        let mut live: BTreeMap<&String, &Base> =
            state.files.iter().filter(|(_, base)| self.counts(base)).collect();
        let noted: HashMap<MemoryId, &String> = live
            .iter()
            .filter(|(_, base)| base.pending)
            .map(|(file, base)| (base.id, *file))
            .collect();
        live.retain(|file, base| {
            let newer = noted.get(&base.id).filter(|newer| *newer != file);
            if let Some(newer) = newer {
                let (from, to) = ((*file).clone(), (*newer).clone());
                self.work.index.push(IndexWork::Rename { from, to });
            }
            newer.is_none()
        });
        live
    }

    fn tell_skipped(&mut self, look: &Look) {
        for skipped in &look.skipped {
            self.tell(What::Skipped, &skipped.file, None, Some(skipped.reason.clone()));
        }
        for (file, seen) in &look.files {
            if let Found::Bad(reason) = &seen.found {
                self.tell(What::Skipped, file, None, Some(reason.clone()));
            }
        }
    }

    fn rename(&mut self, from: &str, to: &str, base: &Base) {
        self.work.drops.push(from.to_owned());
        self.work.records.insert(to.to_owned(), base.clone());
        self.work.index.push(IndexWork::Rename { from: from.to_owned(), to: to.to_owned() });
        self.tell(What::Renamed, to, Some(base.id), Some(format!("was {from}")));
    }

    /// A file that nobody kept track of.
    fn stranger(&mut self, file: &String, seen: &Seen, page: &Page) {
        let known = self.known;
        let own = page.id.filter(|id| !self.claimed.contains(id));
        if let Some(memory) = own.and_then(|id| known.memory(id)) {
            return self.pair(file, seen, page, memory);
        }
        if known.is_erased(&page.content) {
            return match page.id.or(self.noted.get(file).copied()) {
                // It was a memory of ours, so we take it away.
                Some(id) => self.remove_file(file, id, seen.hash),
                None => self.tell(What::Skipped, file, None, Some(FORGOTTEN.to_owned())),
            };
        }
        if let Some(id) = own.filter(|id| known.deleted(*id).is_some()) {
            return self.bring_back(file, seen, page, id, None);
        }
        let twin = known.twins(page).find(|memory| !self.claimed.contains(&memory.id));
        match twin.filter(|twin| page.id.is_none() && page.agrees(twin)) {
            Some(twin) => self.pair(file, seen, page, twin),
            None => self.store_new(file, seen, page, own),
        }
    }

    /// A file and a memory that belong together, though nothing is known of what both said before.
    fn pair(&mut self, file: &str, seen: &Seen, page: &Page, memory: &Memory) {
        self.claimed.insert(memory.id);
        if self.known.is_erased(&page.content) {
            self.work.waits = true;
            return self.tell(What::Skipped, file, Some(memory.id), Some(FORGOTTEN.to_owned()));
        }
        let line = Box::new(memory.clone());
        self.work.index.push(IndexWork::Add { file: file.to_owned(), memory: line });
        if memory.status != Status::Active {
            return self.update(file, seen, page, memory, What::Updated, None);
        }
        if page.agrees(memory) || self.known.once_said(memory.id, &page.content) {
            return self.write_file(file, memory, seen.hash);
        }
        self.keep_both(file, seen, page, memory);
    }

    fn keep(&mut self, file: &str, base: &Base, seen: &Seen) {
        self.work.unchanged += 1;
        if base.stat != seen.stat || base.pending {
            let base = Base { stat: seen.stat, pending: false, ..base.clone() };
            self.work.records.insert(file.to_owned(), base);
        }
    }

    fn write_file(&mut self, file: &str, memory: &Memory, expected: Digest) {
        let memory = Box::new(memory.clone());
        self.work.files.push(FileWork::Write { file: file.to_owned(), memory, expected });
    }

    fn make_file(&mut self, memory: Memory, name: Option<String>, note: Option<String>) {
        self.claimed.insert(memory.id);
        self.work.files.push(FileWork::Make { memory: Box::new(memory), name, note });
    }

    fn remove_file(&mut self, file: &str, id: MemoryId, expected: Digest) {
        self.work.files.push(FileWork::Remove { file: file.to_owned(), id, expected });
    }

    fn update(
        &mut self,
        file: &str,
        seen: &Seen,
        page: &Page,
        memory: &Memory,
        what: What,
        note: Option<String>,
    ) {
        let mut after = memory.clone();
        page.apply_to(&mut after);
        after.status = Status::Active;
        after.superseded_by = None;
        after.updated_at = self.now;
        after.version += 1;
        self.record(file, seen, &after);
        self.work.index.push(IndexWork::Follow {
            file: file.to_owned(),
            before: Box::new(memory.clone()),
            after: Box::new(after.clone()),
        });
        self.tell(what, file, Some(after.id), with_secrets(note, seen));
        self.work.changes.push(Change::Update(Box::new(after)));
    }

    /// Stores a memory again that was deleted; one that was forgotten is a new one.
    fn bring_back(
        &mut self,
        file: &String,
        seen: &Seen,
        page: &Page,
        id: MemoryId,
        note: Option<String>,
    ) {
        let Some(before) = self.known.deleted(id) else {
            return self.store_new(file, seen, page, None);
        };
        let mut memory =
            Memory { version: before.version + 1, updated_at: self.now, ..before.clone() };
        page.apply_to(&mut memory);
        memory.status = Status::Active;
        self.store(file, seen, page, memory, note);
    }

    fn store_new(&mut self, file: &String, seen: &Seen, page: &Page, id: Option<MemoryId>) {
        let id = id.unwrap_or_else(|| MemoryId::new(self.now));
        let memory = memory_of(&self.request.scope, id, file, page, seen, self.now);
        self.store(file, seen, page, memory, None);
    }

    fn store(
        &mut self,
        file: &String,
        seen: &Seen,
        page: &Page,
        memory: Memory,
        note: Option<String>,
    ) {
        self.claimed.insert(memory.id);
        self.record(file, seen, &memory);
        let base = Base { pending: true, ..self.work.records[file].clone() };
        self.work.pending.push((file.clone(), base));
        self.work
            .index
            .push(IndexWork::Add { file: file.clone(), memory: Box::new(memory.clone()) });
        if page.id.is_some_and(|id| id != memory.id) {
            // A copy of a file tells the id of the other one.
            self.write_file(file, &memory, seen.hash);
        }
        self.tell(What::Stored, file, Some(memory.id), with_secrets(note, seen));
        self.work.changes.push(Change::Add(Box::new(memory)));
    }

    /// The file stays and its memory follows it; what the memory said gets a memory and a file of its own.
    fn keep_both(&mut self, file: &str, seen: &Seen, page: &Page, memory: &Memory) {
        let copy = conflict_copy(&self.request.scope, memory, self.now);
        let note =
            format!("edited on both sides; what the memory said is kept as \"{}\"", copy.name);
        self.update(file, seen, page, memory, What::Conflict, Some(note));
        self.work.changes.push(Change::Add(Box::new(copy.clone())));
        self.make_file(copy, None, None);
    }

    fn memories_without_files(&mut self) {
        for memory in self.known.candidates(&self.request.kinds) {
            if !self.claimed.contains(&memory.id) {
                self.make_file(memory.clone(), None, None);
            }
        }
    }

    fn record(&mut self, file: &str, seen: &Seen, memory: &Memory) {
        self.work.records.insert(file.to_owned(), base_of(memory, seen.hash, seen.stat));
    }

    fn tell(&mut self, what: What, file: &str, id: Option<MemoryId>, note: Option<String>) {
        self.work.done.push(Done { what, file: file.to_owned(), id, note });
    }
}

/// What is told of a file that holds secrets: it stays as it was typed.
fn with_secrets(note: Option<String>, seen: &Seen) -> Option<String> {
    if seen.masked.is_empty() {
        return note;
    }
    let secrets = format!("{} masked in memory, and still in the file", told(&seen.masked));
    Some(note.map_or_else(|| secrets.clone(), |note| format!("{note}; {secrets}")))
}

const FORGOTTEN: &str = "what it says was forgotten; delete the file, or change its text";
