//! Capture without a chat model on labelled dialogues: facts found, memories right, traps fallen into, and corrections
//! honoured.

mod labels;
mod coverage;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use anyhow::Result;
use everlore::{
    Engine, Kind, Memory, Scope, Status, Turn,
    engine::{ExtractRequest, SentenceJudge},
    internal::lock,
    llm::{BuiltinEncoder, SentenceInput, SentenceScores},
    store::{ListOrder, ListQuery, MemoryFilter, RamStore},
    types::Timestamp,
};
use serde::Serialize;

use coverage::{FOUND_SHARE, MADE_SHARE, coverage, words};
pub(crate) use labels::{Dialogue, parse_dialogues};

/// Way to decide what is kept.
#[derive(Debug, Clone)]
pub(crate) enum CaptureWay {
    /// Sentences are judged by the built-in classifier.
    Classifier,
    /// As above, with every threshold higher by this many log odds.
    Stricter(f32),
    /// Patterns alone.
    Patterns,
}

/// Figures of a group of dialogues.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct CaptureFigures {
    pub(crate) dialogues: usize,
    /// Facts that hold to the end, and those told by an active memory.
    pub(crate) facts: usize,
    pub(crate) found: usize,
    /// Memories, and those made from a line worth keeping and from no trap.
    pub(crate) memories: usize,
    pub(crate) right: usize,
    /// Lines that sound like facts and are none, and those that made a memory.
    pub(crate) traps: usize,
    pub(crate) fallen: usize,
    /// Statements taken back later, and those that no active memory tells without their correction.
    pub(crate) retracted: usize,
    pub(crate) honoured: usize,
}

/// Figures by language, and what went wrong.
#[derive(Debug, Default, Serialize)]
pub(crate) struct CaptureQuality {
    pub(crate) languages: BTreeMap<String, CaptureFigures>,
    pub(crate) failures: Vec<String>,
}

/// Captures every dialogue in a home of its own, and compares the memories with the labels.
pub(crate) fn measure(dialogues: &[Dialogue], way: &CaptureWay) -> Result<CaptureQuality> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut report = CaptureQuality::default();
    for dialogue in dialogues {
        let memories = runtime.block_on(capture(dialogue, way))?;
        report.add(dialogue, &memories);
    }
    Ok(report)
}

/// Observes and extracts each session at its time; returns all memories.
async fn capture(dialogue: &Dialogue, way: &CaptureWay) -> Result<Vec<Memory>> {
    let now = Arc::new(Mutex::new(Timestamp::UNIX_EPOCH));
    let clock = Arc::clone(&now);
    let builder = Engine::builder(Arc::new(RamStore::default())).clock(move || *lock(&clock));
    let engine = match way {
        CaptureWay::Classifier => builder.builtin_encoder(),
        CaptureWay::Stricter(by) => {
            let judge = StricterJudge { encoder: BuiltinEncoder::new(), by: *by };
            builder.sentence_judge(Arc::new(judge))
        }
        CaptureWay::Patterns => builder,
    };
    let (engine, scope) = (engine.build(), Scope::default());
    for (number, session) in dialogue.sessions.iter().enumerate() {
        for (index, message) in session.messages.iter().enumerate() {
            *lock(&now) = session.time_of(index)?;
            let turn = Turn {
                text: message.text(),
                session: Some(format!("s{number}")),
                speaker: message.speaker.clone(),
                role: Some(message.role),
                ..Turn::default()
            };
            engine.observe(&scope, vec![turn]).await?;
        }
        engine.extract(&scope, &ExtractRequest::default()).await?;
    }
    let kinds = Kind::ALL.into_iter().filter(|kind| *kind != Kind::Turn).collect();
    let filter = MemoryFilter { kinds, ..MemoryFilter::default() };
    let page = ListQuery { filter, after: None, order: ListOrder::OldestFirst, limit: 1_000 };
    Ok(engine.list(&scope, &page).await?)
}

