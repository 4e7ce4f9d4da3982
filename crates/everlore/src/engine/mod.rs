//! The engine: owns the store, the settings and the clock, and is the entry point for library, CLI and server.

mod builder;
mod admin;
mod agent_settings;
mod agent_move;
mod memories;
mod reads;
mod short_ids;
mod capture;
mod recall;
mod prompt;
mod lifecycle;
mod growth;
mod embedding;
mod files;
mod shared_files;
mod forget;
mod health;
mod model_calls;
mod checks;
pub mod fs;

use std::{
    borrow::Cow,
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Mutex},
};

use jiff::{Zoned, tz::TimeZone};
use serde_json::{Map, Value};
use tokio::sync::Notify;

pub use crate::embed::OpenCircuit;
pub use admin::EngineAdmin;
pub use agent_move::{CopyProblem, MisplacedAgent, MoveProgress, MoveReport, UserProblem};
pub use agent_settings::AgentSettings;
pub use builder::EngineBuilder;
pub use capture::{BackgroundWorker, CaptureStatus, ExtractRequest, ExtractionReport};
pub use checks::NAMED_CHECK_TIMEOUT;
pub use embedding::EmbedStatus;
pub use files::{
    ArchivedDay, ExportReport, FilledLayer, MigrationRequest, MigrationSummary, SessionEnd,
};
pub use forget::{
    DeleteReceipt, DeletedMemory, ForgetReceipt, ForgetReport, KindCount, RedactedDay,
    RedactedLayer, Removal, RemovalMode, RemovalReport, RemovalTarget, ScopeRemoval, SourceTurns,
    VaultErasure,
};
pub use growth::{
    AuditFinding, AuditReport, AuditRequest, AuditSource, DueReminder, ExperienceHit,
    ExperienceQuery, ExperienceView, FeedbackEffect, FeedbackReceipt, FixedMemories, HeartbeatJob,
    HeartbeatJobStatus, HeartbeatReport, HeartbeatRun, HeartbeatStatus, NewSchedule,
    ProfileDecision, ProfileReport, ProposalView, ReflectRequest, ReflectionReport, ScheduleAnswer,
    ScheduledTask, SkillState, SkillVersion, SkillView, TrajectoryPage, TrajectoryQuery,
    render_reminders,
};
pub use health::{
    CaptureHealth, EmbeddingHealth, FileHealth, HealthReport, HealthSeverity, HealthStatus,
    HealthWarning, IndexHealth, LayerHealth, MemoryHealth, ReminderHealth, SpendingHealth,
    StoreHealth,
};
pub use lifecycle::{
    Allowance, AnswerUsage, CleanupReport, ExtractionPreview, LedgerReport, LoggedPrompt,
    PastPrompt, PastPromptMemory, TouchedMemory, UpkeepJob, UpkeepJobReport, UpkeepReport,
    UpkeepRequest, UsageStats,
};
pub use model_calls::{EmbeddedText, EmbeddingProviderView, TextSize};
pub use prompt::PromptRequest;
pub use recall::{
    ActiveDay, AnsweredBlock, Calibration, CalibrationMetrics, MIN_CALIBRATION_MEMORIES, MapPoint,
    MapRequest, TimelineRequest, VectorMap,
};
pub use shared_files::SharedFiles;

