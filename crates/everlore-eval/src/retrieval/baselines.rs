//! Baselines that the engine is compared with: plain BM25, cosine of vectors alone, and FTS5 trigram search.

use std::collections::HashMap;

use anyhow::{Context, Result};
use everlore::llm::{BuiltinEmbedder, Embedder, LocalModel};
use tempfile::TempDir;

use super::{
    Retriever, RetrieverSpec,
    bm25::{self, Posting, QueryPostings},
    data::{BenchQuery, CorpusRow},
};
use crate::{
    terms::{BaselineTerm, bm25_terms},
    trigram_baseline::{Durability, TrigramBaseline, TrigramEntry},
};

/// All baselines.
pub(crate) const RETRIEVERS: &[RetrieverSpec] = &[
    RetrieverSpec { name: "bm25", make: || Ok(Box::<Bm25Retriever>::default()) },
    RetrieverSpec { name: "dense", make: || Ok(Box::new(DenseRetriever::builtin())) },
    RetrieverSpec { name: "source", make: || Ok(Box::new(TrigramRetriever::new()?)) },
];

/// Okapi BM25 over lower-case words and Chinese pairs, one index for each scope, the speaker's name counted as text.
#[derive(Default)]
pub(crate) struct Bm25Retriever {
    ids: Vec<String>,
    scopes: HashMap<String, ScopeIndex>,
}

#[derive(Default)]
struct ScopeIndex {
    docs: usize,
    total_length: usize,
    lists: HashMap<BaselineTerm, Vec<Posting>>,
}

impl Retriever for Bm25Retriever {
    fn load(&mut self, rows: &[CorpusRow]) -> Result<()> {
        for row in rows {
            let speaker = row.speaker.as_deref().unwrap_or_default();
            let terms = bm25_terms(&format!("{speaker} {}", row.text));
            let scope = self.scopes.entry(row.scope.clone()).or_default();
            scope.add(self.ids.len(), &terms);
            self.ids.push(row.id.clone());
        }
        Ok(())
    }

    fn search(&mut self, query: &BenchQuery, limit: usize) -> Result<Vec<String>> {
        let Some(scope) = self.scopes.get(&query.scope) else { return Ok(vec![]) };
        let mut terms = bm25_terms(&query.text);
        terms.sort_unstable();
        terms.dedup();
        let lists = terms.iter().filter_map(|term| scope.lists.get(term).cloned()).collect();
        let postings = QueryPostings { docs: scope.docs, total_length: scope.total_length, lists };
        let ranked = bm25::top(&postings, limit).into_iter();
        Ok(ranked.map(|(id, _)| self.ids[id].clone()).collect())
    }
}

impl ScopeIndex {
    fn add(&mut self, id: usize, terms: &[BaselineTerm]) {
        let length = terms.len() as u32;
        self.docs += 1;
        self.total_length += terms.len();
        for term in terms {
            let list = self.lists.entry(*term).or_default();
            match list.last_mut() {
                Some(last) if last.id == id => last.frequency += 1,
                _ => list.push(Posting { id, frequency: 1, length }),
            }
        }
    }
}

type EmbedText = Box<dyn Fn(&str) -> Result<Vec<f32>>>;

/// Cosine of vectors alone, as most memory systems search.
pub(crate) struct DenseRetriever {
    embed: EmbedText,
    /// Set if the speaker's name counts as text.
    names_speakers: bool,
    scopes: HashMap<String, Vec<(String, Vec<f32>)>>,
}

impl DenseRetriever {
    /// Compares vectors of the built-in model.
    pub(crate) fn builtin() -> Self {
        let model = BuiltinEmbedder::new();
        let embed = Box::new(move |text: &str| Ok(model.vector(text)));
        Self { embed, names_speakers: true, scopes: HashMap::new() }
    }

    /// Compares sentence vectors of a local model.
    pub(crate) fn local(model: LocalModel) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let embed = Box::new(move |text: &str| {
            let vectors = runtime.block_on(model.embed(&[text]))?;
            vectors.into_iter().next().context("the model returned no vector")
        });
        Ok(Self { embed, names_speakers: false, scopes: HashMap::new() })
    }
}

impl Retriever for DenseRetriever {
    fn load(&mut self, rows: &[CorpusRow]) -> Result<()> {
        for row in rows {
            let speaker = row.speaker.as_deref().unwrap_or_default();
            let vector = if self.names_speakers {
                (self.embed)(&format!("{speaker}: {}", row.text))?
            } else {
                (self.embed)(&row.text)?
            };
            self.scopes.entry(row.scope.clone()).or_default().push((row.id.clone(), vector));
        }
        Ok(())
    }

    fn search(&mut self, query: &BenchQuery, limit: usize) -> Result<Vec<String>> {
        let query_vector = (self.embed)(&query.text)?;
        let rows = self.scopes.get(&query.scope).map_or(&[][..], Vec::as_slice);
        let mut near: Vec<(f32, &String)> =
            rows.iter().map(|(id, vector)| (cosine(&query_vector, vector), id)).collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0));
        Ok(near.into_iter().take(limit).map(|(_, id)| id.clone()).collect())
    }
}

/// Returns the cosine of two vectors of length 1.
fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Trigram baseline on disk, the speaker as the entry's name; a scope is a user.
struct TrigramRetriever {
    baseline: TrigramBaseline,
    /// Ids of the data set, by rowid from 1.
    ids: Vec<String>,
    _folder: TempDir,
}

impl TrigramRetriever {
    fn new() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let baseline = TrigramBaseline::open(&folder.path().join("source.db"), Durability::Load)?;
        Ok(Self { baseline, ids: vec![], _folder: folder })
    }
}

impl Retriever for TrigramRetriever {
    fn load(&mut self, rows: &[CorpusRow]) -> Result<()> {
        let entries: Vec<_> = rows
            .iter()
            .map(|row| TrigramEntry {
                agent: "eval",
                user: &row.scope,
                name: row.speaker.as_deref().unwrap_or_default(),
                content: &row.text,
            })
            .collect();
        self.baseline.insert_batch(&entries)?;
        self.ids.extend(rows.iter().map(|row| row.id.clone()));
        Ok(())
    }

    fn search(&mut self, query: &BenchQuery, limit: usize) -> Result<Vec<String>> {
        let rowids = self.baseline.search("eval", &query.scope, &query.text, limit)?;
        let id = |rowid: i64| self.ids.get(rowid as usize - 1).cloned().context("an unknown rowid");
        rowids.into_iter().map(id).collect()
    }
}
