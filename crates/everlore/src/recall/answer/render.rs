//! Rendering for the recall tool: the same block as in a prompt, each memory with its id, day and score.

use jiff::{Zoned, civil::Date};
use serde::Serialize;

use super::{
    confidence::full_confidence,
    pack::{BlockPhrases, CLOSING_TAG, PackedHit, fit_to_budget, heading, text_at_tier},
};
use crate::{
    config::RecallConfig,
    recall::{Hit, HitSignals, Recall, ScoreFactors, analyze},
    store::DocAddress,
    text::{
        age::Age,
        language::Language,
        sanitize::{sanitize, sanitize_line, sanitize_unindented},
        tokens::estimate_tokens,
    },
    types::{CheckResult, Kind, Memory, MemoryId, Tier},
};

/// Memory in the structured answer of the recall tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct RenderedMemory {
    /// Id of the memory.
    pub id: MemoryId,
    /// Uri of the memory.
    pub uri: String,
    /// Kind of the memory.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// Sanitized title.
    pub name: String,
    /// Sanitized text at the fullest tier that fits.
    pub content: String,
    /// `true` if `content` is not the full text.
    pub shortened: bool,
    /// Day on which it was said or became true.
    pub created: Date,
    /// Age in days.
    pub age_days: i64,
    /// `true` if a newer memory among the hits says otherwise.
    pub outdated: bool,
    /// Score for the query, from 0 to 1.
    pub score: f64,
    /// Current result of the memory's check, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<CheckResult>,
}

/// Answers a query that names one memory: that memory, with full confidence.
pub(crate) fn recall_named_memory(memory: Memory, config: &RecallConfig, now: &Zoned) -> Recall {
    let intent = analyze(&format!("{} {}", memory.name, memory.description), config, now);
    let hit = Hit {
        memory,
        score: 1.0,
        signals: HitSignals::default(),
        factors: ScoreFactors::default(),
        probability: None,
        newer: None,
        check: None,
        address: DocAddress::new(0, 0),
    };
    Recall {
        intent,
        hits: vec![hit],
        confidence: 1.0,
        abstained: false,
        candidates: 1,
        judgement: full_confidence(),
        without_meaning: None,
    }
}

/// Renders the hits as a block of at most `budget` tokens, and as values for programs. Hits that do not fit are left
/// out from the end.
pub(crate) fn render_recall(
    found: &Recall,
    budget: usize,
    now: &Zoned,
) -> (String, Vec<RenderedMemory>) {
    let language = found.intent.language;
    let phrases = BlockPhrases::for_language(language);
    let opening = phrases.opening();
    let frame = estimate_tokens(&opening) + estimate_tokens(CLOSING_TAG);
    let render = |hit: &Hit, tier| {
        PackedHit::from_text(tier, render_entry(hit, tier, phrases, language, now))
    };
    let (packed, _) = fit_to_budget(&found.hits, frame, budget, render);
    let body: String = packed.iter().map(|packed| packed.text.as_str()).collect();
    let memories =
        found.hits.iter().zip(&packed).map(|(hit, packed)| rendered_memory(hit, packed.tier, now));
    (format!("{opening}{body}{CLOSING_TAG}"), memories.collect())
}

fn render_entry(
    hit: &Hit,
    tier: Tier,
    phrases: &BlockPhrases,
    language: Language,
    now: &Zoned,
) -> String {
    let memory = &hit.memory;
    let created = Age::new(memory.at, now).day;
    let (id, score) = (memory.id, hit.score);
    let (facts, shortened) = if language == Language::Chinese {
        let facts = format!("id {id}，创建于 {created}，得分 {score:.2}");
        (facts, "，已缩短：用 memory_get 和该 id 可取全文")
    } else {
        let facts = format!("id {id}, created {created}, score {score:.2}");
        (facts, ", shortened: memory_get with the id gives all of it")
    };
    let shortened = if is_shortened(hit, tier) { shortened } else { "" };
    let text = sanitize(&text_at_tier(memory, tier));
    format!("\n{}\n({facts}{shortened})\n{text}\n", heading(hit, phrases, now))
}

fn is_shortened(hit: &Hit, tier: Tier) -> bool {
    text_at_tier(&hit.memory, tier) != text_at_tier(&hit.memory, Tier::L2)
}

fn rendered_memory(hit: &Hit, tier: Tier, now: &Zoned) -> RenderedMemory {
    let memory = &hit.memory;
    let Age { day, days } = Age::new(memory.at, now);
    RenderedMemory {
        id: memory.id,
        uri: memory.uri.clone(),
        kind: memory.kind,
        name: sanitize_line(&memory.name),
        content: sanitize_unindented(&text_at_tier(memory, tier)),
        shortened: is_shortened(hit, tier),
        created: day,
        age_days: days,
        outdated: hit.newer.is_some(),
        score: (hit.score * 1_000.0).round() / 1_000.0,
        check: hit.check.clone(),
    }
}
