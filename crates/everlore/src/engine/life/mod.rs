//! The life of memories: what was put into prompts, whether it was of use, what it is worth, and the work between turns.

mod usage;
mod weights;
mod upkeep;
mod ledger;

use std::sync::{Mutex, PoisonError};

use tokio::task::JoinHandle;

pub use ledger::{Allowance, LedgerReport, Preview};
pub use upkeep::{Job, JobReport, Touched, UpkeepReport, UpkeepRequest};
pub use usage::{Answered, UsageStats};
pub use weights::Cleaned;

/// Lines of the usage log that are still being written: no prompt waits for them.
#[derive(Default)]
pub(super) struct Pending(Mutex<Vec<JoinHandle<()>>>);

impl Pending {
    fn push(&self, task: JoinHandle<()>) {
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.retain(|task| !task.is_finished());
        tasks.push(task);
    }

    /// Waits until everything is written.
    pub(super) async fn settle(&self) {
        let tasks = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        for task in tasks {
            // A task that panicked has lost its lines of statistics and nothing else.
            let _ = task.await;
        }
    }
}
