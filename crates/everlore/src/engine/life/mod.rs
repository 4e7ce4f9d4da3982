//! The life of memories: what was put into prompts, whether it was of use, what it is worth, and the work between turns.

mod usage;
mod weights;
mod upkeep;
mod ledger;

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use tokio::task::JoinHandle;

pub use ledger::{Allowance, LedgerReport, Preview};
pub(super) use upkeep::STATEMENTS;
pub use upkeep::{Job, JobReport, Touched, UpkeepReport, UpkeepRequest};
pub use usage::{Answered, UsageStats};
pub use weights::Cleaned;

use crate::types::Scope;

/// Work on the usage log that is still going on: no prompt and no answer waits for it. That of one conversation is done in
/// its order, because an answer belongs to the prompt before it.
#[derive(Default)]
pub(super) struct Pending(Mutex<HashMap<Conversation, JoinHandle<()>>>);

/// A conversation of a scope.
type Conversation = (Scope, String);

impl Pending {
    /// Starts work after everything that was started before for the same conversation.
    fn push(&self, of: Conversation, work: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
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
    pub(super) async fn settle(&self) {
        let tasks = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        for task in tasks.into_values() {
            let _ = task.await;
        }
    }
}
