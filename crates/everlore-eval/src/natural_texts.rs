//! Texts as people write them, as many as wanted: words that a generator makes up would be cut into many more pieces by the
//! models, and their vectors would lie where no text lies.

use anyhow::{Context, Result};

use crate::random::SplitMix64;

/// Sentences of talks in both languages.
const TALKS: [&str; 2] = [
    include_str!("../data/dialogues/train_en_a.txt"),
    include_str!("../data/dialogues/train_zh_a.txt"),
];

/// Questions as people ask them, in both languages.
const QUESTIONS: &str = include_str!("../data/everyday/bilingual/queries.jsonl");

/// Texts of two sentences each that people said.
pub(crate) struct NaturalTexts {
    sentences: [Vec<&'static str>; 2],
}

impl NaturalTexts {
    pub(crate) fn new() -> Self {
        let sentences = |talk: &'static str| talk.lines().filter_map(|line| line.split_once(" | "));
        Self { sentences: TALKS.map(|talk| sentences(talk).map(|(_, said)| said).collect()) }
    }

    /// Returns a text, in English and Chinese by turns.
    pub(crate) fn text(&self, number: u32) -> String {
        let sentences = &self.sentences[number as usize % 2];
        let mut random = SplitMix64::from_keys(&[number.into()]);
        let mut sentence = || random.pick(sentences.as_slice());
        format!("{} {}", sentence(), sentence())
    }
}

/// Returns the texts of the questions.
pub(crate) fn questions() -> Result<Vec<String>> {
    let texts = QUESTIONS.lines().map(|line| {
        let question: serde_json::Value = serde_json::from_str(line)?;
        Ok(question["text"].as_str().context("a question has a text")?.to_owned())
    });
    texts.collect()
}
