//! Rename detection: tells files that only changed their names from new ones.

use std::collections::{BTreeMap, HashMap};

use crate::{
    files::vault::VaultPage,
    store::directory::{
        database_view::DatabaseView,
        sync_state::{ContentDigest, MergeBase},
        vault_scan::{FileContent, ScannedFile, VaultScan},
    },
    types::MemoryId,
};

/// File without a record.
pub(super) type UntrackedFile<'a> = (&'a String, &'a ScannedFile, &'a VaultPage);

/// Splits files without a record into renamed ones, by their old names, and new ones.
pub(super) fn detect_renames<'a>(
    live: &BTreeMap<&'a String, &'a MergeBase>,
    scan: &'a VaultScan,
    database: &DatabaseView,
) -> (HashMap<&'a String, &'a String>, Vec<UntrackedFile<'a>>) {
    let mut missing = MissingFiles::new(live, scan, database);
    let (mut renamed, mut untracked) = (HashMap::new(), Vec::new());
    for (file, scanned) in &scan.files {
        let FileContent::Page(page) = &scanned.content else { continue };
        if live.get(file).is_some_and(|base| !is_missing(base, Some(scanned))) {
            continue;
        }
        match missing.take_match(scanned, page) {
            Some(old) => drop(renamed.insert(old, file)),
            None => untracked.push((file, scanned, &**page)),
        }
    }
    (renamed, untracked)
}

/// Names of files that disappeared, by the keys that can identify a file under another name.
struct MissingFiles<'a> {
    /// Old names that no file has matched yet.
    by_id: HashMap<MemoryId, &'a String>,
    by_hash: HashMap<ContentDigest, MemoryId>,
    by_text: HashMap<ContentDigest, MemoryId>,
}

impl<'a> MissingFiles<'a> {
    fn new(
        live: &BTreeMap<&'a String, &'a MergeBase>,
        scan: &VaultScan,
        database: &DatabaseView,
    ) -> Self {
        let missing =
            || live.iter().filter(|(file, base)| is_missing(base, scan.files.get(**file)));
        // An interrupted sync may have brought a newer text to the memory than the record has.
        let arrived =
            |id| database.memory(id).map(|memory| ContentDigest::of_text(&memory.content));
        let texts = |base: &MergeBase| [Some(base.text), arrived(base.id)].into_iter().flatten();
        Self {
            by_id: missing().map(|(file, base)| (base.id, *file)).collect(),
            by_hash: missing().map(|(_, base)| (base.hash, base.id)).collect(),
            by_text: missing()
                .flat_map(|(_, base)| texts(base).map(|text| (text, base.id)))
                .collect(),
        }
    }

    /// Takes the old name of a file, so that no other file can match it.
    fn take_match(&mut self, scanned: &ScannedFile, page: &VaultPage) -> Option<&'a String> {
        let named_id = page.id.filter(|id| self.by_id.contains_key(id));
        let by_text = || {
            self.by_text.get(&ContentDigest::of_text(&page.content)).filter(|_| page.id.is_none())
        };
        let by_bytes = || self.by_hash.get(&scanned.hash).or_else(by_text).copied();
        self.by_id.remove(&named_id.or_else(by_bytes)?)
    }
}

/// Returns `true` if a file is no longer found under its name, or is another by now.
fn is_missing(base: &MergeBase, scanned: Option<&ScannedFile>) -> bool {
    scanned.is_none() || is_other_memory(base, scanned)
}

/// Returns `true` if a file names another memory than the one recorded under its name.
pub(super) fn is_other_memory(base: &MergeBase, scanned: Option<&ScannedFile>) -> bool {
    let named_id = scanned.and_then(|scanned| match &scanned.content {
        FileContent::Page(page) => page.id,
        FileContent::Unchanged | FileContent::Unreadable(_) => None,
    });
    !base.pending && named_id.is_some_and(|id| id != base.id)
}
