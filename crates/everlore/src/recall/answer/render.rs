//! Rendering for the recall tool: the same block as in a prompt, each memory with its id, day and score.

use jiff::{Zoned, civil::Date};
use serde::Serialize;

use super::{
    confidence::full_confidence,
    heading::{BlockPhrases, heading},
    pack::{BlockRequest, CLOSING_TAG, PackedHit, fit_to_budget},
    passage::PassageChooser,
};
use crate::{
    config::RecallConfig,
    recall::{Hit, HitSignals, Recall, ScoreFactors, analyze},
    store::DocAddress,
    text::{
        age::Age,
        attribution::{origin_label, other_speaker, speaker_label},
        language::Language,
        sanitize::{sanitize, sanitize_line, sanitize_unindented},
        tokens::estimate_tokens,
    },
    types::{CheckResult, Kind, Memory, MemoryId},
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
    /// Speaker of a turn, or origin of a memory that does not come from the user.
    #[serde(rename = "by", skip_serializing_if = "Option::is_none")]
    pub said_by: Option<String>,
    /// Sanitized text, or the passage of it that answers.
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
    Recall {
        intent,
        hits: vec![Hit::of_memory(memory, 1.0)],
        confidence: 1.0,
        abstained: false,
        candidates: 1,
        judgement: full_confidence(),
        without_meaning: None,
    }
}

impl Hit {
    /// Creates the hit of a memory that was found without ranking.
    pub(crate) fn of_memory(memory: Memory, score: f64) -> Self {
        Self {
            memory,
            score,
            signals: HitSignals::default(),
            factors: ScoreFactors::default(),
            probability: None,
            newer: None,
            held_until: None,
            check: None,
            address: DocAddress::new(0, 0),
        }
    }
}

/// Renders the hits as a block, and as values for programs. Hits that do not fit are left out.
pub(crate) fn render_recall(
    found: &Recall,
    request: &BlockRequest<'_>,
) -> (String, Vec<RenderedMemory>) {
    let (hits, chooser) = (&found.hits, PassageChooser::new(request.query, request.whole));
    let opening = BlockPhrases::for_language(request.language).opening();
    let frame = estimate_tokens(&opening) + estimate_tokens(CLOSING_TAG);
    let render = |hit: &Hit, tier| {
        PackedHit::from_text(tier, render_entry(hit, &chooser.text(hit, tier), request))
    };
    let (packed, _) = fit_to_budget(hits, frame, request.budget, &chooser, render);
    let shown = || hits.iter().zip(&packed).filter_map(|(hit, one)| Some((hit, one.as_ref()?)));
    let body: String = shown().map(|(_, packed)| packed.text.as_str()).collect();
    let memories =
        shown().map(|(hit, packed)| rendered_memory(hit, &chooser.text(hit, packed.tier), request));
    (format!("{opening}{body}{CLOSING_TAG}"), memories.collect())
}

fn render_entry(hit: &Hit, shown: &str, request: &BlockRequest<'_>) -> String {
    let memory = &hit.memory;
    let created = Age::new(memory.at, request.now).day;
    let (id, score) = (memory.id, hit.score);
    let (facts, shortened) = if request.language == Language::Chinese {
        let facts = format!("id {id}，创建于 {created}，得分 {score:.2}");
        (facts, "，已缩短：用 memory_get 和该 id 可取全文")
    } else {
        let facts = format!("id {id}, created {created}, score {score:.2}");
        (facts, ", shortened: memory_get with the id gives all of it")
    };
    let shortened = if is_shortened(hit, shown) { shortened } else { "" };
    let phrases = BlockPhrases::for_language(request.language);
    let heading = heading(hit, shown, phrases, request.now);
    format!("\n{heading}\n({facts}{shortened})\n{}\n", sanitize(shown))
}

fn is_shortened(hit: &Hit, shown: &str) -> bool {
    shown != hit.memory.content.trim()
}

fn rendered_memory(hit: &Hit, shown: &str, request: &BlockRequest<'_>) -> RenderedMemory {
    let memory = &hit.memory;
    let Age { day, days } = Age::new(memory.at, request.now);
    let speaker = || speaker_label(memory, Language::English);
    let origin = || origin_label(memory, Language::English).map(str::to_owned);
    RenderedMemory {
        id: memory.id,
        uri: sanitize_line(&memory.uri),
        kind: memory.kind,
        name: sanitize_line(&memory.name),
        said_by: if memory.kind == Kind::Turn {
            Some(speaker())
        } else {
            other_speaker(memory).or_else(origin)
        },
        content: sanitize_unindented(shown),
        shortened: is_shortened(hit, shown),
        created: day,
        age_days: days,
        outdated: hit.newer.is_some() && hit.held_until.is_some(),
        score: (hit.score * 1_000.0).round() / 1_000.0,
        check: hit.check.clone(),
    }
}
