//! Forgetting: erases memories and every trace of their text, for good, whichever interface asks for it.
//!
//! 1. `leftovers.rs` erases what is not in the store: turns that wait in the hook spool, the rescue log, lines typed in
//!    `chat`, sentences in USER.md and MEMORY.md, the agent's own file.
//! 2. `daily_log.rs` removes its sentences from every day of the log.
//! 3. The store erases row, index, vectors, usage, drafts and journal images of the memory and of the turns that only it was
//!    extracted from, and the recorded tool calls whose arguments or results tell the text. After an interruption before
//!    that, the memory still exists, and forgetting it again completes the erasure.
//! 4. A sync of each vault removes its file; if that is interrupted, the next sync does.
//! 5. Turns that other memories come from as well and backups of the database are named: they may hold texts of others, so
//!    only a person removes them.
//!
//! `delete.rs` removes memories that the journal keeps, and `everything.rs` all of a user or an agent.

mod daily_log;
mod delete;
mod everything;
mod leftovers;
mod receipt;
mod source_turns;

pub use daily_log::RedactedDay;
pub use delete::{DeleteReceipt, DeletedMemory};
pub use everything::{KindCount, Removal, RemovalMode, RemovalReport, RemovalTarget, ScopeRemoval};
pub use receipt::{ForgetReceipt, ForgetReport, RedactedLayer, VaultErasure};
pub use source_turns::SourceTurns;

use crate::{
    engine::Engine,
    error::{Error, Result},
    ingest,
    store::JournalQuery,
    sync::boxed,
    types::{Change, ChangeOp, Memory, MemoryId, Scope},
};
use leftovers::{ErasedCopies, ErasedTexts};

impl Engine {
    /// Erases a memory and every trace of its text, for good: see [`Engine::forget_all`].
    pub async fn forget(&self, scope: &Scope, id: MemoryId) -> Result<ForgetReceipt> {
        self.forget_all(scope, &[id]).await
    }

    /// Erases memories and every trace of their texts, for good, in the store and in the files of the home.
    ///
    /// Erases the turns that nothing else was extracted from, drafts extracted from them, and their sentences in layers and
    /// the daily log; an archived day goes with the memory made from it. Other turns and memories extracted from them
    /// remain: the receipt names them, and the backups that may still hold the texts. Fails if the scope never had one of
    /// the memories, or if the store or a file fails.
    #[boxed]
    pub async fn forget_all(&self, scope: &Scope, ids: &[MemoryId]) -> Result<ForgetReceipt> {
        let sources = self.source_turns(scope, ids, RemovalMode::Forget).await?;
        // Turns go first: after an interruption the memories still name them.
        let all = [&*sources.alone, ids].concat();
        let mut receipt = self.erase_listed(scope, &all).await?;
        receipt.put_first(ids);
        let erased = receipt.erased();
        receipt.remaining_turns = sources.shared;
        receipt.remaining_turns.retain(|turn| !erased.contains(turn));
        if self.has_skill_files(scope) {
            self.sync_skill_files(scope).await?;
        }
        receipt.vaults = self.erase_from_vaults(scope).await?;
        receipt.backups = self.backup_names();
        receipt.warn(self.is_wal_filled());
        Ok(receipt)
    }

    /// Erases memories, the recorded calls that tell of them, and their texts outside of the store.
    async fn erase_listed(&self, scope: &Scope, ids: &[MemoryId]) -> Result<ForgetReceipt> {
        let mut receipt = ForgetReceipt::default();
        let mut superseded = self.superseded_by(scope, ids).await?;
        let calls = self.erase_calls(scope, ids).await?;
        for id in ids.iter().filter(|id| !calls.iter().any(|call| call.id == **id)) {
            let states = self.all_versions(scope, *id).await?;
            let texts = ErasedTexts::of(&states);
            receipt.add_leftovers(self.erase_leftovers(scope, &texts).await?);
            let earlier = self.remove_note_file(scope, &states, &mut receipt).await?;
            receipt.forgotten.push(self.erase_memory(scope, *id, &states).await?);
            for id in earlier {
                let states = self.all_versions(scope, id).await?;
                match self.erase_memory(scope, id, &states).await {
                    // It was erased before.
                    Err(Error::NotFound { .. }) => {}
                    report => receipt.forgotten.push(report?),
                }
            }
        }
        receipt.forgotten.extend(calls);
        for report in &mut receipt.forgotten {
            report.superseded = superseded.remove(&report.id).unwrap_or_default();
        }
        Ok(receipt)
    }

    /// Erases for good what some runs deleted: see [`Engine::forget_all`].
    pub async fn forget_runs(&self, scope: &Scope, runs: &[String]) -> Result<ForgetReceipt> {
        let mut ids = Vec::new();
        for run in runs {
            let query = JournalQuery { run: Some(run.clone()), ..JournalQuery::default() };
            let lines = self.store.journal().entries(scope, &query).await?;
            let deleted = lines.iter().filter(|line| line.op == ChangeOp::Delete);
            ids.extend(deleted.map(|line| line.id));
        }
        self.forget_all(scope, &ids).await
    }

    /// Erases the recorded tool calls that tell of memories. They go first: after an interruption the memories still exist,
    /// and forgetting them again finds the calls.
    async fn erase_calls(&self, scope: &Scope, ids: &[MemoryId]) -> Result<Vec<ForgetReport>> {
        let mut copies = ErasedCopies::default();
        for id in ids {
            copies.add(&self.all_versions(scope, *id).await?);
        }
        let mut erased = Vec::new();
        for call in self.calls_with_text(scope, &|text| copies.are_in(text)).await? {
            let states = self.all_versions(scope, call.id).await?;
            erased.push(self.erase_memory(scope, call.id, &states).await?);
        }
        Ok(erased)
    }

    /// Erases a memory from the daily log and the store.
    #[boxed]
    async fn erase_memory(
        &self,
        scope: &Scope,
        id: MemoryId,
        states: &[Memory],
    ) -> Result<ForgetReport> {
        let day = states.first().and_then(ingest::daily_log_date).filter(|_| self.home.is_some());
        let derived = self.derived_memories(scope, id).await?;
        let daily = match day {
            Some(_) => Vec::new(),
            None => self.redact_daily_log(scope, states).await?,
        };
        let write = self.forget_write(scope, vec![Change::Erase(id)]);
        let applied = self.store.apply(write).await?.remove(0);
        if let Some(day) = day {
            let layers = self.layers(scope)?;
            self.write_files(async { layers.forget_day(day) }).await?;
        }
        let summaries = self.days_mentioning_session(scope, states).await?;
        let removed = applied.erasure.unwrap_or_default();
        let superseded = Vec::new();
        Ok(ForgetReport { id, seq: applied.seq, removed, derived, superseded, daily, summaries })
    }
}
