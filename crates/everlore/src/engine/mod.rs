//! The engine: owns the store, the settings and the clock, and is the way in for everything else.

mod builder;
mod agent_settings;
mod memories;
mod reads;
mod capture;
mod recall;
mod prompt;
mod lifecycle;
mod embedding;
mod files;
mod forget;
mod delete_many;
mod checks;
pub mod fs;

use std::{collections::HashMap, path::PathBuf, sync::Arc};

use jiff::{Zoned, tz::TimeZone};
use tokio::sync::Notify;

pub use crate::embed::OpenCircuit;
pub use agent_settings::AgentSettings;
pub use builder::EngineBuilder;
pub use capture::{BackgroundWorker, CaptureStatus, ExtractRequest, ExtractionReport};
pub use checks::NAMED_CHECK_TIMEOUT;
pub use embedding::EmbedStatus;
pub use files::{
    ArchivedDay, ExportReport, FilledLayer, MigrationRequest, MigrationSummary, SessionEnd,
};
pub use forget::{ForgetReport, RedactedDay};
pub use lifecycle::{
    Allowance, AnswerUsage, CleanupReport, ExtractionPreview, LedgerReport, TouchedMemory,
    UpkeepJob, UpkeepJobReport, UpkeepReport, UpkeepRequest, UsageStats,
};
pub use prompt::PromptRequest;
pub use recall::{Calibration, CalibrationMetrics, MIN_CALIBRATION_MEMORIES, TimelineRequest};

use crate::{
    config::Config,
    embed::{CircuitBreaker, EmbeddingBackfill},
    error::Result,
    ingest::{self, MemoryEdit, RememberRequest, SavedMemory, Turn, UndoTarget},
    llm::{ChatModel, Embedder, Reranker},
    recall::{ConfidenceTuning, Domains},
    store::Store,
    types::{ChangeAuthor, Clock, Memory, MemoryId, Scope, to_millisecond},
};

/// Memories read at a time when all are looked at: bounds what is held.
const SCAN_PAGE: usize = 1_000;

/// Memory for agents, on any store.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> everlore::Result<()> {
/// use std::sync::Arc;
/// use everlore::{Engine, RememberRequest, Scope, store::RamStore};
///
/// let engine = Engine::new(Arc::new(RamStore::default()));
/// let scope = Scope::new("assistant", "wang")?;
/// engine.remember(&scope, RememberRequest::new("我喜欢喝龙井茶")).await?;
/// let answer = engine.recall(&engine.request(&scope, "喝什么茶？")).await?;
/// assert_eq!(answer.hits[0].memory.content, "我喜欢喝龙井茶");
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Engine {
    store: Arc<dyn Store>,
    /// The model of memories, with what it takes to make vectors.
    backfill: Option<Arc<EmbeddingBackfill>>,
    /// The model of questions.
    query_embedder: Option<Arc<dyn Embedder>>,
    /// Whether a model of questions on another server answers.
    breaker: Arc<CircuitBreaker>,
    /// What compares texts word by word.
    reranker: Option<Arc<dyn Reranker>>,
    config: Arc<Config>,
    settings_cache: Arc<agent_settings::AgentSettingsCache>,
    author: ChangeAuthor,
    domains: Arc<Domains>,
    clock: Clock,
    zone: TimeZone,
    home: Option<PathBuf>,
    /// How sure recall should be in scopes that were calibrated.
    tunings: HashMap<Scope, ConfidenceTuning>,
    usage_tasks: Arc<lifecycle::UsageTasks>,
    /// The model that talks and reads conversations.
    chat: Option<Arc<dyn ChatModel>>,
    /// Tells the worker that something came in.
    worker_wakeup: Arc<Notify>,
    check_verifier: Arc<checks::CheckVerifier>,
    /// What it was built from.
    parts: Arc<EngineBuilder>,
}

impl Engine {
    /// Returns the engine acting for an author: the journal names it for what is remembered, edited and deleted.
    #[must_use]
    pub fn on_behalf_of(&self, author: ChangeAuthor) -> Self {
        Self { author, ..self.clone() }
    }

    /// The settings of the home; what holds for an agent is told by [`Engine::settings`].
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Its words of a trade.
    pub fn domains(&self) -> &Domains {
        &self.domains
    }

    /// Its store.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// The time, in the zone of the user.
    pub fn now(&self) -> Zoned {
        to_millisecond((self.clock)()).to_zoned(self.zone.clone())
    }

    /// Stores a statement, or renews it if the same is known.
    pub async fn remember(
        &self,
        scope: &Scope,
        mut request: RememberRequest,
    ) -> Result<SavedMemory> {
        self.check_enabled(scope)?;
        let masked = if self.masks_secrets(scope) { request.mask_secrets() } else { Vec::new() };
        let request = self.with_stored_check(scope, request).await?;
        let now = self.now().timestamp();
        let saved = ingest::remember(&*self.store, scope, request, &self.author, now).await?;
        Ok(SavedMemory { masked, ..saved })
    }

    /// Stores what was said, word for word, all or nothing.
    pub async fn observe(&self, scope: &Scope, mut turns: Vec<Turn>) -> Result<Vec<SavedMemory>> {
        self.check_enabled(scope)?;
        let masks = self.masks_secrets(scope);
        let masked: Vec<_> = turns
            .iter_mut()
            .map(|turn| if masks { turn.mask_secrets() } else { Vec::new() })
            .collect();
        let now = self.now().timestamp();
        let saved = ingest::observe(&*self.store, scope, turns, &self.author, now).await?;
        self.worker_wakeup.notify_one();
        self.archive_old_days(scope).await;
        let with = |(saved, masked)| SavedMemory { masked, ..saved };
        Ok(saved.into_iter().zip(masked).map(with).collect())
    }

    /// Whether secrets are masked before anything is written.
    pub(super) fn masks_secrets(&self, scope: &Scope) -> bool {
        self.settings(scope.agent()).memory.mask_secrets
    }

    /// Changes a memory and returns it as it is now.
    pub async fn edit(&self, scope: &Scope, id: MemoryId, edit: &MemoryEdit) -> Result<Memory> {
        let mut edit = edit.clone();
        if self.masks_secrets(scope) {
            edit.mask_secrets();
        }
        let edit = self.with_stored_check_edit(scope, edit).await?;
        ingest::edit_memory(&*self.store, scope, id, &edit, &self.author, self.now().timestamp())
            .await
    }

    /// Marks a memory as replaced by another.
    pub async fn supersede(&self, scope: &Scope, id: MemoryId, by: MemoryId) -> Result<Memory> {
        ingest::supersede(&*self.store, scope, id, by, self.now().timestamp()).await
    }

    /// Takes changes back and returns their numbers.
    pub async fn undo(&self, scope: &Scope, what: &UndoTarget) -> Result<Vec<u64>> {
        ingest::undo(&*self.store, scope, what, self.now().timestamp()).await
    }
}
