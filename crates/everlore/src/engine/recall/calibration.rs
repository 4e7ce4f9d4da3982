//! Calibration of recall confidence to a scope: puts synthetic questions, made from one half of its memories, to both
//! halves.
//!
//! It fits only bias and slope of the confidence, not the coefficients of the evidence: synthetic questions show how
//! well words separate these memories, but not what people ask.

use std::{collections::HashMap, sync::Arc};

use serde::Serialize;

use crate::{
    embed::{EmbedOnWrite, EmbeddingPath},
    engine::{Engine, SCAN_PAGE},
    error::{Error, Result},
    growth::FeedbackTally,
    recall::{
        ConfidenceCoefficients, ConfidenceEstimate, ConfidenceTuning, TrainingSample,
        content_units, fit_logistic, synthetic_query,
    },
    store::{ListOrder, ListQuery, MemoryFilter, RamStore, Store},
    sync::boxed,
    types::{Actor, Change, Memory, Scope, Status, WriteBatch},
};

/// Fewest memories for a calibration; fewer yield too few questions to learn from.
pub const MIN_CALIBRATION_MEMORIES: usize = 100;

/// Most memories, newest first, that a calibration reads: enough for two numbers, and a few seconds of work.
const MAX_CALIBRATION_MEMORIES: usize = 1_000;

/// Questions made from each half, spread evenly over it.
const QUESTIONS_PER_HALF: usize = 100;

/// Strength of the prior on the shipped tuning: as if forty questions had spoken for it.
const PRIOR_STRENGTH: f64 = 10.0;

/// Bias of synthetic questions: on ten conversations for which the shipped coefficients are right, fits on synthetic
/// questions yield this tuning (`everlore-eval gate --calibrate`). Only a scope's deviation from it is the scope's
/// own.
const SYNTHETIC_BASELINE: ConfidenceTuning = ConfidenceTuning { bias: -2.1, slope: 1.2 };

/// Greatest shift of a scope from the shipped tuning: beyond it, synthetic questions say more about themselves than
/// about the memories.
const MAX_SHIFT: f64 = 1.0;

/// Separation of own questions from foreign ones.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CalibrationMetrics {
    /// Probability that an own question gets more confidence than a foreign one.
    pub auc: f64,
    /// Mean squared error of the confidence.
    pub brier: f64,
    /// Share of own questions that get an answer.
    pub answered: f64,
    /// Share of foreign questions that get silence.
    pub silenced: f64,
}

/// Result of a calibration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Calibration {
    /// Number of memories read.
    pub memories: usize,
    /// Number of questions made from them; each was put to both halves.
    pub questions: usize,
    /// Metrics of the shipped coefficients on synthetic questions.
    pub before: CalibrationMetrics,
    /// Cross-validated metrics of the fit: trained on every second question, measured on the others.
    pub after: CalibrationMetrics,
    /// Raw fit on synthetic questions, before subtracting their usual bias.
    pub fitted: ConfidenceTuning,
    /// Set when the fit is better on unseen questions; otherwise the shipped tuning stays.
    pub improves: bool,
    /// Feedback on these memories, which moves the bias within its own bound.
    pub feedback: FeedbackTally,
    /// Tuning to use in this scope.
    #[serde(flatten)]
    pub tuning: ConfidenceTuning,
}

impl Calibration {
    /// Returns `true` if the tuning differs from the shipped one.
    pub fn is_change(&self) -> bool {
        self.improves || self.feedback.bias_shift != 0.0
    }
}

/// A confidence estimate, and `true` if the question was put to the half that it was made from.
type JudgedQuestion = (ConfidenceEstimate, bool);

impl Engine {
    /// Returns the confidence coefficients of a scope.
    pub(crate) fn confidence_coefficients(&self, scope: &Scope) -> ConfidenceCoefficients {
        self.tunings.get(scope).copied().unwrap_or_default().coefficients()
    }

