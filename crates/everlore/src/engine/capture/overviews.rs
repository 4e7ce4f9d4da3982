//! Better overviews of long memories, by a model and while nobody waits; those that were made on save stay until then (X6).

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use jiff::SignedDuration;

use crate::{
    engine::Engine,
    error::{Error, Result},
    ingest::{overview_prompt, overview_request, parse_overviews},
    llm::ChatModel,
    store::JournalQuery,
    text::{
        language::{Language, detect_language},
        secrets::mask_all,
        tiers::{set_model_overview, wants_model_overview},
    },
    types::{Actor, Change, Memory, MemoryId, Scope, Timestamp, WriteBatch},
};

/// The name under which the ledger keeps what they cost, and when a scope was last looked through.
const OVERVIEW_JOB: &str = "overview";

/// Texts of one question: enough to share the prompt, few enough that one bad answer costs little.
const BATCH: usize = 6;

/// The most texts of a scope at a time; the others follow when it is looked through again.
const MAX_PER_PASS: usize = 60;

/// How often a scope is looked through at most. The overviews that are there do until then.
const PASS_INTERVAL: Duration = Duration::from_secs(600);

/// The files in a home's folder `prompts` that stand for the prompt, by language; the last for any.
const OVERVIEW_PROMPT_FILES: [&str; 2] = ["overview_en.md", "overview_zh.md"];
const ANY_OVERVIEW_PROMPT_FILE: &str = "overview.md";

/// How often it is asked whether any scope changed: there may be many.
const CHANGE_CHECK_INTERVAL: SignedDuration = SignedDuration::from_secs(30);

/// What a worker knows of overviews.
#[derive(Default)]
pub(crate) struct OverviewCursor {
    /// When it was last asked whether a scope changed.
    checked_at: Option<Timestamp>,
    /// The last line of each scope's journal when all of it had overviews.
    done_seq: HashMap<Scope, u64>,
    /// Texts for which the model gave none that can be used; they are asked for again when they change, or by the next
    /// worker.
    refused: HashSet<(MemoryId, u32)>,
}

impl Engine {
    /// Makes better overviews in all scopes that changed and were not looked through lately. Does nothing without a model.
    pub(crate) async fn improve_overviews_if_due(&self, looked: &mut OverviewCursor) -> Result<()> {
        if self.chat.is_none() || !self.config.memory_agent.enabled {
            return Ok(());
        }
        let now = self.now().timestamp();
        if looked.checked_at.is_some_and(|then| now.duration_since(then) < CHANGE_CHECK_INTERVAL) {
            return Ok(());
        }
        looked.checked_at = Some(now);
        for scope in self.store.admin().scopes().await? {
            let is_done = |line: Option<u64>| line == looked.done_seq.get(&scope).copied();
            if self.check_enabled(&scope).is_ok()
                && self.capture_model(&scope).is_some()
                && !is_done(self.last_seq(&scope).await?)
                && self
                    .store
                    .ledger()
                    .try_begin_job(&scope, OVERVIEW_JOB, now, PASS_INTERVAL)
                    .await?
            {
                self.improve_scope(&scope, looked).await?;
            }
        }
        Ok(())
    }

    /// Asks the model for better overviews of the long memories of a scope, and returns how many it made. An answer that
    /// cannot be used changes nothing, and neither does a budget that is spent.
    pub async fn improve_overviews(&self, scope: &Scope) -> Result<usize> {
        self.check_enabled(scope)?;
        self.improve_scope(scope, &mut OverviewCursor::default()).await
    }

    async fn improve_scope(&self, scope: &Scope, looked: &mut OverviewCursor) -> Result<usize> {
        let Some(model) = self.capture_model(scope) else { return Ok(0) };
        let mut wanted = Vec::new();
        let is_refused = |memory: &Memory| looked.refused.contains(&(memory.id, memory.version));
        self.for_each_active(scope, &crate::engine::lifecycle::STATEMENT_KINDS, |memory| {
            if wanted.len() <= MAX_PER_PASS && wants_model_overview(&memory) && !is_refused(&memory)
            {
                wanted.push(memory);
            }
        })
        .await?;
        let is_all = wanted.len() <= MAX_PER_PASS;
        wanted.truncate(MAX_PER_PASS);
        let chinese = |memory: &Memory| detect_language(&memory.content) == Language::Chinese;
        let (zh, other): (Vec<_>, Vec<_>) = wanted.into_iter().partition(chinese);
        let mut made = 0;
        for (language, memories) in [(Language::Chinese, zh), (Language::English, other)] {
            for some in memories.chunks(BATCH) {
                if !self.may_spend(scope, OVERVIEW_JOB).await?.allowed {
                    return Ok(made);
                }
                made += self.improve_batch(model, scope, language, some, looked).await?;
            }
        }
        if let Some(line) = self.last_seq(scope).await?.filter(|_| is_all) {
            looked.done_seq.insert(scope.clone(), line);
        }
        Ok(made)
    }

    async fn improve_batch(
        &self,
        model: &dyn ChatModel,
        scope: &Scope,
        language: Language,
        memories: &[Memory],
        looked: &mut OverviewCursor,
    ) -> Result<usize> {
        let mut texts: Vec<String> = memories.iter().map(|it| it.content.clone()).collect();
        if self.masks_secrets(scope) {
            mask_all(&mut texts);
        }
        let own = OVERVIEW_PROMPT_FILES[usize::from(language == Language::Chinese)];
        let prompt =
            self.prompt_file([own, ANY_OVERVIEW_PROMPT_FILE], overview_prompt(language))?;
        let request = overview_request(&prompt, &texts);
        let answer = self.call_model(model, scope, OVERVIEW_JOB, &request).await?;
        let tokens = answer.tokens.read + answer.tokens.written;
        let mut better = Vec::new();
        for (memory, overview) in memories.iter().zip(parse_overviews(&answer.text, &texts)) {
            match overview {
                Some(text) => better.push(with_overview(memory, &text, model.name())),
                None => drop(looked.refused.insert((memory.id, memory.version))),
            }
        }
        self.store_improved(scope, better, tokens).await
    }

    /// Stores them as one run, which can be undone. If someone changed one of the memories meanwhile, none is stored: they
    /// are asked for again later.
    async fn store_improved(
        &self,
        scope: &Scope,
        better: Vec<Memory>,
        tokens: u64,
    ) -> Result<usize> {
        if better.is_empty() {
            return Ok(0);
        }
        let (now, count) = (self.now().timestamp(), better.len());
        let run = format!("{OVERVIEW_JOB}-{}", now.as_millisecond());
        let changes = better.into_iter().map(|memory| Change::Update(Box::new(memory))).collect();
        let write = WriteBatch::new(scope, Actor::Engine, "overview", now, changes);
        match self.store.apply(WriteBatch { run: Some(run), cost: tokens, ..write }).await {
            Ok(_) => Ok(count),
            Err(Error::Conflict { .. }) => Ok(0),
            Err(error) => Err(error),
        }
    }

    /// The number of the last change of a scope.
    async fn last_seq(&self, scope: &Scope) -> Result<Option<u64>> {
        let query = JournalQuery { limit: Some(1), ..JournalQuery::default() };
        Ok(self.store.journal().entries(scope, &query).await?.first().map(|entry| entry.seq))
    }
}

/// The memory with the overview; what it says and when it last changed stay.
fn with_overview(memory: &Memory, text: &str, by: &str) -> Memory {
    let mut memory = Memory { version: memory.version + 1, ..memory.clone() };
    set_model_overview(&mut memory, text, by);
    memory
}
