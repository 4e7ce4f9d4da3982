//! The engine: owns the store, the settings and the clock, and is the way in for everything else.

mod embed_on_write;
mod cached_embedder;
mod recall;
mod circuit_breaker;
mod embedding_backfill;
mod capture_queue;
mod uri_index;
mod export;
mod migrate;
mod documents;
mod agent_settings;
mod layers;
mod vault;
mod prompt;
mod memories;
mod reads;
mod timeline;
mod forget;
mod delete_many;
mod quarantine;
mod calibration;
mod capture;
mod extract;
mod overviews;
mod worker;
mod lifecycle;
mod checks;
pub mod fs;

use std::{collections::HashMap, path::PathBuf, sync::Arc};

use jiff::{Zoned, tz::TimeZone};
use tokio::sync::Notify;

use self::{
    circuit_breaker::CircuitBreaker, embed_on_write::EmbedOnWrite,
    embedding_backfill::EmbeddingBackfill,
};
pub use agent_settings::AgentSettings;
pub use calibration::{Calibration, CalibrationMetrics, MIN_CALIBRATION_MEMORIES};
pub use capture::{CaptureStatus, ExtractRequest, ExtractionReport};
pub use checks::NAMED_CHECK_TIMEOUT;
pub use circuit_breaker::OpenCircuit;
pub use embed_on_write::EmbedStatus;
pub use export::ExportReport;
pub use forget::{ForgetReport, RedactedDay};
pub use layers::{ArchivedDay, SessionEnd};
pub use lifecycle::{
    Allowance, AnswerUsage, CleanupReport, ExtractionPreview, LedgerReport, TouchedMemory,
    UpkeepJob, UpkeepJobReport, UpkeepReport, UpkeepRequest, UsageStats,
};
pub use migrate::{FilledLayer, MigrationRequest, MigrationSummary};
pub use prompt::PromptRequest;
pub use timeline::TimelineRequest;
pub use worker::BackgroundWorker;

use crate::{
    config::Config,
    error::Result,
    ingest::{self, MemoryEdit, RememberRequest, SavedMemory, Turn, UndoTarget},
    llm::{ChatModel, Embedder, Reranker},
    recall::{ConfidenceTuning, Domains},
    store::{Store, VectorCache},
    types::{ChangeAuthor, Memory, MemoryId, Scope, Timestamp, to_millisecond},
};

/// Memories read at a time when all are looked at: bounds what is held.
const SCAN_PAGE: usize = 1_000;

/// Memory for agents, on any store.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> everlore::Result<()> {
/// use std::sync::Arc;
/// use everlore::{Engine, RecallRequest, Remember, Scope, store::RamStore};
///
/// let engine = Engine::new(Arc::new(RamStore::default()));
/// let scope = Scope::new("assistant", "wang")?;
/// engine.remember(&scope, Remember { content: "我喜欢喝龙井茶".into(), ..Remember::default() }).await?;
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
    clock: fn() -> Timestamp,
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
}

impl Engine {
    /// An engine with default settings that tells days by UTC.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self {
            store,
            backfill: None,
            query_embedder: None,
            breaker: Arc::default(),
            reranker: None,
            config: Arc::default(),
            settings_cache: Arc::default(),
            author: ChangeAuthor::PERSON,
            domains: Arc::default(),
            clock: Timestamp::now,
            zone: TimeZone::UTC,
            home: None,
            tunings: HashMap::new(),
            usage_tasks: Arc::default(),
            chat: None,
            worker_wakeup: Arc::default(),
            check_verifier: Arc::default(),
        }
    }

    /// The same with a model that tells how near two texts are in meaning. It makes vectors at every save, so it must be
    /// fast and near.
    #[must_use]
    pub fn with_embedder(self, embedder: Arc<dyn Embedder>) -> Self {
        let questions = Arc::clone(&embedder);
        let filler = EmbeddingBackfill::new(
            Arc::clone(&self.store),
            Arc::clone(&embedder),
            None,
            self.clock,
        );
        let store = Arc::new(EmbedOnWrite::Inline { store: self.store, embedder });
        Self { store, backfill: Some(Arc::new(filler)), query_embedder: Some(questions), ..self }
    }

    /// The same with a model on another server. Saves do not wait for it: vectors are made meanwhile, or later. What it
    /// said is kept in `cache`, up to the number of vectors given.
    #[must_use]
    pub fn with_remote_embedder(
        self,
        memories: Arc<dyn Embedder>,
        questions: Arc<dyn Embedder>,
        cache: Option<(Arc<dyn VectorCache>, usize)>,
    ) -> Self {
        let filler = Arc::new(EmbeddingBackfill::new(self.store, memories, cache, self.clock));
        let store = Arc::new(EmbedOnWrite::Deferred(Arc::clone(&filler)));
        Self { store, backfill: Some(filler), query_embedder: Some(questions), ..self }
    }

    /// The same with a model that compares the best candidates with a question word by word.
    #[must_use]
    pub fn with_reranker(self, reranker: Arc<dyn Reranker>) -> Self {
        Self { reranker: Some(reranker), ..self }
    }

    /// The same with these settings.
    #[must_use]
    pub fn with_config(self, config: Config) -> Self {
        Self { config: Arc::new(config), settings_cache: Arc::default(), ..self }
    }

    /// The same with these words of a trade.
    #[must_use]
    pub fn with_domains(self, domains: Domains) -> Self {
        Self { domains: Arc::new(domains), ..self }
    }

    /// The same in the time zone of the user, by which "yesterday" is told.
    #[must_use]
    pub fn with_zone(self, zone: TimeZone) -> Self {
        Self { zone, ..self }
    }

    /// The same with another clock, for tests and for replaying the past.
    #[must_use]
    pub fn with_clock(self, clock: fn() -> Timestamp) -> Self {
        Self { clock, ..self }
    }

    /// The same, with what it remembers, edits and deletes journaled as this one's doing.
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