// Requests and responses of the methods that other modules define.
pub use crate::{
    files::{
        documents::DocFormat,
        importers::{ExternalFormat, SkippedImport},
        layers::{
            Layer, LayerChange, LayerEdit, LayerForgetReceipt, LayerSize, LayerSnapshot, LayerText,
            LayerView, SectionSize,
        },
    },
    growth::{
        CureSource, ExperienceEdit, FeedbackRequest, FeedbackTally, FeedbackVerdict, NewExperience,
        audit::{AuditFix, AuditScore, FaultKind, ScorePart},
        patterns::WorkflowStep,
        profile::{ProfileField, RejectedValue, SignalBasis},
        reflection::{ProposalReason, ProposalState},
        skill::{ExpectedUse, SkillEffect, SkillForm, SkillProblem, SkillRule, skill_problems},
        trajectory::{
            LinkedExperience, MIN_TRAJECTORY_BUDGET, Trajectory, TrajectoryFormat,
            TrajectoryOutcome, TrajectoryOutcomeKind, TrajectorySavings, TrajectoryStep,
            TrajectorySummary,
        },
    },
    ingest::{
        DayArchiveOutcome, Document, DoubtedMemory, DraftFate, DraftOutcome, ExternalImportReport,
        ImportOptions, ImportReport, ImportedKindCount, IngestOptions, IngestReport, MemoryEdit,
        RejectedLine, RememberRequest, SaveReceipt, SavedMemory, SentenceJudge, SupersededMemory,
        Turn, UndoRun, UndoTarget, UndoneStep,
    },
    prompt::{Prompt, PromptPart, PromptPartName, TurnPrompt},
    recall::{
        ConfidenceBasis, ConfidenceCoefficients, ConfidenceEstimate, ConfidenceFeatures,
        ConfidenceTuning, Domain, DomainTerm, Domains, FeatureContribution, Hit, HitSignals,
        IdentityQuestion, Intent, MemoryBlock, MemoryBlockEntry, MemoryNeed, QueryKind, QueryTerm,
        Recall, RecallRequest, ScoreFactors, TermSignal, VisibleContext, WhyNot,
    },
    store::directory::{SyncAction, SyncReport, SyncRequest, SyncStep},
    text::{
        dates::{SessionOrdinal, SessionRange},
        language::Language,
        secrets::SecretKind,
    },
    upkeep::{HoldoutComparison, HoldoutFinding, UsageRate},
};

use crate::{
    config::Config,
    embed::{CircuitBreaker, EmbeddingBackfill, TokenBackfill},
    error::{Error, Result},
    ingest,
    llm::{ChatModel, Embedder, MessageModel, Reranker},
    store::Store,
    sync::boxed,
    text::secrets::mask,
    types::{
        Actor, ChangeAuthor, Clock, Memory, MemoryId, Scope, TRUST_KEY, Trust, to_millisecond,
        within_calendar,
    },
};

/// Page size of scans over all memories; bounds the memory that a scan holds.
const SCAN_PAGE: usize = 1_000;

/// Long-term memory for agents, on any [`Store`]. Cloning is cheap: clones share the store, caches and background
/// work.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> everlore::Result<()> {
/// use std::sync::Arc;
/// use everlore::{Engine, RememberRequest, Scope, store::RamStore};
///
/// let engine = Engine::new(Arc::new(RamStore::default()));
/// let scope = Scope::new("assistant", "wang")?;
/// engine.remember(&scope, RememberRequest::new("我喜欢喝龙井茶")).await?;
/// let answer = engine.recall(&engine.recall_request(&scope, "喝什么茶？")).await?;
/// assert_eq!(answer.hits[0].memory.content, "我喜欢喝龙井茶");
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Engine {
    store: Arc<dyn Store>,
    /// Embedder of memories and the backfill of missing vectors; `None` without an embedding model.
    backfill: Option<Arc<EmbeddingBackfill>>,
    /// Embedder of queries.
    query_embedder: Option<Arc<dyn Embedder>>,
    /// Circuit breaker of a remote query embedder.
    breaker: Arc<CircuitBreaker>,
    /// Late-interaction reranker, which compares texts token by token.
    reranker: Option<Arc<dyn Reranker>>,
    /// Background encoding for the reranker.
    token_backfill: Option<Arc<TokenBackfill>>,
    /// Model that tells whether a message calls for memory, and for which.
    message_model: Option<Arc<dyn MessageModel>>,
    /// Classifier of sentences, which tells what is worth keeping where no chat model reads.
    sentence_judge: Option<Arc<dyn SentenceJudge>>,
    config: Arc<Config>,
    settings_cache: Arc<agent_settings::AgentSettingsCache>,
    author: ChangeAuthor,
    /// Unset for a caller that acts for one user: it changes nothing that users of an agent share.
    has_owner_rights: bool,
    domains: Arc<Domains>,
    clock: Clock,
    zone: TimeZone,
    home: Option<PathBuf>,
    /// Copies of documents in the home; `None` for a local home, whose files are the only ones.
    shared_files: Option<Arc<SharedFiles>>,
    /// Confidence tunings of calibrated scopes.
    tunings: HashMap<Scope, ConfidenceTuning>,
    usage_tasks: Arc<lifecycle::UsageTasks>,
    seen_sessions: Arc<lifecycle::SeenSessions>,
    /// Chat model that reads conversations.
    chat: Option<Arc<dyn ChatModel>>,
    /// Model that writes summaries and overviews, if it is another one.
    summary: Option<Arc<dyn ChatModel>>,
    /// Wakes the background worker when turns arrive.
    worker_wakeup: Arc<Notify>,
    /// Reason why rules last replaced the model that extracts.
    capture_note: Arc<Mutex<Option<String>>>,
    check_verifier: Arc<checks::CheckVerifier>,
    /// Parts that built this engine, for [`Engine::rebuild`].
    parts: Arc<EngineBuilder>,
}

