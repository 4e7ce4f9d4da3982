//! Choice of text: how much of a memory a block tells, and which passage of a long one.

use crate::{
    llm::BuiltinEmbedder,
    recall::Hit,
    text::{
        excerpt::excerpt,
        terms::terms,
        tiers::{LINE_TOKENS, OVERVIEW_TOKENS, one_line, overview},
        tokens::estimate_tokens,
    },
    types::{Tier, dot},
};

/// Tokens up to which a memory is told whole. An excerpt has [`OVERVIEW_TOKENS`]; a text of up to half as much again
/// would lose its context to save little. A longer one would use up the 250 tokens that a block should cost on average.
const MAX_WHOLE_TOKENS: usize = OVERVIEW_TOKENS * 3 / 2;

/// Cosine below which a sentence counts as unrelated: the built-in model gives unrelated sentences 0.1 on average.
const MIN_SIMILARITY: f32 = 0.3;

/// Worth of a number in a sentence for a question that asks for one, where all words of the question are worth 1.
const NUMBER_WORTH: f64 = 0.25;

/// Phrases of questions that a number or a date answers.
#[rustfmt::skip]
const NUMBER_PHRASES: [&str; 20] = [
    "how much", "how many", "how long", "how old", "how often", "how far", "when ", "what time", "which day", "number", "price",
    "cost", "code", "多少", "几", "多久", "多大", "什么时候", "哪天", "号码",
];

/// Chooser of the text of each hit for one query.
pub(super) struct PassageChooser<'a> {
    query: &'a str,
    wants_number: bool,
    /// Tokens up to which a text is told whole.
    max_whole_tokens: usize,
}

impl<'a> PassageChooser<'a> {
    /// Creates a chooser for a query; `whole` tells every text whole that fits.
    pub(super) fn new(query: &'a str, whole: bool) -> Self {
        let lower = query.to_lowercase();
        let wants_number = NUMBER_PHRASES.iter().any(|phrase| lower.contains(phrase));
        let max_whole_tokens = if whole { usize::MAX } else { MAX_WHOLE_TOKENS };
        Self { query, wants_number, max_whole_tokens }
    }

    /// Returns the tiers of a hit that are tried, fullest first.
    pub(super) fn tiers(&self, hit: &Hit) -> &'static [Tier] {
        let content = hit.memory.content.trim();
        // A token has at least a byte, so most texts need not be counted.
        let is_short = content.len() <= self.max_whole_tokens
            || estimate_tokens(content) <= self.max_whole_tokens;
        if is_short { &[Tier::L2, Tier::L1, Tier::L0] } else { &[Tier::L1, Tier::L0] }
    }

    /// Returns the text of a hit at a tier: all of it, or the passage that answers the query.
    pub(super) fn text(&self, hit: &Hit, tier: Tier) -> String {
        match tier {
            Tier::L2 => hit.memory.content.trim().to_owned(),
            Tier::L1 => self.passage(hit, OVERVIEW_TOKENS).unwrap_or_else(|| overview(&hit.memory)),
            Tier::L0 => self.line(hit).unwrap_or_else(|| one_line(&hit.memory)),
        }
    }

    /// Returns the best passage of a long text as one line.
    fn line(&self, hit: &Hit) -> Option<String> {
        let passage = self.passage(hit, LINE_TOKENS)?;
        let line = passage.split_whitespace().collect::<Vec<_>>().join(" ");
        (estimate_tokens(&line) <= LINE_TOKENS).then_some(line)
    }

    fn passage(&self, hit: &Hit, max_tokens: usize) -> Option<String> {
        let content = hit.memory.content.trim();
        let is_long = content.len() > max_tokens && estimate_tokens(content) > max_tokens;
        if !is_long || self.query.is_empty() {
            return None;
        }
        let query = BuiltinEmbedder::new().vector(self.query);
        excerpt(content, |sentence| self.worth(hit, &query, sentence), max_tokens)
    }

    /// Returns the worth of a sentence: the share of the matched terms that it has, by rarity, its similarity to the
    /// query, and a bonus for a number where the query asks for one.
    fn worth(&self, hit: &Hit, query: &[f32], sentence: &str) -> f64 {
        let own = terms(sentence);
        let matched = &hit.signals.terms;
        let all: f64 = matched.iter().map(|term| term.idf).sum();
        let shared = matched.iter().filter(|term| own.contains(&term.term));
        let coverage = shared.map(|term| term.idf).sum::<f64>() / all.max(f64::MIN_POSITIVE);
        let similarity = dot(query, &BuiltinEmbedder::new().vector(sentence));
        let similarity = if similarity >= MIN_SIMILARITY { f64::from(similarity) } else { 0.0 };
        let worth = coverage + similarity;
        let has_number = sentence.contains(|c: char| c.is_numeric());
        if worth > 0.0 && self.wants_number && has_number { worth + NUMBER_WORTH } else { worth }
    }
}
