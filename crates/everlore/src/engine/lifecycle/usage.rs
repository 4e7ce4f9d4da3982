//! Usage tracking: which memories prompts contained and which of them answers used; the loop from recall to weights.

use std::{collections::HashMap, sync::Arc};

use serde::Serialize;

use super::super::Engine;
use crate::{
    error::{Error, Result},
    ingest::TextSketch,
    recall::{self, BlockRequest, Hit, MemoryBlock, RecallRequest},
    store::{InjectedMemory, InjectedTier, Injection, UsageCounts, UsageLines, UsageRecord},
    sync::boxed,
    text::{
        excerpt::excerpt,
        sentences::sentences,
        tiers::{LINE_TOKENS, OVERVIEW_TOKENS, one_line, overview},
    },
    types::{Fingerprint, Memory, MemoryId, Scope, Tier, dot},
    upkeep::{
        HoldoutComparison, ShownMemory, UsageRate, compare_holdout, detect_usage, is_held_out,
        question_digests, shared_with_question,
    },
};

/// Most sentences of an answer that are compared by embedding: answers seldom use a memory later.
const MAX_SENTENCES: usize = 32;

/// Usage of a prompt's memories by its answer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct AnswerUsage {
    /// Number of memories in the prompt.
    #[serde(rename = "told")]
    pub injected: usize,
    /// Memories of the prompt that the answer used.
    pub used: Vec<MemoryId>,
    /// Number of memories held out of the prompt.
    pub held_out: usize,
}

/// Usage statistics of a scope.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct UsageStats {
    /// Counts of usage records.
    #[serde(flatten)]
    pub counts: UsageCounts,
    /// Comparison of answers with and without memories, if any were held out.
    pub comparison: Option<HoldoutComparison>,
}

impl Engine {
    /// Returns the block of [`Engine::context`] for a turn of a session. Records the injected memories in the
    /// background while the model thinks, and holds out a share of memories if the settings say so. Fails if `session`
    /// is blank or recall fails.
    pub async fn inject(
        &self,
        request: &RecallRequest,
        budget: usize,
        session: &str,
    ) -> Result<MemoryBlock> {
        let session = &*self.stored_session(&request.scope, session);
        let (block, recorded) = self.build_block(request, budget, session).await?;
        self.spawn_record_injection(request, session, recorded, false);
        Ok(block)
    }

    /// Returns the block of [`Engine::inject`] without recording it, and the injection for a later
    /// [`Engine::record_injection`].
    pub async fn inject_deferred(
        &self,
        request: &RecallRequest,
        budget: usize,
        session: &str,
    ) -> Result<(MemoryBlock, Injection)> {
        let session = &*self.stored_session(&request.scope, session);
        let (block, recorded) = self.build_block(request, budget, session).await?;
        Ok((
            block,
            self.new_injection(request, session, false).with_memories(&request.query, &recorded),
        ))
    }

    /// Returns the block for a turn, and the memories to record: those that it shows and those that it holds out.
    #[boxed]
    async fn build_block(
        &self,
        request: &RecallRequest,
        budget: usize,
        session: &str,
    ) -> Result<(MemoryBlock, Vec<(Memory, InjectedTier)>)> {
        if session.trim().is_empty() {
            return Err(Error::invalid("the session has no name", "name the conversation"));
        }
        if self.is_empty_round(request, session).await? {
            return Ok((MemoryBlock::default(), Vec::new()));
        }
        let now = self.now();
        let Some((found, language)) = self.recall_for_prompt(request, &now).await? else {
            return Ok((MemoryBlock::default(), Vec::new()));
        };
        let bounds =
            BlockRequest { query: &request.query, language, budget, now: &now, whole: false };
        let whole = recall::pack(&found.hits, &bounds);
        let share = self.settings(request.scope.agent()).memory.inject.holdout;
        let is_held = |id: MemoryId| is_held_out(share, session, id);
        let (held_out, injected): (Vec<Hit>, Vec<Hit>) =
            found.hits.into_iter().partition(|hit| is_held(hit.memory.id));
        let block =
            if held_out.is_empty() { whole.clone() } else { recall::pack(&injected, &bounds) };
        let mut recorded = shown_in_block(&block, injected);
        // Only memories that the whole block would have shown count as held out.
        recorded.extend(
            shown_in_block(&whole, held_out)
                .into_iter()
                .map(|(hit, _)| (hit, InjectedTier::HeldOut)),
        );
        Ok((block, recorded))
    }

