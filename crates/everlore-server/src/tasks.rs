//! Background tasks. Their futures are boxed: tokio compiles its task code again for every type of future.

use tokio::task::JoinHandle;

use crate::BoxFuture;

/// Spawns a task that no request waits for.
pub(crate) fn spawn(task: BoxFuture<'static, ()>) -> JoinHandle<()> {
    tokio::spawn(task)
}
