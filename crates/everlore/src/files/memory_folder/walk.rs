//! Walk of a folder and its listing.

use std::io;

use super::{
    folder_handle::{FolderHandle, FolderNode},
    path::MAX_DEPTH,
    text_edit::human_size,
};

/// Levels of a listing.
const LISTING_DEPTH: usize = 2;

/// Most entries of a listing; a folder below can be viewed on its own.
const MAX_LISTING_ENTRIES: usize = 1_000;

/// Entry below a folder.
#[derive(Debug)]
pub(super) struct WalkedNode {
    /// Path from the folder, without a leading slash.
    pub(super) path: String,
    /// Number of folders above it, 1 for an entry of the folder itself.
    pub(super) depth: usize,
    pub(super) node: FolderNode,
}

impl WalkedNode {
    /// Returns its size, if it is a file.
    pub(super) fn bytes(&self) -> u64 {
        if let FolderNode::File(bytes) = self.node { bytes } else { 0 }
    }

    fn is_below(&self, folder: &Self) -> bool {
        self.path.strip_prefix(&folder.path).is_some_and(|rest| rest.starts_with('/'))
    }
}

/// Returns everything below a folder, each folder before its entries, in the order of names.
pub(super) fn walk_all(folder: &FolderHandle) -> io::Result<Vec<WalkedNode>> {
    let mut entries = Vec::new();
    collect(folder, "", 1, &|_| true, &mut entries)?;
    Ok(entries)
}

/// Returns the same without hidden entries, `node_modules`, and anything but files and folders.
pub(super) fn walk_visible(folder: &FolderHandle) -> io::Result<Vec<WalkedNode>> {
    let mut entries = Vec::new();
    let is_visible = |name: &str| !name.starts_with('.') && name != "node_modules";
    collect(folder, "", 1, &is_visible, &mut entries)?;
    entries.retain(|entry| matches!(entry.node, FolderNode::File(_) | FolderNode::Folder));
    Ok(entries)
}

fn collect(
    folder: &FolderHandle,
    above: &str,
    depth: usize,
    is_wanted: &dyn Fn(&str) -> bool,
    entries: &mut Vec<WalkedNode>,
) -> io::Result<()> {
    for name in folder.names()?.into_iter().filter(|name| is_wanted(name)) {
        let (path, node) = (format!("{above}{name}"), folder.stat(&name)?);
        entries.push(WalkedNode { path: path.clone(), depth, node });
        // Entries deeper than any path may go were not made here.
        if node == FolderNode::Folder && depth < MAX_DEPTH {
            collect(
                &folder.open_subfolder(&name)?,
                &format!("{path}/"),
                depth + 1,
                is_wanted,
                entries,
            )?;
        }
    }
    Ok(())
}

/// Returns the folder called `path` and its entries, with sizes; that of a folder is the sum of its files.
pub(super) fn render_listing(folder: &FolderHandle, path: &str) -> io::Result<String> {
    let entries = walk_visible(folder)?;
    let total: u64 = entries.iter().map(WalkedNode::bytes).sum();
    let mut lines = vec![
        format!(
            "Here're the files and directories up to 2 levels deep in {path}, excluding hidden items and node_modules:"
        ),
        format!("{}\t{path}", human_size(total)),
    ];
    let listed: Vec<_> =
        entries.iter().enumerate().filter(|(_, entries)| entries.depth <= LISTING_DEPTH).collect();
    for (index, entry) in listed.iter().take(MAX_LISTING_ENTRIES) {
        // Entries below a folder follow it.
        let below = entries[index + 1..].iter().take_while(|other| other.is_below(entry));
        let bytes = entry.bytes() + below.map(WalkedNode::bytes).sum::<u64>();
        lines.push(format!("{}\t{path}/{}", human_size(bytes), entry.path));
    }
    if let Some(more) = listed.len().checked_sub(MAX_LISTING_ENTRIES).filter(|more| *more > 0) {
        lines.push(format!("... and {more} more; view a directory below to see what is in it"));
    }
    Ok(lines.join("\n"))
}
