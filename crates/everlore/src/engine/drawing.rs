//! Drafts from turns: by a model where there is one, by rules otherwise.

use std::{
    sync::atomic::{AtomicU64, AtomicUsize, Ordering},
    time::Instant,
};

use async_trait::async_trait;

use super::{Engine, capture::Trouble};
use crate::{
    error::{Error, Result},
    ingest::{
        Arbiter, Conversation, Draft, Resolution, Said, ask_for_memories, ask_what_it_means,
        extract_by_rules, extract_prompt, near_text, read_answer, read_decision, reconcile_prompt,
    },
    llm::{Answered, ChatModel, ChatRequest, ask},
    store::Unread,
    text::{language::Language, secrets::mask_all},
    types::{Memory, Scope},
};

/// After so many answers in a row that could not be used, rules read the turns.
const MAX_INVALID: u32 = 3;

/// Known statements that a model is shown: enough to name what is replaced, few enough to read.
const MAX_KNOWN: usize = 12;

/// The files in a home's folder `prompts` that stand for the prompt, by language; the last for any.
const PROMPTS: [&str; 2] = ["extract_en.md", "extract_zh.md"];
const ANY_PROMPT: &str = "extract.md";

/// The same for the question what a statement means beside others.
const RECONCILE_PROMPTS: [&str; 2] = ["reconcile_en.md", "reconcile_zh.md"];
const ANY_RECONCILE_PROMPT: &str = "reconcile.md";

/// The names of the two under which the ledger keeps what they cost.
const EXTRACT: &str = "extract";
const RECONCILE: &str = "reconcile";

/// Questions of that sort in one reading: each costs a call.
pub(super) const MAX_DECISIONS: usize = 3;

/// What was found in some turns.
pub(super) struct Drawn {
    pub(super) drafts: Vec<Draft>,
    /// Who found it.
    pub(super) by: String,
    pub(super) tokens: u64,
    /// What should be known about how it went.
    pub(super) note: Option<String>,
}

impl Engine {
    /// The model that reads conversations, if there is one and the settings let it.
    pub(super) fn reader(&self, scope: &Scope) -> Option<&dyn ChatModel> {
        let model = self.chat.as_deref()?;
        self.settings(scope.agent()).memory_agent.enabled.then_some(model)
    }

    /// Whether conversations are read by rules alone, which takes no time worth waiting for.
    pub fn reads_by_rules(&self, scope: &Scope) -> bool {
        self.reader(scope).is_none()
    }

    /// What is worth remembering in some turns; `invalid` is how often a model failed to say.
    pub(super) async fn draw(
        &self,
        scope: &Scope,
        unread: &Unread,
        invalid: u32,
    ) -> Result<Drawn, Trouble> {
        let (before, turns) = (self.said(scope, &unread.before), self.said(scope, &unread.turns));
        let Some(model) = self.reader(scope).filter(|_| !turns.is_empty()) else {
            return Ok(self.draw_by_rules(&before, turns));
        };
        match self.keeps_off(model, scope, invalid).await? {
            None => self.draw_by_model(model, scope, (&before, &turns)).await,
            note => Ok(Drawn { note, ..self.draw_by_rules(&before, turns) }),
        }
    }

    /// Why rules read in place of the model, if they should: it gave no usable answers, or the budget is spent (A6).
    async fn keeps_off(
        &self,
        model: &dyn ChatModel,
        scope: &Scope,
        invalid: u32,
    ) -> Result<Option<String>> {
        if invalid >= MAX_INVALID {
            return Ok(Some(format!(
                "{} gave {invalid} answers that could not be used, so rules read these turns",
                model.name()
            )));
        }
        Ok(self.may_spend(scope, EXTRACT).await?.reason)
    }

    fn draw_by_rules(&self, before: &[Said], turns: Vec<Said>) -> Drawn {
        // A question that was read before may be answered now.
        let question = before.last().cloned().into_iter();
        let heard: Vec<Said> = question
            .filter(|turn| turn.role == crate::types::Role::Assistant)
            .chain(turns)
            .collect();
        let drafts = extract_by_rules(&heard, &self.zone);
        Drawn { drafts, by: "rules".to_owned(), tokens: 0, note: None }
    }

