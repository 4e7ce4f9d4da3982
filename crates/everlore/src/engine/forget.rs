//! Forgetting: a memory, every trace of what it said, drafts that were drawn from it, and what the daily log quotes of it (H2).

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

/// What an erasure did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ForgetReport {
    /// The memory that is gone.
    pub id: MemoryId,
    /// The journal's number of the erasure.
    pub seq: u64,
    /// What was removed from where.
    pub removed: ErasureReceipt,
    /// Memories that were drawn from it and are still there: a person may have approved them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub derived: Vec<MemoryId>,
    /// The days of the log that quoted it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub daily: Vec<RedactedDay>,
    /// The days of the log that still tell of its conversation, with the titles of the sections. A summary may say in
    /// other words what was forgotten; a person has to look.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub summaries: Vec<(Date, String)>,
}

/// A day of the log from which sentences were removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RedactedDay {
    /// The day.
    pub day: Date,
    /// From which files.
    #[serde(flatten)]
    pub removed: LayerForgetReceipt,
    /// Whether the memory that the day became was made anew without them.
    pub memory: bool,
}

impl Engine {
    /// Removes a memory; the journal keeps it, so that this can be undone. Returns the journal's number.
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

    /// Removes a memory and every trace of what it said, for good.
    ///
    /// Drafts that were drawn from it go too, and sentences of it in the daily log; a day that was put away goes with the
    /// memory that was made from it. Memories that were drawn from it are only named.
    pub async fn forget(&self, scope: &Scope, id: MemoryId) -> Result<ForgetReport> {
        let states = self.all_versions(scope, id).await?;
        let day = states.first().and_then(ingest::daily_log_date).filter(|_| self.home.is_some());
        let derived = self.derived_memories(scope, id).await?;
        // The log comes first: if this is cut short, the memory is still there to be forgotten.
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

    /// The memories that were drawn from a turn.
    pub async fn derived_memories(&self, scope: &Scope, turn: MemoryId) -> Result<Vec<MemoryId>> {
        let segments = self.store.index().postings(scope, &[source_turn_term(turn)], None).await?;
        let places: Vec<_> = segments
            .iter()
            .flat_map(|segment| {
                segment.postings[0].iter().map(move |it| (segment, it.doc as usize))
            })
            .map(|(segment, doc)| segment.docs.address(doc))
            .collect();
        let found = self.store.memories().by_address(scope, &places).await?;
        Ok(found.into_iter().map(|(_, memory)| memory.id).collect())
    }

    fn forget_write(&self, scope: &Scope, changes: Vec<Change>) -> WriteBatch {
        WriteBatch::new(scope, Actor::Person, "forget", self.now().timestamp(), changes)
    }

    /// All that a memory ever said, the latest first, even if it was deleted.
    async fn all_versions(&self, scope: &Scope, id: MemoryId) -> Result<Vec<Memory>> {
        let mut states: Vec<_> =
            self.store.memories().get(scope, &[id]).await?.into_iter().flatten().collect();
        let own = JournalQuery { id: Some(id), ..JournalQuery::default() };
        let before = self.store.journal().entries(scope, &own).await?;
        states.extend(before.into_iter().filter_map(|entry| entry.before).map(|before| *before));
        Ok(states)
    }

    /// Takes the sentences of a memory out of every day of the log, whether it is a file or has become a memory.
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

    /// Makes the memory of a day anew without what is forgotten, if it says it or may have said it.
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

    /// The memories that days of the log became.
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

    /// Memories of days that were put away and quoted it, of which only the journal knows any more.
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

    /// Where the log still tells of the conversation that a memory is from.
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

/// The sentences that a summary may have taken from a memory, with secrets and without.
fn memory_sentences(memory: &Memory) -> Vec<String> {
    let (masked, _) = mask(&memory.content);
    quotable_sentences(&memory.content).chain(quotable_sentences(&masked)).collect()
}
