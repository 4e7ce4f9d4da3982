//! Engine builder: a store plus models, settings, clock and home, in any order.

use std::{
    collections::HashMap,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use jiff::tz::TimeZone;
use tokio::sync::Notify;

use super::{
    Engine, SharedFiles,
    checks::CheckVerifier,
    lifecycle::{SeenSessions, UsageTasks},
};
#[cfg(feature = "local-model")]
use crate::llm::BuiltinEncoder;
use crate::{
    config::Config,
    embed::{CircuitBreaker, EmbedOnWrite, EmbeddingBackfill, EmbeddingPath, TokenBackfill},
    error::Result,
    ingest::SentenceJudge,
    llm::{BuiltinEmbedder, ChatModel, Embedder, MessageModel, Reranker},
    recall::{ConfidenceTuning, Domains},
    store::{self, AgentStores, Store},
    types::{ChangeAuthor, Clock, Scope, Timestamp, system_now},
};

/// Parts of an [`Engine`]. The defaults are: default settings, no model, no home, and days in UTC.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> everlore::Result<()> {
/// use std::sync::Arc;
/// use everlore::{Config, Engine, llm::BuiltinEmbedder, store::RamStore};
///
/// let engine = Engine::builder(Arc::new(RamStore::default()))
///     .embedder(Arc::new(BuiltinEmbedder::new()))
///     .config(Config::default())
///     .build();
/// # drop(engine);
/// # Ok(()) }
/// ```
#[derive(Clone)]
#[must_use]
pub struct EngineBuilder {
    store: Arc<dyn Store>,
    /// The same store, if agents may have databases of their own.
    pub(super) agent_stores: Option<Arc<AgentStores>>,
    embedding: EmbeddingChoice,
    reranker: Option<Arc<dyn Reranker>>,
    message_model: Option<Arc<dyn MessageModel>>,
    sentence_judge: Option<Arc<dyn SentenceJudge>>,
    chat: Option<Arc<dyn ChatModel>>,
    summary: Option<Arc<dyn ChatModel>>,
    config: Arc<Config>,
    domains: Arc<Domains>,
    clock: Clock,
    zone: TimeZone,
    home: Option<PathBuf>,
    shared_files: Option<Arc<SharedFiles>>,
    tunings: HashMap<Scope, ConfidenceTuning>,
    check_environment: Vec<(OsString, OsString)>,
    background: BackgroundState,
}

/// State of work in progress, shared by an engine and all engines rebuilt from it.
#[derive(Clone, Default)]
struct BackgroundState {
    breaker: Arc<CircuitBreaker>,
    usage_tasks: Arc<UsageTasks>,
    seen_sessions: Arc<SeenSessions>,
    worker_wakeup: Arc<Notify>,
    capture_note: Arc<Mutex<Option<String>>>,
}

/// Embedding model and where it runs.
#[derive(Clone)]
enum EmbeddingChoice {
    None,
    /// Model in this process: every save embeds inline.
    Local(Arc<dyn Embedder>),
    /// Model on another server: saves do not wait for it.
    Remote {
        memories: Arc<dyn Embedder>,
        queries: Arc<dyn Embedder>,
        max_cached: usize,
    },
}

impl Engine {
    /// Opens the store at an address ([`store::open`]; a path alone is a SQLite file) with the built-in embedder, as the
    /// command line does; creates the file where needed, and renews vectors of an earlier built-in embedder. Fails if the
    /// store cannot be opened or migrated.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> everlore::Result<()> {
    /// use everlore::{Engine, RememberRequest, Scope};
    ///
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("memory.db");
    /// let engine = Engine::open(path).await?;
    /// let scope = Scope::new("assistant", "wang")?;
    /// engine.remember(&scope, RememberRequest::new("我喜欢喝龙井茶")).await?;
    /// let found = engine.recall(&engine.recall_request(&scope, "喝什么茶？")).await?;
    /// assert_eq!(found.hits[0].memory.content, "我喜欢喝龙井茶");
    /// # Ok(()) }
    /// ```
    pub async fn open(url: impl AsRef<OsStr> + Send) -> Result<Self> {
        let stores = AgentStores::open(store::open(url).await?).await?;
        let engine = Self::with_agent_stores(stores).embedder(Arc::new(BuiltinEmbedder::new()));
        #[cfg(feature = "local-model")]
        let engine = engine.builtin_encoder();
        let engine = engine.build();
        engine.admin().renew_embeddings().await;
        Ok(engine)
    }

    /// Returns a builder of an engine on `store`.
    pub fn builder(store: Arc<dyn Store>) -> EngineBuilder {
        EngineBuilder {
            store,
            agent_stores: None,
            embedding: EmbeddingChoice::None,
            reranker: None,
            message_model: None,
            sentence_judge: None,
            chat: None,
            summary: None,
            config: Arc::default(),
            domains: Arc::default(),
            clock: Arc::new(system_now),
            zone: TimeZone::UTC,
            home: None,
            shared_files: None,
            tunings: HashMap::new(),
            check_environment: Vec::new(),
            background: BackgroundState::default(),
        }
    }

    /// Returns a builder of an engine whose agents may have databases of their own.
    pub fn with_agent_stores(stores: Arc<AgentStores>) -> EngineBuilder {
        let agent_stores = Some(Arc::clone(&stores));
        EngineBuilder { agent_stores, ..Self::builder(stores) }
    }

    /// Returns the parts of this engine, to build another like it on the same store. Both share work in progress.
    pub fn rebuild(&self) -> EngineBuilder {
        (*self.parts).clone()
    }

    /// Creates an engine with default settings and no model: recall goes by words alone.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self::builder(store).build()
    }
}

