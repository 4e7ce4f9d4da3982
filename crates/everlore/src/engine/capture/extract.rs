//! Drafts from turns: by a model where there is one, by rules otherwise.

use std::{
    sync::atomic::{AtomicU64, AtomicUsize, Ordering},
    time::Instant,
};

use async_trait::async_trait;

use super::CaptureError;
use crate::{
    engine::Engine,
    error::{Error, Result},
    ingest::{
        Arbiter, Draft, ExtractionInput, Resolution, TurnText, arbiter_request, extract_by_rules,
        extract_prompt, extraction_request, neighbours_of_text, parse_decision, parse_extraction,
        reconcile_prompt,
    },
    llm::{ChatModel, ChatRequest, ChatResponse, complete},
    store::UnreadTurns,
    text::{language::Language, secrets::mask_all},
    types::{Memory, Scope},
};

/// After so many answers in a row that could not be used, rules read the turns.
const MAX_INVALID_ANSWERS: u32 = 3;

/// Known statements that a model is shown: enough to name what is replaced, few enough to read.
const MAX_KNOWN: usize = 12;

/// The files in a home's folder `prompts` that stand for the prompt, by language; the last for any.
const EXTRACT_PROMPT_FILES: [&str; 2] = ["extract_en.md", "extract_zh.md"];
const ANY_EXTRACT_PROMPT_FILE: &str = "extract.md";

/// The same for the question what a statement means beside others.
const RECONCILE_PROMPT_FILES: [&str; 2] = ["reconcile_en.md", "reconcile_zh.md"];
const ANY_RECONCILE_PROMPT_FILE: &str = "reconcile.md";

/// The names of the two under which the ledger keeps what they cost.
const EXTRACT_JOB: &str = "extract";
const RECONCILE_JOB: &str = "reconcile";

/// Questions of that sort in one reading: each costs a call.
pub(crate) const MAX_DECISIONS: usize = 3;

/// What was found in some turns.
pub(crate) struct ExtractedDrafts {
    pub(crate) drafts: Vec<Draft>,
    /// Who found it.
    pub(crate) extractor: String,
    pub(crate) tokens: u64,
    /// What should be known about how it went.
    pub(crate) note: Option<String>,
}

impl Engine {
    /// The model that reads conversations, if there is one and the settings let it.
    pub(crate) fn capture_model(&self, scope: &Scope) -> Option<&dyn ChatModel> {
        let model = self.chat.as_deref()?;
        self.settings(scope.agent()).memory_agent.enabled.then_some(model)
    }

    /// Whether conversations are read by rules alone, which takes no time worth waiting for.
    pub fn captures_without_model(&self, scope: &Scope) -> bool {
        self.capture_model(scope).is_none()
    }

    /// What is worth remembering in some turns; `invalid` is how often a model failed to say.
    pub(crate) async fn extract_drafts(
        &self,
        scope: &Scope,
        unread: &UnreadTurns,
        invalid: u32,
    ) -> Result<ExtractedDrafts, CaptureError> {
        let (before, turns) =
            (self.turn_texts(scope, &unread.context), self.turn_texts(scope, &unread.turns));
        let Some(model) = self.capture_model(scope).filter(|_| !turns.is_empty()) else {
            return Ok(self.extract_drafts_by_rules(&before, turns));
        };
        match self.model_bypass_reason(model, scope, invalid).await? {
            None => self.extract_drafts_by_model(model, scope, (&before, &turns)).await,
            note => Ok(ExtractedDrafts { note, ..self.extract_drafts_by_rules(&before, turns) }),
        }
    }

    /// Why rules read in place of the model, if they should: it gave no usable answers, or the budget is spent (A6).
    async fn model_bypass_reason(
        &self,
        model: &dyn ChatModel,
        scope: &Scope,
        invalid: u32,
    ) -> Result<Option<String>> {
        if invalid >= MAX_INVALID_ANSWERS {
            return Ok(Some(format!(
                "{} gave {invalid} answers that could not be used, so rules read these turns",
                model.name()
            )));
        }
        Ok(self.may_spend(scope, EXTRACT_JOB).await?.reason)
    }

    fn extract_drafts_by_rules(
        &self,
        before: &[TurnText],
        turns: Vec<TurnText>,
    ) -> ExtractedDrafts {
        // A question that was read before may be answered now.
        let question = before.last().cloned().into_iter();
        let heard: Vec<TurnText> = question
            .filter(|turn| turn.role == crate::types::Role::Assistant)
            .chain(turns)
            .collect();
        let drafts = extract_by_rules(&heard, &self.zone);
        ExtractedDrafts { drafts, extractor: "rules".to_owned(), tokens: 0, note: None }
    }

