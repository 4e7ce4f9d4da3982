//! Forgetting: erases a memory, every trace of its text, the drafts extracted from it, and its quotes in the daily
//! log.

use std::collections::HashSet;

use jiff::civil::Date;
use serde::Serialize;

use super::{Engine, SCAN_PAGE};
use crate::{
    error::Result,
    files::layers::{EditContext, ForgottenDay, LayerForgetReceipt, remove_quotes},
    ingest,
    store::{JournalQuery, ListOrder, ListQuery, MemoryFilter, source_turn_term},
    sync::run_blocking,
    text::{secrets::mask, summary::quotable_sentences},
    types::{Actor, Change, ErasureReceipt, Kind, Memory, MemoryId, Scope, WriteBatch},
};

/// Report of an erasure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ForgetReport {
    /// Erased memory.
    pub id: MemoryId,
    /// Journal number of the erasure.
    pub seq: u64,
    /// Removed records, by place.
    pub removed: ErasureReceipt,
    /// Memories extracted from it, which remain: a person may have approved them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub derived: Vec<MemoryId>,
    /// Days of the daily log that quoted it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub daily: Vec<RedactedDay>,
    /// Days of the daily log that still mention its session, with section titles. A summary may paraphrase what was
    /// forgotten; a person has to check.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub summaries: Vec<(Date, String)>,
}

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
    /// Deletes a memory and returns the journal number. The journal keeps the memory, so [`Engine::undo`] can bring it
    /// back. Fails if the scope has no such memory.
    pub async fn delete(&self, scope: &Scope, id: MemoryId) -> Result<u64> {
        let write = WriteBatch::new(
            scope,
            self.author.actor,
            self.author.reason_for("delete"),
            self.now().timestamp(),
            vec![Change::Delete(id)],
        );
        Ok(self.store.apply(write).await?[0].seq)
    }

    /// Erases a memory and every trace of its text, for good.
    ///
    /// Erases drafts extracted from it as well, and its sentences in the daily log; an archived day goes with the
    /// memory made from it. Memories extracted from it remain: the report names them. Fails if the scope never had the
    /// memory, or if the store or a layer file fails.
    pub async fn forget(&self, scope: &Scope, id: MemoryId) -> Result<ForgetReport> {
        let states = self.all_versions(scope, id).await?;
        let day = states.first().and_then(ingest::daily_log_date).filter(|_| self.home.is_some());
        let derived = self.derived_memories(scope, id).await?;
        // The log comes first: after an interruption the memory still exists, and forgetting it again completes the
        // erasure.
        let daily = match day {
            Some(_) => Vec::new(),
            None => self.redact_daily_log(scope, &states).await?,
        };
        let write = self.forget_write(scope, vec![Change::Erase(id)]);
        let applied = self.store.apply(write).await?.remove(0);
        if let Some(day) = day {
            self.layers(scope)?.forget_day(day)?;
        }
        let summaries = self.days_mentioning_session(scope, &states).await?;
        let removed = applied.erasure.unwrap_or_default();
        Ok(ForgetReport { id, seq: applied.seq, removed, derived, daily, summaries })
    }

    /// Returns the memories extracted from a turn.
    pub async fn derived_memories(&self, scope: &Scope, turn: MemoryId) -> Result<Vec<MemoryId>> {
        let segments = self.store.index().postings(scope, &[source_turn_term(turn)], None).await?;
        let addresses: Vec<_> = segments
            .iter()
            .flat_map(|segment| {
                segment.postings[0].iter().map(move |it| (segment, it.doc as usize))
            })
            .map(|(segment, doc)| segment.docs.address(doc))
            .collect();
        let found = self.store.memories().by_address(scope, &addresses).await?;
        Ok(found.into_iter().map(|(_, memory)| memory.id).collect())
    }

    fn forget_write(&self, scope: &Scope, changes: Vec<Change>) -> WriteBatch {
        WriteBatch::new(scope, Actor::Person, "forget", self.now().timestamp(), changes)
    }

    /// Returns every version of a memory, latest first, even of a deleted one.
    async fn all_versions(&self, scope: &Scope, id: MemoryId) -> Result<Vec<Memory>> {
        let mut states: Vec<_> =
            self.store.memories().get(scope, &[id]).await?.into_iter().flatten().collect();
        let own = JournalQuery { id: Some(id), ..JournalQuery::default() };
        let before = self.store.journal().entries(scope, &own).await?;
        states.extend(before.into_iter().filter_map(|entry| entry.before).map(|before| *before));
        Ok(states)
    }

    /// Removes a memory's sentences from every day of the log, be it a file or already a memory.
    async fn redact_daily_log(&self, scope: &Scope, states: &[Memory]) -> Result<Vec<RedactedDay>> {
        let quotes: HashSet<String> = states.iter().flat_map(memory_sentences).collect();
        if self.home.is_none() || quotes.is_empty() {
            return Ok(Vec::new());
        }
        let (layers, by) =
            (self.layers(scope)?, EditContext { actor: Actor::Person, now: self.now() });
        let sought = quotes.clone();
        let found = run_blocking(move || layers.forget_quotes(&sought, &by)).await?;
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
    async fn days_mentioning_session(
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
fn memory_sentences(memory: &Memory) -> Vec<String> {
    let (masked, _) = mask(&memory.content);
    quotable_sentences(&memory.content).chain(quotable_sentences(&masked)).collect()
}
