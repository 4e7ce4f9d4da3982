//! The engine: owns the store, the settings and the clock, and is the way in for everything else.

mod embedding;
mod asking;
mod breaker;
mod filler;
mod queue;
mod tree;
mod transfer;
mod foreign;
mod documents;
mod settings;
mod layers;
mod vault;
mod prompt;
mod lookup;
mod around;
mod forget;
mod quarantine;
mod calibration;
mod capture;
mod drawing;
mod overviews;
mod worker;
mod life;
mod checks;
pub mod fs;

use std::{collections::HashMap, path::PathBuf, sync::Arc};

use jiff::{Zoned, tz::TimeZone};
use tokio::sync::Notify;

use self::{asking::Asking, breaker::Breaker, embedding::Embedding, filler::Filler};
pub use around::Around;
pub use breaker::Paused;
pub use calibration::{Calibration, MIN_MEMORIES, Told};
pub use capture::{CaptureStatus, ExtractRequest, Extraction};
pub use checks::NAMED_LIMIT;
pub use embedding::EmbedStatus;
pub use foreign::{ForeignImport, ForeignRequest, LayerFilled};
pub use forget::{Forgotten, UnquotedDay};
pub use layers::{ArchivedDay, SessionEnd};
pub use life::{
    Allowance, Answered, Cleaned, Job, JobReport, LedgerReport, Preview, Touched, UpkeepReport,
    UpkeepRequest, UsageStats,
};
pub use prompt::PromptRequest;
pub use settings::AgentSettings;
pub use transfer::Exported;
pub use worker::Worker;

use crate::{
    config::{Config, LanguageChoice, Trigger},
    error::Result,
    ingest::{self, Edit, Remember, Saved, Turn, Undo},
    llm::{ChatModel, Embedder, Reranker},
    recall::{self, Block, Domains, Means, Recall, RecallRequest, Tuning, WhyNot},
    store::{RamStore, Store, VectorCache},
    text::language::Language,
    types::{Author, Memory, MemoryId, Scope, Timestamp, to_millisecond},
};

/// Memories read at a time when all are looked at: bounds what is held.
const PAGE: usize = 1_000;

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
    filler: Option<Arc<Filler>>,
    /// The model of questions.
    questions: Option<Arc<dyn Embedder>>,
    /// Whether a model of questions on another server answers.
    breaker: Arc<Breaker>,
    /// What compares texts word by word.
    reranker: Option<Arc<dyn Reranker>>,
    config: Arc<Config>,
    own: Arc<settings::OwnSettings>,
    author: Author,
    domains: Arc<Domains>,
    clock: fn() -> Timestamp,
    zone: TimeZone,
    home: Option<PathBuf>,
    /// How sure recall should be in scopes that were calibrated.
    tunings: HashMap<Scope, Tuning>,
    life: Arc<life::Pending>,
    /// The model that talks and reads conversations.
    chat: Option<Arc<dyn ChatModel>>,
    /// Tells the worker that something came in.
    wake: Arc<Notify>,
    checks: Arc<checks::Verifier>,
}

