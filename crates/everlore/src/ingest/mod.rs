//! The write path: what is told becomes a memory that is stored, findable and accounted for.

mod draft;
mod naming;
mod commit;
mod edit;
mod undo;
mod lines;
mod import;

pub use commit::{Receipt, Saved, observe, remember};
pub use draft::{Remember, Turn};
pub use edit::{Edit, archive_all, edit, set_status, supersede};
pub use import::{ImportOptions, ImportReport, Rejected, import};
pub use lines::{Header, Line};
pub use undo::{Undo, undo};
