//! Vault scan: tells unchanged files from changed and unreadable ones.

use std::{collections::BTreeMap, io, path::Path};

use super::sync_state::{ContentDigest, MergeBase, SyncState};
use crate::{
    error::Result,
    files::vault::{FileStat, SkippedVaultFile, VaultPage, memory_files, read_limited},
    text::secrets::{SecretKind, find_secrets, mask},
};

/// Granularity of file system clocks, two seconds at worst: a file that changed this short before the last scan may
/// have changed again in the same tick and is read again.
pub(super) const CLOCK_GRANULARITY_NS: i64 = 2_000_000_000;

/// File of the vault.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ScannedFile {
    pub(super) stat: FileStat,
    pub(super) hash: ContentDigest,
    pub(super) content: FileContent,
    /// Kinds of secrets that were masked on the way to memory.
    pub(super) masked: Vec<SecretKind>,
}

/// Content of a scanned file.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum FileContent {
    /// Same bytes as before; a file that nothing touched is not even read.
    Unchanged,
    /// Memory page.
    Page(Box<VaultPage>),
    /// Unreadable file, with the reason.
    Unreadable(String),
}

/// Result of a scan.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct VaultScan {
    pub(super) files: BTreeMap<String, ScannedFile>,
    /// Entries that cannot be memory files: links, names that are no text.
    pub(super) skipped: Vec<SkippedVaultFile>,
}

/// Scans every file; only files that changed since the last scan are read.
pub(super) fn scan_vault(
    folder: &Path,
    state: &SyncState,
    mask_secrets: bool,
) -> Result<VaultScan> {
    let mut scan = VaultScan::default();
    for found in memory_files(folder)? {
        match found {
            Err(skipped) => scan.skipped.push(skipped),
            // The name would become part of memories and of the sync state.
            Ok((file, _)) if mask_secrets && !find_secrets(&file).is_empty() => {
                let reason = "its name has a secret: rename the file".to_owned();
                scan.skipped.push(SkippedVaultFile { file: mask(&file).0.into_owned(), reason });
            }
            Ok((file, data)) => {
                // A pending record may turn out not to count, and then the file has to be read.
                let base = state.files.get(&file).filter(|base| !base.pending);
                let stat = FileStat::from_metadata(&data);
                if let Some(mut scanned) =
                    scan_file(folder, &file, stat, base, state.header.looked_at)
                {
                    if mask_secrets && let FileContent::Page(page) = &mut scanned.content {
                        scanned.masked = page.mask_secrets();
                    }
                    scan.files.insert(file, scanned);
                }
            }
        }
    }
    Ok(scan)
}

/// Scans one file; `None` if it disappeared meanwhile.
fn scan_file(
    folder: &Path,
    file: &str,
    stat: FileStat,
    base: Option<&MergeBase>,
    looked_at: i64,
) -> Option<ScannedFile> {
    if let Some(base) = base
        && base.stat == stat
        && stat.last_changed() + CLOCK_GRANULARITY_NS < looked_at
    {
        return Some(ScannedFile {
            stat,
            hash: base.hash,
            content: FileContent::Unchanged,
            masked: Vec::new(),
        });
    }
    match read_limited(&folder.join(file)) {
        Ok((bytes, stat)) => {
            let hash = ContentDigest::of_bytes(&bytes);
            let is_same = base.is_some_and(|base| base.hash == hash);
            let found = if is_same { FileContent::Unchanged } else { parse_page(bytes) };
            Some(ScannedFile { stat, hash, content: found, masked: Vec::new() })
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        // A digest that no file has: the file counts as changed.
        Err(error) => {
            let found = FileContent::Unreadable(error.to_string());
            Some(ScannedFile {
                stat,
                hash: ContentDigest::of_bytes(&[]),
                content: found,
                masked: Vec::new(),
            })
        }
    }
}

fn parse_page(bytes: Vec<u8>) -> FileContent {
    let Ok(text) = String::from_utf8(bytes) else {
        return FileContent::Unreadable("it is not UTF-8".to_owned());
    };
    match VaultPage::parse_strict(&text) {
        Ok(page) => FileContent::Page(Box::new(page)),
        Err(error) => FileContent::Unreadable(error.to_string()),
    }
}
