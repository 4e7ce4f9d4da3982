//! Packing: fits hits into one `<memory-context>` prompt block that never exceeds its token budget.

use jiff::Zoned;
use serde::Serialize;

use super::{
    heading::{BlockPhrases, heading},
    passage::PassageChooser,
};
use crate::{
    recall::Hit,
    text::{language::Language, sanitize::sanitize, tokens::estimate_tokens},
    types::{CheckResult, MemoryId, Tier},
};

/// Prompt text with its token count and contents. Empty if there are no hits or none fits.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct MemoryBlock {
    /// Text to append to the system prompt; may be empty.
    pub text: String,
    /// Upper bound of the tokens that a model counts for the text.
    pub tokens: usize,
    /// Memories in the text, in order.
    pub entries: Vec<MemoryBlockEntry>,
    /// Hits that do not fit, not even as one line. A hit is left out only if it does not fit beside the better ones;
    /// worse ones that are shorter may still be in the block.
    pub left_out: Vec<MemoryId>,
}

/// Memory shown in a block.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct MemoryBlockEntry {
    /// Id of the memory.
    pub id: MemoryId,
    /// Uri of the memory.
    pub uri: String,
    /// Amount of text shown.
    #[serde(serialize_with = "Tier::serialize_upper")]
    #[cfg_attr(feature = "schema", schema(value_type = String, example = "L2"))]
    pub tier: Tier,
    /// Score for the query.
    pub score: f64,
    /// Terms of the query that the memory contains.
    pub terms: Vec<String>,
    /// Current result of the memory's check, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<CheckResult>,
}

/// Closing tag of a block.
pub(super) const CLOSING_TAG: &str = "</memory-context>";

/// Query that a block is made for, and its bounds.
#[derive(Debug, Clone, Copy)]
pub struct BlockRequest<'a> {
    /// Message that the model answers; long memories are told by the passage that matters for it.
    pub query: &'a str,
    /// Language of the block's own words.
    pub language: Language,
    /// Maximum tokens of the block.
    pub budget: usize,
    /// Moment of the query, in the user's time zone.
    pub now: &'a Zoned,
    /// Set to tell long memories whole where they fit.
    pub whole: bool,
}

/// Hit rendered for the block at one tier.
pub(super) struct PackedHit {
    pub(super) tier: Tier,
    pub(super) text: String,
    tokens: usize,
}

/// Packs hits, best first, into a token budget: each whole if it is short, otherwise by the passage that answers, by one
/// line if no more fits, and not at all if not even that fits. Better hits choose first.
pub fn pack(hits: &[Hit], request: &BlockRequest<'_>) -> MemoryBlock {
    let phrases = BlockPhrases::for_language(request.language);
    let chooser = PassageChooser::new(request.query, request.whole);
    let opening = phrases.opening();
    let frame = estimate_tokens(&opening) + estimate_tokens(CLOSING_TAG);
    let render = |hit: &Hit, tier| {
        let shown = chooser.text(hit, tier);
        let heading = heading(hit, &shown, phrases, request.now);
        PackedHit::from_text(tier, format!("\n{heading}\n{}\n", sanitize(&shown)))
    };
    let (packed, tokens) = fit_to_budget(hits, frame, request.budget, &chooser, render);
    let left_out = hits.iter().zip(&packed).filter(|(_, packed)| packed.is_none());
    let left_out = left_out.map(|(hit, _)| hit.memory.id).collect();
    let shown = || hits.iter().zip(&packed).filter_map(|(hit, one)| Some((hit, one.as_ref()?)));
    if shown().next().is_none() {
        return MemoryBlock { left_out, ..MemoryBlock::default() };
    }
    let body: String = shown().map(|(_, packed)| packed.text.as_str()).collect();
    let entries = shown().map(|(hit, packed)| block_entry(hit, packed.tier)).collect();
    MemoryBlock { text: format!("{opening}{body}{CLOSING_TAG}"), tokens, entries, left_out }
}

/// Renders the hits that fit beside the frame, each at the fullest tier that fits, and returns them with the tokens of
/// all; `None` for a hit that does not fit.
pub(super) fn fit_to_budget(
    hits: &[Hit],
    frame: usize,
    budget: usize,
    chooser: &PassageChooser<'_>,
    render: impl Fn(&Hit, Tier) -> PackedHit,
) -> (Vec<Option<PackedHit>>, usize) {
    let mut spent = frame;
    let mut packed: Vec<Option<PackedHit>> = Vec::with_capacity(hits.len());
    for hit in hits {
        let line = shortest(hit, chooser, &render);
        let fits = spent + line.tokens <= budget;
        spent += if fits { line.tokens } else { 0 };
        packed.push(fits.then_some(line));
    }
    for (hit, packed) in hits.iter().zip(&mut packed) {
        let Some(packed) = packed else { continue };
        let others = spent - packed.tokens;
        let fuller = chooser.tiers(hit).iter().take_while(|tier| **tier != packed.tier);
        let mut fuller = fuller.map(|tier| render(hit, *tier));
        if let Some(fuller) = fuller.find(|fuller| others + fuller.tokens <= budget) {
            spent = others + fuller.tokens;
            *packed = fuller;
        }
    }
    (packed, spent)
}

/// Renders a hit as one line, or whole if that is no longer: a description may be longer than the text.
fn shortest(
    hit: &Hit,
    chooser: &PassageChooser<'_>,
    render: impl Fn(&Hit, Tier) -> PackedHit,
) -> PackedHit {
    let line = render(hit, Tier::L0);
    let whole = chooser.tiers(hit).first().filter(|tier| **tier == Tier::L2);
    let whole = whole.map(|tier| render(hit, *tier));
    whole.filter(|whole| whole.tokens <= line.tokens).unwrap_or(line)
}

impl PackedHit {
    /// Creates a rendered hit and counts its tokens.
    pub(super) fn from_text(tier: Tier, text: String) -> Self {
        Self { tier, tokens: estimate_tokens(&text), text }
    }
}

fn block_entry(hit: &Hit, tier: Tier) -> MemoryBlockEntry {
    MemoryBlockEntry {
        id: hit.memory.id,
        uri: hit.memory.uri.clone(),
        tier,
        score: hit.score,
        terms: hit.signals.terms.iter().map(|signal| signal.term.clone()).collect(),
        check: hit.check.clone(),
    }
}
