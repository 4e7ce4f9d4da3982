//! Lifecycle of memories: injection into prompts, usage by answers, weights, and the upkeep between turns.

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

/// Pending tasks of the usage log, for which neither prompt nor answer waits. Tasks of one session run in order,
/// because an answer belongs to the prompt before it.
#[derive(Default)]
pub(super) struct UsageTasks(Mutex<HashMap<SessionKey, JoinHandle<()>>>);

/// A scope and a session.
type SessionKey = (Scope, String);

impl UsageTasks {
    /// Spawns a task that runs after all earlier tasks of the same session.
    fn spawn_after(&self, of: SessionKey, work: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = lock(&self.0);
        tasks.retain(|_, task| !task.is_finished());
        let before = tasks.remove(&of);
        let task = tokio::spawn(async move {
            if let Some(before) = before {
                // A task that panicked lost its usage records and nothing else.
                let _ = before.await;
            }
            work.await;
        });
        tasks.insert(of, task);
    }

    /// Waits for all pending tasks.
    pub(super) async fn flush(&self) {
        let tasks = std::mem::take(&mut *lock(&self.0));
        for task in tasks.into_values() {
            let _ = task.await;
        }
    }
}