    async fn draw_by_model(
        &self,
        model: &dyn ChatModel,
        scope: &Scope,
        (before, turns): (&[Said], &[Said]),
    ) -> Result<Drawn, Trouble> {
        let known = self.known_near(scope, turns).await?;
        let conversation = Conversation { before, turns, known: &known };
        let prompt = self.prompt_for(conversation.language())?;
        let extract = &self.settings(scope.agent()).memory_agent.extract;
        let request = ask_for_memories(&prompt, &conversation, extract.max_facts);
        let answer = self.ask_model(model, scope, EXTRACT, &request).await?;
        let tokens = answer.tokens.read + answer.tokens.written;
        let mut drafts = read_answer(&answer.text, &conversation).map_err(|error| Trouble {
            error,
            is_invalid: true,
            tokens,
        })?;
        if !extract.auto_tag {
            drafts.iter_mut().for_each(|draft| draft.keywords.clear());
        }
        Ok(Drawn { drafts, by: model.name().to_owned(), tokens, note: None })
    }

    /// Asks a model on the engine's own account. Every such question goes through here.
    pub(super) async fn ask_model(
        &self,
        model: &dyn ChatModel,
        scope: &Scope,
        job: &'static str,
        request: &ChatRequest,
    ) -> Result<Answered> {
        let (limit, begun) = (self.config.memory_agent.timeout, Instant::now());
        tracing::debug!(job, model = model.name(), "asking");
        let asked = tokio::time::timeout(limit, ask(model, request)).await;
        let answered = asked.unwrap_or_else(|_| {
            Err(Error::Remote {
                message: format!("{} did not answer within {limit:?}", model.name()),
                hint: "it is asked again later; raise memory_agent.timeout for a slow model"
                    .to_owned(),
            })
        })?;
        self.spent(scope, job, answered.tokens, begun.elapsed()).await?;
        Ok(answered)
    }

    /// The model as an arbiter for what it read itself.
    pub(super) fn arbiter<'a>(
        &'a self,
        scope: &'a Scope,
        drawn: &Drawn,
    ) -> Option<ModelArbiter<'a>> {
        let model = self.reader(scope).filter(|model| model.name() == drawn.by)?;
        Some(ModelArbiter {
            engine: self,
            model,
            scope,
            asked: AtomicUsize::new(0),
            tokens: AtomicU64::new(0),
        })
    }

    async fn known_near(&self, scope: &Scope, turns: &[Said]) -> Result<Vec<String>> {
        let text: Vec<&str> = turns.iter().map(|turn| turn.text.as_str()).collect();
        let near = near_text(&*self.store, scope, &text.join("\n")).await?;
        Ok(near.into_iter().take(MAX_KNOWN).map(|memory| memory.content).collect())
    }

    fn prompt_for(&self, language: Language) -> Result<String> {
        let own = PROMPTS[usize::from(language == Language::Chinese)];
        self.prompt_file([own, ANY_PROMPT], extract_prompt(language))
    }

    /// Turns as an extractor sees them. They may have been stored while secrets were kept.
    fn said(&self, scope: &Scope, turns: &[Memory]) -> Vec<Said> {
        let mut said: Vec<Said> = turns.iter().map(Said::of).collect();
        if self.masks(scope) {
            mask_all(said.iter_mut().map(|turn| &mut turn.text));
        }
        said
    }
}

/// A model that is asked where the rules are unsure.
pub(super) struct ModelArbiter<'a> {
    engine: &'a Engine,
    model: &'a dyn ChatModel,
    scope: &'a Scope,
    asked: AtomicUsize,
    tokens: AtomicU64,
}

impl ModelArbiter<'_> {
    /// What its answers cost so far.
    pub(super) fn tokens(&self) -> u64 {
        self.tokens.load(Ordering::Relaxed)
    }

    async fn ask(&self, draft: &Draft, near: &[Memory]) -> Result<Option<Resolution>> {
        if !self.engine.may_spend(self.scope, RECONCILE).await?.allowed {
            return Ok(None);
        }
        let language = draft.language;
        let own = RECONCILE_PROMPTS[usize::from(language == Language::Chinese)];
        let builtin = reconcile_prompt(language);
        let prompt = self.engine.prompt_file([own, ANY_RECONCILE_PROMPT], builtin)?;
        let request = ask_what_it_means(&prompt, draft, near);
        let answer = self.engine.ask_model(self.model, self.scope, RECONCILE, &request).await?;
        self.tokens.fetch_add(answer.tokens.read + answer.tokens.written, Ordering::Relaxed);
        Ok(read_decision(&answer.text, near))
    }
}

#[async_trait]
impl Arbiter for ModelArbiter<'_> {
    async fn decide(&self, draft: &Draft, near: &[Memory]) -> Option<Resolution> {
        if self.asked.fetch_add(1, Ordering::Relaxed) >= MAX_DECISIONS {
            return None;
        }
        self.ask(draft, near).await.unwrap_or_else(|error| {
            tracing::warn!("{error}: the rules decide");
            None
        })
    }
}
