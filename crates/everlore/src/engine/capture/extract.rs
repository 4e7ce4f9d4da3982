//! Extraction of drafts from turns: by a chat model where there is one, by rules otherwise.

use std::{
    sync::atomic::{AtomicU64, AtomicUsize, Ordering},
    time::Instant,
};

use async_trait::async_trait;

use super::CaptureError;
use crate::{
    engine::{Engine, growth::AttemptReport},
    error::{Error, Result},
    ingest::{
        Arbiter, CaptureModels, Draft, ExtractionInput, Resolution, SessionTurns, TurnText,
        arbiter_request, attribute_to_speakers, extract_prompt, extract_statements,
        extraction_request, find_corrected, neighbours_of_text, parse_decision, parse_extraction,
        reconcile_prompt,
    },
    llm::{ChatModel, ChatRequest, ChatResponse, complete},
    store::UnreadTurns,
    sync::{boxed, run_blocking},
    text::{language::Language, secrets::mask_all},
    types::{Kind, Memory, Scope},
};

/// Consecutive unusable model answers after which rules extract instead.
const MAX_INVALID_ANSWERS: u32 = 3;

/// Known statements in a prompt: enough to name what a draft replaces, few enough to read.
const MAX_KNOWN: usize = 12;

/// Files in a home's folder `prompts` that replace the extraction prompt, by language; [`ANY_EXTRACT_PROMPT_FILE`]
/// replaces it for any.
const EXTRACT_PROMPT_FILES: [&str; 2] = ["extract_en.md", "extract_zh.md"];
const ANY_EXTRACT_PROMPT_FILE: &str = "extract.md";

/// Files that replace the reconciliation prompt, which asks for a draft's relation to similar memories.
const RECONCILE_PROMPT_FILES: [&str; 2] = ["reconcile_en.md", "reconcile_zh.md"];
const ANY_RECONCILE_PROMPT_FILE: &str = "reconcile.md";

/// Ledger job names of extraction and reconciliation.
const EXTRACT_JOB: &str = "extract";
const RECONCILE_JOB: &str = "reconcile";

/// Most arbiter calls per extraction: each costs a model call.
pub(crate) const MAX_DECISIONS: usize = 3;

/// Longest answer of a model, as a multiple of the longest silence: a slow model may write for minutes, and one that
/// never ends must not hold a session forever. At the default of a minute, 4,096 tokens come at 7 a second.
pub(crate) const MAX_SILENCES: u32 = 10;

/// Advice for a model that is too slow.
const SLOW_MODEL_HINT: &str = "raise memory_agent.timeout for a slow model";

/// Drafts extracted from some turns.
pub(crate) struct ExtractedDrafts {
    pub(crate) drafts: Vec<Draft>,
    /// `rules`, or the name of a model.
    pub(crate) extractor: String,
    pub(crate) tokens: u64,
    /// Remark for the report, such as why rules replaced the model.
    pub(crate) note: Option<String>,
    /// Outcomes of known solutions that were tried again.
    pub(crate) reports: Vec<AttemptReport>,
}

impl Engine {
    /// Returns the chat model that extracts, if there is one and the settings allow it.
    pub(crate) fn capture_model(&self, scope: &Scope) -> Option<&dyn ChatModel> {
        let model = self.chat.as_deref()?;
        self.settings(scope.agent()).memory_agent.enabled.then_some(model)
    }

    /// Returns `true` if rules alone extract from conversations of a scope; they take no time worth waiting for.
    pub fn captures_without_model(&self, scope: &Scope) -> bool {
        self.capture_model(scope).is_none()
    }

    /// Extracts drafts from unread turns, experiences included. `invalid` counts the model's consecutive unusable
    /// answers.
    #[boxed]
    pub(crate) async fn extract_drafts(
        &self,
        scope: &Scope,
        unread: &UnreadTurns,
        invalid: u32,
    ) -> Result<ExtractedDrafts, CaptureError> {
        let (attempts, reports) = self.read_attempts(scope, unread).await?;
        let extracted = self.extract_statement_drafts(scope, unread, invalid).await?;
        // What a model tells about the same failure replaces what rules read.
        let is_told = |attempt: &Draft| {
            let mut told = extracted.drafts.iter().filter(|draft| draft.kind == Kind::Experience);
            told.any(|draft| draft.evidence.iter().any(|turn| attempt.evidence.contains(turn)))
        };
        let untold = attempts.into_iter().filter(|attempt| !is_told(attempt)).collect::<Vec<_>>();
        let drafts = [extracted.drafts.as_slice(), &untold].concat();
        Ok(ExtractedDrafts { drafts, reports, ..extracted })
    }

    /// Extracts drafts from unread turns by the model or by rules.
    async fn extract_statement_drafts(
        &self,
        scope: &Scope,
        unread: &UnreadTurns,
        invalid: u32,
    ) -> Result<ExtractedDrafts, CaptureError> {
        let (before, turns) =
            (self.turn_texts(scope, &unread.context), self.turn_texts(scope, &unread.turns));
        let Some(model) = self.capture_model(scope).filter(|_| !turns.is_empty()) else {
            return Ok(self.extract_drafts_by_rules(scope, before, turns).await?);
        };
        let note = match self.model_bypass_reason(model, scope, invalid).await? {
            Some(reason) => reason,
            None => match self.extract_drafts_by_model(model, scope, &before, &turns).await {
                // A slow model would be as slow the next time: these turns do without it.
                Err(CaptureError { error: error @ Error::ModelSilent { .. }, .. }) => {
                    format!("{error}, so rules extract from these turns; {SLOW_MODEL_HINT}")
                }
                outcome => return outcome,
            },
        };
        tracing::warn!("{note}");
        self.set_capture_note(Some(&note));
        let by_rules = self.extract_drafts_by_rules(scope, before, turns).await?;
        Ok(ExtractedDrafts { note: Some(note), ..by_rules })
    }

