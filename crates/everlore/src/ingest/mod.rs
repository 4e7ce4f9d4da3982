//! The write path: what is told becomes a memory that is stored, findable and accounted for.

mod draft;
mod naming;
mod mask;
mod extract;
mod likeness;
mod gate;
mod reconcile;
mod near;
mod arbiter;
mod capture;
mod commit;
mod edit;
mod overview;
mod undo;
mod lines;
mod import;
mod foreign;
mod documents;
mod notes;
mod daily;

pub use arbiter::{Arbiter, ask_what_it_means, read_decision, reconcile_prompt};
pub use capture::{Became, Judging, Outcome, Planned, approved, find_uri, plan};
pub use commit::{Receipt, Saved, observe, remember};
pub use daily::{KeptDay, day_of, day_without, keep_day};
pub use documents::{
    Catalogued, Document, IngestOptions, IngestReport, catalogued, chunk_of, document_at,
    documents, ingest_document, ingest_run, remove_document,
};
pub use draft::{Remember, Turn};
pub use edit::{Edit, archive_all, edit, set_status, set_weight, supersede};
pub use extract::{
    Conversation, Draft, Said, ask_for_memories, extract_by_rules, extract_prompt, read_answer,
};
pub use foreign::{ForeignOptions, ForeignReport, Taken, import_foreign, import_run};
pub use gate::{GateContext, Reason, Verdict, judge, trust_of};
pub use import::{ImportOptions, ImportReport, Rejected, import};
pub use likeness::Likeness;
pub use lines::{Header, Line};
pub use naming::{day_uri, root_uri};
pub use near::near_text;
pub use notes::{Note, keep_notes, note_at, note_of};
pub use overview::{ask_for_overviews, overview_prompt, read_overviews};
pub use reconcile::{Resolution, Skipped, VALID_FROM_KEY, VALID_UNTIL_KEY, changes, reconcile};
pub use undo::{Undo, undo};