    /// Records an earlier injection. Memories erased meanwhile leave no record. Fails if the store fails.
    pub async fn record_injection(&self, scope: &Scope, injection: Injection) -> Result<()> {
        self.store.usage().record(scope, injection).await
    }

    /// Records the hits that a tool returned in a session, for the same purposes as [`Engine::inject`], in the
    /// background.
    pub(crate) fn record_tool_injection(
        &self,
        request: &RecallRequest,
        session: &str,
        hits: &[Hit],
    ) {
        let recorded = hits.iter().map(|hit| (hit.memory.clone(), InjectedTier::Full)).collect();
        let session = self.stored_session(&request.scope, session);
        self.spawn_record_injection(request, &session, recorded, true);
    }

    /// Returns the record of a prompt, without its memories.
    fn new_injection(
        &self,
        request: &RecallRequest,
        session: &str,
        is_same_prompt: bool,
    ) -> Injection {
        Injection {
            session: session.to_owned(),
            query: Fingerprint::of(&request.query),
            at: self.now().timestamp(),
            memories: Vec::new(),
            is_same_prompt,
            max_lines: self.settings(request.scope.agent()).upkeep.usage_lines,
        }
    }

    /// Records the memories of a prompt in the background.
    fn spawn_record_injection(
        &self,
        request: &RecallRequest,
        session: &str,
        recorded: Vec<(Memory, InjectedTier)>,
        is_same_prompt: bool,
    ) {
        if recorded.is_empty() || session.trim().is_empty() {
            return;
        }
        let (store, scope) = (Arc::clone(&self.store), request.scope.clone());
        let (injection, query) =
            (self.new_injection(request, session, is_same_prompt), request.query.clone());
        self.usage_tasks.spawn_after((scope.clone(), session.to_owned()), async move {
            let injection = injection.with_memories(&query, &recorded);
            if let Err(error) = store.usage().record(&scope, injection).await {
                tracing::warn!("{error}: the memories injected into a prompt were not recorded");
            }
        });
    }

    /// Does the work of [`Engine::record_answer`] in the background: neither the reader of the answer nor the next
    /// prompt waits. Logs failures.
    pub fn spawn_usage_check(&self, scope: &Scope, session: &str, answer: &str) {
        let (engine, answer) = (self.clone(), answer.to_owned());
        let key = (scope.clone(), self.stored_session(scope, session).into_owned());
        self.usage_tasks.spawn_after(key.clone(), async move {
            if let Err(error) = engine.check_usage(&key.0, &key.1, &answer).await {
                tracing::warn!("{error}: the memories that an answer used were not recorded");
            }
        });
    }

    /// Waits until all injections and answers are recorded.
    pub async fn flush_usage(&self) {
        self.usage_tasks.flush().await;
    }

    /// Compares a session's answer with the memories in its last prompt, records which ones it used, and returns them.
    /// Fails if the store fails.
    #[boxed]
    pub async fn record_answer(
        &self,
        scope: &Scope,
        session: &str,
        answer: &str,
    ) -> Result<AnswerUsage> {
        self.usage_tasks.flush().await;
        self.check_usage(scope, &self.stored_session(scope, session), answer).await
    }

    async fn check_usage(&self, scope: &Scope, session: &str, answer: &str) -> Result<AnswerUsage> {
        let open = self.store.usage().of_session(scope, session, UsageLines::Unanswered).await?;
        let last = open.iter().map(|line| line.turn).max();
        let lines: Vec<UsageRecord> =
            open.into_iter().filter(|line| Some(line.turn) == last).collect();
        let ids: Vec<_> = lines.iter().map(|line| line.injected.id).collect();
        let found = self.store.memories().get(scope, &ids).await?;
        // A deleted memory cannot be compared; its record stays unanswered.
        let present =
            lines.into_iter().zip(found).filter_map(|(line, memory)| Some((line, memory?)));
        let (held_out, injected): (Vec<_>, Vec<_>) =
            present.partition(|(line, _)| line.injected.shown == InjectedTier::HeldOut);
        let mut verdicts = Vec::new();
        for lines in [&injected, &held_out] {
            let judged = self.used_flags(lines, answer).await;
            verdicts.extend(lines.iter().map(|(line, _)| line.seq).zip(judged));
        }
        let by_seq: HashMap<u64, bool> = verdicts.iter().copied().collect();
        let is_used = |line: &UsageRecord| by_seq.get(&line.seq).copied().unwrap_or(false);
        let used =
            injected.iter().filter(|(line, _)| is_used(line)).map(|(line, _)| line.injected.id);
        let answered = AnswerUsage {
            injected: injected.len(),
            used: used.collect(),
            held_out: held_out.len(),
        };
        if !verdicts.is_empty() {
            self.store.usage().set_used(scope, verdicts).await?;
        }
        Ok(answered)
    }

