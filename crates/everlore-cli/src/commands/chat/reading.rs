//! Memories are drawn while people talk, and from what is left of a conversation at its end.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use everlore::{
    Engine, Scope,
    engine::{ExtractRequest, Extraction, Worker},
};

use super::{phrases::Phrases, talk::interrupted};
use crate::{context::Context, failure::Result, output::Output};

/// How long the end waits for a reading that is under way; the next worker does again what is cut short.
const GRACE: Duration = Duration::from_secs(5);

/// Whoever reads along.
pub(super) struct Reading {
    engine: Engine,
    worker: Option<Worker>,
    /// What the worker read of this user's conversations.
    read: Arc<Mutex<Vec<Extraction>>>,
}

impl Reading {
    /// Reads along in the background, for conversations that stay.
    pub(super) async fn along(cx: &Context) -> Result<Self> {
        let engine = cx.reading().await?;
        let (owner, read) = (cx.scope.clone(), Arc::<Mutex<Vec<Extraction>>>::default());
        let told = Arc::clone(&read);
        let worker = engine.spawn_worker_telling(move |scope: &Scope, extraction| {
            if *scope == owner {
                told.lock().unwrap_or_else(PoisonError::into_inner).push(extraction);
            }
        });
        Ok(Self { worker: Some(worker), engine, read })
    }

    /// Reads at the end only.
    pub(super) async fn at_end(cx: &Context) -> Result<Self> {
        Ok(Self { worker: None, engine: cx.reading().await?, read: Arc::default() })
    }

    /// Reads what is left of a conversation that is over, and looks after memory if that is due. Ctrl+C leaves it for later;
    /// so does a single message, which waits for no model.
    pub(super) async fn end(
        self,
        cx: &Context,
        session: &str,
        out: &mut Output,
        phrases: Phrases,
    ) -> Result<()> {
        let by_rules = self.engine.reads_by_rules(&cx.scope);
        let waits = self.worker.is_some();
        if let Some(worker) = &self.worker {
            worker.stop(GRACE).await;
        }
        if by_rules || waits {
            if !by_rules {
                out.note(phrases.drawing());
            }
            let request = ExtractRequest { session: Some(session.to_owned()), dry_run: false };
            let read = tokio::select! {
                biased;
                () = interrupted() => Vec::new(),
                read = self.engine.extract(&cx.scope, &request) => read?,
            };
            tell(&self.of(session), &read, out, phrases);
        }
        if let Err(error) = self.engine.upkeep_if_due(&cx.scope).await {
            out.note(&format!("warning: upkeep failed: {error}"));
        }
        Ok(())
    }

    /// What the worker read of one conversation.
    fn of(&self, session: &str) -> Vec<Extraction> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner).clone();
        read.retain(|one| one.session.as_deref() == Some(session));
        read
    }
}

/// Tells what was drawn before the end and at the end. What failed before was tried again at the end.
fn tell(before: &[Extraction], read: &[Extraction], out: &mut Output, phrases: Phrases) {
    let drafts = before.iter().chain(read).flat_map(|one| &one.drafts);
    let changed = drafts.filter(|draft| draft.became.is_change());
    match changed.count() {
        0 => {}
        count => out.note(&phrases.drawn(count)),
    }
    for error in read.iter().filter_map(|one| one.error.as_ref()) {
        out.note(&phrases.not_drawn(error));
    }
}