    /// Fits recall confidence to the memories of a scope and returns the result. Stores nothing and is deterministic:
    /// the same memories give the same result. Fails if the scope has fewer than [`MIN_CALIBRATION_MEMORIES`].
    pub async fn calibrate(&self, scope: &Scope) -> Result<Calibration> {
        let memories = self.newest_memories(scope, &[Status::Active]).await?;
        if memories.len() < MIN_CALIBRATION_MEMORIES {
            return Err(Error::invalid(
                format!("there are {} memories, too few to learn from", memories.len()),
                format!("calibrate when there are at least {MIN_CALIBRATION_MEMORIES}"),
            ));
        }
        let judged = self.judge_questions(scope, &memories).await?;
        let threshold = self.settings(scope.agent()).recall.min_confidence;
        let (even, odd) = split_even_odd(&judged);
        let before = measure(&judged, &|_| SYNTHETIC_BASELINE, threshold);
        // Cross-validation: each half of the questions is judged by the fit on the other half.
        let crossed = [fit_tuning(&odd), fit_tuning(&even)];
        let after = measure(&judged, &|at| crossed[at / 2 % 2], threshold);
        let improves = after.brier < before.brier;
        let fitted = fit_tuning(&judged);
        let told = self.newest_memories(scope, &[Status::Active, Status::Archived]).await?;
        let feedback = FeedbackTally::of_memories(&told);
        let tuning = if improves { scope_tuning(&fitted) } else { ConfidenceTuning::default() };
        Ok(Calibration {
            memories: memories.len(),
            questions: judged.len() / 2,
            before,
            after,
            improves,
            fitted,
            feedback,
            tuning: ConfidenceTuning { bias: tuning.bias + feedback.bias_shift, ..tuning },
        })
    }

    /// Returns the newest memories with one of these statuses, oldest first.
    async fn newest_memories(&self, scope: &Scope, statuses: &[Status]) -> Result<Vec<Memory>> {
        let filter = MemoryFilter { statuses: statuses.to_vec(), ..MemoryFilter::default() };
        let filter = filter.without_records();
        let mut page =
            ListQuery { filter, after: None, order: ListOrder::NewestFirst, limit: SCAN_PAGE };
        let mut memories = Vec::new();
        while memories.len() < MAX_CALIBRATION_MEMORIES {
            let found = self.store.memories().list(scope, &page).await?;
            let Some(last) = found.last() else { break };
            page.after = Some(last.id);
            memories.extend(found);
        }
        memories.truncate(MAX_CALIBRATION_MEMORIES);
        memories.reverse();
        Ok(memories)
    }

    /// Makes questions from each half and puts them to both.
    async fn judge_questions(
        &self,
        scope: &Scope,
        memories: &[Memory],
    ) -> Result<Vec<JudgedQuestion>> {
        let (older, newer) = memories.split_at(memories.len() / 2);
        let engines =
            [self.ram_engine_with(scope, older).await?, self.ram_engine_with(scope, newer).await?];
        let mut judged = Vec::new();
        for (own, half, other) in [(0, older, newer), (1, newer, older)] {
            for query in synthetic_questions(half, other) {
                for to in [own, 1 - own] {
                    let found = engines[to].recall(&self.recall_request(scope, &query)).await?;
                    judged.push((found.judgement, to == own));
                }
            }
        }
        Ok(judged)
    }

    /// Returns an engine like this one with only these memories, in RAM.
    #[boxed]
    async fn ram_engine_with(&self, scope: &Scope, memories: &[Memory]) -> Result<Self> {
        let ram: Arc<dyn Store> = Arc::new(RamStore::default());
        let store: Arc<dyn Store> = match self.query_embedder.clone() {
            Some(embedder) => {
                let path = EmbeddingPath::Inline { store: ram, embedder };
                Arc::new(EmbedOnWrite { path, tokens: None })
            }
            None => ram,
        };
        let engine = Self { store, backfill: None, tunings: HashMap::default(), ..self.clone() };
        for part in memories.chunks(SCAN_PAGE) {
            let add =
                |memory: &Memory| Change::Add(Box::new(Memory { version: 1, ..memory.clone() }));
            let changes = part.iter().map(add).collect();
            let now = self.now().timestamp();
            engine
                .store
                .apply(WriteBatch::new(scope, Actor::Engine, "calibrate", now, changes))
                .await?;
        }
        Ok(engine)
    }
}

