//! What a recall tells an agent that asked for it: the same block as in a prompt, each memory with its id, day and score.

use jiff::{Zoned, civil::Date};
use serde::Serialize;

use super::{
    Hit, HitSignals, Recall, ScoreFactors,
    abstain::full_confidence,
    analyze,
    pack::{BlockPhrases, CLOSING_TAG, PackedHit, fit_to_budget, heading, text_at_tier},
};
use crate::{
    config::RecallConfig,
    store::DocAddress,
    text::{
        age::Age,
        language::Language,
        sanitize::{sanitize, sanitize_line, sanitize_unindented},
        tokens::estimate_tokens,
    },
    types::{CheckResult, Kind, Memory, MemoryId, Tier},
};

/// One memory as it is told.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RenderedMemory {
    /// Its id.
    pub id: MemoryId,
    /// Its uri.
    pub uri: String,
    /// Its kind.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// Its title, made harmless.
    pub name: String,
    /// Its text, or as much as fits, made harmless.
    pub content: String,
    /// Whether that is not all of it.
    pub shortened: bool,
    /// The day it was said or became true.
    pub created: Date,
    /// How many days ago that was.
    pub age_days: i64,
    /// Whether a newer memory says otherwise.
    pub outdated: bool,
    /// Its worth for this query, from 0 to 1.
    pub score: f64,
    /// What its check tells now, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<CheckResult>,
}

/// The answer to a query that names one memory: that memory, surely.
pub fn recall_named_memory(memory: Memory, config: &RecallConfig, now: &Zoned) -> Recall {
    let intent = analyze(&format!("{} {}", memory.name, memory.description), config, now);
    let hit = Hit {
        memory,
        score: 1.0,
        signals: HitSignals::default(),
        factors: ScoreFactors::default(),
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

/// The block that tells what was found in at most `budget` tokens, and the same for programs. What does not fit is left out
/// from the end.
pub fn render_recall(found: &Recall, budget: usize, now: &Zoned) -> (String, Vec<RenderedMemory>) {
    let language = found.intent.language;
    let words = BlockPhrases::for_language(language);
    let opening = words.opening();
    let frame = estimate_tokens(&opening) + estimate_tokens(CLOSING_TAG);
    let piece =
        |hit: &Hit, tier| PackedHit::from_text(tier, render_entry(hit, tier, words, language, now));
    let (pieces, _) = fit_to_budget(&found.hits, frame, budget, piece);
    let body: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
    let told =
        found.hits.iter().zip(&pieces).map(|(hit, piece)| rendered_memory(hit, piece.tier, now));
    (format!("{opening}{body}{CLOSING_TAG}"), told.collect())
}

fn render_entry(
    hit: &Hit,
    tier: Tier,
    words: &BlockPhrases,
    language: Language,
    now: &Zoned,
) -> String {
    let memory = &hit.memory;
    let created = Age::new(memory.at, now).day;
    let is_short = is_shortened(hit, tier);
    let facts = match (language == Language::Chinese, is_short) {
        (false, false) => format!("id {}, created {created}, score {:.2}", memory.id, hit.score),
        (false, true) => format!(
            "id {}, created {created}, score {:.2}, shortened: memory_get with the id gives all of it",
            memory.id, hit.score
        ),
        (true, false) => format!("id {}，创建于 {created}，得分 {:.2}", memory.id, hit.score),
        (true, true) => {
            format!(
                "id {}，创建于 {created}，得分 {:.2}，已缩短：用 memory_get 和该 id 可取全文",
                memory.id, hit.score
            )
        }
    };
    let text = sanitize(&text_at_tier(memory, tier));
    format!("\n{}\n({facts})\n{text}\n", heading(hit, words, now))
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
