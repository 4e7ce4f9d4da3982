//! Messages that need no memory, put to real conversations: how many get something all the same.

use anyhow::Result;
use serde::Serialize;

use crate::retrieval::{
    data::DataSet,
    engine::{EngineQuestion, EngineRetriever},
};

/// The messages, one a line, a line break in them written as `\n`; the engine's tests put them to stores of their own.
pub(crate) const LANGUAGES: [(&str, &str); 2] = [
    ("english", include_str!("../../../everlore/tests/data/everyday_en.txt")),
    ("chinese", include_str!("../../../everlore/tests/data/everyday_zh.txt")),
];

/// As many hits as are looked at when confidence is judged.
const LIMIT: usize = 10;

/// More scopes of a set than this only repeat what the first ones say.
const MAX_SCOPES: usize = 20;

/// What happened to the messages of a language.
#[derive(Debug, Serialize)]
pub(crate) struct EverydayReport {
    pub(crate) language: &'static str,
    /// Messages times scopes.
    pub(crate) asked: usize,
    /// The share that got nothing.
    pub(crate) silent: f64,
    /// What got something: how sure, the scope and the message.
    pub(crate) told: Vec<(f64, String, String)>,
}

/// Puts every message to the scopes of a set.
pub(crate) fn measure(set: &DataSet, threshold: f64) -> Result<Vec<EverydayReport>> {
    let everlore = EngineRetriever::loaded_with(set)?;
    let scopes: Vec<&str> =
        set.by_scope().into_iter().map(|(scope, _)| scope).take(MAX_SCOPES).collect();
    let of = |(language, text): (&'static str, &str)| {
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
                let sure = everlore.answer(&question)?.judgement.confidence;
                if sure >= threshold {
                    told.push((sure, (*scope).to_owned(), message.clone()));
                }
            }
        }
        let silent = 1.0 - told.len() as f64 / asked.max(1) as f64;
        Ok(EverydayReport { language, asked, silent, told })
    };
    LANGUAGES.into_iter().map(of).collect()
}
