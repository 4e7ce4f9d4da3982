//! File-based parts of the engine: layers, vault, documents, exports, and imports from other systems.

mod layers;
mod vault;
mod documents;
mod export;
mod migrate;
mod page_size;

pub use export::ExportReport;
pub use layers::{ArchivedDay, SessionEnd};
pub(super) use layers::{is_chinese, summary_input};
pub use migrate::{FilledLayer, MigrationRequest, MigrationSummary};
