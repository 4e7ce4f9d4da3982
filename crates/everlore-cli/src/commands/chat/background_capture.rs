//! Memories are drawn while people talk, and from what is left of a conversation at its end.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use everlore::{
    Engine, Scope,
    engine::{BackgroundWorker, ExtractRequest, ExtractionReport},
};

use super::{interactive::wait_for_interrupt, messages::UiMessages};
use crate::{cli_context::CliContext, error::Result, output::Output};

/// How long the end waits for a reading that is under way; the next worker does again what is cut short.
const WORKER_GRACE: Duration = Duration::from_secs(5);

/// Whoever reads along.
pub(super) struct BackgroundCapture {
    engine: Engine,
    worker: Option<BackgroundWorker>,
    /// What the worker read of this user's conversations.
    extractions: Arc<Mutex<Vec<ExtractionReport>>>,
}

impl BackgroundCapture {
    /// Reads along in the background, for conversations that stay.
    pub(super) async fn spawn(cx: &CliContext) -> Result<Self> {
        let engine = cx.capture_engine().await?;
        let (owner, read) = (cx.scope.clone(), Arc::<Mutex<Vec<ExtractionReport>>>::default());
        let told = Arc::clone(&read);
        let worker = engine.spawn_worker_with(move |scope: &Scope, extraction| {
            if *scope == owner {
                told.lock().unwrap_or_else(PoisonError::into_inner).push(extraction);
            }
        });
        Ok(Self { worker: Some(worker), engine, extractions: read })
    }

    /// Reads at the end only.
    pub(super) async fn without_worker(cx: &CliContext) -> Result<Self> {
        Ok(Self { worker: None, engine: cx.capture_engine().await?, extractions: Arc::default() })
    }

    /// Reads what is left of a conversation that is over, and looks after memory if that is due. Ctrl+C leaves it for later;
    /// so does a single message, which waits for no model.
    pub(super) async fn finish(
        self,
        cx: &CliContext,
        session: &str,
        out: &mut Output,
        phrases: UiMessages,
    ) -> Result<()> {
        let by_rules = self.engine.captures_without_model(&cx.scope);
        let waits = self.worker.is_some();
        if let Some(worker) = &self.worker {
            worker.stop(WORKER_GRACE).await;
        }
        if by_rules || waits {
            if !by_rules {
                out.note(phrases.extracting());
            }
            let request = ExtractRequest { session: Some(session.to_owned()), dry_run: false };
            let read = tokio::select! {
                biased;
                () = wait_for_interrupt() => Vec::new(),
                read = self.engine.extract(&cx.scope, &request) => read?,
            };
            print_extractions(&self.extractions_for(session), &read, out, phrases);
        }
        if let Err(error) = self.engine.upkeep_if_due(&cx.scope).await {
            out.note(&format!("warning: upkeep failed: {error}"));
        }
        Ok(())
    }

    /// What the worker read of one conversation.
    fn extractions_for(&self, session: &str) -> Vec<ExtractionReport> {
        let mut read = self.extractions.lock().unwrap_or_else(PoisonError::into_inner).clone();
        read.retain(|one| one.session.as_deref() == Some(session));
        read
    }
}

/// Tells what was drawn before the end and at the end. What failed before was tried again at the end.
fn print_extractions(
    before: &[ExtractionReport],
    read: &[ExtractionReport],
    out: &mut Output,
    phrases: UiMessages,
) {
    let drafts = before.iter().chain(read).flat_map(|one| &one.drafts);
    let changed = drafts.filter(|draft| draft.fate.is_change());
    match changed.count() {
        0 => {}
        count => out.note(&phrases.extracted(count)),
    }
    for error in read.iter().filter_map(|one| one.error.as_ref()) {
        out.note(&phrases.extraction_failed(error));
    }
}
