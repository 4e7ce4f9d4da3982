//! A file that is kept track of, with its memory: what each says now, and what to do about it.

use super::{FORGOTTEN, IndexWork, Planner};
use crate::{
    files::vault::{OnDisk, Page, Step, Stored, decide},
    store::directory::{
        look::{Found, Seen},
        state::{Base, Digest},
        sync::What,
    },
    types::{Change, Memory, Status},
};

/// A file and its memory, as far as they are there.
struct Tracked<'t> {
    file: &'t String,
    /// What both said last.
    base: &'t Base,
    seen: Option<&'t Seen>,
    /// What the file says, if that is news.
    page: Option<&'t Page>,
    memory: Option<&'t Memory>,
}

impl Planner<'_> {
    /// Compares a file and its memory with what both said last, and plans what follows.
    pub(super) fn tracked(&mut self, file: &String, base: &Base, seen: Option<&Seen>) {
        let memory = self.known.memory(base.id);
        let stored = self.stored(base, memory);
        let (disk, page) = on_disk(base, seen);
        let forgotten = page.is_some_and(|page| self.known.is_erased(&page.content));
        if let (true, Some(seen)) = (forgotten, seen) {
            return self.forgotten(file, base, seen, stored);
        }
        let agree = page.zip(memory).is_some_and(|(page, memory)| page.agrees(memory));
        let behind = stored == Stored::Edited
            && page.is_some_and(|page| self.known.said_since(base.id, page));
        self.mend_index(file, base, memory, agree && stored == Stored::Edited);
        let one = Tracked { file, base, seen, page, memory };
        self.take(decide(disk, stored, agree || behind), &one);
    }

    fn stored(&self, base: &Base, memory: Option<&Memory>) -> Stored {
        match memory {
            None if self.known.was_asked(base.id) => Stored::Gone,
            None => Stored::Same,
            Some(memory) if memory.status != Status::Active => Stored::PutAway,
            Some(memory) if Digest::said(memory) == base.said => Stored::Same,
            Some(_) => Stored::Edited,
        }
    }

    /// A file that says what was forgotten: it goes if its memory is gone, and stays away from memory otherwise.
    fn forgotten(&mut self, file: &str, base: &Base, seen: &Seen, stored: Stored) {
        if stored == Stored::Gone {
            return self.remove_file(file, base.id, seen.hash);
        }
        self.work.waits = true;
        self.tell(What::Skipped, file, Some(base.id), Some(FORGOTTEN.to_owned()));
    }

    /// A sync that was ended early may have changed both sides and not yet the index.
    fn mend_index(&mut self, file: &str, base: &Base, memory: Option<&Memory>, arrived: bool) {
        let Some(memory) = memory.filter(|_| arrived || base.pending) else { return };
        let (file, memory) = (file.to_owned(), Box::new(memory.clone()));
        self.work.index.push(match arrived {
            true => IndexWork::Set { file, memory },
            false => IndexWork::Add { file, memory },
        });
    }

    fn take(&mut self, step: Step, one: &Tracked<'_>) {
        match step {
            Step::Nothing => self.stay(one),
            Step::WriteFile | Step::MakeFile => self.bring_to_file(step, one),
            Step::RemoveFile => self.remove_file(one.file, one.base.id, one.hash()),
            Step::UpdateMemory | Step::BringBack | Step::KeepBoth => {
                self.bring_to_memory(step, one)
            }
            Step::DeleteMemory => self.delete_memory(one),
            Step::Drop => self.let_go(one),
            Step::Wait => self.wait(one),
        }
    }

    fn stay(&mut self, one: &Tracked<'_>) {
        if let Some(seen) = one.seen {
            self.keep(one.file, one.base, seen);
        }
    }

    /// The memory's side is news: the file follows.
    fn bring_to_file(&mut self, step: Step, one: &Tracked<'_>) {
        let Some(memory) = one.memory else { return };
        if step == Step::WriteFile {
            return self.write_file(one.file, memory, one.hash());
        }
        self.work.drops.push(one.file.clone());
        let note = "was deleted here, but edited in memory".to_owned();
        self.make_file(memory.clone(), Some(one.file.clone()), Some(note));
    }

    /// The file's side is news: the memory follows.
    fn bring_to_memory(&mut self, step: Step, one: &Tracked<'_>) {
        let (Some(seen), Some(page)) = (one.seen, one.page) else { return };
        let Some(memory) = one.memory else {
            let note = "was deleted, but edited here".to_owned();
            return self.bring_back(one.file, seen, page, one.base.id, Some(note));
        };
        if step == Step::KeepBoth {
            return self.keep_both(one.file, seen, page, memory);
        }
        let put_away = "was put away, but edited here".to_owned();
        let note = (step == Step::BringBack).then_some(put_away);
        self.update(one.file, seen, page, memory, What::Updated, note);
    }

    fn delete_memory(&mut self, one: &Tracked<'_>) {
        self.work.changes.push(Change::Delete(one.base.id));
        self.let_go(one);
        self.tell(What::Deleted, one.file, Some(one.base.id), None);
    }

    fn let_go(&mut self, one: &Tracked<'_>) {
        self.work.drops.push(one.file.clone());
        self.work.index.push(IndexWork::Remove { file: one.file.clone() });
    }

    /// That it was skipped is told already; what is more, it keeps a change from arriving.
    fn wait(&mut self, one: &Tracked<'_>) {
        self.work.waits = true;
        let note = "its memory was changed meanwhile; mend the file, or delete it".to_owned();
        self.tell(What::Skipped, one.file, Some(one.base.id), Some(note));
    }
}

impl Tracked<'_> {
    /// The bytes that the file has, or had.
    fn hash(&self) -> Digest {
        self.seen.map_or(self.base.hash, |seen| seen.hash)
    }
}

fn on_disk<'t>(base: &Base, seen: Option<&'t Seen>) -> (OnDisk, Option<&'t Page>) {
    match seen.map(|seen| (seen.hash == base.hash, &seen.found)) {
        None => (OnDisk::Gone, None),
        Some((true, _)) => (OnDisk::Same, None),
        Some((false, Found::Page(page))) => (OnDisk::Edited, Some(&**page)),
        Some((false, _)) => (OnDisk::Unreadable, None),
    }
}
