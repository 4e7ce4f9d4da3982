//! The life of memories: what was put into prompts, whether it was of use, what it is worth, and the work between turns.

mod usage;
mod weights;
mod upkeep_report;
mod upkeep;
mod ledger;

use std::{collections::HashMap, sync::Mutex};

use tokio::task::JoinHandle;

pub use ledger::{Allowance, ExtractionPreview, LedgerReport};
pub(super) use upkeep::STATEMENT_KINDS;
pub use upkeep_report::{TouchedMemory, UpkeepJob, UpkeepJobReport, UpkeepReport, UpkeepRequest};
pub use usage::{AnswerUsage, UsageStats};
pub use weights::CleanupReport;

use crate::{sync::lock, types::Scope};

/// Work on the usage log that is still going on: no prompt and no answer waits for it. That of one conversation is done in
/// its order, because an answer belongs to the prompt before it.
#[derive(Default)]
pub(super) struct UsageTasks(Mutex<HashMap<SessionKey, JoinHandle<()>>>);

/// A conversation of a scope.
type SessionKey = (Scope, String);

impl UsageTasks {
    /// Starts work after everything that was started before for the same conversation.
    fn spawn_after(&self, of: SessionKey, work: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = lock(&self.0);
        tasks.retain(|_, task| !task.is_finished());
        let before = tasks.remove(&of);
        let task = tokio::spawn(async move {
            if let Some(before) = before {
                // A task that panicked has lost its lines of statistics and nothing else.
                let _ = before.await;
            }
            work.await;
        });
        tasks.insert(of, task);
    }

    /// Waits until everything is written.
    pub(super) async fn flush(&self) {
        let tasks = std::mem::take(&mut *lock(&self.0));
        for task in tasks.into_values() {
            let _ = task.await;
        }
    }
}
