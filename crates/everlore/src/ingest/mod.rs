//! Write path: turns, statements, documents and imports become memories that are stored, indexed and journaled.

mod records;
mod request;
mod naming;
mod mask;
mod extract;
mod gate;
mod reconcile;
mod neighbours;
mod rivals;
mod corrected;
mod arbiter;
mod draft_resolution;
mod capture_plan;
mod commit;
mod remember;
mod saved;
mod edit;
mod overview;
mod undo;
mod jsonl;
mod import;
mod external_import;
mod documents;
mod agent_notes;
mod daily;

pub use crate::text::text_sketch::TextSketch;
pub use agent_notes::{AgentNote, agent_note};
pub(crate) use agent_notes::{find_note, store_notes};
pub(crate) use arbiter::{Arbiter, arbiter_request, parse_decision, reconcile_prompt};
pub(crate) use capture_plan::{
    CaptureContext, CapturePlan, approved_memory, assign_free_uri, plan_capture,
};
pub use capture_plan::{DraftFate, DraftOutcome};
pub(crate) use commit::{SaveDeps, observe};
pub(crate) use corrected::find_corrected;
pub use daily::DayArchiveOutcome;
pub(crate) use daily::{archive_day, daily_log_date, redact_day};
pub use documents::{Document, IngestOptions, IngestReport};
pub(crate) use documents::{
    IngestedDocument, chunk_origin, document_paths, find_document, ingest_document,
    ingested_document, remove_document,
};
pub(crate) use draft_resolution::CaptureModels;
pub use edit::MemoryEdit;
pub(crate) use edit::{archive_all, change_memory, edit_memory, set_status, set_weight, supersede};
pub(crate) use external_import::{ExternalImportOptions, import_drafts};
pub use external_import::{ExternalImportReport, ImportedKindCount};
pub use extract::{Correction, Draft, SentenceJudge, SessionTurns, TurnText, extract_statements};
pub(crate) use extract::{
    ExtractionInput, attribute_to_speakers, extract_prompt, extraction_request, parse_extraction,
};
pub(crate) use gate::GateContext;
pub use import::{ImportOptions, ImportReport, RejectedLine};
pub(crate) use import::{ReplaySource, import_jsonl, replay_journal};
pub use jsonl::{ExportHeader, ExportLine};
pub use naming::day_uri;
pub(crate) use naming::root_uri;
pub(crate) use neighbours::neighbours_of_text;
pub(crate) use overview::{overview_prompt, overview_request, parse_overviews};
pub(crate) use reconcile::Resolution;
pub(crate) use records::record_memory;
pub(crate) use remember::{remember, supersede_rivals};
pub(crate) use request::record_refusal;
pub use request::{RememberRequest, Turn};
pub(crate) use rivals::{are_rivals, rival_keys};
pub use saved::{DoubtedMemory, SaveReceipt, SavedMemory, SupersededMemory, UndoRun};
pub use undo::{UndoTarget, UndoneStep};
pub(crate) use undo::{redo, undo, undo_last};
