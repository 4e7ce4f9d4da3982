//! Which files are old acquaintances under other names, and which are strangers.

use std::collections::{BTreeMap, HashMap};

use crate::{
    files::vault::Page,
    store::directory::{
        known::Known,
        look::{Found, Look, Seen},
        state::{Base, Digest},
    },
    types::MemoryId,
};

/// A file that nobody kept track of.
pub(super) type Stranger<'a> = (&'a String, &'a Seen, &'a Page);

/// Tells files that were only renamed, by their old names, from those that are new.
pub(super) fn sort_out<'a>(
    live: &BTreeMap<&'a String, &'a Base>,
    look: &'a Look,
    known: &Known,
) -> (HashMap<&'a String, &'a String>, Vec<Stranger<'a>>) {
    let mut missing = Missing::of(live, look, known);
    let (mut renamed, mut strangers) = (HashMap::new(), Vec::new());
    for (file, seen) in &look.files {
        let Found::Page(page) = &seen.found else { continue };
        if live.get(file).is_some_and(|base| !is_gone(base, Some(seen))) {
            continue;
        }
        match missing.take(seen, page) {
            Some(old) => drop(renamed.insert(old, file)),
            None => strangers.push((file, seen, &**page)),
        }
    }
    (renamed, strangers)
}

/// The names under which files are no longer found, by what may tell that one has another name now.
struct Missing<'a> {
    /// Those whose new name is still looked for.
    by_id: HashMap<MemoryId, &'a String>,
    by_hash: HashMap<Digest, MemoryId>,
    by_text: HashMap<Digest, MemoryId>,
}

impl<'a> Missing<'a> {
    fn of(live: &BTreeMap<&'a String, &'a Base>, look: &Look, known: &Known) -> Self {
        let gone = || live.iter().filter(|(file, base)| is_gone(base, look.files.get(**file)));
        // A sync that was ended early may have brought a newer text to the memory than the record tells of.
        let arrived = |id| known.memory(id).map(|memory| Digest::text(&memory.content));
        let texts = |base: &Base| [Some(base.text), arrived(base.id)].into_iter().flatten();
        Self {
            by_id: gone().map(|(file, base)| (base.id, *file)).collect(),
            by_hash: gone().map(|(_, base)| (base.hash, base.id)).collect(),
            by_text: gone().flat_map(|(_, base)| texts(base).map(|text| (text, base.id))).collect(),
        }
    }

    /// The name that a file had before, which no other can have had.
    fn take(&mut self, seen: &Seen, page: &Page) -> Option<&'a String> {
        let told = page.id.filter(|id| self.by_id.contains_key(id));
        let by_text =
            || self.by_text.get(&Digest::text(&page.content)).filter(|_| page.id.is_none());
        let by_bytes = || self.by_hash.get(&seen.hash).or_else(by_text).copied();
        self.by_id.remove(&told.or_else(by_bytes)?)
    }
}

/// Whether a file is no longer found under its name, or is another by now.
fn is_gone(base: &Base, seen: Option<&Seen>) -> bool {
    seen.is_none() || is_another(base, seen)
}

/// Whether a file tells that it is another memory than the one that was under its name.
pub(super) fn is_another(base: &Base, seen: Option<&Seen>) -> bool {
    let told = seen.and_then(|seen| match &seen.found {
        Found::Page(page) => page.id,
        Found::Same | Found::Bad(_) => None,
    });
    !base.pending && told.is_some_and(|id| id != base.id)
}