    /// Returns the reason why rules must replace the model, if any: it gave no usable answers, or the day's budget is
    /// spent.
    async fn model_bypass_reason(
        &self,
        model: &dyn ChatModel,
        scope: &Scope,
        invalid: u32,
    ) -> Result<Option<String>> {
        if invalid >= MAX_INVALID_ANSWERS {
            return Ok(Some(format!(
                "{} gave {invalid} unusable answers, so rules extract from these turns",
                model.name()
            )));
        }
        Ok(self.may_spend(scope, EXTRACT_JOB).await?.reason)
    }

    /// Extracts statements as they were said, and finds what corrections mean.
    #[boxed]
    async fn extract_drafts_by_rules(
        &self,
        scope: &Scope,
        before: Vec<TurnText>,
        turns: Vec<TurnText>,
    ) -> Result<ExtractedDrafts> {
        let (judge, zone) = (self.sentence_judge.clone(), self.zone.clone());
        let context = before.clone();
        let extract = move || {
            let session = SessionTurns { context: &before, turns: &turns };
            let mut drafts = extract_statements(session, &zone, judge.as_deref())?;
            let all: Vec<&TurnText> = before.iter().chain(&turns).collect();
            attribute_to_speakers(&mut drafts, &all);
            Ok(drafts)
        };
        let mut drafts = run_blocking(extract).await?;
        let judge = self.sentence_judge.as_ref();
        find_corrected(&*self.store, scope, &mut drafts, &context, judge).await?;
        Ok(ExtractedDrafts {
            drafts,
            extractor: "rules".to_owned(),
            tokens: 0,
            note: None,
            reports: Vec::new(),
        })
    }

    async fn extract_drafts_by_model(
        &self,
        model: &dyn ChatModel,
        scope: &Scope,
        before: &[TurnText],
        turns: &[TurnText],
    ) -> Result<ExtractedDrafts, CaptureError> {
        let known = self.known_statements(scope, turns).await?;
        let conversation =
            ExtractionInput { context_turns: before, turns, known_statements: &known };
        let prompt = self.extraction_prompt(conversation.language())?;
        let extract = &self.settings(scope.agent()).memory_agent.extract;
        let request = extraction_request(&prompt, &conversation, extract.max_facts);
        let answer = self.call_model(model, scope, EXTRACT_JOB, &request).await?;
        self.set_capture_note(None);
        let tokens = answer.tokens.read + answer.tokens.written;
        let mut drafts = parse_extraction(&answer.text, &conversation)
            .map_err(|error| CaptureError { error, is_invalid: true, tokens })?;
        if !extract.auto_tag {
            drafts.iter_mut().for_each(|draft| draft.keywords.clear());
        }
        Ok(ExtractedDrafts {
            drafts,
            extractor: model.name().to_owned(),
            tokens,
            note: None,
            reports: Vec::new(),
        })
    }

    /// Calls a model on the engine's own account, and records the spending. All background calls go through here. The
    /// model itself ends a silence longer than the configured timeout; a whole answer may take [`MAX_SILENCES`] times
    /// as long. Fails if the model fails or times out.
    #[boxed]
    pub(crate) async fn call_model(
        &self,
        model: &dyn ChatModel,
        scope: &Scope,
        job: &'static str,
        request: &ChatRequest,
    ) -> Result<ChatResponse> {
        let limit = self.config.memory_agent.timeout * MAX_SILENCES;
        let begun = Instant::now();
        tracing::debug!(job, model = model.name(), "asking");
        let outcome = tokio::time::timeout(limit, complete(model, request)).await;
        let response = outcome.unwrap_or_else(|_| {
            Err(Error::ModelSilent {
                message: format!("{} did not finish within {limit:?}", model.name()),
                hint: SLOW_MODEL_HINT.to_owned(),
            })
        })?;
        self.record_spending(scope, job, response.tokens, begun.elapsed()).await?;
        Ok(response)
    }

    /// Returns the models that decide where the rules of reconciliation are unsure.
    pub(crate) fn capture_models<'a>(
        &'a self,
        arbiter: Option<&'a ModelArbiter<'a>>,
    ) -> CaptureModels<'a> {
        let arbiter = arbiter.map(|arbiter| arbiter as &dyn Arbiter);
        CaptureModels { arbiter, judge: self.sentence_judge.as_ref() }
    }

    /// Returns an arbiter if the model that would arbitrate also extracted these drafts.
    pub(crate) fn model_arbiter<'a>(
        &'a self,
        scope: &'a Scope,
        extracted: &ExtractedDrafts,
    ) -> Option<ModelArbiter<'a>> {
        let model =
            self.capture_model(scope).filter(|model| model.name() == extracted.extractor)?;
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

    /// Converts turns for an extractor. Masks secrets again, because a turn may date from a time when the settings did
    /// not.
    fn turn_texts(&self, scope: &Scope, turns: &[Memory]) -> Vec<TurnText> {
        let mut texts: Vec<TurnText> = turns.iter().map(TurnText::from_turn).collect();
        if self.masks_secrets(scope) {
            mask_all(texts.iter_mut().map(|turn| &mut turn.text));
        }
        texts
    }
}

/// Chat model that decides where the rules are unsure.
pub(crate) struct ModelArbiter<'a> {
    engine: &'a Engine,
    model: &'a dyn ChatModel,
    scope: &'a Scope,
    calls: AtomicUsize,
    tokens: AtomicU64,
}

impl ModelArbiter<'_> {
    /// Returns the tokens spent so far.
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
            tracing::warn!("{error}: rules decide instead");
            None
        })
    }
}
