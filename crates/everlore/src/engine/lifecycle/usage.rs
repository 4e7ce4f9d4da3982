//! What prompts were given and what answers made of it: the loop from recall to weights.

use std::{collections::HashMap, sync::Arc};

use serde::Serialize;

use super::super::Engine;
use crate::{
    error::{Error, Result},
    ingest::TextSketch,
    prompt::{Prompt, TurnPrompt},
    recall::{self, Hit, MemoryBlock, RecallRequest},
    store::{InjectedMemory, InjectedTier, Injection, UsageCounts, UsageRecord},
    text::sentences::sentences,
    types::{Fingerprint, Memory, MemoryId, Scope, Tier},
    upkeep::{
        HoldoutComparison, ShownMemory, UsageRate, compare_holdout, detect_usage, is_held_out,
        question_digests,
    },
};

/// The most sentences of an answer that are compared by meaning: what is used is seldom said later.
const MAX_SENTENCES: usize = 32;

/// What an answer made of the memories in its prompt.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct AnswerUsage {
    /// Memories that the prompt was given.
    pub told: usize,
    /// Of these, those that the answer used.
    pub used: Vec<MemoryId>,
    /// Memories that were held out of the prompt.
    pub held_out: usize,
}

/// How much of what was told was used.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct UsageStats {
    /// The counts.
    #[serde(flatten)]
    pub counts: UsageCounts,
    /// Answers with and without memories, if any were held out.
    pub comparison: Option<HoldoutComparison>,
}

impl Engine {
    /// What [`Engine::context`] does, for a turn of a conversation: what is told is written down while the model thinks, and
    /// a share of memories is held out if the settings say so.
    pub async fn inject(
        &self,
        request: &RecallRequest,
        budget: usize,
        session: &str,
    ) -> Result<MemoryBlock> {
        let (block, shown) = self.build_block(request, budget, session).await?;
        self.spawn_record_injection(request, session, shown, false);
        Ok(block)
    }

    /// What [`Engine::inject`] does, but what is told is handed back, for [`Engine::note_told`] to write down later.
    pub async fn inject_deferred(
        &self,
        request: &RecallRequest,
        budget: usize,
        session: &str,
    ) -> Result<(MemoryBlock, Injection)> {
        let (block, shown) = self.build_block(request, budget, session).await?;
        Ok((
            block,
            self.new_injection(request, session, false).with_memories(&request.query, &shown),
        ))
    }

    /// The block for a turn, and what it shows or holds out.
    async fn build_block(
        &self,
        request: &RecallRequest,
        budget: usize,
        session: &str,
    ) -> Result<(MemoryBlock, Vec<(Memory, InjectedTier)>)> {
        if session.trim().is_empty() {
            return Err(Error::invalid("the session has no name", "name the conversation"));
        }
        let now = self.now();
        let Some((found, language)) = self.recall_for_prompt(request, &now).await? else {
            return Ok((MemoryBlock::default(), Vec::new()));
        };
        let whole = recall::pack(&found.hits, language, budget, &now);
        let share = self.settings(request.scope.agent()).memory.inject.holdout;
        let is_held = |id: MemoryId| is_held_out(share, session, id);
        let (held, told): (Vec<Hit>, Vec<Hit>) =
            found.hits.into_iter().partition(|hit| is_held(hit.memory.id));
        let block = match held.is_empty() {
            true => whole.clone(),
            false => recall::pack(&told, language, budget, &now),
        };
        let mut shown = shown_in_block(&block, told);
        // Only what would have been told is held out.
        shown.extend(
            self::shown_in_block(&whole, held)
                .into_iter()
                .map(|(hit, _)| (hit, InjectedTier::HeldOut)),
        );
        Ok((block, shown))
    }

    /// Writes down what a prompt was given earlier. What was erased meanwhile leaves no line.
    pub async fn record_injection(&self, scope: &Scope, prompted: Injection) -> Result<()> {
        self.store.usage().record(scope, prompted).await
    }

    /// What [`Engine::turn_prompt`] does, for a turn of a conversation: see [`Engine::inject`].
    pub async fn inject_prompt(
        &self,
        prompt: &Prompt,
        request: &RecallRequest,
        budget: usize,
        session: &str,
    ) -> Result<(TurnPrompt, MemoryBlock)> {
        let block = self.inject(request, budget, session).await?;
        Ok((prompt.for_turn(&block), block))
    }

