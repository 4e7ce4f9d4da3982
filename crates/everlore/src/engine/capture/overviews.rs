//! Model-written overviews of long memories, made in the background; until then, the overviews made on save stay.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use jiff::SignedDuration;

use crate::{
    engine::{Engine, HeartbeatJob},
    error::{Error, Result},
    ingest::{overview_prompt, overview_request, parse_overviews},
    llm::ChatModel,
    store::JournalQuery,
    sync::boxed,
    text::{
        language::{Language, detect_language},
        secrets::mask_all,
        tiers::{set_model_overview, wants_model_overview},
    },
    types::{Actor, Change, Memory, MemoryId, Scope, Timestamp, WriteBatch},
};

/// Ledger job name, for spending and for the time of the last pass over a scope.
pub(in crate::engine) const OVERVIEW_JOB: &str = "overview";

/// Texts per model call: enough to share the prompt, few enough that one bad answer costs little.
const BATCH: usize = 6;

/// Most texts per pass over a scope; the next pass continues.
const MAX_PER_PASS: usize = 60;

/// Shortest interval between passes over a scope; the existing overviews suffice until then.
pub(in crate::engine) const OVERVIEW_PASS_INTERVAL: Duration = Duration::from_secs(600);

/// Files in a home's folder `prompts` that replace the overview prompt, by language; [`ANY_OVERVIEW_PROMPT_FILE`]
/// replaces it for any.
const OVERVIEW_PROMPT_FILES: [&str; 2] = ["overview_en.md", "overview_zh.md"];
const ANY_OVERVIEW_PROMPT_FILE: &str = "overview.md";

/// Interval between checks for changed scopes, of which there may be many.
const CHANGE_CHECK_INTERVAL: SignedDuration = SignedDuration::from_secs(30);

/// Progress of a worker's overview passes.
#[derive(Default)]
pub(crate) struct OverviewCursor {
    /// Time of the last check for changed scopes.
    checked_at: Option<Timestamp>,
    /// Last journal number of each scope at the end of a complete pass.
    done_seq: HashMap<Scope, u64>,
    /// Memory versions for which the model gave no usable overview; a changed version or the next worker tries again.
    refused: HashSet<(MemoryId, u32)>,
}

impl Engine {
    /// Improves overviews in all scopes that changed and had no recent pass. Does nothing without a model.
    #[boxed]
    pub(crate) async fn improve_overviews_if_due(&self, cursor: &mut OverviewCursor) -> Result<()> {
        if self.chat.is_none() || !self.config.memory_agent.enabled {
            return Ok(());
        }
        let now = self.now().timestamp();
        if cursor.checked_at.is_some_and(|then| now.duration_since(then) < CHANGE_CHECK_INTERVAL) {
            return Ok(());
        }
        cursor.checked_at = Some(now);
        if !self.is_job_on(HeartbeatJob::Overviews).await? {
            return Ok(());
        }
        for scope in self.store.admin().scopes().await? {
            let is_done = |line: Option<u64>| line == cursor.done_seq.get(&scope).copied();
            if self.check_enabled(&scope).is_ok()
                && self.capture_model(&scope).is_some()
                && !is_done(self.last_seq(&scope).await?)
                && self
                    .store
                    .ledger()
                    .try_begin_job(&scope, OVERVIEW_JOB, now, OVERVIEW_PASS_INTERVAL)
                    .await?
            {
                self.improve_scope(&scope, cursor).await?;
            }
        }
        Ok(())
    }

    /// Asks the model for better overviews of a scope's long memories and returns how many it stored. An unusable
    /// answer or a spent budget changes nothing. Fails if memory is disabled for the agent, or if the model or the
    /// store fails.
    pub async fn improve_overviews(&self, scope: &Scope) -> Result<usize> {
        self.check_enabled(scope)?;
        self.improve_scope(scope, &mut OverviewCursor::default()).await
    }

    async fn improve_scope(&self, scope: &Scope, cursor: &mut OverviewCursor) -> Result<usize> {
        let Some(model) = self.capture_model(scope) else { return Ok(0) };
        let model = self.summary.as_deref().unwrap_or(model);
        let mut wanted = Vec::new();
        let is_refused = |memory: &Memory| cursor.refused.contains(&(memory.id, memory.version));
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
        let mut improved = 0;
        for (language, memories) in [(Language::Chinese, zh), (Language::English, other)] {
            for batch in memories.chunks(BATCH) {
                if !self.may_spend(scope, OVERVIEW_JOB).await?.allowed {
                    return Ok(improved);
                }
                improved += self.improve_batch(model, scope, language, batch, cursor).await?;
            }
        }
        if let Some(line) = self.last_seq(scope).await?.filter(|_| is_all) {
            cursor.done_seq.insert(scope.clone(), line);
        }
        Ok(improved)
    }

    async fn improve_batch(
        &self,
        model: &dyn ChatModel,
        scope: &Scope,
        language: Language,
        memories: &[Memory],
        cursor: &mut OverviewCursor,
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
                None => drop(cursor.refused.insert((memory.id, memory.version))),
            }
        }
        self.store_improved(scope, better, tokens).await
    }

    /// Stores overviews as one run, which can be undone. After a concurrent change to one of the memories it stores
    /// none; the next pass tries again.
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

    /// Returns the journal number of a scope's last change.
    async fn last_seq(&self, scope: &Scope) -> Result<Option<u64>> {
        let query = JournalQuery { limit: Some(1), ..JournalQuery::default() };
        Ok(self.store.journal().entries(scope, &query).await?.first().map(|entry| entry.seq))
    }
}

/// Returns the memory with the overview; its content and `updated_at` stay.
fn with_overview(memory: &Memory, text: &str, by: &str) -> Memory {
    let mut memory = Memory { version: memory.version + 1, ..memory.clone() };
    set_model_overview(&mut memory, text, by);
    memory
}
