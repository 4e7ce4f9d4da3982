//! Better overviews of long memories, by a model and while nobody waits; those that were made on save stay until then (X6).

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use jiff::SignedDuration;

use super::Engine;
use crate::{
    error::{Error, Result},
    ingest::{ask_for_overviews, overview_prompt, read_overviews},
    llm::ChatModel,
    store::JournalQuery,
    text::{
        language::{Language, language_of},
        secrets::mask_all,
        tiers::{keep_better, wants_better},
    },
    types::{Actor, Change, Memory, MemoryId, Scope, Timestamp, Write},
};

/// The name under which the ledger keeps what they cost, and when a scope was last looked through.
const OVERVIEW: &str = "overview";

/// Texts of one question: enough to share the prompt, few enough that one bad answer costs little.
const BATCH: usize = 6;

/// The most texts of a scope at a time; the others follow when it is looked through again.
const MOST: usize = 60;

/// How often a scope is looked through at most. The overviews that are there do until then.
const LOOK_EVERY: Duration = Duration::from_secs(600);

/// The files in a home's folder `prompts` that stand for the prompt, by language; the last for any.
const PROMPTS: [&str; 2] = ["overview_en.md", "overview_zh.md"];
const ANY_PROMPT: &str = "overview.md";

/// How often it is asked whether any scope changed: there may be many.
const ASK_EVERY: SignedDuration = SignedDuration::from_secs(30);

/// What a worker knows of overviews.
#[derive(Default)]
pub(super) struct Looked {
    /// When it was last asked whether a scope changed.
    asked_at: Option<Timestamp>,
    /// The last line of each scope's journal when all of it had overviews.
    done: HashMap<Scope, u64>,
    /// Texts for which the model gave none that can be used; they are asked for again when they change, or by the next
    /// worker.
    refused: HashSet<(MemoryId, u32)>,
}

impl Engine {
    /// Makes better overviews in all scopes that changed and were not looked through lately. Does nothing without a model.
    pub(super) async fn improve_overviews_if_due(&self, looked: &mut Looked) -> Result<()> {
        if self.chat.is_none() || !self.config.memory_agent.enabled {
            return Ok(());
        }
        let now = self.now().timestamp();
        if looked.asked_at.is_some_and(|then| now.duration_since(then) < ASK_EVERY) {
            return Ok(());
        }
        looked.asked_at = Some(now);
        for scope in self.store.scopes().await? {
            let is_done = |line: Option<u64>| line == looked.done.get(&scope).copied();
            if self.check_enabled(&scope).is_ok()
                && self.reader(&scope).is_some()
                && !is_done(self.last_line(&scope).await?)
                && self.store.ledger().begin(&scope, OVERVIEW, now, LOOK_EVERY).await?
            {
                self.improve(&scope, looked).await?;
            }
        }
        Ok(())
    }

    /// Asks the model for better overviews of the long memories of a scope, and returns how many it made. An answer that
    /// cannot be used changes nothing, and neither does a budget that is spent.
    pub async fn improve_overviews(&self, scope: &Scope) -> Result<usize> {
        self.check_enabled(scope)?;
        self.improve(scope, &mut Looked::default()).await
    }

    async fn improve(&self, scope: &Scope, looked: &mut Looked) -> Result<usize> {
        let Some(model) = self.reader(scope) else { return Ok(0) };
        let mut wanted = Vec::new();
        let is_refused = |memory: &Memory| looked.refused.contains(&(memory.id, memory.version));
        self.each_active(scope, &super::life::STATEMENTS, |memory| {
            if wanted.len() <= MOST && wants_better(&memory) && !is_refused(&memory) {
                wanted.push(memory);
            }
        })
        .await?;
        let is_all = wanted.len() <= MOST;
        wanted.truncate(MOST);
        let chinese = |memory: &Memory| language_of(&memory.content) == Language::Chinese;
        let (zh, other): (Vec<_>, Vec<_>) = wanted.into_iter().partition(chinese);
        let mut made = 0;
        for (language, memories) in [(Language::Chinese, zh), (Language::English, other)] {
            for some in memories.chunks(BATCH) {
                if !self.may_spend(scope, OVERVIEW).await?.allowed {
                    return Ok(made);
                }
                made += self.improve_some(model, scope, language, some, looked).await?;
            }
        }
        if let Some(line) = self.last_line(scope).await?.filter(|_| is_all) {
            looked.done.insert(scope.clone(), line);
        }
        Ok(made)
    }

    async fn improve_some(
        &self,
        model: &dyn ChatModel,
        scope: &Scope,
        language: Language,
        memories: &[Memory],
        looked: &mut Looked,
    ) -> Result<usize> {
        let mut texts: Vec<String> = memories.iter().map(|it| it.content.clone()).collect();
        if self.masks(scope) {
            mask_all(&mut texts);
        }
        let own = PROMPTS[usize::from(language == Language::Chinese)];
        let prompt = self.prompt_file([own, ANY_PROMPT], overview_prompt(language))?;
        let request = ask_for_overviews(&prompt, &texts);
        let answer = self.ask_model(model, scope, OVERVIEW, &request).await?;
        let tokens = answer.tokens.read + answer.tokens.written;
        let mut better = Vec::new();
        for (memory, overview) in memories.iter().zip(read_overviews(&answer.text, &texts)) {
            match overview {
                Some(text) => better.push(improved(memory, &text, model.name())),
                None => drop(looked.refused.insert((memory.id, memory.version))),
            }
        }
        self.keep_improved(scope, better, tokens).await
    }

    /// Stores them as one run, which can be undone. If someone changed one of the memories meanwhile, none is stored: they
    /// are asked for again later.
    async fn keep_improved(
        &self,
        scope: &Scope,
        better: Vec<Memory>,
        tokens: u64,
    ) -> Result<usize> {
        if better.is_empty() {
            return Ok(0);
        }
        let (now, count) = (self.now().timestamp(), better.len());
        let run = format!("{OVERVIEW}-{}", now.as_millisecond());
        let changes = better.into_iter().map(|memory| Change::Update(Box::new(memory))).collect();
        let write = Write::new(scope, Actor::Engine, "overview", now, changes);
        match self.store.apply(Write { run: Some(run), cost: tokens, ..write }).await {
            Ok(_) => Ok(count),
            Err(Error::Conflict { .. }) => Ok(0),
            Err(error) => Err(error),
        }
    }

    /// The number of the last change of a scope.
    async fn last_line(&self, scope: &Scope) -> Result<Option<u64>> {
        let query = JournalQuery { limit: Some(1), ..JournalQuery::default() };
        Ok(self.store.journal(scope, &query).await?.first().map(|entry| entry.seq))
    }
}

/// The memory with the overview; what it says and when it last changed stay.
fn improved(memory: &Memory, text: &str, by: &str) -> Memory {
    let mut memory = Memory { version: memory.version + 1, ..memory.clone() };
    keep_better(&mut memory, text, by);
    memory
}
