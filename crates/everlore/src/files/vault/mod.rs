//! Vaults: folders in which each memory is a markdown file that people and git can read, with `MEMORY.md` as the index.
//!
//! [`VaultPage`] is the content of a file, [`VaultIndex`] the lines of `MEMORY.md`, [`list()`] lists a folder,
//! [`decide()`] chooses the sync step for a file and a memory that differ. [`save()`] and [`delete`] change a folder
//! without a database.

mod file_names;
mod index;
mod page;
mod list;
mod decide;
mod vault_file;
mod save;

pub use decide::{FileSyncState, MemorySyncState, SyncDecision, decide};
pub use file_names::{is_index_file, sanitize_file_name, slug, unique_file_name};
pub use index::{
    MAX_INDEX_VIEW_BYTES, MAX_INDEX_VIEW_LINES, VaultIndex, VaultIndexView, escape_link_text,
    index_summary,
};
pub use list::{
    MAX_PROMPT_FILES, SkippedVaultFile, VaultEntry, VaultListing, is_memory_file, list,
    memory_files,
};
pub use page::VaultPage;
pub use save::{VaultNote, delete, save};
pub use vault_file::{
    FileStat, MAX_FILE_BYTES, VaultLock, create_file, ensure_meta_folder, read_limited,
    remove_if_exists, remove_temp_files, replace_file,
};

/// Returns `true` if a folder is a vault: it was synced or saved to before.
pub fn is_vault(folder: &std::path::Path) -> bool {
    folder.join(META_FOLDER).is_dir()
}

/// File that lists the others.
pub const INDEX_FILE: &str = "MEMORY.md";

/// Folder inside a vault for the program's own data. It can be left out of git.
pub const META_FOLDER: &str = ".everlore";
