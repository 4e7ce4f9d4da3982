//! Vaults: folders in which each memory is a markdown file that people and git can read, with `MEMORY.md` as the index.
//!
//! [`VaultPage`] is the content of a file, [`VaultIndex`] the lines of `MEMORY.md`, [`list()`] lists a folder,
//! [`decide()`] chooses the sync step for a file and a memory that differ. [`save()`] writes a file without a
//! database.

mod file_names;
mod index;
mod page;
mod list;
mod decide;
mod vault_file;
mod save;
mod registry;

pub(crate) use decide::{FileSyncState, MemorySyncState, SyncDecision, decide};
pub use file_names::sanitize_file_name;
pub(crate) use file_names::{is_index_file, slug, unique_file_name};
pub use index::{MAX_INDEX_VIEW_BYTES, MAX_INDEX_VIEW_LINES, VaultIndex};
pub(crate) use index::{VaultIndexView, escape_link_text, index_summary};
pub use list::{MAX_PROMPT_FILES, VaultListing, list};
pub(crate) use list::{SkippedVaultFile, is_memory_file, memory_files};
pub use page::VaultPage;
pub use registry::register_vault;
pub(crate) use registry::{unregister_vaults, vaults_of};
pub use save::{VaultNote, save};
pub(crate) use vault_file::remove_if_exists;
pub(crate) use vault_file::{
    FileStat, VaultLock, create_file, ensure_meta_folder, read_limited, remove_temp_files,
    replace_file,
};

/// Returns `true` if a folder is a vault: it was synced or saved to before.
pub(crate) fn is_vault(folder: &std::path::Path) -> bool {
    folder.join(META_FOLDER).is_dir()
}

/// File that lists the others.
pub const INDEX_FILE: &str = "MEMORY.md";

/// Folder inside a vault for the program's own data. It can be left out of git.
pub(crate) const META_FOLDER: &str = ".everlore";
