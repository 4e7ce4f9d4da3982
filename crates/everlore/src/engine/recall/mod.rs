//! Recall, and the memory block of a message.

mod activity;
mod calibration;
mod map_layout;
mod timeline;
mod vector_map;
mod why_not;

use jiff::Zoned;

use super::{Engine, OpenCircuit};
use crate::{
    config::{Config, InjectTrigger, LanguageChoice},
    embed::CachedEmbedder,
    error::{Error, Result},
    llm::Embedder,
    recall::{
        self, BlockRequest, IdentityQuestion, MemoryBlock, Recall, RecallDeps, RecallRequest,
    },
    store::RamStore,
    sync::boxed,
    text::language::Language,
    types::{Scope, Timestamp},
};

pub use activity::ActiveDay;
pub use calibration::{Calibration, CalibrationMetrics, MIN_CALIBRATION_MEMORIES};
pub use timeline::TimelineRequest;
pub use vector_map::{MapPoint, MapRequest, VectorMap};
pub use why_not::AnsweredBlock;

/// Factor on the setting `inject.limit` for a question for the whole profile: with the default of 5, fifteen facts cover
/// each aspect twice and take a third of the default budget.
const PROFILE_LIMIT_FACTOR: usize = 3;

/// Longest query of a search in bytes; recall reads 64 KiB of it.
const MAX_QUERY_BYTES: usize = 1024 * 1024;

impl Engine {
    /// Fails if the query of a search is a document. A message for a prompt may be one: people paste, so only its beginning
    /// and its end are read.
    pub fn check_query(query: &str) -> Result<()> {
        if query.len() <= MAX_QUERY_BYTES {
            return Ok(());
        }
        Err(Error::invalid(
            format!("the query has {} bytes, {MAX_QUERY_BYTES} at most", query.len()),
            "ask for what you want to know; `everlore ingest` and /v1/fs store documents",
        ))
    }

    /// Returns a request for the best memories, with limits from the settings.
    pub fn recall_request(&self, scope: &Scope, query: impl Into<String>) -> RecallRequest {
        RecallRequest::new(scope.clone(), query, &self.settings(scope.agent()).recall)
    }

    /// Returns the memories that answer a request, best first. Fails if the store fails; without a reachable embedder,
    /// words alone decide.
    pub async fn recall(&self, request: &RecallRequest) -> Result<Recall> {
        self.recall_at(request, &self.now()).await
    }

    /// Recalls like [`Engine::recall`], as if the time were `now`.
    #[boxed]
    pub async fn recall_at(&self, request: &RecallRequest, now: &Zoned) -> Result<Recall> {
        let settings = self.settings(request.scope.agent());
        let embedder = self.cached_embedder(&request.scope, now.timestamp());
        let deps = self.recall_deps(&request.scope, &settings, embedder.as_ref(), now);
        let mut found = recall::recall(deps, &with_limit_cap(request, &settings)).await?;
        self.verify_and_demote(&mut found).await;
        Ok(found)
    }