    async fn used_flags(&self, lines: &[(UsageRecord, Memory)], answer: &str) -> Vec<bool> {
        let texts: Vec<String> =
            lines.iter().map(|(line, memory)| shown_text(memory, &line.injected)).collect();
        let near = self.best_similarities(&texts, answer).await;
        let shown: Vec<_> = lines
            .iter()
            .zip(texts.iter().zip(near))
            .map(|((line, _), (text, similarity))| ShownMemory {
                text,
                question_digests: &line.injected.query_term_digests,
                similarity,
            })
            .collect();
        detect_usage(&shown, answer)
    }

    /// Returns the cosine of each text with the nearest sentence of the answer; 0 without a local embedder. A remote
    /// embedder is not called: it would cost with every answer, and its cached vectors would outlive an erasure.
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
        own.iter().map(|own| said.iter().map(|said| dot(said, own)).fold(0.0, f32::max)).collect()
    }

    /// Returns sketches of all memories injected in a session, which identify an echo even after the memory is
    /// deleted.
    pub(crate) async fn injected_sketches(
        &self,
        scope: &Scope,
        session: &str,
    ) -> Result<Vec<(MemoryId, TextSketch)>> {
        self.usage_tasks.flush().await;
        let sketches = self.store.usage().injected(scope, session).await?;
        Ok(sketches.into_iter().map(|(id, sketch)| (id, TextSketch::from_bytes(&sketch))).collect())
    }

    /// Returns the memories that prompts of a session contained, each once, even those deleted since.
    pub async fn injected_memories(&self, scope: &Scope, session: &str) -> Result<Vec<MemoryId>> {
        self.usage_tasks.flush().await;
        let session = &*self.stored_session(scope, session);
        let injected = self.store.usage().injected(scope, session).await?;
        Ok(injected.into_iter().map(|(id, _)| id).collect())
    }

    /// Returns usage counts of a scope and the comparison with held-out memories.
    pub async fn usage_stats(&self, scope: &Scope) -> Result<UsageStats> {
        let counts = self.store.usage().counts(scope).await?;
        let injected = UsageRate::new(counts.used, counts.answered);
        let held_out = UsageRate::new(counts.held_out_used, counts.held_out);
        let comparison = (held_out.of > 0).then(|| compare_holdout(injected, held_out));
        Ok(UsageStats { counts, comparison })
    }
}

impl Injection {
    /// Returns this injection with the memories recorded for a query.
    fn with_memories(self, query: &str, recorded: &[(Memory, InjectedTier)]) -> Self {
        let memories =
            recorded.iter().map(|(memory, shown)| injected_memory(query, memory, *shown)).collect();
        Self { memories, ..self }
    }
}

/// Returns the hits that a block shows, with their tier.
fn shown_in_block(block: &MemoryBlock, hits: Vec<Hit>) -> Vec<(Memory, InjectedTier)> {
    let tiers: HashMap<MemoryId, Tier> =
        block.entries.iter().map(|entry| (entry.id, entry.tier)).collect();
    let shown = |hit: Hit| {
        let tier = *tiers.get(&hit.memory.id)?;
        Some((hit.memory, tier.into()))
    };
    hits.into_iter().filter_map(shown).collect()
}

fn injected_memory(query: &str, memory: &Memory, shown: InjectedTier) -> InjectedMemory {
    InjectedMemory {
        id: memory.id,
        shown,
        query_term_digests: question_digests(query, &memory.content),
        sketch: TextSketch::of(&memory.content).to_bytes(),
    }
}

/// Returns the text of a memory that the model saw, or would have seen. The passage of a long one is found again by the
/// digests of the question.
fn shown_text(memory: &Memory, injected: &InjectedMemory) -> String {
    let digests = &injected.query_term_digests;
    let passage = |max_tokens| {
        excerpt(&memory.content, |text| shared_with_question(text, digests), max_tokens)
    };
    match injected.shown {
        InjectedTier::Line => passage(LINE_TOKENS).unwrap_or_else(|| one_line(memory)),
        InjectedTier::Overview => passage(OVERVIEW_TOKENS).unwrap_or_else(|| overview(memory)),
        InjectedTier::Full | InjectedTier::HeldOut => memory.content.clone(),
    }
}
