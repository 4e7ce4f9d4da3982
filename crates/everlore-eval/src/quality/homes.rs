//! Recall in small homes of 1 to 60 memories: how many questions get the memory that they need, and how many get one
//! that they do not.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    sync::Arc,
};

use anyhow::{Context, Result};
use everlore::{
    Engine, Kind, RememberRequest, Scope, Turn, engine::ConfidenceEstimate, llm::BuiltinEmbedder,
    store::RamStore,
};
use serde::Serialize;

/// Memories and questions by language; the engine's tests hold the gate to the held-out half of the questions.
const LANGUAGES: [(&str, &str, &str); 2] = [
    (
        "english",
        include_str!("../../../everlore/tests/data/small_home_en.txt"),
        include_str!("../../../everlore/tests/data/small_questions_en.txt"),
    ),
    (
        "chinese",
        include_str!("../../../everlore/tests/data/small_home_zh.txt"),
        include_str!("../../../everlore/tests/data/small_questions_zh.txt"),
    ),
];

/// Memories of a home.
const SIZES: [usize; 5] = [1, 2, 5, 20, 60];

/// Default budget of a context block, in tokens.
const BUDGET: usize = 2_000;

/// Question put to a home, with its outcome.
#[derive(Debug, Serialize)]
pub(crate) struct HomeQuestion {
    pub(crate) language: &'static str,
    pub(crate) half: &'static str,
    pub(crate) size: usize,
    pub(crate) question: &'static str,
    /// Set if the home has a memory that answers.
    pub(crate) answerable: bool,
    /// Set if the block has an entry.
    pub(crate) told: bool,
    /// Set if the block has a memory that answers.
    pub(crate) right: bool,
    /// Content of the best hit.
    pub(crate) best: Option<String>,
    pub(crate) judgement: ConfidenceEstimate,
}

/// Puts every question to a home of each size.
pub(crate) fn measure() -> Result<Vec<HomeQuestion>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut all = Vec::new();
    for (language, memories, questions) in LANGUAGES {
        for size in SIZES {
            all.extend(runtime.block_on(ask_homes(
                language,
                &parse_rows(memories)?,
                &parse_rows(questions)?,
                size,
            ))?);
        }
    }
    Ok(all)
}

/// Splits each line at ` | `.
fn parse_rows(text: &'static str) -> Result<Vec<(&'static str, &'static str)>> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| line.split_once(" | ").with_context(|| format!("`{line}` has no ` | `")))
        .collect()
}

async fn ask_homes(
    language: &'static str,
    memories: &[(&'static str, &'static str)],
    questions: &[(&'static str, &'static str)],
    size: usize,
) -> Result<Vec<HomeQuestion>> {
    let homes: Vec<_> = memories.chunks(size).collect();
    let mut engines: BTreeMap<usize, Engine> = BTreeMap::new();
    let scope = Scope::new("default", "ann")?;
    let mut all = Vec::new();
    for (number, (needs, question)) in questions.iter().enumerate() {
        let needs: Vec<&str> = needs.split('/').filter(|needed| *needed != "-").collect();
        let holds = |home: &[(&str, &str)]| {
            needs.first().is_some_and(|n| home.iter().any(|(_, text)| text.contains(n)))
        };
        // A question that no home answers goes to any of them.
        let home = homes.iter().copied().position(holds).unwrap_or(number * 7 % homes.len());
        let engine = match engines.entry(home) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(fill_engine(&scope, homes[home]).await?),
        };
        let block = engine.context(&engine.context_request(&scope, *question), BUDGET).await?;
        let recall = engine.recall(&engine.recall_request(&scope, *question)).await?;
        all.push(HomeQuestion {
            language,
            half: if matches!(number % 4, 0 | 3) { "tuning" } else { "held out" },
            size,
            question,
            answerable: !needs.is_empty(),
            told: !block.entries.is_empty(),
            right: needs.iter().any(|needed| block.text.contains(needed)),
            best: recall.hits.first().map(|hit| hit.memory.content.clone()),
            judgement: recall.judgement,
        });
    }
    Ok(all)
}

/// Creates an engine with the memories of a home.
async fn fill_engine(scope: &Scope, memories: &[(&str, &str)]) -> Result<Engine> {
    let engine = Engine::builder(Arc::new(RamStore::default()))
        .embedder(Arc::new(BuiltinEmbedder::new()))
        .build();
    for (how, text) in memories {
        match how.split_once('/') {
            Some((session, _)) => {
                let turn =
                    Turn { text: (*text).into(), session: Some(session.into()), ..Turn::default() };
                engine.observe(scope, vec![turn]).await?;
            }
            None => {
                let kind: Kind = how.parse()?;
                let request = RememberRequest {
                    content: (*text).into(),
                    kind: Some(kind),
                    ..RememberRequest::default()
                };
                engine.remember(scope, request).await?;
            }
        }
    }
    Ok(engine)
}