impl Engine {
    /// An engine with default settings that tells days by UTC.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self {
            store,
            filler: None,
            questions: None,
            breaker: Arc::default(),
            reranker: None,
            config: Arc::default(),
            own: Arc::default(),
            author: Author::PERSON,
            domains: Arc::default(),
            clock: Timestamp::now,
            zone: TimeZone::UTC,
            home: None,
            tunings: HashMap::new(),
            life: Arc::default(),
            chat: None,
            wake: Arc::default(),
            checks: Arc::default(),
        }
    }

    /// The same with a model that tells how near two texts are in meaning. It makes vectors at every save, so it must be
    /// fast and near.
    #[must_use]
    pub fn with_embedder(self, embedder: Arc<dyn Embedder>) -> Self {
        let questions = Arc::clone(&embedder);
        let filler = Filler::new(Arc::clone(&self.store), Arc::clone(&embedder), None, self.clock);
        let store = Arc::new(Embedding::AtOnce { store: self.store, embedder });
        Self { store, filler: Some(Arc::new(filler)), questions: Some(questions), ..self }
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
        let filler = Arc::new(Filler::new(self.store, memories, cache, self.clock));
        let store = Arc::new(Embedding::Later(Arc::clone(&filler)));
        Self { store, filler: Some(filler), questions: Some(questions), ..self }
    }

    /// The same with a model that compares the best candidates with a question word by word.
    #[must_use]
    pub fn with_reranker(self, reranker: Arc<dyn Reranker>) -> Self {
        Self { reranker: Some(reranker), ..self }
    }

    /// The same with these settings.
    #[must_use]
    pub fn with_config(self, config: Config) -> Self {
        Self { config: Arc::new(config), own: Arc::default(), ..self }
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
    pub fn on_behalf_of(&self, author: Author) -> Self {
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
    pub async fn remember(&self, scope: &Scope, mut request: Remember) -> Result<Saved> {
        self.check_enabled(scope)?;
        let masked = if self.masks(scope) { request.mask_secrets() } else { Vec::new() };
        let request = self.with_kept(scope, request).await?;
        let now = self.now().timestamp();
        let saved = ingest::remember(&*self.store, scope, request, &self.author, now).await?;
        Ok(Saved { masked, ..saved })
    }

    /// Stores what was said, word for word, all or nothing.
    pub async fn observe(&self, scope: &Scope, mut turns: Vec<Turn>) -> Result<Vec<Saved>> {
        self.check_enabled(scope)?;
        let masks = self.masks(scope);
        let masked: Vec<_> = turns
            .iter_mut()
            .map(|turn| if masks { turn.mask_secrets() } else { Vec::new() })
            .collect();
        let now = self.now().timestamp();
        let saved = ingest::observe(&*self.store, scope, turns, &self.author, now).await?;
        self.wake.notify_one();
        self.put_days_away(scope).await;
        let with = |(saved, masked)| Saved { masked, ..saved };
        Ok(saved.into_iter().zip(masked).map(with).collect())
    }

    /// Whether secrets are masked before anything is written.
    pub(super) fn masks(&self, scope: &Scope) -> bool {
        self.settings(scope.agent()).memory.mask_secrets
    }

    /// A request for the best memories, by the settings.
    pub fn request(&self, scope: &Scope, query: impl Into<String>) -> RecallRequest {
        RecallRequest::new(scope.clone(), query, &self.settings(scope.agent()).recall)
    }

    /// Finds what is worth knowing, best first.
    pub async fn recall(&self, request: &RecallRequest) -> Result<Recall> {
        self.recall_at(request, &self.now()).await
    }

    /// The same, asked at another time.
    pub async fn recall_at(&self, request: &RecallRequest, now: &Zoned) -> Result<Recall> {
        let settings = self.settings(request.scope.agent());
        let asking = self.asking(&request.scope, now.timestamp());
        let means = self.means(&request.scope, &settings, asking.as_ref(), now);
        let mut found = recall::recall(means, &capped(request, &settings)).await?;
        self.verify_answer(&mut found).await;
        Ok(found)
    }

    /// The model of questions, for one scope.
    fn asking<'a>(&'a self, scope: &'a Scope, now: Timestamp) -> Option<Asking<'a>> {
        let embedder = self.questions.as_deref()?;
        let kept = self.filler.as_ref().and_then(|filler| filler.kept());
        Some(Asking { embedder, kept, scope, breaker: Some(&self.breaker), now })
    }

    /// Why the server that makes the vectors of questions is not asked at the moment, if so: words alone decide meanwhile.
    pub fn questions_paused(&self) -> Option<Paused> {
        self.breaker.paused((self.clock)())
    }

    fn means<'a>(
        &'a self,
        scope: &Scope,
        settings: &'a Config,
        asking: Option<&'a Asking<'a>>,
        now: &'a Zoned,
    ) -> Means<'a> {
        Means {
            store: &*self.store,
            embedder: asking.map(|asking| asking as &dyn Embedder),
            reranker: self.reranker.as_deref(),
            config: &settings.recall,
            domains: &self.domains,
            weights: self.weights(scope),
            now,
        }
    }

    /// Finds what was worth knowing at a moment, among what was known then.
    pub async fn recall_as_of(&self, request: &RecallRequest, at: Timestamp) -> Result<Recall> {
        let then = RamStore::holding(&request.scope, self.store.as_of(&request.scope, at).await?);
        let now = at.to_zoned(self.zone.clone());
        let settings = self.settings(request.scope.agent());
        let means = self.means(&request.scope, &settings, None, &now);
        let means = Means { store: &then, reranker: None, ..means };
        recall::recall(means, &capped(request, &settings)).await
    }

    /// Finds what is worth telling the model and packs it into at most `budget` tokens; empty if nothing is.
    pub async fn context(&self, request: &RecallRequest, budget: usize) -> Result<Block> {
        let now = self.now();
        let told = self.worth_telling(request, &now).await?;
        Ok(told.map_or_else(Block::default, |(found, language)| {
            recall::pack(&found.hits, language, budget, &now)
        }))
    }

    /// What a message gets, and in which language; none if the settings let it have nothing.
    async fn worth_telling(
        &self,
        request: &RecallRequest,
        now: &Zoned,
    ) -> Result<Option<(Recall, Language)>> {
        let settings = self.settings(request.scope.agent());
        if !injects(&settings, &request.query, now) {
            return Ok(None);
        }
        let found = self.recall_at(request, now).await?;
        let language = match settings.general.language {
            LanguageChoice::Auto => found.intent.language,
            LanguageChoice::En => Language::English,
            LanguageChoice::Zh => Language::Chinese,
        };
        Ok(Some((found, language)))
    }

    /// A request for a context block: few hits, and only if recall is sure enough.
    pub fn context_request(&self, scope: &Scope, query: impl Into<String>) -> RecallRequest {
        let settings = self.settings(scope.agent());
        RecallRequest {
            limit: settings.memory.inject.limit,
            min_confidence: settings.recall.min_confidence,
            floor: settings.recall.floor,
            ..RecallRequest::new(scope.clone(), query, &settings.recall)
        }
    }

    /// Says what kept a memory out of an answer.
    pub async fn why_not(&self, request: &RecallRequest, id: MemoryId) -> Result<WhyNot> {
        let settings = self.settings(request.scope.agent());
        let (request, now) = (capped(request, &settings), self.now());
        let asking = self.asking(&request.scope, now.timestamp());
        let means = self.means(&request.scope, &settings, asking.as_ref(), &now);
        let why_not = recall::why_not(means, &request, id).await?;
        match why_not {
            WhyNot::Returned { .. } => {
                Ok(Self::placed(&self.recall_at(&request, &now).await?, why_not))
            }
            why_not => Ok(why_not),
        }
    }

    /// Says what kept a memory out of the block that a message gets.
    pub async fn why_not_told(
        &self,
        request: &RecallRequest,
        budget: usize,
        id: MemoryId,
    ) -> Result<WhyNot> {
        let why_not = self.why_not(request, id).await?;
        let block = self.context(request, budget).await?;
        Ok(why_not.in_block(&block, budget))
    }

    /// Changes a memory and returns it as it is now.
    pub async fn edit(&self, scope: &Scope, id: MemoryId, edit: &Edit) -> Result<Memory> {
        let mut edit = edit.clone();
        if self.masks(scope) {
            edit.mask_secrets();
        }
        let edit = self.with_kept_edit(scope, edit).await?;
        ingest::edit(&*self.store, scope, id, &edit, &self.author, self.now().timestamp()).await
    }

    /// Marks a memory as replaced by another.
    pub async fn supersede(&self, scope: &Scope, id: MemoryId, by: MemoryId) -> Result<Memory> {
        ingest::supersede(&*self.store, scope, id, by, self.now().timestamp()).await
    }

    /// Takes changes back and returns their numbers.
    pub async fn undo(&self, scope: &Scope, what: &Undo) -> Result<Vec<u64>> {
        ingest::undo(&*self.store, scope, what, self.now().timestamp()).await
    }
}

/// The request within the limit that the settings allow.
fn capped(request: &RecallRequest, settings: &Config) -> RecallRequest {
    let limit = request.limit.min(settings.memory.long_term.max_return);
    RecallRequest { limit, ..request.clone() }
}

/// Whether the settings let a message have memories at all.
fn injects(settings: &Config, query: &str, now: &Zoned) -> bool {
    let memory = &settings.memory;
    let triggered = match memory.inject.long_term_trigger {
        Trigger::Always => true,
        Trigger::Never => false,
        Trigger::Keywords => recall::analyze(query, &settings.recall, now).asks_memory(),
    };
    memory.enabled
        && memory.long_term.enabled
        && triggered
        && query.trim().chars().count() >= memory.inject.min_query_length
}
