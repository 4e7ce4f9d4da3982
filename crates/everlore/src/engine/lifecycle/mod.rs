//! Lifecycle of memories: injection into prompts, usage by answers, weights, and the upkeep between turns.
//!
//! The weight of a memory:
//!
//! 1. `Engine::inject` recalls and packs like `Engine::context`, holds out a share of memories (`upkeep/holdout.rs`),
//!    and records the injected ones in the usage log (`store/usage.rs`) while the model answers. A hook spools that
//!    record.
//! 2. `Engine::record_answer` compares the answer with the injected memories (`upkeep/usage.rs`) and sets which of them
//!    it used in the usage log. No memory is changed.
//! 3. `Engine::upkeep` (`upkeep.rs`) turns usage into weights, the uses of a day as one step (`upkeep/weight.rs`), then
//!    expires, archives and merges (`upkeep/archive.rs`, `upkeep/merge.rs`). Each job plans the new states of memories,
//!    asks for confirmation if it would deactivate more than a quarter, and applies them as one run. Then it prunes the
//!    usage log, the ledger and the quarantine, makes missing vectors, and compacts the store. `Engine::upkeep_if_due`
//!    runs it at the end of a session.
//! 4. Recall reads `Memory::weight_at` (`types/weight.rs`): decay is computed from the time since the last change or
//!    use and never stored.

mod usage;
mod past_prompts;
mod first_round;
mod weights;
mod upkeep_report;
mod upkeep;
mod ledger;

use std::{collections::HashMap, sync::Mutex};

use tokio::task::JoinHandle;

pub(super) use first_round::SeenSessions;
pub use ledger::{Allowance, ExtractionPreview, LedgerReport};
pub use past_prompts::{LoggedPrompt, PastPrompt, PastPromptMemory};
pub(super) use upkeep::{STATEMENT_KINDS, UPKEEP_JOB};
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