impl EngineBuilder {
    /// Sets an embedder that runs in this process. It embeds at every save, so it must be fast.
    pub fn embedder(self, embedder: Arc<dyn Embedder>) -> Self {
        Self { embedding: EmbeddingChoice::Local(embedder), ..self }
    }

    /// Sets an embedder on another server. Saves do not wait for it: a background task embeds them. The store caches
    /// at most `max_cached` of its vectors; 0 caches none.
    pub fn remote_embedder(
        self,
        memories: Arc<dyn Embedder>,
        queries: Arc<dyn Embedder>,
        max_cached: usize,
    ) -> Self {
        Self { embedding: EmbeddingChoice::Remote { memories, queries, max_cached }, ..self }
    }

    /// Sets a reranker, which compares the best candidates with a query token by token.
    pub fn reranker(self, reranker: Arc<dyn Reranker>) -> Self {
        Self { reranker: Some(reranker), ..self }
    }

    /// Adds the built-in encoder: it tells which messages call for memory, which sentences of a conversation are worth
    /// keeping and, unless another reranker is set, compares the best candidates with a query.
    #[cfg(feature = "local-model")]
    pub fn builtin_encoder(self) -> Self {
        let encoder = Arc::new(BuiltinEncoder::new());
        let reranker = self.reranker.clone().unwrap_or_else(|| Arc::clone(&encoder) as _);
        let judge = Arc::clone(&encoder) as Arc<dyn SentenceJudge>;
        Self {
            reranker: Some(reranker),
            message_model: Some(encoder),
            sentence_judge: Some(judge),
            ..self
        }
    }

    /// Sets the judge of sentences, which tells what of a conversation is worth keeping where no chat model reads it.
    pub fn sentence_judge(self, judge: Arc<dyn SentenceJudge>) -> Self {
        Self { sentence_judge: Some(judge), ..self }
    }

    /// Sets the chat model that reads conversations, if the settings allow it.
    pub fn chat_model(self, model: Arc<dyn ChatModel>) -> Self {
        Self { chat: Some(model), ..self }
    }

    /// Sets the model that writes summaries and overviews, if it is another one.
    pub fn summary_model(self, model: Arc<dyn ChatModel>) -> Self {
        Self { summary: Some(model), ..self }
    }

    /// Sets the settings.
    pub fn config(self, config: Config) -> Self {
        Self { config: Arc::new(config), ..self }
    }

    /// Sets domain vocabularies that take part in query analysis.
    pub fn domains(self, domains: Domains) -> Self {
        Self { domains: Arc::new(domains), ..self }
    }

    /// Sets the time zone of the user, which decides what "yesterday" is.
    pub fn zone(self, zone: TimeZone) -> Self {
        Self { zone, ..self }
    }

