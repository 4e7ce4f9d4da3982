//! Erasure of a memory's sentences from the daily log, be a day a file or already a memory.

use std::collections::HashSet;

use jiff::civil::Date;
use serde::Serialize;

use crate::{
    engine::{Engine, SCAN_PAGE},
    error::Result,
    files::layers::{EditContext, ForgottenDay, LayerForgetReceipt, remove_quotes},
    ingest,
    store::{JournalQuery, ListOrder, ListQuery, MemoryFilter},
    sync::run_blocking,
    text::{secrets::mask, summary::quotable_sentences},
    types::{Actor, Change, Kind, Memory, MemoryId, Scope, WriteBatch},
};

/// Day of the daily log that lost sentences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RedactedDay {
    /// Date.
    pub day: Date,
    /// Files that lost sentences.
    #[serde(flatten)]
    pub removed: LayerForgetReceipt,
    /// Set when the memory made from the day was rewritten without the sentences.
    pub memory: bool,
}

impl Engine {
    pub(super) fn forget_write(&self, scope: &Scope, changes: Vec<Change>) -> WriteBatch {
        WriteBatch::new(scope, Actor::Person, "forget", self.now().timestamp(), changes)
    }

    /// Returns every version of a memory, latest first, even of a deleted one.
    pub(super) async fn all_versions(&self, scope: &Scope, id: MemoryId) -> Result<Vec<Memory>> {
        let mut states: Vec<_> =
            self.store.memories().get(scope, &[id]).await?.into_iter().flatten().collect();
        let own = JournalQuery { id: Some(id), ..JournalQuery::default() };
        let before = self.store.journal().entries(scope, &own).await?;
        states.extend(before.into_iter().filter_map(|entry| entry.before).map(|before| *before));
        Ok(states)
    }

    /// Removes a memory's sentences from every day of the log, be it a file or already a memory.
    pub(super) async fn redact_daily_log(
        &self,
        scope: &Scope,
        states: &[Memory],
    ) -> Result<Vec<RedactedDay>> {
        let quotes: HashSet<String> = states.iter().flat_map(memory_sentences).collect();
        if self.home.is_none() || quotes.is_empty() {
            return Ok(Vec::new());
        }
        let (layers, by) =
            (self.layers(scope)?, EditContext { actor: Actor::Person, now: self.now() });
        let sought = quotes.clone();
        let found = run_blocking(move || layers.forget_quotes(&sought, &by));
        let found = self.write_files(found).await?;
        let as_day = |ForgottenDay { day, removed }| RedactedDay { day, removed, memory: false };
        let mut days: Vec<RedactedDay> = found.into_iter().map(as_day).collect();
        let stored = self.day_memories(scope).await?;
        let deleted = self.deleted_days(scope, &days, &stored).await?;
        for memory in stored {
            self.redact_day_memory(scope, memory, &quotes, &mut days).await?;
        }
        for id in deleted {
            self.store.apply(self.forget_write(scope, vec![Change::Erase(id)])).await?;
        }
        days.sort_by_key(|one| one.day);
        Ok(days)
    }

    /// Rewrites the memory of a day without `quotes` if any of its versions contains them.
    async fn redact_day_memory(
        &self,
        scope: &Scope,
        memory: Memory,
        quotes: &HashSet<String>,
        days: &mut Vec<RedactedDay>,
    ) -> Result<()> {
        let Some(day) = ingest::daily_log_date(&memory) else { return Ok(()) };
        let states = self.all_versions(scope, memory.id).await?;
        if states.iter().all(|state| remove_quotes(&state.content, quotes) == state.content) {
            return Ok(());
        }
        let rest = remove_quotes(&memory.content, quotes);
        let changes = ingest::redact_day(memory, rest.trim(), self.now().timestamp());
        self.store.apply(self.forget_write(scope, changes)).await?;
        match days.iter_mut().find(|one| one.day == day) {
            Some(one) => one.memory = true,
            None => {
                days.push(RedactedDay { day, removed: LayerForgetReceipt::default(), memory: true })
            }
        }
        Ok(())
    }

    /// Returns the memories made from days of the log.
    async fn day_memories(&self, scope: &Scope) -> Result<Vec<Memory>> {
        let filter = MemoryFilter { kinds: vec![Kind::Session], ..MemoryFilter::default() };
        let mut page =
            ListQuery { filter, after: None, order: ListOrder::OldestFirst, limit: SCAN_PAGE };
        let mut days = Vec::new();
        loop {
            let found = self.store.memories().list(scope, &page).await?;
            let Some(last) = found.last() else { return Ok(days) };
            page.after = Some(last.id);
            days.extend(
                found.into_iter().filter(|memory| ingest::daily_log_date(memory).is_some()),
            );
        }
    }

    /// Returns memories of archived days that contained a quote and that only the journal still knows.
    async fn deleted_days(
        &self,
        scope: &Scope,
        days: &[RedactedDay],
        stored: &[Memory],
    ) -> Result<Vec<MemoryId>> {
        let is_stored =
            |day: Date| stored.iter().any(|memory| ingest::daily_log_date(memory) == Some(day));
        let archived = days.iter().filter(|one| one.removed.archived).map(|one| one.day);
        let sought: Vec<Date> = archived.filter(|day| !is_stored(*day)).collect();
        let mut page = JournalQuery { limit: Some(SCAN_PAGE), ..JournalQuery::default() };
        let mut deleted = HashSet::new();
        while !sought.is_empty() {
            let lines = self.store.journal().entries(scope, &page).await?;
            let Some(last) = lines.last() else { break };
            page.before = Some(last.seq);
            let images = lines.iter().filter_map(|line| line.before.as_deref());
            let of_day = |memory: &&Memory| {
                ingest::daily_log_date(memory).is_some_and(|day| sought.contains(&day))
            };
            deleted.extend(images.filter(of_day).map(|memory| memory.id));
        }
        Ok(deleted.into_iter().collect())
    }

    /// Returns the days of the log that still mention the session of a memory.
    pub(super) async fn days_mentioning_session(
        &self,
        scope: &Scope,
        states: &[Memory],
    ) -> Result<Vec<(Date, String)>> {
        let session = states.first().and_then(|memory| memory.source.session.clone());
        let (Some(session), Some(_)) = (session, &self.home) else { return Ok(Vec::new()) };
        let layers = self.layers(scope)?;
        run_blocking(move || layers.session_days(&session)).await
    }
}

/// Returns the sentences that a summary may have quoted from a memory, with secrets masked and unmasked.
pub(super) fn memory_sentences(memory: &Memory) -> Vec<String> {
    let (masked, _) = mask(&memory.content);
    quotable_sentences(&memory.content).chain(quotable_sentences(&masked)).collect()
}
