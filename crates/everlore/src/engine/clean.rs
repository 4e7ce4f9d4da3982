//! Putting away what is hardly worth anything any more.

use serde::Serialize;

use super::{Engine, PAGE};
use crate::{
    error::Result,
    ingest,
    store::{Filter, Order, Page},
    types::{Memory, Scope, Status},
};

/// What was put away because it is hardly worth anything any more.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cleaned {
    /// The run, to undo all of it; none if it was only tried.
    pub run: Option<String>,
    /// The memories.
    pub memories: Vec<Memory>,
}

impl Engine {
    /// Archives memories whose weight fell below `threshold` as one run; with `dry_run`, only finds them.
    pub async fn clean(&self, scope: &Scope, threshold: f64, dry_run: bool) -> Result<Cleaned> {
        let now = self.now().timestamp();
        let run = (!dry_run).then(|| format!("clean-{}", now.as_millisecond()));
        let active = Filter { statuses: vec![Status::Active], ..Filter::default() };
        let mut page = Page { filter: active, after: None, order: Order::OldestFirst, limit: PAGE };
        let mut cleaned = Cleaned { run, memories: Vec::new() };
        loop {
            let mut memories = self.store.list(scope, &page).await?;
            let Some(last) = memories.last() else { return Ok(cleaned) };
            page.after = Some(last.id);
            memories.retain(|memory| memory.weight < threshold);
            if let Some(run) = &cleaned.run {
                memories = ingest::archive_all(&*self.store, scope, memories, run, now).await?;
            }
            cleaned.memories.extend(memories);
        }
    }
}