/// Returns `true` if a memory tells a correction of the dialogue, and so does not hold what that takes back.
fn tells_correction(dialogue: &Dialogue, stored: &[String]) -> bool {
    let mut corrections = dialogue.lines().filter(|line| line.is_correction());
    corrections.any(|line| coverage(&words(&line.text), stored) >= FOUND_SHARE)
}

/// Returns `true` if a memory was made from a line worth keeping, and from no trap.
fn is_right(dialogue: &Dialogue, stored: &[String]) -> bool {
    let mut has_right = false;
    for line in dialogue.lines().filter(|it| coverage(&words(&it.text), stored) >= MADE_SHARE) {
        if line.is_trap() {
            return false;
        }
        has_right |= line.is_right();
    }
    has_right
}

impl CaptureQuality {
    fn add(&mut self, dialogue: &Dialogue, memories: &[Memory]) {
        let language = dialogue.id.split('-').next().unwrap_or_default();
        let figures = self.languages.entry(language.to_owned()).or_default();
        figures.dialogues += 1;
        let stored: Vec<Vec<String>> = memories.iter().map(|it| words(&it.content)).collect();
        let is_active = |index: usize| memories[index].status == Status::Active;
        let mut failures = Vec::new();
        for line in dialogue.lines() {
            let said = words(&line.text);
            let told_by = |share: f64, active: bool| {
                let mut all = (0..stored.len()).filter(|index| !active || is_active(*index));
                all.any(|index| coverage(&said, &stored[index]) >= share)
            };
            let mut count = |all: &mut usize, good: &mut usize, is_good: bool, what: &str| {
                *all += 1;
                *good += usize::from(is_good);
                if is_good == (what == "trap") {
                    failures.push(format!("{what}: {}", line.text));
                }
            };
            if line.is_fact() {
                let is_found = told_by(FOUND_SHARE, true);
                count(&mut figures.facts, &mut figures.found, is_found, "missed");
            } else if line.is_trap() {
                let is_fallen = told_by(FOUND_SHARE, false);
                count(&mut figures.traps, &mut figures.fallen, is_fallen, "trap");
            } else if line.is_retracted() {
                let is_held = |index: usize| {
                    is_active(index)
                        && coverage(&said, &stored[index]) >= FOUND_SHARE
                        && !tells_correction(dialogue, &stored[index])
                };
                let is_honoured = !(0..stored.len()).any(is_held);
                count(&mut figures.retracted, &mut figures.honoured, is_honoured, "still held");
            }
        }
        for (memory, stored) in memories.iter().zip(&stored) {
            figures.memories += 1;
            let is_right = is_right(dialogue, stored);
            figures.right += usize::from(is_right);
            if !is_right {
                failures.push(format!("wrong: {}", memory.content));
            }
        }
        if !failures.is_empty() {
            let shown = |it: &Memory| format!("{} memory: {}", it.status, it.content);
            failures.extend(memories.iter().map(shown));
        }
        self.failures.extend(failures.iter().map(|what| format!("{} {what}", dialogue.id)));
    }
}

/// Classifier whose log odds that a sentence is worth keeping are lower by a number: thresholds that are higher by it.
struct StricterJudge {
    encoder: BuiltinEncoder,
    by: f32,
}

impl SentenceJudge for StricterJudge {
    fn judge_sentence(&self, input: &SentenceInput<'_>) -> everlore::Result<SentenceScores> {
        let scores = self.encoder.judge_sentence(input)?;
        Ok(SentenceScores { keep: scores.keep - self.by, ..scores })
    }

    fn text_vector(&self, text: &str) -> everlore::Result<Vec<f32>> {
        self.encoder.message_vector(text)
    }

    fn quick_vector(&self, text: &str) -> Vec<f32> {
        SentenceJudge::quick_vector(&self.encoder, text)
    }

    fn quick_model(&self) -> everlore::types::EmbeddingModelId {
        SentenceJudge::quick_model(&self.encoder)
    }

    fn replaces_log_odds(&self, old: &str, new: &str) -> everlore::Result<f32> {
        self.encoder.replaces_log_odds(old, new)
    }
}