impl Engine {
    /// Returns this engine acting for `author`: the journal names the author in what it remembers, edits and deletes.
    #[must_use]
    pub fn on_behalf_of(&self, author: ChangeAuthor) -> Self {
        Self { author, ..self.clone() }
    }

    /// Returns this engine for a caller that acts for one user: it reads SOUL.md and agent settings, which all users of an
    /// agent share, and fails to change them.
    #[must_use]
    pub fn without_owner_rights(&self) -> Self {
        Self { has_owner_rights: false, ..self.clone() }
    }

    /// Runs an operation that may change layers or agent settings; on a server database other servers get the changes.
    pub async fn write_files<T>(
        &self,
        operation: impl Future<Output = Result<T>> + Send,
    ) -> Result<T> {
        match &self.shared_files {
            Some(shared) => shared.write(operation).await,
            None => operation.await,
        }
    }

    /// Fails if the caller acts for one user; `what` is shared by all users of the agent.
    fn check_owner(&self, what: impl Into<String>) -> Result<()> {
        if self.has_owner_rights { Ok(()) } else { Err(Error::OwnerOnly { what: what.into() }) }
    }

    /// Removes an approval from the metadata that an agent gives: only a person approves.
    fn drop_claimed_approval(&self, metadata: &mut Map<String, Value>) {
        let is_claimed = Trust::from_metadata(metadata) == Some(Trust::Approved);
        if is_claimed && self.author.actor != Actor::Person {
            metadata.remove(TRUST_KEY);
        }
    }

    /// Returns the settings of the home. [`Engine::settings`] returns those in force for an agent.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the domain vocabularies.
    pub fn domains(&self) -> &Domains {
        &self.domains
    }

    /// Returns the store.
    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Returns the current time in the user's time zone.
    pub fn now(&self) -> Zoned {
        to_millisecond(within_calendar((self.clock)())).to_zoned(self.zone.clone())
    }

    /// Stores a statement, or renews the memory that already says the same. Masks secrets first if the settings say
    /// so.
    ///
    /// Fails if memory is disabled for the agent, if the request is invalid, or if the store fails.
    #[boxed]
    pub async fn remember(
        &self,
        scope: &Scope,
        mut request: RememberRequest,
    ) -> Result<SavedMemory> {
        self.check_writable(scope)?;
        request.check_sizes()?;
        self.drop_claimed_approval(&mut request.metadata);
        let masked = if self.masks_secrets(scope) { request.mask_secrets() } else { Vec::new() };
        let request = self.with_stored_check(scope, request).await?;
        let saved = ingest::remember(self.save_deps(), scope, request).await?;
        Ok(SavedMemory { masked, ..saved })
    }

