//! False positives of recall: messages that need no memory, put to real conversations.

use anyhow::Result;
use serde::Serialize;

use crate::retrieval::{
    data::DataSet,
    engine::{EngineQuestion, EngineRetriever},
};

/// Messages, one a line, a line break in them written as `\n`; the engine's tests put them to their own stores.
pub(crate) const LANGUAGES: [(&str, &str); 2] = [
    ("english", include_str!("../../../everlore/tests/data/everyday_en.txt")),
    ("chinese", include_str!("../../../everlore/tests/data/everyday_zh.txt")),
];

/// Hits of a recall whose confidence is measured.
const LIMIT: usize = 10;

/// Scopes of a set that are asked; more of them give the same figures.
const MAX_SCOPES: usize = 20;

/// Outcome for the messages of a language.
#[derive(Debug, Serialize)]
pub(crate) struct EverydayReport {
    pub(crate) language: &'static str,
    /// Messages times scopes.
    pub(crate) asked: usize,
    /// Share that got no memories.
    pub(crate) silent: f64,
    /// Messages that got memories: confidence, scope and message.
    pub(crate) told: Vec<(f64, String, String)>,
}

/// Puts every message to the scopes of a set.
pub(crate) fn measure(set: &DataSet, threshold: f64) -> Result<Vec<EverydayReport>> {
    let everlore = EngineRetriever::loaded_with(set)?;
    let scopes: Vec<&str> =
        set.by_scope().into_iter().map(|(scope, _)| scope).take(MAX_SCOPES).collect();
    let measure_language = |(language, text): (&'static str, &str)| {
        let (mut asked, mut told) = (0, Vec::new());
        for message in text.lines().map(|line| line.replace("\\n", "\n")) {
            for scope in &scopes {
                asked += 1;
                let question = EngineQuestion {
                    scope,
                    text: &message,
                    limit: LIMIT,
                    ..EngineQuestion::default()
                };
                let confidence = everlore.answer(&question)?.judgement.confidence;
                if confidence >= threshold {
                    told.push((confidence, (*scope).to_owned(), message.clone()));
                }
            }
        }
        let silent = 1.0 - told.len() as f64 / asked.max(1) as f64;
        Ok(EverydayReport { language, asked, silent, told })
    };
    LANGUAGES.into_iter().map(measure_language).collect()
}
