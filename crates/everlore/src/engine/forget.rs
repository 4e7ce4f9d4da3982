//! Forgetting: a memory, every trace of what it said, drafts that were drawn from it, and what the daily log quotes of it (H2).

use std::collections::HashSet;

use jiff::civil::Date;
use serde::Serialize;

use super::{Engine, PAGE, layers::aside};
use crate::{
    error::Result,
    files::layers::{By, ForgottenDay, ForgottenText, unquoted},
    ingest,
    store::{Filter, JournalQuery, Order, Page, drawn_from_term},
    text::{secrets::mask, summary::quotable},
    types::{Actor, Change, Erased, Kind, Memory, MemoryId, Scope, Write},
};

/// What an erasure did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Forgotten {
    /// The memory that is gone.
    pub id: MemoryId,
    /// The journal's number of the erasure.
    pub seq: u64,
    /// What was removed from where.
    pub removed: Erased,
    /// Memories that were drawn from it and are still there: a person may have approved them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub derived: Vec<MemoryId>,
    /// The days of the log that quoted it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub daily: Vec<UnquotedDay>,
    /// The days of the log that still tell of its conversation, with the titles of the sections. A summary may say in
    /// other words what was forgotten; a person has to look.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub summaries: Vec<(Date, String)>,
}

/// A day of the log from which sentences were removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct UnquotedDay {
    /// The day.
    pub day: Date,
    /// From which files.
    #[serde(flatten)]
    pub removed: ForgottenText,
    /// Whether the memory that the day became was made anew without them.
    pub memory: bool,
}

impl Engine {
    /// Removes a memory; the journal keeps it, so that this can be undone. Returns the journal's number.
    pub async fn delete(&self, scope: &Scope, id: MemoryId) -> Result<u64> {
        let write = Write::new(
            scope,
            self.author.actor,
            self.author.cause_of("delete"),
            self.now().timestamp(),
            vec![Change::Delete(id)],
        );
        Ok(self.store.apply(write).await?[0].seq)
    }

    /// Removes a memory and every trace of what it said, for good.
    ///
    /// Drafts that were drawn from it go too, and sentences of it in the daily log; a day that was put away goes with the
    /// memory that was made from it. Memories that were drawn from it are only named.
    pub async fn forget(&self, scope: &Scope, id: MemoryId) -> Result<Forgotten> {
        let states = self.states(scope, id).await?;
        let day = states.first().and_then(ingest::day_of).filter(|_| self.home.is_some());
        let derived = self.drawn_from(scope, id).await?;
        // The log comes first: if this is cut short, the memory is still there to be forgotten.
        let daily = match day {
            Some(_) => Vec::new(),
            None => self.unquote(scope, &states).await?,
        };
        let write = self.forgetting(scope, vec![Change::Erase(id)]);
        let applied = self.store.apply(write).await?.remove(0);
        if let Some(day) = day {
            self.layers(scope)?.forget_day(day)?;
        }
        let summaries = self.summaries(scope, &states).await?;
        let removed = applied.erased.unwrap_or_default();
        Ok(Forgotten { id, seq: applied.seq, removed, derived, daily, summaries })
    }

    /// The memories that were drawn from a turn.
    pub async fn drawn_from(&self, scope: &Scope, turn: MemoryId) -> Result<Vec<MemoryId>> {
        let segments = self.store.postings(scope, &[drawn_from_term(turn)], None).await?;
        let places: Vec<_> = segments
            .iter()
            .flat_map(|segment| {
                segment.postings[0].iter().map(move |it| (segment, it.doc as usize))
            })
            .map(|(segment, doc)| segment.docs.place(doc))
            .collect();
        let found = self.store.at_places(scope, &places).await?;
        Ok(found.into_iter().map(|(_, memory)| memory.id).collect())
    }

    fn forgetting(&self, scope: &Scope, changes: Vec<Change>) -> Write {
        Write::new(scope, Actor::Person, "forget", self.now().timestamp(), changes)
    }

    /// All that a memory ever said, the latest first, even if it was deleted.
    async fn states(&self, scope: &Scope, id: MemoryId) -> Result<Vec<Memory>> {
        let mut states: Vec<_> =
            self.store.get(scope, &[id]).await?.into_iter().flatten().collect();
        let own = JournalQuery { id: Some(id), ..JournalQuery::default() };
        let before = self.store.journal(scope, &own).await?;
        states.extend(before.into_iter().filter_map(|entry| entry.before).map(|before| *before));
        Ok(states)
    }

