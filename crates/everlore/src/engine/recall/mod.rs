//! What a question is answered, what a message is told, and why.

mod calibration;
mod timeline;

use jiff::Zoned;

use super::{Engine, OpenCircuit};
use crate::{
    config::{Config, InjectTrigger, LanguageChoice},
    embed::CachedEmbedder,
    error::Result,
    llm::Embedder,
    recall::{self, MemoryBlock, Recall, RecallDeps, RecallRequest, WhyNot},
    store::RamStore,
    text::language::Language,
    types::{MemoryId, Scope, Timestamp},
};

pub use calibration::{Calibration, CalibrationMetrics, MIN_CALIBRATION_MEMORIES};
pub use timeline::TimelineRequest;

impl Engine {
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
        let asking = self.cached_embedder(&request.scope, now.timestamp());
        let means = self.recall_deps(&request.scope, &settings, asking.as_ref(), now);
        let mut found = recall::recall(means, &with_limit_cap(request, &settings)).await?;
        self.verify_and_demote(&mut found).await;
        Ok(found)
    }

    /// The model of questions, for one scope.
    pub(crate) fn cached_embedder<'a>(
        &'a self,
        scope: &'a Scope,
        now: Timestamp,
    ) -> Option<CachedEmbedder<'a>> {
        let embedder = self.query_embedder.as_deref()?;
        let kept = self.backfill.as_ref().and_then(|filler| filler.vector_cache());
        Some(CachedEmbedder {
            embedder,
            vector_cache: kept,
            scope,
            breaker: Some(&self.breaker),
            now,
        })
    }

    /// Why the server that makes the vectors of questions is not asked at the moment, if so: words alone decide meanwhile.
    pub fn embedder_outage(&self) -> Option<OpenCircuit> {
        self.breaker.open_circuit((self.clock)())
    }

    pub(crate) fn recall_deps<'a>(
        &'a self,
        scope: &Scope,
        settings: &'a Config,
        asking: Option<&'a CachedEmbedder<'a>>,
        now: &'a Zoned,
    ) -> RecallDeps<'a> {
        RecallDeps {
            store: &*self.store,
            embedder: asking.map(|asking| asking as &dyn Embedder),
            reranker: self.reranker.as_deref(),
            config: &settings.recall,
            domains: &self.domains,
            coefficients: self.confidence_coefficients(scope),
            now,
        }
    }

    /// Finds what was worth knowing at a moment, among what was known then.
    pub async fn recall_as_of(&self, request: &RecallRequest, at: Timestamp) -> Result<Recall> {
        let then = RamStore::with_memories(
            &request.scope,
            self.store.journal().as_of(&request.scope, at).await?,
        );
        let now = at.to_zoned(self.zone.clone());
        let settings = self.settings(request.scope.agent());
        let means = self.recall_deps(&request.scope, &settings, None, &now);
        let means = RecallDeps { store: &then, reranker: None, ..means };
        recall::recall(means, &with_limit_cap(request, &settings)).await
    }

    /// Finds what is worth telling the model and packs it into at most `budget` tokens; empty if nothing is.
    pub async fn context(&self, request: &RecallRequest, budget: usize) -> Result<MemoryBlock> {
        let now = self.now();
        let told = self.recall_for_prompt(request, &now).await?;
        Ok(told.map_or_else(MemoryBlock::default, |(found, language)| {
            recall::pack(&found.hits, language, budget, &now)
        }))
    }

    /// What a message gets, and in which language; none if the settings let it have nothing.
    pub(crate) async fn recall_for_prompt(
        &self,
        request: &RecallRequest,
        now: &Zoned,
    ) -> Result<Option<(Recall, Language)>> {
        let settings = self.settings(request.scope.agent());
        if !is_injection_enabled(&settings, &request.query, now) {
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
        let (request, now) = (with_limit_cap(request, &settings), self.now());
        let asking = self.cached_embedder(&request.scope, now.timestamp());
        let means = self.recall_deps(&request.scope, &settings, asking.as_ref(), &now);
        let why_not = recall::why_not(means, &request, id).await?;
        match why_not {
            WhyNot::Returned { .. } => {
                Ok(Self::with_final_rank(&self.recall_at(&request, &now).await?, why_not))
            }
            why_not => Ok(why_not),
        }
    }

    /// Says what kept a memory out of the block that a message gets.
    pub async fn why_not_in_block(
        &self,
        request: &RecallRequest,
        budget: usize,
        id: MemoryId,
    ) -> Result<WhyNot> {
        let why_not = self.why_not(request, id).await?;
        let block = self.context(request, budget).await?;
        Ok(why_not.in_block(&block, budget))
    }
}

/// The request within the limit that the settings allow.
fn with_limit_cap(request: &RecallRequest, settings: &Config) -> RecallRequest {
    let limit = request.limit.min(settings.memory.long_term.max_return);
    RecallRequest { limit, ..request.clone() }
}

/// Whether the settings let a message have memories at all.
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