    /// Stores turns verbatim, all or none. Masks secrets first if the settings say so. Then wakes the worker of
    /// [`Engine::spawn_worker`], if this process runs one, and moves files of old days of the daily log to the
    /// archive. A verdict of the user on what the last answer used ("that helped") counts as feedback.
    ///
    /// Fails if memory is disabled for the agent, if a turn is invalid, or if the store fails.
    #[boxed]
    pub async fn observe(&self, scope: &Scope, mut turns: Vec<Turn>) -> Result<Vec<SavedMemory>> {
        self.check_writable(scope)?;
        turns.iter().try_for_each(Turn::check_sizes)?;
        turns.iter_mut().try_for_each(|turn| self.limit_recorded_call(turn))?;
        let masks = self.masks_secrets(scope);
        let masked: Vec<_> = turns
            .iter_mut()
            .map(|turn| if masks { turn.mask_secrets() } else { Vec::new() })
            .collect();
        let said = turns.clone();
        let saved = ingest::observe(self.save_deps(), scope, turns).await?;
        self.hear_feedback(scope, &said).await;
        self.worker_wakeup.notify_one();
        self.archive_old_days(scope).await;
        let with_masked = |(saved, masked)| SavedMemory { masked, ..saved };
        Ok(saved.into_iter().zip(masked).map(with_masked).collect())
    }

    /// Returns what a save works with.
    fn save_deps(&self) -> ingest::SaveDeps<'_> {
        let (store, judge) = (&*self.store, self.sentence_judge.as_ref());
        ingest::SaveDeps { store, judge, author: &self.author, now: self.now().timestamp() }
    }

    /// Returns the name of a session as it is stored: without secrets, if the settings mask them.
    pub(super) fn stored_session<'s>(&self, scope: &Scope, session: &'s str) -> Cow<'s, str> {
        if self.masks_secrets(scope) { mask(session).0 } else { Cow::Borrowed(session) }
    }

    /// Returns `true` if the settings mask secrets before any write.
    pub(super) fn masks_secrets(&self, scope: &Scope) -> bool {
        self.settings(scope.agent()).memory.mask_secrets
    }

    /// Edits a memory and returns its new state. Fails if the scope has no such memory or the edit is invalid.
    #[boxed]
    pub async fn edit(&self, scope: &Scope, id: MemoryId, edit: &MemoryEdit) -> Result<Memory> {
        edit.check_sizes()?;
        let mut edit = edit.clone();
        edit.metadata.iter_mut().for_each(|metadata| self.drop_claimed_approval(metadata));
        if self.masks_secrets(scope) {
            edit.mask_secrets();
        }
        let edit = self.with_stored_check_edit(scope, edit).await?;
        ingest::edit_memory(&*self.store, scope, id, &edit, &self.author, self.now().timestamp())
            .await
    }

    /// Marks memory `id` as superseded by memory `by` and returns it. Fails if the scope lacks either, or if the two
    /// would replace each other.
    pub async fn supersede(&self, scope: &Scope, id: MemoryId, by: MemoryId) -> Result<Memory> {
        let now = self.now().timestamp();
        ingest::supersede(&*self.store, scope, id, by, &self.author, now).await
    }

    /// Undoes changes, all or none, and returns their journal numbers. Fails if there is nothing to undo, or if a
    /// later change conflicts with it.
    pub async fn undo(&self, scope: &Scope, what: &UndoTarget) -> Result<Vec<u64>> {
        let undone = ingest::undo(&*self.store, scope, what, self.now().timestamp()).await?;
        self.sync_skills_after(scope).await;
        Ok(undone)
    }

    /// Undoes the newest step that is not undone yet: a change, or all changes of a run. Called again, it goes back
    /// step by step. Usage and weights are no steps, and what was erased cannot come back. Fails if there is no step
    /// left.
    pub async fn undo_last(&self, scope: &Scope) -> Result<UndoneStep> {
        let undone = ingest::undo_last(&*self.store, scope, self.now().timestamp()).await?;
        self.sync_skills_after(scope).await;
        Ok(undone)
    }

    /// Redoes the step that was undone last. Fails if nothing was undone since the newest change.
    pub async fn redo(&self, scope: &Scope) -> Result<UndoneStep> {
        let redone = ingest::redo(&*self.store, scope, self.now().timestamp()).await?;
        self.sync_skills_after(scope).await;
        Ok(redone)
    }
}
