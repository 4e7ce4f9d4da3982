//! The usage log and the ledger, in RAM.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::MutexGuard,
    time::Duration,
};

use async_trait::async_trait;
use jiff::civil::Date;

use super::RamStore;
use crate::{
    error::Result,
    store::{
        ledger::{Ledger, LedgerEntry, ModelSpend},
        usage::{
            InjectedTier, Injection, UsageCounts, UsageLines, UsageLog, UsageRecord, UsageSelection,
        },
    },
    sync::lock,
    types::{ChangeOp, MemoryId, Scope, Timestamp},
};

/// Usage lines and spend, beside the memories.
#[derive(Debug, Default)]
pub(super) struct UsageLedgerData {
    /// Lines by scope; the flag is set once the weights were updated from the line.
    usage: BTreeMap<Scope, Vec<(UsageRecord, bool)>>,
    ledger: BTreeMap<(Date, Scope, String), ModelSpend>,
    jobs: BTreeMap<(Scope, String), Timestamp>,
}

impl UsageLedgerData {
    /// Removes every line of a memory.
    pub(super) fn remove_memory(&mut self, scope: &Scope, id: MemoryId) -> usize {
        let lines = self.usage.entry(scope.clone()).or_default();
        let before = lines.len();
        lines.retain(|(line, _)| line.injected.id != id);
        before - lines.len()
    }

    /// Removes every line of an agent.
    pub(super) fn remove_agent(&mut self, agent: &str) {
        self.usage.retain(|scope, _| scope.agent() != agent);
    }

    fn records(&self, scope: &Scope) -> impl Iterator<Item = &(UsageRecord, bool)> {
        self.usage.get(scope).into_iter().flatten()
    }

    fn record_injection(&mut self, scope: &Scope, prompt: Injection) {
        let lines = self.usage.entry(scope.clone()).or_default();
        let mut seq = lines.last().map_or(0, |(line, _)| line.seq);
        let same = lines.iter().filter(|(line, _)| line.session == prompt.session);
        let turn = same.map(|(line, _)| line.turn).max().unwrap_or(0);
        let turn = (turn + u32::from(!prompt.is_same_prompt)).max(1);
        for injected in prompt.memories {
            seq += 1;
            let session = prompt.session.clone();
            let (query, at) = (prompt.query, prompt.at);
            lines
                .push((UsageRecord { seq, session, turn, query, at, injected, used: None }, false));
        }
        lines.retain(|(line, _)| line.seq + prompt.max_lines as u64 > seq);
    }
}

impl RamStore {
    pub(super) fn lock_usage_ledger(&self) -> MutexGuard<'_, UsageLedgerData> {
        lock(&self.usage_ledger)
    }
}

#[async_trait]
impl UsageLog for RamStore {
    async fn record(&self, scope: &Scope, mut prompt: Injection) -> Result<()> {
        self.read(scope, |data| {
            let last = |id| data.journal.iter().rfind(|entry| entry.id == id);
            prompt.memories.retain(|injected| {
                last(injected.id).is_none_or(|entry| entry.op != ChangeOp::Erase)
            });
        });
        self.lock_usage_ledger().record_injection(scope, prompt);
        Ok(())
    }

    async fn injected(&self, scope: &Scope, session: &str) -> Result<Vec<(MemoryId, Vec<u8>)>> {
        let data = self.lock_usage_ledger();
        let injected = data
            .records(scope)
            .map(|(line, _)| line)
            .filter(|line| line.session == session && line.injected.shown != InjectedTier::HeldOut);
        let newest: BTreeMap<_, _> =
            injected.map(|line| (line.injected.id, line.injected.sketch.clone())).collect();
        Ok(newest.into_iter().collect())
    }

    async fn of_session(
        &self,
        scope: &Scope,
        session: &str,
        lines: UsageLines,
    ) -> Result<Vec<UsageRecord>> {
        let is_asked = |line: &UsageRecord| match lines {
            UsageLines::All => line.session == session,
            UsageLines::Unanswered => line.session == session && line.used.is_none(),
        };
        let data = self.lock_usage_ledger();
        let own = data.records(scope).filter(|(line, _)| is_asked(line));
        Ok(own.map(|(line, _)| line.clone()).collect())
    }

    async fn of_scope(&self, scope: &Scope, lines: UsageSelection) -> Result<Vec<UsageRecord>> {
        let data = self.lock_usage_ledger();
        let mut all: Vec<_> = data.records(scope).collect();
        match lines {
            UsageSelection::Newest(limit) => {
                all.reverse();
                all.truncate(limit);
            }
            UsageSelection::AwaitingWeights => {
                all.retain(|(line, weighed)| line.used.is_some() && !weighed);
            }
        }
        Ok(all.into_iter().map(|(line, _)| line.clone()).collect())
    }

