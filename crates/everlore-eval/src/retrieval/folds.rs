//! What the weight of the comparison word by word should be, told without looking at the questions it is told for: the
//! weight that is best on one half of the conversations is measured on the other, both ways.

use std::collections::BTreeSet;

use anyhow::Result;
use serde::Serialize;

use super::{
    data::{DataSet, Query},
    engine::{Everlore, Local},
    metrics::{Judged, Scores, judge, score},
    run::search,
};

/// The weights that are tried; 0 leaves the comparison out.
pub(crate) const WEIGHTS: [f64; 6] = [0.0, 0.5, 0.75, 1.0, 1.5, 2.0];

/// The outcome.
#[derive(Debug, Serialize)]
pub(crate) struct Folds {
    /// The weight chosen on each half, for the other.
    pub(crate) chosen: [f64; 2],
    /// Every question under the weight that was chosen without it.
    pub(crate) judged: Judged,
    /// All questions under each weight: what choosing by all of them would look like.
    pub(crate) by_weight: Vec<(f64, Judged)>,
}

/// Measures every weight and chooses by halves.
pub(crate) fn measure(set: &DataSet, local: Local) -> Result<Folds> {
    let mut everlore = Everlore::holding_with(set, local)?;
    let mut by_weight = Vec::new();
    for weight in WEIGHTS {
        everlore.set_rerank(weight);
        by_weight.push((weight, ask_all(&mut everlore, set)?));
    }
    let halves = halves(set);
    let chosen = [0, 1].map(|half| best(&by_weight, set, &halves[half]));
    let honest = set.queries.iter().enumerate().map(|(index, query)| {
        // A question of the first half is asked with the weight that the second half chose.
        let half = usize::from(!halves[0].contains(query.scope.as_str()));
        let weight = chosen[1 - half];
        by_weight
            .iter()
            .find(|(tried, _)| *tried == weight)
            .map_or_else(Scores::default, |(_, all)| all[index])
    });
    let judged = judged(set, &honest.collect::<Vec<_>>());
    let by_weight =
        by_weight.iter().map(|(weight, all)| (*weight, self::judged(set, all))).collect();
    Ok(Folds { chosen, judged, by_weight })
}

fn ask_all(everlore: &mut Everlore, set: &DataSet) -> Result<Vec<Scores>> {
    let answer = |query: &Query| {
        let (answer, _) = search(everlore, query, &set.rows_of(&query.scope))?;
        Ok(score(&answer, &query.relevant))
    };
    set.queries.iter().map(answer).collect()
}

/// Every second conversation.
fn halves(set: &DataSet) -> [BTreeSet<&str>; 2] {
    let scopes = set.by_scope();
    [0, 1].map(|half| scopes.iter().skip(half).step_by(2).map(|(scope, _)| *scope).collect())
}

/// The weight with the best mean of recall and gain on some conversations.
fn best(by_weight: &[(f64, Vec<Scores>)], set: &DataSet, half: &BTreeSet<&str>) -> f64 {
    let worth = |all: &[Scores]| {
        let within =
            set.queries.iter().zip(all).filter(|(query, _)| half.contains(query.scope.as_str()));
        let within: Vec<_> =
            within.map(|(query, scores)| (query.category.clone(), *scores)).collect();
        let mean = judge(&within).overall.mean;
        mean.recall_10 + mean.ndcg_10
    };
    let of = |(weight, all): &(f64, Vec<Scores>)| (*weight, worth(all));
    by_weight.iter().map(of).max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0.0, |(weight, _)| weight)
}

fn judged(set: &DataSet, all: &[Scores]) -> Judged {
    let named =
        set.queries.iter().zip(all).map(|(query, scores)| (query.category.clone(), *scores));
    judge(&named.collect::<Vec<_>>())
}