    /// Writes down what a tool told in a conversation, for the same ends as [`Engine::inject`] does.
    pub fn record_tool_injection(&self, request: &RecallRequest, session: &str, hits: &[Hit]) {
        let shown = hits.iter().map(|hit| (hit.memory.clone(), InjectedTier::Full)).collect();
        self.spawn_record_injection(request, session, shown, true);
    }

    /// What is written down of a prompt, before its memories.
    fn new_injection(&self, request: &RecallRequest, session: &str, joins: bool) -> Injection {
        Injection {
            session: session.to_owned(),
            query: Fingerprint::of(&request.query),
            at: self.now().timestamp(),
            memories: Vec::new(),
            joins,
            most: self.settings(request.scope.agent()).upkeep.usage_lines,
        }
    }

    /// Writes down what a prompt was given, while others go on.
    fn spawn_record_injection(
        &self,
        request: &RecallRequest,
        session: &str,
        shown: Vec<(Memory, InjectedTier)>,
        joins: bool,
    ) {
        if shown.is_empty() || session.trim().is_empty() {
            return;
        }
        let (store, scope) = (Arc::clone(&self.store), request.scope.clone());
        let (prompted, query) =
            (self.new_injection(request, session, joins), request.query.clone());
        self.usage_tasks.spawn_after((scope.clone(), session.to_owned()), async move {
            let prompted = prompted.with_memories(&query, &shown);
            if let Err(error) = store.usage().record(&scope, prompted).await {
                tracing::warn!("{error}: what a prompt was given is not written down");
            }
        });
    }

    /// Does what [`Engine::answered`] does while others go on: neither the reader of the answer nor the next prompt waits.
    pub fn spawn_usage_check(&self, scope: &Scope, session: &str, answer: &str) {
        let (engine, answer) = (self.clone(), answer.to_owned());
        let of = (scope.clone(), session.to_owned());
        self.usage_tasks.spawn_after(of.clone(), async move {
            if let Err(error) = engine.check_usage(&of.0, &of.1, &answer).await {
                tracing::warn!("{error}: what the answer used is not written down");
            }
        });
    }

    /// Waits until everything that prompts were given and answers used is written down.
    pub async fn flush_usage(&self) {
        self.usage_tasks.flush().await;
    }

    /// Compares the answer of a conversation with what its last prompt was given, and writes down what was used.
    pub async fn record_answer(
        &self,
        scope: &Scope,
        session: &str,
        answer: &str,
    ) -> Result<AnswerUsage> {
        self.usage_tasks.flush().await;
        self.check_usage(scope, session, answer).await
    }

    async fn check_usage(&self, scope: &Scope, session: &str, answer: &str) -> Result<AnswerUsage> {
        let open = self.store.usage().unanswered(scope, session).await?;
        let last = open.iter().map(|line| line.turn).max();
        let lines: Vec<UsageRecord> =
            open.into_iter().filter(|line| Some(line.turn) == last).collect();
        let ids: Vec<_> = lines.iter().map(|line| line.injected.id).collect();
        let found = self.store.memories().get(scope, &ids).await?;
        // A memory that is gone cannot be compared; its line stays open.
        let there = lines.into_iter().zip(found).filter_map(|(line, memory)| Some((line, memory?)));
        let (held, told): (Vec<_>, Vec<_>) =
            there.partition(|(line, _)| line.injected.shown == InjectedTier::HeldOut);
        let mut verdicts = Vec::new();
        for lines in [&told, &held] {
            let judged = self.used_flags(lines, answer).await;
            verdicts.extend(lines.iter().map(|(line, _)| line.seq).zip(judged));
        }
        let by_seq: HashMap<u64, bool> = verdicts.iter().copied().collect();
        let is_used = |line: &UsageRecord| by_seq.get(&line.seq).copied().unwrap_or(false);
        let used = told.iter().filter(|(line, _)| is_used(line)).map(|(line, _)| line.injected.id);
        let answered = AnswerUsage { told: told.len(), used: used.collect(), held_out: held.len() };
        if !verdicts.is_empty() {
            self.store.usage().set_used(scope, verdicts).await?;
        }
        Ok(answered)
    }

