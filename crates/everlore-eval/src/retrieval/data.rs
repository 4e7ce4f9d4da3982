//! Data sets as JSON Lines: a corpus of rows, queries with the ids that answer them, and noise for every scope.

use std::{collections::HashMap, fs, path::Path};

use anyhow::{Context, Result};
use jiff::{Timestamp, civil::DateTime, tz::TimeZone};
use serde::{Deserialize, de::DeserializeOwned};

/// Stored text.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct CorpusRow {
    pub(crate) id: String,
    pub(crate) scope: String,
    pub(crate) session: Option<String>,
    /// Time of the turn, in ISO form.
    pub(crate) time: Option<String>,
    pub(crate) speaker: Option<String>,
    pub(crate) text: String,
    /// Kind of the memory, where the set has it; a turn otherwise.
    pub(crate) kind: Option<String>,
    /// Position in the order of writing, where the set has one.
    pub(crate) seq: Option<u64>,
}

/// Query with the rows that answer it.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct BenchQuery {
    #[serde(default)]
    pub(crate) id: String,
    pub(crate) scope: String,
    pub(crate) text: String,
    pub(crate) category: String,
    #[serde(default)]
    pub(crate) relevant: Vec<String>,
    /// Rows that are fine to return and not needed, where the set has them.
    #[serde(default)]
    pub(crate) optional: Vec<String>,
    /// Rows that were right before a newer one, where the set has them.
    #[serde(default)]
    pub(crate) stale: Vec<String>,
    /// Other wordings of the same question.
    #[serde(default)]
    pub(crate) paraphrases: Vec<String>,
    /// Time of the query, in ISO form.
    pub(crate) time: Option<String>,
    /// Bound of the visible rows: only those with a smaller `seq` count.
    pub(crate) asof_seq: Option<u64>,
}

/// Data set in memory.
#[derive(Debug, Default)]
pub(crate) struct DataSet {
    pub(crate) rows: Vec<CorpusRow>,
    pub(crate) queries: Vec<BenchQuery>,
    /// Rows that every scope gets in addition.
    pub(crate) noise: Vec<CorpusRow>,
}

impl DataSet {
    /// Reads the files. Queries without an answer are left out: they are for measuring abstention.
    pub(crate) fn read(corpus: &Path, queries: &Path, noise: Option<&Path>) -> Result<Self> {
        let mut queries: Vec<BenchQuery> = read_jsonl(queries)?;
        queries.retain(|query| !query.relevant.is_empty());
        let noise = noise.map_or_else(|| Ok(vec![]), read_jsonl)?;
        Ok(Self { rows: read_jsonl(corpus)?, queries, noise })
    }

    /// Reads the files with all queries, those without an answer included.
    pub(crate) fn read_all(corpus: &Path, queries: &Path) -> Result<Self> {
        Ok(Self { rows: read_jsonl(corpus)?, queries: read_jsonl(queries)?, noise: vec![] })
    }

    /// Returns the scopes in file order, each with its rows.
    pub(crate) fn by_scope(&self) -> Vec<(&str, Vec<CorpusRow>)> {
        let mut scopes: Vec<(&str, Vec<CorpusRow>)> = Vec::new();
        let mut indices: HashMap<&str, usize> = HashMap::new();
        for row in &self.rows {
            let index = *indices.entry(&row.scope).or_insert_with(|| {
                scopes.push((&row.scope, vec![]));
                scopes.len() - 1
            });
            scopes[index].1.push(row.clone());
        }
        scopes
    }

    /// Keeps `limit` queries, evenly spaced over the file so that every category stays.
    pub(crate) fn sample_queries(&mut self, limit: usize) {
        let count = self.queries.len();
        let limit = limit.min(count);
        self.queries = (0..limit).map(|i| self.queries[i * count / limit].clone()).collect();
    }
}

/// Parses a time; without a zone it is UTC.
pub(crate) fn parse_time(text: &str) -> Result<Timestamp> {
    if let Ok(at) = text.parse() {
        return Ok(at);
    }
    let civil: DateTime = text.parse().with_context(|| format!("`{text}` is no time"))?;
    Ok(civil.to_zoned(TimeZone::UTC)?.timestamp())
}

fn read_jsonl<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let filled = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    filled
        .map(|(number, line)| {
            serde_json::from_str(line)
                .with_context(|| format!("{}, line {}", path.display(), number + 1))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_without_an_answer_are_left_out_and_unknown_fields_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            path
        };
        let corpus = file(
            "c",
            r#"{"id":"1","scope":"s","session":null,"time":null,"speaker":null,"text":"x","place":"y"}"#,
        );
        let queries = file(
            "q",
            "{\"id\":\"a\",\"scope\":\"s\",\"text\":\"x\",\"category\":\"c\",\"relevant\":[]}\n\n\
             {\"id\":\"b\",\"scope\":\"s\",\"text\":\"x\",\"category\":\"c\",\"relevant\":[\"1\"],\"asof_seq\":4}\n",
        );
        let set = DataSet::read(&corpus, &queries, None).unwrap();
        assert_eq!(set.rows[0].id, "1");
        assert_eq!(set.queries.len(), 1);
        assert_eq!(set.queries[0].asof_seq, Some(4));
    }
}
