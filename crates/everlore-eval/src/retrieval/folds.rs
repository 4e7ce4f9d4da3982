//! Cross-validated weight of the reranker: the weight that is best on one half of the conversations is measured on the
//! other, both ways.

use std::collections::BTreeSet;

use anyhow::Result;
use serde::Serialize;

use super::{
    data::{BenchQuery, DataSet},
    engine::{EngineRetriever, LocalModelUse},
    metrics::{RankingScores, RunScores, score_answer, summarize_run},
    run::search,
};

/// Weights to try; 0 turns the reranker off.
pub(crate) const RERANK_WEIGHTS: [f64; 6] = [0.0, 0.5, 0.75, 1.0, 1.5, 2.0];

/// Result of the cross-validation.
#[derive(Debug, Serialize)]
pub(crate) struct WeightFolds {
    /// Weight chosen on each half, for the other.
    pub(crate) chosen: [f64; 2],
    /// Every query under the weight that the other half chose.
    pub(crate) judged: RunScores,
    /// All queries under each weight: the in-sample figures.
    pub(crate) by_weight: Vec<(f64, RunScores)>,
}

/// Measures every weight and cross-validates the choice.
pub(crate) fn measure(set: &DataSet, local: LocalModelUse) -> Result<WeightFolds> {
    let mut everlore = EngineRetriever::loaded_with_model(set, local)?;
    let mut by_weight = Vec::new();
    for weight in RERANK_WEIGHTS {
        everlore.set_rerank(weight);
        by_weight.push((weight, score_all(&mut everlore, set)?));
    }
    let halves = halves(set);
    let chosen = [0, 1].map(|half| best_weight(&by_weight, set, &halves[half]));
    let honest = set.queries.iter().enumerate().map(|(index, query)| {
        // A query of the first half runs with the weight that the second half chose.
        let half = usize::from(!halves[0].contains(query.scope.as_str()));
        let weight = chosen[1 - half];
        by_weight
            .iter()
            .find(|(tried, _)| *tried == weight)
            .map_or_else(RankingScores::default, |(_, all)| all[index])
    });
    let judged = summarize_scores(set, &honest.collect::<Vec<_>>());
    let by_weight =
        by_weight.iter().map(|(weight, all)| (*weight, summarize_scores(set, all))).collect();
    Ok(WeightFolds { chosen, judged, by_weight })
}

fn score_all(everlore: &mut EngineRetriever, set: &DataSet) -> Result<Vec<RankingScores>> {
    let answer = |query: &BenchQuery| {
        let (answer, _) = search(everlore, query, &set.rows_of(&query.scope))?;
        Ok(score_answer(&answer, &query.relevant))
    };
    set.queries.iter().map(answer).collect()
}

/// Splits the conversations alternately into two halves.
fn halves(set: &DataSet) -> [BTreeSet<&str>; 2] {
    let scopes = set.by_scope();
    [0, 1].map(|half| scopes.iter().skip(half).step_by(2).map(|(scope, _)| *scope).collect())
}

/// Returns the weight with the best mean of recall and gain on the conversations of a half.
fn best_weight(
    by_weight: &[(f64, Vec<RankingScores>)],
    set: &DataSet,
    half: &BTreeSet<&str>,
) -> f64 {
    let worth = |all: &[RankingScores]| {
        let within =
            set.queries.iter().zip(all).filter(|(query, _)| half.contains(query.scope.as_str()));
        let within: Vec<_> =
            within.map(|(query, scores)| (query.category.clone(), *scores)).collect();
        let mean = summarize_run(&within).overall.mean;
        mean.recall_10 + mean.ndcg_10
    };
    let rated = |(weight, all): &(f64, Vec<RankingScores>)| (*weight, worth(all));
    by_weight.iter().map(rated).max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0.0, |(weight, _)| weight)
}

fn summarize_scores(set: &DataSet, all: &[RankingScores]) -> RunScores {
    let named =
        set.queries.iter().zip(all).map(|(query, scores)| (query.category.clone(), *scores));
    summarize_run(&named.collect::<Vec<_>>())
}
