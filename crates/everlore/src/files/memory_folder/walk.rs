//! What is in a folder, all the way down, and how it is listed.

use std::io;

use super::{
    folder_handle::{FolderHandle, FolderNode},
    path::MAX_DEPTH,
    text_edit::human_size,
};

/// So deep a listing goes.
const LISTING_DEPTH: usize = 2;

/// A longer listing helps nobody; a folder below can be viewed on its own.
const MAX_LISTING_ENTRIES: usize = 1_000;

/// Something below a folder.
#[derive(Debug)]
pub(super) struct WalkedNode {
    /// Its path from the folder, without a slash at its start.
    pub(super) path: String,
    /// How many folders lead to it, 1 for what lies in the folder itself.
    pub(super) depth: usize,
    pub(super) node: FolderNode,
}

impl WalkedNode {
    /// Its size, if it is a file.
    pub(super) fn bytes(&self) -> u64 {
        if let FolderNode::File(bytes) = self.node { bytes } else { 0 }
    }

    fn is_below(&self, folder: &Self) -> bool {
        self.path.strip_prefix(&folder.path).is_some_and(|rest| rest.starts_with('/'))
    }
}

/// Everything below a folder, each folder before what is in it, in the order of names.
pub(super) fn walk_all(folder: &FolderHandle) -> io::Result<Vec<WalkedNode>> {
    let mut found = Vec::new();
    collect(folder, "", 1, &|_| true, &mut found)?;
    Ok(found)
}

/// The same without hidden items, `node_modules`, and what is neither a file nor a folder.
pub(super) fn walk_visible(folder: &FolderHandle) -> io::Result<Vec<WalkedNode>> {
    let mut found = Vec::new();
    let seen = |name: &str| !name.starts_with('.') && name != "node_modules";
    collect(folder, "", 1, &seen, &mut found)?;
    found.retain(|found| matches!(found.node, FolderNode::File(_) | FolderNode::Folder));
    Ok(found)
}

fn collect(
    folder: &FolderHandle,
    above: &str,
    depth: usize,
    wanted: &dyn Fn(&str) -> bool,
    found: &mut Vec<WalkedNode>,
) -> io::Result<()> {
    for name in folder.names()?.into_iter().filter(|name| wanted(name)) {
        let (path, node) = (format!("{above}{name}"), folder.stat(&name)?);
        found.push(WalkedNode { path: path.clone(), depth, node });
        // What lies deeper than any path may go was not made here.
        if node == FolderNode::Folder && depth < MAX_DEPTH {
            collect(&folder.open_subfolder(&name)?, &format!("{path}/"), depth + 1, wanted, found)?;
        }
    }
    Ok(())
}

/// The folder called `path` and what is in it, with sizes; that of a folder is the sum of its files.
pub(super) fn render_listing(folder: &FolderHandle, path: &str) -> io::Result<String> {
    let found = walk_visible(folder)?;
    let total: u64 = found.iter().map(WalkedNode::bytes).sum();
    let mut lines = vec![
        format!(
            "Here're the files and directories up to 2 levels deep in {path}, excluding hidden items and node_modules:"
        ),
        format!("{}\t{path}", human_size(total)),
    ];
    let near: Vec<_> =
        found.iter().enumerate().filter(|(_, found)| found.depth <= LISTING_DEPTH).collect();
    for (index, entry) in near.iter().take(MAX_LISTING_ENTRIES) {
        // What is below a folder follows it.
        let below = found[index + 1..].iter().take_while(|other| other.is_below(entry));
        let bytes = entry.bytes() + below.map(WalkedNode::bytes).sum::<u64>();
        lines.push(format!("{}\t{path}/{}", human_size(bytes), entry.path));
    }
    if let Some(more) = near.len().checked_sub(MAX_LISTING_ENTRIES).filter(|more| *more > 0) {
        lines.push(format!("... and {more} more; view a directory below to see what is in it"));
    }
    Ok(lines.join("\n"))
}