    /// Takes the sentences of a memory out of every day of the log, whether it is a file or has become a memory.
    async fn unquote(&self, scope: &Scope, states: &[Memory]) -> Result<Vec<UnquotedDay>> {
        let quotes: HashSet<String> = states.iter().flat_map(sentences_of).collect();
        if self.home.is_none() || quotes.is_empty() {
            return Ok(Vec::new());
        }
        let (layers, by) = (self.layers(scope)?, By { actor: Actor::Person, now: self.now() });
        let sought = quotes.clone();
        let found = aside(move || layers.forget_quotes(&sought, &by)).await?;
        let as_day = |ForgottenDay { day, removed }| UnquotedDay { day, removed, memory: false };
        let mut days: Vec<UnquotedDay> = found.into_iter().map(as_day).collect();
        let stored = self.day_memories(scope).await?;
        let deleted = self.deleted_days(scope, &days, &stored).await?;
        for memory in stored {
            self.unquote_memory(scope, memory, &quotes, &mut days).await?;
        }
        for id in deleted {
            self.store.apply(self.forgetting(scope, vec![Change::Erase(id)])).await?;
        }
        days.sort_by_key(|one| one.day);
        Ok(days)
    }

    /// Makes the memory of a day anew without what is forgotten, if it says it or may have said it.
    async fn unquote_memory(
        &self,
        scope: &Scope,
        memory: Memory,
        quotes: &HashSet<String>,
        days: &mut Vec<UnquotedDay>,
    ) -> Result<()> {
        let Some(day) = ingest::day_of(&memory) else { return Ok(()) };
        let states = self.states(scope, memory.id).await?;
        if states.iter().all(|state| unquoted(&state.content, quotes) == state.content) {
            return Ok(());
        }
        let rest = unquoted(&memory.content, quotes);
        let changes = ingest::day_without(memory, rest.trim(), self.now().timestamp());
        self.store.apply(self.forgetting(scope, changes)).await?;
        match days.iter_mut().find(|one| one.day == day) {
            Some(one) => one.memory = true,
            None => days.push(UnquotedDay { day, removed: ForgottenText::default(), memory: true }),
        }
        Ok(())
    }

    /// The memories that days of the log became.
    async fn day_memories(&self, scope: &Scope) -> Result<Vec<Memory>> {
        let filter = Filter { kinds: vec![Kind::Session], ..Filter::default() };
        let mut page = Page { filter, after: None, order: Order::OldestFirst, limit: PAGE };
        let mut days = Vec::new();
        loop {
            let found = self.store.list(scope, &page).await?;
            let Some(last) = found.last() else { return Ok(days) };
            page.after = Some(last.id);
            days.extend(found.into_iter().filter(|memory| ingest::day_of(memory).is_some()));
        }
    }

    /// Memories of days that were put away and quoted it, of which only the journal knows any more.
    async fn deleted_days(
        &self,
        scope: &Scope,
        days: &[UnquotedDay],
        stored: &[Memory],
    ) -> Result<Vec<MemoryId>> {
        let is_stored = |day: Date| stored.iter().any(|memory| ingest::day_of(memory) == Some(day));
        let archived = days.iter().filter(|one| one.removed.archived).map(|one| one.day);
        let sought: Vec<Date> = archived.filter(|day| !is_stored(*day)).collect();
        let mut page = JournalQuery { limit: Some(PAGE), ..JournalQuery::default() };
        let mut deleted = HashSet::new();
        while !sought.is_empty() {
            let lines = self.store.journal(scope, &page).await?;
            let Some(last) = lines.last() else { break };
            page.before = Some(last.seq);
            let images = lines.iter().filter_map(|line| line.before.as_deref());
            let of_day =
                |memory: &&Memory| ingest::day_of(memory).is_some_and(|day| sought.contains(&day));
            deleted.extend(images.filter(of_day).map(|memory| memory.id));
        }
        Ok(deleted.into_iter().collect())
    }

    /// Where the log still tells of the conversation that a memory is from.
    async fn summaries(&self, scope: &Scope, states: &[Memory]) -> Result<Vec<(Date, String)>> {
        let session = states.first().and_then(|memory| memory.source.session.clone());
        let (Some(session), Some(_)) = (session, &self.home) else { return Ok(Vec::new()) };
        let layers = self.layers(scope)?;
        aside(move || layers.days_of(&session)).await
    }
}

/// The sentences that a summary may have taken from a memory, with secrets and without.
fn sentences_of(memory: &Memory) -> Vec<String> {
    let (masked, _) = mask(&memory.content);
    quotable(&memory.content).chain(quotable(&masked)).collect()
}