    async fn extract_drafts_by_model(
        &self,
        model: &dyn ChatModel,
        scope: &Scope,
        (before, turns): (&[TurnText], &[TurnText]),
    ) -> Result<ExtractedDrafts, CaptureError> {
        let known = self.known_statements(scope, turns).await?;
        let conversation =
            ExtractionInput { context_turns: before, turns, known_statements: &known };
        let prompt = self.extraction_prompt(conversation.language())?;
        let extract = &self.settings(scope.agent()).memory_agent.extract;
        let request = extraction_request(&prompt, &conversation, extract.max_facts);
        let answer = self.call_model(model, scope, EXTRACT_JOB, &request).await?;
        let tokens = answer.tokens.read + answer.tokens.written;
        let mut drafts = parse_extraction(&answer.text, &conversation)
            .map_err(|error| CaptureError { error, is_invalid: true, tokens })?;
        if !extract.auto_tag {
            drafts.iter_mut().for_each(|draft| draft.keywords.clear());
        }
        Ok(ExtractedDrafts { drafts, extractor: model.name().to_owned(), tokens, note: None })
    }

    /// Asks a model on the engine's own account. Every such question goes through here.
    pub(crate) async fn call_model(
        &self,
        model: &dyn ChatModel,
        scope: &Scope,
        job: &'static str,
        request: &ChatRequest,
    ) -> Result<ChatResponse> {
        let (limit, begun) = (self.config.memory_agent.timeout, Instant::now());
        tracing::debug!(job, model = model.name(), "asking");
        let asked = tokio::time::timeout(limit, complete(model, request)).await;
        let answered = asked.unwrap_or_else(|_| {
            Err(Error::Remote {
                message: format!("{} did not answer within {limit:?}", model.name()),
                hint: "it is asked again later; raise memory_agent.timeout for a slow model"
                    .to_owned(),
            })
        })?;
        self.record_spending(scope, job, answered.tokens, begun.elapsed()).await?;
        Ok(answered)
    }

    /// The model as an arbiter for what it read itself.
    pub(crate) fn model_arbiter<'a>(
        &'a self,
        scope: &'a Scope,
        drawn: &ExtractedDrafts,
    ) -> Option<ModelArbiter<'a>> {
        let model = self.capture_model(scope).filter(|model| model.name() == drawn.extractor)?;
        Some(ModelArbiter {
            engine: self,
            model,
            scope,
            calls: AtomicUsize::new(0),
            tokens: AtomicU64::new(0),
        })
    }

    async fn known_statements(&self, scope: &Scope, turns: &[TurnText]) -> Result<Vec<String>> {
        let text: Vec<&str> = turns.iter().map(|turn| turn.text.as_str()).collect();
        let near = neighbours_of_text(&*self.store, scope, &text.join("\n")).await?;
        Ok(near.into_iter().take(MAX_KNOWN).map(|memory| memory.content).collect())
    }

    fn extraction_prompt(&self, language: Language) -> Result<String> {
        let own = EXTRACT_PROMPT_FILES[usize::from(language == Language::Chinese)];
        self.prompt_file([own, ANY_EXTRACT_PROMPT_FILE], extract_prompt(language))
    }

    /// Turns as an extractor sees them. They may have been stored while secrets were kept.
    fn turn_texts(&self, scope: &Scope, turns: &[Memory]) -> Vec<TurnText> {
        let mut said: Vec<TurnText> = turns.iter().map(TurnText::from_turn).collect();
        if self.masks_secrets(scope) {
            mask_all(said.iter_mut().map(|turn| &mut turn.text));
        }
        said
    }
}

/// A model that is asked where the rules are unsure.
pub(crate) struct ModelArbiter<'a> {
    engine: &'a Engine,
    model: &'a dyn ChatModel,
    scope: &'a Scope,
    calls: AtomicUsize,
    tokens: AtomicU64,
}

impl ModelArbiter<'_> {
    /// What its answers cost so far.
    pub(crate) fn tokens(&self) -> u64 {
        self.tokens.load(Ordering::Relaxed)
    }

    async fn request_decision(&self, draft: &Draft, near: &[Memory]) -> Result<Option<Resolution>> {
        if !self.engine.may_spend(self.scope, RECONCILE_JOB).await?.allowed {
            return Ok(None);
        }
        let language = draft.language;
        let own = RECONCILE_PROMPT_FILES[usize::from(language == Language::Chinese)];
        let builtin = reconcile_prompt(language);
        let prompt = self.engine.prompt_file([own, ANY_RECONCILE_PROMPT_FILE], builtin)?;
        let request = arbiter_request(&prompt, draft, near);
        let answer =
            self.engine.call_model(self.model, self.scope, RECONCILE_JOB, &request).await?;
        self.tokens.fetch_add(answer.tokens.read + answer.tokens.written, Ordering::Relaxed);
        Ok(parse_decision(&answer.text, near))
    }
}

#[async_trait]
impl Arbiter for ModelArbiter<'_> {
    async fn decide(&self, draft: &Draft, near: &[Memory]) -> Option<Resolution> {
        if self.calls.fetch_add(1, Ordering::Relaxed) >= MAX_DECISIONS {
            return None;
        }
        self.request_decision(draft, near).await.unwrap_or_else(|error| {
            tracing::warn!("{error}: the rules decide");
            None
        })
    }
}