    /// Sets the clock, for tests and for replaying the past.
    pub fn clock(self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self { clock: Arc::new(clock), ..self }
    }

    /// Sets the home folder, which holds layers and agent settings.
    pub fn home(self, home: impl AsRef<Path>) -> Self {
        Self { home: Some(home.as_ref().to_owned()), ..self }
    }

    /// Shares layers and agent settings of the home with other servers of its database.
    pub fn shared_files(self, shared: Arc<SharedFiles>) -> Self {
        Self { shared_files: Some(shared), ..self }
    }

    /// Sets the calibration of a scope, as [`Engine::calibrate`] found it.
    pub fn tuning(mut self, scope: Scope, tuning: ConfidenceTuning) -> Self {
        self.tunings.insert(scope, tuning);
        self
    }

    /// Sets the environment of commands that checks run; they get no other variables.
    pub fn check_environment(self, environment: Vec<(OsString, OsString)>) -> Self {
        Self { check_environment: environment, ..self }
    }

    /// Sets a store that is compared with another one: models on other servers and the reranker are left out, and work in
    /// progress is not shared.
    pub(super) fn on_one_store(self, store: Arc<dyn Store>) -> Self {
        let embedding = match self.embedding {
            EmbeddingChoice::Remote { .. } => EmbeddingChoice::None,
            local => local,
        };
        let background = BackgroundState::default();
        Self { store, agent_stores: None, embedding, reranker: None, background, ..self }
    }

    /// Builds the engine.
    pub fn build(self) -> Engine {
        let store = Arc::clone(&self.store);
        let tokens = self
            .reranker
            .as_ref()
            .map(|reranker| Arc::new(TokenBackfill::new(Arc::clone(&store), Arc::clone(reranker))));
        let choice = self.embedding.clone();
        let (store, backfill, query_embedder) = choice.attach(store, &self.clock, tokens.clone());
        let environment = self.check_environment.clone();
        let BackgroundState { breaker, usage_tasks, seen_sessions, worker_wakeup, capture_note } =
            self.background.clone();
        Engine {
            store,
            backfill,
            token_backfill: tokens,
            query_embedder,
            breaker,
            reranker: self.reranker.clone(),
            message_model: self.message_model.clone(),
            sentence_judge: self.sentence_judge.clone(),
            config: Arc::clone(&self.config),
            settings_cache: Arc::default(),
            author: ChangeAuthor::PERSON,
            has_owner_rights: true,
            domains: Arc::clone(&self.domains),
            clock: Arc::clone(&self.clock),
            zone: self.zone.clone(),
            home: self.home.clone(),
            shared_files: self.shared_files.clone(),
            tunings: self.tunings.clone(),
            usage_tasks,
            seen_sessions,
            chat: self.chat.clone(),
            summary: self.summary.clone(),
            worker_wakeup,
            capture_note,
            check_verifier: Arc::new(CheckVerifier::with_environment(environment)),
            parts: Arc::new(self),
        }
    }
}

/// A store that embeds on write, the backfill of missing vectors, and the query embedder.
type EmbeddingParts = (Arc<dyn Store>, Option<Arc<EmbeddingBackfill>>, Option<Arc<dyn Embedder>>);

impl EmbeddingChoice {
    fn attach(
        self,
        store: Arc<dyn Store>,
        clock: &Clock,
        tokens: Option<Arc<TokenBackfill>>,
    ) -> EmbeddingParts {
        let backfill = |memories, max_cached| {
            let store = Arc::clone(&store);
            Arc::new(EmbeddingBackfill::new(store, memories, max_cached, Arc::clone(clock)))
        };
        match self {
            Self::None => (store, None, None),
            Self::Local(embedder) => {
                let backfill = backfill(Arc::clone(&embedder), None);
                let queries = Arc::clone(&embedder);
                let path = EmbeddingPath::Inline { store, embedder };
                (Arc::new(EmbedOnWrite { path, tokens }), Some(backfill), Some(queries))
            }
            Self::Remote { memories, queries, max_cached } => {
                let backfill = backfill(memories, Some(max_cached));
                let path = EmbeddingPath::Deferred(Arc::clone(&backfill));
                (Arc::new(EmbedOnWrite { path, tokens }), Some(backfill), Some(queries))
            }
        }
    }
}
