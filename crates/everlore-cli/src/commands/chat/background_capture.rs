//! Extraction of memories during a conversation, and from the rest of it at the end.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use everlore::{
    Engine, Scope,
    engine::{BackgroundWorker, ExtractRequest, ExtractionReport},
};

use super::{interactive::wait_for_interrupt, messages::UiMessages};
use crate::{CliContext, Output, Result};

/// Time that the end waits for an extraction in progress; the next worker repeats one that is cut short.
const WORKER_GRACE: Duration = Duration::from_secs(5);

/// Background worker that extracts memories.
pub(super) struct BackgroundCapture {
    engine: Engine,
    worker: Option<BackgroundWorker>,
    /// Extractions of this scope so far.
    extractions: Arc<Mutex<Vec<ExtractionReport>>>,
}

impl BackgroundCapture {
    /// Starts a worker, for conversations of several messages.
    pub(super) async fn spawn(cx: &CliContext) -> Result<Self> {
        let engine = cx.capture_engine().await?;
        let own_scope = cx.scope.clone();
        let extractions = Arc::<Mutex<Vec<ExtractionReport>>>::default();
        let reported = Arc::clone(&extractions);
        let worker = engine.spawn_worker_with(move |scope: &Scope, extraction| {
            if *scope == own_scope {
                reported.lock().unwrap_or_else(PoisonError::into_inner).push(extraction);
            }
        });
        Ok(Self { worker: Some(worker), engine, extractions })
    }

    /// Extracts at the end only.
    pub(super) async fn without_worker(cx: &CliContext) -> Result<Self> {
        Ok(Self { worker: None, engine: cx.capture_engine().await?, extractions: Arc::default() })
    }

    /// Extracts from the rest of an ended conversation, and runs upkeep if it is due. Ctrl+C leaves the extraction for
    /// later; so does a single message, which waits for no model.
    pub(super) async fn finish(
        self,
        cx: &CliContext,
        session: &str,
        out: &mut Output,
        messages: UiMessages,
    ) -> Result<()> {
        let by_rules = self.engine.captures_without_model(&cx.scope);
        let has_worker = self.worker.is_some();
        if let Some(worker) = &self.worker {
            worker.stop(WORKER_GRACE).await;
        }
        if by_rules || has_worker {
            if !by_rules {
                out.note(messages.extracting());
            }
            let request = ExtractRequest { session: Some(session.to_owned()), dry_run: false };
            let extracted = tokio::select! {
                biased;
                () = wait_for_interrupt() => Vec::new(),
                extracted = self.engine.extract(&cx.scope, &request) => extracted?,
            };
            print_extractions(&self.extractions_for(session), &extracted, out, messages);
        }
        if let Err(error) = self.engine.upkeep_if_due(&cx.scope).await {
            out.note(&format!("warning: upkeep failed: {error}"));
        }
        Ok(())
    }

    /// Returns the worker's extractions of one session.
    fn extractions_for(&self, session: &str) -> Vec<ExtractionReport> {
        let mut reports = self.extractions.lock().unwrap_or_else(PoisonError::into_inner).clone();
        reports.retain(|report| report.session.as_deref() == Some(session));
        reports
    }
}

/// Prints how many memories were extracted, and errors of the last extraction; earlier errors were retried by it.
fn print_extractions(
    before: &[ExtractionReport],
    last: &[ExtractionReport],
    out: &mut Output,
    messages: UiMessages,
) {
    let drafts = before.iter().chain(last).flat_map(|report| &report.drafts);
    let changed = drafts.filter(|draft| draft.fate.is_change());
    match changed.count() {
        0 => {}
        count => out.note(&messages.extracted(count)),
    }
    let all = before.iter().chain(last);
    let notes: BTreeSet<&String> = all.filter_map(|report| report.note.as_ref()).collect();
    for note in notes {
        out.note(&format!("note: {note}"));
    }
    for error in last.iter().filter_map(|report| report.error.as_ref()) {
        out.note(&messages.extraction_failed(error));
    }
}
