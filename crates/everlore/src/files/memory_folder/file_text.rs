//! Texts of files in the memory folder, and the answers to commands that are refused.

use super::{
    FolderCommandError, folder_handle::FolderHandle, path::ROOT, text_edit::human_size,
    walk::WalkedNode,
};
use crate::types::MAX_CONTENT_BYTES;

/// Result of a step of planning; an error refuses the command.
pub(super) type PlanResult<T> = Result<T, FolderCommandError>;

/// Reads the text of a file below a folder, by stepping down to it again.
pub(super) fn read_walked_text(
    folder: &FolderHandle,
    entry: &WalkedNode,
    full: &str,
) -> PlanResult<String> {
    let mut folder = folder.open_subfolder(".")?;
    let mut names = entry.path.split('/').peekable();
    while let Some(name) = names.next() {
        if names.peek().is_none() {
            return read_text(&folder, name, full);
        }
        folder = folder.open_subfolder(name)?;
    }
    refuse(not_text_error(full))
}

/// Reads the text of a file. Refuses files that are too large or not UTF-8.
pub(super) fn read_text(parent: &FolderHandle, name: &str, given: &str) -> PlanResult<String> {
    let bytes = parent.read_limited(name, MAX_CONTENT_BYTES as u64)?;
    if bytes.len() > MAX_CONTENT_BYTES {
        return refuse(format!(
            "Error: {given} is larger than {}, too large to be read or changed here. A person can split it.",
            human_size(MAX_CONTENT_BYTES as u64)
        ));
    }
    String::from_utf8(bytes).or_else(|_| refuse(not_text_error(given)))
}

/// Returns first and last line of a range, -1 for the end; a range may reach beyond the end, but not begin there.
pub(super) fn resolve_range([first, last]: [i64; 2], lines: usize) -> PlanResult<(usize, usize)> {
    let end = if last == -1 { lines as i64 } else { last.min(lines as i64) };
    if first < 1 || first > lines as i64 || end < first {
        return refuse(format!(
            "Error: Invalid `view_range` parameter: [{first}, {last}]. It should be within the range of lines of the file: [1, {lines}]"
        ));
    }
    Ok((first as usize, end as usize))
}

/// Refuses a command with this answer.
pub(super) fn refuse<T>(text: String) -> PlanResult<T> {
    Err(FolderCommandError::Refused(text))
}

pub(super) fn symlink_error() -> String {
    format!("Path would escape {ROOT} directory via symlink")
}

pub(super) fn below_file_error(given: &str) -> String {
    format!("Error: {given} lies below a file. Use a path whose directories are no files.")
}

pub(super) fn not_text_error(given: &str) -> String {
    format!(
        "Error: {given} is not a text file (UTF-8), so it cannot be shown, changed or deleted here. A person can."
    )
}