    /// Returns the query embedder for one scope, with cache and circuit breaker.
    pub(crate) fn cached_embedder<'a>(
        &'a self,
        scope: &'a Scope,
        now: Timestamp,
    ) -> Option<CachedEmbedder<'a>> {
        let embedder = self.query_embedder.as_deref()?;
        let vector_cache = self.backfill.as_ref().and_then(|backfill| backfill.vector_cache());
        Some(CachedEmbedder { embedder, vector_cache, scope, breaker: Some(&self.breaker), now })
    }

    /// Returns the reason why the remote query embedder is suspended, or `None` if it is in use. Words alone decide
    /// during an outage.
    pub fn embedder_outage(&self) -> Option<OpenCircuit> {
        self.breaker.open_circuit((self.clock)())
    }

    pub(crate) fn recall_deps<'a>(
        &'a self,
        scope: &Scope,
        settings: &'a Config,
        embedder: Option<&'a CachedEmbedder<'a>>,
        now: &'a Zoned,
    ) -> RecallDeps<'a> {
        RecallDeps {
            store: &*self.store,
            embedder: embedder.map(|embedder| embedder as &dyn Embedder),
            reranker: self.reranker.as_deref(),
            message_model: self.message_model.as_deref(),
            config: &settings.recall,
            domains: &self.domains,
            coefficients: self.confidence_coefficients(scope),
            now,
        }
    }

    /// Recalls among the memories known at `at`, as if it were that moment, by words alone: no model runs. Fails if the
    /// journal cannot be read.
    pub async fn recall_as_of(&self, request: &RecallRequest, at: Timestamp) -> Result<Recall> {
        let then = RamStore::with_memories(
            &request.scope,
            self.store.journal().as_of(&request.scope, at).await?,
        );
        let now = at.to_zoned(self.zone.clone());
        let settings = self.settings(request.scope.agent());
        let deps = self.recall_deps(&request.scope, &settings, None, &now);
        let deps = RecallDeps { store: &then, reranker: None, message_model: None, ..deps };
        recall::recall(deps, &with_limit_cap(request, &settings)).await
    }

    /// Recalls for a message and packs the hits into at most `budget` tokens. Returns an empty block if nothing is
    /// relevant or the settings disable injection.
    pub async fn context(&self, request: &RecallRequest, budget: usize) -> Result<MemoryBlock> {
        let now = self.now();
        let recalled = self.recall_for_prompt(request, &now).await?;
        Ok(recalled.map_or_else(MemoryBlock::default, |(found, language)| {
            let block =
                BlockRequest { query: &request.query, language, budget, now: &now, whole: false };
            recall::pack(&found.hits, &block)
        }))
    }

    /// Returns the recall for a message and the language of its block; `None` if the settings disable injection for
    /// it.
    #[boxed]
    pub(crate) async fn recall_for_prompt(
        &self,
        request: &RecallRequest,
        now: &Zoned,
    ) -> Result<Option<(Recall, Language)>> {
        let settings = self.settings(request.scope.agent());
        if !is_injection_enabled(&settings, &request.query, now) {
            return Ok(None);
        }
        let (mut found, limit) = self.recall_with_cures(request, now).await?;
        found.hits.truncate(limit);
        let language = match settings.general.language {
            LanguageChoice::Auto => found.intent.language,
            LanguageChoice::En => Language::English,
            LanguageChoice::Zh => Language::Chinese,
        };
        Ok(Some((found, language)))
    }

    /// Recalls for a prompt with the cures of a failure first, or with them alone. Returns all hits and the number that may
    /// be told.
    async fn recall_with_cures(
        &self,
        request: &RecallRequest,
        now: &Zoned,
    ) -> Result<(Recall, usize)> {
        let mut found = self.recall_at(request, now).await?;
        let limit = if request.only_cures {
            self.keep_cures(request, &mut found).await?;
            None
        } else {
            self.add_cures(request, &mut found).await?
        };
        Ok((found, limit.unwrap_or(usize::MAX)))
    }

    /// Returns a request for a context block: few hits, and only above the settings' confidence. A question for the
    /// whole profile gets more hits: a person has more sides than a topic has answers.
    pub fn context_request(&self, scope: &Scope, query: impl Into<String>) -> RecallRequest {
        let (settings, query) = (self.settings(scope.agent()), recall::bounded_query(query.into()));
        let asks_profile = recall::classify_identity(&query) == IdentityQuestion::Strong;
        let share = if asks_profile { PROFILE_LIMIT_FACTOR } else { 1 };
        RecallRequest {
            limit: settings.memory.inject.limit.saturating_mul(share),
            min_confidence: settings.recall.min_confidence,
            min_probability: settings.recall.floor,
            for_prompt: true,
            ..RecallRequest::new(scope.clone(), query, &settings.recall)
        }
    }
}

/// Returns the request with its limit capped by the settings.
fn with_limit_cap(request: &RecallRequest, settings: &Config) -> RecallRequest {
    let limit = request.limit.min(settings.memory.long_term.max_return);
    RecallRequest { limit, ..request.clone() }
}

/// Returns `true` if the settings allow injection for a message.
fn is_injection_enabled(settings: &Config, query: &str, now: &Zoned) -> bool {
    let memory = &settings.memory;
    let triggered = match memory.inject.long_term_trigger {
        InjectTrigger::Always => true,
        InjectTrigger::Never => false,
        InjectTrigger::Keywords => recall::analyze(query, &settings.recall, now).asks_memory(),
    };
    memory.enabled
        && memory.long_term.enabled
        && triggered
        && query.trim().chars().count() >= memory.inject.min_query_length
}