/// Returns questions from memories spread over a half, each with a word of the other half.
fn synthetic_questions(half: &[Memory], other: &[Memory]) -> Vec<String> {
    let step = (half.len() / QUESTIONS_PER_HALF).max(1);
    let question = |(number, memory): (usize, &Memory)| {
        let foreign = other.get(number * step % other.len().max(1));
        let foreign = foreign.and_then(|memory| content_units(&memory.content).pop());
        synthetic_query(&memory.content, foreign.as_ref())
    };
    half.iter().step_by(step).enumerate().filter_map(question).collect()
}

/// Splits the samples by even and odd questions; each question has two samples.
fn split_even_odd(judged: &[JudgedQuestion]) -> (Vec<JudgedQuestion>, Vec<JudgedQuestion>) {
    let pick = |rest: usize| {
        let pairs = judged.chunks(2).enumerate().filter(|(number, _)| number % 2 == rest);
        pairs.flat_map(|(_, pair)| pair.to_vec()).collect()
    };
    (pick(0), pick(1))
}

/// Returns the bias and slope of greatest likelihood.
fn fit_tuning(judged: &[JudgedQuestion]) -> ConfidenceTuning {
    let shipped = ConfidenceCoefficients::default();
    let sample = |(judgement, own): &JudgedQuestion| {
        let sure = judgement.confidence_with(&shipped).clamp(1e-6, 1.0 - 1e-6);
        let features = vec![1.0, (sure / (1.0 - sure)).ln()];
        TrainingSample { features, answered: *own, weight: 1.0 }
    };
    let samples: Vec<_> = judged.iter().map(sample).collect();
    let prior = [SYNTHETIC_BASELINE.bias, SYNTHETIC_BASELINE.slope];
    let fitted = fit_logistic(&samples, &prior, PRIOR_STRENGTH);
    ConfidenceTuning { bias: fitted[0], slope: fitted[1] }
}

/// Returns a fit less the usual bias of synthetic questions.
fn scope_tuning(fitted: &ConfidenceTuning) -> ConfidenceTuning {
    let most = 1.0 + MAX_SHIFT;
    ConfidenceTuning {
        bias: (fitted.bias - SYNTHETIC_BASELINE.bias).clamp(-MAX_SHIFT, MAX_SHIFT),
        slope: (fitted.slope / SYNTHETIC_BASELINE.slope).clamp(1.0 / most, most),
    }
}

fn measure(
    judged: &[JudgedQuestion],
    tuning: &dyn Fn(usize) -> ConfidenceTuning,
    threshold: f64,
) -> CalibrationMetrics {
    let sure: Vec<(f64, bool)> = judged
        .iter()
        .enumerate()
        .map(|(at, (judgement, own))| (judgement.confidence_with(&tuning(at).coefficients()), *own))
        .collect();
    let of = |own: bool| {
        sure.iter().filter(|(_, is)| *is == own).map(|(sure, _)| *sure).collect::<Vec<_>>()
    };
    let (own, foreign) = (of(true), of(false));
    let share = |part: usize, all: usize| part as f64 / all.max(1) as f64;
    let error = |(sure, own): &(f64, bool)| (sure - f64::from(u8::from(*own))).powi(2);
    CalibrationMetrics {
        auc: auc(&own, &foreign),
        brier: sure.iter().map(error).sum::<f64>() / sure.len().max(1) as f64,
        answered: share(own.iter().filter(|sure| **sure >= threshold).count(), own.len()),
        silenced: share(foreign.iter().filter(|sure| **sure < threshold).count(), foreign.len()),
    }
}

/// Returns the share of pairs in the right order; equal pairs count half.
fn auc(own: &[f64], foreign: &[f64]) -> f64 {
    let mut sorted = foreign.to_vec();
    sorted.sort_by(f64::total_cmp);
    let below = |value: f64| {
        let less = sorted.partition_point(|other| *other < value);
        let not_more = sorted.partition_point(|other| *other <= value);
        (less + not_more) as f64 / 2.0
    };
    let pairs = (own.len() * foreign.len()).max(1) as f64;
    own.iter().map(|value| below(*value)).sum::<f64>() / pairs
}
