//! Loads a data set into a retriever, runs every query and scores the results.

use std::collections::HashMap;

use anyhow::Result;
use serde::Serialize;

use super::{
    Retriever, RetrieverSpec,
    compare::QueryScores,
    data::{BenchQuery, CorpusRow, DataSet},
    metrics::{RunScores, score_answer, summarize_run},
};
use crate::timing::{SampleStats, timed};

/// Depth of the deepest measure, recall@20.
const LIMIT: usize = 20;
/// Rows of one retriever before a fresh one takes over: with noise, a set may have millions in all.
const MAX_ROWS: usize = 100_000;

/// Result of a retriever on a data set.
#[derive(Debug, Serialize)]
pub(crate) struct RetrievalReport {
    pub(crate) retriever: &'static str,
    #[serde(flatten)]
    pub(crate) judged: RunScores,
    pub(crate) ms: RetrievalTimes,
    /// Scores of each query, for comparing two runs.
    #[serde(skip)]
    pub(crate) answers: Vec<QueryScores>,
}

/// Milliseconds of loading all rows and of one search.
#[derive(Debug, Serialize)]
pub(crate) struct RetrievalTimes {
    pub(crate) load: f64,
    pub(crate) search: SampleStats,
}

/// Scope with its rows and its queries.
pub(super) struct ScopeQueries<'a> {
    pub(super) rows: Vec<CorpusRow>,
    pub(super) queries: Vec<&'a BenchQuery>,
}

/// Measures one retriever.
pub(crate) fn run(spec: &RetrieverSpec, set: &DataSet) -> Result<RetrievalReport> {
    run_with(spec.name, &spec.make, set)
}

/// Measures a retriever that `make` creates.
pub(crate) fn run_with(
    name: &'static str,
    make: &dyn Fn() -> Result<Box<dyn Retriever>>,
    set: &DataSet,
) -> Result<RetrievalReport> {
    let (mut scores, mut ids, mut search_ms, mut load_ms) = (vec![], vec![], vec![], 0.0);
    for group in groups(set) {
        let mut retriever = make()?;
        for scope in &group {
            load_ms += timed(|| retriever.load(&scope.rows))?.1;
        }
        for scope in &group {
            for query in &scope.queries {
                let (answer, ms) = search(retriever.as_mut(), query, &scope.rows)?;
                search_ms.push(ms);
                scores.push((query.category.clone(), score_answer(&answer, &query.relevant)));
                ids.push(query.id.clone());
            }
        }
    }
    let ms = RetrievalTimes { load: load_ms, search: SampleStats::from_samples(search_ms) };
    let judged = summarize_run(&scores);
    let answers = ids
        .into_iter()
        .zip(scores)
        .map(|(id, (category, scores))| QueryScores { id, category, scores: scores.values() })
        .collect();
    Ok(RetrievalReport { retriever: name, judged, ms, answers })
}

/// Runs a query and removes the rows that it may not see; asks for as many more as there are of those.
pub(crate) fn search(
    retriever: &mut dyn Retriever,
    query: &BenchQuery,
    rows: &[CorpusRow],
) -> Result<(Vec<String>, f64)> {
    let hidden =
        |row: &&CorpusRow| query.asof_seq.is_some_and(|end| row.seq.is_some_and(|seq| seq >= end));
    let hidden: Vec<&str> = rows.iter().filter(hidden).map(|row| row.id.as_str()).collect();
    let (mut answer, ms) = timed(|| retriever.search(query, LIMIT + hidden.len()))?;
    answer.retain(|id| !hidden.contains(&id.as_str()));
    answer.truncate(LIMIT);
    Ok((answer, ms))
}

/// Returns the scopes with queries, in groups that are loaded together. Without noise all scopes are loaded, because a
/// store would hold them too.
pub(super) fn groups(set: &DataSet) -> Vec<Vec<ScopeQueries<'_>>> {
    let (mut groups, mut group, mut rows) = (Vec::new(), Vec::new(), 0);
    for scope in scopes(set) {
        if rows > 0 && rows + scope.rows.len() > MAX_ROWS {
            groups.push(std::mem::take(&mut group));
            rows = 0;
        }
        rows += scope.rows.len();
        group.push(scope);
    }
    groups.push(group);
    groups
}

fn scopes(set: &DataSet) -> Vec<ScopeQueries<'_>> {
    let mut order: Vec<&str> = Vec::new();
    let mut by_name: HashMap<&str, ScopeQueries<'_>> = HashMap::new();
    for (scope, rows) in set.by_scope() {
        order.push(scope);
        by_name.insert(scope, ScopeQueries { rows, queries: vec![] });
    }
    for query in &set.queries {
        if let Some(scope) = by_name.get_mut(query.scope.as_str()) {
            scope.queries.push(query);
        }
    }
    let needed = |scope: &ScopeQueries<'_>| set.noise.is_empty() || !scope.queries.is_empty();
    let ordered =
        order.into_iter().filter_map(|name| by_name.remove(name).map(|scope| (name, scope)));
    ordered
        .filter(|(_, scope)| needed(scope))
        .map(|(name, scope)| with_noise(name, scope, set))
        .collect()
}

fn with_noise<'a>(name: &str, mut scope: ScopeQueries<'a>, set: &DataSet) -> ScopeQueries<'a> {
    let owned = |row: &CorpusRow| CorpusRow { scope: name.to_owned(), ..row.clone() };
    scope.rows.extend(set.noise.iter().map(owned));
    scope
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retrieval::baselines;

    fn row(id: &str, scope: &str, seq: u64, text: &str) -> CorpusRow {
        let (id, scope, text) = (id.into(), scope.into(), text.into());
        CorpusRow { id, scope, text, seq: Some(seq), ..CorpusRow::default() }
    }

    fn query(scope: &str, text: &str, relevant: &str, asof_seq: Option<u64>) -> BenchQuery {
        let (scope, text, category) = (scope.into(), text.into(), "c".into());
        BenchQuery {
            scope,
            text,
            category,
            relevant: vec![relevant.into()],
            asof_seq,
            ..BenchQuery::default()
        }
    }

    #[test]
    fn every_baseline_finds_what_is_there_and_not_what_comes_later() {
        let rows = vec![
            row("1", "s", 1, "the invoice from Lisbon"),
            row("2", "s", 2, "an invoice, paid: invoice from Lisbon"),
            row("3", "t", 1, "the invoice from Lisbon"),
        ];
        let queries = vec![
            query("s", "invoice from Lisbon", "1", Some(2)),
            query("t", "invoice from Lisbon", "3", None),
        ];
        let noise = vec![row("n", "*", 1, "nothing of that sort")];
        for noise in [vec![], noise] {
            let set = DataSet { rows: rows.clone(), queries: queries.clone(), noise };
            for spec in baselines::RETRIEVERS {
                let report = run(spec, &set).unwrap();
                assert_eq!(report.judged.overall.mean.mrr_10, 1.0, "{}", spec.name);
                assert_eq!(report.judged.overall.n, 2);
            }
        }
    }
}
