//! Exact search of the engine beside an HNSW index of the same database, on the same vectors.

use std::sync::Arc;

use anyhow::{Context, Result};
use everlore::{
    Config, Engine, Scope, Turn,
    llm::{BuiltinEmbedder, Embedder},
    store::{self, DocAddress},
    types::Vector,
};
use everlore_kernel::dot_f32;
use serde::Serialize;

use super::{
    exact_search::{nearest, similarities},
    hnsw_table::HnswTable,
};
use crate::{
    natural_texts::{NaturalTexts, questions},
    timing::SampleStats,
};

/// Nearest memories that are compared.
const NEAREST: usize = 50;
/// Nearest memories that are kept to find those that are as near as the last that is compared.
const MAX_TIED: usize = 400;
/// Difference of similarities that is due to the order of additions.
const TIE: f32 = 1e-6;
/// Turns of a write, and of a session.
const WRITE_TURNS: u32 = 10_000;
const SESSION_TURNS: u32 = 20;
/// Numbers of texts that a scope has for itself.
const SCOPE_TEXTS: u32 = 4_000_000;
/// Queries before the first that counts.
const WARM_UP: usize = 3;
/// Saves that are timed.
const SAVES: u32 = 50;

/// Scope of a size with its questions and what is truly nearest to each.
pub(crate) struct SizedScope {
    number: u32,
    pub(crate) size: u32,
    queries: Vec<SizedQuery>,
}

struct SizedQuery {
    text: String,
    vector: Vec<f32>,
    /// Nearest texts by cosine of the unrounded vectors, more than are compared.
    truth: Vec<(f32, i32)>,
}

/// Figures of one way to search.
#[derive(Debug, Serialize)]
pub(crate) struct SearchFigures {
    pub(crate) size: u32,
    pub(crate) way: String,
    pub(crate) ms: SampleStats,
    /// Share of the true 50 nearest that were found; `None` for a whole recall.
    pub(crate) recall: Option<f64>,
}

impl SizedScope {
    /// Plans a scope; `number` tells it from others.
    pub(crate) async fn new(number: u32, size: u32, queries: usize) -> Result<Self> {
        let texts: Vec<String> = questions()?.into_iter().cycle().take(queries).collect();
        let asked: Vec<&str> = texts.iter().map(String::as_str).collect();
        let vectors = BuiltinEmbedder::new().embed(&asked).await?;
        let query = |(text, vector)| SizedQuery { text, vector, truth: Vec::new() };
        Ok(Self { number, size, queries: texts.into_iter().zip(vectors).map(query).collect() })
    }

    /// Stores the texts in the engine and their vectors in the table, and notes what is truly nearest.
    pub(crate) async fn load(&mut self, engine: &Engine, table: &HnswTable) -> Result<()> {
        let (texts, embedder) = (NaturalTexts::new(), BuiltinEmbedder::new());
        for first in (0..self.size).step_by(WRITE_TURNS as usize) {
            let numbers = first..self.size.min(first + WRITE_TURNS);
            let batch: Vec<String> = numbers.map(|at| self.text(&texts, at)).collect();
            let embedded: Vec<&str> = batch.iter().map(String::as_str).collect();
            let vectors = embedder.embed(&embedded).await?;
            table.insert(self.number as i32, first as i32, &vectors).await?;
            self.note_truth(first, &vectors);
            let turns = (first..).zip(batch).map(|(at, text)| turn(at, text)).collect();
            engine.observe(&self.scope()?, turns).await?;
        }
        Ok(())
    }

    /// Times whole recalls of an engine.
    pub(crate) async fn time_recalls(&self, engine: &Engine, way: &str) -> Result<SearchFigures> {
        let (scope, mut samples) = (self.scope()?, Vec::new());
        for query in self.warmed_up() {
            let request = engine.recall_request(&scope, &query.text);
            let (_, ms) = timed(engine.recall(&request)).await?;
            samples.push(ms);
        }
        Ok(self.figures(way, samples, None))
    }

    /// Times the exact search of the store alone.
    pub(crate) async fn time_exact(&self, engine: &Engine, way: &str) -> Result<SearchFigures> {
        let (scope, store) = (self.scope()?, everlore::internal::store_of(engine));
        let model = BuiltinEmbedder::new().model().clone();
        let any = Vector::quantize(&vec![1.0; model.dimensions]);
        let order = addresses(&similarities(&**store, &scope, &model, &any).await?);
        let (mut samples, mut shares) = (Vec::new(), Vec::new());
        for query in self.warmed_up() {
            let vector = Vector::quantize(&query.vector);
            let search = async {
                let all = similarities(&**store, &scope, &model, &vector).await?;
                Ok::<_, anyhow::Error>(nearest(all, NEAREST))
            };
            let (found, ms) = timed(search).await?;
            samples.push(ms);
            let number =
                |(_, at): (f32, DocAddress)| order.binary_search(&at).map_or(-1, |it| it as i32);
            shares.push(query.share_of_truth(&found.into_iter().map(number).collect::<Vec<_>>()));
        }
        Ok(self.figures(way, samples, Some(mean(&shares))))
    }

