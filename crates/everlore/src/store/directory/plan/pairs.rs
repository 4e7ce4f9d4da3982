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
    let is_gone = |file: &String, base: &Base| {
        let seen = look.files.get(file);
        seen.is_none() || is_another(base, seen)
    };
    let gone = || live.iter().filter(|(file, base)| is_gone(file, base));
    let mut by_id: HashMap<MemoryId, &String> =
        gone().map(|(file, base)| (base.id, *file)).collect();
    let by_hash: HashMap<Digest, (&String, MemoryId)> =
        gone().map(|(file, base)| (base.hash, (*file, base.id))).collect();
    // A sync that was ended early may have brought a newer text to the memory than the record tells of.
    let arrived = |id| known.memory(id).map(|memory| Digest::text(&memory.content));
    let by_text: HashMap<Digest, (&String, MemoryId)> = gone()
        .flat_map(|(file, base)| {
            let texts = [Some(base.text), arrived(base.id)].into_iter().flatten();
            texts.map(move |text| (text, (*file, base.id)))
        })
        .collect();
    let (mut renamed, mut strangers) = (HashMap::new(), Vec::new());
    for (file, seen) in
        look.files.iter().filter(|(file, _)| live.get(file).is_none_or(|base| is_gone(file, base)))
    {
        let Found::Page(page) = &seen.found else { continue };
        let text = Digest::text(&page.content);
        let by_bytes =
            by_hash.get(&seen.hash).or_else(|| by_text.get(&text).filter(|_| page.id.is_none()));
        let old = match page.id.and_then(|id| by_id.get(&id).copied()) {
            Some(old) => Some(old),
            None => by_bytes.filter(|(_, id)| by_id.contains_key(id)).map(|(old, _)| *old),
        };
        match old {
            Some(old) => {
                let base = live[old];
                by_id.remove(&base.id);
                renamed.insert(old, file);
            }
            None => strangers.push((file, seen, &**page)),
        }
    }
    (renamed, strangers)
}

/// Whether a file tells that it is another memory than the one that was under its name.
pub(super) fn is_another(base: &Base, seen: Option<&Seen>) -> bool {
    let told = seen.and_then(|seen| match &seen.found {
        Found::Page(page) => page.id,
        Found::Same | Found::Bad(_) => None,
    });
    !base.pending && told.is_some_and(|id| id != base.id)
}
