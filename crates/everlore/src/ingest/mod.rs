//! Write path: turns, statements, documents and imports become memories that are stored, indexed and journaled.

mod request;
mod naming;
mod mask;
mod extract;
mod text_sketch;
mod gate;
mod reconcile;
mod neighbours;
mod arbiter;
mod capture_plan;
mod commit;
mod edit;
mod overview;
mod undo;
mod jsonl;
mod import;
mod external_import;
mod documents;
mod agent_notes;
mod daily;

pub use agent_notes::{AgentNote, agent_note, find_note, store_notes};
pub use arbiter::{Arbiter, arbiter_request, parse_decision, reconcile_prompt};
pub use capture_plan::{
    CaptureContext, CapturePlan, DraftFate, DraftOutcome, approved_memory, assign_free_uri,
    plan_capture,
};
pub use commit::{SaveReceipt, SavedMemory, observe, remember};
pub use daily::{DayArchiveOutcome, archive_day, daily_log_date, redact_day};
pub use documents::{
    Document, IngestOptions, IngestReport, IngestedDocument, chunk_origin, document_paths,
    find_document, ingest_document, ingested_document, new_ingest_run, remove_document,
};
pub use edit::{MemoryEdit, archive_all, edit_memory, set_status, set_weight, supersede};
pub use external_import::{
    ExternalImportOptions, ExternalImportReport, ImportedKindCount, import_drafts, new_import_run,
};
pub use extract::{
    Draft, ExtractionInput, TurnText, extract_by_rules, extract_prompt, extraction_request,
    parse_extraction,
};
pub use gate::GateContext;
pub use import::{ImportOptions, ImportReport, RejectedLine, import_jsonl};
pub use jsonl::{ExportHeader, ExportLine};
pub use naming::{day_uri, root_uri};
pub use neighbours::neighbours_of_text;
pub use overview::{overview_prompt, overview_request, parse_overviews};
pub use reconcile::{Resolution, VALID_UNTIL_KEY};
pub use request::{RememberRequest, Turn};
pub use text_sketch::TextSketch;
pub use undo::{UndoTarget, undo};