    /// Times searches by the index of the database.
    pub(crate) async fn time_hnsw(&self, table: &HnswTable, breadth: u32) -> Result<SearchFigures> {
        table.set_breadth(breadth).await?;
        let scope = self.number as i32;
        let (mut samples, mut shares) = (Vec::new(), Vec::new());
        for query in self.warmed_up() {
            let (found, ms) = timed(table.nearest(scope, &query.vector, NEAREST)).await?;
            samples.push(ms);
            shares.push(query.share_of_truth(&found));
        }
        let first = self.queries.first().context("there is a question")?;
        let is_used = table.uses_index(scope, &first.vector, NEAREST).await?;
        let plan = if is_used { "" } else { ", not used" };
        Ok(self.figures(&format!("HNSW, breadth {breadth}{plan}"), samples, Some(mean(&shares))))
    }

    /// Times the entry of single vectors into the index of the database.
    pub(crate) async fn time_hnsw_saves(&self, table: &HnswTable) -> Result<SearchFigures> {
        let (texts, embedder, mut samples) =
            (NaturalTexts::new(), BuiltinEmbedder::new(), Vec::new());
        for at in self.size..self.size + SAVES {
            let vectors = embedder.embed(&[&self.text(&texts, at)]).await?;
            samples.push(timed(table.insert(self.number as i32, at as i32, &vectors)).await?.1);
        }
        Ok(self.figures("save of a vector, HNSW", samples, None))
    }

    /// Times durable saves of the engine.
    pub(crate) async fn time_saves(&self, engine: &Engine) -> Result<SearchFigures> {
        let (texts, scope, mut samples) = (NaturalTexts::new(), self.scope()?, Vec::new());
        for at in self.size..self.size + SAVES {
            let turns = vec![turn(at, self.text(&texts, at))];
            samples.push(timed(engine.observe(&scope, turns)).await?.1);
        }
        Ok(self.figures("save of a memory, engine", samples, None))
    }

    fn text(&self, texts: &NaturalTexts, at: u32) -> String {
        texts.text(self.number * SCOPE_TEXTS + at)
    }

    fn scope(&self) -> Result<Scope> {
        Ok(Scope::new("measured", &format!("user-{}", self.number))?)
    }

    fn warmed_up(&self) -> impl Iterator<Item = &SizedQuery> {
        self.queries[..WARM_UP.min(self.queries.len())].iter().chain(&self.queries)
    }

    fn note_truth(&mut self, first: u32, vectors: &[Vec<f32>]) {
        for query in &mut self.queries {
            let similarity = |vector: &Vec<f32>| dot_f32(vector, &query.vector);
            let numbered = vectors.iter().map(similarity).zip(first as i32..);
            query.truth.extend(numbered);
            query.truth.sort_by(|a, b| b.0.total_cmp(&a.0));
            query.truth.truncate(MAX_TIED);
        }
    }

    fn figures(&self, way: &str, mut samples: Vec<f64>, recall: Option<f64>) -> SearchFigures {
        if samples.len() > self.queries.len() && !self.queries.is_empty() {
            samples.drain(..WARM_UP.min(self.queries.len()));
        }
        let ms = SampleStats::from_samples(samples);
        SearchFigures { size: self.size, way: way.to_owned(), ms, recall }
    }
}

impl SizedQuery {
    /// Returns the share of the nearest texts that were found. A text as near as the last of them counts as one of them:
    /// equal texts have equal vectors.
    fn share_of_truth(&self, found: &[i32]) -> f64 {
        let last = NEAREST.min(self.truth.len());
        let Some((least, _)) = self.truth[..last].last() else { return 0.0 };
        let is_near = |(similarity, number): &&(f32, i32)| {
            *similarity >= least - TIE && found.contains(number)
        };
        self.truth.iter().filter(is_near).count().min(last) as f64 / last as f64
    }
}

/// Opens an engine with the built-in model on a database; without vectors if `semantic` is not set.
pub(crate) async fn open_engine(url: &str, semantic: bool) -> Result<Engine> {
    let mut config = Config::default();
    if !semantic {
        config.recall.semantic = 0.0;
    }
    let builder = Engine::builder(store::open(url).await?).config(config);
    Ok(builder.embedder(Arc::new(BuiltinEmbedder::new())).build())
}

fn turn(at: u32, text: String) -> Turn {
    let session = Some(format!("session-{}", at / SESSION_TURNS));
    Turn { text, session, ..Turn::default() }
}

/// Returns all addresses in order, which is the order of the texts.
fn addresses(all: &[(f32, DocAddress)]) -> Vec<DocAddress> {
    let mut addresses: Vec<DocAddress> = all.iter().map(|(_, address)| *address).collect();
    addresses.sort_unstable();
    addresses
}

fn mean(shares: &[f64]) -> f64 {
    shares.iter().sum::<f64>() / shares.len().max(1) as f64
}

async fn timed<T, E>(work: impl Future<Output = Result<T, E>>) -> Result<(T, f64)>
where
    anyhow::Error: From<E>,
{
    let start = std::time::Instant::now();
    let result = work.await?;
    Ok((result, start.elapsed().as_secs_f64() * 1e3))
}
