//! The usage log and the ledger, in RAM.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{MutexGuard, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use jiff::civil::Date;

use super::RamStore;
use crate::{
    error::Result,
    store::{
        ledger::{Ledger, Spending, Spent},
        usage::{Prompted, Shown, Usage, UsageCounts, UsageLog},
    },
    types::{MemoryId, Op, Scope, Timestamp},
};

/// What is known of the life of memories, beside the memories.
#[derive(Debug, Default)]
pub(super) struct Life {
    /// Lines by scope, each with whether weights have followed it.
    usage: BTreeMap<Scope, Vec<(Usage, bool)>>,
    ledger: BTreeMap<(Date, Scope, String), Spent>,
    jobs: BTreeMap<(Scope, String), Timestamp>,
}

impl Life {
    /// Takes out every line of a memory.
    pub(super) fn forget(&mut self, scope: &Scope, id: MemoryId) -> usize {
        let lines = self.usage.entry(scope.clone()).or_default();
        let before = lines.len();
        lines.retain(|(line, _)| line.told.id != id);
        before - lines.len()
    }

    fn lines(&self, scope: &Scope) -> impl Iterator<Item = &(Usage, bool)> {
        self.usage.get(scope).into_iter().flatten()
    }

    fn log(&mut self, scope: &Scope, prompt: Prompted) {
        let lines = self.usage.entry(scope.clone()).or_default();
        let mut seq = lines.last().map_or(0, |(line, _)| line.seq);
        let same = lines.iter().filter(|(line, _)| line.session == prompt.session);
        let turn = same.map(|(line, _)| line.turn).max().unwrap_or(0);
        let turn = (turn + u32::from(!prompt.joins)).max(1);
        for told in prompt.memories {
            seq += 1;
            let session = prompt.session.clone();
            let (query, at) = (prompt.query, prompt.at);
            lines.push((Usage { seq, session, turn, query, at, told, used: None }, false));
        }
        lines.retain(|(line, _)| line.seq + prompt.most as u64 > seq);
    }
}

impl RamStore {
    pub(super) fn life(&self) -> MutexGuard<'_, Life> {
        self.life.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl UsageLog for RamStore {
    async fn log_usage(&self, scope: &Scope, mut prompt: Prompted) -> Result<()> {
        self.read(scope, |shelf| {
            let last = |id| shelf.journal.iter().rfind(|entry| entry.id == id);
            prompt.memories.retain(|told| last(told.id).is_none_or(|entry| entry.op != Op::Erase));
        });
        self.life().log(scope, prompt);
        Ok(())
    }

    async fn injected(&self, scope: &Scope, session: &str) -> Result<Vec<(MemoryId, Vec<u8>)>> {
        let life = self.life();
        let told = life
            .lines(scope)
            .map(|(line, _)| line)
            .filter(|line| line.session == session && line.told.shown != Shown::HeldOut);
        let newest: BTreeMap<_, _> =
            told.map(|line| (line.told.id, line.told.sketch.clone())).collect();
        Ok(newest.into_iter().collect())
    }

    async fn unanswered(&self, scope: &Scope, session: &str) -> Result<Vec<Usage>> {
        let life = self.life();
        let open =
            life.lines(scope).filter(|(line, _)| line.session == session && line.used.is_none());
        Ok(open.map(|(line, _)| line.clone()).collect())
    }

    async fn set_used(&self, scope: &Scope, verdicts: Vec<(u64, bool)>) -> Result<()> {
        let verdicts: BTreeMap<_, _> = verdicts.into_iter().collect();
        for (line, _) in self.life().usage.entry(scope.clone()).or_default() {
            line.used = verdicts.get(&line.seq).copied().or(line.used);
        }
        Ok(())
    }

    async fn unweighed(&self, scope: &Scope) -> Result<Vec<Usage>> {
        let life = self.life();
        let waiting = life.lines(scope).filter(|(line, weighed)| line.used.is_some() && !weighed);
        Ok(waiting.map(|(line, _)| line.clone()).collect())
    }

    async fn set_weighed(&self, scope: &Scope, weighed: Vec<u64>) -> Result<()> {
        let done: BTreeSet<_> = weighed.into_iter().collect();
        for (line, weighed) in self.life().usage.entry(scope.clone()).or_default() {
            *weighed |= done.contains(&line.seq);
        }
        Ok(())
    }

    async fn usage_counts(&self, scope: &Scope) -> Result<UsageCounts> {
        let life = self.life();
        let mut counts = UsageCounts::default();
        let (mut told, mut used) = (BTreeSet::new(), BTreeSet::new());
        for (line, _) in life.lines(scope) {
            let (answered, was_used) = (line.used.is_some(), line.used == Some(true));
            if line.told.shown == Shown::HeldOut {
                counts.held_out += u64::from(answered);
                counts.held_out_used += u64::from(was_used);
                continue;
            }
            counts.told += 1;
            counts.answered += u64::from(answered);
            counts.used += u64::from(was_used);
            told.insert(line.told.id);
            used.extend(was_used.then_some(line.told.id));
        }
        (counts.memories, counts.memories_used) = (told.len() as u64, used.len() as u64);
        Ok(counts)
    }

    async fn prune_usage(&self, scope: &Scope, before: Timestamp) -> Result<usize> {
        let mut life = self.life();
        let lines = life.usage.entry(scope.clone()).or_default();
        let count = lines.len();
        lines.retain(|(line, _)| line.at >= before);
        Ok(count - lines.len())
    }
}

#[async_trait]
impl Ledger for RamStore {
    async fn spend(&self, scope: &Scope, day: Date, job: &str, spent: Spent) -> Result<()> {
        let mut life = self.life();
        let line = life.ledger.entry((day, scope.clone(), job.to_owned())).or_default();
        *line = line.plus(spent);
        Ok(())
    }

    async fn spent(&self, scope: &Scope, since: Date) -> Result<Vec<Spending>> {
        let life = self.life();
        let own = life.ledger.iter().filter(|((day, owner, _), _)| owner == scope && *day >= since);
        let spending = own.map(|((day, _, job), spent)| Spending {
            day: *day,
            job: job.clone(),
            spent: *spent,
        });
        let mut spending: Vec<_> = spending.collect();
        spending.sort_by_key(|spending| std::cmp::Reverse(spending.day));
        Ok(spending)
    }

    async fn spent_by_all(&self, day: Date) -> Result<Spent> {
        let life = self.life();
        let of_day = life.ledger.iter().filter(|((of, _, _), _)| *of == day);
        Ok(of_day.fold(Spent::default(), |sum, (_, spent)| sum.plus(*spent)))
    }

    async fn prune_ledger(&self, before: Date) -> Result<usize> {
        let mut life = self.life();
        let count = life.ledger.len();
        life.ledger.retain(|(day, _, _), _| *day >= before);
        Ok(count - life.ledger.len())
    }

    async fn begin(
        &self,
        scope: &Scope,
        job: &str,
        now: Timestamp,
        every: Duration,
    ) -> Result<bool> {
        let mut life = self.life();
        let key = (scope.clone(), job.to_owned());
        let since = |at: Timestamp| now.as_millisecond() - at.as_millisecond();
        let due = life.jobs.get(&key).is_none_or(|at| since(*at) >= every.as_millis() as i64);
        if due {
            life.jobs.insert(key, now);
        }
        Ok(due)
    }

    async fn begun_at(&self, scope: &Scope, job: &str) -> Result<Option<Timestamp>> {
        Ok(self.life().jobs.get(&(scope.clone(), job.to_owned())).copied())
    }
}