    async fn set_used(&self, scope: &Scope, verdicts: Vec<(u64, bool)>) -> Result<()> {
        let verdicts: BTreeMap<_, _> = verdicts.into_iter().collect();
        for (line, _) in self.lock_usage_ledger().usage.entry(scope.clone()).or_default() {
            line.used = verdicts.get(&line.seq).copied().or(line.used);
        }
        Ok(())
    }

    async fn mark_weights_updated(&self, scope: &Scope, weighed: Vec<u64>) -> Result<()> {
        let done: BTreeSet<_> = weighed.into_iter().collect();
        for (line, weighed) in self.lock_usage_ledger().usage.entry(scope.clone()).or_default() {
            *weighed |= done.contains(&line.seq);
        }
        Ok(())
    }

    async fn counts(&self, scope: &Scope) -> Result<UsageCounts> {
        let data = self.lock_usage_ledger();
        let mut counts = UsageCounts::default();
        let (mut injected, mut used) = (BTreeSet::new(), BTreeSet::new());
        for (line, _) in data.records(scope) {
            let (answered, was_used) = (line.used.is_some(), line.used == Some(true));
            if line.injected.shown == InjectedTier::HeldOut {
                counts.held_out += u64::from(answered);
                counts.held_out_used += u64::from(was_used);
                continue;
            }
            counts.injected += 1;
            counts.answered += u64::from(answered);
            counts.used += u64::from(was_used);
            injected.insert(line.injected.id);
            used.extend(was_used.then_some(line.injected.id));
        }
        (counts.memories, counts.memories_used) = (injected.len() as u64, used.len() as u64);
        Ok(counts)
    }

    async fn prune(&self, scope: &Scope, before: Timestamp) -> Result<usize> {
        let mut data = self.lock_usage_ledger();
        let lines = data.usage.entry(scope.clone()).or_default();
        let count = lines.len();
        lines.retain(|(line, _)| line.at >= before);
        Ok(count - lines.len())
    }
}

#[async_trait]
impl Ledger for RamStore {
    async fn record(&self, scope: &Scope, day: Date, job: &str, spent: ModelSpend) -> Result<()> {
        let mut data = self.lock_usage_ledger();
        let line = data.ledger.entry((day, scope.clone(), job.to_owned())).or_default();
        *line = line.plus(spent);
        Ok(())
    }

    async fn entries(&self, scope: &Scope, since: Date) -> Result<Vec<LedgerEntry>> {
        let data = self.lock_usage_ledger();
        let own = data.ledger.iter().filter(|((day, owner, _), _)| owner == scope && *day >= since);
        let spending = own.map(|((day, _, job), spent)| LedgerEntry {
            day: *day,
            job: job.clone(),
            spend: *spent,
        });
        let mut spending: Vec<_> = spending.collect();
        spending.sort_by_key(|spending| std::cmp::Reverse(spending.day));
        Ok(spending)
    }

    async fn total_on(&self, day: Date) -> Result<ModelSpend> {
        let data = self.lock_usage_ledger();
        let of_day = data.ledger.iter().filter(|((of, _, _), _)| *of == day);
        Ok(of_day.fold(ModelSpend::default(), |sum, (_, spent)| sum.plus(*spent)))
    }

    async fn prune(&self, before: Date) -> Result<usize> {
        let mut data = self.lock_usage_ledger();
        let count = data.ledger.len();
        data.ledger.retain(|(day, _, _), _| *day >= before);
        Ok(count - data.ledger.len())
    }

    async fn try_begin_job(
        &self,
        scope: &Scope,
        job: &str,
        now: Timestamp,
        every: Duration,
    ) -> Result<bool> {
        let mut data = self.lock_usage_ledger();
        let key = (scope.clone(), job.to_owned());
        let since = |at: Timestamp| now.as_millisecond() - at.as_millisecond();
        let due = data.jobs.get(&key).is_none_or(|at| since(*at) >= every.as_millis() as i64);
        if due {
            data.jobs.insert(key, now);
        }
        Ok(due)
    }

    async fn job_begun_at(&self, scope: &Scope, job: &str) -> Result<Option<Timestamp>> {
        Ok(self.lock_usage_ledger().jobs.get(&(scope.clone(), job.to_owned())).copied())
    }
}