    async fn used_flags(&self, lines: &[(UsageRecord, Memory)], answer: &str) -> Vec<bool> {
        let texts: Vec<String> =
            lines.iter().map(|(line, memory)| shown_text(memory, line.injected.shown)).collect();
        let near = self.best_similarities(&texts, answer).await;
        let seen: Vec<_> = lines
            .iter()
            .zip(texts.iter().zip(near))
            .map(|((line, _), (text, similarity))| ShownMemory {
                text,
                question_digests: &line.injected.asked,
                similarity,
            })
            .collect();
        detect_usage(&seen, answer)
    }

    /// The cosine of each text with the nearest sentence of the answer; 0 where no model can tell. A model on another server
    /// is not asked: it would cost with every answer, and what is kept of it would outlive what is erased.
    async fn best_similarities(&self, texts: &[String], answer: &str) -> Vec<f32> {
        let none = vec![0.0; texts.len()];
        let local = self.backfill.as_ref().filter(|backfill| !backfill.is_remote);
        let Some(embedder) = local.map(|backfill| &backfill.embedder) else { return none };
        if texts.is_empty() || !embedder.understands(answer) {
            return none;
        }
        let said: Vec<&str> = sentences(answer).take(MAX_SENTENCES).collect();
        let all: Vec<&str> = said.iter().copied().chain(texts.iter().map(String::as_str)).collect();
        let Ok(vectors) = embedder.embed(&all).await else { return none };
        let (said, own) = vectors.split_at(said.len().min(vectors.len()));
        own.iter()
            .map(|own| said.iter().map(|said| cosine(said, own)).fold(0.0, f32::max))
            .collect()
    }

    /// What was told in a conversation, by which an echo of it is known even if the memory is gone.
    pub async fn injected_sketches(
        &self,
        scope: &Scope,
        session: &str,
    ) -> Result<Vec<(MemoryId, TextSketch)>> {
        self.usage_tasks.flush().await;
        let told = self.store.usage().injected(scope, session).await?;
        Ok(told.into_iter().map(|(id, sketch)| (id, TextSketch::from_bytes(&sketch))).collect())
    }

    /// How much of what was told was used, and what that says.
    pub async fn usage_stats(&self, scope: &Scope) -> Result<UsageStats> {
        let counts = self.store.usage().counts(scope).await?;
        let told = UsageRate::new(counts.used, counts.answered);
        let held = UsageRate::new(counts.held_out_used, counts.held_out);
        let comparison = (held.of > 0).then(|| compare_holdout(told, held));
        Ok(UsageStats { counts, comparison })
    }
}

impl Injection {
    /// The same with the memories that were shown for a query.
    fn with_memories(self, query: &str, shown: &[(Memory, InjectedTier)]) -> Self {
        let memories = shown.iter().map(|(memory, shown)| told(query, memory, *shown)).collect();
        Self { memories, ..self }
    }
}

/// Vectors have length one, or are all zeros.
fn cosine(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

/// Of these hits, those that a block tells, with how much it tells of them.
fn shown_in_block(block: &MemoryBlock, hits: Vec<Hit>) -> Vec<(Memory, InjectedTier)> {
    let tiers: HashMap<MemoryId, Tier> =
        block.entries.iter().map(|entry| (entry.id, entry.tier)).collect();
    let shown = |hit: Hit| {
        let tier = *tiers.get(&hit.memory.id)?;
        Some((hit.memory, tier.into()))
    };
    hits.into_iter().filter_map(shown).collect()
}

fn told(query: &str, memory: &Memory, shown: InjectedTier) -> InjectedMemory {
    InjectedMemory {
        id: memory.id,
        shown,
        asked: question_digests(query, &shown_text(memory, shown)),
        sketch: TextSketch::of(&memory.content).to_bytes(),
    }
}

/// What the model saw of a memory, or would have seen.
fn shown_text(memory: &Memory, shown: InjectedTier) -> String {
    match shown {
        InjectedTier::Line => recall::one_line(memory),
        InjectedTier::Overview => recall::overview(memory),
        InjectedTier::Full | InjectedTier::HeldOut => memory.content.clone(),
    }
}
