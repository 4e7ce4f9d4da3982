//! Vaults: folders in which each memory is a markdown file that people and git can read, with `MEMORY.md` as the index.
//!
//! [`Page`] is what a file says, [`Index`] the lines of `MEMORY.md`, [`list`] what a folder holds, [`decide`] what to do
//! where a file and a memory no longer say the same. [`save`] and [`delete`] change a folder on their own.

mod name;
mod index;
mod page;
mod list;
mod decide;
mod disk;
mod save;

pub use decide::{OnDisk, Step, Stored, decide};
pub use disk::{
    Lock, MAX_FILE_BYTES, Stat, create, hidden, read_small, remove, remove_leftovers, replace,
};
pub use index::{Index, IndexView, MAX_VIEW_BYTES, MAX_VIEW_LINES, escaped, summary};
pub use list::{Entry, Listing, MAX_PROMPT_FILES, Skipped, is_memory_file, list, memory_files};
pub use name::{file_name, is_index, safe_name, slug};
pub use page::Page;
pub use save::{Note, delete, save};

/// Whether a folder is a vault: it was synced or saved to before.
pub fn is_vault(folder: &std::path::Path) -> bool {
    folder.join(HIDDEN).is_dir()
}

/// The file that lists the others.
pub const INDEX: &str = "MEMORY.md";

/// The folder inside a vault for what only the program needs. It can be left out of git.
pub const HIDDEN: &str = ".everlore";
