//! Looking at a vault: which files are as they were, which say something else, which cannot be taken.

use std::{collections::BTreeMap, io, path::Path};

use super::state::{Base, Digest, State};
use crate::{
    error::Result,
    files::vault::{Page, Skipped, Stat, memory_files, read_small},
    text::secrets::SecretKind,
};

/// Clocks of file systems are coarse, by two seconds at worst: what changed this short before the last look may have
/// changed again in the same tick and is read again.
pub(super) const TICK: i64 = 2_000_000_000;

/// A file of the vault.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Seen {
    pub(super) stat: Stat,
    pub(super) hash: Digest,
    pub(super) found: Found,
    /// What was masked in it on the way to memory.
    pub(super) masked: Vec<SecretKind>,
}

/// What was found in it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Found {
    /// The bytes that were there before; not even read if nothing touched the file.
    Same,
    /// A memory.
    Page(Box<Page>),
    /// Something that cannot be taken, and why.
    Bad(String),
}

/// What a folder holds.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Look {
    pub(super) files: BTreeMap<String, Seen>,
    /// What is no file of ours at all: links, names that are no text.
    pub(super) skipped: Vec<Skipped>,
}

/// Looks at every file; only those that were touched since are read.
pub(super) fn look(folder: &Path, state: &State, mask_secrets: bool) -> Result<Look> {
    let mut look = Look::default();
    for found in memory_files(folder)? {
        match found {
            Err(skipped) => look.skipped.push(skipped),
            Ok((file, data)) => {
                // What is only noted may turn out not to count, and then the file is one to be read.
                let base = state.files.get(&file).filter(|base| !base.pending);
                let stat = Stat::of(&data);
                if let Some(mut seen) = seen(folder, &file, stat, base, state.header.looked_at) {
                    if mask_secrets && let Found::Page(page) = &mut seen.found {
                        seen.masked = page.mask_secrets();
                    }
                    look.files.insert(file, seen);
                }
            }
        }
    }
    Ok(look)
}

/// `None` if the file went away meanwhile.
fn seen(
    folder: &Path,
    file: &str,
    stat: Stat,
    base: Option<&Base>,
    looked_at: i64,
) -> Option<Seen> {
    if let Some(base) = base
        && base.stat == stat
        && stat.latest() + TICK < looked_at
    {
        return Some(Seen { stat, hash: base.hash, found: Found::Same, masked: Vec::new() });
    }
    match read_small(&folder.join(file)) {
        Ok((bytes, stat)) => {
            let hash = Digest::of(&bytes);
            let is_same = base.is_some_and(|base| base.hash == hash);
            let found = if is_same { Found::Same } else { taken(bytes) };
            Some(Seen { stat, hash, found, masked: Vec::new() })
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        // A digest that no file has: it is not as it was.
        Err(error) => {
            let found = Found::Bad(error.to_string());
            Some(Seen { stat, hash: Digest::of(&[]), found, masked: Vec::new() })
        }
    }
}

fn taken(bytes: Vec<u8>) -> Found {
    let Ok(text) = String::from_utf8(bytes) else {
        return Found::Bad("it is not UTF-8".to_owned());
    };
    match Page::taken(&text) {
        Ok(page) => Found::Page(Box::new(page)),
        Err(error) => Found::Bad(error.to_string()),
    }
}
