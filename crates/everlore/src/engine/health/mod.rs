//! Health: the state of everything in one call, with what to do about it. It asks no model and no other server than the
//! database, and checks no files in depth: `everlore doctor` does.
//!
//! 1. The parts of the store and of the home are asked for their state (`report.rs`).
//! 2. Each state that needs attention becomes a warning with what to do (`warnings.rs`); the gravest is the status.

mod report;
mod warnings;

pub use report::{
    CaptureHealth, EmbeddingHealth, FileHealth, HealthReport, HealthSeverity, HealthStatus,
    HealthWarning, IndexHealth, LayerHealth, MemoryHealth, ReminderHealth, SpendingHealth,
    StoreHealth,
};

use super::{Engine, EngineAdmin, Layer, LayerText, ProposalState};
use crate::{
    error::Result,
    files::pending_text::PendingFiles,
    store::{ListOrder, ListQuery, MemoryFilter},
    sync::{boxed, run_blocking},
    types::{Kind, Scope, Status},
};

/// Newest memories that are looked up in the index.
const CHECKED_MEMORIES: usize = 20;

impl Engine {
    /// Returns the state of a scope and what to do about it. Fails if the store fails.
    #[boxed]
    pub async fn health(&self, scope: &Scope) -> Result<HealthReport> {
        let mut report = self.scope_health(scope).await?;
        report.judge();
        Ok(report)
    }

    #[boxed]
    async fn scope_health(&self, scope: &Scope) -> Result<HealthReport> {
        let captured = self.capture_status(scope).await?;
        let open = self.proposals(scope, Some(ProposalState::Open)).await?.len();
        Ok(HealthReport {
            status: HealthStatus::Ok,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            at: self.now().timestamp(),
            memories: self.memory_health(scope).await?,
            index: self.index_health(scope).await?,
            capture: CaptureHealth {
                sessions: captured.waiting.len(),
                turns: captured.turns,
                note: captured.note,
            },
            quarantine: captured.held,
            proposals: open,
            reminders: self.reminder_health(scope).await?,
            today: self.spending_health(scope).await?,
            layers: self.layer_health(scope).await?,
            store: None,
            embeddings: None,
            heartbeat: None,
            files: None,
            warnings: Vec::new(),
        })
    }

    async fn memory_health(&self, scope: &Scope) -> Result<MemoryHealth> {
        let mut counted = MemoryHealth::default();
        for (kind, status, count) in self.count(scope).await?.memories {
            let field = match (kind, status) {
                (Kind::Turn, _) => &mut counted.turns,
                (kind, _) if kind.is_record() => &mut counted.records,
                (_, Status::Active) => &mut counted.active,
                (_, Status::Archived | Status::Superseded) => &mut counted.put_away,
            };
            *field += count;
        }
        Ok(counted)
    }

    /// Looks the newest memories up in the index.
    async fn index_health(&self, scope: &Scope) -> Result<IndexHealth> {
        let (filter, order) = (MemoryFilter::default(), ListOrder::NewestFirst);
        let page = ListQuery { filter, after: None, order, limit: CHECKED_MEMORIES };
        let newest = self.store.memories().list(scope, &page).await?;
        let ids: Vec<_> = newest.iter().map(|memory| memory.id).collect();
        let found = self.store.memories().read_back(scope, &ids).await?;
        let missing = found.iter().filter(|found| !**found).count();
        Ok(IndexHealth { checked: ids.len(), missing })
    }

    async fn reminder_health(&self, scope: &Scope) -> Result<ReminderHealth> {
        let scheduled = self.schedules(scope).await?;
        Ok(ReminderHealth {
            scheduled: scheduled.len(),
            due: self.count_due_reminders(scope).await?,
            next: scheduled.iter().find_map(|task| task.next.clone()),
            unverified: scheduled.iter().filter(|task| task.unverified).count(),
        })
    }

    async fn spending_health(&self, scope: &Scope) -> Result<SpendingHealth> {
        let ledger = self.ledger(scope, 1).await?;
        let budget = &self.config.memory_agent.budget;
        Ok(SpendingHealth {
            calls: ledger.total.calls,
            tokens: ledger.total.tokens(),
            cost: ledger.total.cost,
            daily_tokens: (budget.daily_tokens > 0).then_some(budget.daily_tokens),
            daily_cost: (budget.daily_cost > 0.0).then_some(budget.daily_cost),
            capped: !ledger.allowance.allowed,
        })
    }

    /// Returns the sizes of the layers; none without a home.
    async fn layer_health(&self, scope: &Scope) -> Result<Vec<LayerHealth>> {
        let mut sizes = Vec::new();
        if self.home.is_none() {
            return Ok(sizes);
        }
        for layer in Layer::ALL {
            let LayerText { usage, .. } = self.read_layer(scope, layer).await?;
            sizes.push(LayerHealth { layer, chars: usage.chars, budget: usage.budget });
        }
        Ok(sizes)
    }
}

impl EngineAdmin<'_> {
    /// Returns the state of a scope and of the whole store, and what to do about it. Fails if the store fails.
    pub async fn health(self, scope: &Scope) -> Result<HealthReport> {
        let engine = self.engine;
        let mut report = engine.scope_health(scope).await?;
        report.store = Some(self.store_health().await?);
        report.embeddings = Some(self.embedding_health().await?);
        report.heartbeat = Some(engine.heartbeat_status().await?);
        report.files = self.file_health().await?;
        report.judge();
        Ok(report)
    }

    /// Describes the store: address without a password, kind, schema, size and access. Fails if the store fails.
    pub async fn store_health(self) -> Result<StoreHealth> {
        let info = self.store_info();
        let backend = info.url.split(':').next().unwrap_or_default().to_owned();
        Ok(StoreHealth {
            url: info.url,
            backend,
            schema: info.schema,
            bytes: self.engine.store.admin().size().await?,
            read_only: info.is_read_only,
        })
    }

    async fn embedding_health(self) -> Result<EmbeddingHealth> {
        let status = self.embed_status().await?;
        Ok(EmbeddingHealth {
            is_other_model: status.model.is_some()
                && status.in_use.is_some()
                && status.model != status.in_use
                && !status.is_outdated,
            model: status.in_use.map(|model| model.to_string()),
            embedded: status.embedded,
            waiting: status.waiting,
            paused: self.engine.embedder_outage().is_some(),
        })
    }

    async fn file_health(self) -> Result<Option<FileHealth>> {
        let Some(home) = self.engine.home.clone() else { return Ok(None) };
        let pending = run_blocking(move || Ok(PendingFiles::scan(&home))).await?;
        let PendingFiles { spooled, overdue, refused, unsaved } = pending;
        let backups = self.engine.backup_names();
        Ok(Some(FileHealth { spooled, overdue, refused, unsaved, backups }))
    }
}
